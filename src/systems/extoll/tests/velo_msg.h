/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of VELO on the bench of velo_rig.h: one rig with a sender and a
 * mailbox on each node, stores that send, packets that arrive, slots. */
#ifndef EXTOLL_TESTS_VELO_MSG_H
#define EXTOLL_TESTS_VELO_MSG_H

#include "systems/extoll/nic/nic.h"
#include "velo_rig.h"

#define BOX   (XR_MEM + 0x10000)
#define BOX_N 16
enum { PD = 0x55, ME = 0, SENDER = 7, SRC = 1 };

extern struct xr vr;

/* A message. vpid, pd and check are differences from the right values. */
struct velo_msg {
	uint32_t vpid, len, seed, pd, check;
	uint64_t flags;
};

#define MSG(...) ((struct velo_msg){ __VA_ARGS__ })

int velo_single(void **state);
int velo_pair(void **state);
int velo_teardown(void **state);
void velo_setup(uint32_t node, uint32_t slots, uint64_t flags);
void velo_fill(uint8_t *p, uint32_t n, uint32_t seed);
weft_time_t velo_send_h(uint32_t node, uint32_t vpid, uint64_t h,
			uint32_t bytes, uint32_t seed);
weft_time_t velo_send(uint32_t node, uint32_t dest, uint32_t len,
		      uint32_t seed);
uint64_t velo_drops(uint32_t node, enum extoll_drop why);
uint64_t velo_discards(uint32_t node, enum extoll_discard why);
uint64_t velo_sync(weft_time_t t, uint32_t k);
void velo_arrive(struct velo_msg m, uint64_t cycle);
void velo_check_slot(uint32_t node, uint32_t size, uint32_t i, uint32_t len,
		     uint32_t seed);
void velo_set_rp(uint32_t node, uint64_t rp);

#endif
