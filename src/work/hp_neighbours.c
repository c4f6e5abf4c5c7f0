/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.neighbours: processes of one node that use its Host Port for a while
 * beside each other (hostport.md 8.7 SB12, 13.4): who gets how much, and what a
 * neighbour that misbehaves does to the others.
 *
 *   victims     messages to themselves, or puts, `depth` under way; latency
 *               and number
 *   neighbours  nothing | good: the same as the victims | triggers: loads of
 *               its Triggerpage that do nothing | nq_full: takes no
 *               notifications and goes on triggering | bad_context: its context
 *               is off, behind the driver's back | forged_page: tries pages
 *               that it does not have | locked_window: puts into a window that
 *               somebody else has locked | tlb_miss: puts from pages that are
 *               never in the TLB
 *
 * Each process has a processor of its own as long as there are enough. */
#include <errno.h>

#include "ulib/hostport_crowd.h"
#include "work/hpw.h"

enum kind {
	NONE,
	GOOD,
	TRIGGERS,
	NQ_FULL,
	BAD_CONTEXT,
	FORGED_PAGE,
	LOCKED,
	TLB_MISS
};
#define KINDS                                                                  \
	"none|good|triggers|nq_full|bad_context|forged_page|locked_window|"    \
	"tlb_miss"

enum { SLOTS = HPORT_CROWD_WQ, WIN_FROM = HPORT_CROWD_WINS, WIN_TO };

struct scene;

struct actor {
	struct scene *of;
	uint32_t id, depth, out;
	uint64_t posted, done, failed, tries;
	weft_time_t since[SLOTS]; /* posted at, by number */
	weft_time_t sum, max;
};

struct scene {
	uint32_t victims, neighbours, kind, depth, greedy, greed, pages, cpus;
	weft_time_t time, period;
	uint64_t size;
	struct work w;
	struct hport_crowd hp;
	struct hport_peer to;
	struct actor *a;
	weft_time_t from, until;
};

static bool is_victim(const struct actor *a)
{
	return a->id < a->of->victims;
}

static enum kind kind_of(const struct actor *a)
{
	return is_victim(a) ? GOOD : a->of->kind;
}

/* ---- posting ----------------------------------------------------------- */

static int post_put(struct actor *a, struct hport *p, struct hport_peer *to)
{
	struct scene *s = a->of;
	uint64_t w = a->posted, page = a->posted % s->pages;
	struct hport_far far = { WIN_TO, 0, 8 * (a->posted % SLOTS) };
	struct hport_tag tag = { a->posted, 0 };

	if (kind_of(a) == GOOD)
		return hport_put(p, to, HPORT_MORE | HPORT_ACK, tag, &far,
				 WIN_FROM, 0, s->size);
	if (kind_of(a) != TLB_MISS)
		return hport_fast_put(p, to, HPORT_MORE | HPORT_ACK, tag, &far,
				      &w, 1);
	return hport_put(p, to, HPORT_MORE | HPORT_ACK, tag, &far, WIN_FROM,
			 page * HP_PAGE, s->size ? s->size : 8);
}

static bool post(struct actor *a, struct hport *p)
{
	struct hport_peer to = a->of->to;
	struct hport_tag tag = { a->posted, 0 };
	uint64_t w = a->posted;
	int ret;

	to.vpid = a->id;
	if ((kind_of(a) == GOOD && !a->of->size) || kind_of(a) == BAD_CONTEXT)
		ret = hport_fast_send(p, &to, HPORT_MORE | HPORT_ACK, tag, &w,
				      1);
	else
		ret = post_put(a, p, &to);
	if (ret)
		return false;
	a->since[a->posted++ % SLOTS] = weft_host_now(p->drv.host);
	a->out++;
	return true;
}

static void take(struct actor *a, struct hport *p)
{
	struct hport_note n;
	weft_time_t t;

	while (hport_poll(p, &n)) {
		if (n.event == HPORT_MESSAGE)
			hport_take(p, &n, NULL);
		if (n.event != HPORT_DONE)
			continue;
		t = weft_host_now(p->drv.host) - a->since[n.tag.user % SLOTS];
		a->out--;
		a->failed += n.error != 0;
		if (a->since[n.tag.user % SLOTS] < a->of->from)
			continue;
		a->done++;
		a->sum += t;
		a->max = t > a->max ? t : a->max;
	}
}

