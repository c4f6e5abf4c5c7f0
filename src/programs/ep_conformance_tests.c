/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of ep.conformance. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "programs/ep_conformance.h"

#define EC_HEAD 0 /* node with the shared counters */

/* ---- messages ---- */

static void conformance_send(struct ec *e, uint32_t dst, uint64_t seq,
			     size_t len)
{
	struct conformance_op *op = conformance_ops(e, 1);
	size_t at = conformance_random(e, 64);
	uint8_t *buf = (seq & 1 ? e->heap : e->pinned) + at;
	int ret;

	epw_fill(buf, len, program_base(e->w.me, dst, seq));
	ret = EPW_RETRY(weft_ep_send(e->ep, dst, conformance_at(e, buf), len,
				     conformance_imm(EC_DATA,
						     (uint64_t)len << 32 | seq),
				     op),
			conformance_serve(e, false));
	EC_EXPECT(e, !ret, "%s: send of %zu bytes says %d", e->name, len, ret);
	e->sends += !ret;
	if (!ret)
		/* the caller may reuse the buffer afterwards */
		conformance_wait(e, op);
}

static size_t conformance_length(struct ec *e, uint32_t i)
{
	uint32_t max =
		e->ep->info.max_msg < EC_AREA ? e->ep->info.max_msg : EC_AREA;
	const size_t edge[] = { 0, 1, 7, 8, 9, max - 1, max };

	if (i < sizeof(edge) / sizeof(edge[0]))
		return edge[i];
	return conformance_random(e, 4) ? conformance_random(e, 64)
					: conformance_random(e, max + 1);
}

/* Sends messages of all lengths from every node to every node. None may be lost
 * or reordered. */
static void conformance_messages_n(struct ec *e, uint32_t n)
{
	uint64_t first = e->sent; /* number of the first message, equal on all
				   * nodes */

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < e->w.n; p++)
			conformance_send(e, p, first + i,
					 conformance_length(e, i));
	e->sent += n;
	for (uint32_t p = 0; p < e->w.n; p++)
		while (e->next[p] < e->sent && conformance_serve(e, true))
			;
}

static void conformance_messages(struct ec *e)
{
	conformance_messages_n(e, e->messages);
}

/* Tests a slow receiver. Node 0 is slow, and the other nodes must wait for node
 * 0 without losing messages. */
static void conformance_slow(struct ec *e)
{
	e->slow = e->w.me == EC_HEAD ? e->lag : 0;
	conformance_messages_n(e, e->messages / 4 + 1);
	e->slow = 0;
}

/* Releases messages late and out of order. */
static void conformance_holding(struct ec *e)
{
	e->hold = e->rx_slots && e->rx_slots < 4 ? e->rx_slots - 1 : 3;
	conformance_messages_n(e, e->messages / 4 + 1);
	e->hold = 0;
	while (e->n_held)
		e->ep->ops->release(e->ep, &e->held[--e->n_held]);
}

/* ---- remote memory ---- */

static void conformance_put_one(struct ec *e, uint32_t dst, uint64_t seq)
{
	struct conformance_op *op = conformance_ops(e, 1);
	bool aligned = !conformance_random(e, 3);
	size_t len = conformance_random(e, 4)
			     ? conformance_random(e, 200)
			     : conformance_random(e, EC_AREA - 64);
	size_t off = conformance_random(e, EC_AREA - len);
	uint8_t *buf = (conformance_random(e, 2) ? e->heap : e->pinned);
	uint64_t acks = e->acks;
	int ret;

	if (aligned)
		off &= ~(size_t)7;
	else
		buf += conformance_random(e, 8);
	epw_fill(buf, len, program_base(e->w.me, dst, seq));
	ret = EPW_RETRY(
		weft_ep_post(e->ep,
			     &(struct weft_ep_op){
				     .code = WEFT_EP_PUT,
				     .dst = dst,
				     .buf = conformance_at(e, buf),
				     .len = len,
				     .raddr = e->raddr[dst] + EC_COUNTERS +
					      (uint64_t)e->w.me * EC_AREA + off,
				     .rkey = e->rkey[dst],
				     .notify = true,
				     .imm = (uint64_t)off << 40 |
					    (uint64_t)len << 24 | seq,
				     .ctx = op }),
		conformance_serve(e, false));
	EC_EXPECT(e, !ret, "put: %zu bytes at %zu say %d", len, off, ret);
	if (ret)
		return;
	conformance_wait(e, op);
	/* the put has ended, so its buffer may change */
	memset(buf, 0xEE, len);
	while (e->acks == acks && conformance_serve(e, true))
		;
}

