/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA (hostport.md 9): one write burst of the host injects a packet, and one
 * write of the device stores it. This file handles accesses to ULTRA's aperture
 * and holds the contexts of the ports.
 *
 *   BAR3 --+-- user pages: requester, completer
 *          +-- driver pages: contexts, slices, receive queues (9.8)
 *          +-- management region
 *
 * The driver decides which process maps which page, because the device sees
 * only addresses. Not modelled: a separate interrupt for each completer port.
 * All ports share one bit of IRQ_STATUS. */
#include "systems/hostport/nic/ultra.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/nic/pool.h"

/* ---- driver pages ---- */

/* Returns whether the port has a route that fits into a packet. */
static bool ultra_routable(const struct ultra_port *p)
{
	struct hp_route r = { .nf = 0 };

	for (; r.nf < p->route_len && p->route[r.nf] != HP_EL_SEP; r.nf++)
		r.fwd[r.nf] = p->route[r.nf];
	return hp_route_fits(&r);
}

/* Sets the bounds of a slice. A port whose bounds are not in the queue has no
 * slice. */
static void slice_put(struct ultra_port *p, uint64_t val)
{
	uint32_t lower = val & 0xffff, upper = val >> 16 & 0xffff;
	bool ok = lower < upper && upper <= p->u->n->param.ultra_packet_queue;

	p->lower = ok ? (uint16_t)lower : 0;
	p->upper = ok ? (uint16_t)upper : 0;
	p->rp = p->wp = p->lower;
}

static void req_put(struct ultra_port *p, uint32_t off, uint64_t val)
{
	bool holds = p->en || !ring_empty(&p->pkts);

	/* The route registers stay unchanged while the port is enabled or has
	 * packets, because packets were accepted for the present route. */
	if (holds &&
	    (off == HP_UR_VPID || off == HP_UR_TUPID || off == HP_UR_DEST ||
	     off == HP_UR_LEN || off == HP_UR_ROUTE || off == HP_UR_ROUTE + 8))
		return;
	switch (off) {
	case HP_UR_CTRL:
		p->en = val & HP_ULTRA_EN && ultra_routable(p);
		p->state = ULTRA_IDLE;
		ultra_req_go(p->u);
		break;
	case HP_UR_VPID:
		p->vpid = (uint16_t)val;
		break;
	case HP_UR_OWNER:
		p->owner = val;
		break;
	case HP_UR_TUPID:
		p->tupid = val & 0x7ff;
		break;
	case HP_UR_DEST:
		p->dtag = (uint32_t)val;
		p->dhash = (uint16_t)(val >> 32);
		break;
	case HP_UR_LEN:
		p->route_len = val > HP_ULTRA_ROUTE_MAX ? HP_ULTRA_ROUTE_MAX
							: (uint8_t)val;
		break;
	case HP_UR_ROUTE:
	case HP_UR_ROUTE + 8:
		memcpy(p->route + (off - HP_UR_ROUTE), &val, 8);
		break;
	case HP_UR_SLICE:
	/* unchanged while the port is enabled or has packets, because the slice
	 * holds the packets */
	case HP_UR_PTRS:
		if (!holds)
			slice_put(p, off == HP_UR_SLICE
					     ? val
					     : (uint64_t)p->upper << 16 |
						       p->lower);
		break;
	}
}

static uint64_t req_get(const struct ultra_port *p, uint32_t off)
{
	uint64_t v = 0;

	switch (off) {
	case HP_UR_CTRL:
		return p->en;
	case HP_UR_VPID:
		return p->vpid;
	case HP_UR_OWNER:
		return p->owner;
	case HP_UR_TUPID:
		return p->tupid;
	case HP_UR_DEST:
		return (uint64_t)p->dhash << 32 | p->dtag;
	case HP_UR_LEN:
		return p->route_len;
	case HP_UR_ROUTE:
	case HP_UR_ROUTE + 8:
		memcpy(&v, p->route + (off - HP_UR_ROUTE), 8);
		return v;
	case HP_UR_SLICE:
		return (uint64_t)p->upper << 16 | p->lower;
	case HP_UR_PTRS:
		return (uint64_t)p->wp << 16 | p->rp;
	default:
		return ~0ULL;
	}
}

