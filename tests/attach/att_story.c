/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes make every call of weft/attach.h, right and wrong, and print
 * the results, events and times. Repeated runs with a clock print equal lines.
 * Runs without one (--clock none) print no times.
 *
 * att_story */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/attach.h"

enum { AREA = 1 << 20, WORD = AREA - 64 };
/* values of imm (immediate data). TURN: the sender has reached meet(). REGION:
 * the message holds the sender's region. */
enum { TURN = 1 << 20, REGION };
#define LONG_AGO (50 * WEFT_US)

static struct weft_att *att;
static struct weft_ep *ep;
static uint32_t me, peer;
static bool timed;
static struct weft_ep_mr mr[2];
/* The arrays are aligned, because the time of an operation depends on the
 * offset of its buffer in a page. */
static uint8_t area[AREA] __attribute__((aligned(4096)));
static uint8_t back[AREA] __attribute__((aligned(4096)));

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
	va_list ap;

	printf("%u: ", me);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void say_time(const char *what)
{
	if (timed)
		say("%s at %" PRIu64 ", seen %" PRIu64, what, weft_att_now(att),
		    weft_att_seen(att));
}

static uint32_t sum(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint32_t s = 1;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + b[i];
	return s;
}

/* ---- events ---- */

static void say_event(const struct weft_ep_event *ev)
{
	say("event %d, status %d, from %x, imm %" PRIu64
	    ", %zu bytes %x, "
	    "result %" PRIu64 ", ctx %zu",
	    ev->kind, ev->status, ev->src, ev->imm, ev->len,
	    ev->kind == WEFT_EV_RECV ? sum(ev->data, ev->len) : 0, ev->result,
	    ev->ctx ? (size_t)((uint8_t *)ev->ctx - area) : 0);
}

/* Waits for one more event of this kind. Remembers events of other kinds,
 * because without a clock a message may arrive before the end of an operation
 * that was posted earlier. */
static void until(enum weft_ep_kind kind)
{
	static uint32_t seen[WEFT_EV_ERROR + 1], wanted[WEFT_EV_ERROR + 1];
	struct weft_ep_event ev;

	for (wanted[kind]++; seen[kind] < wanted[kind]; seen[ev.kind]++) {
		while (!ep->ops->poll(ep, &ev, 1))
			ep->ops->wait(ep, WEFT_NEVER);
		if (ev.kind == WEFT_EV_RECV && ev.imm == REGION)
			memcpy(&mr[!me], ev.data, sizeof(mr[0]));
		else
			say_event(&ev);
		ep->ops->release(ep, &ev);
	}
}

/* Waits until the other rank has reached this call. */
static void meet(void)
{
	int ret;

	do {
		ret = weft_ep_send(ep, peer, area, 100, TURN, NULL);
	} while (ret == -EAGAIN);
	until(WEFT_EV_RECV);
	say_time("met");
}

/* ---- parts ---- */

static void part_info(void)
{
	const struct weft_att_info *i = weft_att_info(att);

	say("version %u, node %u of %u, slot %u of %u, rank %u of %u, clock %d",
	    i->version, i->node, i->nodes, i->slot, i->slots, i->rank, i->ranks,
	    i->clock);
	say("call %" PRIu64
	    ", message %u, put %u, align %u, caps %x, "
	    "emulated %x, %s",
	    i->cost_call, i->max_msg, i->max_put, i->align, i->caps,
	    i->emulated, i->nic);
	say("endpoint: %s, caps %x, emulated %x, message %u, put %u, align %u",
	    ep->info.name, ep->info.caps, ep->info.emulated, ep->info.max_msg,
	    ep->info.max_put, ep->info.align);
}

/* Tests sizes around the alignment of a segment, and the largest size. */
static void part_messages(void)
{
	const size_t sizes[] = { 0, 1, 63, 64, 65, 1000, ep->info.max_msg };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		area[0] = (uint8_t)(i + me);
		say("send %d", weft_ep_send(ep, peer, area, sizes[i],
					    i ? UINT32_MAX - i : 0,
					    i % 2 ? area + i : NULL));
		if (i % 2)
			until(WEFT_EV_SENT);
		until(WEFT_EV_RECV);
		say_time("message");
	}
}

static void part_regions(void)
{
	struct weft_ep_mr none = { .key = 12345, .addr = 4096, .len = 64 };

	say("reg %d", ep->ops->mr_reg(ep, area, AREA, &mr[me]));
	say("length %zu", mr[me].len);
	say("reg %d", ep->ops->mr_reg(ep, area, (size_t)1 << 60, &none));
	say("dereg %d", ep->ops->mr_dereg(ep, &none));
	weft_ep_send(ep, peer, &mr[me], sizeof(mr[me]), REGION, NULL);
	until(WEFT_EV_RECV);
}

