/* SPDX-License-Identifier: Apache-2.0 */
/* A good process and a bad one in direct mode (attach/direct.h). The bad
 * process writes arbitrary values into its own memory and into the bells, and
 * sends arbitrary requests to the simulator. Both processes are objects in one
 * process of the operating system, and the simulator is a thread of it. Neither
 * the simulator nor the good process may crash, hang, read past a ring or lose
 * memory.
 *
 * An input is a string of operations, one byte each followed by its
 * arguments. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "attach/direct_internal.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GOOD, BAD, AREA = 1 << 16, TURNS = 300 };

struct fuzz {
	struct fuzz_in in;
	struct direct_hub hub;
	int sock[2], theirs[2];
	pthread_t hub_thread;
	struct direct *d[2];
	struct weft_ep_mr mr;
	struct weft_ep_event kept;
};

static uint8_t area[AREA], spare[AREA];

/* ---- the simulator ---- */

static void *serve(void *arg)
{
	struct fuzz *f = arg;

	while (f->sock[GOOD] >= 0) {
		struct pollfd p[2] = { { f->sock[0], POLLIN, 0 },
				       { f->sock[1], POLLIN, 0 } };

		poll(p, 2, -1);
		for (int i = 0; i < 2; i++) {
			if (!p[i].revents ||
			    !direct_serve(&f->hub, (uint32_t)i, 0))
				continue;
			direct_dead(&f->hub, (uint32_t)i, 0);
			close(f->sock[i]);
			f->sock[i] = -1;
		}
	}
	return NULL;
}

static void up(struct fuzz *f)
{
	if (direct_make(2, 1, &f->hub))
		abort();
	for (uint32_t i = 0; i < 2; i++) {
		int s[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s))
			abort();
		f->sock[i] = s[0];
		f->theirs[i] = s[1];
		direct_seat(&f->hub, i, 0, s[0], -1);
	}
	if (pthread_create(&f->hub_thread, NULL, serve, f))
		abort();
	for (uint32_t i = 0; i < 2; i++) {
		struct direct_way w = { dup(f->hub.fd), dup(f->hub.bell_fd),
					f->theirs[i], i, 0 };

		if (direct_open(&w, &f->d[i]))
			abort();
	}
}

static void down(struct fuzz *f)
{
	close(f->theirs[BAD]); /* When this socket closes, the simulator
				* declares the bad client dead. The good client
				* closes its connection as it should. */
	direct_close(f->d[GOOD]);
	close(f->theirs[GOOD]);
	pthread_join(f->hub_thread, NULL);
	f->d[BAD]->ep.ops = NULL;
	direct_close(f->d[BAD]);
	if (f->sock[BAD] >= 0)
		close(f->sock[BAD]);
	direct_unmake(&f->hub);
}

/* ---- the bad process ---- */

static void op_word(struct fuzz *f)
{
	struct direct *d = f->d[BAD];
	uint64_t off = take(&f->in, 2) * 4;
	uint32_t v = (uint32_t)take(&f->in, 4);

	if (take(&f->in, 1) % 4 == 0)
		off = offsetof(struct direct_place, pair) + off % 512;
	else
		off += (uint64_t)(d->peer[GOOD].out - (uint8_t *)d->self);
	if (off + 4 <= d->lay.place_bytes)
		memcpy((uint8_t *)d->self + off, &v, 4);
}

/* Sends a message whose kind, length and fields may break the rules. */
static void op_message(struct fuzz *f)
{
	struct direct *d = f->d[BAD];
	struct direct_ask q = { .what = take(&f->in, 1) % 5,
				.id = (uint32_t)take(&f->in, 1),
				.rkey = f->mr.key + take(&f->in, 1) % 2,
				.raddr = f->mr.addr + take(&f->in, 2),
				.a = take(&f->in, 2),
				.b = take(&f->in, 1) };
	size_t len = take(&f->in, 1) & 1 ? sizeof(q) : take(&f->in, 2) % 4000;
	struct direct_head *h = direct_begin(d, GOOD, len);

	if (!h)
		return;
	memset(h + 1, 0, len);
	memcpy(h + 1, &q, len < sizeof(q) ? len : sizeof(q));
	direct_commit(d, GOOD, h, (enum direct_kind)(take(&f->in, 1) % 7), len,
		      1);
}

