/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the transmitter of one MAC and the receiver of another, in steps
 * of 2 ns, byte by byte on the line. Tests compare it with mac82544. */
#ifndef ETHERNET_TESTS_REF_MAC_H
#define ETHERNET_TESTS_REF_MAC_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_MAC_FRAMES = 256 };

struct ref_mac_cfg {
	/* times of MAC and cable in ticks of 2 ns */
	uint32_t start, receive, cable, gap;
	uint32_t desc, data, store,
		back; /* ticks that each kind of movement takes */
	uint32_t turn, ahead, fifo;
	bool desc_ahead;
};

/* A frame, and the tick at which its descriptor is granted (TDT). */
struct ref_mac_frame {
	uint64_t granted;
	uint32_t len;
};

struct ref_mac_out {
	uint64_t sent; /* tick at which the gap behind the frame has ended */
	/* tick at which the frame's receive descriptor was written back, or 0
	 * if the frame was missed */
	uint64_t stored;
};

/* Runs the reference. The receiver has descriptors for all frames. */
void ref_mac_run(const struct ref_mac_cfg *cfg, const struct ref_mac_frame *in,
		 uint32_t n, struct ref_mac_out *out);

#endif
