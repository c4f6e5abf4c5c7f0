/* SPDX-License-Identifier: Apache-2.0 */
/* Bench of velo_rig.h. */
#include "velo_rig.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct weft_class weft_class_extoll_nic, weft_class_extoll_xbar;

enum { EV_WRITTEN, EV_READ, EV_SLOW };

/* ---- bus ---- */

static const struct weft_param xbus_params[] = {
	WEFT_PARAM(CLOCK, struct xbus, clock, "200MHz", "", OWN, "HT core"),
	WEFT_PARAM(TIME, struct xbus, t_write, "50ns", "", OWN, "write"),
	WEFT_PARAM(TIME, struct xbus, t_read, "200ns", "", OWN, "read"),
	WEFT_PARAM(BOOL, struct xbus, refuse, "false", "", OWN, "aborts"),
	{ 0 }
};
static const struct weft_port_decl xbus_ports[] = {
	{ "dev", WEFT_PORT_BUS, .doc = "device" }, { 0 }
};

static bool in_mem(weft_phys_t a, uint32_t bytes)
{
	return a >= XR_MEM && a - XR_MEM <= XR_MEM_BYTES - bytes;
}

static void mem_read(const struct xbus *b, struct weft_bus_txn *t)
{
	if (in_mem(t->addr, t->bytes))
		memcpy(weft_slice_data(t->data), b->mem + (t->addr - XR_MEM),
		       t->bytes);
}

static bool is_slow(const struct xbus *b, weft_phys_t a)
{
	return (b->slow && a == b->slow) ||
	       (b->slow_each && a / 64 % b->slow_each == 0);
}

static void xbus_submit(struct weft_port *p, struct weft_bus_txn *t)
{
	struct xbus *b = p->peer->comp->state;
	weft_time_t now = weft_now(b->comp);
	struct xbus_op *l = &b->log[b->n_log % XR_LOG];

	assert(weft_clock_align(&b->clock, now) == now);
	assert(t->bytes && t->addr % 64 + t->bytes <= 64);
	*l = (struct xbus_op){
		.op = t->op, .time = now, .addr = t->addr, .bytes = t->bytes
	};
	if (t->op == WEFT_BUS_WRITE) {
		if (t->bytes >= 8) {
			memcpy(&l->first, weft_slice_data(t->data), 8);
			memcpy(&l->word,
			       weft_slice_data(t->data) + t->bytes - 8, 8);
		}
		b->write[b->w_tail++ % XR_LOG] = t;
		weft_wake(b->comp, EV_WRITTEN, now + b->t_write - 1);
	} else {
		if (b->early)
			mem_read(b, t);
		if (is_slow(b, t->addr)) {
			b->late[b->l_tail++ % XR_LOG] = t;
			weft_wake(b->comp, EV_SLOW, now + b->t_slow - 1);
		} else {
			b->read[b->r_tail++ % XR_LOG] = t;
			weft_wake(b->comp, EV_READ, now + b->t_read - 1);
		}
	}
	b->n_log++;
}

static struct weft_bus_txn *ended(struct xbus *b, uint32_t tag)
{
	if (tag == EV_SLOW)
		return b->late[b->l_head++ % XR_LOG];
	return tag == EV_WRITTEN ? b->write[b->w_head++ % XR_LOG]
				 : b->read[b->r_head++ % XR_LOG];
}

static void xbus_event(struct weft_comp *c, uint32_t tag)
{
	struct xbus *b = c->state;
	struct weft_bus_txn *t = ended(b, tag);
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .time = weft_now(c) + 1,
				      .txn = t };

	t->status = WEFT_BUS_OK;
	if (b->refuse || !in_mem(t->addr, t->bytes))
		t->status = WEFT_BUS_MASTER_ABORT;
	else if (tag == EV_WRITTEN)
		memcpy(b->mem + (t->addr - XR_MEM), weft_slice_data(t->data),
		       t->bytes);
	else if (!b->early)
		mem_read(b, t);
	weft_bus_tell(b->dev, &note);
}

