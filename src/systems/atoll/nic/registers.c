/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's registers (regs_map.h): configuration space, pages of the host
 * ports, management page, interrupt. */
#include <string.h>

#include "systems/atoll/nic/nic.h"

static struct at_nic *nic_of(struct weft_comp *c)
{
	return c->state;
}

void at_irq(struct at_nic *n, uint64_t bits)
{
	n->irq |= bits;
	if (!!n->irq == n->irq_level)
		return;
	n->irq_level = n->irq;
	at_count(n, AT_K_IRQS, n->irq_level);
	weft_bus_of(n->bus)->irq(n->bus, n->irq_level);
}

/* ---- management ---- */

static uint64_t node_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->node;
}

static uint64_t irq_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->irq;
}

static void irq_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	nic_of(c)->irq &= ~val;
	at_irq(nic_of(c), 0);
}

static uint64_t counter_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->x.dl_counter;
}

static void counter_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	nic_of(c)->x.dl_counter = (uint32_t)val ? (uint32_t)val : 1;
}

static uint64_t ports_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->dl_ports;
}

/* Restarts the deadlock counters whose bits are set in val. A deadlock
 * condition that still holds then raises another interrupt. */
static void ports_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct at_nic *n = nic_of(c);

	n->dl_ports &= ~(uint32_t)val;
	for (uint32_t o = 0; o < AT_PORTS; o++)
		if (val >> o & 1)
			n->x.out[o].cond = n->x.out[o].fired = false;
	atoll_xbar_kick(&n->x);
}

static uint64_t host_port_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->x.mgmt;
}

static void host_port_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	nic_of(c)->x.mgmt = val % ATOLL_PORTS;
}

static uint64_t redirect_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->redirected;
}

static void redirect_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct at_nic *n = nic_of(c);

	n->redirected = atoll_xbar_redirect(&n->x, (uint32_t)val);
}

static uint64_t state_read(struct weft_comp *c, uint32_t o)
{
	uint32_t i = 0, j = 0;
	bool cond = atoll_xbar_dl_cond(&nic_of(c)->x, o, &i, &j);

	return (cond ? ATOLL_DL_COND : 0) | j << 8 | i;
}

/* clang-format off */
#define M(name_, off, read_, wrote_, access_, doc_)                            \
	{ .name = name_, .space = 2, .width = 8, .offset = off,                \
	  .access = WEFT_##access_, .rw = ~0ULL, .bare = true, .read = read_,  \
	  .wrote = wrote_, .doc = doc_ }
#define C(name_, off, width_, reset_, rw_, doc_)                               \
	{ .name = name_, .width = width_, .offset = off, .access = WEFT_RW,    \
	  .reset = reset_, .rw = rw_, .doc = doc_ }

const struct weft_reg at_regs[] = {
	C("vendor", 0x00, 2, ATOLL_VENDOR_ID, 0, "vendor"),
	C("device", 0x02, 2, ATOLL_DEVICE_ID, 0, "device"),
	C("command", 0x04, 2, 0, 0x6, "memory accesses, master"),
	C("status", 0x06, 2, 0, 0, "status"),
	C("class", 0x08, 4, 0x02800000, 0, "network controller"),
	C("header", 0x0E, 1, 0, 0, "header type"),
	C("bar0", 0x10, 4, 0, ~0u & ~(ATOLL_PORTS * ATOLL_PAGE - 1u),
	  "pages of the host ports"),
	C("bar1", 0x14, 4, 0, ~0u & ~(ATOLL_PAGE - 1u), "management page"),
	C("irq_line", 0x3C, 1, 0, 0xff, "interrupt line"),
	C("irq_pin", 0x3D, 1, 1, 0, "INTA"),
	{ .name = "port", .space = 1, .width = 8, .offset = 0,
	  .count = ATOLL_PORTS * ATOLL_PAGE / 8, .stride = 8,
	  .access = WEFT_MIXED, .rw = ~0ULL, .bare = true, .read = at_rx_load,
	  .wrote = at_rx_store, .doc = "host ports, a page each" },
	M("node", ATOLL_M_NODE, node_read, NULL, RO, "own number"),
	M("irq", ATOLL_M_IRQ, irq_read, irq_wrote, MIXED, "interrupts, W1C"),
	M("dl_counter", ATOLL_M_DL_COUNTER, counter_read, counter_wrote, RW,
	  "cycles a deadlock condition holds before the interrupt"),
	M("dl_ports", ATOLL_M_DL_PORTS, ports_read, ports_wrote, MIXED,
	  "OutPorts whose counter ran out, W1C"),
	M("host_port", ATOLL_M_HOST_PORT, host_port_read, host_port_wrote, RW,
	  "of the management process"),
	M("redirect", ATOLL_M_REDIRECT, redirect_read, redirect_wrote, RW,
	  "InPort whose request is overwritten; it was"),
	{ .name = "dl_state", .space = 2, .width = 8,
	  .offset = ATOLL_M_DL_STATE, .count = AT_PORTS, .stride = 8,
	  .access = WEFT_RO, .bare = true, .read = state_read,
	  .doc = "deadlock condition of an OutPort" },
	{ 0 }
};
/* clang-format on */

/* ---- accesses of the host ---- */

void at_access(struct at_nic *n, const struct weft_bus_note *note)
{
	uint64_t v = 0;

	if (note->kind == WEFT_NOTE_STORE) {
		for (uint32_t i = 0, k; i < note->bytes; i += k, v = 0) {
			k = note->bytes - i < 8 ? note->bytes - i : 8;
			memcpy(&v, note->data + i, k);
			weft_reg_store(n->comp, note->space,
				       (uint32_t)note->off + i, k, v);
		}
		weft_bus_consumed(n->bus, 1);
		return;
	}
	v = weft_reg_load(n->comp, note->space, (uint32_t)note->off,
			  note->bytes);
	weft_bus_of(n->bus)->reply(n->bus, &v, note->bytes);
}
