/* SPDX-License-Identifier: Apache-2.0 */
/* Class forth.nic: the RDMA-write NIC of FORTH-ICS (PCI-X, request queues, VOQs
 * or one outgoing FIFO, up to 4 links bundled by bytes or by packets). Source:
 * forth.md; parameters are those of sections 6.2 and 11.1, presets those of its
 * first page.
 *
 *                 bus (PCI-X)                  link0..3
 *        host <------> +---------------------+ <======> switch or NIC
 *                      | registers  DMA  VOQ |
 *                      +---------------------+
 *
 * Not modelled: reactions of the chipset to PERR# and SERR#. */
#include <errno.h>

#include "systems/forth/nic/nic.h"

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct forth_nic_params, field, def, range, source, doc)

_Static_assert(offsetof(struct forth_nic, p) == 0, "rows have offsets in p");

static const struct weft_param forth_params[] = {
	P(U32, links, "1", "1..4", STATED,
	  "links; 1, 2 or 4 when bundled byte by byte (4.12)"),
	P(ENUM, bundle, "byte", "byte|packet", STATED,
	  "how packets use the links: spread over all, or each on one of them "
	  "(multipath, 4.12, 7)"),
	P(STR, pattern, "", "", RECONSTRUCTED,
	  "bundle=packet: links of successive packets to one destination, "
	  "such as 0,1,0,2; empty = round robin (7.2)"),
	P(ENUM, completion, "reseq", "reseq|count", RECONSTRUCTED,
	  "bundle=packet: headers in order (7.4), or words counted by group "
	  "(7.7, experimental)"),
	P(U32, reseq_headers, "1024", "1..65534", RECONSTRUCTED,
	  "pool of headers that wait for earlier ones (R-35)"),
	P(U32, queues, "8", "1..8", STATED,
	  "request queues sharing 1024 descriptors: 1, 2, 4 or 8 (3.1)"),
	P(U32, voqs, "8", "0..8", STATED,
	  "virtual output queues; 0 = one Host2Net FIFO (6.2 voq_count)"),
	P(BYTES, voq_bytes, "8192", "4112..1048576", STATED,
	  "on-chip memory per VOQ (VOQ, 6.2 voq_onchip_bytes)"),
	P(BYTES, voq_seg_max, "0", "0..4096", RECONSTRUCTED,
	  "largest segment of a VOQ, payload; 0 = max_payload (6.2)"),
	P(BYTES, voq_ext_bytes, "0", "0..134217728", RECONSTRUCTED,
	  "external memory for bodies of long VOQs; 0 = none (6.2)"),
	P(BYTES, voq_block_bytes, "2048", "64..65536", RECONSTRUCTED,
	  "block of external memory (6.2)"),
	P(BYTES, voq_hi, "6144", "8..1048576", RECONSTRUCTED,
	  "a VOQ that holds this much on chip goes external (6.2)"),
	P(BYTES, voq_lo, "2048", "8..1048576", RECONSTRUCTED,
	  "below this much on chip a block is fetched back (6.2)"),
	P(U32, ext_rd_lat, "20", "0..10000", RECONSTRUCTED,
	  "pc: latency of a block read (6.2)"),
	P(U32, ext_rate, "8", "1..4096", RECONSTRUCTED,
	  "bytes per pc of a block read (6.2)"),
	P(U32, h2n_words, "1023", "514..65535", STATED,
	  "Host2Net FIFO in qwords, when there are no VOQs (4.1)"),
	P(U32, n2h_words, "1023", "40..2047", STATED,
	  "Net2Host FIFO in qwords (RXQ)"),
	P(BYTES, max_payload, "512", "8..4096", STATED,
	  "largest packet payload; VOQs cut longer transfers (4.8, 6.4)"),
	P(BYTES, min_payload, "24", "0..4096", STATED,
	  "shorter packets are padded on the wire (4.8, R-40)"),
	P(U32, flows, "8", "1..128", STATED,
	  "configured destinations; descriptors beyond are refused (3.6)"),
	P(U32, node, "65535", "0..65535", OWN,
	  "number of this node in time stamps; 65535 = digits of the name"),
	P(ENUM, lnotify_at, "departed", "departed|read", RECONSTRUCTED,
	  "moment of the local notification (R-43)"),
	P(ENUM, frame, "word", "word|packed", RECONSTRUCTED,
	  "frame layout on the wire (R-18)"),
	P(ENUM, ct_q, "auto", "auto|0|1/4|1/2|3/4|1", DERIVED,
	  "part of a packet that must be in before its write starts "
	  "(CT_Q, R-24)"),
	P(U32, t_desc, "3", "3..64", STATED,
	  "pc: descriptor fetch 2, start 1 (T_DESC)"),
	P(U32, t_upd, "1", "1..64", RECONSTRUCTED, "pc: UpdtCnt (T_UPD)"),
	P(U32, t_sync_dv, "3", "0..64", STATED,
	  "pc: sync FIFO DMA to VOQ (T_SYNC_DV)"),
	P(U32, t_sync_vl, "3", "0..64", STATED,
	  "pc: sync FIFO VOQ to link (T_SYNC_VL)"),
	P(U32, t_linkstart, "2", "0..64", STATED,
	  "pc: link starts transmitting (T_LINKSTART)"),
	P(U32, t_l2d, "5", "5..64", STATED, "cc: link to DMA (T_L2D)"),
	P(U32, t_crtx, "3", "1..64", CALIBRATED,
	  "cc: credit formation to line (T_CRTX)"),
	P(U32, t_crrx, "2", "1..64", CALIBRATED, "cc: credit parse (T_CRRX)"),
	P(U32, refresh_cc, "1024", "0..", RECONSTRUCTED,
	  "cc between credit refreshes on an idle line; 0 = none (5.3)"),
	P(U32, credit_words, "0", "0..5", RECONSTRUCTED,
	  "extra credit words allowed before a header (4.7)"),
	P(REAL, ppm, "0", "-1000..1000", OWN,
	  "offset of this NIC's NET crystal in parts per million"),
	P(BOOL, ids_literal, "false", "", OWN,
	  "vendor and device ID as printed (R-01)"),
	P(BOOL, status_literal, "false", "", OWN,
	  "status bit 4 as printed (R-02)"),
	P(BOOL, netcnt_read_clears, "true", "", STATED,
	  "loads clear the network counters (R-08)"),
	P(BOOL, suppress_bad_body_notify, "false", "", OWN,
	  "no notification or interrupt after a bad body CRC (R-34)"),
	P(BOOL, rw_overlap, "true", "", CALIBRATED,
	  "packets are written during a read's split wait (R-27)"),
	P(U32, resync, "0", "0..", OWN,
	  "NET cycles without credits after which a flow starts anew on both "
	  "sides (5.7); 0 = never; must agree with neighbours"),
	P(BOOL, crc32_complement, "false", "", STATED,
	  "body CRC complemented as in AAL5 (R-20); as neighbours"),
	P(BOOL, credit_filter, "false", "", OWN,
	  "ignore credits for more than was sent (5.4)"),
	P(ENUM, budget, "report", "report|refuse", STATED,
	  "memories that the FPGA had no room for (10.3): counter bram shows "
	  "all, or the machine is not built"),
	{ 0 }
};

