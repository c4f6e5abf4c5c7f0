/* SPDX-License-Identifier: Apache-2.0 */
/* Host Ports on a bench and their processes: see hpproc.h. */
#include "hpproc.h"

#include <assert.h>
#include <string.h>

#include "systems/hostport/nic/wire.h"

extern const struct weft_class weft_class_hostport_nic, weft_class_bus_ht;

enum { RS_BYTES = HPDRV_ROUTE * EXRIG_NODES };

void hprig_new(struct exrig *r, const char *dims, const struct weft_class *bus)
{
	exrig_new_of(r, dims, &weft_class_hostport_nic,
		     bus ? bus : &weft_class_bus_ht);
	exrig_set(r, "extoll.xbar", "clock", "330MHz");
	exrig_set(r, "extoll.xbar", "width", "w16");
}

void hprig_one(exrig_fn fn)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_prog(&r, 0, fn);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- driver ---- */

void hpdrv_set(struct hpdrv *d, uint32_t off, uint64_t val)
{
	weft_io_store64(d->h, &d->mgmt, off, val);
}

uint64_t hpdrv_get(struct hpdrv *d, uint32_t off)
{
	return weft_io_load64(d->h, &d->mgmt, off);
}

uint64_t hpdrv_cache(struct hpdrv *d, uint32_t op, uint32_t which,
		     uint32_t vpid, uint64_t arg0, uint64_t arg1)
{
	uint64_t status;

	hpdrv_set(d, HP_R_CACHE_ARG0, arg0);
	hpdrv_set(d, HP_R_CACHE_ARG1, arg1);
	hpdrv_set(d, HP_R_CACHE_CMD, HP_CACHE_CMD(op, which, vpid, 1));
	do
		status = hpdrv_get(d, HP_R_CACHE_STATUS);
	while (status & HP_CACHE_BUSY);
	return status;
}

const uint64_t *hpdrv_ctx(struct hpdrv *d, uint32_t vpid)
{
	hpdrv_cache(d, HP_CACHE_REMOVE, HP_CACHE_CTX, vpid, 0, 0);
	return d->ct + HP_WORDS * vpid;
}

/* Writes the route to a node: the forward path ends at NP0 of that node, the
 * return path at NP1 of this node. */
static void route_write(struct hpdrv *d, uint32_t to)
{
	const struct topology *t = &d->rig->topo;
	uint8_t *b = d->rs + HPDRV_ROUTE * to, el[HP_ROUTE_MAX];
	int nf = hp_route_topo(t, d->node, to, el), nr;

	assert(nf >= 0);
	b[3] = (uint8_t)(to + 1);
	b[5] = (uint8_t)(to + 1);
	memcpy(b + HP_RS_HEAD, el, (size_t)nf);
	b[HP_RS_HEAD + nf++] = HP_EL(0, 1);
	nr = hp_route_topo(t, to, d->node, el);
	b[HP_RS_HEAD + nf] = HP_EL_SEP;
	memcpy(b + HP_RS_HEAD + nf + 1, el, (size_t)nr);
	b[HP_RS_HEAD + nf + 1 + nr++] = HP_EL(1, 1);
	b[HP_RS_NF] = (uint8_t)nf;
	b[HP_RS_NR] = (uint8_t)nr;
	assert(HP_RS_HEAD + nf + 1 + nr <= HPDRV_RLEN);
}

static void sizes_write(struct hpdrv *d)
{
	struct {
		uint32_t *size, def, reg;
	} s[] = { { &d->wq, 64, HP_R_WQ_SIZE },
		  { &d->nq, 128, HP_R_NQ_SIZE },
		  { &d->prq, 32, HP_R_PRQ_SIZE },
		  { &d->wdt, 64, HP_R_WDT_SIZE },
		  { &d->sdr, 8192, HP_R_SDR_SIZE },
		  { &d->rdr, 8192, HP_R_RDR_SIZE } };

	for (uint32_t i = 0; i < 6; i++) {
		if (!*s[i].size)
			*s[i].size = s[i].def;
		hpdrv_set(d, s[i].reg, *s[i].size);
	}
}

