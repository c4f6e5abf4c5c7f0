/* SPDX-License-Identifier: Apache-2.0 */
/* Every error code of table 4.2 (hostport.md 6.3), at every place that reports
 * it, and the precedence when several checks fail. Scenarios Q11, Q12, Q19 and
 * Q20 of 13.2, R23 of 13.3. The last test checks that every code was seen. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

/* ---- places that report errors ---- */

enum {
	NEAR = 1,     /* origin NQE */
	NEAR_LOG = 2, /* ERR_LOG of the origin, because it has no NQ */
	FAR_RMA = 4,  /* target NOTIFY_RMA */
	FAR_RECV = 8, /* target NOTIFY_RECV */
	FAR_LOG = 16, /* target ERR_LOG */
	FAR_NQE = FAR_RMA | FAR_RECV,
};

static const uint32_t reported[HP_ERRS] = {
	[HP_ERR_CMD_INV] = NEAR,
	[HP_ERR_OVPID_INV] = NEAR_LOG,
	[HP_ERR_ROUTE_INV] = NEAR,
	[HP_ERR_OWINID_INV] = NEAR,
	[HP_ERR_OWINID] = NEAR,
	[HP_ERR_OOFFSET] = NEAR,
	[HP_ERR_OLENGTH] = NEAR,
	[HP_ERR_TVPID_INV] = NEAR | FAR_LOG,
	[HP_ERR_TWINID_INV] = NEAR | FAR_RMA,
	[HP_ERR_TWINID_CAPA] = NEAR | FAR_RMA,
	[HP_ERR_TWINID] = NEAR | FAR_RMA,
	[HP_ERR_TOFFSET] = NEAR | FAR_RMA,
	[HP_ERR_TLENGTH] = NEAR | FAR_RMA,
	[HP_ERR_ROUTE_BROKEN] = NEAR,
	[HP_ERR_POSTED_PA] = NEAR | FAR_RECV,
	[HP_ERR_POSTED_PA_INV] = NEAR | FAR_RECV,
	[HP_ERR_POSTED_TRUNC] = NEAR | FAR_RECV,
};
static uint32_t seen[HP_ERRS];

/* ---- one instruction each ---- */

enum route { OK, NO_BYTES, BEYOND, TOO_SHORT, FOREIGN };
enum { NOBODY = 0x999, DISABLED = 8, LOCKED = 9, NO_WIN = 64 };

/* Fields in which an instruction differs from a valid one with offset 0, 8
 * bytes and window HPEND_WIN, and the error that results. */
struct row {
	enum hp_err err;
	uint32_t cmd;
	enum route route;
	uint32_t vpid, win, owin;
	bool capa; /* the capability is wrong */
	uint64_t off, ooff, len;
	uint64_t prd; /* bytes of a posted buffer with a physical address */
	uint32_t skew;
	bool hand; /* the test sends the packet itself, without a requester */
};

enum {
	S = HP_B_SEND | HP_A,
	P = HP_B_PUT | HP_A,
	G = HP_B_GET,
	FP = HP_B_FAST_PUT | HP_A | 1,
	FG = HP_B_FAST_GET | 1,
	M = HP_B_MIS_PUT | HP_A,
};
#define BAD(e, byte, ...)                                                      \
	{                                                                      \
		.err = HP_ERR_##e, .cmd = (byte), __VA_ARGS__                  \
	}

