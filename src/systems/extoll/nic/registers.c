/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the EXTOLL NIC (extoll.md 2.6) as a table with its hooks.
 * Registers in arrays have no storage in the table, because the units keep
 * their values. */
#include "systems/extoll/nic/nic.h"

enum { SP_CFG = 0, SP_BAR = 1 + EXTOLL_BAR };

/* ---- identity ---- */

static uint64_t build_read(struct weft_comp *c, uint32_t i)
{
	struct extoll_nic *n = c->state;
	uint64_t khz = 1000000000000ull * n->clock.den / n->clock.num;

	return (n->width == EX_W16 ? 16 : 32) | n->velo_max << 8 |
	       (n->place.topo && !n->place.topo->path ? EXTOLL_BUILD_TABLE
						      : 0) |
	       khz << 32;
}

/* Test and set: a load takes the lock, a store frees it. The register table
 * also loads the register before each store. That takes the lock, but the store
 * frees it again. */
static uint64_t driver_lock_read(struct weft_comp *c, uint32_t i)
{
	struct extoll_nic *n = c->state;
	bool was = n->driver_lock;

	n->driver_lock = true;
	return was;
}

/* ---- routes ---- */

/* Loads the entry into the registers, or an empty one if none exists. */
static void route_index_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct extoll_nic *n = c->state;
	const struct ex_entry *e;

	n->routes.index = (uint32_t)val & 0xffff;
	e = ex_route_entry(n, n->routes.index);
	n->routes.entry = e ? *e : (struct ex_entry){ 0 };
}

static void route_length_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct extoll_nic *n = c->state;
	struct ex_entry *e = &n->routes.entry;
	uint32_t hops = (uint32_t)val & 0xff;

	e->valid = val & EXTOLL_ROUTE_VALID && hops < EX_ROUTE_MAX;
	e->n = (uint8_t)hops;
	ex_route_write(n, n->routes.index, e);
}

/* ---- HTAX, event queue ---- */

static void interval_target_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct extoll_nic *n = c->state;
	struct ex_interval *v = &n->interval[i];

	v->port = val & EXTOLL_INTERVAL_PORT;
	v->enable = val & EXTOLL_INTERVAL_ENABLE && v->port < EXTOLL_HX_N;
}

static uint64_t evq_read(struct weft_comp *c, uint32_t i)
{
	const struct extoll_nic *n = c->state;
	const struct ex_evq *q = &n->evq;
	const uint64_t val[] = { q->base, q->size, q->wp,
				 q->rp | (q->armed ? EXTOLL_RP_ARM : 0),
				 q->lost };

	return val[i];
}

static void evq_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct extoll_nic *n = c->state;

	if (i == 0)
		n->evq.base = val & ~7ull;
	else if (i == 1)
		ex_evq_set_size(n, val);
	else if (i == 3)
		ex_evq_set_rp(n, val);
}

/* ---- fields ---- */

/* clang-format off */
#define SHOWS static EX_REG_SHOWS
#define SETS  static EX_REG_SETS
#define NETPORT(field)                                                         \
	SHOWS(netport_##field,                                                 \
	      n->started ? cell_channel_counts(&n->np[i].ep)->field : 0)

SHOWS(node, n->place.node)
SHOWS(nodes, n->place.topo ? n->place.topo->nodes : 0)
SETS(driver_lock, n->driver_lock = false)
SHOWS(driver_state, n->driver_state)
SETS(driver_state, n->driver_state = val)
SHOWS(route_index, n->routes.index)
SHOWS(route_data, n->routes.entry.nib[i])
SETS(route_data, n->routes.entry.nib[i] = val)
SHOWS(route_length, n->routes.entry.n |
		    (n->routes.entry.valid ? EXTOLL_ROUTE_VALID : 0))
SHOWS(interval_lower, n->interval[i].lower)
SETS(interval_lower, n->interval[i].lower = (uint32_t)val)
SHOWS(interval_upper, n->interval[i].upper)
SETS(interval_upper, n->interval[i].upper = (uint32_t)val)
SHOWS(interval_target, n->interval[i].port |
		       (n->interval[i].enable ? EXTOLL_INTERVAL_ENABLE : 0))
SHOWS(discarded, n->discarded)
SHOWS(aborts, n->aborts)
/* Messages and stores that have not left the NIC. A load of this register waits
 * for the earlier stores of its own program, so that none of them is counted in
 * HTAX. But VELO may still hold a message, because its network port is full. */
SHOWS(waiting, ring_count(&n->htax.store) + (n->velo.rq.held ? 1 : 0))
NETPORT(tx_packets)
NETPORT(tx_cells)
NETPORT(rx_packets)
NETPORT(rx_cells)
NETPORT(no_credit)
NETPORT(voids)
/* clang-format on */

/* ---- the table ---- */

/* clang-format off */
#define CFG(off, w, acc, res, rwm, doc_)                                       \
	.space = SP_CFG, .width = w, .offset = off, .access = WEFT_##acc,      \
	.reset = res, .rw = rwm, .doc = doc_
