/* SPDX-License-Identifier: Apache-2.0 */
/* Class eth.nic: a plain Gigabit Ethernet NIC, Intel PRO/1000 with the 82544's
 * MAC on the host's bus and its rings in host memory (hvia.md 1, 6.6).
 *
 *   bus --- registers --- MAC (systems/ethernet/link/mac82544.h) --- line
 *        +- descriptors and bytes, one read and one write at a time
 *
 * The MAC's movements are bus transactions in the order of their requests.
 * Times of the MAC are those of hvia.md 7.1. The interrupt moderation is that
 * of 6.6. */
#include <errno.h>
#include <string.h>

#include "base/ring.h"
#include "systems/ethernet/link/mac82544.h"
#include "systems/ethernet/nic/regs_map.h"
#include "weft/bus.h"

enum { PORT_BUS, PORT_LINK };
enum { TAG_MAC = 0, TAG_STORE = MAC_TAGS, TAG_MOVED };

#define COUNTERS(X)                                                            \
	X(TX_FRAMES, "tx_frames", "frames", "sent")                            \
	X(TX_BYTES, "tx_bytes", "bytes", "of those, without FCS")              \
	X(RX_FRAMES, "rx_frames", "frames", "received into memory")            \
	X(RX_BYTES, "rx_bytes", "bytes", "of those, without FCS")              \
	X(MISSED, "missed", "frames", "found no room in the receive FIFO")     \
	X(CRC, "crc", "frames", "with a wrong FCS")                            \
	X(FILTERED, "filtered", "frames", "for other stations")                \
	X(RUNT, "runts", "frames", "too short")                                \
	X(GIANT, "giants", "frames", "too long")                               \
	X(SYMBOL, "symbol", "frames", "with symbols that are none")            \
	X(PAUSE_RX, "pause_rx", "frames", "pause frames obeyed")               \
	X(PAUSE_TX, "pause_tx", "frames", "pause frames sent")                 \
	X(BAD_DESC, "bad_descriptors", "frames",                               \
	  "transmit descriptors that make no sense")                           \
	X(IRQS, "irqs", "interrupts", "raised")                                \
	X(ABORTS, "bus_aborts", "transactions", "nobody answered")
enum {
#define X(id, name, unit, doc) C_##id,
	COUNTERS(X)
#undef X
		C_N
};
static const struct weft_counter counters[C_N] = {
#define X(id, name, unit, doc) [C_##id] = { name, unit, doc },
	COUNTERS(X)
#undef X
};

struct store {
	uint32_t off, val;
};

struct eth_nic {
	/* parameters: */
	uint32_t station, ahead, frame_max;
	uint64_t rx_fifo;
	weft_time_t start, receive, turn, moderation;
	bool desc_ahead;
	/* state: */
	struct weft_comp *comp;
	struct weft_port *bus;
	struct mac *mac;
	struct weft_bus_txn txn[MAC_KINDS];
	struct {
		RING(uint32_t);
	} queue[2]; /* kinds of movements that wait, by bus operation */
	bool busy[2];
	struct {
		RING(struct store);
	} stores;
};

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct eth_nic, field, def, range, source, doc)
static const struct weft_param params[] = {
	P(U32,   station,    "4294967295", "",  OWN,  "station address 02:00 and this number; default: the digits in its name"),
	P(TIME,  start,      "266ns", "",       CALIBRATED,    "bytes to preamble (7.1)"),
	P(TIME,  receive,    "668ns", "",       CALIBRATED,    "end of frame to store (7.1)"),
	P(TIME,  turn,       "230ns", "",       CALIBRATED,    "descriptor and free transmitter to request of the bytes (6.6: 16.21 us for a frame)"),
	P(TIME,  moderation, "6.6us", "",       CALIBRATED,    "received frame to interrupt (6.6)"),
	P(U32,   ahead,      "0", "0..16",      CALIBRATED,    "frames fetched while another is on the line (7.2)"),
	P(BOOL,  desc_ahead, "yes", "",         OWN,           "the next descriptor is fetched ahead in any case"),
	P(BYTES, rx_fifo,    "48KiB", "2048..", RECONSTRUCTED, "receive FIFO"),
	P(U32,   frame_max,  "1514", "60..9014", STATED,       "longest frame without FCS (3.8); above 1514 needs RCTL.LPE"),
	{ 0 }
};
#undef P
/* clang-format on */

static const struct weft_port_decl ports[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "PCI" },
	{ "link", WEFT_PORT_LINK, .wire = &eth_wire, .optional = true,
	  .doc = "1000BASE-T" },
	{ 0 }
};

/* ---- the MAC's movements ---- */

enum { R_VENDOR, R_DEVICE, R_COMMAND };
enum { CMD_MEMORY = 1 << 1, CMD_MASTER = 1 << 2 };

/* Submits the next transaction. Transactions wait while the command register
 * forbids the card to be bus master. */