static void xbus_reply(struct weft_port *p, const void *data, uint32_t bytes)
{
	struct xbus *b = p->peer->comp->state;

	b->reply = 0;
	memcpy(&b->reply, data, bytes);
	b->replied = true;
}

static void xbus_irq(struct weft_port *p, bool level)
{
	struct xbus *b = p->peer->comp->state;

	b->irq_edges += level && !b->irq;
	b->irq = level;
}

static void store_tell(struct xbus *b, struct weft_bus_note *note)
{
	weft_time_t t = weft_clock_align(&b->clock, weft_now(b->comp) + 1);

	if (note->time < t)
		note->time = t;
	b->places--;
	weft_bus_tell(b->dev, note);
}

static bool xbus_window(struct weft_port *p, uint32_t stores)
{
	((struct xbus *)p->peer->comp->state)->places = stores;
	return true;
}

static bool xbus_consumed(struct weft_port *p, uint32_t stores)
{
	struct xbus *b = p->peer->comp->state;

	for (b->places += stores; b->places && b->wait;) {
		struct xbus_store *s = b->wait;

		b->wait = s->next;
		if (!b->wait)
			b->wait_end = &b->wait;
		b->held--;
		store_tell(b, &s->note);
		free(s);
	}
	return true;
}

static const struct weft_clock *xbus_clock(struct weft_port *p)
{
	return &((struct xbus *)p->peer->comp->state)->clock;
}

static bool xbus_many(struct weft_port *p)
{
	return true;
}

static bool xbus_defer(struct weft_port *p)
{
	return true;
}

static const struct weft_bus_ops xbus_ops = {
	.submit = xbus_submit,
	.reply = xbus_reply,
	.irq = xbus_irq,
	.clock = xbus_clock,
	.window = xbus_window,
	.consumed = xbus_consumed,
	.many = xbus_many,
	.defer = xbus_defer,
};

/* Devices call the bus, so nothing arrives here. */
static void no_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
}

static int xbus_init(struct weft_comp *c, struct weft_err *err)
{
	struct xbus *b = c->state;

	b->comp = c;
	b->dev = &c->ports[0];
	b->dev->iface = &xbus_ops;
	b->mem = calloc(1, XR_MEM_BYTES);
	b->places = UINT32_MAX;
	b->wait_end = &b->wait;
	return b->mem ? 0 : -ENOMEM;
}

static void xbus_fini(struct weft_comp *c)
{
	struct xbus *b = c->state;
	struct xbus_store *s;

	while ((s = b->wait)) {
		b->wait = s->next;
		free(s);
	}
	free(b->mem);
}

static WEFT_COMPONENT(test_xbus, .name = "test.xbus", .kind = WEFT_KIND_BUS,
		      .doc = "scripted packet bus",
		      .state_size = sizeof(struct xbus), .params = xbus_params,
		      .ports = xbus_ports,
		      .ops = { .init = xbus_init,
			       .arrive = no_arrive,
			       .event = xbus_event,
			       .fini = xbus_fini });

/* ---- peer ---- */

static const struct weft_param xnet_params[] = {
	WEFT_PARAM(CLOCK, struct xnet, clock, "156MHz", "", OWN, "core"),
	WEFT_PARAM(ENUM, struct xnet, width, "w32", "w16|w32", OWN, "path"),
	WEFT_PARAM(BOOL, struct xnet, stop, "false", "", OWN, "no credits"),
	{ 0 }
};
static const struct weft_port_decl xnet_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "3", &ex_wire_internal, .optional = true,
	  .doc = "network ports" },
	{ 0 }
};

