/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.class, and functions that it shares with net.source (class.h). */
#include "systems/router/traffic/class.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct weft_param class_params[] = {
	WEFT_PARAM(STR, struct router_class, name, "", "", OWN,
		   "in results; empty = that of the component"),
	NET_SOURCE_TRAFFIC(struct router_class, "packets", "no packets"),
	NET_SOURCE_PACKETS(struct router_class, "packets of a source"),
	CLASS_PARAMS(struct router_class),
	{ 0 }
};
/* clang-format on */

static int class_init(struct weft_comp *c, struct weft_err *err)
{
	struct router_class *k = c->state;

	k->comp = c;
	if (!k->name[0])
		snprintf(k->name, sizeof(k->name), "%.23s", c->name);
	if (strspn(k->name,
		   "abcdefghijklmnopqrstuvwxyz"
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != strlen(k->name))
		return weft_fail(
			err, EINVAL,
			"%s.name: '%s' is not a name: write letters, digits, '_' and '-'",
			c->name, k->name);
	return 0;
}

/* ---- virtual channels ---- */

/* Reads a range. An empty text stands for the range `otherwise`. */
static int range_read(const char *key, const char *text, uint32_t vcs,
		      struct net_range otherwise, struct net_range *r,
		      struct weft_err *err)
{
	struct weft_err sub = { 0 };

	*r = otherwise;
	if (!text[0] || !net_range_read(text, vcs, r, &sub))
		return 0;
	return weft_fail(err, EINVAL, "%s: %s", key, sub.msg);
}

int class_ranges(const struct class_own *c, uint32_t vcs,
		 struct net_range range[PACKET_KINDS], struct weft_err *err)
{
	struct net_range lower = { 0, (uint8_t)(vcs - vcs / 2) }, upper;

	upper = (struct net_range){ lower.n, (uint8_t)(vcs / 2) };
	memset(range, 0, PACKET_KINDS * sizeof(*range));
	if (!c->reply) {
		lower.n = (uint8_t)vcs;
		return range_read("vcs", c->vcs, vcs, lower,
				  &range[PACKET_READ], err);
	}
	if (vcs < 2)
		return weft_fail(
			err, EINVAL,
			"replies need VCs that no request uses: set switch.vcs to 2 or more");
	if (range_read("vcs", c->vcs, vcs, lower, &range[PACKET_READ], err) ||
	    range_read("reply_vcs", c->reply_vcs, vcs, upper,
		       &range[PACKET_READ_REPLY], err))
		return -EINVAL;
	if (c->writes <= 0)
		return 0;
	if (range_read("write_vcs", c->write_vcs, vcs, range[PACKET_READ],
		       &range[PACKET_WRITE], err) ||
	    range_read("write_reply_vcs", c->write_reply_vcs, vcs,
		       range[PACKET_READ_REPLY], &range[PACKET_WRITE_REPLY],
		       err))
		return -EINVAL;
	return 0;
}

bool class_plain(const struct class_own *c)
{
	return !c->reply && !c->outstanding && !c->batch && !c->vcs[0];
}

/* ---- sizes ---- */

/* Returns the longest packet of the class. */
static uint32_t sizes_most(const struct class_own *c,
			   const struct traffic_source *t)
{
	uint32_t most = t->size_max > t->size ? t->size_max : t->size;

	for (uint32_t i = 0; t->mix && i < t->mix->n; i++)
		most = i && most > t->mix->size[i] ? most : t->mix->size[i];
	most = c->reply > most ? c->reply : most;
	if (!c->reply || c->writes <= 0)
		return most;
	most = c->write_flits > most ? c->write_flits : most;
	return c->write_reply > most ? c->write_reply : most;
}

/* Returns the shortest packet of a mix. */
static uint32_t sizes_least(const struct traffic_source *t)
{
	uint32_t least = t->mix->n ? UINT32_MAX : 0;

	for (uint32_t i = 0; i < t->mix->n; i++)
		least = t->mix->size[i] < least ? t->mix->size[i] : least;
	return least;
}

int class_sizes(const struct class_own *c, struct traffic_source *t,
		uint32_t places, struct weft_err *err)
{
	t->size = c->flits;
	t->size_max = c->flits_max;
	if (!c->sizes[0] && c->flits_max && c->flits_max < c->flits)
		return weft_fail(err, EINVAL, ".flits_max: %u is below %u",
				 c->flits_max, c->flits);
	if (c->sizes[0] &&
	    (traffic_mix_read(t, c->sizes, 4096) || !sizes_least(t)))
		return weft_fail(
			err, EINVAL,
			".sizes: '%s': write up to %u numbers of flits of 1 to 4096 as FLITS:WEIGHT,FLITS:WEIGHT",
			c->sizes, TRAFFIC_SIZES);
	if (places && sizes_most(c, t) > places)
		return weft_fail(
			err, EINVAL,
			": packets of %u flits do not fit in queues of %u: set switch.buf_flits to %u, or flow: wormhole",
			sizes_most(c, t), places, sizes_most(c, t));
	if (c->writes > 0 && !c->reply)
		return weft_fail(
			err, EINVAL,
			".writes: a share of requests, but there are none: set reply to the flits of a reply");
	return 0;
}

WEFT_COMPONENT(net_class, .name = "net.class", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "a class of packets of sources in a network of routers",
	       .source = "own",
	       .not_modelled = "ends without room for replies, payload",
	       .state_size = sizeof(struct router_class),
	       .params = class_params, .ops = { .init = class_init });
