/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of faults: see fault_run.h.
 *
 * The seed determines the machine (one or two initiators, one or two targets,
 * link, drives), the faults (loss, damage, repetition, cuts, restarts, loss of
 * power, drives and targets that vanish, disks closed with requests in flight)
 * and the requests. The run checks
 *
 *   ends      every request ends, in a time bounded by tries and time-outs
 *   bytes     a read gives what the model allows (storage/shadow.h)
 *   losses    a FLUSH reports a loss if the drive has lost data; without faults
 *             the next FLUSH reports none
 *   records   a FLUSH names no bytes
 *   buffers   no byte of a buffer changes after its request has ended
 *   recovery  after the last fault all requests succeed again, and every byte
 *             is as the model says */
#include "fault_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "fake.h"
#include "storage/initiator.h"
#include "storage/shadow.h"
#include "storage/target_internal.h"

enum {
	CLIENTS = 2,
	TARGETS = 2,
	JOBS = 12,
	SEGS = DISK_FEW + 4,
	SECTOR = 512,
	MOST = 16384,  /* largest number of bytes of a request */
	DRIVE = 65536, /* bytes of a drive */
	CANARY = 0xA5,
	FIRST_TARGET = CLIENTS,
};

struct job {
	bool busy;
	/* late data may still reach the buffer, because the target was
	 * silent */
	bool wild;
	struct weft_disk_op op;
	struct weft_disk_seg seg[SEGS];
	uint8_t *mem, *buf;
	uint32_t version;
	uint64_t mark;
};

struct client {
	struct weft_disk *d;
	struct weft_disk_attr attr;
	struct shadow *shadow;
	struct job job[JOBS];
	uint8_t *mem; /* memory of the buffers of all jobs */
	uint64_t from, sectors;
	uint32_t left, depth;
	bool dead; /* the disk cannot be used any more */
};

struct store_node {
	struct storage_target *t;
	struct drive *drive;
	weft_time_t restart, gone, back;
	bool power;
	weft_time_t down;
};

static struct {
	struct client client[CLIENTS];
	struct store_node store[TARGETS];
	uint32_t clients, targets;
	weft_time_t calm; /* time at which faults end */
	bool bad_sectors, vanish, strict, hostile;
	bool told; /* FLUSHes have reported all losses */
	struct fault_counts *counts;
	char *why;
	size_t why_n;
	bool failed;
} run;

static const char endless[] = "requests without an end";

static void fail(const char *fmt, ...)
{
	va_list ap;

	if (run.failed || (run.hostile && strcmp(fmt, endless) != 0))
		return;
	run.failed = true;
	va_start(ap, fmt);
	vsnprintf(run.why, run.why_n, fmt, ap);
	va_end(ap);
}

static bool percent(uint32_t share)
{
	return fake_below(100) < share;
}

static weft_time_t time_below(weft_time_t n)
{
	return fake_below(n);
}

/* ---- targets ---- */

static void store_events(struct store_node *s)
{
	weft_time_t now = fake_now();

	if (now >= s->restart) {
		s->restart = WEFT_NEVER;
		if (fake_trace)
			printf("%9.3f target %u starts again, power %d\n",
			       (double)now / WEFT_US,
			       FIRST_TARGET + (uint32_t)(s - run.store),
			       s->power);
		storage_target_restart(s->t, s->down, s->power);
		if (now < run.calm && percent(50))
			s->restart = now + s->down + time_below(3 * WEFT_MS);
	}
	if (now >= s->gone) {
		s->gone = WEFT_NEVER;
		storage_target_drive_gone(s->t, true);
	}
	if (now >= s->back) {
		s->back = WEFT_NEVER;
		storage_target_drive_gone(s->t, false);
	}
}

/* Advances the time to the next event, but not beyond `to`, and polls the
 * targets. */
static void step(weft_time_t to)
{
	for (uint32_t i = 0; i < run.targets; i++) {
		const struct store_node *s = &run.store[i];
		weft_time_t t = drive_next(s->drive), up;

		t = min_of(t, s->restart);
		t = min_of(t, s->gone);
		t = min_of(t, s->back);
		up = fake_asleep(FIRST_TARGET + i);
		if (up > fake_now())
			t = max_of(t, up);
		to = min_of(to, t);
	}
	fake_step(max_of(to, fake_now()));
	for (uint32_t i = 0; i < run.targets; i++) {
		if (fake_asleep(FIRST_TARGET + i) > fake_now())
			continue;
		store_events(&run.store[i]);
		if (fake_asleep(FIRST_TARGET + i) <= fake_now())
			storage_target_serve(run.store[i].t, 0, fake_now());
	}
}

