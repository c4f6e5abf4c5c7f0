/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, domains and the pages of devices that they own (weft/host.h; Host
 * Port specification 7.8, 7.9).
 *
 * A process has a table that maps its virtual pages to pages of devices
 * (device, BAR, page). The table is its only path to a device, so the page in
 * the physical address identifies the process to the device. Each page of a BAR
 * has an owner: the monitor (domain 0) or a domain, and at most one process.
 * The monitor can make a page common to all. A processor caches `tlb`
 * translations. Process and page determine the entry of the cache. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_internal.h"

/* number of pages in a chunk; the owners of a chunk are allocated together */
enum { CHUNK = 1024 };

/* Owner of a page. */
struct owner {
	/* proc: process id + 1, or 0 if no process has the page */
	uint32_t domain, proc;
};
/* Value of `domain` and `proc` for a page that every process may map. */
enum { ALL = UINT32_MAX };

struct host_pages {
	uint64_t chunks;
	/* NULL: the monitor owns all pages of the chunk */
	struct owner *chunk[];
};

/* ---- owners ---- */

/* Returns the owner of a page, or NULL if memory runs out. The BAR's size must
 * be known. */
static struct owner *owner_of(struct weft_dev *d, uint8_t bar, uint64_t page)
{
	struct host_pages *t = d->bar[bar].pages;
	uint64_t n = d->bar[bar].size / WEFT_PAGE / CHUNK + 1;

	if (!t) {
		t = calloc(1, sizeof(*t) + n * sizeof(t->chunk[0]));
		if (!t)
			return NULL;
		t->chunks = n;
		d->bar[bar].pages = t;
	}
	if (!t->chunk[page / CHUNK])
		t->chunk[page / CHUNK] = calloc(CHUNK, sizeof(struct owner));
	return t->chunk[page / CHUNK] ? &t->chunk[page / CHUNK][page % CHUNK]
				      : NULL;
}

/* Returns true if the range is whole pages inside the BAR. */
static bool pages_exist(struct weft_host *h, struct weft_dev *d, uint8_t bar,
			uint64_t off, uint64_t len)
{
	uint64_t size = host_bar_size(h, d, bar);

	return len && off % WEFT_PAGE == 0 && len % WEFT_PAGE == 0 &&
	       off <= size && len <= size - off;
}

/* ---- domains ---- */

static struct weft_proc *proc_make(struct host *hp, uint32_t domain)
{
	struct weft_proc *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->domain = domain;
	if (hp->proc_ids.n) {
		p->id = vec_pop(&hp->proc_ids);
		hp->procs.at[p->id] = p;
	} else {
		p->id = (uint32_t)hp->procs.n;
		vec_push(&hp->procs, p);
	}
	return p;
}

uint32_t weft_domain_new(struct weft_host *h)
{
	struct host *hp = h->hp;
	struct weft_proc *p;

	if (h->proc) {
		host_refuse(h);
		return 0;
	}
	p = proc_make(hp, (uint32_t)hp->kernels.n + 1);
	if (!p)
		return 0;
	p->kernel = true;
	vec_push(&hp->kernels, p);
	return p->domain;
}

bool weft_domain_give(struct weft_host *h, uint32_t domain, struct weft_dev *d,
		      uint8_t bar, uint64_t off, uint64_t len)
{
	uint64_t first = off / WEFT_PAGE, end = (off + len) / WEFT_PAGE;

	if (h->proc || domain > h->hp->kernels.n ||
	    !pages_exist(h, d, bar, off, len))
		return host_refuse(h);
	for (uint64_t i = first; i < end; i++) {
		const struct owner *o = owner_of(d, bar, i);

		if (!o || o->proc || (o->domain && domain))
			return host_refuse(h);
	}
	for (uint64_t i = first; i < end; i++)
		owner_of(d, bar, i)->domain = domain;
	return true;
}