static const struct weft_preset forth_presets[] = {
	{ "tr-direct", "links=2 queues=1 voqs=0 min_payload=8 max_payload=4096 "
	  "lnotify_at=read", "two NICs back to back, two links (T 4.3)" },
	{ "tr-switch", "links=1 queues=1 voqs=0 min_payload=8 max_payload=496 "
	  "lnotify_at=read", "one link to the 8x8 switch (T 3.2, 4.2)" },
	{ "plat-switch", "links=1 queues=8 voqs=8 min_payload=24 "
	  "max_payload=512 lnotify_at=departed",
	  "platform paper, one switch (P 2, 3)" },
	{ "plat-multi", "links=4 bundle=packet queues=8 voqs=8 min_payload=24 "
	  "max_payload=512 lnotify_at=departed",
	  "platform paper, four parallel switches (P 1, 2.6)" },
	{ "plat-direct4", "links=4 queues=8 voqs=8 min_payload=24 "
	  "max_payload=4096 lnotify_at=departed",
	  "NIC to NIC, four links byte by byte (P 2.4)" },
	{ 0 }
};

static const struct weft_counter forth_counters[C_N] = {
	[C_TRANSFERS] = { "transfers", "transfers", "descriptors carried out" },
	[C_PACKETS_OUT] = { "packets_out", "packets", "packets sent" },
	[C_PACKETS_IN] = { "packets_in", "packets", "packets received" },
	[C_QWORDS_OUT] = { "qwords_out", "qwords", "payload of transfers" },
	[C_QWORDS_IN] = { "qwords_in", "qwords", "payload written to memory" },
	[C_LNOTIFY] = { "local_notify", "writes", "local notifications" },
	[C_RNOTIFY] = { "remote_notify", "writes", "remote notifications" },
	[C_IRQS] = { "irqs", "edges", "assertions of INTA#" },
	[C_DESC_ERR] = { "desc_errors", "transfers",
			 "bad descriptors and aborted transfers" },
	[C_NO_ROOM] = { "no_room", "times",
			"Check found no room in the outgoing buffer" },
	[C_GAP_WRITES] = { "gap_writes", "writes",
			   "writes begun in a split wait (R-27)" },
	[C_RX_LOST] = { "rx_lost", "qwords", "lost, Net2Host full" },
	[C_RX_UNDERRUN] = { "rx_underruns", "writes",
			    "cut-through started too early" },
	[C_RESETS] = { "resets", "times", "software resets" },
	[C_LOSSES] = { "losses", "packets",
		       "losses found by resequencing (7.4)" },
	[C_SYNC_LOST] = { "sync_lost", "times",
			  "resequencing of a source given up" },
	[C_POOL_FULL] = { "pool_full", "times", "no room for a header (7.6)" },
	[C_UNTRACKED] = { "untracked", "packets",
			  "written while their source was out of sync" },
	[C_REORDERED] = { "reordered", "packets",
			  "arrived before an earlier one of their source" },
	[C_POOL_MAX] = { "pool_max", "headers", "most held at once" },
	[C_EXT_WORDS] = { "ext_words", "qwords",
			  "put into external memory, headers and CRCs too" },
	[C_EXT_BLOCKS] = { "ext_blocks", "blocks",
			   "taken from the free list" },
	[C_BRAM] = { "bram", "blocks", "2 KB of FPGA memory (10.3)" },
	[C_HEADER_CRC] = { "header_crc", "packets", "header CRC wrong" },
	[C_BODY_CRC] = { "body_crc", "packets", "body CRC wrong" },
	[C_ALIGN] = { "align", "events", "misaligned input" },
	[C_CREDIT_PARITY] = { "credit_parity", "credits",
			      "credits thrown away" },
	[C_CREDIT_LEAK] = { "credit_leak", "words",
			    "charged for packets that were not received" },
	[C_RESYNCS] = { "resyncs", "flows", "whose credits started anew" },
	[C_UNSYNC] = { "unsync", "packets", "that came while out of sync" },
	[C_DEAF] = { "deaf", "packets", "of the line that came in loopback" },
	[C_SKEW_FULL] = { "skew_full", "frames",
			  "lost, links of a bundle 16 words apart (4.9)" },
};

