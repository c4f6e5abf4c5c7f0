/* SPDX-License-Identifier: Apache-2.0 */
/* The link between fake nodes. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/rng.h"
#include "fake.h"

enum { EVENTS = 4096, REGIONS = 64 };

struct packet {
	struct packet *next;
	weft_time_t at;
	uint64_t order; /* order among packets that arrive at the same time */
	/* Number that identifies the opening of the sender's link. A packet of
	 * an earlier opening is dropped. */
	uint64_t opening;
	uint32_t src, dst, slot, mark;
	bool record, departed;
	const uint8_t *from;
	uint8_t *to;
	size_t len;
	uint8_t data[FAKE_PUT];
};

struct region {
	uint8_t *p;
	size_t len;
	uint64_t key;
};

struct way {
	uint64_t started, departed;
	uint32_t waiting; /* number of packets that have not departed */
	weft_time_t depart, arrive;
};

struct node_link {
	struct storage_link link; /* first, for the cast */
	uint32_t node;
	uint64_t opening;
	struct way way[FAKE_NODES];
	struct region region[REGIONS];
	struct storage_event ev[EVENTS];
	uint32_t head, tail;
	bool stirred; /* a put has departed since the last poll */
};

struct fake_rules fake_rules;
struct fake_stats fake_stats;
void (*fake_others)(weft_time_t to);
bool fake_trace;

static struct {
	weft_time_t now;
	uint64_t order;
	uint64_t keys;
	struct weft_rng rng;
	struct packet **heap, *free;
	uint32_t n, cap;
	struct node_link *link[FAKE_NODES];
	bool gone[FAKE_NODES];
} fake;

weft_time_t fake_now(void)
{
	return fake.now;
}

uint64_t fake_below(uint64_t n)
{
	return weft_rng_below(&fake.rng, n);
}

/* ---- packets, by time ---- */

static bool before(const struct packet *a, const struct packet *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_push(struct packet *p)
{
	uint32_t i = fake.n++;

	if (fake.n > fake.cap) {
		fake.cap = 2 * fake.n;
		fake.heap = realloc(fake.heap, fake.cap * sizeof(*fake.heap));
		assert(fake.heap);
	}
	p->order = fake.order++;
	for (; i && before(p, fake.heap[(i - 1) / 2]); i = (i - 1) / 2)
		fake.heap[i] = fake.heap[(i - 1) / 2];
	fake.heap[i] = p;
}

static struct packet *heap_pop(void)
{
	struct packet *top = fake.heap[0], *last = fake.heap[--fake.n];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < fake.n) {
		if (k + 1 < fake.n && before(fake.heap[k + 1], fake.heap[k]))
			k++;
		if (!before(fake.heap[k], last))
			break;
		fake.heap[i] = fake.heap[k];
		i = k;
	}
	fake.heap[i] = last;
	return top;
}

static struct packet *packet_new(void)
{
	struct packet *p = fake.free;

	if (p)
		fake.free = p->next;
	else
		p = malloc(sizeof(*p));
	assert(p);
	memset(p, 0, offsetof(struct packet, data));
	return p;
}

static void packet_free(struct packet *p)
{
	p->next = fake.free;
	fake.free = p;
}

/* ---- the wire ---- */

/* Prints what happens to a packet. */
static void trace(const struct packet *p, const char *what)
{
	const struct storage_record *r = (const void *)p->data;

	if (!fake_trace)
		return;
	printf("%9.3f %u->%u %-7s ", (double)fake.now / WEFT_US, p->src, p->dst,
	       what);
	if (p->record)
		printf("code %2u slot %3u seq %u attempt %u epoch %u flags %u "
		       "offset %llu length %llu puts %u stage %llu value %lld\n",
		       r->code, p->slot, r->seq, r->attempt, r->epoch, r->flags,
		       (unsigned long long)r->offset,
		       (unsigned long long)r->length, r->puts,
		       (unsigned long long)r->stage, (long long)r->value);
	else
		printf("data %p %zu mark %x\n", (void *)p->to, p->len, p->mark);
}

static bool chance(uint32_t of_million)
{
	return of_million && fake_below(1000000) < of_million;
}

static void packet_send(struct node_link *l, struct packet *p)
{
	struct way *w = &l->way[p->dst];

	w->depart = max_of(w->depart, fake.now) + fake_below(500 * WEFT_NS);
	w->waiting++;
	p->src = l->node;
	p->opening = l->opening;
	p->at = w->depart;
	heap_push(p);
}

/* Sets the time of arrival of a packet. On an ordered link the packet arrives
 * after all earlier packets. Therefore a repeated packet arrives before the
 * next packet. */
static void packet_fly(struct packet *p, struct way *w)
{
	p->at = fake.now + fake_rules.delay + fake_below(fake_rules.jitter + 1);
	if (fake_rules.ordered)
		p->at = w->arrive = max_of(w->arrive, p->at);
	heap_push(p);
}

