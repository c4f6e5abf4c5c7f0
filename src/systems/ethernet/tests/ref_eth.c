/* SPDX-License-Identifier: Apache-2.0 */
#include "ref_eth.h"

#include <assert.h>
#include <string.h>

enum { STATIONS = 64, QUEUE = 4096, GAP = 12 * REF_TICKS, NONE = -1 };

struct out_port {
	int q[QUEUE]; /* indices of queued frames */
	uint64_t ready[QUEUE];
	uint32_t head, tail;
	int now;	/* frame on the output line, or NONE */
	uint32_t left;	/* ticks of that frame still to come */
	uint32_t gap;	/* ticks of the gap still to come */
	bool busy;	/* a data or control frame is on the line */
	uint64_t pause; /* tick until which the port is paused */
	/* xoff: the sender was paused; ctl: a pause frame waits */
	bool xoff, ctl;
	uint32_t ctl_quanta;
	uint64_t xoff_at;
};

struct ref {
	const struct ref_eth_cfg *cfg;
	const struct ref_eth_frame *in;
	uint32_t n, used, dropped;
	uint32_t copies[QUEUE];	  /* number of copies of frame i that have not
				     left yet */
	uint32_t next[REF_PORTS]; /* next frame that each port receives */
	int64_t where[STATIONS];
	uint64_t seen[STATIONS];
	struct out_port p[REF_PORTS];
	struct ref_eth_out *out;
	uint32_t n_out, max;
	uint64_t t;
};

static void ask_pause(struct ref *r, uint32_t i, uint32_t quanta)
{
	struct out_port *p = &r->p[i];

	p->ctl = true;
	p->ctl_quanta = quanta;
	p->xoff = quanta != 0;
	p->xoff_at = r->t;
}

static void put(struct ref *r, uint32_t frame, uint32_t to)
{
	struct out_port *p = &r->p[to];

	assert(p->tail < QUEUE);
	p->q[p->tail] = (int)frame;
	p->ready[p->tail++] = r->t + r->cfg->latency;
	r->copies[frame]++;
}

static void look(struct ref *r, uint32_t k)
{
	const struct ref_eth_frame *f = &r->in[k];
	int64_t to = NONE;
	uint32_t i;

	if (f->bad && !r->cfg->cut)
		return;
	if (!f->bad && f->dst != REF_PAUSE) {
		r->where[f->src] = f->port;
		r->seen[f->src] = r->t;
	}
	if (f->dst == REF_PAUSE) {
		if (r->cfg->pause)
			r->p[f->port].pause =
				r->t + (uint64_t)f->quanta * 64 * REF_TICKS;
		return;
	}
	if (f->dst < STATIONS && r->where[f->dst] >= 0 &&
	    r->t - r->seen[f->dst] <= r->cfg->ageing)
		to = r->where[f->dst];
	if (to == f->port)
		return;
	if (r->used + f->len > r->cfg->buffer) {
		r->dropped++;
	} else {
		r->used += f->len;
		for (i = 0; i < r->cfg->ports; i++)
			if (to == i || (to == NONE && i != f->port))
				put(r, k, i);
	}
	if (r->cfg->pause && r->used > r->cfg->xoff &&
	    (!r->p[f->port].xoff ||
	     r->t - r->p[f->port].xoff_at >= r->cfg->quanta * 64ull * 2))
		ask_pause(r, f->port, r->cfg->quanta);
}

/* Returns how many bytes of frame k have arrived by now. */
static int64_t bytes_in(const struct ref *r, uint32_t k)
{
	return r->t < r->in[k].start
		       ? -1
		       : (int64_t)((r->t - r->in[k].start) / REF_TICKS);
}

/* Returns the first frame of the port with index k or higher. */
static uint32_t of_port(const struct ref *r, uint32_t port, uint32_t k)
{
	while (k < r->n && r->in[k].port != port)
		k++;
	return k;
}

static void inputs(struct ref *r)
{
	for (uint32_t port = 0; port < r->cfg->ports; port++) {
		uint32_t k = r->next[port], n;

		if (k == r->n)
			continue;
		n = r->cfg->cut ? 22 : 8 + r->in[k].len + 4;
		if (bytes_in(r, k) < n)
			continue;
		r->next[port] = of_port(r, port, k + 1);
		look(r, k);
	}
}

static bool at_rest(const struct ref *r)
{
	for (uint32_t i = 0; i < r->cfg->ports; i++)
		if (r->next[i] < r->n || r->p[i].head < r->p[i].tail ||
		    r->p[i].busy || r->p[i].ctl)
			return false;
	return true;
}

static void release(struct ref *r, int frame)
{
	uint32_t i;

	if (frame == NONE || --r->copies[frame])
		return;
	r->used -= r->in[frame].len;
	if (r->used > r->cfg->xon)
		return;
	for (i = 0; i < r->cfg->ports; i++)
		if (r->p[i].xoff)
			ask_pause(r, i, 0);
}

static void ends(struct ref *r)
{
	for (uint32_t i = 0; i < r->cfg->ports; i++) {
		struct out_port *p = &r->p[i];

		if (p->gap)
			p->gap--;
		if (p->busy && !--p->left) {
			p->busy = false;
			p->gap = GAP;
			release(r, p->now);
			p->now = NONE;
		}
	}
}

static void start(struct ref *r, uint32_t i, uint32_t id, uint32_t len)
{
	struct out_port *p = &r->p[i];

	assert(r->n_out < r->max);
	r->out[r->n_out++] = (struct ref_eth_out){ r->t, i, id };
	p->busy = true;
	p->left = (8 + len + 4) * REF_TICKS;
}

static void starts(struct ref *r)
{
	for (uint32_t i = 0; i < r->cfg->ports; i++) {
		struct out_port *p = &r->p[i];

		if (p->busy || p->gap)
			continue;
		if (p->ctl) {
			p->ctl = false;
			start(r, i, (uint32_t)REF_PAUSE << 16 | p->ctl_quanta,
			      60);
		} else if (p->head < p->tail && p->ready[p->head] <= r->t &&
			   p->pause <= r->t) {
			p->now = p->q[p->head++];
			start(r, i, r->in[p->now].id, r->in[p->now].len);
		}
	}
}

uint32_t ref_eth_run(const struct ref_eth_cfg *cfg,
		     const struct ref_eth_frame *in, uint32_t n,
		     struct ref_eth_out *out, uint32_t max, uint32_t *dropped)
{
	static struct ref r;
	uint32_t i;

	assert(n < QUEUE);
	memset(&r, 0, sizeof(r));
	r.cfg = cfg;
	r.in = in;
	r.n = n;
	r.out = out;
	r.max = max;
	for (i = 0; i < STATIONS; i++)
		r.where[i] = NONE;
	for (i = 0; i < cfg->ports; i++) {
		r.p[i].now = NONE;
		r.next[i] = of_port(&r, i, 0);
	}
	for (r.t = 0; !at_rest(&r); r.t++) {
		inputs(&r);
		ends(&r);
		starts(&r);
	}
	*dropped = r.dropped;
	return r.n_out;
}
