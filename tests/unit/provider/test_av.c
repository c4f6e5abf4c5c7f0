/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: vectors, their texts, ports of processes that have not attached
 * yet, ports of this process. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../locks.h"
#include "rig.h"

static struct rig r;
static struct rig_side *s;

#define EQ(call, want) assert_int_equal(call, want)

static int setup(void **state)
{
	rig_up(&r, FI_EP_RDM);
	s = &r.s[0];
	return 0;
}

static int teardown(void **state)
{
	rig_down(&r);
	return 0;
}

static struct sockaddr_in sin_of(const char *ip, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = inet_addr(ip);
	sin.sin_port = htons(port);
	return sin;
}

static struct wfi_av *av_open(void)
{
	struct fid_av *av;

	EQ(fi_av_open(s->dom, NULL, &av, &r), 0);
	assert_ptr_equal(av->fid.context, &r);
	return container_of(av, struct wfi_av, fid);
}

static wfi_name name_of(struct wfi_av *av, fi_addr_t a)
{
	wfi_name n = 12345;

	wfi_lock(av->dom->hub);
	EQ(wfi_av_name(av, a, &n), 0);
	wfi_unlock(av->dom->hub);
	return n;
}

/* ---- vectors ---- */

static void inserted_address_is_found_by_name_and_number(void **state)
{
	struct wfi_av *av = av_open();
	struct sockaddr_in sin[3] = { sin_of("127.1.0.2", 7),
				      sin_of("127.3.1.1", 8),
				      sin_of("127.1.0.2", 9) },
			   got;
	fi_addr_t a[3];
	size_t len = sizeof(got);
	int err[3] = { 9, 9, 9 };

	EQ(fi_av_insert(&av->fid, sin, 3, a, 0, NULL), 3);
	EQ(a[0], 0);
	EQ(a[2], 2);
	assert_true(name_of(av, 0) == WFI_NAME(WEFT_ATT_ADDR(2, 0), 7));
	assert_true(name_of(av, 1) == WFI_NAME(WEFT_ATT_ADDR(257, 2), 8));
	EQ(wfi_av_addr(av, WFI_NAME(WEFT_ATT_ADDR(257, 2), 8)), 1);
	EQ(wfi_av_addr(av, WFI_NAME(WEFT_ATT_ADDR(257, 2), 9)),
	   FI_ADDR_NOTAVAIL);
	EQ(av->unknown, 0);
	EQ(fi_av_lookup(&av->fid, 1, &got, &len), 0);
	assert_memory_equal(&got, &sin[1], sizeof(got));
	memset(&got, 0, sizeof(got));
	len = 4;
	EQ(fi_av_lookup(&av->fid, 1, &got, &len), 0);
	EQ(len, sizeof(got));
	EQ(got.sin_port, sin[1].sin_port);
	EQ(got.sin_addr.s_addr, 0);
	EQ(fi_av_lookup(&av->fid, 3, &got, &len), -FI_EINVAL);
	/* one invalid address, with and without an error for each entry */
	sin[1].sin_family = AF_INET6;
	EQ(fi_av_insert(&av->fid, sin, 3, a, FI_SYNC_ERR, err), 2);
	EQ(err[0], 0);
	EQ(err[1], FI_EINVAL);
	EQ(err[2], 0);
	EQ(a[1], FI_ADDR_NOTAVAIL);
	EQ(a[2], 4);
	EQ(fi_av_insert(&av->fid, sin, 3, NULL, FI_MORE, NULL), 2);
	EQ(fi_av_insert(&av->fid, sin, 1, a, FI_PEEK, NULL), -FI_EBADFLAGS);
	EQ(fi_av_insert(&av->fid, sin, 0, a, 0, NULL), 0);
	EQ(av->n, 7);
	EQ(fi_close(&av->fid.fid), 0);
}

