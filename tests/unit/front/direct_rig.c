/* SPDX-License-Identifier: Apache-2.0 */
/* See direct_rig.h. */
#include "direct_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"

int net_try(struct direct_rig *g, uint32_t ends, const char *traffic,
	    const char *fabric)
{
	struct exp_opts o = { 0 };
	char text[4096];

	snprintf(text, sizeof(text),
		 "traffic: {count: %u, type: extoll.gen, %s}\n"
		 "fabric: {%s}\n"
		 "run: {until: 20ms}\n",
		 ends, traffic, fabric);
	memset(g, 0, sizeof(*g));
	registry_init(&g->reg);
	if (exp_load_text("f", text, strlen(text), &o, &g->reg, &g->e, &g->err))
		return -1;
	return exp_case_open(g->e, 0, &g->c, &g->err);
}

void net_close(struct direct_rig *g)
{
	if (g->c.sim)
		exp_case_close(&g->c);
	exp_free(g->e);
	registry_fini(&g->reg);
}

void net_run(struct direct_rig *g, uint32_t ends, const char *traffic,
	     const char *fabric)
{
	struct weft_err err = { 0 };

	if (net_try(g, ends, traffic, fabric))
		fail_msg("%s", g->err.msg);
	weft_sim_run(g->c.sim, g->c.until);
	g->r = weft_sim_result(g->c.sim);
	if (weft_sim_finish(g->c.sim, &err))
		fail_msg("%s", err.msg);
}

void net_good(const struct direct_rig *g)
{
	if (g->r->n_failures)
		fail_msg("%s", g->r->failures[0]);
	assert_true(weft_sim_idle(g->c.sim));
}

uint64_t net_counter(const struct direct_rig *g, const char *name)
{
	for (size_t i = 0; i < g->r->n_counters; i++)
		if (!strcmp(g->r->counters[i].name, name))
			return g->r->counters[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

double net_metric(const struct direct_rig *g, const char *name)
{
	const struct result_metric *m = result_metric_get(g->r, name);

	if (!m)
		fail_msg("no metric %s", name);
	return m->value;
}

const char *net_manifest(const struct direct_rig *g, const char *name)
{
	for (size_t i = 0; i < g->r->n_manifest; i++)
		if (!strcmp(g->r->manifest[i].name, name))
			return g->r->manifest[i].value;
	return "";
}

void net_trace_file(char path[32], const char *text)
{
	FILE *f;

	strcpy(path, "/tmp/weft-trace-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	fputs(text, f);
	fclose(f);
}

void net_run_trace(struct direct_rig *g, uint32_t ends, const char *text,
		   const char *fabric)
{
	char path[32], traffic[64];

	net_trace_file(path, text);
	snprintf(traffic, sizeof(traffic), "trace: %s, width: %s", path,
		 strstr(fabric, "w16") ? "w16" : "w32");
	net_run(g, ends, traffic, fabric);
	unlink(path);
	net_good(g);
}
