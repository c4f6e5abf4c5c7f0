/* SPDX-License-Identifier: Apache-2.0 */
/* Class coh.system: processors with coherent caches, the snooping interconnect,
 * the DDR controller and a coherent network interface (forth.md 9; the paper, P
 * 4, prepares for such an interface and gives no numbers).
 *
 *   core0 .. coreN-1 -- PLB -- private memory of each core
 *     |         |
 *   cache0 .. cacheN-1     network interface
 *     |         |                |
 *     +---- interconnect --------+
 *                |
 *          DDR controller
 *
 * All parts are one component, because a transaction changes all caches at one
 * edge. Addresses: DDR begins at 0, and its top `uncached_bytes` are never
 * cached. Addresses from `private_base` on are those of private memory, and
 * each core has its own. */
#include <errno.h>
#include <stdlib.h>

#include "systems/coherent/coherent_internal.h"

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct coh_system, field, def, range, source, doc)
static const struct weft_param system_params[] = {
	P(CLOCK, clock, "100MHz", "", OWN, "clock of everything here"),
	P(U32, cores, "2", "2..16", STATED,
	  "cores, each with its cache (P 4: two)"),
	P(BYTES, size, "16KiB", "64..16777216", RECONSTRUCTED,
	  "data bytes of a cache (9)"),
	P(U32, line, "32", "8..256", RECONSTRUCTED, "bytes of a line (9)"),
	P(U32, ways, "1", "1..64", RECONSTRUCTED,
	  "lines of a set; 1 = direct mapped (9)"),
	P(BOOL, update_alloc, "no", "", RECONSTRUCTED,
	  "an Update that nobody holds is taken in by its target (9)"),
	P(BOOL, supply_shared, "yes", "", RECONSTRUCTED,
	  "a shared copy answers BusRd in place of memory (9: may supply)"),
	P(U32, t_hit, "1", "1..1000", OWN, "cycles of a lookup"),
	P(U32, t_port, "1", "1..1000", OWN,
	  "cycles from core to interconnect, around the cache"),
	P(U32, t_plb, "5", "1..1000", OWN, "cycles of a private access"),
	P(U32, t_arb, "1", "1..1000", OWN, "cycles of arbitration"),
	P(U32, t_req, "1", "0..1000", OWN,
	  "cycles of a request through the switch"),
	P(U32, t_snoop, "2", "0..1000", OWN,
	  "cycles until all caches have answered"),
	P(U32, t_supply, "2", "0..1000", OWN,
	  "cycles to the first beat from another cache"),
	P(U32, t_reply, "1", "0..1000", OWN,
	  "cycles of a reply through the switch"),
	P(U32, t_ni, "2", "0..1000", OWN,
	  "cycles from a word's arrival to the request"),
	P(U32, width, "8", "1..256", OWN,
	  "bytes per cycle of switch and memory"),
	P(BYTES, ddr_bytes, "256MiB", "65536..4294967296", STATED,
	  "DDR memory (P 4)"),
	P(BYTES, uncached_bytes, "16MiB", "4096..", OWN,
	  "top of it that is never cached"),
	P(U64, private_base, "0x100000000", "0..281474976710656", OWN,
	  "first private address (PLB)"),
	P(BYTES, private_bytes, "16MiB", "4096..4294967296", OWN,
	  "private memory of each core"),
	P(U32, banks, "4", "1..64", OWN, "DDR banks, a row open in each"),
	P(BYTES, row_bytes, "2KiB", "256..65536", OWN, "bytes of a row"),
	P(U32, t_ctrl, "4", "0..1000", OWN, "cycles in the DDR controller"),
	P(U32, t_rp, "2", "0..1000", OWN, "cycles to close a row"),
	P(U32, t_rcd, "2", "0..1000", OWN, "cycles to open a row"),
	P(U32, t_cas, "2", "0..1000", OWN, "cycles, column to data, read"),
	P(U32, t_cwl, "1", "0..1000", OWN, "cycles, column to data, write"),
	P(ENUM, delivery, "update", "memory|invalidate|update", OWN,
	  "how arriving words are delivered"),
	P(ENUM, into, "mailbox", "mailbox|region", OWN,
	  "slots that are polled, or anywhere in the region"),
	P(U32, target, "0", "0..15", OWN,
	  "cache in which Updates may allocate"),
	P(U64, words, "1000", "0..4294967295", OWN, "words that arrive"),
	P(U64, start, "1000", "", OWN, "cycle of the first arrival"),
	P(U64, interval, "200", "", OWN, "cycles between arrivals"),
	P(U64, jitter, "100", "0..1000000000", OWN,
	  "random cycles added to each arrival"),
	P(U32, pollers, "1", "0..16", OWN, "cores that poll the mailbox"),
	P(U32, poll_gap, "4", "0..1000000", OWN,
	  "polling distance: cycles from a load's end to the next load"),
	P(U64, mailbox, "0", "", OWN, "where it begins in its memory"),
	P(U32, slots, "64", "1..65536", OWN, "words of the mailbox"),
	P(U32, stride, "4", "4..4096", OWN, "bytes from slot to slot"),
	P(U64, ops, "0", "", OWN, "random accesses of each other core"),
	P(U32, gap, "10", "0..1000000", OWN, "mean cycles between them"),
	P(REAL, stores, "0.3", "0..1", OWN, "share of stores"),
	P(REAL, privately, "0.2", "0..1", OWN, "share of private accesses"),
	P(REAL, uncached, "0", "0..1", OWN, "share of uncached accesses"),
	P(U64, region_base, "0x100000", "", OWN, "where they begin"),
	P(BYTES, region, "32KiB", "256..", OWN, "bytes they spread over"),
	P(BOOL, verify, "yes", "", OWN,
	  "check data and the invariants of 9 after every transaction"),
	{ 0 }
};
#undef P

