/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of an Ethernet switch in steps of 2 ns. Bytes arrive and leave one
 * by one, without events or shortcuts. Tests compare it with eth.switch. */
#ifndef ETHERNET_TESTS_REF_ETH_H
#define ETHERNET_TESTS_REF_ETH_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_TICKS = 4 /* per byte */, REF_PORTS = 8, REF_PAUSE = 0xffff };

struct ref_eth_frame {
	uint32_t port, len, id;
	uint64_t start; /* tick of the frame's first byte */
	/* source and destination station. A dst of REF_PAUSE marks a pause
	 * frame */
	uint32_t src, dst;
	uint32_t quanta;
	bool bad;
};

struct ref_eth_cfg {
	uint32_t ports, latency, buffer, xoff, xon, quanta; /* latency: ticks */
	bool cut, pause;
	uint64_t ageing; /* ticks */
};

struct ref_eth_out {
	uint64_t start;
	/* id of the frame, or REF_PAUSE << 16 | quanta for a pause frame */
	uint32_t port, id;
};

/* Runs the switch. `in` holds the frames of all ports. The frames of each port
 * are in order of time. Writes at most `max` outputs. Returns the number of
 * outputs, and the number of frames dropped. */
uint32_t ref_eth_run(const struct ref_eth_cfg *cfg,
		     const struct ref_eth_frame *in, uint32_t n,
		     struct ref_eth_out *out, uint32_t max, uint32_t *dropped);

#endif
