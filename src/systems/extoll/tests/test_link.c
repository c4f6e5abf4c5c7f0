/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a cable under VELO traffic through host software (extoll.md 2.7, 4.7,
 * 5.7; T-28). If a cable is unplugged and plugged in again, the messages are
 * only delayed. If it is cut for good, an event arrives at once and another one
 * after 15 attempts. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "exrig.h"
#include "systems/extoll/lib/driver.h"
#include "weft/velo.h"

extern const struct weft_class weft_class_fault_cut, weft_class_fault_bits;

enum { MESSAGES = 3000, EVENTS = 64, PORT_X = 3 /* +x, then -x */ };
#define CUT_AT (100 * WEFT_US)
/* 15 attempts of 1024 cycles (4.7) */
#define ATTEMPTS (15 * 1024 * 6410257ull)

struct seen { /* events that a node has seen */
	uint64_t event[EVENTS];
	weft_time_t at[EVENTS];
	uint32_t n;
};

struct scene {
	struct exrig r;
	struct seen seen[2];
	uint32_t sent, received, wrong;
	/* the sender stops when its node has lost the link */
	bool sender_stops;
	bool all_poll; /* node 1 polls, too */
	uint64_t state, unacked, held;
	weft_time_t until;
};

static struct scene *scene_of(struct exrig *r)
{
	return (struct scene *)r;
}

/* ---- programs ---- */

/* Returns the next event. Node 1 sleeps until the interrupt. Node 0 polls and
 * never stores a read pointer, because the store would wait behind messages
 * that the NIC does not accept. */
static uint64_t next_event(struct extoll_drv *d, bool sleeps, uint32_t i,
			   weft_time_t until)
{
	if (sleeps)
		return extoll_drv_event_wait(d, until) ? extoll_drv_event(d)
						       : 0;
	return weft_host_poll64(d->host, &d->kernel->evq[i], 0, until)
		       ? d->kernel->evq[i]
		       : 0;
}

static int watch(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = scene_of(r);
	struct seen *w = &s->seen[node];
	struct extoll_drv d;
	uint64_t e;

	assert_int_equal(extoll_drv_open(h, &d), 0);
	while ((e = next_event(&d, node && !s->all_poll, w->n, s->until))) {
		assert_int_equal(EXTOLL_EVENT_KIND(e), EXTOLL_EV_LINK);
		assert_in_range(w->n, 0, EVENTS - 1);
		w->at[w->n] = weft_host_now(h);
		w->event[w->n++] = e;
	}
	if (!node) {
		s->state = extoll_drv_load(&d, EXTOLL_LP + EXTOLL_LP_STATE);
		s->unacked = extoll_drv_load(&d, EXTOLL_LP + EXTOLL_LP_UNACKED);
		s->held = extoll_drv_load(&d, EXTOLL_XBAR + EXTOLL_XBAR_HELD);
	}
	return 0;
}

static int sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = scene_of(r);
	struct velo_connection c;
	struct velo_port *p;
	uint64_t buf[8] = { 0 };
	uint32_t more = 5;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_host_cpu(h, 20 * WEFT_US);
	velo_connect(p, &c, 1, 0);
	for (; s->sent < MESSAGES; s->sent++) {
		if (s->sender_stops && s->seen[node].n && !more--)
			break;
		weft_host_cpu(h, 150 * WEFT_NS);
		buf[0] = buf[s->sent % 8] = s->sent;
		assert_int_equal(velo_send(&c, buf, 8 + s->sent % 8 * 8, 0, 0),
				 VELO_SUCCESS);
		buf[s->sent % 8] = 0;
	}
	return 0;
}

static int receiver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = scene_of(r);
	struct velo_port *p;
	uint64_t buf[8];
	uint32_t len, n;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	for (; s->received < MESSAGES; s->received++) {
		while (velo_recv(p, buf, NULL, NULL, NULL, &len) == VELO_NO_MSG)
			if (!velo_wait(p, s->until))
				return 0;
		n = s->received;
		s->wrong +=
			buf[0] != n || len != 8 + n % 8 * 8 || buf[n % 8] != n;
	}
	return 0;
}

/* ---- the scene ---- */

static void scene_run(struct scene *s, const char *width,
		      const char *const *cut, weft_time_t until)
{
	struct exrig *r = &s->r;

	exrig_new(r, "2");
	exrig_set(r, "extoll.nic", "width", width);
	exrig_set(r, "extoll.xbar", "width", width);
	exrig_fault(r, 0, PORT_X, &weft_class_fault_cut, cut);
	exrig_fault(r, 1, PORT_X + 1, &weft_class_fault_cut, cut);
	exrig_prog(r, 0, sender);
	exrig_prog(r, 1, receiver);
	exrig_prog(r, 0, watch);
	exrig_prog(r, 1, watch);
	s->until = until;
	exrig_start(r);
	exrig_run(r);
}

