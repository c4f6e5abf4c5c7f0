/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on an EXTOLL line that have a valid CRC although neither end sent
 * them: damage that the 8-bit CRC of a control cell does not detect, and damage
 * that resembles a void cell. The link comes to rest, and slots and packets
 * stay consistent. */
#include "ex_pair.h"
#include "sim/sim_internal.h"

/* ---- a fault that follows a script ---- */

struct script {
	uint32_t lose; /* number of cells lost at the beginning */
	bool acked;    /* each lost cell is acknowledged as if it had arrived */
	/* number of the cell whose CRC is inverted, from 1 on */
	uint32_t invert;
	/* control cells before the first frame: type, value */
	uint8_t control[4];
	uint32_t n_control;
	uint32_t cells, frames;
	struct weft_port *back; /* port that sends ACKs */
};

static void say(struct weft_comp *c, const struct weft_frame *f, uint32_t type,
		uint32_t value)
{
	struct weft_frame *g = ex_control_new(c->sim, EX_W32, type, value);

	g->word_fs = f->word_fs;
	g->time = f->time;
	weft_filter_pass(c, g);
}

static void answer(const struct script *s, const struct weft_frame *f,
		   uint32_t type, uint32_t value)
{
	struct weft_frame *g = ex_control_new(f->sim, EX_W32, type, value);

	g->word_fs = f->word_fs;
	weft_port_send(s->back, g, weft_now(s->back->comp) + WEFT_NS);
}

/* Sends to the sender the ACK and the credit of a cell that has not arrived. */
static void ack(const struct script *s, struct weft_frame *f)
{
	const struct ex_line *l = ex_line(f);

	answer(s, f, EX_C_ACK, l->arg);
	answer(s, f, EX_C_CREDIT + l->ctl % EX_VCS, 1);
}

static void invert(struct weft_frame *f)
{
	uint32_t n = ex_wire_link.encode(f, NULL, 0);

	f->raw = weft_raw_new(f->sim, n);
	f->raw->n = ex_wire_link.encode(f, f->raw->sym, n);
	for (uint32_t i = n - 4; i < n; i++)
		f->raw->sym[i] ^= 0xff;
}

static void script_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct script *s = c->state;

	for (uint32_t i = 0; !s->frames && i < s->n_control; i++)
		say(c, f, s->control[2 * i], s->control[2 * i + 1]);
	s->frames++;
	if (f->flags & EX_F_CELL && ++s->cells <= s->lose) {
		if (s->acked)
			ack(s, f);
		weft_frame_free(f);
		return;
	}
	if (f->flags & EX_F_CELL && s->cells == s->invert)
		invert(f);
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(script, .name = "test.script", .kind = WEFT_KIND_FAULT,
		      .doc = "a script", .state_size = sizeof(struct script),
		      .ops = { .filter = script_filter });

static void play(struct ex_pair *p, const char *packets, struct script s)
{
	struct script *to;

	ex_pair_init(p, (const char *[]){ "0.packets", packets, "1.packets",
					  "0", "size", "160", "vcs", "2", "gap",
					  "0", NULL });
	to = ex_pair_fault(p, 0, &weft_class_script, NULL)->state;
	*to = s;
	to->back = &p->comp[1]->ports[0];
	to->back->beside = true;
	/* Switches the refresh off, because a refresh reports the true credits
	 * and would stop the sender. */
	if (s.acked) {
		p->n[1]->ep.cfg.refresh = 0;
		p->n[1]->ep.next_refresh = WEFT_NEVER;
	}
	ex_pair_start(p);
	ex_pair_drain(p, 10000000);
}

/* Frees the packets that are left at both ends of the line, and checks that no
 * others exist. */
static void nothing_is_left_over(struct ex_pair *p)
{
	for (uint32_t i = 0; i < 2; i++) {
		cell_channel_abandon(&p->n[i]->ep, false);
		for (uint32_t vc = 0; vc < EX_VCS; vc++)
			if (p->n[i]->stream[vc].pkt)
				weft_frame_free(p->n[i]->stream[vc].pkt);
	}
	assert_int_equal(p->sim->live_frames, 0);
	assert_int_equal(p->sim->live_bufs, 0);
}

/* ---- properties ---- */

static void training_that_was_never_asked_for_ends(void **state)
{
	struct ex_pair p;

	play(&p, "20",
	     (struct script){ .control = { EX_C_INIT1, 0, EX_C_INIT3, 0 },
			      .n_control = 2 });
	ex_pair_check_all(&p);
	ex_pair_fini(&p);
}

static void a_cell_that_looks_void_is_sent_again(void **state)
{
	struct ex_pair p;

	for (uint32_t i = 1; i < 8; i++) {
		play(&p, "20", (struct script){ .invert = i });
		ex_pair_check_all(&p);
		assert_int_equal(p.n[1]->ep.count.nacks, 1);
		ex_pair_fini(&p);
	}
}

static void an_ack_for_a_lost_cell_takes_the_link_down(void **state)
{
	struct ex_pair p;

	for (uint32_t i = 1; i < 5; i++) {
		play(&p, "60", (struct script){ .lose = i, .acked = true });
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_DOWN);
		assert_int_equal(p.n[1]->n_log, 0);
		nothing_is_left_over(&p);
		ex_pair_fini(&p);
	}
}

/* The only packet is lost for ever, because the ACK prevents its replay. */
static void an_ack_for_the_last_cell_leaves_no_packet_behind(void **state)
{
	struct ex_pair p;

	play(&p, "1", (struct script){ .lose = 9, .acked = true });
	assert_int_equal(p.n[0]->ep.unacked, 0);
	assert_int_equal(p.n[1]->n_log, 0);
	nothing_is_left_over(&p);
	ex_pair_fini(&p);
}

/* The cell has the expected SEQ again, but is not accepted, because it is in
 * the middle of a packet whose beginning was lost. */
static void a_cell_256_ahead_is_not_the_expected_one(void **state)
{
	struct ex_pair p;

	for (uint32_t i = 0; i < 4; i++) {
		play(&p, "400",
		     (struct script){ .lose = 256 - i, .acked = true });
		assert_true(p.n[0]->ep.slow->made > 256);
		assert_int_equal(p.n[1]->n_log, 0);
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_DOWN);
		nothing_is_left_over(&p);
		ex_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(training_that_was_never_asked_for_ends),
		cmocka_unit_test(a_cell_that_looks_void_is_sent_again),
		cmocka_unit_test(an_ack_for_a_lost_cell_takes_the_link_down),
		cmocka_unit_test(
			an_ack_for_the_last_cell_leaves_no_packet_behind),
		cmocka_unit_test(a_cell_256_ahead_is_not_the_expected_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
