/* SPDX-License-Identifier: Apache-2.0 */
/* Compares VELO's completer with a cycle-by-cycle reference (ref_velo.h), for
 * random messages, valid and invalid, on fast and slow buses. Mailboxes fill,
 * are read, are closed and opened again, and change their owner. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "exref.h"
#include "ref_velo.h"
#include "velo_msg.h"

enum { FIRST = 3, BOXES = 3, QUIET = 2500 };

static struct ref_velo ref;
static uint8_t seen[REF_VELO_CYCLES];
static uint32_t ends; /* messages whose last cell has arrived */

/* ---- inputs ---- */

static void spy_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	ref.cell[ref.n_cell++] = (struct ref_velo_cell){
		.cycle = xr_cycle(&vr),
		.msg = ends,
		.vc = c->vc,
		.last = c->eop,
	};
	ends += c->eop;
	ex_velo_np.cell(own, np, c);
}

static void spy_sent(void *own, struct netport *np, uint32_t cls, uint64_t id)
{
	ex_velo_np.sent(own, np, cls, id);
}

static const struct netport_ops spy = { .cell = spy_cell, .sent = spy_sent };

static void message(void)
{
	struct ref_velo_msg *m = &ref.msg[ref.n_msg];
	struct velo_msg v = { .vpid = dice(BOXES),
			      .len = dice(3) ? 1 + dice(64) : 8,
			      .seed = ref.n_msg,
			      .pd = !dice(10),
			      .check = !dice(20) };

	if (!dice(20))
		v.len = 65 + dice(30);
	*m = (struct ref_velo_msg){
		.box = v.vpid,
		.len = v.len,
		.pd = PD + v.pd,
		.misrouted = v.check,
		.malformed = v.len > 64,
		.status = EXTOLL_STATUS(SRC, 9, v.seed & 3, v.seed & 0xff, 0),
	};
	ref.n_msg++;
	velo_arrive(v, xr_cycle(&vr) + 1);
}

static void store(uint32_t box, uint64_t off, uint64_t val)
{
	struct ref_velo_set *s = &ref.set[ref.n_set++];

	s->box = box;
	s->time = xr_store(&vr, ME, off, &val, 8);
}

static void set_rp(uint32_t box)
{
	uint32_t rp = dice(8);

	ref.set[ref.n_set] = (struct ref_velo_set){ .is_rp = true, .rp = rp };
	store(box, EXTOLL_VELO_RP + (FIRST + box) * EXTOLL_RP_STRIDE, rp);
}

static void set_box(uint32_t box, bool open)
{
	uint32_t slots = open ? 3 + dice(6) : 0, small = dice(2);
	uint32_t pd = PD + !dice(4);

	ref.set[ref.n_set] = (struct ref_velo_set){
		.slots = slots, .slot_bytes = small ? 64 : 128, .pd = pd
	};
	store(box, EXTOLL_VELO_RX + 8 * (FIRST + box),
	      open ? EXTOLL_RX(pd, slots,
			       EXTOLL_RX_ENABLE |
				       (small ? EXTOLL_RX_SLOT64 : 0))
		   : 0);
}

/* ---- scenarios ---- */

static void configure(struct ref_hx_cfg *hx)
{
	ref.cfg = (struct ref_velo_cfg){ .t_comp = 1 + dice(30),
					 .t_sync_in = hx->t_sync_in,
					 .t_htax = hx->t_htax,
					 .t_sync_out = hx->t_sync_out,
					 .posted = hx->posted,
					 .t_write = hx->t_write,
					 .timeout = 20 + dice(600),
					 .drop = dice(2) };
}

static void open_machine(void)
{
	struct ref_hx_cfg hx = exref_hx();
	char more[32];

	configure(&hx);
	snprintf(more, sizeof(more), "velo_comp=%u", ref.cfg.t_comp);
	exref_open(&vr, &hx, more);
	ref.cfg.core = hx.core;
	ref.cfg.ht = hx.ht;
	xr_w64(&vr, ME, EXTOLL_VELO_CONFIG, ref.cfg.drop);
	xr_w64(&vr, ME, EXTOLL_VELO_TIMEOUT, ref.cfg.timeout);
	for (uint32_t i = 0; i < BOXES; i++) {
		ref.cfg.base[i] = BOX + i * 0x1000;
		xr_w64(&vr, ME, EXTOLL_VELO_RX_BASE + 8 * (FIRST + i),
		       ref.cfg.base[i]);
	}
	xr_settle(&vr);
	exref_nic(&vr)->np[EX_NP_VELO].ops = &spy;
	ref.n_msg = ref.n_cell = ref.n_set = ends = 0;
	vr.bus[ME]->n_log = 0;
}

