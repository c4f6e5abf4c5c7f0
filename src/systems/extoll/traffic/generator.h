/* SPDX-License-Identifier: Apache-2.0 */
/* State and internal functions of extoll.gen: generator.c (tables, sink),
 * generator_source.c (its own packets or those of a trace), generator_check.c
 * (order and bytes). */
#ifndef SYSTEMS_EXTOLL_TRAFFIC_GENERATOR_H
#define SYSTEMS_EXTOLL_TRAFFIC_GENERATOR_H

#include "systems/extoll/network/network_port.h"
#include "systems/extoll/traffic/source.h"

enum {
	EXTOLL_GEN_SENT,
	EXTOLL_GEN_RECEIVED,
	EXTOLL_GEN_BYTES,
	EXTOLL_GEN_MISROUTED,
	EXTOLL_GEN_DISORDER,
	EXTOLL_GEN_CORRUPT,
	EXTOLL_GEN_BACKLOG,
	EXTOLL_GEN_N_COUNTERS
};

/* Number of the next packet to and from each other node. Allocated only with
 * `verify`. */
struct extoll_gen_check {
	uint32_t *sent, *expected;
};

struct extoll_gen {
	struct extoll_source s;
	/* parameters: */
	uint32_t words, flits, flits_max, port, kind;
	uint32_t gap, cell_flits, slots, reserved, t_tx, t_rx;
	uint64_t size, size_max;
	bool verify;
	char sizes[48], trace[96];
	/* state: */
	struct netport np;
	uint64_t last_sent;
	/* cycle of the pending event for a packet of the trace */
	uint64_t armed;
	struct extoll_gen_check *check;
};

static inline uint64_t extoll_gen_now(const struct extoll_gen *g)
{
	return cell_channel_now(&g->np.ep);
}

/* Data for the sink, in command words that no crossbar reads. u[1] is the cycle
 * of birth, u[2] has the wait in the source, the mark and the number. */
enum { EXTOLL_GEN_WAIT = 0x7fffffff };
#define EXTOLL_GEN_MARK (1ULL << 31)
static inline void extoll_gen_stamp(struct weft_frame *f,
				    const struct net_packet *p, uint32_t number)
{
	uint64_t wait = p->injected - p->born;

	f->u[1] = p->born;
	f->u[2] = (uint64_t)number << 32 | (p->marked ? EXTOLL_GEN_MARK : 0) |
		  (wait < EXTOLL_GEN_WAIT ? wait : EXTOLL_GEN_WAIT);
}
static inline uint64_t extoll_gen_injected(const struct weft_frame *f)
{
	return f->u[1] + (f->u[2] & EXTOLL_GEN_WAIT);
}
static inline uint32_t extoll_gen_number(const struct weft_frame *f)
{
	return (uint32_t)(f->u[2] >> 32);
}

/* generator_source.c: starts the source (ops.start). Returns 0, or a negative
 * errno with a message. */
int extoll_gen_src_start(struct weft_comp *c, struct weft_err *err);
/* Sends packets while the network port has room and a packet is due. */
void extoll_gen_next(struct weft_comp *c);
/* Releases packets of the trace that depend on packet i, which has arrived. */
void extoll_gen_replay_done(struct weft_comp *c, uint32_t i);

/* generator_check.c: allocates struct extoll_gen_check if `verify` is set.
 * Returns 0, or a negative errno with a message. */
int extoll_gen_check_start(struct weft_comp *c, struct weft_err *err);
/* Returns the payload of a packet. The caller owns the reference. */
struct weft_slice extoll_gen_check_payload(struct weft_comp *c, uint32_t dest,
					   uint32_t number, uint32_t len);
/* Counts a packet that is out of order or has wrong bytes. The caller keeps
 * f. */
void extoll_gen_check_take(struct weft_comp *c, struct weft_frame *f);
/* Checks at the end of the run that all sent packets have arrived. Returns 0,
 * or -EPROTO with a message. */
int extoll_gen_check_end(struct weft_comp *c, struct weft_err *err);

/* Returns the number of flits of a packet at the source. */
uint32_t extoll_gen_flits(const struct extoll_gen *g,
			  const struct weft_frame *f);

#endif
