/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues of VIPL in software: order, size, overrun, waiting (hvia.md
 * 6.1). */
#include "viprig.h"

#include <string.h>

#include "hvarea.h"
#include "systems/hvia/lib/vipl_internal.h"

enum { VIS = 3, MESSAGES = 5 };
static const uint32_t order[MESSAGES] = { 2, 0, 1, 2, 0 };
static uint32_t entries, reliable;

static void open_three(struct side *s, struct weft_host *h, struct bench *b,
		       VIP_CQ_HANDLE cq, VIP_VI_HANDLE *vi)
{
	char name[2] = "a";

	for (uint32_t i = 0; i < VIS; i++, name[0]++) {
		ok(VipCreateVi(s->nic, &s->attr, NULL, cq, &vi[i]));
		for (uint32_t k = 0; k < 2 && !weft_host_node(s->h); k++)
			ok(VipPostRecv(vi[i],
				       side_desc(s, 2 * i + k, 64 * i, 64),
				       s->handle));
		if (weft_host_node(s->h))
			side_request(s, vi[i], 0, name);
		else
			side_wait(s, vi[i], name);
	}
}

static void open_side(struct side *s, struct weft_host *h, struct bench *b)
{
	side_open(s, h, b, "hvia0+cq+reliable", 4096);
	side_handler(s);
	if (reliable)
		s->attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
}

static int sends_in_order(struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE vi[VIS];
	struct side s;
	VIP_DESCRIPTOR *d;

	open_side(&s, h, b);
	open_three(&s, h, b, NULL, vi);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		meet(&s, i ? (i == 1 ? "second" : "more") : "first");
		d = side_desc(&s, i, 0, 4);
		ok(VipPostSend(vi[order[i]], d, s.handle));
		ok(VipSendWait(vi[order[i]], VIP_INFINITE, &d));
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	}
	meet(&s, "sent");
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void told(VIP_CQ_HANDLE cq, VIP_VI_HANDLE want)
{
	VIP_VI_HANDLE from;
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;

	ok(VipCQDone(cq, &from, &recv));
	assert_ptr_equal(from, want);
	assert_true(recv);
	ok(VipRecvDone(from, &d));
	/* the library has cleared this field, in which the card had stored a
	 * number */
	assert_int_equal(d->CS.Reserved, 0);
}

static int recorders_late(struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE vi[VIS], from;
	VIP_BOOLEAN recv;
	VIP_CQ_HANDLE cq;
	struct side s;

	open_side(&s, h, b);
	ok(VipCreateCQ(s.nic, entries, &cq));
	open_three(&s, h, b, cq, vi);
	meet(&s, "first");
	meet(&s, "second");
	meet(&s, "more");
	meet(&s, "sent"); /* all five messages are complete */
	for (uint32_t i = 0; i < MESSAGES && i < entries; i++)
		told(cq, vi[order[i]]);
	assert_int_equal(VipCQDone(cq, &from, &recv), VIP_NOT_DONE);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	if (entries < MESSAGES) {
		assert_int_equal(s.n_err, 1);
		assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_VI_OVERRUN);
		assert_int_equal(s.err[0].ResourceCode, VIP_RESOURCE_CQ);
		assert_ptr_equal(s.err[0].CQHandle, cq);
	} else {
		assert_int_equal(s.n_err, 0);
	}
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void run(node_fn fn, uint32_t n, uint32_t rel)
{
	struct bench *b = viprig_bench();

	entries = n;
	reliable = rel;
	viprig_run(b, fn, sends_in_order);
	bench_free(b);
}

static void completions_are_told_in_their_order(void **state)
{
	run(recorders_late, 16, 0);
	run(recorders_late, MESSAGES, 0);
	run(recorders_late, 16, 1);
}

static void a_queue_that_is_full_says_so_once(void **state)
{
	run(recorders_late, 2, 0);
	run(recorders_late, 2, 1);
}

/* ---- size ---- */

