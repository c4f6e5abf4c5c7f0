/* SPDX-License-Identifier: Apache-2.0 */
#include "double.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

struct event {
	STAILQ_ENTRY(event) link;
	struct weft_ep_event ev;
	char data[];
};

enum { REGIONS = 256, KEY = 7, STATS = 16 };

struct weft_att {
	struct weft_ep ep;
	struct weft_att_info info;
	STAILQ_HEAD(, event) events;
	unsigned full, regs, direct;
	/* registered memory; len is 0 for a free entry */
	struct weft_ep_mr mr[REGIONS];
	char *memory[REGIONS];
	bool used, dead;
	uint64_t charged;
	unsigned got_on;
	struct double_stat stat[STATS];
};

static struct weft_att nodes[DOUBLE_NODES];
static unsigned opened;
static uint64_t logged;
static int fd = -1; /* never readable */

static void note(uint64_t val)
{
	logged = (logged ^ val) * 1099511628211u;
}

static void note_bytes(const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		note(((const unsigned char *)p)[i]);
}

static void note_call(char what, const struct weft_att *a, uint32_t dst,
		      size_t len, uint64_t imm, const void *ctx)
{
	note((uint64_t)what << 32 | a->info.node);
	note(dst);
	note(len);
	note(imm);
	note(ctx != NULL);
}

static void event_add(struct weft_att *a, struct weft_ep_event ev,
		      const void *data)
{
	struct event *e = malloc(sizeof(*e) + ev.len);

	e->ev = ev;
	if (data)
		memcpy(e->data, data, ev.len);
	e->ev.data = e->data;
	STAILQ_INSERT_TAIL(&a->events, e, link);
}

/* Returns the number of mutexes that this thread holds. Only programs that link
 * tests/unit/locks.c define it. */
int locks_held(void) __attribute__((weak));

/* Returns the attachment of an endpoint. Checks that the provider holds its
 * lock, because only one thread at a time may use an attachment. */
static struct weft_att *att_of(struct weft_ep *ep)
{
	assert(!locks_held || locks_held() > 0);
	return (struct weft_att *)ep;
}

/* Returns the peer. If the peer is dead, reports the error and returns NULL. */
static struct weft_att *peer_of(struct weft_att *a, uint32_t dst, void *ctx)
{
	struct weft_ep_event ev = {
		.kind = WEFT_EV_ERROR, .status = -EPIPE, .src = dst, .ctx = ctx
	};

	if (dst < DOUBLE_NODES && nodes[dst].used && !nodes[dst].dead)
		return &nodes[dst];
	event_add(a, ev, NULL);
	return NULL;
}

/* Begins an operation and returns its peer. If the transport is full, returns
 * NULL with -EAGAIN in *ret_p. If the peer is dead, reports that by an event
 * and returns NULL with 0 in *ret_p. */
static struct weft_att *op_begin(struct weft_att *a, uint32_t dst, void *ctx,
				 int *ret_p)
{
	*ret_p = a->full ? -EAGAIN : 0;
	if (a->full) {
		a->full--;
		return NULL;
	}
	return peer_of(a, dst, ctx);
}

static void op_end(struct weft_att *a, enum weft_ep_kind kind, void *ctx)
{
	if (ctx)
		event_add(a, (struct weft_ep_event){ .kind = kind, .ctx = ctx },
			  NULL);
}

static int ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t imm, void *ctx)
{
	struct weft_att *a = att_of(ep), *p;
	struct weft_ep_event in = { .kind = WEFT_EV_RECV,
				    .len = len,
				    .src = a->info.node,
				    .imm = imm };
	int ret;

	note_call('s', a, dst, len, imm, ctx);
	note_bytes(buf, len);
	p = op_begin(a, dst, ctx, &ret);
	if (p) {
		event_add(p, in, buf);
		op_end(a, WEFT_EV_SENT, ctx);
	}
	return ret;
}

/* Returns the target of an access. If the memory is not registered, returns
 * NULL and reports an error by an event, as a NIC does. */
static char *reaches(struct weft_att *a, const struct weft_att *p,
		     uint64_t addr, uint64_t key, size_t len, void *ctx)
{
	struct weft_ep_event ev = { .kind = WEFT_EV_ERROR,
				    .status = -EFAULT,
				    .src = p->info.node,
				    .ctx = ctx };

	for (unsigned i = 0; i < REGIONS; i++)
		if (key == KEY && p->mr[i].len && addr >= p->mr[i].addr &&
		    len <= p->mr[i].len &&
		    addr - p->mr[i].addr <= p->mr[i].len - len)
			return p->memory[i] + (addr - p->mr[i].addr);
	if (ctx)
		event_add(a, ev, NULL);
	return NULL;
}