static void nic_submit(struct eth_nic *n, enum weft_bus_op op)
{
	if (n->busy[op] || !ring_count(&n->queue[op]) ||
	    !(*weft_reg_cell(n->comp, R_COMMAND, 0) & CMD_MASTER))
		return;
	n->busy[op] = true;
	weft_bus_of(n->bus)->submit(n->bus,
				    &n->txn[*ring_front(&n->queue[op])]);
}

static void on_move(void *own, const struct mac_move *mv)
{
	struct eth_nic *n = own;
	bool read = mv->kind == MAC_TX_DESC || mv->kind == MAC_TX_DATA ||
		    mv->kind == MAC_RX_DESC;
	enum weft_bus_op op = read ? WEFT_BUS_READ : WEFT_BUS_WRITE;

	n->txn[mv->kind] = (struct weft_bus_txn){
		.op = op,
		.addr = mv->addr,
		.bytes = mv->bytes,
		.data = mv->data,
		.cookie = mv->kind,
	};
	*ring_push(&n->queue[op]) = mv->kind;
	nic_submit(n, op);
}

/* Completes a transaction. A read without an answer yields all ones. */
static void nic_done(struct eth_nic *n, struct weft_bus_txn *t)
{
	enum weft_bus_op op = t->op;

	weft_bus_settle(n->bus);
	if (t->status != WEFT_BUS_OK) {
		weft_count(n->comp, C_ABORTS, 1);
		if (op == WEFT_BUS_READ)
			memset(weft_slice_data(t->data), 0xff, t->bytes);
	}
	n->busy[op] = false;
	ring_pop(&n->queue[op]);
	weft_wake(n->comp, TAG_MOVED + t->cookie, weft_now(n->comp));
	nic_submit(n, op);
}

static void on_irq(void *own, bool level)
{
	struct eth_nic *n = own;

	weft_count(n->comp, C_IRQS, level);
	weft_bus_of(n->bus)->irq(n->bus, level);
}

static const struct mac_ops mac_ops = { .move = on_move, .irq = on_irq };

/* ---- registers ---- */

static uint64_t mac_read(struct weft_comp *c, uint32_t index)
{
	return mac_load(((struct eth_nic *)c->state)->mac, 4 * index);
}

static void stores_take(struct eth_nic *n)
{
	while (ring_count(&n->stores)) {
		struct store s = *ring_front(&n->stores);

		ring_pop(&n->stores);
		mac_store(n->mac, s.off, s.val);
	}
}

/* Defers the store to phase 1, because the MAC acts in that phase. */
static void mac_wrote(struct weft_comp *c, uint32_t index, uint64_t val)
{
	struct eth_nic *n = c->state;

	*ring_push(&n->stores) = (struct store){ 4 * index, (uint32_t)val };
	weft_wake(c, TAG_STORE, weft_now(c));
}

static void command_wrote(struct weft_comp *c, uint32_t index, uint64_t val)
{
	nic_submit(c->state, WEFT_BUS_READ);
	nic_submit(c->state, WEFT_BUS_WRITE);
}

/* clang-format off */
#define C(name_, off, width_, reset_, rw_, doc_)                               \
	{ .name = name_, .width = width_, .offset = off, .access = WEFT_RW,    \
	  .reset = reset_, .rw = rw_, .doc = doc_ }
static const struct weft_reg regs[] = {
	[R_VENDOR] = C("vendor", 0x00, 2, ETHNIC_VENDOR, 0, "vendor"),
	[R_DEVICE] = C("device", 0x02, 2, ETHNIC_DEVICE, 0, "82544EI"),
	[R_COMMAND] = { "command", .width = 2, .offset = 0x04,
	  .access = WEFT_RW, .rw = CMD_MEMORY | CMD_MASTER,
	  .wrote = command_wrote, .doc = "1 memory accesses, 2 master" },
	C("status", 0x06, 2, 0, 0, "status"),
	C("class", 0x08, 4, 0x02000000, 0, "Ethernet controller"),
	C("header", 0x0E, 1, 0, 0, "header type"),
	C("bar0", 0x10, 4, 0, ~0u & ~(ETHNIC_BAR_BYTES - 1u), "registers"),
	C("irq_line", 0x3C, 1, 0, 0xff, "interrupt line"),
	C("irq_pin", 0x3D, 1, 1, 0, "INTA"),
	{ .name = "mac", .space = 1 + ETHNIC_BAR, .width = 4, .offset = 0,
	  .count = ETHNIC_REG_BYTES / 4, .stride = 4, .access = WEFT_MIXED,
	  .rw = ~0u, .bare = true, .read = mac_read, .wrote = mac_wrote,
	  .doc = "registers of the MAC (link/mac82544_regs.h)" },
	{ 0 }
};
/* clang-format on */