void hpdrv_map(struct hpdrv *d, struct weft_host *h)
{
	d->h = h;
	d->dev = weft_dev_open(h, 0);
	assert(d->dev);
	weft_cfg_store(h, d->dev, HP_CFG_COMMAND, 2,
		       HP_CMD_MEMORY | HP_CMD_MASTER);
	assert(weft_io_map(h, d->dev, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
			   &d->mgmt));
}

void hpdrv_open(struct hpdrv *d, struct exrig *r, uint32_t node,
		struct weft_host *h)
{
	d->rig = r;
	d->node = node;
	hpdrv_map(d, h);
	d->ct = weft_mem_alloc(h, (size_t)HP_VPIDS * HP_LINE, HP_PAGE,
			       &d->ct_phys);
	d->rs = weft_mem_alloc(h, RS_BYTES, HP_PAGE, &d->rs_phys);
	assert(d->ct && d->rs);
	for (uint32_t i = 0; i < r->nodes; i++)
		route_write(d, i);
	hpdrv_set(d, HP_R_HPID, node + 1);
	hpdrv_set(d, HP_R_CT_BASE, d->ct_phys);
	hpdrv_set(d, HP_R_RS_BASE, d->rs_phys);
	hpdrv_set(d, HP_R_RS_SIZE, RS_BYTES);
	sizes_write(d);
	hpdrv_set(d, HP_R_CTRL, d->ctrl | HP_CTRL_ENABLE | HP_CTRL_NPS_ALL);
	assert(hpdrv_get(d, HP_R_HPID) == node + 1);
}

void hpdrv_enable(struct hpproc *p, uint64_t flags)
{
	struct hpdrv *d = p->drv;
	uint64_t *w = d->ct + HP_WORDS * p->vpid;

	memset(w, 0, HP_LINE);
	w[0] = HP_CTX_EN | flags;
	HP_CTX_SET(w, HP_F_WQ_BASE, p->wq_phys >> 12);
	HP_CTX_SET(w, HP_F_SDR_BASE, p->sdr_phys >> 12);
	HP_CTX_SET(w, HP_F_RDR_BASE, p->rdr_phys >> 12);
	HP_CTX_SET(w, HP_F_WDT_BASE, p->wdt_phys >> 12);
	HP_CTX_SET(w, HP_F_PRQ_BASE, p->prq_phys >> 12);
	HP_CTX_SET(w, HP_F_NQ_BASE, p->nq_phys >> 12);
	hpdrv_set(d, HP_R_VPID_EN, HP_VPID_EN(p->vpid, true));
	/* loads a register, because the load returns after the stores have
	 * arrived */
	hpdrv_get(d, HP_R_HPID);
}

void hpdrv_disable(struct hpdrv *d, uint32_t vpid)
{
	hpdrv_set(d, HP_R_VPID_EN, HP_VPID_EN(vpid, false));
	hpdrv_ctx(d, vpid);
	d->ct[HP_WORDS * vpid] &= ~HP_CTX_EN;
}

/* ---- processes ---- */

static void *queue_new(struct hpproc *p, size_t bytes, weft_phys_t *phys)
{
	void *q = weft_mem_alloc(p->h, bytes, HP_PAGE, phys);

	assert(q);
	return q;
}

void hpproc_open(struct hpproc *p, struct hpdrv *d, struct weft_host *h,
		 uint32_t vpid, uint64_t flags)
{
	memset(p, 0, sizeof(*p));
	p->drv = d;
	p->h = h;
	p->vpid = vpid;
	p->wq = queue_new(p, HP_LINE * d->wq, &p->wq_phys);
	p->nq = queue_new(p, HP_LINE * d->nq, &p->nq_phys);
	p->prq = queue_new(p, HP_LINE * d->prq, &p->prq_phys);
	p->wdt = queue_new(p, HP_LINE * d->wdt, &p->wdt_phys);
	p->sdr = queue_new(p, 8 * d->sdr, &p->sdr_phys);
	p->rdr = queue_new(p, 8 * d->rdr, &p->rdr_phys);
	assert(weft_io_map(h, d->dev, HP_BAR_TRIGGER, HP_TRIGGER_PAGE(vpid),
			   HP_PAGE, WEFT_UC, &p->page));
	hpdrv_enable(p, flags);
}

