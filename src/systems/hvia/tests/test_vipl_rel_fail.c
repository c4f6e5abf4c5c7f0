/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL: RDMA, and events that end a connection. Also tests unreliable
 * RDMA writes with a lost frame (hvia.md 5.5, 5.6). */
#include "viprig.h"

#include <string.h>

extern const struct weft_class weft_class_fault_drop;

enum { BYTES = 1 << 16 };

static void open_rel(struct side *s, struct weft_host *h, struct bench *b)
{
	side_open(s, h, b, "hvia0+reliable", BYTES);
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	side_vi(s, &s->vi);
	side_handler(s);
}

static uint32_t wait_sent(struct side *s)
{
	VIP_DESCRIPTOR *d;

	VipSendWait(s->vi, 1000, &d);
	assert_non_null(d);
	return d->CS.Status;
}

/* ---- RDMA that works ---- */

static int writes(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	open_rel(&s, h, b);
	side_connect(&s);
	meet(&s, "go");
	/* writes 0 bytes at the end of both regions */
	side_send(&s, side_rdma(&s, 1, BYTES, 0, b->v[0] + BYTES,
				(uint32_t)b->v[1]));
	assert_int_equal(wait_sent(&s),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
	fill(s.data, 20000, 9);
	d = side_rdma(&s, 0, 0, 20000, b->v[0] + 11, (uint32_t)b->v[1]);
	d->CS.Control |= VIP_CONTROL_IMMEDIATE;
	d->CS.ImmediateData = 31;
	side_send(&s, d);
	assert_int_equal(wait_sent(&s),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
	/* with reliable reception the bytes are in memory when the write
	 * completes */
	assert_true(filled((uint8_t *)(uintptr_t)b->v[0] + 11, 20000, 9));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int is_written(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	open_rel(&s, h, b);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	side_recv(&s, side_desc(&s, 0, 60000, 4));
	side_connect(&s);
	meet(&s, "go");
	ok(VipRecvWait(s.vi, 1000, &d));
	assert_int_equal(d->CS.Status, VIP_STATUS_DONE |
					       VIP_STATUS_OP_REMOTE_RDMA_WRITE |
					       VIP_STATUS_IMMEDIATE);
	assert_int_equal(d->CS.ImmediateData, 31);
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static void test_reliable_rdma_write_is_exact(void **state)
{
	viprig_run(*state, is_written, writes);
}

/* ---- messages that the other side cannot take ---- */

static void wrong_send(struct side *s, const struct bench *b, uint32_t kind)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, 5000);

	if (kind == 2)
		d = side_rdma(s, 0, 0, 100, b->v[0] + 65530, (uint32_t)b->v[1]);
	if (kind == 3)
		d->CS.Length = 7; /* Length is not the sum of the segments */
	if (kind == 4)
		d->DS[0].Local.Handle = 9999;
	if (kind == 5) {
		d = side_rdma(s, 0, 0, 100, b->v[0], (uint32_t)b->v[1]);
		d->CS.Control |= VIP_CONTROL_IMMEDIATE;
	}
	side_send(s, d);
}

static const struct {
	/* sender: status bits of the send. code: error of the receiving side */
	uint32_t sender, code;
} outcome[] = {
	{ VIP_STATUS_REMOTE_DESC_ERROR, VIP_ERROR_RECVQ_EMPTY },
	{ VIP_STATUS_REMOTE_DESC_ERROR, VIP_ERROR_CONN_LOST }, /* too long */
	{ VIP_STATUS_RDMA_PROT_ERROR, VIP_ERROR_RDMAW_PROT },
	{ VIP_STATUS_FORMAT_ERROR, VIP_ERROR_CONN_LOST },
	{ VIP_STATUS_PROTECTION_ERROR, VIP_ERROR_CONN_LOST },
	/* an RDMA write with immediate data, without a receive for the data */
	{ VIP_STATUS_REMOTE_DESC_ERROR, VIP_ERROR_RECVQ_EMPTY },
};
enum { KINDS = 6 };

static void again(struct side *s, char *name)
{
	meet(s, name);
	side_drain(s);
	weft_host_sleep(s->h, weft_host_now(s->h) + WEFT_MS);
	s->n_err = 0;
}

static int sends_wrong(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b);
	for (uint32_t i = 0; i < KINDS; i++) {
		char name[4] = { 'k', (char)('0' + i), 0 };
		uint32_t st;

		side_connect(&s);
		meet(&s, name);
		wrong_send(&s, b, i);
		st = wait_sent(&s);
		assert_true(st & outcome[i].sender);
		side_errors(&s, 1);
		assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
		/* sends are not accepted any more */
		side_send(&s, side_desc(&s, 1, 0, 4));
		assert_true(wait_sent(&s) & VIP_STATUS_DESC_FLUSHED_ERROR);
		name[0] = 'l';
		again(&s, name);
	}
	side_close(&s);
	return 0;
}

static int cannot_take(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	for (uint32_t i = 0; i < KINDS; i++) {
		char name[4] = { 'k', (char)('0' + i), 0 };

		if (i == 1)
			side_recv(&s, side_desc(&s, 0, 0, 4000));
		side_connect(&s);
		meet(&s, name);
		side_errors(&s, 1);
		assert_int_equal(s.err[0].ErrorCode, outcome[i].code);
		if (i == 1)
			assert_true(side_received(&s, NULL) &
				    VIP_STATUS_LENGTH_ERROR);
		name[0] = 'l';
		again(&s, name);
	}
	side_close(&s);
	return 0;
}

static void test_both_sides_learn_of_a_refused_message(void **state)
{
	viprig_run(*state, cannot_take, sends_wrong);
}

/* ---- a line that has broken ---- */

static void (*wire)(struct bench *b);

static void join_cut(struct bench *b)
{
	struct weft_err err = { 0 };

	wire(b);
	if (weft_filter_add(&b->node[1].dev->ports[1],
			    weft_sim_find(b->sim, "cut"), &err))
		fail_msg("%s", err.msg);
}

static struct bench *bench_cut(const char *frame, const char *count)
{
	struct bench *b = viprig_bench();
	struct weft_err err = { 0 };
	struct weft_comp *c =
		weft_sim_add(b->sim, &weft_class_fault_drop, "cut", &err);

	if (weft_param_set(c, "frame", frame, &err) ||
	    weft_param_set(c, "count", count, &err))
		fail_msg("%s", err.msg);
	wire = b->join;
	b->join = join_cut;
	return b;
}

static int into_nothing(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b);
	side_connect(&s);
	meet(&s, "go");
	if (b->v[5])
		side_send(&s,
			  side_rdma(&s, 0, 0, 100, b->v[0], (uint32_t)b->v[1]));
	else
		side_send(&s, side_desc(&s, 0, 0, 100));
	assert_true(wait_sent(&s) & VIP_STATUS_TRANSPORT_ERROR);
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, b->v[5] ? VIP_ERROR_RDMA_TRANSPORT
						     : VIP_ERROR_CONN_LOST);
	weft_host_exit(h, 0);
}

