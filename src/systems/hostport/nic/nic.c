/* SPDX-License-Identifier: Apache-2.0 */
/* Class hostport.nic: the virtualised Host Port with ULTRA and three network
 * ports. The crossbar beside the Host Port is of class extoll.xbar. Source:
 * hostport.md 1, 4 to 9, appendix B.
 *
 *                  bus                       np0..np2
 *        host <------> +-------------------+ <=====> crossbar
 *                      | trigger units NQ  |
 *                      +-------------------+
 *
 * Not modelled: barrier and multicast commands, more than two network ports for
 * instructions. */
#include <errno.h>

#include "systems/hostport/nic/functional_units.h"
#include "systems/hostport/nic/pool.h"

/* clang-format off */
#define P(type_, field, def_, range_, source_, doc_)                           \
	{ .name = #field, .type = WEFT_P_##type_,                              \
	  .offset = offsetof(struct hp_nic, param.field),                      \
	  .size = sizeof(((struct hp_nic *)0)->param.field), .def = def_,      \
	  .range = range_, .source = WEFT_##source_, .doc = doc_ }

static const struct weft_param hp_params[] = {
	P(CLOCK, f_core, "100MHz", "", STATED,
	  "core clock: 100 MHz FPGA, 500 MHz ASIC (8.1)"),
	P(CLOCK, net_clock, "330MHz", "", OWN,
	  "clock of the network ports: the crossbar's (11.5)"),
	P(REAL, ppm, "0", "-1000..1000", OWN,
	  "offset of this NIC's crystal in parts per million"),
	P(ENUM, width, "w16", "w16|w32", OWN,
	  "bits of the network data path"),
	P(U32, node, "65535", "0..65535", OWN,
	  "node id; 65535 = what the network says, or digits of the name"),
	P(U32, np_depth, "4", "1..64", OWN,
	  "packets per class that wait in a network port"),
	P(U32, csb_depth, "256", "1..65535", OWN,
	  "entries of the conditional store buffer (CSB7)"),
	P(U32, csb_vpid_max, "0", "0..65535", OWN,
	  "of these for one VPID; 0 = all (CSB14)"),
	P(U32, tagged_depth, "64", "1..4096", OWN,
	  "VCIs of tagged conditional stores (10.2)"),
	P(U32, n_req_fu, "4", "1..16", OWN, "requester units (8.1)"),
	P(U32, n_cpl_fu, "4", "1..16", OWN,
	  "completer units (8.1); the last one is for replies, with 1 it is "
	  "one more"),
	P(U32, n_rsp_fu, "2", "1..16", OWN, "responder units (8.1)"),
	P(U32, n_np, "2", "1..2", OWN,
	  "network ports: with 2, replies have their own (8.5)"),
	P(BOOL, hash_order, "no", "", OWN,
	  "CTRL bit 2 at first: the network keeps the order of packets with "
	  "equal hash of their destination (3.1, 3.6)"),
	P(U32, issue_width, "4", "1..16", OWN,
	  "requests issued per cycle (SB7, SB8)"),
	P(U32, waitq_depth, "4", "0..64", OWN,
	  "wait queue in front of a requester or completer (SB10); 0 = none"),
	P(U32, miss_places, "128", "0..256", OWN,
	  "jobs of a unit that wait for the driver's translation outside of its "
	  "pipeline; 0 = the unit waits (8.8)"),
	P(U32, miss_buffer, "16384", "0..", OWN,
	  "bytes of a completer for their payload; more of it waits in memory"),
	P(U32, list_pages, "257", "16..2049", OWN,
	  "translations of a packet before it leaves: 1 MiB, not aligned"),
	P(U32, vci_queue, "16", "1..256", OWN, "VCIs in front of the scheduler"),
	P(U32, fetches, "8", "1..16", OWN, "VCIs that are read at a time"),
	P(U32, vpid_ahead, "4", "0..256", OWN,
	  "VCIs between turn and network port, in parts for VPIDs by weight, of "
	  "one at least, while several have some; 0 = no limit (SB12)"),
	P(U32, vpid_gets, "4", "0..65535", OWN,
	  "gets and atomics whose answer has not come, likewise, two at least; "
	  "0 = no limit (SB12)"),
	P(U32, vpid_recent, "4096", "1..", OWN,
	  "cycles for which a VPID that was fetched counts as one that has "
	  "some"),
	P(U32, lookups, "8", "1..16", OWN,
	  "entries of the CSB whose contexts are looked up at a time"),
	P(U32, ctx_cache, "64", "4..65536", OWN, "contexts, sets of 4 (8.8)"),
	P(U32, win_cache, "64", "4..65536", OWN, "windows, sets of 4 (8.8)"),
	P(U32, route_cache, "64", "4..65536", OWN, "routes, sets of 4 (8.8)"),
	P(U32, tlb, "256", "1..65536", OWN, "translations (8.8)"),
	P(U32, t_trigger, "4", "0..4096", OWN,
	  "cycles: trigger decode, checks, CSB insert (8.6)"),
	P(U32, t_reg, "0", "0..4096", OWN,
	  "cycles: load of a register, besides what the bus counts for it: "
	  "six clocks of the target (11.2), part of the 320 ns (11.6)"),
	P(U32, t_ctx, "1", "1..64", OWN, "cycles: context cache (8.6)"),
	P(U32, t_win, "1", "1..64", OWN, "cycles: window cache (8.6)"),
	P(U32, t_route, "1", "1..64", OWN, "cycles: routing cache (8.6)"),
	P(U32, t_tlb, "1", "1..64", OWN, "cycles: TLB (8.6)"),
	P(U32, t_decode, "1", "1..64", OWN, "cycles: VCI decode (8.6)"),
	P(U32, t_check, "1", "1..64", OWN, "cycles: window check (8.6)"),
	P(U32, t_frame, "1", "1..64", OWN, "cycles: command frame (8.6)"),
	P(U32, t_nqe, "1", "1..64", OWN, "cycles: notification (8.6)"),
	P(U32, reads, "16", "1..32", OWN, "reads at a time, packet buses"),
	P(U32, posted, "16", "1..255", OWN, "writes at a time, packet buses"),
	P(U32, dma_piece, "256", "64..4096", OWN,
	  "bytes of payload per transaction"),
	P(U32, max_request, "0", "0..4096", OWN,
	  "bytes of a read sequence (PCI-X); 0 = all"),
	P(U32, ultra_ports, "64", "1..2048", OWN, "port pairs of ULTRA (9.2)"),
	P(U32, ultra_max_words, "32", "1..32", OWN,
	  "tag and payload of a packet (9.5)"),
	P(U32, ultra_packet_queue, "4096", "32..65536", OWN,
	  "words of the packet queue (9.5)"),
	P(U32, ultra_port_slice, "64", "32..65536", OWN,
	  "words of it for one port at first (9.5)"),
	P(U32, ultra_req_latency, "13", "1..255", STATED,
	  "cycles: ULTRA requester (L4)"),
	P(U32, ultra_cpl_latency, "12", "1..255", CALIBRATED,
	  "cycles: ULTRA completer, header to store (11.5)"),
	P(U32, ultra_cpl_occupancy, "21", "1..255", STATED,
	  "cycles: ULTRA completer, per packet (L5)"),
	P(ENUM, ultra_full_policy, "wait", "wait|discard", OWN,
	  "packet without a free slice (9.6, 14.3)"),
	P(ENUM, nq_full_policy, "park", "park|drop", OWN,
	  "notification without room (4.9, 14.3)"),
	P(U32, rx_block_limit, "0", "0..", OWN,
	  "cycles a packet waits for room of its receiver; 0 = for ever (14.3)"),
	P(U32, dl_counter, "0", "0..", OWN,
	  "cycles the network takes nothing of a packet before the interrupt; "
	  "0 = no timer (2.3, 4.10)"),
	P(U32, rx_places, "256", "0..65536", OWN,
	  "packets that wait for room of their receivers outside of the units; "
	  "of one receiver as many as are left, others are refused; 0 = units "
	  "and network wait (4.6, 4.9)"),
	{ 0 }
};

static const struct weft_preset hp_presets[] = {
	{ "fpga", "f_core=100MHz", "prototype (4.4 of the thesis)" },
	{ "asic", "f_core=500MHz", "as planned" },
	{ "many", "ctx_cache=64", "65,536 processes: all contexts in memory" },
	{ 0 }
};

static const struct weft_counter hp_counters[HP_K_N] = {
#define X(id, name, unit, doc) [HP_K_##id] = { name, unit, doc },
	HP_COUNTERS(X)
#undef X
};

static const struct weft_port_decl hp_ports[] = {
	[HP_PORT_BUS] = { "bus", WEFT_PORT_BUS, .doc = "host interface" },
	[HP_PORT_NETS] = { "np%u", WEFT_PORT_LINK, .count = "3",
			   .wire = &ex_wire_internal, .optional = true,
			   .doc = "network ports: 0 requests, 1 replies, 2 "
				  "multicast and high availability" },
	{ 0 }
};
/* clang-format on */

/* ---- schedulers ---- */

static const struct hp_pipe *const pipes[HP_PARTS] = {
	[HP_REQ] = &hp_req_pipe,
	[HP_CPL] = &hp_cpl_pipe,
	[HP_RSP] = &hp_rsp_pipe,
};

/* Requests a slot of the scheduler in this cycle, or in the next cycle if the
 * scheduler already had a slot in this cycle. */
static void slot_wake(void *own, struct hp_sched *s)
{
	struct hp_nic *n = own;
	uint32_t part = (uint32_t)(s - n->sched);
	uint64_t c = hp_now(n);

	if (n->slot_next[part] > c)
		c = n->slot_next[part];
	weft_timer_arm(n->comp, &n->slot[part], HP_TAG_SLOT + part,
		       hp_edge(n, c));
}

static void slot_ready(void *own, struct hp_sched *s)
{
	struct hp_nic *n = own;

	if (s == &n->sched[HP_REQ])
		hp_fetch_go(n);
	else
		hp_rx_ready(n);
}

static uint64_t slot_now(void *own)
{
	return hp_now(own);
}

static void scheds_init(struct hp_nic *n)
{
	/* completers reserve the last unit and one slot of the queue for
	 * replies, so that replies never wait for requests */
	const uint32_t fus[HP_PARTS] = {
		n->param.n_req_fu,
		n->param.n_cpl_fu > 1 ? n->param.n_cpl_fu : 2, n->param.n_rsp_fu
	};

	for (uint32_t i = 0; i < HP_PARTS; i++) {
		struct hp_sched *s = &n->sched[i];

		s->pipe = pipes[i];
		s->own = n;
		s->comp = n->comp;
		s->n_fu = fus[i];
		s->width = n->param.issue_width;
		/* Responders have no wait queues (depth 0). A key without a
		 * unit is bound to the first unit that becomes free, so that
		 * atomics of VPIDs are served evenly even if units are fewer
		 * than VPIDs (SB12). */
		s->depth = i == HP_RSP ? 0 : n->param.waitq_depth;
		s->room = n->param.vci_queue < n->param.issue_width
				  ? n->param.issue_width
				  : n->param.vci_queue;
		if (i == HP_CPL && s->room < 2)
			s->room = 2;
		s->places = n->param.miss_places;
		s->wake = slot_wake;
		s->ready = slot_ready;
		s->now = slot_now;
		hp_sched_init(s);
	}
}

/* ---- operations ---- */

static int hp_init(struct weft_comp *c, struct weft_err *err)
{
	struct hp_nic *n = c->state;
	int ret;

	n->comp = c;
	n->bus = &c->ports[HP_PORT_BUS];
	n->place.node = n->param.node;
	/* the parameter is not set: takes the number from the component's name,
	 * 3 for n3.nic */
	if (n->param.node == 65535) {
		const char *digits = c->name + strcspn(c->name, ".0123456789");

		n->place.node = (uint32_t)strtoul(digits, NULL, 10);
	}
	n->param.f_core =
		weft_clock_offset_ppm(n->param.f_core, (int32_t)n->param.ppm);
	n->param.net_clock = weft_clock_offset_ppm(n->param.net_clock,
						   (int32_t)n->param.ppm);
	/* values of registers before a driver has been loaded */
	n->reg = (struct hp_registers){
		.hpid = n->place.node + 1,
		.ctrl = HP_CTRL_NPS_MAKE((1u << n->param.n_np) - 1) |
			(n->param.hash_order ? HP_CTRL_HASH : 0),
		.wq_size = 64,
		.nq_size = 128,
		.prq_size = 32,
		.wdt_size = 64,
		.sdr_size = 8192,
		.rdr_size = 8192,
	};
	n->csb.depth = n->param.csb_depth;
	n->csb.vpid_max = n->param.csb_vpid_max;
	if (!hp_csb_init(&n->csb))
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	hp_ctx_init(n);
	hp_lines_init(n);
	scheds_init(n);
	ret = hp_net_init(n, err);
	for (uint32_t i = 0; !ret && i < HP_BLOCKS; i++)
		if (hp_blocks[i] && hp_blocks[i]->init)
			ret = hp_blocks[i]->init(n, err);
	return ret;
}

static int hp_start(struct weft_comp *c, struct weft_err *err)
{
	struct hp_nic *n = c->state;
	int ret = 0;
	bool many;

	if (n->param.node != 65535)
		n->place.node = n->param.node;
	n->reg.hpid = n->place.node + 1;
	weft_bus_takes_tagged(n->bus);
	if (!weft_bus_window(n->bus, n->param.posted))
		return weft_fail(
			err, EINVAL,
			"%s: bus.pcix moves whole words only: the Host Port needs bus.pci or bus.ht",
			c->name);
	many = weft_bus_many(n->bus);
	n->dma[WEFT_BUS_READ].limit = many ? n->param.reads : 1;
	n->dma[WEFT_BUS_WRITE].limit = many ? n->param.posted : 1;
	for (uint32_t i = 0; !ret && i < HP_NPS; i++)
		ret = netport_start(&n->net.np[i], err);
	n->started = !ret;
	return ret;
}

static void hp_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct hp_nic *n = c->state;
	struct weft_bus_note note;

	if (port >= CELL_CHANNEL_NEWS)
		/* link events are for the crossbar beside this NIC */
		return;
	if (port != HP_PORT_BUS) {
		cell_channel_arrive(&n->net.np[port - HP_PORT_NETS].ep, f);
		return;
	}
	while (weft_bus_next(n->bus, &note)) {
		if (note.kind == WEFT_NOTE_STORE || note.kind == WEFT_NOTE_LOAD)
			hp_access(n, &note);
		else if (note.kind == WEFT_NOTE_TAGGED)
			hp_tagged_note(n, &note);
		else if (note.kind == WEFT_NOTE_DONE)
			hp_hif_done(n, (struct hp_dma *)note.txn);
	}
}

