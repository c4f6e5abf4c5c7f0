/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that a program gets when a bus aborts a transaction of HVIA-GE
 * (hvia.md 5.2 to 5.6). The bus is PCI-X with a fault that hits the transaction
 * of a given number. Every transaction of the card that a bus can abort is
 * tested. */
#include "hvduo.h"

#include <string.h>

extern const struct weft_class weft_class_bus_pcix, weft_class_hvia_nic,
	weft_class_eth_cable, weft_class_fault_bus;

enum { BYTES = 100 };

static struct row {
	uint32_t node;
	const char *access, *number;
	/* statuses of the send and of the receive, or 0 for a descriptor that
	 * is not done */
	uint32_t sent, received;
	/* asynchronous error of the node whose bus aborts, or -1 for none */
	int error;
	uint32_t queue;
} const rows[] = {
	{ 0, "reads", "1", 0, 0, HVIA_ERROR_POST_DESC, HVIA_Q_SEND },
	{ 0, "reads", "2", OK | HVIA_ST_PROTECTION_ERROR, 0, -1, 0 },
	{ 0, "writes", "1", 0, RECV, HVIA_ERROR_COMP_PROT, HVIA_Q_SEND },
	{ 1, "reads", "1", OK, 0, HVIA_ERROR_POST_DESC, HVIA_Q_RECV },
	{ 1, "writes", "1", OK, RECV | HVIA_ST_PROTECTION_ERROR, -1, 0 },
	{ 1, "writes", "2", OK, 0, HVIA_ERROR_COMP_PROT, HVIA_Q_RECV },
	{ 1, "writes", "3", OK, RECV, -1, 0 }, /* there is no third write */
};

static const struct row *row;

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static void join(struct bench *b)
{
	struct weft_err err = { 0 };

	must(weft_connect(&b->node[0].dev->ports[1], &b->node[1].dev->ports[1],
			  weft_sim_find(b->sim, "cable"), 0, &err),
	     &err);
	must(weft_filter_add(&b->node[row->node].dev->ports[0],
			     weft_sim_find(b->sim, "fault"), &err),
	     &err);
}

static void fault_new(struct bench *b)
{
	static const char *const set[] = { "error", "target_abort" };
	struct weft_err err = { 0 };
	struct weft_comp *f =
		weft_sim_add(b->sim, &weft_class_fault_bus, "fault", &err);

	must(weft_param_set(f, set[0], set[1], &err), &err);
	must(weft_param_set(f, "access", row->access, &err), &err);
	must(weft_param_set(f, "number", row->number, &err), &err);
}

/* ---- both sides ---- */

static void error_check(struct hvrig *r, uint32_t node, uint32_t vi)
{
	uint64_t e = hvrig_error(r);

	if (row->node != node || row->error < 0) {
		assert_int_equal(e, 0);
		assert_int_equal(hvduo_state_of(r, vi), HVIA_VI_CONNECTED);
		return;
	}
	assert_true(e & HVIA_ERR_VALID);
	assert_int_equal(HVIA_ERR_VI(e), vi);
	assert_int_equal(HVIA_ERR_CODE(e), row->error);
	assert_int_equal(HVIA_ERR_QUEUE(e), row->queue);
	assert_int_equal(hvduo_state_of(r, vi), HVIA_VI_ERROR);
}

static int sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	memset(hvduo.buf[0], 0x5a, BYTES);
	hvarea_meet(h, &turn);
	d = hvduo_simple(0, BYTES);
	hvrig_post(r, VI, HVIA_Q_SEND, d);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	assert_int_equal(d->d.status, row->sent);
	error_check(r, 0, VI);
	assert_int_equal(bench_counter(b->node[0].dev, "bus_aborts"),
			 row->node == 0);
	hvarea_meet(h, &turn);
	return 0;
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	bool none = row->number[0] == '3';
	struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	d = hvrig_desc(r, 0, 0);
	hvrig_seg(d, hvduo.buf[1], hvduo.handle[1], BYTES);
	hvrig_post(r, PEER, HVIA_Q_RECV, d);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(d->d.status, row->received);
	if (row->received)
		assert_int_equal(d->d.length, BYTES);
	error_check(r, 1, PEER);
	assert_int_equal(bench_counter(b->node[1].dev, "bus_aborts"),
			 row->node == 1 && !none);
	return 0;
}

static void an_abort_is_told_to_whom_it_concerns(void **state)
{
	for (row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++) {
		struct bench *b = bench_make(2, &weft_class_bus_pcix,
					     &weft_class_hvia_nic);

		assert_non_null(weft_sim_add(b->sim, &weft_class_eth_cable,
					     "cable", NULL));
		fault_new(b);
		b->join = join;
		bench_prog(b, 0, sender);
		bench_prog(b, 1, receiver);
		bench_start(b);
		bench_run(b);
		assert_string_equal(bench_failure(b, 0), "");
		assert_false(weft_progs_running(b->sim));
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_abort_is_told_to_whom_it_concerns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
