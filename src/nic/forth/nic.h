/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the FORTH NIC (class forth.nic): state and what its units offer
 * each other.  Source: forth.md sections 1.2, 2, 3, 4.8-4.11, 6, 10, 11.
 *
 *   host bus --+-- regs.c      configuration space, registers, BAR0
 *              |   queue.c     request queues, start flag, pointers
 *              +-- engine.c    request-queue FSM: outgoing transfers
 *              |   write.c     incoming packets and notifications to memory
 *              |   voq.c       outgoing buffering, segmentation, room
 *              |   ext.c       bodies of long VOQs in external memory
 *              +-- netif.c     link engines (link/flink.h) on the far side
 *                  path.c      multipath, sender
 *                  reseq.c, group.c   multipath, receiver: completion
 *                  perf.c, sampler.c, bench.c, evlog.c   measuring
 *
 * Times inside are numbers of PCI clock edges ("pc") unless a name says
 * otherwise; whatever comes from the other domain is taken at the first edge at
 * or after it. */
#ifndef NIC_FORTH_NIC_H
#define NIC_FORTH_NIC_H

#include "link/flink.h"
#include "nic/forth/ring.h"
#include "nic/forth_regs.h"
#include "weft/bus.h"

/* ---- states of the request-queue FSM (3.4) ---------------------------- */

enum forth_state {
	FORTH_NO_PND_OP,
	FORTH_RD_D0,
	FORTH_RD_D1,
	FORTH_CHECK,
	FORTH_RD_REQ,
	FORTH_SPLIT_WAIT,
	FORTH_RD_DATA,
	FORTH_BM_GEN,
	FORTH_RX_WR,
	FORTH_NOTIFY,
	FORTH_UPDT_CNT,
	FORTH_STATES
};
extern const char *const forth_state_name[FORTH_STATES];

/* What the bus has said last about a transaction. */
enum forth_phase { PHASE_NONE, PHASE_SPLIT, PHASE_DATA, PHASE_DONE };

enum forth_lnotify_at { LNOTIFY_DEPARTED, LNOTIFY_READ };
enum forth_bundle { BUNDLE_BYTE, BUNDLE_PACKET };
enum forth_completion { COMPLETION_RESEQ, COMPLETION_COUNT };
enum forth_dir { DIR_H2N, DIR_N2H, DIR_N };
enum { PORT_BUS, PORT_LINK };
#define FORTH_HDR_ANNOUNCE (1ull << 48) /* completion=count (7.7) */
enum { PATHS_MAX = 32, NO_SLOT = 0xFFFF, SOURCES = 8, GROUPS = 64 };
/* Within one time external memory comes first, links come last. */
enum { TAG_EXT, TAG_ENGINE, TAG_LINK };

/* ---- units ----------------------------------------------------------------
 */

struct forth_queue {
	uint32_t head, tail, pending; /* slots; pending up to the depth */
	bool masked;		      /* its outgoing buffer had no room */
	uint32_t need, voq;	      /* masked: words wanted, and where */
	uint32_t departed;	      /* cumulative transfers (R-16) */
	uint64_t gone;		      /* pc of the latest departure */
	/* Transfers between the engine and their departure, oldest first. */
	struct {
		RING(struct forth_track);
	} track;
};

struct forth_track {
	uint64_t gone; /* pc of departure, valid when done */
	uint16_t slot;
	bool lnotify, done;
};

/* A packet in an outgoing buffer. */
struct forth_pkt {
	uint64_t hdr;
	struct weft_slice data; /* true bytes */
	uint64_t ready;		/* pc from which the link may start it */
	uint32_t words;		/* occupied: payload, header word, CRC word */
	uint32_t ts1;
	uint32_t seq;	  /* of its track, when last */
	uint32_t ext_off; /* of its payload in BAR0, while it is there */
	uint8_t queue;
	bool first, last; /* of its transfer */
};

