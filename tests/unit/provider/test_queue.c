/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and waiting for them: completions in every format, counters, event
 * queues, wait objects, wait sets and poll sets. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "../locks.h"
#include "rig.h"

static struct rig r;
static struct rig_side *s;
static int fds;

#define EQ(call, want) assert_int_equal(call, want)

static int setup(void **state)
{
	fds = descriptors_open();
	rig_up(&r, FI_EP_RDM);
	s = &r.s[0];
	return 0;
}

static int teardown(void **state)
{
	rig_down(&r);
	EQ(descriptors_open(), fds);
	return 0;
}

static struct wfi_cq *cq_open(enum fi_cq_format format, enum fi_wait_obj obj)
{
	struct fi_cq_attr attr = { .format = format, .wait_obj = obj };
	struct fid_cq *cq;

	EQ(fi_cq_open(s->dom, &attr, &cq, NULL), 0);
	return container_of(cq, struct wfi_cq, fid);
}

static void add(struct wfi_cq *cq, uint64_t n, int err)
{
	struct wfi_comp c = { .e = { .op_context = (void *)(uintptr_t)n,
				     .flags = n + 1,
				     .len = n + 2,
				     .buf = (void *)(uintptr_t)(n + 3),
				     .data = n + 4,
				     .tag = n + 5 },
			      .src = n + 6,
			      .olen = n + 7,
			      .err = err };

	wfi_cq_add(cq, &c);
}

/* ---- completions ---- */

static void completions_have_the_size_of_their_format(void **state)
{
	static const struct {
		enum fi_cq_format format;
		size_t size;
	} rows[] = { { FI_CQ_FORMAT_CONTEXT, 8 },
		     { FI_CQ_FORMAT_UNSPEC, 8 },
		     { FI_CQ_FORMAT_MSG, 24 },
		     { FI_CQ_FORMAT_DATA, 40 },
		     { FI_CQ_FORMAT_TAGGED, 48 } };
	uint64_t e[20];
	fi_addr_t src[2];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wfi_cq *cq = cq_open(rows[i].format, FI_WAIT_NONE);
		uint64_t *second = e + rows[i].size / 8;

		memset(e, 0xee, sizeof(e));
		add(cq, 100, 0);
		add(cq, 200, 0);
		EQ(fi_cq_readfrom(&cq->fid, e, 5, src), 2);
		EQ(src[0], 106);
		EQ(src[1], 206);
		for (size_t k = 0; k < rows[i].size / 8; k++) {
			EQ(e[k], 100 + k);
			EQ(second[k], 200 + k);
		}
		EQ((uint8_t)second[rows[i].size / 8], 0xee);
		EQ(fi_cq_sread(&cq->fid, e, 1, NULL, 0), -FI_ENOSYS);
		EQ(fi_close(&cq->fid.fid), 0);
	}
	{ /* without attributes */
		struct fid_cq *cq;

		EQ(fi_cq_open(s->dom, NULL, &cq, NULL), 0);
		EQ(container_of(cq, struct wfi_cq, fid)->format,
		   FI_CQ_FORMAT_CONTEXT);
		EQ(container_of(cq, struct wfi_cq, fid)->wait.obj,
		   FI_WAIT_NONE);
		EQ(fi_close(&cq->fid), 0);
	}
}

static void growing_queue_keeps_its_order(void **state)
{
	struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	uint64_t in = 0, out = 0, e[7];

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 9; i++)
			add(cq, in++, 0);
		for (ssize_t n = fi_cq_read(&cq->fid, e, 7), i = 0; i < n; i++)
			EQ(e[i], out++);
		EQ(cq->n, in - out);
	}
	EQ(cq->cap, 512);
	while (out < in) {
		EQ(fi_cq_read(&cq->fid, e, 1), 1);
		EQ(e[0], out++);
	}
	EQ(fi_cq_read(&cq->fid, e, 1), -FI_EAGAIN);
	EQ(fi_cq_read(&cq->fid, NULL, 0), -FI_EAGAIN);
	add(cq, 1, 0);
	EQ(fi_cq_read(&cq->fid, NULL, 0), 0); /* the queue has one completion */
	EQ(fi_close(&cq->fid.fid), 0);
}

