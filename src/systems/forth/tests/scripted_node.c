/* SPDX-License-Identifier: Apache-2.0 */
/* See scripted_node.h. */
#include "scripted_node.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void node_script(struct node *n, struct node_item *script, uint32_t count)
{
	uint32_t d;

	n->script = script;
	n->n_script = count;
	for (d = 0; d < n->n; d++)
		n->queue[d] = malloc((count + 1) * sizeof(uint32_t));
	n->log = malloc((64 * count + 4096) * sizeof(*n->log));
	assert(n->log);
}

static void write_down(struct node *n, uint64_t cycle, uint32_t where,
		       uint32_t src, uint32_t dst, uint32_t seq)
{
	n->log[n->n_log++] = (struct node_log){ cycle, where, src, dst, seq };
}

static void fill(struct node *n, uint64_t now)
{
	for (; n->at < n->n_script && n->script[n->at].ready <= now; n->at++) {
		uint32_t d = n->script[n->at].dst;

		n->queue[d][n->tail[d]++] = n->at;
		n->queued++;
	}
}

static void rearm(struct node *n)
{
	if (n->at < n->n_script)
		forth_port_kick(
			&n->link,
			weft_clock_edge(&n->link.clk, n->script[n->at].ready));
}

static bool node_next(void *own, struct forth_port *l, struct forth_port_pkt *p)
{
	struct weft_comp *c = own;
	struct node *n = c->state;
	uint32_t i;

	fill(n, forth_port_now(l));
	rearm(n);
	for (i = 0; i < n->n; i++) {
		uint32_t d = (n->rr + i) % n->n;
		const struct node_item *it;

		if (n->head[d] == n->tail[d])
			continue;
		it = &n->script[n->queue[d][n->head[d]]];
		if (!forth_port_credit(l, forth_way(it->path, d), it->qwords))
			continue;
		n->head[d]++;
		n->queued--;
		n->rr = d + 1;
		p->header = forth_header_path(
			forth_header(d, 0, it->qwords, n->me << 24 | it->seq),
			it->path);
		p->payload = weft_slice_new(c->sim, it->qwords * 8);
		if (p->payload.buf)
			for (uint32_t k = 0; k < it->qwords * 8; k++)
				weft_slice_data(p->payload)[k] =
					(uint8_t)(k + it->seq * 7 + d);
		p->last = !n->queued;
		write_down(n, forth_port_now(l), n->me, n->me, d, it->seq);
		return true;
	}
	return false;
}

static void node_packet(void *own, struct forth_port *l, struct weft_frame *f,
			const struct forth_port_rx *rx)
{
	struct node *n = ((struct weft_comp *)own)->state;
	uint64_t h = f->u[FORTH_U_HEADER];
	uint32_t step = n->links == 1 ? 2 : 1;
	uint32_t data = forth_hdr_size(h) * step;
	uint32_t quarters = n->links == 1 ? 3 : 1;
	uint32_t charge = forth_charge(n->links, forth_shape_get(f).wire_len);
	uint64_t back = (l->delay + l->clk.num - 1) / l->clk.num, at;
	weft_time_t t;

	write_down(n, rx->cycle - back, 100 + n->me, forth_hdr_addr(h) >> 24,
		   forth_hdr_flow(h), forth_hdr_addr(h) & 0xFFFFFF);
	n->bad += rx->bad != 0;
	n->received++;
	n->last_rx = *rx;
	n->last_header = h;
	n->last_len = f->payload.len;
	if (f->payload.buf)
		memcpy(n->last_data, weft_slice_data(f->payload), n->last_len);
	t = weft_clock_edge(&l->clk, rx->cycle + n->l2d +
					     (rx->words * quarters + 3) / 4);
	if (t < weft_clock_edge(&l->clk, n->hold))
		t = weft_clock_edge(&l->clk, n->hold);
	at = weft_clock_cycle(&n->bus, t);
	at = (at > n->bus_free ? at : n->bus_free) + n->t_bus;
	n->bus_free = at + forth_hdr_size(h);
	if (n->links == 4) {
		forth_port_fwd(l, 0, charge,
			       weft_clock_edge(&n->bus, n->bus_free));
	} else {
		forth_port_fwd(l, 0, step, weft_clock_edge(&n->bus, at));
		forth_port_fwd_ramp(l, 0, data, step, &n->bus, at);
		forth_port_fwd(l, 0, charge - step - data,
			       weft_clock_edge(&n->bus, n->bus_free));
	}
	weft_frame_free(f);
}