static void xnet_cell(void *own, struct netport *np,
		      const struct netport_cell *c)
{
	struct xnet *x = own;
	struct xnet_pkt *l = &x->log[x->n_log % XR_LOG];

	if (x->stop) {
		assert(x->n_owed < sizeof(x->owed) / sizeof(x->owed[0]));
		x->owed[x->n_owed].np = np;
		x->owed[x->n_owed++].slot = c->slot;
	} else {
		netport_release(np, c->slot, cell_channel_now(&np->ep));
	}
	if (!c->eop)
		return;
	*l = (struct xnet_pkt){ .cycle = cell_channel_now(&np->ep),
				.np = (uint32_t)(np - x->np),
				.meta = *ex_meta(c->pkt),
				.len = c->pkt->payload.len,
				.pd = c->pkt->flags >> 16 };
	memcpy(l->u, c->pkt->u, sizeof(l->u));
	if (l->len)
		memcpy(l->data, weft_slice_data(c->pkt->payload),
		       l->len < sizeof(l->data) ? l->len : sizeof(l->data));
	x->n_log++;
	weft_frame_free(c->pkt);
}

static const struct netport_ops xnet_np = { .cell = xnet_cell };

static int xnet_init(struct weft_comp *c, struct weft_err *err)
{
	struct xnet *x = c->state;
	struct cell_channel_cfg cfg =
		cell_channel_cfg_internal(x->width, &x->clock);
	int ret = 0;

	x->comp = c;
	x->log = calloc(XR_LOG, sizeof(*x->log));
	for (uint32_t i = 0; !ret && i < XR_NPS; i++)
		ret = netport_init(&x->np[i], c, &c->ports[i], &cfg, 1u << 20,
				   &xnet_np, x, i, err);
	return ret;
}

static int xnet_start(struct weft_comp *c, struct weft_err *err)
{
	struct xnet *x = c->state;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < XR_NPS; i++)
		ret = netport_start(&x->np[i], err);
	return ret;
}

static void xnet_event(struct weft_comp *c, uint32_t tag)
{
	netport_event(&((struct xnet *)c->state)->np[tag]);
}

/* Frees the unsent cells of a packet for which the NIC has no room, because the
 * peer still owns them. */
static int xnet_finish(struct weft_comp *c, struct weft_err *err)
{
	struct xnet *x = c->state;

	for (uint32_t i = 0; weft_sim_idle(c->sim) && i < XR_NPS; i++)
		netport_abandon(&x->np[i]);
	return 0;
}

static void xnet_fini(struct weft_comp *c)
{
	struct xnet *x = c->state;

	for (uint32_t i = 0; i < XR_NPS; i++)
		netport_fini(&x->np[i]);
	free(x->log);
}

static WEFT_COMPONENT(test_xnet, .name = "test.xnet", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "scripted network ports",
		      .state_size = sizeof(struct xnet), .params = xnet_params,
		      .ports = xnet_ports,
		      .ops = { .init = xnet_init,
			       .start = xnet_start,
			       .arrive = no_arrive,
			       .event = xnet_event,
			       .finish = xnet_finish,
			       .fini = xnet_fini });

/* ---- building ---- */

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fprintf(stderr, "bench: %s\n", err->msg);
	assert(!ret);
}

/* Sets "name=value ..." for the parameters that the class has. */
static void set_all(struct weft_comp *c, const char *set)
{
	char text[256], *save = NULL;

	snprintf(text, sizeof(text), "%s", set);
	for (char *s = strtok_r(text, " ", &save); s;
	     s = strtok_r(NULL, " ", &save)) {
		struct weft_err err = { 0 };
		char *eq = strchr(s, '=');

		*eq = 0;
		if (weft_param_set(c, s, eq + 1, &err) &&
		    c->cls == &weft_class_extoll_nic)
			must(-EINVAL, &err);
	}
}

static struct weft_comp *add(struct xr *r, const struct weft_class *cls,
			     const char *name, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(r->sim, cls, name, &err);

	must(!c, &err);
	set_all(c, set);
	must(weft_comp_init(c, &err), &err);
	return c;
}