static void error_stands_in_its_place_among_completions(void **state)
{
	struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_CONTEXT, FI_WAIT_UNSPEC);
	struct fi_cq_err_entry err = { .err_data_size = 99 };
	uint64_t e[5];
	char text[8];

	add(cq, 10, 0);
	add(cq, 20, FI_ETRUNC);
	add(cq, 30, 0);
	EQ(fi_cq_readerr(&cq->fid, &err, 0), -FI_EAGAIN);
	EQ(fi_cq_read(&cq->fid, e, 5), 1);
	EQ(fi_cq_read(&cq->fid, e, 5), -FI_EAVAIL);
	EQ(fi_cq_sread(&cq->fid, e, 5, NULL, -1), -FI_EAVAIL);
	EQ(fi_cq_read(&cq->fid, NULL, 0), -FI_EAVAIL);
	EQ(fi_cq_readerr(&cq->fid, &err, 0), 1);
	EQ((uintptr_t)err.op_context, 20);
	EQ(err.flags, 21);
	EQ(err.len, 22);
	EQ((uintptr_t)err.buf, 23);
	EQ(err.data, 24);
	EQ(err.tag, 25);
	EQ(err.olen, 27);
	EQ(err.err, FI_ETRUNC);
	EQ(err.prov_errno, FI_ETRUNC);
	EQ(err.err_data_size, 0);
	EQ(fi_cq_readerr(&cq->fid, &err, 0), -FI_EAGAIN);
	EQ(fi_cq_read(&cq->fid, e, 5), 1);
	EQ(e[0], 30);
	assert_string_equal(fi_cq_strerror(&cq->fid, FI_ENOKEY, NULL, NULL, 0),
			    fi_strerror(FI_ENOKEY));
	assert_ptr_equal(fi_cq_strerror(&cq->fid, FI_ENOKEY, NULL, text, 8),
			 text);
	EQ(strlen(text), 7);
	EQ(fi_close(&cq->fid.fid), 0);
}

static void wait_ends_with_an_entry_a_signal_or_time(void **state)
{
	struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_CONTEXT, FI_WAIT_UNSPEC);
	fi_addr_t src;
	uint64_t e;

	EQ(fi_cq_sread(&cq->fid, &e, 1, NULL, 1), -FI_EAGAIN);
	add(cq, 5, 0);
	EQ(fi_cq_sreadfrom(&cq->fid, &e, 1, &src, NULL, -1), 1);
	EQ(e, 5);
	EQ(src, 11);
	EQ(fi_cq_signal(&cq->fid), 0);
	EQ(fi_cq_sread(&cq->fid, &e, 1, NULL, -1), -FI_EAGAIN);
	EQ(cq->signaled, false); /* once */
	EQ(fi_cq_sread(&cq->fid, &e, 1, NULL, 0), -FI_EAGAIN);
	EQ(fi_close(&cq->fid.fid), 0);
}

/* A read of a queue counts as a call and makes progress. A peek does not
 * count. */
static void read_and_message_calls_are_counted_and_charged(void **state)
{
	const struct double_stat *st = double_stat(0, "fi_cq_read");
	uint64_t e[8];

	double_cost(70);
	EQ(fi_cq_read(s->cq, e, 1), -FI_EAGAIN);
	EQ(st->begun, 0);
	add(container_of(s->cq, struct wfi_cq, fid), 1, 0);
	EQ(fi_cq_read(s->cq, NULL, 0), 0);
	EQ(st->begun, 0);
	EQ(double_got_on(0), 0);
	EQ(fi_cq_read(s->cq, e, 1), 1);
	EQ(st->begun, 1);
	EQ(st->ended, 1);
	EQ(st->calls, 1);
	EQ(st->bytes, 0);
	EQ(double_charged(0), 70);
	EQ(double_got_on(0), 1);
	/* Each kind of call has its own count. A send that returns
	 * -FI_EAGAIN does not count. */
	EQ(fi_send(s->ep, e, 8, NULL, s->to, NULL), 0);
	EQ(double_stat(0, "fi_send")->bytes, 8);
	EQ(fi_tsend(s->ep, e, 9, NULL, s->to, 1, NULL), 0);
	EQ(double_stat(0, "fi_tsend")->bytes, 9);
	double_full(0, 1);
	EQ(fi_tsend(s->ep, e, 9, NULL, s->to, 1, NULL), -FI_EAGAIN);
	EQ(double_stat(0, "fi_tsend")->calls, 1);
	EQ(double_stat(0, "fi_tsend")->dropped, 1);
	EQ(fi_recv(s->ep, e, 24, NULL, s->to, NULL), 0);
	EQ(double_stat(0, "fi_recv")->bytes, 24);
	EQ(fi_trecv(s->ep, e, 23, NULL, s->to, 0, 0, NULL), 0);
	EQ(double_stat(0, "fi_trecv")->bytes, 23);
	EQ(fi_write(s->ep, e, 7, NULL, s->to, 0, 1, NULL), 0);
	EQ(double_stat(0, "fi_write")->bytes, 7);
	EQ(fi_read(s->ep, e, 6, NULL, s->to, 0, 1, NULL), 0);
	EQ(double_stat(0, "fi_read")->bytes, 6);
	EQ(fi_atomic(s->ep, e, 2, NULL, s->to, 0, 1, FI_UINT16, FI_SUM, NULL),
	   0);
	EQ(double_stat(0, "fi_atomic")->bytes, 4);
	EQ(fi_fetch_atomic(s->ep, e, 1, NULL, e, NULL, s->to, 0, 1, FI_UINT16,
			   FI_SUM, NULL),
	   0);
	EQ(double_stat(0, "fi_fetch_atomic")->bytes, 2);
	EQ(double_charged(0), 70 * 10);
}

