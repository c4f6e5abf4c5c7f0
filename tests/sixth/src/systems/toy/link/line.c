/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a toy line, see wire.h: a queue of slots for received packets, and
 * credits for sending. Frames begin at edges of the clock. */
#include "systems/toy/link/wire.h"
#include "weft/trace.h"

void toy_line_init(struct toy_line *l, struct weft_comp *c, uint32_t port,
		   uint32_t slots)
{
	l->comp = c;
	l->port = &c->ports[port];
	l->port->iface = l;
	l->slots = slots;
}

void toy_line_start(struct toy_line *l)
{
	const struct toy_line *far =
		l->port->peer ? l->port->peer->iface : NULL;

	l->far_slots = far ? far->slots : 0;
}

void toy_line_fini(struct toy_line *l)
{
	while (l->n)
		weft_frame_free(toy_line_take(l));
}

/* ---- sending ---- */

uint32_t toy_line_room(const struct toy_line *l)
{
	uint32_t used = (uint8_t)(l->sent - l->far_freed);

	return used < l->far_slots ? l->far_slots - used : 0;
}

static void put(struct toy_line *l, struct weft_frame *f, uint32_t symbols)
{
	f->words = symbols;
	f->word_fs = l->clk->num / l->clk->den;
	l->idle = weft_clock_after(l->clk, weft_now(l->comp), symbols);
	weft_port_send(l->port, f, weft_now(l->comp));
}

void toy_line_send(struct toy_line *l, struct weft_frame *f)
{
	toy_fields(f)->seq = l->sent++;
	weft_count(l->comp, TOY_C_SENT, 1);
	put(l, f, TOY_HEAD + toy_fields(f)->len + TOY_CRC);
}

bool toy_line_credit(struct toy_line *l)
{
	struct weft_frame *f;

	if (!l->owes)
		return true;
	if (l->idle > weft_now(l->comp))
		return false;
	f = weft_frame_new(l->comp->sim);
	*toy_fields(f) =
		(struct toy_fields){ .kind = TOY_CREDIT, .freed = l->freed };
	l->owes = false;
	put(l, f, TOY_CREDIT_SYMBOLS);
	return true;
}

/* ---- receiving ---- */

static void drop(struct toy_line *l, struct weft_frame *f, uint32_t counter)
{
	weft_count(l->comp, counter, 1);
	weft_msg_end(l->comp, f->trace_id, false);
	weft_frame_free(f);
}

/* Checks the number of a packet. If smaller numbers have not arrived, their
 * packets are lost, and the slots of these packets count as freed. Returns
 * false if the number belongs to an earlier packet. */
static bool number(struct toy_line *l, uint8_t seq)
{
	uint8_t gap = (uint8_t)(seq - l->expect);

	if (gap >= 128)
		return false;
	l->expect = (uint8_t)(seq + 1);
	l->freed = (uint8_t)(l->freed + gap);
	weft_count(l->comp, TOY_C_LOST, gap);
	return true;
}

/* Receives a frame. A credit takes effect when its first symbol arrives. */
void toy_line_arrive(struct toy_line *l, struct weft_frame *f)
{
	if (!toy_decode(f)) {
		drop(l, f, TOY_C_DAMAGED);
		return;
	}
	if (toy_fields(f)->kind == TOY_CREDIT) {
		l->far_freed = toy_fields(f)->freed;
		weft_frame_free(f);
		return;
	}
	if (!number(l, toy_fields(f)->seq) || l->n == l->slots) {
		drop(l, f, TOY_C_OVERFLOW);
		return;
	}
	weft_mark(l->comp, f->trace_id, l->stage, toy_end(f));
	l->queue[(l->head + l->n++) % TOY_SLOTS] = f;
	weft_count(l->comp, TOY_C_RECEIVED, 1);
}

struct weft_frame *toy_line_head(const struct toy_line *l)
{
	return l->n ? l->queue[l->head] : NULL;
}

struct weft_frame *toy_line_take(struct toy_line *l)
{
	struct weft_frame *f = l->queue[l->head];

	l->head = (l->head + 1) % TOY_SLOTS;
	l->n--;
	l->freed++;
	l->owes = true;
	return f;
}
