/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: Next and NextHandle of posted descriptors are in the program's memory,
 * so that the program can change them at any time. The library keeps a list of
 * its own. Therefore descriptors return in the order in which they were posted,
 * whatever the links contain. The card follows the links (hvia.md 2.3). After a
 * wrong link it reports POST_DESC or takes another descriptor of the same
 * process. A wrong link affects only messages of this VI. */
#include "viprig.h"

enum { MESSAGES = 40, BYTES = 16 };

/* Value that a program leaves in the link of descriptor i. */
enum link { NOWHERE, ITSELF, FIRST, ANYWHERE, LINKS };

static const struct how {
	const char *nic;
	VIP_USHORT level;
	enum link link;
	bool cq;
} hows[] = {
	{ "hvia0", VIP_SERVICE_UNRELIABLE, NOWHERE, false },
	{ "hvia0", VIP_SERVICE_UNRELIABLE, ITSELF, false },
	{ "hvia0", VIP_SERVICE_UNRELIABLE, FIRST, false },
	{ "hvia0", VIP_SERVICE_UNRELIABLE, ANYWHERE, false },
	{ "hvia0+cq", VIP_SERVICE_UNRELIABLE, ITSELF, true },
	{ "hvia0+cq", VIP_SERVICE_UNRELIABLE, ANYWHERE, true },
	{ "hvia0+reliable", VIP_SERVICE_RELIABLE_DELIVERY, NOWHERE, false },
	{ "hvia0+reliable", VIP_SERVICE_RELIABLE_DELIVERY, ITSELF, false },
	{ "hvia0+reliable", VIP_SERVICE_RELIABLE_RECEPTION, FIRST, false },
	{ "hvia0+cq+reliable", VIP_SERVICE_RELIABLE_RECEPTION, ANYWHERE, true },
};

static void break_link(struct side *s, uint32_t i, enum link link)
{
	VIP_DESCRIPTOR *d = &s->desc[i].d;
	const uint64_t next[LINKS] = { [ITSELF] = (uintptr_t)d,
				       [FIRST] = (uintptr_t)s->desc,
				       [ANYWHERE] = 0xdead0000beefu };

	d->CS.Next.AddressBits = next[link];
	d->CS.NextHandle = 0xABCD;
}

static void open_how(struct side *s, struct weft_host *h, struct bench *b,
		     VIP_CQ_HANDLE *cq)
{
	const struct how *how = &hows[b->v[0]];

	side_open(s, h, b, how->nic, 4096);
	ok(VipDestroyVi(s->vi));
	s->attr.ReliabilityLevel = how->level;
	*cq = NULL;
	if (how->cq)
		ok(VipCreateCQ(s->nic, MESSAGES, cq));
	ok(VipCreateVi(s->nic, &s->attr, *cq, *cq, &s->vi));
}

/* Posts all descriptors in a row, and breaks each link as soon as the library
 * has written it. */
static void post_all(struct side *s, bool send)
{
	enum link link = hows[s->b->v[0]].link;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		side_desc(s, i, i * BYTES, BYTES);
		(send ? side_send : side_recv)(s, &s->desc[i].d);
		if (i)
			break_link(s, i - 1, link);
		break_link(s, i, link);
	}
}

static void take_all(struct side *s, VIP_CQ_HANDLE cq, bool send)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		VIP_BOOLEAN recv;
		VIP_VI_HANDLE vi;
		VIP_DESCRIPTOR *d;

		if (cq) {
			ok(VipCQWait(cq, 50, &vi, &recv));
			assert_ptr_equal(vi, s->vi);
			assert_int_equal(recv, !send);
		}
		assert_true((send ? side_sent : side_received)(s, &d) &
			    VIP_STATUS_DONE);
		assert_ptr_equal(d, &s->desc[i].d);
		if (s->attr.ReliabilityLevel == VIP_SERVICE_UNRELIABLE)
			continue;
		assert_false(d->CS.Status & VIP_STATUS_ERROR_MASK);
		if (!send)
			assert_true(filled(s->data + i * BYTES, BYTES, i));
	}
}

/* Disconnects, so that descriptors that the card of an unreliable VI did not
 * find are flushed. */
static void settle(struct side *s)
{
	meet(s, "sent");
	weft_host_sleep(s->h, weft_host_now(s->h) + WEFT_MS);
	if (s->attr.ReliabilityLevel == VIP_SERVICE_UNRELIABLE)
		ok(VipDisconnect(s->vi));
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_CQ_HANDLE cq;

	open_how(&s, h, b, &cq);
	side_handler(&s);
	post_all(&s, false);
	side_connect(&s);
	settle(&s);
	take_all(&s, cq, false);
	meet(&s, "end");
	/* receives without a message are flushed too */
	post_all(&s, false);
	ok(VipDisconnect(s.vi));
	s.attr.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
	take_all(&s, cq, false);
	return 0;
}

static int sender(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_CQ_HANDLE cq;

	open_how(&s, h, b, &cq);
	side_handler(&s);
	for (uint32_t i = 0; i < MESSAGES; i++)
		fill(s.data + i * BYTES, BYTES, i);
	side_connect(&s);
	post_all(&s, true);
	settle(&s);
	take_all(&s, cq, true);
	meet(&s, "end");
	return 0;
}

static void what_was_posted_comes_back_in_its_order(void **state)
{
	for (uint32_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		struct bench *b = viprig_bench();

		b->v[0] = i;
		viprig_run(b, receiver, sender);
		bench_free(b);
	}
}

/* Checks that the ring of pending descriptors grows beyond its first size, also
 * while its content wraps. */
static int grows(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	uint32_t in = 0, out = 0;

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t round = 1; round < 7; round++) {
		for (uint32_t i = 0; i < 9 * round; i++, in++)
			side_recv(&s, side_desc(&s, in % VIPRIG_DESCS, 0, 8));
		ok(VipDisconnect(s.vi));
		for (uint32_t i = 0; i < 7 * round; i++, out++) {
			assert_int_equal(VipRecvDone(s.vi, &d),
					 VIP_DESCRIPTOR_ERROR);
			assert_ptr_equal(d, &s.desc[out % VIPRIG_DESCS].d);
		}
	}
	assert_int_equal(in - out, 42);
	side_close(&s);
	return 0;
}

static void a_queue_grows_with_what_is_posted(void **state)
{
	viprig_run(*state, grows, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_posted_comes_back_in_its_order),
		cmocka_unit_test_setup_teardown(
			a_queue_grows_with_what_is_posted, viprig_setup,
			bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
