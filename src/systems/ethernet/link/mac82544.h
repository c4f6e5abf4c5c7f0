/* SPDX-License-Identifier: Apache-2.0 */
/* The Ethernet MAC of Intel's 82544 as a library (hvia.md 3.9, 7.1, 7.2).
 * hvia.nic embeds it in front of the GEC's memory on a local bus, eth.nic in
 * front of host memory on the host's bus.
 *
 * The owner forwards arrivals of its link port (mac_arrive) and its wake-ups
 * with tags cfg.tag .. cfg.tag + MAC_TAGS - 1 (mac_event), and accesses the
 * registers with mac_load and mac_store. The memory behind the MAC belongs to
 * the owner. The MAC requests movements of bytes (ops.move), at most one
 * movement of each kind at a time. The owner decides the time of a movement and
 * reports its end (mac_moved). The MAC's own times are:
 *
 *   send     TDT written -> request the descriptor -> request the bytes ->
 *            cfg.start (266 ns) -> preamble, frame, FCS, gap -> ops.sent, then
 *            (RS) request to write DD back. The next frame starts at ops.sent.
 *            With cfg.ahead > 0 the MAC fetches the next cfg.ahead frames while
 *            a frame is on the line.
 *   receive  last byte of the FCS at the port -> cfg.receive (668 ns) ->
 *            request to store the bytes -> request to write the descriptor back
 *            -> ICR.RXT0. Descriptors are fetched ahead, as soon as RDT grants
 *            them.
 *
 * A frame for which the receive FIFO has no room is missed (MPC). A frame
 * without a descriptor waits in the FIFO. */
#ifndef SYSTEMS_ETHERNET_LINK_MAC82544_H
#define SYSTEMS_ETHERNET_LINK_MAC82544_H

#include "systems/ethernet/link/mac82544_regs.h"
#include "systems/ethernet/link/wire.h"

/* ---- between the MAC and its owner ---- */

enum mac_kind {
	MAC_TX_DESC, /* read: 16 bytes of descriptor `index` */
	MAC_TX_DATA, /* read: the bytes of one descriptor */
	MAC_TX_BACK, /* write: upper 8 bytes of descriptor `index`, with DD */
	MAC_RX_DESC, /* read: `bytes` / 16 descriptors from `index` on */
	MAC_RX_DATA, /* write: the bytes of a frame for one descriptor */
	MAC_RX_BACK, /* write: 16 bytes of descriptor `index` */
	MAC_KINDS
};

/* One movement of bytes, by DMA of the MAC. `data` always refers to a buffer.
 * For a read the owner fills the buffer before mac_moved(). For a write the
 * buffer holds the bytes. The MAC keeps its reference to the buffer, so that
 * the owner needs its own reference to use the bytes after mac_moved(). */
struct mac_move {
	enum mac_kind kind;
	uint64_t addr;
	uint32_t bytes, index;
	struct weft_slice data;
	/* trace id of the frame. For MAC_TX_DATA the owner sets the id with
	 * mac_trace() before mac_moved(). For MAC_RX_DATA the MAC copies the id
	 * of the received frame. */
	uint64_t trace_id;
	bool busy;  /* the movement is in flight; for the MAC only */
	bool stale; /* the MAC was reset during the movement */
};

struct mac;
struct mac_ops {
	/* Starts a movement. At most one of each kind is in flight. The owner
	 * calls mac_moved(m, kind) when the movement ends, in phase 1 and not
	 * inside this call. */
	void (*move)(void *own, const struct mac_move *mv);
	/* Reports that ICR & IMS has become nonzero (true) or zero. */
	void (*irq)(void *own, bool level);
	/* Reports that the frame of transmit descriptor `index` and its gap
	 * have left the line, and that TDH has moved past it. May be NULL. */
	void (*sent)(void *own, uint32_t index);
};

struct mac_cfg {
	weft_time_t start;   /* 266 ns */
	weft_time_t receive; /* 668 ns */
	/* time from a frame's write-back to the interrupt RXT0, in addition to
	 * the delay RDTR; may be 0 */
	weft_time_t moderation;
	/* time from the arrival of a descriptor to the request of its bytes */
	weft_time_t turn;
	/* number of frames fetched ahead, or 0 for one frame at a time */
	uint32_t ahead;
	bool desc_ahead;  /* the next descriptor is always fetched ahead */
	uint32_t rx_fifo; /* in bytes, by default 48 KiB */
	/* longest frame without FCS, by default 1514. Longer frames need
	 * RCTL.LPE */
	uint32_t frame_max;
	uint32_t tag; /* first of the MAC_TAGS event tags */
};
#define MAC_CFG_DEFAULT                                                        \
	((struct mac_cfg){ .start = 266 * WEFT_NS,                             \
			   .receive = 668 * WEFT_NS,                           \
			   .rx_fifo = 48 * 1024,                               \
			   .frame_max = ETH_FRAME_MAX })

enum { MAC_TAGS = 4 };

/* Counters for the owner. Software has no access to them and cannot reset
 * them. */
struct mac_stats {
	uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes;
	/* frames missed, because the FIFO was full or the receiver off */
	uint64_t missed;
	uint64_t crc;	   /* frames with a wrong FCS */
	uint64_t filtered; /* frames for another station */
	uint64_t runt, giant, symbol;
	uint64_t pause_rx, pause_tx;
	uint64_t bad_desc; /* malformed transmit descriptors */
};

/* Returns a MAC at port p, or NULL if memory runs out. Copies cfg. ops and own
 * must outlive the MAC. The caller calls mac_free(). */
struct mac *mac_new(struct weft_comp *c, struct weft_port *p,
		    const struct mac_cfg *cfg, const struct mac_ops *ops,
		    void *own);
/* Frees the MAC and all frames that it holds. Accepts NULL. */
void mac_free(struct mac *m);
/* Resets the MAC as CTRL.RST does. Frames on the line continue. */
void mac_reset(struct mac *m);
/* Drops the frames in the MAC. Called at the end of the run, when nothing will
 * receive these frames. */
void mac_abandon(struct mac *m);

/* Receives a frame that arrives. Takes ownership of f. Called in phase 0. */
void mac_arrive(struct mac *m, struct weft_frame *f);
void mac_event(struct mac *m, uint32_t tag);	   /* phase 1 */
void mac_moved(struct mac *m, enum mac_kind kind); /* phase 1 */
void mac_trace(struct mac *m, uint64_t trace_id);
/* Performs a load with its side effects. An unknown register reads as 0. */
uint32_t mac_load(struct mac *m, uint32_t off);
/* Performs a store, in phase 1. A store to an unknown register is ignored. */
void mac_store(struct mac *m, uint32_t off, uint32_t val);
/* Sets station address i (RAL, RAH) and marks it valid. */
void mac_set_address(struct mac *m, uint32_t i, const uint8_t addr[6]);
const struct mac_stats *mac_stats(const struct mac *m);

#endif
