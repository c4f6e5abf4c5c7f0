/* SPDX-License-Identifier: Apache-2.0 */
/* Responses and acknowledges never wait behind requests (hostport.md 8.5). A
 * process whose notification queue is full occupies all completer units that
 * requests may use, but another process of its node continues. */
#include "unit/cmocka_all.h"

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

enum { FLOOD = 60, ROUNDS = 20, VICTIM_NQ = 16, OTHER = 0x55 };

static struct hpproc other; /* second process of node 1 */

static void before(struct hppair *t)
{
	hppair_set(t);
	t->end[0].d.nq = 512;
	t->end[1].d.nq = VICTIM_NQ;
}

static void near_flood(struct hppair *t, struct hpend *e)
{
	uint64_t data = 1;
	uint64_t w[HP_WORDS];

	hppair_meet(e);
	for (uint32_t i = 0; i < FLOOD; i++)
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
	weft_host_sleep(e->h, weft_host_now(e->h) + 50 * WEFT_US);
	hppair_meet(e);
	hppair_meet(e);
	for (uint32_t i = 0; i < FLOOD + ROUNDS; i++)
		assert_true(hpproc_wait(&e->p, w));
}

/* Checks that acknowledges reach the node whose units are occupied. */
static void work_on(void)
{
	uint64_t w[HP_WORDS], data = 2;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		hpproc_fast_send(&other, 0, HPEND_VPID0, HP_A, i, &data, 1);
		assert_true(hpproc_wait(&other, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | HP_A | 1);
		assert_int_equal(HP_NQE_USER(w), i);
	}
}

static void far_flood(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpproc_open(&other, &e->d, e->h, OTHER, 0);
	hppair_meet(e);
	hppair_meet(e);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	work_on();
	assert_true(hppair_counter(t, 1, "nqe_waits") > 0);
	for (uint32_t i = 0; i < FLOOD; i++)
		assert_true(hpproc_wait(&e->p, w));
	hppair_meet(e);
}

static void test_replies_pass(void **state)
{
	static const char *const all[][9] = {
		{ NULL },
		{ "waitq_depth", "0" },
		{ "waitq_depth", "0", "issue_width", "1", "vci_queue", "1" },
		{ "waitq_depth", "0", "n_cpl_fu", "2" },
		{ "waitq_depth", "0", "n_cpl_fu", "1" },
		{ "n_cpl_fu", "1", "issue_width", "1", "vci_queue", "1" },
		{ "n_cpl_fu", "16" },
	};

	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		hppair_sets = all[i];
		hppair_once(before, near_flood, far_flood);
	}
}

/* Checks that requests leave a quarter of the queue, rounded up, to replies. */
static void far_queue(struct hppair *t, struct hpend *e)
{
	const struct hp_nic *n = t->rig.node[1].nic->state;
	const struct hp_sched *s = &n->sched[HP_CPL];
	uint64_t w[HP_WORDS];

	hpproc_open(&other, &e->d, e->h, OTHER, 0);
	hppair_meet(e);
	hppair_meet(e);
	assert_int_equal(s->n_queue, s->room - (s->room + 3) / 4);
	work_on();
	for (uint32_t i = 0; i < FLOOD; i++)
		assert_true(hpproc_wait(&e->p, w));
	hppair_meet(e);
}

static void test_requests_leave_room_for_replies(void **state)
{
	static const char *const all[][7] = {
		{ "rx_places", "0", "waitq_depth", "0", "vci_queue", "16" },
		{ "rx_places", "0", "waitq_depth", "0", "vci_queue", "5" },
	};

	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		hppair_sets = all[i];
		hppair_once(before, near_flood, far_queue);
	}
}

/* Issues gets of a page that the target's driver inserts only later. */
static void near_gets(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];
	struct hprma get = hpend_get(0, 0, 8);

	get.byte = HP_B_FAST_GET | 1;
	hpend_windows(e);
	for (uint32_t i = 0; i < FLOOD; i++)
		hpend_rma(e, &get);
	weft_host_sleep(e->h, weft_host_now(e->h) + 50 * WEFT_US);
	hppair_meet(e);
	for (uint32_t i = 0; i < FLOOD; i++)
		hpend_expect(e, HP_B_FAST_GET | 1, w);
	hppair_meet(e);
}

static void far_gets(struct hppair *t, struct hpend *e)
{
	const struct hp_nic *n = t->rig.node[1].nic->state;
	const struct hp_sched *s = &n->sched[HP_RSP];

	e->hold = true;
	hpend_windows(e);
	hppair_meet(e);
	assert_int_equal(s->n_queue, s->room);
	e->hold = false;
	hppair_meet(e);
}

/* Responders receive no replies, so that requests may fill their whole
 * queue. */
static void test_gets_fill_the_queue_of_the_responders(void **state)
{
	static const char *const all[][11] = {
		{ "miss_places", "0", "vpid_gets", "0", "vpid_ahead", "0",
		  "vci_queue", "16" },
		{ "miss_places", "0", "vpid_gets", "0", "vpid_ahead", "0",
		  "vci_queue", "5" },
	};

	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		hppair_sets = all[i];
		hppair_once(before, near_gets, far_gets);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies_pass),
		cmocka_unit_test(test_requests_leave_room_for_replies),
		cmocka_unit_test(test_gets_fill_the_queue_of_the_responders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