static void cpl_put(struct hp_ultra *u, struct ultra_cpl *p, uint32_t off,
		    uint64_t val)
{
	switch (off) {
	case HP_UC_CTRL:
		p->en = val & HP_ULTRA_EN;
		p->on_device = val & HP_ULTRA_ON_DEVICE;
		p->irq = val & HP_ULTRA_CPL_IRQ;
		break;
	case HP_UC_OUPID:
		p->oupid = val & 0x7ff;
		break;
	case HP_UC_HPID:
		p->hpid = (uint32_t)val;
		break;
	case HP_UC_BASE:
		p->base = val & ~7ULL;
		break;
	case HP_UC_SIZE:
		p->slices = val & 0xffffff;
		p->words = val >> 24 & 0xff;
		break;
	case HP_UC_PTRS:
		p->rp = p->wp = 0;
		break;
	case HP_UC_VPID:
		p->vpid = (uint16_t)val;
		break;
	case HP_UC_OWNER:
		p->owner = val;
		break;
	}
	ultra_cpl_go(u);
}

static uint64_t cpl_get(const struct ultra_cpl *p, uint32_t off)
{
	switch (off) {
	case HP_UC_CTRL:
		return (p->en ? HP_ULTRA_EN : 0u) |
		       (p->on_device ? HP_ULTRA_ON_DEVICE : 0u) |
		       (p->irq ? HP_ULTRA_CPL_IRQ : 0u) |
		       (p->storing ? HP_ULTRA_STORES : 0u);
	case HP_UC_OUPID:
		return p->oupid;
	case HP_UC_HPID:
		return p->hpid;
	case HP_UC_BASE:
		return p->base;
	case HP_UC_SIZE:
		return (uint64_t)p->words << 24 | p->slices;
	case HP_UC_PTRS:
		return (uint64_t)p->wp << 24 | p->rp;
	case HP_UC_VPID:
		return p->vpid;
	case HP_UC_OWNER:
		return p->owner;
	default:
		return ~0ULL;
	}
}

/* ---- user pages ---- */

static void ultra_put(struct hp_ultra *u, uint32_t off, uint64_t val)
{
	uint32_t upid = HP_ULTRA_UPID(off), cmd = off & 0xfff;
	uint32_t rp = val & 0xffffff;
	struct ultra_cpl *p;

	if (off & HP_ULTRA_MGMT || upid >= u->n->param.ultra_ports)
		return;
	p = &u->cpl[upid];
	if (off & HP_ULTRA_DRIVER) {
		if (off & HP_ULTRA_CPL)
			cpl_put(u, p, cmd, val);
		else
			req_put(&u->port[upid], cmd, val);
		return;
	}
	if (!(off & HP_ULTRA_CPL)) {
		ultra_req_word(u, upid, cmd, val);
		return;
	}
	/* Moves the read pointer, because the process has taken packets (9.6,
	 * steps 9 to 11). */
	if (cmd != HP_ULTRA_RP || !p->en || rp >= p->slices ||
	    hp_used(p->rp, rp, p->slices) > hp_used(p->rp, p->wp, p->slices))
		return;
	p->rp = rp;
	ultra_cpl_go(u);
}

static uint64_t ultra_get(struct hp_ultra *u, uint32_t off)
{
	uint32_t upid = HP_ULTRA_UPID(off), cmd = off & 0xfff;

	if (off & HP_ULTRA_MGMT)
		switch (off & 0xffffff) {
		case HP_UM_PORTS:
			return u->n->param.ultra_ports;
		case HP_UM_WORDS:
			return u->n->param.ultra_max_words;
		case HP_UM_QUEUE:
			return u->n->param.ultra_packet_queue;
		default:
			return ~0ULL;
		}
	if (upid >= u->n->param.ultra_ports)
		return ~0ULL;
	if (off & HP_ULTRA_DRIVER)
		return off & HP_ULTRA_CPL ? cpl_get(&u->cpl[upid], cmd)
					  : req_get(&u->port[upid], cmd);
	if (off & HP_ULTRA_CPL)
		return ultra_cpl_load(u, upid, cmd >> 3);
	/* the only legal load of a user reads the read pointer (9.3) */
	return cmd & HP_ULTRA_RP && u->port[upid].en ? u->port[upid].rp : ~0ULL;
}

