/* SPDX-License-Identifier: Apache-2.0 */
/* State of the units of HVIA-GE. See nic.h. */
#ifndef SYSTEMS_HVIA_NIC_FUNCTIONAL_UNITS_H
#define SYSTEMS_HVIA_NIC_FUNCTIONAL_UNITS_H

#include "base/ring.h"
#include "base/vec.h"
#include "systems/ethernet/link/mac82544.h"
#include "systems/hvia/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/trace.h"

struct hv_nic;

enum { HV_PORT_BUS, HV_PORT_LINK };

enum hv_unit {
	HV_U_BOOK,  /* receive engine: bookkeeping and completion */
	HV_U_WRITE, /* receive engine: writes */
	HV_U_RECV,  /* receive engine: front */
	HV_U_SEND,
	HV_U_ATT,
	HV_U_TX,   /* GEC: Tx descriptor controller */
	HV_U_MOVE, /* moves of level-2 entries */
	HV_U_MAC,  /* transfers of the MAC, one for each kind */
	HV_UNITS = HV_U_MAC + MAC_KINDS,
	HV_TAG_MAC = HV_UNITS /* the MAC's own */
};

/* ---- host memory ---- */

/* A transaction of a unit, which is woken at its end. */
struct hv_dma {
	struct weft_bus_txn txn;
	enum hv_unit unit;
	struct hv_dma *next;
};

/* ---- translation ---- */

enum hv_owner { HV_RECV, HV_SEND, HV_OWNERS };

/* A contiguous range of host memory. */
struct hv_piece {
	weft_phys_t pa;
	uint32_t len;
};

struct hv_xlate {
	/* Request. */
	uint32_t handle, ptag, len;
	uint64_t va; /* by_offset: offset in the region */
	bool by_offset, remote;
	/* Result. */
	bool pending, ok;
	uint32_t n_piece;
	struct hv_piece piece[2]; /* may cover less than len */
};

enum hv_att_state { ATT_IDLE, ATT_L1, ATT_CHECK, ATT_L2, ATT_L2IN, ATT_ADD };

struct hv_att {
	enum hv_att_state state;
	uint32_t owner; /* of the current look-up */
	struct hv_xlate x[HV_OWNERS];
	struct hvia_l1 e;
	uint32_t k, inpage, left;
	struct hv_dma dma; /* table in host memory */
	uint32_t l1_count;
	uint64_t host_l1, host_l2;
	uint64_t addr;	/* ATT_ADDR */
	uint32_t asked; /* ATT_BUSY */
	uint8_t *sdram[1024];
	/* Sum of the times of look-ups of one page. */
	weft_time_t begun, spent;
	uint64_t singles;
	/* moves */
	uint64_t from, to, count;
};

/* ---- VIs ---- */

/* Address of a descriptor. */
struct hv_where {
	uint64_t va; /* by_offset: offset in the region */
	uint32_t handle;
	bool by_offset;
};

/* Message of a send doorbell that the send engine has not picked up yet. */
struct hv_bell {
	uint64_t id;
	uint32_t vi;
};

struct hv_q {
	uint16_t posted;
	uint16_t flush; /* descriptors to be flushed */
	struct hv_where head;
};

struct hv_vi {
	uint8_t state, flags, mac[6];
	uint16_t ptag, peer, tx_seq, rx_seq;
	uint32_t max_transfer;
	struct hv_q q[2];
	/* Head receive descriptor. */
	bool fetched, prep; /* is fetched; waits to be fetched */
	struct hvia_desc desc;
	weft_phys_t desc_pa;
	/* Message that is being received. */
	bool active, rdma, bad;
	bool closing;	      /* the head is being completed */
	uint32_t length, got; /* of the message: all bytes, placed bytes */
	/* Place of the next byte in the segments. */
	uint16_t seg;
	uint32_t seg_off;
};

/* ---- send engine (hvia.md 5.2) ---- */

enum hv_send_state {
	SEND_IDLE,
	SEND_SCAN,
	SEND_XD,
	SEND_RD,
	SEND_XM,
	SEND_RM,
	SEND_CHK,
	SEND_XA,
	SEND_BUF,
	SEND_DR,
	SEND_LAST,
	SEND_COMPL,
	SEND_NEXT,
	SEND_DONE,
	SEND_STATES
};

struct hv_send {
	enum hv_send_state state;
	uint32_t vi, last; /* last: VI that was served before */
	struct hv_dma dma;
	struct hv_where at;
	weft_phys_t desc_pa, block_pa;
	struct hvia_desc desc;
	struct hvia_seg seg[HVIA_SEGMENTS];
	uint32_t n_read; /* segments read so far */
	/* Position in the message. */
	uint32_t offset, i_seg, seg_off;
	/* Packet that is being built. */
	struct weft_slice frame;
	uint32_t n, got, piece;
	uint32_t status;
	uint64_t trace; /* message */
};