static const struct row rows[] = {
	/* an unknown command, too many words, a reserved group, an error code
	 * as command */
	BAD(CMD_INV, 0x50),
	BAD(CMD_INV, 0x80),
	BAD(CMD_INV, HP_B_ACK),
	BAD(CMD_INV, HP_B_GET_RSP),
	BAD(CMD_INV, HP_B_FAST_SEND | 6),
	BAD(CMD_INV, HP_B_FAST_PUT),
	BAD(CMD_INV, HP_CMD(0, HP_G_ULTRA, S)),
	BAD(CMD_INV, HP_CMD(0, 5, S)),
	BAD(CMD_INV, HP_CMD(1, 0, S)),
	BAD(ROUTE_INV, S, .route = NO_BYTES),
	BAD(ROUTE_INV, G, .route = BEYOND), /* Q19 */
	BAD(ROUTE_INV, P, .route = TOO_SHORT),
	BAD(OWINID_INV, P, .owin = NO_WIN),
	BAD(OWINID_INV, G, .owin = DISABLED),
	BAD(OWINID_INV, P, .owin = LOCKED),
	BAD(OWINID, S, .ooff = 65528, .len = 16), /* Q11 */
	BAD(OWINID, S, .ooff = ~7ull, .len = 16),
	BAD(OWINID, P, .ooff = HPEND_LEN),
	BAD(OWINID, G, .ooff = HPEND_LEN - 8, .len = 16),
	BAD(OWINID, S, .len = 65544),
	BAD(OWINID, S, .ooff = 65536),
	BAD(OOFFSET, S, .ooff = 1), /* each bit */
	BAD(OOFFSET, S, .ooff = 2),
	BAD(OOFFSET, S, .ooff = 4),
	BAD(OOFFSET, P, .ooff = 1),
	BAD(OOFFSET, P, .ooff = 2),
	BAD(OOFFSET, P, .ooff = 4),
	BAD(OOFFSET, G, .ooff = 7),
	BAD(OLENGTH, S, .len = 9),
	BAD(OLENGTH, S, .len = 10),
	BAD(OLENGTH, S, .len = 12),
	BAD(OLENGTH, P, .len = 9),
	BAD(OLENGTH, P, .len = 10),
	BAD(OLENGTH, P, .len = 12),
	BAD(OLENGTH, G, .len = 1),
	BAD(TVPID_INV, S, .vpid = NOBODY), /* Q12 */
	BAD(TVPID_INV, P, .vpid = NOBODY),
	BAD(TVPID_INV, G, .vpid = NOBODY),
	BAD(TVPID_INV, FP, .vpid = NOBODY),
	BAD(TVPID_INV, HP_B_FAA, .vpid = NOBODY),
	BAD(TWINID_INV, P, .win = NO_WIN),
	BAD(TWINID_INV, G, .win = DISABLED),
	BAD(TWINID_INV, HP_B_CAS, .win = LOCKED),
	BAD(TWINID_CAPA, P, .capa = 1),
	BAD(TWINID_CAPA, FG, .capa = 1),
	BAD(TWINID_CAPA, M, .capa = 1),
	BAD(TWINID, P, .off = HPEND_LEN),
	BAD(TWINID, FG, .off = HPEND_LEN),
	BAD(TWINID, M, .off = HPEND_LEN),
	BAD(TWINID, HP_B_FAA, .off = ~7ull),
	BAD(TOFFSET, P, .off = 4),
	BAD(TOFFSET, P, .off = 2),
	BAD(TOFFSET, G, .off = 1),
	BAD(TOFFSET, HP_B_CAS, .off = 4),
	BAD(TLENGTH, P, .len = 12, .hand = 1), /* R23 */
	BAD(TLENGTH, G, .len = 12, .hand = 1),
	BAD(ROUTE_BROKEN, S, .route = FOREIGN), /* Q20 */
	BAD(ROUTE_BROKEN, G, .route = FOREIGN),
	BAD(POSTED_PA_INV, S, .len = 48, .prd = 48, .skew = 4),
	BAD(POSTED_PA_INV, S, .len = 48, .prd = 44),
	BAD(POSTED_TRUNC, S, .len = 48, .prd = 40),
	/* precedence at the origin: 1, 3, then 4, 6, 7, 5 */
	BAD(CMD_INV, 0x50, .route = NO_BYTES),
	BAD(ROUTE_INV, P, .route = NO_BYTES, .owin = NO_WIN),
	BAD(OWINID_INV, P, .owin = NO_WIN, .ooff = 4),
	BAD(OOFFSET, P, .ooff = 4, .len = 12),
	BAD(OLENGTH, P, .ooff = HPEND_LEN, .len = 12),
	BAD(OWINID, P, .ooff = HPEND_LEN, .win = NO_WIN),
	BAD(ROUTE_INV, S, .route = NO_BYTES, .ooff = 4),
	BAD(OOFFSET, S, .ooff = 4, .len = 12),
	BAD(OLENGTH, S, .ooff = 65528, .len = 12),
	/* precedence at the target: 14, 8, 9, 10, 12, 13, 11 */
	BAD(ROUTE_BROKEN, P, .route = FOREIGN, .vpid = NOBODY),
	BAD(TVPID_INV, P, .vpid = NOBODY, .win = NO_WIN),
	BAD(TWINID_INV, P, .win = DISABLED, .capa = 1),
	BAD(TWINID_CAPA, P, .capa = 1, .off = 4),
	BAD(TOFFSET, P, .off = 4, .len = 12, .hand = 1),
	BAD(TLENGTH, P, .off = HPEND_LEN, .len = 12, .hand = 1),
	/* posted receive: 16, 17, and 15 in rows_pa */
	BAD(POSTED_PA_INV, S, .len = 48, .prd = 40, .skew = 4),
};

