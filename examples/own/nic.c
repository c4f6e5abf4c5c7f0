/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own NIC in one file.  Copies a block of local memory to the memory
 * of another node.
 *
 *      bus --- [ read DMA ] ---> link          link ---> [ write DMA ] --- bus
 *
 * A program writes source, destination, node and length.  The store of the
 * length starts the copy, and the length is 0 when the next copy may start.  A
 * start while busy is ignored and counted.  Not modelled: flow control, errors
 * on the cable, interrupts. */
#include <string.h>

#include "own.h"
#include "weft/bus.h"

enum { REG_SRC, REG_DST, REG_NODE, REG_LEN, REG_DONE };
enum { PORT_BUS, PORT_LINK };
enum { TAG_RECEIVED };
enum { C_SENT, C_LANDED, C_IGNORED, C_ABORTED, C_N };

struct own {
	struct weft_clock clock; /* clock and max_bytes are parameters */
	uint64_t max_bytes;
	struct weft_bus_txn rd, wr;
	bool reading, writing;
	weft_time_t line_free;
	struct weft_frame *first, **last; /* received frames, oldest first */
};

static const struct weft_param own_params[] = {
	WEFT_PARAM(CLOCK, struct own, clock, "125MHz", "", OWN,
		   "link clock, 8 bytes per cycle"),
	WEFT_PARAM(BYTES, struct own, max_bytes, "4KiB", "8..1MiB", OWN,
		   "largest copy"),
	{ 0 }
};

static const struct weft_counter own_counters[C_N] = {
	[C_SENT] = { "sent", "copies", "copies put on the link" },
	[C_LANDED] = { "landed", "copies", "copies written to memory" },
	[C_IGNORED] = { "ignored", "starts", "starts while busy or too long" },
	[C_ABORTED] = { "aborted", "copies", "bus aborts" },
};

/* Both ends of a cable must have the same wire format, therefore own.switch
 * uses own_wire, too. */
const struct weft_wire own_wire = { .name = "own" };

static const struct weft_port_decl own_ports[] = {
	[PORT_BUS] = { "bus", WEFT_PORT_BUS, NULL, NULL, false, "host bus" },
	[PORT_LINK] = { "link%u", WEFT_PORT_LINK, "1", &own_wire, false,
			"to the other node" },
	{ 0 }
};

static void own_start(struct weft_comp *c, uint32_t index, uint64_t len)
{
	struct own *n = c->state;
	struct weft_port *bus = &c->ports[PORT_BUS];

	if (n->reading || len == 0 || len % 8 || len > n->max_bytes) {
		weft_count(c, C_IGNORED, 1);
		return;
	}
	n->reading = true;
	n->rd = (struct weft_bus_txn){
		.op = WEFT_BUS_READ,
		.addr = *weft_reg_cell(c, REG_SRC, 0),
		.bytes = (uint32_t)len,
		.data = weft_slice_new(c->sim, (uint32_t)len),
	};
	weft_bus_of(bus)->submit(bus, &n->rd);
}

static const struct weft_reg own_regs[] = {
	{ "src", 1, 8, 0x00, .rw = ~7ull, .doc = "local physical address" },
	{ "dst", 1, 8, 0x08, .rw = ~7ull, .doc = "remote physical address" },
	{ "node", 1, 8, 0x10, .rw = 0xFF, .doc = "remote node" },
	{ "len", 1, 8, 0x18, .rw = ~7ull, .wrote = own_start,
	  .doc = "bytes; storing it starts the copy, 0 when it may" },
	{ "done", 1, 8, 0x20, .doc = "copies that have landed here (RO)" },
	/* The host finds the device by its configuration space: ids, and a BAR
	 * of 4 KB. */
	{ "id", 0, 4, 0x00, .reset = 0x0001F00D, .doc = "device, vendor" },
	{ "command", 0, 2, 0x04, .rw = 0x6, .doc = "memory, master enable" },
	{ "bar0", 0, 4, 0x10, .rw = 0xFFFFF000, .doc = "registers, 4 KB" },
	{ 0 }
};

/* Sets the length to 0, which lets the program start the next copy. */
static void own_free(struct weft_comp *c)
{
	struct own *n = c->state;

	n->reading = false;
	*weft_reg_cell(c, REG_LEN, 0) = 0;
}

