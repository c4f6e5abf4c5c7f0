/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the calls of ep.pingpong (src/programs/ep_pingpong.c) from two attached
 * processes. Prints half the round trip in simulated time, and rates in real
 * time.
 *
 * att_pingpong [BYTES [ROUNDS [START_NS [quick]]]]
 *
 * quick: does not read the clock between messages. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "weft/attach.h"

struct pp {
	struct weft_att *a;
	struct weft_ep *ep;
	uint32_t me, peer;
	uint8_t *buf;
	size_t size;
	bool quick;
};

static weft_time_t pp_now(struct pp *p)
{
	return p->quick ? 0 : weft_att_now(p->a);
}

static void die(const char *what, int ret)
{
	fprintf(stderr, "att_pingpong: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static void pp_send(struct pp *p, const void *data, size_t len, uint64_t seq)
{
	int ret;

	while ((ret = weft_ep_send(p->ep, p->peer, data, len, seq, NULL)) ==
	       -EAGAIN)
		weft_att_wait(p->a, 1000);
	if (ret)
		die("send", ret);
}

static struct weft_ep_event pp_recv(struct pp *p)
{
	struct weft_ep_event ev;
	int ret;

	for (;;) {
		while (p->ep->ops->poll(p->ep, &ev, 1)) {
			if (ev.kind == WEFT_EV_RECV)
				return ev;
			if (ev.kind == WEFT_EV_ERROR)
				die("event", ev.status);
		}
		ret = p->ep->ops->wait(p->ep, WEFT_NEVER);
		if (ret)
			die("wait", ret);
	}
}

static weft_time_t pp_round(struct pp *p, uint64_t seq)
{
	weft_time_t t = pp_now(p);
	struct weft_ep_event ev;

	if (p->me == 0) {
		for (size_t i = 0; i < p->size; i++)
			p->buf[i] = (uint8_t)(seq + i);
		t = pp_now(p);
		pp_send(p, p->buf, p->size, seq);
	}
	ev = pp_recv(p);
	t = pp_now(p) - t;
	for (size_t i = 0; i < p->size; i++)
		if (((const uint8_t *)ev.data)[i] != (uint8_t)(seq + i))
			die("wrong data", -EBADMSG);
	if (ev.len != p->size || ev.imm != seq || ev.src != p->peer)
		die("wrong message", -EBADMSG);
	if (p->me == 1)
		pp_send(p, ev.data, ev.len, seq);
	p->ep->ops->release(p->ep, &ev);
	return t;
}

static double real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	struct pp p = { .size = argc > 1 ? strtoul(argv[1], NULL, 0) : 8 };
	uint64_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : 100;
	weft_time_t start = argc > 3 ? strtoul(argv[3], NULL, 0) * WEFT_NS : 0;
	weft_time_t total = 0;
	double real = real_now();
	int ret = weft_att_open(&p.a);

	if (ret)
		die("open", ret);
	p.ep = weft_att_ep(p.a);
	p.quick = argc > 4;
	p.me = weft_att_info(p.a)->rank;
	p.peer = WEFT_ATT_ADDR(weft_att_info(p.a)->node ^ 1, 0);
	p.buf = malloc(p.size + 8);
	for (weft_time_t t = weft_att_now(p.a); t < start; t = start)
		weft_att_charge(p.a, start - t);
	for (uint64_t i = 0; i < n && p.buf; i++) {
		weft_time_t t = pp_round(&p, i);

		total += i ? t : 0;
		if (i == 0)
			real = real_now();
	}
	real = real_now() - real;
	if (p.me == 0 && n > 1)
		printf("half_rtt %" PRIu64 " fs, %.0f messages/s\n",
		       total / 2 / (n - 1), 2 * (double)(n - 1) / real);
	free(p.buf);
	weft_att_close(p.a);
	return 0;
}
