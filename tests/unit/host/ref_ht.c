/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of the HyperTransport bus: see ref_ht.h. The rules are those
 * at the top of src/host/ht.c. Every slot is evaluated, packets are in lists,
 * and buffers are counted. */
#include "ref_ht_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool ref_ht_decode(uint64_t addr, uint32_t bytes)
{
	return addr + bytes <= HT_HOLE_LO || addr >= HT_HOLE_HI;
}

uint8_t ref_ht_byte(uint32_t i)
{
	return (uint8_t)(i * 7 + 1);
}

weft_time_t ref_ht_edge(const struct ref *r, uint64_t k)
{
	return weft_clock_edge(&r->s->slot, k);
}

struct ht_said *ref_ht_tell(struct ref *r, uint32_t port,
			    enum weft_note_kind kind, weft_time_t t)
{
	struct ht_said *n = &r->log->said[r->log->n++];

	assert(r->log->n <= HT_LOG);
	*n = (struct ht_said){ .kind = kind, .port = port, .time = t };
	return n;
}

void ref_ht_tell_pkt(struct ref *r, uint32_t port, enum weft_note_kind kind,
		     weft_time_t t, const struct pkt *p, bool data)
{
	struct ht_said *n = ref_ht_tell(r, port, kind, t);

	n->addr = p->addr;
	n->bytes = p->bytes;
	n->first = data ? p->first : 0;
	n->load = kind == WEFT_NOTE_LOADED ? p->number : 0;
}

void ref_ht_push(struct list *l, const struct pkt *p)
{
	assert(l->n < MANY);
	l->at[l->n++] = *p;
}

struct pkt ref_ht_take(struct list *l, uint32_t i)
{
	struct pkt p = l->at[i];

	memmove(l->at + i, l->at + i + 1, (--l->n - i) * sizeof(p));
	return p;
}

uint32_t ref_ht_dwords(uint64_t addr, uint32_t bytes)
{
	uint32_t n = 0;

	for (uint64_t d = addr / 4; d * 4 < addr + bytes; d++)
		n++;
	return n;
}

weft_time_t ref_ht_less_half(const struct ref *r, weft_time_t t)
{
	weft_time_t half = r->s->slot.num / 2;

	return t > half ? t - half : 0;
}

/* ---- the host ---- */

static uint64_t absent_slot(const struct ref *r, weft_time_t from)
{
	uint64_t k = r->k + 1;

	while (ref_ht_edge(r, k) < from)
		k++;
	return k;
}

static void host_absent(struct ref *r, struct pkt *p)
{
	weft_time_t t = ref_ht_edge(r, absent_slot(r, p->from));

	p->first = 0xff;
	if (p->what == HT_STORE) {
		ref_ht_tell_pkt(r, 0, WEFT_NOTE_STORED, t, p, false);
		return;
	}
	ref_ht_tell_pkt(r, 0, WEFT_NOTE_LOADED, t + r->s->t_in, p, true);
	r->load_until[p->number] = t + r->s->t_in;
}

/* Returns the lowest load number that is free at time t. If none is free,
 * returns the largest number of loads in flight. */
static uint32_t free_load(const struct ref *r, weft_time_t t)
{
	uint32_t i = 0;

	while (i < r->s->loads && r->load_until[i] > t)
		i++;
	return i;
}

/* Ends the host's wait at the first answer, if one arrives by `limit`. Returns
 * true while the host still waits. */
static bool host_stands(struct ref *r, weft_time_t limit)
{
	weft_time_t first = WEFT_NEVER;

	for (uint32_t i = 0; r->standing && i < r->s->loads; i++)
		if (r->load_until[i] < first)
			first = r->load_until[i];
	if (!r->standing)
		return false;
	if (first > limit)
		return true;
	r->host_at = first;
	r->standing = false;
	return false;
}

/* Makes the host's next request at time t. */
static void host_ask(struct ref *r, weft_time_t t)
{
	const struct ht_op *o = &r->s->host.op[r->next];
	bool load = o->what == HT_LOAD;
	struct pkt p = { .what = o->what,
			 .op = r->next,
			 .dev = o->dev,
			 .addr = o->addr,
			 .bytes = o->bytes,
			 .vc = load ? NP : P,
			 .ready = NEVER,
			 .seq = r->seq++,
			 .first = ref_ht_byte(r->next) };

	p.from = ref_ht_less_half(r, t + (load ? r->s->t_out : r->s->t_store));
	r->next++;
	r->host_at = t;
	if (load) {
		p.number = (uint8_t)free_load(r, t);
		r->load_until[p.number] = WEFT_NEVER;
		r->standing = free_load(r, t) == r->s->loads;
	}
	if (o->dev >= r->s->devices) {
		host_absent(r, &p);
		return;
	}
	ref_ht_push(&r->link[o->dev].lane[DOWN].queue[p.vc], &p);
	r->link[o->dev].held += !load;
}

