/* SPDX-License-Identifier: Apache-2.0 */
/* Many packets through several crossbars of the Host Port's network: scenarios
 * O08 of hostport.md 13.4, L09 and L10 of 13.6. The network is a ring of four
 * nodes with a process on each that sends and receives. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpproc.h"

extern const struct weft_class weft_class_fault_bits;

enum { VPID = 0x30, NODES = 4, UNDER_WAY = 8, UNIT = 6 };

/* Messages that a process sends to other nodes and expects from them. */
struct job {
	/* to: destinations. count: number of messages to each */
	uint32_t to[2], count;
	uint32_t expect[NODES];
};

static struct scene {
	struct exrig r;
	const struct job *job;
	uint32_t bytes; /* length of the longest message */
	struct hpdrv d[NODES];
	struct hpproc p[NODES];
	uint32_t got[NODES][NODES]; /* [at][from] */
	weft_time_t took;
} scene;

static uint32_t size_of(const struct scene *s, uint32_t tag)
{
	return tag % 3 ? 8 * (tag % 6) : 48 + s->bytes * (tag % 7) / 7 / 8 * 8;
}

static void send_one(struct scene *s, struct hpproc *p, uint32_t to,
		     uint32_t tag)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_SEND | (tag % 4 ? 0 : HP_A), to, VPID, tag);
	w[4] = size_of(s, tag);
	hpproc_put(p, w);
	hpproc_issue(p, 1);
}

/* Checks order and bytes of each packet of a sender. */
static void take_one(struct scene *s, uint32_t me, const uint64_t *w)
{
	uint32_t from = HP_NQE_HPID(w) - 1, tag = s->got[me][from]++;
	uint32_t n = size_of(s, tag), wp = HP_PS_LO(w[2]), unit = 1u << UNIT;
	const uint64_t *sdr = s->p[from].sdr, *rdr = s->p[me].rdr;

	assert_int_equal(HP_NQE_TAG(w), tag);
	if (HP_NQE_CMD(w) == HP_B_NOTIFY_FAST_RECV) {
		assert_int_equal(HP_NQE_WORDS(w), n / 8);
		assert_memory_equal(&w[2], sdr, n);
		return;
	}
	assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_RECV);
	assert_int_equal(w[3], n);
	for (uint32_t i = 0, size = s->d[me].rdr; i < n / 8; i++)
		assert_int_equal(rdr[(wp + size - n / 8 + i) % size], sdr[i]);
	for (uint32_t left = (n / 8 + unit - 1) / unit; left;) {
		uint32_t k = left > HP_COUNT_MAX ? HP_COUNT_MAX : left;

		if (hpproc_trigger(&s->p[me], HP_T_RDR_RP, k) & HP_TRUE)
			left -= k;
	}
}

static bool all_here(const struct scene *s, uint32_t me)
{
	for (uint32_t i = 0; i < NODES; i++)
		if (s->got[me][i] < s->job[me].expect[i])
			return false;
	return true;
}

static void work(struct scene *s, uint32_t me)
{
	const struct job *j = &s->job[me];
	uint32_t dsts = j->to[0] == j->to[1] ? 1 : 2, idle = 0;
	uint32_t all = j->count * dsts, put = 0, done = 0;
	uint64_t w[HP_WORDS];

	while (done < all || !all_here(s, me)) {
		for (; put < all && put - done < UNDER_WAY; put++)
			send_one(s, &s->p[me], j->to[put % dsts], put / dsts);
		if (!hpproc_wait(&s->p[me], w)) {
			assert_true(idle++ < 100); /* 10 ms */
			continue;
		}
		if (HP_MAIN(HP_CMD_BYTE(HP_NQE_CMD(w))) == HP_M_NOTIFY) {
			take_one(s, me, w);
			continue;
		}
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
		done++;
	}
}

static int node_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = &scene;
	struct hpproc *p = &s->p[node];
	char key[8] = { 'u', (char)('0' + node) };
	weft_time_t from;

	s->d[node].ctrl = HP_CTRL_ORDER | HP_CTRL_HASH;
	hpdrv_open(&s->d[node], r, node, h);
	hpdrv_set(&s->d[node], HP_R_RDR_UNIT, UNIT);
	hpproc_open(p, &s->d[node], h, VPID, HP_CTX_ORD);
	for (uint32_t i = 0; i < s->d[node].sdr; i++)
		p->sdr[i] = (i + 1) * 0x9E3779B97F4A7C15ull ^ node;
	weft_oob_put(h, key, 1);
	for (uint32_t i = 0; i < r->nodes; i++) {
		key[1] = (char)('0' + i);
		weft_oob_get(h, key);
	}
	from = weft_host_now(h);
	work(s, node);
	if (weft_host_now(h) - from > s->took)
		s->took = weft_host_now(h) - from;
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	return 0;
}

