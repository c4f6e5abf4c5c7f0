/* SPDX-License-Identifier: Apache-2.0 */
/* See velo_msg.h. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "velo_msg.h"

struct xr vr;

/* Sets up sender VPID and mailbox VPID of one node. */
void velo_setup(uint32_t node, uint32_t slots, uint64_t flags)
{
	xr_setup(&vr, node);
	xr_w64(&vr, node, EXTOLL_VELO_TX + 8 * SENDER,
	       EXTOLL_TX(node, SENDER, PD));
	xr_w64(&vr, node, EXTOLL_VELO_RX_BASE + 8 * 3, BOX);
	xr_w64(&vr, node, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, slots, EXTOLL_RX_ENABLE | flags));
}

void velo_fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed * 37 + i * 11 + 1);
}

/* Stores a message with one store for each 64-byte line. */
weft_time_t velo_send_h(uint32_t node, uint32_t vpid, uint64_t h,
			uint32_t bytes, uint32_t seed)
{
	uint8_t buf[256] = { 0 };
	weft_time_t t = 0;

	memcpy(buf, &h, 8);
	velo_fill(buf + 8, EXTOLL_SEND_LEN(h), seed);
	for (uint32_t off = 0; off < bytes; off += 64)
		t = xr_store(&vr, node, extoll_velo_page(0, vpid) + off,
			     buf + off, bytes - off < 64 ? bytes - off : 64);
	return t;
}

weft_time_t velo_send(uint32_t node, uint32_t dest, uint32_t len, uint32_t seed)
{
	uint64_t h = EXTOLL_SEND(dest, 3, seed & 3, seed, len);

	return velo_send_h(node, SENDER, h, EXTOLL_SEND_BYTES(len), seed);
}

uint64_t velo_drops(uint32_t node, enum extoll_drop why)
{
	return xr_r64(&vr, node, EXTOLL_VELO_DROP + 8 * why);
}

uint64_t velo_discards(uint32_t node, enum extoll_discard why)
{
	return xr_r64(&vr, node, EXTOLL_VELO_DISCARD + 8 * why);
}

int velo_single(void **state)
{
	xr_single(&vr, "");
	velo_setup(ME, BOX_N, 0);
	return 0;
}

int velo_teardown(void **state)
{
	xr_free(&vr);
	return 0;
}

/* Returns the first core edge at or after t + k - 1/2 cycles. */
uint64_t velo_sync(weft_time_t t, uint32_t k)
{
	return weft_clock_cycle(&vr.core, t + (2 * k - 1) * vr.core.num /
							  (2 * vr.core.den));
}

int velo_pair(void **state)
{
	xr_pair(&vr, "");
	velo_setup(0, BOX_N, 0);
	velo_setup(1, BOX_N, 0);
	return 0;
}

/* Delivers a message as the network does, with the nibbles of its route used
 * up. */
void velo_arrive(struct velo_msg m, uint64_t cycle)
{
	struct weft_frame *f = weft_frame_new(vr.sim);

	f->u[0] = EX_H0_MAKE(SRC, 9, 3 + m.vpid, ME + m.check) |
		  EX_PUT(m.seed & 3, 33, 32) | EX_VELO_EOM |
		  EX_PUT(m.seed, 47, 40) | EX_PUT(m.len, 54, 48) | m.flags;
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	f->flags = (PD + m.pd) << 16;
	f->payload = weft_slice_new(vr.sim, m.len);
	if (m.len)
		velo_fill(weft_slice_data(f->payload), m.len, m.seed);
	xr_send(&vr, 0, f, cycle);
}

/* Checks that slot i holds message `seed` of len bytes and no further bytes
 * (extoll.md 3.3). */
void velo_check_slot(uint32_t node, uint32_t size, uint32_t i, uint32_t len,
		     uint32_t seed)
{
	const uint8_t *slot = vr.bus[node]->mem + (BOX - XR_MEM) + i * size;
	uint32_t k = (len + 7) / 8, first = size - 8 - 8 * k;
	uint8_t want[128] = { 0 };
	uint64_t status =
		EXTOLL_STATUS(SRC, 9, seed & 3, seed, len) | EXTOLL_STATUS_EOM;

	velo_fill(want + first, len, seed);
	memcpy(want + size - 8, &status, 8);
	assert_memory_equal(slot, want, size);
}

void velo_set_rp(uint32_t node, uint64_t rp)
{
	xr_w64(&vr, node, EXTOLL_VELO_RP + 3 * EXTOLL_RP_STRIDE, rp);
}
