/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA: decoding and checks of commands in descriptors and packets
 * (extoll.md 3.4, 3.5, 3.9); pieces of a write (2.2, 5.4). */
#include "systems/extoll/nic/rma.h"

const char *const extoll_rma_bad_name[RMA_BADS] = {
	[RMA_FINE] = "fine",
	[RMA_BAD_FORMAT] = "format",
	[RMA_BAD_OP] = "command",
	[RMA_BAD_MODS] = "modifiers",
	[RMA_BAD_COUNT] = "count",
	[RMA_BAD_PAGE] = "page crossing",
	[RMA_BAD_ALIGN] = "alignment",
	[RMA_BAD_OPTION] = "option not allowed",
	[RMA_BAD_ROUTE] = "no route",
	[RMA_BAD_XLATE] = "translation",
	[RMA_BAD_READ] = "host read",
	[RMA_BAD_VPID] = "VPID not enabled",
	[RMA_BAD_MISROUTE] = "misrouted",
	[RMA_BAD_LOCK] = "no such lock",
	[RMA_BAD_REMOTE] = "refused by the responder",
};

/* Properties of operations. Their operands are words 1 and 2. */
enum {
	OP_KNOWN = 1,
	OP_QUAD = 2,	/* quadword form */
	OP_ADDR1 = 4,	/* word 1 is an address of `bytes` bytes */
	OP_ADDR2 = 8,	/* word 2 is an address, too */
	OP_DATA = 16,	/* its packet has payload */
	OP_HOST = 32,	/* the command may be in a descriptor */
	OP_WORDS3 = 64, /* its packet has three command words, else two */
	OP_COUNT = 128, /* the count field is a byte count */
};

static const uint8_t op_kind[RMA_OPS] = {
	[RMA_GET_BT] =
		OP_KNOWN | OP_ADDR1 | OP_ADDR2 | OP_HOST | OP_WORDS3 | OP_COUNT,
	[RMA_GET_QW] = OP_KNOWN | OP_QUAD | OP_ADDR1 | OP_ADDR2 | OP_HOST |
		       OP_WORDS3 | OP_COUNT,
	[RMA_PUT_BT] =
		OP_KNOWN | OP_ADDR1 | OP_ADDR2 | OP_DATA | OP_HOST | OP_COUNT,
	[RMA_PUT_QW] = OP_KNOWN | OP_QUAD | OP_ADDR1 | OP_ADDR2 | OP_DATA |
		       OP_HOST | OP_COUNT,
	[RMA_NOTI_PUT] = OP_KNOWN | OP_HOST,
	[RMA_IMM_PUT] = OP_KNOWN | OP_ADDR1 | OP_HOST | OP_WORDS3 | OP_COUNT,
	[RMA_GET_BT_RSP] = OP_KNOWN | OP_ADDR1 | OP_DATA | OP_COUNT,
	[RMA_GET_QW_RSP] = OP_KNOWN | OP_QUAD | OP_ADDR1 | OP_DATA | OP_COUNT,
	[RMA_LOCK_REQ] = OP_KNOWN | OP_HOST | OP_WORDS3,
	[RMA_LOCK_RSP] = OP_KNOWN,
};

/* ---- descriptors ---- */

static void desc_open(const struct extoll_rma_desc *d, struct extoll_rma_cmd *c)
{
	*c = (struct extoll_rma_cmd){
		.op = (uint8_t)RMA_D_OP(d->w[0]),
		.opt = d->opt,
		.spec = (uint8_t)RMA_D_SPEC(d->w[0]),
		.mods = (uint8_t)RMA_D_MODS(d->w[0]),
		.vpid = d->vpid,
		.far_vpid = (uint8_t)RMA_D_VPID(d->w[0]),
		.far_node = (uint16_t)RMA_D_NODE(d->w[0]),
		.w = { d->w[1], d->w[2] },
	};
	/* The field [62:40] holds bytes - 1, a class, or the target unit of a
	 * lock. */
	c->low = RMA_D_COUNT(d->w[0]) - 1;
	if (c->op == RMA_IMM_PUT)
		c->low = RMA_D_IMM(d->w[0]) - 1;
	else if (c->op == RMA_NOTI_PUT)
		c->low = RMA_D_CLASS(d->w[0]);
	else if (c->op == RMA_LOCK_REQ)
		c->low = c->at_resp = !!(d->w[0] & RMA_D_TARGET);
	if (op_kind[c->op] & OP_COUNT)
		c->bytes = c->low + 1;
}

