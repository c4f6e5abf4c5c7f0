/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the Host Port (hostport.md 4.10, 8.8): configuration space,
 * management page, information page, as a table with its hooks. */
#include "systems/hostport/nic/nic.h"

enum { SP_CFG = 0, SP_MGMT = 1 + HP_BAR_MGMT, SP_INFO = 1 + HP_BAR_INFO };

/* ---- plain values ---- */

/* Hooks of a register whose value is one expression. It may use the NIC `n`,
 * the index `i` in an array of registers, and the stored value `val`. */
#define READ(name, expr)                                                       \
	static uint64_t name##_read(struct weft_comp *c, uint32_t i)           \
	{                                                                      \
		struct hp_nic *n = c->state;                                   \
                                                                               \
		return expr;                                                   \
	}
#define WRITE(name, statement)                                                 \
	static void name##_wrote(struct weft_comp *c, uint32_t i,              \
				 uint64_t val)                                 \
	{                                                                      \
		struct hp_nic *n = c->state;                                   \
                                                                               \
		statement;                                                     \
	}
#define VALUE(name, expr)                                                      \
	READ(name, n->reg.name)                                                \
	WRITE(name, n->reg.name = (expr))

/* Limits the size of a queue: at least two entries, because one stays unused,
 * and at most what pointers of 24 bits can address. */
static uint32_t queue_size(uint64_t val)
{
	if (val < 2)
		return 2;
	return val > 1u << HP_PTR_BITS ? 1u << HP_PTR_BITS : (uint32_t)val;
}

VALUE(hpid, (uint32_t)val)
VALUE(ct_base, val & ~(uint64_t)(HP_LINE - 1))
VALUE(rs_base, val)
VALUE(rs_size, val)
VALUE(wq_size, queue_size(val))
VALUE(sdr_size, queue_size(val))
VALUE(rdr_size, queue_size(val))
VALUE(wdt_size, (uint32_t)val)
VALUE(prq_size, queue_size(val))
VALUE(nq_size, queue_size(val))
VALUE(rdr_unit, val > 16 ? 16 : (uint32_t)val)
READ(ctrl, n->reg.ctrl)

static void ctrl_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hp_nic *n = c->state;

	n->reg.ctrl = val & (HP_CTRL_ENABLE | HP_CTRL_ORDER | HP_CTRL_HASH |
			     HP_CTRL_NPS_MAKE((1u << n->param.n_np) - 1));
	hp_net_ports(n);
	hp_fetch_go(n);
}

static void vpid_en_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hp_nic *n = c->state;
	uint32_t vpid = (uint32_t)HP_GET(val, 15, 0);

	hp_csb_enable(&n->csb, vpid, HP_GET(val, 63, 63));
	hp_fetch_weight(n, vpid, (uint32_t)HP_GET(val, 23, 16));
	if (HP_GET(val, 63, 63))
		return;
	hp_rx_room(n, vpid); /* ends the wait of packets for this VPID */
	hp_notify_again(n, vpid);
}

/* ---- caches ---- */

READ(cache_arg, n->reg.cache_arg[i])
WRITE(cache_arg, n->reg.cache_arg[i] = val)

static void cache_cmd_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hp_nic *n = c->state;
	uint32_t which = HP_CACHE_WHICH(val);
	const struct hp_block *b =
		which < HP_BLOCK_ULTRA ? hp_blocks[which] : NULL;

	if (which == HP_CACHE_CTX)
		n->reg.cache_status =
			hp_ctx_cmd(n, HP_CACHE_OP(val), HP_CACHE_VPID(val));
	else if (b && b->cache)
		n->reg.cache_status = b->cache(n, val, n->reg.cache_arg[0],
					       n->reg.cache_arg[1]);
}

READ(cache_status, n->reg.cache_status | (hp_ctx_busy(n) ? HP_CACHE_BUSY : 0))

/* ---- records ---- */

/* Takes a record and returns it, or all ones if there is no record. Clears the
 * interrupt if no further record is left. */
