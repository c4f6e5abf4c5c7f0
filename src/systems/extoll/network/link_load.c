/* SPDX-License-Identifier: Apache-2.0 */
/* Load of the cables of a direct network in the window of measurement: the mean
 * over both directions of all cables, and the busiest direction. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/result.h"
#include "systems/extoll/network/direct_network.h"

/* Visits both directions of all cables. With time 0, at the start, stores the
 * busy time of each direction. Otherwise computes the load of each direction:
 * its busy time since the start, divided by `time`. */
static void links_each(struct extoll_net *n, double time)
{
	struct weft_err unused = { 0 };

	for (uint32_t i = 0; i < n->n_xbars * EX_LINKS; i++) {
		struct weft_comp *x = n->xbar[i / EX_LINKS];
		const struct weft_port *p =
			&x->ports[EX_INTERNAL + i % EX_LINKS];
		double busy;

		if (i % EX_LINKS == 0 && x->cls->ops.sample)
			x->cls->ops.sample(x, &unused);
		if (!p->peer)
			continue;
		if (!time) {
			n->busy[i] = p->out_busy;
			continue;
		}
		busy = (double)(p->out_busy - n->busy[i]) / time;
		n->busy_mean += busy;
		n->n_links++;
		if (n->busiest && busy <= n->busy_max)
			continue;
		n->busiest = p;
		n->busy_max = busy;
	}
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
		links_each(n, 0);
}

void extoll_net_links_end(struct weft_comp *net)
{
	struct extoll_net *n = net->state;

	if (!n->busy || weft_now(net) <= n->busy_from)
		return;
	links_each(n, (double)(weft_now(net) - n->busy_from));
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
