/* SPDX-License-Identifier: Apache-2.0 */
#include "macrig.h"

#include <assert.h>
#include <string.h>

extern const struct weft_class weft_class_eth_cable;

enum { TAG_MOVE = 16 };

static void log_add(struct station *s, uint32_t what, uint32_t index)
{
	if (s->n_log < LOG)
		s->log[s->n_log++] =
			(struct mac_log){ weft_now(s->comp), what, index };
}

static void on_move(void *own, const struct mac_move *mv)
{
	struct station *s = own;

	log_add(s, mv->kind, mv->index);
	s->move[mv->kind] = mv;
	if (mv->kind == MAC_RX_DATA && s->blocked)
		return;
	weft_wake(s->comp, TAG_MOVE + mv->kind,
		  weft_now(s->comp) + s->latency[mv->kind]);
}

static void move_end(struct station *s, uint32_t kind)
{
	const struct mac_move *mv = s->move[kind];
	/* wrap the address, because software may have set any address */
	uint8_t *p = s->mem + mv->addr % (MEM - ETH_FRAME_LIMIT);
	uint8_t *q = weft_slice_data(mv->data);

	if (kind == MAC_TX_DESC || kind == MAC_TX_DATA || kind == MAC_RX_DESC)
		memcpy(q, p, mv->bytes);
	else
		memcpy(p, q, mv->bytes);
	mac_moved(s->mac, kind);
}

void macrig_release(struct station *s)
{
	s->blocked = false;
	if (s->move[MAC_RX_DATA] && s->move[MAC_RX_DATA]->busy)
		weft_wake(s->comp, TAG_MOVE + MAC_RX_DATA,
			  weft_now(s->comp) + s->latency[MAC_RX_DATA]);
}

static void on_irq(void *own, bool level)
{
	struct station *s = own;

	s->irq = level;
	if (level)
		log_add(s, LOG_IRQ, 0);
}

static void on_sent(void *own, uint32_t index)
{
	log_add(own, LOG_SENT, index);
}

static const struct mac_ops ops = { on_move, on_irq, on_sent };

static int station_start(struct weft_comp *c, struct weft_err *err)
{
	struct station *s = c->state;
	uint8_t a[ETH_ADDR];

	s->comp = c;
	s->mac = mac_new(c, &c->ports[0], &s->cfg, &ops, s);
	eth_addr_of(a, c->name[1] - '0');
	mac_set_address(s->mac, 0, a);
	return 0;
}

static void station_arrive(struct weft_comp *c, uint32_t port,
			   struct weft_frame *f)
{
	mac_arrive(((struct station *)c->state)->mac, f);
}

static void station_event(struct weft_comp *c, uint32_t tag)
{
	struct station *s = c->state;

	if (tag >= TAG_MOVE)
		move_end(s, tag - TAG_MOVE);
	else
		mac_event(s->mac, tag);
}

static void station_fini(struct weft_comp *c)
{
	mac_free(((struct station *)c->state)->mac);
}

static const struct weft_port_decl ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &eth_wire }, { 0 }
};

static WEFT_COMPONENT(station, .name = "test.station",
		      .state_size = sizeof(struct station), .ports = ports,
		      .ops = { .start = station_start,
			       .arrive = station_arrive,
			       .event = station_event,
			       .fini = station_fini });

static void station_defaults(struct station *s, const struct mac_cfg *cfg)
{
	static const uint32_t latency[MAC_KINDS] = { 20, 24, 18, 40, 28, 18 };

	s->cfg = cfg ? *cfg : MAC_CFG_DEFAULT;
	for (uint32_t i = 0; i < MAC_KINDS; i++)
		s->latency[i] = 10 * latency[i] * WEFT_NS;
}

static void add_fault(struct macrig *r, struct weft_port *p,
		      const struct weft_class *fault, const char *const *set)
{
	struct weft_comp *f = weft_sim_add(r->sim, fault, "fault", NULL);

	for (; set && *set; set += 2)
		assert_int_equal(weft_param_set(f, set[0], set[1], NULL), 0);
	assert_int_equal(weft_comp_init(f, NULL), 0);
	assert_int_equal(weft_filter_add(p, f, NULL), 0);
}