static uint64_t registers_pop(struct hp_nic *n, struct hp_miss *r, uint32_t bit)
{
	uint64_t val = HP_NONE;

	if (!ring_empty(r)) {
		val = *ring_front(r);
		ring_pop(r);
	}
	hp_irq_clear(n, bit);
	return val;
}

READ(tlb_miss, registers_pop(n, &n->records.tlb_miss, HP_IRQ_TLB))
READ(tlb_miss_cnt, ring_count(&n->records.tlb_miss))
READ(irq_vpid, registers_pop(n, &n->records.irq_vpid, HP_IRQ_NQE))
READ(err_log, registers_pop(n, &n->records.err_log, HP_IRQ_ERR))
READ(irq_status, n->reg.irq_status)
WRITE(irq_status, hp_irq_clear(n, (uint32_t)val))
READ(events_base, n->records.events.base)
WRITE(events_base, n->records.events.base = val & ~(uint64_t)15)
READ(events_size, n->records.events.size)
WRITE(events_size, hp_events_size(n, val))
READ(events_rp, n->records.events.rp)
WRITE(events_rp, hp_events_took(n, (uint32_t)val))
READ(park_base, n->park.base)
WRITE(park_base,
      if (!n->park.used) n->park.base = val & ~(uint64_t)(HP_PAGE - 1))
READ(park_size, n->park.pages)
WRITE(park_size, hp_park_area(n, val))
READ(csb_free, hp_csb_free(&n->csb))
READ(counters, n->comp->counters[i])

READ(vpid_quiet, hp_held(n, n->reg.quiet))
WRITE(vpid_quiet, hp_quiet(n, n->reg.quiet = (uint32_t)HP_GET(val, 15, 0)))

/* ---- network and driver ---- */

READ(nodes, n->place.topo ? n->place.topo->nodes : 0)
READ(node, n->place.node)
WRITE(route_node, n->reg.route_node = (uint32_t)val)

static int route_elements(struct hp_nic *n, uint8_t *el)
{
	const struct topology *t = n->place.topo;

	memset(el, 0, HP_ROUTE_MAX);
	if (n->reg.route_node == n->place.node)
		return 0;
	if (!t || n->reg.route_node >= t->nodes)
		return -1;
	return hp_route_topo(t, n->place.node, n->reg.route_node, el);
}

static uint64_t route_node_read(struct weft_comp *c, uint32_t i)
{
	uint8_t el[HP_ROUTE_MAX];
	int k = route_elements(c->state, el);

	return k < 0 || k > 32 ? HP_NONE : (uint64_t)k;
}

static uint64_t route_data_read(struct weft_comp *c, uint32_t i)
{
	uint8_t el[HP_ROUTE_MAX];
	uint64_t val;

	route_elements(c->state, el);
	memcpy(&val, el + 8 * i, 8);
	return val;
}

/* Tests and sets the lock. A store releases the lock. */
static uint64_t driver_lock_read(struct weft_comp *c, uint32_t i)
{
	struct hp_nic *n = c->state;
	uint64_t was = n->reg.driver_lock;

	n->reg.driver_lock = true;
	return was;
}
WRITE(driver_lock, n->reg.driver_lock = false)
VALUE(driver_state, val)

/* ---- the table ---- */

/* clang-format off */
#define CFG(off, w, acc, res, rwm, doc_)                                       \
	.space = SP_CFG, .width = w, .offset = off, .access = WEFT_##acc,      \
	.reset = res, .rw = rwm, .doc = doc_
#define BAR(n, bytes, doc_)                                                    \
	CFG(HP_CFG_BAR0 + 4 * (n), 4, MIXED, 0, ~(uint32_t)((bytes) - 1), doc_)
#define MGMT(off, acc, doc_)                                                   \
	.space = SP_MGMT, .width = 8, .offset = off, .access = WEFT_##acc,     \
	.bare = true, .doc = doc_
#define INFO(off, doc_)                                                        \
	.space = SP_INFO, .width = 8, .offset = off, .access = WEFT_RO,        \
	.bare = true, .doc = doc_
