/* SPDX-License-Identifier: Apache-2.0 */
/* Class toy.nic: messages of up to 64 bytes by stores and loads of the host.
 *
 * stores ---> window ---> [ transmit queue ] ---> np0
 * loads  <--- head of [ receive queue ] <-------- np0
 *
 * A store to TX_GO queues the message in the window. A store that finds the
 * queue full, or names too many bytes, is dropped and counted.  The interrupt
 * line is asserted while the receive queue has a message.
 *
 * Not modelled: DMA, remote memory. */
#include <string.h>

#include "systems/toy/nic/regs_map.h"
#include "systems/toy/link/wire.h"
#include "weft/bus.h"
#include "weft/trace.h"

enum { PORT_BUS, PORT_LINE };
enum { REG_TX_FREE, REG_TX_IMM, REG_TX_DATA = 6 };
enum { TX_MAX = 64 };
enum { C_REFUSED = TOY_C_OWN, C_TAKEN, C_N };

struct toy_nic {
	/* parameters */
	struct weft_clock clock;
	uint32_t slots, tx_slots, latency;
	/* run */
	uint32_t node;
	struct toy_line line;
	struct weft_timer timer;
	struct {
		struct weft_frame *f;
		weft_time_t ready;
	} tx[TX_MAX]; /* oldest first */
	uint32_t tx_head, tx_n;
	/* trace id of the message in the window; 0 without a message or without
	 * a listener */
	uint64_t trace;
	bool irq;
};

static const struct weft_param nic_params[] = {
	WEFT_PARAM(CLOCK, struct toy_nic, clock, "25MHz", "", OWN,
		   "a symbol of the line per cycle"),
	WEFT_PARAM(U32, struct toy_nic, slots, "8", "2..64", OWN,
		   "messages of the receive queue"),
	WEFT_PARAM(U32, struct toy_nic, tx_slots, "4", "1..64", OWN,
		   "messages of the transmit queue"),
	WEFT_PARAM(U32, struct toy_nic, latency, "2", "1..1000", OWN,
		   "cycles from the store of TX_GO to the first symbol"),
	{ 0 }
};

static const struct weft_counter nic_counters[C_N] = {
	TOY_LINE_COUNTERS,
	[C_REFUSED] = { "refused", "messages", "too long, or the queue full" },
	[C_TAKEN] = { "taken", "messages", "messages the host has taken" },
};

static const struct weft_port_decl nic_ports[] = {
	[PORT_BUS] = { "bus", WEFT_PORT_BUS, NULL, NULL, false, "host bus" },
	[PORT_LINE] = { "np%u", WEFT_PORT_LINK, "1", &toy_wire, false,
			"to the switch" },
	{ 0 }
};

static void step_at(struct weft_comp *c, weft_time_t t)
{
	struct toy_nic *n = c->state;

	weft_timer_arm(c, &n->timer, 0, weft_clock_align(&n->clock, t));
}

/* ---- transmitting ---- */

/* Opens a message at the first store into the window. */
static void tx_begin(struct weft_comp *c, uint32_t index, uint64_t val)
{
	struct toy_nic *n = c->state;

	if (!n->trace)
		n->trace = weft_msg_open(c);
}

static struct weft_frame *tx_frame(struct weft_comp *c, uint64_t go)
{
	struct toy_nic *n = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	struct toy_fields *p = toy_fields(f);
	uint64_t q;

	*p = (struct toy_fields){
		.kind = TOY_START,
		.dest = (uint8_t)(go & TOY_NODE_MASK),
		.src = (uint8_t)n->node,
		.len = (uint8_t)(go >> TOY_LEN_SHIFT & TOY_LEN_MASK),
		.imm = *weft_reg_cell(c, REG_TX_IMM, 0),
	};
	f->trace_id = n->trace;
	f->payload = weft_slice_word(c->sim, p->len);
	for (uint32_t i = 0; i < p->len; i += 8) {
		q = *weft_reg_cell(c, REG_TX_DATA, i / 8);
		memcpy(weft_slice_data(f->payload) + i, &q,
		       p->len - i < 8 ? p->len - i : 8);
	}
	return f;
}

