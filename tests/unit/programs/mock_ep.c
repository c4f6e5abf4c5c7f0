/* SPDX-License-Identifier: Apache-2.0 */
/* A common endpoint without a NIC: see mock_ep.h. */
#include "mock_ep.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"

struct mock_net mock;

static struct mock_end *end_of(struct weft_ep *ep)
{
	return (struct mock_end *)ep;
}

static void push(struct mock_end *e, struct mock_event m)
{
	assert(e->n < MOCK_QUEUE);
	e->q[e->n++] = m;
}

static void done(struct mock_end *e, enum weft_ep_kind kind, void *ctx,
		 int status, uint64_t result)
{
	push(e,
	     (struct mock_event){ .ev = { .kind = status ? WEFT_EV_ERROR : kind,
					  .status = status,
					  .result = result,
					  .ctx = ctx } });
}

/* Refuses the operation, at once or later by an event. */
static int refuse(struct mock_end *e, void *ctx, int status)
{
	if (!mock.late)
		return status;
	done(e, WEFT_EV_ERROR, ctx, status, 0);
	return 0;
}

static bool busy(struct mock_end *e)
{
	return mock.busy && ++e->calls % 2;
}

/* ---- regions ---- */

static int m_reg(struct weft_ep *ep, void *p, size_t len,
		 struct weft_ep_mr *mr_p)
{
	struct mock_end *e = end_of(ep);
	uint32_t i = 0;

	if (mock.fault == REG_SAYS && e->regs)
		return -ENOSPC;
	if (mock.fault == REG_KEEPS && e->regs == MOCK_ROOM)
		return -ENOSPC;
	while (i < MOCK_REGIONS && e->reg[i].there)
		i++;
	assert(i < MOCK_REGIONS);
	e->reg[i] = (struct mock_region){ p, len, true };
	e->regs++;
	*mr_p = (struct weft_ep_mr){ .key = 77 + i + 100ull * e->regs,
				     .addr = (uintptr_t)p,
				     .len = len - (mock.fault == REG_LEN) };
	return 0;
}

static struct mock_region *region(struct mock_end *e, uint64_t key)
{
	uint64_t i = key % 100 - 77;

	return key % 100 >= 77 && i < MOCK_REGIONS && e->reg[i].p ? &e->reg[i]
								  : NULL;
}

static int m_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct mock_end *e = end_of(ep);
	struct mock_region *r = region(e, mr->key);

	if (busy(e))
		return -EAGAIN;
	if (mock.fault == DEREG_SAYS)
		return -EIO;
	if (!r || (!r->there && mock.fault != DEREG_TWICE))
		return -EINVAL;
	e->deregs += r->there;
	r->there = false;
	return 0;
}

/* Returns true if the range is in a region of the node. The test's fault may
 * switch off one of the checks. */
static bool place(uint32_t node, uint64_t addr, size_t len, uint64_t key,
		  enum mock_fault beyond, enum mock_fault forged)
{
	struct mock_end *e = &mock.end[node];
	struct mock_region *r = region(e, key);
	uint64_t at;

	if (mock.fault == forged && !r)
		r = &e->reg[0];
	if (!r || (!r->there && mock.fault != GET_GONE))
		return false;
	at = addr - (uintptr_t)r->p;
	return at + len <= r->len || (mock.fault == beyond && at <= r->len);
}

/* ---- messages ---- */

static void deliver(struct mock_end *to, struct mock_event m)
{
	if (mock.fault == SEND_ORDER && m.ev.len && !mock.once) {
		mock.once = true;
		mock.kept = m;
		mock.kept_to = to;
		return;
	}
	push(to, m);
	if (mock.kept_to == to && m.ev.src == mock.kept.ev.src && m.ev.len) {
		push(to, mock.kept);
		mock.kept_to = NULL;
	}
}

/* Damages a message as the test's fault says. */
static void spoil(struct weft_ep_event *ev, uint8_t *copy)
{
	if (mock.fault == SEND_SHORT)
		ev->len--;
	if (mock.fault == SEND_DAMAGE)
		copy[ev->len - 1] ^= 1;
	if (mock.fault == SEND_FORGED)
		ev->imm = (uint64_t)9 << 56;
}

