/* SPDX-License-Identifier: Apache-2.0 */
/* Link ends and construction of the bench of rig.h. */
#include "rig.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- far end of the link ---- */

enum { SINK_TAG = 1 };

static const struct weft_param tsink_params[] = {
	WEFT_PARAM(U32, struct tsink, links, "1", "", OWN, "bundle"),
	WEFT_PARAM(U32, struct tsink, lanes, "1", "", OWN, "credit flows"),
	WEFT_PARAM(U32, struct tsink, cap, "2046", "", OWN, "words per lane"),
	WEFT_PARAM(U32, struct tsink, min_payload, "0", "", OWN, "R-40"),
	WEFT_PARAM(U32, struct tsink, frame, "0", "", OWN, "layout"),
	WEFT_PARAM(U32, struct tsink, hold, "8", "", OWN, "cc until forward"),
	WEFT_PARAM(U32, struct tsink, tx_cap, "0", "", OWN, "believed B"),
	WEFT_PARAM(U32, struct tsink, refresh, "1024", "", OWN, "cc"),
	WEFT_PARAM(U32, struct tsink, delay0, "0", "", OWN, "cc"),
	WEFT_PARAM(U32, struct tsink, delay1, "0", "", OWN, "cc"),
	WEFT_PARAM(U32, struct tsink, delay2, "0", "", OWN, "cc"),
	WEFT_PARAM(U32, struct tsink, delay3, "0", "", OWN, "cc"),
	WEFT_PARAM(BOOL, struct tsink, stop, "false", "", OWN, "no credits"),
	{ 0 }
};
static const struct weft_port_decl tsink_ports[] = {
	{ "link%u", WEFT_PORT_LINK, .count = "links", .wire = &forth_wire,
	  .doc = "link" },
	{ 0 }
};

static void tsink_packet(void *own, struct forth_port *l, struct weft_frame *f,
			 const struct forth_port_rx *rx)
{
	struct tsink *s = own;
	uint64_t h = f->u[FORTH_U_HEADER];
	uint32_t lane = s->lanes == 1 ? 0 : forth_hdr_flow(h);
	uint32_t charge = forth_port_charge(l, forth_hdr_size(h));
	uint32_t at = s->n_log < RIG_LOG ? s->n_log++ : RIG_LOG - 1;
	struct tsink_pkt *p = &s->log[at];
	uint32_t bytes =
		f->payload.len < sizeof(p->q) ? f->payload.len : sizeof(p->q);

	*p = (struct tsink_pkt){ .cycle = rx->cycle,
				 .header = h,
				 .words = rx->words,
				 .len = f->payload.len };
	if (weft_slice_data(f->payload))
		memcpy(p->q, weft_slice_data(f->payload), bytes);
	if (s->stop)
		s->owed[lane] += charge;
	else
		forth_port_fwd(l, lane, charge,
			       weft_clock_edge(&l->clk, rx->cycle + s->hold));
	weft_frame_free(f);
}

static bool tsink_next(void *own, struct forth_port *l,
		       struct forth_port_pkt *p)
{
	struct tsink *s = own;
	const struct tsink_send *x = &s->send[s->head];

	if (s->head == s->tail || x->cycle > forth_port_now(l) ||
	    !forth_port_credit(l, forth_hdr_flow(x->header),
			       forth_hdr_size(x->header)))
		return false;
	s->head++;
	*p = (struct forth_port_pkt){ .header = x->header,
				      .payload = x->payload };
	return true;
}

static void tsink_sent(void *own, struct forth_port *l, uint64_t start,
		       uint64_t end, uint32_t shift)
{
	struct tsink *s = own;

	s->start[s->n_start++] = start;
}

static const struct forth_port_ops tsink_flink_ops = {
	.next = tsink_next,
	.sent = tsink_sent,
	.packet = tsink_packet,
};