static int ep_put(struct weft_ep *ep, uint32_t dst, const void *buf, size_t len,
		  uint64_t raddr, uint64_t rkey, bool notify, uint64_t imm,
		  void *ctx)
{
	struct weft_att *a = att_of(ep), *p;
	struct weft_ep_event in = { .kind = WEFT_EV_PUT_IN,
				    .imm = imm,
				    .src = a->info.node };
	char *to;
	int ret;

	note_call('p', a, dst, len, imm << 1 | notify, ctx);
	note(raddr);
	note_bytes(buf, len);
	p = op_begin(a, dst, ctx, &ret);
	if (!p || !(to = reaches(a, p, raddr, rkey, len, ctx)))
		return ret;
	memcpy(to, buf, len);
	a->direct++;
	if (notify)
		event_add(p, in, NULL);
	op_end(a, WEFT_EV_PUT, ctx);
	return 0;
}

static int ep_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		  uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct weft_att *a = att_of(ep), *p = peer_of(a, dst, ctx);
	const char *from = p ? reaches(a, p, raddr, rkey, len, ctx) : NULL;

	note_call('g', a, dst, len, raddr, ctx);
	if (from) {
		memcpy(buf, from, len);
		a->direct++;
		op_end(a, WEFT_EV_GET, ctx);
	}
	return 0;
}

static int ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		     struct weft_ep_mr *mr)
{
	struct weft_att *a = att_of(ep);
	unsigned i = 0;

	while (i < REGIONS && a->mr[i].len)
		i++;
	if (i == REGIONS)
		return -ENOMEM;
	a->regs++;
	note_call('r', a, i, len, 0, NULL);
	/* Addresses are equal in every run, so that sums of the calls can be
	 * compared. */
	*mr = (struct weft_ep_mr){ .key = KEY,
				   .addr = (uint64_t)(i + 1) << 32,
				   .len = len };
	a->mr[i] = *mr;
	a->memory[i] = p;
	return 0;
}

static int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct weft_att *a = att_of(ep);

	for (unsigned i = 0; i < REGIONS; i++)
		if (a->mr[i].len == mr->len && a->mr[i].addr == mr->addr) {
			note_call('d', a, i, mr->len, 0, NULL);
			a->mr[i].len = 0;
			a->regs--;
			return 0;
		}
	return -EINVAL;
}

static int events_take(struct weft_att *a, struct weft_ep_event *ev, int max)
{
	struct event *e;
	int n = 0;

	while (n < max && (e = STAILQ_FIRST(&a->events))) {
		STAILQ_REMOVE_HEAD(&a->events, link);
		ev[n++] = e->ev;
		if (e->ev.kind != WEFT_EV_RECV)
			free(e);
	}
	return n;
}

static int ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	return events_take(att_of(ep), ev, max);
}

static void event_free(const struct weft_ep_event *ev)
{
	free((char *)ev->data - offsetof(struct event, data));
}

static void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	(void)att_of(ep);
	event_free(ev);
}

static int ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return ep_send(ep, op->dst, op->buf, op->len, op->imm, op->ctx);
	case WEFT_EP_PUT:
		return ep_put(ep, op->dst, op->buf, op->len, op->raddr,
			      op->rkey, op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return ep_get(ep, op->dst, op->into, op->len, op->raddr,
			      op->rkey, op->ctx);
	default:
		return -EOPNOTSUPP;
	}
}

static const struct weft_ep_ops ops = {
	.mr_reg = ep_mr_reg,
	.mr_dereg = ep_mr_dereg,
	.post = ep_post,
	.poll = ep_poll,
	.release = ep_release,
};

void double_reset(void)
{
	struct weft_ep_event ev;

	for (unsigned i = 0; i < DOUBLE_NODES; i++) {
		while (nodes[i].ep.ops && events_take(&nodes[i], &ev, 1))
			if (ev.kind == WEFT_EV_RECV)
				event_free(&ev);
		nodes[i] = (struct weft_att){
			.ep = { .ops = &ops },
			.info = { .node = i,
				  .nodes = DOUBLE_NODES,
				  .slots = 1,
				  .clock = WEFT_CLOCK_NONE,
				  .max_msg = 4096,
				  .caps = WEFT_EP_MSG | WEFT_EP_PUT |
					  WEFT_EP_GET,
				  .max_put = UINT32_MAX },
		};
		STAILQ_INIT(&nodes[i].events);
	}
	opened = 0;
	logged = 0;
	if (fd >= 0)
		close(fd);
	fd = -1;
}

