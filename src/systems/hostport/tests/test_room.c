/* SPDX-License-Identifier: Apache-2.0 */
/* Receivers without room (hostport.md 4.6, 4.8, 4.9): a process floods another
 * that never reads its queues. Messages between two other processes take as
 * long as before. Every loss is reported, and accepted messages arrive in order
 * once the process reads. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

enum {
	GOOD = 0x55,
	FLOOD = 400,
	TIMES = 6,
	PARK = 64,
	SLOW_NQ = 32,
	UNDER_WAY = 40
};

struct way {
	const char *name;
	uint32_t byte;
	uint64_t bytes;
	uint64_t flags; /* flags of the receiver's context */
	bool wrong;	/* capability */
};

static const struct way ways[] = {
	{ "message of a word", HP_B_FAST_SEND | 1, 8, 0, false },
	{ "message of a word, acknowledged", HP_B_FAST_SEND | HP_A | 1, 8, 0,
	  false },
	{ "message in the region", HP_B_SEND, 512, 0, false },
	{ "message of more than a page", HP_B_SEND, 6000, 0, false },
	{ "message in posted buffers", HP_B_SEND, 512, HP_CTX_PR_EN, false },
	{ "put that is refused", HP_B_FAST_PUT | 1, 8, 0, true },
	{ "put that is notified", HP_B_FAST_PUT | 1, 8, HP_CTX_RMA_NTF, false },
	{ "long put that is notified", HP_B_PUT, 1024, HP_CTX_RMA_NTF, false },
	{ "get that is notified", HP_B_FAST_GET | 1, 8, HP_CTX_RMA_NTF, false },
	{ "get that is refused", HP_B_FAST_GET | 1, 8, 0, true },
};

/* additional time that the status notifications of the processes may take */
#define MARGIN (100 * WEFT_NS)

static const struct way *way;
static struct hpproc good[2];
static uint32_t sent, done, refused; /* counts at the origin */

/* Returns whether the other side answers an instruction of this kind, so that
 * the origin is notified of the answer. */
static bool answered(void)
{
	return way->byte & HP_A || HP_MAIN(way->byte) == HP_M_FAST_GET;
}

/* Returns the time from sending a message to node 1 until its answer
 * arrives. */
static weft_time_t round_trip(struct hpend *e)
{
	weft_time_t unit = 16 * WEFT_US, from;
	uint64_t w[HP_WORDS], data = 3;

	/* waits until the clocks have the same phase as after earlier calls, so
	 * that equal work takes equal time */
	weft_host_sleep(e->h, (weft_host_now(e->h) / unit + 1) * unit);
	from = weft_host_now(e->h);
	hpproc_fast_send(&good[0], 1, GOOD, 0, 1, &data, 1);
	assert_true(hpproc_wait(&good[0], w));
	assert_true(hpproc_wait(&good[0], w)); /* the answer */
	assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_FAST_RECV);
	return weft_host_now(e->h) - from;
}

static void answer(uint32_t times)
{
	uint64_t w[HP_WORDS], data = 4;

	for (uint32_t i = 0; i < times;) {
		if (!hpproc_wait(&good[1], w) ||
		    HP_NQE_CMD(w) != HP_B_NOTIFY_FAST_RECV)
			continue;
		hpproc_fast_send(&good[1], 0, GOOD, 0, 2, &data, 1);
		i++;
	}
}

static void flood_one(struct hpend *e, uint64_t tag)
{
	uint64_t w[HP_WORDS];
	bool rma = HP_MAIN(way->byte) != HP_M_SEND &&
		   HP_MAIN(way->byte) != HP_M_FAST_SEND;

	hpproc_to(w, way->byte, 1, HPEND_VPID1, tag);
	w[3] = rma ? HP_VCI_W3(HPEND_WIN, HPEND_CAPA ^ way->wrong) : 0;
	w[4] = rma ? 0 : way->bytes;
	w[5] = HP_VCI_W5(HPEND_OWN);
	w[6] = 0;
	w[7] = way->bytes;
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
}

/* Takes a notification. An origin that requests no acknowledge is notified when
 * its message was sent, and again if the message was refused. */
static bool flood_take(struct hpend *e)
{
	const volatile uint64_t *next = e->p.nq + HP_WORDS * e->p.ni;
	uint64_t w[HP_WORDS];

	if (!HP_NQE_VALID(next))
		return false;
	assert_true(hpproc_nqe(&e->p, w));
	if (HP_CMD_BYTE(HP_NQE_CMD(w)) == HP_B_NOTIFY_CC)
		return true;
	refused += HP_CMD_ERR(HP_NQE_CMD(w)) != 0;
	done += HP_CMD_ERR(HP_NQE_CMD(w)) == 0 || answered();
	return true;
}

/* Sends until all messages are in flight, or until no notification arrives any
 * more. */