/* Makes all requests of the host up to `limit`. */
static void host_acts(struct ref *r, weft_time_t limit)
{
	while (r->next < r->s->host.n && !host_stands(r, limit)) {
		const struct ht_op *o = &r->s->host.op[r->next];
		weft_time_t t = r->host_at + o->delay;

		if (t > limit)
			return;
		if (o->what == HT_STORE && o->dev < r->s->devices &&
		    r->link[o->dev].held == r->s->pio_depth) {
			r->blocked = true;
			return;
		}
		host_ask(r, r->blocked ? ref_ht_edge(r, r->k) : t);
		r->blocked = false;
	}
}

/* ---- host, bridge and devices together ---- */

static void step(struct ref *r)
{
	weft_time_t now = ref_ht_edge(r, r->k);
	struct link *end = r->link + r->s->devices, *l;

	for (l = r->link; r->k && l < end; l++)
		ref_ht_dev_acts(r, l, now - 1);
	if (r->k)
		host_acts(r, now - 1);
	for (l = r->link; l < end; l++) {
		ref_ht_link_ends(r, l);
		ref_ht_link_news(r, l);
		ref_ht_bridge_memory(r, l);
		ref_ht_core_step(r, l);
	}
	host_acts(r, now);
	for (l = r->link; l < end; l++) {
		ref_ht_dev_load(r, l);
		ref_ht_dev_acts(r, l, now);
		ref_ht_link_ready(r, l);
	}
	for (l = r->link; l < end; l++)
		ref_ht_link_decides(r, l);
}

static bool link_idle(const struct ref *r, const struct link *l)
{
	uint32_t n = l->pipe.n + l->buffer.n + l->queue.n + l->memory.n +
		     l->load_buffer.n + l->load_queue.n +
		     (l->load_told != NEVER) + (l->answer_at != WEFT_NEVER);

	for (uint32_t dir = 0; dir < DIRS; dir++) {
		n += l->lane[dir].left;
		for (uint32_t vc = 0; vc < VCS; vc++)
			n += l->lane[dir].queue[vc].n;
	}
	return !n && l->next == r->s->dev[l->index].n;
}

static bool finished(const struct ref *r)
{
	for (uint32_t i = 0; i < r->s->devices; i++)
		if (!link_idle(r, &r->link[i]))
			return false;
	for (uint32_t i = 0; i < r->s->loads; i++)
		if (r->load_until[i] == WEFT_NEVER)
			return false;
	return r->next == r->s->host.n;
}

static void link_init(struct ref *r, uint32_t i)
{
	struct link *l = &r->link[i];

	l->index = i;
	l->tags = r->s->tags;
	l->places = r->s->window ? r->s->window : 1;
	l->load_told = l->gone = NEVER;
	l->answer_at = WEFT_NEVER;
	for (uint32_t dir = 0; dir < DIRS; dir++) {
		l->lane[dir].last = R;
		for (uint32_t vc = 0; vc < VCS; vc++)
			l->lane[dir].credits[vc] = r->s->credits;
	}
}

static uint32_t slots(const struct ref *r, weft_time_t t)
{
	return (uint32_t)((t + r->s->slot.num - 1) / r->s->slot.num);
}

void ref_ht_run(const struct ht_script *s, struct ht_log *log)
{
	struct ref *r = calloc(1, sizeof(*r));

	assert(r && s->slot.den == 1 && s->core.den == 1);
	r->s = s;
	r->log = log;
	r->rx = slots(r, s->rx * s->core.num);
	r->tx = slots(r, s->tx * s->core.num);
	r->reg = slots(r, s->t_reg);
	r->credit = slots(r, s->t_credit);
	log->n = 0;
	log->busy[0] = log->busy[1] = 0;
	for (uint32_t i = 0; i < s->devices; i++)
		link_init(r, i);
	for (r->k = 0; !finished(r); r->k++)
		step(r);
	free(r);
}
