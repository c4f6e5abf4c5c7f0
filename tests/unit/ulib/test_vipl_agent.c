/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel agent of HVIA-GE (hvia.md 5.1, 5.6, 6.2) where several processes
 * or threads use it: what is another's, tags and entries that are used again,
 * errors as the program hears of them. */
#include "viprig.h"

#include <errno.h>
#include <string.h>

#include "nic/hvia/nic.h"
#include "ulib/vipl_priv.h"

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

/* ---- VIs of others
 * --------------------------------------------------------------- */

static uint32_t theirs;
static struct hvia_client *their_client;

/* Every call that names a VI or a client. */
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
	refused(&s, theirs + 5, NULL); /* nobody's */
	refused(&s, HVIA_VIS, NULL);
	refused(&s, UINT32_MAX, (void *)&s);
	/* a queue of another is not armed; the call waits as long as it says */
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
	(void)state;
	run(owner, stranger);
}

/* ---- used again
 * -------------------------------------------------------------------- */

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
	(void)state;
	run(tags, NULL);
}

/* VIs: as many as the card has, by the lowest number; of a process that has
 * ended all come back. */
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
	(void)state;
	run(all_vis, comes_next);
}

/* ---- errors
 * ------------------------------------------------------------------------ */

static const struct {
	uint32_t code, queue;
	VIP_UINT32 op;
} errors[] = {
	{ HVIA_ERROR_POST_DESC, HVIA_Q_SEND, VIP_STATUS_OP_SEND },
	{ HVIA_ERROR_POST_DESC, HVIA_Q_RECV, VIP_STATUS_OP_RECEIVE },
	{ HVIA_ERROR_CONN_LOST, HVIA_Q_SEND, VIP_STATUS_OP_SEND },
	{ HVIA_ERROR_RECVQ_EMPTY, HVIA_Q_RECV, VIP_STATUS_OP_RECEIVE },
	{ HVIA_ERROR_VI_OVERRUN, HVIA_Q_RECV, VIP_STATUS_OP_RECEIVE },
	{ HVIA_ERROR_RDMAW_PROT, HVIA_Q_RECV, VIP_STATUS_OP_REMOTE_RDMA_WRITE },
	{ HVIA_ERROR_RDMAW_DATA, HVIA_Q_RECV, VIP_STATUS_OP_REMOTE_RDMA_WRITE },
	{ HVIA_ERROR_RDMAW_ABORT, HVIA_Q_SEND,
	  VIP_STATUS_OP_REMOTE_RDMA_WRITE },
	{ HVIA_ERROR_RDMAR_PROT, HVIA_Q_SEND, VIP_STATUS_OP_SEND },
	{ HVIA_ERROR_COMP_PROT, HVIA_Q_RECV, VIP_STATUS_OP_RECEIVE },
	{ HVIA_ERROR_RDMA_TRANSPORT, HVIA_Q_SEND, VIP_STATUS_OP_SEND },
	{ HVIA_ERROR_CATASTROPHIC, HVIA_Q_SEND, VIP_STATUS_OP_SEND },
};
enum { ERRORS = sizeof(errors) / sizeof(*errors) };

static void tell(struct side *s, const struct hvia_async *e)
{
	uint32_t was = s->n_err;

	hvia_client_tell(s->h, vipl_nic(s->nic)->client, e);
	side_errors(s, was + 1);
	assert_int_equal(s->n_err, was + 1);
}

/* Where a token points to, if that is in its region. */
static void tokens(struct side *s)
{
	static const struct {
		uint32_t off;
		bool there;
	} row[] = { { 0, true }, { 64, true }, { 1u << 30, false } };
	struct hvia_async e = { .code = HVIA_ERROR_POST_DESC };

	for (uint32_t i = 0; i < 3; i++) {
		s->n_err = 0;
		e.token = hvia_token(s->handle, row[i].off);
		tell(s, &e);
		assert_ptr_equal(s->err[0].DescriptorPtr,
				 row[i].there ? (uint8_t *)s->desc + row[i].off
					      : NULL);
	}
	s->n_err = 0;
	e.token = hvia_token(s->handle + 9, 0); /* no such region */
	tell(s, &e);
	assert_null(s->err[0].DescriptorPtr);
	s->n_err = 0;
	e.code = HVIA_ERROR_VI_OVERRUN; /* has no descriptor */
	e.token = hvia_token(s->handle, 0);
	tell(s, &e);
	assert_null(s->err[0].DescriptorPtr);
}

