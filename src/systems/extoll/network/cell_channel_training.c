/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up of an EXTOLL link port on a framed line (extoll.md 5.7):
 *
 *   ALIGN    listens for commas
 *   INIT1    sends INIT1 until it receives INIT1 or INIT2
 *   INIT2    sends INIT2 (slots) and INIT3 (SEQ that it expects) until it
 *            receives INIT3
 *   READY    sends READY, node and port; resends cells that the peer lacks
 *
 * An INIT1 in state READY means that the other end has lost alignment. This end
 * then continues in INIT2. If it sent an INIT1, it would restart the other end,
 * which may be READY by then, and both would restart each other without end. An
 * INIT2 in state READY means that the other end lacks INIT3. An end repeats
 * unanswered training cells every `timeout` cycles, `attempts` times. Then the
 * link is down. The link also goes down if commas are missing for `attempts`
 * times `timeout` cycles, or after `attempts` replays without success (4.7). A
 * link that is down comes up when commas return, or when the other end begins
 * to train. SEQ and credits start at 0 and are never reset. The meaning of the
 * values of INIT2 and INIT3 is our choice. */
#include "systems/extoll/network/cell_channel_framed.h"

#include <assert.h>

enum { COMMAS = 16 }; /* cycles of commas before alignment, own choice */

const char *const cell_channel_state_name[CELL_CHANNEL_STATES] = {
	"down", "align", "init1", "init2", "ready"
};

static void channel_training_special(struct cell_channel *ep, uint64_t cycle,
				     uint32_t type, uint32_t value)
{
	struct cell_channel_framed *s = ep->slow;

	if (s->n_specials < SLOW_SPECIALS)
		s->special[s->n_specials++] = (struct slow_ctl){
			.cycle = cycle,
			.type = (uint8_t)type,
			.value = (uint8_t)value,
		};
}

static void send_state(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	if (s->state == CELL_CHANNEL_INIT1) {
		channel_training_special(ep, cycle, EX_C_INIT1, 0);
	} else if (s->state == CELL_CHANNEL_INIT2) {
		channel_training_special(ep, cycle, EX_C_INIT2, ep->cfg.slots);
		channel_training_special(ep, cycle, EX_C_INIT3, s->expect);
	} else {
		channel_training_special(ep, cycle, EX_C_READY, 0);
		channel_training_special(ep, cycle, EX_C_NODE, ep->cfg.node);
		channel_training_special(ep, cycle, EX_C_PORT, ep->port->index);
	}
	s->again_at = cycle + ep->cfg.timeout;
}

static void channel_training_tell(struct cell_channel *ep,
				  enum cell_channel_link what)
{
	ep->slow->told = what != CELL_CHANNEL_LINK_UP;
	if (ep->ops->link)
		ep->ops->link(ep->own, ep, what);
}

static void channel_training_enter(struct cell_channel *ep,
				   enum cell_channel_state state,
				   uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	s->state = state;
	s->tries = 0;
	if (ep->line_free < cycle)
		ep->line_free = cycle;
	send_state(ep, cycle);
}

static void leave_ready(struct cell_channel *ep)
{
	struct cell_channel_framed *s = ep->slow;

	s->replaying = false;
	s->waiting = false;
	s->nack_at = WEFT_NEVER;
	s->n_specials = 0;
}

static void enter_ready(struct cell_channel *ep, uint8_t expects,
			uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	channel_training_enter(ep, CELL_CHANNEL_READY, cycle);
	if (ep->next_refresh < cycle)
		ep->next_refresh = cycle;
	if (ep->next_grant < cycle)
		ep->next_grant = cycle;
	cell_channel_retry_acked(ep, expects, cycle);
	cell_channel_retry_replay(ep, cycle);
	s->tries = 0;
	if (s->told)
		channel_training_tell(ep, CELL_CHANNEL_LINK_UP);
	ep->ops->wake(ep->own, ep, cycle);
}

void cell_channel_train_lost(struct cell_channel *ep, uint64_t cycle,
			     uint64_t back)
{
	struct cell_channel_framed *s = ep->slow;

	leave_ready(ep);
	s->aligned_at = back == WEFT_NEVER ? back : back + COMMAS;
	if (s->state == CELL_CHANNEL_DOWN)
		return;
	if (s->state != CELL_CHANNEL_ALIGN) {
		s->n.lost++;
		if (!s->told)
			channel_training_tell(ep, CELL_CHANNEL_LINK_LOST);
	}
	s->state = CELL_CHANNEL_ALIGN;
	s->down_at = cycle + (uint64_t)ep->cfg.attempts * ep->cfg.timeout;
}

void cell_channel_train_down(struct cell_channel *ep, uint64_t cycle)
{
	leave_ready(ep);
	ep->slow->state = CELL_CHANNEL_DOWN;
	ep->count.downs++;
	channel_training_tell(ep, CELL_CHANNEL_LINK_DOWN);
}

void cell_channel_train_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value)
{
	struct cell_channel_framed *s = ep->slow;

	switch (s->state) {
	case CELL_CHANNEL_DOWN:
	case CELL_CHANNEL_READY:
		if (type == EX_C_INIT2 && s->state == CELL_CHANNEL_READY)
			channel_training_special(ep, cycle, EX_C_INIT3,
						 s->expect);
		if (type != EX_C_INIT1)
			return;
		leave_ready(ep);
		channel_training_enter(ep, CELL_CHANNEL_INIT2, cycle);
		return;
	case CELL_CHANNEL_INIT1:
		if (type == EX_C_INIT1 || type == EX_C_INIT2)
			channel_training_enter(ep, CELL_CHANNEL_INIT2, cycle);
		return;
	case CELL_CHANNEL_INIT2:
		if (type == EX_C_INIT1)
			send_state(ep, cycle);
		else if (type == EX_C_INIT3)
			enter_ready(ep, (uint8_t)value, cycle);
		return;
	default:
		return;
	}
}

void cell_channel_train_event(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	if (s->state == CELL_CHANNEL_ALIGN && s->down_at <= cycle)
		cell_channel_train_down(ep, cycle);
	if ((s->state == CELL_CHANNEL_ALIGN || s->state == CELL_CHANNEL_DOWN) &&
	    s->aligned_at <= cycle) {
		s->aligned_at = WEFT_NEVER;
		channel_training_enter(ep, CELL_CHANNEL_INIT1, cycle);
	}
	if ((s->state != CELL_CHANNEL_INIT1 &&
	     s->state != CELL_CHANNEL_INIT2) ||
	    s->again_at > cycle)
		return;
	if (s->tries++ == ep->cfg.attempts)
		cell_channel_train_down(ep, cycle);
	else
		send_state(ep, cycle);
}

uint64_t cell_channel_train_next(const struct cell_channel *ep)
{
	const struct cell_channel_framed *s = ep->slow;

	switch (s->state) {
	case CELL_CHANNEL_DOWN:
		return s->aligned_at;
	case CELL_CHANNEL_ALIGN:
		return s->aligned_at < s->down_at ? s->aligned_at : s->down_at;
	case CELL_CHANNEL_INIT1:
	case CELL_CHANNEL_INIT2:
		return s->again_at;
	default:
		return WEFT_NEVER;
	}
}
