/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two endpoints of the provider: matching, long messages,
 * several messages in one buffer, peeking, and errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static unsigned char a[300000], b[300000];

static void one(struct rig *r, size_t len, uint64_t tag)
{
	struct fi_cq_tagged_entry e;

	rig_fill(a, len, (unsigned)len);
	memset(b, 0, sizeof(b));
	assert_int_equal(
		fi_trecv(r->s[1].ep, b, len, NULL, r->s[1].to, tag, 0, b), 0);
	assert_int_equal(
		fi_tsenddata(r->s[0].ep, a, len, NULL, 77, r->s[0].to, tag, a),
		0);
	e = rig_next(r, 1);
	assert_ptr_equal(e.op_context, b);
	assert_int_equal(e.len, len);
	assert_int_equal(e.tag, tag);
	assert_int_equal(e.data, 77);
	assert_int_equal(e.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
	assert_memory_equal(a, b, len);
	e = rig_next(r, 0);
	assert_ptr_equal(e.op_context, a);
	assert_int_equal(e.flags, FI_SEND | FI_TAGGED);
	rig_none(r, 0);
	rig_none(r, 1);
}

static void messages_of_every_size_arrive(void **state)
{
	static const size_t sizes[] = { 0,    1,    8,	   4000,  4064,
					4065, 4096, 65537, 300000 };
	struct rig r;

	rig_up(&r, FI_EP_RDM);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		one(&r, sizes[i], i << 40 | i);
	rig_down(&r);
}

static void full_transport_delays_a_message_but_loses_none(void **state)
{
	struct rig r;

	rig_up(&r, FI_EP_RDM);
	assert_int_equal(
		fi_recv(r.s[1].ep, b, sizeof(b), NULL, FI_ADDR_UNSPEC, NULL),
		0);
	double_full(0, 1);
	assert_int_equal(fi_send(r.s[0].ep, a, 200000, NULL, r.s[0].to, NULL),
			 -FI_EAGAIN);
	assert_int_equal(fi_send(r.s[0].ep, a, 200000, NULL, r.s[0].to, NULL),
			 0);
	double_full(0, 3); /* its put */
	double_full(1, 3); /* delays the answer that precedes the put */
	for (int i = 0; i < 10; i++)
		rig_settle(&r);
	assert_int_equal(rig_next(&r, 1).len, 200000);
	rig_next(&r, 0);
	rig_down(&r);
}

static void early_messages_match_later_receives_in_order(void **state)
{
	struct rig r;
	struct fi_cq_tagged_entry e;

	rig_up(&r, FI_EP_RDM);
	for (uint64_t i = 0; i < 4; i++) {
		size_t len = i & 1 ? 100000 : 100;

		rig_fill(a, len, (unsigned)i);
		assert_int_equal(
			fi_tsend(r.s[0].ep, a, len, NULL, r.s[0].to, i, NULL),
			0);
		rig_settle(&r);
		if (i != 3)
			continue;
		/* tag 2 first, then the others in order */
		assert_int_equal(fi_trecv(r.s[1].ep, b, sizeof(b), NULL,
					  FI_ADDR_UNSPEC, 2, 0, NULL),
				 0);
		e = rig_next(&r, 1);
		assert_int_equal(e.tag, 2);
		for (uint64_t k = 0; k < 4; k += k ? 2 : 1) {
			assert_int_equal(fi_trecv(r.s[1].ep, b, sizeof(b), NULL,
						  r.s[1].to, 0, UINT64_MAX,
						  NULL),
					 0);
			e = rig_next(&r, 1);
			assert_int_equal(e.tag, k);
			assert_int_equal(e.len, k & 1 ? 100000 : 100);
		}
	}
	rig_down(&r);
}

static void message_longer_than_its_buffer_is_cut_with_error(void **state)
{
	struct rig r;
	struct fi_cq_err_entry e;

	rig_up(&r, FI_EP_RDM);
	for (int i = 0; i < 2; i++) {
		size_t len = i ? 100000 : 100;

		memset(b, 9, sizeof(b));
		rig_fill(a, len, 3);
		fi_recv(r.s[1].ep, b, 60, NULL, FI_ADDR_UNSPEC, b);
		fi_send(r.s[0].ep, a, len, NULL, r.s[0].to, a);
		e = rig_error(&r, 1);
		assert_int_equal(e.err, FI_ETRUNC);
		assert_int_equal(e.len, 60);
		assert_int_equal(e.olen, len - 60);
		assert_memory_equal(a, b, 60);
		assert_int_equal(b[60], 9);
		rig_next(&r, 0);
	}
	rig_down(&r);
}

static void pieces_of_a_message_arrive_as_one_stream(void **state)
{
	struct rig r;
	struct iovec out[3] = { { a, 10 }, { a + 10, 0 }, { a + 10, 9000 } };
	struct iovec in[2] = { { b, 7 }, { b + 7, 20000 } };

	rig_up(&r, FI_EP_RDM);
	for (int i = 0; i < 2; i++) {
		out[2].iov_len = i ? 9000 : 50;
		rig_fill(a, 9010, 5);
		memset(b, 0, sizeof(b));
		fi_recvv(r.s[1].ep, in, NULL, 2, FI_ADDR_UNSPEC, NULL);
		fi_sendv(r.s[0].ep, out, NULL, 3, r.s[0].to, NULL);
		assert_int_equal(rig_next(&r, 1).len, 10 + out[2].iov_len);
		assert_memory_equal(a, b, 10 + out[2].iov_len);
		rig_next(&r, 0);
	}
	rig_down(&r);
}

static void multi_receive_buffer_holds_several_messages(void **state)
{
	struct rig r;
	struct iovec iov = { b, 1000 };
	struct fi_msg msg = { .msg_iov = &iov,
			      .iov_count = 1,
			      .addr = FI_ADDR_UNSPEC,
			      .context = b };
	struct fi_cq_tagged_entry e;
	size_t least = 300;

	rig_up(&r, FI_EP_RDM);
	assert_int_equal(fi_setopt(&r.s[1].ep->fid, FI_OPT_ENDPOINT,
				   FI_OPT_MIN_MULTI_RECV, &least,
				   sizeof(least)),
			 0);
	fi_inject(r.s[0].ep, a, 300, r.s[0].to); /* early */
	rig_settle(&r);
	assert_int_equal(fi_recvmsg(r.s[1].ep, &msg, FI_MULTI_RECV), 0);
	fi_inject(r.s[0].ep, a, 200, r.s[0].to);
	fi_inject(r.s[0].ep, a, 210, r.s[0].to);
	e = rig_next(&r, 1);
	assert_ptr_equal(e.buf, b);
	assert_int_equal(e.flags, FI_RECV | FI_MSG);
	e = rig_next(&r, 1);
	assert_ptr_equal(e.buf, b + 300);
	assert_int_equal(e.flags, FI_RECV | FI_MSG);
	e = rig_next(&r, 1);
	assert_ptr_equal(e.buf, b + 500);
	assert_int_equal(e.flags, FI_RECV | FI_MSG | FI_MULTI_RECV);
	rig_none(&r, 0);
	rig_down(&r);
}

static ssize_t look(struct rig *r, uint64_t tag, uint64_t flags, void *ctx)
{
	struct iovec iov = { b, sizeof(b) };
	struct fi_msg_tagged m = { .msg_iov = &iov,
				   .iov_count = 1,
				   .addr = FI_ADDR_UNSPEC,
				   .tag = tag,
				   .context = ctx };

	if (flags & FI_PEEK)
		m.iov_count = 0;
	rig_settle(r);
	return fi_trecvmsg(r->s[1].ep, &m, flags);
}

static void claimed_message_is_hidden_from_other_peeks(void **state)
{
	struct rig r;
	struct fi_cq_tagged_entry e;

	rig_up(&r, FI_EP_RDM);
	look(&r, 1, FI_PEEK, a);
	assert_int_equal(rig_error(&r, 1).err, FI_ENOMSG);
	for (int i = 0; i < 2; i++) {
		size_t len = i ? 50000 : 50;

		rig_fill(a, len, 1);
		fi_tsend(r.s[0].ep, a, len, NULL, r.s[0].to, 1, NULL);
		look(&r, 1, FI_PEEK, a);
		e = rig_next(&r, 1);
		assert_int_equal(e.len, len);
		look(&r, 1, FI_PEEK | FI_CLAIM, a);
		rig_next(&r, 1);
		/* no other call finds the message now */
		look(&r, 1, FI_PEEK, b);
		rig_error(&r, 1);
		assert_int_equal(look(&r, 1, FI_CLAIM, b), -FI_EINVAL);
		assert_int_equal(look(&r, 1, FI_CLAIM, a), 0);
		e = rig_next(&r, 1);
		assert_int_equal(e.len, len);
		assert_memory_equal(a, b, len);
		fi_tsend(r.s[0].ep, a, len, NULL, r.s[0].to, 1, NULL);
		look(&r, 1, FI_PEEK | FI_DISCARD, a);
		rig_next(&r, 1);
		look(&r, 1, FI_PEEK, a);
		rig_error(&r, 1);
		rig_next(&r, 0);
		rig_next(&r, 0);
	}
	rig_down(&r);
}

static void cancelled_receive_takes_no_message(void **state)
{
	struct rig r;

	rig_up(&r, FI_EP_RDM);
	fi_trecv(r.s[1].ep, b, 10, NULL, FI_ADDR_UNSPEC, 5, 0, b);
	assert_int_equal(fi_cancel(&r.s[1].ep->fid, b), 0);
	assert_int_equal(rig_error(&r, 1).err, FI_ECANCELED);
	fi_tsend(r.s[0].ep, a, 10, NULL, r.s[0].to, 5, NULL);
	rig_none(&r, 1);
	rig_down(&r);
}

static void delivery_completes_after_the_receiver_has_it(void **state)
{
	struct rig r;
	struct iovec iov = { a, 10 };
	struct fi_msg m = { .msg_iov = &iov, .iov_count = 1 };

	rig_up(&r, FI_EP_RDM);
	m.addr = r.s[0].to;
	for (int i = 0; i < 2; i++) {
		iov.iov_len = i ? 10000 : 10;
		fi_sendmsg(r.s[0].ep, &m, FI_DELIVERY_COMPLETE);
		rig_none(&r, 0);
		fi_recv(r.s[1].ep, b, sizeof(b), NULL, FI_ADDR_UNSPEC, NULL);
		rig_next(&r, 1);
		rig_next(&r, 0);
	}
	rig_down(&r);
}

static void death_of_the_peer_fails_its_sends(void **state)
{
	struct rig r;

	rig_up(&r, FI_EP_RDM);
	fi_send(r.s[0].ep, a, 100000, NULL, r.s[0].to, a);
	rig_none(&r, 0);
	double_die(1);
	assert_int_equal(rig_error(&r, 0).err, EPIPE);
	assert_int_equal(fi_send(r.s[0].ep, a, 10, NULL, r.s[0].to, a), -EPIPE);
	rig_down(&r);
}

static void address_of_a_port_alone_finds_the_own_endpoint(void **state)
{
	struct rig r;
	struct sockaddr_in sin;
	fi_addr_t to;

	rig_up(&r, FI_EP_RDM);
	assert_int_equal(wfi_resolve("127.0.0.1", NULL, &sin), 0);
	sin.sin_port = htons(rig_ep(&r, 1)->port.num + 1);
	fi_av_insert(r.s[0].av, &sin, 1, &to, 0, NULL);
	assert_int_equal(fi_inject(r.s[0].ep, a, 8, to), -FI_EAGAIN);
	sin.sin_port = htons(rig_ep(&r, 1)->port.num);
	/* Endpoints of both nodes have the same port number. The address leads
	 * to the endpoint of the sender's own node. */
	fi_av_insert(r.s[0].av, &sin, 1, &to, 0, NULL);
	fi_recv(r.s[0].ep, b, 8, NULL, FI_ADDR_UNSPEC, NULL);
	assert_int_equal(fi_inject(r.s[0].ep, a, 8, to), 0);
	rig_next(&r, 0);
	rig_down(&r);
}

/* Takes all completions of a side, good or bad. */
static void drain(struct rig *r, int side)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t n;

	rig_settle(r);
	while ((n = fi_cq_read(r->s[side].cq, &e, 1)) != -FI_EAGAIN)
		if (n == -FI_EAVAIL)
			assert_int_equal(fi_cq_readerr(r->s[side].cq, &err, 0),
					 1);
}