static int hears_nothing(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_rel(&s, h, b);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	side_recv(&s, side_desc(&s, 0, 0, 100));
	side_connect(&s);
	meet(&s, "go");
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_MS);
	weft_host_exit(h, 0);
}

/* Loses all packets of node 1 after the two that set up its connection. */
static void test_lost_peer_breaks_the_connection(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct bench *b = bench_cut("3", "1000000");

		b->v[5] = i;
		viprig_run(b, hears_nothing, into_nothing);
		bench_free(b);
	}
}

/* ---- unreliable: a frame of an RDMA write is lost ---- */

static int holes(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_connect(&s);
	meet(&s, "go");
	for (uint32_t i = 0; i < 2; i++) {
		side_send(&s, side_rdma(&s, 0, 0, 10000, b->v[0],
					(uint32_t)b->v[1]));
		assert_int_equal(side_sent(&s, NULL),
				 VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
	}
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static int holed(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_handler(&s);
	b->v[0] = (uintptr_t)s.data;
	b->v[1] = s.handle;
	side_connect(&s);
	meet(&s, "go");
	meet(&s, "end");
	side_errors(&s, 1);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_RDMAW_ABORT);
	weft_host_exit(h, 0);
}

static void test_rdma_abort(void **state)
{
	struct bench *b = bench_cut("7", "1");

	viprig_run(b, holed, holes);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_reliable_rdma_write_is_exact, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_both_sides_learn_of_a_refused_message,
			viprig_setup, bench_teardown),
		cmocka_unit_test(test_lost_peer_breaks_the_connection),
		cmocka_unit_test(test_rdma_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
