/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.pingpong: the partner returns each message from the buffer in
 * which it arrived (forth.md 13, V01). */
#include <errno.h>

#include "host/times.h"
#include "programs/pingpong.h"
#include "weft/forth.h"

enum { WAIT_DATA, WAIT_NOTIFY, WAIT_IRQ };

struct forth_pingpong {
	struct pingpong p;
	uint32_t wait, post;
	double spread;
	struct weft_forth *f;
	uint64_t *tx, *rx;
	weft_phys_t tx_phys, rx_phys, remote;
	uint32_t seen;
};

/* Sends a message, in several transfers if the NIC cannot move it in one. */
static int forth_pingpong_send(struct pingpong *p, uint64_t seq)
{
	static const uint32_t flag[] = {
		[WAIT_NOTIFY] = WEFT_FORTH_RNOTIFY,
		[WAIT_IRQ] = WEFT_FORTH_RIRQ,
	};
	struct forth_pingpong *f = (struct forth_pingpong *)p;
	weft_phys_t from = p->begins ? f->tx_phys : f->rx_phys;
	uint32_t max = weft_forth_info(f->f)->max_transfer / 8, off = 0;
	uint32_t qwords = (uint32_t)(p->len / 8);

	if (p->begins)
		pingpong_fill(p, f->tx, seq);
	while (off < qwords) {
		uint32_t k = qwords - off < max ? qwords - off : max;
		uint32_t last = off + k == qwords ? flag[f->wait] : 0;
		int ret = weft_forth_put(f->f, p->peer, from + 8 * off,
					 f->remote + 8 * off, k, last);

		if (ret == -EAGAIN) {
			weft_forth_wait_space(f->f, p->peer, 1, WEFT_NEVER);
			continue;
		}
		if (ret) {
			weft_check_failed(p->w.c, "put: %s", program_why(ret));
			return ret;
		}
		off += k;
	}
	return 0;
}

static int forth_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	struct forth_pingpong *f = (struct forth_pingpong *)p;
	volatile uint64_t *at = &f->rx[p->len / 8 - 1];
	uint64_t last = pingpong_qword(p, p->len / 8 - 1, seq);

	p->in = f->rx;
	if (f->wait == WAIT_NOTIFY) {
		weft_forth_wait_remote(f->f, f->seen++, WEFT_NEVER);
	} else if (f->wait == WAIT_IRQ) {
		weft_forth_irq_wait(f->f, WEFT_NEVER);
		weft_forth_irq_ack(f->f);
	} else {
		while (*at != last)
			weft_host_poll64(p->w.h, at, *at, WEFT_NEVER);
	}
	return 0;
}

static void forth_pingpong_sized(struct pingpong *p, double ns)
{
	const struct forth_pingpong *f = (struct forth_pingpong *)p;
	double min = (double)p->least / 2 / WEFT_NS;
	double max = (double)p->most / 2 / WEFT_NS;

	(void)ns;
	if (!p->begins)
		return;
	weft_series_add(p->w.c, "half_rtt_spread", "B", "ns", (double)p->len,
			max - min);
	if (f->spread > 0 && max - min > f->spread)
		weft_check_failed(
			p->w.c,
			"%llu bytes: half round trips between %.1f and %.1f ns",
			(unsigned long long)p->len, min, max);
}

static int forth_pingpong_open(struct pingpong *p)
{
	struct forth_pingpong *f = (struct forth_pingpong *)p;
	struct weft_forth_attr a = { .post = f->post,
				     .irq = f->wait == WAIT_IRQ };
	int ret;

	if (p->size % 8 || p->step % 8) {
		weft_check_failed(p->w.c, "sizes are multiples of 8");
		return -EINVAL;
	}
	f->tx = weft_mem_alloc(p->w.h, p->size_max, 64, &f->tx_phys);
	f->rx = weft_mem_alloc(p->w.h, p->size_max, 64, &f->rx_phys);
	if (!f->tx || !f->rx)
		return -ENOMEM;
	ret = weft_forth_open(p->w.h, &a, &f->f);
	if (ret)
		return ret;
	program_put(&p->w, "pp.rx", f->rx_phys);
	f->remote = program_get(&p->w, "pp.rx", p->peer);
	program_barrier(&p->w, "pp.go");
	return 0;
}

static void forth_pingpong_close(struct pingpong *p)
{
	struct forth_pingpong *f = (struct forth_pingpong *)p;
	struct weft_forth_counters c;

	program_barrier(&p->w, "pp.done");
	host_nap(p->w.h, T_settle);
	weft_forth_counters_read(f->f, &c);
	weft_metric(p->w.c, "nic_errors", "",
		    (double)weft_forth_counters_errors(&c));
	if (weft_forth_counters_errors(&c))
		weft_check_failed(p->w.c, "the NIC counted errors");
	weft_forth_close(f->f);
}

static const struct pingpong_ops forth_pingpong_ops = {
	.flags = PINGPONG_EACH | PINGPONG_ECHO,
	.open = forth_pingpong_open,
	.send = forth_pingpong_send,
	.wait = forth_pingpong_wait,
	.sized = forth_pingpong_sized,
	.close = forth_pingpong_close,
};

static int forth_pingpong_main(struct weft_comp *c)
{
	return pingpong_main(c, &forth_pingpong_ops);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct forth_pingpong, field, def, range, OWN, doc)
static const struct weft_param forth_pingpong_params[] = {
	PINGPONG_PARAMS("100", "24", "8..1MiB", "8"),
	P(ENUM, wait, "data", "data|notify|irq",
	  "poll the last word, the notification word, or sleep"),
	P(ENUM, post, "wc", "wc|store64|store32",
	  "how descriptors are written"),
	P(REAL, spread, "0", "",
	  "largest difference in ns among equal round trips; 0 = any"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_pingpong, .name = "forth.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "ping-pong over the native FORTH library",
	       .source = "forth.md 13, V01",
	       .state_size = sizeof(struct forth_pingpong),
	       .params = forth_pingpong_params,
	       .ops = { .main = forth_pingpong_main });
