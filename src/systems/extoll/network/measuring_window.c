/* SPDX-License-Identifier: Apache-2.0 */
/* The window of measurement of a direct network, see direct_network.h: packets
 * made in it are marked, and the content of sources and network is sampled in
 * steps.
 *
 * If the content has grown by the window's end, the network is either saturated
 * or still filling up. A second window behind the first, twice as long,
 * decides. The first window belonged to the warm-up if the content does not
 * grow in the second one, or grows only for a time. */
#include "systems/extoll/network/direct_network.h"

/* WINDOW_LOOKS: number of samples of a window. WINDOW_STEP: cycles between
 * samples, if the end of the window is not known. */
enum { WINDOW_LOOKS = 16, WINDOW_STEP = 64 };

void extoll_net_window_open(struct weft_comp *c, uint64_t from)
{
	struct extoll_net *n = c->state;
	uint64_t length = n->measure << n->again;

	n->from = from;
	n->until = length ? from + length : UINT64_MAX;
	steady_init(&n->steady);
	growth_init(&n->growth, from,
		    length ? length / WINDOW_LOOKS : WINDOW_STEP);
	weft_wake(c, EXTOLL_NET_TAG_OPEN, weft_clock_edge(&n->clk, from));
	if (length)
		weft_wake(c, EXTOLL_NET_TAG_CLOSE,
			  weft_clock_edge(&n->clk, n->until));
}

/* Takes the samples that are due before the event at `cycle`. A sample counts
 * the flits that were made, or were due at sources, and have not arrived.
 * Packets that a source has made ahead of their cycle count, too, about one for
 * each source. */
static void window_look(struct weft_comp *c, uint64_t cycle)
{
	struct extoll_net *n = c->state;
	uint64_t due;

	while (!n->closed && (due = growth_due(&n->growth)) <= cycle &&
	       due <= n->until) {
		uint64_t flits = n->made_flits;

		EXTOLL_NET_GENS(n, g)
		{
			flits += g->ops->backlog(g->comp, 0, due).flits;
		}
		growth_look(&n->growth,
			    (double)flits -
				    (double)c->counters[EXTOLL_NET_FLITS]);
	}
}

void extoll_net_window_end(struct weft_comp *c, uint64_t until, bool last)
{
	struct extoll_net *n = c->state;
	bool grows;
	double packet;

	extoll_net_links_end(c);
	n->until = until;
	window_look(c, until);
	/* Adds the packets that are due by the window's end and not made
	 * yet. */
	n->expected = n->marked;
	EXTOLL_NET_GENS(n, g)
	{
		struct extoll_net_backlog b =
			g->ops->backlog(g->comp, n->from, n->until);

		n->expected += b.packets;
		n->offered += b.flits;
		n->backlog += b.packets;
	}
	/* One waiting packet per source does not count as growth. */
	packet = n->expected ? (double)n->offered / (double)n->expected : 0;
	grows = growth_found(&n->growth, packet * n->n_gens);
	if (grows && !last && !n->again) {
		/* Measures again. Packets marked so far do not count, because
		 * they belong to the warm-up. */
		n->again = true;
		n->marked = n->marked_in = n->expected = 0;
		n->offered = n->backlog = n->in_flits = 0;
		n->latency_sum = 0;
		weft_hist_clear(n->latency);
		weft_hist_clear(n->network);
		extoll_net_window_open(c, n->until);
		return;
	}
	n->closed = true;
	if (grows && growth_lasts(&n->growth)) {
		n->state = EXTOLL_NET_SATURATED;
		n->over = true;
	}
	n->over |= n->marked_in == n->expected;
}

/* After every STEADY_ENOUGH batches, opens the window if the warm-up has ended,
 * or ends it if the mean latency is known well enough. */
static void window_settle(struct weft_comp *c, uint64_t cycle)
{
	struct extoll_net *n = c->state;
	double mean, half;

	if (n->steady.count || n->steady.n % STEADY_ENOUGH)
		return;
	if (n->from == UINT64_MAX) {
		if (cycle >= n->warmup && steady_reached(&n->steady))
			extoll_net_window_open(c, cycle + 1);
		return;
	}
	if (n->precision > 0 && !n->closed && steady_reached(&n->steady) &&
	    steady_interval(&n->steady, steady_cut(&n->steady), &mean, &half) &&
	    half <= n->precision * mean)
		extoll_net_window_end(c, cycle + 1, true);
}

void extoll_net_made(struct weft_comp *net, struct extoll_net_pkt *p)
{
	struct extoll_net *n = net->state;

	n->made_flits += p->flits;
	p->marked = p->born >= n->from && p->born < n->until;
	if (!p->marked)
		return;
	n->marked++;
	if (!n->closed)
		n->offered += p->flits;
}

void extoll_net_received(struct weft_comp *net, const struct extoll_net_pkt *p,
			 uint64_t cycle)
{
	struct extoll_net *n = net->state;
	double lat = (double)(cycle - p->born);
	bool marked = p->marked && p->born >= n->from;

	if (cycle >= n->from)
		window_look(net, cycle);
	weft_count(net, EXTOLL_NET_RECEIVED, 1);
	weft_count(net, EXTOLL_NET_FLITS, p->flits);
	n->last = weft_now(net);
	if (cycle >= n->from && cycle < n->until)
		n->in_flits += p->flits;
	if (marked) {
		n->marked_in++;
		n->latency_sum += lat;
		weft_hist_put(n->latency, lat);
		weft_hist_put(n->network, (double)(cycle - p->injected));
		/* the sources stop once all marked packets have arrived */
		n->over |= n->closed && n->marked_in == n->expected;
	}
	if (net->counters[EXTOLL_NET_RECEIVED] == n->total && !n->closed &&
	    cycle >= n->from)
		extoll_net_window_end(net, cycle + 1, true); /* all packets have
							      * arrived */
	if (marked || n->from == UINT64_MAX) {
		steady_add(&n->steady, lat);
		window_settle(net, cycle);
	}
}
