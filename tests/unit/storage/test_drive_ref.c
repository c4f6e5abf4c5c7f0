/* SPDX-License-Identifier: Apache-2.0 */
/* A drive against a reference without times. The reference holds the versions
 * of each sector in the order in which their writes end, and the number of the
 * oldest version that a loss of power can leave. Requests are random, with
 * sudden losses of power and restarts of the software above the drive. */
#include "base/rng.h"
#include "base/vec.h"
#include "rig.h"

enum { SECTOR = 512, SECTORS = 64, MOST = 16, DEPTH = 32 };

/* A request in flight. */
struct flight {
	bool used;
	struct drive_request r;
	uint32_t first, n, stamp;
	/* FLUSH: newest version of each sector when the FLUSH was submitted */
	size_t newest[SECTORS];
	uint64_t data[MOST * SECTOR / 8];
};

struct ref {
	struct weft_rng rng;
	struct drive_config cfg;
	struct drive *d;
	weft_time_t now;
	uint32_t stamps;
	struct {
		VEC(uint32_t);
		/* stamps of the versions of each sector; stamp 0 means that all
		 * bytes are zero */
	} version[SECTORS];
	size_t durable[SECTORS];
	struct flight flight[DEPTH];
	uint64_t ended, lost;
};

static uint64_t below(struct ref *r, uint64_t n)
{
	return weft_rng_below(&r->rng, n);
}

static void stamp_fill(uint64_t *p, uint32_t stamp, uint32_t sector)
{
	for (int i = 0; i < SECTOR / 8; i++)
		p[i] = stamp ? (uint64_t)stamp << 32 | sector : 0;
}

/* Returns the stamp in the bytes of a sector. All bytes must be of one write to
 * this sector. */
static uint32_t stamp_of(const uint64_t *p, uint32_t sector)
{
	for (int i = 1; i < SECTOR / 8; i++)
		assert_int_equal(p[i], p[0]);
	if (p[0])
		assert_int_equal((uint32_t)p[0], sector);
	return p[0] >> 32;
}

static uint32_t newest(const struct ref *r, uint32_t sector)
{
	return vec_last(&r->version[sector]);
}

static void config_draw(struct ref *r)
{
	static const uint64_t caches[] = { 0, 512, 4096, 16384, 65536 };
	struct drive_config *c = &r->cfg;

	c->size = SECTORS * SECTOR;
	c->sector = SECTOR;
	c->queue = 1 + (uint32_t)below(r, DEPTH);
	c->channels = 1 + (uint32_t)below(r, 4);
	c->latency = below(r, 3) * 30 * WEFT_US;
	c->cache = caches[below(r, 5)];
	c->media_rate = below(r, 3) * MBIT(20);
	c->interface_rate = below(r, 3) * MBIT(50);
	if (below(r, 2)) {
		c->seek_max = WEFT_MS;
		c->turn = 200 * WEFT_US;
	}
}

static void ref_new(struct ref *r, uint64_t seed)
{
	*r = (struct ref){ 0 };
	weft_rng_seed(&r->rng, seed, "drive");
	config_draw(r);
	r->d = rig_new(&r->cfg);
	for (int s = 0; s < SECTORS; s++)
		vec_push(&r->version[s], 0);
}

static void ref_free(struct ref *r)
{
	drive_free(r->d);
	for (int s = 0; s < SECTORS; s++)
		vec_free(&r->version[s]);
}

/* Draws a request into a free element of flight[]. Returns false if none is
 * free. */
static bool draw(struct ref *r, struct flight **f_p)
{
	static const enum drive_code codes[] = {
		DRIVE_READ,  DRIVE_READ, DRIVE_WRITE, DRIVE_WRITE, DRIVE_WRITE,
		DRIVE_WRITE, DRIVE_TRIM, DRIVE_ZERO,  DRIVE_FLUSH
	};
	struct flight *f = r->flight;

	while (f < r->flight + DEPTH && f->used)
		f++;
	if (f == r->flight + DEPTH)
		return false;
	f->n = 1 + (uint32_t)below(r, MOST);
	f->first = (uint32_t)below(r, SECTORS - f->n + 1);
	f->r = (struct drive_request){ .code = codes[below(r, 9)],
				       .fua = !below(r, 5),
				       .offset = f->first * SECTOR,
				       .length = f->n * SECTOR,
				       .data = f->data,
				       .ctx = f };
	f->stamp = 0;
	if (f->r.code == DRIVE_WRITE)
		f->stamp = ++r->stamps;
	for (uint32_t i = 0; i < f->n; i++)
		stamp_fill(f->data + i * SECTOR / 8, f->stamp, f->first + i);
	for (int s = 0; s < SECTORS; s++)
		f->newest[s] = r->version[s].n - 1;
	*f_p = f;
	return true;
}

/* Returns true if the data of a request are on the medium when it ends. */
static bool through(const struct ref *r, const struct flight *f)
{
	uint64_t room = f->r.code == DRIVE_WRITE ? f->r.length : SECTOR;

	return f->r.fua || room > r->cfg.cache;
}

static void effect(struct ref *r, struct flight *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t s = f->first + i;

		if (f->r.code == DRIVE_READ) {
			assert_int_equal(stamp_of(f->data + i * SECTOR / 8, s),
					 newest(r, s));
			continue;
		}
		vec_push(&r->version[s], f->stamp);
		if (through(r, f))
			r->durable[s] = r->version[s].n - 1;
	}
}