/* How a transfer is cut into packets (6.4): fixed when room is taken. */
struct forth_plan {
	bool ext; /* goes to external memory */
	uint32_t n, blocks;
	uint32_t room, seg; /* afterwards: words left in the tail block, qwords
			     * left in the open segment */
	uint16_t end[FORTH_SIZE_MAX];	/* qwords up to the end of packet i */
	uint16_t block[FORTH_SIZE_MAX]; /* new blocks begun up to packet i */
};

/* A block of external memory in the list of its VOQ. */
struct forth_block {
	uint32_t id;
	uint32_t fill;	  /* words written so far */
	uint32_t pkts;	  /* packets that lie in it */
	uint32_t missing; /* packets that will follow */
	uint64_t in;	  /* pc: the latest of them is in */
};

/* A VOQ, or the single Host2Net FIFO. */
struct forth_voq {
	uint32_t cap, used; /* words on chip; used = reserved, not yet left */
	uint32_t seg;	    /* qwords left in the open segment */
	struct {
		RING(struct forth_pkt);
	} pkts;
	weft_time_t next_at; /* the next packet may depart (7.2) */
	uint32_t turn;	     /* position in the pattern of paths */
	uint8_t number[FLINK_LINKS_MAX];
	/* external memory: the list of blocks and what is in them */
	uint32_t room; /* words left in the tail block */
	struct {
		RING(struct forth_pkt);
	} ext;
	struct {
		RING(struct forth_block);
	} blocks;
};

/* External memory: free list, and the one reader (ext.c). */
struct forth_ext {
	uint32_t total, n_free, least_free;
	uint32_t block_words;
	uint32_t *free; /* ids, a stack */
	bool busy;
	uint32_t voq, rr;
	uint64_t end; /* pc */
	struct weft_timer timer;
};

/* The packet that leaves now: its words drain along the line. */
struct forth_leaving {
	uint32_t voq, words, qwords;
	bool first, last;
	uint64_t head_cc, data_cc, end_cc; /* NET cycles, see voq.c */
};

/* One received packet in Net2Host. */
struct forth_rx {
	uint64_t hdr;
	struct weft_slice data;
	uint64_t ready;	  /* pc of Net2HPReady */
	uint64_t data_cc; /* NET cycle of the first payload word */
	uint64_t end_cc;  /* NET cycle after the last word */
	uint32_t qwords;  /* in the FIFO, header not counted */
	uint32_t charge;  /* link words */
	bool bad;
	/* multipath */
	uint8_t link, src;
	uint16_t slot; /* of its header in the pool, or NO_SLOT */
	uint32_t epoch;
};

/* A Net2Host FIFO, one per link engine (R-35). */
struct forth_fifo {
	struct {
		RING(struct forth_rx);
	} q;
	uint32_t used; /* qwords, headers included */
};

/* A remote notification or interrupt that may be given from pc `at` on. */
struct forth_deliver {
	uint64_t hdr, at;
	bool bad, loss;
	uint8_t src, group;
};

/* The outgoing half of the engine. */
struct forth_rq {
	enum forth_state state;
	enum forth_phase phase;
	uint64_t since, until; /* pc: state entered; timed state ends */
	uint64_t done;	       /* pc: last datum moved */
	uint32_t queue;
	uint64_t q0, q1; /* the descriptor */
	uint32_t qwords, voq, seq;
	uint32_t cut; /* qwords already handed to the VOQ */
	bool error, notified, active;
	bool orphan; /* reset while the bus has txn */
	struct weft_slice data;
	struct weft_bus_txn txn;
	uint32_t next_cut; /* packet of the plan that comes next */
	struct forth_plan plan;
};

enum forth_job { JOB_NONE, JOB_PACKET, JOB_LNOTIFY, JOB_DELIVER };

/* The incoming half: one write to memory at a time. */
struct forth_wr {
	enum forth_state state; /* NoPndOp, RxWr, Notify, UpdtCnt */
	enum forth_phase phase;
	enum forth_job job;
	uint64_t until;
	uint32_t credited;  /* link words given back so far */
	uint32_t drained;   /* payload qwords out of Net2Host so far */
	uint64_t burst_end; /* pc */
	uint64_t done;	    /* pc: last datum of the packet moved */
	uint32_t requests;  /* bus requests of the packet */
	bool for_rq;	    /* the outgoing half waits for this notification */
	bool orphan;
	bool aborted;
	bool irq; /* set the flag when it is over */
	struct forth_rx rx;
	struct weft_bus_txn txn;
};

