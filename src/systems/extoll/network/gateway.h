/* SPDX-License-Identifier: Apache-2.0 */
/* Gateway behind a link port of EXTOLL's crossbar, see gateway.c. Each class of
 * such gateways has its own function that finds the destination of a packet. */
#ifndef SYSTEMS_EXTOLL_NETWORK_GATEWAY_H
#define SYSTEMS_EXTOLL_NETWORK_GATEWAY_H

#include "systems/extoll/network/cell_channel.h"
#include "systems/router/network/gateway.h"

enum {
	EX_GATEWAY_UNROUTED = GATEWAY_N_COUNTERS,
	EX_GATEWAY_REPLAYS,
	EX_GATEWAY_DAMAGED,
	EX_GATEWAY_N_COUNTERS,
};

struct ex_gateway_packet { /* for the NIC */
	struct weft_frame *f;
	uint64_t ready; /* cycle from which the packet's first cell may be
			 * committed */
	uint32_t src;
};

/* Packets of a class for the NIC. */
struct ex_gateway_queue {
	struct {
		RING(struct ex_gateway_packet);
	} q;
	uint32_t flit; /* next one of the first packet */
};

struct ex_gateway {
	struct gateway g;
	/* parameters: */
	struct weft_clock core;
	uint32_t width, slots, reserved;
	/* Sets the number of the destination's end and returns true. Returns
	 * false if the route of the packet does not fit this class of
	 * gateway. */
	bool (*dest)(const struct weft_frame *f, uint32_t *end_p);
	/* state: */
	struct cell_channel ep;
	uint64_t armed; /* cycle of the pending event, or WEFT_NEVER */
	/* Cells that arrived on each VC and hold their slots. */
	uint8_t head[EX_VCS], tail[EX_VCS];
	struct ex_gateway_queue out[GATEWAY_CLASSES];
	uint32_t turn;
};

/* clang-format off */
#define EX_GATEWAY_PARAMS(core_, width_, source_)                              \
	GATEWAY_PARAMS,                                                        \
	WEFT_PARAM(CLOCK, struct ex_gateway, core, core_, "", source_,         \
		   "core clock of the link port"),                             \
	WEFT_PARAM(ENUM, struct ex_gateway, width, width_, "w16|w32", source_, \
		   "network data path of NIC and crossbar, 16 or 32 bit"),     \
	WEFT_PARAM(U32, struct ex_gateway, slots, "64", "4..128",              \
		   RECONSTRUCTED, "cells the link port holds (extoll.md 4.1)"),          \
	WEFT_PARAM(U32, struct ex_gateway, reserved, "8", "1..32",             \
		   RECONSTRUCTED, "of these for each VC (extoll.md 4.4)")
#define EX_GATEWAY_OPS(init_)                                                  \
	{ .init = init_, .start = ex_gateway_start,                            \
	  .arrive = ex_gateway_arrive, .event = ex_gateway_event,              \
	  .finish = ex_gateway_finish, .sample = ex_gateway_sample,            \
	  .place = station_place, .fini = ex_gateway_fini }
/* clang-format on */
extern const struct weft_counter ex_gateway_counters[EX_GATEWAY_N_COUNTERS];
extern const struct weft_port_decl ex_gateway_ports[];
extern const struct weft_network_parts ex_gateway_parts;

/* Operations of the class. */
int ex_gateway_init(struct weft_comp *c,
		    bool (*dest)(const struct weft_frame *f, uint32_t *end_p),
		    struct weft_err *err);
int ex_gateway_start(struct weft_comp *c, struct weft_err *err);
void ex_gateway_arrive(struct weft_comp *c, uint32_t port,
		       struct weft_frame *f);
void ex_gateway_event(struct weft_comp *c, uint32_t tag);
int ex_gateway_sample(struct weft_comp *c, struct weft_err *err);
int ex_gateway_finish(struct weft_comp *c, struct weft_err *err);
void ex_gateway_fini(struct weft_comp *c);

#endif
