/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run is a function of the experiment and its seed alone: the
 * same system, built in random orders, must yield the same bytes. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "components.h"
#include "host/prog.h"
#include "measure/result.h"
#include "weft/sim.h"

enum { NODES = 4, PARTS = 4 * NODES + 2 };

struct part {
	const char *cls, *name, *params;
};

static struct part parts[PARTS];
static char names[PARTS][16];

static void parts_fill(void)
{
	static const struct part node[4] = {
		{ "host.pc", "host", "" },
		{ "bus.pcix", "bus", "" },
		{ "forth.nic", "nic", "plat-switch" },
		{ "forth.traffic", "prog0", "uniform" },
	};
	uint32_t n = 0;

	for (uint32_t i = 0; i < NODES; i++)
		for (uint32_t k = 0; k < 4; k++, n++) {
			parts[n] = node[k];
			snprintf(names[n], sizeof(names[n]), "n%u.%s", i,
				 node[k].name);
			parts[n].name = names[n];
		}
	parts[n++] = (struct part){ "forth.xbar", "s0", "plat-switch" };
	parts[n++] = (struct part){ "forth.link", "link", "" };
}

static const struct weft_class *class_find(const char *name)
{
	for (const struct weft_class *const *c = weft_classes; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static void shuffle(struct weft_rng *rng, uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	for (uint32_t i = n; rng && i > 1; i--) {
		uint32_t k = (uint32_t)weft_rng_below(rng, i), t = v[k];

		v[k] = v[i - 1];
		v[i - 1] = t;
	}
}

static void add(struct weft_sim *sim, const struct part *p)
{
	struct weft_err err = { 0 };
	struct weft_comp *c =
		weft_sim_add(sim, class_find(p->cls), p->name, &err);

	if (!c || (*p->params && weft_preset_apply(c, p->params, &err)))
		fail_msg("%s: %s", p->name, err.msg);
	if (!strcmp(p->cls, "forth.traffic"))
		weft_param_set(c, "count", "300", &err);
	if (weft_comp_init(c, &err))
		fail_msg("%s: %s", p->name, err.msg);
}

static struct weft_comp *part(struct weft_sim *sim, uint32_t node,
			      const char *what)
{
	char name[32];

	snprintf(name, sizeof(name), "n%u.%s", node, what);
	return weft_sim_find(sim, name);
}

static void join(struct weft_comp *a, const char *pa, struct weft_comp *b,
		 const char *pb, struct weft_comp *link)
{
	struct weft_err err = { 0 };

	if (weft_connect(weft_port_find(a, pa), weft_port_find(b, pb), link, 0,
			 &err))
		fail_msg("%s", err.msg);
}

static void wire(struct weft_sim *sim, uint32_t i)
{
	struct weft_comp *bus = part(sim, i, "bus"), *nic = part(sim, i, "nic");
	char port[16];

	snprintf(port, sizeof(port), "port%u", i);
	join(part(sim, i, "host"), "bus", bus, "host", NULL);
	join(nic, "bus", bus, "dev0", NULL);
	join(nic, "link0", weft_sim_find(sim, "s0"), port,
	     weft_sim_find(sim, "link"));
	assert_int_equal(
		weft_prog_attach(part(sim, i, "host"), part(sim, i, "prog0")),
		0);
}

/* Everything a result holds, as text. */
static char *dump(const struct weft_result *r)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < r->n_manifest; i++)
		fprintf(f, "%s=%s\n", r->manifest[i].name,
			r->manifest[i].value);
	for (size_t i = 0; i < r->n_metrics; i++)
		fprintf(f, "%s %.17g\n", r->metrics[i].name,
			r->metrics[i].value);
	for (size_t i = 0; i < r->n_counters; i++)
		fprintf(f, "%s %llu\n", r->counters[i].name,
			(unsigned long long)r->counters[i].value);
	for (size_t i = 0; i < r->n_failures; i++)
		fprintf(f, "%s\n", r->failures[i]);
	fclose(f);
	return text;
}

static char *run(uint64_t order)
{
	struct weft_sim *sim = weft_sim_new(7);
	struct weft_err err = { 0 };
	struct weft_rng rng;
	uint32_t v[PARTS];
	char *text;

	weft_rng_seed(&rng, order, "order");
	shuffle(order ? &rng : NULL, v, PARTS);
	for (uint32_t i = 0; i < PARTS; i++)
		add(sim, &parts[v[i]]);
	shuffle(order ? &rng : NULL, v, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		wire(sim, v[i]);
	if (weft_sim_start(sim, &err))
		fail_msg("%s", err.msg);
	weft_progs_stop_at_end(sim, true);
	weft_sim_run(sim, 100 * WEFT_MS);
	assert_int_equal(weft_progs_running(sim), 0);
	if (weft_sim_finish(sim, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(weft_sim_result(sim)->n_failures, 0);
	text = dump(weft_sim_result(sim));
	weft_sim_free(sim);
	return text;
}

static void any_order_same_bytes(void **state)
{
	char *first, *again;

	(void)state;
	parts_fill();
	first = run(0);
	assert_non_null(strstr(first, "n0.prog0.sent 300"));
	for (uint64_t order = 0; order < 12; order++) {
		again = run(order);
		if (strcmp(first, again))
			fail_msg("order %llu differs",
				 (unsigned long long)order);
		free(again);
	}
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_same_bytes),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
