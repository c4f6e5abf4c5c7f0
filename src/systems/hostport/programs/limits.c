/* SPDX-License-Identifier: Apache-2.0 */
/* Program hostport.limits: finds the limits of the device by trying
 * (hostport.md 12: HP-09 to HP-14).
 *
 *   aperture   size that the BAR of the Triggerpages decodes, from
 *              configuration space
 *   commands   number of addresses of one page that answer as triggers
 *   rdr        largest receive data region that the register keeps
 *   fast_send, fast_put
 *              words of the largest instruction that the device executes
 *   pages      number of Triggerpages that accept a trigger while all are open
 *   pages_time time of one trigger in each page (contexts come from memory) */
#include <errno.h>

#include "programs/program.h"
#include "systems/hostport/lib/driver.h"

struct lim {
	bool pages;
	struct program w;
	double rdr, commands, open, again, time;
};

enum { WIN = 0, TRIES = 8 };

/* ---- device ---- */

/* Counts the addresses of a page that answer as triggers. The page is not open.
 * Therefore the device refuses each trigger and returns the reason. */
static double commands(struct lim *a, struct hport_drv *d)
{
	struct weft_io io;
	double n = 0;

	if (!weft_io_map(a->w.h, d->dev, HP_BAR_TRIGGER,
			 HP_TRIGGER_PAGE(HP_VPIDS - 1), HP_PAGE, WEFT_UC, &io))
		return 0;
	for (uint32_t off = 0; off < HP_PAGE; off += 4)
		n += HP_RET_REASON(weft_io_load32(a->w.h, &io, off)) != HP_OK;
	return n;
}

/* ---- instructions ---- */

/* Sends 1, 2, .. words to itself. Returns the largest number that the device
 * executes without an error. */
static double limits_largest(struct hport *p, const struct hport_peer *me,
			     bool put)
{
	const uint64_t words[TRIES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct hport_far far = { WIN, 0, 0 };
	const struct hport_tag tag = { 0, 0 };
	struct hport_note note;
	uint32_t most = 0;

	for (uint32_t n = 1; n <= TRIES; n++) {
		int ret =
			put ? hport_fast_put(p, me, HPORT_ACK, tag, &far, words,
					     n)
			    : hport_fast_send(p, me, HPORT_ACK, tag, words, n);
		bool good = !ret;

		for (uint32_t notes = put ? 1 : 2; !ret && notes; notes--) {
			hport_wait(p, &note, WEFT_NEVER);
			good &= !note.error;
			good &= note.event != HPORT_MESSAGE ||
				(note.n == n && note.data[n - 1] == n);
		}
		most = good ? n : most;
	}
	return most;
}

static int limits_instructions(struct lim *a)
{
	struct hport_peer me;
	struct hport *p;
	uint64_t va;
	void *mem;
	int ret = hport_open(a->w.h, NULL, &p);

	if (ret)
		return ret;
	mem = hport_alloc(p, HP_PAGE, &va);
	ret = mem ? hport_connect(p, a->w.me, hport_vpid(p), &me) : -ENOMEM;
	if (!ret)
		ret = hport_window(p, WIN, va, HP_PAGE,
				   HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0);
	if (!ret) {
		weft_metric(a->w.c, "fast_send", "words",
			    limits_largest(p, &me, false));
		weft_metric(a->w.c, "fast_put", "words",
			    limits_largest(p, &me, true));
	}
	hport_close(p);
	return ret;
}

/* ---- pages ---- */

static void pages_set(struct hport_drv *d, bool on)
{
	for (uint32_t v = 0; v < HP_VPIDS; v++) {
		d->kernel->ct[(size_t)HP_WORDS * v] = on ? HP_CTX_EN : 0;
		hport_drv_store(d, HP_R_VPID_EN, HP_VPID_EN(v, on));
	}
	/* The load returns only after all stores have arrived. */
	hport_drv_load(d, HP_R_VPID_EN);
}

static void pages(struct lim *a, struct hport_drv *d)
{
	struct weft_io io;
	weft_time_t t;
	uint64_t val;

	if (!weft_io_map(a->w.h, d->dev, HP_BAR_TRIGGER, 0, HP_TRIGGER_BYTES,
			 WEFT_UC, &io))
		return;
	pages_set(d, true);
	t = weft_host_now(a->w.h);
	for (uint32_t v = 0; v < HP_VPIDS; v++) {
		do { /* repeats while a full CSB refuses the trigger */
			val = weft_io_load64(
				a->w.h, &io,
				HP_TRIGGER_PAGE(v) |
					HP_TRIGGER(HP_T_BARRIER, 0));
			a->again += HP_RET_REASON(val) == HP_CSB_FULL;
		} while (HP_RET_REASON(val) == HP_CSB_FULL);
		a->open += (val & HP_TRUE) != 0;
	}
	t = weft_host_now(a->w.h) - t;
	a->time = (double)t / WEFT_MS;
	pages_set(d, false);
}

/* Measures the limits that only the kernel can test. */
static int limits_kernel(struct hport_drv *d, void *arg)
{
	struct lim *a = arg;
	uint64_t words = 2;

	for (uint64_t try = 4; try <= 1ull << 40; try *= 2) {
		hport_drv_store(d, HP_R_RDR_SIZE, try);
		if (hport_drv_load(d, HP_R_RDR_SIZE) == try)
			words = try;
	}
	a->rdr = (double)words * 8 / 1048576;
	a->commands = commands(a, d);
	if (a->pages)
		pages(a, d);
	return 0;
}

static int lim_main(struct weft_comp *c)
{
	uint32_t at = HP_CFG_BAR0 + 4 * HP_BAR_TRIGGER, size;
	struct lim *a = c->state;
	struct weft_dev *d;
	int ret;

	a->w = program_from(c);
	d = weft_dev_open(a->w.h, 0);
	/* measures the aperture as firmware does, before anything is mapped */
	weft_cfg_store(a->w.h, d, at, 4, UINT32_MAX);
	size = ~(weft_cfg_load(a->w.h, d, at, 4) & ~15u) + 1;
	weft_cfg_store(a->w.h, d, at, 4, 0);
	weft_metric(c, "aperture", "MiB", size / 1048576.0);
	ret = hport_drv_run(a->w.h, limits_kernel, a);
	if (!ret) {
		weft_metric(c, "rdr", "MiB", a->rdr);
		weft_metric(c, "commands", "", a->commands);
	}
	if (!ret && a->pages) {
		weft_metric(c, "pages", "", a->open);
		weft_metric(c, "pages_again", "", a->again);
		weft_metric(c, "pages_time", "ms", a->time);
	}
	if (!ret)
		ret = limits_instructions(a);
	if (ret)
		weft_check_failed(c, "cannot open the driver: %s",
				  program_why(ret));
	return ret;
}

static const struct weft_param lim_params[] = {
	WEFT_PARAM(BOOL, struct lim, pages, "yes", "", OWN,
		   "open all Triggerpages"),
	{ 0 }
};

WEFT_COMPONENT(hostport_limits, .name = "hostport.limits",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "how much of everything the Host Port has",
	       .source = "hostport.md 12", .state_size = sizeof(struct lim),
	       .params = lim_params, .ops = { .main = lim_main });