/* Rank 0 accesses the memory of rank 1, then rank 1 that of rank 0. */
static void part_remote(void)
{
	static const size_t sizes[] = { 1, 64, 4096, 70000 };
	const struct weft_ep_mr *m = &mr[!me];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];

		memset(back, (int)(i + 7 * me), n);
		say("put %d",
		    weft_ep_post(ep, &(struct weft_ep_op){
					     .code = WEFT_EP_PUT,
					     .dst = peer,
					     .buf = back,
					     .len = n,
					     .raddr = m->addr + 65536,
					     .rkey = m->key,
					     .notify = i % 2,
					     .imm = 70 + i,
					     .ctx = i ? area + i : NULL }));
		if (i) {
			until(WEFT_EV_PUT);
			say("get %d",
			    weft_ep_post(ep, &(struct weft_ep_op){
						     .code = WEFT_EP_GET,
						     .dst = peer,
						     .into = back,
						     .len = n,
						     .raddr = m->addr + 65536,
						     .rkey = m->key,
						     .ctx = area + n }));
			until(WEFT_EV_GET);
			say("%zu bytes %x", n, timed ? sum(back, n) : 0);
		}
		meet();
	}
	say("add %d",
	    weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
						   .dst = peer,
						   .raddr = m->addr + WORD,
						   .rkey = m->key,
						   .operand = 5,
						   .ctx = area }));
	until(WEFT_EV_ATOMIC);
	for (uint64_t old = 4; old < 6; old++) {
		say("swap %d", weft_ep_post(ep, &(struct weft_ep_op){
							.code = WEFT_EP_CSWAP,
							.dst = peer,
							.raddr = m->addr + WORD,
							.rkey = m->key,
							.operand = old,
							.desired = 77,
							.ctx = area + old }));
		until(WEFT_EV_ATOMIC);
	}
	meet();
	say("%" PRIu64, *(uint64_t *)(area + WORD));
}

static void wrong_ends(int ret)
{
	say("wrong %d", ret);
	if (!ret)
		until(WEFT_EV_ERROR);
}

static void part_wrong(void)
{
	const struct weft_ep_mr *m = &mr[!me];
	uint32_t nobody = WEFT_ATT_ADDR(me, 7);
	uint64_t bad = m->addr + AREA - 4;

	wrong_ends(
		weft_ep_send(ep, peer, area, ep->info.max_msg + 1u, 0, area));
	wrong_ends(weft_ep_send(ep, peer, area, 1, 1ull << 32, area));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = peer,
							  .buf = area,
							  .len = 1,
							  .raddr = m->addr,
							  .rkey = m->key,
							  .notify = true,
							  .imm = 1ull << 32,
							  .ctx = area }));
	wrong_ends(weft_ep_send(ep, nobody, area, 1, 3, area));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = nobody,
							  .buf = area,
							  .len = 1,
							  .raddr = 0,
							  .rkey = 0,
							  .notify = true,
							  .imm = 3,
							  .ctx = area + 1 }));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
							  .dst = nobody,
							  .into = area,
							  .len = 1,
							  .raddr = 0,
							  .rkey = 0,
							  .ctx = area + 2 }));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
							  .dst = nobody,
							  .raddr = 0,
							  .rkey = 0,
							  .operand = 1,
							  .ctx = area + 3 }));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_CSWAP,
							  .dst = nobody,
							  .raddr = 0,
							  .rkey = 0,
							  .operand = 1,
							  .desired = 2,
							  .ctx = area + 4 }));
	meet();
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
							  .dst = peer,
							  .buf = back,
							  .len = 8,
							  .raddr = bad,
							  .rkey = m->key,
							  .ctx = area + 5 }));
	wrong_ends(weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
							  .dst = peer,
							  .into = back,
							  .len = 8,
							  .raddr = bad,
							  .rkey = m->key,
							  .ctx = area + 6 }));
	meet();
}

/* Lets time pass while no event arrives: by a charge, by waits with a deadline,
 * and by polls. */
static void part_time(void)
{
	weft_time_t t;

	if (!timed)
		return;
	say_time("charge");
	weft_att_charge(att, 12345 * WEFT_NS);
	say_time("charged");
	t = weft_att_now(att);
	say("wait %d", ep->ops->wait(ep, t + LONG_AGO));
	say_time("waited");
	say("wait %d", ep->ops->wait(ep, t));
	say_time("at once");
	weft_att_enter(att, true);
	for (int i = 0; i < 600; i++) {
		int ret = weft_att_idle(att);

		if (i % 50 < 2 || ret != -EAGAIN)
			say("glance %d: %d at %" PRIu64, i, ret,
			    weft_att_seen(att));
	}
	weft_att_leave(att);
	for (int i = 0; i < 40; i++) {
		weft_att_enter(att, false);
		for (int k = 0; k < 10; k++)
			weft_att_idle(att);
		weft_att_leave(att);
	}
	say_time("looked in vain");
	meet();
}

