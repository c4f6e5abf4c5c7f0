/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the traffic component extoll.gen: generator.c (tables, sink),
 * generator_source.c (packets of its own making), generator_replay.c (packets
 * of a trace), generator_check.c (order and bytes). */
#ifndef SYSTEMS_EXTOLL_TRAFFIC_GENERATOR_H
#define SYSTEMS_EXTOLL_TRAFFIC_GENERATOR_H

#include "base/vec.h"
#include "net/pattern.h"
#include "systems/extoll/network/direct_network.h"
#include "systems/extoll/network/network_port.h"

enum { EXTOLL_GEN_SIZES = 8 };
struct mix;

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

/* Numbers of packets, by the other node; only with `verify`. */
struct extoll_gen_check {
	uint32_t *sent, *expected;
};

/* Packets whose time has come or will come without others. */
struct extoll_gen_replay {
	struct trace *t;
	uint32_t at, end; /* in t->order */
	struct {
		VEC(uint32_t);
	} ready; /* heap, by cycle: those that had to wait for others */
	uint64_t armed;
};

struct extoll_gen {
	struct ex_place place;
	/* parameters */
	uint32_t node, nodes, pattern, dest, arrivals, words, flits, flits_max;
	uint32_t port, kind, width, gap, cell_flits, slots, reserved;
	uint32_t t_tx, t_rx;
	uint64_t size, size_max, packets, permutation;
	double hot, load, burst, peak;
	struct weft_clock clock;
	bool self, verify;
	char sizes[48], trace[96];
	/* run */
	struct netport np;
	struct arrivals arr;
	struct pattern pat;
	struct extoll_net *net;
	uint64_t made, last_sent;
	struct mix *mix; /* sizes that are listed */
	struct extoll_gen_check *check;
	struct extoll_gen_replay *replay;
};

static inline uint64_t extoll_gen_now(const struct extoll_gen *g)
{
	return cell_channel_now(&g->np.ep);
}

/* Fields that the sink needs of a packet, in words that are not looked at on
 * the way: u[1] cycle of birth, u[2] wait in the source, mark and number. */
enum { EXTOLL_GEN_WAIT = 0x7fffffff };
#define EXTOLL_GEN_MARK (1ULL << 31)
static inline void extoll_gen_stamp(struct weft_frame *f,
				    const struct extoll_net_pkt *p,
				    uint32_t number)
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

/* generator_source.c */
int extoll_gen_src_start(struct weft_comp *c, struct weft_err *err);
/* A packet to d of `size` payload bytes (raw: flits in all), born at `born`. */
struct weft_frame *extoll_gen_packet(struct weft_comp *c, uint32_t d,
				     uint32_t size, bool raw);
void extoll_gen_submit(struct weft_comp *c, struct weft_frame *f, uint64_t born,
		       uint32_t number);
/* The network port has room for one more. */
void extoll_gen_next(struct weft_comp *c);
/* Packets it will make, UINT64_MAX = no end. */
uint64_t extoll_gen_total(const struct extoll_gen *g);
/* For extoll_net_source. */
struct extoll_net_backlog extoll_gen_backlog(const struct weft_comp *c,
					     uint64_t from, uint64_t cycle);

/* generator_replay.c */
int extoll_gen_replay_start(struct weft_comp *c, struct weft_err *err);
void extoll_gen_replay_next(struct weft_comp *c);
/* Packet i of the trace is here: others may go. */
void extoll_gen_replay_done(struct weft_comp *c, uint32_t i);
void extoll_gen_replay_fini(struct extoll_gen *g);

/* generator_check.c */
int extoll_gen_check_start(struct weft_comp *c, struct weft_err *err);
uint32_t extoll_gen_check_number(struct extoll_gen *g, uint32_t dest);
struct weft_slice extoll_gen_check_payload(struct weft_comp *c, uint32_t dest,
					   uint32_t number, uint32_t len);
void extoll_gen_check_take(struct weft_comp *c, struct weft_frame *f);
/* Nothing is left to happen: has all that was sent come? */
int extoll_gen_check_end(struct weft_comp *c, struct weft_err *err);
void extoll_gen_check_fini(struct extoll_gen *g);

/* Flits of a packet at the source. */
uint32_t extoll_gen_flits(const struct extoll_gen *g,
			  const struct weft_frame *f);

#endif