static void packet_repeat(const struct packet *p, struct way *w)
{
	struct packet *q = packet_new();

	memcpy(q, p, offsetof(struct packet, data) + p->len);
	fake_stats.repeated++;
	packet_fly(q, w);
}

/* Changes some bytes of a record, and sets a matching CRC. */
static void packet_forge(struct packet *p)
{
	static const uint64_t odd[] = { 0,	    1,	       7,
					512,	    4095,      65536,
					UINT32_MAX, INT64_MAX, UINT64_MAX };
	uint64_t v =
		chance(500000) ? odd[fake_below(9)] : fake_below(UINT64_MAX);
	size_t width = (size_t)1 << fake_below(4);
	struct storage_record r;
	size_t at;

	if (!storage_record_read(&r, p->data, p->len))
		return;
	at = fake_below((p->len - 8) / width) * width + 8;
	if (at + width <= p->len)
		memcpy((uint8_t *)&r + at, &v, width);
	r.segs = r.segs > STORAGE_SEGS ? r.segs % STORAGE_SEGS : r.segs;
	storage_record_seal(&r);
	p->len = storage_record_bytes(&r);
	memcpy(p->data, &r, p->len);
	/* The slot of a packet belongs to the link, and may be forged too. */
	if (chance(500000))
		p->slot = r.tag;
}

static void packet_depart(struct packet *p)
{
	struct node_link *l = fake.link[p->src];
	struct way *w = l ? &l->way[p->dst] : NULL;
	bool data = !p->record;

	if (!w || p->opening != l->opening || fake.gone[p->src] ||
	    fake.gone[p->dst]) {
		packet_free(p);
		return;
	}
	p->departed = true;
	w->waiting--;
	if (data) {
		memcpy(p->data, p->from, p->len);
		w->departed++;
		l->stirred = true;
	}
	fake_stats.packets++;
	if (!data || fake_rules.ordered) {
		bool cut = fake.now >= fake_rules.cut_from &&
			   fake.now < fake_rules.cut_to;

		if (cut || chance(fake_rules.lost)) {
			fake_stats.lost++;
			trace(p, "lost");
			packet_free(p);
			return;
		}
		if (chance(fake_rules.damaged)) {
			fake_stats.damaged++;
			trace(p, "damaged");
			p->data[fake_below(p->len)] ^=
				(uint8_t)(1 << fake_below(8));
		}
	}
	if (!data && chance(fake_rules.forged))
		packet_forge(p);
	packet_fly(p, w);
	if ((!data || fake_rules.ordered) && chance(fake_rules.repeated))
		packet_repeat(p, w);
}

static void event_push(struct node_link *l, const struct storage_event *ev)
{
	assert(l->tail - l->head < EVENTS);
	l->ev[l->tail++ % EVENTS] = *ev;
}

/* Returns true if the bytes are memory of a region of the node. */
static bool reachable(const struct node_link *l, const uint8_t *p, size_t len,
		      uint64_t key)
{
	for (uint32_t i = 0; i < REGIONS; i++) {
		const struct region *r = &l->region[i];

		if (r->p && r->key == key && p >= r->p &&
		    (uint64_t)(p - r->p) <= r->len &&
		    len <= r->len - (uint64_t)(p - r->p))
			return true;
	}
	return false;
}

static void packet_arrive(struct packet *p)
{
	struct node_link *l = fake.link[p->dst];
	struct storage_event ev = { .kind = STORAGE_EV_LANDED,
				    .peer = p->src,
				    .mark = p->mark };

	if (!l || fake.gone[p->src] || fake.gone[p->dst])
		return;
	trace(p, "arrives");
	if (p->record) {
		ev.kind = STORAGE_EV_RECORD;
		ev.slot = p->slot;
		storage_record_read(&ev.rec, p->data, p->len);
		event_push(l, &ev);
		return;
	}
	if (!reachable(l, p->to, p->len, (uint64_t)p->slot)) {
		fake_stats.strays++;
		return;
	}
	memcpy(p->to, p->data, p->len);
	if (!fake_rules.ordered)
		event_push(l, &ev);
}

void fake_step(weft_time_t to)
{
	if (fake.n)
		to = min_of(to, fake.heap[0]->at);
	fake.now = max_of(fake.now, to);
	while (fake.n && fake.heap[0]->at <= fake.now) {
		struct packet *p = heap_pop();

		if (p->departed) {
			packet_arrive(p);
			packet_free(p);
		} else {
			packet_depart(p);
		}
	}
}

/* ---- operations ---- */

static struct node_link *link_of(struct storage_link *l)
{
	return (struct node_link *)l;
}

static int f_reg(struct storage_link *l, void *p, size_t len,
		 struct storage_mr *mr_p)
{
	struct node_link *n = link_of(l);
	struct region *r = n->region;

