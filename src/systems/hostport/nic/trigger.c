/* SPDX-License-Identifier: Apache-2.0 */
/* Handles accesses of the host: finds the aperture and the page, and answers
 * loads (hostport.md 7.1 to 7.4, 7.6, 7.8).
 *
 * A load takes effect and is answered t_trigger or t_reg cycles after its
 * arrival, or at once if the bus cannot defer loads. The bus reports a load
 * once, however often its master retries, so that the CSB gets one entry
 * (CSB10). */
#include "systems/hostport/nic/nic.h"

/* ---- Triggerpage ---- */

uint64_t hp_trigger(struct hp_nic *n, uint64_t off, uint32_t bytes)
{
	uint32_t vpid = HP_TRIGGER_VPID(off), cmd = HP_TRIGGER_CMD(off);
	uint32_t par = HP_TRIGGER_PAR(off), got;
	/* other loads have no effect (7.3) */
	bool known = off % 8 == 0 && bytes >= 4;
	uint64_t val = 0;

	hp_count(n, HP_K_TRIGGERS, known);
	if (known && !(n->reg.ctrl & HP_CTRL_ENABLE)) {
		val = HP_RET_MAKE(0, HP_CTX_OFF, 0);
	} else if (known) {
		val = hp_csb_trigger(&n->csb, vpid, cmd, par);
		got = HP_RET_ACCEPTED(val);
		hp_count(n, HP_K_ACCEPTED, got);
		hp_count(n, HP_K_REJECTED, (cmd == HP_T_ISSUE ? par : 1) - got);
		hp_csb_tell(n);
		hp_fetch_go(n);
	}
	hp_marks_accepted(n, vpid, HP_RET_ACCEPTED(val));
	return val;
}

/* ---- loads ---- */

static void load_now(struct hp_nic *n, void *arg)
{
	uint64_t val;

	if (n->load.space == 1 + HP_BAR_TRIGGER)
		val = hp_trigger(n, n->load.off, n->load.bytes);
	else
		val = weft_reg_load(n->comp, n->load.space,
				    (uint32_t)n->load.off, n->load.bytes);
	hp_reply(n, val, n->load.bytes);
}

static void access_load(struct hp_nic *n, const struct weft_bus_note *note)
{
	const struct hp_block *ultra = hp_blocks[HP_BLOCK_ULTRA];
	bool trigger = note->space == 1 + HP_BAR_TRIGGER;
	uint32_t wait = trigger ? n->param.t_trigger : n->param.t_reg;

	if (note->space == 1 + HP_BAR_ULTRA && ultra && ultra->load) {
		ultra->load(n, note);
		return;
	}
	n->load.off = note->off;
	n->load.bytes = note->bytes;
	n->load.space = note->space;
	n->marks.load = trigger && HP_TRIGGER_CMD(note->off) == HP_T_ISSUE
				? weft_msg_open(n->comp)
				: 0;
	if (note->space && wait && weft_bus_defer(n->bus))
		hp_after(n, wait, load_now, NULL);
	else
		load_now(n, NULL);
}

/* ---- stores ---- */

/* Executes a store. A store to a Triggerpage or to the information page has no
 * effect. */
static void access_store(struct hp_nic *n, const struct weft_bus_note *note)
{
	const struct hp_block *ultra = hp_blocks[HP_BLOCK_ULTRA];
	bool reg = note->space <= 1 + HP_BAR_MGMT;

	if (note->space == 1 + HP_BAR_ULTRA && ultra && ultra->store)
		ultra->store(n, note);
	for (uint32_t i = 0, size; reg && i < note->bytes; i += size) {
		uint64_t val = 0;

		/* finds the largest naturally aligned piece */
		for (size = 8;
		     size > note->bytes - i || (note->off + i) % size;)
			size /= 2;
		memcpy(&val, note->data + i, size);
		weft_reg_store(n->comp, note->space, (uint32_t)(note->off + i),
			       size, val);
	}
	weft_bus_consumed(n->bus, 1);
}

/* Dispatches an access. With memory accesses off the device does not answer. */
void hp_access(struct hp_nic *n, const struct weft_bus_note *note)
{
	uint64_t on = *weft_reg_cell(n->comp, HP_REG_COMMAND, 0);

	if (note->kind == WEFT_NOTE_STORE && note->space &&
	    !(on & HP_CMD_MEMORY))
		weft_bus_consumed(n->bus, 1);
	else if (note->space && !(on & HP_CMD_MEMORY))
		return;
	else if (note->kind == WEFT_NOTE_STORE)
		access_store(n, note);
	else
		access_load(n, note);
}
