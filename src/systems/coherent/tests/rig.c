/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "rig.h"

/* clang-format off */
#define FIELDS(X)                                                              \
	X(cores, 2) X(size, 16384) X(line, 32) X(ways, 1) X(banks, 4)          \
	X(row_bytes, 2048) X(width, 8) X(update_alloc, 0) X(supply_shared, 1)  \
	X(t_hit, 1) X(t_port, 1) X(t_plb, 5) X(t_arb, 1) X(t_req, 1)           \
	X(t_snoop, 2) X(t_supply, 2) X(t_reply, 1) X(t_ni, 2) X(t_ctrl, 4)     \
	X(t_rp, 2) X(t_rcd, 2) X(t_cas, 2) X(t_cwl, 1)
/* clang-format on */

void rig_script_default(struct ref_coh_script *s)
{
	memset(s, 0, sizeof(*s));
#define X(field, value) s->field = value;
	FIELDS(X)
#undef X
}

static void set(struct rig *r, const char *name, uint64_t value)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (weft_param_set(r->c, name, text, &err))
		fail_msg("%s", err.msg);
}

static void rig_new(struct rig *r, uint64_t seed)
{
	struct weft_err err = { 0 };

	r->sim = weft_sim_new(seed);
	r->c = weft_sim_add(r->sim, &weft_class_coh_system, "coh", &err);
	if (!r->c)
		fail_msg("%s", err.msg);
}

static void on_op(void *arg, uint32_t core, const struct coh_op *op,
		  uint64_t cycle, uint64_t value)
{
	struct ref_coh_log *log = ((struct rig *)arg)->log;

	assert_true(log->n_ops < REF_COH_LOG);
	log->op[log->n_ops++] = (struct ref_coh_access){
		.core = core, .cycle = cycle, .addr = op->addr, .value = value
	};
}

static void on_txn(void *arg, const struct coh_txn *t)
{
	struct ref_coh_log *log = ((struct rig *)arg)->log;

	assert_true(log->n_txns < REF_COH_LOG);
	log->txn[log->n_txns++] = *t;
}

static void rig_script(struct rig *r, const struct ref_coh_script *s)
{
	struct weft_err err = { 0 };

#define X(field, value) set(r, #field, s->field);
	FIELDS(X)
#undef X
	set(r, "ddr_bytes", REF_COH_DDR);
	set(r, "uncached_bytes", REF_COH_DDR - REF_COH_OPEN);
	set(r, "private_base", REF_COH_PRIVATE);
	set(r, "private_bytes", REF_COH_PRIV);
	set(r, "region_base", 0);
	set(r, "region", 4096);
	set(r, "pollers", 0);
	set(r, "words", 0);
	if (weft_comp_init(r->c, &err) ||
	    coh_system_items(r->c, s->item, s->n_items, &err))
		fail_msg("%s", err.msg);
	for (uint32_t i = 0; i < s->cores; i++)
		if (coh_system_script(r->c, i, s->op[i], s->n_ops[i], &err))
			fail_msg("%s", err.msg);
}

static void state_at_end(struct rig *r, const struct ref_coh_script *s)
{
	coh_mem_read(coh_system_mem(r->c), 0, r->log->mem, REF_COH_DDR);
	for (uint32_t i = 0; i < s->cores; i++) {
		const struct coh_cache *c = coh_system_cache(r->c, i);

		for (uint32_t k = 0; k < c->sets * c->ways; k++)
			if (c->lines[k].state != COH_I)
				r->log->copies[c->lines[k].state - COH_S]++;
	}
}

void rig_run(struct rig *r, const struct ref_coh_script *s,
	     struct ref_coh_log *log)
{
	struct coh_watch watch = { .op = on_op, .txn = on_txn, .arg = r };

	*r = (struct rig){ .log = log };
	memset(log, 0, sizeof(*log));
	rig_new(r, 1);
	rig_script(r, s);
	coh_system_watch(r->c, &watch);
	rig_finish(r);
	state_at_end(r, s);
}

void rig_open(struct rig *r, uint64_t seed, const char *params)
{
	struct weft_err err = { 0 };
	char text[1024], *save, *p, *eq;

	*r = (struct rig){ 0 };
	rig_new(r, seed);
	snprintf(text, sizeof(text), "%s", params);
	for (p = strtok_r(text, " ", &save); p;
	     p = strtok_r(NULL, " ", &save)) {
		eq = strchr(p, '=');
		*eq = '\0';
		if (weft_param_set(r->c, p, eq + 1, &err))
			fail_msg("%s", err.msg);
	}
	if (weft_comp_init(r->c, &err))
		fail_msg("%s", err.msg);
}

void rig_finish(struct rig *r)
{
	struct weft_err err = { 0 };

	if (weft_sim_start(r->sim, &err))
		fail_msg("%s", err.msg);
	weft_sim_run(r->sim, WEFT_NEVER - 1);
	assert_true(weft_sim_idle(r->sim));
	if (weft_sim_finish(r->sim, &err))
		fail_msg("%s", err.msg);
	r->errors = rig_counter(r, "errors");
}

void rig_free(struct rig *r)
{
	weft_sim_free(r->sim);
	*r = (struct rig){ 0 };
}

uint64_t rig_counter(const struct rig *r, const char *name)
{
	const struct weft_class *cls = r->c->cls;

	for (uint32_t i = 0; i < cls->n_counters; i++)
		if (!strcmp(cls->counters[i].name, name))
			return r->c->counters[i];
	fail_msg("no counter %s", name);
	return 0;
}

double rig_metric(const struct rig *r, const char *name)
{
	const struct weft_result *res = weft_sim_result(r->sim);
	char full[64];

	snprintf(full, sizeof(full), "coh.%s", name);
	for (size_t i = 0; i < res->n_metrics; i++)
		if (!strcmp(res->metrics[i].name, full))
			return res->metrics[i].value;
	fail_msg("no metric %s", full);
	return 0;
}
