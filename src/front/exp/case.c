/* SPDX-License-Identifier: Apache-2.0 */
/* A case: one point of an experiment, built and started. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/exp/build.h"
#include "front/exp/exp.h"
#include "front/exp/section.h"
#include "host/prog.h"

struct head {
	uint64_t seed;
	uint32_t payload;
};
struct run {
	weft_time_t until, drain, watchdog;
	uint32_t shuffle;
};

/* clang-format off */
static const struct weft_param head_params[] = {
	WEFT_PARAM(U64,  struct head, seed,    "1",       "", OWN, ""),
	WEFT_PARAM(ENUM, struct head, payload, "carried", "carried|none", OWN, ""),
	{ 0 },
};
static const struct weft_param run_params[] = {
	WEFT_PARAM(TIME, struct run, until, "0", "0..9000s", OWN, "end of the run"),
	WEFT_PARAM(TIME, struct run, drain, "0", "0..9000s", OWN, "run on this long"),
	WEFT_PARAM(TIME, struct run, watchdog, "10s", "0..9000s", OWN,
		   "ends a run in which no program gets on; 0 = never"),
	WEFT_PARAM(U32, struct run, shuffle, "0", "", OWN,
		   "another order of construction, which changes nothing"),
	{ 0 },
};
/* clang-format on */

static int case_text(struct exp_case *c, const char *key, const char *dflt,
		     const char **text_p, struct weft_err *err)
{
	const struct doc_node *n = doc_get(c->doc->root, key);

	*text_p = dflt;
	if (!n)
		return 0;
	if (exp_want(n, DOC_SCALAR, key, err))
		return -1;
	if (n->set)
		n->set->used++;
	*text_p = n->text;
	return 0;
}

/* Reads the section `run` and the keys of head_params, and refuses keys that no
 * section has. Copies the keys of head_params into a new mapping, because
 * exp_fill() refuses all other keys. */
static int case_head(struct exp_case *c, struct weft_err *err)
{
	const struct doc_node *root = c->doc->root;
	struct doc_node *map = doc_node_new(c->doc, DOC_MAP, root->at);
	const struct doc_item *it;
	const char *name;
	struct head h;
	struct run r;

	for (uint32_t i = 0; i < root->n; i++)
		if (!exp_section_known(root->items[i].key))
			return doc_fail_near(root->items[i].key_at, err,
					     root->items[i].key,
					     exp_section_next, NULL,
					     "experiments have no key '%.60s'",
					     root->items[i].key);
	for (const struct weft_param *p = head_params; p->name; p++)
		if ((it = doc_item(root, p->name)))
			doc_append(c->doc, map, it->key, it->key_at, it->val);
	if (exp_fill(map, head_params, &h, "experiment", err) ||
	    case_text(c, "name", c->exp->label, &name, err) ||
	    case_text(c, "doc", "", &c->about, err) ||
	    exp_fill(doc_get(root, "run"), run_params, &r, "run", err))
		return -1;
	c->name = strdup(name);
	c->seed = h.seed;
	c->carried = h.payload == 0;
	c->until = r.until ? r.until : WEFT_NEVER;
	c->drain = r.drain;
	c->watchdog = r.watchdog;
	c->shuffle = r.shuffle;
	return 0;
}

static int case_overrides(struct exp_case *c, size_t point,
			  struct weft_err *err)
{
	const struct doc_node *n = doc_get(c->doc->root, "set");

	/* Applies `set:` of the file, then the point of the sweep, then --set,
	 * because later settings win. */
	if (n) {
		if (exp_want(n, DOC_MAP, "set", err))
			return -1;
		c->sets = reallocarray(c->sets, c->n_sets + n->n,
				       sizeof(*c->sets));
		if (!c->sets)
			abort();
		for (uint32_t i = 0; i < n->n; i++)
			c->sets[c->n_sets++] =
				(struct exp_set){ .path = n->items[i].key,
						  .val = n->items[i].val,
						  .at = n->items[i].val->at };
	}
	if (sweep_point(c, point, err))
		return -1;
	for (size_t i = 0; i < c->n_sets; i++)
		if (exp_set_apply(&c->sets[i], c->doc, c->exp->reg, &c->overs,
				  err))
			return -1;
	for (size_t i = 0; i < c->exp->overs.n; i++)
		vec_push(&c->overs, c->exp->overs.at[i]);
	return 0;
}

static int case_sections(struct exp_case *c, struct exp_build *b,
			 struct weft_err *err)
{
	const struct doc_node *n = doc_get(c->doc->root, "fabric");

	if (n && build_fabric_check(n, err))
		return -1;
	for (const struct exp_section *s = exp_sections; s->key; s++) {
		n = doc_get(c->doc->root, s->key);
		if (n && s->build && s->build(b, n, err))
			return -1;
	}
	if (weft_sim_count(b->sim) == 0)
		return doc_fail(c->doc->root->at, err,
				"nothing to simulate: give nodes or traffic");
	if (b->n_progs == 0 && c->until == WEFT_NEVER)
		return doc_fail(
			c->doc->root->at, err,
			"no program decides when to end: give run.until, e.g. run: {until: 1ms}");
	c->n_progs = b->n_progs;
	return 0;
}

