/* SPDX-License-Identifier: Apache-2.0 */
/* Program ep.conformance: tests the contract of ep.h. Uses only ep.h, so that
 * it runs on any endpoint. All nodes of the run take part. Tests of
 * capabilities that the endpoint lacks are skipped and counted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"
#include "programs/ep_conformance.h"

uint64_t conformance_random(struct ec *e, uint64_t below)
{
	return weft_rng_below(&e->w.c->rng, below);
}

uint64_t conformance_imm(enum conformance_tag tag, uint64_t val)
{
	return (uint64_t)tag << 56 | val;
}

/* ---- events ---- */

/* Checks order, length and every byte of a data message. */
static void conformance_data(struct ec *e, const struct weft_ep_event *ev)
{
	uint64_t seq = ev->imm & 0xFFFFFFFF, want = e->next[ev->src]++;
	uint64_t len = ev->imm >> 32 & 0xFFFFFF;
	int64_t bad = epw_check(ev->data, ev->len,
				program_base(ev->src, e->w.me, seq));

	EC_EXPECT(e, seq == want,
		  "%s: message %" PRIu64
		  " of node %u came as "
		  "number %" PRIu64,
		  e->name, seq, ev->src, want);
	EC_EXPECT(e, len == ev->len, "%s: length %zu instead of %" PRIu64,
		  e->name, ev->len, len);
	EC_EXPECT(e, bad < 0,
		  "%s: message %" PRIu64
		  " of node %u differs at "
		  "byte %" PRId64,
		  e->name, seq, ev->src, bad);
	if (e->slow)
		weft_host_sleep(e->w.h, weft_host_now(e->w.h) + e->slow);
}

/* Checks a put with notify, whose imm contains offset, length and number of the
 * put. Applies the put to the reference copy. The copy must then equal the area
 * that the sender of the put writes. */
static void conformance_put_in(struct ec *e, const struct weft_ep_event *ev)
{
	size_t area = EC_COUNTERS + (size_t)ev->src * EC_AREA;
	size_t off = ev->imm >> 40 & 0x3FFF, len = ev->imm >> 24 & 0x7FFF;
	uint64_t seq = ev->imm & 0xFFFFFF;

	if (off + len > EC_AREA) {
		weft_check_failed(e->w.c, "%s: wrong imm", e->name);
		return;
	}
	epw_fill(e->shadow + area + off, len,
		 program_base(ev->src, e->w.me, seq));
	EC_EXPECT(e, !memcmp(e->shadow + area, e->region + area, EC_AREA),
		  "%s: put %" PRIu64
		  " of node %u (%zu bytes at %zu) is not in "
		  "place",
		  e->name, seq, ev->src, len, off);
	/* Counts the acknowledgement for a later send. A send from this
	 * function could wait for room, and would then handle later events
	 * before this function returns. */
	e->owed[ev->src]++;
}

static void conformance_recv(struct ec *e, const struct weft_ep_event *ev)
{
	switch (ev->imm >> 56) {
	case EC_BARRIER:
		e->arrived[ev->imm & 1]++;
		break;
	case EC_ACK:
		e->acks++;
		break;
	case EC_DATA:
		conformance_data(e, ev);
		break;
	default:
		weft_check_failed(e->w.c, "%s: unknown message", e->name);
	}
	/* Delays the release of some messages, because the contract allows
	 * releases in any order. */
	if (e->n_held < e->hold && ev->imm >> 56 == EC_DATA) {
		e->held[e->n_held++] = *ev;
		return;
	}
	e->ep->ops->release(e->ep, ev);
	while (e->n_held)
		e->ep->ops->release(e->ep, &e->held[--e->n_held]);
}

static void conformance_event(struct ec *e, const struct weft_ep_event *ev)
{
	struct conformance_op *op = ev->ctx;

	switch (ev->kind) {
	case WEFT_EV_RECV:
		conformance_recv(e, ev);
		return;
	case WEFT_EV_PUT_IN:
		conformance_put_in(e, ev);
		return;
	case WEFT_EV_SENT:
		e->done_sends++;
		break;
	default:
		break;
	}
	if (!op)
		return;
	EC_EXPECT(e, !op->done, "%s: an operation ended twice", e->name);
	op->done = true;
	op->status = ev->kind == WEFT_EV_ERROR ? ev->status : 0;
	op->result = ev->result;
}

bool conformance_serve(struct ec *e, bool block)
{
	struct weft_ep_event ev[4];
	int n = e->ep->ops->poll(e->ep, ev, 4);
	weft_time_t now;

	if (!n && block)
		e->ep->ops->wait(e->ep, weft_host_now(e->w.h) + e->turn);
	for (int i = 0; i < n; i++)
		conformance_event(e, &ev[i]);
	for (uint32_t p = 0; p < e->w.n; p++)
		while (e->owed[p] &&
		       !weft_ep_send(e->ep, p, NULL, 0,
				     conformance_imm(EC_ACK, 0), NULL)) {
			e->owed[p]--;
			e->sends++;
		}
	now = weft_host_now(e->w.h);
	if (n)
		e->alive = now;
	/* A test that gets no events gives up, because a lost message would
	 * block the run otherwise. */
	if (!e->dead && now - e->alive > e->stuck) {
		e->dead = true;
		weft_check_failed(e->w.c, "%s: stuck", e->name);
	}
	return !e->dead;
}