/* ---- counters ---- */

static struct fid_cntr *cntr_open(struct fid_domain *d)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_FD };
	struct fid_cntr *c;

	EQ(fi_cntr_open(d, &attr, &c, &r), 0);
	return c;
}

static void counter_adds_sets_and_times_out(void **state)
{
	struct fid_cntr *c = cntr_open(s->dom);

	EQ(fi_cntr_read(c), 0);
	EQ(fi_cntr_add(c, 5), 0);
	EQ(fi_cntr_add(c, 2), 0);
	EQ(fi_cntr_read(c), 7);
	EQ(fi_cntr_set(c, 3), 0);
	EQ(fi_cntr_read(c), 3);
	EQ(fi_cntr_readerr(c), 0);
	EQ(fi_cntr_adderr(c, 4), 0);
	EQ(fi_cntr_adderr(c, 4), 0);
	EQ(fi_cntr_readerr(c), 8);
	EQ(fi_cntr_seterr(c, 1), 0);
	EQ(fi_cntr_readerr(c), 1);
	EQ(fi_cntr_read(c), 3);
	EQ(fi_cntr_wait(c, 3, -1), 0);
	EQ(fi_cntr_wait(c, 4, 0), -FI_ETIMEDOUT);
	wfi_cntr_inc(container_of(c, struct wfi_cntr, fid), false);
	wfi_cntr_inc(container_of(c, struct wfi_cntr, fid), true);
	EQ(fi_cntr_read(c), 4);
	EQ(fi_cntr_readerr(c), 2);
	assert_ptr_equal(c->fid.context, &r);
	EQ(fi_close(&c->fid), 0);
}

static void error_ends_the_wait_for_a_counter(void **state)
{
	static char buf[8];
	struct fid_cntr *c = cntr_open(s->dom);

	rig_ep(&r, 0)->cntr[WFI_C_WRITE] =
		container_of(c, struct wfi_cntr, fid);
	EQ(fi_write(s->ep, buf, 8, NULL, s->to, 0, 99, NULL), 0);
	for (int i = 0; i < 4; i++)
		rig_progress(&r, 1);
	EQ(fi_cntr_wait(c, 1, -1), -FI_EAVAIL);
	EQ(fi_cntr_readerr(c), 1);
	EQ(fi_cntr_read(c), 0);
	EQ(rig_error(&r, 0).err, FI_ENOKEY);
	rig_ep(&r, 0)->cntr[WFI_C_WRITE] = NULL;
	EQ(fi_close(&c->fid), 0);
}

/* ---- event queues ---- */

