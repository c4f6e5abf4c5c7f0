/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port packets (hostport.md 3.2 to 3.4) on EXTOLL's cell network.  All
 * layouts are here and nowhere else.
 *
 * A packet is one weft_frame from the network port that sends it to the one
 * that takes it (systems/extoll/network/wire.h: ex_meta with no command words,
 * EX_ROUTE_RUNS). All of it is payload of the frame, as bytes, words most
 * significant byte first:
 *
 *   DHASH, forward elements, [branches,] VPID element, [separator, return
 *   elements,] 0xFF ... to 8 bytes
 *   command frame C0..C7 (those that its command has)
 *   user bytes, in the order of memory
 *
 * A crossbar looks at the first element: it takes one hop off the count of a
 * link port, and an element that is used up out of the frame; what is behind it
 * moves up, and 0xFF takes the place at the end (ex_runs_step).  So the frame
 * keeps its length on the way, and words of nothing but 0xFF in front of the
 * command frame are padding.  All of the frame is in the first cell.
 *
 * Branches (R; the thesis has the multicast port and no format): what follows a
 * multicast element is a list of branches, each its length in bytes and its
 * elements, which may again end in a multicast element with branches.  On the
 * wire 0xF2, bytes of the list, the list.  The multicast port sends one copy
 * along each; the last one of a branch that ends in a network port has no list
 * any more.  DTAG is HP_DTAG_ALL: any Host Port takes it.
 *
 * Internal ports of a crossbar: 0 and 1 are network ports NP0 and NP1, 2 is the
 * service port: multicast port and high availability port of the node. */
#ifndef SYSTEMS_HOSTPORT_NIC_WIRE_H
#define SYSTEMS_HOSTPORT_NIC_WIRE_H

#include "systems/extoll/network/place.h"
#include "systems/extoll/network/route_runs.h"

enum {
	HP_ROUTE_MAX = 48, /* elements each way */
	HP_FRAME_MAX = 8,  /* words of a command frame */
	HP_HOPS_MAX = 63,  /* of a way */
};

/* An entry of the routing space, or what is left of it in a packet. */
struct hp_route {
	uint32_t dtag;
	uint16_t dhash;
	uint8_t nf, nr;
	uint8_t fwd[HP_ROUTE_MAX], back[HP_ROUTE_MAX];
};

#define HP_DTAG_ALL UINT32_MAX

/* Command frame (3.4).  c[4..7] stay 0 where the command has no such word. */
struct hp_head {
	uint64_t c[HP_FRAME_MAX];
	uint32_t vpid;	/* target, from the routing frame */
	uint32_t bytes; /* user bytes that follow; C3 may say more */
	uint32_t skip;	/* received: where they begin in the payload */
	uint8_t n_tree, tree[HP_ROUTE_MAX]; /* received: branches */
	struct hp_route back; /* received: the return path as fwd, nf 0 = none;
			       * dtag = the sender's HPID */
};

#define HP_C0(cmd, hpid, vpid)                                                 \
	((uint64_t)(cmd) << 48 | (uint64_t)(hpid) << 16 | (uint16_t)(vpid))
#define HP_C0_CMD(c)	 ((uint32_t)((c) >> 48))
#define HP_C0_HPID(c)	 ((uint32_t)((c) >> 16))
#define HP_C0_VPID(c)	 ((uint32_t)(c)&0xffff)
#define HP_C1(orig, tag) ((uint64_t)(orig) << 48 | ((tag)&0xffffffffffffull))
#define HP_C1_ORIG(c)	 ((uint32_t)((c) >> 48))
#define HP_C1_TAG(c)	 ((c)&0xffffffffffffull)
#define HP_C3(dtag, n)	 ((uint64_t)(dtag) << 32 | (uint32_t)(n))
#define HP_C3_DTAG(c)	 ((uint32_t)((c) >> 32))
#define HP_C3_SIZE(c)	 ((uint32_t)(c)&0xffffff)
/* Requests, our own: epoch of the owner that is meant, 0 = any.  (A packet has
 * 8 MiB at most.) */
#define HP_C3_OWNER(c)	       ((uint32_t)(c) >> 24)
#define HP_C3_OWNER_PUT(epoch) ((uint64_t)((epoch)&0xff) << 24)

/* Mask of the command words C0..C7 that a command has, by group and byte. */
uint32_t hp_frame_words(uint32_t cmd);

/* A packet of `cls` (0 request, 1 reply) along r->fwd, with h->bytes user bytes
 * whose contents are the caller's (hp_pkt_data).  h->back is not looked at:
 * r->back goes along.  NULL: hp_route_fits says no. */
struct weft_frame *hp_pkt_new(struct weft_sim *sim, const struct hp_route *r,
			      const struct hp_head *h, uint32_t cls);
/* Reads it, when `here` bytes of its payload have come. */
enum hp_parse {
	HP_PARSE_GOOD,
	HP_PARSE_MORE, /* the head has not come to its end */
	HP_PARSE_BAD,  /* it makes no sense */
};
enum hp_parse hp_pkt_head(const struct weft_frame *f, uint32_t here,
			  struct hp_head *h);
/* Offset of the user bytes in the payload of a packet just made. */
static inline uint32_t hp_pkt_skip(const struct weft_frame *f,
				   const struct hp_head *h)
{
	return f->payload.len - ((h->bytes + 7) & ~7u);
}

/* Parses an entry of n bytes; false: it is too short (ERR_ROUTE_INV). */
bool hp_route_parse(struct hp_route *r, const uint8_t *b, uint32_t n);
/* There is a way, of at most HP_HOPS_MAX hops, and its routing frame is at most
 * EX_RUNS_BYTES bytes. */
bool hp_route_fits(const struct hp_route *r);
/* The way from s to the crossbar of d, as elements; count, or -1: none. */
int hp_route_topo(const struct topology *t, uint32_t s, uint32_t d,
		  uint8_t *el);

#endif