static void garbage_of_a_peer_does_not_stop_good_messages(void **state)
{
	struct rig r;
	uint32_t x = 1;
	unsigned char m[200];

	rig_up(&r, FI_EP_RDM);
	fi_recv(r.s[1].ep, b, 100, NULL, FI_ADDR_UNSPEC, NULL);
	fi_send(r.s[1].ep, a, 100000, NULL, r.s[1].to, a);
	for (int i = 0; i < 20000; i++) {
		struct wire *w = (struct wire *)m;
		size_t len;

		for (size_t k = 0; k < sizeof(m); k++) {
			x = x * 1664525 + 1013904223;
			m[k] = x >> 24;
		}
		len = m[199] % sizeof(m);
		w->op %= WIRE_OPS + 2;
		w->dst = rig_ep(&r, 1)->port.num;
		w->id = m[198] & 1 ? w->id : w->id & 0x1003;
		if (w->op == WIRE_CTS && m[197] & 1)
			len = sizeof(*w) + sizeof(struct wire_window);
		double_forge(2, 1, m, len);
		rig_progress(&r, 1);
	}
	drain(&r, 1);
	one(&r, 100, 1);
	one(&r, 100000, 2);
	rig_down(&r);
}

static void reopened_endpoint_inherits_nothing(void **state)
{
	struct rig r;

	rig_up(&r, FI_EP_RDM);
	fi_recv(r.s[0].ep, b, sizeof(b), NULL, FI_ADDR_UNSPEC, NULL);
	fi_send(r.s[1].ep, a, 100000, NULL, r.s[1].to, a);
	rig_next(&r, 0);
	assert_int_equal(double_regs(0), 1); /* kept for the next message */
	fi_send(r.s[0].ep, a, 8, NULL, r.s[0].to, a);
	rig_again(&r, 0);
	rig_none(&r, 0);
	rig_down(&r);
}