static int tsink_init(struct weft_comp *c, struct weft_err *err)
{
	struct tsink *s = c->state;
	struct forth_port_cfg cfg = forth_port_cfg_default();

	s->comp = c;
	cfg.links = s->links;
	cfg.layout = s->frame;
	cfg.rx_lanes = s->lanes;
	cfg.rx_cap = s->cap;
	cfg.refresh_cc = s->refresh;
	cfg.tx_cap = s->tx_cap;
	cfg.min_payload = s->min_payload > 8 ? s->min_payload : 0;
	return forth_port_init(&s->link, c, c->ports, &cfg, &tsink_flink_ops, s,
			       SINK_TAG, err);
}

static int tsink_start(struct weft_comp *c, struct weft_err *err)
{
	struct tsink *s = c->state;

	return forth_port_start(&s->link, err);
}

static void tsink_arrive(struct weft_comp *c, uint32_t port,
			 struct weft_frame *f)
{
	struct tsink *s = c->state;

	forth_port_arrive(&s->link, port, f);
}

static void tsink_kick(struct tsink *s)
{
	weft_time_t t, now = weft_now(s->comp);

	if (s->head == s->tail)
		return;
	t = weft_clock_edge(&s->link.clk, s->send[s->head].cycle);
	forth_port_kick(&s->link, t > now ? t : now);
}

static void tsink_event(struct weft_comp *c, uint32_t tag)
{
	struct tsink *s = c->state;

	forth_port_event(&s->link);
	if (s->head != s->tail &&
	    s->send[s->head].cycle > forth_port_now(&s->link))
		tsink_kick(s);
}

/* Frees the packets that still wait for credits at the end of a run. */
static int tsink_finish(struct weft_comp *c, struct weft_err *err)
{
	struct tsink *s = c->state;

	for (; s->head != s->tail; s->head++)
		weft_slice_drop(&s->send[s->head].payload);
	return 0;
}

static void tsink_fini(struct weft_comp *c)
{
	struct tsink *s = c->state;

	forth_port_fini(&s->link);
}

WEFT_COMPONENT(test_sink, .name = "test.sink", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "scripted link end", .state_size = sizeof(struct tsink),
	       .params = tsink_params, .ports = tsink_ports,
	       .ops = { .init = tsink_init,
			.start = tsink_start,
			.arrive = tsink_arrive,
			.event = tsink_event,
			.finish = tsink_finish,
			.fini = tsink_fini });

void rig_send_on(struct rig *r, uint32_t link, uint64_t cycle, uint64_t header,
		 uint64_t first_qword)
{
	struct tsink *s = r->on[link];
	struct weft_slice p;

	assert(s->tail < RIG_SENDS);
	p = weft_slice_new(r->sim, forth_hdr_size(header) * 8);
	for (uint64_t i = 0; i < forth_hdr_size(header); i++) {
		uint64_t v = first_qword + i;

		if (weft_slice_data(p))
			memcpy(weft_slice_data(p) + 8 * i, &v, 8);
	}
	s->send[s->tail++] = (struct tsink_send){ cycle, header, p };
	tsink_kick(s);
}

void rig_send(struct rig *r, uint64_t cycle, uint64_t header,
	      uint64_t first_qword)
{
	rig_send_on(r, 0, cycle, header, first_qword);
}

void rig_release(struct rig *r)
{
	struct tsink *s = r->sink;

	s->stop = false;
	for (uint32_t i = 0; i < s->lanes; i++) {
		if (s->owed[i])
			forth_port_fwd(&s->link, i, (uint32_t)s->owed[i],
				       weft_sim_now(r->sim));
		s->owed[i] = 0;
	}
}

uint64_t rig_cc(const struct rig *r)
{
	const struct weft_clock *k = &r->sink->link.clk;
	weft_time_t now = weft_sim_now(r->sim);
	uint64_t cc = weft_clock_cycle(k, now);

	return weft_clock_edge(k, cc) > now ? cc - 1 : cc;
}

/* ---- construction ---- */

static void must(int ret, struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "rig: %s\n", err->msg);
	abort();
}

/* Applies the settings in `set` that start with `prefix`. Prefix "" selects the
 * settings without a dot. */