/* Sends a request. Waits for the answer if the request has one. */
static void op_say(struct fuzz *f)
{
	struct direct_req q = { .what = (uint32_t)take(&f->in, 1) % WANTS,
				.place = (uint32_t)take(&f->in, 1) & 1 };
	struct direct *d = f->d[BAD];
	int fd = -1;

	if (q.what == WANT_LEAVE || q.what == WANT_RING)
		direct_say(d->sock, &q, sizeof(q), -1);
	else
		direct_want(d, (enum direct_want)q.what, q.place,
			    take(&f->in, 1) & 1 ? d->sock : -1, &fd);
	if (fd >= 0)
		close(fd);
}

static void op_bell(struct fuzz *f)
{
	atomic_store(&f->d[BAD]->bell[take(&f->in, 1) & 1].asleep,
		     (uint32_t)take(&f->in, 1) % 4);
}

/* ---- the good process ---- */

static void op_poll(struct fuzz *f)
{
	struct weft_ep *ep = direct_ep(f->d[GOOD]);
	struct weft_ep_event ev;

	for (int i = 0; i < 64 && ep->ops->poll(ep, &ev, 1); i++) {
		if (ev.kind == WEFT_EV_RECV && ev.len)
			spare[0] ^= ((const uint8_t *)ev.data)[ev.len - 1];
		if (ev.kind == WEFT_EV_RECV && !f->kept.data) {
			f->kept = ev;
			continue;
		}
		ep->ops->release(ep, &ev);
	}
}

static void op_release(struct fuzz *f)
{
	struct weft_ep *ep = direct_ep(f->d[GOOD]);

	if (f->kept.data)
		ep->ops->release(ep, &f->kept);
	if (take(&f->in, 1) & 1)
		/* In half of the cases the fuzzer forgets the released event.
		 * In the other half a later call releases the event a second
		 * time, which must do no harm. */
		f->kept.data = NULL;
}

static void op_send(struct fuzz *f)
{
	struct weft_ep *ep = direct_ep(f->d[GOOD]);

	weft_ep_send(ep, WEFT_ATT_ADDR(BAD, 0), area, take(&f->in, 2) % 16385,
		     1, area);
}

static void op_remote(struct fuzz *f)
{
	struct weft_ep *ep = direct_ep(f->d[GOOD]);
	uint32_t to = WEFT_ATT_ADDR(BAD, 0);
	uint64_t key = take(&f->in, 1), addr = take(&f->in, 2);

	if (take(&f->in, 1) & 1)
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
						       .dst = to,
						       .into = spare,
						       .len = take(&f->in, 2),
						       .raddr = addr,
						       .rkey = key,
						       .ctx = spare });
	else
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						       .dst = to,
						       .buf = area,
						       .len = take(&f->in, 2),
						       .raddr = addr,
						       .rkey = key,
						       .notify = true,
						       .imm = 1,
						       .ctx = area });
}

static void op_region(struct fuzz *f)
{
	struct weft_ep *ep = direct_ep(f->d[GOOD]);

	if (take(&f->in, 1) & 1)
		ep->ops->mr_dereg(ep, &f->mr);
	else
		ep->ops->mr_reg(ep, area, AREA / 2, &f->mr);
}

/* Announces arbitrary regions as memory of the bad process. */
static void op_show(struct fuzz *f)
{
	struct direct_region *r =
		&f->d[BAD]->self->region[take(&f->in, 1) % DIRECT_REGIONS];

	atomic_store(&r->addr, take(&f->in, 2));
	atomic_store(&r->len, take(&f->in, 2));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const ops[])(struct fuzz *) = {
		op_word,    op_word, op_message, op_message, op_message,
		op_message, op_say,  op_bell,	 op_poll,    op_poll,
		op_release, op_send, op_remote,	 op_region,  op_show,
	};
	struct fuzz f = { .in = { data, data + size } };
	struct weft_ep *ep;

	up(&f);
	ep = direct_ep(f.d[GOOD]);
	/* Both clients are in one process, so addresses of either are valid for
	 * the other. */
	f.d[GOOD]->no_cma = true;
	ep->ops->mr_reg(ep, area, AREA / 2, &f.mr);
	for (int i = 0; i < TURNS && f.in.p < f.in.end; i++)
		ops[take(&f.in, 1) % (sizeof(ops) / sizeof(ops[0]))](&f);
	op_poll(&f);
	down(&f);
	return 0;
}
