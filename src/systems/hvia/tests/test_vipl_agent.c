/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel agent of HVIA-GE (hvia.md 5.1, 5.6, 6.2) under several processes
 * or threads: access to objects of other processes, reuse of tags and VIs, a
 * lost connection. */
#include "viprig.h"

#include <errno.h>
#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"
#include "systems/hvia/nic/nic.h"

static struct hv_nic *card(struct side *s)
{
	return s->b->node[weft_host_node(s->h)].dev->state;
}

static void run(node_fn a, node_fn z)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, a);
	if (z)
		bench_prog(b, 0, z);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

/* ---- VIs of others ---- */

static uint32_t theirs;
static struct hvia_client *their_client;

/* Makes every call that names a VI or a client, on objects of another
 * process. */
static void refused(struct side *s, uint32_t vi, struct hvia_client *c)
{
	struct weft_dev *d = weft_dev_open(s->h, 0);
	struct hvia_vi_arg v = { .vi = vi };
	struct hvia_conn_arg a = { .vi = vi, .deadline = 1 };
	struct hvia_fail_arg f = { .vi = vi,
				   .code = HVIA_ERROR_CATASTROPHIC,
				   .end = true };
	struct hvia_arm_arg arm = { .client = c };
	struct hvia_close close = { c };

#define BAD(op, arg) assert_int_equal(weft_drv_call(s->h, d, op, arg), -EBADF)
	BAD(HVIA_CALL_VI_FREE, &v);
	BAD(HVIA_CALL_VI_SET, &v);
	BAD(HVIA_CALL_ACCEPT, &a);
	BAD(HVIA_CALL_REQUEST, &a);
	BAD(HVIA_CALL_PEER, &a);
	BAD(HVIA_CALL_DISCONNECT, &a);
	BAD(HVIA_CALL_FAIL, &f);
	BAD(HVIA_CALL_ARM, &arm);
	BAD(HVIA_CALL_CLOSE, &close);
	v.client = c;
	BAD(HVIA_CALL_VI, &v);
#undef BAD
	assert_int_equal(weft_drv_call(s->h, d, HVIA_CALLS, &v), -EINVAL);
}

static int stranger(struct weft_host *h, struct bench *b)
{
	uint32_t done = 0;
	struct side s;

	weft_oob_get(h, "theirs");
	side_open(&s, h, b, "hvia0", 64);
	refused(&s, theirs, their_client);
	refused(&s, theirs + 5, NULL); /* this VI is free */
	refused(&s, HVIA_VIS, NULL);
	refused(&s, UINT32_MAX, (void *)&s);
	/* the call does not arm a queue of another process, therefore it waits
	 * until its deadline */
	assert_int_equal(
		weft_drv_call(
			h, weft_dev_open(h, 0), HVIA_CALL_ARM,
			&(struct hvia_arm_arg){
				vipl_nic(s.nic)->client,
				(struct hvia_armed[]){ { theirs, 0, &done },
						       { HVIA_VIS, 0, &done } },
				2, vipl_nic(s.nic)->client->event,
				weft_host_now(h) + 10 * WEFT_US }),
		-ETIMEDOUT);
	assert_int_equal(card(&s)->vi[theirs].flags &
				 (HVIA_VIF_IRQ_SEND | HVIA_VIF_IRQ_RECV),
			 0);
	weft_oob_put(h, "tried", 1);
	side_close(&s);
	return 0;
}

static int owner(struct weft_host *h, struct bench *b)
{
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;
	VIP_BOOLEAN empty[2];
	struct side s;

	side_open(&s, h, b, "hvia0", 64);
	theirs = 0;
	their_client = vipl_nic(s.nic)->client;
	weft_oob_put(h, "theirs", 1);
	weft_oob_get(h, "tried");
	ok(VipQueryVi(s.vi, &state, &a, empty, empty + 1));
	assert_int_equal(state, VIP_STATE_IDLE);
	assert_int_equal(a.MaxTransferSize, s.attr.MaxTransferSize);
	assert_false(their_client->closed);
	side_close(&s);
	return 0;
}

static void vis_of_others_are_out_of_reach(void **state)
{
	run(owner, stranger);
}

/* ---- tags and VIs that are used again ---- */

enum { TAGS = 4094 };

static int tags(struct weft_host *h, struct bench *b)
{
	static VIP_PROTECTION_HANDLE t[TAGS + 1];
	VIP_MEM_ATTRIBUTES m;
	VIP_MEM_HANDLE mem;
	struct side s;

	side_open(&s, h, b, "hvia0", 64);
	m = s.mem_attr;
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < TAGS; i++)
			ok(VipCreatePtag(s.nic, &t[i]));
		assert_int_equal(VipCreatePtag(s.nic, &t[TAGS]),
				 VIP_ERROR_RESOURCE);
		m.Ptag = t[TAGS - 1];
		ok(VipRegisterMem(s.nic, s.data, 64, &m, &mem));
		assert_int_equal(VipDestroyPtag(s.nic, t[TAGS - 1]),
				 VIP_ERROR_RESOURCE); /* in use */
		ok(VipDeregisterMem(s.nic, s.data, mem));
		for (uint32_t i = 0; i < TAGS; i++)
			ok(VipDestroyPtag(s.nic, t[i]));
		assert_int_equal(VipDestroyPtag(s.nic, t[0]),
				 VIP_INVALID_PARAMETER);
	}
	side_close(&s);
	return 0;
}

