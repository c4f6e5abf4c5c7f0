/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on hosts (host/prog.h), and the state that all hosts of a simulation
 * share: the count of running programs and the out-of-band store.
 *
 * The out-of-band network is a name-value store. Every node sees a value
 * oob_delay after its put. Values put to one name are ordered by (time, node),
 * so that the order of components does not matter. */
#include "host/prog.h"
#include "weft/prog.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_internal.h"

struct oob_val {
	weft_time_t visible;
	uint32_t node;
	uint64_t val;
};

struct oob_key {
	char *name;
	struct {
		VEC(struct oob_val);
	} vals; /* sorted by time, then by node, then by order of the puts */
	struct {
		VEC(struct weft_host *);
	} waiters;
};

/* ---- shared state ---- */

static struct host_shared *shared_find(struct weft_sim *sim)
{
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		struct weft_comp *c = weft_sim_at(sim, i);
		struct host *hp = c->state;

		if (c->cls == &weft_class_host_pc && hp->shared)
			return hp->shared;
	}
	return NULL;
}

int host_shared_get(struct host *hp)
{
	struct host_shared *s = shared_find(hp->comp->sim);

	if (!s)
		s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->refs++;
	s->hosts++;
	hp->shared = s;
	return 0;
}

void host_shared_put(struct host *hp)
{
	struct host_shared *s = hp->shared;

	if (!s || --s->refs)
		return;
	for (size_t i = 0; i < s->keys.n; i++) {
		vec_free(&s->keys.at[i]->vals);
		vec_free(&s->keys.at[i]->waiters);
		free(s->keys.at[i]->name);
		free(s->keys.at[i]);
	}
	vec_free(&s->keys);
	free(s);
}

/* ---- programs ---- */

struct weft_host *host_thread_new(struct weft_comp *host,
				  struct weft_comp *prog)
{
	struct host *hp = host->state;
	struct weft_host *h = calloc(1, sizeof(*h));

	assert(h);
	h->hp = hp;
	h->prog = prog;
	h->owner = prog;
	h->tag = (uint32_t)hp->threads.n;
	h->resume_at = WEFT_NEVER;
	vec_push(&hp->threads, h);
	return h;
}

int weft_prog_attach(struct weft_comp *host, struct weft_comp *prog)
{
	if (host->cls != &weft_class_host_pc ||
	    prog->cls->kind != WEFT_KIND_PROGRAM || !prog->cls->ops.main)
		return -EINVAL;
	if (prog->owner)
		return -EBUSY;
	prog->owner = host;
	host_thread_new(host, prog);
	((struct host *)host->state)->shared->live++;
	return 0;
}

struct weft_host *weft_prog_host(struct weft_comp *prog)
{
	struct host *hp;

	if (!prog->owner || prog->owner->cls != &weft_class_host_pc)
		return NULL;
	hp = prog->owner->state;
	for (size_t i = 0; i < hp->threads.n; i++)
		if (hp->threads.at[i]->prog == prog)
			return hp->threads.at[i];
	return NULL;
}

struct weft_comp *weft_prog_of(const struct weft_host *h)
{
	return h->prog;
}

weft_time_t weft_prog_time(struct weft_comp *prog)
{
	const struct weft_host *h = weft_prog_host(prog);

	return weft_now(prog) + (h ? h->debt : 0);
}

void weft_prog_set_background(struct weft_comp *prog, bool background)
{
	struct weft_host *h = weft_prog_host(prog);

	assert(h);
	if (h->wait != HOST_ENDED && h->background != background)
		h->hp->shared->live += background ? -1u : 1u;
	h->background = background;
}

void host_thread_ended(struct weft_host *h)
{
	struct host_shared *s = h->hp->shared;

	h->wait = HOST_ENDED;
	if (h->ret)
		weft_check_failed(h->prog, "ended with %d%s%s%s", h->ret,
				  h->ret < 0 ? ": " : "",
				  h->ret < 0 ? strerror(-h->ret) : "",
				  h->ret == -ENODEV
					  ? ": is this program for another NIC?"
					  : "");
	if (h->background)
		return;
	s->live--;
	if (!s->live && s->stop_at_end)
		weft_sim_stop(h->hp->comp->sim);
}

uint32_t weft_progs_running(struct weft_sim *sim)
{
	struct host_shared *s = shared_find(sim);

	return s ? s->live : 0;
}

uint64_t weft_progs_steps(struct weft_sim *sim)
{
	struct host_shared *s = shared_find(sim);

	return s ? s->steps : 0;
}

bool weft_progs_resting(struct weft_sim *sim, weft_time_t least)
{
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		struct weft_comp *c = weft_sim_at(sim, i);
		const struct host *hp = c->state;

		if (c->cls != &weft_class_host_pc)
			continue;
		for (size_t k = 0; k < hp->threads.n; k++) {
			const struct weft_host *h = hp->threads.at[k];

			if (!h->background && h->wait != HOST_ENDED &&
			    h->resume_at < WEFT_PROG_KICKED &&
			    h->resume_at - h->wait_from >= least)
				return true;
		}
	}
	return false;
}