static weft_time_t maybe_at(uint32_t share)
{
	return percent(share) ? time_below(run.calm) : WEFT_NEVER;
}

static void store_make(struct store_node *s, uint32_t i)
{
	static const uint64_t caches[] = { 0, 4096, 16384, 1 << 20 };
	struct storage_target_attr a = {
		.max_request = 4096 << fake_below(2),
		.staging = 8192 << fake_below(4),
		.read_pool = 4096 << fake_below(3),
		.piece = 512 << fake_below(4),
	};
	struct drive_config cfg = {
		.size = DRIVE,
		.sector = SECTOR,
		.queue = 1 + (uint32_t)fake_below(8),
		.channels = 1 + (uint32_t)fake_below(3),
		.latency = time_below(50 * WEFT_US),
		.media_rate = percent(50) ? 400000000 : 0,
		.interface_rate = percent(50) ? 1600000000 : 0,
		.cache = caches[fake_below(4)],
	};
	char why[200];
	int ret;

	if (run.bad_sectors)
		snprintf(cfg.bad, sizeof(cfg.bad), "%u,90..91",
			 (uint32_t)fake_below(80));
	s->drive = drive_new(&cfg, why, sizeof(why));
	ret = s->drive ? storage_target_new(fake_host(FIRST_TARGET + i), &a,
					    s->drive, &s->t)
		       : -ENOMEM;
	if (ret)
		fail("target says %d", ret);
	else if (percent(30)) /* epochs wrap */
		s->t->epochs = UINT32_MAX - (uint32_t)fake_below(4);
	s->restart = maybe_at(40);
	s->power = percent(60);
	s->down = time_below(2 * WEFT_MS);
	s->gone = maybe_at(10);
	s->back = s->gone != WEFT_NEVER ? run.calm : WEFT_NEVER;
}

/* ---- requests ---- */

static uint64_t first_of(const struct client *c, const struct job *j)
{
	return (j->op.offset - c->from) / SECTOR;
}

static void segs_make(struct job *j)
{
	uint64_t n = j->op.length, at = 0;
	uint32_t k = 1 + (uint32_t)fake_below(percent(80) ? 3 : SEGS);

	j->op.seg = j->seg;
	j->op.segs = k;
	for (uint32_t i = 0; i < k; i++) {
		uint64_t len = i == k - 1 ? n - at : fake_below(n - at + 1);

		if (percent(70) && i < k - 1)
			len &= ~7ull;
		j->seg[i] = (struct weft_disk_seg){ j->buf + at, len };
		at += len;
	}
}

static bool job_make(struct client *c, struct job *j)
{
	static const uint8_t codes[] = {
		WEFT_DISK_READ,	 WEFT_DISK_READ,  WEFT_DISK_READ,
		WEFT_DISK_WRITE, WEFT_DISK_WRITE, WEFT_DISK_WRITE,
		WEFT_DISK_WRITE, WEFT_DISK_FLUSH, WEFT_DISK_TRIM,
		WEFT_DISK_ZERO,
	};
	uint64_t n =
		1 + (percent(50) ? fake_below(4) : fake_below(MOST / SECTOR));

	j->op = (struct weft_disk_op){ .code = codes[fake_below(10)],
				       .ctx = j };
	if (j->op.code == WEFT_DISK_FLUSH) {
		j->mark = shadow_flush(c->shadow);
		return true;
	}
	n = min_of(n, c->sectors);
	j->op.offset = c->from + fake_below(c->sectors - n + 1) * SECTOR;
	j->op.length = n * SECTOR;
	if (!shadow_use(c->shadow, first_of(c, j), n))
		return false;
	if (j->op.code == WEFT_DISK_WRITE || j->op.code == WEFT_DISK_ZERO)
		j->op.flags = percent(15) ? WEFT_DISK_FUA : 0;
	j->buf = j->mem + (percent(20) ? 1 + fake_below(8) : 0);
	j->version = 0;
	if (j->op.code == WEFT_DISK_WRITE) {
		j->version = shadow_version(c->shadow);
		shadow_fill(c->shadow, j->buf, first_of(c, j), n, j->version);
	}
	segs_make(j);
	return true;
}

static void job_submit(struct client *c, struct job *j)
{
	int ret = weft_disk_submit(c->d, &j->op);

	j->busy = !ret;
	run.counts->requests += !ret;
	if (ret && j->op.code != WEFT_DISK_FLUSH)
		shadow_unuse(c->shadow, first_of(c, j), j->op.length / SECTOR);
	if (ret && ret != -EAGAIN)
		fail("submit says %d", ret);
}

