/* SPDX-License-Identifier: Apache-2.0 */
/* Components for the tests of the front end, given with --load: a talker, a
 * hub, a NIC without behaviour, a program that measures the values of its
 * parameters. */
#include "host/prog.h"
#include "weft/sim.h"

static const struct weft_wire test_wire = { .name = "test" };

/* ---- talker: sends packets to other nodes and measures their latency ---- */

struct talker {
	uint32_t node, nodes, packets, words;
	weft_time_t period;
	uint32_t sent;
};

static const struct weft_param talker_params[] = {
	WEFT_PARAM(U32, struct talker, node, "0", "", OWN, "own number"),
	WEFT_PARAM(U32, struct talker, nodes, "1", "1..", OWN, "how many"),
	WEFT_PARAM(U32, struct talker, packets, "100", "0..1000000", OWN,
		   "packets to send"),
	WEFT_PARAM(U32, struct talker, words, "8", "1..1024", OWN,
		   "words per packet"),
	WEFT_PARAM(TIME, struct talker, period, "100ns", "1ns..", OWN,
		   "between packets"),
	{ 0 }
};
static const struct weft_preset talker_presets[] = {
	{ "fast", "period=50ns words=4", "twice as often" }, { 0 }
};
enum { T_SENT, T_TAKEN, T_N };
static const struct weft_counter talker_counters[T_N] = {
	[T_SENT] = { "sent", "packets", "packets sent" },
	[T_TAKEN] = { "taken", "packets", "packets received" },
};
static const struct weft_port_decl talker_ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &test_wire, .doc = "to the hub" },
	{ 0 }
};

static int talker_start(struct weft_comp *c, struct weft_err *err)
{
	struct talker *t = c->state;

	/* frames may overlap, because any period is allowed */
	c->ports[0].beside = true;
	if (t->packets)
		weft_wake(c, 0, t->period);
	return 0;
}

static void talker_event(struct weft_comp *c, uint32_t tag)
{
	struct talker *t = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);

	f->words = t->words;
	f->word_fs = 10 * WEFT_NS;
	f->u[0] = (t->node + 1 + t->sent % (t->nodes > 1 ? t->nodes - 1 : 1)) %
		  t->nodes;
	f->u[1] = weft_now(c);
	weft_port_send(&c->ports[0], f, weft_now(c));
	weft_count(c, T_SENT, 1);
	if (++t->sent < t->packets)
		weft_wake(c, 0,
			  weft_now(c) + t->period +
				  weft_rng_below(&c->rng, t->period));
}

static void talker_arrive(struct weft_comp *c, uint32_t port,
			  struct weft_frame *f)
{
	double ns = (double)(weft_now(c) - f->u[1]) * 1e-6;

	weft_count(c, T_TAKEN, 1);
	weft_hist_add(c, "latency", "ns", ns);
	weft_series_add(c, "arrivals", "us", "ns", (double)weft_now(c) * 1e-9,
			ns);
	weft_metric(c, "last_latency", "ns", ns);
	weft_frame_free(f);
}

static WEFT_COMPONENT(talker, .name = "test.talker", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "sends packets to the others in turn",
		      .source = "tests", .not_modelled = "everything else",
		      .state_size = sizeof(struct talker),
		      .params = talker_params, .presets = talker_presets,
		      .counters = talker_counters, .n_counters = T_N,
		      .ports = talker_ports,
		      .ops = { .start = talker_start,
			       .event = talker_event,
			       .arrive = talker_arrive });

/* ---- hub: forwards a frame to port u[0], `delay` later ---- */

struct hub {
	uint32_t ports;
	weft_time_t delay;
};

static const struct weft_param hub_params[] = {
	WEFT_PARAM(U32, struct hub, ports, "8", "2..64", OWN, "ports"),
	WEFT_PARAM(TIME, struct hub, delay, "10ns", "", OWN, "through it"),
	{ 0 }
};
static const struct weft_port_decl hub_ports[] = {
	{ "port%u", WEFT_PORT_LINK, "ports", &test_wire, true, "a link" }, { 0 }
};

/* Lets frames overlap at each port, because several ports may forward to one
 * port. */
static int hub_init(struct weft_comp *c, struct weft_err *err)
{
	for (uint32_t i = 0; i < c->n_ports; i++)
		c->ports[i].beside = true;
	return 0;
}

static void hub_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct hub *h = c->state;

	if (f->u[0] < c->n_ports && c->ports[f->u[0]].peer)
		weft_port_send(&c->ports[f->u[0]], f, weft_now(c) + h->delay);
	else
		weft_frame_free(f);
}

static WEFT_COMPONENT(hub, .name = "test.hub", .kind = WEFT_KIND_SWITCH,
		      .doc = "forwards packets by number",
		      .state_size = sizeof(struct hub), .params = hub_params,
		      .ports = hub_ports,
		      .ops = { .init = hub_init, .arrive = hub_arrive });

/* ---- nic ---- */

struct nic {
	uint32_t links;
};

static const struct weft_param nic_params[] = {
	WEFT_PARAM(U32, struct nic, links, "1", "1..8", OWN, "links"), { 0 }
};
static const struct weft_port_decl nic_ports[] = {
	{ "bus", WEFT_PORT_BUS, .optional = true, .doc = "host" },
	{ "link%u", WEFT_PORT_LINK, "links", &test_wire, false, "a link" },
	{ 0 }
};

static void nic_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
}

