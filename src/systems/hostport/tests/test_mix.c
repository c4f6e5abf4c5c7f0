/* SPDX-License-Identifier: Apache-2.0 */
/* Ordering as a property (hostport.md 8.7 SB1 to SB6, 13.4 O03, O04): random
 * mixes of messages and puts, short and long, of three processes to three
 * others, on random devices, with pages that are missing in the TLB.
 *
 *   in order      per ordering key (context, target, type) notifications arrive
 *                 at the target in the order of the work queue
 *   out of order  everything arrives once, in any order, and some packets
 *                 overtake others
 *
 * `test_mix SEED [N]` runs N mixes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unit/replay.h"
#include "unit/cmocka_all.h"
#include "base/rng.h"
#include "hpproc.h"

enum { PROCS = 3, EACH = 60, PAGES = 64, WIN = 1, LONGEST = 2048 };
enum { TYPES = 2 }; /* number of types of the ordering key: Send and RMA */

struct side {
	struct hpdrv drv;
	struct hpproc p[PROCS];
	weft_phys_t phys[PROCS];
};

static struct {
	struct side side[2];
	struct weft_rng rng;
	bool ordered;
	/* next number of a message, by ordering key */
	uint64_t next[PROCS][PROCS][TYPES];
	uint64_t seen[PROCS][PROCS][TYPES];
	bool came[PROCS][PROCS][TYPES][PROCS * EACH];
	uint64_t total, overtaken, twice, misses;
	bool bad;
} m;

static uint32_t below(uint32_t n)
{
	return (uint32_t)weft_rng_below(&m.rng, n);
}

static uint64_t va_of(uint32_t i)
{
	return 0x10000000ull * (i + 1);
}

/* ---- both sides ---- */

static void open_all(struct side *s, struct exrig *r, uint32_t node,
		     struct weft_host *h, uint64_t flags)
{
	s->drv.ctrl = m.ordered ? HP_CTRL_ORDER : 0;
	hpdrv_open(&s->drv, r, node, h);
	for (uint32_t i = 0; i < PROCS; i++) {
		uint64_t *w;

		hpproc_open(&s->p[i], &s->drv, h, 1 + i, flags);
		assert_non_null(weft_mem_alloc(h, PAGES * HP_PAGE, HP_PAGE,
					       &s->phys[i]));
		w = s->p[i].wdt + HP_WORDS * WIN;
		w[HP_WIN_VA] = va_of(i);
		w[HP_WIN_LEN] = PAGES * HP_PAGE;
		w[HP_WIN_FLAGS] =
			HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | HP_WIN_CAP_ANY;
	}
}

/* Serves TLB misses, because the driver of this test takes no interrupts. */
static void serve(struct side *s)
{
	uint64_t rec;

	while ((rec = hpdrv_get(&s->drv, HP_R_TLB_MISS)) != HP_NONE) {
		uint32_t v = HP_MISS_VPID(rec);
		uint64_t page = HP_MISS_PAGE(rec);
		uint64_t at = s->phys[v - 1] / HP_PAGE + page -
			      va_of(v - 1) / HP_PAGE;

		hpdrv_cache(&s->drv, HP_CACHE_INSERT, HP_CACHE_TLB, v, page,
			    HP_TLB_ARG(at, true));
		m.misses++;
	}
}

static bool nqe_there(const struct hpproc *p)
{
	return HP_NQE_VALID(p->nq + HP_WORDS * p->ni);
}

/* ---- origin ---- */

static void post(uint32_t from)
{
	uint32_t to = below(PROCS), type = below(TYPES), big = below(2);
	uint64_t w[HP_WORDS] = { 0 }, seq = m.next[from][to][type]++;
	uint32_t len = 8 * (1 + below(below(3) ? 8 : LONGEST / 8));
	static const uint8_t byte[TYPES][2] = {
		{ HP_B_FAST_SEND | 1, HP_B_SEND },
		{ HP_B_FAST_PUT | 1, HP_B_PUT }
	};

	hpproc_to(w, byte[type][big], 1, 1 + to, seq);
	if (!type && big)
		w[4] = len;
	if (type) {
		w[3] = HP_VCI_W3(WIN, 0);
		w[4] = 8 * below(PAGES * HP_PAGE / 8 - LONGEST);
	}
	if (type && big) {
		w[5] = HP_VCI_W5(WIN);
		w[6] = 8 * below(PAGES * HP_PAGE / 8 - LONGEST);
		w[7] = len;
	}
	hpproc_put(&m.side[0].p[from], w);
}