/* ---- turns ------------------------------------------------------------- */

static struct weft_turn again_at(weft_time_t t)
{
	return (struct weft_turn){ .kind = WEFT_TURN_SLEEP, .until = t };
}

/* Some instructions under way, all the time. */
static struct weft_turn turn_busy(struct actor *a, struct hport *p,
				  struct weft_host *h)
{
	weft_time_t now;

	take(a, p);
	now = weft_host_now(h);
	while (now < a->of->until && a->out < a->depth && post(a, p))
		;
	if (p->wq_new && hport_crowd_trigger(p))
		return (struct weft_turn){ WEFT_TURN_AGAIN };
	if (now >= a->of->until && !a->out)
		return (struct weft_turn){ WEFT_TURN_END };
	return (struct weft_turn){ .kind = WEFT_TURN_WAIT,
				   .p = hport_crowd_word(p),
				   .old = 0 };
}

/* Something bad every now and then. */
static struct weft_turn turn_rude(struct actor *a, struct hport *p,
				  struct weft_host *h)
{
	weft_time_t now = weft_host_now(h);
	struct weft_io io = p->page;

	if (now >= a->of->until)
		return (struct weft_turn){ WEFT_TURN_END };
	a->tries++;
	if (kind_of(a) == TRIGGERS) {
		hport_trigger(p, HP_T_BARRIER, 0);
	} else if (kind_of(a) == FORGED_PAGE) {
		io.off += (1 + a->tries % 64) * HP_PAGE;
		if (weft_io_load64(h, &io, HP_TRIGGER(HP_T_ISSUE, 1)) !=
		    UINT64_MAX)
			weft_check_failed(a->of->w.c, "a page was forged");
	} else if (post(a, p)) {
		hport_crowd_trigger(p);
	} else { /* more than there is */
		hport_trigger(p, HP_T_ISSUE, 1);
	}
	return again_at(now + a->of->period);
}

static struct weft_turn turn(struct weft_host *h, struct weft_proc *proc,
			     void *arg)
{
	struct actor *a = arg;
	struct hport *p = &a->of->hp.port[a->id];
	enum kind k = kind_of(a);

	(void)proc;
	hport_crowd_on(p, h);
	if (k == GOOD || k == LOCKED || k == TLB_MISS)
		return turn_busy(a, p, h);
	return turn_rude(a, p, h);
}

/* ---- setting up -------------------------------------------------------- */

static bool windows_open(struct actor *a, struct hport *p)
{
	struct scene *s = a->of;
	struct hport_region *from, *to;
	uint64_t *w = p->wdt + (size_t)HP_WORDS * WIN_TO;
	uint64_t pages = kind_of(a) == TLB_MISS ? s->pages : 1;

	if (hport_drv_map(&s->hp.drv, a->id, pages * HP_PAGE, NULL, &from) ||
	    hport_drv_map(&s->hp.drv, a->id, HP_PAGE, NULL, &to))
		return false;
	hport_crowd_window(p, WIN_FROM, from, 0);
	hport_crowd_window(p, WIN_TO, to, HPORT_READ | HPORT_WRITE);
	if (kind_of(a) == LOCKED) {
		w[HP_WIN_OWNER] = HP_WIN_OWNER_MAKE(p->hpid, 0xffff);
		w[HP_WIN_FLAGS] |= HP_WIN_LOCK;
	}
	return true;
}

static bool actor_open(struct scene *s, uint32_t i)
{
	struct weft_proc *proc = weft_proc_new(s->w.h, 0);
	struct actor *a = &s->a[i];
	struct hport *p;

	a->of = s;
	a->id = i;
	a->depth = i < s->greedy ? s->greed : s->depth;
	p = proc ? hport_crowd_add(&s->hp, i, proc, 0) : NULL;
	if (!p)
		return false;
	if (kind_of(a) == BAD_CONTEXT)
		s->hp.drv.kernel->ct[(size_t)HP_WORDS * i] &= ~HP_CTX_EN;
	if ((s->size || kind_of(a) > TRIGGERS) && !windows_open(a, p))
		return false;
	return weft_proc_start(s->w.h, proc, turn, a);
}