static void removed_address_gives_way_to_the_next_of_its_name(void **state)
{
	struct wfi_av *av = av_open();
	struct sockaddr_in sin = sin_of("127.1.0.2", 7), got;
	wfi_name n = WFI_NAME(WEFT_ATT_ADDR(2, 0), 7);
	fi_addr_t a[2] = { 0, 5 }, one = 1, x;
	size_t len = sizeof(got);

	for (int i = 0; i < 3; i++)
		EQ(fi_av_insert(&av->fid, &sin, 1, &x, 0, NULL), 1);
	EQ(wfi_av_addr(av, n), 0);
	/* removes the second address of this name */
	EQ(fi_av_remove(&av->fid, &one, 1, 0), 0);
	EQ(wfi_av_addr(av, n), 0);
	/* fails, but removes the first address */
	EQ(fi_av_remove(&av->fid, a, 2, 0), -FI_EINVAL);
	EQ(wfi_av_addr(av, n), FI_ADDR_NOTAVAIL);
	EQ(fi_av_remove(&av->fid, a, 1, 0), -FI_EINVAL);
	EQ(fi_av_lookup(&av->fid, 0, &got, &len), -FI_EINVAL);
	EQ(fi_av_lookup(&av->fid, 2, &got, &len), 0);
	EQ(fi_send(s->ep, &r, 1, NULL, 99, NULL), -FI_EINVAL);
	/* many addresses, so that the vector grows */
	for (uint16_t i = 0; i < 200; i++) {
		sin.sin_port = htons((uint16_t)(100 + i));
		EQ(fi_av_insert(&av->fid, &sin, 1, &x, 0, NULL), 1);
		EQ(x, 3 + i);
	}
	for (uint16_t i = 0; i < 200; i++)
		EQ(wfi_av_addr(av, WFI_NAME(WEFT_ATT_ADDR(2, 0), 100 + i)),
		   3 + i);
	EQ(fi_close(&av->fid.fid), 0);
}