/* Sends the block that the read DMA has read. The frame waits until the line is
 * free. */
static void own_send(struct weft_comp *c)
{
	struct own *n = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	weft_time_t start = weft_clock_align(&n->clock, weft_now(c));

	if (start < n->line_free)
		start = n->line_free;
	f->payload = n->rd.data;
	f->u[F_ADDR] = *weft_reg_cell(c, REG_DST, 0);
	f->u[F_NODE] = *weft_reg_cell(c, REG_NODE, 0);
	f->words = n->rd.bytes / 8 + 1; /* The first word is the header. */
	f->word_fs = n->clock.num / n->clock.den;
	n->line_free = start + f->words * f->word_fs;
	own_free(c);
	weft_count(c, C_SENT, 1);
	weft_port_send(&c->ports[PORT_LINK], f, start);
}

static weft_time_t own_end(const struct weft_frame *f)
{
	return f->time + f->words * f->word_fs;
}

static void own_write_next(struct weft_comp *c)
{
	struct own *n = c->state;
	struct weft_port *bus = &c->ports[PORT_BUS];
	struct weft_frame *f = n->first;

	if (n->writing || !f || own_end(f) > weft_now(c))
		return; /* The write starts when the whole frame has arrived. */
	n->writing = true;
	n->wr = (struct weft_bus_txn){
		.op = WEFT_BUS_WRITE,
		.addr = f->u[F_ADDR],
		.bytes = (f->words - 1) * 8,
		.data = weft_slice_ref(f->payload),
	};
	weft_bus_of(bus)->submit(bus, &n->wr);
}

static void own_txn_done(struct weft_comp *c, struct weft_bus_txn *t)
{
	struct own *n = c->state;
	struct weft_frame *f = n->first;

	weft_count(c, C_ABORTED, t->status != WEFT_BUS_OK);
	if (t == &n->rd && t->status == WEFT_BUS_OK) {
		own_send(c);
	} else if (t == &n->rd) {
		weft_slice_drop(&t->data);
		own_free(c);
	} else {
		++*weft_reg_cell(c, REG_DONE, 0);
		weft_count(c, C_LANDED, 1);
		weft_slice_drop(&t->data);
		n->first = f->next;
		if (!n->first)
			n->last = &n->first;
		weft_frame_free(f);
		n->writing = false;
		own_write_next(c);
	}
}

static void own_note(struct weft_comp *c, const struct weft_bus_note *b)
{
	uint64_t v = 0;

	switch (b->kind) {
	case WEFT_NOTE_STORE:
		if (b->bytes > 8)
			break; /* A register has 8 bytes, and a store writes at
				* most one register. */
		memcpy(&v, b->data, b->bytes);
		weft_reg_store(c, b->space, (uint32_t)b->off, b->bytes, v);
		break;
	case WEFT_NOTE_LOAD:
		v = weft_reg_load(c, b->space, (uint32_t)b->off, b->bytes);
		weft_bus_of(&c->ports[PORT_BUS])
			->reply(&c->ports[PORT_BUS], &v, b->bytes);
		break;
	case WEFT_NOTE_DONE:
		own_txn_done(c, b->txn);
		break;
	default:
		break;
	}
}

static void own_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct own *n = c->state;
	struct weft_bus_note b;

	if (port == PORT_BUS) {
		while (weft_bus_next(&c->ports[PORT_BUS], &b))
			own_note(c, &b);
		return;
	}
	f->next = NULL;
	weft_wake(c, TAG_RECEIVED, own_end(f));
	*n->last = f;
	n->last = &f->next;
}

static void own_event(struct weft_comp *c, uint32_t tag)
{
	own_write_next(c);
}

static int own_init(struct weft_comp *c, struct weft_err *err)
{
	struct own *n = c->state;

	n->last = &n->first;
	return 0;
}

WEFT_COMPONENT(own_nic, .name = "own.nic", .kind = WEFT_KIND_NIC,
	       .doc = "remote copy engine: the worked example of a NIC",
	       .source = "examples/own", .not_modelled = "flow control",
	       .state_size = sizeof(struct own), .params = own_params,
	       .counters = own_counters, .n_counters = C_N, .ports = own_ports,
	       .regs = own_regs,
	       .ops = { .init = own_init,
			.arrive = own_arrive,
			.event = own_event });
