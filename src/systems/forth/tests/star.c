/* SPDX-License-Identifier: Apache-2.0 */
/* See star.h. */
#include "star.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct weft_class weft_class_forth_xbar;

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static struct weft_comp *add(struct star *s, const struct weft_class *cls,
			     const char *name, const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(s->sim, cls, name, &err);

	for (; set && *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	return c;
}

static void set_u32(struct weft_comp *c, const char *name, uint32_t v)
{
	struct weft_err err = { 0 };
	char text[16];

	snprintf(text, sizeof(text), "%u", v);
	must(weft_param_set(c, name, text, &err), &err);
}

void star_init(struct star *s, uint32_t ports, const char *const *sw_set,
	       const char *const *node_set)
{
	struct weft_err err = { 0 };
	char name[8];
	uint32_t i;

	*s = (struct star){ .sim = weft_sim_new(3),
			    .ports = ports,
			    .cc = 12800000 };
	s->sw = add(s, &weft_class_forth_xbar, "sw", NULL);
	set_u32(s->sw, "ports", ports);
	set_u32(s->sw, "min_payload", 0);
	for (; sw_set && *sw_set; sw_set += 2)
		must(weft_param_set(s->sw, sw_set[0], sw_set[1], &err), &err);
	must(weft_comp_init(s->sw, &err), &err);
	s->x = s->sw->state;
	for (i = 0; i < ports; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		s->comp[i] = add(s, &test_node_class, name, node_set);
		set_u32(s->comp[i], "me", i);
		set_u32(s->comp[i], "n", ports);
		must(weft_comp_init(s->comp[i], &err), &err);
		s->n[i] = s->comp[i]->state;
		node_script(s->n[i], NULL, 0);
		free(s->n[i]->log);
		s->n[i]->log = malloc(65536 * sizeof(*s->n[i]->log));
		must(weft_connect(&s->comp[i]->ports[0], &s->sw->ports[i], NULL,
				  24 * s->cc, &err),
		     &err);
	}
}

void star_send(struct star *s, uint32_t from, uint32_t to, uint32_t count,
	       uint32_t qwords, uint64_t at)
{
	struct node *n = s->n[from];
	struct node_item *items = calloc(count, sizeof(*items));
	uint32_t i;

	for (i = 0; i < count; i++)
		items[i] = (struct node_item){ to, qwords, i, at, 0 };
	for (i = 0; i < 16; i++) {
		free(n->queue[i]);
		n->queue[i] = NULL;
	}
	n->script = items;
	n->n_script = count;
	for (i = 0; i < n->n; i++)
		n->queue[i] = malloc((count + 1) * sizeof(uint32_t));
}

struct weft_comp *star_fault(struct star *s, const struct weft_class *cls,
			     uint32_t i, bool back, const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *f = add(s, cls, cls->name, set);

	must(weft_comp_init(f, &err), &err);
	must(weft_filter_add(back ? &s->sw->ports[i] : &s->comp[i]->ports[0], f,
			     &err),
	     &err);
	return f;
}

void star_start(struct star *s)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(s->sim, &err), &err);
}

void star_run(struct star *s, uint64_t cycle)
{
	weft_sim_run(s->sim, cycle * s->cc);
}

static uint64_t find(const struct node *n, uint32_t where, uint32_t k,
		     uint32_t *src_p)
{
	uint32_t j;

	for (j = 0; j < n->n_log; j++)
		if (n->log[j].where == where && !k--) {
			if (src_p)
				*src_p = n->log[j].src;
			return n->log[j].cycle;
		}
	return WEFT_NEVER;
}

uint64_t star_start_of(const struct star *s, uint32_t node, uint32_t k)
{
	return find(s->n[node], node, k, NULL);
}

uint64_t star_out_of(const struct star *s, uint32_t port, uint32_t k,
		     uint32_t *src_p)
{
	return find(s->n[port], 100 + port, k, src_p);
}

void star_fini(struct star *s)
{
	weft_sim_free(s->sim);
}
