/* SPDX-License-Identifier: Apache-2.0 */
/* State and internal functions of the MAC: registers, interrupts, movements and
 * set-up (mac82544.c), transmitter (mac82544_transmit.c), receiver and flow
 * control (mac82544_receive.c). */
#ifndef SYSTEMS_ETHERNET_LINK_MAC82544_INTERNAL_H
#define SYSTEMS_ETHERNET_LINK_MAC82544_INTERNAL_H

#include "base/vec.h"
#include "systems/ethernet/link/mac82544.h"

enum { MAC_TAG_TX, MAC_TAG_RX_END, MAC_TAG_RX_READY, MAC_TAG_INT };
enum { MAC_RX_CACHE = 64, MAC_RX_FETCH = 16, MAC_PARTS_MAX = 64 };
/* Largest number of waiting control frames. The receiver queues an XOFF each
 * time that the receive FIFO fills, and an XON each time that it drains. A
 * control frame beyond this number is dropped. */
enum { MAC_CTL_MAX = 4 };

/* Registers that a load does not change. */
enum mac_cell {
	MAC_R_CTRL,
	MAC_R_ITR,
	MAC_R_RCTL,
	MAC_R_TCTL,
	MAC_R_TIPG,
	MAC_R_FCTTV,
	MAC_R_FCRTL,
	MAC_R_FCRTH,
	MAC_R_RDBAL,
	MAC_R_RDBAH,
	MAC_R_RDLEN,
	MAC_R_RDH,
	MAC_R_RDT,
	MAC_R_RDTR,
	MAC_R_TDBAL,
	MAC_R_TDBAH,
	MAC_R_TDLEN,
	MAC_R_TDH,
	MAC_R_TDT,
	MAC_R_CRCERRS, /* statistics */
	MAC_R_RXERRC,
	MAC_R_MPC,
	MAC_R_XONRXC,
	MAC_R_XONTXC,
	MAC_R_XOFFRXC,
	MAC_R_XOFFTXC,
	MAC_R_GPRC,
	MAC_R_GPTC,
	MAC_R_RUC,
	MAC_R_ROC,
	MAC_R_N
};

/* A used transmit descriptor whose frame has not left yet. */
struct mac_back {
	uint32_t index;
	uint8_t upper[8];
};

struct mac_tx_frame {
	struct weft_frame *f;
	weft_time_t ready;
	uint32_t parts; /* number of its descriptors */
	uint32_t index; /* index of the frame's last descriptor */
};

struct mac_tx {
	uint32_t next; /* index of the next descriptor to fetch */
	uint8_t desc[MAC_DESC];
	struct weft_slice
		part[MAC_PARTS_MAX]; /* parts of the frame gathered so far */
	uint32_t n_parts, bytes, used;
	/* the fetch of a descriptor or of its bytes is in flight */
	bool fetching;
	/* a descriptor is fetched, but its bytes are not requested. They are
	 * requested at time `ask` */
	bool pending;
	weft_time_t ask;
	bool on_line;
	bool bad;	/* a descriptor of the current frame is malformed */
	uint64_t trace; /* trace id of the current frame's message */
	struct {
		VEC(struct mac_tx_frame);
	} fifo;
	struct {
		VEC(struct mac_back);
	} back;		   /* used descriptors in the order of the ring */
	uint32_t due;	   /* number of entries in `back` ready to be written */
	weft_time_t free;  /* time from which the line is free */
	weft_time_t pause; /* time until which only control frames are sent */
	struct weft_frame *ctl[MAC_CTL_MAX];
	uint32_t n_ctl;
	bool ctl_on_line;
	struct weft_timer timer;
};

struct mac_rx {
	/* line: frames that are arriving; first..last: frames in the FIFO */
	struct weft_frame *line, *first, *last;
	uint32_t fill;
	uint32_t fetched; /* index of the next descriptor to fetch */
	uint64_t cache[MAC_RX_CACHE]; /* buffer addresses of the fetched
					 descriptors, as a ring */
	uint32_t head, n; /* first entry and number of entries of `cache` */
	uint32_t off;	  /* bytes of frame `first` already stored */
	/* part: bytes being stored; total: bytes of frame `first` */
	uint32_t part, total;
	bool storing, xoff;
	weft_time_t xoff_at;
	struct weft_timer end, ready;
};

struct mac {
	struct weft_comp *comp;
	struct weft_port *port;
	struct mac_cfg cfg;
	const struct mac_ops *ops;
	void *own;
	uint32_t reg[MAC_R_N];
	uint32_t ral[MAC_ADDRS], rah[MAC_ADDRS];
	uint32_t icr, ims;
	bool level;
	bool waiting; /* an RXT0 interrupt is due for a received frame */
	/* rxt0: time at which the due RXT0 interrupt is raised; held: time
	 * until which the register ITR delays interrupts */
	weft_time_t rxt0, held;
	struct weft_timer timer;
	struct mac_move move[MAC_KINDS];
	struct mac_tx tx;
	struct mac_rx rx;
	struct mac_stats stats;
};

/* Returns the number of descriptors in a ring. */
static inline uint32_t mac_ring(const struct mac *m, enum mac_cell len)
{
	return m->reg[len] / MAC_DESC;
}

/* Returns the index of the descriptor after `index` in the ring. Returns 0 if
 * software has set a ring length of 0. */
static inline uint32_t mac_behind(const struct mac *m, enum mac_cell len,
				  uint32_t index)
{
	uint32_t ring = mac_ring(m, len);

	return ring ? (index + 1) % ring : 0;
}

/* Returns the address of descriptor `index` of the ring whose base address is
 * in cell `low` and the cell after it. */
static inline uint64_t mac_desc(const struct mac *m, enum mac_cell low,
				uint32_t index)
{
	return ((uint64_t)m->reg[low + 1] << 32 | m->reg[low]) +
	       MAC_DESC * (uint64_t)index;
}

/* Requests a movement from the owner. Takes over the reference of data. */
void mac_ask(struct mac *m, enum mac_kind kind, uint64_t addr, uint32_t index,
	     struct weft_slice data);
/* Sets interrupt causes and updates the level. */
void mac_cause(struct mac *m, uint32_t bits);
/* Counts an event in a statistics register and in the owner's counter. */
void mac_tally(struct mac *m, enum mac_cell reg, uint64_t *stat);

/* Starts all fetches that the transmitter can make now. Called after each
 * change of the transmitter's state. */
void mac_tx_kick(struct mac *m);
void mac_tx_event(struct mac *m);
void mac_tx_moved(struct mac *m, enum mac_kind kind, struct weft_slice data);
/* Sends a control frame ahead of the data frames in the FIFO. Takes ownership
 * of f, and drops f if MAC_CTL_MAX control frames wait. */
void mac_tx_control(struct mac *m, struct weft_frame *f);
/* Sends the next frame if the line is free, otherwise requests a wake-up for
 * the time at which the line becomes free. Called after each change of the
 * queue or of the pause. */
void mac_tx_next(struct mac *m);
void mac_tx_reset(struct mac *m);

/* Starts all fetches and stores that the receiver can make now. */
void mac_rx_kick(struct mac *m);
void mac_rx_end(struct mac *m);
void mac_rx_ready(struct mac *m);
void mac_rx_moved(struct mac *m, enum mac_kind kind, struct weft_slice data);
void mac_rx_reset(struct mac *m);
/* Reports that a frame is in memory: raises RXT0 now, or later because of
 * moderation. */
void mac_rx_told(struct mac *m);

#endif
