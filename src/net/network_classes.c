/* SPDX-License-Identifier: Apache-2.0 */
/* Measurement by class of packets, see network_classes.h. */
#include "net/network_classes.h"

#include <stdio.h>
#include <string.h>

#include "base/need.h"
#include "measure/result.h"

uint32_t net_class_called(struct weft_comp *net, const char *name)
{
	struct net_meter *n = net->state;
	char text[48];

	for (uint32_t i = 0; i < n->n_classes; i++)
		if (!strcmp(n->cls[i].name, name))
			return i;
	if (n->n_classes == NET_CLASSES_MAX)
		return NET_CLASSES_MAX;
	n->cls = grown(n->cls, n->n_classes, sizeof(*n->cls));
	snprintf(n->cls[n->n_classes].name, sizeof(n->cls->name), "%s", name);
	snprintf(text, sizeof(text), "%s.latency", name);
	n->cls[n->n_classes].latency = weft_hist(net, text, "cycles");
	return n->n_classes++;
}

void net_class_made(struct net_meter *n, const struct net_packet *p)
{
	if (!p->marked || n->closed || p->cls >= n->n_classes)
		return;
	n->cls[p->cls].offered += p->flits;
}

void net_class_received(struct net_meter *n, const struct net_packet *p,
			uint64_t cycle)
{
	struct net_class *k = &n->cls[p->cls];

	if (p->cls >= n->n_classes)
		return;
	if (cycle >= n->from && cycle < n->until)
		k->in_flits += p->flits;
	if (p->marked && p->born >= n->from)
		weft_hist_put(k->latency, (double)(cycle - p->born));
}

void net_class_close(struct net_meter *n)
{
	NET_METER_SOURCES(n, g)
	for (uint32_t i = 0; i < n->n_classes; i++) {
		n->cls[i].offered +=
			g->ops->backlog_of(g->comp, i, n->from, n->until).flits;
	}
}

void net_class_again(struct net_meter *n)
{
	for (uint32_t i = 0; i < n->n_classes; i++) {
		n->cls[i].offered = n->cls[i].in_flits = 0;
		weft_hist_clear(n->cls[i].latency);
	}
	n->trips = n->trips_in = 0;
	if (n->trip)
		weft_hist_clear(n->trip);
}

/* ---- round trips ---- */

void net_meter_asked(struct weft_comp *net, const struct net_packet *p)
{
	struct net_meter *n = net->state;

	if (!n->trip)
		n->trip = weft_hist(net, "round_trip", "cycles");
	n->trips += p->marked;
}

void net_meter_answered(struct weft_comp *net, uint64_t asked, uint64_t cycle)
{
	struct net_meter *n = net->state;

	if (asked < n->from || asked >= n->until)
		return;
	n->trips_in++;
	weft_hist_put(n->trip, (double)(cycle - asked));
	n->over |= net_meter_settled(n);
}

/* ---- results ---- */

void net_meter_percentiles(struct weft_comp *net, const char *prefix,
			   const struct hist *h)
{
	static const struct {
		const char *name;
		double percent;
	} rows[] = { { "p50", 50 }, { "p95", 95 }, { "p99", 99 } };
	char text[64];

	if (!h->count)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "%s_%s", prefix, rows[i].name);
		weft_metric(net, text, "cycles",
			    hist_percentile(h, rows[i].percent));
	}
	snprintf(text, sizeof(text), "%s_max", prefix);
	weft_metric(net, text, "cycles", h->max);
}

static void class_report(struct weft_comp *net, const struct net_class *k)
{
	const struct net_meter *n = net->state;
	double cycles = (double)(n->until - n->from);
	const struct hist *h = weft_hist_values(k->latency);
	char text[64];

	snprintf(text, sizeof(text), "%s.offered", k->name);
	weft_metric(net, text, "flits/cycle",
		    (double)k->offered / cycles / n->n_gens);
	snprintf(text, sizeof(text), "%s.accepted", k->name);
	weft_metric(net, text, "flits/cycle",
		    (double)k->in_flits / cycles / n->n_gens);
	snprintf(text, sizeof(text), "%s.latency", k->name);
	if (h->count)
		weft_metric(net, text, "cycles", hist_mean(h));
	net_meter_percentiles(net, text, h);
}

void net_class_report(struct weft_comp *net)
{
	const struct net_meter *n = net->state;

	for (uint32_t i = 0; i < n->n_classes; i++)
		class_report(net, &n->cls[i]);
	if (!n->trip)
		return;
	if (weft_hist_values(n->trip)->count)
		weft_metric(net, "round_trip", "cycles",
			    hist_mean(weft_hist_values(n->trip)));
	net_meter_percentiles(net, "round_trip", weft_hist_values(n->trip));
}