/* Checks an event. The cable joins link port 0 of node 0 and link port 1 of
 * node 1. */
static void check_event(const struct scene *s, uint32_t node, uint32_t i,
			uint32_t what, weft_time_t from)
{
	const struct seen *w = &s->seen[node];

	assert_int_equal(EXTOLL_EVENT_LP(w->event[i]), node);
	assert_int_equal(EXTOLL_EVENT_LINK(w->event[i]), what);
	/* node 1 takes longer, because an interrupt wakes it */
	assert_in_range(w->at[i], from, from + (node ? 6 : 2) * WEFT_US);
}

/* ---- tests ---- */

static void replug(const char *width, const char *length, weft_time_t out)
{
	struct scene s = { 0 };
	bool down = out > ATTEMPTS;

	scene_run(&s, width,
		  (const char *[]){ "at", "100us", "length", length, NULL },
		  2 * WEFT_MS);
	assert_int_equal(s.sent, MESSAGES);
	assert_int_equal(s.received, MESSAGES);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.state, EXTOLL_LP_READY);
	assert_int_equal(s.unacked, 0);
	for (uint32_t k = 0; k < 2; k++) {
		const struct seen *w = &s.seen[k];

		assert_int_equal(w->n, down ? 3 : 2);
		check_event(&s, k, 0, EXTOLL_LINK_LOST, CUT_AT);
		if (down)
			check_event(&s, k, 1, EXTOLL_LINK_DOWN,
				    CUT_AT + ATTEMPTS);
		check_event(&s, k, w->n - 1, EXTOLL_LINK_UP, CUT_AT + out);
		assert_int_equal(exrig_counter(s.r.node[k].xbar, "lost"), 1);
		assert_int_equal(exrig_counter(s.r.node[k].xbar, "downs"),
				 down);
	}
	exrig_free(&s.r);
}

static void test_stream_continues_after_the_cable_is_plugged(void **state)
{
	replug("w32", "30us", 30 * WEFT_US);
	replug("w16", "30us", 30 * WEFT_US);
	replug("w32", "300us", 300 * WEFT_US);
}

static void test_cut_for_good(void **state)
{
	struct scene s = { .sender_stops = true };

	scene_run(&s, "w32", (const char *[]){ "at", "100us", NULL },
		  400 * WEFT_US);
	assert_in_range(s.received, 100, MESSAGES - 100);
	assert_int_equal(s.wrong, 0);
	/* messages in flight wait, and so do messages sent after the event */
	assert_in_range(s.sent, s.received + 5, s.received + 80);
	assert_int_equal(s.state, EXTOLL_LP_DOWN);
	assert_in_range(s.unacked, 1, 32);
	assert_in_range(s.held, 1, 40);
	for (uint32_t k = 0; k < 2; k++) {
		assert_int_equal(s.seen[k].n, 2);
		check_event(&s, k, 0, EXTOLL_LINK_LOST, CUT_AT);
		check_event(&s, k, 1, EXTOLL_LINK_DOWN, CUT_AT + ATTEMPTS);
	}
	exrig_free(&s.r);
}

/* Four nodes form a ring, and the cable between nodes 0 and 3 is cut. The other
 * link of node 0 continues. */
static void test_other_links_of_the_node_continue(void **state)
{
	const char *const cut[] = { "at", "100us", NULL };
	struct scene s = { .until = WEFT_MS };
	struct exrig *r = &s.r;

	exrig_new(r, "4");
	exrig_fault(r, 0, PORT_X + 1, &weft_class_fault_cut, cut);
	exrig_fault(r, 3, PORT_X, &weft_class_fault_cut, cut);
	exrig_prog(r, 0, sender);
	exrig_prog(r, 1, receiver);
	exrig_prog(r, 0, watch);
	exrig_start(r);
	exrig_run(r);
	assert_int_equal(s.received, MESSAGES);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.seen[0].n, 2);
	assert_int_equal(EXTOLL_EVENT_LP(s.seen[0].event[0]), 1);
	assert_int_equal(s.state, EXTOLL_LP_READY);
	exrig_free(r);
}

/* ---- errors that the link repairs (2.7) ---- */

/* Cells for node 1 arrive with errors. */
static void errors(struct scene *s, const char *on, const char *rate)
{
	struct exrig *r = &s->r;
	const char *const bits[] = { "rate", rate, NULL };

	exrig_new(r, "2");
	exrig_set(r, "extoll.nic", "error_events", on);
	exrig_fault(r, 0, PORT_X, &weft_class_fault_bits, bits);
	exrig_fault(r, 1, PORT_X + 1, &weft_class_fault_bits, bits);
	exrig_prog(r, 0, sender);
	exrig_prog(r, 1, receiver);
	exrig_prog(r, 0, watch);
	exrig_prog(r, 1, watch);
	s->until = 2 * WEFT_MS;
	exrig_start(r);
	exrig_run(r);
	assert_int_equal(s->received, MESSAGES);
	assert_int_equal(s->wrong, 0);
}