struct forth_lnotify {
	uint64_t word, at; /* at: pc from which it may be written */
	uint32_t queue;
};

/* Qwords that move one per pc from an edge on. */
struct forth_ramp {
	uint64_t base; /* before the ramp */
	uint64_t start, n;
};

struct forth_sampler {
	uint32_t left, taken, index; /* samples to take; read index */
	bool armed, running;
	uint64_t interval, next; /* pc */
	uint64_t origin[DIR_N];	 /* qwords at the start */
	uint32_t *mem;		 /* 2048 x (tx, rx) */
};

struct forth_nic {
	/* parameters */
	uint32_t links, bundle, completion, queues, voqs, flows, node;
	char pattern[64];
	uint32_t reseq_headers, ext_rd_lat, ext_rate;
	uint64_t voq_seg_max, voq_ext_bytes, voq_block_bytes, voq_hi, voq_lo;
	uint64_t voq_bytes, max_payload, min_payload;
	uint32_t h2n_words, n2h_words;
	uint32_t lnotify_at, frame, ct_q;
	uint32_t t_desc, t_upd, t_sync_dv, t_sync_vl, t_linkstart, t_l2d;
	uint32_t t_crtx, t_crrx, refresh_cc, credit_words, resync;
	double ppm;
	bool ids_literal, status_literal, netcnt_read_clears;
	bool suppress_bad_body_notify, rw_overlap, credit_filter;
	/* the rest is state */
	struct weft_comp *comp;
	struct weft_port *bus;
	struct weft_clock pci;
	weft_time_t now;	/* latest time asked for, */
	uint64_t now_pc;	/* and its PCI edge */
	bool started, enabled;	/* enabled: engine may use the bus */
	bool multi;		/* packet by packet: section 7 holds */
	uint32_t n_link, width; /* link engines; links bundled in each */
	struct flink link[FLINK_LINKS_MAX];
	struct weft_timer timer;
	/* request queues */
	uint64_t *qmem; /* register cells: one dword each */
	uint32_t depth, rr_queue;
	struct forth_queue queue[FORTH_QUEUES_MAX];
	/* engine */
	struct forth_rq rq;
	struct forth_wr wr;
	bool last_out; /* the outgoing side was served last */
	struct {
		RING(struct forth_lnotify);
	} lnotify;
	/* outgoing buffers; one when voqs is 0 */
	uint32_t n_voq, going; /* going: VOQ of the chosen packet */
	uint32_t rr_voq[FLINK_LINKS_MAX];
	uint32_t n_masked;
	struct forth_voq voq[FORTH_QUEUES_MAX];
	struct forth_leaving leaving[FLINK_LINKS_MAX];
	uint64_t insert_free; /* pc: the way into the VOQs is free */
	uint32_t seg_qwords, pkt_qwords;
	struct forth_ext ext;
	/* multipath: the pattern of paths */
	uint8_t path[PATHS_MAX];
	uint32_t n_path;
	struct forth_reseq *reseq;
	struct forth_group *group; /* [source][group] */
	/* Net2Host */
	struct forth_fifo fifo[FLINK_LINKS_MAX];
	uint32_t rr_fifo;
	struct {
		RING(struct forth_deliver);
	} deliver;
	uint64_t ct_num; /* quarters of a packet to wait */
	uint32_t rnotify_count;
	/* measuring */
	uint64_t active_since[DIR_N];
	struct forth_ramp moved[DIR_N];
	weft_time_t frame_at[DIR_N]; /* latest tenure: FRAME#, */
	uint64_t frame_end[DIR_N];   /* and the end of it so far, pc */
	bool irq_level;
	uint64_t irq_since, split_since;
	bool split_open, cum_armed, cum_running;
	uint64_t cum_start;
	uint32_t cum_base;
	struct forth_sampler sampler;
	uint64_t *net_base; /* 19 values at their last clearing */
	uint64_t h2net_start, net2h_start;
	uint32_t *ts1, *bench_seq; /* per slot, per flow; bench mode only */
	uint8_t **ram;		   /* BAR0 in 64-KiB chunks */
	struct forth_evlog *log;   /* NULL while off */
};

