/* SPDX-License-Identifier: Apache-2.0 */
/* Private to HVIA-GE (class hvia.nic). See nic.c.
 *
 * All units run at the card's clock. The card uses the clock of the host bus if
 * both clocks have the same frequency. The clock of the local bus between GEC
 * and MAC has the card's frequency and an unknown phase. Therefore cycles of
 * the local bus are counted from the event that starts a transfer. A unit is in
 * one state at a time and has one wake-up: `go(state, cycles)` sets the next
 * state and the time at which its function runs. Wake-ups of one edge run in
 * the order of enum hv_unit, so that the receive engine precedes the send
 * engine, and address translation runs after both. */
#ifndef SYSTEMS_HVIA_NIC_NIC_H
#define SYSTEMS_HVIA_NIC_NIC_H

#include "systems/hvia/nic/functional_units.h"

#define HV_COUNTERS(X)                                                         \
	X(DOORBELLS, "doorbells", "stores", "doorbells rung")                  \
	X(SENT, "sent", "messages", "sent whole")                              \
	X(RECEIVED, "received", "messages", "sends received whole")            \
	X(RDMA_RECEIVED, "rdma_received", "messages", "RDMA writes, whole")    \
	X(TX_PACKETS, "tx_packets", "packets", "given to the MAC by VIs")      \
	X(RX_PACKETS, "rx_packets", "packets", "placed")                       \
	X(KERNEL_TX, "kernel_tx", "packets", "of the kernel agent, sent")      \
	X(KERNEL_RX, "kernel_rx", "packets", "for the kernel agent")           \
	X(KERNEL_LOST, "kernel_lost", "packets",                               \
	  "for the kernel agent while its buffers were full")                  \
	X(TRANSLATIONS, "translations", "translations", "begun")               \
	X(SECOND_PAGES, "second_pages", "look-ups", "of a following page")     \
	X(REFUSED, "refused", "translations", "that failed")                   \
	X(APB_HITS, "prefetch_hits", "packets", "whose address was there")     \
	X(APB_MISSES, "prefetch_misses", "packets", "whose address was not")   \
	X(DESC_READS, "descriptor_reads", "reads", "of descriptors")           \
	X(SEG_READS, "segment_reads", "reads", "of further segments")          \
	X(NEXT_READS, "next_reads", "reads", "of a Next that was 0 before")    \
	X(COMPLETIONS, "completions", "writes", "of a status")                 \
	X(FLUSHED, "flushed", "descriptors", "completed as flushed")           \
	X(ERRORS, "errors", "errors", "asynchronous ones")                     \
	X(ERRORS_LOST, "errors_lost", "errors", "that found the FIFO full")    \
	X(DROP_TYPE, "drop_type", "packets", "of another EtherType or type")   \
	X(DROP_VI, "drop_vi", "packets",                                       \
	  "for no VI, or one that is not connected with the sender")           \
	X(DROP_OLD, "drop_old", "packets", "duplicate or old")                 \
	X(DROP_REST, "drop_rest", "packets", "of messages given up")           \
	X(DROP_FORMAT, "drop_format", "packets", "whose lengths do not agree") \
	X(DROP_EMPTY, "drop_empty", "packets", "without a receive descriptor") \
	X(DROP_PROT, "drop_prot", "packets", "not allowed to be written")      \
	X(GAPS, "gaps", "gaps", "in the sequence of a VI")                     \
	X(PARTIAL, "partial", "messages", "that ended before their end")       \
	X(MISSED, "missed", "frames", "for which the MAC had no room")         \
	X(BAD_FCS, "bad_fcs", "frames", "dropped by the MAC")                  \
	X(FILTERED, "filtered", "frames", "for other stations")                \
	X(BAD_ACCESS, "bad_accesses", "accesses",                              \
	  "of the host that mean nothing")                                     \
	X(BUS_ABORTS, "bus_aborts", "transactions", "nobody answered")         \
	X(MOVED, "moved", "entries", "of level 2 by compaction")               \
	X(IRQS, "irqs", "interrupts", "raised")