static void count(struct mock_end *e, uint32_t dst, size_t len, uint64_t imm)
{
	if (imm >> 56 == 2)
		e->datas++;
	if (imm >> 56 == 2 && dst == e->node && e->n_lengths < MOCK_LENGTHS)
		e->lengths[e->n_lengths++] = len;
	if (!len)
		return;
	if (!e->longest_msg)
		e->first = weft_host_now(e->ep.host);
	e->to[dst]++;
	if (len > e->longest_msg)
		e->longest_msg = len;
	if (!e->shortest || len < e->shortest)
		e->shortest = len;
}

static int m_send(struct weft_ep *ep, uint32_t dst, const void *buf, size_t len,
		  uint64_t imm, void *ctx)
{
	struct mock_end *e = end_of(ep);
	struct mock_event m = { .ev = { .kind = WEFT_EV_RECV,
					.src = e->node,
					.imm = imm,
					.len = len },
				.at = weft_host_now(ep->host) + MOCK_LATENCY };
	uint8_t *copy;

	if (len > ep->info.max_msg)
		return mock.fault == SEND_LONG ? 0 : -EMSGSIZE;
	if (!mock.end[dst].opens && mock.fault != SEND_NOBODY)
		return refuse(e, ctx, -EINVAL);
	if (busy(e))
		return -EAGAIN;
	if (mock.fault == SEND_SAYS && len)
		return -EIO;
	done(e, WEFT_EV_SENT, ctx, 0, 0);
	if (!mock.end[dst].opens || (mock.fault == SEND_LOST && len))
		return 0;
	count(e, dst, len, imm);
	m.ev.data = copy = malloc(len + 1);
	assert(copy);
	if (len)
		memcpy(copy, buf, len);
	if (len)
		spoil(&m.ev, copy);
	deliver(&mock.end[dst], m);
	return 0;
}

static void m_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct mock_end *e = end_of(ep);
	weft_time_t t = weft_host_now(ep->host) - e->polled;

	if (t > e->longest)
		e->longest = t;
	assert(e->unreleased);
	e->unreleased--;
	e->out_of_order += ev->imm != e->last && e->unreleased;
	free((void *)ev->data);
}

/* ---- remote memory ---- */

static void put_bytes(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	if (mock.fault == PUT_DAMAGE && len)
		((uint8_t *)to)[len - 1] ^= 1;
}

/* Returns the number of bytes, from the end of the buffer, that a fault copies
 * only after the buffer was given back. */
static size_t put_late(size_t len)
{
	if (mock.fault == PUT_LATE)
		return len;
	return mock.fault == PUT_TAIL && len > MOCK_HEAD ? len - MOCK_HEAD : 0;
}

static void put_note(struct mock_end *e, uint32_t dst, const void *buf,
		     size_t len, uint64_t raddr, uint64_t imm)
{
	size_t late = put_late(len);
	struct mock_event m = {
		.ev = { .kind = WEFT_EV_PUT_IN, .src = e->node, .imm = imm },
		.at = weft_host_now(e->ep.host) + MOCK_LATENCY
	};

	if (mock.fault == PUT_IMM)
		m.ev.imm |= (uint64_t)0x3FFF << 40 | 0x7FFFull << 24;
	if (late) {
		m.to = (void *)(uintptr_t)(raddr + len - late);
		m.from = (const uint8_t *)buf + len - late;
		m.bytes = late;
	}
	if (mock.fault != PUT_SILENT)
		push(&mock.end[dst], m);
}

static int m_put(struct weft_ep *ep, uint32_t dst, const void *buf, size_t len,
		 uint64_t raddr, uint64_t rkey, bool notify, uint64_t imm,
		 void *ctx)
{
	struct mock_end *e = end_of(ep);

	if (!place(dst, raddr, len, rkey, PUT_BEYOND, PUT_KEY))
		return refuse(e, ctx, -EINVAL);
	if (busy(e))
		return -EAGAIN;
	if (mock.fault == PUT_SAYS)
		return -EIO;
	done(e, WEFT_EV_PUT, ctx, 0, 0);
	/* programs omit `notify` only in puts that must be refused */
	if (!notify)
		return 0;
	e->puts++;
	put_bytes((void *)(uintptr_t)raddr, buf, len - put_late(len));
	put_note(e, dst, buf, len, raddr, imm);
	return 0;
}

