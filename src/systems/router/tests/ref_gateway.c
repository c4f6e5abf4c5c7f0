/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways, cycle by cycle, see ref_gateway.h. */
#include "systems/router/tests/ref_gateway.h"

#include <stdlib.h>

enum { CLASSES = 2, ALONE = UINT32_MAX };

struct ref_frame {
	uint32_t offer; /* ALONE: credits alone */
	uint32_t src, dest, cls, bytes, number, credits;
	uint64_t ready;
	uint32_t cut, made, came;
	bool done; /* all packets are made */
};

struct numbers {
	VEC(uint32_t);
};

struct direction {
	uint32_t sent, open, next, owed;
	bool asked;
	struct numbers early;
};

struct on_way {
	uint64_t cycle;
	uint32_t frame;
};

struct leaving {
	uint64_t cycle;
	uint32_t src, cls;
};

struct ref_end {
	struct numbers offers[CLASSES]; /* that wait for a place */
	struct numbers queue[CLASSES];
	uint32_t places[CLASSES]; /* taken */
	struct direction *to;	  /* by end * CLASSES + class */
	struct {
		VEC(uint32_t);
	} owed; /* end * CLASSES + class */
	struct {
		VEC(struct on_way);
	} in;
	struct {
		VEC(struct leaving);
	} nic;
	int64_t now; /* frame whose packets leave, or -1 */
	uint64_t free;
	uint32_t turn;
};

struct ref {
	const struct ref_gateway_case *c;
	struct ref_gateway_result *r;
	struct ref_end *end;
	struct {
		VEC(struct ref_frame);
	} frames;
	uint64_t now;
};

static struct direction *with(struct ref *n, uint32_t at, uint32_t other,
			      uint32_t cls)
{
	return &n->end[at].to[other * CLASSES + cls];
}

/* ---- places ---- */

static void offers_admit(struct ref *n, uint32_t e, uint32_t cls)
{
	struct ref_end *x = &n->end[e];

	while (x->offers[cls].n && x->places[cls] < n->c->p.places) {
		uint32_t i = x->offers[cls].at[0];
		const struct ref_gateway_offer *o = &n->c->offers.at[i];

		vec_remove(&x->offers[cls], 0);
		vec_push(&n->frames,
			 (struct ref_frame){ .offer = i,
					     .src = e,
					     .dest = o->dest,
					     .cls = cls,
					     .bytes = o->bytes,
					     .ready = n->now + n->c->p.t_in });
		vec_push(&x->queue[cls], (uint32_t)(n->frames.n - 1));
		x->places[cls]++;
	}
}

/* ---- arrivals ---- */

static void deliver(struct ref *n, uint32_t e, uint32_t f)
{
	const struct ref_frame *w = &n->frames.at[f];
	uint64_t gone = n->now + n->c->p.t_out + n->c->keeps(w->offer);

	vec_push(&n->r->delivered,
		 (struct ref_gateway_delivery){ n->now, w->offer });
	vec_push(&n->end[e].nic, (struct leaving){ gone, w->src, w->cls });
}

static void frame_came(struct ref *n, uint32_t e, uint32_t f)
{
	struct ref_frame *w = &n->frames.at[f];
	struct direction *d = with(n, e, w->src, w->cls);
	bool found = true;

	d->open -= w->credits;
	if (w->offer == ALONE)
		return;
	vec_push(&d->early, f);
	while (found) {
		found = false;
		for (size_t i = 0; i < d->early.n && !found; i++) {
			uint32_t k = d->early.at[i];

			if (n->frames.at[k].number != d->next)
				continue;
			found = true;
			vec_remove(&d->early, i);
			d->next++;
			deliver(n, e, k);
		}
	}
}

static void packets_come(struct ref *n, uint32_t e)
{
	struct ref_end *x = &n->end[e];

	for (size_t i = 0; i < x->in.n;) {
		uint32_t f = x->in.at[i].frame;

		if (x->in.at[i].cycle != n->now) {
			i++;
			continue;
		}
		vec_remove(&x->in, i);
		n->frames.at[f].came++;
		if (n->frames.at[f].done &&
		    n->frames.at[f].came == n->frames.at[f].made)
			frame_came(n, e, f);
	}
}

/* ---- departures ---- */

static int64_t credits_alone(struct ref *n, uint32_t e)
{
	struct ref_end *x = &n->end[e];

	while (x->owed.n) {
		uint32_t k = x->owed.at[0];

		vec_remove(&x->owed, 0);
		x->to[k].asked = false;
		if (!x->to[k].owed)
			continue;
		vec_push(&n->frames, (struct ref_frame){ .offer = ALONE,
							 .src = e,
							 .dest = k / CLASSES,
							 .cls = k % CLASSES });
		return (int64_t)n->frames.n - 1;
	}
	return -1;
}