static void access_store(struct eth_nic *n, const struct weft_bus_note *note)
{
	for (uint32_t i = 0, k; i < note->bytes; i += k) {
		uint32_t v = 0;

		k = note->bytes - i < 4 ? note->bytes - i : 4;
		memcpy(&v, note->data + i, k);
		weft_reg_store(n->comp, note->space, (uint32_t)note->off + i, k,
			       v);
	}
}

/* ---- arrivals, events, set-up ---- */

static void nic_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct eth_nic *n = c->state;
	struct weft_bus_note note;
	uint64_t v;

	if (port == PORT_LINK) {
		mac_arrive(n->mac, f);
		return;
	}
	while (weft_bus_next(n->bus, &note)) {
		bool access = note.kind == WEFT_NOTE_STORE ||
			      note.kind == WEFT_NOTE_LOAD;

		/* do not answer while memory accesses are off */
		if (access && note.space &&
		    !(*weft_reg_cell(n->comp, R_COMMAND, 0) & CMD_MEMORY))
			continue;
		if (note.kind == WEFT_NOTE_STORE) {
			access_store(n, &note);
		} else if (note.kind == WEFT_NOTE_LOAD) {
			stores_take(n);
			v = weft_reg_load(c, note.space, (uint32_t)note.off,
					  note.bytes);
			weft_bus_of(n->bus)->reply(n->bus, &v, note.bytes);
		} else if (note.kind == WEFT_NOTE_DONE) {
			nic_done(n, note.txn);
		}
	}
}

static void nic_event(struct weft_comp *c, uint32_t tag)
{
	struct eth_nic *n = c->state;

	if (tag < TAG_STORE)
		mac_event(n->mac, tag);
	else if (tag == TAG_STORE)
		stores_take(n);
	else
		mac_moved(n->mac, tag - TAG_MOVED);
}

static int nic_init(struct weft_comp *c, struct weft_err *err)
{
	struct eth_nic *n = c->state;
	struct mac_cfg cfg = {
		.start = n->start,
		.receive = n->receive,
		.moderation = n->moderation,
		.turn = n->turn,
		.ahead = n->ahead,
		.desc_ahead = n->desc_ahead,
		.rx_fifo = (uint32_t)n->rx_fifo,
		.frame_max = n->frame_max,
		.tag = TAG_MAC,
	};
	uint8_t addr[ETH_ADDR];

	n->comp = c;
	n->bus = &c->ports[PORT_BUS];
	n->mac = mac_new(c, &c->ports[PORT_LINK], &cfg, &mac_ops, n);
	if (!n->mac)
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	eth_addr_of(addr, n->station == UINT32_MAX ? eth_station_of(c->name)
						   : n->station);
	mac_set_address(n->mac, 0, addr);
	return 0;
}

static int nic_sample(struct weft_comp *c, struct weft_err *err)
{
	const struct mac_stats *s =
		mac_stats(((struct eth_nic *)c->state)->mac);
	const uint64_t v[] = {
		[C_TX_FRAMES] = s->tx_frames, [C_TX_BYTES] = s->tx_bytes,
		[C_RX_FRAMES] = s->rx_frames, [C_RX_BYTES] = s->rx_bytes,
		[C_MISSED] = s->missed,	      [C_CRC] = s->crc,
		[C_FILTERED] = s->filtered,   [C_RUNT] = s->runt,
		[C_GIANT] = s->giant,	      [C_SYMBOL] = s->symbol,
		[C_PAUSE_RX] = s->pause_rx,   [C_PAUSE_TX] = s->pause_tx,
		[C_BAD_DESC] = s->bad_desc,
	};

	memcpy(c->counters, v, sizeof(v));
	return 0;
}

/* Drops the frames that are left when the run ends, because nothing will
 * receive them. */
static int nic_finish(struct weft_comp *c, struct weft_err *err)
{
	struct eth_nic *n = c->state;

	if (weft_sim_idle(c->sim))
		mac_abandon(n->mac);
	return nic_sample(c, err);
}

static void nic_fini(struct weft_comp *c)
{
	struct eth_nic *n = c->state;

	mac_free(n->mac);
	ring_free(&n->queue[0]);
	ring_free(&n->queue[1]);
	ring_free(&n->stores);
}

WEFT_COMPONENT(eth_nic, .name = "eth.nic", .kind = WEFT_KIND_NIC,
	       .doc = "Gigabit Ethernet NIC with rings in host memory",
	       .source = "hvia.md 3.9, 6.6, 7.1",
	       .not_modelled = "checksum offload, VLANs, EEPROM, PHY registers",
	       .state_size = sizeof(struct eth_nic), .params = params,
	       .counters = counters, .n_counters = C_N, .ports = ports,
	       .regs = regs,
	       .ops = { .init = nic_init,
			.arrive = nic_arrive,
			.event = nic_event,
			.finish = nic_finish,
			.sample = nic_sample,
			.fini = nic_fini },
	       .network_parts = &eth_network_parts);