static void node_bad_header(void *own, struct forth_port *l, uint64_t cycle)
{
	((struct node *)((struct weft_comp *)own)->state)->errors++;
}

static const struct forth_port_ops node_ops = { .next = node_next,
						.packet = node_packet,
						.bad_header = node_bad_header };

static int node_init(struct weft_comp *c, struct weft_err *err)
{
	struct node *n = c->state;
	struct forth_port_cfg cfg = forth_port_cfg_default();

	cfg.links = n->links;
	cfg.layout = n->frame;
	cfg.min_payload = n->min_payload > 8 ? n->min_payload : 0;
	cfg.refresh_cc = n->refresh;
	cfg.t_crtx = n->crtx;
	cfg.t_crrx = n->crrx;
	cfg.credit_words = n->credit_words;
	cfg.rx_cap = n->rx_words;
	cfg.rx_lanes = n->lanes;
	cfg.resync_cc = n->resync;
	weft_clock_from_period(&n->bus, n->bus_fs);
	return forth_port_init(&n->link, c, c->ports, &cfg, &node_ops, c, 0,
			       err);
}

static int node_start(struct weft_comp *c, struct weft_err *err)
{
	struct node *n = c->state;

	if (forth_port_start(&n->link, err))
		return -err->code;
	rearm(n);
	return 0;
}

static void node_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	struct node *n = c->state;

	forth_port_arrive(&n->link, port < n->links ? port : 0, f);
}

static void node_event(struct weft_comp *c, uint32_t tag)
{
	forth_port_event(&((struct node *)c->state)->link);
}

static void node_fini(struct weft_comp *c)
{
	struct node *n = c->state;
	uint32_t d;

	for (d = 0; d < 16; d++)
		free(n->queue[d]);
	free(n->script);
	free(n->log);
	forth_port_fini(&n->link);
}

#define P(field, def) WEFT_PARAM(U32, struct node, field, def, "", OWN, "")
static const struct weft_param params[] = {
	P(me, "0"),
	P(n, "2"),
	P(links, "1"),
	P(min_payload, "0"),
	P(refresh, "1024"),
	P(crtx, "3"),
	P(crrx, "2"),
	P(credit_words, "0"),
	P(rx_words, "2046"),
	P(l2d, "5"),
	P(t_bus, "10"),
	P(resync, "0"),
	P(lanes, "1"),
	WEFT_PARAM(ENUM, struct node, frame, "word", "word|packed", OWN, ""),
	WEFT_PARAM(U64, struct node, bus_fs, "10000000", "", OWN, ""),
	WEFT_PARAM(U64, struct node, hold, "0", "", OWN, ""),
	{ 0 }
};

static const struct weft_port_decl ports[] = {
	{ "link%u", WEFT_PORT_LINK, .count = "links", .wire = &forth_wire,
	  .doc = "bundle" },
	{ 0 }
};

const struct weft_class test_node_class = {
	.api_version = WEFT_API_VERSION,
	.struct_size = sizeof(struct weft_class),
	.name = "test.node",
	.kind = WEFT_KIND_TRAFFIC,
	.doc = "scripted node",
	.state_size = sizeof(struct node),
	.params = params,
	.ports = ports,
	.ops = { .init = node_init,
		 .start = node_start,
		 .arrive = node_arrive,
		 .event = node_event,
		 .fini = node_fini },
};
