/* SPDX-License-Identifier: Apache-2.0 */
/* Class hvia.nic: HVIA-GE, the Virtual Interface Architecture on Gigabit
 * Ethernet in hardware (hvia.md 1 to 3, 5, 7).
 *
 *   bus --- doorbells, VI table --- send engine ------ GEC ---+
 *        |                             |                      |
 *        |                   ATT manager, SDRAM          MAC, link
 *        |                             |                      |
 *        +- DMA ------------------- receive engine --- GEC ---+
 *
 *   doorbells.c            doorbells, VI table
 *   send_*.c               send engine
 *   receive_*.c, packet_filter.c  receive engine
 *   address_translation.c  ATT manager, SDRAM
 *   ethernet_controller.c  GEC
 *
 * Not modelled: RDMA read, reliable delivery and completion queues, which the
 * card does not have; refresh of the SDRAM; contention on the local bus. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct hv_params, field, def, range, source, doc)

static const struct weft_param hv_params[] = {
	P(U64,   mac_addr, "0", "", OWN, "station address, first byte lowest; 0 = 02:00:00:00 and the digits of the name"),
	P(U32,   mtu, "1514", "60..9014", STATED, "bytes of a VI's frame without FCS (3.8); packets of the kernel agent have 104"),
	P(CLOCK, clock, "66MHz", "", STATED, "of engines, SDRAM and the local bus to the MAC (1)"),
	P(U32,   prefetch, "1", "0..16", STATED, "entries of the Address Prefetch Buffer (3.7)"),
	P(BOOL,  att_host, "no", "", OWN, "CTRL.ATT_HOST is set after reset: the table is in host memory (7.3)"),
	P(U32,   tx_outstanding, "1", "1..2", CALIBRATED, "transmit descriptors with the MAC (3.9, 7.6)"),
	P(U32,   kernel_rx, "16", "1..64", RECONSTRUCTED, "kernel packets that wait for the agent; the source names one (2.2), which loses those of two stations that ask at a time"),
	P(BYTES, rx_fifo, "48KiB", "2048..", RECONSTRUCTED, "receive FIFO of the MAC"),
	P(TIME,  mac_start, "266ns", "", CALIBRATED, "first burst to preamble (7.1)"),
	P(TIME,  mac_receive, "668ns", "", CALIBRATED, "end of frame to the store of its last bytes (7.1)"),
	P(U32,   t_scan, "4", "1..", CALIBRATED, "cycles: doorbell found (2.3)"),
	P(U32,   t_check, "4", "0..", CALIBRATED, "cycles: checks of a descriptor (7.1)"),
	P(U32,   t_fifo, "2", "0..", CALIBRATED, "cycles: send or receive FIFO (7.1)"),
	P(U32,   t_txbuf, "2", "0..", CALIBRATED, "cycles: Tx buffer (7.1)"),
	P(U32,   t_txd, "6", "0..", CALIBRATED, "cycles: Tx descriptor (7.1)"),
	P(U32,   t_tail, "6", "1..", CALIBRATED, "cycles: tail write (7.1)"),
	P(U32,   t_txdesc, "14", "1..", CALIBRATED, "cycles: the MAC fetches a descriptor (7.1)"),
	P(U32,   t_txburst, "16", "1..", CALIBRATED, "cycles: its first burst (7.1)"),
	P(U32,   t_rxdma, "18", "1..", CALIBRATED, "cycles: it stores the last bytes of a frame (7.1)"),
	P(U32,   t_rxback, "12", "1..", CALIBRATED, "cycles: it writes a descriptor back (7.1)"),
	P(U32,   t_poll, "4", "0..", CALIBRATED, "cycles: poll of DD (5.3)"),
	P(U32,   t_forward, "6", "0..", CALIBRATED, "cycles: frame to the engine (7.1)"),
	P(U32,   t_rxbuf, "4", "0..", CALIBRATED, "cycles: Rx buffer (7.1)"),
	P(U32,   t_header, "6", "0..", CALIBRATED, "cycles: header (7.1)"),
	P(U32,   t_rxcheck, "12", "0..", CALIBRATED, "cycles: checks of a packet (7.1)"),
	P(U32,   t_hit, "1", "0..", STATED, "cycles: look into the prefetch buffer (3.7)"),
	P(U32,   t_visible, "20", "0..", CALIBRATED, "cycles: written data are in memory (2.1)"),
	P(U32,   t_book, "6", "0..", CALIBRATED, "cycles: bookkeeping after a packet (7.1)"),
	P(U32,   t_compl, "8", "0..", CALIBRATED, "cycles: engine, completion (7.1)"),
	P(U32,   t_index, "4", "1..", CALIBRATED, "cycles: index of level 1, part of compute 14 (7.3)"),
	P(U32,   t_l1, "9", "0..", CALIBRATED, "cycles: burst of three from SDRAM (7.3)"),
	P(U32,   t_lcheck, "8", "0..", CALIBRATED, "cycles: checks and index of level 2, part of compute 14"),
	P(U32,   t_l2, "7", "0..", CALIBRATED, "cycles: one word from SDRAM (7.3)"),
	P(U32,   t_add, "2", "0..", CALIBRATED, "cycles: address, rest of compute 14"),
	P(U32,   t_move, "2", "1..", RECONSTRUCTED, "cycles: one level-2 entry from SDRAM to SDRAM (6.2)"),
	{ 0 }
};
#undef P

static_assert(offsetof(struct hv_nic, p) == 0, "rows have offsets in params");

static const struct weft_counter hv_counters[HV_K_N] = {
#define X(id, name, unit, doc) [HV_K_##id] = { name, unit, doc },
	HV_COUNTERS(X)
#undef X
};

static const struct weft_port_decl hv_ports[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "PCI, 64 bit, 66 MHz" },
	{ "link", WEFT_PORT_LINK, .wire = &eth_wire, .optional = true,
	  .doc = "1000BASE-T" },
	{ 0 }
};
/* clang-format on */