static void test_an_error_of_a_link_is_an_event(void **state)
{
	struct scene s = { 0 };
	uint64_t bad;

	errors(&s, "yes", "3e-6");
	bad = exrig_counter(s.r.node[1].xbar, "crc_errors") +
	      exrig_counter(s.r.node[1].xbar, "code_errors") +
	      exrig_counter(s.r.node[1].xbar, "seq_errors");
	assert_in_range(bad, 2, 100);
	assert_in_range(s.seen[1].n, 1, bad);
	for (uint32_t i = 0; i < s.seen[1].n; i++) {
		assert_int_equal(EXTOLL_EVENT_LP(s.seen[1].event[i]), 1);
		assert_int_equal(EXTOLL_EVENT_LINK(s.seen[1].event[i]),
				 EXTOLL_LINK_ERROR);
	}
	exrig_free(&s.r);
}

/* A node that does not move its read pointer gets an event for the first error
 * only. */
static void test_errors_do_not_fill_the_event_queue(void **state)
{
	struct scene s = { .all_poll = true };

	errors(&s, "yes", "1e-5");
	assert_true(exrig_counter(s.r.node[1].xbar, "crc_errors") +
			    exrig_counter(s.r.node[1].xbar, "code_errors") >
		    2);
	assert_int_equal(s.seen[1].n, 1);
	exrig_free(&s.r);
}

static void test_errors_are_no_events_unless_asked_for(void **state)
{
	struct scene s = { 0 };

	errors(&s, "no", "1e-5");
	assert_int_equal(s.seen[0].n + s.seen[1].n, 0);
	exrig_free(&s.r);
}

/* Reads the registers of a link with bit errors. */
static int read_lp(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct extoll_drv d;

	weft_host_cpu(h, 800 * WEFT_US);
	assert_int_equal(extoll_drv_open(h, &d), 0);
	for (uint32_t i = 0; i < 16; i++)
		r->v[16 * node + i] = extoll_drv_load(
			&d, EXTOLL_LP + node * EXTOLL_LP_STRIDE + 8 * i);
	assert_int_equal(extoll_drv_load(&d, EXTOLL_LP + 2 * EXTOLL_LP_STRIDE),
			 EXTOLL_LP_NONE);
	r->v[32 + node] =
		extoll_drv_load(&d, EXTOLL_XBAR + PORT_X * EXTOLL_XBAR_STRIDE +
					    EXTOLL_XBAR_OUT_PACKETS);
	extoll_drv_close(&d);
	return 0;
}

static void test_link_registers_count_errors_and_retries(void **state)
{
	struct scene s = { .until = WEFT_MS };
	struct exrig *r = &s.r;

	exrig_new(r, "2");
	exrig_fault(r, 0, PORT_X, &weft_class_fault_bits,
		    (const char *[]){ "rate", "1e-4", NULL });
	exrig_prog(r, 0, sender);
	exrig_prog(r, 1, receiver);
	exrig_prog(r, 0, read_lp);
	exrig_prog(r, 1, read_lp);
	exrig_start(r);
	exrig_run(r);
	assert_int_equal(s.received, MESSAGES);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(r->v[32], MESSAGES);
	for (uint32_t k = 0; k < 2; k++) {
		const uint64_t *v = &r->v[16 * k];
		struct weft_comp *x = r->node[k].xbar;

		assert_int_equal(v[EXTOLL_LP_STATE / 8], EXTOLL_LP_READY);
		assert_int_equal(v[EXTOLL_LP_NACKS / 8],
				 exrig_counter(x, "nacks"));
		assert_int_equal(v[EXTOLL_LP_REPLAYS / 8],
				 exrig_counter(x, "retries"));
		assert_int_equal(v[EXTOLL_LP_CODE / 8],
				 exrig_counter(x, "code_errors"));
		assert_int_equal(v[EXTOLL_LP_SEQ / 8],
				 exrig_counter(x, "seq_errors"));
	}
	assert_true(r->v[EXTOLL_LP_REPLAYS / 8] > 50);
	assert_true(r->v[16 + EXTOLL_LP_NACKS / 8] > 50);
	exrig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_stream_continues_after_the_cable_is_plugged),
		cmocka_unit_test(test_an_error_of_a_link_is_an_event),
		cmocka_unit_test(test_errors_do_not_fill_the_event_queue),
		cmocka_unit_test(test_errors_are_no_events_unless_asked_for),
		cmocka_unit_test(test_cut_for_good),
		cmocka_unit_test(test_other_links_of_the_node_continue),
		cmocka_unit_test(test_link_registers_count_errors_and_retries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
