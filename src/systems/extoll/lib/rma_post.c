/* SPDX-License-Identifier: Apache-2.0 */
/* RMA user library: requests (extoll.md 3.4, 6.2). One descriptor is one
 * write-combined packet. The addresses of a descriptor must stay inside a page,
 * so that a request across pages becomes several descriptors. */
#include "systems/extoll/lib/rma_internal.h"

/* Stores a descriptor to the requester page. Word 0 holds the connection's word
 * 0, op, noti, modifier, and the further fields in w0. */
static void rma_post_post(struct rma_handle *c, uint32_t op, uint32_t noti,
			  uint32_t modifier, uint64_t w0, uint64_t w1,
			  uint64_t w2)
{
	uint64_t d[3] = { c->word0 | RMA_PUT(op, 5, 2) | RMA_PUT(noti, 34, 32) |
				  RMA_PUT(modifier, 38, 35) | w0,
			  w1, w2 };

	weft_io_copy(c->port->host, &c->page, 0, d, sizeof(d));
	weft_io_fence(c->port->host);
}

static int post_check(const struct rma_port *p, const struct rma_handle *c,
		      uint32_t noti, uint32_t modifier)
{
	if (!p)
		return RMA_INV_PORT;
	if (!c || c->port != p)
		return RMA_INV_HANDLE;
	if (noti > 7 || modifier & ~(uint32_t)RMA_MODIFIER_NTR)
		return RMA_WRONG_ARG;
	return RMA_SUCCESS;
}

/* Returns the number of bytes, at most `left`, that fit before the next page
 * end both from address a and from address b. */
static size_t rma_post_piece(uint64_t a, uint64_t b, size_t left)
{
	size_t n = RMA_PAGE - a % RMA_PAGE, m = RMA_PAGE - b % RMA_PAGE;

	n = n < m ? n : m;
	return n < left ? n : left;
}

static int post_move(struct rma_port *p, struct rma_handle *c, uint32_t op,
		     const struct rma_region *r, size_t offset, size_t bytes,
		     rma_nla_t there, uint32_t noti, uint32_t modifier)
{
	bool get = op == RMA_GET_BT || op == RMA_GET_QW;
	bool quad = op == RMA_GET_QW || op == RMA_PUT_QW;
	int ret = post_check(p, c, noti, modifier);
	uint64_t here;

	if (ret)
		return ret;
	if (!r || r->port != p || !bytes || offset > r->mem.len ||
	    bytes > r->mem.len - offset)
		return RMA_INV_VALUE;
	here = r->mem.nla + offset;
	if (quad && (here | there | bytes) % 8)
		return RMA_WRONG_ARG;
	while (bytes) {
		size_t n = rma_post_piece(here, there, bytes);

		bytes -= n;
		rma_post_post(c, op, bytes ? 0 : noti, modifier, RMA_D_BYTES(n),
			      get ? there : here, get ? here : there);
		here += n;
		there += n;
	}
	return RMA_SUCCESS;
}

/* Functions of weft/rma.h. */
#define MOVE(name, op)                                                         \
	int name(struct rma_port *p, struct rma_handle *c,                     \
		 const struct rma_region *r, size_t offset, size_t bytes,      \
		 rma_nla_t there, uint32_t noti, uint32_t modifier)            \
	{                                                                      \
		return post_move(p, c, op, r, offset, bytes, there, noti,      \
				 modifier);                                    \
	}
MOVE(rma_post_put_bt, RMA_PUT_BT)
MOVE(rma_post_put_qw, RMA_PUT_QW)
MOVE(rma_post_get_bt, RMA_GET_BT)
MOVE(rma_post_get_qw, RMA_GET_QW)

int rma_post_immediate_put(struct rma_port *p, struct rma_handle *c,
			   uint32_t bytes, uint64_t value, rma_nla_t there,
			   uint32_t noti, uint32_t modifier)
{
	int ret = post_check(p, c, noti, modifier);
	uint32_t n;

	if (ret)
		return ret;
	if (!bytes || bytes > 8)
		return RMA_INV_VALUE;
	for (; bytes; bytes -= n, there += n, value >>= 8 * (n % 8)) {
		n = (uint32_t)rma_post_piece(there, there, bytes);
		rma_post_post(c, RMA_IMM_PUT, bytes == n ? noti : 0, modifier,
			      RMA_D_BYTES(n), there, value);
	}
	return RMA_SUCCESS;
}

int rma_post_notification(struct rma_port *p, struct rma_handle *c,
			  uint64_t value, uint8_t cls, uint32_t noti,
			  uint32_t modifier)
{
	int ret = post_check(p, c, noti, modifier);

	if (ret)
		return ret;
	rma_post_post(c, RMA_NOTI_PUT, noti, modifier, RMA_PUT(cls, 47, 40),
		      value, 0);
	return RMA_SUCCESS;
}

int rma_post_lock(struct rma_port *p, struct rma_handle *c, uint32_t number,
		  int32_t compare, int32_t add, uint32_t target)
{
	int ret = post_check(p, c, target, 0);

	if (ret)
		return ret;
	if (target != RMA_NOTI_RESPONDER && target != RMA_NOTI_COMPLETER)
		return RMA_WRONG_ARG;
	if (number >= 1u << 24)
		return RMA_INV_VALUE;
	rma_post_post(c, RMA_LOCK_REQ, RMA_NOTI_COMPLETER, 0,
		      target == RMA_NOTI_RESPONDER ? RMA_D_TARGET : 0,
		      (uint64_t)(uint32_t)compare << 32 | number,
		      (uint64_t)(uint32_t)add << 32);
	return RMA_SUCCESS;
}