/* ---- register cells (regs.c) ------------------------------------------- */

/* clang-format off */

/* Counters of 2.5 that the host may store into: id, mask of the register.
 * The value is cell + what runs at the moment (perf.c). */
#define FORTH_PERF_LIST(X)                                                     \
	X(H2N_DMA_OPS, "Host2NicDMAops", 0xFFFFFFFF, "outgoing transfers done")\
	X(N2H_DMA_OPS, "Nic2HostDMAops", 0xFFFFFFFF, "received packets written")\
	X(H2N_REQ, "Host2NicReq", 0xFFFFFFFF, "bus requests, host to NIC")     \
	X(N2H_REQ, "Nic2HostReq", 0xFFFFFFFF, "bus requests, NIC to host")     \
	X(H2N_QWORD, "Host2NicQWord", 0xFFFFFFFF, "qwords read by DMA")        \
	X(N2H_QWORD, "Nic2HostQWord", 0xFFFFFFFF, "qwords written by DMA")     \
	X(H2N_DMA_ACTIVE, "Host2NicDMAactive", 0xFFFFFFFF,                     \
	  "pc from REQ# to the end of outgoing transfers")                     \
	X(N2H_DMA_ACTIVE, "Nic2HostDMAactive", 0xFFFFFFFF,                     \
	  "pc from REQ# to the end of packet writes")                          \
	X(H2N_BUS_GRANTED, "Host2NicBusGranted", 0xFFFFFFFF,                   \
	  "pc from FRAME# to the last data phase, host to NIC")                \
	X(N2H_BUS_GRANTED, "Nic2HostBusGranted", 0xFFFFFFFF,                   \
	  "pc from FRAME# to the last data phase, NIC to host")                \
	X(H2N_DISC, "Host2NicDisc", 0xFFFFFFFF,                                \
	  "latency-timer disconnects, host to NIC")                            \
	X(N2H_DISC, "Nic2HostDisc", 0xFFFFFFFF,                                \
	  "latency-timer disconnects, NIC to host")                            \
	X(IRQ_ACTIVE, "IRQ active timer", 0xFFFFFFFF, "pc with INTA# asserted")\
	X(IRQ_ASSERTIONS, "IRQ assertions", 0xFFFFFFFF, "falling edges of INTA#")\
	X(LOCAL_NOTIFY, "Local notification", 0xFFFFFFFF,                      \
	  "local notification writes")                                         \
	X(REMOTE_NOTIFY, "Remote notification", 0xFFFFFFFF,                    \
	  "remote notification writes")                                        \
	X(SPLIT_OPS, "Split operations", 0xFFFFFFFF, "split responses")        \
	X(SPLIT_DURATION, "Split duration", 0xFFFFFFFF,                        \
	  "pc from split response to first datum")                             \
	X(BODY_CRC_ERR, "Packet body CRC error", 0xFFFF, "packets, CRC-32")    \
	X(HEADER_ALIGN_ERR, "Packet header alignment error", 0xFFFF,           \
	  "alignment errors at the header (4.9)")                              \
	X(H2NET_FULL_ERR, "Host2NetFifoFullError", 0xFFFFFFFF,                 \
	  "qwords lost, outgoing FIFO full")                                   \
	X(NET2H_FULL_ERR, "Net2HostFifoFullError", 0xFFFFFFFF,                 \
	  "qwords lost, incoming FIFO full")

