/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on the Triggerpage (hostport.md 7, 11.3, 11.4):
 *
 *   hostport.trigger  measures the times of a register load, of a trigger and
 *                     of k triggers in one process
 *   hostport.threads  measures triggers of many threads on a few processors.
 *                     The cost of creating and joining threads in the operating
 *                     system is a parameter (table 4.5)
 *
 * The operation is Barrier Reached, which causes no notification. */
#include <errno.h>

#include "programs/program.h"
#include "systems/hostport/lib/driver.h"

/* ---- one process ---- */

struct one {
	uint64_t count;
	weft_time_t pause;
	struct program w;
	struct hport *p;
};

/* Returns the time that a call of the clock itself takes. */
static double clock_ns(struct weft_host *h)
{
	weft_time_t t = weft_host_now(h);

	return (double)(weft_host_now(h) - t) / WEFT_NS;
}

/* Returns the time of k triggers in ns. */
static double triggers_ns(struct one *a, uint64_t k)
{
	weft_time_t t = weft_host_now(a->w.h);

	for (uint64_t i = 0; i < k; i++)
		if (!hport_barrier(a->p, (uint32_t)i % 32))
			weft_check_failed(a->w.c, "a trigger was refused");
	return (double)(weft_host_now(a->w.h) - t) / WEFT_NS - clock_ns(a->w.h);
}

/* Fits time over the number of operations. Computes the slope of the
 * least-squares line, and the distance of the times from the line. */
static void trigger_line(struct one *a)
{
	double n = 0, sk = 0, st = 0, skk = 0, skt = 0, slope;

	for (uint64_t k = 1; k <= a->count; k *= 2) {
		double t = triggers_ns(a, k);

		weft_series_add(a->w.c, "operations", "", "ns", (double)k, t);
		n++;
		sk += (double)k;
		st += t;
		skk += (double)k * (double)k;
		skt += (double)k * t;
	}
	slope = n > 1 ? (n * skt - sk * st) / (n * skk - sk * sk) : st / sk;
	weft_metric(a->w.c, "slope", "ns", slope);
	weft_metric(a->w.c, "begin", "ns", (st - slope * sk) / n);
}

static int one_main(struct weft_comp *c)
{
	struct one *a = c->state;
	weft_time_t t;
	double ns;
	int ret;

	a->w = program_from(c);
	ret = hport_open(a->w.h, NULL, &a->p);
	if (ret) {
		weft_check_failed(c, "cannot open a Host Port: %s",
				  program_why(ret));
		return ret;
	}
	/* warms up, because the first trigger loads the context into the
	 * cache */
	triggers_ns(a, 1);
	/* Waits until the device has processed the trigger. */
	weft_host_cpu(a->w.h, a->pause);
	hport_info(a->p, HP_R_HPID);
	t = weft_host_now(a->w.h);
	for (uint64_t i = 0; i < a->count; i++)
		hport_info(a->p, HP_R_HPID);
	ns = (double)(weft_host_now(a->w.h) - t) / WEFT_NS - clock_ns(a->w.h);
	weft_metric(c, "register", "ns", ns / (double)a->count);
	weft_metric(c, "trigger", "ns",
		    triggers_ns(a, a->count) / (double)a->count);
	trigger_line(a);
	hport_close(a->p);
	return 0;
}

/* ---- many threads ---- */

struct many {
	uint32_t threads, ops, cpus;
	uint64_t rounds;
	weft_time_t os_c0, os_c1;
	struct program w;
	struct weft_dev *dev;
	struct thread *t;
	uint64_t done;
};

struct thread {
	struct many *of;
	struct weft_proc *proc;
	struct weft_io page;
	uint32_t vpid;
};

/* Triggers, and repeats the trigger until the device accepts it. */
static struct weft_turn thread_turn(struct weft_host *h, struct weft_proc *p,
				    void *arg)
{
	struct thread *t = arg;

	for (uint32_t i = 0; i < t->of->ops; i++) {
		while (!(weft_io_load64(h, &t->page,
					HP_TRIGGER(HP_T_BARRIER, 0)) &
			 HP_TRUE))
			;
		t->of->done++;
	}
	return (struct weft_turn){ .kind = WEFT_TURN_END };
}

static int vpid_take(struct hport_drv *d, void *arg)
{
	const uint64_t w[HP_WORDS] = { HP_CTX_EN };
	struct thread *t = arg;
	int vpid = hport_drv_vpid(d, -1);

	if (vpid < 0)
		return vpid;
	t->vpid = (uint32_t)vpid;
	hport_drv_enable(d, t->vpid, w);
	return 0;
}