static void poll_all(struct ref *r)
{
	struct drive_end e;
	weft_time_t next = drive_next(r->d);

	while (drive_poll(r->d, r->now, &e)) {
		struct flight *f = e.ctx;

		assert_true(next <= r->now && next <= drive_next(r->d));
		next = drive_next(r->d);
		assert_int_equal(e.status, 0);
		assert_true(f->used);
		f->used = false;
		r->ended++;
		if (f->r.code != DRIVE_FLUSH) {
			effect(r, f);
			continue;
		}
		for (int s = 0; s < SECTORS; s++)
			if (r->durable[s] < f->newest[s])
				r->durable[s] = f->newest[s];
	}
	assert_true(next > r->now);
}

static bool in_flight(const struct ref *r, uint32_t sector, uint32_t stamp)
{
	for (const struct flight *f = r->flight; f < r->flight + DEPTH; f++)
		if (f->used && f->r.code >= DRIVE_WRITE &&
		    f->r.code != DRIVE_FLUSH && f->stamp == stamp &&
		    sector >= f->first && sector < f->first + f->n)
			return true;
	return false;
}

static bool allowed(const struct ref *r, uint32_t sector, size_t from,
		    uint32_t stamp)
{
	for (size_t i = from; i < r->version[sector].n; i++)
		if (r->version[sector].at[i] == stamp)
			return true;
	return in_flight(r, sector, stamp);
}

/* Checks all sectors. With `lost`, a loss of power has just lost data, so that
 * older versions are allowed. Makes the bytes found in each sector the newest
 * version of that sector. */
static void check_all(struct ref *r, bool lost, bool durable)
{
	uint64_t *all = malloc(r->cfg.size);

	r->now = rig_do(r->d, r->now, DRIVE_READ, 0, r->cfg.size, all);
	for (uint32_t s = 0; s < SECTORS; s++) {
		uint32_t stamp = stamp_of(all + s * SECTOR / 8, s);
		size_t from = lost ? r->durable[s] : r->version[s].n - 1;

		assert_true(allowed(r, s, from, stamp));
		if (stamp != newest(r, s))
			vec_push(&r->version[s], stamp);
		if (durable)
			r->durable[s] = r->version[s].n - 1;
	}
	memset(r->flight, 0, sizeof(r->flight));
	free(all);
}

static void power(struct ref *r)
{
	bool idle = !below(r, 4), lost;

	if (idle) { /* waits until the drive has finished everything */
		r->now += WEFT_SEC;
		poll_all(r);
	}
	lost = drive_power_lost(r->d, r->now);
	assert_false(idle && lost);
	r->lost += lost;
	check_all(r, lost, true);
}

static void step(struct ref *r)
{
	struct flight *f;
	uint64_t n = below(r, 4);

	r->now += below(r, 3) * below(r, 200 * WEFT_US);
	poll_all(r);
	while (n-- && draw(r, &f))
		f->used = drive_submit(r->d, r->now, &f->r);
	poll_all(r);
	if (!below(r, 60))
		power(r);
	if (!below(r, 60)) {
		drive_abandon(r->d, r->now);
		check_all(r, false, false);
	}
}

static void no_bytes_differ_and_none_is_lost_that_was_durable(void **st)
{
	uint64_t ended = 0, lost = 0;
	struct ref r;

	for (uint64_t seed = 0; seed < 300; seed++) {
		ref_new(&r, seed);
		for (int i = 0; i < 300; i++)
			step(&r);
		ended += r.ended;
		lost += r.lost;
		ref_free(&r);
	}
	print_message("%ju requests, %ju losses of bytes\n", (uintmax_t)ended,
		      (uintmax_t)lost);
	assert_true(ended > 50000 && lost > 200);
}

/* Two drives get the same requests, but one of them is polled more often. */
static void results_do_not_depend_on_polls(void **st)
{
	struct {
		VEC(weft_time_t);
	} end[2];
	struct ref r[2];
	struct flight *f;
	struct drive_end e;

	for (uint64_t seed = 0; seed < 100; seed++) {
		memset(end, 0, sizeof(end));
		for (int k = 0; k < 2; k++) {
			ref_new(&r[k], seed);
			drive_free(r[k].d);
			r[k].cfg.queue = 100000;
			r[k].d = rig_new(&r[k].cfg);
		}
		for (int i = 0; i < 2000; i++) {
			weft_time_t now = (weft_time_t)i * 20 * WEFT_US;

			for (int k = 0; k < 2; k++) {
				if (k && i % 100 && i % 7)
					continue;
				while (drive_next(r[k].d) <= now) {
					vec_push(&end[k], drive_next(r[k].d));
					drive_poll(r[k].d, now, &e);
				}
			}
			if (i % 7)
				continue;
			for (int k = 0; k < 2; k++) {
				assert_true(draw(&r[k], &f));
				f->r.code = f->r.code == DRIVE_READ ? DRIVE_TRIM
								    : f->r.code;
				assert_true(drive_submit(r[k].d, now, &f->r));
			}
		}
		assert_true(end[0].n >= end[1].n && end[1].n > 50);
		assert_memory_equal(end[0].at, end[1].at,
				    end[1].n * sizeof(weft_time_t));
		for (int k = 0; k < 2; k++) {
			ref_free(&r[k]);
			vec_free(&end[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			no_bytes_differ_and_none_is_lost_that_was_durable),
		cmocka_unit_test(results_do_not_depend_on_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
