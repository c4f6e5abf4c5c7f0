/* SPDX-License-Identifier: Apache-2.0 */
/* A server without processes: see serve_rig.h. */
#include "serve_rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* ---- the endpoint ---- */

static int note(struct weft_ep *ep, struct rig_call call)
{
	struct serve_rig *r = (struct serve_rig *)ep;

	assert_true(r->calls < RIG_CALLS);
	r->call[r->calls++] = call;
	return r->answer[call.op];
}

static int ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t imm, void *ctx)
{
	return note(ep, (struct rig_call){ .op = RIG_SEND,
					   .dst = dst,
					   .buf = buf,
					   .len = len,
					   .imm = imm,
					   .ctx = ctx });
}

static int ep_put(struct weft_ep *ep, uint32_t dst, const void *buf, size_t len,
		  uint64_t raddr, uint64_t rkey, bool notify, uint64_t imm,
		  void *ctx)
{
	return note(ep, (struct rig_call){ .op = RIG_PUT,
					   .dst = dst,
					   .buf = buf,
					   .len = len,
					   .raddr = raddr,
					   .rkey = rkey,
					   .notify = notify,
					   .imm = imm,
					   .ctx = ctx });
}

static int ep_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		  uint64_t raddr, uint64_t rkey, void *ctx)
{
	return note(ep, (struct rig_call){ .op = RIG_GET,
					   .dst = dst,
					   .buf = buf,
					   .len = len,
					   .raddr = raddr,
					   .rkey = rkey,
					   .ctx = ctx });
}

static int ep_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		   uint64_t rkey, uint64_t add, void *ctx)
{
	return note(ep, (struct rig_call){ .op = RIG_FADD,
					   .dst = dst,
					   .raddr = raddr,
					   .rkey = rkey,
					   .a = add,
					   .ctx = ctx });
}

static int ep_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		    uint64_t rkey, uint64_t expect, uint64_t desired, void *ctx)
{
	return note(ep, (struct rig_call){ .op = RIG_CSWAP,
					   .dst = dst,
					   .raddr = raddr,
					   .rkey = rkey,
					   .a = expect,
					   .b = desired,
					   .ctx = ctx });
}

static int ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		     struct weft_ep_mr *mr_p)
{
	*mr_p = (struct weft_ep_mr){ .key = 77,
				     .addr = (uintptr_t)p,
				     .len = len };
	return note(ep,
		    (struct rig_call){ .op = RIG_REG, .buf = p, .len = len });
}

static int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	return note(ep, (struct rig_call){ .op = RIG_DEREG,
					   .raddr = mr->addr,
					   .rkey = mr->key,
					   .len = mr->len });
}

static int ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct serve_rig *r = (struct serve_rig *)ep;
	int n = r->events < max ? r->events : max;

	memcpy(ev, r->ev, (size_t)n * sizeof(*ev));
	r->events -= n;
	memmove(r->ev, r->ev + n, (size_t)r->events * sizeof(*ev));
	return n;
}

static void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	note(ep, (struct rig_call){
			 .op = RIG_RELEASE, .buf = ev->data, .len = ev->len });
}