static void conformance_puts(struct ec *e)
{
	for (uint32_t i = 0; i < e->puts; i++)
		for (uint32_t p = 0; p < e->w.n; p++)
			conformance_put_one(e, p, i);
}

static void conformance_get_one(struct ec *e, uint32_t src)
{
	struct conformance_op *op = conformance_ops(e, 1);
	bool aligned = !conformance_random(e, 3);
	size_t len = conformance_random(e, 4)
			     ? conformance_random(e, 200)
			     : conformance_random(e, EC_AREA - 64);
	size_t off = conformance_random(e, (size_t)e->w.n * EC_AREA - len);
	uint8_t *buf = conformance_random(e, 2) ? e->heap : e->pinned, q[8];
	uint64_t base = program_base(src, 999, 0);
	int ret;

	if (aligned)
		off &= ~(size_t)7;
	else
		buf += conformance_random(e, 8);
	memset(buf, 0xAA, len + 1);
	ret = EPW_RETRY(
		weft_ep_post(e->ep,
			     &(struct weft_ep_op){
				     .code = WEFT_EP_GET,
				     .dst = src,
				     .into = conformance_at(e, buf),
				     .len = len,
				     .raddr = e->raddr[src] + EC_COUNTERS + off,
				     .rkey = e->rkey[src],
				     .ctx = op }),
		conformance_serve(e, false));
	EC_EXPECT(e, !ret, "get: %zu bytes at %zu say %d", len, off, ret);
	if (ret)
		return;
	conformance_wait(e, op);
	EC_EXPECT(e, !op->status, "get: %s", program_why(op->status));
	for (size_t i = 0; i < len; i++) {
		size_t at = off + i;

		epw_fill(q, sizeof(q), base + at / 8 * PROGRAM_STEP);
		if (buf[i] == q[at % 8])
			continue;
		weft_check_failed(
			e->w.c,
			"get: %zu bytes at %zu of node %u differ at byte %zu",
			len, off, src, i);
		return;
	}
	EC_EXPECT(e, buf[len] == 0xAA, "get: wrote beyond its length");
}

static void conformance_gets(struct ec *e)
{
	size_t bytes = (size_t)e->w.n * EC_AREA;

	/* Fills this node's region with a pattern that all nodes can
	 * compute. */
	epw_fill(e->region + EC_COUNTERS, bytes, program_base(e->w.me, 999, 0));
	memcpy(e->shadow + EC_COUNTERS, e->region + EC_COUNTERS, bytes);
	conformance_barrier(e);
	for (uint32_t i = 0; i < e->gets; i++)
		for (uint32_t p = 0; p < e->w.n; p++)
			conformance_get_one(e, p);
}

/* ---- atomics ---- */

/* Executes an atomic operation on a counter of node EC_HEAD. Compare and swap
 * uses a second counter. Returns the old value. */
static uint64_t conformance_atomic(struct ec *e, uint32_t code,
				   uint64_t operand, uint64_t desired)
{
	struct conformance_op *op = conformance_ops(e, 1);
	uint64_t off = code == WEFT_EP_CSWAP ? 8 : 0;

	EPW_RETRY(weft_ep_post(e->ep,
			       &(struct weft_ep_op){
				       .code = code,
				       .dst = EC_HEAD,
				       .raddr = e->raddr[EC_HEAD] + off,
				       .rkey = e->rkey[EC_HEAD],
				       .operand = operand,
				       .desired = desired,
				       .ctx = op }),
		  conformance_serve(e, false));
	conformance_wait(e, op);
	EC_EXPECT(e, !op->status, "%s: %s", e->name, program_why(op->status));
	return op->result;
}

/* Tests fetch and add. Each call must return a different old value, therefore
 * the old values that one node gets must increase. The final value must be the
 * sum of all additions. */
static void conformance_fadds(struct ec *e)
{
	uint64_t start, last = 0, old, total;

	start = conformance_atomic(e, WEFT_EP_FADD, 0, 0);
	conformance_barrier(e);
	for (uint32_t i = 0; i < e->atomics; i++) {
		old = conformance_atomic(e, WEFT_EP_FADD, 1, 0);
		EC_EXPECT(e, i == 0 || old > last,
			  "fadd: %" PRIu64 " after %" PRIu64, old, last);
		last = old;
	}
	conformance_barrier(e);
	total = conformance_atomic(e, WEFT_EP_FADD, 0, 0) - start;
	EC_EXPECT(e, total == (uint64_t)e->w.n * e->atomics,
		  "fadd: counter grew by %" PRIu64, total);
	conformance_barrier(e);
}

/* Tests compare and swap. All nodes increment one counter, and only a swap that
 * found the current value may succeed. */
