/* SPDX-License-Identifier: Apache-2.0 */
/* PCI-X: loads and stores of the host.  The bridge posts stores and keeps the
 * order of everything the host asked for (FORTH specification 11.5). */
#include "host/pcix.h"

#include <assert.h>
#include <string.h>

static struct pcix_pio *pio_push(struct pcix *b)
{
	uint32_t cap = b->pio_depth + 1;
	struct pcix_pio *p = &b->pio[(b->pio_head + b->n_pio++) % cap];

	assert(b->n_pio <= cap);
	p->ready = pcix_edge_next(b);
	return p;
}

static struct pcix_pio *pio_pop(struct pcix *b)
{
	struct pcix_pio *p = &b->pio[b->pio_head];

	b->pio_head = (b->pio_head + 1) % (b->pio_depth + 1);
	b->n_pio--;
	return p;
}

/* A store keeps its place in the buffer until it is done on the bus. */
static bool store_room(const struct pcix *b)
{
	uint32_t on_bus = weft_now(b->comp) < pcix_time(b, b->store_until);

	return b->n_store + on_bus < b->pio_depth;
}

bool pcix_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		uint64_t off, const void *data, uint32_t bytes)
{
	struct pcix *b = host_port->peer->comp->state;
	struct pcix_pio *p;

	assert(bytes && bytes <= PCIX_PIO_MAX);
	if (!store_room(b))
		return false;
	p = pio_push(b);
	p->load = false;
	p->dev = dev;
	p->space = space;
	p->off = off;
	p->bytes = bytes;
	memcpy(p->data, data, bytes);
	b->n_store++;
	pcix_kick(b);
	return true;
}

void pcix_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
	       uint64_t off, uint32_t bytes)
{
	struct pcix *b = host_port->peer->comp->state;
	struct pcix_pio *p;

	assert(bytes && bytes <= 8 && !b->load_pending);
	b->load_pending = true;
	p = pio_push(b);
	p->load = true;
	p->dev = dev;
	p->space = space;
	p->off = off;
	p->bytes = bytes;
	pcix_kick(b);
}

bool pcix_present(struct weft_port *host_port, uint32_t dev)
{
	struct pcix *b = host_port->peer->comp->state;

	return dev < b->devices && b->dev[dev].port->peer;
}

static uint32_t dwords(uint32_t bytes)
{
	return (bytes + 3) / 4;
}

static struct weft_bus_note pio_note(const struct pcix *b,
				     const struct pcix_pio *p,
				     enum weft_note_kind kind, uint64_t edge)
{
	struct weft_bus_note note = { .kind = kind,
				      .time = pcix_time(b, edge),
				      .space = p->space,
				      .off = p->off,
				      .bytes = p->bytes,
				      .dev = p->dev };

	memcpy(note.data, p->data, sizeof(note.data));
	return note;
}

static void store_grant(struct pcix *b, struct pcix_pio *p, uint64_t d)
{
	uint32_t n = dwords(p->bytes);
	uint64_t len = n == 1 ? b->t_pio1 : b->t_piob + n;
	struct weft_bus_note note;

	if (!pcix_present(b->host->peer, p->dev)) {
		len = b->t_arb + b->t_ph + b->t_abort;
		weft_count(b->comp, PCIX_C_ABORTS, 1);
	} else {
		note = pio_note(b, p, WEFT_NOTE_STORE, d + len);
		weft_bus_tell(b->dev[p->dev].port, &note);
	}
	weft_count(b->comp, PCIX_C_STORES, 1);
	weft_count(b->comp, PCIX_C_STORE_BYTES, p->bytes);
	pcix_occupy(b, d, len);
	b->n_store--;
	b->store_until = d + len;
	note = pio_note(b, p, WEFT_NOTE_STORED, d + len);
	weft_bus_tell(b->host, &note);
}

static void load_grant(struct pcix *b, struct pcix_pio *p, uint64_t d)
{
	uint64_t asked = d + b->t_arb + b->t_ph;
	uint64_t len = b->t_arb + b->t_ph + b->t_abort;
	struct weft_bus_note note;

	b->load = *p;
	memset(b->load.data, 0xff, sizeof(b->load.data));
	b->replied = false;
	if (pcix_present(b->host->peer, p->dev)) {
		len = b->t_arb + b->t_ph + b->t_read + dwords(p->bytes);
		note = pio_note(b, p, WEFT_NOTE_LOAD, asked);
		weft_bus_tell(b->dev[p->dev].port, &note);
	}
	weft_count(b->comp, PCIX_C_LOADS, 1);
	pcix_occupy(b, d, len);
	b->load_end = d + len;
	weft_wake(b->comp, PCIX_EV_LOADED, pcix_time(b, b->load_end - 1) + 1);
}

void pcix_pio_grant(struct pcix *b, uint64_t d)
{
	struct pcix_pio *p = pio_pop(b);

	if (p->load)
		load_grant(b, p, d);
	else
		store_grant(b, p, d);
}

void pcix_reply(struct weft_port *dev_port, const void *data, uint32_t bytes)
{
	struct pcix *b = dev_port->peer->comp->state;

	assert(b->load_pending && !b->replied && bytes == b->load.bytes &&
	       b->load.dev == dev_port->peer->index - 1);
	memcpy(b->load.data, data, bytes);
	b->replied = true;
}

/* Last clock of a load: what the device gave, or all ones. */
void pcix_loaded(struct pcix *b)
{
	struct weft_bus_note note =
		pio_note(b, &b->load, WEFT_NOTE_LOADED, b->load_end);

	if (!b->replied)
		weft_count(b->comp, PCIX_C_ABORTS, 1);
	b->load_pending = false;
	weft_bus_tell(b->host, &note);
}
