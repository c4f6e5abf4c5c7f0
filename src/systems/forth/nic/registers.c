/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the FORTH NIC: configuration space and BAR1 as one table.
 * Source: forth.md sections 2.2, 2.3 (configuration space), 2.5 (map), 2.6
 * (control), 3.1 (queue memory); R-01..R-08, R-17, R-32, R-41, R-42. */
#include <stddef.h>

#include "systems/forth/nic/nic.h"

#define SP_CFG	0
#define SP_BAR1 (1 + FORTH_BAR_REGS)

/* ---- performance counters: value of the cell and the count in progress
 * ---- */

#define X(id, name, mask, doc)                                                 \
	static uint64_t perf_rd_##id(struct weft_comp *c, uint32_t i)          \
	{                                                                      \
		return (*weft_reg_cell(c, R_PERF + PERF_##id, 0) +             \
			forth_perf_running(c->state, PERF_##id)) &             \
		       mask;                                                   \
	}                                                                      \
	static void perf_wr_##id(struct weft_comp *c, uint32_t i, uint64_t v)  \
	{                                                                      \
		*weft_reg_cell(c, R_PERF + PERF_##id, 0) =                     \
			(v & mask) - forth_perf_running(c->state, PERF_##id);  \
	}
FORTH_PERF_LIST(X)
#undef X

/* ---- network counters: read-clear (R-08) ---- */

static uint64_t net_read(struct weft_comp *c, enum forth_net id)
{
	struct forth_nic *n = c->state;
	uint64_t now = forth_net_count(n, id);
	uint64_t val = now - n->net_base[id];

	if (n->p.netcnt_read_clears)
		n->net_base[id] = now;
	return val;
}

static void net_clear(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	for (uint32_t k = 0; k < NET_N; k++)
		n->net_base[k] = forth_net_count(n, k);
}

#define X(id, name, doc)                                                       \
	static uint64_t net_rd_##id(struct weft_comp *c, uint32_t i)           \
	{                                                                      \
		return net_read(c, NET_##id);                                  \
	}
FORTH_NET_LIST(X)
#undef X

/* ---- other hooks ---- */

static void app_irq_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	uint32_t both = FORTH_APP_IRQ_ENABLE | FORTH_APP_IRQ_FLAG;
	struct forth_nic *n = c->state;
	bool level = (forth_cell(n, R_APP_IRQ) & both) == both;

	if (level == n->perf.irq_level || !n->started)
		return;
	if (level) {
		forth_perf_add(n, PERF_IRQ_ASSERTIONS, 1);
		weft_count(c, C_IRQS, 1);
		n->perf.irq_since = forth_pc(n);
		forth_log(n, LOG_HOST, LOG_INTERRUPT, level);
	} else {
		forth_perf_add(n, PERF_IRQ_ACTIVE,
			       forth_pc(n) - n->perf.irq_since);
	}
	n->perf.irq_level = level;
	weft_bus_of(n->bus)->irq(n->bus, level);
}

void forth_irq_set(struct forth_nic *n)
{
	*weft_reg_cell(n->comp, R_APP_IRQ, 0) |= FORTH_APP_IRQ_FLAG;
	app_irq_wrote(n->comp, 0, 0);
}

static uint64_t app_irq_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;
	uint32_t q = forth_cell(n, R_QUEUE_SELECT) & (n->p.queues - 1);

	return forth_cell(n, R_APP_IRQ) |
	       (n->queue[q].tail & 0x7F) << FORTH_APP_TAIL_SHIFT |
	       (n->queue[q].head & 0x7F) << FORTH_APP_HEAD_SHIFT;
}

/* Wakes the engine, because enabling the master or the initiator may let it
 * start. */
static void command_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	if (n->started)
		forth_engine_enable(n);
}

static void control_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	if (!n->started)
		return;
	if (val & FORTH_CTL_RESET)
		forth_engine_reset(n);
	for (uint32_t q = 0; val & FORTH_CTL_POINTER_RESET && q < n->p.queues;
	     q++) {
		n->queue[q].head = n->queue[q].tail = n->queue[q].pending = 0;
		n->queue[q].masked = false;
	}
	for (uint32_t k = 0; k < n->n_link; k++)
		forth_port_loopback(&n->link[k],
				    (val & FORTH_CTL_LOOP) == FORTH_CTL_LOOP);
	forth_engine_enable(n);
}

static uint64_t pointers_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;

	return forth_queue_pointers(n, forth_cell(n, R_QUEUE_SELECT) &
					       (n->p.queues - 1));
}

static uint64_t queue_pointers_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;

	return i < n->p.queues ? forth_queue_pointers(n, i) : 0;
}

