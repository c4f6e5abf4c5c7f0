/* SPDX-License-Identifier: Apache-2.0 */
/* fault.bus on the port of a device on bus.pcix: injects errors into accesses.
 * The fault chooses the access and the error (enum weft_bus_error). The bus
 * simulates errors of the device's requests. The model of the device simulates
 * errors of accesses to the device. PERR# and SERR# of the device are counted
 * here and passed on to the bus. */
#include <errno.h>
#include <string.h>

#include "host/fault_bus.h"

/* DMA and HOST are sets of accesses of devices and of the host. `meets` has for
 * each error the set of accesses that the error may hit. */
#define DMA  (1u << FB_READS | 1u << FB_WRITES)
#define HOST (1u << FB_LOADS | 1u << FB_STORES)
static const uint8_t meets[] = {
	[WEFT_BUS_E_NONE] = DMA | HOST,
	[WEFT_BUS_E_ADDRESS] = DMA | HOST,
	[WEFT_BUS_E_DATA] = DMA | 1u << FB_STORES,
	[WEFT_BUS_E_MASTER] = DMA,
	[WEFT_BUS_E_TARGET] = DMA,
	[WEFT_BUS_E_MESSAGE] = 1u << FB_READS,
	[WEFT_BUS_E_REPEAT] = 1u << FB_READS,
	[WEFT_BUS_E_DISCARD] = 1u << FB_LOADS,
};

enum weft_bus_error fb_err_hit(struct weft_comp *c, enum fb_access access)
{
	struct fault_bus *b = c->state;
	bool bad;

	if (!b->error || b->access != access || !fb_now(c))
		return WEFT_BUS_E_NONE;
	b->seen++;
	bad = b->number && b->seen >= b->number &&
	      b->seen - b->number < b->count;
	if (!bad && b->rate > 0)
		bad = weft_rng_real(&c->rng) < b->rate;
	if (!bad)
		return WEFT_BUS_E_NONE;
	weft_count(c, FB_C_ERRORS, 1);
	return b->error;
}

void fb_signal(struct weft_port *dev_port, enum weft_bus_signal line)
{
	weft_count(dev_port->peer->comp,
		   line == WEFT_BUS_PERR ? FB_C_PERR : FB_C_SERR, 1);
	weft_bus_signal(fb_port(dev_port), line);
}

int fb_err_start(struct weft_comp *c, struct weft_err *err)
{
	const struct fault_bus *b = c->state;
	const struct weft_port *bus = c->ports[FB_BUS].peer;

	if (!b->error)
		return 0;
	if (!(meets[b->error] >> b->access & 1))
		return weft_fail(
			err, EINVAL,
			"%s.error: this one does not meet such accesses: master_abort and target_abort go with reads and writes, message and repeat with reads, discard with loads, data with all but loads",
			c->name);
	while (bus->comp->cls == c->cls) /* skips another fault in between */
		bus = bus->comp->ports[FB_BUS].peer;
	if (strcmp(bus->comp->cls->name, "bus.pcix") ||
	    !strcmp(bus->name, "host"))
		return weft_fail(err, EINVAL,
				 "%s.error: only for a device on bus.pcix",
				 c->name);
	return 0;
}
