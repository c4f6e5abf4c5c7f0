/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.neighbours: the function of one process, see isolation.c.
 *
 * busy   keeps some instructions in flight all the time: victims, and
 *        neighbours without a period
 * paced  issues instructions at random intervals of half to one and a half
 *        periods. The intervals do not depend on the fault, so that runs with
 *        and without fault differ in nothing else */
#include "systems/hostport/programs/isolation.h"

static bool isolation_process_faulty(const struct hpn_actor *a)
{
	return !hpn_is_victim(a) && a->of->fault;
}

/* Returns whether the process issues instructions for ever. */
static bool isolation_process_endless(const struct hpn_actor *a)
{
	return isolation_process_faulty(a) &&
	       (hpn_kind_of(a) == HPN_NQ_FULL ||
		hpn_kind_of(a) == HPN_BAD_CONTEXT);
}

/* ---- posting ---- */

enum { FLAGS = HPORT_MORE | HPORT_ACK };

/* Returns the page of this instruction. An actor that causes faults uses its
 * pages in turn, so that the TLB has replaced each page before its next use. */
static uint64_t page_of(const struct hpn_actor *a, uint64_t bytes)
{
	uint64_t n = (bytes + HP_PAGE - 1) / HP_PAGE;

	return isolation_process_faulty(a)
		       ? a->posted % (a->of->pages / n) * n * HP_PAGE
		       : 0;
}

static int post_miss(struct hpn_actor *a, struct hport *p,
		     const struct hport_peer *to)
{
	const struct hpn_scene *s = a->of;
	struct hport_tag tag = { a->posted, 0 };
	struct hport_far near = { HPN_TO, 0, 8 * (a->posted % HPN_SLOTS) };
	uint64_t bytes = s->bytes, at = page_of(a, bytes);
	struct hport_far far = { HPN_FROM, 0, at };

	switch (hpn_kind_of(a)) {
	case HPN_LONG_MISS:
		near.off = 0;
		return hport_put(p, to, FLAGS, tag, &near, HPN_FROM,
				 page_of(a, s->length), s->length);
	case HPN_TARGET_MISS:
		return hport_put(p, to, FLAGS, tag, &far, HPN_TO, 0, bytes);
	case HPN_GET_MISS:
		return hport_get(p, to, FLAGS, tag, &far, HPN_TO, 0, bytes);
	case HPN_ATOMIC_MISS:
		return hport_faa(p, to, FLAGS, tag, &far, 1);
	default:
		return hport_put(p, to, FLAGS, tag, &near, HPN_FROM, at, bytes);
	}
}

/* Posts an instruction of a victim or a good neighbour. */
static int post_good(struct hpn_actor *a, struct hport *p,
		     const struct hport_peer *to)
{
	const struct hpn_scene *s = a->of;
	struct hport_far far = { HPN_TO, 0, 8 * (a->posted % HPN_SLOTS) };
	struct hport_tag tag = { a->posted, 0 };
	uint32_t way =
		s->way == HPN_MIX ? (a->posted + a->id) % HPN_MIX : s->way;
	uint64_t w = a->posted, at = (s->roam - 1 - w % s->roam) * HP_PAGE;

	if (!s->size)
		way = HPN_MESSAGE;
	switch (way) {
	case HPN_GET:
		return hport_get(p, to, FLAGS, tag, &far, HPN_FROM, at,
				 s->size);
	case HPN_MESSAGE:
		return hport_fast_send(p, to, FLAGS, tag, &w, 1);
	case HPN_FAA:
		return hport_faa(p, to, FLAGS, tag, &far, 1);
	default:
		return hport_put(p, to, FLAGS, tag, &far, HPN_FROM, at,
				 s->size);
	}
}

static bool isolation_process_post(struct hpn_actor *a, struct hport *p)
{
	enum hpn_kind k = hpn_kind_of(a);
	uint64_t w = a->posted;
	struct hport_far far = { HPN_TO, 0, 8 * (w % HPN_SLOTS) };
	struct hport_tag tag = { w, 0 };
	struct hport_peer to = a->of->to;
	int ret;

	to.vpid = a->id;
	if (hpn_misses(k))
		ret = post_miss(a, p, &to);
	else if (k == HPN_GOOD)
		ret = post_good(a, p, &to);
	else if (k == HPN_BAD_CONTEXT)
		ret = hport_fast_send(p, &to, FLAGS, tag, &w, 1);
	else
		ret = hport_fast_put(p, &to, FLAGS, tag, &far, &w, 1);
	if (ret)
		return false;
	a->since[a->posted++ % HPN_SLOTS] = weft_host_now(p->drv.host);
	a->out++;
	return true;
}

