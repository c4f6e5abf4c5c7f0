/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that are closed while the device works for them, and packets that
 * arrive for them afterwards. Victims get the memory that attackers had
 * before. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/nic/nic.h"

extern const struct weft_class weft_class_bus_pci;

enum { BLOCK = HPORTS_BLOCK, LONG = 60000, MINE = 'A' };

static const struct hport_tag tag = { 1, 2 };

/* ---- a port that is closed while its message is being read ---- */

static int send_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open_any(h), *p = hports_open_any(h);
	struct hport_peer to = hports_peer(p, 0, hport_vpid(q));
	static uint8_t got[LONG];
	struct hport_note n;
	uint64_t bytes;

	memset(hport_sdr(p, &bytes), MINE, LONG);
	assert_int_equal(hport_send(p, &to, 0, tag, 0, LONG), 0);
	hports_pause(h, 3 * WEFT_US);
	hport_close(p);
	hports.step = HPORTS_GONE;
	hports_await(h, HPORTS_TAKEN);
	n = hports_note(q, 5 * WEFT_MS);
	assert_int_equal(n.event, HPORT_MESSAGE);
	assert_int_equal(n.bytes, LONG);
	hport_take(q, &n, got);
	assert_int_equal(hports_count(got, LONG, MINE), LONG);
	hport_close(q);
	hports.step = HPORTS_OVER;
	return 0;
}

static void closing_a_port_waits_for_the_message_being_read(void **state)
{
	hports_new("1", &weft_class_bus_pci);
	HPORTS_PROGS(0, send_and_close, hports_victim);
	hports_run();
}

/* ---- a port that is closed while a put from another node is stored ---- */

static int put_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open_any(h), *p = hports_open_any(h);
	struct hport_peer to = hports_peer(q, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };

	hports_window(p, 0, 8 * BLOCK, 0, NULL);
	hports_window(q, 0, 8 * BLOCK, MINE, NULL);
	hport_put(q, &to, HPORT_ACK, tag, &far, 0, 0, 8 * BLOCK);
	hports_pause(h, 20 * WEFT_US);
	hport_close(p);
	hports.step = HPORTS_GONE;
	hports_await(h, HPORTS_TAKEN);
	hports_note(q, 20 * WEFT_MS);
	hport_close(q);
	hports.step = HPORTS_OVER;
	return 0;
}

static void closing_a_port_waits_for_what_is_stored_to_it(void **state)
{
	HPORTS_ONE(put_and_close, hports_victim);
}

/* ---- a reply that arrives when its VPID has another owner ---- */

static int get_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open(h, 7), *p = hports_open(h, 9), *v;
	struct hport_peer to = hports_peer(p, 0, 7);
	struct hport_far far = { 0, 0, 0 };
	struct hport_note n;
	uint8_t *mine;
	uint64_t va;

	hports_window(q, 0, BLOCK, MINE, &va);
	hports_window(p, 0, BLOCK, 0, NULL);
	assert_true(hport_page_out(q, va));
	hport_get(p, &to, 0, tag, &far, 0, 0, 4096);
	hports_pause(h, 3 * WEFT_US);
	hport_close(p);
	v = hports_open(h, 9);
	mine = hports_window(v, 0, BLOCK, HPORTS_THEIRS, NULL);
	assert_false(hport_wait(v, &n, weft_host_now(h) + 3 * hports.service));
	assert_int_equal(hports_count(mine, BLOCK, HPORTS_THEIRS), BLOCK);
	/* the get of the new owner is answered */
	hport_get(v, &to, 0, tag, &far, 0, 0, 4096);
	n = hports_note(v, WEFT_MS);
	assert_int_equal(n.error, 0);
	assert_int_equal(hports_count(mine, 4096, MINE), 4096);
	hport_close(v);
	hport_close(q);
	return 0;
}

static void a_late_response_does_not_reach_the_next_owner(void **state)
{
	hports_new("1", NULL);
	hports.service = 500 * WEFT_US;
	HPORTS_PROGS(0, get_and_close);
	hports_run();
}

/* ---- state that the device keeps of closed ports ---- */

static int send_to_closed(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open(h, 7), *p = hports_open(h, 9);
	struct hport_peer to = hports_peer(q, 0, 9);
	struct hport_note n;
	uint64_t word = 1;

	for (uint32_t i = 0; i < 20; i++) {
		hport_fast_send(q, &to, HPORT_ACK, tag, &word, 1);
		n = hports_note(q, WEFT_MS);
		assert_int_equal(n.error, i ? HP_ERR_TVPID_INV : 0);
		if (i)
			continue;
		hport_close(p);
		hports.step = HPORTS_GONE;
		hports_await(h, HPORTS_TAKEN);
	}
	hport_close(q);
	hports.step = HPORTS_OVER;
	return 0;
}

static void a_closed_port_takes_no_messages(void **state)
{
	HPORTS_ONE(send_to_closed, hports_victim);
}

