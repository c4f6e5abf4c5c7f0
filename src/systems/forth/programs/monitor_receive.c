/* SPDX-License-Identifier: Apache-2.0 */
/* forth.monitor: collects packets, evaluates their stamps, reports results. */
#include <inttypes.h>
#include <stdio.h>

#include "systems/forth/programs/monitor.h"

#define MIB 1048576.0

static const char *const mon_part_name[MON_PARTS] = { "nic", "switch",
						      "total" };

static void mon_check(struct mon *m, uint32_t s, const uint64_t *q)
{
	const struct mon_rx *rx = &m->rx[s];
	uint64_t bad = 0;

	for (uint32_t k = FORTH_STAMP_QWORDS; m->zero && k < rx->size / 8; k++)
		bad |= q[k];
	if (!bad && q[2] == forth_stamp_pair(s, (uint32_t)rx->got))
		return;
	weft_check_failed(m->w.c,
			  "packet %" PRIu64 " from node %u: number is %#" PRIx64
			  "%s",
			  rx->got, s, q[2], bad ? ", body is not zero" : "");
}

static void mon_put(struct mon *m, uint32_t s, enum mon_part part, double ns)
{
	struct mon_rx *rx = &m->rx[s];
	char name[32];

	if (!rx->hist[part]) {
		snprintf(name, sizeof(name), "%s_from%u", mon_part_name[part],
			 s);
		rx->hist[part] = weft_hist(m->w.c, name, "ns");
		m->hist[part] = weft_hist(m->w.c, mon_part_name[part], "ns");
	}
	weft_hist_put(rx->hist[part], ns);
	weft_hist_put(m->hist[part], ns);
}

static void mon_stamps(struct mon *m, uint32_t s, const uint64_t *q)
{
	uint32_t pc = forth_stamp_lo(q[0]) - forth_stamp_hi(q[0]);
	uint32_t cc = forth_stamp_lo(q[1]) - forth_stamp_hi(q[1]);
	double nic = pc * m->rx[s].pc_ns;
	double sw = cc * ((double)m->cc / WEFT_NS);

	mon_put(m, s, MON_NIC, nic);
	if (m->stamps34)
		mon_put(m, s, MON_SWITCH, sw);
	mon_put(m, s, MON_TOTAL,
		nic + (m->stamps34 ? sw : 0) + (double)m->wire / WEFT_NS);
}

/* Polls the last qword of each slot, because the last qword of a packet is
 * written last. */
bool mon_collect(struct mon *m, uint32_t s)
{
	struct mon_rx *rx = &m->rx[s];
	uint64_t before = rx->got, step = rx->size / 8;

	for (; rx->got < rx->expected; rx->got++) {
		const uint64_t *q = rx->slots + rx->got * step;

		if (((const volatile uint64_t *)q)[step - 1] == MON_EMPTY)
			break;
		mon_check(m, s, q);
		mon_stamps(m, s, q);
	}
	if (rx->got == before)
		return false;
	rx->last = weft_host_now(m->w.h);
	if (!before)
		rx->first = rx->last;
	m->received += rx->got - before;
	return true;
}

/* ---- results ---- */

static double mon_rate(double bytes, weft_time_t from, weft_time_t to)
{
	return bytes / ((double)(to - from) / WEFT_SEC) / MIB;
}

void mon_results(struct mon *m)
{
	weft_time_t first = WEFT_NEVER, last = 0;
	double bytes = 0, skip = 0;
	char name[32];

	for (uint32_t s = 0; s < m->w.n; s++) {
		const struct mon_rx *rx = &m->rx[s];

		if (!rx->got)
			continue;
		snprintf(name, sizeof(name), "from%u", s);
		weft_metric(m->w.c, name, "packets", (double)rx->got);
		snprintf(name, sizeof(name), "rate_from%u", s);
		if (rx->last > rx->first)
			weft_metric(m->w.c, name, "MiB/s",
				    mon_rate((double)((rx->got - 1) * rx->size),
					     rx->first, rx->last));
		if (rx->first < first)
			skip = (double)rx->size;
		first = rx->first < first ? rx->first : first;
		last = rx->last > last ? rx->last : last;
		bytes += (double)(rx->got * rx->size);
	}
	weft_metric(m->w.c, "received", "packets", (double)m->received);
	weft_metric(m->w.c, "sent", "packets", (double)m->sent);
	if (last > first)
		weft_metric(m->w.c, "rate_in", "MiB/s",
			    mon_rate(bytes - skip, first, last));
}