enum {
#define X(id, name, unit, doc) HV_K_##id,
	HV_COUNTERS(X)
#undef X
		HV_K_N
};

struct hv_error {
	uint64_t pop, info;
};

/* A received kernel packet. */
struct hv_kernel {
	uint32_t len;
	uint8_t data[2048];
};

/* Parameters: the rows in nic.c describe each of them. */
struct hv_params {
	uint64_t mac_addr;
	uint32_t mtu, t_scan, t_check, t_fifo, t_txbuf, t_txd;
	uint32_t t_tail, t_txdesc, t_txburst, t_rxdma, t_rxback, t_poll;
	uint32_t t_forward, t_rxbuf, t_header, t_rxcheck, t_hit, t_visible;
	uint32_t t_book, t_compl;
	uint32_t t_index, t_l1, t_lcheck, t_l2, t_add, t_move;
	uint32_t prefetch, tx_outstanding, kernel_rx;
	uint64_t rx_fifo;
	weft_time_t mac_start, mac_receive;
	bool att_host;
	struct weft_clock clock;
};

struct hv_nic {
	/* first member, because the table of parameters stores offsets into
	 * struct hv_params */
	struct hv_params p;
	struct weft_comp *comp;
	struct weft_port *bus;
	const struct weft_clock *clk;
	struct weft_timer timer[HV_UNITS];
	struct {
		struct hv_dma *head, *tail;
		bool busy;
	} dma[2];
	uint64_t ctrl, cause, mask;
	bool irq_level;
	struct {
		RING(struct hv_error);
	} errors;
	struct {
		VEC(struct hv_bell);
	} bells; /* messages in the order of their doorbells; empty unless a
		    listener is attached */
	uint64_t err_info;
	uint32_t stamp; /* number of the last numbered completion */
	bool err_overflow;
	uint8_t mac[6];
	uint8_t ktx[2048];
	uint32_t ktx_len;
	struct hv_kernel *krx; /* array of p.kernel_rx packets */
	uint32_t krx_first, krx_n;
	uint64_t pending[HVIA_VIS / 64]; /* bit by VI: sends are posted */
	/* bit by VI: the receive head may be fetched */
	uint64_t heads[HVIA_VIS / 64];
	struct hv_vi *vi;
	struct hv_att att;
	struct hv_send send;
	struct hv_recv recv;
	struct hv_write write;
	struct hv_book book;
	struct hv_gec gec;
};

static inline void hv_count(struct hv_nic *n, uint32_t k)
{
	weft_count(n->comp, k, 1);
}

static inline weft_time_t hv_time(const struct hv_nic *n, uint32_t cycles)
{
	return weft_clock_after(n->clk, weft_now(n->comp), cycles);
}

/* Returns the time `cycles` cycles of the local bus from now. The count starts
 * now and not at an edge, because the local bus's clock has the card's
 * frequency but any phase. */
static inline weft_time_t hv_local(const struct hv_nic *n, uint32_t cycles)
{
	return weft_now(n->comp) + weft_clock_edge(n->clk, cycles) -
	       n->clk->phase;
}

static inline void hv_wake_local(struct hv_nic *n, enum hv_unit u,
				 uint32_t cycles)
{
	weft_timer_arm(n->comp, &n->timer[u], u, hv_local(n, cycles));
}

static inline void hv_wake(struct hv_nic *n, enum hv_unit u, uint32_t cycles)
{
	weft_timer_arm(n->comp, &n->timer[u], u, hv_time(n, cycles));
}

/* Returns the VI that the receive engine is working on. hv_send_vi() returns
 * that of the send engine. */
static inline struct hv_vi *hv_recv_vi(struct hv_nic *n)
{
	return &n->vi[n->recv.vi];
}

static inline struct hv_vi *hv_send_vi(struct hv_nic *n)
{
	return &n->vi[n->send.vi];
}

