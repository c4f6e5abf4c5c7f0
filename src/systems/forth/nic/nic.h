/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the FORTH NIC (class forth.nic): the device. State and functions
 * of its units are in their headers. Source: forth.md sections 1.2, 2, 3,
 * 4.8-4.11, 6, 10, 11.
 *
 *   host bus --+-- registers.c          configuration space and BAR1
 *              |   bus_target.c         loads and stores, BAR0; bus_errors.c
 *              |   request_queue.c      request queues, order of departure
 *              +-- dma_engine.c         request-queue FSM: outgoing transfers
 *              |   dma_write.c          packets, notifications to memory
 *              |   voq.c                outgoing buffers, segments, room
 *              |   external_queue.c     bodies of long VOQs
 *              +-- voq_to_link.c, network_interface.c    to and from links
 *                  path_choice.c        multipath, sender
 *                  resequencer.c, packet_counting.c      multipath, receiver
 *                  performance_counters.c, sampler.c, benchmark_mode.c,
 *                  event_log.c                           measuring
 *
 * Times inside are numbers of PCI clock edges ("pc") unless a name says
 * otherwise. An event of the other clock domain takes effect at the first PCI
 * edge at or after the event. */
#ifndef SYSTEMS_FORTH_NIC_NIC_H
#define SYSTEMS_FORTH_NIC_NIC_H

#include "systems/forth/link/port.h"
#include "systems/forth/nic/registers.h"
#include "systems/forth/nic/dma_engine.h"
#include "systems/forth/nic/external_queue.h"
#include "systems/forth/nic/instruments.h"
#include "systems/forth/nic/multipath.h"
#include "systems/forth/nic/network_interface.h"
#include "systems/forth/nic/request_queue.h"
#include "base/ring.h"
#include "systems/forth/nic/voq.h"
#include "weft/bus.h"
#include "weft/trace.h"

enum forth_lnotify_at { LNOTIFY_DEPARTED, LNOTIFY_READ };
enum forth_bundle { BUNDLE_BYTE, BUNDLE_PACKET };
enum forth_completion { COMPLETION_RESEQ, COMPLETION_COUNT };
enum { PORT_BUS, PORT_LINK };
/* Order of events at equal times: external memory first, links last. */
enum { TAG_EXT, TAG_ENGINE, TAG_LINK };

struct forth_nic_params {
	uint32_t links, bundle, completion, queues, voqs, flows, node, budget;
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
	bool suppress_bad_body_notify, rw_overlap, credit_filter,
		crc32_complement;
};

struct forth_nic {
	/* first member, because rows of parameters hold offsets into it */
	struct forth_nic_params p;
	struct weft_comp *comp;
	struct weft_port *bus;
	struct weft_clock pci;
	weft_time_t now;       /* time for which now_pc was computed last */
	uint64_t now_pc;       /* PCI edge at or after `now` */
	bool started, enabled; /* enabled: the engine may use the bus */
	/* bundle=packet: each packet chooses its link (forth.md 7) */
	bool multi;
	/* number of link engines, links bundled in each */
	uint32_t n_link, width;
	struct forth_port link[FORTH_PORT_LINKS_MAX];
	struct weft_timer timer;
	/* request queues */
	uint64_t *qmem; /* register cells of queue memory, one dword each */
	uint32_t depth, rr_queue;
	struct forth_queue queue[FORTH_QUEUES_MAX];
	/* engine */
	struct forth_rq rq;
	struct forth_wr wr;
	bool last_out; /* the outgoing half used the bus last */
	struct {
		RING(struct forth_lnotify);
	} lnotify;
	/* outgoing buffers, only one if voqs is 0 */
	uint32_t n_voq,
		going; /* going: VOQ of the packet that ops.next chose */
	uint32_t rr_voq[FORTH_PORT_LINKS_MAX];
	uint32_t n_masked;
	struct forth_voq voq[FORTH_QUEUES_MAX];
	struct forth_leaving leaving[FORTH_PORT_LINKS_MAX];
	/* first PCI edge at which the path into the VOQs is free */
	uint64_t insert_free;
	/* PCI edge at which an unexpected completion ends, or 0 */
	uint64_t stray;
	uint32_t seg_qwords, pkt_qwords;
	struct forth_ext ext;
	/* multipath: the pattern of paths */
	uint8_t path[PATHS_MAX];
	uint32_t n_path;
	struct forth_reseq *reseq;
	struct forth_group *group; /* [source][group], or NULL */
	/* Net2Host */
	struct forth_fifo fifo[FORTH_PORT_LINKS_MAX];
	uint32_t rr_fifo;
	struct {
		RING(struct forth_deliver);
	} deliver;
	/* number of quarters of a packet that must arrive before its write
	 * starts */
	uint64_t ct_num;
	uint32_t rnotify_count;
	/* measuring */
	struct forth_perf_state perf;
	struct forth_sampler sampler;
	/* values of the 19 network counters when they were last cleared */
	uint64_t *net_base;
	uint64_t h2net_start, net2h_start;
	/* ts1 of each queue slot and sequence number of each flow, in benchmark
	 * mode only */
	uint32_t *ts1, *bench_seq;
	uint8_t **ram;		 /* memory of BAR0, in chunks of 64 KiB */
	struct forth_evlog *log; /* NULL while off */
	/* trace id of each slot's message, while tracing is on */
	uint64_t *trace;
};

