/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port packets (hostport.md 3.2 to 3.4) on EXTOLL's cell network. All
 * layouts are here and nowhere else.
 *
 * A packet is one weft_frame between the sending and the receiving network port
 * (systems/extoll/network/wire.h: ex_meta with no command words,
 * EX_ROUTE_RUNS). The whole packet is payload of the frame, as bytes. Words
 * have their most significant byte first:
 *
 *   DHASH, forward elements, [branches,] VPID element, [separator, return
 *   elements,] 0xFF ... to 8 bytes
 *   command frame: those of the words C0..C7 that the command has
 *   user bytes, in the order of memory
 *
 * A crossbar reads the first element. If the element names a link port, the
 * crossbar takes one hop off its count. The crossbar removes an element without
 * hops left from the frame, moves the following bytes forward and fills the end
 * with 0xFF (ex_runs_step). Therefore the frame keeps its length on its route,
 * and words of only 0xFF before the command frame are padding. The first cell
 * contains the whole routing frame.
 *
 * The format of branches is reconstructed, because the thesis has the multicast
 * port but no format. A multicast element is followed by a list of branches. A
 * branch is its length in bytes and its elements. The elements may end in
 * another multicast element, with a list of its own. On the wire a list has the
 * byte 0xF2, the length of the list in bytes, and the list. The multicast port
 * sends one copy of the packet along each branch. A copy whose branch ends in a
 * network port has no list. DTAG is HP_DTAG_ALL, so that any Host Port accepts
 * the packet.
 *
 * Internal ports 0 and 1 of a crossbar are network ports NP0 and NP1. Internal
 * port 2 is the service port, which serves as multicast port and high
 * availability port of the node. */
#ifndef SYSTEMS_HOSTPORT_NIC_WIRE_H
#define SYSTEMS_HOSTPORT_NIC_WIRE_H

#include "systems/extoll/network/place.h"
#include "systems/extoll/network/route_runs.h"

enum {
	HP_ROUTE_MAX = 48, /* largest number of elements in each direction */
	HP_FRAME_MAX = 8,  /* largest number of words of a command frame */
	HP_HOPS_MAX = 63,  /* largest number of hops of a route */
};

/* An entry of the routing space, or the part of it that a packet still has. */
struct hp_route {
	uint32_t dtag;
	uint16_t dhash;
	uint8_t nf, nr;
	uint8_t fwd[HP_ROUTE_MAX], back[HP_ROUTE_MAX];
};

#define HP_DTAG_ALL UINT32_MAX

/* Command frame (3.4). c[4..7] are 0 if the command has no such word. */
struct hp_head {
	uint64_t c[HP_FRAME_MAX];
	uint32_t vpid; /* VPID of the target, from the routing frame */
	/* number of user bytes in the packet. C3 may count more */
	uint32_t bytes;
	/* received packet: offset of the user bytes in the payload */
	uint32_t skip;
	uint8_t n_tree, tree[HP_ROUTE_MAX]; /* received: branches */
	/* received packet: return path, stored in fwd. nf is 0 if there is no
	 * return path. dtag is the sender's HPID */
	struct hp_route back;
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
/* Bits of C3 of a request (our own): epoch of the owner for whom the request is
 * meant, or 0 for any owner. The byte is free because a packet has at most 8
 * MiB. */
#define HP_C3_OWNER(c)	       ((uint32_t)(c) >> 24)
#define HP_C3_OWNER_PUT(epoch) ((uint64_t)((epoch)&0xff) << 24)

/* Returns the mask of the words C0..C7 that a command has, by its group and
 * byte. */
uint32_t hp_frame_words(uint32_t cmd);

/* Returns a new packet of class `cls` (0 request, 1 reply) along r->fwd, with
 * h->bytes user bytes that the caller fills in (hp_pkt_data). The return path
 * is r->back, and h->back is ignored. Returns NULL when hp_route_fits() returns
 * false. */
struct weft_frame *hp_pkt_new(struct weft_sim *sim, const struct hp_route *r,
			      const struct hp_head *h, uint32_t cls);
/* Result of hp_pkt_head(), which reads the head of a packet of which the first
 * `here` bytes of payload have arrived. */
enum hp_parse {
	HP_PARSE_GOOD,
	HP_PARSE_MORE, /* the head has not arrived completely */
	HP_PARSE_BAD,  /* the head is invalid */
};
enum hp_parse hp_pkt_head(const struct weft_frame *f, uint32_t here,
			  struct hp_head *h);
/* Returns the offset of the user bytes in the payload of a new packet. */
static inline uint32_t hp_pkt_skip(const struct weft_frame *f,
				   const struct hp_head *h)
{
	return f->payload.len - ((h->bytes + 7) & ~7u);
}

/* Parses an entry of n bytes. Returns false when it is too short
 * (ERR_ROUTE_INV). */
bool hp_route_parse(struct hp_route *r, const uint8_t *b, uint32_t n);
/* Returns whether the route has at least one element, at most HP_HOPS_MAX hops,
 * and a routing frame of at most EX_RUNS_BYTES bytes. */
bool hp_route_fits(const struct hp_route *r);
/* Computes the elements of the route from s to the crossbar of d. Returns their
 * count, or -1 when no such route exists. */
int hp_route_topo(const struct topology *t, uint32_t s, uint32_t d,
		  uint8_t *el);

#endif