static void event_is_read_once_and_stays_when_peeked(void **state)
{
	struct fi_eq_attr attr = { .flags = FI_WRITE,
				   .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_entry e = { .data = 7 }, got;
	struct fi_eq_err_entry err = { 0 };
	struct fid_eq *eq;
	char room[100];
	uint32_t ev = 0;

	EQ(fi_eq_write(s->eq, FI_NOTIFY, &e, sizeof(e), 0), -FI_EINVAL);
	EQ(fi_eq_open(s->fabric, &attr, &eq, &r), 0);
	assert_ptr_equal(eq->fid.context, &r);
	EQ(fi_eq_read(eq, &ev, &got, sizeof(got), 0), -FI_EAGAIN);
	EQ(fi_eq_sread(eq, &ev, &got, sizeof(got), 0, 0), -FI_EAGAIN);
	EQ(fi_eq_write(eq, FI_NOTIFY, &e, sizeof(e), 0), sizeof(e));
	EQ(fi_eq_read(eq, &ev, &got, sizeof(got) - 1, 0), -FI_ETOOSMALL);
	EQ(fi_eq_read(eq, &ev, &got, sizeof(got), FI_PEEK), sizeof(got));
	EQ(fi_eq_readerr(eq, &err, 0), -FI_EAGAIN);
	memset(room, 0x55, sizeof(room));
	EQ(fi_eq_sread(eq, &ev, room, sizeof(room), -1, 0), sizeof(got));
	EQ(ev, FI_NOTIFY);
	EQ(((struct fi_eq_entry *)room)->data, 7);
	EQ(room[sizeof(got)], 0x55);
	EQ(fi_eq_read(eq, &ev, &got, sizeof(got), 0), -FI_EAGAIN);
	/* events with data may be truncated */
	wfi_eq_add(container_of(eq, struct wfi_eq, fid), FI_CONNREQ, 0, &e,
		   sizeof(struct fi_eq_cm_entry), "12345", 5);
	EQ(fi_eq_read(eq, &ev, room, sizeof(struct fi_eq_cm_entry) - 1, 0),
	   -FI_ETOOSMALL);
	EQ(fi_eq_read(eq, &ev, room, sizeof(struct fi_eq_cm_entry) + 2, 0),
	   sizeof(struct fi_eq_cm_entry) + 2);
	EQ(room[sizeof(struct fi_eq_cm_entry) + 1], '2');
	assert_string_equal(fi_eq_strerror(eq, FI_ENOKEY, NULL, room, 6),
			    "Requi");
	assert_string_equal(fi_eq_strerror(eq, FI_ENOKEY, NULL, NULL, 6),
			    fi_strerror(FI_ENOKEY));
	EQ(fi_eq_write(eq, FI_NOTIFY, &e, sizeof(e), 0), sizeof(e));
	/* A request that the program wrote with fi_eq_write() does not refer to
	 * an object of the queue. */
	EQ(fi_eq_write(eq, FI_CONNREQ, room, sizeof(room), 0), sizeof(room));
	EQ(fi_close(&eq->fid), 0); /* closes the queue with two unread events */
}

static void eq_error(struct fid_eq *eq, const char *data)
{
	struct fi_eq_err_entry e = { .err = FI_ECONNREFUSED, .data = 3 };

	wfi_eq_add(container_of(eq, struct wfi_eq, fid), FI_CONNECTED,
		   FI_ECONNREFUSED, &e, sizeof(e), data, strlen(data));
}

static void data_of_an_error_belong_to_queue_or_caller(void **state)
{
	struct fi_eq_err_entry err = { 0 };
	char mine[4], byte[1];
	uint32_t ev;

	eq_error(s->eq, "abc");
	EQ(fi_eq_read(s->eq, &ev, byte, 1, 0), -FI_EAVAIL);
	EQ(fi_eq_readerr(s->eq, &err, FI_PEEK), sizeof(err));
	EQ(err.err_data_size, 3);
	err.err_data = NULL;
	err.err_data_size = 0;
	EQ(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	EQ(err.err, FI_ECONNREFUSED);
	EQ(err.data, 3);
	EQ(err.err_data_size, 3);
	assert_memory_equal(err.err_data, "abc", 3);
	eq_error(s->eq, "abcdefgh");
	err.err_data = mine;
	err.err_data_size = 4;
	EQ(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	assert_ptr_equal(err.err_data, mine);
	EQ(err.err_data_size, 4);
	assert_memory_equal(mine, "abcd", 4);
	eq_error(s->eq, "xy");
	EQ(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	EQ(err.err_data_size, 2);
	assert_memory_equal(mine, "xycd", 4);
	eq_error(s->eq, "");
	err.err_data = NULL;
	EQ(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	EQ(err.err_data_size, 0);
	assert_null(err.err_data);
	EQ(fi_eq_readerr(s->eq, &err, 0), -FI_EAGAIN);
}

/* ---- wait objects ---- */

static bool readable(int fd)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0) == 1;
}

static void queue_has_a_descriptor_if_its_wait_object_does(void **state)
{
	static const struct {
		enum fi_wait_obj obj;
		bool fd;
	} rows[] = { { FI_WAIT_NONE, false },
		     { FI_WAIT_YIELD, false },
		     { FI_WAIT_UNSPEC, true },
		     { FI_WAIT_FD, true } };

	for (size_t i = 0; i < 4; i++) {
		struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_MSG, rows[i].obj);
		enum fi_wait_obj obj = FI_WAIT_SET;
		int fd = -1, again = -2;

		EQ(fi_control(&cq->fid.fid, FI_GETWAITOBJ, &obj), 0);
		EQ(obj, rows[i].obj);
		EQ(fi_control(&cq->fid.fid, FI_GETWAIT, &fd),
		   rows[i].fd ? 0 : -FI_ENODATA);
		EQ(fi_control(&cq->fid.fid, FI_ENABLE, &fd), -FI_ENOSYS);
		if (rows[i].fd) {
			EQ(fi_control(&cq->fid.fid, FI_GETWAIT, &again), 0);
			EQ(fd, again);
		}
		EQ(fi_close(&cq->fid.fid), 0);
	}
}

static void descriptor_is_readable_until_trywait_succeeds(void **state)
{
	struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_CONTEXT, FI_WAIT_FD);
	struct fid_cntr *c = cntr_open(s->dom);
	struct fid *fid[] = { &cq->fid.fid, &c->fid, &s->eq->fid };
	struct fi_eq_entry e = { 0 };
	int fd, cfd, efd;
	uint64_t x;
	uint32_t ev;

	EQ(fi_control(fid[0], FI_GETWAIT, &fd), 0);
	EQ(fi_control(fid[1], FI_GETWAIT, &cfd), 0);
	EQ(fi_control(fid[2], FI_GETWAIT, &efd), 0);
	/* readable, because fi_trywait() was not called yet */
	assert_true(readable(fd));
	EQ(fi_trywait(s->fabric, fid, 3), 0);
	assert_false(readable(fd) || readable(cfd) || readable(efd));
	add(cq, 1, 0);
	assert_true(readable(fd));
	assert_false(readable(cfd));
	EQ(fi_trywait(s->fabric, fid, 3), -FI_EAGAIN);
	EQ(fi_cq_read(&cq->fid, &x, 1), 1);
	EQ(fi_trywait(s->fabric, fid, 3), 0);
	fi_cntr_add(c, 1);
	assert_true(readable(cfd));
	EQ(fi_trywait(s->fabric, fid, 2), -FI_EAGAIN);
	/* succeeds, because the previous call has reported the event */
	EQ(fi_trywait(s->fabric, fid, 2), 0);
	fi_cntr_adderr(c, 1);
	EQ(fi_trywait(s->fabric, fid, 2), -FI_EAGAIN);
	wfi_eq_add(container_of(s->eq, struct wfi_eq, fid), FI_NOTIFY, 0, &e,
		   sizeof(e), NULL, 0);
	assert_true(readable(efd));
	EQ(fi_trywait(s->fabric, fid, 3), -FI_EAGAIN);
	EQ(fi_eq_read(s->eq, &ev, &e, sizeof(e), 0), sizeof(e));
	EQ(fi_trywait(s->fabric, fid, 3), 0);
	fi_cq_signal(&cq->fid);
	assert_true(readable(fd));
	EQ(fi_trywait(s->fabric, (struct fid *[]){ &s->dom->fid }, 1), 0);
	/* A packet of the transport has arrived. fi_trywait() takes the packet,
	 * but the packet makes no completion for a reader. */
	fi_inject(r.s[1].ep, &e, 8, r.s[1].to);
	EQ(fi_trywait(s->fabric, fid, 1), 0);
	EQ(fi_close(fid[0]), 0);
	EQ(fi_close(fid[1]), 0);
}

/* ---- sets ---- */

static void wait_set_wakes_for_each_of_its_objects(void **state)
{
	struct fi_wait_attr wattr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_SET };
	struct fi_cntr_attr cattr = { .wait_obj = FI_WAIT_SET };
	struct fi_eq_attr eattr = { .wait_obj = FI_WAIT_SET };
	struct fi_eq_entry e = { 0 };
	struct fid_wait *set;
	struct fid_cq *cq;
	struct fid_cntr *c;
	struct fid_eq *eq;
	uint64_t x;
	uint32_t ev;

	EQ(fi_wait_open(s->fabric, &wattr, &set), 0);
	EQ(fi_wait(set, 0), -FI_EINVAL); /* refused, because the set is empty */
	attr.wait_set = cattr.wait_set = eattr.wait_set = set;
	EQ(fi_cq_open(s->dom, &attr, &cq, NULL), 0);
	EQ(fi_cntr_open(s->dom, &cattr, &c, NULL), 0);
	EQ(fi_eq_open(s->fabric, &eattr, &eq, NULL), 0);
	EQ(fi_wait(set, 0), -FI_ETIMEDOUT);
	add(container_of(cq, struct wfi_cq, fid), 1, 0);
	EQ(fi_wait(set, -1), 0);
	EQ(fi_cq_read(cq, &x, 1), 1);
	EQ(fi_wait(set, 0), -FI_ETIMEDOUT);
	fi_cntr_add(c, 1);
	EQ(fi_wait(set, -1), 0);
	EQ(fi_wait(set, 0),
	   -FI_ETIMEDOUT); /* the event has been seen already */
	wfi_eq_add(container_of(eq, struct wfi_eq, fid), FI_NOTIFY, 0, &e,
		   sizeof(e), NULL, 0);
	EQ(fi_wait(set, -1), 0);
	EQ(fi_trywait(s->fabric, (struct fid *[]){ &set->fid }, 1), -FI_EAGAIN);
	EQ(fi_eq_read(eq, &ev, &e, sizeof(e), 0), sizeof(e));
	EQ(fi_trywait(s->fabric, (struct fid *[]){ &set->fid }, 1), 0);
	EQ(fi_close(&cq->fid), 0);
	EQ(fi_close(&c->fid), 0);
	EQ(fi_close(&eq->fid), 0);
	EQ(fi_close(&set->fid), 0);
	wattr.wait_obj = FI_WAIT_YIELD;
	EQ(fi_wait_open(s->fabric, &wattr, &set), 0);
	EQ(fi_close(&set->fid), 0);
	EQ(fi_wait_open(s->fabric, NULL, &set), 0);
	EQ(fi_close(&set->fid), 0);
}