bool weft_page_share(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		     uint64_t off)
{
	struct owner *o;

	if (h->proc || !pages_exist(h, d, bar, off, WEFT_PAGE))
		return host_refuse(h);
	o = owner_of(d, bar, off / WEFT_PAGE);
	if (!o || o->proc || o->domain)
		return host_refuse(h);
	*o = (struct owner){ ALL, ALL };
	return true;
}

bool weft_domain_enter(struct weft_host *h, uint32_t domain)
{
	if (h->proc || !domain || domain > h->hp->kernels.n)
		return host_refuse(h);
	h->proc = h->hp->kernels.at[domain - 1];
	return true;
}

/* ---- processes ---- */

struct weft_proc *weft_proc_new(struct weft_host *h, uint32_t domain)
{
	if (!host_rules(h, domain) || domain > h->hp->kernels.n) {
		host_refuse(h);
		return NULL;
	}
	return proc_make(h->hp, domain);
}

/* Returns true if the thread may map the pages for the process. A page that is
 * mapped for one process cannot be mapped again, unless the page is shared. A
 * kernel can map only pages of its domain. The monitor can map its own pages,
 * too. */
static bool map_allowed(struct weft_host *h, const struct weft_proc *p,
			struct weft_dev *d, uint8_t bar, uint64_t off,
			uint64_t len)
{
	if (!host_rules(h, p->domain) || !host_reaches(h, d, bar) ||
	    !pages_exist(h, d, bar, off, len))
		return false;
	for (uint64_t i = 0; i < len / WEFT_PAGE; i++) {
		const struct owner *o = owner_of(d, bar, off / WEFT_PAGE + i);

		if (o && o->proc == ALL)
			continue;
		if (!o || o->proc ||
		    (o->domain != p->domain && (h->proc || o->domain)))
			return false;
	}
	return true;
}

bool weft_proc_map(struct weft_host *h, struct weft_proc *p, struct weft_dev *d,
		   uint8_t bar, uint64_t off, uint64_t len,
		   enum weft_io_attr attr, struct weft_io *io_p)
{
	struct host_map *m;

	if (!map_allowed(h, p, d, bar, off, len))
		return host_refuse(h);
	m = reallocarray(p->maps, p->n_maps + 1, sizeof(*p->maps));
	if (!m)
		return false;
	p->maps = m;
	m += p->n_maps++;
	/* The map lies behind the last map, with an unmapped page in between so
	 * that an overrun faults. */
	m->vpage = p->n_maps > 1 ? m[-1].vpage + m[-1].n + 1 : 1;
	m->n = (uint32_t)(len / WEFT_PAGE);
	m->page = (uint32_t)(off / WEFT_PAGE);
	m->dev = (uint16_t)d->index;
	m->bar = bar;
	m->attr = (uint8_t)attr;
	for (uint32_t i = 0; i < m->n; i++) {
		struct owner *o = owner_of(d, bar, m->page + i);

		if (o->proc != ALL)
			*o = (struct owner){ p->domain, p->id + 1 };
	}
	*io_p = (struct weft_io){ .dev = d,
				  .off = (uint64_t)m->vpage * WEFT_PAGE,
				  .len = len,
				  .attr = (uint8_t)attr };
	return true;
}

static void map_drop(struct host *hp, struct weft_proc *p, uint32_t i)
{
	struct host_map *m = &p->maps[i];

	for (uint32_t k = 0; k < m->n; k++) {
		struct owner *o =
			owner_of(host_dev(hp, m->dev), m->bar, m->page + k);

		if (o->proc != ALL)
			o->proc = 0;
	}
	memmove(m, m + 1, (p->n_maps - i - 1) * sizeof(*m));
	p->n_maps--;
	/* A processor drops cached translations of a process that has lost a
	 * page, because the process would otherwise still reach the page. */
	for (size_t thread = 0; thread < hp->threads.n; thread++) {
		struct host_tlb *t = hp->threads.at[thread]->tlb;

		for (uint32_t place = 0; t && place < hp->p.tlb; place++)
			if (t[place].proc == p->id + 1)
				t[place].proc = 0;
	}
}

