/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a direct endpoint, maps the memory of peers, and waits. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "attach/direct_internal.h"

enum {
	SPIN = 400, /* polls before a sleep, about 20 us */
	SPIN_CROWDED = 20,
};

uint64_t att_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns true if the layout in the run's memory fits the memory's size and
 * contains the place (node, slot). */
static bool seg_ok(const struct direct_lay *s, uint64_t bytes, uint32_t node,
		   uint32_t slot)
{
	struct direct_lay want;

	if (s->magic != DIRECT_MAGIC || s->version != DIRECT_VERSION ||
	    !s->nodes || !s->places || s->places > DIRECT_PLACES ||
	    s->places % s->nodes)
		return false;
	want = direct_layout(s->nodes, s->places / s->nodes);
	return want.bytes == bytes && s->bytes == bytes &&
	       s->place_bytes == want.place_bytes &&
	       s->ring_off == want.ring_off && s->ring_step == want.ring_step &&
	       s->ring_bytes == want.ring_bytes && s->max_msg == want.max_msg &&
	       node < s->nodes && slot < s->places / s->nodes;
}

static void *map_fd(int fd, uint64_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_DONTFORK);
	return p;
}

/* ---- peers ---- */

int direct_peer_open(struct direct *d, uint32_t i, enum direct_want why)
{
	struct direct_peer *p = &d->peer[i];
	const void *at;
	int fd = -1, ret;

	if (p->place && why != WANT_MEET)
		return 0;
	ret = direct_want(d, why, i, -1, &fd);
	if (!ret && fd < 0)
		ret = -EPROTO;
	if (!ret && !p->place) {
		at = i == d->me ? d->self
				: map_fd(fd, d->lay.place_bytes, PROT_READ);
		p->units =
			calloc(d->ring_bytes / DIRECT_UNIT, sizeof(*p->units));
		if (at && p->units) {
			p->place = at;
			p->in = (const uint8_t *)at + d->lay.ring_off +
				d->me * d->lay.ring_step;
		} else {
			ret = -ENOMEM;
		}
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* ---- joining ---- */

static void direct_init(struct direct *d)
{
	const uint32_t all = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET |
			     WEFT_EP_FADD | WEFT_EP_CSWAP;
	cpu_set_t set;

	d->n = d->lay.places;
	d->nodes = d->lay.nodes;
	d->ring_bytes = d->lay.ring_bytes;
	d->cpus = sched_getaffinity(0, sizeof(set), &set)
			  ? 1
			  : (uint32_t)CPU_COUNT(&set);
	d->todo_tail = &d->todo;
	d->ep = (struct weft_ep){
		.ops = &direct_ops,
		.info = { .name = "direct",
			  .caps = all,
			  .emulated = WEFT_EP_FADD | WEFT_EP_CSWAP,
			  .max_msg = d->lay.max_msg,
			  .max_put = UINT32_MAX,
			  .align = 1 },
	};
	for (uint32_t i = 0; i < DIRECT_OPS; i++)
		d->op[i].id = i;
}

static void direct_drop(struct direct *d)
{
	for (uint32_t i = 0; d->peer && i < d->n; i++) {
		struct direct_peer *p = &d->peer[i];

		if (p->place && i != d->me)
			munmap((void *)(uintptr_t)p->place, d->lay.place_bytes);
		pidfd_close(&p->who);
		free(p->units);
	}
	if (d->self)
		munmap(d->self, d->lay.place_bytes);
	if (d->bell)
		munmap(d->bell, d->n * sizeof(*d->bell));
	if (d->seg)
		munmap((void *)(uintptr_t)d->seg, d->lay.bytes);
	free(d->peer);
	free(d->active);
	free(d->reply);
	free(d);
}

static int join_run(struct direct *d, const struct direct_way *w)
{
	struct stat st;

	if (fstat(w->fd, &st))
		return -errno;
	d->lay.bytes = (uint64_t)st.st_size;
	if (d->lay.bytes < sizeof(*d->seg))
		return -EPROTO;
	d->seg = map_fd(w->fd, d->lay.bytes, PROT_READ);
	if (!d->seg)
		return -ENOMEM;
	memcpy(&d->lay, d->seg, sizeof(d->lay));
	if (!seg_ok(&d->lay, (uint64_t)st.st_size, w->node, w->slot)) {
		d->lay.bytes = (uint64_t)st.st_size;
		return -EPROTO;
	}
	d->me = w->slot * d->lay.nodes + w->node;
	direct_init(d);
	d->bell = map_fd(w->bell_fd, d->n * sizeof(*d->bell),
			 PROT_READ | PROT_WRITE);
	return d->bell ? 0 : -ENOMEM;
}

/* Makes the process's own memory and publishes it, so that peers can read it
 * from now on. */
static int join_place(struct direct *d)
{
	int fd, ret = -ENOMEM;

	d->self = direct_memory(d->lay.place_bytes, true, &fd);
	if (!d->self)
		return -ENOMEM;
	madvise(d->self, d->lay.place_bytes, MADV_DONTFORK);
	d->peer = calloc(d->n, sizeof(*d->peer));
	d->active = calloc(d->n, sizeof(*d->active));
	d->reply = calloc((size_t)d->n * DIRECT_OPS, sizeof(*d->reply));
	for (uint32_t i = 0; d->peer && i < d->n; i++)
		d->peer[i] = (struct direct_peer){
			.who = { .fd = -1 },
			.out = (uint8_t *)d->self + d->lay.ring_off +
			       i * d->lay.ring_step,
			.room = d->ring_bytes,
		};
	if (d->peer && d->active && d->reply)
		ret = direct_want(d, WANT_PLACE, d->me, fd, NULL);
	close(fd);
	return ret;
}

int direct_open(const struct direct_way *w, struct direct **d_p)
{
	struct direct *d = calloc(1, sizeof(*d));
	int ret = -ENOMEM;

	if (d) {
		d->sock = w->sock;
		ret = join_run(d, w);
	}
	if (!ret)
		ret = join_place(d);
	close(w->fd);
	close(w->bell_fd);
	if (ret && d)
		direct_drop(d);
	else if (!ret)
		*d_p = d;
	return ret;
}

void direct_close(struct direct *d)
{
	if (!d->forked)
		direct_want(d, WANT_LEAVE, d->me, -1, NULL);
	direct_drop(d);
}

void direct_forked(struct direct *d)
{
	d->forked = true;
	d->seg = NULL;
	d->bell = NULL;
	d->self = NULL;
	for (uint32_t i = 0; i < d->n; i++)
		d->peer[i].place = NULL;
}

struct weft_ep *direct_ep(struct direct *d)
{
	return &d->ep;
}

uint64_t direct_acts(const struct direct *d)
{
	return d->acts;
}

weft_time_t direct_now(const struct direct *d)
{
	return (att_now_ns() - d->lay.start_ns) * WEFT_NS;
}

/* Returns the number of polls before a sleep. The number is small when
 * processes share processors, because polling would take time from a peer that
 * has to continue. */
static uint32_t spin_of(struct direct *d)
{
	uint32_t here =
		atomic_load(&d->seg->joined) - atomic_load(&d->seg->leavers);
	uint32_t cpu = (uint32_t)sched_getcpu() + 1;

	if (d->self->cpu != cpu)
		atomic_store(&d->self->cpu, cpu);
	for (uint32_t k = 0; k < d->n_active; k++) {
		uint32_t i = d->active[k];

		if (i != d->me && d->peer[i].place->cpu == cpu &&
		    !d->bell[i].asleep)
			return 0;
	}
	return here <= d->cpus ? SPIN : SPIN_CROWDED;
}

int direct_wait(struct direct *d, uint32_t real_us)
{
	uint64_t end = 0, now;
	uint32_t spin;

	if (d->forked)
		return -EIO;
	for (spin = spin_of(d);;) {
		struct direct_bell *b;

		for (uint32_t i = 0; i <= spin; i++) {
			if (direct_news(d))
				return 0;
			att_pause();
		}
		now = att_now_ns();
		end = end ? end : now + (uint64_t)real_us * 1000;
		if (now >= end)
			return -EAGAIN;
		/* A peer that reads the flag wakes this process. The poll after
		 * setting the flag finds messages that arrived before the flag
		 * was set, so that no wake-up is lost. */
		b = &d->bell[d->me];
		atomic_store(&b->asleep, DIRECT_ASLEEP);
		if (!direct_news(d))
			att_futex_wait(&b->asleep, DIRECT_ASLEEP, end - now);
		atomic_store(&b->asleep, DIRECT_AWAKE);
	}
}
