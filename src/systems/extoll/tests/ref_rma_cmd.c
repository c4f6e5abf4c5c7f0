/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the RMA: the words of commands (extoll.md 3.4, 3.5, 3.9). */
#include "ref_rma_internal.h"

bool ref_is_get(const struct cmd *c)
{
	return c->op == GET_BT || c->op == GET_QW;
}

bool ref_is_put(const struct cmd *c)
{
	return c->op == PUT_BT || c->op == PUT_QW;
}

static bool is_response(const struct cmd *c)
{
	return c->op == GET_BT_RSP || c->op == GET_QW_RSP;
}

static bool counts(const struct cmd *c)
{
	return ref_is_get(c) || ref_is_put(c) || is_response(c) ||
	       c->op == IMM_PUT;
}

static bool crosses(uint64_t a, uint32_t bytes)
{
	return a % 4096 + bytes > 4096;
}

static bool operands(const struct cmd *c)
{
	bool both = ref_is_get(c) || ref_is_put(c);

	if (!counts(c))
		return true;
	if (c->bytes > 4096 || crosses(c->w[0], c->bytes) ||
	    (both && crosses(c->w[1], c->bytes)))
		return false;
	if (c->op == GET_QW || c->op == PUT_QW)
		return !((c->bytes | c->w[0] | c->w[1]) & 7);
	return true;
}

/* Checks the options: bits 4..0 of the page are TE, INT, RRA, TC. */
static bool option(const struct program *w, const struct cmd *c)
{
	if (!(c->opt & 16) && !w->x->cfg.vpid[c->vpid].physical)
		return false;
	return !(c->opt & 12) &&
	       w->x->cfg.vpid[c->vpid].classes >> (c->opt & 3) & 1;
}

bool ref_desc(const struct program *w, const struct ref_rma_store *s,
	      struct cmd *c)
{
	uint64_t d = s->w[0];

	*c = (struct cmd){ .op = d >> 2 & 15,
			   .opt = s->opt,
			   .spec = d >> 32 & 7,
			   .mods = d >> 35 & 15,
			   .vpid = s->vpid,
			   .far_vpid = d >> 8 & 255,
			   .far_node = d >> 16 & 0xffff,
			   .low = d >> 40 & 0x7fffff,
			   .w = { s->w[1], s->w[2] } };
	if (c->op == IMM_PUT)
		c->low &= 7;
	if (c->op == NOTI_PUT)
		c->low &= 255;
	if (c->op == LOCK_REQ)
		c->low &= 1;
	c->at_resp = c->op == LOCK_REQ && c->low;
	c->bytes = counts(c) ? c->low + 1 : 0;
	if ((d & 3) != 3 || d & 0x80000080000000c0ull)
		return false;
	return (ref_is_get(c) || ref_is_put(c) || c->op == NOTI_PUT ||
		c->op == IMM_PUT || c->op == LOCK_REQ) &&
	       !(c->mods & ~2u) && option(w, c) && operands(c);
}

bool ref_packet(const struct program *w, const struct ref_rma_pkt *p,
		struct cmd *c)
{
	uint64_t h = p->h[0];

	*c = (struct cmd){ .op = h >> 39 & 15,
			   .opt = 16,
			   .spec = h >> 32 & 7,
			   .mods = h >> 35 & 15,
			   .vpid = h >> 24 & 255,
			   .far_vpid = h >> 16 & 255,
			   .far_node = h & 0xffff,
			   .low = h >> 43 & 0xfff,
			   .w = { p->h[1], p->h[2] } };
	if (c->op == NOTI_PUT)
		c->low &= 255;
	c->at_resp = c->op == LOCK_REQ && c->low & 1;
	c->bytes = counts(c) ? c->low + 1 : 0;
	if (p->malformed || h >> 56 != (w->x->cfg.node & 255))
		return false;
	return !ref_enabled(w, c->vpid) || w->x->cfg.vpid[c->vpid].pd == p->pd;
}

uint64_t ref_header(const struct program *w, const struct cmd *c, uint32_t op)
{
	return w->x->cfg.node | (uint64_t)c->vpid << 16 |
	       (uint64_t)c->far_vpid << 24 | (uint64_t)c->spec << 32 |
	       (uint64_t)c->mods << 35 | (uint64_t)op << 39 |
	       (uint64_t)(c->low & 0xfff) << 43 | 1ull << 55 |
	       (uint64_t)(c->far_node & 255) << 56;
}
