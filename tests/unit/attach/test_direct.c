/* SPDX-License-Identifier: Apache-2.0 */
/* The direct endpoint between processes: everybody runs the same function in a
 * process of his own; asserts end it, and its status is the result. */
#include "../cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/direct_internal.h"

enum { MAX = 8, MESSAGES = 400 };
enum { DATA = 1, END, KEY }; /* imm */

/* One process. */
struct who {
	struct direct *d;
	struct weft_ep *ep;
	uint32_t me, n;
	uint32_t ends, others; /* who has come to the end; what else came */
	uint32_t deaths, put_ins;
	struct weft_ep_mr mr[MAX];
	uint32_t keys;
	bool no_cma;
};

#define CHECK(x)                                                               \
	do {                                                                   \
		if (!(x)) {                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#x);                                           \
			_exit(1);                                              \
		}                                                              \
	} while (0)

/* ---- the simulator's part ---- */

struct rig {
	struct direct_hub hub;
	int sock[MAX];	 /* of each process; -1: it has ended */
	int theirs[MAX]; /* the other ends, until it has started */
	struct pidfd who[MAX];
	int status[MAX];
};

static void rig_open(struct rig *r, uint32_t nodes, uint32_t slots)
{
	assert_int_equal(direct_make(nodes, slots, &r->hub), 0);
	for (uint32_t i = 0; i < r->hub.places; i++) {
		int s[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
		r->sock[i] = s[0];
		r->theirs[i] = s[1];
		r->who[i] = (struct pidfd){ .fd = -1 };
	}
}

/* True: in the process at that place, which has joined. */
static bool rig_start(struct rig *r, uint32_t i, struct who *w)
{
	uint32_t nodes = r->hub.nodes;
	struct direct_way way = { dup(r->hub.fd), dup(r->hub.bell_fd),
				  r->theirs[i], i % nodes, i / nodes };

	fflush(NULL);
	r->who[i].pid = fork();
	assert_true(r->who[i].pid >= 0);
	if (r->who[i].pid) {
		close(way.fd);
		close(way.bell_fd);
		close(r->theirs[i]);
		r->theirs[i] = -1;
		r->who[i].fd = pidfd_open_pid(r->who[i].pid);
		direct_seat(&r->hub, i % nodes, i / nodes, r->sock[i],
			    r->who[i].fd);
		return false;
	}
	for (uint32_t k = 0; k < r->hub.places; k++) {
		close(r->sock[k]);
		if (k != i && r->theirs[k] >= 0)
			close(r->theirs[k]);
	}
	*w = (struct who){ .me = i, .n = r->hub.places };
	CHECK(!direct_open(&way, &w->d));
	w->ep = direct_ep(w->d);
	alarm(20);
	return true;
}

static void rig_ended(struct rig *r, uint32_t i)
{
	shutdown(r->sock[i], SHUT_RDWR);
	waitpid(r->who[i].pid, &r->status[i], 0);
	direct_dead(&r->hub, i % r->hub.nodes, i / r->hub.nodes);
	close(r->sock[i]);
	pidfd_close(&r->who[i]);
	r->sock[i] = -1;
}

/* Until all of them have ended. */
static void rig_serve(struct rig *r)
{
	struct pollfd p[MAX];
	uint32_t left;

	do {
		left = 0;
		for (uint32_t i = 0; i < r->hub.places; i++) {
			p[i] = (struct pollfd){ r->sock[i], POLLIN, 0 };
			left += r->sock[i] >= 0;
		}
		if (left)
			poll(p, r->hub.places, -1);
		for (uint32_t i = 0; i < r->hub.places; i++)
			if (left && p[i].revents &&
			    direct_serve(&r->hub, i % r->hub.nodes,
					 i / r->hub.nodes))
				rig_ended(r, i);
	} while (left);
}

static uint32_t addr(const struct who *w, uint32_t i)
{
	return direct_addr(w->d, i);
}

static void pattern(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(seed * 31 + i * 7 + i / 251);
}

static bool is_pattern(const uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seed * 31 + i * 7 + i / 251))
			return false;
	return true;
}

