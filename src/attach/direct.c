/* SPDX-License-Identifier: Apache-2.0 */
/* Direct endpoint: the segment, joining and leaving, waiting. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "attach/direct_int.h"

/* Few processes get longer rings. */
enum {
	RING_MANY = 32 << 10,
	RING_FEW = 256 << 10,
	FEW = 16,
	MSG_MANY = 4096,
	MSG_FEW = 16384,
	SPIN = 400, /* turns, about 20 us */
	SPIN_CROWDED = 20,
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t round_up(uint64_t x)
{
	return (x + 4095) & ~4095ull;
}

struct direct_place *direct_place(struct direct_seg *s,
				  const struct direct_seg *lay, uint32_t i)
{
	return (struct direct_place *)((uint8_t *)s + lay->place_off) + i;
}

static struct direct_ring *ring_of(struct direct_seg *s,
				   const struct direct_seg *lay, uint32_t to,
				   uint32_t from)
{
	return (struct direct_ring *)((uint8_t *)s + lay->ring_off +
				      ((uint64_t)to * lay->places + from) *
					      lay->ring_step);
}

static struct direct_seg seg_layout(uint32_t nodes, uint32_t slots)
{
	struct direct_seg s = { .magic = DIRECT_MAGIC,
				.version = DIRECT_VERSION,
				.nodes = nodes,
				.places = nodes * slots,
				.start_ns = now_ns() };
	bool few = s.places <= FEW;

	s.ring_bytes = few ? RING_FEW : RING_MANY;
	s.max_msg = few ? MSG_FEW : MSG_MANY;
	s.place_off = round_up(sizeof(s));
	s.ring_off =
		round_up(s.place_off + s.places * sizeof(struct direct_place));
	s.ring_step = round_up(sizeof(struct direct_ring) + s.ring_bytes);
	s.bytes = s.ring_off + (uint64_t)s.places * s.places * s.ring_step;
	return s;
}

static int seg_map(struct direct_hub *h, struct direct_seg *s)
{
	void *p;

	if (getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id))
		return -EIO;
	h->fd = memfd_create("weft-direct", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (h->fd < 0 || ftruncate(h->fd, (off_t)s->bytes) ||
	    fcntl(h->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	memcpy(p, s, sizeof(*s)); /* everything else is zero */
	h->map = p;
	return 0;
}

int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p)
{
	struct direct_seg s;
	int ret;

	if (!nodes || !slots || nodes > DIRECT_PLACES ||
	    slots > DIRECT_PLACES / nodes)
		return -E2BIG;
	s = seg_layout(nodes, slots);
	*hub_p = (struct direct_hub){
		.fd = -1, .bytes = s.bytes, .nodes = nodes, .places = s.places
	};
	ret = seg_map(hub_p, &s);
	if (ret)
		direct_unmake(hub_p);
	return ret;
}

/* Everybody may be waiting for him. */
static void seg_left(struct direct_seg *s, const struct direct_seg *lay,
		     uint32_t i, enum direct_state as)
{
	struct direct_place *him = direct_place(s, lay, i);

	if (atomic_load(&him->state) >= DIRECT_LEFT)
		return;
	atomic_store(&him->state, as);
	atomic_fetch_add(&s->leavers, 1);
	for (uint32_t k = 0; k < lay->places; k++)
		direct_wake(direct_place(s, lay, k), lay->id, k);
}

/* Nothing is taken from the segment but the name of the sockets. */
void direct_dead(const struct direct_hub *hub, uint32_t node, uint32_t slot)
{
	struct direct_seg lay =
		seg_layout(hub->nodes, hub->places / hub->nodes);

	lay.id = hub->map->id;
	if (node < hub->nodes && slot * hub->nodes + node < hub->places)
		seg_left(hub->map, &lay, slot * hub->nodes + node, DIRECT_DEAD);
}

void direct_unmake(struct direct_hub *hub)
{
	if (hub->map)
		munmap(hub->map, hub->bytes);
	if (hub->fd >= 0)
		close(hub->fd);
	hub->map = NULL;
	hub->fd = -1;
}

/* ---- in a process ---- */

/* What the segment says of itself fits what it is. */
static bool seg_ok(const struct direct_seg *s, uint64_t bytes, uint32_t node,
		   uint32_t slot)
{
	struct direct_seg want;

	if (s->magic != DIRECT_MAGIC || s->version != DIRECT_VERSION ||
	    !s->nodes || !s->places || s->places > DIRECT_PLACES ||
	    s->places % s->nodes)
		return false;
	want = seg_layout(s->nodes, s->places / s->nodes);
	return want.bytes == bytes && s->bytes == bytes &&
	       s->place_off == want.place_off && s->ring_off == want.ring_off &&
	       s->ring_step == want.ring_step &&
	       s->ring_bytes == want.ring_bytes && s->max_msg == want.max_msg &&
	       node < s->nodes && slot < s->places / s->nodes;
}

static uint32_t cpus_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set)
		       ? 1
		       : (uint32_t)CPU_COUNT(&set);
}