uint64_t hpproc_trigger(struct hpproc *p, uint32_t cmd, uint32_t par)
{
	return weft_io_load64(p->h, &p->page, HP_TRIGGER(cmd, par));
}

void hpproc_put(struct hpproc *p, const uint64_t *w)
{
	memcpy(p->wq + HP_WORDS * p->wi, w, HP_LINE);
	p->wi = p->wi + 1 == p->drv->wq ? 0 : p->wi + 1;
}

void hpproc_issue(struct hpproc *p, uint32_t n)
{
	while (n) {
		uint32_t k = n > HP_COUNT_MAX ? HP_COUNT_MAX : n;

		n -= HP_RET_ACCEPTED(hpproc_trigger(p, HP_T_ISSUE, k));
	}
}

void hpproc_to(uint64_t *w, uint32_t byte, uint32_t node, uint32_t vpid,
	       uint64_t tag)
{
	memset(w, 0, HP_LINE);
	w[0] = HP_VCI_W0(HP_CMD(0, 0, byte), HPDRV_RLEN, HPDRV_ROUTE * node);
	w[1] = HP_VCI_W1(vpid, tag);
	w[2] = tag;
}

void hpproc_fast_send(struct hpproc *p, uint32_t node, uint32_t vpid,
		      uint32_t a, uint64_t tag, const uint64_t *data,
		      uint32_t n)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_FAST_SEND | a | n, node, vpid, tag);
	memcpy(w + 3, data, 8 * n);
	hpproc_put(p, w);
	hpproc_issue(p, 1);
}

bool hpproc_nqe(struct hpproc *p, uint64_t *w)
{
	volatile uint64_t *e = p->nq + HP_WORDS * p->ni;
	weft_time_t until = weft_host_now(p->h) + 100 * WEFT_US;

	while (!HP_NQE_VALID(e))
		if (!weft_host_poll64(p->h, e + HP_NQE_CMD, e[HP_NQE_CMD],
				      until))
			return false;
	memcpy(w, (const void *)(uintptr_t)e, HP_LINE);
	e[HP_NQE_CMD] = 0;
	p->ni = p->ni + 1 == p->drv->nq ? 0 : p->ni + 1;
	p->owed++;
	return true;
}

void hpproc_free(struct hpproc *p)
{
	while (p->owed) {
		uint32_t k = p->owed > HP_COUNT_MAX ? HP_COUNT_MAX : p->owed;

		if (hpproc_trigger(p, HP_T_NQ_RP, k) & HP_TRUE)
			p->owed -= k;
	}
}

bool hpproc_wait(struct hpproc *p, uint64_t *w)
{
	do {
		if (p->owed > p->drv->nq / 2)
			hpproc_free(p);
		if (!hpproc_nqe(p, w))
			return false;
	} while (HP_CMD_BYTE(HP_NQE_CMD(w)) == HP_B_NOTIFY_CC);
	return true;
}

void hpproc_self(struct hpproc *p, uint64_t tag)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_FAST_SEND | 1, p->drv->node, p->vpid, tag);
	w[3] = ~tag;
	hpproc_put(p, w);
}

void hpproc_own(struct hpproc *p, uint64_t *tags, uint32_t k)
{
	uint64_t w[HP_WORDS];

	for (uint32_t n = 0; n < k;) {
		assert(hpproc_wait(p, w));
		if (HP_MAIN(HP_CMD_BYTE(HP_NQE_CMD(w))) == HP_M_FAST_SEND)
			tags[n++] = HP_NQE_TAG(w);
	}
}
