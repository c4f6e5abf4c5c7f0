/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that arrive when their VPID has another owner. A receiver without
 * room stops the network (rx_places=0, as in the thesis), so that requests to
 * VPID 9 wait behind its messages for longer than the driver keeps a closed
 * VPID unused. Meanwhile VPID 9 is closed and opened again. The programs use
 * weft/hostport.h alone. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hports.h"
#include "systems/hostport/nic/nic.h"

enum { DEAF = 7, OWNED = 9, FLOOD = 400, PAGE = 4096, LAPS = 300 };
enum { MINE = 'A', THEIRS = 'V' };
enum { READY = 1, SENT, CHANGED, TOLD, LOOKED }; /* progress of the programs */

/* Runs one program on each node. */
static void run(const char *dims, const exrig_fn *fn)
{
	hports_new(dims, NULL);
	exrig_set(&hports.rig, "hostport.nic", "rx_places", "0");
	for (uint32_t i = 0; i < hports.rig.nodes; i++)
		HPORTS_PROGS(i, fn[i]);
	hports_run();
}

static uint8_t *window(struct hport *p, int fill)
{
	return hports_window(p, 0, PAGE, fill, NULL);
}

static uint64_t count(const uint8_t *m, int byte)
{
	return hports_count(m, PAGE, byte);
}

/* ---- one request of each kind ---- */

enum { KINDS = 9 };

static void post_all(struct hport *p, const struct hport_peer *to)
{
	struct hport_far far = { 0, 0, 64 };
	uint64_t v[3] = { 1, 2, 3 };
#define TAG(i)	     ((struct hport_tag){ i, i })
#define POSTED(call) assert_int_equal(call, 0)
	POSTED(hport_fast_send(p, to, HPORT_ACK, TAG(0), v, 3));
	POSTED(hport_send(p, to, HPORT_ACK, TAG(1), 0, 512));
	POSTED(hport_put(p, to, HPORT_ACK, TAG(2), &far, 0, 0, 512));
	POSTED(hport_fast_put(p, to, HPORT_ACK, TAG(3), &far, v, 3));
	POSTED(hport_put_bytes(p, to, HPORT_ACK, TAG(4), &far, 5, 0xff));
	POSTED(hport_get(p, to, 0, TAG(5), &far, 0, 1024, 512));
	POSTED(hport_fast_get(p, to, 0, TAG(6), &far, 3));
	POSTED(hport_faa(p, to, 0, TAG(7), &far, 1));
	POSTED(hport_cas(p, to, 0, TAG(8), &far, 6, 7));
#undef POSTED
#undef TAG
}

/* Checks that each request has one notification, with error `error`. */
static void all_told(struct weft_host *h, struct hport *p, uint32_t error)
{
	uint32_t seen = 0;
	struct hport_note n;

	for (uint32_t i = 0; i < KINDS; i++) {
		n = hports_note(p, 2 * WEFT_MS);
		assert_int_equal(n.event, HPORT_DONE);
		assert_int_equal(n.error, error);
		assert_int_equal(n.vpid, OWNED);
		seen |= 1u << n.tag.user;
	}
	assert_int_equal(seen, (1u << KINDS) - 1);
}

/* ---- node 0 ---- */

static void flood(struct weft_host *h, struct hport *p,
		  const struct hport_peer *to)
{
	struct hport_tag tag = { 1, 1 };
	weft_time_t until = weft_host_now(h) + 500 * WEFT_US;
	uint64_t word = 1;
	struct hport_note n;

	for (uint32_t i = 0; i < FLOOD && weft_host_now(h) < until;) {
		i += !hport_fast_send(p, to, 0, tag, &word, 1);
		while (hport_poll(p, &n))
			;
	}
	/* some packets could not leave by then */
	assert_true(weft_host_now(h) >= until);
}

static int sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *loud = hports_open(h, 1), *p = hports_open(h, 2);
	struct hport_peer deaf, to;
	struct hport_note n;
	uint8_t *m = window(p, MINE);

	hports_await(h, READY);
	deaf = hports_peer(loud, 1, DEAF);
	to = hports_peer(p, 1, OWNED);
	flood(h, loud, &deaf);
	post_all(p, &to);
	hports_pause(h, 20 * WEFT_US);
	hports.step = SENT;
	hports_await(h, CHANGED);
	while (hport_wait(loud, &n, weft_host_now(h) + 100 * WEFT_US))
		;
	all_told(h, p, HP_ERR_TVPID_INV);
	assert_int_equal(count(m, MINE), PAGE); /* the get has stored nothing */
	hports.step = TOLD;
	hports_await(h, LOOKED);
	to = hports_peer(p, 1, OWNED);
	post_all(p, &to);
	all_told(h, p, 0);
	hport_close(p);
	hport_close(loud);
	return 0;
}

/* ---- node 1 ---- */

