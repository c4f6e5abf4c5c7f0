/* SPDX-License-Identifier: Apache-2.0 */
/* Program hostport.page (hostport.md 10.2, XI-02): many processes trigger at
 * once, each through a Triggerpage of its own, or all through one page, with
 * the process in the tag of the access.
 *
 * pages     number of pages of the device that the processes have mapped
 * accepted  number of triggers; each must have been counted for its process */
#include <errno.h>

#include "programs/program.h"
#include "systems/hostport/lib/driver.h"

struct page_work {
	uint32_t processes, ops, cpus;
	bool tagged;
	uint32_t first, end; /* range of pages that are mapped */
	struct program w;
	struct weft_dev *dev;
};

struct one {
	struct page_work *of;
	struct weft_proc *proc;
	struct weft_io page;
	uint64_t accepted;
};

static struct weft_turn trigger_page_turn(struct weft_host *h,
					  struct weft_proc *p, void *arg)
{
	uint64_t off = HP_TRIGGER(HP_T_BARRIER, 0), val;
	struct one *o = arg;

	if (o->of->tagged)
		o->accepted += weft_io_tload64(h, &o->page, off, &val);
	else
		o->accepted +=
			(weft_io_load64(h, &o->page, off) & HP_TRUE) != 0;
	return (struct weft_turn){ .kind = o->accepted < o->of->ops
						   ? WEFT_TURN_AGAIN
						   : WEFT_TURN_END };
}

/* Takes VPIDs from 1 on, because 0 is the tag of a thread without a process. */
static int vpids_take(struct hport_drv *d, void *arg)
{
	const struct page_work *a = arg;
	const uint64_t w[HP_WORDS] = { HP_CTX_EN };

	for (uint32_t i = 1; i <= a->processes; i++) {
		if (hport_drv_vpid(d, (int32_t)i) < 0)
			return -EBUSY;
		hport_drv_enable(d, i, w);
	}
	return 0;
}

static int vpids_give(struct hport_drv *d, void *arg)
{
	const struct page_work *a = arg;

	for (uint32_t i = 1; i <= a->processes; i++)
		if (hport_drv_disable(d, i))
			hport_drv_vpid_end(d, i);
	return 0;
}

static int trigger_page_prepare(struct page_work *a, struct one *o)
{
	int ret = o ? hport_drv_run(a->w.h, vpids_take, a) : -ENOMEM;

	a->dev = weft_dev_open(a->w.h, 0);

	if (!ret && a->tagged &&
	    (!weft_io_can_tag(a->w.h, a->dev) ||
	     !weft_page_share(a->w.h, a->dev, HP_BAR_TRIGGER, 0)))
		ret = -ENOTSUP;
	for (uint32_t vpid = 1; !ret && vpid <= a->processes; vpid++, o++) {
		uint32_t page = a->tagged ? 0 : vpid;

		o->of = a;
		a->first = page < a->first ? page : a->first;
		a->end = page >= a->end ? page + 1 : a->end;
		o->proc = weft_proc_new(a->w.h, 0);
		if (!o->proc ||
		    !weft_proc_set_tag(a->w.h, o->proc, (uint16_t)vpid) ||
		    !weft_proc_map(a->w.h, o->proc, a->dev, HP_BAR_TRIGGER,
				   HP_TRIGGER_PAGE(page), HP_PAGE, WEFT_UC,
				   &o->page))
			ret = -ENOMEM;
		else if (!weft_proc_start(a->w.h, o->proc, trigger_page_turn,
					  o))
			ret = -EPERM;
	}
	return ret;
}

static int page_main(struct weft_comp *c)
{
	struct page_work *a = c->state;
	double accepted = 0;
	struct one *o;
	weft_time_t t;
	int ret;

	a->w = program_from(c);
	a->first = UINT32_MAX;
	o = weft_host_calloc(a->w.h, a->processes, sizeof(*o));
	ret = trigger_page_prepare(a, o);
	if (ret) {
		weft_check_failed(c, "cannot begin the processes: %s",
				  program_why(ret));
		return ret;
	}
	t = weft_host_now(a->w.h);
	weft_procs_run(a->w.h, a->cpus);
	t = weft_host_now(a->w.h) - t;
	for (uint32_t i = 0; i < a->processes; i++) {
		accepted += (double)o[i].accepted;
		weft_proc_free(a->w.h, o[i].proc);
	}
	weft_metric(c, "pages", "", a->end - a->first);
	weft_metric(c, "accepted", "", accepted);
	weft_metric(c, "trigger", "ns", (double)t / WEFT_NS / accepted);
	hport_drv_run(a->w.h, vpids_give, a);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, doc)                                        \
	WEFT_PARAM(type, struct page_work, field, def, range, OWN, doc)
static const struct weft_param page_params[] = {
	P(U32, processes, "64", "1..65535", "that trigger at the same time"),
	P(U32, ops, "8", "1..", "triggers of each"),
	P(U32, cpus, "2", "1..64", "processors"),
	P(BOOL, tagged, "no", "", "all through one page, by tagged loads"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(hostport_page, .name = "hostport.page",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "processes with a page each, or with one for all",
	       .source = "hostport.md 10.2",
	       .state_size = sizeof(struct page_work), .params = page_params,
	       .ops = { .main = page_main });