/* ---- receive engine (5.3, 5.4) ---- */

enum hv_recv_state {
	RECV_IDLE,
	RECV_HDR,
	RECV_CHK,
	RECV_STALL,
	RECV_LOOKUP,
	RECV_XS,
	RECV_SEG,
	RECV_XA,
	RECV_HAND,
	RECV_XD,
	RECV_RD,
	RECV_DCHK,
	RECV_STATES
};

enum hv_write_state { WRITE_IDLE, WRITE_FIFO, WRITE_WR };
enum hv_book_state { BOOK_IDLE, BOOK_BOOK, BOOK_COMPL, BOOK_NEXT, BOOK_DONE };

struct hv_head { /* header of a frame (3.8) */
	uint32_t type, flags, dst_vi, src_vi, seq, length, offset, handle;
	uint64_t va;
};

/* Segments that have been read. */
struct hv_window {
	bool valid;
	uint32_t vi, first, n;
	struct hvia_seg seg[4];
};

/* An entry of the Address Prefetch Buffer (3.7). */
struct hv_apb {
	bool valid;
	uint32_t vi, offset, handle, n_piece;
	struct hv_piece piece[2];
	uint64_t used;
};
enum { HV_APB_MAX = 16 };

/* Job from the front of the receive engine to its writes, in order: bytes of a
 * packet, the end of a packet, the end of a message. */
struct hv_job {
	uint32_t vi, handle;
	uint32_t desc; /* region of the descriptor that will be completed */
	struct weft_slice data;
	uint32_t pos, n_piece, i_piece;
	struct hv_piece piece[2];
	bool buffer; /* frees the Rx buffer */
	bool end;    /* of a packet */
	bool last;   /* of a message */
	bool rdma, empty;
	bool complete; /* completes the head receive descriptor with: */
	uint32_t status, length, immediate;
	weft_time_t ready; /* time of the next step */
	uint64_t trace;	   /* message */
};
enum { HV_JOBS = 2 }; /* with bytes: one being written, one waiting */

struct hv_recv {
	enum hv_recv_state state;
	struct hv_dma dma;
	uint32_t vi;
	struct hv_window win;
	/* Packet. */
	bool imm;    /* a descriptor was found for its immediate data */
	bool packet; /* false: a descriptor is being prepared */
	bool ahead;  /* the look-up is for the next packet */
	bool stale;  /* and its region has changed since */
	struct weft_slice frame;
	uint64_t trace; /* message */
	struct hv_head h;
	uint32_t n, pos;   /* bytes of it: all, handed on */
	uint32_t handle;   /* region of the look-up */
	struct hv_job job; /* RECV_HAND: the job that waits for room */
	/* Address Prefetch Buffer. */
	struct hv_apb apb[HV_APB_MAX];
	uint64_t uses;
	struct {
		RING(uint32_t);
	} prep; /* VIs whose head must be fetched */
};

struct hv_write {
	enum hv_write_state state;
	uint32_t waiting; /* jobs with bytes */
	struct hv_dma dma;
	struct {
		RING(struct hv_job);
	} q;
};

struct hv_book {
	enum hv_book_state state;
	struct hv_dma dma;
	struct {
		RING(struct hv_job);
	} q;
};

/* ---- Gigabit Ethernet controller ---- */

enum { HV_RING = 8, HV_TX_BUFFERS = 2 };

struct hv_tx_frame {
	struct weft_slice data;
	/* time at which the Tx descriptor can be written back */
	weft_time_t ready;
	bool kernel;
	uint64_t trace; /* message */
};

struct hv_rx_frame {
	struct weft_slice data;
	weft_time_t ready; /* at the engine: the next edge */
	uint64_t trace;	   /* message */
};

struct hv_gec {
	struct mac *mac;
	/* Transmit: queue, buffers in use, descriptors at the MAC. */
	struct {
		RING(struct hv_tx_frame);
	} txq;
	uint32_t buffers, outstanding, tdt;
	bool tail; /* being written */
	uint8_t tx_desc[HV_RING][MAC_DESC];
	struct hv_tx_frame tx[HV_RING];
	/* Receive. */
	uint8_t rx_desc[HV_RING][MAC_DESC];
	struct weft_slice rx[HV_RING];
	uint64_t rx_trace; /* of the frame that the MAC is storing */
	uint32_t rdt, rx_used;
	struct {
		RING(struct hv_rx_frame);
	} rxq;
	const struct mac_move *move[MAC_KINDS];
};

#endif
