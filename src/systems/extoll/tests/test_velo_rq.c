/* SPDX-License-Identifier: Apache-2.0 */
/* Compares VELO's requester with a cycle-by-cycle reference (ref_velo_rq.h),
 * for random messages of several processes, valid and invalid. Stores
 * interleave, stop or are late. The network sometimes accepts nothing. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "exref.h"
#include "ref_velo_rq.h"
#include "velo_msg.h"

enum { FIRST = SENDER, PAGES = 3, AHEAD = 12, QUIET = 1500 };

static struct ref_vrq ref;
static struct ref_vrq_seen seen[REF_VRQ_CYCLES];

/* Unfinished message of each process. */
static struct {
	uint32_t off, end;
	uint8_t buf[256];
} proc[PAGES];

static void spy_sent(void *own, struct netport *np, uint32_t cls, uint64_t id)
{
	ref.left[ref.n_left++] = xr_cycle(&vr);
	ex_velo_np.sent(own, np, cls, id);
}

static void spy_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	ex_velo_np.cell(own, np, c);
}

static const struct netport_ops spy = { .cell = spy_cell, .sent = spy_sent };

/* ---- processes ---- */

static void begin(uint32_t p)
{
	uint32_t len = dice(30) ? 1 + dice(64) : dice(128);
	uint64_t h = EXTOLL_SEND(dice(15) ? 1 : 500, 3, dice(4), dice(256), 0) |
		     (uint64_t)len << 48;

	if (!dice(20))
		h |= EXTOLL_SEND_MULTICAST;
	if (!dice(20))
		h |= 1ull << (26 + dice(5));
	memset(proc[p].buf, 0, sizeof(proc[p].buf));
	memcpy(proc[p].buf, &h, 8);
	proc[p].off = 0;
	proc[p].end = EXTOLL_SEND_BYTES(len) + (dice(20) ? 0 : 8);
}

static void piece(uint32_t p)
{
	struct ref_vrq_store *s = &ref.store[ref.n_store];
	uint32_t most = 64 - proc[p].off % 64, left, bytes;

	if (proc[p].off >= proc[p].end || !dice(30))
		begin(p);
	left = proc[p].end - proc[p].off;
	most = 64 - proc[p].off % 64;
	bytes = left < most ? left : most;
	if (!dice(3))
		bytes = 4 + 4 * dice(bytes / 4);
	if (!dice(40))
		proc[p].off += 8;
	*s = (struct ref_vrq_store){ .page = p,
				     .off = proc[p].off,
				     .bytes = bytes };
	memcpy(s->data, proc[p].buf + s->off, 8);
	s->time = xr_store(&vr, ME, extoll_velo_page(0, FIRST + p) + s->off,
			   proc[p].buf + s->off, bytes);
	proc[p].off += bytes;
	ref.n_store++;
}

/* ---- scenarios ---- */

static void open_machine(void)
{
	struct ref_hx_cfg hx = exref_hx();
	struct ref_vrq_cfg *c = &ref.cfg;
	char more[80];

	hx.posted = 16;
	*c = (struct ref_vrq_cfg){ .t_req = 1 + dice(20),
				   .t_sync_in = hx.t_sync_in,
				   .t_htax = hx.t_htax,
				   .partial = 40 + dice(300),
				   .depth = 1 + dice(5),
				   .nodes = 2,
				   .enabled = { true, true, false } };
	snprintf(more, sizeof(more), "velo_req=%u velo_partial=%u np_depth=%u",
		 c->t_req, c->partial, c->depth);
	exref_open(&vr, &hx, more);
	for (uint32_t i = 0; i < 2; i++)
		xr_w64(&vr, ME, EXTOLL_VELO_TX + 8 * (FIRST + i),
		       EXTOLL_TX(ME, FIRST + i, PD));
	xr_settle(&vr);
	c->core = vr.core;
	exref_nic(&vr)->np[EX_NP_VELO].ops = &spy;
	ref.n_store = ref.n_left = 0;
	memset(proc, 0, sizeof(proc));
}

static void look(struct ref_vrq_seen *s)
{
	const struct ex_velo *v = &exref_nic(&vr)->velo;

	s->first = v->rq.from;
	s->sent = (uint32_t)v->sent;
	s->holds = v->rq.held != NULL;
	memcpy(s->drop, v->drop, sizeof(s->drop));
}

static void play(void)
{
	uint32_t gap = 1 + dice(60), cycles = 6000;

	ref.from = xr_cycle(&vr) + 1;
	ref.cycles = cycles + QUIET;
	for (uint32_t k = 0; k < ref.cycles; k++) {
		bool room = ring_count(&exref_nic(&vr)->htax.store) < AHEAD &&
			    !vr.bus[ME]->held && ref.n_store < 1000;

		if (k < cycles && room && !dice(gap))
			piece(dice(PAGES));
		if (k < cycles && !dice(500))
			vr.net->stop = true;
		if (k == cycles || !dice(500))
			xr_release(&vr);
		xr_run(&vr, 1);
		look(&seen[k]);
	}
}

static void compare(uint64_t seed)
{
	for (uint32_t k = 0; k < ref.cycles; k++) {
		const struct ref_vrq_seen *a = &seen[k], *b = &ref.seen[k];

		if (a->sent != b->sent || a->holds != b->holds ||
		    a->first != b->first ||
		    memcmp(a->drop, b->drop, sizeof(a->drop)))
			fail_msg(
				"machine %u, cycle %u: sent %u holds %u, "
				"should be %u %u",
				(uint32_t)seed, k, a->sent, a->holds, b->sent,
				b->holds);
	}
	assert_int_equal(vr.net->n_log, seen[ref.cycles - 1].sent);
	for (uint32_t i = 0; i < vr.net->n_log; i++) {
		const struct xnet_pkt *p = &vr.net->log[i];
		uint64_t h = ref.header[i];

		assert_int_equal(EX_H0_SVPID(p->u[0]), FIRST + ref.page[i]);
		assert_int_equal(EX_VELO_TAG(p->u[0]), EXTOLL_SEND_TAG(h));
		assert_int_equal(EX_VELO_MTT(p->u[0]), EXTOLL_SEND_MTT(h));
		assert_int_equal(p->len, EXTOLL_SEND_LEN(h));
		assert_int_equal(p->pd, PD);
	}
}

/* Counts events over all scenarios, so that the test notices an event that
 * never happened. */
static void test_requester_does_what_the_reference_does(void **state)
{
	uint32_t held = 0, drop[REF_VRQ_WHY] = { 0 };

	for (uint64_t seed = 1; seed <= 60; seed++) {
		exref_seed(seed);
		open_machine();
		play();
		ref_vrq_run(&ref);
		compare(seed);
		xr_settle(&vr);
		xr_free(&vr);
		for (uint32_t k = 0; k < ref.cycles; k++)
			held += ref.seen[k].holds;
		for (uint32_t i = 0; i < REF_VRQ_WHY; i++)
			drop[i] += ref.seen[ref.cycles - 1].drop[i];
	}
	assert_true(held > 100);
	for (uint32_t i = 0; i < REF_VRQ_WHY; i++)
		assert_true(drop[i] > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requester_does_what_the_reference_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
