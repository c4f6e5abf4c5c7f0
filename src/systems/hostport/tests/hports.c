/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on Host Ports: see hports.h. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hports.h"
#include "systems/hostport/nic/nic.h"

struct hports hports;

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	return hport_serve(h, hports.service, false);
}

void hports_new(const char *dims, const struct weft_class *bus)
{
	hprig_new(&hports.rig, dims, bus);
	hports.service = WEFT_US;
	hports.step = 0;
	for (uint32_t i = 0; i < hports.rig.nodes; i++) {
		struct hp_nic *n = hports.rig.node[i].nic->state;

		n->place.topo = &hports.rig.topo;
	}
}

void hports_progs(uint32_t node, const exrig_fn *fn)
{
	for (; *fn; fn++)
		exrig_prog(&hports.rig, node, *fn);
}

void hports_run(void)
{
	for (uint32_t i = 0; i < hports.rig.nodes; i++)
		exrig_prog(&hports.rig, i, driver);
	exrig_start(&hports.rig);
	exrig_run(&hports.rig);
	exrig_free(&hports.rig);
}

void hports_pause(struct weft_host *h, weft_time_t t)
{
	weft_host_sleep(h, weft_host_now(h) + t);
}

void hports_await(struct weft_host *h, uint32_t n)
{
	while (hports.step < n)
		hports_pause(h, 100 * WEFT_NS);
}

struct hport *hports_open_any(struct weft_host *h)
{
	struct hport *p;

	assert_int_equal(hport_open(h, NULL, &p), 0);
	return p;
}

struct hport *hports_open(struct weft_host *h, uint32_t vpid)
{
	struct hport_attr a = { .vpid = (int32_t)vpid };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), 0);
	return p;
}

struct hport_peer hports_peer(struct hport *p, uint32_t node, uint32_t vpid)
{
	struct hport_peer to;

	assert_int_equal(hport_connect(p, node, vpid, &to), 0);
	return to;
}

uint8_t *hports_window(struct hport *p, uint32_t id, uint64_t bytes, int fill,
		       uint64_t *va_p)
{
	uint64_t va;
	uint8_t *m = hport_alloc(p, bytes, &va);

	assert_non_null(m);
	memset(m, fill, bytes);
	assert_int_equal(hport_window(p, id, va, bytes,
				      HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0),
			 0);
	if (va_p)
		*va_p = va;
	return m;
}

uint64_t hports_count(const uint8_t *p, uint64_t n, int byte)
{
	uint64_t k = 0;

	for (uint64_t i = 0; i < n; i++)
		k += p[i] == byte;
	return k;
}

struct hport_note hports_note(struct hport *p, weft_time_t t)
{
	struct hport_note n;

	assert_true(hport_wait(p, &n, weft_host_now(weft_host_self()) + t));
	return n;
}

/* ---- the victim ---- */

enum { BLOCKS = 8 };

int hports_victim(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint8_t *theirs[BLOCKS];

	hports_await(h, HPORTS_GONE);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		theirs[i] = weft_mem_alloc(h, HPORTS_BLOCK, 64, NULL);
		assert_non_null(theirs[i]);
		memset(theirs[i], HPORTS_THEIRS, HPORTS_BLOCK);
	}
	hports.step = HPORTS_TAKEN;
	hports_await(h, HPORTS_OVER);
	for (uint32_t i = 0; i < BLOCKS; i++)
		assert_int_equal(
			hports_count(theirs[i], HPORTS_BLOCK, HPORTS_THEIRS),
			HPORTS_BLOCK);
	return 0;
}