/* ---- accesses ---- */

/* Executes a store of words of 64 bits. A bus of 32 bits delivers a word as two
 * halves, in order. */
static void ultra_store(struct hp_nic *n, const struct weft_bus_note *note)
{
	struct hp_ultra *u = n->ultra;

	for (uint32_t i = 0; i + 4 <= note->bytes; i += 4) {
		uint32_t off = (uint32_t)note->off + i, v;

		memcpy(&v, note->data + i, 4);
		if (!(off & 4)) {
			u->low = v;
			u->low_at = off;
			continue;
		}
		if (u->low_at == off - 4)
			ultra_put(u, off - 4, (uint64_t)v << 32 | u->low);
		u->low_at = UINT32_MAX;
	}
}

static void load_now(struct hp_nic *n, void *arg)
{
	uint64_t v = ultra_get(n->ultra, (uint32_t)n->load.off & ~7u);

	hp_reply(n, n->load.off & 4 ? v >> 32 : v, n->load.bytes);
}

static void ultra_load(struct hp_nic *n, const struct weft_bus_note *note)
{
	n->load.off = note->off;
	n->load.bytes = note->bytes;
	n->load.space = note->space;
	if (n->param.t_reg && weft_bus_defer(n->bus))
		hp_after(n, n->param.t_reg, load_now, NULL);
	else
		load_now(n, NULL);
}

/* ---- tagged accesses (10.1): the tag names the process ---- */

/* Executes a tagged store. Returns false unless the page belongs to the process
 * of the tag and the address accepts plain stores: words of a packet, or the
 * read pointer of the queue. */
static bool ultra_tput(struct hp_nic *n, const struct weft_bus_note *note)
{
	uint32_t off = (uint32_t)note->off, upid = HP_ULTRA_UPID(off);
	const struct ultra_port *p;
	const struct ultra_cpl *c;
	bool takes;

	if (off & (HP_ULTRA_MGMT | HP_ULTRA_DRIVER) ||
	    upid >= n->param.ultra_ports ||
	    off % HP_PAGE + note->bytes > HP_PAGE)
		return false;
	p = &n->ultra->port[upid];
	c = &n->ultra->cpl[upid];
	if (off & HP_ULTRA_CPL)
		takes = c->en && c->vpid == note->tag &&
			(off & 0xff8) == HP_ULTRA_RP;
	else
		takes = p->en && p->vpid == note->tag && !(off & HP_ULTRA_RP);
	if (takes)
		ultra_store(n, note);
	return takes;
}

/* Executes a tagged store of a whole packet. Returns false when the slice has
 * no room. */
static bool ultra_tstore(struct hp_nic *n, const struct weft_bus_note *note)
{
	uint32_t off = (uint32_t)note->off, words = note->bytes / 8;

	if (off & (HP_ULTRA_MGMT | HP_ULTRA_DRIVER | HP_ULTRA_CPL) ||
	    HP_ULTRA_UPID(off) >= n->param.ultra_ports || note->bytes % 8 ||
	    (off & 0xff) != HP_ULTRA_START(words) ||
	    !ultra_req_takes(n->ultra, HP_ULTRA_UPID(off), note->tag, words))
		return false;
	ultra_store(n, note);
	return true;
}

/* Answers a tagged load with a word of the oldest packet. Returns false when
 * the port has no packet. */