/* clang-format off */
static const struct weft_reg nic_regs[] = {
	{ .name = "vendor", .space = 0, .width = 2, .offset = 0,
	  .access = WEFT_RO, .reset = 0x1234, .doc = "vendor" },
	{ .name = "control", .space = 1, .width = 4, .offset = 0x10,
	  .access = WEFT_RW, .rw = 0xff, .reset = 3, .doc = "control" },
	{ .name = "status", .space = 1, .width = 1, .offset = 0x14,
	  .access = WEFT_W1C, .w1c = 0xf, .doc = "a|b" },
	{ .name = "slot", .space = 2, .width = 8, .offset = 0x10000,
	  .count = 4, .stride = 0x20, .access = WEFT_HW, .reset = 0xabc },
	{ .name = "mode", .space = 2, .width = 4, .offset = 8, .count = 1,
	  .access = WEFT_MIXED, .rw = 1 },
	{ 0 }
};
/* clang-format on */

static WEFT_COMPONENT(nic, .name = "test.nic", .kind = WEFT_KIND_NIC,
		      .doc = "ports only", .state_size = sizeof(struct nic),
		      .params = nic_params, .ports = nic_ports,
		      .regs = nic_regs, .ops = { .arrive = nic_arrive });

/* ---- program ---- */

struct prog {
	uint32_t node, size, rounds;
	bool fail;
};

static const struct weft_param prog_params[] = {
	WEFT_PARAM(U32, struct prog, node, "0", "", OWN, "own number"),
	WEFT_PARAM(U32, struct prog, size, "64", "8..4096", OWN, "bytes"),
	WEFT_PARAM(U32, struct prog, rounds, "10", "1..", OWN, "rounds"),
	WEFT_PARAM(BOOL, struct prog, fail, "false", "", OWN, "fail a check"),
	{ 0 }
};

static int prog_main(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	struct prog *p = c->state;
	weft_time_t t0 = weft_host_now(h);

	for (uint32_t i = 0; i < p->rounds; i++)
		weft_host_cpu(h, p->size * WEFT_NS);
	weft_metric(c, "rate", "B/us",
		    (double)p->size * p->rounds /
			    ((double)(weft_host_now(h) - t0) * 1e-9));
	weft_metric(c, "bytes", "B", (double)p->size * p->rounds);
	if (p->fail)
		weft_check_failed(c, "was told to fail");
	return 0;
}

static WEFT_COMPONENT(prog, .name = "test.prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "computes for a while",
		      .state_size = sizeof(struct prog), .params = prog_params,
		      .ops = { .main = prog_main });

/* ---- waiter: waits in one of several ways, for ever or not ---- */

enum { WAIT_KEY, WAIT_PATIENCE, WAIT_SLEEP, WAIT_WORD, WAIT_TICK, WAIT_SPIN };

struct waiter {
	uint32_t way;
	weft_time_t time;
};

static const struct weft_param waiter_params[] = {
	WEFT_PARAM(ENUM, struct waiter, way, "key",
		   "key|patience|sleep|word|tick|spin", OWN, "how it waits"),
	WEFT_PARAM(TIME, struct waiter, time, "1ms", "1us..", OWN, "how long"),
	{ 0 }
};

static int waiter_main(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	struct waiter *w = c->state;
	static const uint32_t word;
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 8, 8, &phys);

	*p = 0;
	switch (w->way) {
	case WAIT_KEY:
		weft_oob_get(h, "never put");
		break;
	case WAIT_PATIENCE:
		while (!weft_host_poll64(h, p, 0, weft_host_now(h) + w->time))
			;
		break;
	case WAIT_SLEEP:
		weft_host_sleep(h, weft_host_now(h) + w->time);
		break;
	case WAIT_WORD:
		weft_host_wait(h, &word, 0, WEFT_NEVER);
		break;
	case WAIT_SPIN:
		for (;;)
			weft_host_cpu(h, w->time);
	default:
		for (;;)
			weft_host_sleep(h, weft_host_now(h) + w->time);
	}
	return 0;
}

static WEFT_COMPONENT(waiter, .name = "test.waiter", .kind = WEFT_KIND_PROGRAM,
		      .doc = "waits", .state_size = sizeof(struct waiter),
		      .params = waiter_params, .ops = { .main = waiter_main });

/* ---- fault ---- */

struct drop {
	uint32_t every;
	uint32_t seen;
};

static const struct weft_param drop_params[] = {
	WEFT_PARAM(U32, struct drop, every, "10", "1..", OWN, "one in"), { 0 }
};
static const struct weft_counter drop_counters[] = {
	{ "dropped", "packets", "packets taken off" },
};

static void drop_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;

	if (++d->seen % d->every) {
		weft_filter_pass(c, f);
		return;
	}
	weft_count(c, 0, 1);
	weft_frame_free(f);
}

static WEFT_COMPONENT(drop, .name = "test.drop", .kind = WEFT_KIND_FAULT,
		      .doc = "takes packets off", .params = drop_params,
		      .state_size = sizeof(struct drop),
		      .counters = drop_counters, .n_counters = 1,
		      .ops = { .filter = drop_filter });

extern const struct weft_class weft_class_scribe; /* plug_scribe.c */
extern const struct weft_class weft_class_line;	  /* plug_wire.c */
extern const struct weft_class weft_class_turned; /* plug_wire.c */

WEFT_PLUGIN(&weft_class_talker, &weft_class_hub, &weft_class_nic,
	    &weft_class_prog, &weft_class_waiter, &weft_class_drop,
	    &weft_class_scribe, &weft_class_line, &weft_class_turned);