	while (r < n->region + REGIONS && r->p)
		r++;
	if (r == n->region + REGIONS)
		return -ENOSPC;
	*r = (struct region){ p, len, ++fake.keys };
	*mr_p = (struct storage_mr){ (uintptr_t)p, r->key, r };
	return 0;
}

static int f_dereg(struct storage_link *l, struct storage_mr *mr)
{
	((struct region *)mr->own)->p = NULL;
	return 0;
}

static int f_put(struct storage_link *l, uint32_t peer, const void *p,
		 size_t len, uint64_t addr, uint64_t key, uint32_t mark)
{
	struct node_link *n = link_of(l);
	struct packet *k;

	assert(len && len <= fake_rules.max_put);
	assert(fake_rules.bytes ||
	       !(((uintptr_t)p | len | addr) % 8 && n->node < 2));
	if (n->way[peer].waiting >= fake_rules.room)
		return -EAGAIN;
	if (fake_rules.refuses &&
	    (!fake.link[peer] ||
	     !reachable(fake.link[peer], (uint8_t *)(uintptr_t)addr, len, key)))
		return -EINVAL;
	k = packet_new();
	k->dst = peer;
	k->from = p;
	k->to = (uint8_t *)(uintptr_t)addr;
	k->len = len;
	k->slot = (uint32_t)key;
	k->mark = mark;
	n->way[peer].started++;
	packet_send(n, k);
	return 0;
}

static int f_record(struct storage_link *l, uint32_t peer, uint32_t slot,
		    const struct storage_record *rec)
{
	struct node_link *n = link_of(l);
	struct packet *k;

	if (n->way[peer].waiting >= fake_rules.room)
		return -EAGAIN;
	fake_stats.odd +=
		rec->code == STORAGE_FLUSH && (rec->offset || rec->length);
	k = packet_new();
	k->record = true;
	k->dst = peer;
	k->slot = slot;
	k->len = storage_record_bytes(rec);
	memcpy(k->data, rec, k->len);
	packet_send(n, k);
	return 0;
}

static uint64_t f_started(struct storage_link *l, uint32_t peer)
{
	return link_of(l)->way[peer].started;
}

static uint64_t f_departed(struct storage_link *l, uint32_t peer)
{
	return link_of(l)->way[peer].departed;
}

static int f_poll(struct storage_link *l, struct storage_event *ev, int max)
{
	struct node_link *n = link_of(l);
	int k = 0;

	n->stirred = false;
	while (k < max && n->head != n->tail)
		ev[k++] = n->ev[n->head++ % EVENTS];
	return k;
}

static void f_wait(struct storage_link *l, weft_time_t deadline)
{
	struct node_link *n = link_of(l);

	while (n->head == n->tail && !n->stirred && fake.now < deadline)
		fake_others(deadline);
}

static void f_peer_table(struct storage_link *l, uint32_t peer, uint64_t addr,
			 uint64_t key)
{
}

static void f_close(struct storage_link *l)
{
	struct node_link *n = link_of(l);

	fake.link[n->node] = NULL;
	free(n);
}

static const struct storage_link_ops f_ops = {
	f_close,   f_reg,      f_dereg, f_put,	f_record,
	f_started, f_departed, f_poll,	f_wait, f_peer_table,
};

int storage_link_open(struct weft_host *h, const char *name,
		      const struct storage_link_attr *attr,
		      struct storage_link **l_p)
{
	struct node_link *n = calloc(1, sizeof(*n));

	assert(n && !fake.link[weft_host_node(h)]);
	n->node = weft_host_node(h);
	fake.link[n->node] = n;
	n->opening = ++fake.keys;
	n->link.ops = &f_ops;
	n->link.host = h;
	n->link.info = (struct storage_link_info){
		.name = "fake",
		.nic = "none",
		.ordered = fake_rules.ordered,
		.bytes = fake_rules.bytes,
		.max_put = fake_rules.max_put,
	};
	*l_p = &n->link;
	return 0;
}

void fake_gone(uint32_t node)
{
	struct storage_event ev = { .kind = STORAGE_EV_GONE, .peer = node };

	fake.gone[node] = true;
	for (uint32_t i = 0; i < FAKE_NODES; i++)
		if (i != node && fake.link[i])
			event_push(fake.link[i], &ev);
}

/* ---- runs ---- */

void fake_reset(uint64_t seed)
{
	fake.now = 0;
	fake.order = fake.keys = 0;
	memset(fake.gone, 0, sizeof(fake.gone));
	for (uint32_t i = 0; i < FAKE_NODES; i++)
		weft_host_sleep(fake_host(i), 0);
	memset(&fake_stats, 0, sizeof(fake_stats));
	weft_rng_seed(&fake.rng, seed, "fake");
}

void fake_end(void)
{
	while (fake.n)
		packet_free(heap_pop());
}