/* Brings the counters of the links up to now and copies them to the counters of
 * the run. */
static int link_counters(struct weft_comp *c, struct weft_err *err)
{
	static const size_t from[C_N] = {
		[C_HEADER_CRC] = offsetof(struct forth_port_count, header_crc),
		[C_BODY_CRC] = offsetof(struct forth_port_count, body_crc),
		[C_ALIGN] = offsetof(struct forth_port_count, align),
		[C_CREDIT_PARITY] = offsetof(struct forth_port_count, credit_parity),
		[C_CREDIT_LEAK] = offsetof(struct forth_port_count, credit_leak),
		[C_RESYNCS] = offsetof(struct forth_port_count, resyncs),
		[C_UNSYNC] = offsetof(struct forth_port_count, unsync),
		[C_DEAF] = offsetof(struct forth_port_count, deaf),
		[C_SKEW_FULL] = offsetof(struct forth_port_count, skew_full),
	};

	for (uint32_t i = C_HEADER_CRC; i < C_N; i++)
		c->counters[i] = forth_link_sum(c->state, from[i]);
	return 0;
}

static const struct weft_port_decl forth_ports[] = {
	[PORT_BUS] = { "bus", WEFT_PORT_BUS, .doc = "PCI-X, device side" },
	[PORT_LINK] = { "link%u", WEFT_PORT_LINK, .count = "links",
			.wire = &forth_wire,
			.doc = "RocketIO links" },
	{ 0 }
};
/* clang-format on */

/* ---- operations ---- */