static bool status_good(const struct job *j, int status)
{
	switch (status) {
	case 0:
		return true;
	case -ESTALE:
		return j->op.code == WEFT_DISK_FLUSH && !run.told;
	case -EIO:
		return run.bad_sectors;
	case -ENODEV:
	case -EBADMSG:
	case -ETIMEDOUT:
		return !run.strict;
	default:
		return false;
	}
}

static uint64_t peek(const uint8_t *p)
{
	uint64_t q;

	memcpy(&q, p, sizeof(q));
	return q;
}

/* Ends a request in the model. Checks the bytes of a READ and the status of a
 * FLUSH. */
static void job_model(struct client *c, struct job *j, int status)
{
	uint64_t first = first_of(c, j), n = j->op.length / SECTOR;
	int64_t bad = -1;

	if (j->op.code == WEFT_DISK_FLUSH) {
		run.counts->lost += status == -ESTALE;
		if ((!status || status == -ESTALE) &&
		    !shadow_flushed(c->shadow, j->mark, status != 0))
			fail("FLUSH does not name a loss");
		return;
	}
	if (j->op.code != WEFT_DISK_READ)
		shadow_wrote(c->shadow, first, n, j->version,
			     status			   ? SHADOW_MAYBE
			     : j->op.flags & WEFT_DISK_FUA ? SHADOW_SAFE
							   : SHADOW_ENDED);
	else if (!status)
		bad = shadow_check(c->shadow, j->buf, first, n);
	if (bad >= 0)
		fail("sector %" PRId64
		     " of client %u has none of %u values: "
		     "%" PRIx64,
		     bad, (uint32_t)(c - run.client),
		     shadow_choices(c->shadow, (uint64_t)bad),
		     peek(j->buf + ((uint64_t)bad - first) * SECTOR));
	shadow_unuse(c->shadow, first, n);
}

/* Fills the buffer of an ended request with CANARY, because nothing may write
 * to it from now on. */
static void canary_set(struct client *c, struct job *j, int status)
{
	memset(j->mem, CANARY, MOST + 8);
	for (uint32_t i = 0; status == -ETIMEDOUT && i < run.targets; i++)
		j->wild |= disk_silent(c->d, &c->d->store[i]);
}

static void canary_check(const struct client *c, const struct job *j)
{
	for (uint32_t i = 0; i < MOST + 8; i++)
		if (j->mem[i] != CANARY) {
			fail("byte %u of a buffer has changed after its end",
			     i);
			return;
		}
}

static void client_poll(struct client *c)
{
	struct weft_disk_event ev[4];
	int n = weft_disk_poll(c->d, ev, 4);

	for (int i = 0; i < n; i++) {
		struct job *j = ev[i].ctx;

		if (!j->busy)
			fail("an event too many");
		if (!status_good(j, ev[i].status))
			fail("request %d ends with %d", j->op.code,
			     ev[i].status);
		run.counts->failed += ev[i].status != 0;
		if (fake_trace)
			printf("%9.3f client %u end code %d offset %" PRIu64
			       " length %" PRIu64 " version %u: %d\n",
			       (double)fake_now() / WEFT_US,
			       (uint32_t)(c - run.client), j->op.code,
			       j->op.offset, j->op.length, j->version,
			       ev[i].status);
		job_model(c, j, ev[i].status);
		canary_set(c, j, ev[i].status);
		j->busy = false;
	}
}

static struct job *job_free(struct client *c)
{
	for (uint32_t i = 0; i < c->depth; i++)
		if (!c->job[i].busy && !c->job[i].wild)
			return &c->job[i];
	return NULL;
}

static bool client_busy(const struct client *c)
{
	for (uint32_t i = 0; i < JOBS; i++)
		if (c->job[i].busy)
			return true;
	return false;
}

/* ---- disks ---- */

static bool client_open(struct client *c, uint32_t i)
{
	struct weft_host *h = fake_host(i);
	uint32_t tries = c->attr.tries;
	int ret;

	/* tries again while faults may last */
	do {
		c->attr.tries = max_of(tries, 12u);
		ret = weft_disk_open(h, &c->attr, &c->d);
	} while (ret == -ETIMEDOUT && fake_now() < run.calm + WEFT_SEC);
	c->attr.tries = tries;
	c->dead = ret;
	if (ret)
		fail("open says %d", ret);
	else
		c->d->attr.tries = tries;
	/* lets request numbers start just below their wrap in most runs */
	for (uint32_t k = 0; !ret && percent(90) && k < 2 * c->attr.depth; k++)
		c->d->store[k % run.targets].part[k / 2 % c->attr.depth].seq =
			UINT32_MAX - (uint32_t)fake_below(4);
	for (uint32_t k = 0; !ret && k < JOBS; k += 2)
		if (weft_disk_reg(c->d, c->job[k].mem, MOST + 8))
			fail("no region");
	return !ret;
}