/* Rows for a context that does not allow physical buffers. */
static const struct row rows_pa[] = {
	BAD(POSTED_PA, S, .len = 48, .prd = 48),
	BAD(POSTED_PA, S, .len = 48, .prd = 40, .skew = 4),
};

static const struct row *table;
static uint32_t n_rows;

static void vci_of(const struct row *r, uint64_t *w)
{
	static const struct {
		uint32_t len, off;
	} routes[] = { [OK] = { HPDRV_ROUTE, HPDRV_ROUTE },
		       [NO_BYTES] = { 0, HPDRV_ROUTE },
		       [BEYOND] = { HPDRV_ROUTE,
				    HPDRV_ROUTE * (EXRIG_NODES - 1) + 1 },
		       [TOO_SHORT] = { HP_RS_HEAD, HPDRV_ROUTE },
		       [FOREIGN] = { HPDRV_ROUTE, 2 * HPDRV_ROUTE } };
	uint64_t len = r->len ? r->len : 8;

	memset(w, 0, HP_LINE);
	w[0] = HP_VCI_W0(r->cmd, routes[r->route].len, routes[r->route].off);
	w[1] = HP_VCI_W1(r->vpid ? r->vpid : HPEND_VPID1, 0);
	w[3] = HP_VCI_W3(r->win ? r->win : HPEND_WIN, HPEND_CAPA + r->capa);
	w[4] = r->off;
	if (HP_MAIN(r->cmd & 0xff) == HP_M_PUT ||
	    HP_MAIN(r->cmd & 0xff) == HP_M_GET) {
		w[5] = HP_VCI_W5(r->owin ? r->owin : HPEND_OWN);
		w[6] = r->ooff;
		w[7] = len;
	} else if (HP_MAIN(r->cmd & 0xff) == HP_M_SEND) {
		w[3] = r->ooff;
		w[4] = len;
	}
}

/* Sends a packet that no requester would make. */
static void inject(struct hppair *t, struct hp_head *h, uint32_t bytes)
{
	struct hp_nic *n = t->rig.node[0].nic->state;
	struct hp_route r = { .dtag = HPEND_HPID1, .nr = 0 };
	int k = hp_route_topo(&t->rig.topo, 0, 1, r.fwd);
	struct weft_frame *f;

	r.nf = (uint8_t)(k + 1);
	r.fwd[k] = HP_EL(0, 1);
	k = hp_route_topo(&t->rig.topo, 1, 0, r.back);
	r.nr = (uint8_t)(k + 1);
	r.back[k] = HP_EL(1, 1);
	h->vpid = HPEND_VPID1;
	h->bytes = bytes;
	f = hp_pkt_new(t->rig.sim, &r, h, 0);
	assert_non_null(f);
	hp_net_send(n, f, hp_pkt_skip(f, h), hp_now(n) + 10, UINT32_MAX, NULL,
		    NULL);
}

static void by_hand(struct hppair *t, uint32_t byte, uint64_t off,
		    uint32_t size)
{
	struct hp_head h = { 0 };

	h.c[0] = HP_C0(byte, HPEND_HPID0, HPEND_VPID0);
	h.c[3] = HP_C3(HPEND_HPID1, size);
	h.c[4] = HP_VCI_W3(HPEND_WIN, HPEND_CAPA);
	h.c[5] = off;
	inject(t, &h, byte == G ? 0 : size);
}