static void tx_go(struct weft_comp *c, uint32_t index, uint64_t go)
{
	struct toy_nic *n = c->state;
	uint32_t at = (n->tx_head + n->tx_n) % TX_MAX;

	tx_begin(c, index, go);
	weft_mark(c, n->trace, "host writes the message", weft_now(c));
	if (n->tx_n == n->tx_slots ||
	    (go >> TOY_LEN_SHIFT & TOY_LEN_MASK) > TOY_DATA) {
		weft_count(c, C_REFUSED, 1);
		weft_msg_end(c, n->trace, false);
	} else {
		n->tx[at].f = tx_frame(c, go);
		n->tx[at].ready =
			weft_clock_after(&n->clock, weft_now(c), n->latency);
		n->tx_n++;
		step_at(c, n->tx[at].ready);
	}
	n->trace = 0;
}

static uint64_t tx_free(struct weft_comp *c, uint32_t index)
{
	const struct toy_nic *n = c->state;

	return n->tx_slots - n->tx_n;
}

static void tx_next(struct weft_comp *c)
{
	struct toy_nic *n = c->state;
	weft_time_t ready = n->tx[n->tx_head].ready;

	if (!n->tx_n)
		return;
	if (n->line.idle > ready)
		ready = n->line.idle;
	if (ready > weft_now(c)) {
		step_at(c, ready);
	} else if (toy_line_room(&n->line)) {
		toy_line_send(&n->line, n->tx[n->tx_head].f);
		n->tx_head = (n->tx_head + 1) % TX_MAX;
		n->tx_n--;
		step_at(c, n->line.idle);
	}
}

/* ---- receiving ---- */

/* Returns the message whose last symbol arrives now, or NULL. */
static struct weft_frame *rx_head(struct weft_comp *c)
{
	struct toy_nic *n = c->state;
	struct weft_frame *f = toy_line_head(&n->line);

	return f && toy_end(f) <= weft_now(c) ? f : NULL;
}

static void rx_irq(struct weft_comp *c)
{
	struct toy_nic *n = c->state;
	struct weft_frame *f = toy_line_head(&n->line);
	bool up = rx_head(c);

	if (up != n->irq)
		weft_bus_of(&c->ports[PORT_BUS])->irq(&c->ports[PORT_BUS], up);
	n->irq = up;
	if (f && !up)
		step_at(c, toy_end(f));
}

static uint64_t rx_describe(struct weft_comp *c, uint32_t index)
{
	struct weft_frame *f = rx_head(c);

	if (!f)
		return 0;
	weft_mark(c, f->trace_id, "waits for the host", weft_now(c));
	weft_msg_end(c, f->trace_id, true);
	f->trace_id = 0;
	return (uint32_t)TOY_HERE | toy_fields(f)->src |
	       (uint32_t)toy_fields(f)->len << TOY_LEN_SHIFT;
}

static uint64_t rx_imm(struct weft_comp *c, uint32_t index)
{
	struct weft_frame *f = rx_head(c);

	return f ? toy_fields(f)->imm : 0;
}

static uint64_t rx_data(struct weft_comp *c, uint32_t index)
{
	struct weft_frame *f = rx_head(c);
	uint32_t len = f ? toy_fields(f)->len : 0, at = 8 * index;
	uint64_t q = 0;

	if (at < len)
		memcpy(&q, weft_slice_data(f->payload) + at,
		       len - at < 8 ? len - at : 8);
	return q;
}

static void rx_pop(struct weft_comp *c, uint32_t index, uint64_t val)
{
	struct toy_nic *n = c->state;

	if (!rx_head(c))
		return;
	weft_frame_free(toy_line_take(&n->line));
	weft_count(c, C_TAKEN, 1);
	step_at(c, weft_now(c));
}

/* ---- registers ---- */