static int peers_new(struct direct *d)
{
	d->peer = calloc(d->n, sizeof(*d->peer));
	d->active = calloc(d->n, sizeof(*d->active));
	d->reply = calloc((size_t)d->n * DIRECT_OPS, sizeof(*d->reply));
	if (!d->peer || !d->active || !d->reply)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n; i++)
		d->peer[i] = (struct direct_peer){
			.place = direct_place(d->seg, &d->lay, i),
			.out = ring_of(d->seg, &d->lay, i, d->me),
			.in = ring_of(d->seg, &d->lay, d->me, i),
			.room = d->ring_bytes,
		};
	return 0;
}

static void direct_init(struct direct *d)
{
	const uint32_t all = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET |
			     WEFT_EP_FADD | WEFT_EP_CSWAP;

	d->n = d->lay.places;
	d->nodes = d->lay.nodes;
	d->ring_bytes = d->lay.ring_bytes;
	d->cpus = cpus_here();
	d->self = direct_place(d->seg, &d->lay, d->me);
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
	if (d->seg)
		munmap(d->seg, d->lay.bytes);
	if (d->fd >= 0)
		close(d->fd);
	free(d->peer);
	free(d->active);
	free(d->reply);
	free(d);
}

static int direct_join(struct direct *d, int fd, uint64_t bytes, uint32_t node,
		       uint32_t slot)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int ret;

	if (p == MAP_FAILED)
		return -errno;
	d->seg = p;
	madvise(p, bytes, MADV_DONTFORK);
	d->lay = *d->seg;
	d->lay.bytes = bytes;
	if (!seg_ok(&d->lay, bytes, node, slot))
		return -EPROTO;
	d->me = slot * d->lay.nodes + node;
	direct_init(d);
	ret = peers_new(d);
	if (ret)
		return ret;
	atomic_store(&d->self->pid, (uint32_t)getpid());
	atomic_store(&d->self->state, DIRECT_HERE);
	atomic_fetch_add(&d->seg->joined, 1);
	return 0;
}

int direct_open(int fd, uint64_t bytes, uint32_t node, uint32_t slot,
		struct direct **d_p)
{
	struct direct *d = calloc(1, sizeof(*d));
	int ret = -ENOMEM;

	if (d) {
		d->fd = -1;
		ret = direct_join(d, fd, bytes, node, slot);
	}
	close(fd);
	if (ret && d)
		direct_drop(d);
	else if (!ret)
		*d_p = d;
	return ret;
}

void direct_close(struct direct *d)
{
	if (d->ep.ops == &direct_ops) {
		for (uint32_t i = 0; i < DIRECT_REGIONS; i++)
			atomic_store(&d->self->region[i].len, 0);
		seg_left(d->seg, &d->lay, d->me, DIRECT_LEFT);
	}
	direct_drop(d);
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
	return (now_ns() - d->lay.start_ns) * WEFT_NS;
}

/* Who has something for us wakes us when he sees the flag; what came before
 * that we see ourselves. */
static void direct_sleep(struct direct *d, uint64_t ns)
{
	atomic_store(&d->self->asleep, DIRECT_ASLEEP);
	if (!direct_news(d))
		att_futex_wait(&d->self->asleep, DIRECT_ASLEEP, ns);
	atomic_store(&d->self->asleep, DIRECT_AWAKE);
}

/* Looking is a waste where a peer needs the processor to go on. */
static uint32_t spin_of(struct direct *d)
{
	uint32_t here =
		atomic_load(&d->seg->joined) - atomic_load(&d->seg->leavers);
	uint32_t cpu = (uint32_t)sched_getcpu() + 1;

	if (d->self->cpu != cpu)
		atomic_store(&d->self->cpu, cpu);
	for (uint32_t k = 0; k < d->n_active; k++) {
		const struct direct_peer *p = &d->peer[d->active[k]];

		if (d->active[k] != d->me && p->place->cpu == cpu &&
		    !p->place->asleep)
			return 0;
	}
	return here <= d->cpus ? SPIN : SPIN_CROWDED;
}

int direct_wait(struct direct *d, uint32_t real_us)
{
	uint64_t end = 0, now;
	uint32_t spin;

	if (d->ep.ops != &direct_ops)
		return -EIO;
	for (spin = spin_of(d);;) {
		for (uint32_t i = 0; i <= spin; i++) {
			if (direct_news(d))
				return 0;
			att_pause();
		}
		now = now_ns();
		end = end ? end : now + (uint64_t)real_us * 1000;
		if (now >= end)
			return -EAGAIN;
		direct_sleep(d, end - now);
	}
}