static void flood(struct hpend *e)
{
	weft_time_t last = weft_host_now(e->h);

	sent = refused = done = 0;
	while (sent < FLOOD && weft_host_now(e->h) < last + 50 * WEFT_US) {
		if (sent - done < UNDER_WAY) {
			flood_one(e, sent++);
			last = weft_host_now(e->h);
		}
		while (flood_take(e))
			;
		hpproc_free(&e->p);
		weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_US / 4);
	}
	weft_host_sleep(e->h, weft_host_now(e->h) + 500 * WEFT_US);
}

/* Receives until no packet arrives any more. */
static void flood_rest(struct hpend *e)
{
	for (uint32_t i = 0; i < 50; i++) {
		while (flood_take(e))
			;
		hpproc_free(&e->p);
		weft_host_sleep(e->h, weft_host_now(e->h) + 5 * WEFT_US);
	}
}

static weft_time_t longer(weft_time_t a, weft_time_t b)
{
	return a > b ? a : b;
}

static void near_room(struct hppair *t, struct hpend *e)
{
	weft_time_t alone = 0, beside = 0;

	hpend_windows(e);
	hpproc_open(&good[0], &e->d, e->h, GOOD, 0);
	hppair_meet(e);
	for (uint32_t i = 0; i < TIMES; i++)
		alone = longer(round_trip(e), alone);
	flood(e);
	for (uint32_t i = 0; i < TIMES; i++)
		beside = longer(round_trip(e), beside);
	if (beside > alone + MARGIN)
		print_error("%s: %u ns, alone %u\n", way->name,
			    (unsigned)(beside / WEFT_NS),
			    (unsigned)(alone / WEFT_NS));
	assert_true(beside <= alone + MARGIN);
	hppair_meet(e);
	hppair_meet(e);
	flood_rest(e);
	hppair_meet(e);
}

/* Reads the queues at the end and checks that accepted messages are in order.
 * Returns their number. */
static uint32_t drain(struct hpend *e)
{
	uint32_t got = 0;
	uint64_t w[HP_WORDS], last = 0;

	while (hpproc_wait(&e->p, w)) {
		assert_true(!got || HP_NQE_TAG(w) > last);
		last = HP_NQE_TAG(w);
		if (HP_NQE_CMD(w) == HP_B_NOTIFY_RECV && way->flags)
			hpend_prd(e, HPEND_VA, HP_PAGE, 0, 0);
		else if (HP_NQE_CMD(w) == HP_B_NOTIFY_RECV)
			hpend_rdr_free(e, (uint32_t)way->bytes / 8);
		got++;
	}
	return got;
}

/* Returns the number of records of the error log, lost ones included. */
static uint64_t logged(const struct hppair *t)
{
	return hppair_counter(t, 1, "err_logs") +
	       hppair_counter(t, 1, "err_lost");
}