static inline uint32_t hv_payload(const struct hv_nic *n)
{
	return n->p.mtu - HVIA_F_DATA;
}

/* dma.c */
/* Queues a transaction of a unit. The end of the transaction wakes the unit. */
void hv_dma(struct hv_nic *n, struct hv_dma *d, enum weft_bus_op op,
	    weft_phys_t addr, struct weft_slice data);

static inline void hv_dma_read(struct hv_nic *n, struct hv_dma *d,
			       weft_phys_t addr, uint32_t bytes)
{
	hv_dma(n, d, WEFT_BUS_READ, addr, weft_slice_word(n->comp->sim, bytes));
}

/* Ends a read of a few bytes and copies them to `to`. Returns false if no
 * target answered. */
bool hv_dma_take(struct hv_dma *d, void *to);
/* Ends the transaction that the bus has completed and starts the next. */
void hv_dma_done(struct hv_nic *n, struct hv_dma *d);
/* Hook of the command register. Starts waiting transactions if the card may be
 * master. */
void hv_command_wrote(struct weft_comp *c, uint32_t i, uint64_t val);

/* address_translation.c */
/* Returns bytes of the SDRAM, which is allocated on first use. The functions
 * below load and store quadwords. */
uint8_t *hv_sdram(struct hv_nic *n, uint32_t addr);
uint64_t hv_sdram_load(struct hv_nic *n, uint32_t addr);
void hv_sdram_store(struct hv_nic *n, uint32_t addr, uint64_t val);
void hv_l2_store(struct hv_nic *n, uint64_t val);
/* Looks up an address. Wakes the owner's unit when done. */
void hv_xlate(struct hv_nic *n, enum hv_owner o, const struct hv_xlate *x);
/* Runs the next step of the look-up. */
void hv_att_event(struct hv_nic *n);
/* Starts a move of level-2 entries. hv_move_event() ends the move. */
void hv_move_start(struct hv_nic *n, uint64_t count);

static inline uint64_t hv_move_left(const struct hv_nic *n)
{
	return n->att.count;
}

void hv_move_event(struct hv_nic *n);

/* doorbells.c */
/* Handles a doorbell: counts a posted descriptor if the card is enabled. */
void hv_doorbell(struct hv_nic *n, uint32_t vi, uint32_t queue, uint64_t token);
/* Hooks for loads and stores of the VI table, which has four words for each
 * VI. */
uint64_t hv_vi_read(struct weft_comp *c, uint32_t i);
void hv_vi_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
/* Fetches the head of the receive queue if needed, or marks the send queue for
 * the send engine. */
void hv_vi_work(struct hv_nic *n, uint32_t vi, uint32_t q);
/* Returns true if queue q of the VI is in a state in which posted descriptors
 * must be flushed. */
static inline bool hv_vi_flushing(const struct hv_vi *v, uint32_t q)
{
	return v->state == HVIA_VI_ERROR || v->q[q].flush ||
	       (q == HVIA_Q_SEND && v->state != HVIA_VI_CONNECTED);
}

/* Queues an asynchronous error for the host. */
void hv_vi_error(struct hv_nic *n, uint32_t vi, uint32_t q,
		 enum hvia_error code, uint64_t token);
/* Queues an asynchronous error like hv_vi_error(), and puts the VI into
 * error. */
void hv_vi_fail(struct hv_nic *n, uint32_t vi, uint32_t q, enum hvia_error code,
		uint64_t token);
/* Removes all descriptors of a queue, because the descriptor at `at` cannot be
 * reached. Reports this unless the VI is in error or the queue is being
 * flushed. */
void hv_vi_unreachable(struct hv_nic *n, uint32_t vi, uint32_t q,
		       const struct hv_where *at);
/* Removes the head of a queue. */
void hv_q_take(struct hv_nic *n, uint32_t vi, uint32_t q,
	       const struct hvia_desc *d);

