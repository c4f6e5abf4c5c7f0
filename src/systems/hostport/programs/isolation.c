/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.neighbours: processes of one node that use its Host Port for a while
 * beside each other (hostport.md 8.7 SB12, 13.4). Measures the share of each
 * process, and the effect of a misbehaving neighbour on the others.
 *
 *   victims     keep `depth` messages to themselves, or puts, in flight. The
 *               program reports their latency and number
 *   neighbours  issue one instruction in each period. The instruction ends in a
 *               fault, unless fault = no:
 *
 *                 kind           instruction       fault
 *                 triggers       trigger without   none
 *                                effect
 *                 nq_full        put of a word     takes no notifications
 *                 bad_context    message           EN of its context is clear
 *                                                  in memory
 *                 forged_page    load              the Triggerpage belongs to
 *                                                  another process
 *                 locked_window  put of a word     another process has locked
 *                                                  the window
 *                 tlb_miss       put               TLB misses the source page
 *                 long_miss      long put          TLB misses all source pages
 *                 target_miss    put               TLB misses the target page
 *                 get_miss       get               TLB misses the source page
 *                 atomic_miss    FAA               TLB misses the word's page
 *
 * Each process has a processor of its own, unless `cpus` is lower than the
 * number of processes. */
#include <errno.h>

#include "systems/hostport/programs/hostport_program.h"
#include "systems/hostport/programs/isolation.h"

/* ---- setting up ---- */

/* Opens windows. A window has many pages if the TLB has to miss pages,
 * otherwise only the pages that instructions use. */
static bool windows_open(struct hpn_actor *a, struct hport *p)
{
	struct hpn_scene *s = a->of;
	enum hpn_kind k = hpn_kind_of(a);
	uint64_t most =
		k == HPN_LONG_MISS ? (s->length + HP_PAGE - 1) / HP_PAGE : 1;
	uint64_t own = hpn_is_victim(a) ? s->roam : most;
	bool many = s->fault && hpn_misses(k);
	struct hport_region *from = hport_crowd_map(
		&s->hp, a->id, (many ? s->pages : own) * HP_PAGE);
	struct hport_region *to =
		hport_crowd_map(&s->hp, a->id, most * HP_PAGE);
	uint64_t *w = p->wdt + (size_t)HP_WORDS * HPN_TO;

	if (!from || !to)
		return false;
	hport_crowd_window(p, HPN_FROM, from, HPORT_READ | HPORT_WRITE);
	hport_crowd_window(p, HPN_TO, to, HPORT_READ | HPORT_WRITE);
	if (k == HPN_LOCKED && s->fault) {
		w[HP_WIN_OWNER] = HP_WIN_OWNER_MAKE(p->hpid, 0xffff);
		w[HP_WIN_FLAGS] |= HP_WIN_LOCK;
	}
	return true;
}

/* Opens an actor. Puts of kind locked_window are always notified at their
 * target, because a refused put is notified there. */
static bool actor_open(struct hpn_scene *s, uint32_t i)
{
	struct weft_proc *proc = weft_proc_new(s->w.h, 0);
	struct hpn_actor *a = &s->a[i];
	struct hport *p;

	a->of = s;
	a->id = i;
	a->depth = i < s->greedy ? s->greed : s->depth;
	for (uint32_t k = 0; k < 4; k++)
		a->rng.s[k] = weft_rng_u64(&s->w.c->rng) | 1;
	p = proc ? hport_crowd_add(
			   &s->hp, i, proc,
			   hpn_kind_of(a) == HPN_LOCKED ? HPORT_RMA_NOTES : 0)
		 : NULL;
	if (!p)
		return false;
	if (hpn_kind_of(a) == HPN_BAD_CONTEXT && s->fault)
		s->hp.drv.kernel->ct[(size_t)HP_WORDS * i] &= ~HP_CTX_EN;
	if ((s->size || hpn_kind_of(a) > HPN_TRIGGERS) && !windows_open(a, p))
		return false;
	if (hpn_weight(a) > 1)
		hport_crowd_weight(&s->hp, i, hpn_weight(a));
	a->next = weft_host_now(s->w.h);
	return weft_proc_start(s->w.h, proc, hpn_turn, a);
}

static int scene_open(struct hpn_scene *s, struct weft_comp *c)
{
	uint32_t n;
	int ret;

	if (s->kind == HPN_NONE)
		s->neighbours = 0;
	n = s->victims + s->neighbours;
	s->w = program_from(c);
	s->a = weft_host_calloc(s->w.h, n, sizeof(*s->a));
	ret = s->a ? hport_crowd_open(&s->hp, s->w.h, n) : -ENOMEM;
	for (uint32_t i = 0; !ret && i < n; i++)
		ret = actor_open(s, i) ? 0 : -ENOMEM;
	return ret ? ret : hport_connect(&s->hp.port[0], s->w.me, 0, &s->to);
}

/* ---- the end ---- */