/* uses equal addresses for both owners */
static int put_to_next(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = hports_open(h, 7), *p = hports_open(h, 9);
	struct hport_peer to = hports_peer(q, 0, 9);
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1, was, va;
	struct hport_note n;
	uint8_t *m;

	hports_window(p, 0, BLOCK, MINE, &was);
	hport_fast_put(q, &to, HPORT_ACK, tag, &far, &word, 1);
	n = hports_note(q, WEFT_MS);
	assert_int_equal(n.error, 0);
	hport_close(p);
	p = hports_open(h, 9);
	to = hports_peer(q, 0, 9);
	m = hport_alloc(p, BLOCK, &va);
	assert_int_equal(va, was);
	memset(m, HPORTS_THEIRS, BLOCK);
	hport_fast_put(q, &to, HPORT_ACK, tag, &far, &word, 1);
	n = hports_note(q, WEFT_MS);
	assert_int_equal(n.error, HP_ERR_TWINID_INV);
	assert_int_equal(hports_count(m, BLOCK, HPORTS_THEIRS), BLOCK);
	hport_close(p);
	hport_close(q);
	return 0;
}

static void windows_go_with_the_port(void **state)
{
	HPORTS_ONE(put_to_next);
}

/* ---- messages while a port is closed ---- */

enum { OWNED = 9, CLOSINGS = 60, AFTER = 4 };

/* Sends to the owner of a VPID while the owner closes its port, and after that.
 * No message is accepted once the close has ended. */
static int sends_on(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 4);
	uint64_t word = 1;
	struct hport_note n;

	for (uint32_t i = 0; i < CLOSINGS; i++) {
		struct hport_peer to;

		hports_await(h, 4 * i + 1);
		to = hports_peer(p, 0, OWNED);
		hports.step = 4 * i + 2;
		while (hports.step < 4 * i + 3) {
			hport_fast_send(p, &to, 0, tag, &word, 1);
			while (hport_poll(p, &n))
				;
		}
		while (hport_wait(p, &n, weft_host_now(h) + 5 * WEFT_US))
			;
		for (uint32_t k = 0; k < AFTER; k++) {
			hport_fast_send(p, &to, HPORT_ACK, tag, &word, 1);
			assert_int_equal(hports_note(p, WEFT_MS).error,
					 HP_ERR_TVPID_INV);
		}
		hports.step = 4 * i + 4;
	}
	hport_close(p);
	return 0;
}

static int closes_in_between(struct weft_host *h, struct exrig *r,
			     uint32_t node)
{
	for (uint32_t i = 0; i < CLOSINGS; i++) {
		struct hport *p = hports_open(h, OWNED);

		hports.step = 4 * i + 1;
		hports_await(h, 4 * i + 2);
		hports_pause(h, 2 * WEFT_US + i * 13 * WEFT_NS);
		hport_close(p);
		hports.step = 4 * i + 3;
		hports_await(h, 4 * i + 4);
	}
	return 0;
}

static void messages_for_a_closed_port_are_refused_at_once(void **state)
{
	HPORTS_ONE(closes_in_between, sends_on);
}

/* ---- a port that is off ---- */

static int switched_off(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 7);
	struct hp_nic *nic = r->node[node].nic->state;
	struct hport_peer to = hports_peer(p, 0, 7);
	struct hport_note n;
	uint64_t word = 5;

	hp_csb_enable(&nic->csb, 7, false);
	assert_int_equal(hport_fast_send(p, &to, 0, tag, &word, 1), -ENXIO);
	assert_int_equal(hport_fast_send(p, &to, 0, tag, &word, 1), -ENXIO);
	assert_int_equal(hport_post(p, 0, 64, false, 0), -ENXIO);
	assert_false(hport_wait(p, &n, WEFT_NEVER));
	hport_close(p);
	return 0;
}

static void a_port_that_is_off_refuses_instead_of_trying_for_ever(void **state)
{
	HPORTS_ONE(switched_off);
}

/* ---- programs that close at one moment ---- */

/* time by which the long close starts after the short one */
static weft_time_t behind;

/* Closes a port with two regions. In the driver's list the region of the other
 * port is between them. Freeing the pages of the first region takes a while. */
static int close_long(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 0);

	hports_window(p, 1, BLOCK, 0, NULL);
	weft_host_sleep(h, 600 * WEFT_US);
	hports_window(p, 0, 4 * BLOCK, 0, NULL);
	weft_host_sleep(h, 1000 * WEFT_US + behind);
	hport_close(p);
	return 0;
}

static int close_short(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 1);
	uint64_t va;

	weft_host_sleep(h, 500 * WEFT_US);
	hport_alloc(p, 4096, &va);
	weft_host_sleep(h, 1000 * WEFT_US);
	hport_close(p);
	hports.step = HPORTS_GONE;
	return 0;
}

static int take_small(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hports_await(h, HPORTS_GONE);
	for (uint32_t i = 0; i < 4000; i++)
		memset(weft_mem_alloc(h, 64, 64, NULL), 0x30, 64);
	return 0;
}

static void programs_may_close_at_the_same_time(void **state)
{
	for (behind = 0; behind < 5 * WEFT_US; behind += 250 * WEFT_NS)
		HPORTS_ONE(close_long, close_short, take_small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			closing_a_port_waits_for_the_message_being_read),
		cmocka_unit_test(closing_a_port_waits_for_what_is_stored_to_it),
		cmocka_unit_test(a_late_response_does_not_reach_the_next_owner),
		cmocka_unit_test(a_closed_port_takes_no_messages),
		cmocka_unit_test(windows_go_with_the_port),
		cmocka_unit_test(
			messages_for_a_closed_port_are_refused_at_once),
		cmocka_unit_test(
			a_port_that_is_off_refuses_instead_of_trying_for_ever),
		cmocka_unit_test(programs_may_close_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