static int m_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		 uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct mock_end *e = end_of(ep);
	uint8_t *b = buf;

	if (!place(dst, raddr, len, rkey, GET_BEYOND, MOCK_NONE))
		return refuse(e, ctx, -EINVAL);
	if (busy(e))
		return -EAGAIN;
	if (mock.fault == GET_SAYS)
		return -EIO;
	done(e, WEFT_EV_GET, ctx, mock.fault == GET_STATUS ? -EIO : 0, 0);
	if (mock.fault == GET_AGAIN)
		done(e, WEFT_EV_GET, ctx, -EIO, 0);
	if (mock.fault == GET_BEYOND)
		return 0;
	e->gets++;
	memcpy(buf, (const void *)(uintptr_t)raddr, len);
	if (mock.fault == GET_DAMAGE && len)
		b[len > 64 ? len - 1 : 0] ^= 1;
	if (mock.fault == GET_OVER)
		b[len] ^= 1;
	return 0;
}

/* Returns the word that an atomic accesses, or NULL if the atomic must be
 * refused. */
static uint64_t *word(uint32_t dst, uint64_t raddr, uint64_t rkey)
{
	if (!place(dst, raddr, 8, rkey, FADD_BEYOND, MOCK_NONE) ||
	    (raddr % 8 && mock.fault != FADD_UNALIGNED))
		return NULL;
	return (uint64_t *)(uintptr_t)raddr;
}

static int m_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		  uint64_t rkey, uint64_t add, void *ctx)
{
	struct mock_end *e = end_of(ep);
	uint64_t *w = word(dst, raddr, rkey);

	if (!w)
		return refuse(e, ctx, -EINVAL);
	if (busy(e))
		return -EAGAIN;
	if (mock.fault == FADD_BEYOND || raddr % 8) {
		done(e, WEFT_EV_ATOMIC, ctx, 0, 0);
		return 0;
	}
	done(e, WEFT_EV_ATOMIC, ctx, mock.fault == FADD_STATUS ? -EIO : 0, *w);
	e->fadds++;
	if (mock.fault != FADD_NONE)
		*w += mock.fault == FADD_TWICE ? 2 * add : add;
	return 0;
}

static int m_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		   uint64_t rkey, uint64_t expect, uint64_t desired, void *ctx)
{
	struct mock_end *e = end_of(ep);
	uint64_t *w = word(dst, raddr, rkey), old;

	if (!w)
		return refuse(e, ctx, -EINVAL);
	if (busy(e))
		return -EAGAIN;
	old = *w;
	e->cswaps++;
	if (mock.fault != CSWAP_NEVER &&
	    (old == expect || mock.fault == CSWAP_ALWAYS))
		*w = desired;
	done(e, WEFT_EV_ATOMIC, ctx, mock.fault == CSWAP_STATUS ? -EIO : 0,
	     old);
	return 0;
}

/* ---- events ---- */

static void hand_out(struct mock_end *e, const struct mock_event *m)
{
	if (m->to)
		put_bytes(m->to, m->from, m->bytes);
	if (m->ev.kind != WEFT_EV_RECV)
		return;
	e->unreleased++;
	if (e->unreleased > e->most_unreleased)
		e->most_unreleased = e->unreleased;
	e->last = m->ev.imm;
}

/* Returns one event at a time, so that unreleased messages can be counted. */
static int m_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct mock_end *e = end_of(ep);
	weft_time_t now = weft_host_now(ep->host);
	uint32_t i = 0;

	assert(max > 0);
	while (i < e->n && e->q[i].at > now)
		i++;
	if (i == e->n)
		return 0;
	hand_out(e, &e->q[i]);
	*ev = e->q[i].ev;
	if (e->polled && now - e->polled > e->quiet)
		e->quiet = now - e->polled;
	e->polled = now;
	memmove(&e->q[i], &e->q[i + 1], (--e->n - i) * sizeof(e->q[0]));
	return 1;
}

