/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over toy.nic, which sends and receives messages through
 * its registers. A message is sent when its stores are done. A received message
 * is copied by loads and stays in one of rx_slots slots until it is released.
 * Regions have keys only because weft/ep.h demands them. The NIC reaches no
 * memory. */
#include <errno.h>

#include "endpoint/ep_open.h"
#include "systems/toy/nic/regs_map.h"

enum { EVENTS = 16, REGIONS = 16, SLOTS = 8, BYTES = 8 * TOY_WORDS };

struct toy_slot {
	uint64_t data[TOY_WORDS];
	bool used;
};

struct toy_ep {
	struct weft_ep ep;
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io io;
	uint32_t nodes, tx_free, slots;
	bool irq;
	struct toy_slot *slot;
	void *sent[EVENTS]; /* contexts of messages that were sent */
	uint32_t sent_head, sent_n;
	/* region: key of each region, or 0 for a free entry. keys: number of
	 * keys so far. */
	uint64_t region[REGIONS], keys;
};

static struct toy_ep *toy_of(struct weft_ep *ep)
{
	return (struct toy_ep *)ep;
}

static uint64_t load(struct toy_ep *e, uint64_t reg)
{
	return weft_io_load64(e->h, &e->io, reg);
}

static void store(struct toy_ep *e, uint64_t reg, uint64_t val)
{
	weft_io_store64(e->h, &e->io, reg, val);
}

/* ---- messages ---- */

static int toy_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	struct toy_ep *e = toy_of(ep);
	uint64_t data[TOY_WORDS] = { 0 };

	if (op->code != WEFT_EP_MSG)
		return -EOPNOTSUPP;
	if (op->len > BYTES)
		return -EMSGSIZE;
	if (op->dst >= e->nodes)
		return -EINVAL;
	if (!e->tx_free)
		e->tx_free = (uint32_t)load(e, TOY_R_TX_FREE);
	if (!e->tx_free || e->sent_n == EVENTS)
		return -EAGAIN;
	if (op->len)
		weft_host_move(e->h, data, op->buf, op->len);
	for (uint32_t i = 0; i < (op->len + 7) / 8; i++)
		store(e, TOY_R_TX_DATA + 8 * i, data[i]);
	store(e, TOY_R_TX_IMM, op->imm);
	store(e, TOY_R_TX_GO, op->dst | op->len << TOY_LEN_SHIFT);
	e->tx_free--;
	e->sent[(e->sent_head + e->sent_n++) % EVENTS] = op->ctx;
	return 0;
}

static struct weft_ep_event sent_event(struct toy_ep *e)
{
	void *ctx = e->sent[e->sent_head];

	e->sent_head = (e->sent_head + 1) % EVENTS;
	e->sent_n--;
	return (struct weft_ep_event){ .kind = WEFT_EV_SENT, .ctx = ctx };
}

static struct toy_slot *slot_free(struct toy_ep *e)
{
	for (uint32_t i = 0; i < e->slots; i++)
		if (!e->slot[i].used)
			return &e->slot[i];
	return NULL;
}

/* Receives the oldest message of the NIC, if the NIC has one. */
static bool receive(struct toy_ep *e, struct weft_ep_event *ev)
{
	struct toy_slot *s = slot_free(e);
	uint64_t head = s ? load(e, TOY_R_RX_HEAD) : 0;
	size_t len = head >> TOY_LEN_SHIFT & TOY_LEN_MASK;

	if (!(head & (uint32_t)TOY_HERE))
		return false;
	*ev = (struct weft_ep_event){ .kind = WEFT_EV_RECV,
				      .src = (uint32_t)head & TOY_NODE_MASK,
				      .imm = load(e, TOY_R_RX_IMM),
				      .data = s->data,
				      .len = len };
	for (uint32_t i = 0; i < (len + 7) / 8; i++)
		s->data[i] = load(e, TOY_R_RX_DATA + 8 * i);
	store(e, TOY_R_RX_POP, 0);
	s->used = true;
	return true;
}

static int toy_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct toy_ep *e = toy_of(ep);
	int n = 0;

	while (n < max && e->sent_n)
		ev[n++] = sent_event(e);
	while (n < max && receive(e, &ev[n]))
		n++;
	return n;
}

static void toy_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct toy_ep *e = toy_of(ep);

	for (uint32_t i = 0; i < e->slots; i++)
		if (ev->data == e->slot[i].data)
			e->slot[i].used = false;
}

static int toy_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct toy_ep *e = toy_of(ep);

	while (!e->sent_n && !load(e, TOY_R_RX_HEAD)) {
		if (weft_host_now(e->h) >= deadline)
			return -ETIMEDOUT;
		if (e->irq)
			weft_host_irq_wait(e->h, e->dev, deadline);
	}
	return 0;
}

/* ---- memory ---- */

static int toy_mr_reg(struct weft_ep *ep, void *p, size_t len,
		      struct weft_ep_mr *mr_p)
{
	struct toy_ep *e = toy_of(ep);
	uint32_t i = 0;

	while (i < REGIONS && e->region[i])
		i++;
	if (i == REGIONS)
		return -ENOMEM;
	e->region[i] = ++e->keys;
	*mr_p = (struct weft_ep_mr){ e->keys, (uintptr_t)p, len };
	return 0;
}

static int toy_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct toy_ep *e = toy_of(ep);

	for (uint32_t i = 0; i < REGIONS && mr->key; i++)
		if (e->region[i] == mr->key) {
			e->region[i] = 0;
			return 0;
		}
	return -EINVAL;
}

/* ---- opening ---- */

static void toy_close(struct weft_ep *ep)
{
	struct toy_ep *e = toy_of(ep);

	weft_host_free(e->h, e->slot);
	weft_host_free(e->h, e);
}

static const struct weft_ep_ops toy_ops = {
	.close = toy_close,
	.mr_reg = toy_mr_reg,
	.mr_dereg = toy_mr_dereg,
	.post = toy_post,
	.poll = toy_poll,
	.release = toy_release,
	.wait = toy_wait,
};

static bool toy_probe(struct weft_host *h, struct weft_dev *d)
{
	return weft_cfg_load(h, d, 0, 4) == TOY_ID;
}

static int toy_open(struct weft_host *h, const struct weft_ep_attr *attr,
		    struct weft_ep **ep_p)
{
	struct toy_ep *e;

	if (attr->max_msg > BYTES)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &toy_ops;
	e->ep.host = e->h = h;
	e->ep.info = (struct weft_ep_info){
		.name = "toy", .caps = WEFT_EP_MSG, .max_msg = BYTES, .align = 1
	};
	e->dev = weft_dev_open(h, 0);
	e->nodes = weft_host_nodes(h);
	e->irq = attr->use_irq;
	e->slots = attr->rx_slots ? attr->rx_slots : SLOTS;
	e->slot = weft_host_calloc(h, e->slots, sizeof(*e->slot));
	if (!e->slot ||
	    !weft_io_map(h, e->dev, 0, 0, TOY_R_END, WEFT_UC, &e->io)) {
		toy_close(&e->ep);
		return -ENOMEM;
	}
	*ep_p = &e->ep;
	return 0;
}

const struct ep_nic ep_nic_toy = { .probe = toy_probe, .open = toy_open };