static void far_room(struct hppair *t, struct hpend *e)
{
	weft_phys_t park;
	uint32_t got, kept;

	assert_non_null(weft_mem_alloc(e->h, PARK * HP_PAGE, HP_PAGE, &park));
	hpdrv_set(&e->d, HP_R_PARK_BASE, park);
	hpdrv_set(&e->d, HP_R_PARK_SIZE, PARK);
	hpend_windows(e);
	hpproc_open(&good[1], &e->d, e->h, GOOD, 0);
	hppair_meet(e);
	answer(2 * TIMES);
	hppair_meet(e);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	kept = (uint32_t)(hppair_counter(t, 1, "rx_refused"));
	if (way->flags == HP_CTX_PR_EN)
		hpend_prd(e, HPEND_VA, HP_PAGE, 0, 0);
	got = drain(e);
	hppair_meet(e);
	hppair_meet(e);
	assert_false(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	assert_true(sent == FLOOD || answered());
	assert_true(kept > 0 || answered());
	/* each message arrived, or its origin was notified of an error. Wrong
	 * messages are recorded only in the error log */
	if (!way->wrong)
		assert_int_equal(got + refused, sent);
	else
		assert_int_equal(got + logged(t), sent);
}

/* ---- a receiver that is closed ---- */

static void near_closed(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	hppair_meet(e);
	flood(e);
	hppair_meet(e);
	hppair_meet(e);
	flood_rest(e);
	hppair_meet(e);
}

/* Checks that messages leave the device when the process for which they wait is
 * closed, and that their origin gets an error. */
static void far_closed(struct hppair *t, struct hpend *e)
{
	uint32_t filled = SLOW_NQ - 1;

	hpend_windows(e);
	hppair_meet(e);
	hppair_meet(e);
	hpdrv_disable(&e->d, e->vpid);
	hppair_meet(e);
	hppair_meet(e);
	if (!way->wrong)
		assert_int_equal(filled + refused, sent);
	else
		assert_int_equal(filled + logged(t), sent);
}

static void before(struct hppair *t)
{
	t->end[1].d.nq = SLOW_NQ;
	t->end[1].d.rdr = 2048;
	t->end[1].flags = way->flags;
	for (uint32_t i = 0; i < 2; i++)
		t->end[i].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

static void test_a_receiver_without_room_harms_itself_only(void **state)
{
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		way = &ways[i];
		hppair_once(before, near_room, far_room);
	}
}

static void test_packets_for_a_closed_receiver_leave_the_device(void **state)
{
	for (uint32_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		way = &ways[i];
		if (way->bytes == 8)
			hppair_once(before, near_closed, far_closed);
	}
}

/* ---- acknowledges without room ---- */

enum { REFUSED = 40, OLD = 300 };

/* Issues puts that the target refuses, and that request no acknowledge. The
 * origin is notified when a put was sent, and again when it was refused. The
 * origin's queue has too few entries for all these notifications. The VPID of
 * the origin has had many owners, so that its epoch is above 255. */
static void near_refused(struct hppair *t, struct hpend *e)
{
	uint64_t *c = (uint64_t *)hpdrv_ctx(&e->d, e->vpid), w[HP_WORDS];
	const struct hp_nic *n = t->rig.node[0].nic->state;
	struct hprma put = hpend_put(0, 0, 8);

	HP_CTX_SET(c, HP_F_EPOCH, OLD);
	put.byte = HP_B_FAST_PUT | 1;
	put.capa ^= 1;
	hpend_windows(e);
	for (uint32_t i = 0; i < REFUSED; i++)
		hpend_rma(e, &put);
	weft_host_sleep(e->h, weft_host_now(e->h) + 50 * WEFT_US);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	for (uint32_t k = 0; k < HP_FU_MAX; k++)
		assert_int_equal(n->park.kept[k], 0);
	for (uint32_t i = 0; i < 2 * REFUSED; i++)
		assert_true(hpproc_wait(&e->p, w));
	assert_false(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	hppair_meet(e);
}

static void before_refused(struct hppair *t)
{
	t->end[0].d.nq = 64;
	t->end[0].d.ctrl = t->end[1].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

static void far_refused(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	hppair_meet(e);
}

/* An acknowledge has no payload, so that it uses no bytes of the buffers that
 * long packets need when their receiver has no room. */
static void test_acknowledges_without_room_take_no_buffer(void **state)
{
	hppair_once(before_refused, near_refused, far_refused);
}

/* ---- a message of 64 bytes behind a message without room ---- */

enum { FULL = 40, RDR = 128 };

static uint64_t last_bytes; /* of the last message */
/* times at which the receiver took the last two notifications */
static weft_time_t told[2];

/* Messages of 100 and 24 words come first, so that the last message begins four
 * words before the end of the region. Its second piece is at the beginning. */
static void near_wraps(struct hppair *t, struct hpend *e)
{
	uint64_t data = 1;

	hpend_sdr(e, RDR, 4);
	hpend_send(e, HP_B_SEND, 0, 8 * 100);
	hppair_meet(e);
	for (uint32_t i = 0; i < FULL; i++)
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
	hpend_send(e, HP_B_SEND, 0, 8 * 24);
	hpend_send(e, HP_B_SEND, 0, last_bytes);
	weft_host_sleep(e->h, weft_host_now(e->h) + 50 * WEFT_US);
	hppair_meet(e);
	hppair_meet(e);
}

static void far_wraps(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_free(e, 100);
	hppair_meet(e);
	hppair_meet(e);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	for (uint32_t i = 0; i < FULL; i++)
		hpend_expect(e, HP_B_NOTIFY_FAST_RECV, w);
	for (uint32_t i = 0; i < 2; i++) {
		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		told[i] = weft_host_now(e->h);
	}
	hpend_rdr_check(e, w, (uint32_t)last_bytes, 4);
	hppair_meet(e);
}

static void before_wraps(struct hppair *t)
{
	t->end[0].d.nq = 256;
	t->end[1].d.nq = SLOW_NQ;
	t->end[1].d.rdr = RDR;
	for (uint32_t i = 0; i < 2; i++)
		t->end[i].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

/* Returns the time between the notifications of the last two messages. */
static weft_time_t wraps(uint64_t bytes)
{
	last_bytes = bytes;
	hppair_once(before_wraps, near_wraps, far_wraps);
	return told[1] - told[0];
}

/* A message of up to 64 bytes (HP_LINE) waits without a place in the buffer of
 * its unit. If it wraps, its two pieces are stored at the same time. Pieces of
 * a longer message are stored from the buffer, one after the other. */
static void test_pieces_of_a_line_that_has_waited_are_stored_at_once(void **st)
{
	weft_time_t line = wraps(HP_LINE);

	assert_true(line <= wraps(HP_LINE - 16) + 10 * WEFT_NS);
	assert_true(line + 10 * WEFT_NS <= wraps(HP_LINE + 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_receiver_without_room_harms_itself_only),
		cmocka_unit_test(
			test_packets_for_a_closed_receiver_leave_the_device),
		cmocka_unit_test(test_acknowledges_without_room_take_no_buffer),
		cmocka_unit_test(
			test_pieces_of_a_line_that_has_waited_are_stored_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