static bool due(const struct mock_end *e, weft_time_t now)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->q[i].at <= now)
			return true;
	return false;
}

/* Waits by polling often, because an event may arrive soon. */
static int m_wait(struct weft_ep *ep, weft_time_t deadline)
{
	weft_time_t now = weft_host_now(ep->host), soon = now + 10 * WEFT_US;

	if (mock.fault == WAIT_EARLY)
		deadline -= WEFT_US;
	while (!due(end_of(ep), now) && now < deadline) {
		weft_time_t to =
			now + (now < soon ? 100 * WEFT_NS : 50 * WEFT_US);

		weft_host_sleep(ep->host, to < deadline ? to : deadline);
		now = weft_host_now(ep->host);
	}
	return due(end_of(ep), now) ? 0 : -ETIMEDOUT;
}

static int m_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return m_send(ep, op->dst, op->buf, op->len, op->imm, op->ctx);
	case WEFT_EP_PUT:
		return m_put(ep, op->dst, op->buf, op->len, op->raddr, op->rkey,
			     op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return m_get(ep, op->dst, op->into, op->len, op->raddr,
			     op->rkey, op->ctx);
	case WEFT_EP_FADD:
		return m_fadd(ep, op->dst, op->raddr, op->rkey, op->operand,
			      op->ctx);
	case WEFT_EP_CSWAP:
		return m_cswap(ep, op->dst, op->raddr, op->rkey, op->operand,
			       op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

static void m_close(struct weft_ep *ep)
{
	struct mock_end *e = end_of(ep);

	e->closes++;
	for (uint32_t i = 0; i < e->n; i++)
		free((void *)e->q[i].ev.data);
	e->n = 0;
}

int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p)
{
	static const struct weft_ep_ops ops = {
		m_close, m_reg, m_dereg, m_post, m_poll, m_release, m_wait,
	};
	struct mock_end *e = &mock.end[weft_host_node(h)];

	if (mock.fault == OPEN_SAYS)
		return -EBUSY;
	e->node = weft_host_node(h);
	e->attr = *attr;
	e->opens++;
	e->ep = (struct weft_ep){
		.ops = &ops,
		.host = h,
		.info = { .name = "mock",
			  .caps = mock.caps,
			  .max_msg = attr->max_msg ? attr->max_msg : MOCK_MAX }
	};
	*ep_p = &e->ep;
	return 0;
}

/* ---- runs ---- */

static void set_all(struct weft_comp *c, const char *const *set)
{
	struct weft_err err = { 0 };

	for (; *set; set++) {
		char name[64];
		const char *is = strchr(*set, '=');

		snprintf(name, sizeof(name), "%.*s", (int)(is - *set), *set);
		if (weft_param_set(c, name, is + 1, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			abort();
		}
	}
}

struct bench *mock_run(const struct weft_class *cls, uint32_t nodes,
		       const char *const *set)
{
	struct bench *b = bench_new(nodes);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < nodes; i++) {
		char name[16];
		struct node *n = &b->node[i];

		snprintf(name, sizeof(name), "n%u.prog0", i);
		n->prog[0] = weft_sim_add(b->sim, cls, name, &err);
		assert(n->prog[0]);
		n->progs = 1;
		set_all(n->prog[0], set);
	}
	bench_start(b);
	bench_run(b);
	return b;
}

double mock_metric(struct bench *b, const char *name)
{
	const struct result_metric *m =
		result_metric_get(weft_sim_result(b->sim), name);

	if (m)
		return m->value;
	fprintf(stderr, "no metric %s; %s\n", name, bench_failure(b, 0));
	abort();
}

bool mock_failed(struct bench *b, const char *text)
{
	for (size_t i = 0; *bench_failure(b, i); i++)
		if (strstr(bench_failure(b, i), text))
			return true;
	return false;
}
