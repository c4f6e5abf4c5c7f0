/* SPDX-License-Identifier: Apache-2.0 */
/* fault.bus on the port of a host: delays stores and loads of the host. The
 * fault holds up to eight stores and the one load that a host may have in
 * flight, and keeps their order. Memory accesses of devices are not delayed. */
#include <assert.h>
#include <string.h>

#include "host/fault_bus.h"

void fb_pio_go(struct weft_comp *c)
{
	struct weft_port *bus = &c->ports[FB_BUS];
	struct fault_bus *b = c->state;

	while (b->n_pio) {
		const struct fb_pio *p = &b->pio[b->pio_head];
		weft_time_t until;

		if (fb_holds(c, !p->load, &until)) {
			fb_wait(c, until);
			return;
		}
		if (p->load)
			weft_bus_of(bus)->pio_load(bus, p->dev, p->space,
						   p->off, p->bytes);
		else if (!weft_bus_of(bus)->pio_store(bus, p->dev, p->space,
						      p->off, p->data,
						      p->bytes))
			return;
		b->pio_head = (b->pio_head + 1) % FB_PIOS;
		b->n_pio--;
	}
}

/* Queues an access if an outage holds it, or if earlier accesses are queued,
 * because an access must not overtake earlier ones. Returns NULL if the access
 * need not wait. */
static struct fb_pio *bus_pio_keep(struct weft_comp *c, bool load)
{
	struct fault_bus *b = c->state;
	weft_time_t until = WEFT_NEVER;
	bool held = fb_holds(c, !load, &until);
	struct fb_pio *p;

	if (!held && !b->n_pio)
		return NULL;
	assert(b->n_pio < FB_PIOS);
	p = &b->pio[(b->pio_head + b->n_pio++) % FB_PIOS];
	p->load = load;
	weft_count(c, FB_C_HELD, 1);
	if (held)
		fb_wait(c, until);
	return p;
}

bool fb_pio_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		  uint64_t off, const void *data, uint32_t bytes)
{
	struct weft_comp *c = host_port->peer->comp;
	struct weft_port *bus = fb_port(host_port);
	struct fault_bus *b = c->state;
	struct fb_pio *p;

	if (b->n_pio == FB_PIOS - 1)
		return false;
	p = bus_pio_keep(c, false);
	if (!p)
		return weft_bus_of(bus)->pio_store(bus, dev, space, off, data,
						   bytes);
	p->dev = dev;
	p->space = space;
	p->off = off;
	p->bytes = bytes;
	memcpy(p->data, data, bytes);
	return true;
}

void fb_pio_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
		 uint64_t off, uint32_t bytes)
{
	struct weft_port *bus = fb_port(host_port);
	struct fb_pio *p = bus_pio_keep(host_port->peer->comp, true);

	if (!p) {
		weft_bus_of(bus)->pio_load(bus, dev, space, off, bytes);
		return;
	}
	p->dev = dev;
	p->space = space;
	p->off = off;
	p->bytes = bytes;
}

bool fb_pio_present(struct weft_port *host_port, uint32_t dev)
{
	return weft_bus_of(fb_port(host_port))
		->present(fb_port(host_port), dev);
}

static bool fb_decode(struct weft_port *port, weft_phys_t phys, uint32_t bytes)
{
	struct weft_port *host = port->comp->ports[FB_DEV].peer;
	const struct weft_bus_host_ops *ops = host->iface;

	return ops->decode(host, phys, bytes);
}

const struct weft_bus_host_ops fb_host_ops = { .decode = fb_decode };
