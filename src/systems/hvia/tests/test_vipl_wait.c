/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: waiting, handlers, completion queues in software (hvia.md 6.4; T-29,
 * T-30, T-31, T-43). */
#include "viprig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- T-29: a completion at every moment while a process falls asleep ---- */

enum { SWEEP = 120 };

static int sweep_send(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < SWEEP; i++) {
		char name[16] = { 's', (char)('a' + i / 16),
				  (char)('a' + i % 16), 0 };

		meet(&s, name);
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
		side_send(&s, side_desc(&s, 0, 0, 4));
		assert_true(side_sent(&s, NULL));
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int sweep_recv(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < SWEEP; i++) {
		char name[16] = { 's', (char)('a' + i / 16),
				  (char)('a' + i % 16), 0 };

		side_recv(&s, side_desc(&s, 0, 0, 4));
		meet(&s, name);
		/* the message arrives about 28 us from now */
		weft_host_sleep(h, weft_host_now(h) + 25 * WEFT_US +
					   i * 40 * WEFT_NS);
		/* no other event would wake the waiter for a long time */
		ok(VipRecvWait(s.vi, VIP_INFINITE, &d));
		assert_int_equal(d->CS.Length, 4);
	}
	/* a time-out is correct only if no message had arrived */
	side_recv(&s, side_desc(&s, 0, 0, 4));
	b->t[0] = weft_host_now(h);
	assert_int_equal(VipRecvWait(s.vi, 3, &d), VIP_TIMEOUT);
	b->t[0] = weft_host_now(h) - b->t[0];
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-29 */
static void test_message_while_falling_asleep_ends_the_wait(void **state)
{
	struct bench *b = *state;

	viprig_run(b, sweep_recv, sweep_send);
	assert_in_range(b->t[0], 3 * WEFT_MS, 3 * WEFT_MS + 10 * WEFT_US);
}

/* ---- a completion at any moment of another completion's interrupt ---- */

#define CROSS_FROM (20 * WEFT_US)
#define CROSS_STEP (150 * WEFT_NS)
enum { CROSS_SENDS = 40, CROSS_WAITS = 24, CROSS = CROSS_SENDS * CROSS_WAITS };

static void cross_name(uint32_t i, char name[8])
{
	snprintf(name, 8, "x%u", i % 1000);
}

static int cross_far(struct weft_host *h, struct bench *b)
{
	struct side s;
	char name[8];

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < CROSS; i++) {
		side_recv(&s, side_desc(&s, 1, 0, 4));
		cross_name(i, name);
		meet(&s, name);
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
		side_send(&s, side_desc(&s, 0, 0, 4));
		assert_true(side_sent(&s, NULL));
		assert_true(side_received(&s, NULL));
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static void crossed(VIP_PVOID ctx, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *d)
{
	++*(uint32_t *)ctx;
}

/* The library's thread waits for a receive, while this program waits for its
 * own send. The delays vary, so that the send completes at every moment around
 * two events: the program falls asleep, and the interrupt of the receive
 * arrives. */
static int cross_near(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	char name[8];
	uint32_t got = 0;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < CROSS; i++) {
		side_recv(&s, side_desc(&s, 0, 0, 4));
		ok(VipRecvNotify(s.vi, &got, crossed));
		cross_name(i, name);
		meet(&s, name);
		weft_host_sleep(h, weft_host_now(h) + CROSS_FROM +
					   i % CROSS_SENDS * CROSS_STEP);
		side_send(&s, side_desc(&s, 1, 0, 4));
		weft_host_sleep(h, weft_host_now(h) +
					   i / CROSS_SENDS * CROSS_STEP);
		ok(VipSendWait(s.vi, 5, &d));
		weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
		assert_int_equal(got, i + 1);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static void test_notified_thread_and_waiting_sender_both_wake(void **state)
{
	viprig_run(*state, cross_near, cross_far);
}

/* ---- T-30, T-43: handlers ---- */

enum { NOTES = 1000 };

struct notes {
	struct side *s;
	uint32_t n, order, errors;
};

static void note(VIP_PVOID ctx, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		 VIP_DESCRIPTOR *d)
{
	struct notes *n = ctx;

	n->errors += nic != n->s->nic || vi != n->s->vi;
	n->errors += d->CS.ImmediateData != n->n;
	n->n++;
	if (n->n == NOTES)
		return;
	/* posts and requests again inside the handler */
	n->errors += VipPostRecv(vi, d, n->s->handle) != VIP_SUCCESS;
	n->errors += VipRecvNotify(vi, n, note) != VIP_SUCCESS;
}

static int notes_recv(struct weft_host *h, struct bench *b)
{
	struct side s;
	struct notes n = { &s };

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < 32; i++)
		side_recv(&s, side_desc(&s, i, 0, 4));
	/* the handler posts the next request, so that each completion has a
	 * handler call */
	ok(VipRecvNotify(s.vi, &n, note));
	side_connect(&s);
	meet(&s, "begin");
	meet(&s, "end");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	b->v[1] = n.n;
	b->v[2] = n.errors;
	b->v[0] = bench_counter(b->node[0].host, "irqs");
	side_close(&s);
	return 0;
}

static int notes_send(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	meet(&s, "begin");
	for (uint32_t i = 0; i < NOTES; i++) {
		d = side_desc(&s, 0, 0, 4);
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
		d->CS.ImmediateData = i;
		side_send(&s, d);
		assert_true(side_sent(&s, NULL));
		if (i % 10 == 9)
			weft_host_sleep(h, weft_host_now(h) + 500 * WEFT_US);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-30, T-43: 1000 completions, each of a queue that was armed for it. */
static void test_each_armed_completion_gives_one_interrupt(void **state)
{
	struct bench *b = *state;

	viprig_run(b, notes_recv, notes_send);
	assert_int_equal(b->v[1], NOTES);
	assert_int_equal(b->v[2], 0);
	/* at most one interrupt for each time a queue was armed, plus up to 20
	 * for other events */
	assert_in_range(b->v[0], 1, NOTES + 20);
}

/* ---- errors without a handler ---- */

static int silent_recv(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	meet(&s, "end");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	side_close(&s);
	return 0;
}

static int silent_send(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < 2 * WEFT_LOG_LINES; i++) {
		side_send(&s, side_desc(&s, 0, 0, 4));
		assert_true(side_sent(&s, NULL));
		weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* Without posted receives each message prints a line on stderr, up to a
 * limit. */
static void test_message_without_a_receive_prints_a_bounded_log(void **state)
{
	FILE *f = tmpfile();
	int old = dup(STDERR_FILENO);
	char line[256], *last = NULL;
	uint32_t n = 0;

	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	viprig_run(*state, silent_recv, silent_send);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "n0.prog0, ") == line) {
			assert_non_null(strstr(line,
					       "VIP_ERROR_RECVQ_EMPTY, "
					       "VI 0, receive queue"));
			last = strstr(line, " (the last line)\n");
			n++;
		}
	assert_non_null(last);
	assert_int_equal(n, WEFT_LOG_LINES);
	fclose(f);
}

/* ---- completion queues ---- */

enum { QVIS = 5, QMSGS = 8 };

struct cq_note {
	uint32_t n;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;
};

static void cq_note(VIP_PVOID ctx, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		    VIP_BOOLEAN recv)
{
	struct cq_note *n = ctx;

	n->n++;
	n->vi = vi;
	n->recv = recv;
}

static void cq_drain(struct side *s, VIP_CQ_HANDLE cq, VIP_VI_HANDLE *vi,
		     bool block)
{
	uint32_t got[QVIS] = { 0 }, k;
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE from;
	VIP_BOOLEAN recv;
	VIP_RETURN ret;

	for (uint32_t i = 0; i < QVIS * QMSGS; i++) {
		do
			ret = block ? VipCQWait(cq, VIP_INFINITE, &from, &recv)
				    : VipCQDone(cq, &from, &recv);
		while (ret == VIP_NOT_DONE);
		ok(ret);
		assert_true(recv);
		for (k = 0; k < QVIS && vi[k] != from; k++)
			;
		assert_true(k < QVIS);
		ok(VipRecvDone(from, &d));
		assert_int_equal(d->CS.ImmediateData, k * 100 + got[k]);
		got[k]++;
		ok(VipPostRecv(from, d, s->handle));
	}
	for (k = 0; k < QVIS; k++)
		assert_int_equal(got[k], QMSGS);
	assert_int_equal(VipCQDone(cq, &from, &recv), VIP_NOT_DONE);
	assert_int_equal(VipCQWait(cq, 1, &from, &recv), VIP_TIMEOUT);
}

static int cq_recv(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi[QVIS];
	struct cq_note n = { 0 };
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0+cq", 4096);
	assert_int_equal(VipCreateCQ(s.nic, 0, &cq), VIP_INVALID_PARAMETER);
	assert_int_equal(VipCreateCQ(s.nic, 1u << 30, &cq), VIP_ERROR_RESOURCE);
	ok(VipCreateCQ(s.nic, 64, &cq));
	ok(VipResizeCQ(cq, 128));
	assert_int_equal(VipResizeCQ(cq, 1u << 30), VIP_ERROR_RESOURCE);
	for (uint32_t i = 0; i < QVIS; i++) {
		char disc[2] = { (char)('a' + i), 0 };

		ok(VipCreateVi(s.nic, &s.attr, NULL, cq, &vi[i]));
		for (uint32_t k = 0; k < 10; k++)
			ok(VipPostRecv(vi[i], side_desc(&s, i * 10 + k, 0, 4),
				       s.handle));
		side_wait(&s, vi[i], disc);
	}
	assert_int_equal(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
	meet(&s, "poll");
	cq_drain(&s, cq, vi, false);
	meet(&s, "block");
	cq_drain(&s, cq, vi, true);
	ok(VipCQNotify(cq, &n, cq_note));
	meet(&s, "note");
	meet(&s, "end");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_int_equal(n.n, 1);
	assert_ptr_equal(n.vi, vi[0]);
	assert_true(n.recv);
	for (uint32_t i = 0; i < QVIS; i++) {
		ok(VipDisconnect(vi[i]));
		do
			VipRecvDone(vi[i], &d);
		while (d);
		ok(VipDestroyVi(vi[i]));
	}
	ok(VipDestroyCQ(cq));
	side_close(&s);
	return 0;
}

static void cq_burst(struct side *s, VIP_VI_HANDLE *vi)
{
	VIP_DESCRIPTOR *d;

	for (uint32_t i = 0; i < QVIS * QMSGS; i++) {
		uint32_t k = i * 7 % QVIS;

		d = side_desc(s, 0, 0, 4);
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
		d->CS.ImmediateData = k * 100 + i / QVIS;
		ok(VipPostSend(vi[k], d, s->handle));
		ok(VipSendWait(vi[k], VIP_INFINITE, &d));
	}
}

static int cq_send(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_VI_HANDLE vi[QVIS];
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < QVIS; i++) {
		char disc[2] = { (char)('a' + i), 0 };

		side_vi(&s, &vi[i]);
		side_request(&s, vi[i], 0, disc);
	}
	meet(&s, "poll");
	cq_burst(&s, vi);
	meet(&s, "block");
	cq_burst(&s, vi);
	meet(&s, "note");
	ok(VipPostSend(vi[0], side_desc(&s, 0, 0, 4), s.handle));
	ok(VipSendWait(vi[0], VIP_INFINITE, &d));
	meet(&s, "end");
	for (uint32_t i = 0; i < QVIS; i++) {
		ok(VipDisconnect(vi[i]));
		ok(VipDestroyVi(vi[i]));
	}
	side_close(&s);
	return 0;
}

/* T-31: opens the NIC with the option for completion queues. */
static void test_completion_queue_gathers_both_queues(void **state)
{
	viprig_run(*state, cq_recv, cq_send);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_message_while_falling_asleep_ends_the_wait),
		T(test_notified_thread_and_waiting_sender_both_wake),
		T(test_each_armed_completion_gives_one_interrupt),
		T(test_message_without_a_receive_prints_a_bounded_log),
		T(test_completion_queue_gathers_both_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