static int vpids_give(struct hport_drv *d, void *arg)
{
	const struct many *a = arg;

	for (uint32_t i = 0; i < a->threads; i++)
		if (hport_drv_disable(d, a->t[i].vpid))
			hport_drv_vpid_end(d, a->t[i].vpid);
	return 0;
}

/* Returns the time of a round. The cost of the operating system for each thread
 * grows with the number of threads. */
static double round_us(struct many *a, struct thread *t)
{
	weft_time_t from = weft_host_now(a->w.h);

	for (uint32_t i = 0; i < a->threads; i++) {
		weft_host_cpu(a->w.h, a->os_c0 + a->threads * a->os_c1);
		weft_proc_start(a->w.h, t[i].proc, thread_turn, &t[i]);
	}
	weft_procs_run(a->w.h, a->cpus);
	return (double)(weft_host_now(a->w.h) - from) / WEFT_US;
}

static void many_measure(struct many *a, struct thread *t)
{
	double us = 0;
	uint64_t want = (a->rounds + 1) * a->threads * a->ops;

	/* warms up, because the first round loads contexts into the cache */
	round_us(a, t);
	for (uint64_t i = 0; i < a->rounds; i++)
		us += round_us(a, t);
	weft_metric(a->w.c, "per_operation", "us",
		    us / (double)a->rounds / a->ops);
	weft_metric(a->w.c, "operations", "", (double)a->done);
	if (a->done != want)
		weft_check_failed(a->w.c, "%llu operations of %llu",
				  (unsigned long long)a->done,
				  (unsigned long long)want);
}

static int many_main(struct weft_comp *c)
{
	struct many *a = c->state;
	struct thread *t;
	int ret;

	a->w = program_from(c);
	a->dev = weft_dev_open(a->w.h, 0);
	a->t = t = weft_host_calloc(a->w.h, a->threads, sizeof(*t));
	ret = !t ? -ENOMEM : !a->dev ? -ENODEV : 0;
	/* Gives each process a Triggerpage of its own and no queues, because
	 * Barrier Reached needs none. */
	for (uint32_t i = 0; !ret && i < a->threads; i++) {
		ret = hport_drv_run(a->w.h, vpid_take, &t[i]);
		if (ret)
			break;
		t[i].of = a;
		t[i].proc = weft_proc_new(a->w.h, 0);
		if (!t[i].proc ||
		    !weft_proc_map(a->w.h, t[i].proc, a->dev, HP_BAR_TRIGGER,
				   HP_TRIGGER_PAGE(t[i].vpid), HP_PAGE, WEFT_UC,
				   &t[i].page))
			ret = -ENOMEM;
	}
	if (ret) {
		weft_check_failed(c, "cannot begin a process: %s",
				  program_why(ret));
		return ret;
	}
	many_measure(a, t);
	for (uint32_t i = 0; i < a->threads; i++)
		weft_proc_free(a->w.h, t[i].proc);
	hport_drv_run(a->w.h, vpids_give, a);
	return 0;
}

/* clang-format off */
static const struct weft_param one_params[] = {
	WEFT_PARAM(U64, struct one, count, "1000", "1..", OWN, "operations"),
	WEFT_PARAM(TIME, struct one, pause, "10us", "", OWN, "between two measurements"),
	{ 0 }
};
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct many, field, def, range, source, doc)
static const struct weft_param many_params[] = {
	P(U32, threads, "8", "1..4096", OWN, "that are made in each round"),
	P(U32, ops, "8", "1..", STATED, "operations of each (11.4)"),
	P(U32, cpus, "2", "1..64", STATED, "processors (L24)"),
	P(U64, rounds, "50", "1..", OWN, "that are averaged"),
	P(TIME, os_c0, "90.2us", "", CALIBRATED,
	  "making and joining a thread (11.4; 107 us)"),
	P(TIME, os_c1, "1.47us", "", CALIBRATED,
	  "the same, for each thread there is (11.4; 1513 us)"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(hostport_trigger, .name = "hostport.trigger",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "time of triggers beside that of a register",
	       .source = "hostport.md 11.3", .state_size = sizeof(struct one),
	       .params = one_params, .ops = { .main = one_main });
WEFT_COMPONENT(hostport_threads, .name = "hostport.threads",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "triggers of many threads on a few processors",
	       .source = "hostport.md 11.4", .state_size = sizeof(struct many),
	       .params = many_params, .ops = { .main = many_main });
