/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.loss: transfers over a network that loses, damages or repeats
 * packets (forth.md 4.9, 5.7, 13; V07, V08). Every node posts `count` transfers
 * to its destinations in turn, each to a slot of its own in the receiver's
 * memory, and does not check whether they arrive. A node that makes no progress
 * for `patience` gives up. After all nodes have ended, every receiver checks
 * which slots hold the right data, and reads the errors of its NIC (bus_errors:
 * WEFT_FORTH_BUS_*). Losses are results here, not failures. */
#include <errno.h>
#include <inttypes.h>

#include "programs/program.h"
#include "weft/forth.h"

#define LOSS_NODES 8

struct loss {
	/* parameters */
	char to[64];
	uint64_t count, size;
	weft_time_t patience, settle;
	/* run */
	struct program w;
	struct weft_forth *f;
	uint32_t dst[LOSS_NODES], n_dst;
	uint8_t *tx, *rx;
	weft_phys_t tx_phys, rx_phys;
	uint64_t remote[LOSS_NODES];
};

static uint64_t loss_place(const struct loss *l, uint32_t src, uint64_t i)
{
	return (src * l->count + i) * l->size;
}

/* ---- sender ---- */

static bool loss_post(struct loss *l, uint64_t i)
{
	uint32_t d = l->dst[i % l->n_dst];
	struct weft_forth_desc desc = {
		.local = l->tx_phys + i * l->size,
		.remote = (uint32_t)(l->remote[d] + loss_place(l, l->w.me, i)),
		.qwords = (uint16_t)(l->size / 8),
		.dst = (uint8_t)d,
	};

	program_fill(l->tx + i * l->size, desc.qwords,
		     program_base(l->w.me, d, i));
	if (!weft_forth_wait_space(l->f, d, 1,
				   weft_host_now(l->w.h) + l->patience))
		return false;
	weft_forth_post(l->f, &desc, 1);
	return true;
}

static void loss_send(struct loss *l)
{
	uint64_t posted = 0, sent = 0;

	while (l->n_dst && posted < l->count && loss_post(l, posted))
		posted++;
	for (uint32_t i = 0; i < l->n_dst; i++) {
		weft_forth_flush(l->f, l->dst[i],
				 weft_host_now(l->w.h) + l->patience);
		if (!i || weft_forth_info(l->f)->queues > 1)
			sent += weft_forth_departed(l->f, l->dst[i]);
	}
	weft_metric(l->w.c, "posted", "transfers", (double)posted);
	weft_metric(l->w.c, "sent", "transfers", (double)sent);
}

/* ---- receiver ---- */

/* Checks the slots for transfers of src. Adds to *good_p the number of slots
 * that hold the right data, and to *bad_p the number of slots that hold wrong
 * data or only a part of the right data. */
static void loss_look(struct loss *l, uint32_t src, uint64_t *good_p,
		      uint64_t *bad_p)
{
	for (uint64_t i = 0; i < l->count; i++) {
		const uint64_t *m =
			(const uint64_t *)(l->rx + loss_place(l, src, i));
		uint32_t q = (uint32_t)(l->size / 8);
		bool any = false;

		if (program_check(m, 0, q, program_base(src, l->w.me, i)) < 0) {
			++*good_p;
			continue;
		}
		for (uint32_t k = 0; k < q; k++)
			any |= m[k] != 0;
		*bad_p += any;
	}
}

static void loss_report(struct loss *l)
{
	struct weft_forth_counters c;
	uint64_t good = 0, bad = 0;

	for (uint32_t s = 0; s < l->w.n; s++)
		loss_look(l, s, &good, &bad);
	weft_forth_counters_read(l->f, &c);
	weft_metric(l->w.c, "arrived", "transfers", (double)good);
	weft_metric(l->w.c, "damaged", "transfers", (double)bad);
	weft_metric(l->w.c, "resyncs", "flows", c.resyncs);
	weft_metric(l->w.c, "unsync", "packets", c.unsync);
	weft_metric(l->w.c, "header_crc", "packets", c.header_crc);
	weft_metric(l->w.c, "body_crc", "packets", c.body_crc);
	weft_metric(l->w.c, "credit_leaked", "words", c.credit_leaked);
	weft_metric(l->w.c, "net2host_full", "qwords", c.net2h_full);
	weft_metric(l->w.c, "desc_errors", "transfers", c.desc_errors);
	weft_metric(l->w.c, "bus_errors", "bits", weft_forth_bus_errors(l->f));
}

/* ---- set-up and run ---- */

static int loss_refuse(struct loss *l)
{
	weft_check_failed(
		l->w.c,
		"up to %u nodes; size is a multiple of 8; all send as many of the same size",
		LOSS_NODES);
	return -EINVAL;
}

static int loss_open(struct loss *l)
{
	struct weft_forth_attr attr = { .lnotify_every = 1 };
	uint64_t places = l->w.n * l->count * l->size;
	int n = program_nodes(&l->w, l->to, l->dst, LOSS_NODES), ret;

	if (n < 0)
		return -EINVAL;
	if (l->w.n > LOSS_NODES || l->size % 8)
		return loss_refuse(l);
	l->n_dst = (uint32_t)n;
	l->tx = weft_mem_alloc(l->w.h, l->count * l->size, 64, &l->tx_phys);
	l->rx = weft_mem_alloc(l->w.h, places, 64, &l->rx_phys);
	if (!l->tx || !l->rx)
		return -ENOMEM;
	ret = weft_forth_open(l->w.h, &attr, &l->f);
	if (ret)
		return ret;
	program_put(&l->w, "loss.rx", l->rx_phys);
	program_put(&l->w, "loss.places", places);
	for (uint32_t i = 0; i < l->w.n; i++) {
		l->remote[i] = program_get(&l->w, "loss.rx", i);
		if (program_get(&l->w, "loss.places", i) != places)
			return loss_refuse(l);
	}
	return 0;
}

static int loss_main(struct weft_comp *c)
{
	struct loss *l = c->state;
	int ret;

	l->w = program_from(c);
	ret = loss_open(l);
	if (!ret) {
		program_barrier(&l->w, "loss.open");
		loss_send(l);
		program_barrier(&l->w, "loss.sent");
		weft_host_sleep(l->w.h, weft_host_now(l->w.h) + l->settle);
		loss_report(l);
		program_barrier(&l->w, "loss.end");
	} else if (ret != -EINVAL) {
		weft_check_failed(c, "cannot open the NIC: %s",
				  program_why(ret));
	}
	if (l->f)
		weft_forth_close(l->f);
	return ret;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct loss, field, def, range, OWN, doc)
static const struct weft_param loss_params[] = {
	P(STR, to, "others", "",
	  "destinations: 0,2,4..6 or all, others, self, next, none"),
	P(U64, count, "1000", "1..100000", "transfers, to each in turn"),
	P(BYTES, size, "512", "8..4096", "of a transfer"),
	P(TIME, patience, "5ms", "1us..", "without progress, gives up"),
	P(TIME, settle, "1ms", "", "for what is under way at the end"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_loss, .name = "forth.loss", .kind = WEFT_KIND_PROGRAM,
	       .needs = "forth.nic",
	       .doc = "what gets through a network that loses packets",
	       .source = "forth.md 5.7, 13", .state_size = sizeof(struct loss),
	       .params = loss_params, .ops = { .main = loss_main });