static int check_params(const struct forth_nic *n, const char *name,
			struct weft_err *err)
{
	if (n->p.ppm != (int32_t)n->p.ppm)
		return weft_fail(err, EINVAL,
				 "%s.ppm: '%g' is no whole number of ppm", name,
				 n->p.ppm);
	if (n->p.bundle == BUNDLE_PACKET && !n->p.voqs)
		return weft_fail(
			err, EINVAL,
			"%s.bundle: packets are dealt per destination: that needs VOQs",
			name);
	if (n->p.links == 3 && n->p.bundle == BUNDLE_BYTE)
		return weft_fail(
			err, EINVAL,
			"%s.links: 3 links cannot be bundled: use 1, 2 or 4",
			name);
	if (n->p.queues & (n->p.queues - 1))
		return weft_fail(
			err, EINVAL,
			"%s.queues: '%u' is no power of two: use 1, 2, 4 or 8",
			name, n->p.queues);
	if (n->p.voqs && n->p.flows > n->p.voqs)
		return weft_fail(
			err, EINVAL,
			"%s.flows: '%u' is above the %u VOQs: one VOQ per destination",
			name, n->p.flows, n->p.voqs);
	if (n->p.voq_seg_max % 8)
		return weft_fail(err, EINVAL,
				 "%s.voq_seg_max: no multiple of 8 bytes",
				 name);
	if (n->p.max_payload % 8 || n->p.min_payload % 8)
		return weft_fail(err, EINVAL,
				 "%s.%s_payload: no multiple of 8 bytes", name,
				 n->p.max_payload % 8 ? "max" : "min");
	if (n->p.min_payload > n->p.max_payload)
		return weft_fail(err, EINVAL,
				 "%s.min_payload: above max_payload", name);
	/* check that no deadlock can occur (5.2): B - 31 must hold the largest
	 * packet */
	if (n->p.n2h_words * 2 / n->width <
	    31 + forth_charge(n->width, (uint32_t)n->p.max_payload))
		return weft_fail(
			err, EINVAL,
			"%s.n2h_words: '%u' cannot take packets of max_payload and a credit's granularity",
			name, n->p.n2h_words);
	return 0;
}

static int forth_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_nic *n = c->state;
	int ret;

	n->comp = c;
	n->multi = n->p.bundle == BUNDLE_PACKET;
	n->n_link = n->multi ? n->p.links : 1;
	n->width = n->multi ? 1 : n->p.links;
	ret = check_params(n, c->name, err);
	if (ret)
		return ret;
	n->bus = &c->ports[PORT_BUS];
	n->depth = FORTH_DESC_TOTAL / n->p.queues;
	if (n->p.node == 65535) { /* by default n3.nic has node number 3 */
		size_t digits = strcspn(c->name, ".0123456789");

		n->p.node = (uint32_t)strtoul(c->name + digits, NULL, 10);
	}
	if (n->multi && n->p.node >= SOURCES)
		return weft_fail(
			err, EINVAL,
			"%s: node %u: headers name sources 0 to 7 with bundle=packet (7.3)",
			c->name, n->p.node);
	n->net_base = calloc(NET_N, sizeof(*n->net_base));
	forth_regs_init(n);
	forth_voq_init(n);
	if ((ret = forth_bram_init(n, err)) ||
	    (ret = forth_path_init(n, err)) || (ret = forth_ext_init(n, err)) ||
	    (ret = forth_reseq_init(n, err)) ||
	    (ret = forth_group_init(n, err)))
		return ret;
	return forth_netif_init(n, err);
}

static void bus_note(struct forth_nic *n, const struct weft_bus_note *note)
{
	if (note->kind == WEFT_NOTE_STORE)
		forth_bus_store(n, note);
	else if (note->kind == WEFT_NOTE_LOAD)
		forth_bus_load(n, note);
	else if (note->txn == &n->rq.txn)
		forth_engine_note(n, note);
	else
		forth_write_note(n, note);
}

/* Handles notes about DMA ahead of time, so that both halves of the engine can
 * compute their next event. Notes about accesses of the host arrive at their
 * time. With external memory, notes about a read also arrive at their time,
 * because the NIC copies the bytes of the read to external memory at once. */
static enum weft_told forth_told(struct weft_port *p,
				 const struct weft_bus_note *note)
{
	struct forth_nic *n = p->comp->state;

	if (note->kind == WEFT_NOTE_STORE || note->kind == WEFT_NOTE_LOAD ||
	    (n->ext.total && note->txn == &n->rq.txn))
		return WEFT_TOLD_POST;
	bus_note(n, note);
	return WEFT_TOLD_TAKEN;
}