static void raise_one(struct hppair *t, struct hpend *e, const struct row *r)
{
	uint64_t w[HP_WORDS];

	if (r->hand) {
		by_hand(t, r->cmd, r->off, (uint32_t)r->len);
		return;
	}
	vci_of(r, w);
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
}

/* ---- both sides ---- */

static void near_rows(struct hppair *t, struct hpend *e)
{
	/* route to node 1 with the DTAG of another node */
	memcpy(e->d.rs + 2 * HPDRV_ROUTE, e->d.rs + HPDRV_ROUTE, HPDRV_ROUTE);
	e->d.rs[2 * HPDRV_ROUTE + 3] = 77;
	hpend_win(e, LOCKED, 0, HP_PAGE, HP_WIN_EN | HP_WIN_LOCK,
		  HP_WIN_OWNER_MAKE(9, 9));
	hpend_windows(e);
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct row *r = &table[i];
		uint64_t sent = hppair_counter(t, 0, "packets_out");

		hppair_meet(e); /* the target may have posted a buffer by now */
		raise_one(t, e, r);
		hpend_expect(e,
			     HP_CMD(r->err, HP_CMD_GROUP(r->cmd),
				    HP_CMD_BYTE(r->cmd)),
			     NULL);
		assert_int_equal(hppair_counter(t, 0, "packets_out") > sent,
				 r->err >= HP_ERR_TVPID_INV);
		seen[r->err] |= NEAR;
		hppair_meet(e);
	}
	hppair_meet(e);
	hpend_silent(e);
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), HP_NONE);
}

/* Checks that the target gets the notification of the row and that no byte was
 * stored. */
static void far_row(struct hpend *e, const struct row *r)
{
	uint32_t places = reported[r->err];
	uint64_t w[HP_WORDS];

	if (places & FAR_NQE) {
		hpend_expect(e,
			     HP_CMD(r->err, 0,
				    places & FAR_RMA ? HP_B_NOTIFY_RMA
						     : HP_B_NOTIFY_RECV),
			     w);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID0);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID0);
	}
	if (places & FAR_LOG)
		assert_int_equal(
			hpdrv_get(&e->d, HP_R_ERR_LOG),
			HP_LOG_MAKE(HP_CMD(r->err, 0, r->cmd), NOBODY));
	seen[r->err] |= places & (FAR_NQE | FAR_LOG);
	if (r->err != HP_ERR_POSTED_TRUNC)
		assert_true(hpend_rest(e, 0, 0, 0xee));
	else
		hpend_set(e, 0xee);
}

static void far_rows(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	hpend_win(e, LOCKED, 0, HP_PAGE, HPEND_OPEN | HP_WIN_LOCK | HPEND_CAPA,
		  HP_WIN_OWNER_MAKE(9, 9));
	hpend_windows(e);
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct row *r = &table[i];

		if (r->prd)
			hpend_prd(e,
				  e->mem_phys + r->skew +
					  (uint64_t)(hpend_at(e, 0) - e->mem),
				  r->prd, HP_PRD_PA, 0);
		hppair_meet(e);
		hppair_meet(e);
		far_row(e, r);
	}
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG), HP_NONE);
	hppair_meet(e);
}

static void posted_on(struct hppair *t)
{
	t->end[1].flags = HP_CTX_PR_EN;
}

static void posted_pa(struct hppair *t)
{
	t->end[1].flags = HP_CTX_PR_EN | HP_CTX_PR_PA;
}

/* Q11, Q12, Q19, Q20, R23 */
static void test_each_bad_instruction_reports_its_error(void **state)
{
	table = rows;
	n_rows = sizeof(rows) / sizeof(*rows);
	hppair_once(posted_pa, near_rows, far_rows);
	table = rows_pa;
	n_rows = sizeof(rows_pa) / sizeof(*rows_pa);
	hppair_once(posted_on, near_rows, far_rows);
}

/* ---- without an acknowledge ---- */

/* Runs Q12 with A=0. The origin is notified that the packet was sent, and later
 * of the error. The error is also in the log of the target. */