static int resizes(struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE vi[VIS], from;
	VIP_BOOLEAN recv;
	VIP_CQ_HANDLE cq;
	struct side s;

	open_side(&s, h, b);
	ok(VipCreateCQ(s.nic, 5, &cq));
	open_three(&s, h, b, cq, vi);
	meet(&s, "first");
	meet(&s, "second");
	meet(&s, "more");
	meet(&s, "sent");
	assert_int_equal(VipResizeCQ(cq, 4), VIP_ERROR_RESOURCE);
	told(cq, vi[2]);
	told(cq, vi[0]);
	ok(VipResizeCQ(cq, 3));
	told(cq, vi[1]);
	ok(VipResizeCQ(cq, 7));
	/* the entries of a VI are removed when the VI is destroyed */
	ok(VipDisconnect(vi[2]));
	ok(VipRecvDone(vi[2], (VIP_DESCRIPTOR *[1]){ 0 }));
	ok(VipDestroyVi(vi[2]));
	told(cq, vi[0]);
	assert_int_equal(VipCQDone(cq, &from, &recv), VIP_NOT_DONE);
	assert_int_equal(s.n_err, 0);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_queue_keeps_its_entries_when_its_size_changes(void **state)
{
	run(resizes, 0, 0);
}

/* ---- waiting ---- */

static int waits(struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE vi[VIS], from;
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;
	VIP_CQ_HANDLE cq;
	struct side s;

	open_side(&s, h, b);
	ok(VipCreateCQ(s.nic, 8, &cq));
	open_three(&s, h, b, cq, vi);
	/* refused, because these receives complete on a completion queue, and a
	 * program may wait for that queue only */
	assert_int_equal(VipRecvWait(vi[0], 1, &d), VIP_ERROR_RESOURCE);
	assert_int_equal(
		VipRecvNotify(vi[0], NULL, (VIP_VI_CALLBACK)(uintptr_t)1),
		VIP_ERROR_RESOURCE);
	meet(&s, "first");
	ok(VipCQWait(cq, VIP_INFINITE, &from, &recv));
	assert_ptr_equal(from, vi[2]);
	/* VipCQWait has reported this completion, but the program has not taken
	 * it from the VI. The VI's next completion must wake the waiter
	 * nevertheless. */
	meet(&s, "second");
	meet(&s, "more");
	for (uint32_t i = 1; i < MESSAGES; i++) {
		ok(VipCQWait(cq, VIP_INFINITE, &from, &recv));
		assert_ptr_equal(from, vi[order[i]]);
	}
	assert_int_equal(VipCQWait(cq, 1, &from, &recv), VIP_TIMEOUT);
	meet(&s, "sent");
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_queue_wakes_for_each_completion(void **state)
{
	run(waits, 0, 0);
	run(waits, 0, 1);
}

/* ---- entries in a ring ---- */

enum { QUEUES = 4, PLACES = 7, ROUNDS = 300 };

/* Fills the ring of a completion queue from a random first entry, with entries
 * of all work queues in random order. Checks that detaching a work queue
 * removes its entries. Checks that the other entries keep their order when the
 * ring is resized. */
static int rings(struct weft_host *h, struct bench *b)
{
	struct vipl_vi vi = { .k = &(struct hvia_kvi){ 0 } };
	struct vipl_queue q[QUEUES], *left[PLACES], *got;
	uint32_t seed = 1, n, size, gone;
	VIP_CQ_HANDLE cq;
	struct vipl_cq *c;
	struct side s;

	side_open(&s, h, b, "hvia0+cq", 64);
	ok(VipCreateCQ(s.nic, PLACES, &cq));
	c = vipl_cq(cq);
	for (uint32_t turn = 0; turn < ROUNDS; turn++) {
		memset(q, 0, sizeof(q));
		for (uint32_t i = 0; i < QUEUES; i++) {
			q[i].vi = &vi;
			vipl_cq_attach(c, &q[i]);
		}
		assert_int_equal(c->users, QUEUES);
		c->first = hvarea_rand(&seed) % c->size;
		c->n = hvarea_rand(&seed) % (c->size + 1);
		gone = hvarea_rand(&seed) % QUEUES;
		n = 0;
		for (uint32_t i = 0; i < c->n; i++) {
			uint32_t k = hvarea_rand(&seed) % QUEUES;

			c->entry[(c->first + i) % c->size] = &q[k];
			if (k != gone)
				left[n++] = &q[k];
		}
		vipl_cq_detach(&q[gone]);
		vipl_cq_detach(&q[gone]); /* the queue has no entry left */
		assert_int_equal(c->n, n);
		assert_int_equal(c->users, QUEUES - 1);
		size = 1 + hvarea_rand(&seed) % PLACES;
		assert_int_equal(VipResizeCQ(cq, size),
				 size < n ? VIP_ERROR_RESOURCE : VIP_SUCCESS);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(vipl_cq_look(c, &got));
			assert_ptr_equal(got, left[i]);
		}
		assert_false(vipl_cq_look(c, &got));
		for (uint32_t i = 0; i < QUEUES; i++)
			vipl_cq_detach(&q[i]);
		assert_null(c->queues);
		assert_int_equal(c->users, 0);
	}
	ok(VipDestroyCQ(cq));
	side_close(&s);
	return 0;
}

static void entries_keep_their_order_round_the_ring(void **state)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, rings);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

/* Checks the limits of the size that a program may request. */
static int limits(struct weft_host *h, struct bench *b)
{
	static VIP_CQ_HANDLE cq[VIPL_CQS];
	VIP_CQ_HANDLE more;
	struct side s;

	side_open(&s, h, b, "hvia0+cq", 64);
	assert_int_equal(VipCreateCQ(s.nic, 0, &more), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCreateCQ(s.nic, 1, NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCreateCQ(s.nic, VIPL_CQ_ENTRIES + 1, &more),
			 VIP_ERROR_RESOURCE);
	ok(VipCreateCQ(s.nic, VIPL_CQ_ENTRIES, &more));
	assert_int_equal(VipResizeCQ(more, 0), VIP_INVALID_PARAMETER);
	assert_int_equal(VipResizeCQ(more, VIPL_CQ_ENTRIES + 1),
			 VIP_ERROR_RESOURCE);
	ok(VipDestroyCQ(more));
	assert_int_equal(VipDestroyCQ(more), VIP_INVALID_PARAMETER);
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < VIPL_CQS; i++)
			ok(VipCreateCQ(s.nic, 1, &cq[i]));
		assert_int_equal(VipCreateCQ(s.nic, 1, &more),
				 VIP_ERROR_RESOURCE);
		for (uint32_t i = 0; i < VIPL_CQS; i++)
			ok(VipDestroyCQ(cq[(i * 5 + 3) % VIPL_CQS]));
	}
	side_close(&s);
	return 0;
}

static void queues_and_entries_have_limits(void **state)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, limits);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completions_are_told_in_their_order),
		cmocka_unit_test(a_queue_that_is_full_says_so_once),
		cmocka_unit_test(
			a_queue_keeps_its_entries_when_its_size_changes),
		cmocka_unit_test(a_queue_wakes_for_each_completion),
		cmocka_unit_test(entries_keep_their_order_round_the_ring),
		cmocka_unit_test(queues_and_entries_have_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
