/* SPDX-License-Identifier: Apache-2.0 */
/* Two Host Ports with processes: see hppair.h. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "hppair.h"
#include "weft/bus.h"

static struct hppair *pair;
static hppair_fn side[2];

/* ---- memory ---- */

/* Maps virtual page v to a different physical page of the memory. The map is
 * one to one, because 7 and 300 have no common divisor. */
static uint32_t perm(uint64_t v)
{
	return (uint32_t)(v * 7 + 3) % HPEND_PAGES;
}

static uint8_t *byte_at(struct hpend *e, uint64_t off)
{
	return e->mem + (uint64_t)HP_PAGE * perm(off / HP_PAGE) + off % HP_PAGE;
}

/* Applies to memory the writes that devices have made so far. The host applies
 * them only while its programs run. */
static void settle(struct hpend *e)
{
	struct weft_comp *host = pair->rig.node[e == &pair->end[1]].host;
	const struct weft_bus_host_ops *ops = host->ports[0].iface;

	ops->settle(&host->ports[0]);
}

uint8_t *hpend_at(struct hpend *e, uint64_t off)
{
	settle(e);
	return byte_at(e, off);
}

uint8_t hpend_byte(uint32_t i, uint32_t seed)
{
	return (uint8_t)((i * 131 + seed * 29) ^ (i >> 8) ^ (i >> 16));
}

void hpend_fill(struct hpend *e, uint64_t off, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		*byte_at(e, off + i) = hpend_byte(i, seed);
}

bool hpend_equal(struct hpend *e, uint64_t off, uint32_t n, uint32_t seed)
{
	settle(e);
	for (uint32_t i = 0; i < n; i++)
		if (*byte_at(e, off + i) != hpend_byte(i, seed))
			return false;
	return true;
}

void hpend_set(struct hpend *e, uint8_t val)
{
	settle(e);
	memset(e->mem, val, HPEND_PAGES * HP_PAGE);
}

bool hpend_rest(struct hpend *e, uint64_t off, uint32_t n, uint8_t val)
{
	settle(e);
	for (uint64_t i = 0; i < HPEND_PAGES * HP_PAGE; i++)
		if ((i < off || i >= off + n) && *byte_at(e, i) != val)
			return false;
	return true;
}

/* ---- the driver ---- */

static void lock(struct hpdrv *d)
{
	while (hpdrv_get(d, HP_R_DRIVER_LOCK))
		;
}

static uint64_t cache(struct hpdrv *d, uint32_t op, uint32_t which,
		      uint32_t vpid, uint64_t arg0, uint64_t arg1)
{
	uint64_t status;

	lock(d);
	status = hpdrv_cache(d, op, which, vpid, arg0, arg1);
	hpdrv_set(d, HP_R_DRIVER_LOCK, 0);
	return status;
}

uint64_t hpend_cache(struct hpend *e, uint32_t op, uint32_t which,
		     uint64_t arg0, uint64_t arg1)
{
	return cache(&e->d, op, which, e->vpid, arg0, arg1);
}

static uint64_t translate(const struct hpend *e, uint64_t vpage)
{
	uint64_t v = vpage - HPEND_VA / HP_PAGE;

	if (v >= HPEND_PAGES || e->out[v / 64] >> (v % 64) & 1)
		return HP_TLB_FAULT;
	return HP_TLB_ARG(e->mem_phys / HP_PAGE + perm(v), !e->read_only);
}

static void serve(struct hpend *e, struct hpdrv *d)
{
	uint64_t w;

	while (!e->hold && (w = hpdrv_get(d, HP_R_TLB_MISS)) != HP_NONE) {
		e->misses++;
		cache(d, HP_CACHE_INSERT, HP_CACHE_TLB, HP_MISS_VPID(w),
		      HP_MISS_PAGE(w), translate(e, HP_MISS_PAGE(w)));
	}
}

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpend *e = &pair->end[node];
	struct hpdrv d;
	char key[8];

	snprintf(key, sizeof(key), "up%u", node);
	weft_oob_get(h, key);
	d = e->d;
	d.h = h;
	assert_true(weft_io_map(h, d.dev, HP_BAR_MGMT, 0, HP_MGMT_BYTES,
				WEFT_UC, &d.mgmt));
	while (!pair->over) {
		if (e->hold)
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
		else
			weft_host_irq_wait(h, d.dev,
					   weft_host_now(h) + 5 * WEFT_US);
		serve(e, &d);
	}
	return 0;
}

/* ---- both sides ---- */

void hppair_meet(struct hpend *e)
{
	uint32_t me = e == &pair->end[1];
	char key[16];

	snprintf(key, sizeof(key), "m%u.%u", e->meetings, me);
	weft_oob_put(e->h, key, 1);
	snprintf(key, sizeof(key), "m%u.%u", e->meetings++, !me);
	weft_oob_get(e->h, key);
}