static const struct weft_counter system_counters[C_N] = {
	[C_LOADS] = { "loads", "accesses", "loads done" },
	[C_STORES] = { "stores", "accesses", "stores done" },
	[C_HITS] = { "hits", "accesses", "done in the cache" },
	[C_MISSES] = { "misses", "accesses", "needed the interconnect" },
	[C_PRIVATE] = { "private", "accesses", "went to the core's PLB" },
	[C_UNCACHED] = { "uncached", "accesses", "went around the cache" },
	[C_RD] = { "bus_rd", "requests", "BusRd" },
	[C_RDX] = { "bus_rdx", "requests", "BusRdX" },
	[C_UPGR] = { "bus_upgr", "requests", "BusUpgr" },
	[C_UPDATE] = { "bus_update", "requests", "Update" },
	[C_WRITE] = { "bus_write", "requests", "write and invalidate" },
	[C_MEM_RD] = { "mem_rd", "requests", "reads of the controller alone" },
	[C_MEM_WR] = { "mem_wr", "requests", "writes to it alone" },
	[C_CANCELLED] = { "cancelled", "requests",
			  "granted when an Update had brought the line" },
	[C_SUPPLIES] = { "supplies", "lines", "sent from cache to cache" },
	[C_WRITE_BACKS] = { "write_backs", "lines", "dirty, sent to memory" },
	[C_INVALIDATIONS] = { "invalidations", "lines",
			      "lost to another's request" },
	[C_MERGES] = { "merges", "lines", "copies changed by an Update" },
	[C_ALLOCATIONS] = { "allocations", "lines",
			    "taken in because of an Update" },
	[C_BUSY] = { "busy", "cycles", "interconnect busy" },
	[C_DDR_READS] = { "ddr_reads", "accesses", "memory reads" },
	[C_DDR_WRITES] = { "ddr_writes", "accesses", "memory writes" },
	[C_ROW_HITS] = { "row_hits", "accesses", "found their row open" },
	[C_ARRIVED] = { "arrived", "words", "reached the interface" },
	[C_DELIVERED] = { "delivered", "words", "delivered" },
	[C_HELD_UP] = { "held_up", "cycles", "word waits for its slot" },
	[C_POLLS] = { "polls", "accesses", "loads of the mailbox" },
	[C_SEEN] = { "seen", "words", "seen by a polling core" },
	[C_CHECKS] = { "checks", "checks", "loads and transactions checked" },
	[C_ERRORS] = { "errors", "errors", "checks that failed" },
};
/* clang-format on */

/* ---- set-up ---- */