static void handle(struct who *w, const struct weft_ep_event *ev)
{
	uint32_t from =
		WEFT_ATT_SLOT(ev->src) * w->d->nodes + WEFT_ATT_NODE(ev->src);

	if (ev->kind == WEFT_EV_RECV) {
		if (ev->imm == KEY) {
			CHECK(ev->len == sizeof(w->mr[0]));
			memcpy(&w->mr[from], ev->data, sizeof(w->mr[0]));
			w->keys++;
		}
		w->ends += ev->imm == END;
		w->ep->ops->release(w->ep, ev);
	} else if (ev->kind == WEFT_EV_PUT_IN) {
		w->put_ins++;
	} else if (ev->kind == WEFT_EV_ERROR && !ev->ctx) {
		CHECK(ev->status == -EPIPE);
		w->deaths++;
	} else {
		w->others++;
		*(struct weft_ep_event *)ev->ctx = *ev;
	}
}

static void serve(struct who *w)
{
	struct weft_ep_event ev;

	if (w->ep->ops->poll(w->ep, &ev, 1))
		handle(w, &ev);
	else
		direct_wait(w->d, 1000);
}

static void post(struct who *w, uint32_t to, const void *p, size_t len,
		 uint32_t imm)
{
	int ret;

	while ((ret = w->ep->ops->send(w->ep, addr(w, to), p, len, imm,
				       NULL)) == -EAGAIN)
		serve(w);
	CHECK(!ret);
}

/* Nobody leaves before all have come here. */
static int finish(struct who *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		post(w, i, NULL, 0, END);
	while (w->ends < w->n)
		serve(w);
	direct_close(w->d);
	return 0;
}

static void run(uint32_t nodes, uint32_t slots, int (*fn)(struct who *w))
{
	struct rig r;
	struct who w;

	rig_open(&r, nodes, slots);
	for (uint32_t i = 0; i < r.hub.places; i++)
		if (rig_start(&r, i, &w))
			_exit(fn(&w));
	rig_serve(&r);
	for (uint32_t i = 0; i < r.hub.places; i++)
		assert_int_equal(r.status[i], 0);
	direct_unmake(&r.hub);
}

/* ---- messages ---- */

/* Lengths around lines and up to the largest, everybody to everybody; some are
 * kept for a while.  Many times around the ring. */
static size_t length(const struct who *w, uint32_t i)
{
	const size_t edge[] = { 0, 1, 8, 47, 48, 49, 112, 113, 4096 };
	size_t k = sizeof(edge) / sizeof(edge[0]);

	return i % 10 < k ? edge[i % 10] : w->ep->info.max_msg - i % 3;
}

static void got_data(struct who *w, const struct weft_ep_event *ev,
		     uint32_t *next)
{
	uint32_t from =
		WEFT_ATT_SLOT(ev->src) * w->d->nodes + WEFT_ATT_NODE(ev->src);
	uint32_t i = next[from];

	if (i == MESSAGES) { /* he has got all of his */
		CHECK(ev->imm == END);
		w->ends++;
		return;
	}
	next[from]++;
	CHECK(ev->kind == WEFT_EV_RECV && ev->imm == i);
	CHECK(ev->len == length(w, i));
	CHECK(is_pattern(ev->data, ev->len, i + from));
}

static int messages_main(struct who *w)
{
	static uint8_t buf[1 << 16];
	struct weft_ep_event ev, kept = { 0 };
	uint32_t next[MAX] = { 0 }, sent[MAX] = { 0 }, left;

	do {
		left = 0;
		for (uint32_t p = 0; p < w->n; p++) {
			if (sent[p] < MESSAGES) {
				size_t len = length(w, sent[p]);

				pattern(buf, len, sent[p] + w->me);
				if (!w->ep->ops->send(w->ep, addr(w, p), buf,
						      len, sent[p], NULL))
					sent[p]++;
			}
			left += 2 * MESSAGES - sent[p] - next[p];
		}
		if (w->ep->ops->poll(w->ep, &ev, 1) == 1) {
			got_data(w, &ev, next);
			if (next[0] % 3)
				w->ep->ops->release(w->ep, &ev);
			if (kept.data)
				w->ep->ops->release(w->ep, &kept);
			kept.data = NULL;
			if (!(next[0] % 3))
				kept = ev;
		} else {
			direct_wait(w->d, 100);
		}
	} while (left);
	if (kept.data)
		w->ep->ops->release(w->ep, &kept);
	return finish(w);
}