struct conformance_op *conformance_ops(struct ec *e, uint32_t n)
{
	struct conformance_op *op;

	if (e->next_op + n > sizeof(e->ops) / sizeof(*e->ops))
		e->next_op = 0;
	op = &e->ops[e->next_op];
	e->next_op += n;
	memset(op, 0, n * sizeof(*op));
	return op;
}

void conformance_wait(struct ec *e, struct conformance_op *op)
{
	while (!op->done && conformance_serve(e, true))
		;
	if (!op->done)
		op->status = -ETIMEDOUT;
}

void conformance_barrier(struct ec *e)
{
	uint32_t k = e->barrier++ & 1;

	for (uint32_t p = 0; p < e->w.n; p++)
		e->sends += !EPW_RETRY(
			weft_ep_send(e->ep, p, NULL, 0,
				     conformance_imm(EC_BARRIER, k), NULL),
			conformance_serve(e, false));
	while (e->arrived[k] < e->w.n && conformance_serve(e, true))
		;
	e->arrived[k] -= e->w.n;
}

/* ---- main ---- */

void conformance_key(const struct ec *e, const char *what, char *key, size_t n)
{
	snprintf(key, n, "ec%u.%s", e->group, what);
}

/* Opens the endpoint and exchanges the regions of all nodes. */
static int conformance_open(struct ec *e)
{
	struct weft_ep_attr a = { .max_msg = e->max_msg,
				  .rx_slots = e->rx_slots,
				  .use_irq = e->use_irq,
				  .eager_max = e->eager_max,
				  .group = e->group };
	size_t bytes = EC_COUNTERS + (size_t)e->w.n * EC_AREA;
	char addr[24], key[24];
	int ret = conformance_memory(e);

	if (!ret)
		ret = weft_ep_open(e->w.h, &a, &e->ep);
	if (ret)
		return ret;
	ret = e->ep->ops->mr_reg(e->ep, conformance_at(e, e->region), bytes,
				 &e->mr);
	if (ret)
		return ret;
	conformance_key(e, "addr", addr, sizeof(addr));
	conformance_key(e, "key", key, sizeof(key));
	program_put(&e->w, addr, e->mr.addr);
	program_put(&e->w, key, e->mr.key);
	for (uint32_t p = 0; p < e->w.n; p++) {
		e->raddr[p] = program_get(&e->w, addr, p);
		e->rkey[p] = program_get(&e->w, key, p);
	}
	return 0;
}

static int conformance_main(struct weft_comp *c)
{
	struct ec *e = c->state;
	uint32_t ran = 0, skipped = 0;
	int ret;

	e->w = program_from(c);
	e->name = "open";
	ret = e->w.n > EC_NODES ? -E2BIG : conformance_open(e);
	if (ret) {
		weft_check_failed(c, "cannot open the endpoint: %s",
				  program_why(ret));
		return ret;
	}
	e->alive = weft_host_now(e->w.h);
	conformance_barrier(e);
	for (const struct conformance_test *t = conformance_tests; t->name;
	     t++) {
		if (e->dead ||
		    (strcmp(e->test, "all") && strcmp(e->test, t->name)))
			continue;
		if ((e->ep->info.caps & t->caps) != t->caps) {
			skipped++;
			continue;
		}
		e->name = t->name;
		t->run(e);
		conformance_barrier(e);
		ran++;
	}
	/* Serves events until all sends are done, because the last message
	 * leaves only while the program calls its endpoint. */
	while (e->done_sends < e->sends && conformance_serve(e, true))
		;
	weft_metric(c, "tests", "", ran);
	weft_metric(c, "skipped", "", skipped);
	program_barrier_n(&e->w, "ec.end", e->group);
	host_nap(e->w.h, T_settle);
	e->ep->ops->close(e->ep);
	conformance_memory_free(e);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct ec, field, def, range, OWN, doc)
static const struct weft_param conformance_params[] = {
	P(U32, messages, "200", "1..", "messages to every node"),
	P(U32, puts, "100", "1..", "puts to every node"),
	P(U32, gets, "100", "1..", "gets from every node"),
	P(U32, atomics, "100", "1..", "atomics of every node"),
	P(U32, regs, "100", "1..", "regions that come and go"),
	P(U32, max_msg, "0", "", "largest message; 0 = the library's"),
	P(U32, rx_slots, "0", "0..4096", "slots per peer; 0 = the library's"),
	P(U32, eager_max, "0", "", "longest message without a handshake; 0 = "
	  "the library's"),
	P(U32, group, "0", "", "one of several processes of a node"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning"),
	P(BOOL, far, "no", "", "all buffers as memory of another process"),
	P(TIME, stuck, "200ms", "1us..", "without an event, gives up"),
	P(TIME, turn, "1ms", "1us..", "longest wait for an event"),
	P(TIME, lag, "20us", "", "slow: of the node that looks late"),
	P(TIME, quiet, "50us", "", "deadline: until nothing is under way"),
	P(TIME, span, "5us", "1ns..", "deadline: of the wait that must end"),
	P(STR, test, "all", "", "one test by name, or all"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(ep_conformance, .name = "ep.conformance",
	       .kind = WEFT_KIND_PROGRAM,
	       .doc = "what every endpoint must do, over any NIC",
	       .source = "ep.h", .state_size = sizeof(struct ec),
	       .params = conformance_params,
	       .ops = { .main = conformance_main });