static void conformance_cswaps(struct ec *e)
{
	uint64_t seen, now, wins = 0, start;

	start = seen = conformance_atomic(e, WEFT_EP_CSWAP, ~0ull, 0);
	conformance_barrier(e);
	while (wins < e->atomics / 4 + 1) {
		now = conformance_atomic(e, WEFT_EP_CSWAP, seen, seen + 1);
		wins += now == seen;
		seen = now == seen ? seen + 1 : now;
	}
	conformance_barrier(e);
	now = conformance_atomic(e, WEFT_EP_CSWAP, ~0ull, 0) - start;
	EC_EXPECT(e, now == e->w.n * wins, "cswap: counter grew by %" PRIu64,
		  now);
	conformance_barrier(e);
}

/* ---- refusals ---- */

/* Tests that a call is refused at once or completes with an error. */
static void conformance_refused(struct ec *e, struct weft_ep_op o,
				struct conformance_op *op, const char *what)
{
	int ret;

	o.ctx = op;
	ret = weft_ep_post(e->ep, &o);
	if (!ret) {
		conformance_wait(e, op);
		ret = op->status;
	}
	EC_EXPECT(e, ret < 0, "errors: %s was accepted", what);
}

static void conformance_errors(struct ec *e)
{
	size_t bytes = EC_COUNTERS + (size_t)e->w.n * EC_AREA;
	uint64_t base = e->raddr[EC_HEAD], end = base + bytes;
	uint64_t key = e->rkey[EC_HEAD];
	const struct {
		const char *what;
		struct weft_ep_op op;
	} bad[] = {
		{ "a message to nobody", { WEFT_EP_MSG, e->w.n, e->heap, 8 } },
		{ "two operations in one", { WEFT_EP_MSG | WEFT_EP_PUT, 0 } },
		{ "an operation that there is not",
		  { 1 << 20 | WEFT_EP_MSG, 0 } },
		{ "a put beyond its region",
		  { WEFT_EP_PUT, EC_HEAD, e->pinned, 64, .raddr = end - 32,
		    .rkey = key } },
		{ "a get beyond its region",
		  { WEFT_EP_GET, EC_HEAD, .into = e->pinned, .len = 64,
		    .raddr = end - 32, .rkey = key } },
		{ "an atomic beyond its region",
		  { WEFT_EP_FADD, EC_HEAD, .raddr = end, .rkey = key,
		    .operand = 1 } },
		{ "an unaligned atomic",
		  { WEFT_EP_FADD, EC_HEAD, .raddr = base + 1, .rkey = key,
		    .operand = 1 } },
		{ "a put with a wrong key",
		  { WEFT_EP_PUT, EC_HEAD, e->pinned, 8, .raddr = base,
		    .rkey = ~0ull << 32 } },
	};
	const uint32_t n = sizeof(bad) / sizeof(bad[0]);
	struct conformance_op *op = conformance_ops(e, n);

	EC_EXPECT(e,
		  weft_ep_send(e->ep, 0, e->heap, e->ep->info.max_msg + 1u, 0,
			       NULL) == -EMSGSIZE,
		  "errors: a message longer than max_msg was taken");
	for (uint32_t i = 0; i < n; i++)
		conformance_refused(e, bad[i].op, &op[i], bad[i].what);
}

/* Tests that an idle wait ends at its deadline, not before. */
static void conformance_deadline(struct ec *e)
{
	weft_time_t t;

	conformance_barrier(e);
	weft_host_sleep(e->w.h, weft_host_now(e->w.h) + e->quiet);
	conformance_serve(e, false);
	conformance_serve(e, false);
	t = weft_host_now(e->w.h) + e->span;
	if (e->ep->ops->wait(e->ep, t))
		EC_EXPECT(e, weft_host_now(e->w.h) >= t,
			  "wait: gave up before its deadline");
}

const struct conformance_test conformance_tests[] = {
	{ "messages", WEFT_EP_MSG, conformance_messages },
	{ "slow", WEFT_EP_MSG, conformance_slow },
	{ "holding", WEFT_EP_MSG, conformance_holding },
	{ "put", WEFT_EP_MSG | WEFT_EP_PUT, conformance_puts },
	{ "get", WEFT_EP_GET, conformance_gets },
	{ "fadd", WEFT_EP_FADD, conformance_fadds },
	{ "cswap", WEFT_EP_CSWAP, conformance_cswaps },
	{ "regions", WEFT_EP_MSG, conformance_regs },
	{ "dereg", WEFT_EP_MSG | WEFT_EP_GET, conformance_dereg },
	{ "errors", WEFT_EP_MSG, conformance_errors },
	{ "deadline", WEFT_EP_MSG, conformance_deadline },
	{ NULL, 0, NULL },
};
