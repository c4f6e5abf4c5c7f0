/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that wait for a counter, and deferred work. Each begins once, when
 * the counter reaches its value. Until then it can be cancelled. */
#include <rdma/fi_trigger.h>

#include <stdlib.h>
#include <string.h>

#include "../locks.h"
#include "rig.h"

static struct rig r;
static struct rig_side *s;
static struct fid_cntr *when, *done;
static struct fid_mr *mr;
static unsigned char a[100], b[100];

#define EQ(call, want) assert_int_equal(call, want)

static int setup(void **state)
{
	rig_up(&r, FI_EP_RDM);
	s = &r.s[0];
	EQ(fi_cntr_open(s->dom, NULL, &when, NULL), 0);
	EQ(fi_cntr_open(s->dom, NULL, &done, NULL), 0);
	EQ(fi_mr_reg(r.s[1].dom, b, sizeof(b), FI_REMOTE_READ | FI_REMOTE_WRITE,
		     0, 1, 0, &mr, NULL),
	   0);
	rig_fill(a, sizeof(a), 3);
	memset(b, 0, sizeof(b));
	return 0;
}

static int teardown(void **state)
{
	EQ(fi_close(&mr->fid), 0);
	EQ(fi_close(&when->fid), 0);
	EQ(fi_close(&done->fid), 0);
	rig_down(&r);
	return 0;
}

/* ---- FI_TRIGGER ---- */

static struct fi_triggered_context at(uint64_t threshold)
{
	struct fi_triggered_context c = { .event_type = FI_TRIGGER_THRESHOLD };

	c.trigger.threshold.cntr = when;
	c.trigger.threshold.threshold = threshold;
	return c;
}

static ssize_t write_at(struct fi_triggered_context *c, size_t pieces)
{
	static struct iovec iov[5];
	struct fi_rma_iov there = { 10, 20 * pieces, 1 };
	struct fi_msg_rma m = { .msg_iov = iov,
				.iov_count = pieces,
				.addr = s->to,
				.rma_iov = &there,
				.rma_iov_count = 1,
				.context = c };

	for (int i = 0; i < 5; i++)
		iov[i] = (struct iovec){ a + 20 * i, 20 };
	return fi_writemsg(s->ep, &m, FI_TRIGGER);
}

static void triggered_write_starts_at_its_threshold_once(void **state)
{
	struct fi_triggered_context two = at(2), zero = at(0), bad = at(1);

	EQ(write_at(&two, 2), 0);
	rig_none(&r, 0);
	EQ(b[10], 0);
	fi_cntr_add(when, 1);
	rig_none(&r, 0);
	fi_cntr_add(when, 1);
	assert_ptr_equal(rig_next(&r, 0).op_context, &two);
	assert_memory_equal(b + 10, a, 40);
	rig_none(&r, 0); /* once */
	fi_cntr_add(when, 5);
	rig_none(&r, 0);
	EQ(write_at(&zero, 1), 0); /* the counter has reached its threshold */
	assert_ptr_equal(rig_next(&r, 0).op_context, &zero);
	EQ(write_at(NULL, 1), -FI_EINVAL);
	EQ(write_at(&bad, 5), -FI_EINVAL);
	bad.event_type = (enum fi_trigger_event)77;
	EQ(write_at(&bad, 1), -FI_EINVAL);
}

/* Posts several operations, each with its own threshold. The operation that
 * still waits at the end is freed with the counter. */
static void triggered_operations_start_in_order_of_thresholds(void **state)
{
	struct fi_triggered_context c[4] = { at(3), at(1), at(3), at(9) };

	for (int i = 0; i < 4; i++)
		EQ(write_at(&c[i], 1), 0);
	fi_cntr_set(when, 2);
	assert_ptr_equal(rig_next(&r, 0).op_context, &c[1]);
	rig_none(&r, 0);
	fi_cntr_set(when, 8);
	assert_ptr_equal(rig_next(&r, 0).op_context, &c[0]);
	assert_ptr_equal(rig_next(&r, 0).op_context, &c[2]);
	rig_none(&r, 0);
}

static void triggered_operation_retries_until_there_is_room(void **state)
{
	struct fi_triggered_context c = at(1);

	EQ(write_at(&c, 1), 0);
	double_full(0, 3);
	fi_cntr_add(when, 1);
	for (int i = 0; i < 6; i++)
		rig_settle(&r);
	assert_ptr_equal(rig_next(&r, 0).op_context, &c);
	rig_none(&r, 0);
}

static void alias_with_the_flag_triggers_its_sends(void **state)
{
	struct fi_triggered_context c = at(1);
	struct fid_ep *alias = NULL;

	EQ(fi_ep_alias(s->ep, &alias, FI_TRANSMIT | FI_TRIGGER), 0);
	EQ(fi_recv(r.s[1].ep, b, 50, NULL, FI_ADDR_UNSPEC, NULL), 0);
	EQ(fi_send(alias, a, 30, NULL, s->to, &c), 0);
	rig_none(&r, 1);
	fi_cntr_add(when, 1);
	EQ(rig_next(&r, 1).len, 30);
	assert_ptr_equal(rig_next(&r, 0).op_context, &c);
	EQ(fi_close(&alias->fid), 0);
}

/* ---- deferred work ---- */

static struct fi_deferred_work work;
static struct iovec piece = { a, 50 };

static void queue(uint64_t threshold, enum fi_op_type type)
{
	work.triggering_cntr = when;
	work.completion_cntr = done;
	work.threshold = threshold;
	work.op_type = type;
	EQ(fi_control(&s->dom->fid, FI_QUEUE_WORK, &work), 0);
	EQ(fi_cntr_read(done), 0);
}

