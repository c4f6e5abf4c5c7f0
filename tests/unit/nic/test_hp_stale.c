/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that come when their VPID has another owner: a receiver without room
 * stops the network (rx_places=0, as the thesis has it), requests to VPID 9
 * wait behind its messages for longer than a VPID rests, and 9 is closed and
 * opened again meanwhile.  By weft/hostport.h alone. */
#include "../cmocka_all.h"

#include <string.h>

#include "hpproc.h"
#include "nic/hostport/nic.h"
#include "weft/hostport.h"

enum { DEAF = 7, OWNED = 9, FLOOD = 400, PAGE = 4096, LAPS = 300 };
enum { MINE = 'A', THEIRS = 'V' };
enum { READY = 1, SENT, CHANGED, TOLD, LOOKED }; /* how far programs are */

static struct exrig rig;
static uint32_t step;

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	return hport_serve(h, WEFT_US, false);
}

static void run(const char *dims, const exrig_fn *fn)
{
	hprig_new(&rig, dims, NULL);
	exrig_set(&rig, "hostport.nic", "rx_places", "0");
	step = 0;
	for (uint32_t i = 0; i < rig.nodes; i++) {
		struct hp_nic *n = rig.node[i].nic->state;

		n->place.topo = &rig.topo;
		exrig_prog(&rig, i, fn[i]);
		exrig_prog(&rig, i, driver);
	}
	exrig_start(&rig);
	exrig_run(&rig);
}

static void pause_for(struct weft_host *h, weft_time_t t)
{
	weft_host_sleep(h, weft_host_now(h) + t);
}

static void await(struct weft_host *h, uint32_t n)
{
	while (step < n)
		pause_for(h, WEFT_US);
}

static struct hport *open_as(struct weft_host *h, int32_t vpid)
{
	struct hport_attr a = { .vpid = vpid };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), 0);
	return p;
}

static struct hport_peer peer(struct hport *p, uint32_t node, uint32_t vpid)
{
	struct hport_peer to;

	assert_int_equal(hport_connect(p, node, vpid, &to), 0);
	return to;
}

static uint8_t *window(struct hport *p, int fill)
{
	uint64_t va;
	uint8_t *m = hport_alloc(p, PAGE, &va);

	assert_non_null(m);
	memset(m, fill, PAGE);
	assert_int_equal(hport_window(p, 0, va, PAGE,
				      HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0),
			 0);
	return m;
}

static uint32_t count(const uint8_t *m, int byte)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PAGE; i++)
		n += m[i] == byte;
	return n;
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

/* Each has one notification, with that error. */
static void all_told(struct weft_host *h, struct hport *p, uint32_t error)
{
	uint32_t seen = 0;
	struct hport_note n;

	for (uint32_t i = 0; i < KINDS; i++) {
		assert_true(hport_wait(p, &n, weft_host_now(h) + 2 * WEFT_MS));
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
	assert_true(weft_host_now(h) >= until); /* not all could leave */
}

static int sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *loud = open_as(h, 1), *p = open_as(h, 2);
	struct hport_peer deaf, to;
	struct hport_note n;
	uint8_t *m = window(p, MINE);

	(void)r;
	(void)node;
	await(h, READY);
	deaf = peer(loud, 1, DEAF);
	to = peer(p, 1, OWNED);
	flood(h, loud, &deaf);
	post_all(p, &to);
	pause_for(h, 20 * WEFT_US);
	step = SENT;
	await(h, CHANGED);
	while (hport_wait(loud, &n, weft_host_now(h) + 100 * WEFT_US))
		;
	all_told(h, p, HP_ERR_TVPID_INV);
	assert_int_equal(count(m, MINE), PAGE); /* the get brought nothing */
	step = TOLD;
	await(h, LOOKED);
	to = peer(p, 1, OWNED);
	post_all(p, &to);
	all_told(h, p, 0);
	hport_close(p);
	hport_close(loud);
	return 0;
}

/* ---- node 1 ---- */

static int owners(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *deaf = open_as(h, DEAF), *p = open_as(h, OWNED);
	struct hp_nic *nic = r->node[node].nic->state;
	struct hport_note n;
	uint8_t *m;

	window(p, MINE);
	step = READY;
	await(h, SENT);
	hport_close(p);
	p = open_as(h, OWNED);
	m = window(p, THEIRS);
	step = CHANGED;
	while (hport_wait(deaf, &n, weft_host_now(h) + 200 * WEFT_US))
		;
	await(h, TOLD);
	assert_int_equal(count(m, THEIRS), PAGE);
	assert_false(hport_poll(p, &n));
	assert_int_equal(exrig_counter(nic->comp, "stale"), KINDS);
	step = LOOKED;
	while (hport_wait(p, &n, weft_host_now(h) + 200 * WEFT_US))
		;
	assert_int_not_equal(count(m, THEIRS), PAGE);
	hport_close(p);
	hport_close(deaf);
	return 0;
}