static int ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	return note(ep, (struct rig_call){ .op = RIG_WAIT, .a = deadline });
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
	case WEFT_EP_FADD:
		return ep_fadd(ep, op->dst, op->raddr, op->rkey, op->operand,
			       op->ctx);
	case WEFT_EP_CSWAP:
		return ep_cswap(ep, op->dst, op->raddr, op->rkey, op->operand,
				op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

static const struct weft_ep_ops ops = {
	.mr_reg = ep_mr_reg,
	.mr_dereg = ep_mr_dereg,
	.post = ep_post,
	.poll = ep_poll,
	.release = ep_release,
	.wait = ep_wait,
};

const struct rig_call *rig_last(const struct serve_rig *r)
{
	assert_true(r->calls > 0);
	return &r->call[r->calls - 1];
}

/* ---- clients ---- */

void rig_post(struct att_client *c, struct att_cmd cmd)
{
	struct att_cmd *ring = (void *)((char *)c->seg + c->seg->cmd_off);

	ring[c->seg->cmd_tail % ATT_CMDS] = cmd;
	c->seg->cmd_tail++;
}

bool rig_serve(struct att_client *c)
{
	return !att_serve(c->g, c);
}

bool rig_do(struct att_client *c, struct att_cmd cmd)
{
	rig_post(c, cmd);
	return rig_serve(c);
}

uint32_t rig_events(const struct att_client *c)
{
	return c->ev_tail - c->seg->ev_head;
}

const struct att_event *rig_event(const struct att_client *c, uint32_t i)
{
	assert_true(i < rig_events(c));
	return &c->view.ev[(c->seg->ev_head + i) % ATT_EVENTS];
}

void rig_taken(struct att_client *c)
{
	c->seg->ev_head = c->ev_tail;
}

/* ---- start and end ---- */

static void say(void *arg, const char *line)
{
	struct serve_rig *r = arg;

	strcat(strcat(r->said, line), "\n");
}

static void measured(void *arg, bool begins)
{
	((struct serve_rig *)arg)->measured[begins]++;
}

static void client_up(struct serve_rig *r, uint32_t i)
{
	struct att_client *c = &r->c[i];
	int fd;

	*c = (struct att_client){ .srv = &r->srv,
				  .g = &r->g[i / 2],
				  .node = i / 2,
				  .slot = i % 2,
				  .rank = i,
				  .gen = 1,
				  .pid = getpid(),
				  .who = { .pid = getpid(), .fd = -1 },
				  .sock = r->sock[0] };
	c->far = (struct weft_far_owner){ .pid = c->pid, .who = &c->who };
	fd = att_seg_new(c, c->g);
	assert_true(fd >= 0);
	close(fd);
	vec_push(&c->g->clients, c);
	vec_push(&r->srv.clients, c);
	r->srv.live++;
}

static void client_down(struct att_client *c)
{
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++)
		if (c->msg[i].used)
			free(c->msg[i].own);
	for (; !ring_empty(&c->late); ring_pop(&c->late))
		free(ring_front(&c->late)->m.own);
	ring_free(&c->late);
	munmap(c->seg, c->seg_bytes);
	free(c->calls.sent);
}

static void agent_up(struct serve_rig *r, uint32_t node)
{
	struct att_agent *g = &r->g[node];

	*g = (struct att_agent){ .srv = &r->srv,
				 .prog = weft_prog_of(r->h),
				 .h = r->h,
				 .ep = &r->ep,
				 .node = node,
				 .batch = 16,
				 .cost_clock = 3,
				 .cost_call = 100 };
	vec_push(&r->srv.agents, g);
}

static void agent_down(struct att_agent *g)
{
	for (size_t i = 0; i < sizeof(g->stage) / sizeof(g->stage[0]); i++)
		vec_free(&g->stage[i]);
	vec_free(&g->clients);
	vec_free(&g->mrs);
	vec_free(&g->shadows);
	vec_free(&g->graves);
}

/* Statics are enough, because rig_run() runs one test function at a time. */
static rig_fn the_fn;
static enum weft_att_clock the_clock;

static int rig_main(struct weft_host *h, struct bench *b)
{
	struct serve_rig *r = calloc(1, sizeof(*r));

	r->ep = (struct weft_ep){ .ops = &ops,
				  .info = { .name = "rig",
					    .caps = 3,
					    .emulated = 2,
					    .max_msg = RIG_MSG,
					    .max_put = 7000,
					    .align = 4 } };
	r->h = h;
	r->b = b;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, r->sock), 0);
	r->counters = weft_prog_of(h)->counters;
	weft_prog_of(h)->counters = r->count;
	for (uint32_t i = 0; i < RIG_CLIENTS; i++)
		r->map[i] = i / 2;
	r->srv.o = (struct att_opts){ .clock = the_clock,
				      .ranks = RIG_CLIENTS,
				      .map = r->map,
				      .spin = 5,
				      .cpu_factor = 9,
				      .say = say,
				      .say_arg = r,
				      .measured = measured,
				      .measured_arg = r };
	pthread_mutex_init(&r->srv.lock, NULL);
	for (uint32_t i = 0; i < 2; i++)
		agent_up(r, i);
	for (uint32_t i = 0; i < RIG_CLIENTS; i++)
		client_up(r, i);
	the_fn(r);
	weft_prog_of(h)->counters = r->counters;
	for (uint32_t i = 0; i < RIG_CLIENTS; i++)
		client_down(&r->c[i]);
	for (uint32_t i = 0; i < 2; i++)
		agent_down(&r->g[i]);
	vec_free(&r->srv.agents);
	vec_free(&r->srv.clients);
	vec_free(&r->srv.running);
	vec_free(&r->srv.unborn);
	close(r->sock[0]);
	close(r->sock[1]);
	free(r);
	return 0;
}

void rig_run(rig_fn fn, enum weft_att_clock clock)
{
	struct bench *b = bench_new(1);

	the_fn = fn;
	the_clock = clock;
	bench_well(b, rig_main);
	bench_free(b);
}