static int64_t frame_choose(struct ref *n, uint32_t e)
{
	struct ref_end *x = &n->end[e];
	int64_t f = credits_alone(n, e);

	for (uint32_t k = 0; f < 0 && k < CLASSES; k++) {
		uint32_t cls = (x->turn + k) % CLASSES;

		for (size_t i = 0; f < 0 && i < x->queue[cls].n; i++) {
			struct ref_frame *w =
				&n->frames.at[x->queue[cls].at[i]];
			struct direction *d = with(n, e, w->dest, cls);

			if (w->ready > n->now || d->open >= n->c->p.window)
				continue;
			d->open++;
			w->number = d->sent++;
			f = x->queue[cls].at[i];
			vec_remove(&x->queue[cls], i);
			x->turn = (cls + 1) % CLASSES;
		}
	}
	return f;
}

static void packet_leaves(struct ref *n, uint32_t e)
{
	const struct ref_gateway_params *p = &n->c->p;
	struct ref_end *x = &n->end[e];
	struct ref_frame *w;
	uint32_t part, flits;
	size_t k = n->r->packets[e].n;

	if (n->now < x->free)
		return;
	if (x->now < 0)
		x->now = frame_choose(n, e);
	if (x->now < 0)
		return;
	w = &n->frames.at[x->now];
	if (!w->made) {
		w->credits = with(n, e, w->dest, w->cls)->owed;
		with(n, e, w->dest, w->cls)->owed = 0;
	}
	part = p->packet_bytes - p->header_bytes;
	part = w->bytes - w->cut < part ? w->bytes - w->cut : part;
	flits = (p->header_bytes + part + p->flit_bytes - 1) / p->flit_bytes;
	w->cut += part;
	w->made++;
	w->done = w->cut == w->bytes;
	vec_push(&n->r->packets[e],
		 (struct ref_gateway_packet){ e, w->dest, flits, n->now, 0 });
	if (k < n->c->packets[e].n)
		vec_push(&n->end[w->dest].in,
			 (struct on_way){ n->now + n->c->packets[e].at[k].takes,
					  (uint32_t)x->now });
	x->free = n->now + flits;
	if (!w->done)
		return;
	x->now = -1;
	if (w->offer == ALONE)
		return;
	x->places[w->cls]--;
	offers_admit(n, e, w->cls);
}

/* ---- the NICs ---- */

static void frames_leave(struct ref *n, uint32_t e)
{
	struct ref_end *x = &n->end[e];

	for (size_t i = 0; i < x->nic.n;) {
		struct leaving l = x->nic.at[i];
		struct direction *d = with(n, e, l.src, l.cls);

		if (l.cycle != n->now) {
			i++;
			continue;
		}
		vec_remove(&x->nic, i);
		d->owed++;
		if (2 * d->owed >= n->c->p.window && !d->asked) {
			d->asked = true;
			vec_push(&x->owed, l.src * CLASSES + l.cls);
		}
	}
}

static void offers_come(struct ref *n, size_t *next)
{
	while (*next < n->c->offers.n &&
	       n->c->offers.at[*next].cycle == n->now) {
		const struct ref_gateway_offer *o = &n->c->offers.at[*next];

		vec_push(&n->end[o->src].offers[o->cls], (uint32_t)*next);
		++*next;
		offers_admit(n, o->src, o->cls);
	}
}

/* ---- the run ---- */

static void ref_free(struct ref *n)
{
	uint32_t ends = n->c->p.ends;

	for (uint32_t e = 0; e < ends; e++) {
		struct ref_end *x = &n->end[e];

		for (uint32_t k = 0; k < CLASSES; k++) {
			vec_free(&x->offers[k]);
			vec_free(&x->queue[k]);
		}
		for (uint32_t k = 0; k < ends * CLASSES; k++)
			vec_free(&x->to[k].early);
		free(x->to);
		vec_free(&x->owed);
		vec_free(&x->in);
		vec_free(&x->nic);
	}
	free(n->end);
	vec_free(&n->frames);
}

void ref_gateway_run(const struct ref_gateway_case *c,
		     struct ref_gateway_result *r)
{
	struct ref n = { .c = c, .r = r };
	size_t next = 0;

	*r = (struct ref_gateway_result){
		.packets = calloc(c->p.ends, sizeof(*r->packets)),
	};
	n.end = calloc(c->p.ends, sizeof(*n.end));
	for (uint32_t e = 0; e < c->p.ends; e++) {
		n.end[e].now = -1;
		n.end[e].to =
			calloc(c->p.ends * CLASSES, sizeof(struct direction));
	}
	for (; n.now < c->cycles; n.now++) {
		for (uint32_t e = 0; e < c->p.ends; e++) {
			packets_come(&n, e);
			packet_leaves(&n, e);
		}
		offers_come(&n, &next);
		for (uint32_t e = 0; e < c->p.ends; e++)
			frames_leave(&n, e);
	}
	ref_free(&n);
}
