/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: the register table, its cells and the counters of a run
 * (registers.c), and accesses of the host (bus_target.c). Source: forth.md
 * section 2. */
#ifndef SYSTEMS_FORTH_NIC_REGISTERS_H
#define SYSTEMS_FORTH_NIC_REGISTERS_H

#include "systems/forth/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/component.h"

struct forth_nic;

/* clang-format off */

/* Counters of 2.5 into which the host may store: id, mask of the register. The
 * value is the cell plus the count in progress (performance_counters.c). */
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

/* Network counters, which a load clears (R-08). */
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

/* Index of each row of the register table. */
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
	R_RESEQ, R_CREDIT_RESYNCS, R_UNSYNC, R_RNOTIFY_TOTAL, R_PORT, R_CREDIT_STATE, R_LINK_SELECT, R_RESEQ_RX, R_RESEQ_TX,
	R_RESEQ_POOL, R_EXT_FREE, R_EXT_LEAST, R_LINK_STATE, R_RESEQ_STATE,
	R_LOG_CONTROL, R_LOG_COUNT, R_LOG_INDEX, R_LOG_DATA,
	R_QUEUE_MEM,
	R_N
};
extern const struct weft_reg forth_nic_regs[R_N + 1];

/* Counters of the run, which the host cannot clear. */
enum forth_counter {
	C_TRANSFERS, C_PACKETS_OUT, C_PACKETS_IN, C_QWORDS_OUT, C_QWORDS_IN,
	C_LNOTIFY, C_RNOTIFY, C_IRQS, C_DESC_ERR, C_NO_ROOM, C_GAP_WRITES,
	C_RX_LOST, C_RX_UNDERRUN, C_RESETS, C_LOSSES, C_SYNC_LOST,
	C_POOL_FULL, C_UNTRACKED, C_REORDERED, C_POOL_MAX, C_EXT_WORDS,
	C_EXT_BLOCKS, C_BRAM,
	/* sums over the links */
	C_HEADER_CRC, C_BODY_CRC, C_ALIGN, C_CREDIT_PARITY, C_CREDIT_LEAK,
	C_RESYNCS, C_UNSYNC, C_DEAF, C_SKEW_FULL, C_N
};
/* clang-format on */

void forth_regs_init(struct forth_nic *n);
/* Answers a load of the host. */
void forth_bus_load(struct forth_nic *n, const struct weft_bus_note *note);
/* Executes a store of the host. */
void forth_bus_store(struct forth_nic *n, const struct weft_bus_note *note);
void forth_irq_set(struct forth_nic *n); /* sets the remote interrupt flag */
void forth_ram_fini(struct forth_nic *n);
void forth_ram_write(struct forth_nic *n, uint64_t off, const uint8_t *p,
		     uint32_t bytes);
void forth_ram_read(struct forth_nic *n, uint64_t off, uint8_t *p,
		    uint32_t bytes);

#endif