static void part_calls(void)
{
	int stat[3], last = 0;

	stat[0] = weft_att_stat(att, "alone");
	stat[1] = weft_att_stat(att, "a_name_of_more_than_23_letters");
	stat[2] = weft_att_stat(att, "sends");
	say("stats %d %d %d, again %d", stat[0], stat[1], stat[2],
	    weft_att_stat(att, "alone"));
	for (int i = 0; i < 300; i++) {
		int s = stat[i % 3];

		weft_att_stat_begin(att, s);
		weft_att_charge(att, (uint64_t)(i + 1) * WEFT_NS);
		if (s == stat[2] && i % 2)
			weft_ep_send(ep, peer, area, 8, 9, NULL);
		weft_att_stat_begin(att, stat[0]);
		weft_att_charge(att, WEFT_NS);
		weft_att_stat_end(att, stat[0]);
		if (i % 7 == 3)
			weft_att_stat_drop(att, s);
		else
			weft_att_stat_end(att, s);
		weft_att_stat_add(att, s, (uint64_t)i);
	}
	weft_att_stat_add(att, -1, 5);
	weft_att_stat_add(att, 77, 5);
	weft_att_stat_begin(att, -1);
	weft_att_stat_end(att, 100);
	for (int i = 0; i < 50; i++)
		until(WEFT_EV_RECV);
	for (int i = 0; last >= 0 && i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "more%d", i);
		last = weft_att_stat(att, name);
		if (last < 0)
			say("name %d: %d", i, last);
	}
	meet();
}

/* Sleeps in poll() on the socket of the attachment. An event wakes the process,
 * even if the process polls just before the hand-over. */
static void part_descriptor(void)
{
	struct pollfd p = { .fd = weft_att_fd(att), .events = POLLIN };

	for (int i = 0; i < 200; i++) {
		if (i % 2 == (int)me)
			weft_ep_send(ep, peer, area, 10, 11, NULL);
		else if (!weft_att_arm(att))
			poll(&p, 1, -1);
		if (i % 2 != (int)me && weft_att_arm(att) != -EAGAIN)
			say("round %d: nothing to see", i);
		if (i % 2 != (int)me)
			until(WEFT_EV_RECV);
	}
	say_time("descriptor");
	meet();
}

/* Lets rank 1 send, then rank 0. A message that is sent aside (weft_att_aside)
 * would overtake messages in flight, therefore only one message may be in
 * flight at a time. */
static void by_turns(uint64_t imm)
{
	if (me)
		weft_ep_send(ep, peer, area, 20, imm, NULL);
	until(WEFT_EV_RECV);
	if (!me)
		weft_ep_send(ep, peer, area, 20, imm, NULL);
}

static void part_measured(void)
{
	weft_time_t t = 0;
	int ret;

	by_turns(20);
	weft_att_aside(att);
	by_turns(21);
	ret = weft_att_epoch(att, 5, 2, &t);
	say("start %d at %" PRIu64, ret, timed ? t : 0);
	part_calls();
	say_time("measured");
	weft_att_over(att);
	say("end %d", weft_att_epoch_end(att, 5, 2));
	by_turns(22);
	say("gone %d", weft_att_gone(att));
}

int main(void)
{
	static void (*const parts[])(void) = {
		part_messages, part_regions,	part_remote, part_wrong,
		part_time,     part_descriptor, part_calls,  part_measured,
	};
	struct weft_att *again;
	int ret = weft_att_open(&att);

	if (ret)
		return 2;
	ep = weft_att_ep(att);
	me = weft_att_info(att)->rank;
	peer = WEFT_ATT_ADDR(!me, 0);
	timed = weft_att_info(att)->clock != WEFT_CLOCK_NONE;
	for (size_t i = 0; i < AREA; i++)
		area[i] = i < WORD ? (uint8_t)(i * 7 + me) : 0;
	/* line buffering keeps the lines of both ranks whole */
	setvbuf(stdout, NULL, _IOLBF, 0);
	part_info();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		say("part %zu", i);
		parts[i]();
	}
	say("dereg %d", ep->ops->mr_dereg(ep, &mr[me]));
	say("dereg %d", ep->ops->mr_dereg(ep, &mr[me]));
	say("open %d", weft_att_open(&again) || again != att);
	weft_att_close(again);
	say_time("last");
	weft_att_close(att);
	return 0;
}