static void join(struct weft_comp *a, const char *pa, struct weft_comp *b,
		 const char *pb, weft_time_t delay)
{
	struct weft_err err = { 0 };

	must(weft_connect(weft_port_find(a, pa), weft_port_find(b, pb), NULL,
			  delay, &err),
	     &err);
}

static void add_node(struct xr *r, uint32_t i, const char *set)
{
	char name[16];

	snprintf(name, sizeof(name), "n%u.nic", i);
	r->nic[i] = add(r, &weft_class_extoll_nic, name, set);
	snprintf(name, sizeof(name), "n%u.bus", i);
	r->bus[i] = add(r, &weft_class_test_xbus, name, "")->state;
	join(r->nic[i], "bus", r->bus[i]->comp, "dev", WEFT_NS);
}

static void add_nps(struct weft_comp *nic, struct weft_comp *to)
{
	const char *np[] = { "np0", "np1", "np2" };

	for (uint32_t i = 0; i < XR_NPS; i++)
		join(nic, np[i], to, np[i], 1);
}

static void begin(struct xr *r)
{
	struct weft_err err = { 0 };

	memset(r, 0, sizeof(*r));
	r->sim = weft_sim_new(1);
	must(!weft_clock_from_hz(&r->core, 156000000, 1), &err);
}

static void start(struct xr *r)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(r->sim, &err), &err);
}

/* Places a node in a row of two, in which distances are at most one hop. */
static void place(struct xr *r, struct weft_comp *c, uint32_t node)
{
	ex_place(c)->topo = &r->topo;
	ex_place(c)->node = node;
}

static void net_topo(struct xr *r)
{
	const uint32_t size[] = { 2 };
	struct weft_err err = { 0 };

	must(topo_grid(&r->topo, EX_TOPO_PORTS, size, 1, false, false, &err),
	     &err);
	r->topo.path = true;
}

void xr_single(struct xr *r, const char *set)
{
	begin(r);
	net_topo(r);
	add_node(r, 0, set);
	r->net = add(r, &weft_class_test_xnet, "net", set)->state;
	add_nps(r->nic[0], r->net->comp);
	place(r, r->nic[0], 0);
	start(r);
}

void xr_pair(struct xr *r, const char *set)
{
	begin(r);
	net_topo(r);
	for (uint32_t i = 0; i < 2; i++) {
		char name[16];

		add_node(r, i, set);
		snprintf(name, sizeof(name), "s%u", i);
		r->sw[i] = add(r, &weft_class_extoll_xbar, name, set);
		add_nps(r->nic[i], r->sw[i]);
		place(r, r->nic[i], i);
		place(r, r->sw[i], i);
	}
	join(r->sw[0], "lp0", r->sw[1], "lp1", 10 * WEFT_NS);
	start(r);
}

void xr_free(struct xr *r)
{
	struct weft_err err = { 0 };

	must(weft_sim_finish(r->sim, &err), &err);
	weft_sim_free(r->sim);
	topo_fini(&r->topo);
}

/* ---- driving ---- */

uint64_t xr_cycle(const struct xr *r)
{
	return weft_clock_cycle(&r->core, weft_sim_now(r->sim));
}

void xr_run(struct xr *r, uint64_t cycles)
{
	weft_sim_run(r->sim, weft_clock_edge(&r->core, xr_cycle(r) + cycles));
}

void xr_settle(struct xr *r)
{
	weft_sim_step(r->sim, WEFT_NEVER);
}

static weft_time_t host_edge(const struct xbus *b)
{
	return weft_clock_align(&b->clock, weft_now(b->comp) + 1);
}

static weft_time_t host_store(struct xbus *b, uint8_t space, uint64_t off,
			      const void *data, uint32_t bytes)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_STORE,
				      .time = host_edge(b),
				      .space = space,
				      .off = off,
				      .bytes = bytes };
	struct xbus_store *s;

	memcpy(note.data, data, bytes);
	if (b->places && !b->wait) {
		store_tell(b, &note);
		return note.time;
	}
	s = calloc(1, sizeof(*s));
	assert(s);
	s->note = note;
	*b->wait_end = s;
	b->wait_end = &s->next;
	b->held++;
	return note.time;
}

