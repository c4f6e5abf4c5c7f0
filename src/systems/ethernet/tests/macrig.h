/* SPDX-License-Identifier: Apache-2.0 */
/* Two stations, each a MAC and a memory, joined by an Ethernet cable. */
#ifndef ETHERNET_TESTS_MACRIG_H
#define ETHERNET_TESTS_MACRIG_H

#include "unit/cmocka_all.h"
#include "systems/ethernet/link/mac82544.h"

enum {
	MEM = (1 << 18) + ETH_FRAME_LIMIT,
	TX_RING = 0x0000, /* addresses in a station's memory */
	RX_RING = 0x1000,
	TX_BUFS = 0x8000,
	RX_BUFS = 0x20000,
	BUF = 2048,
	LOG = 4096,
};

/* Log of a station: movements that the MAC requested, frames sent,
 * interrupts. */
enum { LOG_SENT = MAC_KINDS, LOG_IRQ };
struct mac_log {
	weft_time_t time;
	uint32_t what, index;
};

struct station {
	struct weft_comp *comp;
	struct mac *mac;
	struct mac_cfg cfg;
	uint8_t mem[MEM];
	weft_time_t latency[MAC_KINDS];
	const struct mac_move *move[MAC_KINDS];
	struct mac_log log[LOG];
	uint32_t n_log;
	bool irq;
	/* stores of received data get no answer until macrig_release */
	bool blocked;
	uint32_t tx_tail, rx_tail;
};

struct macrig {
	struct weft_sim *sim;
	struct station *s[2];
};

/* Builds both stations. cfg may be NULL for defaults. fault: a filter on frames
 * that leave station 0, or NULL, with settings "name", "value", ..., NULL. */
void macrig_init(struct macrig *r, const struct mac_cfg *cfg,
		 const struct weft_class *fault, const char *const *set);
/* Makes rings of n descriptors, switches receiver and transmitter on, and gives
 * n - 1 buffers to the receiver. */
void macrig_open(struct station *s, uint32_t ring);
/* Writes a frame of len bytes into the next transmit buffer and its descriptor.
 * The caller writes TDT by macrig_post. */
uint8_t *macrig_frame(struct station *s, uint32_t to, uint32_t len);
void macrig_post(struct station *s); /* TDT */
/* Runs until this time, or until no event is left before it. */
void macrig_run(struct macrig *r, weft_time_t until);
void macrig_fini(struct macrig *r);
/* Returns the k-th log entry of a kind. */
const struct mac_log *macrig_nth(const struct station *s, uint32_t what,
				 uint32_t k);
uint32_t macrig_count(const struct station *s, uint32_t what);
/* Answers the store of received data that was held back. */
void macrig_release(struct station *s);

#endif