static void tell_victims(struct hpn_scene *s)
{
	uint64_t done = 0, least = UINT64_MAX, most = 0, failed = 0;
	uint64_t part, parts = 0;
	weft_time_t sum = 0, max = 0;
	double us = (double)s->time / WEFT_US, mean;

	for (uint32_t i = 0; i < s->victims; i++) {
		const struct hpn_actor *a = &s->a[i];

		weft_series_add(s->w.c, "done", "process", "instructions/us", i,
				(double)a->done / us);
		part = a->done / hpn_weight(a);
		parts += hpn_weight(a);
		done += a->done;
		least = part < least ? part : least;
		most = part > most ? part : most;
		failed += a->failed;
		sum += a->sum;
		max = a->max > max ? a->max : max;
	}
	mean = (double)done / (double)parts;
	weft_metric(s->w.c, "latency", "ns",
		    (double)sum / WEFT_NS / (done ? (double)done : 1));
	weft_metric(s->w.c, "latency_max", "ns", (double)max / WEFT_NS);
	weft_metric(s->w.c, "time", "ns",
		    (double)(weft_host_now(s->w.h) - s->begun) / WEFT_NS);
	weft_metric(s->w.c, "rate", "instructions/us", (double)done / us);
	weft_metric(s->w.c, "share_min", "%", 100 * (double)least / mean);
	weft_metric(s->w.c, "share_max", "%", 100 * (double)most / mean);
	if (failed)
		weft_check_failed(s->w.c, "%llu instructions of victims failed",
				  (unsigned long long)failed);
}

static int scene_main(struct weft_comp *c)
{
	struct hpn_scene *s = c->state;
	uint64_t done = 0, failed = 0, tries = 0;
	int ret = scene_open(s, c);
	weft_time_t now;

	if (ret) {
		hostport_program_refused(c, "cannot open all processes", ret);
		return ret;
	}
	now = weft_host_now(s->w.h);
	s->begun = now;
	/* starts the measurement after a fifth of its duration, so that queues
	 * can fill first */
	s->from = now + s->time / 5;
	s->until = s->from + s->time;
	weft_procs_run(s->w.h, s->cpus);
	tell_victims(s);
	for (uint32_t i = s->victims; i < s->victims + s->neighbours; i++) {
		done += s->a[i].done;
		failed += s->a[i].failed;
		tries += s->a[i].tries;
	}
	weft_metric(c, "neighbour_done", "instructions", (double)done);
	weft_metric(c, "neighbour_failed", "instructions", (double)failed);
	weft_metric(c, "neighbour_tries", "attempts", (double)tries);
	hport_crowd_close(&s->hp);
	return 0;
}

static int scene_init(struct weft_comp *c, struct weft_err *err)
{
	const struct hpn_scene *s = c->state;
	int ret = hostport_program_words(c, "size", s->size, err);

	if (!ret)
		ret = hostport_program_words(c, "bytes", s->bytes, err);
	if (!ret)
		ret = hostport_program_words(c, "length", s->length, err);
	if (!ret && s->length > (uint64_t)s->pages * HP_PAGE)
		ret = weft_fail(err, EINVAL,
				"%s: length is more than `pages` pages",
				c->name);
	return ret;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct hpn_scene, field, def, range, OWN, doc)
static const struct weft_param scene_params[] = {
	P(U32, victims, "1", "1..4096", "processes that are measured"),
	P(U32, neighbours, "1", "0..4096", "processes beside them"),
	P(ENUM, kind, "none", HPN_KINDS, "what the neighbours do"),
	P(BOOL, fault, "yes", "", "no: the same instructions, and nothing wrong with them"),
	P(U32, depth, "1", "1..15", "instructions of a process under way"),
	P(U32, greedy, "0", "0..4096", "so many victims, or all, have `greed` under way instead"),
	P(U32, greed, "15", "1..15", "see greedy"),
	P(BYTES, size, "0", "0..3968", "victims, good: of a put or get; 0: messages of a word"),
	P(ENUM, way, "put", HPN_WAYS, "victims, good, with a size: instructions; mix: in turn"),
	P(TIME, pause, "0", "", "of a victim after each completion"),
	P(U32, roam, "1", "1..65536", "pages that a victim uses in turn, from the last one down"),
	P(U32, weight, "1", "1..255", "of victims 2, 5, 8 ..: their part of the turn"),
	P(U32, weight_next, "1", "1..255", "of victims 1, 4, 7 .."),
	P(BYTES, bytes, "8", "8..3968", "misses: of a put or get"),
	P(BYTES, length, "64KiB", "8..8MiB", "long_miss: of a put"),
	P(U32, pages, "1024", "1..65536", "misses: pages that it uses in turn"),
	P(U32, cpus, "16", "1..64", "processors"),
	P(TIME, time, "1ms", "1us..", "that is measured"),
	P(TIME, period, "1us", "", "between attempts of a neighbour, in the mean; 0: `depth` of them under way"),
	{ 0 }
};
#undef P
// clang-format on

WEFT_COMPONENT(hostport_neighbours, .name = "hostport.neighbours",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "shares of processes, and what bad neighbours do to them",
	       .source = "hostport.md 8.7, 13.4",
	       .state_size = sizeof(struct hpn_scene), .params = scene_params,
	       .ops = { .init = scene_init, .main = scene_main });