static void requests_to_an_earlier_owner_are_refused(void **state)
{
	(void)state;
	run("2", (const exrig_fn[]){ sender, owners });
	exrig_free(&rig);
}

/* ---- epochs as hport_connect gives them ---- */

static int laps(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 1);

	(void)r;
	(void)node;
	for (uint32_t i = 0; i < LAPS; i++) {
		struct hport *q = open_as(h, OWNED);
		uint32_t epoch = peer(p, 0, OWNED).epoch;

		assert_int_equal(epoch, 1 + i % HP_EPOCH_LOW);
		hport_close(q);
		assert_int_equal(peer(p, 0, OWNED).epoch,
				 1 + (i + 1) % HP_EPOCH_LOW);
	}
	hport_close(p);
	return 0;
}

static void no_owner_has_the_epoch_that_means_any(void **state)
{
	(void)state;
	run("1", (const exrig_fn[]){ laps });
	exrig_free(&rig);
}

static int asks(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 1);
	struct hport_peer to;

	(void)r;
	(void)node;
	assert_int_equal(peer(p, 1, OWNED).epoch, HP_EPOCH_FIRST);
	assert_int_equal(hport_connect(p, 1, HP_VPIDS, &to), -22);
	await(h, CHANGED);
	pause_for(h, 100 * WEFT_US); /* the out-of-band network's 50 us */
	assert_int_equal(peer(p, 1, OWNED).epoch, HP_EPOCH_FIRST + 1);
	hport_close(p);
	return 0;
}

static int changes(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	hport_close(open_as(h, OWNED));
	step = CHANGED;
	return 0;
}

static void other_nodes_learn_of_the_next_owner(void **state)
{
	(void)state;
	run("2", (const exrig_fn[]){ asks, changes });
	exrig_free(&rig);
}

/* ---- a message before there is an owner ---- */

static uint32_t answer(struct hport *p, uint32_t tag)
{
	struct hport_peer to = peer(p, 0, OWNED);
	struct hport_tag name = { tag, tag };
	struct hport_note n;
	uint64_t v = 1;

	assert_int_equal(hport_fast_send(p, &to, HPORT_ACK, name, &v, 1), 0);
	while (hport_wait(p, &n, weft_host_now(weft_host_self()) + WEFT_MS))
		if (n.event == HPORT_DONE)
			return n.error;
	return UINT32_MAX; /* it is lost */
}

/* The device has looked at the context of a VPID that nobody has: the one that
 * its first owner gets counts all the same. */
static int early(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 3), *q;
	struct hport_note n;

	(void)r;
	(void)node;
	assert_int_equal(answer(p, 1), HP_ERR_TVPID_INV);
	q = open_as(h, OWNED);
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
	(void)state;
	run("1", (const exrig_fn[]){ early });
	exrig_free(&rig);
}

enum { OPENED = 60 };

/* Messages come to a VPID all the time. */
static int floods(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 4);
	struct hport_tag none = { 0, 0 };
	struct hport_note n;
	uint64_t v = 1;

	(void)r;
	(void)node;
	while (step < SENT) {
		struct hport_peer to = peer(p, 0, OWNED);

		for (uint32_t i = 0; i < 20; i++)
			hport_fast_send(p, &to, 0, none, &v, 1);
		while (hport_poll(p, &n))
			;
	}
	hport_close(p);
	return 0;
}

/* The context that its owner gives counts, whatever the device has read of it
 * while it was written. */
static int opens(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	for (uint32_t i = 0; i < OPENED; i++) {
		struct hport *q = open_as(h, OWNED);

		assert_int_equal(answer(q, i), 0);
		hport_close(q);
	}
	step = SENT;
	return 0;
}

static void a_vpid_is_opened_while_messages_come(void **state)
{
	(void)state;
	hprig_new(&rig, "1", NULL);
	((struct hp_nic *)rig.node[0].nic->state)->place.topo = &rig.topo;
	step = 0;
	exrig_prog(&rig, 0, opens);
	exrig_prog(&rig, 0, floods);
	exrig_prog(&rig, 0, driver);
	exrig_start(&rig);
	exrig_run(&rig);
	exrig_free(&rig);
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