static int hears(struct weft_host *h, struct bench *b)
{
	VIP_CQ_HANDLE cq;
	struct side s;

	side_open(&s, h, b, "hvia0+cq", 64);
	side_handler(&s);
	ok(VipCreateCQ(s.nic, 4, &cq));
	for (uint32_t i = 0; i < ERRORS; i++) {
		struct hvia_async e = { .code = errors[i].code,
					.queue = errors[i].queue };

		tell(&s, &e);
		assert_int_equal(s.err[i].OpCode, errors[i].op);
		assert_int_equal(s.err[i].ErrorCode, errors[i].code);
		assert_int_equal(s.err[i].ResourceCode,
				 errors[i].code == HVIA_ERROR_POST_DESC
					 ? VIP_RESOURCE_DESCRIPTOR
					 : VIP_RESOURCE_VI);
		assert_ptr_equal(s.err[i].ViHandle, s.vi);
		assert_ptr_equal(s.err[i].NicHandle, s.nic);
		assert_null(s.err[i].CQHandle);
	}
	tokens(&s);
	s.n_err = 0;
	tell(&s, &(struct hvia_async){ .code = HVIA_ERROR_CATASTROPHIC,
				       .vi = HVIA_VIS });
	assert_int_equal(s.err[0].ResourceCode, VIP_RESOURCE_NIC);
	assert_null(s.err[0].ViHandle);
	tell(&s, &(struct hvia_async){ .code = HVIA_ERROR_VI_OVERRUN,
				       .vi = HVIA_VIS,
				       .cq = cq });
	assert_int_equal(s.err[1].ResourceCode, VIP_RESOURCE_CQ);
	assert_ptr_equal(s.err[1].CQHandle, cq);
	ok(VipDestroyCQ(cq));
	side_close(&s);
	return 0;
}

static void errors_say_what_they_are_about(void **state)
{
	(void)state;
	run(hears, NULL);
}

/* The oldest of too many are lost. */
static int hears_late(struct weft_host *h, struct bench *b)
{
	struct hvia_client *c;
	struct side s;

	side_open(&s, h, b, "hvia0", 64);
	c = vipl_nic(s.nic)->client;
	for (uint32_t i = 0; i < HVIA_ERR_QUEUE_LEN + 3; i++)
		hvia_client_tell(
			h, c,
			&(struct hvia_async){ .code = HVIA_ERROR_RECVQ_EMPTY,
					      .token = i });
	assert_int_equal(c->err_in - c->err_out, HVIA_ERR_QUEUE_LEN);
	assert_int_equal(c->err[c->err_out % HVIA_ERR_QUEUE_LEN].token, 3);
	side_handler(&s);
	side_errors(&s, HVIA_ERR_QUEUE_LEN);
	assert_int_equal(s.n_err, HVIA_ERR_QUEUE_LEN);
	side_close(&s);
	return 0;
}

static void the_oldest_of_too_many_errors_are_lost(void **state)
{
	(void)state;
	run(hears_late, NULL);
}

/* ---- deadlines
 * ------------------------------------------------------------------------ */

/* Looking at the clock takes a nanosecond. */
static int deadlines(struct weft_host *h, struct bench *b)
{
	static const VIP_ULONG ms[] = { 0, 1, 12345 };
	VIP_ULONG most = (WEFT_NEVER - weft_host_now(h)) / WEFT_MS - 1;

	(void)b;
	for (uint32_t i = 0; i < 3; i++) {
		weft_time_t now = weft_host_now(h);

		assert_in_range(vipl_deadline(h, ms[i]) - now, ms[i] * WEFT_MS,
				ms[i] * WEFT_MS + 2 * WEFT_NS);
	}
	assert_true(vipl_deadline(h, most) < WEFT_NEVER);
	assert_true(vipl_deadline(h, most) > WEFT_NEVER - 3 * WEFT_MS);
	assert_true(vipl_deadline(h, most + 1) == WEFT_NEVER);
	assert_true(vipl_deadline(h, VIP_INFINITE) == WEFT_NEVER);
	return 0;
}

static void a_time_out_beyond_all_time_is_none(void **state)
{
	(void)state;
	run(deadlines, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vis_of_others_are_out_of_reach),
		cmocka_unit_test(tags_that_were_destroyed_are_given_again),
		cmocka_unit_test(vis_come_back_with_the_end_of_a_process),
		cmocka_unit_test(errors_say_what_they_are_about),
		cmocka_unit_test(the_oldest_of_too_many_errors_are_lost),
		cmocka_unit_test(a_time_out_beyond_all_time_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
