/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the buffered crossbar (forth.md 8.6), computed from its ports and
 * crosspoints when a report needs them. */
#include "systems/forth/switch/crossbar.h"

#include <stdio.h>
#include <string.h>

enum {
	C_PACKETS,
	C_WORDS,
	C_HEADER_CRC,
	C_BODY_CRC,
	C_ALIGN,
	C_CREDITS_IN,
	C_CREDITS_OUT,
	C_PARITY,
	C_LEAK,
	C_IDLE,
	C_BACKPRESSURE,
	C_UNKNOWN,
	C_OVERFLOW,
	C_XP_HIGH,
	C_SYNC_LOSS,
	C_UNSYNC,
	C_RESYNCS,
	C_BRAM,
	C_N
};
_Static_assert(C_N == FORTH_XBAR_COUNTERS, "xbar.h");

const struct weft_counter forth_xbar_counters[FORTH_XBAR_COUNTERS] = {
	[C_PACKETS] = { "packets", "packets", "packets sent, all outputs" },
	[C_WORDS] = { "words", "words", "line words sent, credits included" },
	[C_HEADER_CRC] = { "header_crc", "packets", "bad header CRC" },
	[C_BODY_CRC] = { "body_crc", "packets", "bad body CRC, passed on" },
	[C_ALIGN] = { "align", "events", "misaligned input" },
	[C_CREDITS_IN] = { "credits_in", "credits", "credits received" },
	[C_CREDITS_OUT] = { "credits_out", "credits", "credits sent" },
	[C_PARITY] = { "credit_parity", "credits", "credits with bad parity" },
	[C_LEAK] = { "credit_leak", "words", "charged to an unknown flow" },
	[C_IDLE] = { "idle", "cycles", "output lines without words" },
	[C_BACKPRESSURE] = { "backpressure", "cycles",
			     "chosen packets without credits" },
	[C_UNKNOWN] = { "unknown_flow", "packets", "dropped: no such port" },
	[C_OVERFLOW] = { "overflow", "words", "dropped: crosspoint full" },
	[C_XP_HIGH] = { "xp_high", "words", "fullest crosspoint ever" },
	[C_SYNC_LOSS] = { "sync_loss", "events", "inputs out of sync (4.9)" },
	[C_UNSYNC] = { "unsync", "packets", "lost while out of sync" },
	[C_RESYNCS] = { "resyncs", "times", "flows to others begun anew" },
	[C_BRAM] = { "bram", "blocks", "2 KB of FPGA memory (10.3)" },
};

static void count_port(struct weft_comp *c, uint32_t i)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[i];
	const struct forth_port_count *n = forth_port_counts(&p->link);
	uint64_t cycles = forth_port_now(&p->link), *v = c->counters;

	if (!p->link.peer)
		return;
	v[C_PACKETS] += n->tx_packets;
	v[C_WORDS] += n->out_cycles;
	v[C_HEADER_CRC] += n->header_crc;
	v[C_BODY_CRC] += n->body_crc;
	v[C_ALIGN] += n->align + n->header_align;
	v[C_CREDITS_IN] += n->credits_in;
	v[C_CREDITS_OUT] += n->credits_out;
	v[C_PARITY] += n->credit_parity;
	v[C_LEAK] += n->credit_leak;
	v[C_IDLE] += cycles > n->out_cycles ? cycles - n->out_cycles : 0;
	v[C_BACKPRESSURE] += n->backpressure;
	v[C_UNKNOWN] += p->unknown;
	v[C_OVERFLOW] += p->overflow;
	v[C_SYNC_LOSS] += n->sync_loss[0];
	v[C_UNSYNC] += n->unsync;
	v[C_RESYNCS] += n->resyncs;
}

static void counters_detail(struct weft_comp *c, const char *what, uint32_t i,
			    uint32_t o, const char *unit, uint64_t value)
{
	char name[48];

	if (o == FORTH_XBAR_NOWHERE)
		snprintf(name, sizeof(name), "port%u.%s", i, what);
	else
		snprintf(name, sizeof(name), "xp%u_%u.%s", i, o, what);
	weft_metric(c, name, unit, (double)value);
}

int forth_xbar_finish(struct weft_comp *c, struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	uint32_t i, o;

	memset(c->counters, 0, C_N * sizeof(*c->counters));
	c->counters[C_BRAM] = x->bram;
	for (i = 0; i < x->ports; i++)
		count_port(c, i);
	for (i = 0; i < x->ports; i++)
		for (o = 0; o < x->ports; o++) {
			uint32_t high = forth_xbar_xp(x, i, o)->high;

			if (high > c->counters[C_XP_HIGH])
				c->counters[C_XP_HIGH] = high;
			if (x->detail)
				counters_detail(c, "high", i, o, "words", high);
		}
	for (i = 0; x->detail && i < x->ports; i++) {
		const struct forth_port_count *n = &x->port[i].link.count;
		uint64_t cycles = forth_port_now(&x->port[i].link);
		uint64_t idle = cycles - n->out_cycles;
		const struct {
			const char *what, *unit;
			uint64_t value;
		} d[] = {
			{ "packets_in", "packets", n->rx_packets },
			{ "packets_out", "packets", n->tx_packets },
			{ "words_in", "words", n->in_cycles },
			{ "words_out", "words", n->out_cycles },
			{ "header_crc", "packets", n->header_crc },
			{ "credits_in", "credits", n->credits_in },
			{ "credits_out", "credits", n->credits_out },
			{ "idle", "cycles", cycles > n->out_cycles ? idle : 0 },
			{ "backpressure", "cycles", n->backpressure },
		};

		for (o = 0; o < sizeof(d) / sizeof(d[0]); o++)
			counters_detail(c, d[o].what, i, FORTH_XBAR_NOWHERE,
					d[o].unit, d[o].value);
	}
	return 0;
}

void forth_xbar_waiting(struct weft_comp *c, uint32_t port,
			struct weft_waiting *w)
{
	struct forth_xbar *x = c->state;

	*w = (struct weft_waiting){ .unit = "words", .knows_blocked = true };
	if (!x->port[port].link.peer)
		return;
	w->blocked = forth_port_blocked(&x->port[port].link);
	for (uint32_t i = 0; i < x->ports; i++)
		w->queued += forth_xbar_xp(x, i, port)->words;
}