static void addresses_are_inserted_by_service_and_shown_as_text(void **state)
{
	struct wfi_av *av = av_open();
	fi_addr_t a[6];
	char text[64];
	struct sockaddr_in sin = sin_of("127.1.2.3", 65535);
	size_t len = sizeof(text);

	EQ(fi_av_insertsvc(&av->fid, "127.1.0.1", "99", a, 0, NULL), 1);
	assert_true(name_of(av, a[0]) == WFI_NAME(1, 99));
	EQ(fi_av_insertsvc(&av->fid, "127.1.0.1", "x", a, 0, NULL),
	   -FI_ENODATA);
	EQ(fi_av_insertsym(&av->fid, "127.1.0.1", 2, "50", 3, a, 0, NULL), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(name_of(av, a[i]) ==
			    WFI_NAME(1 + i / 3, 50 + i % 3));
	EQ(fi_av_insertsym(&av->fid, "127.1.0.1", 1, "50", 2, NULL, 0, NULL),
	   2);
	EQ(fi_av_insertsym(&av->fid, "nowhere.invalid", 2, "50", 3, a, 0, NULL),
	   -FI_ENODATA);
	assert_ptr_equal(fi_av_straddr(&av->fid, &sin, text, &len), text);
	assert_string_equal(text, "fi_sockaddr_in://127.1.2.3:65535");
	EQ(len, strlen(text) + 1);
	len = 10;
	fi_av_straddr(&av->fid, &sin, text, &len);
	assert_string_equal(text, "fi_sockad");
	EQ(len, 33);
	EQ(av->fid.ops->av_set(&av->fid, NULL, NULL, NULL), -FI_ENOSYS);
	EQ(fi_close(&av->fid.fid), 0);
}

static void insertions_are_reported_in_the_event_queue(void **state)
{
	struct wfi_av *av = av_open();
	struct sockaddr_in sin[2] = { sin_of("127.1.0.2", 7) };
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_entry e;
	uint32_t ev;
	fi_addr_t a[2];

	EQ(fi_av_bind(&av->fid, &s->cq->fid, 0), -FI_EINVAL);
	EQ(fi_av_bind(&av->fid, &s->eq->fid, 0), 0);
	EQ(fi_av_bind(&av->fid, &s->eq->fid, 0), -FI_EINVAL);
	EQ(fi_av_insert(&av->fid, sin, 2, a, 0, &r), 0);
	EQ(fi_eq_read(s->eq, &ev, &e, sizeof(e), 0), -FI_EAVAIL);
	EQ(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	assert_ptr_equal(err.fid, &av->fid.fid);
	assert_ptr_equal(err.context, &r);
	EQ(err.data, 1); /* the second */
	EQ(err.err, FI_EINVAL);
	EQ(err.prov_errno, FI_EINVAL);
	EQ(fi_eq_read(s->eq, &ev, &e, sizeof(e), 0), sizeof(e));
	EQ(ev, FI_AV_COMPLETE);
	assert_ptr_equal(e.fid, &av->fid.fid);
	assert_ptr_equal(e.context, &r);
	EQ(e.data, 1);
	EQ(fi_close(&av->fid.fid), 0);
	EQ(container_of(s->eq, struct wfi_eq, fid)->refs, 1);
}

/* ---- ports of processes that have not attached ---- */

static void here(unsigned from, uint64_t port)
{
	struct wire w = { .op = WIRE_HERE, .a = port };

	double_forge(from, 0, &w, sizeof(w));
	rig_progress(&r, 0);
}

static void unknown_port_is_asked_for_until_its_owner_answers(void **state)
{
	struct wfi_av *av = av_open();
	struct sockaddr_in sin = sin_of("127.0.0.1", 700);
	struct wfi_hub *h = rig_ep(&r, 0)->hub;
	struct wfi_ask *ask;
	uint64_t log;
	fi_addr_t a;

	/* the insert succeeds before the owner of the port is known */
	EQ(fi_av_insert(&av->fid, &sin, 1, &a, 0, NULL), 1);
	EQ(av->unknown, 1);
	EQ(name_of(av, a), 0);
	ask = map_ptr(&h->asks, 700);
	/* each node has one slot, so that only slot 0 is asked */
	EQ(ask->slots, 1);
	ask->asked_us = 1; /* long ago */
	log = double_log();
	EQ(name_of(av, a), 0);
	assert_true(double_log() != log);
	assert_true(wfi_name_age(h, &sin) < 10000000);
	here(2, 701); /* an answer for another port */
	here(2, 0);
	here(2, 700 + 65536);
	EQ(name_of(av, a), 0);
	here(2, 700);
	assert_true(name_of(av, a) == WFI_NAME(2, 700));
	EQ(av->unknown, 0);
	EQ(wfi_name_age(h, &sin), 0);
	here(3, 700); /* the first answer counts */
	assert_true(name_of(av, a) == WFI_NAME(2, 700));
	EQ(wfi_av_addr(av, WFI_NAME(2, 700)), a);
	/* A process that sends from the searched port is the owner of the
	 * port. */
	sin.sin_port = htons(800);
	EQ(fi_av_insert(&av->fid, &sin, 1, &a, 0, NULL), 1);
	EQ(wfi_av_addr(av, WFI_NAME(3, 801)), FI_ADDR_NOTAVAIL);
	EQ(wfi_av_addr(av, WFI_NAME(3, 800)), a);
	EQ(av->unknown, 0);
	assert_true(name_of(av, a) == WFI_NAME(3, 800));
	/* a removed address is not asked for any more */
	sin.sin_port = htons(900);
	EQ(fi_av_insert(&av->fid, &sin, 1, &a, 0, NULL), 1);
	EQ(fi_av_remove(&av->fid, &a, 1, 0), 0);
	EQ(av->unknown, 0);
	EQ(wfi_av_addr(av, WFI_NAME(3, 900)), FI_ADDR_NOTAVAIL);
	/* without a port no peer can be asked */
	sin.sin_port = 0;
	EQ(fi_av_insert(&av->fid, &sin, 1, &a, 0, NULL), 1);
	EQ(name_of(av, a), 0);
	EQ(fi_close(&av->fid.fid), 0);
}

static void only_an_open_port_answers_a_query(void **state)
{
	struct wire w = { .op = WIRE_ASK };
	struct fid_ep *ep;
	uint64_t log = double_log();
	uint16_t port = rig_ep(&r, 0)->port.num;

	EQ(fi_endpoint(s->dom, s->info, &ep, NULL), 0);
	w.a = wfi_ep_of(ep)->port.num; /* the endpoint is not enabled */
	double_forge(1, 0, &w, sizeof(w));
	rig_progress(&r, 0);
	EQ(double_log(), log);
	w.a = port + 65536;
	double_forge(1, 0, &w, sizeof(w));
	rig_progress(&r, 0);
	EQ(double_log(), log);
	w.a = port;
	double_forge(1, 0, &w, sizeof(w));
	rig_progress(&r, 0);
	assert_true(double_log() != log);
	EQ(fi_close(&ep->fid), 0);
}

/* ---- ports of this process ---- */

static void ports_are_unique_and_wrap_to_the_first_free(void **state)
{
	struct wfi_hub *h = rig_ep(&r, 0)->hub;
	struct wfi_port a = { 0 }, b = { 0 }, c = { 0 };

	wfi_lock(h);
	EQ(wfi_port_open(h, &a, 5), 0);
	EQ(a.num, 5);
	EQ(wfi_port_open(h, &b, 5), -EADDRINUSE);
	EQ(b.num, 0);
	wfi_port_close(h, &b); /* is none */
	wfi_port_close(h, &a);
	EQ(a.num, 0);
	EQ(wfi_port_open(h, &b, 5), 0);
	wfi_port_close(h, &b);
	h->next_port = 0xfffe; /* numbers wrap to the first free one */
	EQ(wfi_port_open(h, &a, 0), 0);
	EQ(a.num, 0xfffe);
	EQ(wfi_port_open(h, &b, 0), 0);
	EQ(b.num, 0xffff);
	EQ(wfi_port_open(h, &c, 0), 0);
	EQ(c.num, 0x8001); /* 0x8000 belongs to the endpoint */
	wfi_port_close(h, &a);
	wfi_port_close(h, &b);
	wfi_port_close(h, &c);
	wfi_unlock(h);
}

static void socket_address_holds_node_slot_and_port(void **state)
{
	static const struct {
		const char *ip;
		bool exact;
	} rows[] = { { "127.1.0.0", true },
		     { "127.255.255.255", true },
		     { "127.0.255.255", false },
		     { "126.1.0.0", false },
		     { "128.1.0.0", false } };
	struct sockaddr_in sin;

	for (size_t i = 0; i < 5; i++) {
		sin = sin_of(rows[i].ip, 1);
		EQ(wfi_sin_exact(&sin), rows[i].exact);
	}
	wfi_name_sin(WFI_NAME(WEFT_ATT_ADDR(0x10203, 4), 77), &sin);
	EQ(sin.sin_family, AF_INET);
	EQ(ntohs(sin.sin_port), 77);
	EQ(ntohl(sin.sin_addr.s_addr), 0x7f050203);
}

static void map_reuses_deleted_entries_before_it_grows(void **state)
{
	struct map m = { 0 };
	size_t cap = 0;

	EQ(map_get(&m, 1), 0);
	map_del(&m, 1);
	for (uint64_t k = 0; k < 1000; k++) {
		EQ(map_set(&m, k * 0x10001, k + 1), 0);
		EQ(map_set(&m, k * 0x10001, k + 2), 0);
		assert_true(m.used * 2 <= m.cap + 1);
	}
	for (uint64_t k = 0; k < 1000; k += 2)
		map_del(&m, k * 0x10001);
	for (uint64_t k = 0; k < 1000; k++)
		EQ(map_get(&m, k * 0x10001), k % 2 ? k + 2 : 0);
	EQ(map_get(&m, MAP_NONE), 0);
	map_del(&m, MAP_NONE);
	cap = m.cap;
	EQ(cap, 2048);
	/* further inserts reuse the entries of deleted keys */
	for (uint64_t k = 5000; k < 5600; k++) {
		EQ(map_set(&m, k, k), 0);
		map_del(&m, k);
	}
	EQ(m.cap, cap);
	EQ(map_get(&m, 0x10001), 3);
	map_free(&m);
	EQ(m.cap, 0);
	for (uint64_t k = 0; k < 40; k++)
		EQ(map_set(&m, k, 1), 0);
	EQ(m.cap, 128);
	map_free(&m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(inserted_address_is_found_by_name_and_number),
		T(removed_address_gives_way_to_the_next_of_its_name),
		T(addresses_are_inserted_by_service_and_shown_as_text),
		T(insertions_are_reported_in_the_event_queue),
		T(unknown_port_is_asked_for_until_its_owner_answers),
		T(only_an_open_port_answers_a_query),
		T(ports_are_unique_and_wrap_to_the_first_free),
		T(socket_address_holds_node_slot_and_port),
		T(map_reuses_deleted_entries_before_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
