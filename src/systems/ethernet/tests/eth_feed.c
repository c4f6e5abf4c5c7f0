/* SPDX-License-Identifier: Apache-2.0 */
#include "eth_feed.h"

#include <stdio.h>
#include <string.h>

extern const struct weft_class weft_class_eth_switch;

struct station {
	struct feed *feed;
	struct {
		struct weft_frame *f;
		weft_time_t at;
	} list[FEED_MAX];
	uint32_t n, next;
};

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void note(struct feed *d, uint32_t port, struct weft_frame *f)
{
	bool bad = eth_frame_check(f, ETH_FRAME_JUMBO) != ETH_GOOD;
	const uint8_t *p = eth_frame_data(f);

	if (f->payload.len <
	    ETH_HEAD + 4) /* a runt that was forwarded by cut-through */
		return;
	d->got[d->n_got++] = (struct feed_got){
		.start = f->time - FEED_CABLE,
		.port = port,
		.len = f->payload.len,
		.id = word(p + ETH_HEAD),
		.bad = bad,
		.dst = word(p + 2),
		.src = word(p + 8),
	};
}

static void arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct station *s = c->state;

	note(s->feed, (uint32_t)(c->name[1] - '0'), f);
	weft_frame_free(f);
}

static void event(struct weft_comp *c, uint32_t tag)
{
	struct station *s = c->state;

	weft_port_send(&c->ports[0], s->list[s->next++].f, weft_now(c));
}

static void fini(struct weft_comp *c)
{
	struct station *s = c->state;

	for (; s->next < s->n; s->next++)
		weft_frame_free(s->list[s->next].f);
}

static const struct weft_port_decl ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &eth_wire }, { 0 }
};

static WEFT_COMPONENT(feed_station, .name = "test.feed",
		      .state_size = sizeof(struct station), .ports = ports,
		      .ops = {
			      .arrive = arrive, .event = event, .fini = fini });

void feed_station(struct feed *d, uint32_t i, struct weft_port *to)
{
	char name[8];
	struct station *s;

	snprintf(name, sizeof(name), "s%u", i);
	d->st[i] = weft_sim_add(d->sim, &weft_class_feed_station, name, NULL);
	assert_int_equal(weft_comp_init(d->st[i], NULL), 0);
	s = d->st[i]->state;
	s->feed = d;
	assert_int_equal(
		weft_connect(&d->st[i]->ports[0], to, NULL, FEED_CABLE, NULL),
		0);
}

void feed_init(struct feed *d, uint32_t n, const char *const *set)
{
	char text[8];

	memset(d, 0, sizeof(*d));
	d->sim = weft_sim_new(1);
	d->ports = n;
	d->sw = weft_sim_add(d->sim, &weft_class_eth_switch, "sw", NULL);
	snprintf(text, sizeof(text), "%u", n);
	assert_int_equal(weft_param_set(d->sw, "ports", text, NULL), 0);
	for (; set && *set; set += 2)
		assert_int_equal(weft_param_set(d->sw, set[0], set[1], NULL),
				 0);
	assert_int_equal(weft_comp_init(d->sw, NULL), 0);
	for (uint32_t i = 0; i < n; i++)
		feed_station(d, i, &d->sw->ports[i]);
	assert_int_equal(weft_sim_start(d->sim, NULL), 0);
}

struct weft_frame *feed_frame(struct feed *d, uint32_t src, uint32_t dst,
			      uint32_t len, uint32_t id)
{
	struct weft_frame *f = eth_frame_new(d->sim, len);
	uint8_t a[ETH_ADDR], b[ETH_ADDR];
	uint8_t *p = eth_frame_data(f);

	memset(p, 0x5a, len);
	eth_addr_of(a, src);
	if (dst == UINT32_MAX)
		memcpy(b, eth_broadcast, ETH_ADDR);
	else
		eth_addr_of(b, dst);
	eth_frame_head(f, b, a, ETH_TYPE_HVIA);
	for (uint32_t i = 0; i < 4; i++)
		p[ETH_HEAD + i] = (uint8_t)(id >> (24 - 8 * i));
	return f;
}

void feed_send(struct feed *d, uint32_t port, struct weft_frame *f,
	       weft_time_t t)
{
	struct station *s = d->st[port]->state;

	assert_true(t >= FEED_CABLE);
	s->list[s->n].f = f;
	s->list[s->n++].at = t - FEED_CABLE;
	weft_wake(d->st[port], 0, t - FEED_CABLE);
}

void feed_damage(struct weft_frame *f)
{
	uint32_t n = eth_wire.encode(f, NULL, 0);

	f->raw = weft_raw_new(f->sim, n);
	eth_wire.encode(f, f->raw->sym, n);
	f->raw->sym[n - 1] ^= 1;
}

void feed_run(struct feed *d)
{
	weft_sim_run(d->sim, WEFT_NEVER - 1);
}

void feed_fini(struct feed *d)
{
	struct weft_err err = { 0 };

	if (weft_sim_finish(d->sim, &err))
		fail_msg("%s", err.msg);
	weft_sim_free(d->sim);
}

uint64_t feed_count(const struct feed *d, const char *counter)
{
	for (uint32_t i = 0; i < d->sw->cls->n_counters; i++)
		if (!strcmp(d->sw->cls->counters[i].name, counter))
			return d->sw->counters[i];
	fail_msg("no counter %s", counter);
	return 0;
}