/* Network counters: read-clear (R-08). */
#define FORTH_NET_LIST(X)                                                      \
	X(NET_OUT_CYCLES, "Outgoing net cycles", "cc with data or credits")    \
	X(NET_IN_CYCLES, "Incoming net cycles", "cc with data or credits")     \
	X(RIO0_UNKNOWN, "RocketIO 0 unknown character", "codes, link 0")       \
	X(RIO0_SYNC_LOSS, "RocketIO 0 loss of sync", "events, link 0")         \
	X(RIO0_PARITY, "RocketIO 0 parity error", "disparity errors, link 0")  \
	X(RIO0_TX_FULL, "RocketIO 0 tx buffer full", "bytes, link 0")          \
	X(RIO1_UNKNOWN, "RocketIO 1 unknown character", "codes, links 1..3")   \
	X(RIO1_SYNC_LOSS, "RocketIO 1 loss of sync", "events, links 1..3")     \
	X(RIO1_PARITY, "RocketIO 1 parity error", "disparity, links 1..3")     \
	X(RIO1_TX_FULL, "RocketIO 1 tx buffer full", "bytes, links 1..3")      \
	X(NET_OUT_PACKETS, "Outgoing net packets", "packets sent")             \
	X(NET_DEQ_WORDS, "Dequeued words", "qwords sent")                      \
	X(NET_IN_PACKETS, "Incoming net packets", "packets, header CRC good")  \
	X(NET_ENQ_WORDS, "Enqueued words", "qwords into Net2Host")             \
	X(HEADER_CRC_ERR, "Header CRC error", "headers, CRC-16 bad")           \
	X(NET_ALIGN_ERR, "Net FIFO alignment error", "misaligned (4.9)")       \
	X(NET_BACKPRESSURE, "Net backpressure cycles",                         \
	  "cc with a packet ready and no credits")                             \
	X(H2NET_START, "Host2Net start", "Host2NetPReady pulses")              \
	X(NET2H_START, "Net2Host start", "Net2HPReady assertions")

enum forth_perf {
#define X(id, name, mask, doc) PERF_##id,
	FORTH_PERF_LIST(X)
#undef X
	PERF_N
};
enum forth_net {
#define X(id, name, doc) NET_##id,
	FORTH_NET_LIST(X)
#undef X
	NET_N
};

/* Rows of the register table. */
enum forth_reg {
	R_VENDOR, R_DEVICE, R_COMMAND, R_STATUS, R_CLASS, R_CACHE_LINE,
	R_LATENCY, R_HEADER, R_BIST, R_BAR0, R_BAR1, R_CAP, R_IRQ_LINE,
	R_IRQ_PIN, R_APP_IRQ, R_PCIX_CAP, R_PCIX_CMD, R_PCIX_STATUS,
	R_CONTROL, R_POINTERS, R_RNOTIFY_LO, R_RNOTIFY_HI, R_LNOTIFY_LO,
	R_LNOTIFY_HI,
	R_PERF,				/* PERF_N rows */
	R_CUM_TIMER = R_PERF + PERF_N,
	R_SAMPLE_INTERVAL,
	R_NET,				/* NET_N rows */
	R_SAMPLE_COUNT = R_NET + NET_N,
	R_SAMPLE_DATA, R_QUEUE_POINTERS, R_QUEUE_SELECT, R_BUILD, R_BENCH,
	R_TIMESTAMP, R_CREDIT_PARITY_ERR, R_CREDIT_LEAKED, R_DESC_ERR,
	R_RESEQ, R_CREDIT_STATE, R_LINK_SELECT, R_RESEQ_RX, R_RESEQ_TX,
	R_RESEQ_POOL, R_EXT_FREE, R_EXT_LEAST, R_RESEQ_STATE,
	R_LOG_CONTROL, R_LOG_COUNT, R_LOG_INDEX, R_LOG_DATA,
	R_QUEUE_MEM,
	R_N
};
extern const struct weft_reg forth_nic_regs[R_N + 1];

/* Counters of the run (never cleared by the host). */
enum forth_counter {
	C_TRANSFERS, C_PACKETS_OUT, C_PACKETS_IN, C_QWORDS_OUT, C_QWORDS_IN,
	C_LNOTIFY, C_RNOTIFY, C_IRQS, C_DESC_ERR, C_NO_ROOM, C_GAP_WRITES,
	C_RX_LOST, C_RX_UNDERRUN, C_RESETS, C_LOSSES, C_SYNC_LOST,
	C_POOL_FULL, C_UNTRACKED, C_REORDERED, C_POOL_MAX, C_EXT_WORDS,
	C_EXT_BLOCKS, C_N
};
/* clang-format on */