static int hv_init(struct weft_comp *c, struct weft_err *err)
{
	struct hv_nic *n = c->state;
	const char *name = c->name;

	n->comp = c;
	n->bus = &c->ports[HV_PORT_BUS];
	n->vi = weft_comp_alloc(c, HVIA_VIS * sizeof(*n->vi));
	n->krx = weft_comp_alloc(c, n->p.kernel_rx * sizeof(*n->krx));
	n->send.dma.unit = HV_U_SEND;
	n->recv.dma.unit = HV_U_RECV;
	n->write.dma.unit = HV_U_WRITE;
	n->book.dma.unit = HV_U_BOOK;
	n->att.dma.unit = HV_U_ATT;
	n->send.last = HVIA_VIS - 1;
	/* The name of the component gives the station: n3.nic is station 3. */
	while (*name && *name != '.' && (*name < '0' || *name > '9'))
		name++;
	eth_addr_of(n->mac, (uint32_t)strtoul(name, NULL, 10));
	if (n->p.mac_addr)
		memcpy(n->mac, &n->p.mac_addr, sizeof(n->mac));
	hv_gec_init(n);
	hv_ctrl_reset(n);
	return 0;
}

static int hv_start(struct weft_comp *c, struct weft_err *err)
{
	const struct weft_clock *bus;
	struct hv_nic *n = c->state;

	/* two stations with one address would receive each other's frames, and
	 * connections between them could not be made */
	for (uint32_t i = 0; i < weft_sim_count(c->sim); i++) {
		const struct weft_comp *o = weft_sim_at(c->sim, i);
		const struct hv_nic *m = o->state;

		if (o != c && o->cls == c->cls &&
		    !memcmp(m->mac, n->mac, sizeof(n->mac)))
			return weft_fail(
				err, EINVAL,
				"%s.mac_addr: %s has that address too: leave it out, or give each its own",
				c->name, o->name);
	}
	bus = weft_bus_of(n->bus)->clock(n->bus);
	/* uses the bus's clock if the card's clock is as fast, so that both run
	 * in step */
	n->clk = n->p.clock.num == bus->num && n->p.clock.den == bus->den
			 ? bus
			 : &n->p.clock;
	hv_gec_start(n);
	return 0;
}

static void hv_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct hv_nic *n = c->state;
	struct weft_bus_note note;

	if (port == HV_PORT_LINK) {
		mac_arrive(n->gec.mac, f);
		return;
	}
	while (weft_bus_next(n->bus, &note)) {
		if (note.kind == WEFT_NOTE_STORE || note.kind == WEFT_NOTE_LOAD)
			hv_access(n, &note);
		else if (note.kind == WEFT_NOTE_DONE)
			hv_dma_done(n, (struct hv_dma *)note.txn);
	}
}