static void poll_set_names_objects_with_news(void **state)
{
	struct wfi_cq *cq = cq_open(FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	struct fid_cntr *c = cntr_open(s->dom);
	struct fid_poll *p;
	void *got[3] = { 0 };
	uint64_t x;

	cq->fid.fid.context = cq;
	EQ(fi_poll_open(s->dom, NULL, &p), 0);
	EQ(fi_poll_add(p, &cq->fid.fid, 0), 0);
	EQ(fi_poll_add(p, &c->fid, 0), 0);
	EQ(fi_poll(p, got, 3), 0);
	fi_cntr_add(c, 1);
	add(cq, 1, 0);
	EQ(fi_poll(p, got, 1), 1);
	assert_ptr_equal(got[0], cq);
	EQ(fi_poll(p, got, 3), 2);
	assert_ptr_equal(got[1], &r);
	EQ(fi_poll(p, got, 3), 1); /* the counter has not changed */
	EQ(fi_poll_del(p, &cq->fid.fid, 0), 0);
	EQ(fi_poll_del(p, &cq->fid.fid, 0), -FI_EINVAL);
	EQ(fi_poll(p, got, 3), 0);
	fi_cntr_add(c, 1);
	EQ(fi_poll(p, got, 3), 1);
	EQ(fi_cq_read(&cq->fid, &x, 1), 1);
	EQ(fi_close(&p->fid), 0);
	EQ(fi_close(&c->fid), 0);
	EQ(fi_close(&cq->fid.fid), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(completions_have_the_size_of_their_format),
		T(growing_queue_keeps_its_order),
		T(error_stands_in_its_place_among_completions),
		T(wait_ends_with_an_entry_a_signal_or_time),
		T(read_and_message_calls_are_counted_and_charged),
		T(counter_adds_sets_and_times_out),
		T(error_ends_the_wait_for_a_counter),
		T(event_is_read_once_and_stays_when_peeked),
		T(data_of_an_error_belong_to_queue_or_caller),
		T(queue_has_a_descriptor_if_its_wait_object_does),
		T(descriptor_is_readable_until_trywait_succeeds),
		T(wait_set_wakes_for_each_of_its_objects),
		T(poll_set_names_objects_with_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