void macrig_init(struct macrig *r, const struct mac_cfg *cfg,
		 const struct weft_class *fault, const char *const *set)
{
	struct weft_comp *c[2], *cable;

	r->sim = weft_sim_new(1);
	cable = weft_sim_add(r->sim, &weft_class_eth_cable, "cable", NULL);
	assert_int_equal(weft_comp_init(cable, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		c[i] = weft_sim_add(r->sim, &weft_class_station,
				    i ? "s1" : "s0", NULL);
		assert_int_equal(weft_comp_init(c[i], NULL), 0);
		r->s[i] = c[i]->state;
		station_defaults(r->s[i], cfg);
	}
	assert_int_equal(
		weft_connect(&c[0]->ports[0], &c[1]->ports[0], cable, 0, NULL),
		0);
	if (fault)
		add_fault(r, &c[0]->ports[0], fault, set);
	assert_int_equal(weft_sim_start(r->sim, NULL), 0);
}

void macrig_open(struct station *s, uint32_t ring)
{
	struct mac *m = s->mac;

	for (uint32_t i = 0; i < ring; i++) {
		uint64_t a = RX_BUFS + i * BUF;

		memcpy(s->mem + RX_RING + i * MAC_DESC, &a, sizeof(a));
	}
	mac_store(m, MAC_TDBAL, TX_RING);
	mac_store(m, MAC_TDLEN, ring * MAC_DESC);
	mac_store(m, MAC_RDBAL, RX_RING);
	mac_store(m, MAC_RDLEN, ring * MAC_DESC);
	mac_store(m, MAC_TCTL, MAC_TCTL_EN | MAC_TCTL_PSP);
	mac_store(m, MAC_RCTL, MAC_RCTL_EN | MAC_RCTL_BAM | MAC_RCTL_SECRC);
	s->rx_tail = ring - 1;
	mac_store(m, MAC_RDT, s->rx_tail);
}

uint8_t *macrig_frame(struct station *s, uint32_t to, uint32_t len)
{
	uint32_t ring = mac_load(s->mac, MAC_TDLEN) / MAC_DESC;
	uint64_t a = TX_BUFS + s->tx_tail * BUF;
	uint8_t *d = s->mem + TX_RING + s->tx_tail * MAC_DESC;
	uint8_t *p = s->mem + a;

	memset(d, 0, MAC_DESC);
	memcpy(d, &a, sizeof(a));
	d[MAC_TXD_LEN] = (uint8_t)len;
	d[MAC_TXD_LEN + 1] = (uint8_t)(len >> 8);
	d[MAC_TXD_CMD] = MAC_CMD_EOP | MAC_CMD_IFCS | MAC_CMD_RS;
	eth_addr_of(p, to);
	eth_addr_of(p + 6, (uint32_t)(s->comp->name[1] - '0'));
	for (uint32_t i = 12; i < len; i++)
		p[i] = (uint8_t)(i * 7 + s->tx_tail);
	p[12] = 0x88;
	p[13] = 0xb5;
	s->tx_tail = (s->tx_tail + 1) % ring;
	return p;
}

void macrig_post(struct station *s)
{
	mac_store(s->mac, MAC_TDT, s->tx_tail);
}

void macrig_run(struct macrig *r, weft_time_t until)
{
	weft_sim_run(r->sim, until);
}

void macrig_fini(struct macrig *r)
{
	struct weft_err err = { 0 };

	if (weft_sim_idle(r->sim) && weft_sim_finish(r->sim, &err))
		fail_msg("%s", err.msg);
	weft_sim_free(r->sim);
}

const struct mac_log *macrig_nth(const struct station *s, uint32_t what,
				 uint32_t k)
{
	for (uint32_t i = 0; i < s->n_log; i++)
		if (s->log[i].what == what && !k--)
			return &s->log[i];
	fail_msg("no such entry");
	return NULL;
}

uint32_t macrig_count(const struct station *s, uint32_t what)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_log; i++)
		n += s->log[i].what == what;
	return n;
}