static void hp_event(struct weft_comp *c, uint32_t tag)
{
	struct hp_nic *n = c->state;

	if (tag < HP_TAG_LATER)
		netport_event(&n->net.np[tag - HP_TAG_NP]);
	else if (tag == HP_TAG_LATER)
		hp_later_event(n);
	else if (weft_timer_due(c, &n->slot[tag - HP_TAG_SLOT])) {
		n->slot_next[tag - HP_TAG_SLOT] = hp_now(n) + 1;
		hp_sched_slot(&n->sched[tag - HP_TAG_SLOT]);
	}
}

/* Samples the traffic of the network ports. */
static int hp_sample(struct weft_comp *c, struct weft_err *err)
{
	struct hp_nic *n = c->state;

	for (uint32_t i = 0; i < HP_NPS; i++)
		if (n->net.np[i].ep.peer)
			cell_channel_volume(&n->net.np[i].ep);
	return 0;
}

static int hp_finish(struct weft_comp *c, struct weft_err *err)
{
	struct hp_nic *n = c->state;
	const struct hp_sched *s = &n->sched[HP_REQ];
	uint64_t now = hp_now(n);
	double busy = 0, all = (double)s->n_fu * (double)now;
	int ret = hp_sample(c, err);

	if (n->vcis) {
		/* vci_at: mean time at which VCIs reached the device (10.2).
		 * scoreboard: entries of the requesters' scoreboard, one for
		 * each stage (SB2) */
		weft_metric(c, "vci_at", "ns", n->vci_at / (double)n->vcis);
		weft_metric(c, "scoreboard", "entries",
			    s->n_fu * s->pipe->stages);
		/* SB13: horizontal waste is the part of `width` issues per slot
		 * that was not used while jobs were queued. Vertical waste is
		 * the part of all cycles in which a requester had no job. */
		for (uint32_t i = 0; i < s->n_fu; i++) {
			const struct hp_fu *fu = &s->fu[i];

			busy += (double)(fu->busy +
					 (fu->n ? now - fu->busy_since : 0));
		}
		if (s->slots)
			weft_metric(c, "waste_horizontal", "%",
				    100 * (double)s->waste /
					    ((double)s->slots * s->width));
		if (all > 0)
			weft_metric(c, "waste_vertical", "%",
				    100 * (1 - busy / all));
	}
	for (uint32_t i = 0; !ret && i < HP_BLOCKS; i++)
		if (hp_blocks[i] && hp_blocks[i]->finish)
			ret = hp_blocks[i]->finish(n, err);
	if (weft_sim_idle(c->sim)) {
		/* drops packets that jobs have made and not sent */
		for (uint32_t i = 0; i < HP_PARTS; i++)
			for (struct hp_job *j = n->sched[i].all; j;
			     j = j->chain)
				if (pipes[i]->abandon)
					pipes[i]->abandon(n, j);
		hp_net_abandon(n);
	}
	return ret;
}