static inline uint32_t forth_cell(struct forth_nic *n, enum forth_reg r)
{
	return (uint32_t)*weft_reg_cell(n->comp, r, 0);
}
static inline void forth_perf_add(struct forth_nic *n, enum forth_perf id,
				  uint64_t by)
{
	*weft_reg_cell(n->comp, R_PERF + id, 0) += by;
}
/* First PCI edge at or after now; divisions are dear, so it is kept. */
static inline uint64_t forth_pc(struct forth_nic *n)
{
	weft_time_t now = weft_now(n->comp);

	if (n->now != now || !n->now_pc) {
		n->now = now;
		n->now_pc = weft_clock_cycle(&n->pci, now);
	}
	return n->now_pc;
}
static inline uint64_t forth_pc_of(const struct forth_nic *n, weft_time_t t)
{
	return t == n->now && n->now_pc ? n->now_pc
					: weft_clock_cycle(&n->pci, t);
}
/* PCI edge at or after an edge of the NET clock, which all links share. */
static inline uint64_t forth_pc_of_cc(const struct forth_nic *n, uint64_t cc)
{
	return forth_pc_of(n, weft_clock_edge(&n->link[0].clk, cc));
}
/* The engine looks again at this edge. */
static inline void forth_engine_wake(struct forth_nic *n, uint64_t pc)
{
	weft_timer_arm(n->comp, &n->timer, TAG_ENGINE,
		       weft_clock_edge(&n->pci, pc));
}

/* There is something to write at pc: wakes the engine if it would begin with it
 * then; otherwise it looks by itself when it gets there. */
static inline void forth_engine_offer(struct forth_nic *n, uint64_t pc)
{
	if (n->wr.state == FORTH_NO_PND_OP &&
	    (n->rq.state == FORTH_NO_PND_OP || n->rq.state == FORTH_SPLIT_WAIT))
		forth_engine_wake(n, pc);
}

/* regs.c */
void forth_regs_init(struct forth_nic *n);
void forth_bus_load(struct forth_nic *n, const struct weft_bus_note *note);
void forth_bus_store(struct forth_nic *n, const struct weft_bus_note *note);
void forth_irq_set(struct forth_nic *n); /* remote interrupt flag */
void forth_ram_fini(struct forth_nic *n);
void forth_ram_write(struct forth_nic *n, uint64_t off, const uint8_t *p,
		     uint32_t bytes);
void forth_ram_read(struct forth_nic *n, uint64_t off, uint8_t *p,
		    uint32_t bytes);

/* queue.c */
void forth_queue_trigger(struct forth_nic *n, uint32_t desc);
/* Next queue to serve, or -1. */
int forth_queue_pick(struct forth_nic *n);
void forth_queue_advance(struct forth_nic *n, uint32_t q);
void forth_queue_reset(struct forth_nic *n);
uint32_t forth_queue_pointers(struct forth_nic *n, uint32_t q);
/* A transfer enters its queue's departure order; returns its number. */
uint32_t forth_track_add(struct forth_nic *n, uint32_t q, bool lnotify);
void forth_track_done(struct forth_nic *n, uint32_t q, uint32_t seq,
		      uint64_t pc);

/* engine.c */
void forth_engine_run(struct forth_nic *n);
void forth_engine_enable(struct forth_nic *n); /* looks at the registers */
void forth_engine_note(struct forth_nic *n, const struct weft_bus_note *note);
void forth_engine_reset(struct forth_nic *n);
enum forth_state forth_engine_state(struct forth_nic *n);
void forth_dma_abort(struct forth_nic *n, enum weft_bus_status status);

/* write.c */
/* PCI edge from which something may be written, or UINT64_MAX. */
uint64_t forth_write_at(const struct forth_nic *n);
/* Something may be written now; otherwise the engine wakes when it may. */
bool forth_write_ready(struct forth_nic *n);
void forth_write_start(struct forth_nic *n);
void forth_write_notify(struct forth_nic *n, uint32_t q, uint64_t word);
bool forth_write_run(struct forth_nic *n);
void forth_write_note(struct forth_nic *n, const struct weft_bus_note *note);
void forth_write_reset(struct forth_nic *n);