static void cum_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	n->perf.cum_base = (uint32_t)val;
	n->perf.cum_armed = true;
	n->perf.cum_running = false;
}

static uint64_t timestamp_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;

	return n->started ? forth_pc(n) : 0;
}

#define LINK_SUM(field)                                                        \
	static uint64_t field##_read(struct weft_comp *c, uint32_t i)          \
	{                                                                      \
		struct forth_nic *n = c->state;                                \
                                                                               \
		return n->started                                              \
			       ? forth_link_sum(                               \
					 n, offsetof(struct forth_port_count,  \
						     field))                   \
			       : 0;                                            \
	}
LINK_SUM(credit_parity)
LINK_SUM(credit_leak)
LINK_SUM(resyncs)
LINK_SUM(unsync)

static struct forth_port *selected_link(struct forth_nic *n)
{
	uint32_t k = forth_cell(n, R_LINK_SELECT);

	return n->started && k < n->n_link ? &n->link[k] : NULL;
}

static uint64_t port_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_port *l = selected_link(c->state);

	return l && l->peer ? l->tx_lanes : 0;
}

static void port_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;
	struct forth_port *l = selected_link(n);

	*weft_reg_cell(c, R_PORT, 0) = 0;
	if (!l || !l->peer || !(val & 1) || n->fifo[l - n->link].line)
		return;
	forth_port_credit_reset(l);
	forth_port_kick(
		l, weft_now(c)); /* start packets that waited for credits */
}

static uint64_t link_state_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;
	uint64_t bits = 0;

	for (uint32_t k = 0; n->started && k < n->n_link; k++)
		bits |= (uint64_t)(n->link[k].peer &&
				   forth_port_in_sync(&n->link[k]))
			<< k;
	return bits;
}

static uint64_t rnotify_total_read(struct weft_comp *c, uint32_t i)
{
	const struct forth_nic *n = c->state;

	return n->rnotify_count;
}

static uint64_t credit_state_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;
	struct forth_port *l = selected_link(n);

	if (!l)
		return 0;
	l = forth_port_active(l);
	forth_port_counts(l);
	if (i >= l->tx_lanes)
		return 0;
	return l->tx[i].sent | (uint64_t)l->tx[i].acked << 16;
}

/* Releases a descriptor when a store sets the start flag in the dword at +12
 * (R-14). */
static void queue_mem_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	if (i % 4 == 3 && val & FORTH_DESC_START_HI && n->started)
		forth_queue_trigger(n, i / 4);
}

/* ---- the table ---- */

/* clang-format off */
#define CFG(off, w, acc, res, rwm, doc_)                                       \
	.space = SP_CFG, .width = w, .offset = off, .access = WEFT_##acc,      \
	.reset = res, .rw = rwm, .doc = doc_
#define OPR(off, acc, rwm, doc_)                                               \
	.space = SP_BAR1, .width = 4, .offset = off, .access = WEFT_##acc,     \
	.rw = rwm, .doc = doc_