enum extoll_rma_bad extoll_rma_desc_decode(const struct extoll_rma_desc *d,
					   uint64_t ctl, uint32_t mtu,
					   struct extoll_rma_cmd *c)
{
	uint32_t opt = d->opt, kind;

	desc_open(d, c);
	if ((d->w[0] & 3) != RMA_D_VALID || d->w[0] & RMA_D_RESERVED)
		return RMA_BAD_FORMAT;
	if (!(op_kind[c->op] & OP_HOST))
		return RMA_BAD_OP;
	if (c->mods & ~RMA_MOD_NTR)
		return RMA_BAD_MODS;
	/* Checks permissions of the requester's page (2.5, 2.6). */
	if ((!(opt & RMA_OPT_TE) && !(ctl & RMA_V_PHYSICAL)) ||
	    (opt & RMA_OPT_INT && !(ctl & RMA_V_INT)) || opt & RMA_OPT_RRA ||
	    !(RMA_V_TC(ctl) >> (opt & RMA_OPT_TC) & 1))
		return RMA_BAD_OPTION;
	kind = op_kind[c->op];
	if (c->bytes > RMA_PAGE || c->bytes > mtu)
		return RMA_BAD_COUNT;
	if (kind & OP_QUAD &&
	    (c->bytes % 8 || c->w[0] % 8 || (kind & OP_ADDR2 && c->w[1] % 8)))
		return RMA_BAD_ALIGN;
	if ((kind & OP_ADDR1 && c->w[0] % RMA_PAGE + c->bytes > RMA_PAGE) ||
	    (kind & OP_ADDR2 && c->w[1] % RMA_PAGE + c->bytes > RMA_PAGE))
		return RMA_BAD_PAGE;
	return RMA_FINE;
}

/* ---- packets ---- */

uint64_t extoll_rma_h0(const struct extoll_rma_cmd *c, uint32_t node)
{
	return EX_H0_MAKE(node, c->vpid, c->far_vpid, c->far_node) |
	       EX_PUT(c->spec, 34, 32) | EX_PUT(c->mods, 38, 35) |
	       EX_PUT(c->op, 42, 39) | EX_PUT(c->low, 54, 43) | EX_RMA_LAST;
}

uint32_t extoll_rma_words(uint32_t op)
{
	return op_kind[op] & OP_WORDS3 ? 3 : 2;
}

bool extoll_rma_packet_decode(const struct weft_frame *f,
			      struct extoll_rma_cmd *c)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	uint64_t h = f->u[0];
	uint32_t op = EX_RMA_CMD(h), len = f->payload.len;

	*c = (struct extoll_rma_cmd){
		.op = (uint8_t)op,
		.opt = RMA_OPT_TE,
		.spec = (uint8_t)EX_RMA_NOTI(h),
		.mods = (uint8_t)EX_RMA_MODS(h),
		.vpid = (uint8_t)EX_H0_DVPID(h),
		.far_vpid = (uint8_t)EX_H0_SVPID(h),
		.far_node = (uint16_t)EX_H0_SRC(h),
		.trace = f->trace_id,
		.low = EX_RMA_COUNT(h) - 1,
		.w = { f->u[1], f->u[2] },
	};
	if (op_kind[op] & OP_COUNT)
		c->bytes = c->low + 1;
	if (op == RMA_NOTI_PUT)
		c->low = EX_RMA_CLASS(h);
	c->at_resp = op == RMA_LOCK_REQ && c->low & 1;
	if (!(op_kind[op] & OP_KNOWN) || !(h & EX_RMA_LAST) ||
	    (op == RMA_IMM_PUT && c->bytes > 8) ||
	    m->words != extoll_rma_words(op))
		return false;
	/* a get response has no payload if the responder refused */
	if (!(op_kind[op] & OP_DATA) ||
	    (!len && (op == RMA_GET_BT_RSP || op == RMA_GET_QW_RSP)))
		return !len;
	return len == c->bytes;
}

/* ---- pieces of a write ---- */

uint32_t extoll_rma_split(weft_phys_t addr, uint32_t len)
{
	uint32_t to64 = 64 - addr % 64, to32 = 32 - addr % 32;

	if (addr % 4) /* bytes up to the end of the 32-byte block */
		return len < to32 ? len : to32;
	if (len >= to64)
		return to64;
	if (len >= 4) /* whole dwords first */
		return len & ~3u;
	return len;
}