static int forth_start(struct weft_comp *c, struct weft_err *err)
{
	struct forth_nic *n = c->state;
	int ret;

	n->pci = *weft_bus_of(n->bus)->clock(n->bus);
	n->bus->told = forth_told;
	ret = forth_netif_start(n, err);
	n->started = ret == 0;
	return ret;
}

static void forth_arrive(struct weft_comp *c, uint32_t port,
			 struct weft_frame *f)
{
	struct forth_nic *n = c->state;
	uint32_t j = port - PORT_LINK;
	struct weft_bus_note note;

	if (port == PORT_BUS) {
		while (weft_bus_next(n->bus, &note))
			bus_note(n, &note);
		return;
	}
	if (port >= c->n_ports) /* loopback */
		j = port - c->n_ports - PORT_LINK;
	if (n->multi)
		forth_port_arrive(&n->link[j], 0, f);
	else
		forth_port_arrive(&n->link[0], j, f);
}

static void forth_event(struct weft_comp *c, uint32_t tag)
{
	struct forth_nic *n = c->state;

	if (tag >= TAG_LINK) {
		forth_port_event(&n->link[tag - TAG_LINK]);
		forth_voq_kick(n);
	} else if (tag == TAG_EXT) {
		forth_ext_run(n);
	} else if (weft_timer_due(c, &n->timer)) {
		forth_engine_run(n);
	}
}

/* Checks that no block of external memory and no word of Net2Host was lost. If
 * the run has no event left, frees the packets that still wait for credits or
 * for an engine that is off. */
static int forth_finish(struct weft_comp *c, struct weft_err *err)
{
	struct forth_nic *n = c->state;
	uint32_t linked = n->ext.n_free;
	bool writing = n->wr.state != FORTH_NO_PND_OP || n->wr.orphan;

	link_counters(c, err);
	for (uint32_t v = 0; v < n->n_voq; v++)
		linked += ring_count(&n->voq[v].blocks);
	if (linked != n->ext.total)
		return weft_fail(
			err, EPROTO,
			"%s: %u blocks of external memory, %u free and %u in VOQs",
			c->name, n->ext.total, n->ext.n_free,
			linked - n->ext.n_free);
	for (uint32_t k = 0; k < n->n_link && !writing; k++) {
		const struct forth_fifo *q = &n->fifo[k];
		uint32_t used = 0;

		for (uint32_t i = 0; i < ring_count(&q->q); i++)
			used += ring_nth(&q->q, i)->qwords + 1;
		if (used != forth_fifo_used(n, k))
			return weft_fail(
				err, EPROTO,
				"%s: Net2Host counts %u words and holds %u",
				c->name, q->used, used);
	}
	if (!weft_sim_idle(c->sim))
		return 0;
	forth_voq_fini(n);
	for (uint32_t k = 0; k < n->n_link; k++)
		for (; !ring_empty(&n->fifo[k].q); ring_pop(&n->fifo[k].q))
			weft_slice_drop(&ring_front(&n->fifo[k].q)->data);
	return 0;
}

static void forth_fini(struct weft_comp *c)
{
	struct forth_nic *n = c->state;

	forth_voq_fini(n);
	ring_free(&n->lnotify);
	for (uint32_t i = 0; i < FORTH_QUEUES_MAX; i++)
		ring_free(&n->queue[i].track);
	for (uint32_t k = 0; k < n->n_link; k++) {
		ring_free(&n->fifo[k].q);
		forth_port_fini(&n->link[k]);
	}
	forth_reseq_fini(n);
	free(n->ext.free);
	free(n->log);
	forth_ram_fini(n);
	free(n->sampler.mem);
	free(n->net_base);
	free(n->ts1);
	free(n->trace);
	free(n->bench_seq);
}

WEFT_COMPONENT(forth_nic, .name = "forth.nic", .kind = WEFT_KIND_NIC,
	       .doc = "FORTH-ICS RDMA-write NIC on PCI-X",
	       .source = "TR376-04-2006 and the platform paper (forth.md)",
	       .not_modelled = "what the chipset makes of PERR# and SERR#",
	       .state_size = sizeof(struct forth_nic), .params = forth_params,
	       .presets = forth_presets, .counters = forth_counters,
	       .n_counters = C_N, .ports = forth_ports, .regs = forth_nic_regs,
	       .ops = { .init = forth_init,
			.start = forth_start,
			.arrive = forth_arrive,
			.event = forth_event,
			.finish = forth_finish,
			.sample = link_counters,
			.fini = forth_fini,
			.waiting = forth_waiting },
	       .network_parts = &forth_network_parts);