/* Counts a completion and raises the interrupt if the queue is armed. */
void hv_vi_done(struct hv_nic *n, uint32_t vi, uint32_t q);
/* Writes {stamp or 0, immediate, length, status} to the descriptor at pa.
 * Writes the first two fields only if completions of the VI are numbered or
 * `wide` is set. */
void hv_vi_status(struct hv_nic *n, uint32_t vi, struct hv_dma *d,
		  weft_phys_t pa, uint32_t w[4], bool wide);
/* Drops descriptors fetched from a region, except those that an engine is
 * working on. hv_vi_holds() returns true if such a descriptor is left. */
void hv_vi_forget(struct hv_nic *n, uint32_t handle);
bool hv_vi_holds(const struct hv_nic *n, uint32_t handle);

/* send_engine.c */
static inline void hv_send_go(struct hv_nic *n, enum hv_send_state s,
			      uint32_t cycles)
{
	n->send.state = s;
	hv_wake(n, HV_U_SEND, cycles);
}

/* Looks up an address. State s runs when the address is known. */
void hv_send_translate(struct hv_nic *n, enum hv_send_state s,
		       const struct hv_where *at, uint32_t len);

static inline void hv_send_complete(struct hv_nic *n, uint32_t status)
{
	n->send.status = status;
	hv_send_go(n, SEND_COMPL, n->p.t_compl);
}

static inline bool hv_send_rdma(const struct hv_send *s)
{
	return (s->desc.control & HVIA_OP) == HVIA_OP_RDMAWRITE;
}

/* Runs the function of the send engine's state. */
void hv_send_event(struct hv_nic *n);

static inline void hv_send_kick(struct hv_nic *n)
{
	if (n->send.state == SEND_IDLE)
		hv_wake(n, HV_U_SEND, 0);
}

/* Returns true if the engine works with a region. */
bool hv_send_uses(const struct hv_nic *n, uint32_t handle);

/* send_packet.c */
/* Functions of the states in which the send engine builds a packet. */
void hv_packet_next(struct hv_nic *n);
void hv_packet_buf(struct hv_nic *n);
void hv_packet_xa(struct hv_nic *n);
void hv_packet_dr(struct hv_nic *n);

/* receive_engine.c */
/* Runs the function of the receive engine's state. */
void hv_recv_event(struct hv_nic *n);

static inline void hv_recv_kick(struct hv_nic *n)
{
	if (n->recv.state == RECV_IDLE || n->recv.state == RECV_STALL)
		hv_wake(n, HV_U_RECV, 0);
}

/* Starts the next packet, or fetches the next head descriptor. */
void hv_recv_idle(struct hv_nic *n);
/* Ends a packet and frees its Rx buffer. hv_recv_drop() also counts the packet
 * as dropped. */
void hv_recv_release(struct hv_nic *n);
void hv_recv_drop(struct hv_nic *n, uint32_t counter);

static inline void hv_recv_go(struct hv_nic *n, enum hv_recv_state s,
			      uint32_t cycles)
{
	n->recv.state = s;
	hv_wake(n, HV_U_RECV, cycles);
}

/* Continues with the packet that waited for a descriptor, or starts the next
 * packet or descriptor. */
void hv_recv_resume(struct hv_nic *n);
/* Returns true if the engine works with a region. */
bool hv_recv_uses(const struct hv_nic *n, uint32_t handle);

/* Completes the head descriptor with an error, and drops the packet that was to
 * fill it. */
void hv_recv_refused(struct hv_nic *n, uint32_t status);
/* Continues after a job with bytes of the packet was queued. */
void hv_recv_handed(struct hv_nic *n);

/* packet_filter.c: checks of packets */
/* Functions of the states in which the receive engine checks a packet. */
void hv_recv_hdr(struct hv_nic *n);
void hv_recv_chk(struct hv_nic *n);
void hv_recv_accept(struct hv_nic *n);

/* receive_address.c: addresses of the bytes */
/* Functions of the receive engine's states, from the look-up in the prefetch
 * buffer on. */
