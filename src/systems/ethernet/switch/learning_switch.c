/* SPDX-License-Identifier: Apache-2.0 */
/* Class eth.switch: a commodity learning switch (hvia.md 4; IEEE 802.1D without
 * spanning tree, 802.3x). The mode determines when the switch decides
 * where to send a frame:
 *
 *   store  after the last byte. The switch drops a bad frame
 *   cut    after the header. The switch forwards bad frames, too. A frame is
 *          stored only while its output is busy
 *
 * A frame can leave `latency` after the decision. It occupies the shared buffer
 * from the decision until its last copy has left. If the buffer has no room,
 * the frame is lost (tail drop). With full = pause the switch sends pause
 * frames to its senders while more than `xoff` bytes of the buffer are in use.
 *
 * Not modelled: spanning tree, VLANs, priorities, limits for each port. */
#include "systems/ethernet/switch/learning_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/ethernet/link/wire_parts.h"

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct esw, field, def, range, source, doc)
static const struct weft_param params[] = {
	P(U32,   ports,     "8",      "2..1024",      OWN,           "number of ports"),
	P(ENUM,  mode,      "store",  "store|cut",    RECONSTRUCTED, "store and forward, or cut-through (4)"),
	P(TIME,  latency,   "1.5us",  "1fs..",        RECONSTRUCTED, "from the last byte (cut: of the header) to the first one that leaves (4)"),
	P(BYTES, buffer,    "512KiB", "2KiB..",       RECONSTRUCTED, "shared by all outputs (4)"),
	P(ENUM,  full,      "drop",   "drop|pause",   RECONSTRUCTED, "a full buffer loses frames, or pauses who sends (4)"),
	P(BYTES, xoff,      "256KiB", "1..",          OWN,           "pause above that many bytes"),
	P(BYTES, xon,       "128KiB", "1..",          OWN,           "and end it at that many"),
	P(U32,   quanta,    "65535",  "1..65535",     OWN,           "time of a pause, in 512 ns"),
	P(U32,   table,     "4096",   "4..1048576",   OWN,           "stations it can know; 4 times a power of two"),
	P(TIME,  ageing,    "300s",   "1fs..",        OWN,           "a station that is silent so long is forgotten (802.1D)"),
	P(U32,   frame_max, "9014",   "60..16384",    OWN,           "longest frame without FCS"),
	{ 0 }
};
#undef P

static const struct weft_counter counters[ESW_C_N] = {
	[ESW_C_IN]       = { "in", "frames", "good frames received (cut: all)" },
	[ESW_C_OUT]      = { "out", "frames", "frames sent, each copy" },
	[ESW_C_FLOODED]  = { "flooded", "frames", "sent to all other ports: unknown station or group" },
	[ESW_C_FILTERED] = { "filtered", "frames", "their station is where they came from" },
	[ESW_C_DROPPED]  = { "dropped", "frames", "found no room in the buffer" },
	[ESW_C_DROPPED_BYTES] = { "dropped_bytes", "bytes", "of those" },
	[ESW_C_BAD]      = { "bad", "frames", "wrong FCS, too short or too long: dropped" },
	[ESW_C_RESERVED] = { "reserved", "frames", "to 01:80:c2:00:00:0x: not for a switch to forward" },
	[ESW_C_PEAK]     = { "buffer_peak", "bytes", "most bytes of the buffer in use" },
	[ESW_C_LEARNED]  = { "learned", "stations", "new in the table" },
	[ESW_C_MOVED]    = { "moved", "stations", "heard at another port than before" },
	[ESW_C_EVICTED]  = { "evicted", "stations", "forgotten for another one" },
	[ESW_C_PAUSE_IN] = { "pause_in", "frames", "pause frames received" },
	[ESW_C_PAUSE_OUT] = { "pause_out", "frames", "pause frames sent" },
};
/* clang-format on */

static const struct weft_port_decl ports[] = {
	{ "port%u", WEFT_PORT_LINK, "ports", &eth_wire, .optional = true,
	  .doc = "1000BASE-T" },
	{ 0 }
};

/* ---- arriving frames ---- */

/* Returns the time at which the switch decides where to send a frame. */
static weft_time_t look_at(const struct esw *w, const struct weft_frame *f)
{
	uint32_t n = f->words, head = ETH_PREAMBLE + ETH_HEAD;

	return f->time +
	       (w->mode == ESW_CUT && n > head ? head : n) * ETH_BYTE_FS;
}

static void learning_switch_learn(struct esw *w, const uint8_t *src,
				  uint32_t in)
{
	static const uint8_t count[] = { [ETH_NEW] = ESW_C_LEARNED,
					 [ETH_MOVED] = ESW_C_MOVED,
					 [ETH_EVICTED] = ESW_C_EVICTED };
	enum eth_learned what;

	if (eth_is_group(src))
		return;
	what = eth_table_learn(&w->stations, eth_addr_key(src), in,
			       weft_now(w->comp));
	if (what != ETH_KNOWN)
		weft_count(w->comp, count[what], 1);
}

/* Handles frames to addresses 01:80:c2:00:00:00 to 0f, which a switch does not
 * forward. Returns true for such a frame. */
