/* SPDX-License-Identifier: Apache-2.0 */
/* Use of a network in the window, see use.h. */
#include "systems/router/network/use.h"

#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

/* Returns the packets that the source of an end has sent, or 0 if the end has
 * no source. */
static uint64_t end_sent(const struct net_end *g)
{
	const struct weft_class *cls = g->comp ? g->comp->cls : NULL;

	for (uint32_t k = 0; cls && k < cls->n_counters; k++)
		if (!strcmp(cls->counters[k].name, "sent"))
			return g->comp->counters[k];
	return 0;
}

/* Adds the present counters times `sign`. Called with -1 at the beginning of
 * the window and with 1 at its end, so that the sums are the change. */
static void use_add(struct weft_comp *net, uint64_t sign)
{
	struct router_net *n = net->state;
	struct router_use *u = &n->use;
	uint64_t now = weft_clock_cycle(&n->m.clk, weft_now(net));

	router_net_count(n, now);
	for (uint32_t i = 0; i < n->n_routers; i++) {
		u->flits += sign * n->router[i]->counters[ROUTER_FLITS];
		u->packets += sign * n->router[i]->counters[ROUTER_PACKETS];
	}
	u->delivered += sign * net->counters[NET_FLITS];
	u->cycles += sign * now;
	for (uint32_t i = 0; i < n->m.nodes; i++)
		u->sent[i] += sign * end_sent(&n->m.gen[i]);
}

void router_use_begin(struct weft_comp *net)
{
	struct router_net *n = net->state;
	struct router_use *u = &n->use;

	free(u->sent);
	*u = (struct router_use){ 0 };
	u->sent = need(calloc(n->m.nodes + 1, sizeof(*u->sent)));
	use_add(net, UINT64_MAX);
}

void router_use_end(struct weft_comp *net)
{
	struct router_use *u = &((struct router_net *)net->state)->use;

	if (!u->sent || u->ended)
		return;
	use_add(net, 1);
	u->ended = true;
}

/* Returns the number of directions of cables between routers in which flits may
 * go. */
static uint64_t ways_of(const struct net_graph *g)
{
	uint64_t ways = 0;

	for (uint32_t i = 0; i < g->first[g->routers]; i++)
		ways += g->port[i].at != NET_NOWHERE && !g->port[i].end;
	return g->type->one_way ? ways / 2 : ways;
}

/* Jain's index: 1 if all sources sent the same, 1 / n if one sent all. */
static void shares_report(struct weft_comp *net)
{
	struct router_net *n = net->state;
	double sum = 0, squares = 0, least = 0, most = 0, mean;
	uint32_t sources = 0;

	for (uint32_t i = 0; i < n->m.nodes; i++) {
		double sent = (double)n->use.sent[i];

		if (!n->m.gen[i].comp)
			continue;
		least = !sources || sent < least ? sent : least;
		most = sent > most ? sent : most;
		sum += sent;
		squares += sent * sent;
		sources++;
	}
	if (!(sum > 0))
		return;
	mean = sum / sources;
	weft_metric(net, "share_least", "of the mean", least / mean);
	weft_metric(net, "share_most", "of the mean", most / mean);
	weft_metric(net, "fairness", "Jain", sum * sum / (squares * sources));
}

void router_use_report(struct weft_comp *net)
{
	struct router_net *n = net->state;
	const struct router_use *u = &n->use;
	uint64_t ways, sent = 0;

	if (!u->ended || !u->cycles)
		return;
	for (uint32_t i = 0; i < n->m.nodes; i++)
		sent += u->sent[i];
	if (sent)
		weft_metric(net, "path", "routers",
			    (double)u->packets / (double)sent);
	ways = ways_of(n->graph);
	/* At its last router a flit leaves for an end, and at all other routers
	 * for a router. */
	if (ways && u->flits >= u->delivered)
		weft_metric(net, "link_busy", "share",
			    (double)(u->flits - u->delivered) / (double)ways /
				    (double)u->cycles);
	weft_metric(net, "end_busy", "share",
		    (double)u->delivered / n->graph->ends / (double)u->cycles);
	shares_report(net);
}
