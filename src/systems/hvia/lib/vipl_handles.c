/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: handles. A handle is a number made of
 *
 * kind     4 bits   NIC, VI, completion queue, request, tag
 * owner   20 bits   node and client, so that handles of other programs are
 *                   unknown
 * turn    20 bits   generation: number of earlier uses of the slot
 * slot    20 bits   index in the program's table
 *
 * The library looks up a value from a program and compares it, and never
 * follows it as a pointer. A slot whose generation is the highest is not used
 * again, so that no handle is given out twice. */
#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"

enum { PLACES = 2048 }; /* initial number of slots */
#define FIELD_BITS 20
#define FIELD_MAX  ((1u << FIELD_BITS) - 1)

struct vipl_table {
	uint32_t owner;
	bool owned; /* set once `owner` is known */
	/* number of slots used so far, and size of the table */
	uint32_t n, size;
	uint32_t free; /* index of the first free slot + 1, or 0 for none */
	struct vipl_entry *at;
	struct vipl_entry begin[PLACES];
};

static struct vipl_table *vipl_handles_table(void)
{
	static const char key;
	struct weft_host *h = weft_host_self();
	void **word = h ? weft_host_word(h, &key) : NULL;
	struct vipl_table *t = word ? *word : NULL;

	if (t || !word)
		return t;
	t = weft_host_calloc(h, 1, sizeof(*t));
	*word = t;
	if (t) {
		t->at = t->begin;
		t->size = PLACES;
	}
	return t;
}

bool vipl_handles(uint32_t client)
{
	struct vipl_table *t = vipl_handles_table();

	if (t && !t->owned)
		t->owner = (weft_host_node(weft_host_self()) << 8 |
			    (client & 0xFF)) &
			   FIELD_MAX;
	if (t)
		t->owned = true;
	return t;
}

static uint64_t vipl_handles_number(const struct vipl_table *t, uint32_t i)
{
	const struct vipl_entry *e = &t->at[i];

	return (uint64_t)e->kind << 3 * FIELD_BITS |
	       (uint64_t)t->owner << 2 * FIELD_BITS |
	       (uint64_t)e->turn << FIELD_BITS | i;
}

void *vipl_handle(enum vipl_kind kind, void *of, uint64_t val)
{
	struct vipl_table *t = vipl_handles_table();
	struct weft_host *h = weft_host_self();
	struct vipl_entry *at;
	uint32_t i;

	if (!t)
		return NULL;
	/* the table is full and has to grow */
	if (!t->free && t->n == t->size) {
		if (2 * t->size > FIELD_MAX)
			return NULL;
		at = weft_host_calloc(h, 2 * t->size, sizeof(*at));
		if (!at)
			return NULL;
		memcpy(at, t->at, t->n * sizeof(*at));
		if (t->at != t->begin)
			weft_host_free(h, t->at);
		t->at = at;
		t->size *= 2;
	}
	i = t->free ? t->free - 1 : t->n++;
	if (t->free)
		t->free = t->at[i].next;
	t->at[i].of = of;
	t->at[i].val = val;
	t->at[i].kind = kind;
	return (void *)(uintptr_t)vipl_handles_number(t, i);
}

struct vipl_entry *vipl_find(enum vipl_kind kind, const void *handle)
{
	struct vipl_table *t = vipl_handles_table();
	uint32_t i = (uintptr_t)handle & FIELD_MAX;

	if (!t || i >= t->n || !t->at[i].of || t->at[i].kind != kind ||
	    vipl_handles_number(t, i) != (uintptr_t)handle)
		return NULL;
	return &t->at[i];
}

static void give_back(struct vipl_table *t, uint32_t i)
{
	t->at[i].of = NULL;
	if (t->at[i].turn++ == FIELD_MAX)
		return;
	t->at[i].next = t->free;
	t->free = i + 1;
}

void vipl_forget(enum vipl_kind kind, const void *handle)
{
	if (vipl_find(kind, handle))
		give_back(vipl_handles_table(), (uintptr_t)handle & FIELD_MAX);
}

void vipl_forget_of(const struct vipl_nic *n)
{
	struct vipl_table *t = vipl_handles_table();

	for (uint32_t i = 0; i < t->n; i++)
		if (t->at[i].of == n && t->at[i].kind >= VIPL_CONN)
			give_back(t, i);
}

/* ---- handles of each kind ---- */

void *vipl_object(enum vipl_kind kind, const void *handle)
{
	const struct vipl_entry *e = vipl_find(kind, handle);

	return e ? e->of : NULL;
}

VIP_PROTECTION_HANDLE vipl_tag_handle(const struct vipl_nic *n, uint32_t tag)
{
	const struct vipl_table *t = vipl_handles_table();

	for (uint32_t i = 0; i < t->n; i++)
		if (t->at[i].of == n && t->at[i].kind == VIPL_PTAG &&
		    t->at[i].val == tag)
			return (void *)(uintptr_t)vipl_handles_number(t, i);
	return NULL;
}

struct vipl_vi *vipl_vi_enter(VIP_VI_HANDLE x)
{
	struct vipl_vi *v = vipl_vi(x);

	if (!v || v->leaving)
		return NULL;
	v->inside++;
	return v;
}

struct vipl_cq *vipl_cq_enter(VIP_CQ_HANDLE x)
{
	struct vipl_cq *c = vipl_cq(x);

	if (c)
		c->inside++;
	return c;
}