static void apply(struct weft_comp *c, const char *prefix, const char *set)
{
	struct weft_err err = { 0 };
	char buf[1024], *save = NULL, *w;

	snprintf(buf, sizeof(buf), "%s", set);
	for (w = strtok_r(buf, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '='), *dot = strchr(w, '.');
		size_t n = strlen(prefix);

		assert(eq);
		*eq = '\0';
		if (n ? strncmp(w, prefix, n) != 0 : dot && dot < eq)
			continue;
		must(weft_param_set(c, w + n, eq + 1, &err), &err);
	}
}

static void node_new(struct rig *r, const char *preset, const char *set)
{
	struct weft_err err = { 0 };
	struct rig_node *n = &r->n[r->nodes];
	char name[16];
	struct weft_comp *bus;

	snprintf(name, sizeof(name), "n%u.bus", r->nodes);
	bus = weft_sim_add(r->sim, &weft_class_test_bus, name, &err);
	snprintf(name, sizeof(name), "n%u.nic", r->nodes);
	n->nic = weft_sim_add(r->sim, &weft_class_forth_nic, name, &err);
	assert(bus && n->nic);
	n->bus = bus->state;
	must(weft_preset_apply(n->nic, preset, &err), &err);
	apply(n->nic, "", set);
	apply(bus, "bus.", set);
	must(weft_comp_init(bus, &err), &err);
	must(weft_comp_init(n->nic, &err), &err);
	must(weft_connect(&bus->ports[0], weft_port_find(n->nic, "bus"), NULL,
			  1, &err),
	     &err);
	r->nodes++;
}

/* Makes a forth.link if `set` has settings for one. */
static struct weft_comp *link_new(struct rig *r, uint32_t j, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[16];

	if (!strstr(set, "link."))
		return NULL;
	snprintf(name, sizeof(name), "cable%u", j);
	c = weft_sim_add(r->sim, &weft_class_forth_link, name, &err);
	assert(c);
	apply(c, "link.", set);
	must(weft_comp_init(c, &err), &err);
	return c;
}

static void cable(struct rig *r, struct weft_comp *a, struct weft_comp *b,
		  const char *set)
{
	struct weft_err err = { 0 };
	char name[16];

	for (uint32_t j = 0;; j++) {
		struct weft_port *p, *q;
		struct weft_comp *link;

		snprintf(name, sizeof(name), "link%u", j);
		p = weft_port_find(a, name);
		q = weft_port_find(b, name);
		if (!p || !q)
			break;
		link = link_new(r, j, set);
		must(weft_connect(p, q, link, link ? 0 : 24 * 12800000ull,
				  &err),
		     &err);
	}
}

static struct weft_comp *sink_new(struct rig *r, const char *name,
				  const char *links, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *s;
	char min[16];

	s = weft_sim_add(r->sim, &weft_class_test_sink, name, &err);
	assert(s);
	weft_param_get(r->n[0].nic, "min_payload", min, sizeof(min));
	must(weft_param_set(s, "links", links, &err), &err);
	must(weft_param_set(s, "min_payload", strtok(min, "B "), &err), &err);
	apply(s, "sink.", set);
	must(weft_comp_init(s, &err), &err);
	return s;
}

/* Makes a link end for each link, on cables of different length. */
static void sinks_new(struct rig *r, uint32_t links, const char *set)
{
	struct weft_err err = { 0 };
	char name[16];

	for (uint32_t k = 0; k < links; k++) {
		struct weft_comp *s;
		struct tsink *t;

		snprintf(name, sizeof(name), "sink%u", k);
		s = sink_new(r, name, "1", set);
		t = r->on[k] = s->state;
		const uint32_t delay[] = { t->delay0, t->delay1, t->delay2,
					   t->delay3 };

		snprintf(name, sizeof(name), "link%u", k);
		must(weft_connect(weft_port_find(r->n[0].nic, name),
				  &s->ports[0], NULL,
				  (24 + delay[k]) * 12800000ull, &err),
		     &err);
	}
}