#define ARRAY(n, step) .count = n, .stride = step
#define HOOKS(name) .read = name##_read, .wrote = name##_wrote

/* Registers of the management page that the information page shows too:
 * X(offset, name, doc). */
#define USER_REGS(X)                                                           \
	X(HP_R_HPID, hpid, "Host Port ID")                                     \
	X(HP_R_WQ_SIZE, wq_size, "work queue, entries")                        \
	X(HP_R_SDR_SIZE, sdr_size, "send data region, words")                  \
	X(HP_R_RDR_SIZE, rdr_size, "receive data region, words")               \
	X(HP_R_WDT_SIZE, wdt_size, "window descriptors, entries")              \
	X(HP_R_PRQ_SIZE, prq_size, "posted receive queue, entries")            \
	X(HP_R_NQ_SIZE, nq_size, "notification queue, entries")                \
	X(HP_R_RDR_UNIT, rdr_unit, "log2 of the words of an increment")

const struct weft_reg hp_regs[] = {
	[HP_REG_COMMAND] = { "Command", CFG(HP_CFG_COMMAND, 2, MIXED, 0,
		HP_CMD_MEMORY | HP_CMD_MASTER,
		"1 memory enable, 2 master enable") },
	{ "Vendor ID", CFG(HP_CFG_VENDOR, 2, HW, HP_VENDOR_ID, 0, "our own") },
	{ "Device ID", CFG(HP_CFG_DEVICE, 2, HW, HP_DEVICE_ID, 0, "our own") },
	{ "Status", CFG(HP_CFG_STATUS, 2, HW, 0, 0, "no capabilities") },
	{ "Class code, revision", CFG(HP_CFG_CLASS, 4, HW, 0x02800001, 0,
		"network controller, other") },
	{ "Header type", CFG(HP_CFG_HEADER, 1, HW, 0, 0, "type 0") },
	{ "BAR0", BAR(HP_BAR_MGMT, HP_MGMT_BYTES, "4 KiB: management page") },
	{ "BAR1", BAR(HP_BAR_INFO, HP_INFO_BYTES, "4 KiB: information page") },
	{ "BAR2", BAR(HP_BAR_TRIGGER, HP_TRIGGER_BYTES,
		"256 MiB: Triggerpages (7.2)") },
	{ "BAR3", BAR(HP_BAR_ULTRA, HP_ULTRA_BYTES, "64 MiB: ULTRA (9.3)") },
	{ "Interrupt line", CFG(HP_CFG_IRQ_LINE, 1, RW, 0, 0xFF,
		"routing scratch") },
	{ "Interrupt pin", CFG(HP_CFG_IRQ_PIN, 1, HW, 1, 0, "INTA#") },

#define X(off, name_, doc_) { #name_, MGMT(off, RW, doc_), HOOKS(name_) },
	USER_REGS(X)
#undef X
#define X(off, name_, doc_) { "info_" #name_, INFO(off, doc_),                 \
	.read = name_##_read },
	USER_REGS(X)
#undef X
	{ "ct_base", MGMT(HP_R_CT_BASE, RW, "context table"), HOOKS(ct_base) },
	{ "rs_base", MGMT(HP_R_RS_BASE, RW, "routing space"), HOOKS(rs_base) },
	{ "rs_size", MGMT(HP_R_RS_SIZE, RW, "routing space, bytes"),
		HOOKS(rs_size) },
	{ "ctrl", MGMT(HP_R_CTRL, RW, "0 enable, 1 ordering, 2 network keeps "
		"order of equal hashes, 15:8 network ports that send (reads 0 "
		"where there is none; at first all)"), HOOKS(ctrl) },
	{ "vpid_en", MGMT(HP_R_VPID_EN, RW, "63 on, 15:0 VPID: may "
		"trigger; 23:16 weight of its turn, 0 and 1: one VCI"),
		.wrote = vpid_en_wrote },
	{ "cache_cmd", MGMT(HP_R_CACHE_CMD, RW, "7:0 flush 1, insert 2, remove "
		"3, bulk insert 4, query 5; 15:8 context 0, window 1, routing "
		"2, TLB 3; 31:16 VPID; 63:32 count"),
		.wrote = cache_cmd_wrote },
	{ "cache_arg", MGMT(HP_R_CACHE_ARG0, RW, "window (all ones: all of the VPID) or virtual page; "
		"physical page, 63 writable"), ARRAY(2, 8), HOOKS(cache_arg) },
	{ "cache_status", MGMT(HP_R_CACHE_STATUS, RO, "0 write-backs on their "
		"way; of the last query: 1 present, 2 in use"),
		.read = cache_status_read },
	{ "tlb_miss", MGMT(HP_R_TLB_MISS, RO, "takes a record: 35:0 virtual "
		"page, 51:36 VPID, 52 write; all ones = none"),
		.read = tlb_miss_read },
	{ "tlb_miss_cnt", MGMT(HP_R_TLB_MISS_CNT, RO, "records"),
		.read = tlb_miss_cnt_read },
	{ "irq_status", MGMT(HP_R_IRQ_STATUS, W1C, "0 TLB miss, 1 NQE, 2 error "
		"log, 3 deadlock timer, 4 ULTRA"), HOOKS(irq_status) },
	{ "irq_vpid", MGMT(HP_R_IRQ_VPID, RO, "takes a VPID; all ones = none"),
		.read = irq_vpid_read },
	{ "err_log", MGMT(HP_R_ERR_LOG, RO, "takes a record: 63:48 CMD with "
		"error code, 15:0 VPID; all ones = none"),
		.read = err_log_read },
	{ "csb_free", MGMT(HP_R_CSB_FREE, RO, "free entries of the CSB"),
		.read = csb_free_read },
	{ "counters", MGMT(HP_R_COUNTERS, RO, "the NIC's counters"),
		ARRAY(HP_K_N, 8), .read = counters_read },
	{ "nodes", MGMT(HP_R_NODES, RO, "nodes of the network; 0 = unknown"),
		.read = nodes_read },
	{ "node", MGMT(HP_R_NODE, RO, "own node"), .read = node_read },
	{ "route_node", MGMT(HP_R_ROUTE_NODE, RW, "store: a node; load: "
		"routing elements to its crossbar; all ones = no way"),
		HOOKS(route_node) },
	{ "route_data", MGMT(HP_R_ROUTE_DATA, RO, "these elements, first one "
		"lowest"), ARRAY(4, 8), .read = route_data_read },
	{ "events_base", MGMT(HP_R_EVENTS_BASE, RW, "ring of records in main "
		"memory, 16 bytes each: record, bit of irq_status"),
		HOOKS(events_base) },
	{ "events_size", MGMT(HP_R_EVENTS_SIZE, RW, "records; 0 = no ring: "
		"tlb_miss, irq_vpid, err_log"), HOOKS(events_size) },
	{ "events_rp", MGMT(HP_R_EVENTS_RP, RW, "records taken, since ever, 32 "
		"bits; the last one takes their interrupts away"),
		HOOKS(events_rp) },
	{ "park_base", MGMT(HP_R_PARK_BASE, RW, "area of main memory in which "
		"packets wait for translations"), HOOKS(park_base) },
	{ "park_size", MGMT(HP_R_PARK_SIZE, RW, "its pages; while it is in use "
		"both stay as they are"), HOOKS(park_size) },
	{ "vpid_quiet", MGMT(HP_R_VPID_QUIET, RW, "store: a VPID that is off: "
		"what waits for it ends; load: parts of the device that still "
		"hold something of it"), HOOKS(vpid_quiet) },
	{ "driver_lock", MGMT(HP_R_DRIVER_LOCK, MIXED, "load: 0 = was free and "
		"is taken now; a store frees it"), HOOKS(driver_lock) },
	{ "driver_state", MGMT(HP_R_DRIVER_STATE, RW, "the driver's own"),
		HOOKS(driver_state) },
	{ 0 }
};
/* clang-format on */