static void test_messages(void **state)
{
	run(1, 1, messages_main);
	run(2, 2, messages_main);
}

static int refusals_main(struct who *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	size_t max = w->ep->info.max_msg;

	CHECK(o->send(w->ep, addr(w, 0), w, max + 1, 0, NULL) == -EMSGSIZE);
	CHECK(o->send(w->ep, WEFT_ATT_ADDR(1, 0), w, 8, 0, NULL) == -EINVAL);
	CHECK(o->send(w->ep, WEFT_ATT_ADDR(0, 1), w, 8, 0, NULL) == -EINVAL);
	CHECK(o->send(w->ep, addr(w, 0), w, 8, 1ull << 32, NULL) == -EINVAL);
	CHECK(o->wait(w->ep, direct_now(w->d) + 3 * WEFT_MS) == -ETIMEDOUT);
	return finish(w);
}

static void test_refusals(void **state)
{
	run(1, 1, refusals_main);
}

/* ---- memory ---- */

enum { AREA = 300000 };

static struct weft_ep_event end_of(struct who *w, int ret,
				   struct weft_ep_event *ev)
{
	CHECK(!ret);
	while (!ev->ctx)
		serve(w);
	return *ev;
}

static void exchange(struct who *w, uint8_t *area)
{
	struct weft_ep_mr mr;

	CHECK(!w->ep->ops->mr_reg(w->ep, area, AREA, &mr));
	for (uint32_t i = 0; i < w->n; i++)
		post(w, i, &mr, sizeof(mr), KEY);
	while (w->keys < w->n)
		serve(w);
}

/* Everybody's area has a third for each of three. */
static int memory_main(struct who *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	uint8_t *area = calloc(1, AREA), *buf = calloc(1, AREA);
	size_t third = AREA / 3 - 7, at = third * w->me + 3;

	w->d->no_cma = w->no_cma;
	exchange(w, area);
	pattern(buf, third, w->me);
	for (uint32_t i = 0; i < w->n; i++) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       o->put(w->ep, addr(w, i), buf, third, w->mr[i].addr + at,
			      w->mr[i].key, true, 5, &ev),
		       &ev);
		CHECK(ev.kind == WEFT_EV_PUT && !ev.status);
	}
	while (w->put_ins < w->n)
		serve(w);
	for (uint32_t i = 0; i < w->n; i++)
		CHECK(is_pattern(area + third * i + 3, third, i));
	for (uint32_t i = 0; i < w->n; i++) {
		struct weft_ep_event ev = { 0 };

		memset(buf, 0, AREA);
		end_of(w,
		       o->get(w->ep, addr(w, i), buf, third, w->mr[i].addr + at,
			      w->mr[i].key, &ev),
		       &ev);
		CHECK(ev.kind == WEFT_EV_GET && is_pattern(buf, third, w->me));
	}
	return finish(w);
}

static int memory_no_cma(struct who *w)
{
	w->no_cma = true;
	return memory_main(w);
}

static void test_memory(void **state)
{
	run(3, 1, memory_main);
	run(3, 1, memory_no_cma);
}

