/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of hostport.neighbours: see isolation.c. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_ISOLATION_H
#define SYSTEMS_HOSTPORT_PROGRAMS_ISOLATION_H

#include "programs/program.h"
#include "systems/hostport/lib/crowd.h"

enum hpn_kind {
	HPN_NONE,
	HPN_GOOD,
	HPN_TRIGGERS,
	HPN_NQ_FULL,
	HPN_BAD_CONTEXT,
	HPN_FORGED_PAGE,
	HPN_LOCKED,
	HPN_TLB_MISS,
	HPN_LONG_MISS,
	HPN_TARGET_MISS,
	HPN_GET_MISS,
	HPN_ATOMIC_MISS,
};
#define HPN_KINDS                                                              \
	"none|good|triggers|nq_full|bad_context|forged_page|locked_window|"    \
	"tlb_miss|long_miss|target_miss|get_miss|atomic_miss"

/* Instructions of victims. HPN_MIX issues all of them in turn. */
enum { HPN_PUT, HPN_GET, HPN_MESSAGE, HPN_FAA, HPN_MIX };
#define HPN_WAYS "put|get|message|faa|mix"

enum {
	HPN_SLOTS = HPORT_CROWD_WQ,
	HPN_FROM = HPORT_CROWD_WINS, /* window from which instructions read */
	HPN_TO,			     /* window to which instructions write */
};

struct hpn_scene;

struct hpn_actor {
	struct hpn_scene *of;
	uint32_t id, depth, out, filled;
	uint64_t posted, done, failed, tries;
	/* since[i % HPN_SLOTS]: time at which instruction i was posted */
	weft_time_t since[HPN_SLOTS];
	weft_time_t sum, max;
	weft_time_t next; /* time of the next attempt of a neighbour */
	struct weft_rng rng;
};

struct hpn_scene {
	uint32_t victims, neighbours, kind, depth, greedy, greed, pages, cpus;
	uint32_t way, weight, weight_next, roam;
	bool fault;
	weft_time_t time, period, pause;
	uint64_t size, bytes, length;
	struct program w;
	struct hport_crowd hp;
	struct hport_peer to;
	struct hpn_actor *a;
	weft_time_t begun, from, until;
};

static inline bool hpn_is_victim(const struct hpn_actor *a)
{
	return a->id < a->of->victims;
}
static inline enum hpn_kind hpn_kind_of(const struct hpn_actor *a)
{
	return hpn_is_victim(a) ? HPN_GOOD : a->of->kind;
}
static inline uint32_t hpn_weight(const struct hpn_actor *a)
{
	if (!hpn_is_victim(a) || a->id % 3 == 0)
		return 1;
	return a->id % 3 == 2 ? a->of->weight : a->of->weight_next;
}
static inline bool hpn_misses(enum hpn_kind k)
{
	return k >= HPN_TLB_MISS;
}

/* Runs the function of a light process once (isolation_process.c). Returns the
 * event for which the process waits next. */
struct weft_turn hpn_turn(struct weft_host *h, struct weft_proc *proc,
			  void *arg);

#endif