static int near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint32_t left[PROCS] = { EACH, EACH, EACH }, out[PROCS] = { 0 };
	uint32_t todo = PROCS * EACH;
	uint64_t w[HP_WORDS];

	open_all(&m.side[0], r, node, h, m.ordered ? HP_CTX_ORD : 0);
	while (!r->v[0])
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	while (todo) {
		uint32_t i = below(PROCS), k = 1 + below(8), n = 0;
		struct hpproc *p = &m.side[0].p[i];

		for (; n < k && left[i] && out[i] < 40;
		     n++, left[i]--, out[i]++)
			post(i);
		hpproc_issue(p, n);
		serve(&m.side[0]);
		for (i = 0; i < PROCS; i++)
			while (nqe_there(&m.side[0].p[i]) &&
			       hpproc_wait(&m.side[0].p[i], w)) {
				assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
				out[i]--;
				todo--;
			}
	}
	while (!r->v[1]) {
		serve(&m.side[0]);
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	}
	return 0;
}

/* ---- target ---- */

static void told(uint32_t to, const uint64_t *w)
{
	uint32_t from = HP_NQE_VPID(w) - 1;
	uint32_t type = HP_CMD_BYTE(HP_NQE_CMD(w)) == HP_B_NOTIFY_RMA;
	uint64_t seq = HP_NQE_TAG(w), *next = &m.seen[from][to][type];

	m.twice += m.came[from][to][type][seq];
	m.came[from][to][type][seq] = true;
	m.overtaken += seq < *next;
	m.bad |= m.ordered && seq != *next;
	if (seq >= *next)
		*next = seq + 1;
	m.total++;
}

static void give_rdr(struct hpproc *p, const uint64_t *w)
{
	uint64_t left =
		HP_CMD_BYTE(HP_NQE_CMD(w)) == HP_B_NOTIFY_RECV ? w[3] / 8 : 0;

	while (left) {
		uint32_t k =
			left > HP_COUNT_MAX ? HP_COUNT_MAX : (uint32_t)left;

		if (hpproc_trigger(p, HP_T_RDR_RP, k) & HP_TRUE)
			left -= k;
	}
}

static int far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];

	open_all(&m.side[1], r, node, h, HP_CTX_RMA_NTF);
	r->v[0] = 1;
	while (m.total < PROCS * EACH) {
		serve(&m.side[1]);
		for (uint32_t i = 0; i < PROCS; i++) {
			struct hpproc *p = &m.side[1].p[i];

			while (nqe_there(p) && hpproc_wait(p, w)) {
				told(i, w);
				give_rdr(p, w);
			}
		}
	}
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	r->v[1] = 1;
	return 0;
}

/* ---- mixes ---- */

static void set(struct exrig *r, const char *par, uint32_t least, uint32_t most)
{
	char val[16];

	snprintf(val, sizeof(val), "%u", least + below(most - least + 1));
	exrig_set(r, "hostport.nic", par, val);
}

static void mix(uint64_t seed, bool ordered)
{
	struct exrig r;

	memset(&m, 0, sizeof(m));
	weft_rng_seed(&m.rng, seed, "mix");
	m.ordered = ordered;
	hprig_new(&r, "2", NULL);
	set(&r, "n_req_fu", 2, 6);
	set(&r, "n_cpl_fu", 2, 6);
	set(&r, "issue_width", 1, 6);
	set(&r, "waitq_depth", 0, 5);
	set(&r, "fetches", 1, 16);
	set(&r, "lookups", 1, 16);
	set(&r, "miss_places", 0, 6);
	set(&r, "tlb", 30, 200);
	exrig_prog(&r, 0, near);
	exrig_prog(&r, 1, far);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

struct totals {
	uint64_t n, overtaken, misses;
};

static int one(uint64_t seed, void *totals)
{
	struct totals *t = totals;
	int bad;

	mix(seed, true);
	bad = replay_differ("in order", seed, m.bad, 0) +
	      replay_differ("overtaken", seed, m.overtaken, 0) +
	      replay_differ("twice", seed, m.twice, 0) +
	      replay_differ("arrived", seed, m.total, PROCS * EACH);
	t->misses += m.misses;
	mix(seed, false);
	bad += replay_differ("twice", seed, m.twice, 0) +
	       replay_differ("arrived", seed, m.total, PROCS * EACH);
	t->n += 2 * m.total;
	t->overtaken += m.overtaken;
	t->misses += m.misses;
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };

	if (!replay(argc, argv, 20, one, &t))
		return 1;
	printf("%" PRIu64 " instructions, %" PRIu64
	       " TLB misses; out of order %" PRIu64 " were overtaken\n",
	       t.n, t.misses, t.overtaken);
	return t.overtaken ? 0 : 1;
}