static int atomics_main(struct who *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	static uint64_t area[AREA / 8];
	uint64_t last = 0;

	exchange(w, (uint8_t *)area);
	for (uint32_t i = 0; i < 300; i++) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       o->fadd(w->ep, addr(w, 0), w->mr[0].addr, w->mr[0].key,
			       1, &ev),
		       &ev);
		CHECK(ev.kind == WEFT_EV_ATOMIC && (!i || ev.result > last));
		last = ev.result;
	}
	for (uint32_t wins = 0; wins < 100;) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       o->cswap(w->ep, addr(w, 0), w->mr[0].addr + 8,
				w->mr[0].key, last, last + 1, &ev),
		       &ev);
		wins += ev.result == last;
		last = ev.result == last ? last + 1 : ev.result;
	}
	CHECK(o->fadd(w->ep, addr(w, 0), w->mr[0].addr + 4, w->mr[0].key, 1,
		      NULL) == -EINVAL);
	finish(w);
	CHECK(w->me || (area[0] == 300 * w->n && area[1] >= 100 * w->n));
	return 0;
}

static void test_atomics(void **state)
{
	run(2, 2, atomics_main);
}

static int regions_main(struct who *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	struct weft_ep_event ev = { 0 };
	static uint8_t area[AREA];
	struct weft_ep_mr mr, old;

	exchange(w, area);
	old = w->mr[w->me];
	CHECK(o->put(w->ep, addr(w, 0), area, 8, w->mr[0].addr + AREA - 7,
		     w->mr[0].key, false, 0, &ev) == -EINVAL);
	CHECK(o->get(w->ep, addr(w, 0), area, 8, w->mr[0].addr - 1,
		     w->mr[0].key, &ev) == -EINVAL);
	for (uint32_t i = 0; i < 3 * DIRECT_REGIONS; i++) {
		CHECK(!o->mr_reg(w->ep, area, 100 + i, &mr));
		CHECK(!o->mr_dereg(w->ep, &mr));
		CHECK(o->mr_dereg(w->ep, &mr) == -EINVAL);
	}
	CHECK(!o->mr_dereg(w->ep, &old));
	CHECK(!o->mr_reg(w->ep, area, AREA, &mr));
	CHECK(o->get(w->ep, addr(w, w->me), area, 8, old.addr, old.key, &ev) ==
	      -EINVAL);
	return finish(w);
}

static void test_regions(void **state)
{
	run(2, 1, regions_main);
}

/* Memory that is registered, but not there. */
static int hole_main(struct who *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	struct weft_ep_event ev = { 0 };
	uint8_t *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		b[8];
	uint32_t to = !w->me;

	munmap(area + 8192, 4096);
	exchange(w, area);
	end_of(w,
	       o->get(w->ep, addr(w, to), b, 8, w->mr[to].addr + 8192,
		      w->mr[to].key, &ev),
	       &ev);
	CHECK(ev.kind == WEFT_EV_ERROR && ev.status == -EFAULT);
	return finish(w);
}

static void test_hole(void **state)
{
	run(2, 1, hole_main);
}

/* ---- those who go ---- */

/* One dies with a message on the way; the other gets it, then the news, then
 * errors. */
static int survivor(struct who *w)
{
	struct weft_ep_event ev = { 0 };
	bool got = false;

	while (!w->deaths) {
		if (!w->ep->ops->poll(w->ep, &ev, 1)) {
			direct_wait(w->d, 1000);
			continue;
		}
		got |= ev.kind == WEFT_EV_RECV;
		CHECK(got);
		handle(w, &ev);
	}
	CHECK(w->deaths == 1);
	memset(&ev, 0, sizeof(ev));
	end_of(w, w->ep->ops->send(w->ep, addr(w, 1), "x", 1, DATA, &ev), &ev);
	CHECK(ev.kind == WEFT_EV_ERROR && ev.status == -EPIPE);
	direct_close(w->d);
	return 0;
}

static void test_death(void **state)
{
	struct rig r;
	struct who w;

	rig_open(&r, 2, 1);
	if (rig_start(&r, 0, &w))
		_exit(survivor(&w));
	if (rig_start(&r, 1, &w)) {
		post(&w, 0, "last", 5, DATA);
		kill(getpid(), SIGKILL);
	}
	rig_serve(&r);
	assert_true(WIFSIGNALED(r.status[1]));
	assert_int_equal(r.status[0], 0);
	direct_dead(&r.hub, 1, 0); /* once is enough */
	assert_int_equal(r.hub.map->leavers, 2);
	direct_unmake(&r.hub);
}

