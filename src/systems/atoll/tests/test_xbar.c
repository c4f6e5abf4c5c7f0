/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ATOLL's crossbar alone (hostport.md 2.1 to 2.3): precedence of InPorts
 * that request one OutPort in the same cycle, room of an InPort, routes that
 * lead nowhere, and the cycle at which a deadlock is detected. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/atoll/network/crossbar.h"
#include "weft/sim.h"

enum { GO, LOG = 4 * AT_PORTS };

struct owner {
	struct atoll_xbar x;
	uint32_t n;
	struct {
		uint8_t out, in;
	} log[LOG]; /* packets in the order of their ends */
	bool stop;  /* no host port has room */
	/* cycle at which an InPort last freed room, cycle of the last
	 * deadlock */
	uint64_t ready, dead;
	/* Number of misrouted packets, routing characters in the last head. */
	uint32_t wrong, chars;
};

static const struct weft_counter counters[] = {
#define X(id, name, unit, doc) { name, unit, doc },
	AX_COUNTERS(X)
#undef X
};

static const struct weft_port_decl ports[] = {
	{ "link%u", WEFT_PORT_LINK, .count = "4", .wire = &atoll_wire,
	  .optional = true, .doc = "links" },
	{ 0 }
};

static void on_flit(void *own, uint32_t np, struct weft_frame *f)
{
	struct owner *o = own;

	if (at_line(f)->kind == AT_HEAD)
		o->chars = f->payload.len;
	if (at_line(f)->kind == AT_DATA) {
		assert_true(o->n < LOG);
		o->log[o->n].out = (uint8_t)np;
		o->log[o->n++].in = *weft_slice_data(f->payload);
	}
	weft_frame_free(f);
}

static bool on_room(void *own, uint32_t np)
{
	return !((struct owner *)own)->stop;
}

static void on_ready(void *own, uint32_t np)
{
	struct owner *o = own;

	o->ready = atoll_link_now(&o->x);
}

static void on_deadlock(void *own, uint32_t out)
{
	struct owner *o = own;

	assert_int_equal(o->dead, 0);
	o->dead = atoll_link_now(&o->x);
}

static void on_misrouted(void *own, uint32_t in)
{
	((struct owner *)own)->wrong++;
}

static const struct atoll_xbar_ops ops = { .flit = on_flit,
					   .room = on_room,
					   .ready = on_ready,
					   .deadlock = on_deadlock,
					   .misrouted = on_misrouted };

static int owner_init(struct weft_comp *c, struct weft_err *err)
{
	struct owner *o = c->state;

	assert_true(weft_clock_from_period(&o->x.clk, 4 * WEFT_NS));
	o->x.t_xbar = 3;
	o->x.buffer = o->x.cont_free = 2000;
	o->x.stop_free = 1000;
	o->x.dl_counter = 1000;
	o->x.mgmt = 3;
	atoll_xbar_init(&o->x, c, c->ports, &ops, o, GO);
	return 0;
}

static int owner_start(struct weft_comp *c, struct weft_err *err)
{
	return atoll_xbar_start(&((struct owner *)c->state)->x, err);
}

static void owner_arrive(struct weft_comp *c, uint32_t port,
			 struct weft_frame *f)
{
	fail_msg("no link is connected");
}

static void owner_event(struct weft_comp *c, uint32_t tag)
{
	atoll_xbar_event(&((struct owner *)c->state)->x);
}

static void owner_fini(struct weft_comp *c)
{
	atoll_xbar_fini(&((struct owner *)c->state)->x);
}

static WEFT_COMPONENT(owner, .name = "test.owner", .kind = WEFT_KIND_NIC,
		      .doc = "crossbar", .state_size = sizeof(struct owner),
		      .counters = counters, .n_counters = AX_K_N,
		      .ports = ports,
		      .ops = { .init = owner_init,
			       .start = owner_start,
			       .arrive = owner_arrive,
			       .event = owner_event,
			       .fini = owner_fini });

static struct owner *open_xbar(struct weft_sim **sim_p)
{
	struct weft_comp *c;

	*sim_p = weft_sim_new(1);
	c = weft_sim_add(*sim_p, &weft_class_owner, "x", NULL);
	assert_int_equal(weft_comp_init(c, NULL), 0);
	assert_int_equal(weft_sim_start(*sim_p, NULL), 0);
	return c->state;
}

static struct weft_frame *flit(struct owner *o, enum at_kind kind, uint8_t byte)
{
	struct weft_frame *f = weft_frame_new(o->x.comp->sim);

	*at_line(f) = (struct at_line){ .kind = (uint8_t)kind };
	if (kind == AT_DATA)
		at_line(f)->flags = AT_EOP;
	f->payload = weft_slice_word(o->x.comp->sim, 1);
	*weft_slice_data(f->payload) = byte;
	return f;
}

/* Injects a packet whose data name the InPort. */
static void inject(struct owner *o, uint32_t in, uint32_t out)
{
	atoll_xbar_inject(&o->x, in, flit(o, AT_HEAD, at_char(out)));
	atoll_xbar_inject(&o->x, in, flit(o, AT_DATA, (uint8_t)in));
}

