/* SPDX-License-Identifier: Apache-2.0 */
/* Trace of a message in the EXTOLL NIC: its stages with their times in core
 * cycles (extoll.md 7.1, 5.3, 5.4), and the end of the message. */
#include "unit/cmocka_all.h"
#include "exproc.h"
#include "exrig.h"

#include <string.h>

#include "weft/trace.h"
#include "weft/velo.h"

enum { VPID = 5, OPT = RMA_OPT_TE, MARKS = 160 };

static struct exproc proc[2];

struct ear {
	struct weft_listener l;
	struct weft_trace got[MARKS];
	uint32_t n;
};

static void hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct ear *e = (struct ear *)l;

	if (t->kind > WEFT_TRACE_END)
		return;
	assert_true(e->n < MARKS);
	e->got[e->n++] = *t;
}

/* ---- expected stages ---- */

struct stage {
	const char *name;
	double cycles;
	/* The stage is a synchroniser, which takes up to half a cycle more or
	 * less. */
	bool sync;
};

/* Stages of the host's store up to HTAX. */
#define INTO                                                                   \
	{ "synchroniser in", 3, true }, { "waits for HTAX", 0 },               \
	{                                                                      \
		"HTAX", 4                                                      \
	}
/* 15 ns are 3 HT cycles or 2.34 core cycles. */
#define OUT(asks)                                                              \
	{ "waits for HTAX", 0 }, { "HTAX", 4 },                                \
		{ "synchroniser out", 2.34, true },                            \
	{                                                                      \
		asks, 0                                                        \
	}

static const struct stage velo_stages[] = {
	INTO,
	{ "VELO requester", 13 },
	{ "network port", 3 },
	{ "cable, link port", 5 },
	/* N4, and the rest of the cell */
	{ "network port, whole cell", 3 + 4 },
	{ "waits for the completer", 0 },
	{ "VELO completer", 21 },
	OUT("asks to write"),
};

/* Stages of a put whose pages the TLBs know. */
static const struct stage put_stages[] = {
	INTO,
	{ "waits for its turn", 0 },
	{ "checks the command", 8 },
	{ "translation", 4 },
	OUT("asks to read"),
	INTO,
	{ "network port", 3 },
	{ "cable, link port", 5 },
	{ "network port, whole cell", 3 + 6 },
	{ "waits for the completer", 0 },
	{ "checks the packet", 16 },
	{ "translation", 4 },
	{ "completer", 0 },
	OUT("asks to write"),
};

/* Returns the id of the k-th message. */
static uint64_t message(const struct ear *e, uint32_t k)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->got[i].kind == WEFT_TRACE_OPEN && !k--)
			return e->got[i].id;
	fail();
	return 0;
}

static bool of_nic(const struct weft_trace *t)
{
	return t->kind == WEFT_TRACE_MARK && strstr(t->comp->name, ".nic");
}

/* Checks the NICs' stages of message `id`. The message must end once, after all
 * these stages, and must have arrived. */
static void check(const struct ear *e, uint64_t id, const struct stage *s,
		  uint32_t n)
{
	weft_time_t last = 0;
	uint32_t k = 0, ends = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct weft_trace *t = &e->got[i];
		double cycles = (double)(t->to - last) * 156e6 / 1e15;

		if (t->id != id || t->kind == WEFT_TRACE_OPEN)
			continue;
		if (t->kind == WEFT_TRACE_END) {
			ends++;
			assert_int_equal(t->value, 1);
			assert_int_equal(k, n);
			continue;
		}
		last = t->to;
		if (!of_nic(t))
			continue;
		assert_true(k < n);
		assert_string_equal(t->name, s[k].name);
		assert_true(cycles > s[k].cycles - (s[k].sync ? 0.51 : 0.01));
		assert_true(cycles < s[k].cycles + (s[k].sync ? 0.51 : 0.01));
		k++;
	}
	assert_int_equal(k, n);
	assert_int_equal(ends, 1);
}

#define CHECK(e, k, stages)                                                    \
	check(e, message(e, k), stages, sizeof(stages) / sizeof(stages[0]))

/* ---- programs ---- */

static void put(uint32_t spec)
{
	exproc_post(&proc[0], OPT,
		    RMA_D_MAKE(RMA_PUT_QW, 1, VPID, spec, 0) | RMA_D_BYTES(8),
		    EXPROC_NLA(0), EXPROC_NLA(0));
	weft_host_sleep(proc[0].h, weft_host_now(proc[0].h) + 20 * WEFT_US);
}

static int put_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	exproc_open(&proc[node], h, VPID);
	weft_oob_put(h, node ? "far" : "near", 1);
	weft_oob_get(h, node ? "near" : "far");
	for (uint32_t i = 0; i < 3 && !node; i++)
		put(i < 2 ? 0 : RMA_COMPLETER);
	return 0;
}

static int velo_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct velo_connection c;
	struct velo_port *p;
	uint32_t len;
	char buf[64] = "";

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_oob_put(h, node ? "far" : "near", velo_vpid(p));
	assert_int_equal(
		velo_connect(p, &c, 1 - node,
			     (uint32_t)weft_oob_get(h, node ? "near" : "far")),
		VELO_SUCCESS);
	if (!node)
		velo_send(&c, buf, 8, 0, 0);
	else
		while (velo_recv(p, buf, NULL, NULL, NULL, &len) !=
		       VELO_SUCCESS)
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	velo_close(p);
	return 0;
}

static struct exrig rig;

static void play(exrig_fn fn, struct ear *e)
{
	*e = (struct ear){ .l.hear = hear };
	exrig_new(&rig, "2");
	exrig_prog(&rig, 0, fn);
	exrig_prog(&rig, 1, fn);
	exrig_start(&rig);
	weft_sim_listen(rig.sim, &e->l);
	exrig_run(&rig);
}

static void test_stages_of_a_message_are_those_of_the_table(void **state)
{
	struct ear e;

	play(velo_main, &e);
	CHECK(&e, 0, velo_stages);
	exrig_free(&rig);
}

/* Checks the second put, because the first one fills the TLBs. */
static void test_stages_of_a_put_are_those_of_the_table(void **state)
{
	struct ear e;

	play(put_main, &e);
	CHECK(&e, 1, put_stages);
	exrig_free(&rig);
}

/* A message ends with its notification, not with its data. */
static void test_put_with_a_notification_ends_behind_it(void **state)
{
	struct ear e;
	uint32_t written = 0, ends = 0;

	play(put_main, &e);
	for (uint32_t i = 0; i < e.n; i++) {
		const struct weft_trace *t = &e.got[i];

		if (t->id != message(&e, 2))
			continue;
		assert_int_equal(ends, 0);
		if (t->kind == WEFT_TRACE_END)
			ends++;
		else if (t->name && !strcmp(t->name, "asks to write"))
			written++;
	}
	assert_int_equal(written, 2);
	assert_int_equal(ends, 1);
	exrig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_stages_of_a_message_are_those_of_the_table),
		cmocka_unit_test(test_stages_of_a_put_are_those_of_the_table),
		cmocka_unit_test(test_put_with_a_notification_ends_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