/* Returns the index of the map of a virtual page, or n_maps. */
static uint32_t map_find(const struct weft_proc *p, uint64_t vpage)
{
	uint32_t i;

	for (i = 0; i < p->n_maps; i++)
		if (vpage - p->maps[i].vpage < p->maps[i].n)
			break;
	return i;
}

void weft_proc_unmap(struct weft_host *h, struct weft_proc *p,
		     const struct weft_io *io)
{
	uint32_t i = map_find(p, io->off / WEFT_PAGE);

	if (!host_rules(h, p->domain) || i == p->n_maps)
		host_refuse(h);
	else
		map_drop(h->hp, p, i);
}

static void proc_release(struct host *hp, struct weft_proc *p)
{
	hp->procs.at[p->id] = NULL;
	free(p->maps);
	free(p);
}

void weft_proc_free(struct weft_host *h, struct weft_proc *p)
{
	struct host *hp = h->hp;

	if (!host_rules(h, p->domain) || p->kernel || p->started) {
		host_refuse(h);
		return;
	}
	while (p->n_maps)
		map_drop(hp, p, p->n_maps - 1);
	vec_push(&hp->proc_ids, p->id);
	proc_release(hp, p);
}

bool weft_proc_set_tag(struct weft_host *h, struct weft_proc *p, uint16_t tag)
{
	if (h->proc)
		return host_refuse(h);
	p->tag = tag;
	return true;
}

bool weft_proc_enter(struct weft_host *h, struct weft_proc *p)
{
	if (!host_rules(h, p->domain))
		return host_refuse(h);
	h->proc = p;
	return true;
}

void host_procs_fini(struct host *hp)
{
	for (size_t i = 0; i < hp->procs.n; i++)
		if (hp->procs.at[i])
			proc_release(hp, hp->procs.at[i]);
	for (size_t i = 0; i < hp->devs.n; i++) {
		for (uint32_t bar = 0; bar < HOST_BARS; bar++) {
			struct host_pages *t = hp->devs.at[i]->bar[bar].pages;

			for (uint64_t k = 0; t && k < t->chunks; k++)
				free(t->chunk[k]);
			free(t);
		}
	}
	vec_free(&hp->procs);
	vec_free(&hp->proc_ids);
	vec_free(&hp->kernels);
}

/* ---- translation ---- */

bool host_translate(struct weft_host *h, uint64_t va, struct host_place *pl)
{
	const struct weft_proc *p = h->proc;
	uint32_t vpage = (uint32_t)(va / WEFT_PAGE), proc = p->id + 1;
	uint32_t i = map_find(p, va / WEFT_PAGE);
	struct host *hp = h->hp;
	const struct host_map *m;
	struct host_tlb *t;

	if (i == p->n_maps) {
		weft_count(hp->comp, HOST_C_FAULTS, 1);
		return false;
	}
	m = &p->maps[i];
	/* A page that the processor has not cached costs a walk through the
	 * tables. */
	if (!h->tlb)
		h->tlb = calloc(hp->p.tlb, sizeof(*h->tlb));
	assert(h->tlb);
	t = &h->tlb[(proc * 2654435761u + vpage) % hp->p.tlb];
	if (t->proc != proc || t->vpage != vpage) {
		*t = (struct host_tlb){ proc, vpage };
		weft_count(hp->comp, HOST_C_WALKS, 1);
		h->debt += hp->p.walk;
	}
	*pl = (struct host_place){
		.dev = host_dev(h->hp, m->dev),
		.off = (m->page + va / WEFT_PAGE - m->vpage) * WEFT_PAGE +
		       va % WEFT_PAGE,
		.bar = m->bar,
		.attr = m->attr,
	};
	return true;
}