static int owners(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *deaf = hports_open(h, DEAF), *p = hports_open(h, OWNED);
	struct hp_nic *nic = r->node[node].nic->state;
	struct hport_note n;
	uint8_t *m;

	window(p, MINE);
	hports.step = READY;
	hports_await(h, SENT);
	hport_close(p);
	p = hports_open(h, OWNED);
	m = window(p, THEIRS);
	hports.step = CHANGED;
	while (hport_wait(deaf, &n, weft_host_now(h) + 200 * WEFT_US))
		;
	hports_await(h, TOLD);
	assert_int_equal(count(m, THEIRS), PAGE);
	assert_false(hport_poll(p, &n));
	assert_int_equal(exrig_counter(nic->comp, "stale"), KINDS);
	hports.step = LOOKED;
	while (hport_wait(p, &n, weft_host_now(h) + 200 * WEFT_US))
		;
	assert_int_not_equal(count(m, THEIRS), PAGE);
	hport_close(p);
	hport_close(deaf);
	return 0;
}

static void requests_to_an_earlier_owner_are_refused(void **state)
{
	run("2", (const exrig_fn[]){ sender, owners });
}

/* ---- epochs as hport_connect gives them ---- */

static int laps(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 1);

	for (uint32_t i = 0; i < LAPS; i++) {
		struct hport *q = hports_open(h, OWNED);
		uint32_t epoch = hports_peer(p, 0, OWNED).epoch;

		assert_int_equal(epoch, 1 + i % HP_EPOCH_LOW);
		hport_close(q);
		assert_int_equal(hports_peer(p, 0, OWNED).epoch,
				 1 + (i + 1) % HP_EPOCH_LOW);
	}
	hport_close(p);
	return 0;
}

static void no_owner_has_the_epoch_that_means_any(void **state)
{
	run("1", (const exrig_fn[]){ laps });
}

static int asks(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 1);
	struct hport_peer to;

	assert_int_equal(hports_peer(p, 1, OWNED).epoch, HP_EPOCH_FIRST);
	assert_int_equal(hport_connect(p, 1, HP_VPIDS, &to), -22);
	hports_await(h, CHANGED);
	/* waits for the out-of-band network, which takes 50 us */
	hports_pause(h, 100 * WEFT_US);
	assert_int_equal(hports_peer(p, 1, OWNED).epoch, HP_EPOCH_FIRST + 1);
	hport_close(p);
	return 0;
}

static int changes(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hport_close(hports_open(h, OWNED));
	hports.step = CHANGED;
	return 0;
}

static void other_nodes_learn_of_the_next_owner(void **state)
{
	run("2", (const exrig_fn[]){ asks, changes });
}

/* ---- a message to a VPID without an owner ---- */

static uint32_t answer(struct hport *p, uint32_t tag)
{
	struct hport_peer to = hports_peer(p, 0, OWNED);
	struct hport_tag name = { tag, tag };
	struct hport_note n;
	uint64_t v = 1;

	assert_int_equal(hport_fast_send(p, &to, HPORT_ACK, name, &v, 1), 0);
	while (hport_wait(p, &n, weft_host_now(weft_host_self()) + WEFT_MS))
		if (n.event == HPORT_DONE)
			return n.error;
	return UINT32_MAX; /* returns no word, because the message is lost */
}

/* Sends to a VPID without an owner, so that the device reads its context. When
 * the VPID gets its first owner, the new context is valid at once. */
static int early(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 3), *q;
	struct hport_note n;

	assert_int_equal(answer(p, 1), HP_ERR_TVPID_INV);
	q = hports_open(h, OWNED);
	assert_int_equal(answer(p, 2), 0);
	assert_true(hport_poll(q, &n));
	assert_int_equal(n.event, HPORT_MESSAGE);
	assert_int_equal(n.tag.user, 2);
	hport_close(q);
	assert_int_equal(answer(p, 3), HP_ERR_TVPID_INV);
	hport_close(p);
	return 0;
}

static void the_first_owner_of_a_vpid_gets_its_messages(void **state)
{
	run("1", (const exrig_fn[]){ early });
}

enum { OPENED = 60 };

/* Sends messages to a VPID without a pause. */
static int floods(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, 4);
	struct hport_tag none = { 0, 0 };
	struct hport_note n;
	uint64_t v = 1;

	while (hports.step < SENT) {
		struct hport_peer to = hports_peer(p, 0, OWNED);

		for (uint32_t i = 0; i < 20; i++)
			hport_fast_send(p, &to, 0, none, &v, 1);
		while (hport_poll(p, &n))
			;
	}
	hport_close(p);
	return 0;
}

/* Opens the VPID while messages to it arrive. The context of its owner is
 * valid, even if the device read the context while it was being written. */
static int opens(struct weft_host *h, struct exrig *r, uint32_t node)
{
	for (uint32_t i = 0; i < OPENED; i++) {
		struct hport *q = hports_open(h, OWNED);

		assert_int_equal(answer(q, i), 0);
		hport_close(q);
	}
	hports.step = SENT;
	return 0;
}

static void a_vpid_is_opened_while_messages_come(void **state)
{
	HPORTS_ONE(opens, floods);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_to_an_earlier_owner_are_refused),
		cmocka_unit_test(no_owner_has_the_epoch_that_means_any),
		cmocka_unit_test(other_nodes_learn_of_the_next_owner),
		cmocka_unit_test(the_first_owner_of_a_vpid_gets_its_messages),
		cmocka_unit_test(a_vpid_is_opened_while_messages_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
