/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.monitor: benchmark mode under load (forth.md 10.1). The
 * evaluation follows the authors' kernel module. Every node sends stamped
 * packets to the others. Each packet has a slot of its own in the receiver's
 * memory, and the receiver's processor collects the packets as they arrive:
 *
 *   nic     ts2 - ts1: waiting and pipeline in the sending NIC
 *   switch  ts4 - ts3: waiting and pipeline in the switch
 *   total   nic + switch + the constant `wire`: from the write of the
 *           descriptor to the head of the packet at the receiving NIC
 *
 * The results are histograms, over all sources and per source. The throughput
 * of a source counts all of its packets but the first, over the time from the
 * collection of the first packet to the collection of the last. All nodes of a
 * run take part. A node with count 0 only receives. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "host/times.h"
#include "systems/forth/programs/monitor.h"

/* ---- set-up ---- */

/* Sets the number of packets to each node: random at an offered load, otherwise
 * equal for all nodes. */
static int mon_plan(struct mon *m)
{
	int n = program_nodes(&m->w, m->to, m->dst, MON_NODES);

	if (n < 0)
		return -EINVAL;
	m->n_dst = (uint32_t)n;
	if (!n)
		m->count = 0;
	else if (m->load <= 0)
		m->count = m->count / m->n_dst * m->n_dst;
	if (m->load > 0)
		m->plan = weft_host_calloc(m->w.h, m->count + 1, 1);
	if (m->load > 0 && !m->plan)
		return -ENOMEM;
	for (uint64_t i = 0; i < m->count; i++) {
		uint32_t d = m->dst[i % m->n_dst];

		if (m->plan) {
			d = m->dst[weft_rng_below(&m->w.c->rng, m->n_dst)];
			m->plan[i] = (uint8_t)d;
		}
		m->tx[d].quota++;
	}
	return 0;
}

static int mon_place(struct mon *m, uint32_t s)
{
	struct mon_rx *rx = &m->rx[s];
	char key[32];
	weft_phys_t phys = 0;
	uint64_t words;

	snprintf(key, sizeof(key), "mon.to%u", m->w.me);
	rx->expected = program_get(&m->w, key, s);
	rx->size = program_get(&m->w, "mon.size", s);
	rx->pc_ns = (double)program_get(&m->w, "mon.pc", s) / 1000;
	m->expected += rx->expected;
	words = rx->expected * rx->size / 8;
	if (words) {
		rx->slots = weft_mem_alloc(m->w.h, words * 8, 64, &phys);
		if (!rx->slots)
			return -ENOMEM;
	}
	for (uint64_t i = 0; i < words; i++)
		rx->slots[i] = MON_EMPTY;
	snprintf(key, sizeof(key), "mon.rx%u", s);
	program_put(&m->w, key, phys);
	return 0;
}

static int mon_meet(struct mon *m)
{
	char key[32];
	int ret = 0;

	/* publish the period of this host's bus clock in picoseconds */
	program_put(&m->w, "mon.pc",
		    (uint64_t)llround(weft_forth_pc_ns(m->f) * 1000));
	program_put(&m->w, "mon.size", m->size);
	for (uint32_t d = 0; d < m->w.n; d++) {
		snprintf(key, sizeof(key), "mon.to%u", d);
		program_put(&m->w, key, m->tx[d].quota);
	}
	for (uint32_t s = 0; s < m->w.n && !ret; s++)
		ret = mon_place(m, s);
	snprintf(key, sizeof(key), "mon.rx%u", m->w.me);
	for (uint32_t d = 0; d < m->w.n && !ret; d++)
		m->tx[d].remote = program_get(&m->w, key, d);
	return ret;
}

static int mon_open(struct mon *m)
{
	struct weft_forth_attr a = {
		.bench = WEFT_FORTH_BENCH_ON |
			 (m->zero ? WEFT_FORTH_BENCH_ZERO : 0) |
			 (m->stamps34 ? WEFT_FORTH_BENCH_TS34 : 0)
	};
	int ret = weft_forth_open(m->w.h, &a, &m->f);

	if (ret)
		return ret;
	if (m->w.n > MON_NODES || m->size % 8 || m->size < 24 ||
	    m->size < weft_forth_info(m->f)->min_payload ||
	    m->size > weft_forth_info(m->f)->max_payload) {
		weft_check_failed(
			m->w.c,
			"up to %u nodes; size is a multiple of 8, holds the stamps (24) and fits one packet (%u..%u here)",
			MON_NODES, weft_forth_info(m->f)->min_payload,
			weft_forth_info(m->f)->max_payload);
		return -EINVAL;
	}
	if (!m->link_rate)
		m->link_rate = weft_forth_info(m->f)->links * 2500000000ull;
	/* send all packets from one buffer, because the packets are zeros
	 * except for the stamps */
	if (!weft_mem_alloc(m->w.h, m->size, 64, &m->local))
		return -ENOMEM;
	ret = mon_plan(m);
	return ret ? ret : mon_meet(m);
}