static int program(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpend *e = &pair->end[node];
	char key[8];

	e->h = h;
	e->vpid = node ? HPEND_VPID1 : HPEND_VPID0;
	hpdrv_open(&e->d, r, node, h);
	e->mem =
		weft_mem_alloc(h, HPEND_PAGES * HP_PAGE, HP_PAGE, &e->mem_phys);
	assert_non_null(e->mem);
	hpproc_open(&e->p, &e->d, h, e->vpid, e->flags);
	snprintf(key, sizeof(key), "up%u", node);
	weft_oob_put(h, key, 1);
	hppair_meet(e);
	side[node](pair, e);
	hppair_meet(e);
	pair->over = true;
	return 0;
}

void hppair_run(struct hppair *t, void (*before)(struct hppair *t),
		hppair_fn near, hppair_fn far)
{
	memset(t, 0, sizeof(*t));
	pair = t;
	side[0] = near;
	side[1] = far;
	hprig_new(&t->rig, "2", NULL);
	if (before)
		before(t);
	for (uint32_t i = 0; i < 2; i++) {
		exrig_prog(&t->rig, i, program);
		exrig_prog(&t->rig, i, driver);
	}
	exrig_start(&t->rig);
	exrig_run(&t->rig);
}

void hppair_free(struct hppair *t)
{
	exrig_free(&t->rig);
}

/* ---- instructions ---- */

void hpend_win(struct hpend *e, uint32_t id, uint64_t off, uint64_t len,
	       uint64_t flags, uint64_t owner)
{
	uint64_t *w = e->p.wdt + HP_WORDS * id;

	w[HP_WIN_VA] = HPEND_VA + off;
	w[HP_WIN_LEN] = len;
	w[HP_WIN_FLAGS] = flags;
	w[HP_WIN_OWNER] = owner;
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_WIN, id, 0);
}

static uint32_t other(const struct hpend *e)
{
	return e == &pair->end[0];
}

void hpend_rma(struct hpend *e, const struct hprma *a)
{
	uint64_t w[HP_WORDS];
	uint32_t to = other(e);

	hpproc_to(w, a->byte, to, to ? HPEND_VPID1 : HPEND_VPID0, 7);
	w[3] = HP_VCI_W3(a->win, a->capa);
	w[4] = a->off;
	memcpy(&w[5], a->imm, sizeof(a->imm));
	if (HP_MAIN(a->byte) == HP_M_PUT || HP_MAIN(a->byte) == HP_M_GET) {
		w[5] = HP_VCI_W5(a->owin);
		w[6] = a->ooff;
		w[7] = a->len;
	}
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
}

void hpend_send(struct hpend *e, uint32_t byte, uint64_t off, uint64_t len)
{
	uint64_t w[HP_WORDS];
	uint32_t to = other(e);

	hpproc_to(w, byte, to, to ? HPEND_VPID1 : HPEND_VPID0, 7);
	w[3] = off;
	w[4] = len;
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
}

void hpend_expect(struct hpend *e, uint32_t cmd, uint64_t *w)
{
	uint64_t own[HP_WORDS];

	w = w ? w : own;
	for (uint32_t i = 0; !hpproc_wait(&e->p, w); i++)
		/* waits at most 10 ms, which is enough for 1 MiB with a miss at
		 * each page */
		assert_true(i < 100);
	if (HP_NQE_CMD(w) != cmd)
		print_error("%s: CMD %04x, not %04x\n",
			    other(e) ? "origin" : "target", HP_NQE_CMD(w), cmd);
	assert_int_equal(HP_NQE_CMD(w), cmd);
}

static bool other_nqe(struct hpproc *p, uint64_t *w)
{
	uint64_t *e = (uint64_t *)(uintptr_t)(p->nq + HP_WORDS * p->ni);

	if (!HP_NQE_VALID(e))
		return false;
	memcpy(w, e, HP_LINE);
	e[HP_NQE_CMD] = 0;
	p->ni = p->ni + 1 == p->drv->nq ? 0 : p->ni + 1;
	return true;
}

void hpend_other(struct hpend *e, uint32_t cmd, uint64_t *w)
{
	struct hpend *b = &pair->end[other(e)];
	uint64_t own[HP_WORDS];

	w = w ? w : own;
	for (uint32_t i = 0;; i++) {
		settle(b);
		if (other_nqe(&b->p, w) &&
		    HP_CMD_BYTE(HP_NQE_CMD(w)) != HP_B_NOTIFY_CC)
			break;
		assert_true(i < 2000);
		weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_US);
	}
	if (HP_NQE_CMD(w) != cmd)
		print_error("other: CMD %04x, not %04x\n", HP_NQE_CMD(w), cmd);
	assert_int_equal(HP_NQE_CMD(w), cmd);
}

void hpend_silent(struct hpend *e)
{
	uint64_t w[HP_WORDS];

	assert_false(hpproc_wait(&e->p, w));
	settle(&pair->end[other(e)]);
	assert_false(other_nqe(&pair->end[other(e)].p, w));
}
