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
	HV_U_BOOK,  /* receive engine: bookkeeping and completion stage */
	HV_U_WRITE, /* receive engine: write stage */
	HV_U_RECV,  /* receive engine: front stage */
	HV_U_SEND,
	HV_U_ATT,
	HV_U_TX,   /* GEC: controller of Tx descriptors */
	HV_U_MOVE, /* moves of level-2 entries */
	HV_U_MAC,  /* transfers of the MAC, one unit for each kind */
	HV_UNITS = HV_U_MAC + MAC_KINDS,
	HV_TAG_MAC = HV_UNITS /* tags from here on belong to the MAC */
};

/* ---- host memory ---- */

/* A bus transaction of a unit. The end of the transaction wakes the unit. */
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
	uint64_t va; /* address, or offset in the region if by_offset is set */
	bool by_offset, remote;
	/* Result. */
	bool pending, ok;
	uint32_t n_piece;
	struct hv_piece piece[2]; /* the pieces may cover less than len bytes */
};

enum hv_att_state { ATT_IDLE, ATT_L1, ATT_CHECK, ATT_L2, ATT_L2IN, ATT_ADD };

struct hv_att {
	enum hv_att_state state;
	uint32_t owner; /* owner of the current look-up (enum hv_owner) */
	struct hv_xlate x[HV_OWNERS];
	struct hvia_l1 e;
	uint32_t k, inpage, left;
	struct hv_dma dma; /* read of a table in host memory */
	uint32_t l1_count;
	uint64_t host_l1, host_l2;
	uint64_t addr;	/* register ATT_ADDR */
	uint32_t asked; /* register ATT_BUSY: handle of the last store */
	uint8_t *sdram[1024];
	/* spent, singles: total time and number of the successful look-ups that
	 * gave one piece. begun: start of the present look-up */
	weft_time_t begun, spent;
	uint64_t singles;
	/* present move of level-2 entries: */
	uint64_t from, to, count;
};

/* ---- VIs ---- */

/* Address of a descriptor. */
struct hv_where {
	uint64_t va; /* address, or offset in the region if by_offset is set */
	uint32_t handle;
	bool by_offset;
};

/* Message whose send doorbell was rung, but whose descriptor the send engine
 * has not chosen yet. */
struct hv_bell {
	uint64_t id;
	uint32_t vi;
};

struct hv_q {
	uint16_t posted;
	uint16_t flush; /* number of descriptors to be flushed */
	struct hv_where head;
};

struct hv_vi {
	uint8_t state, flags, mac[6];
	uint16_t ptag, peer, tx_seq, rx_seq;
	uint32_t max_transfer;
	struct hv_q q[2];
	/* Head of the receive queue. */
	/* fetched: the head's descriptor is on the card. prep: the head's
	 * descriptor waits to be fetched */
	bool fetched, prep;
	struct hvia_desc desc;
	weft_phys_t desc_pa;
	/* Message that is being received. */
	bool active, rdma, bad;
	bool closing; /* the head descriptor is being completed */
	/* bytes of the message: in total, and received so far */
	uint32_t length, got;
	/* Position of the next byte: segment, and offset in it. */
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
	uint32_t vi, last; /* last: VI that was served before this one */
	struct hv_dma dma;
	struct hv_where at;
	weft_phys_t desc_pa, block_pa;
	struct hvia_desc desc;
	struct hvia_seg seg[HVIA_SEGMENTS];
	uint32_t n_read; /* number of segments read so far */
	/* Position of the next packet: byte in the message, segment, byte in
	 * the segment. */
	uint32_t offset, i_seg, seg_off;
	/* Packet that is being built. n: bytes of the packet. got: bytes read
	 * so far. piece: number of pieces of the current look-up that were
	 * read. */
	struct weft_slice frame;
	uint32_t n, got, piece;
	uint32_t status;
	uint64_t trace; /* trace id of the message */
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

/* Segments of a receive descriptor that have been read. */
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

/* Job that the front stage of the receive engine passes to the write stage:
 * bytes of a packet, the end of a packet, or the end of a message. Jobs stay in
 * order. */
struct hv_job {
	uint32_t vi, handle;
	uint32_t desc; /* region of the descriptor that will be completed */
	struct weft_slice data;
	uint32_t pos, n_piece, i_piece;
	struct hv_piece piece[2];
	bool buffer; /* the job frees the Rx buffer */
	bool end;    /* the job ends a packet */
	bool last;   /* the job ends a message */
	bool rdma, empty;
	/* the job completes the head receive descriptor with these values: */
	bool complete;
	uint32_t status, length, immediate;
	weft_time_t ready; /* time of the next step */
	uint64_t trace;	   /* trace id of the message */
};
/* number of jobs with bytes: one is being written, one waits */
enum { HV_JOBS = 2 };

struct hv_recv {
	enum hv_recv_state state;
	struct hv_dma dma;
	uint32_t vi;
	struct hv_window win;
	/* Packet. */
	/* a receive descriptor was found for the immediate data of the
	 * packet */
	bool imm;
	bool packet; /* the engine works on a packet, not on a descriptor */
	bool ahead;  /* the look-up is for the next packet */
	/* the region has changed since the look-up for the next packet
	 * started */
	bool stale;
	struct weft_slice frame;
	uint64_t trace; /* trace id of the message */
	struct hv_head h;
	/* n: bytes of the packet. pos: bytes passed to the write stage
	 * */
	uint32_t n, pos;
	uint32_t handle;   /* region of the look-up */
	struct hv_job job; /* RECV_HAND: job that waits for room */
	/* Address Prefetch Buffer. */
	struct hv_apb apb[HV_APB_MAX];
	uint64_t uses;
	struct {
		RING(uint32_t);
	} prep; /* VIs whose head must be fetched */
};

struct hv_write {
	enum hv_write_state state;
	uint32_t waiting; /* number of jobs with bytes that wait */
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
	/* time at which the Tx descriptor is ready for the MAC */
	weft_time_t ready;
	bool kernel;
	uint64_t trace; /* trace id of the message */
};

struct hv_rx_frame {
	struct weft_slice data;
	weft_time_t ready; /* time from which the receive engine can take the
			      frame */
	uint64_t trace;	   /* trace id of the message */
};

struct hv_gec {
	struct mac *mac;
	/* Transmit side: queue, number of buffers in use, number of descriptors
	 * at the MAC. */
	struct {
		RING(struct hv_tx_frame);
	} txq;
	uint32_t buffers, outstanding, tdt;
	bool tail; /* the tail register is being written */
	uint8_t tx_desc[HV_RING][MAC_DESC];
	struct hv_tx_frame tx[HV_RING];
	/* Receive. */
	uint8_t rx_desc[HV_RING][MAC_DESC];
	struct weft_slice rx[HV_RING];
	uint64_t rx_trace; /* message of the frame that the MAC is storing */
	uint32_t rdt, rx_used;
	struct {
		RING(struct hv_rx_frame);
	} rxq;
	const struct mac_move *move[MAC_KINDS];
};

#endif