/* ---- sender ---- */

/* Adds to m->next a random time until the next packet. The mean of that time
 * follows from load, payload and 20 bytes of framing (forth.md 4.7). */
static void mon_schedule(struct mon *m)
{
	double mean = ((double)m->size + 20) * 8 / (double)m->link_rate *
		      WEFT_SEC / m->load;

	m->next +=
		(weft_time_t)(-log(1.0 - weft_rng_real(&m->w.c->rng)) * mean) +
		1;
}

/* Posts packets that are due for node d, but at most one cluster. Returns
 * whether a packet was posted. */
static bool mon_post(struct mon *m, uint32_t d)
{
	struct weft_forth_desc line[MON_CLUSTER];
	struct mon_tx *tx = &m->tx[d];
	uint32_t n = 0, room;

	if (tx->posted == tx->due)
		return false;
	room = weft_forth_space(m->f, d);
	while (n < MON_CLUSTER && n < room && tx->posted + n < tx->due) {
		line[n] = (struct weft_forth_desc){
			.local = m->local,
			.remote = (uint32_t)(tx->remote +
					     (tx->posted + n) * m->size),
			.qwords = (uint16_t)(m->size / 8),
			.dst = (uint8_t)d
		};
		n++;
	}
	if (n)
		n = weft_forth_post(m->f, line, n);
	tx->posted += n;
	m->sent += n;
	return n;
}

static bool mon_send(struct mon *m, weft_time_t now)
{
	bool moved = false;

	while (m->load > 0 && m->generated < m->count && m->next <= now) {
		m->tx[m->plan[m->generated++]].due++;
		mon_schedule(m);
	}
	for (uint32_t i = 0; i < m->n_dst; i++)
		moved |= mon_post(m, m->dst[(m->w.me + i) % m->n_dst]);
	return moved;
}

/* ---- both ---- */

static void mon_loop(struct mon *m)
{
	weft_time_t now = weft_host_now(m->w.h), until;
	bool moved;

	m->next = m->moved = now;
	if (m->load > 0)
		mon_schedule(m);
	for (uint32_t d = 0; d < m->w.n && m->load <= 0; d++)
		m->tx[d].due = m->tx[d].quota;
	while (m->sent < m->count || m->received < m->expected) {
		now = weft_host_now(m->w.h);
		moved = mon_send(m, now);
		for (uint32_t s = 0; s < m->w.n; s++)
			moved |= mon_collect(m, s);
		if (moved) {
			m->moved = now;
			continue;
		}
		if (now - m->moved > m->patience) {
			weft_check_failed(
				m->w.c,
				"no progress: %" PRIu64 " of %" PRIu64
				" sent, %" PRIu64 " of %" PRIu64 " received",
				m->sent, m->count, m->received, m->expected);
			return;
		}
		until = now + m->turn;
		if (m->generated < m->count && m->load > 0 && m->next < until)
			until = m->next;
		weft_host_sleep(m->w.h, until);
	}
}

static int mon_main(struct weft_comp *c)
{
	struct mon *m = c->state;
	int ret;

	m->w = program_from(c);
	ret = mon_open(m);
	if (ret) {
		if (ret != -EINVAL)
			weft_check_failed(c, "cannot begin: %s",
					  program_why(ret));
		return ret;
	}
	program_barrier(&m->w, "mon.go");
	mon_loop(m);
	mon_results(m);
	program_barrier(&m->w, "mon.end");
	host_nap(m->w.h, T_settle);
	weft_forth_close(m->f);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct mon, field, def, range, OWN, doc)
static const struct weft_param mon_params[] = {
	P(U64, count, "1000", "0..100000000", "packets this node sends"),
	P(STR, to, "others", "",
	  "destinations: 0,2,4..6 or all, others, self, next, none"),
	P(BYTES, size, "512", "24..4096", "payload; three qwords are stamps"),
	P(REAL, load, "0", "0..1", "offered load as a share of the links, "
	  "random times and destinations; 0 = as fast as possible, the same "
	  "number to each"),
	P(RATE, link_rate, "0", "", "what load refers to; 0 = 2.5 Gb/s for "
	  "each link"),
	P(BOOL, zero, "yes", "", "no payload is read: the NIC makes zeros"),
	P(BOOL, stamps34, "yes", "", "a switch stamps, too"),
	P(TIME, cc, "12.8ns", "1ns..", "unit of the switch's stamps"),
	P(TIME, wire, "614.4ns", "", "cable and SERDES from NIC to NIC: two "
	  "links of 24 cc"),
	P(TIME, turn, "100ns", "1ns..", "between two looks at the memory"),
	P(TIME, patience, "10ms", "1us..",
	  "without progress for so long the run has failed"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(forth_monitor, .name = "forth.monitor",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "benchmark mode under load: latencies and throughput "
		      "per source",
	       .source = "forth.md 10.1", .state_size = sizeof(struct mon),
	       .params = mon_params, .ops = { .main = mon_main });