weft_time_t xr_store(struct xr *r, uint32_t node, uint64_t off,
		     const void *data, uint32_t bytes)
{
	return host_store(r->bus[node], 1 + EXTOLL_BAR, off, data, bytes);
}

static void host_wait(struct xr *r, struct xbus *b)
{
	weft_sim_run(r->sim, host_edge(b));
}

void xr_w64(struct xr *r, uint32_t node, uint64_t off, uint64_t val)
{
	struct xbus *b = r->bus[node];
	uint32_t places = b->places;

	xr_store(r, node, off, &val, 8);
	for (uint32_t i = 0; i < 100 && b->places != places; i++)
		host_wait(r, b);
}

uint64_t xr_r64(struct xr *r, uint32_t node, uint64_t off)
{
	struct xbus *b = r->bus[node];
	struct weft_bus_note note = { .kind = WEFT_NOTE_LOAD,
				      .time = host_edge(b),
				      .space = 1 + EXTOLL_BAR,
				      .off = off,
				      .bytes = 8 };

	b->replied = false;
	weft_bus_tell(b->dev, &note);
	for (uint32_t i = 0; i < 100 && !b->replied; i++)
		host_wait(r, b);
	return b->replied ? b->reply : UINT64_MAX;
}

uint64_t xr_mem64(const struct xr *r, uint32_t node, weft_phys_t phys)
{
	uint64_t v;

	memcpy(&v, r->bus[node]->mem + (phys - XR_MEM), 8);
	return v;
}

void xr_mem_set64(struct xr *r, uint32_t node, weft_phys_t phys, uint64_t val)
{
	memcpy(r->bus[node]->mem + (phys - XR_MEM), &val, 8);
}

static void interval(struct xr *r, uint32_t node, uint32_t i, uint64_t lower,
		     uint64_t bytes, uint64_t port)
{
	uint64_t at = EXTOLL_RF + i * EXTOLL_INTERVAL_STRIDE;

	xr_w64(r, node, at + EXTOLL_INTERVAL_LOWER, lower);
	xr_w64(r, node, at + EXTOLL_INTERVAL_UPPER, lower + bytes - 1);
	xr_w64(r, node, at + EXTOLL_INTERVAL_TARGET,
	       port | EXTOLL_INTERVAL_ENABLE);
}

void xr_setup(struct xr *r, uint32_t node)
{
	uint16_t cmd = EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER;

	host_store(r->bus[node], 0, EXTOLL_CFG_COMMAND, &cmd, 2);
	host_wait(r, r->bus[node]);
	interval(r, node, 1, EXTOLL_VELO, EXTOLL_VELO_BYTES, EXTOLL_HX_VELO);
	interval(r, node, 2, EXTOLL_RMA, EXTOLL_RMA_BYTES, EXTOLL_HX_RMA_REQ);
	xr_w64(r, node, EXTOLL_EVQ_BASE, XR_EVQ);
	xr_w64(r, node, EXTOLL_EVQ_SIZE, 64);
	xr_w64(r, node, EXTOLL_EVQ_RP, EXTOLL_RP_ARM);
}

uint64_t xr_evt(const struct xr *r, uint32_t node, uint32_t i)
{
	return xr_mem64(r, node, XR_EVQ + 8 * i);
}

void xr_send(struct xr *r, uint32_t np, struct weft_frame *f, uint64_t cycle)
{
	netport_send(&r->net->np[np], f, cycle, UINT32_MAX);
}

void xr_release(struct xr *r)
{
	struct xnet *x = r->net;

	x->stop = false;
	while (x->n_owed) {
		struct netport *np = x->owed[--x->n_owed].np;

		netport_release(np, x->owed[x->n_owed].slot,
				cell_channel_now(&np->ep));
	}
}