static bool ultra_tload(struct hp_nic *n, const struct weft_bus_note *note,
			uint64_t *val_p)
{
	uint32_t off = (uint32_t)note->off;
	const struct ultra_cpl *p;

	if (!(off & HP_ULTRA_CPL) || off & (HP_ULTRA_MGMT | HP_ULTRA_DRIVER) ||
	    HP_ULTRA_UPID(off) >= n->param.ultra_ports)
		return false;
	p = &n->ultra->cpl[HP_ULTRA_UPID(off)];
	if (!p->en || !p->on_device || p->vpid != note->tag ||
	    ring_empty(&p->kept))
		return false;
	*val_p = ultra_get(n->ultra, off & ~7u);
	return true;
}

static void ultra_rx(struct hp_nic *n, struct hp_rx *rx)
{
	if (HP_CMD_BYTE(HP_C0_CMD(rx->head.c[0])) != HP_B_ACK) {
		ultra_cpl_rx(n->ultra, rx);
		return;
	}
	ultra_req_acked(n->ultra, &rx->head);
	hp_rx_end(n, rx);
}

/* ---- the block ---- */

static int ultra_init(struct hp_nic *n, struct weft_err *err)
{
	struct hp_ultra *u = need(calloc(1, sizeof(*u)));
	uint32_t words = n->param.ultra_port_slice;

	n->ultra = u;
	if (n->param.ultra_port_slice > n->param.ultra_packet_queue)
		return weft_fail(
			err, EINVAL,
			"%s.ultra_port_slice: %u words are more than ultra_packet_queue has: %u",
			n->comp->name, n->param.ultra_port_slice,
			n->param.ultra_packet_queue);
	u->n = n;
	u->low_at = UINT32_MAX;
	u->least = UINT64_MAX;
	u->port = need(calloc(n->param.ultra_ports, sizeof(*u->port)));
	u->cpl = need(calloc(n->param.ultra_ports, sizeof(*u->cpl)));
	u->queue = need(
		calloc(n->param.ultra_packet_queue + 1, sizeof(*u->queue)));
	for (uint32_t i = 0; i < n->param.ultra_ports; i++) {
		u->port[i].u = u;
		u->port[i].upid = (uint16_t)i;
		slice_put(&u->port[i],
			  (uint64_t)((i + 1) * words) << 16 | i * words);
	}
	return 0;
}

static int ultra_finish(struct hp_nic *n, struct weft_err *err)
{
	const struct hp_ultra *u = n->ultra;
	const struct {
		const char *name, *unit;
		const struct ultra_mean *of;
	} row[] = { { "ultra_seen_at", "ns", &u->seen_at },
		    { "ultra_handed_at", "ns", &u->handed_at },
		    { "ultra_requester", "cycles", &u->requester },
		    { "ultra_completer", "cycles", &u->completer } };

	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		if (row[i].of->n)
			weft_metric(n->comp, row[i].name, row[i].unit,
				    row[i].of->sum / (double)row[i].of->n);
	if (u->least != UINT64_MAX)
		weft_metric(n->comp, "ultra_occupancy", "cycles",
			    (double)u->least);
	return 0;
}

static void ultra_fini(struct hp_nic *n)
{
	struct hp_ultra *u = n->ultra;
	struct ultra_in *in;

	if (!u)
		return;
	for (uint32_t i = 0; u->port && i < n->param.ultra_ports; i++)
		ring_free(&u->port[i].pkts);
	for (uint32_t i = 0; u->cpl && i < n->param.ultra_ports; i++)
		ring_free(&u->cpl[i].kept);
	while ((in = u->head)) {
		u->head = in->next;
		free(in);
	}
	while ((in = u->pool)) {
		u->pool = in->next;
		free(in);
	}
	hp_pool_free(u->nqe_all);
	free(u->port);
	free(u->cpl);
	free(u->queue);
	free(u);
	n->ultra = NULL;
}

const struct hp_block hp_ultra_block = {
	.name = "ultra",
	.init = ultra_init,
	.store = ultra_store,
	.load = ultra_load,
	.tstore = ultra_tstore,
	.tput = ultra_tput,
	.tload = ultra_tload,
	.rx = ultra_rx,
	.finish = ultra_finish,
	.fini = ultra_fini,
};
