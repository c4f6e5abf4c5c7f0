/* SPDX-License-Identifier: Apache-2.0 */
/* Two link ports of EXTOLL joined by a cable, for the tests of cell channels.
 * Each sends packets on four virtual channels with irregular gaps, and frees
 * received cells after irregular times. */
#ifndef EXTOLL_TESTS_EX_PAIR_H
#define EXTOLL_TESTS_EX_PAIR_H

#include "unit/cmocka_all.h"
#include "systems/extoll/network/cell_channel_framed.h"

struct ex_seen { /* a good cell */
	uint64_t cycle, id;
	uint16_t first;
	uint8_t flits, flags, vc;
};

struct ex_stream { /* sender on one virtual channel */
	struct weft_frame *pkt;
	uint32_t flit, flits;
	uint64_t ready, sent;
};

struct ex_node {
	struct cell_channel ep;
	/* parameters */
	struct weft_clock clock;
	uint32_t width, packets, gap, hold, keep, size, vcs, mode, window;
	double ppm;
	bool train, store_forward;
	/* state */
	struct weft_comp *comp;
	struct weft_rng rng;
	struct ex_stream stream[EX_VCS];
	uint64_t armed, sent_cells;
	uint32_t turn, sent;
	struct ex_seen *log;
	uint32_t n_log, cap_log;
	uint32_t voids, gone, lost, ups, downs;
	uint64_t last_good; /* cycle */
	uint8_t in_packet;
	uint8_t kept[128]; /* slots to be freed at cycle `keep` */
	uint32_t n_kept;
	uint32_t bad_order;	/* starts and ends of packets out of order */
	uint32_t bad_bytes;	/* packets that arrived with other bytes */
	struct weft_frame last; /* header and route of the last whole packet */
};

struct ex_pair {
	struct weft_sim *sim;
	struct weft_comp *comp[2], *cable, *fault[4];
	uint32_t n_faults;
	struct ex_node *n[2];
};

/* Makes the pair. set is a list of names and values that ends with NULL. "name"
 * sets a parameter of both ends, "0.name" that of end 0. */
void ex_pair_init(struct ex_pair *p, const char *const *set);
/* Inserts a fault component of class cls in the line from end `from` to the
 * other end. `set` holds the parameters of the component. Returns the
 * component. */
struct weft_comp *ex_pair_fault(struct ex_pair *p, uint32_t from,
				const struct weft_class *cls,
				const char *const *set);
void ex_pair_start(struct ex_pair *p);
void ex_pair_run(struct ex_pair *p, uint64_t cycles);
/* ex_pair_drain() runs until no event is left. ex_pair_check_all() checks that
 * all packets arrived once and in order, and that all credits are back. */
void ex_pair_drain(struct ex_pair *p, uint64_t cycles);
void ex_pair_check_all(struct ex_pair *p);
void ex_pair_fini(struct ex_pair *p);

#endif
