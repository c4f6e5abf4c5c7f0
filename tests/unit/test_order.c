/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run depends only on the experiment and its seed. Therefore
 * one system, built in random orders, must yield equal bytes. */
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "components.h"
#include "host/prog.h"
#include "measure/result.h"
#include "systems/extoll/network/place.h"
#include "weft/sim.h"

enum { NODES = 4, PARTS = 6 * NODES };

struct part {
	const char *cls, *preset, *set; /* set: PARAM VALUE, or NULL */
	char name[16];
};

/* A kind of component: one component for each node if its name has %u,
 * otherwise one in total. */
struct kind {
	const char *cls, *name, *preset, *set;
};

struct system {
	const struct kind *kinds; /* list that ends with name == NULL */
	void (*wire)(struct weft_sim *sim, uint32_t node);
	/* sent: text that the result must contain. clean: text that the result
	 * must not contain */
	const char *sent, *clean;
};

static uint32_t parts_fill(const struct system *y, struct part *parts)
{
	uint32_t n = 0;

	for (const struct kind *k = y->kinds; k->name; k++)
		for (uint32_t i = 0; i < NODES; i++) {
			parts[n] = (struct part){ k->cls, k->preset, k->set };
			snprintf(parts[n].name, sizeof(parts[n].name), k->name,
				 i);
			n += !i || strchr(k->name, '%');
		}
	return n;
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
	char param[16], value[16];

	if (!c || (p->preset && weft_preset_apply(c, p->preset, &err)))
		fail_msg("%s: %s", p->name, err.msg);
	if (p->set && (sscanf(p->set, "%15s %15s", param, value) != 2 ||
		       weft_param_set(c, param, value, &err)))
		fail_msg("%s: %s", p->name, err.msg);
	if (weft_comp_init(c, &err))
		fail_msg("%s: %s", p->name, err.msg);
}

static struct weft_comp *part(struct weft_sim *sim, uint32_t node,
			      const char *fmt)
{
	char name[32];

	snprintf(name, sizeof(name), fmt, node);
	return weft_sim_find(sim, name);
}

static void join(struct weft_comp *a, const char *pa, struct weft_comp *b,
		 const char *pb, struct weft_comp *link, weft_time_t delay)
{
	struct weft_err err = { 0 };

	if (weft_connect(weft_port_find(a, pa), weft_port_find(b, pb), link,
			 delay, &err))
		fail_msg("%s", err.msg);
}

static void wire_host(struct weft_sim *sim, uint32_t i)
{
	struct weft_comp *bus = part(sim, i, "n%u.bus");
	struct weft_comp *host = part(sim, i, "n%u.host");

	join(host, "bus", bus, "host", NULL, 0);
	join(part(sim, i, "n%u.nic"), "bus", bus, "dev0", NULL, 0);
	assert_int_equal(weft_prog_attach(host, part(sim, i, "n%u.prog0")), 0);
}

/* ---- FORTH: four nodes at a switch ---- */

static const struct kind forth_kinds[] = {
	{ "host.pc", "n%u.host" },
	{ "bus.pcix", "n%u.bus" },
	{ "forth.nic", "n%u.nic", "plat-switch" },
	{ "forth.traffic", "n%u.prog0", "uniform", "count 300" },
	{ "forth.xbar", "s0", "plat-switch" },
	{ "forth.link", "link" },
	{ 0 },
};

static void forth_wire(struct weft_sim *sim, uint32_t i)
{
	char port[16];

	snprintf(port, sizeof(port), "port%u", i);
	wire_host(sim, i);
	join(part(sim, i, "n%u.nic"), "link0", weft_sim_find(sim, "s0"), port,
	     weft_sim_find(sim, "link"), 0);
}

/* ---- EXTOLL: a ring of four, errors on one of its cables ---- */

static const struct kind extoll_kinds[] = {
	{ "host.pc", "n%u.host", "opteron" },
	{ "bus.ht", "n%u.bus" },
	{ "extoll.nic", "n%u.nic" },
	{ "extoll.alltoall", "n%u.prog0" },
	{ "extoll.xbar", "s%u" },
	{ "extoll.cable", "cable" },
	{ "fault.bits", "fault", NULL, "rate 1e-4" },
	{ 0 },
};

static struct topology ring;

static void extoll_place(struct weft_comp *c, uint32_t i)
{
	ex_place(c)->topo = &ring;
	ex_place(c)->node = i;
}

static void extoll_wire(struct weft_sim *sim, uint32_t i)
{
	static const char *const np[] = { "np0", "np1", "np2" };
	struct weft_comp *x = part(sim, i, "s%u"), *nic;
	struct weft_err err = { 0 };

	wire_host(sim, i);
	nic = part(sim, i, "n%u.nic");
	for (uint32_t k = 0; k < 3; k++)
		join(nic, np[k], x, np[k], NULL, 1);
	join(x, "lp0", part(sim, (i + 1) % NODES, "s%u"), "lp1",
	     weft_sim_find(sim, "cable"), 0);
	extoll_place(x, i);
	extoll_place(nic, i);
	if (i == 2 && weft_filter_add(weft_port_find(x, "lp0"),
				      weft_sim_find(sim, "fault"), &err))
		fail_msg("%s", err.msg);
}

/* ---- runs ---- */

static const struct system forth = { forth_kinds, forth_wire,
				     "n0.prog0.sent 300\n", "s0.packets 0\n" };
static const struct system extoll = { extoll_kinds, extoll_wire,
				      "n0.prog0.received 300\n",
				      "s2.retries 0\n" };

/* Returns everything that a result holds, as text. */
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

static char *run(const struct system *y, uint64_t order)
{
	struct weft_sim *sim = weft_sim_new(7);
	struct weft_err err = { 0 };
	struct weft_rng rng;
	struct part parts[PARTS];
	uint32_t v[PARTS], n = parts_fill(y, parts);
	char *text;

	weft_rng_seed(&rng, order, "order");
	shuffle(order ? &rng : NULL, v, n);
	for (uint32_t i = 0; i < n; i++)
		add(sim, &parts[v[i]]);
	shuffle(order ? &rng : NULL, v, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		y->wire(sim, v[i]);
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

static void any_order_same_bytes(const struct system *y)
{
	char *first = run(y, 0), *again;

	assert_non_null(strstr(first, y->sent));
	assert_null(strstr(first, y->clean));
	for (uint64_t order = 0; order < 12; order++) {
		again = run(y, order);
		if (strcmp(first, again))
			fail_msg("order %llu differs",
				 (unsigned long long)order);
		free(again);
	}
	free(first);
}

static void forth_gives_equal_bytes_in_any_order(void **state)
{
	any_order_same_bytes(&forth);
}

static void extoll_gives_equal_bytes_in_any_order(void **state)
{
	uint32_t size[] = { NODES };
	struct weft_err err = { 0 };

	assert_int_equal(
		topo_grid(&ring, EX_TOPO_PORTS, size, 1, true, false, &err), 0);
	ring.path = ring.dateline = true;
	any_order_same_bytes(&extoll);
	topo_fini(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forth_gives_equal_bytes_in_any_order),
		cmocka_unit_test(extoll_gives_equal_bytes_in_any_order),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
