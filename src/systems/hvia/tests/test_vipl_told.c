/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous errors of VIPL as the program gets them (hvia.md 5.6), one test
 * row for each error, and deadlines of the program's waits. */
#include "viprig.h"

#include "systems/hvia/lib/vipl_internal.h"

static void run(node_fn fn)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, fn);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

/* ---- errors ---- */

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

/* Checks that an error names the descriptor of its token if the token lies in a
 * region and the error concerns a descriptor. */
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
	e.token = hvia_token(s->handle + 9, 0); /* the region does not exist */
	tell(s, &e);
	assert_null(s->err[0].DescriptorPtr);
	s->n_err = 0;
	e.code = HVIA_ERROR_VI_OVERRUN; /* this error has no descriptor */
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
	run(hears);
}

/* More errors arrive than the queue holds, so that the oldest are lost. */
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
	/* all of these errors are reported, because the queue has room again */
	s.n_err = 0;
	for (uint32_t i = 0; i < 20; i++)
		hvia_client_tell(
			h, c,
			&(struct hvia_async){ .code = HVIA_ERROR_RECVQ_EMPTY });
	side_errors(&s, 20);
	assert_int_equal(s.n_err, 20);
	assert_int_equal(c->err_in, c->err_out);
	side_close(&s);
	return 0;
}

static void the_oldest_of_too_many_errors_are_lost(void **state)
{
	run(hears_late);
}

/* ---- places of descriptors ---- */

/* Checks that offsets count from the multiple of 64 at or below the region's
 * start, and that an address outside the region gives no offset. */
static int places(struct weft_host *h, struct bench *b)
{
	const uint32_t none = UINT32_MAX & ~63u;
	struct vipl_nic *n;
	VIP_MEM_HANDLE mem;
	struct side s;
	uint8_t *m;

	side_open(&s, h, b, "hvia0", 64);
	n = vipl_nic(s.nic);
	m = weft_host_align(h, HVIA_PAGE, 2 * HVIA_PAGE);
	ok(VipRegisterMem(s.nic, m + 32, 1000, &s.mem_attr, &mem));
#define TOKEN(off, of) vipl_token(n, (void *)(m + (off)), of)
	assert_int_equal(TOKEN(32, mem), hvia_token(mem, 32));
	assert_int_equal(TOKEN(64, mem), hvia_token(mem, 64));
	assert_int_equal(TOKEN(1031, mem), hvia_token(mem, 1031));
	assert_int_equal(TOKEN(1032, mem), hvia_token(mem, none));
	assert_int_equal(TOKEN(31, mem), hvia_token(mem, none));
	assert_int_equal(TOKEN(64, mem + 1), hvia_token(mem + 1, none));
#undef TOKEN
	ok(VipDeregisterMem(s.nic, m + 32, mem));
	assert_int_equal(vipl_token(n, (void *)(m + 64), mem),
			 hvia_token(mem, none));
	side_close(&s);
	return 0;
}

static void a_descriptor_is_named_by_its_place(void **state)
{
	run(places);
}

/* ---- deadlines ---- */

/* Checks deadlines. Reading the clock takes a nanosecond. */
static int deadlines(struct weft_host *h, struct bench *b)
{
	static const VIP_ULONG ms[] = { 0, 1, 12345 };
	VIP_ULONG most = (WEFT_NEVER - weft_host_now(h)) / WEFT_MS - 1;

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
	run(deadlines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_say_what_they_are_about),
		cmocka_unit_test(the_oldest_of_too_many_errors_are_lost),
		cmocka_unit_test(a_descriptor_is_named_by_its_place),
		cmocka_unit_test(a_time_out_beyond_all_time_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