static bool for_us(struct esw *w, const struct weft_frame *f,
		   const uint8_t *dst, uint32_t in)
{
	uint16_t quanta;

	if (memcmp(dst, eth_pause_group, ETH_ADDR - 1) || dst[5] & 0xf0)
		return false;
	if (w->full == ESW_PAUSE && !f->raw && eth_pause_parse(f, &quanta)) {
		weft_count(w->comp, ESW_C_PAUSE_IN, 1);
		w->p[in].pause = weft_now(w->comp) + quanta * ETH_PAUSE_QUANTA;
		esw_out_next(w, in);
	} else {
		weft_count(w->comp, ESW_C_RESERVED, 1);
	}
	return true;
}

static void learning_switch_look(struct esw *w, struct weft_frame *f,
				 uint32_t in)
{
	uint32_t to = ETH_NO_PORT;
	uint8_t head[ETH_HEAD];

	/* only a store-and-forward switch checks the FCS, because a cut-through
	 * switch decides before the FCS has arrived */
	if ((w->mode == ESW_STORE &&
	     eth_frame_check(f, w->frame_max) != ETH_GOOD) ||
	    !eth_frame_peek(f, head, ETH_HEAD) ||
	    f->words > eth_wire_bytes(w->frame_max)) {
		weft_count(w->comp, ESW_C_BAD, 1);
		weft_frame_free(f);
		return;
	}
	weft_count(w->comp, ESW_C_IN, 1);
	if (!f->raw) /* do not learn from a damaged frame, because its address
			may be wrong */
		learning_switch_learn(w, head + ETH_ADDR, in);
	if (!eth_is_group(head))
		to = eth_table_find(&w->stations, eth_addr_key(head),
				    weft_now(w->comp));
	if (for_us(w, f, head, in)) {
		weft_frame_free(f);
	} else if (to == in) {
		weft_count(w->comp, ESW_C_FILTERED, 1);
		weft_frame_free(f);
	} else {
		esw_forward(w, f, in, to, weft_now(w->comp) + w->latency);
	}
}

static void in_event(struct esw *w, uint32_t i)
{
	struct esw_port *p = &w->p[i];

	if (!weft_timer_due(w->comp, &p->in))
		return;
	while (p->line && look_at(w, p->line) <= weft_now(w->comp)) {
		struct weft_frame *f = p->line;

		p->line = f->next;
		learning_switch_look(w, f, i);
	}
	if (p->line)
		weft_timer_arm(w->comp, &p->in, i, look_at(w, p->line));
}

/* Inserts the frame in order of decisions, because a fault may let frames
 * overlap. */
static void esw_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct esw *w = c->state;
	struct weft_frame **at = &w->p[port].line;
	weft_time_t t = look_at(w, f);

	while (*at && look_at(w, *at) <= t)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	weft_timer_arm(c, &w->p[port].in, port, look_at(w, w->p[port].line));
}

/* ---- events, set-up ---- */

static void esw_event(struct weft_comp *c, uint32_t tag)
{
	static void (*const fn[])(struct esw *, uint32_t) = { in_event,
							      esw_done_event,
							      esw_start_event };
	struct esw *w = c->state;

	fn[tag / w->ports](w, tag % w->ports);
}

static int esw_init(struct weft_comp *c, struct weft_err *err)
{
	struct esw *w = c->state;

	w->comp = c;
	if (w->table % ETH_WAYS || w->table & (w->table - 1))
		return weft_fail(
			err, EINVAL,
			"%s: table = %u: 4 times a power of two is needed",
			c->name, w->table);
	if (w->xon > w->xoff || w->xoff > w->buffer)
		return weft_fail(err, EINVAL,
				 "%s: xon <= xoff <= buffer is needed",
				 c->name);
	w->p = calloc(w->ports, sizeof(*w->p));
	w->stations = (struct eth_table){
		.at = calloc(w->table, sizeof(*w->stations.at)),
		.sets = w->table / ETH_WAYS,
		.ageing = w->ageing,
	};
	if (!w->p || !w->stations.at)
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	for (uint32_t i = 0; i < w->ports; i++)
		w->p[i].port = &c->ports[i];
	memcpy(w->addr, "\x02\xff\xff\0\0\1", ETH_ADDR);
	return 0;
}

static void esw_fini(struct weft_comp *c)
{
	struct esw *w = c->state;

	if (w->p)
		esw_out_fini(w);
	free(w->p);
	free(w->stations.at);
}

WEFT_COMPONENT(eth_switch, .name = "eth.switch", .kind = WEFT_KIND_SWITCH,
	       .doc = "learning Ethernet switch with a shared buffer",
	       .source = "hvia.md 4; IEEE 802.1D, 802.3x",
	       .not_modelled = "spanning tree, VLANs, priorities",
	       .state_size = sizeof(struct esw), .params = params,
	       .counters = counters, .n_counters = ESW_C_N, .ports = ports,
	       .ops = { .init = esw_init,
			.arrive = esw_arrive,
			.event = esw_event,
			.waiting = esw_waiting,
			.fini = esw_fini });