static int system_init(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;
	bool ok = true;

	if (coh_setup_check(c, err))
		return -EINVAL;
	s->net.last = s->cores; /* so that core 0 gets the first turn */
	s->ddr.row_bytes = s->row_bytes;
	s->ddr.banks = s->banks;
	s->ddr.width = s->width;
	s->ddr.t_ctrl = s->t_ctrl;
	s->ddr.t_rp = s->t_rp;
	s->ddr.t_rcd = s->t_rcd;
	s->ddr.t_cas = s->t_cas;
	s->ddr.t_cwl = s->t_cwl;
	for (uint32_t i = 0; i < s->cores; i++)
		ok = ok &&
		     coh_cache_init(&s->core[i].cache, s->size, s->line,
				    s->ways) &&
		     coh_mem_init(&s->core[i].priv, s->private_bytes) &&
		     (!s->verify ||
		      coh_mem_init(&s->check.priv[i], s->private_bytes));
	s->ni.arrival = calloc(s->slots, sizeof(*s->ni.arrival));
	if (!ok || !s->ni.arrival || !coh_ddr_init(&s->ddr, s->ddr_bytes) ||
	    (s->verify && !coh_mem_init(&s->check.flat, s->ddr_bytes)))
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	return 0;
}

static int system_start(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;

	s->seen = weft_hist(c, "seen_after", "cycles");
	for (uint32_t i = 0; i < s->cores; i++) {
		struct coh_core *k = &s->core[i];

		k->poller = !k->script && i < s->pollers;
		k->left = s->ops;
		coh_core_issue(c, i);
	}
	coh_ni_start(c);
	return 0;
}

static void system_event(struct weft_comp *c, uint32_t tag)
{
	((struct coh_system *)c->state)->last = coh_cycle(c);
	if (tag == EV_NET)
		coh_net_event(c);
	else if (tag == EV_NI)
		coh_ni_event(c);
	else if (tag == EV_ARB)
		coh_net_arbitrate(c);
	else
		coh_core_event(c, tag - EV_CORE);
}

/* ---- end ---- */

static void seen_metrics(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	uint64_t lo = UINT64_MAX, hi = 0, sum = 0;

	for (uint32_t i = 0; i < s->pollers; i++) {
		const struct coh_core *k = &s->core[i];

		if (!k->seen)
			continue;
		sum += k->see_sum;
		lo = k->see_min < lo ? k->see_min : lo;
		hi = k->see_max > hi ? k->see_max : hi;
	}
	if (!c->counters[C_SEEN])
		return;
	weft_metric(c, "seen_min", "cycles", (double)lo);
	weft_metric(c, "seen_mean", "cycles",
		    (double)sum / (double)c->counters[C_SEEN]);
	weft_metric(c, "seen_max", "cycles", (double)hi);
}

static int system_finish(struct weft_comp *c, struct weft_err *err)
{
	struct coh_system *s = c->state;

	c->counters[C_DDR_READS] = s->ddr.reads;
	c->counters[C_DDR_WRITES] = s->ddr.writes;
	c->counters[C_ROW_HITS] = s->ddr.row_hits;
	seen_metrics(c);
	if (s->last)
		weft_metric(c, "interconnect_busy", "%",
			    100.0 * (double)c->counters[C_BUSY] /
				    (double)s->last);
	return 0;
}

static void system_fini(struct weft_comp *c)
{
	struct coh_system *s = c->state;

	for (uint32_t i = 0; i < COH_CORES_MAX; i++) {
		coh_cache_fini(&s->core[i].cache);
		coh_mem_fini(&s->core[i].priv);
		coh_mem_fini(&s->check.priv[i]);
	}
	coh_ddr_fini(&s->ddr);
	coh_mem_fini(&s->check.flat);
	free(s->ni.arrival);
}

WEFT_COMPONENT(coh_system, .name = "coh.system", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "coherent caches, snooping interconnect, coherent NI",
	       .source = "forth.md 9 (P 4)",
	       .not_modelled =
		       "split transactions, refresh, the cores' own "
		       "caches, the network behind the interface",
	       .state_size = sizeof(struct coh_system), .params = system_params,
	       .counters = system_counters, .n_counters = C_N,
	       .ops = { .init = system_init,
			.start = system_start,
			.event = system_event,
			.finish = system_finish,
			.fini = system_fini });