/* Closes the mailboxes, which discards the messages that still wait. */
static void close_machine(void)
{
	for (uint32_t i = 0; i < BOXES; i++)
		xr_w64(&vr, ME, EXTOLL_VELO_RX + 8 * (FIRST + i), 0);
	xr_settle(&vr);
	xr_free(&vr);
}

static uint8_t state_now(void)
{
	static const uint8_t as[] = {
		[VELO_CP_WAIT] = REF_VELO_WAIT,
		[VELO_CP_STALL] = REF_VELO_STALL,
		[VELO_CP_DATA] = REF_VELO_DATA,
		[VELO_CP_WRITE] = REF_VELO_WRITE,
	};

	return as[exref_nic(&vr)->velo.cp.state];
}

/* Plays the scenario. Stores are so far apart that none waits for another. */
static void play(void)
{
	uint32_t gap = 1 + dice(40), stores = 20 + dice(150);
	uint32_t cycles = 6000;

	ref.from = xr_cycle(&vr) + 1;
	for (uint32_t i = 0; i < BOXES; i++, xr_run(&vr, 20))
		set_box(i, true);
	ref.cycles = 0;
	for (uint64_t k = xr_cycle(&vr) + 1 - ref.from; k < cycles + QUIET;
	     k++) {
		if (k < cycles && !dice(gap) && ref.n_msg < 250)
			message();
		if (k < cycles && k % 20 == 0 && dice(400) < stores)
			set_rp(dice(BOXES));
		else if (k < cycles && k % 20 == 0 && !dice(60))
			set_box(dice(BOXES), dice(3));
		xr_run(&vr, 1);
		seen[k] = state_now();
		ref.cycles = (uint32_t)k + 1;
	}
}

static void compare(uint64_t seed)
{
	const struct xbus *b = vr.bus[ME];
	const struct ex_velo *v = &exref_nic(&vr)->velo;

	for (uint32_t k = 70; k < ref.cycles; k++)
		if (seen[k] != ref.state[k])
			fail_msg("machine %u, cycle %u: %u, should be %u",
				 (uint32_t)seed, k, seen[k], ref.state[k]);
	assert_int_equal(b->n_log, ref.n_write);
	for (uint32_t i = 0; i < b->n_log; i++) {
		const struct ref_velo_write *w = &ref.write[i];

		assert_int_equal(b->log[i].addr, w->addr);
		assert_int_equal(b->log[i].bytes, w->bytes);
		assert_int_equal(weft_clock_cycle(&ref.cfg.ht, b->log[i].time),
				 w->given);
		if (w->status)
			assert_true(b->log[i].word == w->status);
	}
	assert_int_equal(v->received, ref.received);
	for (uint32_t i = 0; i < EXTOLL_DISCARD_N; i++)
		assert_int_equal(v->discard[i], ref.discard[i]);
	assert_int_equal(vr.nic[ME]->counters[EX_C_VELO_STALLS], ref.stalls);
}

/* Counts events over all scenarios, so that the test notices an event that
 * never happened. */
static void test_completer_does_what_the_reference_does(void **state)
{
	uint32_t stalls = 0, held = 0, discard[EXTOLL_DISCARD_N] = { 0 };

	for (uint64_t seed = 1; seed <= 60; seed++) {
		exref_seed(seed);
		open_machine();
		play();
		ref_velo_run(&ref);
		compare(seed);
		close_machine();
		stalls += ref.stalls;
		for (uint32_t k = 0; k < ref.cycles; k++)
			held += ref.state[k] == REF_VELO_WRITE;
		for (uint32_t i = 0; i < EXTOLL_DISCARD_N; i++)
			discard[i] += ref.discard[i];
	}
	assert_true(stalls > 100 && held > 100);
	for (uint32_t i = 0; i < EXTOLL_DISCARD_N; i++)
		assert_true(discard[i] > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completer_does_what_the_reference_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