/* A process that wants a descriptor sleeps in poll. */
static int armed_main(struct who *w)
{
	struct pollfd p = { .events = POLLIN };

	if (w->me) {
		usleep(20000);
		post(w, 0, "x", 1, DATA);
		return finish(w);
	}
	p.fd = w->d->sock;
	while (!direct_arm(w->d)) {
		CHECK(poll(&p, 1, 5000) == 1);
		break;
	}
	CHECK(direct_arm(w->d) == -EAGAIN);
	return finish(w);
}

static void test_armed(void **state)
{
	run(2, 1, armed_main);
}

/* Damage: nothing but what is lost. */
static int scribble_main(struct who *w)
{
	struct weft_ep_event ev[4];

	if (w->me) {
		uint8_t *ring = w->d->peer[0].out;

		post(w, 0, "x", 1, DATA);
		for (uint32_t i = 0; i < w->d->ring_bytes; i++)
			ring[i] = (uint8_t)(i * 2654435761u >> 13);
		memset((void *)w->d->self->region, 0xff, 5000);
		atomic_store(&w->d->self->pair[0].taken, UINT64_MAX - 5);
		_exit(0);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		int n = w->ep->ops->poll(w->ep, ev, 4);

		for (int k = 0; k < n; k++)
			if (ev[k].kind == WEFT_EV_RECV)
				w->ep->ops->release(w->ep, &ev[k]);
		w->ep->ops->send(w->ep, addr(w, 1), ev, 64, DATA, NULL);
		direct_wait(w->d, 10);
	}
	direct_close(w->d);
	return 0;
}

static void test_scribble(void **state)
{
	run(2, 1, scribble_main);
}

/* What others have shown of themselves can be read, not written; nor can who is
 * there be. */
static bool refuses_writes(const void *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return mprotect((void *)((uintptr_t)p & ~(page - 1)), page,
			PROT_READ | PROT_WRITE) != 0;
}

static int walls_main(struct who *w)
{
	int fd = -1;

	exchange(w, calloc(1, AREA));
	CHECK(refuses_writes(w->d->seg));
	CHECK(refuses_writes(w->d->peer[!w->me].place));
	CHECK(refuses_writes(w->d->peer[!w->me].in));
	CHECK(!direct_want(w->d, WANT_PEER, !w->me, -1, &fd));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	      MAP_FAILED);
	CHECK(ftruncate(fd, 0));
	return finish(w);
}

static void test_nobody_writes_the_memory_of_others(void **state)
{
	run(2, 1, walls_main);
}

/* He shows a region that he never registered, and asks himself for it; another
 * one asks for what is behind a region. */
static int asks_main(struct who *w)
{
	static uint64_t secret = 42, area[8];
	struct direct_ask q = { .what = ASK_GET, .a = 8 };

	exchange(w, (uint8_t *)area);
	q.raddr = (uintptr_t)&secret;
	q.rkey = w->mr[w->me].key + 1;
	w->d->self->region[(uint32_t)q.rkey].addr = (uintptr_t)&secret;
	w->d->self->region[(uint32_t)q.rkey].len = 8;
	CHECK(!direct_covers(w->d, q.raddr, q.rkey, 8));
	CHECK(direct_covers(w->d, (uintptr_t)area, w->mr[w->me].key, 8));
	CHECK(!direct_covers(w->d, (uintptr_t)area + AREA - 7, w->mr[w->me].key,
			     8));
	CHECK(!direct_covers(w->d, (uintptr_t)area, UINT32_MAX, 8));
	return finish(w);
}

static void test_requests_are_checked_against_private_memory(void **state)
{
	run(2, 1, asks_main);
}