static void client_make(struct client *c, uint32_t i)
{
	c->attr = (struct weft_disk_attr){
		.targets = run.targets,
		.target = { FIRST_TARGET, FIRST_TARGET + 1 },
		.stripe = 4096u << fake_below(2),
		.depth = 1 + (uint32_t)fake_below(12),
		.tries = 4 + (uint32_t)fake_below(9),
		.timeout = (20 + fake_below(400)) * WEFT_US,
		.check = fake_rules.ordered || percent(50)
				 ? WEFT_DISK_CHECK_CRC32C
				 : WEFT_DISK_CHECK_NONE,
	};
	c->depth = 1 + (uint32_t)fake_below(JOBS);
	c->left = 10 + (uint32_t)fake_below(60);
	c->mem = malloc(JOBS * (MOST + 64));
	for (uint32_t k = 0; k < JOBS; k++) {
		c->job[k].mem = c->mem + k * (MOST + 64ul);
		memset(c->job[k].mem, CANARY, MOST + 8);
	}
	if (!client_open(c, i))
		return;
	/* limits the size, because a forged reply may report any size */
	c->sectors = min_of(c->d->info.size, (uint64_t)TARGETS * DRIVE) /
		     SECTOR / run.clients;
	c->from = i * c->sectors * SECTOR;
	c->shadow = shadow_new(fake_host(i), c->sectors, SECTOR, true);
}

static void counts_add(const struct client *c)
{
	struct weft_disk_stats s = weft_disk_stats(c->d);

	run.counts->retries += s.retries;
	run.counts->damaged += s.damaged;
	run.counts->sessions += s.sessions;
}

/* Closes a disk with requests in flight, and opens it again. */
static void client_reopen(struct client *c, uint32_t i)
{
	uint64_t mark = shadow_flush(c->shadow);

	counts_add(c);
	run.counts->reopened++;
	for (uint32_t k = 0; k < JOBS; k++) {
		struct job *j = &c->job[k];

		if (j->busy)
			job_model(c, j, -ETIMEDOUT);
		j->busy = false;
	}
	weft_disk_close(c->d);
	c->d = NULL;
	for (uint32_t k = 0; k < JOBS; k++) {
		memset(c->job[k].mem, CANARY, MOST + 8);
		c->job[k].wild = false;
	}
	/* the new disk cannot report losses from before it was opened */
	shadow_flushed(c->shadow, mark, true);
	client_open(c, i);
}

/* ---- a run ---- */

static void rules_make(void)
{
	static const uint32_t rates[] = { 0, 1000, 10000, 100000, 300000 };

	fake_rules = (struct fake_rules){
		.ordered = percent(60),
		.bytes = percent(50),
		.max_put = 512u << fake_below(4),
		.room = 2 + (uint32_t)fake_below(40),
		.lost = rates[fake_below(5)],
		.damaged = rates[fake_below(4)],
		.repeated = rates[fake_below(5)],
		.delay = time_below(20 * WEFT_US),
		.jitter = time_below(30 * WEFT_US),
	};
	fake_rules.forged = run.hostile ? rates[fake_below(5)] : 0;
	fake_rules.refuses = run.hostile && percent(50);
	run.calm = 1 * WEFT_MS + time_below(8 * WEFT_MS);
	if (percent(20)) {
		fake_rules.cut_from = time_below(run.calm);
		fake_rules.cut_to =
			fake_rules.cut_from + time_below(3 * WEFT_MS);
	}
}

static void faults_end(void)
{
	fake_rules.lost = fake_rules.damaged = fake_rules.repeated = 0;
	fake_rules.forged = 0;
	fake_rules.cut_to = 0;
}

static weft_time_t clients_next(void)
{
	weft_time_t t = WEFT_NEVER;

	for (uint32_t i = 0; i < run.clients; i++)
		if (!run.client[i].dead)
			t = min_of(t, disk_next(run.client[i].d));
	return t;
}

/* Polls all disks. If `submit` is set, submits up to one request to each disk.
 * Returns true while requests are in flight or remain to be submitted. */
