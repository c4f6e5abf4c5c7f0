/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways, cycle by cycle: every frame is a struct, every list an array, and
 * every gateway is asked in every cycle what it may do. The network between
 * gateways is a list of delays, one for each packet, in the order in which its
 * source made the packets. */
#ifndef SYSTEMS_ROUTER_TESTS_REF_GATEWAY_H
#define SYSTEMS_ROUTER_TESTS_REF_GATEWAY_H

#include "base/vec.h"
#include "weft/types.h"

struct ref_gateway_params {
	uint32_t ends, flit_bytes, header_bytes, packet_bytes;
	uint32_t window, places, t_in, t_out;
};

/* A frame that a NIC offers. The frame is at the gateway from `cycle` on. It
 * waits there for a place behind earlier frames of its class. */
struct ref_gateway_offer {
	uint64_t cycle;
	uint32_t src, dest, cls, bytes;
};

/* A packet in the order in which its source made it. */
struct ref_gateway_packet {
	uint32_t src, dest, flits;
	uint64_t sent;	/* cycle of its first flit */
	uint64_t takes; /* cycles until its last flit has arrived */
};

/* A frame that a gateway hands to its NIC. */
struct ref_gateway_delivery {
	uint64_t cycle;
	uint32_t offer; /* index of the frame */
};

struct ref_gateway_case {
	struct ref_gateway_params p;
	struct {
		VEC(struct ref_gateway_offer);
	} offers; /* by cycle */
	/* Packets of each end, with the delays that they had in the tested
	 * network. */
	struct ref_gateway_packets {
		VEC(struct ref_gateway_packet);
	} * packets;
	/* Returns the cycles for which a NIC keeps a frame before the gateway
	 * hears that it has left. */
	uint64_t (*keeps)(uint32_t offer);
	uint64_t cycles;
};

struct ref_gateway_result {
	/* Cycles of the packets' first flits, by end. */
	struct ref_gateway_packets *packets;
	struct {
		VEC(struct ref_gateway_delivery);
	} delivered;
};

/* Runs the case. The caller frees the arrays of the result. */
void ref_gateway_run(const struct ref_gateway_case *c,
		     struct ref_gateway_result *r);

#endif