/* Descriptors that are no memory of a place are refused; so is a second one. */
static int bad_place_main(struct who *w)
{
	int fd = memfd_create("x", MFD_ALLOW_SEALING);

	CHECK(direct_want(w->d, WANT_PLACE, w->me, -1, NULL) == -EINVAL);
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EINVAL);
	CHECK(!ftruncate(fd, (off_t)w->d->lay.place_bytes));
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EINVAL);
	CHECK(!fcntl(fd, F_ADD_SEALS, direct_seals(true)));
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EALREADY);
	CHECK(direct_want(w->d, WANT_PEER, w->n, -1, NULL) == -EPIPE);
	_exit(0); /* that was none of the rules: it is put out */
}

static void test_what_processes_hand_over_is_checked(void **state)
{
	run(1, 1, bad_place_main);
}

/* The first sends before the second has come, more than its ring holds. */
static int early_main(struct who *w)
{
	static uint8_t buf[4096];

	if (!w->me) {
		for (uint32_t i = 0; i < 200; i++)
			post(w, 1, buf, sizeof(buf), DATA);
		return finish(w);
	}
	return finish(w);
}

static void test_messages_wait_for_who_comes_later(void **state)
{
	struct rig r;
	struct who w;

	rig_open(&r, 2, 1);
	if (rig_start(&r, 0, &w))
		_exit(early_main(&w));
	for (uint32_t i = 0; i < 2; i++) { /* it joins, and sends */
		poll(&(struct pollfd){ r.sock[0], POLLIN, 0 }, 1, -1);
		assert_int_equal(direct_serve(&r.hub, 0, 0), 0);
	}
	usleep(20000);
	if (rig_start(&r, 1, &w))
		_exit(early_main(&w));
	rig_serve(&r);
	assert_int_equal(r.status[0] | r.status[1], 0);
	direct_unmake(&r.hub);
}

/* One fills its ring with messages that would go on for ever, and dies: the
 * other is told so. */
static int round_main(struct who *w)
{
	struct weft_ep_event ev;
	uint32_t from = !w->me;

	if (w->me) {
		struct direct_peer *p = &w->d->peer[0];

		post(w, 0, "x", 1, DATA);
		for (uint32_t at = 0; at < w->d->ring_bytes; at += DIRECT_UNIT)
			atomic_store(&direct_head_at(w->d, p->out, at)->mark,
				     DIRECT_MSG << 24 | 1);
		kill(getpid(), SIGKILL);
	}
	while (!w->d->peer[from].left) {
		while (w->ep->ops->poll(w->ep, &ev, 1))
			if (ev.kind == WEFT_EV_RECV)
				w->ep->ops->release(w->ep, &ev);
		direct_wait(w->d, 1000);
	}
	direct_close(w->d);
	return 0;
}

static void test_ring_of_the_dead_ends(void **state)
{
	struct rig r;
	struct who w;

	rig_open(&r, 2, 1);
	for (uint32_t i = 0; i < 2; i++)
		if (rig_start(&r, i, &w))
			_exit(round_main(&w));
	rig_serve(&r);
	assert_int_equal(r.status[0], 0);
	direct_unmake(&r.hub);
}

static int forks_main(struct who *w)
{
	struct weft_ep_event ev;
	int status;
	pid_t pid = fork();

	if (!pid) {
		direct_forked(w->d);
		CHECK(w->ep->ops->send(w->ep, 0, "x", 1, 0, NULL) == -EIO);
		CHECK(!w->ep->ops->poll(w->ep, &ev, 1));
		CHECK(direct_wait(w->d, 10) == -EIO);
		direct_close(w->d);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return finish(w);
}

static void test_forks(void **state)
{
	struct direct_hub hub;

	run(2, 1, forks_main);
	assert_int_equal(direct_make(0, 1, &hub), -E2BIG);
	assert_int_equal(direct_make(1024, 2, &hub), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_armed),
		cmocka_unit_test(test_scribble),
		cmocka_unit_test(test_nobody_writes_the_memory_of_others),
		cmocka_unit_test(
			test_requests_are_checked_against_private_memory),
		cmocka_unit_test(test_what_processes_hand_over_is_checked),
		cmocka_unit_test(test_messages_wait_for_who_comes_later),
		cmocka_unit_test(test_ring_of_the_dead_ends),
		cmocka_unit_test(test_forks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