static int scene_open(struct scene *s, struct weft_comp *c)
{
	uint32_t n;
	int ret;

	if (s->kind == NONE)
		s->neighbours = 0;
	n = s->victims + s->neighbours;
	s->w = work_of(c);
	s->a = weft_host_calloc(s->w.h, n, sizeof(*s->a));
	ret = s->a ? hport_crowd_open(&s->hp, s->w.h, n) : -ENOMEM;
	for (uint32_t i = 0; !ret && i < n; i++)
		ret = actor_open(s, i) ? 0 : -ENOMEM;
	return ret ? ret : hport_connect(&s->hp.port[0], s->w.me, 0, &s->to);
}

/* ---- the end ----------------------------------------------------------- */

static void tell_victims(struct scene *s)
{
	uint64_t done = 0, least = UINT64_MAX, most = 0, failed = 0;
	weft_time_t sum = 0, max = 0;
	double us = (double)s->time / WEFT_US, mean;

	for (uint32_t i = 0; i < s->victims; i++) {
		const struct actor *a = &s->a[i];

		done += a->done;
		least = a->done < least ? a->done : least;
		most = a->done > most ? a->done : most;
		failed += a->failed;
		sum += a->sum;
		max = a->max > max ? a->max : max;
	}
	mean = (double)done / s->victims;
	weft_metric(s->w.c, "latency", "ns",
		    (double)sum / WEFT_NS / (done ? (double)done : 1));
	weft_metric(s->w.c, "latency_max", "ns", (double)max / WEFT_NS);
	weft_metric(s->w.c, "rate", "instructions/us", (double)done / us);
	weft_metric(s->w.c, "share_min", "%", 100 * (double)least / mean);
	weft_metric(s->w.c, "share_max", "%", 100 * (double)most / mean);
	if (failed)
		weft_check_failed(s->w.c, "%llu instructions of victims failed",
				  (unsigned long long)failed);
}

static void tell_neighbours(struct scene *s)
{
	uint64_t done = 0, failed = 0, tries = 0;

	for (uint32_t i = s->victims; i < s->victims + s->neighbours; i++) {
		done += s->a[i].done;
		failed += s->a[i].failed;
		tries += s->a[i].tries;
	}
	weft_metric(s->w.c, "neighbour_done", "instructions", (double)done);
	weft_metric(s->w.c, "neighbour_failed", "instructions", (double)failed);
	weft_metric(s->w.c, "neighbour_tries", "attempts", (double)tries);
}

static int scene_main(struct weft_comp *c)
{
	struct scene *s = c->state;
	int ret = scene_open(s, c);
	weft_time_t now;

	if (ret) {
		hpw_refused(c, "cannot open all processes", ret);
		return ret;
	}
	now = weft_host_now(s->w.h);
	s->from = now + s->time / 5; /* until then queues fill */
	s->until = s->from + s->time;
	weft_procs_run(s->w.h, s->cpus);
	tell_victims(s);
	tell_neighbours(s);
	hport_crowd_close(&s->hp);
	return 0;
}

static int scene_init(struct weft_comp *c, struct weft_err *err)
{
	const struct scene *s = c->state;

	return hpw_words(c, "size", s->size, err);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct scene, field, def, range, OWN, doc)
static const struct weft_param scene_params[] = {
	P(U32, victims, "1", "1..4096", "processes that are measured"),
	P(U32, neighbours, "1", "0..4096", "processes beside them"),
	P(ENUM, kind, "none", KINDS, "what the neighbours do"),
	P(U32, depth, "1", "1..15", "instructions of a process under way"),
	P(U32, greedy, "0", "0..4096", "so many victims, or all, have `greed` under way instead"),
	P(U32, greed, "15", "1..15", "see greedy"),
	P(BYTES, size, "0", "0..3968", "victims, good, tlb_miss: of a put; 0: messages of a word"),
	P(U32, pages, "1024", "1..65536", "tlb_miss: pages that it puts from in turn"),
	P(U32, cpus, "16", "1..64", "processors"),
	P(TIME, time, "1ms", "1us..", "that is measured"),
	P(TIME, period, "1us", "1ns..", "between attempts of the rude kinds"),
	{ 0 }
};
#undef P
// clang-format on

WEFT_COMPONENT(hostport_neighbours, .name = "hostport.neighbours",
	       .kind = WEFT_KIND_PROGRAM,
	       .doc = "shares of processes, and what bad neighbours do to them",
	       .source = "hostport.md 8.7, 13.4",
	       .state_size = sizeof(struct scene), .params = scene_params,
	       .ops = { .init = scene_init, .main = scene_main });
