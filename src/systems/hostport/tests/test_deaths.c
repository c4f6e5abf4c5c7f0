/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of two Host Ports that send, put and get among each other, close
 * and open again, and die at random moments without closing. Meanwhile other
 * processes allocate the memory that is freed. No process may read or change
 * bytes of another. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "host/prog.h"
#include "hpproc.h"
#include "systems/hostport/nic/nic.h"
#include "weft/hostport.h"

enum { ACTORS = 3, WINDOW = 32 * 1024, LIVE = 12, SEEDS = 8 };
enum { MINE = 'A', THEIRS = 'V' };

static uint64_t seed;
static uint32_t deaths, lives, born[2];
static struct weft_rng rng;

static uint32_t any(uint32_t n)
{
	return (uint32_t)(weft_rng_u64(&rng) % n);
}

static bool has_theirs(const void *p, uint64_t n)
{
	return memchr(p, THEIRS, n) != NULL;
}

struct life {
	struct weft_host *h;
	struct hport *p;
	struct hport_peer to[2][ACTORS + 1];
	uint8_t *mem;
};

static void begin(struct life *a, uint32_t vpid)
{
	struct hport_attr attr = { .vpid = (int32_t)vpid };
	uint64_t va, bytes;

	attr.sizes.nq = 64;
	assert_int_equal(hport_open(a->h, &attr, &a->p), 0);
	lives++;
	for (uint32_t node = 0; node < 2; node++)
		for (uint32_t i = 0; i <= ACTORS; i++)
			assert_int_equal(
				hport_connect(a->p, node, i, &a->to[node][i]),
				0);
	a->mem = hport_alloc(a->p, WINDOW, &va);
	assert_non_null(a->mem);
	assert_false(has_theirs(a->mem, WINDOW));
	memset(a->mem, MINE, WINDOW);
	memset(hport_sdr(a->p, &bytes), MINE, WINDOW);
	hport_window(a->p, 0, va, WINDOW, HPORT_READ | HPORT_WRITE | HPORT_OPEN,
		     0);
}

static void notes(struct life *a)
{
	static uint8_t got[WINDOW];
	struct hport_note n;

	while (hport_poll(a->p, &n)) {
		assert_false(has_theirs(n.data, sizeof(n.data)));
		if (n.event != HPORT_MESSAGE || n.bytes > WINDOW)
			continue;
		hport_take(a->p, &n, got);
		assert_false(has_theirs(got, n.bytes));
	}
	assert_false(has_theirs(a->mem, WINDOW));
}

static void act(struct life *a)
{
	const struct hport_peer *to = &a->to[any(2)][1 + any(ACTORS)];
	uint64_t word = 0x4141414141414141, off = 8 * any(WINDOW / 16);
	uint64_t len = 8 * (1 + any(WINDOW / 16));
	struct hport_far far = { 0, 0, off };
	struct hport_tag tag = { 0, 0 };

	switch (any(6)) {
	case 0:
		hport_put(a->p, to, HPORT_ACK, tag, &far, 0, off, len);
		break;
	case 1:
		hport_get(a->p, to, 0, tag, &far, 0, off, len);
		break;
	case 2:
		hport_send(a->p, to, 0, tag, off, len);
		break;
	case 3:
		hport_fast_send(a->p, to, HPORT_ACK, tag, &word, 1);
		break;
	case 4:
		hport_fast_put(a->p, to, 0, tag, &far, &word, 1);
		break;
	default:
		hport_faa(a->p, to, 0, tag, &far, 0);
	}
}

/* Opens and closes a port a few times, then dies without closing. */
static int actor(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct life a = { .h = h };
	uint32_t vpid = 1 + born[node]++, left = 1 + any(3);

	for (; left; left--) {
		weft_time_t until;

		begin(&a, vpid);
		until = weft_host_now(h) + (20 + any(200)) * WEFT_US;
		while (weft_host_now(h) < until) {
			act(&a);
			notes(&a);
			weft_host_cpu(h, any(8) * WEFT_US);
		}
		if (left > 1)
			hport_close(a.p);
	}
	deaths++;
	return 0;
}

struct block {
	uint8_t *p;
	uint64_t n;
};

static void check(const struct block *b)
{
	for (uint64_t i = 0; i < b->n; i++)
		assert_int_equal(b->p[i], THEIRS);
}

/* Allocates by first fit, so that the process gets the memory that was freed
 * last. */
static int watcher(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct block b[LIVE] = { { NULL, 0 } };

	while (deaths < 2 * ACTORS) {
		struct block *x = &b[any(LIVE)];

		if (x->p) {
			check(x);
			weft_mem_free(h, x->p);
		}
		x->n = 64 * (1 + any(1200));
		x->p = weft_mem_alloc(h, x->n, 64, NULL);
		assert_non_null(x->p);
		memset(x->p, THEIRS, x->n);
		weft_host_sleep(h, weft_host_now(h) + 2 * WEFT_US);
	}
	weft_host_sleep(h, weft_host_now(h) + 2 * WEFT_MS);
	for (uint32_t i = 0; i < LIVE; i++)
		if (b[i].p)
			check(&b[i]);
	return 0;
}

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	return hport_serve(h, 5 * WEFT_US, true) ? 1 : 0;
}

static void once(void)
{
	struct exrig r;

	deaths = born[0] = born[1] = 0;
	weft_rng_seed(&rng, seed, "deaths");
	hprig_new(&r, "2", NULL);
	for (uint32_t i = 0; i < 2; i++) {
		struct hp_nic *n = r.node[i].nic->state;

		n->place.topo = &r.topo;
		for (uint32_t k = 0; k < ACTORS; k++)
			exrig_prog(&r, i, actor);
		exrig_prog(&r, i, watcher);
		exrig_prog(&r, i, driver);
	}
	exrig_start(&r);
	for (uint32_t i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u.prog%u", i, ACTORS + 1);
		weft_prog_set_background(weft_sim_find(r.sim, name), true);
	}
	exrig_run(&r);
	exrig_free(&r);
	assert_int_equal(deaths, 2 * ACTORS);
}

static void processes_end_at_any_moment_and_harm_nobody(void **state)
{
	lives = 0;
	for (seed = 1; seed <= SEEDS; seed++)
		once();
	assert_true(lives > SEEDS * 2 * ACTORS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_end_at_any_moment_and_harm_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