void weft_progs_stop_at_end(struct weft_sim *sim, bool on)
{
	struct host_shared *s = shared_find(sim);

	if (s)
		s->stop_at_end = on;
}

uint32_t weft_host_node(struct weft_host *h)
{
	return h->hp->p.node;
}

uint32_t weft_host_nodes(struct weft_host *h)
{
	return h->hp->shared->hosts;
}

/* ---- out-of-band store ---- */

static struct oob_key *key_of(struct host_shared *s, const char *name)
{
	size_t lo = 0, hi = s->keys.n;
	struct oob_key *k;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int d = strcmp(s->keys.at[mid]->name, name);

		if (!d)
			return s->keys.at[mid];
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	k = calloc(1, sizeof(*k));
	assert(k);
	k->name = strdup(name);
	assert(k->name);
	vec_insert(&s->keys, lo, k);
	return k;
}

static bool val_before(const struct oob_val *a, const struct oob_val *b)
{
	if (a->visible != b->visible)
		return a->visible < b->visible;
	return a->node < b->node;
}

void weft_oob_put(struct weft_host *h, const char *key, uint64_t val)
{
	struct host *hp = h->hp;
	struct oob_key *k = key_of(hp->shared, key);
	struct oob_val v = { .node = hp->p.node, .val = val };
	size_t i;

	host_pass(h, 0);
	v.visible = weft_now(hp->comp) + hp->p.oob_delay;
	for (i = k->vals.n; i && val_before(&v, &k->vals.at[i - 1]); i--)
		;
	vec_insert(&k->vals, i, v);
	for (i = 0; i < k->waiters.n; i++) {
		struct weft_comp *c = k->waiters.at[i]->hp->comp;

		weft_post(c, c->n_ports + k->waiters.at[i]->tag, v.visible);
	}
}

static bool key_visible(const struct oob_key *k, const struct weft_comp *c)
{
	return k->vals.n && k->vals.at[0].visible <= weft_now(c);
}

uint64_t weft_oob_get(struct weft_host *h, const char *key)
{
	struct oob_key *k = key_of(h->hp->shared, key);
	size_t n;

	host_pass(h, 0);
	if (!key_visible(k, h->hp->comp)) {
		h->key = k->name;
		vec_push(&k->waiters, h);
		if (k->vals.n)
			host_wake(h, k->vals.at[0].visible);
		while (!key_visible(k, h->hp->comp))
			host_block(h, HOST_KEY);
		for (size_t i = k->waiters.n; i--;)
			if (k->waiters.at[i] == h) {
				k->waiters.at[i] =
					k->waiters.at[--k->waiters.n];
				break;
			}
	}
	/* Drops a value if a newer value is visible. Otherwise the list of a
	 * name would grow with every put. */
	n = 0;
	while (n + 1 < k->vals.n &&
	       k->vals.at[n + 1].visible <= weft_now(h->hp->comp))
		n++;
	memmove(k->vals.at, k->vals.at + n,
		(k->vals.n - n) * sizeof(*k->vals.at));
	k->vals.n -= n;
	return k->vals.at[0].val;
}

bool weft_oob_there(struct weft_host *h, const char *key)
{
	return key_visible(key_of(h->hp->shared, key), h->hp->comp);
}

/* ---- ordinary memory ---- */

/* Returns the heap of the thread's program, because threads of one program
 * share its memory. */
static struct host_heap *heap_of(struct weft_host *h)
{
	struct host *hp = h->hp;

	for (size_t i = 0; i < hp->heaps.n && !h->heap; i++)
		if (hp->heaps.at[i]->prog == h->prog)
			h->heap = hp->heaps.at[i];
	if (!h->heap) {
		struct host_heap *a = calloc(1, sizeof(*a));

		if (!a)
			return NULL;
		a->prog = h->prog;
		heap_init(&a->heap, h->prog->id);
		vec_push(&hp->heaps, a);
		h->heap = a;
	}
	return h->heap;
}

void *weft_host_align(struct weft_host *h, size_t align, size_t bytes)
{
	struct host_heap *a = heap_of(h);

	return a ? heap_alloc(&a->heap, bytes, align) : NULL;
}

void *weft_host_calloc(struct weft_host *h, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes)
		       ? NULL
		       : weft_host_align(h, 16, bytes);
}

void weft_host_free(struct weft_host *h, void *p)
{
	heap_free(p);
}

void **weft_host_word(struct weft_host *h, const void *key)
{
	struct host_heap *a = heap_of(h);
	struct host_word *w;

	for (size_t i = 0; a && i < a->words.n; i++)
		if (a->words.at[i]->key == key)
			return &a->words.at[i]->val;
	w = a ? calloc(1, sizeof(*w)) : NULL;
	if (!w)
		return NULL;
	w->key = key;
	vec_push(&a->words, w);
	return &w->val;
}

uint64_t weft_prog_strays(const struct weft_comp *host)
{
	return ((const struct host *)host->state)->mem.strays;
}

bool weft_prog_owns(struct weft_host *h, const void *p, size_t *bytes_p)
{
	struct host_heap *a = heap_of(h);

	if (!a || !heap_owns(&a->heap, p))
		return false;
	*bytes_p = heap_size(p);
	return true;
}