static void message_without_room_is_an_error_on_both_sides(void **state)
{
	struct wfi_rxq *q;
	struct rig r;
	char *large = calloc(1, 1 << 20);

	rig_up(&r, FI_EP_RDM);
	q = rig_ep(&r, 1)->rxq;
	q->early_max = 2 * (sizeof(struct wfi_unx) + 300) + 10;
	for (int i = 0; i < 3; i++)
		fi_inject(r.s[0].ep, a, 300, r.s[0].to);
	rig_settle(&r);
	assert_int_equal(rig_error(&r, 1).err, FI_EOVERRUN);
	rig_none(&r, 1);
	for (int i = 0; i < 2; i++) {
		fi_recv(r.s[1].ep, b, 300, NULL, FI_ADDR_UNSPEC, b);
		rig_settle(&r);
		assert_int_equal(rig_next(&r, 1).len, 300);
	}
	assert_int_equal(q->early_bytes, 0);
	/* the sender of a long message waits until the receiver has answered */
	q->early_max = 10;
	fi_send(r.s[0].ep, large, 1 << 20, NULL, r.s[0].to, a);
	rig_settle(&r);
	assert_int_equal(rig_error(&r, 0).err, FI_EOVERRUN);
	assert_int_equal(rig_error(&r, 1).err, FI_EOVERRUN);
	rig_down(&r);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_every_size_arrive),
		cmocka_unit_test(
			full_transport_delays_a_message_but_loses_none),
		cmocka_unit_test(early_messages_match_later_receives_in_order),
		cmocka_unit_test(
			message_longer_than_its_buffer_is_cut_with_error),
		cmocka_unit_test(pieces_of_a_message_arrive_as_one_stream),
		cmocka_unit_test(multi_receive_buffer_holds_several_messages),
		cmocka_unit_test(claimed_message_is_hidden_from_other_peeks),
		cmocka_unit_test(cancelled_receive_takes_no_message),
		cmocka_unit_test(delivery_completes_after_the_receiver_has_it),
		cmocka_unit_test(death_of_the_peer_fails_its_sends),
		cmocka_unit_test(
			address_of_a_port_alone_finds_the_own_endpoint),
		cmocka_unit_test(garbage_of_a_peer_does_not_stop_good_messages),
		cmocka_unit_test(reopened_endpoint_inherits_nothing),
		cmocka_unit_test(
			message_without_room_is_an_error_on_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