static bool clients_turn(bool submit)
{
	bool more = false;

	for (uint32_t i = 0; i < run.clients && !run.failed; i++) {
		struct client *c = &run.client[i];
		struct job *j = submit && c->left ? job_free(c) : NULL;

		if (c->dead)
			continue;
		client_poll(c);
		if (j && !j->busy) {
			canary_check(c, j);
			if (job_make(c, j))
				job_submit(c, j);
			else
				memset(j->mem, CANARY, MOST + 8);
			if (!j->busy)
				memset(j->mem, CANARY, MOST + 8);
			c->left--;
			if (run.counts && fake_below(400) == 0 && !run.vanish)
				client_reopen(c, i);
		}
		if (!job_free(c) && !client_busy(c))
			c->left = 0;
		more |= !c->dead && (client_busy(c) || (submit && c->left));
	}
	return more;
}

static void clients_run(bool submit, weft_time_t limit)
{
	bool calm = false;

	while (clients_turn(submit) && !run.failed) {
		weft_time_t to = clients_next();

		if (!calm && fake_now() >= run.calm) {
			calm = true;
			faults_end();
		}
		if (submit && percent(50))
			continue;
		if (to == WEFT_NEVER && !calm)
			to = run.calm;
		if (fake_now() > limit)
			fail(endless);
		step(min_of(to, fake_now() + 5 * WEFT_MS));
	}
}

static void all_do(struct client *c, enum weft_disk_code code, uint64_t at,
		   uint64_t n)
{
	struct job *j = job_free(c);

	if (!j)
		return;
	j->op = (struct weft_disk_op){ .code = code, .ctx = j };
	if (code == WEFT_DISK_FLUSH) {
		j->mark = shadow_flush(c->shadow);
	} else {
		j->op.offset = c->from + at;
		j->op.length = n;
		j->buf = j->mem;
		j->seg[0] = (struct weft_disk_seg){ j->buf, n };
		j->op.seg = j->seg;
		j->op.segs = 1;
		shadow_use(c->shadow, first_of(c, j), n / SECTOR);
	}
	canary_check(c, j);
	job_submit(c, j);
	clients_run(false, fake_now() + 100 * WEFT_SEC);
}

/* Checks that all requests succeed again and that every byte is right. */
static void clients_verify(void)
{
	run.strict = true;
	for (uint32_t i = 0; i < run.clients; i++) {
		run.client[i].d->attr.timeout = WEFT_MS;
		run.client[i].d->attr.tries = 12;
	}
	for (uint32_t i = 0; i < run.clients && !run.failed; i++) {
		struct client *c = &run.client[i];
		uint64_t end = c->sectors * SECTOR;

		all_do(c, WEFT_DISK_FLUSH, 0, 0);
		for (uint64_t at = 0; at < end && !run.failed; at += MOST)
			all_do(c, WEFT_DISK_READ, at,
			       min_of((uint64_t)MOST, end - at));
		run.told = true;
		all_do(c, WEFT_DISK_FLUSH, 0, 0);
		run.told = false;
	}
}

static void run_make(void)
{
	run.clients = 1 + (uint32_t)fake_below(CLIENTS);
	run.targets = 1 + (uint32_t)fake_below(TARGETS);
	run.bad_sectors = percent(15);
	run.vanish = percent(4);
	rules_make();
	for (uint32_t i = 0; i < run.targets && !run.failed; i++)
		store_make(&run.store[i], i);
	for (uint32_t i = 0; i < run.clients && !run.failed; i++)
		client_make(&run.client[i], i);
}

static void run_free(void)
{
	for (uint32_t i = 0; i < run.clients; i++) {
		struct client *c = &run.client[i];

		if (c->d) {
			counts_add(c);
			weft_disk_close(c->d);
		}
		shadow_free(c->shadow);
		free(c->mem);
	}
	for (uint32_t i = 0; i < run.targets; i++) {
		if (run.store[i].t)
			storage_target_free(run.store[i].t);
		if (run.store[i].drive)
			drive_free(run.store[i].drive);
	}
	fake_end();
}

bool fault_run(uint64_t seed, bool hostile, struct fault_counts *counts,
	       char *why, size_t n)
{
	memset(&run, 0, sizeof(run));
	run.hostile = hostile;
	run.counts = counts;
	run.why = why;
	run.why_n = n;
	fake_others = step;
	fake_reset(seed);
	run_make();
	if (!run.failed && run.vanish)
		fake_gone(FIRST_TARGET);
	if (!run.failed)
		clients_run(true, 100 * WEFT_SEC);
	/* lets the time of the last faults pass */
	while (!run.failed && fake_now() < run.calm + 5 * WEFT_MS)
		step(run.calm + 5 * WEFT_MS);
	faults_end();
	if (!run.failed && !run.vanish && !hostile)
		clients_verify();
	counts->runs++;
	counts->packets += fake_stats.packets;
	if (fake_stats.odd)
		fail("a FLUSH names bytes");
	run_free();
	return !run.failed;
}