static int case_build(struct exp_case *c, struct weft_err *err)
{
	struct exp_build b = { .reg = c->exp->reg,
			       .overs = &c->overs,
			       .shuffle = c->shuffle };
	const struct doc_node *at = doc_get(c->doc->root, "fabric");
	struct weft_err sub = { 0 };
	int ret;

	c->sim = b.sim = weft_sim_new(c->seed);
	if (!c->sim)
		abort();
	weft_sim_set_payload(c->sim, c->carried);
	ret = case_sections(c, &b, err);
	for (size_t i = 0; i < b.nodes.n; i++)
		vec_free(&b.nodes.at[i].nics);
	vec_free(&b.nodes);
	vec_free(&b.ends);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->exp->n_sets; i++)
		if (exp_set_check(&c->exp->sets[i], c->sim, c->exp->reg, err))
			return -1;
	for (size_t i = 0; i < c->n_sets; i++)
		if (exp_set_check(&c->sets[i], c->sim, c->exp->reg, err))
			return -1;
	if (c->exp->on_open && c->exp->on_open(c->exp->hook_arg, c->sim, err))
		return -1;
	weft_progs_stop_at_end(c->sim, true);
	if (weft_sim_start(c->sim, &sub))
		return doc_fail(at ? at->at : c->doc->root->at, err, "%s",
				sub.msg);
	return 0;
}

static int case_sample(struct exp_case *c, struct weft_err *err)
{
	const struct doc_node *n =
		c->record ? doc_get(c->record, "sample") : NULL;

	if (!c->record)
		return 0;
	c->sample_of = doc_get(c->record, "of");
	c->show = doc_get(c->record, "show");
	if (!n && c->sample_of)
		return doc_fail(
			c->sample_of->at, err,
			"record.of says what to sample, not when: add e.g. sample: 10us");
	return n ? exp_value(n, WEFT_P_TIME, "1ns..1s", &c->sample,
			     sizeof(c->sample), "record.sample", err)
		 : 0;
}

int exp_case_open(struct exp *e, size_t i, struct exp_case *c,
		  struct weft_err *err)
{
	*c = (struct exp_case){ .exp = e, .doc = doc_clone(e->doc) };
	if (case_overrides(c, i, err) || case_head(c, err) ||
	    case_build(c, err))
		goto close;
	c->record = doc_get(c->doc->root, "record");
	c->expect = doc_get(c->doc->root, "expect");
	if (record_valid(c->record, err) || case_sample(c, err) ||
	    expect_valid(c->expect, err))
		goto close;
	return 0;
close:
	exp_case_close(c);
	return -EINVAL;
}

void exp_case_close(struct exp_case *c)
{
	weft_sim_free(c->sim);
	vec_free(&c->overs);
	free(c->sets);
	free(c->name);
	free(c->point);
	doc_free(c->doc);
	memset(c, 0, sizeof(*c));
}

/* Adds the plain values of `fabric` to the result, as they are in the text:
 * fabric.dims = "4 4 4". */
static void case_mark_fabric(const struct exp_case *c, struct weft_result *r)
{
	const struct doc_node *map = doc_get(c->doc->root, "fabric");
	char name[80], text[200];

	for (uint32_t i = 0; map && i < map->n; i++) {
		const struct doc_node *v = map->items[i].val;
		size_t len = 0;

		text[0] = '\0';
		for (uint32_t k = 0; v->kind == DOC_SEQ && k < v->n; k++)
			if (v->items[k].val->kind == DOC_SCALAR &&
			    len < sizeof(text))
				len += (size_t)snprintf(
					text + len, sizeof(text) - len, "%s%s",
					k ? " " : "", v->items[k].val->text);
		if (v->kind == DOC_SCALAR)
			snprintf(text, sizeof(text), "%s", v->text);
		snprintf(name, sizeof(name), "fabric.%.60s",
			 map->items[i].key ? map->items[i].key : "");
		if (text[0])
			result_param_set(r, name, text);
	}
}

void exp_case_judge(const struct exp_case *c, struct weft_result *r)
{
	weft_time_t now = weft_sim_now(c->sim);
	char buf[64], text[96];

	result_param_set(r, "experiment", c->name);
	case_mark_fabric(c, r);
	result_param_set(r, "payload", c->carried ? "carried" : "none");
	result_param_set(r, "point", c->point);
	snprintf(buf, sizeof(buf), "%08x", c->exp->crc);
	result_param_set(r, "text_crc32", buf);
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)c->seed);
	result_param_set(r, "seed", buf);
	if (c->until == WEFT_NEVER)
		strcpy(buf, "end of programs");
	else
		units_print(WEFT_P_TIME, "", &c->until, buf, sizeof(buf));
	result_param_set(r, "run.until", buf);
	units_print(WEFT_P_TIME, "", &c->drain, buf, sizeof(buf));
	result_param_set(r, "run.drain", buf);
	result_param_set(r, "version", WEFT_VERSION);
	if (c->partial) {
		units_print(WEFT_P_TIME, "", &now, buf, sizeof(buf));
		snprintf(text, sizeof(text), "ended at %s", buf);
		result_param_set(r, "partial", text);
	} else {
		expect_judge(c->expect, r);
	}
	record_apply(c->record, r);
}