/* voq.c */
void forth_voq_init(struct forth_nic *n);
/* Takes room for a transfer of so many qwords, if there is; the plan of its
 * packets is in rq. */
bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t qwords);
void forth_voq_mask(struct forth_nic *n, uint32_t q, uint32_t v,
		    uint32_t qwords);
void forth_voq_unmask(struct forth_nic *n);
/* Qwords first..upto-1 of the current transfer move one per pc from pc0 on. */
void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0);
void forth_voq_generate(struct forth_nic *n, uint64_t pc0);
/* The current transfer was aborted: gives back what it had reserved. */
void forth_voq_abandon(struct forth_nic *n);
void forth_voq_reset(struct forth_nic *n);
void forth_voq_fini(struct forth_nic *n);
/* Words on chip now, those reserved included. */
uint32_t forth_voq_level(const struct forth_nic *n, uint32_t v);
/* PCI edge at which `words` more have left it, as far as packets on the line
 * will do that; else UINT64_MAX. */
uint64_t forth_voq_left_at(const struct forth_nic *n, uint32_t v,
			   uint32_t words);

/* leave.c: from the VOQs to the links. */
bool forth_voq_next(struct forth_nic *n, uint32_t link, struct flink_pkt *out);
void forth_voq_sent(struct forth_nic *n, uint32_t link, uint64_t start,
		    uint64_t end, uint32_t shift);
/* Asks the links to look again when their next packet is ready. */
void forth_voq_kick(struct forth_nic *n);
/* The same for the front packet of one VOQ. */
void forth_voq_kick_one(struct forth_nic *n, uint32_t v);
/* Words of the packet on this line that have left by NET cycle cc. */
uint32_t forth_left_by(const struct forth_nic *n, uint32_t link, uint64_t cc);
uint64_t forth_net_now(const struct forth_nic *n); /* last edge <= now */

/* ext.c */
int forth_ext_init(struct forth_nic *n, struct weft_err *err);
void forth_ext_fini(struct forth_nic *n);
/* External memory instead of, or behind, the chip: is there room? */
bool forth_ext_wanted(const struct forth_nic *n, uint32_t v, uint32_t qwords);
bool forth_ext_plan(const struct forth_nic *n, uint32_t v, uint32_t qwords,
		    struct forth_plan *p);
void forth_ext_take(struct forth_nic *n, uint32_t v,
		    const struct forth_plan *p);
/* One packet has been read and is in its block at edge `in`. */
void forth_ext_push(struct forth_nic *n, uint32_t v, struct forth_pkt *p,
		    uint64_t in);
void forth_ext_abandon(struct forth_nic *n, uint32_t v, uint32_t missing);
void forth_ext_reset(struct forth_nic *n);
void forth_ext_run(struct forth_nic *n);
/* Something may have changed for the reader. */
void forth_ext_poke(struct forth_nic *n);
/* All blocks are on the free list or in a VOQ's list; a message if not. */
int forth_ext_check(const struct forth_nic *n, struct weft_err *err);

/* path.c */
int forth_path_init(struct forth_nic *n, struct weft_err *err);
uint32_t forth_path_of(const struct forth_nic *n, uint32_t v);
/* Header of the front packet of a VOQ with its resequencing field. */
uint64_t forth_path_header(const struct forth_nic *n, uint32_t v, uint64_t hdr);
void forth_path_sent(struct forth_nic *n, uint32_t v);
void forth_path_reset(struct forth_nic *n, uint32_t mask);

/* reseq.c: completion of packets that may overtake each other. */
int forth_reseq_init(struct forth_nic *n, struct weft_err *err);
void forth_reseq_fini(struct forth_nic *n);
/* A header with a good CRC came in; it counts from `pc` on. */
void forth_reseq_header(struct forth_nic *n, struct forth_rx *rx, uint64_t pc);
/* Its payload is in memory (or will never be). */
void forth_reseq_written(struct forth_nic *n, const struct forth_rx *rx,
			 bool lost);