static void isolation_process_take(struct hpn_actor *a, struct hport *p)
{
	struct hport_note n;
	weft_time_t t;

	while (hport_poll(p, &n)) {
		if (n.event == HPORT_MESSAGE)
			hport_take(p, &n, NULL);
		if (n.event != HPORT_DONE)
			continue;
		t = weft_host_now(p->drv.host) -
		    a->since[n.tag.user % HPN_SLOTS];
		a->out--;
		a->next = weft_host_now(p->drv.host) + a->of->pause;
		a->failed += n.error != 0;
		if (a->since[n.tag.user % HPN_SLOTS] < a->of->from)
			continue;
		a->done++;
		a->sum += t;
		a->max = t > a->max ? t : a->max;
	}
}

/* ---- turns ---- */

/* Runs an actor that always has some instructions in flight: takes
 * notifications and posts new instructions. */
static struct weft_turn turn_busy(struct hpn_actor *a, struct hport *p,
				  struct weft_host *h)
{
	weft_time_t now;

	isolation_process_take(a, p);
	now = weft_host_now(h);
	if (hpn_is_victim(a) && a->of->pause && !a->out && now < a->next &&
	    now < a->of->until)
		return (struct weft_turn){ .kind = WEFT_TURN_SLEEP,
					   .until = a->next };
	while (now < a->of->until && a->out < a->depth &&
	       isolation_process_post(a, p))
		;
	if (p->wq_new && hport_crowd_trigger(p))
		return (struct weft_turn){ WEFT_TURN_AGAIN };
	if (now >= a->of->until && !a->out)
		return (struct weft_turn){ WEFT_TURN_END };
	return (struct weft_turn){ .kind = WEFT_TURN_WAIT,
				   .p = hport_crowd_word(p),
				   .old = 0 };
}

static void isolation_process_attempt(struct hpn_actor *a, struct hport *p,
				      struct weft_host *h)
{
	enum hpn_kind k = hpn_kind_of(a);
	struct weft_io io = p->page;

	a->tries += weft_host_now(h) >= a->of->from;
	if (k == HPN_FORGED_PAGE && isolation_process_faulty(a)) {
		io.off += (1 + a->posted++ % 64) * HP_PAGE;
		if (weft_io_load64(h, &io, HP_TRIGGER(HP_T_ISSUE, 1)) !=
		    UINT64_MAX)
			weft_check_failed(a->of->w.c, "a page was forged");
	} else if (k == HPN_TRIGGERS || k == HPN_FORGED_PAGE) {
		hport_trigger(p, HP_T_BARRIER, 0);
	} else if (isolation_process_post(a, p) || p->wq_new) {
		hport_crowd_trigger(p);
	} else if (isolation_process_endless(a)) {
		/* triggers although the queue is full, so that more triggers
		 * are pending than the queue has entries */
		hport_trigger(p, HP_T_ISSUE, 1);
	}
}

static struct weft_turn turn_paced(struct hpn_actor *a, struct hport *p,
				   struct weft_host *h)
{
	weft_time_t now = weft_host_now(h), period = a->of->period;

	if (!isolation_process_endless(a))
		isolation_process_take(a, p);
	if (now >= a->of->until && (!a->out || isolation_process_endless(a)))
		return (struct weft_turn){ WEFT_TURN_END };
	if (now < a->of->until)
		isolation_process_attempt(a, p, h);
	/* Makes no pause if no period is set, or while the process fills its
	 * notification queue before the measurement. */
	if (!period ||
	    (hpn_kind_of(a) == HPN_NQ_FULL && isolation_process_endless(a) &&
	     a->filled++ < p->size.nq))
		return (struct weft_turn){ WEFT_TURN_AGAIN };
	a->next += period / 2 + weft_rng_below(&a->rng, period);
	return (struct weft_turn){ .kind = WEFT_TURN_SLEEP, .until = a->next };
}

struct weft_turn hpn_turn(struct weft_host *h, struct weft_proc *proc,
			  void *arg)
{
	struct hpn_actor *a = arg;
	struct hport *p = &a->of->hp.port[a->id];
	enum hpn_kind k = hpn_kind_of(a);
	bool completes = k != HPN_TRIGGERS && k != HPN_FORGED_PAGE &&
			 !isolation_process_endless(a);

	hport_crowd_on(p, h);
	/* Without a period the process issues its next instruction when an
	 * earlier instruction ends. This does not work for instructions that
	 * never end. */
	if (k == HPN_GOOD || (!a->of->period && completes))
		return turn_busy(a, p, h);
	return turn_paced(a, p, h);
}