uint64_t double_log(void)
{
	return logged;
}

void double_cost(uint64_t cost)
{
	for (unsigned i = 0; i < DOUBLE_NODES; i++) {
		nodes[i].info.cost_call = cost;
		nodes[i].info.clock = WEFT_CLOCK_FIXED;
	}
}

void double_max_put(uint32_t bytes)
{
	for (unsigned i = 0; i < DOUBLE_NODES; i++)
		nodes[i].info.max_put = bytes;
}

uint64_t double_charged(unsigned node)
{
	return nodes[node].charged;
}

unsigned double_got_on(unsigned node)
{
	return nodes[node].got_on;
}

const struct double_stat *double_stat(unsigned node, const char *name)
{
	for (unsigned i = 0; i < STATS; i++)
		if (!strcmp(nodes[node].stat[i].name, name))
			return &nodes[node].stat[i];
	return NULL;
}

void double_full(unsigned node, unsigned n)
{
	nodes[node].full = n;
}

void double_die(unsigned node)
{
	struct weft_ep_event ev = { .kind = WEFT_EV_ERROR,
				    .status = -EPIPE,
				    .src = node };

	nodes[node].dead = true;
	for (unsigned i = 0; i < DOUBLE_NODES; i++)
		if (i != node)
			event_add(&nodes[i], ev, NULL);
}

void double_forge(unsigned from, unsigned to, const void *msg, size_t len)
{
	struct weft_ep_event in = { .kind = WEFT_EV_RECV,
				    .len = len,
				    .src = from };

	if (nodes[to].used && !nodes[to].dead)
		event_add(&nodes[to], in, msg);
}

unsigned double_direct(unsigned node)
{
	return nodes[node].direct;
}

unsigned double_regs(unsigned node)
{
	return nodes[node].regs;
}

/* ---- weft/attach.h ---- */

int weft_att_open(struct weft_att **a_p)
{
	if (opened == DOUBLE_NODES)
		return -ENOENT;
	*a_p = &nodes[opened++];
	(*a_p)->used = true;
	return 0;
}

void weft_att_close(struct weft_att *a)
{
}

void double_next(unsigned node)
{
	opened = node;
}

const struct weft_att_info *weft_att_info(const struct weft_att *a)
{
	return &a->info;
}

struct weft_ep *weft_att_ep(struct weft_att *a)
{
	return &a->ep;
}

bool weft_att_gone(const struct weft_att *a)
{
	return false;
}

void weft_att_made_progress(struct weft_att *a)
{
	a->got_on++;
}

void weft_att_charge(struct weft_att *a, weft_time_t busy)
{
	a->charged += busy;
}

int weft_att_wait(struct weft_att *a, uint32_t real_us)
{
	return STAILQ_EMPTY(&a->events) ? -EAGAIN : 0;
}

int weft_att_idle(struct weft_att *a)
{
	return -EAGAIN;
}

int weft_att_fd(struct weft_att *a)
{
	if (fd < 0)
		fd = eventfd(0, EFD_CLOEXEC);
	return fd;
}

int weft_att_arm(struct weft_att *a)
{
	return STAILQ_EMPTY(&a->events) ? 0 : -EAGAIN;
}

int weft_att_stat(struct weft_att *a, const char *name)
{
	int i = 0;

	while (a->stat[i].name[0] && strcmp(a->stat[i].name, name))
		i++;
	snprintf(a->stat[i].name, sizeof(a->stat[i].name), "%s", name);
	return i;
}

void weft_att_stat_add(struct weft_att *a, int stat, uint64_t bytes)
{
	a->stat[stat].calls++;
	a->stat[stat].bytes += bytes;
}

void weft_att_stat_begin(struct weft_att *a, int stat)
{
	a->stat[stat].begun++;
}

void weft_att_stat_end(struct weft_att *a, int stat)
{
	a->stat[stat].ended++;
}

void weft_att_stat_drop(struct weft_att *a, int stat)
{
	a->stat[stat].dropped++;
}