static void hp_fini(struct weft_comp *c)
{
	struct hp_nic *n = c->state;

	for (uint32_t i = 0; i < HP_BLOCKS; i++)
		if (hp_blocks[i] && hp_blocks[i]->fini)
			hp_blocks[i]->fini(n);
	for (uint32_t i = 0; i < HP_PARTS; i++)
		hp_sched_fini(&n->sched[i]);
	for (uint32_t i = 0; i < HP_NPS; i++)
		netport_fini(&n->net.np[i]);
	hp_pool_free(n->net.rx_all);
	hp_pool_free(n->net.tx_all);
	ring_free(&n->fetch.turn);
	ring_free(&n->fetch.first);
	free(n->fetch.share.weight);
	vec_free(&n->fetch.held);
	vec_free(&n->fetch.share.ahead);
	free(n->fetch.tagged);
	vec_free(&n->marks.wait);
	hp_lines_free(n->win);
	hp_lines_free(n->routes);
	assoc_fini(&n->ctx.dir);
	free(n->ctx.at);
	free(n->ctx.victim);
	hp_csb_fini(&n->csb);
	for (struct hp_dma *d = n->dma_all; d; d = d->chain)
		weft_slice_drop(&d->txn.data);
	hp_pool_free(n->dma_all);
	free(n->later.at);
	ring_free(&n->records.tlb_miss);
	ring_free(&n->records.irq_vpid);
	ring_free(&n->records.err_log);
	free(n->park.page);
	vec_free(&n->room.shares);
}

static const struct weft_network_parts hp_network_parts = {
	.net = "extoll.net",
	.switch_class = "extoll.xbar",
	.link = "extoll.cable",
	.gateway = "hostport.gateway",
};

WEFT_COMPONENT(
	hostport_nic, .name = "hostport.nic", .kind = WEFT_KIND_NIC,
	.capture_upper = 2,
	.doc = "virtualised Host Port: Triggerpages for 65,536 processes",
	.source = "hostport.md",
	.not_modelled = "barrier and multicast commands",
	.state_size = sizeof(struct hp_nic), .params = hp_params,
	.presets = hp_presets, .counters = hp_counters, .n_counters = HP_K_N,
	.ports = hp_ports, .regs = hp_regs,
	.ops = { .init = hp_init,
		 .start = hp_start,
		 .arrive = hp_arrive,
		 .event = hp_event,
		 .sample = hp_sample,
		 .finish = hp_finish,
		 .fini = hp_fini,
		 .place = ex_stand },
	.network_parts = &hp_network_parts);
