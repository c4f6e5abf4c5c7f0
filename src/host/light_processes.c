/* SPDX-License-Identifier: Apache-2.0 */
/* Many light processes on a few processors (weft/host.h). A process consists of
 * a record and its maps. It has no stack, because each turn runs on the stack
 * of a processor.
 *
 *   ready (queue) --> turn on a processor --> ready | sleeps (heap) | waits for
 *     ^                                         |       |    word (hash)
 *     +-----------------------------------------+-------+--------+
 *
 * Processors run processes in the order in which they became ready. A processor
 * without work sleeps. A word that a process waits for is checked when a device
 * has stored to it. */
#include <assert.h>
#include <stdlib.h>

#include "host/host_internal.h"

enum { WORDS_MIN = 256 };

/* ---- ready ---- */

static void light_processes_ready(struct host *hp, struct weft_proc *p)
{
	struct host_crew *c = &hp->crew;

	p->next = NULL;
	if (c->head)
		c->tail->next = p;
	else
		c->head = p;
	c->tail = p;
	for (size_t i = 0; i < hp->threads.n; i++) {
		struct weft_host *h = hp->threads.at[i];

		if (h->wait != HOST_IDLE || h->resume_at == weft_now(hp->comp))
			continue; /* the processor is busy, or woken already */
		host_wake(h, weft_now(hp->comp));
		return;
	}
}

/* ---- asleep: a heap ---- */

static bool light_processes_before(const struct weft_proc *a,
				   const struct weft_proc *b)
{
	return a->until != b->until ? a->until < b->until : a->id < b->id;
}

static struct weft_proc *sleep_pop(struct host_crew *c)
{
	struct weft_proc *first = c->sleeps.at[0], *p = vec_pop(&c->sleeps);
	size_t i = 0, k, n = c->sleeps.n;

	for (; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && light_processes_before(c->sleeps.at[k + 1],
							c->sleeps.at[k]))
			k++;
		if (!light_processes_before(c->sleeps.at[k], p))
			break;
		c->sleeps.at[i] = c->sleeps.at[k];
	}
	if (n)
		c->sleeps.at[i] = p;
	return first;
}

/* ---- waiting for words: a hash ---- */

static uint32_t slot_of(const struct host_crew *c, uintptr_t word)
{
	return (uint32_t)((word * 0x9e3779b97f4a7c15u) >> 32) % c->n_words;
}

static void word_link(struct host_crew *c, struct weft_proc *p)
{
	uint32_t i = slot_of(c, (uintptr_t)p->p / 8);

	p->next = c->words[i];
	c->words[i] = p;
}

static void word_wait(struct host *hp, struct weft_proc *p)
{
	struct host_crew *c = &hp->crew;

	if (c->waiting++ >= c->n_words) {
		struct weft_proc **old = c->words, *q;
		uint32_t n = c->n_words;

		c->n_words = n ? 4 * n : WORDS_MIN;
		c->words = calloc(c->n_words, sizeof(*c->words));
		assert(c->words);
		for (uint32_t i = 0; i < n; i++)
			while ((q = old[i])) {
				old[i] = q->next;
				word_link(c, q);
			}
		free(old);
	}
	word_link(c, p);
	/* Stores that were announced before the wait may be due later, so the
	 * host requests their arrivals. */
	if (hp->quiet)
		weft_bus_expect(hp->bus);
	hp->quiet = 0;
}

bool host_crew_polled(const struct host *hp, const void *at, size_t n)
{
	const struct host_crew *c = &hp->crew;
	uintptr_t first = (uintptr_t)at / 8, end = ((uintptr_t)at + n + 7) / 8;

	for (uintptr_t w = first; w < end; w++)
		for (const struct weft_proc *p = c->words[slot_of(c, w)]; p;
		     p = p->next)
			if ((uintptr_t)p->p / 8 == w)
				return true;
	return false;
}

void host_crew_stored(struct host *hp, const void *at, size_t n)
{
	struct host_crew *c = &hp->crew;
	uintptr_t first = (uintptr_t)at / 8, end = ((uintptr_t)at + n + 7) / 8;

	for (uintptr_t w = first; w < end; w++) {
		struct weft_proc **pp = &c->words[slot_of(c, w)], *p;

		while ((p = *pp)) {
			if ((uintptr_t)p->p / 8 != w || *p->p == p->old) {
				pp = &p->next;
				continue;
			}
			*pp = p->next;
			c->waiting--;
			hp->shared->steps++;
			light_processes_ready(hp, p);
		}
	}
}

/* ---- turns ---- */

static void proc_goes_on(struct host *hp, struct weft_proc *p,
			 const struct weft_turn *t)
{
	struct host_crew *c = &hp->crew;
	size_t i;

	p->until = t->until;
	if (t->kind == WEFT_TURN_END) {
		p->started = false;
		if (--hp->crew.live)
			return;
		for (i = 0; i < hp->threads.n; i++)
			host_nudge(hp->threads.at[i], HOST_IDLE);
	} else if (t->kind == WEFT_TURN_SLEEP) {
		i = c->sleeps.n;
		vec_push(&c->sleeps, p);
		for (;
		     i && light_processes_before(p, c->sleeps.at[(i - 1) / 2]);
		     i = (i - 1) / 2)
			c->sleeps.at[i] = c->sleeps.at[(i - 1) / 2];
		c->sleeps.at[i] = p;
	} else if (t->kind == WEFT_TURN_WAIT && *t->p == t->old) {
		p->p = t->p;
		p->old = t->old;
		word_wait(hp, p);
	} else {
		light_processes_ready(hp, p);
	}
}

/* Runs a processor until all processes have ended. */
static int light_processes_processor(struct weft_host *h)
{
	struct host *hp = h->hp;
	struct host_crew *c = &hp->crew;
	struct weft_proc *p;
	struct weft_proc *kernel;
	struct weft_turn t;

	while (c->live) {
		while (c->sleeps.n &&
		       c->sleeps.at[0]->until <= weft_now(hp->comp))
			light_processes_ready(hp, sleep_pop(c));
		p = c->head;
		if (!p) {
			if (c->sleeps.n && c->sleeps.at[0]->until != WEFT_NEVER)
				host_wake(h, c->sleeps.at[0]->until);
			host_block(h, HOST_IDLE);
			continue;
		}
		c->head = p->next;
		kernel = h->proc;
		weft_count(h->hp->comp, HOST_C_TURNS, 1);
		h->debt += h->hp->p.turn;
		h->proc = p;
		t = p->fn(h, p, p->arg);
		host_pass(h, 0);
		h->proc = kernel;
		proc_goes_on(h->hp, p, &t);
	}
	return 0;
}

bool weft_proc_start(struct weft_host *h, struct weft_proc *p, weft_turn_fn fn,
		     void *arg)
{
	if (!host_rules(h, p->domain) || p->started)
		return host_refuse(h);
	p->fn = fn;
	p->arg = arg;
	p->started = true;
	h->hp->crew.live++;
	light_processes_ready(h->hp, p);
	return true;
}

bool weft_procs_run(struct weft_host *h, uint32_t cpus)
{
	struct host *hp = h->hp;

	if (h->proc || !cpus || hp->crew.running)
		return host_refuse(h);
	hp->crew.running = true;
	host_pass(h, 0);
	for (uint32_t i = 1; i < cpus; i++) {
		struct weft_host *cpu = host_thread_new(hp->comp, h->prog);

		cpu->background = true;
		cpu->entry = light_processes_processor;
		host_wake(cpu, weft_now(hp->comp));
	}
	light_processes_processor(h);
	hp->crew.running = false;
	return true;
}
