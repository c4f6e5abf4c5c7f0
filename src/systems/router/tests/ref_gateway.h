/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of gateways. Every gateway is simulated in every cycle, every
 * frame is a struct, and every list is an array. The network between the
 * gateways is a list of delays. A source has one delay for each packet, in the
 * order in which it makes its packets. */
#ifndef SYSTEMS_ROUTER_TESTS_REF_GATEWAY_H
#define SYSTEMS_ROUTER_TESTS_REF_GATEWAY_H

#include "base/vec.h"
#include "weft/types.h"

struct ref_gateway_params {
	uint32_t ends, flit_bytes, header_bytes, packet_bytes;
	uint32_t window, places, t_in, t_out;
};

/* A frame that a NIC sends. The frame reaches the gateway in `cycle` and waits
 * until the queue of its class has a free place. Frames of a class get places
 * in order. */
struct ref_gateway_offer {
	uint64_t cycle;
	uint32_t src, dest, cls, bytes;
};

/* Times of a packet in the tested network. */
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
	/* for each end, the packets that it made, in order, with their delays
	 * in the tested network */
	struct ref_gateway_packets {
		VEC(struct ref_gateway_packet);
	} * packets;
	/* Returns the number of cycles from the delivery of a frame to the call
	 * of gateway_done(). */
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