static struct scene *scene_new(const char *dims, const struct job *job,
			       uint32_t bytes)
{
	memset(&scene, 0, sizeof(scene));
	scene.job = job;
	scene.bytes = bytes;
	hprig_new(&scene.r, dims, NULL);
	exrig_set(&scene.r, "extoll.xbar", "hash_order", "yes");
	for (uint32_t i = 0; i < scene.r.nodes; i++)
		exrig_prog(&scene.r, i, node_main);
	return &scene;
}

static void scene_run(struct scene *s)
{
	exrig_start(&s->r);
	exrig_run(&s->r);
	for (uint32_t i = 0; i < s->r.nodes; i++)
		assert_true(all_here(s, i));
}

static uint64_t sum(struct scene *s, const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->r.nodes; i++)
		n += exrig_counter(s->r.node[i].xbar, name);
	return n;
}

/* ---- O08 ---- */

/* Node 0 sends to node 2 through node 1 (three crossbars). Nodes 1 and 3 also
 * send to node 2 and to each other, so that all traffic meets at the ports of
 * nodes 1 and 2 (O08). */
static void test_o08_order(void **state)
{
	static const struct job job[NODES] = {
		{ { 2, 2 }, 150, { 0, 150, 0, 150 } },
		{ { 2, 0 }, 150, { 0 } },
		{ { 2, 2 }, 0, { 150, 150, 0, 150 } },
		{ { 2, 0 }, 150, { 0 } },
	};
	struct scene *s = scene_new("4", job, 600);

	scene_run(s);
	/* cross traffic has caused conflicts */
	assert_true(sum(s, "conflicts") > 0);
	exrig_free(&s->r);
}

/* ---- L10 ---- */

static const struct job round_job[NODES] = {
	{ { 1, 2 }, 120, { 0, 0, 120, 120 } },
	{ { 2, 3 }, 120, { 120, 0, 0, 120 } },
	{ { 3, 0 }, 120, { 120, 120, 0, 0 } },
	{ { 0, 1 }, 120, { 0, 120, 120, 0 } },
};

/* A bit error rate of 1.25e-7 is 10^-6 per byte, on all cables in both
 * directions (L10). */
static void test_l10_errors(void **state)
{
	static const char *const set[] = { "rate", "1.25e-7", NULL };
	struct scene *s = scene_new("4", round_job, 32768);

	for (uint32_t i = 0; i < NODES; i++)
		for (uint32_t port = 3; port < 5; port++)
			exrig_fault(&s->r, i, port, &weft_class_fault_bits,
				    set);
	scene_run(s);
	print_message("%u cells sent again\n", (unsigned)sum(s, "resent"));
	assert_true(sum(s, "resent") > 0);
	assert_int_equal(sum(s, "downs"), 0);
	exrig_free(&s->r);
}

/* ---- L09 ---- */

enum { LONGEST = 65000 };

/* Returns the time of a stream to the neighbour. The line takes `cycles` cycles
 * in each direction, and `slots` cells of 64 bytes fit at its end. The port
 * asserts that it never holds more cells. */
static weft_time_t stream(const char *slots, const char *cycles)
{
	static const struct job job[NODES] = { { { 1, 1 }, 20, { 0 } },
					       { { 1, 1 }, 0, { 20 } } };
	struct scene *s = scene_new("2", job, LONGEST);
	weft_time_t t;

	exrig_set(&s->r, "extoll.xbar", "slots", slots);
	exrig_set(&s->r, "extoll.xbar", "reserved", "1");
	exrig_set(&s->r, "extoll.xbar", "mgt", cycles);
	exrig_set(&s->r, "extoll.xbar", "t_lp_out", cycles);
	exrig_set(&s->r, "extoll.xbar", "t_lp_in", cycles);
	scene_run(s);
	t = s->took;
	exrig_free(&s->r);
	return t;
}

/* L09 */
static void test_l09_credits(void **state)
{
	static const char *const cycles[] = { "1", "16", "64" };
	weft_time_t last = 0, raw = 0;

	scene.bytes = LONGEST;
	/* a cycle of 330 MHz carries 2 bytes */
	for (uint32_t i = 0; i < 20; i++)
		raw += size_of(&scene, i) * (WEFT_SEC / 660000000);
	for (uint32_t i = 0; i < 3; i++) {
		weft_time_t few = stream("4", cycles[i]);
		weft_time_t full = stream("64", cycles[i]);

		/* with too few slots, the sender waits for a round trip after
		 * every few cells */
		assert_true(few > 2 * full);
		assert_true(few > 3 * last / 2);
		/* More slots than the cells on the line do not help, because
		 * the line is already busy all the time with cells and their
		 * heads. */
		assert_int_equal(stream("128", cycles[i]), full);
		assert_in_range(full, raw, raw * 10 / 8);
		last = few;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o08_order),
		cmocka_unit_test(test_l10_errors),
		cmocka_unit_test(test_l09_credits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