const struct weft_reg forth_nic_regs[R_N + 1] = {
	[R_VENDOR] = { "Vendor ID", CFG(FORTH_CFG_VENDOR, 2, HW,
		FORTH_VENDOR_ID, 0, "maker of the board (R-01)") },
	[R_DEVICE] = { "Device ID", CFG(FORTH_CFG_DEVICE, 2, HW,
		FORTH_DEVICE_ID, 0, "(R-01)") },
	[R_COMMAND] = { "Command", CFG(FORTH_CFG_COMMAND, 2, MIXED, 0,
		FORTH_CMD_RW, "1 memory enable, 2 master enable, 6 PERR#, "
		"8 SERR#; 3 and 4 have no effect"), .wrote = command_wrote },
	[R_STATUS] = { "Status", CFG(FORTH_CFG_STATUS, 2, MIXED,
		FORTH_STATUS_CAPS | FORTH_STATUS_66MHZ |
		FORTH_STATUS_DEVSEL_SLOW, 0, "8 data parity (R-46), 11 "
		"signalled, 12 received target abort, 13 received master "
		"abort, 14 SERR#, 15 parity error; bit 4 by R-02"),
		.w1c = FORTH_STATUS_W1C },
	[R_CLASS] = { "Class code, revision", CFG(FORTH_CFG_CLASS, 4, HW,
		0x02000017, 0, "network controller, revision 0x17") },
	[R_CACHE_LINE] = { "Cache line size", CFG(FORTH_CFG_CACHE_LINE, 1, RW,
		0, 0xFF, "dwords; recommended 0x80") },
	[R_LATENCY] = { "Latency timer", CFG(FORTH_CFG_LATENCY, 1, RW, 0x20,
		0xFF, "bus tenure limit in pc; recommended 0xFE") },
	[R_HEADER] = { "Header type", CFG(FORTH_CFG_HEADER, 1, HW, 0, 0,
		"type 0") },
	[R_BIST] = { "BIST", CFG(FORTH_CFG_BIST, 1, HW, 0, 0, "none") },
	[R_BAR0] = { "BAR0", CFG(FORTH_CFG_BAR0, 4, MIXED, 0, FORTH_BAR0_MASK,
		"NIC RAM, 128 MB") },
	[R_BAR1] = { "BAR1", CFG(FORTH_CFG_BAR1, 4, MIXED, 0, FORTH_BAR1_MASK,
		"operation registers and request queues, 32 KB (R-06)") },
	[R_CAP] = { "Capabilities pointer", CFG(FORTH_CFG_CAP, 1, HW, 0x48, 0,
		"offset of the PCI-X capability") },
	[R_IRQ_LINE] = { "Interrupt line", CFG(FORTH_CFG_IRQ_LINE, 1, RW, 0,
		0xFF, "routing scratch") },
	[R_IRQ_PIN] = { "Interrupt pin", CFG(FORTH_CFG_IRQ_PIN, 1, HW, 1, 0,
		"INTA#") },
	[R_APP_IRQ] = { "Application interrupt", CFG(FORTH_CFG_APP_IRQ, 4,
		MIXED, 0, FORTH_APP_IRQ_ENABLE, "0 enable, 4 flag (W1C, R-17), "
		"22:16 tail, 30:24 head of the selected queue (R-04)"),
		.w1c = FORTH_APP_IRQ_FLAG, .read = app_irq_read,
		.wrote = app_irq_wrote },
	[R_PCIX_CAP] = { "PCI-X capability", CFG(FORTH_CFG_PCIX_CAP, 2, HW,
		0x0007, 0, "id 7, end of list") },
	[R_PCIX_CMD] = { "PCI-X command", CFG(FORTH_CFG_PCIX_CMD, 2, MIXED, 0,
		FORTH_PCIX_CMD_RW, "0 no SERR# for data parity, 3:2 largest "
		"read: 512 << n bytes") },
	[R_PCIX_STATUS] = { "PCI-X status", CFG(FORTH_CFG_PCIX_STATUS, 4,
		MIXED, FORTH_PCIX_STATUS_RESET, 0, "18 split completion "
		"discarded, 19 unexpected one, 29 error message (R-03)"),
		.w1c = FORTH_PCIX_STATUS_W1C },

	[R_CONTROL] = { "DMA control", OPR(FORTH_CONTROL, MIXED, FORTH_CTL_RW,
		"0 initiator enable, 4 software reset, 24 head and tail reset "
		"(both self-clearing), 31:30 = 3 loopback"),
		.wrote = control_wrote },
	[R_POINTERS] = { "head/tail pointers", OPR(FORTH_POINTERS, RO, 0,
		"10:0 head and qword, 25:16 tail, of the selected queue"),
		.read = pointers_read },
	[R_RNOTIFY_LO] = { "remote-notification address low",
		OPR(FORTH_RNOTIFY_LO, RW, 0xFFFFFFFF, "bits 31:0") },
	[R_RNOTIFY_HI] = { "remote-notification address high",
		OPR(FORTH_RNOTIFY_HI, RW, 0xFFFFFFFF, "bits 63:32") },
	[R_LNOTIFY_LO] = { "local-notification address low",
		OPR(FORTH_LNOTIFY_LO, RW, 0xFFFFFFFF, "bits 31:0; + 8 * queue") },
	[R_LNOTIFY_HI] = { "local-notification address high",
		OPR(FORTH_LNOTIFY_HI, RW, 0xFFFFFFFF, "bits 63:32") },

#define X(id, name_, mask, doc_)                                               \
	[R_PERF + PERF_##id] = { name_, OPR(FORTH_##id, RW, mask, doc_),       \
		.read = perf_rd_##id, .wrote = perf_wr_##id },
	FORTH_PERF_LIST(X)
#undef X
	[R_CUM_TIMER] = { "Cumulative timer", OPR(FORTH_CUM_TIMER, RW,
		0xFFFFFFFF, "pc from the first REQ# after a store to the end "
		"of the latest transfer (2.7)"), .wrote = cum_wrote },
	[R_SAMPLE_INTERVAL] = { "Interval timer max value",
		OPR(FORTH_SAMPLE_INTERVAL, RW, 0xFFFFFFFF,
		"sampling interval in pc") },
#define X(id, name_, doc_)                                                     \
	[R_NET + NET_##id] = { name_, OPR(FORTH_##id, MIXED, 0, doc_),         \
		.read = net_rd_##id,                                           \
		.wrote = NET_##id == NET_NET_OUT_CYCLES ? net_clear : NULL },
	FORTH_NET_LIST(X)
#undef X
	[R_SAMPLE_COUNT] = { "Sample counter", OPR(FORTH_SAMPLE_COUNT, RW,
		0xFFF, "samples to take, up to 2048; arms the sampler (R-05)"),
		.wrote = forth_sample_count_wrote },
	[R_SAMPLE_DATA] = { "Sampling memory data", OPR(FORTH_SAMPLE_DATA,
		MIXED, 0, "load: next number; store: read index (R-05)"),
		.read = forth_sample_data_read, .wrote = forth_sample_data_wrote },
	[R_QUEUE_POINTERS] = { "queue head/tail", OPR(FORTH_QUEUE_POINTERS, RO,
		0, "as 0x04, queue by queue"), .count = FORTH_QUEUES_MAX,
		.stride = 4, .read = queue_pointers_read },
	[R_QUEUE_SELECT] = { "queue select", OPR(FORTH_QUEUE_SELECT, RW, 7,
		"queue shown at 0x04 and in configuration 0x40") },
	[R_BUILD] = { "build id", OPR(FORTH_BUILD, RO, 0,
		"links, queues, VOQs, payload limits") },
	[R_BENCH] = { "benchmark mode", OPR(FORTH_BENCH, RW, 7,
		"0 on, 1 zero payload, 2 switch stamps expected") },
	[R_TIMESTAMP] = { "time stamp", OPR(FORTH_TIMESTAMP, RO, 0,
		"free-running pc counter"), .read = timestamp_read },
	[R_CREDIT_PARITY_ERR] = { "credit parity errors",
		OPR(FORTH_CREDIT_PARITY_ERR, RO, 0, "credits thrown away"),
		.read = credit_parity_read },
	[R_CREDIT_LEAKED] = { "credit words leaked", OPR(FORTH_CREDIT_LEAKED,
		RO, 0, "(5.7)"), .read = credit_leak_read },
	[R_DESC_ERR] = { "descriptor errors", OPR(FORTH_DESC_ERR, RO, 0,
		"bad descriptors and aborted transfers (3.6)") },
	[R_RESEQ] = { "resequencing", OPR(FORTH_RESEQ, RO, 0,
		"9:0 losses, 19:10 sync lost, 29:20 pool full (7.6); 0 on a "
		"single path"), .read = forth_reseq_read },
	[R_CREDIT_RESYNCS] = { "credit resynchronisations",
		OPR(FORTH_CREDIT_RESYNCS, RO, 0, "flows whose credits started "
		"anew (5.7, parameter resync)"), .read = resyncs_read },
	[R_UNSYNC] = { "packets out of sync", OPR(FORTH_UNSYNC, RO, 0,
		"that came before their link was in sync again (4.9)"),
		.read = unsync_read },
	[R_RNOTIFY_TOTAL] = { "remote notifications", OPR(FORTH_RNOTIFY_TOTAL,
		RO, 0, "count of the last remote notification word; goes on "
		"over resets"), .read = rnotify_total_read },
	[R_PORT] = { "port", OPR(FORTH_PORT, RW, 1, "of the selected link; "
		"load: credit flows of the neighbour; store 1: port reset "
		"(5.7), T = F = F' = 0 on this side, ignored while Net2Host "
		"holds packets"), .read = port_read, .wrote = port_wrote },
	[R_CREDIT_STATE] = { "transmit credit state", OPR(FORTH_CREDIT_STATE,
		RO, 0, "11:0 T, 27:16 F' of flow f"), .count = 8, .stride = 4,
		.read = credit_state_read },
	[R_LINK_SELECT] = { "link select", OPR(FORTH_LINK_SELECT, RW, 3,
		"link engine shown at 0x160") },
	[R_RESEQ_RX] = { "resequencing restart", OPR(FORTH_RESEQ_RX, MIXED, 0,
		"load: sources out of sync, one bit each; store: forgets the "
		"headers of these sources and begins anew"),
		.read = forth_reseq_rx_read, .wrote = forth_reseq_rx_wrote },
	[R_RESEQ_TX] = { "path restart", OPR(FORTH_RESEQ_TX, MIXED, 0,
		"store: paths and numbers to these destinations begin anew"),
		.wrote = forth_reseq_tx_wrote },
	[R_RESEQ_POOL] = { "header pool", OPR(FORTH_RESEQ_POOL, RO, 0,
		"15:0 headers held, 31:16 most so far"),
		.read = forth_reseq_pool_read },
	[R_EXT_FREE] = { "free external blocks", OPR(FORTH_EXT_FREE, RO, 0,
		"of external memory behind the VOQs (6.3)"),
		.read = forth_ext_free_read },
	[R_EXT_LEAST] = { "fewest external blocks", OPR(FORTH_EXT_LEAST, RO, 0,
		"that were ever free"), .read = forth_ext_least_read },
	[R_LINK_STATE] = { "links in sync", OPR(FORTH_LINK_STATE, RO, 0,
		"one bit for each link engine: it receives and may send "
		"(4.9)"), .read = link_state_read },
	[R_RESEQ_STATE] = { "resequencing state", OPR(FORTH_RESEQ_STATE, RO, 0,
		"1:0 p1, 3:2 p2, 4 p2 known, 5 loss not reported, 6 sync lost, "
		"19:8 numbers expected, 30:20 headers held, of source s"),
		.count = 8, .stride = 4, .read = forth_reseq_state_read },
	[R_LOG_CONTROL] = { "event log control", OPR(FORTH_LOG_CONTROL, RW, 3,
		"0 on, 1 with credits; a store empties the log"),
		.wrote = forth_log_control_wrote },
	[R_LOG_COUNT] = { "event log records", OPR(FORTH_LOG_COUNT, RO, 0,
		"written so far; the last 4096 are kept"),
		.read = forth_log_count_read },
	[R_LOG_INDEX] = { "event log index", OPR(FORTH_LOG_INDEX, RW,
		0xFFFFFFFF, "record to be read next"),
		.wrote = forth_log_index_wrote },
	[R_LOG_DATA] = { "event log data", OPR(FORTH_LOG_DATA, RO, 0,
		"time low, time high, argument, unit and event (15:8); the "
		"last one moves the index on"), .count = 4, .stride = 4,
		.read = forth_log_data_read },
	[R_QUEUE_MEM] = { "queue memory", OPR(FORTH_QUEUE_MEM, RW, 0xFFFFFFFF,
		"1024 descriptors of 4 dwords"), .count = 4096, .stride = 4,
		.wrote = queue_mem_wrote },
};
/* clang-format on */

void forth_regs_init(struct forth_nic *n)
{
	uint32_t max = n->p.max_payload / 8, min = (n->p.min_payload + 7) / 8;

	n->qmem = weft_reg_cell(n->comp, R_QUEUE_MEM, 0);
	if (n->p.ids_literal) { /* ids in the printed order, which is swapped
				   (R-01) */
		*weft_reg_cell(n->comp, R_VENDOR, 0) = FORTH_DEVICE_ID;
		*weft_reg_cell(n->comp, R_DEVICE, 0) = FORTH_VENDOR_ID;
	}
	if (n->p.status_literal)
		*weft_reg_cell(n->comp, R_STATUS, 0) &= ~FORTH_STATUS_CAPS;
	*weft_reg_cell(n->comp, R_BUILD, 0) = forth_build_pack(
		n->p.links, (uint32_t)__builtin_ctz(n->p.queues), n->p.voqs,
		max, min);
	if (n->multi)
		*weft_reg_cell(n->comp, R_BUILD, 0) |=
			n->p.completion == COMPLETION_COUNT
				? FORTH_BUILD_MULTIPATH | FORTH_BUILD_COUNT
				: FORTH_BUILD_MULTIPATH;
}