static inline uint32_t forth_cell(struct forth_nic *n, enum forth_reg r)
{
	return (uint32_t)*weft_reg_cell(n->comp, r, 0);
}
static inline void forth_perf_add(struct forth_nic *n, enum forth_perf id,
				  uint64_t by)
{
	*weft_reg_cell(n->comp, R_PERF + id, 0) += by;
}
/* Returns the first PCI edge at or after now. Keeps the result, because
 * divisions are expensive. */
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
/* Returns the PCI edge at or after an edge of the NET clock, which all links
 * share. */
static inline uint64_t forth_pc_of_cc(const struct forth_nic *n, uint64_t cc)
{
	return forth_pc_of(n, weft_clock_edge(&n->link[0].clk, cc));
}
/* Returns the link end at which a packet arrived. */
static inline struct forth_port *forth_rx_end(struct forth_nic *n,
					      const struct forth_rx *rx)
{
	struct forth_port *l = &n->link[rx->link];

	return rx->loop ? l->back : l;
}
/* Returns the index of the link to which an end, or a loop end, belongs. */
static inline uint32_t forth_link_of(const struct forth_nic *n,
				     struct forth_port *l)
{
	return (uint32_t)(forth_port_line(l) - n->link);
}
/* Wakes the engine at this PCI edge. */
static inline void forth_engine_wake(struct forth_nic *n, uint64_t pc)
{
	weft_timer_arm(n->comp, &n->timer, TAG_ENGINE,
		       weft_clock_edge(&n->pci, pc));
}

/* Marks the end of a stage of a message at a PCI edge. */
static inline void forth_mark(const struct forth_nic *n, uint64_t id,
			      const char *stage, uint64_t pc)
{
	if (weft_told(n->comp, id))
		weft_mark(n->comp, id, stage, weft_clock_edge(&n->pci, pc));
}
/* Two functions that report the words in a VOQ, and in the FIFO of a link, to
 * listeners. */
static inline void forth_trace_voq(const struct forth_nic *n, uint32_t v)
{
	if (weft_heard_kind(n->comp, WEFT_TRACE_LEVEL))
		weft_level(n->comp, "voq", v, forth_voq_level(n, v),
			   weft_now(n->comp));
}
static inline void forth_trace_fifo(struct forth_nic *n, uint32_t link)
{
	if (weft_heard_kind(n->comp, WEFT_TRACE_LEVEL))
		weft_level(n->comp, "net2host", link, forth_fifo_used(n, link),
			   weft_now(n->comp));
}

/* Notes that a write may start at PCI edge `pc`, and wakes an idle engine at
 * that edge. A busy engine needs no wake, because it searches for work when it
 * becomes idle. */
static inline void forth_engine_offer(struct forth_nic *n, uint64_t pc)
{
	if (n->wr.state != FORTH_NO_PND_OP)
		return;
	if (n->rq.state == FORTH_NO_PND_OP)
		forth_engine_wake(n, pc);
	else if (n->rq.state == FORTH_SPLIT_WAIT &&
		 forth_pc(n) < n->rq.data_from)
		forth_engine_wake(n, pc > n->rq.split_from ? pc
							   : n->rq.split_from);
}

static inline bool forth_is_announce(const struct forth_nic *n, uint64_t hdr)
{
	return n->p.completion == COMPLETION_COUNT && hdr & FORTH_HDR_ANNOUNCE;
}

static inline void forth_log(struct forth_nic *n, enum forth_log_unit unit,
			     enum forth_log_event event, uint32_t arg)
{
	if (__builtin_expect(n->log != NULL, 0))
		forth_log_at(n, forth_pc(n), unit, event, arg);
}

/* block_ram_use.c */
int forth_bram_init(struct forth_nic *n, struct weft_err *err);

#endif