/* Runs the crossbar, then checks that the packets left through `out` in the
 * order of their InPorts `ins`. */
static void left(struct weft_sim *sim, struct owner *o, uint32_t out,
		 const char *ins)
{
	weft_sim_run(sim, WEFT_NEVER);
	assert_int_equal(o->n, strlen(ins));
	for (uint32_t i = 0; i < o->n; i++) {
		assert_int_equal(o->log[i].out, out);
		assert_int_equal(o->log[i].in, ins[i] - '0');
	}
	o->n = 0;
}

/* After reset InPort 0 has precedence over every other InPort that requests the
 * OutPort. */
static void at_reset_the_lowest_port_is_first(void **state)
{
	for (uint32_t out = 0; out < AT_LINK0; out++)
		for (uint32_t in = 1; in < AT_PORTS; in++) {
			char want[] = { '0', (char)('0' + in), 0 };
			struct weft_sim *sim;
			struct owner *o = open_xbar(&sim);

			inject(o, in, out);
			inject(o, 0, out);
			left(sim, o, out, want);
			weft_sim_free(sim);
		}
}

/* After a grant the InPort with the next higher number has precedence. Port 0
 * follows the last port. */
static void ports_take_turns(void **state)
{
	struct weft_sim *sim;
	struct owner *o = open_xbar(&sim);

	for (uint32_t i = 0; i < 2 * AT_PORTS; i++)
		inject(o, i % AT_PORTS, 2);
	left(sim, o, 2, "0123456701234567");
	inject(o, 3, 2);
	left(sim, o, 2, "3");
	for (uint32_t i = 0; i < AT_PORTS; i++)
		inject(o, i, 2);
	left(sim, o, 2, "45670123");
	weft_sim_free(sim);
}

/* An InPort of a host port holds four flits. The InPort has room for another
 * flit when the last character of a flit has left. */
static void an_inport_holds_four_flits(void **state)
{
	enum { HEAD = AT_HEAD_WORDS + 1, DATA = AT_DATA_WORDS + 1 };
	struct weft_sim *sim;
	struct owner *o = open_xbar(&sim);

	inject(o, 1, 2);
	atoll_xbar_inject(&o->x, 1, flit(o, AT_HEAD, at_char(2)));
	assert_true(atoll_xbar_np_room(&o->x, 1));
	atoll_xbar_inject(&o->x, 1, flit(o, AT_DATA, 1));
	assert_false(atoll_xbar_np_room(&o->x, 1));
	assert_true(atoll_xbar_np_room(&o->x, 0));
	left(sim, o, 2, "11");
	assert_true(atoll_xbar_np_room(&o->x, 1));
	weft_sim_free(sim);
	o = open_xbar(&sim);
	inject(o, 1, 2);
	left(sim, o, 2, "1");
	/* the data flit waits until the head has left, then takes t_xbar = 3
	 * cycles */
	assert_int_equal(o->ready, HEAD + 3 + DATA);
	weft_sim_free(sim);
}

/* A packet whose routing character names a link without a cable, or has a wrong
 * bit, goes to the management. The packet keeps the wrong character. */
static void a_route_that_leads_nowhere_ends_at_the_management(void **state)
{
	static const uint8_t wrong[] = { 0x0c, 0x05, 0x06, 0x0f, 0x01, 0x10 };

	for (uint32_t i = 0; i < sizeof(wrong); i++) {
		struct weft_sim *sim;
		struct owner *o = open_xbar(&sim);

		assert_int_equal(at_char_good(wrong[i]), i < 4);
		atoll_xbar_inject(&o->x, 1, flit(o, AT_HEAD, wrong[i]));
		atoll_xbar_inject(&o->x, 1, flit(o, AT_DATA, 1));
		left(sim, o, 3, "1");
		assert_int_equal(o->wrong, 1);
		assert_int_equal(o->chars, 1);
		inject(o, 1, 2);
		left(sim, o, 2, "1");
		assert_int_equal(o->wrong, 1);
		assert_int_equal(o->chars, 0);
		weft_sim_free(sim);
	}
}

/* The counter runs while one InPort holds the OutPort and another InPort
 * requests it. */
static void a_deadlock_takes_the_cycles_of_its_counter(void **state)
{
	struct weft_sim *sim;
	struct owner *o = open_xbar(&sim);

	o->stop = true;
	inject(o, 0, 2);
	weft_sim_run(sim, WEFT_US);
	assert_int_equal(o->dead, 0);
	inject(o, 1, 2);
	weft_sim_run(sim, WEFT_MS);
	assert_int_equal(o->dead, 250 + 3 + 1000);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_reset_the_lowest_port_is_first),
		cmocka_unit_test(ports_take_turns),
		cmocka_unit_test(an_inport_holds_four_flits),
		cmocka_unit_test(
			a_route_that_leads_nowhere_ends_at_the_management),
		cmocka_unit_test(a_deadlock_takes_the_cycles_of_its_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
