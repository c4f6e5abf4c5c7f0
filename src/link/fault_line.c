/* SPDX-License-Identifier: Apache-2.0 */
/* See fault.h: the wire formats that faults know. */
#include "link/fault.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "link/axbar.h"
#include "link/eport.h"
#include "link/eth_parts.h"
#include "link/extoll_frame.h"
#include "link/flink.h"

/* ---- FORTH ------------------------------------------------------------- */

static uint32_t forth_word(const struct weft_frame *f)
{
	(void)f;
	return 4;
}

static uint64_t forth_word_fs(const struct weft_port *p)
{
	struct weft_clock clk = flink_net_clock(p);

	return clk.num / clk.den;
}

static bool forth_packet(const struct weft_frame *f)
{
	return f->flags & FORTH_F_PACKET;
}

static uint32_t forth_credits(const struct weft_frame *f)
{
	return forth_shape_get(f).credits;
}

/* ---- EXTOLL ------------------------------------------------------------ */

static uint32_t ex_word(const struct weft_frame *f)
{
	return ex_flit_bytes(((const struct ex_line *)&f->u[0])->width);
}

static uint64_t ex_word_fs(const struct weft_port *p)
{
	const struct eport *ep = p->iface;

	return ep->cfg.clk.num / ep->cfg.clk.den;
}

static bool ex_packet(const struct weft_frame *f)
{
	return f->flags & EX_F_CELL;
}

static uint32_t ex_credits(const struct weft_frame *f)
{
	const struct ex_line *l = (const struct ex_line *)&f->u[0];

	return f->flags & EX_F_CONTROL && (l->type & ~3) == EX_C_CREDIT ? l->arg
									: 0;
}

static bool no_control(const struct weft_frame *f)
{
	(void)f;
	return false; /* FORTH: credits ride on packets, or alone */
}

static bool ex_control(const struct weft_frame *f)
{
	return f->flags & EX_F_CONTROL;
}

/* ---- ATOLL ------------------------------------------------------------- */

static uint32_t one_symbol(const struct weft_frame *f)
{
	(void)f;
	return 1;
}

static uint64_t at_word_fs(const struct weft_port *p)
{
	const struct axbar *x = p->iface;

	return x->clk.num / x->clk.den;
}

static bool at_packet(const struct weft_frame *f)
{
	return at_line(f)->kind != AT_STATE;
}

static bool at_control(const struct weft_frame *f)
{
	return at_line(f)->kind == AT_STATE;
}

static uint32_t no_credits(const struct weft_frame *f)
{
	(void)f;
	return 0;
}

/* ---- Ethernet ---------------------------------------------------------- */

static uint64_t eth_word_fs(const struct weft_port *p)
{
	(void)p;
	return ETH_BYTE_FS;
}

static bool eth_packet(const struct weft_frame *f)
{
	(void)f;
	return true;
}

static const struct fault_line lines[] = {
	{ .kind = FAULT_FORTH,
	  .wire = &forth_wire,
	  .encode = forth_encode_parts,
	  .bits = 8,
	  .noise = 4,
	  .word = forth_word,
	  .word_fs = forth_word_fs,
	  .packet = forth_packet,
	  .control = no_control,
	  .credits = forth_credits,
	  .credit_part = FORTH_PART_CREDIT,
	  .credit_symbols = 2 },
	{ .kind = FAULT_EXTOLL,
	  .wire = &ex_wire_link,
	  .encode = ex_encode_parts,
	  .bits = 10,
	  .noise = 16,
	  .word = ex_word,
	  .word_fs = ex_word_fs,
	  .packet = ex_packet,
	  .control = ex_control,
	  .credits = ex_credits,
	  .credit_part = EX_PART_CONTROL,
	  .credit_symbols = 3 },
	{ .kind = FAULT_ATOLL,
	  .wire = &atoll_wire,
	  .encode = at_encode_parts,
	  .bits = 9,
	  .noise = 1,
	  .word = one_symbol,
	  .word_fs = at_word_fs,
	  .packet = at_packet,
	  .control = at_control,
	  .credits = no_credits,
	  .credit_part = AT_PARTS,
	  .credit_symbols = 1 },
	{ .kind = FAULT_ETH,
	  .wire = &eth_wire,
	  .encode = eth_encode_parts,
	  .bits = 8,
	  .noise = 1,
	  .word = one_symbol,
	  .word_fs = eth_word_fs,
	  .packet = eth_packet,
	  .control = no_control,
	  .credits = no_credits,
	  .credit_part = ETH_PARTS,
	  .credit_symbols = 1 },
};

const struct fault_line *fault_line(const struct weft_comp *c)
{
	uint32_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (c->on->decl->wire == lines[i].wire)
			return &lines[i];
	return NULL;
}

struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare)
{
	const struct fault_line *l = fault_line(c);
	uint32_t n = f->raw ? f->raw->n : l->encode(f, NULL, 0);
	struct weft_raw *raw = weft_raw_new(c->sim, n + spare);

	if (f->raw) {
		memcpy(raw->sym, f->raw->sym, n * sizeof(raw->sym[0]));
		raw->n = n;
	} else {
		raw->n = l->encode(f, raw->sym, n);
	}
	return raw;
}

void fault_set(struct weft_frame *f, struct weft_raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->n; i++)
		raw->sym[i] &= (1u << FAULT_PART_SHIFT) - 1;
	free(f->raw);
	f->raw = raw;
}
