/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the cables of a direct network are in the window of measurement:
 * the mean of all, both directions, and the busiest one. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/result.h"
#include "systems/extoll/network/direct_network.h"

typedef void link_fn(struct extoll_net *n, const struct weft_port *p,
		     uint64_t *was, double time);

/* Calls f for all cables, with their volume up to date. */
static void links_each(struct extoll_net *n, link_fn *f, double time)
{
	struct weft_err unused = { 0 };

	for (uint32_t i = 0; i < n->n_xbars; i++) {
		struct weft_comp *x = n->xbar[i];

		if (x->cls->ops.sample)
			x->cls->ops.sample(x, &unused);
		for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++)
			if (x->ports[p].peer)
				f(n, &x->ports[p],
				  &n->busy[i * EX_LINKS + p - EX_INTERNAL],
				  time);
	}
}

static void link_begin(struct extoll_net *n, const struct weft_port *p,
		       uint64_t *was, double time)
{
	*was = p->out_busy;
}

static void link_end(struct extoll_net *n, const struct weft_port *p,
		     uint64_t *was, double time)
{
	double busy = (double)(p->out_busy - *was) / time;

	n->busy_mean += busy;
	n->n_links++;
	if (n->busiest && busy <= n->busy_max)
		return;
	n->busiest = p;
	n->busy_max = busy;
}

void extoll_net_links_begin(struct weft_comp *net)
{
	struct extoll_net *n = net->state;

	free(n->busy);
	n->busy = calloc(n->n_xbars * EX_LINKS + 1, sizeof(*n->busy));
	if (!n->busy)
		abort();
	n->busy_from = weft_now(net);
	n->busy_mean = n->busy_max = 0;
	n->busiest = NULL;
	n->n_links = 0;
	if (n->busy_from)
		links_each(n, link_begin, 0);
}

void extoll_net_links_end(struct weft_comp *net)
{
	struct extoll_net *n = net->state;

	if (!n->busy || weft_now(net) <= n->busy_from)
		return;
	links_each(n, link_end, (double)(weft_now(net) - n->busy_from));
	if (n->n_links)
		n->busy_mean /= n->n_links;
	free(n->busy);
	n->busy = NULL;
}

void extoll_net_links_report(struct weft_comp *net)
{
	struct extoll_net *n = net->state;
	char name[64];

	if (!n->busiest)
		return;
	weft_metric(net, "link_busy", "share", n->busy_mean);
	weft_metric(net, "link_busy_max", "share", n->busy_max);
	snprintf(name, sizeof(name), "%s.%s", n->busiest->comp->name,
		 n->busiest->name);
	result_param_set(weft_sim_result(net->sim), "net.busiest", name);
}