void hv_place_lookup(struct hv_nic *n);
void hv_place_more(struct hv_nic *n);
void hv_place_xs(struct hv_nic *n);
void hv_place_seg(struct hv_nic *n);
void hv_place_xa(struct hv_nic *n);
/* Looks up addresses for the VI's next packet and stores them in the prefetch
 * buffer. If prefetch is off, continues with the waiting packet or starts the
 * next packet or descriptor. */
void hv_place_ahead(struct hv_nic *n);
/* Drops prefetched addresses of a VI. hv_apb_forget() drops those of a region,
 * or all if the handle is ~0. */
void hv_apb_forget_vi(struct hv_nic *n, uint32_t vi);
void hv_apb_forget(struct hv_nic *n, uint32_t handle);

/* receive_descriptor.c: receive descriptors */
/* Functions of the states in which the receive engine fetches and checks the
 * head descriptor. */
void hv_head_fetch(struct hv_nic *n);
void hv_head_xd(struct hv_nic *n);
void hv_head_rd(struct hv_nic *n);
void hv_head_chk(struct hv_nic *n);
/* Completes the head descriptor without bytes of a packet. Called when the
 * descriptor is flushed, wrong or partially filled, or takes the immediate data
 * of an RDMA write. */
void hv_head_complete(struct hv_nic *n, uint32_t status, uint32_t length,
		      uint32_t immediate);

/* receive_write.c: writes, bookkeeping, completion */
/* Queues a job. Jobs run in the order in which they were queued. */
void hv_put(struct hv_nic *n, const struct hv_job *j);
/* Queues a job with bytes. Waits for room if necessary, then calls
 * hv_recv_handed(). */
void hv_hand(struct hv_nic *n, const struct hv_job *j);
/* Runs the next step of the write stage. hv_book_event() runs the next step of
 * the bookkeeping. */
void hv_write_event(struct hv_nic *n);
void hv_book_event(struct hv_nic *n);

static inline bool hv_write_busy(const struct hv_nic *n)
{
	return n->write.state != WRITE_IDLE || n->book.state != BOOK_IDLE ||
	       !ring_empty(&n->write.q) || !ring_empty(&n->book.q);
}

/* ethernet_controller.c */
/* Makes the GEC and its MAC. hv_gec_start() starts them as a driver does. */
void hv_gec_init(struct hv_nic *n);
void hv_gec_start(struct hv_nic *n);

void hv_gec_free(struct hv_nic *n); /* Frees the oldest Rx buffer. */
void hv_gec_put(struct hv_nic *n, const struct hv_tx_frame *f);
/* Runs the transmit side. hv_gec_mac_event() handles the end of a transfer of
 * the MAC. */
void hv_gec_tx_event(struct hv_nic *n);
void hv_gec_mac_event(struct hv_nic *n, uint32_t kind);

/* Frees all frames at the end of a run. */
void hv_gec_clear(struct hv_nic *n);

/* registers.c */
enum { HV_R_VENDOR, HV_R_DEVICE, HV_R_COMMAND };
extern const struct weft_reg hv_regs[];
static inline uint64_t hv_command(const struct hv_nic *n)
{
	return *weft_reg_cell(n->comp, HV_R_COMMAND, 0);
}
/* Handles an access of the host to the card. */
void hv_access(struct hv_nic *n, const struct weft_bus_note *note);
/* Sets causes of interrupts and drives the interrupt line. */
void hv_irq(struct hv_nic *n, uint64_t causes);

static inline void hv_ctrl_reset(struct hv_nic *n)
{
	n->ctrl = (n->p.prefetch ? HVIA_CTRL_PREFETCH : 0) |
		  (n->p.att_host ? HVIA_CTRL_ATT_HOST : 0);
}

/* Queues a received kernel packet for the host, or counts it as lost. */
void hv_kernel_packet(struct hv_nic *n, const uint8_t *p, uint32_t len);

#endif