static void tags_that_were_destroyed_are_given_again(void **state)
{
	run(tags, NULL);
}

/* Takes all VIs of the card, lowest number first. When the process ends, all
 * VIs are free again. */
static int all_vis(struct weft_host *h, struct bench *b)
{
	static VIP_VI_HANDLE vi[HVIA_VIS];
	struct side s;

	side_open(&s, h, b, "hvia0", 64);
	for (uint32_t i = 1; i < HVIA_VIS; i++) {
		ok(VipCreateVi(s.nic, &s.attr, NULL, NULL, &vi[i]));
		assert_int_equal(vipl_vi(vi[i])->vi, i);
	}
	assert_int_equal(VipCreateVi(s.nic, &s.attr, NULL, NULL, &vi[0]),
			 VIP_ERROR_RESOURCE);
	ok(VipDestroyVi(vi[700]));
	ok(VipCreateVi(s.nic, &s.attr, NULL, NULL, &vi[700]));
	assert_int_equal(vipl_vi(vi[700])->vi, 700);
	weft_host_exit(h, 0);
}

static int comes_next(struct weft_host *h, struct bench *b)
{
	struct side s;

	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_MS);
	side_open(&s, h, b, "hvia0", 64);
	assert_int_equal(vipl_vi(s.vi)->vi, 0);
	for (uint32_t i = 1; i < HVIA_VIS; i++)
		assert_int_equal(card(&s)->vi[i].state, HVIA_VI_IDLE);
	side_close(&s);
	return 0;
}

static void vis_come_back_with_the_end_of_a_process(void **state)
{
	run(all_vis, comes_next);
}

/* ---- a connection that is lost ---- */

static int loses(struct weft_host *h, struct bench *b)
{
	VIP_DESCRIPTOR *d;
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_handler(&s);
	side_recv(&s, side_desc(&s, 0, 0, 64));
	side_connect(&s);
	assert_int_equal(card(&s)->vi[0].state, HVIA_VI_CONNECTED);
	meet(&s, "connected");
	side_errors(&s, 1);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
	/* the VI is in ERROR on the card too, and the card accepts no
	 * descriptor for it */
	assert_int_equal(card(&s)->vi[0].state, HVIA_VI_ERROR);
	assert_int_equal(VipRecvDone(s.vi, &d), VIP_DESCRIPTOR_ERROR);
	assert_int_equal(d->CS.Status, VIP_STATUS_OP_RECEIVE | VIP_STATUS_DONE |
					       VIP_STATUS_DESC_FLUSHED_ERROR);
	for (uint32_t i = 1; i < 3; i++) {
		d = side_desc(&s, i, 0, 64);
		ok(i == 1 ? VipPostRecv(s.vi, d, s.handle)
			  : VipPostSend(s.vi, d, s.handle));
		assert_int_equal(d->CS.Status & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_DESC_FLUSHED_ERROR);
	}
	assert_int_equal(card(&s)->vi[0].q[0].posted, 0);
	assert_int_equal(card(&s)->vi[0].q[1].posted, 0);
	side_close(&s);
	return 0;
}

static int leaves(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	meet(&s, "connected");
	side_close(&s);
	return 0;
}

static void a_lost_connection_is_an_error_on_the_card(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, loses, leaves);
	bench_free(b);
}

/* ---- threads that post to one queue ---- */

enum { THREADS = 3, EACH = 6 };

struct poster {
	struct side *s;
	uint32_t number, *left;
};

static int posts(struct weft_host *h, void *arg)
{
	struct poster *p = arg;

	for (uint32_t i = 0; i < EACH; i++)
		side_recv(p->s, side_desc(p->s, EACH * p->number + i, 0, 64));
	--*p->left;
	return 0;
}

/* Several threads post to one VI. Doorbells must arrive in the order of the
 * links, because the card otherwise misses descriptors. */
static int together(struct weft_host *h, struct bench *b)
{
	static struct poster p[THREADS];
	uint32_t left = THREADS;
	VIP_DESCRIPTOR *d;
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < THREADS; i++) {
		p[i] = (struct poster){ &s, i, &left };
		assert_true(weft_thread_start(h, posts, &p[i]));
	}
	while (left)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	side_connect(&s);
	for (uint32_t i = 0; i < THREADS * EACH; i++) {
		ok(VipRecvWait(s.vi, 50, &d));
		assert_int_equal(d->CS.Length, 8 + i);
	}
	assert_int_equal(card(&s)->vi[0].q[HVIA_Q_RECV].posted, 0);
	side_close(&s);
	return 0;
}

static int sends(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	for (uint32_t i = 0; i < THREADS * EACH; i++) {
		side_send(&s, side_desc(&s, 0, 0, 8 + i));
		assert_int_not_equal(side_sent(&s, NULL), 0);
		weft_host_sleep(h, weft_host_now(h) + 30 * WEFT_US);
	}
	side_close(&s);
	return 0;
}

static void threads_may_post_to_one_queue(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, together, sends);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vis_of_others_are_out_of_reach),
		cmocka_unit_test(tags_that_were_destroyed_are_given_again),
		cmocka_unit_test(vis_come_back_with_the_end_of_a_process),
		cmocka_unit_test(a_lost_connection_is_an_error_on_the_card),
		cmocka_unit_test(threads_may_post_to_one_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