static const struct weft_reg nic_regs[] = {
	[REG_TX_FREE] = { "tx_free", 1, 8, TOY_R_TX_FREE, .bare = true,
			  .access = WEFT_RO, .read = tx_free,
			  .doc = "free places of the transmit queue" },
	[REG_TX_IMM] = { "tx_imm", 1, 8, TOY_R_TX_IMM, .access = WEFT_RW,
			 .rw = UINT64_MAX, .wrote = tx_begin,
			 .doc = "8 bytes beside the data" },
	{ "tx_go", 1, 8, TOY_R_TX_GO, .bare = true, .access = WEFT_RW,
	  .rw = UINT64_MAX, .wrote = tx_go,
	  .doc = "node 7:0, bytes 22:16; sends" },
	{ "rx_head", 1, 8, TOY_R_RX_HEAD, .bare = true, .access = WEFT_RO,
	  .read = rx_describe,
	  .doc = "oldest message: source 7:0, bytes 22:16, there 31" },
	{ "rx_imm", 1, 8, TOY_R_RX_IMM, .bare = true, .access = WEFT_RO,
	  .read = rx_imm, .doc = "its 8 bytes" },
	{ "rx_pop", 1, 8, TOY_R_RX_POP, .bare = true, .access = WEFT_RW,
	  .rw = UINT64_MAX, .wrote = rx_pop, .doc = "any store drops it" },
	[REG_TX_DATA] = { "tx_data", 1, 8, TOY_R_TX_DATA, TOY_WORDS, 8, WEFT_RW,
			  .rw = UINT64_MAX, .wrote = tx_begin,
			  .doc = "bytes of the next message" },
	{ "rx_data", 1, 8, TOY_R_RX_DATA, TOY_WORDS, 8, WEFT_RO, .bare = true,
	  .read = rx_data, .doc = "its data" },
	{ "id", 0, 4, 0x00, .access = WEFT_RO, .reset = TOY_ID,
	  .doc = "device, vendor" },
	{ "command", 0, 2, 0x04, .access = WEFT_RW, .rw = 0x2,
	  .doc = "memory enable" },
	{ "bar0", 0, 4, 0x10, .access = WEFT_RW, .rw = 0xFFFFF000,
	  .doc = "registers, 4 KB" },
	{ 0 }
};

static void nic_note(struct weft_comp *c, const struct weft_bus_note *b)
{
	struct weft_port *bus = &c->ports[PORT_BUS];
	uint64_t v = 0;

	if (b->kind == WEFT_NOTE_STORE && b->bytes <= 8) {
		memcpy(&v, b->data, b->bytes);
		weft_reg_store(c, b->space, (uint32_t)b->off, b->bytes, v);
	} else if (b->kind == WEFT_NOTE_LOAD) {
		v = weft_reg_load(c, b->space, (uint32_t)b->off, b->bytes);
		weft_bus_of(bus)->reply(bus, &v, b->bytes);
	}
}

/* ---- start and end ---- */

static void nic_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct toy_nic *n = c->state;
	struct weft_bus_note b;

	if (port == PORT_BUS) {
		while (weft_bus_next(&c->ports[PORT_BUS], &b))
			nic_note(c, &b);
		return;
	}
	toy_line_arrive(&n->line, f);
	step_at(c, weft_now(c));
}

static void nic_event(struct weft_comp *c, uint32_t tag)
{
	struct toy_nic *n = c->state;

	if (!weft_timer_due(c, &n->timer))
		return;
	if (!toy_line_credit(&n->line))
		step_at(c, n->line.idle);
	tx_next(c);
	rx_irq(c);
}

static int nic_init(struct weft_comp *c, struct weft_err *err)
{
	struct toy_nic *n = c->state;

	n->line.clk = &n->clock;
	n->line.stage = "receives the message";
	toy_line_init(&n->line, c, PORT_LINE, n->slots);
	return 0;
}

static int nic_place(struct weft_comp *c, const struct weft_place *at,
		     struct weft_err *err)
{
	((struct toy_nic *)c->state)->node = at->node;
	return 0;
}

static int nic_start(struct weft_comp *c, struct weft_err *err)
{
	toy_line_start(&((struct toy_nic *)c->state)->line);
	return 0;
}

static void nic_fini(struct weft_comp *c)
{
	struct toy_nic *n = c->state;

	toy_line_fini(&n->line);
	for (; n->tx_n; n->tx_n--) {
		weft_frame_free(n->tx[n->tx_head].f);
		n->tx_head = (n->tx_head + 1) % TX_MAX;
	}
}

static const struct weft_network_parts nic_parts = {
	.net = "toy.net",
	.switch_class = "toy.switch",
	.link = "link.cable",
};

WEFT_COMPONENT(toy_nic, .name = "toy.nic", .kind = WEFT_KIND_NIC,
	       .doc = "toy NIC: messages of 64 bytes by stores and loads",
	       .source = "tests/sixth", .not_modelled = "DMA, remote memory",
	       .state_size = sizeof(struct toy_nic), .params = nic_params,
	       .counters = nic_counters, .n_counters = C_N, .ports = nic_ports,
	       .regs = nic_regs, .network_parts = &nic_parts,
	       .ops = { .init = nic_init,
			.place = nic_place,
			.start = nic_start,
			.arrive = nic_arrive,
			.event = nic_event,
			.fini = nic_fini });