static void hv_event(struct weft_comp *c, uint32_t tag)
{
	static void (*const unit[HV_U_MAC])(struct hv_nic *) = {
		[HV_U_BOOK] = hv_book_event, [HV_U_WRITE] = hv_write_event,
		[HV_U_RECV] = hv_recv_event, [HV_U_SEND] = hv_send_event,
		[HV_U_ATT] = hv_att_event,   [HV_U_TX] = hv_gec_tx_event,
		[HV_U_MOVE] = hv_move_event,
	};
	struct hv_nic *n = c->state;

	if (tag >= HV_TAG_MAC) {
		mac_event(n->gec.mac, tag);
		return;
	}
	if (!weft_timer_due(c, &n->timer[tag]))
		return;
	if (tag >= HV_U_MAC)
		hv_gec_mac_event(n, tag - HV_U_MAC);
	else
		unit[tag](n);
}

static int hv_sample(struct weft_comp *c, struct weft_err *err)
{
	struct hv_nic *n = c->state;
	const struct mac_stats *s = mac_stats(n->gec.mac);

	c->counters[HV_K_MISSED] = s->missed;
	c->counters[HV_K_BAD_FCS] = s->crc + s->symbol + s->runt;
	c->counters[HV_K_FILTERED] = s->filtered;
	if (n->att.singles)
		weft_metric(c, "translation", "ns",
			    (double)n->att.spent / (double)n->att.singles /
				    (double)WEFT_NS);
	return 0;
}

/* Frees frames that no engine will take. */
static int hv_finish(struct weft_comp *c, struct weft_err *err)
{
	struct hv_nic *n = c->state;

	if (weft_sim_idle(c->sim)) {
		hv_gec_clear(n);
		mac_reset(n->gec.mac);
	}
	return hv_sample(c, err);
}

static void hv_fini(struct weft_comp *c)
{
	struct hv_nic *n = c->state;

	for (uint32_t op = 0; op < 2; op++)
		for (; n->dma[op].head; n->dma[op].head = n->dma[op].head->next)
			weft_slice_drop(&n->dma[op].head->txn.data);
	weft_slice_drop(&n->send.dma.txn.data);
	weft_slice_drop(&n->recv.dma.txn.data);
	weft_slice_drop(&n->write.dma.txn.data);
	weft_slice_drop(&n->book.dma.txn.data);
	weft_slice_drop(&n->att.dma.txn.data);
	weft_slice_drop(&n->send.frame);
	weft_slice_drop(&n->recv.frame);
	ring_free(&n->recv.prep);
	for (; !ring_empty(&n->write.q); ring_pop(&n->write.q))
		weft_slice_drop(&ring_front(&n->write.q)->data);
	weft_slice_drop(&n->recv.job.data);
	ring_free(&n->write.q);
	ring_free(&n->book.q);
	if (n->gec.mac)
		hv_gec_clear(n);
	ring_free(&n->gec.txq);
	ring_free(&n->gec.rxq);
	mac_free(n->gec.mac);
	for (uint32_t i = 0; i < 1024; i++)
		free(n->att.sdram[i]);
	ring_free(&n->errors);
	vec_free(&n->bells);
}

WEFT_COMPONENT(hvia_nic, .name = "hvia.nic", .kind = WEFT_KIND_NIC,
	       .doc = "HVIA-GE: Virtual Interface Architecture in hardware on "
		      "Gigabit Ethernet",
	       .source = "hvia.md 1 to 3, 5, 7",
	       .not_modelled = "SDRAM refresh, contention on the local bus",
	       .state_size = sizeof(struct hv_nic), .params = hv_params,
	       .counters = hv_counters, .n_counters = HV_K_N, .ports = hv_ports,
	       .regs = hv_regs,
	       .ops = { .init = hv_init,
			.start = hv_start,
			.arrive = hv_arrive,
			.event = hv_event,
			.finish = hv_finish,
			.sample = hv_sample,
			.fini = hv_fini },
	       .network_parts = &eth_network_parts);