static void fired(void)
{
	rig_none(&r, 0);
	fi_cntr_add(when, 1);
	rig_settle(&r);
	EQ(fi_cntr_read(done), 1);
	rig_none(&r, 0); /* counted, but not written into a queue */
}

static void deferred_send_starts_with_its_counter(void **state)
{
	struct fi_op_msg op = { .ep = s->ep,
				.msg = { .msg_iov = &piece,
					 .iov_count = 1,
					 .addr = s->to,
					 .data = 5 },
				.flags = FI_REMOTE_CQ_DATA };
	struct fi_cq_tagged_entry e;

	EQ(fi_recv(r.s[1].ep, b, 100, NULL, FI_ADDR_UNSPEC, NULL), 0);
	work.op.msg = &op;
	queue(1, FI_OP_SEND);
	fired();
	e = rig_next(&r, 1);
	EQ(e.len, 50);
	EQ(e.data, 5);
	EQ(e.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
	assert_memory_equal(a, b, 50);
}

static void deferred_tagged_send_starts_with_its_counter(void **state)
{
	struct fi_op_tagged op = { .ep = s->ep,
				   .msg = { .msg_iov = &piece,
					    .iov_count = 1,
					    .addr = s->to,
					    .tag = 9,
					    .data = 6 },
				   .flags = FI_REMOTE_CQ_DATA };
	struct fi_cq_tagged_entry e;

	EQ(fi_trecv(r.s[1].ep, b, 100, NULL, FI_ADDR_UNSPEC, 9, 0, NULL), 0);
	work.op.tagged = &op;
	queue(1, FI_OP_TSEND);
	fired();
	e = rig_next(&r, 1);
	EQ(e.tag, 9);
	EQ(e.data, 6);
	EQ(e.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
	assert_memory_equal(a, b, 50);
}

static void deferred_write_and_read_start_with_their_counter(void **state)
{
	struct fi_rma_iov there = { 10, 50, 1 };
	struct fi_op_rma op = { .ep = s->ep,
				.msg = { .msg_iov = &piece,
					 .iov_count = 1,
					 .addr = s->to,
					 .rma_iov = &there,
					 .rma_iov_count = 1,
					 .data = 7 },
				.flags = FI_REMOTE_CQ_DATA };

	work.op.rma = &op;
	queue(1, FI_OP_WRITE);
	fired();
	EQ(rig_next(&r, 1).data, 7);
	assert_memory_equal(b + 10, a, 50);
	fi_cntr_set(done, 0);
	memset(a, 0, sizeof(a));
	op.flags = 0;
	queue(2, FI_OP_READ);
	fired();
	assert_memory_equal(b + 10, a, 50);
	rig_none(&r, 1);
}

static void deferred_work_adds_and_sets_a_counter(void **state)
{
	struct fid_cntr *c;
	struct fi_op_cntr op = { .value = 7 };

	EQ(fi_cntr_open(s->dom, NULL, &c, NULL), 0);
	op.cntr = c;
	work.op.cntr = &op;
	fi_cntr_set(c, 100);
	queue(1, FI_OP_CNTR_ADD);
	EQ(fi_cntr_read(c), 100);
	fi_cntr_add(when, 1);
	EQ(fi_cntr_read(c), 107);
	queue(2, FI_OP_CNTR_SET);
	fi_cntr_add(when, 1);
	EQ(fi_cntr_read(c), 7);
	EQ(fi_close(&c->fid), 0);
}

static void impossible_deferred_work_is_refused(void **state)
{
	struct fi_rma_iov there[2] = { { 0, 5, 1 } };
	struct fi_op_rma op = { .ep = s->ep,
				.msg = { .msg_iov = &piece,
					 .iov_count = 5,
					 .rma_iov = there,
					 .rma_iov_count = 1 } };

	work = (struct fi_deferred_work){ .triggering_cntr = when,
					  .op_type = FI_OP_RECV };
	EQ(fi_control(&s->dom->fid, FI_QUEUE_WORK, &work), -FI_ENOSYS);
	work.op_type = FI_OP_WRITE;
	work.op.rma = &op;
	EQ(fi_control(&s->dom->fid, FI_QUEUE_WORK, &work), -FI_ENOSYS);
	op.msg.iov_count = 1;
	op.msg.rma_iov_count = 2;
	EQ(fi_control(&s->dom->fid, FI_QUEUE_WORK, &work), -FI_ENOSYS);
	op.msg.rma_iov_count = 1;
	work.triggering_cntr = NULL;
	EQ(fi_control(&s->dom->fid, FI_QUEUE_WORK, &work), -FI_ENOSYS);
}

static void cancelled_work_never_starts(void **state)
{
	struct fi_op_cntr op = { .cntr = done, .value = 7 };
	struct fi_deferred_work other = { .triggering_cntr = when };

	work.op.cntr = &op;
	queue(1, FI_OP_CNTR_ADD);
	EQ(fi_control(&s->dom->fid, FI_CANCEL_WORK, &other), -FI_ENOENT);
	EQ(fi_control(&s->dom->fid, FI_CANCEL_WORK, &work), 0);
	EQ(fi_control(&s->dom->fid, FI_CANCEL_WORK, &work), -FI_ENOENT);
	fi_cntr_add(when, 1);
	EQ(fi_cntr_read(done), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(triggered_write_starts_at_its_threshold_once),
		T(triggered_operations_start_in_order_of_thresholds),
		T(triggered_operation_retries_until_there_is_room),
		T(alias_with_the_flag_triggers_its_sends),
		T(deferred_send_starts_with_its_counter),
		T(deferred_tagged_send_starts_with_its_counter),
		T(deferred_write_and_read_start_with_their_counter),
		T(deferred_work_adds_and_sets_a_counter),
		T(impossible_deferred_work_is_refused),
		T(cancelled_work_never_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