/* Headers that count from now on. */
void forth_reseq_run(struct forth_nic *n);
void forth_reseq_restart(struct forth_nic *n, uint32_t mask);
uint32_t forth_reseq_counts(const struct forth_nic *n);
uint32_t forth_reseq_lost_mask(const struct forth_nic *n);
uint32_t forth_reseq_pool(const struct forth_nic *n);
uint32_t forth_reseq_state(const struct forth_nic *n, uint32_t src);
/* Hands a notification or interrupt to the engine. */
void forth_deliver(struct forth_nic *n, struct forth_deliver d);

/* group.c: the counting alternative. */
int forth_group_init(struct forth_nic *n, struct weft_err *err);
static inline bool forth_is_announce(const struct forth_nic *n, uint64_t hdr)
{
	return n->completion == COMPLETION_COUNT && hdr & FORTH_HDR_ANNOUNCE;
}
void forth_group_written(struct forth_nic *n, const struct forth_rx *rx);

/* evlog.c */
void forth_log_add(struct forth_nic *n, enum forth_log_unit unit,
		   enum forth_log_event event, uint32_t arg);
static inline void forth_log(struct forth_nic *n, enum forth_log_unit unit,
			     enum forth_log_event event, uint32_t arg)
{
	if (__builtin_expect(n->log != NULL, 0))
		forth_log_add(n, unit, event, arg);
}
void forth_log_enable(struct forth_nic *n, bool on);
uint32_t forth_log_written(const struct forth_nic *n);
void forth_log_seek(struct forth_nic *n, uint32_t index);
uint32_t forth_log_read(struct forth_nic *n, uint32_t i);

/* netif.c */
int forth_netif_init(struct forth_nic *n, struct weft_err *err);
int forth_netif_start(struct forth_nic *n, struct weft_err *err);
/* Throws all waiting packets away; credits return from pc on. */
void forth_netif_flush(struct forth_nic *n, uint64_t pc);
void forth_netif_fini(struct forth_nic *n);
weft_time_t forth_rx_word_at(const struct forth_nic *n,
			     const struct forth_rx *rx, uint32_t i);
/* Credits of received words (5.2, NIC receiver). */
void forth_netif_header_out(struct forth_nic *n);
void forth_netif_words_out(struct forth_nic *n, uint32_t first, uint32_t count,
			   uint64_t pc0);
void forth_netif_rest_out(struct forth_nic *n, uint64_t pc);
uint64_t forth_net_count(struct forth_nic *n, enum forth_net id);
/* Sum over all links of a counter, by its offset in struct flink_count. */
uint64_t forth_link_sum(struct forth_nic *n, size_t counter);

/* perf.c */
uint64_t forth_perf_running(struct forth_nic *n, enum forth_perf id);
void forth_perf_req(struct forth_nic *n, enum forth_dir d, uint64_t pc);
void forth_perf_end(struct forth_nic *n, enum forth_dir d, uint64_t done,
		    uint64_t pc);
void forth_perf_note(struct forth_nic *n, enum forth_dir d,
		     const struct weft_bus_note *note);
uint64_t forth_moved(const struct forth_nic *n, enum forth_dir d, uint64_t pc);
void forth_cum_store(struct forth_nic *n, uint32_t val);

/* sampler.c */
void forth_sampler_arm(struct forth_nic *n, uint32_t count);
void forth_sampler_first(struct forth_nic *n, uint64_t pc);
void forth_sampler_advance(struct forth_nic *n, uint64_t pc);
uint32_t forth_sampler_pop(struct forth_nic *n);
void forth_sampler_seek(struct forth_nic *n, uint32_t index);

/* bench.c */
uint32_t forth_bench_mode(struct forth_nic *n);
void forth_bench_trigger(struct forth_nic *n, uint32_t q, uint32_t first,
			 uint32_t count);
uint32_t forth_bench_ts1(const struct forth_nic *n, uint32_t q, uint32_t slot);
void forth_bench_stamp(struct forth_nic *n, const struct forth_pkt *p,
		       uint64_t start_cc);

#endif