void rig_single(struct rig *r, const char *preset, const char *set)
{
	struct weft_err err = { 0 };
	char links[16], bundle[16];

	memset(r, 0, sizeof(*r));
	r->sim = weft_sim_new(1);
	node_new(r, preset, set);
	weft_param_get(r->n[0].nic, "links", links, sizeof(links));
	weft_param_get(r->n[0].nic, "bundle", bundle, sizeof(bundle));
	if (!strcmp(bundle, "packet")) {
		sinks_new(r, (uint32_t)atoi(links), set);
	} else {
		struct weft_comp *s = sink_new(r, "sink", links, set);

		r->on[0] = s->state;
		cable(r, r->n[0].nic, s, set);
	}
	r->sink = r->on[0];
	must(weft_sim_start(r->sim, &err), &err);
}

static void pair_new(struct rig *r, const char *preset, const char *set)
{
	memset(r, 0, sizeof(*r));
	r->sim = weft_sim_new(1);
	node_new(r, preset, set);
	node_new(r, preset, set);
	cable(r, r->n[0].nic, r->n[1].nic, set);
}

void rig_pair(struct rig *r, const char *preset, const char *set)
{
	struct weft_err err = { 0 };

	pair_new(r, preset, set);
	must(weft_sim_start(r->sim, &err), &err);
}

void rig_pair_faulty(struct rig *r, const char *preset, const char *fault)
{
	struct weft_err err = { 0 };
	struct weft_comp *f;

	pair_new(r, preset, "links=1");
	f = weft_sim_add(r->sim, &weft_class_fault_bits, "fault", &err);
	assert(f);
	apply(f, "", fault);
	must(weft_comp_init(f, &err), &err);
	must(weft_filter_add(weft_port_find(r->n[0].nic, "link0"), f, &err),
	     &err);
	must(weft_sim_start(r->sim, &err), &err);
}

void rig_free(struct rig *r)
{
	struct weft_err err = { 0 };

	must(weft_sim_finish(r->sim, &err), &err);
	weft_sim_free(r->sim);
}

/* ---- accesses of a driver ---- */

void rig_w32(struct rig *r, uint32_t node, uint32_t off, uint32_t val)
{
	rig_store(r, node, 1 + FORTH_BAR_REGS, off, &val, 4);
}

uint32_t rig_r32(struct rig *r, uint32_t node, uint32_t off)
{
	return (uint32_t)rig_load(r, node, 1 + FORTH_BAR_REGS, off, 4);
}

void rig_cfg(struct rig *r, uint32_t node, uint32_t off, uint32_t size,
	     uint32_t val)
{
	rig_store(r, node, 0, off, &val, size);
}

uint32_t rig_cfg_get(struct rig *r, uint32_t node, uint32_t off, uint32_t size)
{
	return (uint32_t)rig_load(r, node, 0, off, size);
}

void rig_setup(struct rig *r, uint32_t node)
{
	rig_cfg(r, node, FORTH_CFG_COMMAND, 2,
		FORTH_CMD_MEMORY | FORTH_CMD_MASTER);
	rig_cfg(r, node, FORTH_CFG_LATENCY, 1, 0);
	rig_cfg(r, node, FORTH_CFG_PCIX_CMD, 2,
		3 << FORTH_PCIX_CMD_MMRBC_SHIFT);
	rig_w32(r, node, FORTH_CONTROL, FORTH_CTL_RESET);
	rig_w32(r, node, FORTH_CONTROL, FORTH_CTL_POINTER_RESET);
	rig_w32(r, node, FORTH_RNOTIFY_LO, RIG_RNOTIFY);
	rig_w32(r, node, FORTH_LNOTIFY_LO, RIG_LNOTIFY);
	rig_w32(r, node, FORTH_CONTROL, FORTH_CTL_ENABLE);
}

uint64_t rig_post(struct rig *r, uint32_t node, uint32_t queue, uint32_t slot,
		  uint64_t src, uint64_t q1)
{
	uint32_t build = rig_r32(r, node, FORTH_BUILD);
	uint32_t depth = FORTH_DESC_TOTAL >> (build >> 4 & 3);
	uint64_t d[2] = { src, q1 };

	rig_store(r, node, 1 + FORTH_BAR_REGS,
		  forth_desc_offset(queue, depth, slot), d, sizeof(d));
	return rig_pc(r);
}