static void near_no_ack(struct hppair *t, struct hpend *e)
{
	static const struct row r = BAD(TVPID_INV, HP_B_SEND, .vpid = NOBODY);

	raise_one(t, e, &r);
	hpend_expect(e, HP_B_SEND, NULL);
	hpend_expect(e, HP_CMD(HP_ERR_TVPID_INV, 0, HP_B_SEND), NULL);
	hppair_meet(e);
}

static void far_no_ack(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
	assert_int_equal(
		hpdrv_get(&e->d, HP_R_ERR_LOG),
		HP_LOG_MAKE(HP_CMD(HP_ERR_TVPID_INV, 0, HP_B_SEND), NOBODY));
}

/* Q12 */
static void test_no_ack(void **state)
{
	hppair_once(NULL, near_no_ack, far_no_ack);
}

/* ---- an origin that closes its port ---- */

/* Closes the port before the acknowledge arrives, so that the completer reports
 * ERR_OVPID_INV. */
static void near_closed(struct hppair *t, struct hpend *e)
{
	hpend_sdr(e, 8, 1);
	hpend_send(e, S, 0, 64);
	weft_host_sleep(e->h, weft_host_now(e->h) + 10 * WEFT_US);
	hpdrv_disable(&e->d, e->vpid);
	hppair_meet(e); /* from now on the target receives the packet */
	hppair_meet(e);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	assert_int_equal(hpdrv_get(&e->d, HP_R_ERR_LOG),
			 HP_LOG_MAKE(HP_CMD(HP_ERR_OVPID_INV, 0, HP_B_ACK),
				     HPEND_VPID0));
}

static void far_closed(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
	hpend_prd(e, HPEND_VA, 64, 0, 0);
	hpend_expect(e, HP_B_NOTIFY_RECV, NULL);
	hppair_meet(e);
}

/* Closes the port before its instructions are fetched, so that the requester
 * reports the error. */
static void near_pending(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], rec;

	for (uint32_t i = 0; i < 31; i++) {
		hpproc_to(w, HP_B_FAST_SEND, 1, HPEND_VPID1, i);
		hpproc_put(&e->p, w);
	}
	hpproc_issue(&e->p, 31);
	hpdrv_disable(&e->d, e->vpid);
	weft_host_sleep(e->h, weft_host_now(e->h) + 100 * WEFT_US);
	rec = hpdrv_get(&e->d, HP_R_ERR_LOG);
	assert_int_equal(HP_CMD_ERR(HP_LOG_CMD(rec)), HP_ERR_OVPID_INV);
	assert_int_equal(HP_LOG_VPID(rec), HPEND_VPID0);
	seen[HP_ERR_OVPID_INV] |= NEAR_LOG;
	hppair_meet(e);
}

static void slow_contexts(struct hppair *t)
{
	exrig_set(&t->rig, "hostport.nic", "t_ctx", "64");
}

static void test_closed_origin_is_reported_to_the_log(void **state)
{
	hppair_once(posted_on, near_closed, far_closed);
	hppair_once(slow_contexts, near_pending, hppair_far_1);
}

/* ---- packets of no known kind ---- */

static void near_strange(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
	by_hand(t, 0x50, 0, 0);
	by_hand(t, HP_CMD(0, HP_G_MULTICAST, HP_B_SEND), 0, 0);
	hpend_silent(e);
	assert_int_equal(hppair_counter(t, 1, "bad_packets"), 2);
	hppair_meet(e);
}

static void test_packets_of_unknown_kind_are_counted(void **state)
{
	hppair_once(NULL, near_strange, hppair_far_2);
}

/* Runs after all other tests, because it reads the codes that they have
 * seen. */
static void test_every_error_code_was_seen_where_specified(void **state)
{
	for (uint32_t i = 1; i < HP_ERRS; i++) {
		if (seen[i] != reported[i])
			print_error("error %u: seen at %02x, not %02x\n", i,
				    seen[i], reported[i]);
		assert_int_equal(seen[i], reported[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bad_instruction_reports_its_error),
		cmocka_unit_test(test_no_ack),
		cmocka_unit_test(test_closed_origin_is_reported_to_the_log),
		cmocka_unit_test(test_packets_of_unknown_kind_are_counted),
		cmocka_unit_test(
			test_every_error_code_was_seen_where_specified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