#define RF(off, acc, doc_)                                                     \
	.space = SP_BAR, .width = 8, .offset = EXTOLL_RF + (off),              \
	.access = WEFT_##acc, .bare = true, .doc = doc_
#define ARRAY(n, step) .count = n, .stride = step
#define HOOKS(name) .read = name##_read, .wrote = name##_wrote
#define NPS(off, field, doc_)                                                  \
	RF(EXTOLL_NP + (off), RO, doc_), ARRAY(EX_NPS, EXTOLL_NP_STRIDE),      \
	.read = netport_##field##_read

const struct weft_reg extoll_regs[] = {
	[EX_R_COMMAND] = { "Command", CFG(EXTOLL_CFG_COMMAND, 2, MIXED, 0,
		EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER,
		"1 memory enable, 2 master enable") },
	{ "Vendor ID", CFG(EXTOLL_CFG_VENDOR, 2, HW, EXTOLL_VENDOR_ID, 0,
		"our own choice") },
	{ "Device ID", CFG(EXTOLL_CFG_DEVICE, 2, HW, EXTOLL_DEVICE_ID, 0,
		"our own choice") },
	{ "Status", CFG(EXTOLL_CFG_STATUS, 2, HW, 0, 0, "no capabilities") },
	{ "Class code, revision", CFG(EXTOLL_CFG_CLASS, 4, HW, 0x02800001, 0,
		"network controller, other") },
	{ "Header type", CFG(EXTOLL_CFG_HEADER, 1, HW, 0, 0, "type 0") },
	{ "BAR0", CFG(EXTOLL_CFG_BAR0, 4, MIXED, 0, 0xFC000000,
		"64 MB: register file, VELO and RMA pages (2.5)") },
	{ "Interrupt line", CFG(EXTOLL_CFG_IRQ_LINE, 1, RW, 0, 0xFF,
		"routing scratch") },
	{ "Interrupt pin", CFG(EXTOLL_CFG_IRQ_PIN, 1, HW, 1, 0, "INTA#") },

	{ "node_id", RF(EXTOLL_NODE_ID, RO, "own node"), .read = node_read },
	{ "build", RF(EXTOLL_BUILD, RO, "7:0 bits of the network path, 15:8 "
		"largest VELO message, 16 crossbars hold the routes, 63:32 "
		"core clock in kHz"), .read = build_read },
	{ "nodes", RF(EXTOLL_NODES, RO, "nodes of the network; 0 = unknown"),
		.read = nodes_read },
	{ "driver_lock", RF(EXTOLL_DRIVER_LOCK, MIXED, "load: 0 = was free and "
		"is taken now; a store frees it"), HOOKS(driver_lock) },
	{ "driver_state", RF(EXTOLL_DRIVER_STATE, RW, "the driver's own"),
		HOOKS(driver_state) },
	{ "route_index", RF(EXTOLL_ROUTE_INDEX, RW, "node whose entry the "
		"next registers show"), HOOKS(route_index) },
	{ "route_data", RF(EXTOLL_ROUTE_DATA, RW, "crossbar outputs, one "
		"nibble each, first hop lowest (4.5)"), ARRAY(4, 8),
		HOOKS(route_data) },
	{ "route_length", RF(EXTOLL_ROUTE_LENGTH, RW, "7:0 hops, 31 valid; a "
		"store writes the entry"), HOOKS(route_length) },
	{ "interval_lower", RF(EXTOLL_INTERVAL_LOWER, RW, "first offset in "
		"BAR0"), ARRAY(EXTOLL_INTERVALS, EXTOLL_INTERVAL_STRIDE),
		HOOKS(interval_lower) },
	{ "interval_upper", RF(EXTOLL_INTERVAL_UPPER, RW, "last offset"),
		ARRAY(EXTOLL_INTERVALS, EXTOLL_INTERVAL_STRIDE),
		HOOKS(interval_upper) },
	{ "interval_target", RF(EXTOLL_INTERVAL_TARGET, RW, "3:0 HTAX port, "
		"31 enable"), ARRAY(EXTOLL_INTERVALS, EXTOLL_INTERVAL_STRIDE),
		HOOKS(interval_target) },
	{ "htax_discarded", RF(EXTOLL_HTAX_DISCARDED, RO, "host requests that "
		"hit no interval (2.4)"), .read = discarded_read },
	{ "htax_aborts", RF(EXTOLL_HTAX_ABORTS, RO, "own requests that the "
		"host refused"), .read = aborts_read },
	{ "htax_waiting", RF(EXTOLL_HTAX_WAITING, RO, "host stores that no "
		"unit has taken yet"), .read = waiting_read },
	{ "evq", RF(EXTOLL_EVQ_BASE, MIXED, "event queue: base, entries (a "
		"power of two, 0 = off), write pointer, read pointer (32 arms "
		"the interrupt), events lost (2.7)"), ARRAY(5, 8),
		HOOKS(evq) },
	{ "velo_config", RF(EXTOLL_VELO_CONFIG, RW, "0: full mailboxes drop "
		"after the timeout (3.3)"), HOOKS(extoll_velo_config) },
	{ "velo_timeout", RF(EXTOLL_VELO_TIMEOUT, RW, "31:0 core cycles a "
		"message waits for a slot"), HOOKS(extoll_velo_timeout) },
	{ "velo_count", RF(EXTOLL_VELO_SENT, RO, "messages sent, received"),
		ARRAY(2, 8), .read = extoll_velo_count_read },
	{ "velo_drop", RF(EXTOLL_VELO_DROP, RO, "dropped by the requester: "
		"align, length, reserved bits, multicast, disabled, partial, "
		"no route (5.1)"), ARRAY(EXTOLL_DROP_N, 8),
		.read = extoll_velo_drop_read },
	{ "velo_discard", RF(EXTOLL_VELO_DISCARD, RO, "discarded by the "
		"completer: disabled, protection, misrouted, full, format "
		"(5.2)"), ARRAY(EXTOLL_DISCARD_N, 8),
		.read = extoll_velo_discard_read },
	{ "velo_misc", RF(EXTOLL_VELO_DISCARD_SRC, RO, "15:0 node, 23:16 VPID "
		"of the last message discarded; read pointers outside of "
		"their mailbox; 3:0 requester's, 7:4 completer's state"),
		ARRAY(3, 8), .read = extoll_velo_misc_read },
	{ "np_tx_packets", NPS(EXTOLL_NP_TX_PACKETS, tx_packets,
		"packets sent") },
	{ "np_tx_cells", NPS(EXTOLL_NP_TX_CELLS, tx_cells, "cells sent") },
	{ "np_rx_packets", NPS(EXTOLL_NP_RX_PACKETS, rx_packets,
		"packets received") },
	{ "np_rx_cells", NPS(EXTOLL_NP_RX_CELLS, rx_cells, "cells received") },
	{ "np_no_credit", NPS(EXTOLL_NP_NO_CREDIT, no_credit,
		"cycles a cell waited for a credit") },
	{ "np_voids", NPS(EXTOLL_NP_VOIDS, voids, "void cells (5.6)") },
	{ "xbar", RF(EXTOLL_XBAR, RO, "crossbar ports, eight each: cells and "
		"packets out, cells and packets in, slots in use out there "
		"(8 bits per VC), of these shared, slots in use here (4.4)"),
		ARRAY(EX_PORTS * EXTOLL_XBAR_STRIDE / 8, 8),
		.read = ex_xbar_read },
	{ "lp", RF(EXTOLL_LP, RO, "link ports, sixteen each: state (0 down, 1 "
		"align, 2 init1, 3 init2, 4 ready, 5 no cable), ACKs and NACKs "
		"sent, replays, timeouts, CRC, code and sequence errors, void "
		"cells, cells not acknowledged, times without alignment, times "
		"down (4.7, 5.7)"), ARRAY(EX_LINKS * EXTOLL_LP_STRIDE / 8, 8),
		.read = ex_lp_read },
	{ "velo_vpid_tx", RF(EXTOLL_VELO_TX, RW, "15:0 node, 23:16 VPID, "
		"47:32 protection descriptor, 63 enable"),
		ARRAY(EXTOLL_VPIDS, 8), HOOKS(extoll_velo_tx) },
	{ "velo_vpid_rx", RF(EXTOLL_VELO_RX, RW, "15:0 protection "
		"descriptor, 16 enable, 17 slots of 64 B, 55:32 slots"),
		ARRAY(EXTOLL_VPIDS, 8), HOOKS(extoll_velo_rx) },
	{ "velo_vpid_base", RF(EXTOLL_VELO_RX_BASE, RW, "mailbox, a multiple "
		"of 128"), ARRAY(EXTOLL_VPIDS, 8), HOOKS(extoll_velo_base) },
	{ "velo_vpid_wp", RF(EXTOLL_VELO_RX_WP, RO, "next slot to be written"),
		ARRAY(EXTOLL_VPIDS, 8), .read = extoll_velo_wp_read },
	{ "velo_vpid_pending", RF(EXTOLL_VELO_PENDING, RO, "writes into its "
		"mailbox that are still in the NIC"), ARRAY(EXTOLL_VPIDS, 8),
		.read = extoll_velo_pending_read },
	{ "velo_rp", RF(EXTOLL_VELO_RP, RW, "software's read pointer; 32 arms "
		"the interrupt of the mailbox"),
		ARRAY(EXTOLL_VPIDS, EXTOLL_RP_STRIDE), HOOKS(extoll_velo_rp) },
#define X(id, name, off, n, step, acc, doc)                                    \
	{ name, RF(off, acc, doc), ARRAY(n, step), HOOKS(extoll_rma_##id) },
	RMA_REGS(X)
#undef X
	{ 0 }
};
/* clang-format on */
