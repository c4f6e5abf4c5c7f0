/* SPDX-License-Identifier: Apache-2.0 */
#include "ref_mac.h"

#include <assert.h>
#include <string.h>

enum { BYTE = 4, LINE = 4096 };
enum fetch { F_IDLE, F_DESC, F_HAVE, F_TURN, F_DATA };

struct ref {
	const struct ref_mac_cfg *cfg;
	const struct ref_mac_frame *in;
	struct ref_mac_out *out;
	uint32_t n;
	/* transmitter: at most one fetch in flight and one frame on the line.
	 * held: number of fetched frames whose gap has not ended */
	enum fetch fetch;
	uint32_t fetching, fetch_left, held;
	/* ticks until the MAC starts each fetched frame */
	uint32_t wait_left[REF_MAC_FRAMES];
	uint32_t fetched, sending, send_left, gap_left;
	/* the cable, indexed by the tick at which the end of a frame arrives */
	int line[LINE]; /* number of that frame + 1, or 0 */
	/* receiver */
	uint32_t fill;
	int pipe[LINE]; /* number + 1 of the frame that leaves the receiver's
			   pipeline in this tick */
	uint32_t queue[REF_MAC_FRAMES], head, tail;
	uint32_t store_left, back_left;
	uint64_t t;
};

static bool place(const struct ref *r)
{
	return r->held <= r->cfg->ahead;
}

static void fetch_begin(struct ref *r)
{
	if (r->fetch == F_IDLE && r->fetching < r->n &&
	    r->in[r->fetching].granted <= r->t &&
	    (place(r) || r->cfg->desc_ahead)) {
		r->fetch = F_DESC;
		r->fetch_left = r->cfg->desc;
	}
	if (r->fetch == F_HAVE && place(r)) {
		r->fetch = r->cfg->turn ? F_TURN : F_DATA;
		r->fetch_left = r->cfg->turn ? r->cfg->turn : r->cfg->data;
	}
}

static void fetch_tick(struct ref *r)
{
	if (r->fetch == F_IDLE || r->fetch == F_HAVE || --r->fetch_left)
		return;
	if (r->fetch == F_DESC) {
		r->fetch = F_HAVE;
	} else if (r->fetch == F_TURN) {
		r->fetch = F_DATA;
		r->fetch_left = r->cfg->data;
	} else {
		r->fetch = F_IDLE;
		r->held++;
		r->wait_left[r->fetched++] = r->cfg->start;
		r->fetching++;
	}
}

static uint32_t line_ticks(const struct ref *r, uint32_t k)
{
	uint32_t len = r->in[k].len < 60 ? 60 : r->in[k].len;

	return (8 + len + 4) * BYTE;
}

/* Advances the frame on the line, and the gap after it, by a tick. */
static void line_tick(struct ref *r)
{
	if (r->gap_left && !--r->gap_left) {
		r->out[r->sending++].sent = r->t;
		r->held--;
	}
	if (r->send_left && !--r->send_left) {
		r->line[(r->t + r->cfg->cable) % LINE] = (int)r->sending + 1;
		r->gap_left = r->cfg->gap;
	}
}

static void line_begin(struct ref *r)
{
	if (r->send_left || r->gap_left || r->sending == r->fetched ||
	    r->wait_left[r->sending])
		return;
	r->send_left = line_ticks(r, r->sending);
}

static void waits(struct ref *r)
{
	for (uint32_t i = r->sending; i < r->fetched; i++)
		if (r->wait_left[i])
			r->wait_left[i]--;
}

static uint32_t bytes(const struct ref *r, uint32_t k)
{
	return r->in[k].len < 60 ? 60 : r->in[k].len;
}

static void receive(struct ref *r)
{
	int k = r->line[r->t % LINE] - 1, p = r->pipe[r->t % LINE] - 1;

	r->line[r->t % LINE] = r->pipe[r->t % LINE] = 0;
	if (k >= 0 && r->fill + bytes(r, (uint32_t)k) <= r->cfg->fifo) {
		r->fill += bytes(r, (uint32_t)k);
		r->pipe[(r->t + r->cfg->receive) % LINE] = k + 1;
	}
	if (p >= 0)
		r->queue[r->tail++] = (uint32_t)p;
}

static void memory(struct ref *r)
{
	if (r->back_left && !--r->back_left) {
		uint32_t k = r->queue[r->head++];

		r->fill -= bytes(r, k);
		r->out[k].stored = r->t;
	}
	if (r->store_left && !--r->store_left)
		r->back_left = r->cfg->back;
}

static void memory_begin(struct ref *r)
{
	if (!r->store_left && !r->back_left && r->head < r->tail)
		r->store_left = r->cfg->store;
}

static bool at_rest(const struct ref *r)
{
	uint32_t i;

	for (i = 0; i < LINE; i++)
		if (r->line[i] || r->pipe[i])
			return false;
	return r->sending == r->n && r->head == r->tail;
}

void ref_mac_run(const struct ref_mac_cfg *cfg, const struct ref_mac_frame *in,
		 uint32_t n, struct ref_mac_out *out)
{
	static struct ref r;

	assert(n <= REF_MAC_FRAMES && cfg->cable < LINE && cfg->receive < LINE);
	memset(&r, 0, sizeof(r));
	memset(out, 0, n * sizeof(*out));
	r.cfg = cfg;
	r.in = in;
	r.out = out;
	r.n = n;
	for (r.t = 0; r.sending < n || !at_rest(&r); r.t++) {
		waits(&r);
		fetch_tick(&r);
		line_tick(&r);
		receive(&r);
		memory(&r);
		line_begin(&r);
		memory_begin(&r);
		fetch_begin(&r);
	}
}
