/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of light processes, see crowd.h. */
#include "systems/hostport/lib/crowd.h"

#include <errno.h>

enum { OWN, NOTES, RECEIVED, PAGES };

static const struct hport_sizes crowd_sizes = {
	.wq = HPORT_CROWD_WQ,
	.nq = HP_PAGE / HP_LINE,
	.prq = HP_PAGE / HP_LINE,
	.wdt = 2 * HPORT_CROWD_WINS,
	.sdr = HP_PAGE / 8,
	.rdr = HP_PAGE / 8,
};

static int crowd_begin(struct hport_drv *d, void *arg)
{
	struct hport_crowd *c = arg;

	if (d->kernel->opened)
		return -EBUSY;
	hport_dev_sizes(d, &crowd_sizes);
	/* counts an additional VPID as open, so that the driver's thread does
	 * not end */
	d->kernel->opened++;
	hport_drv_begin(d);
	c->drv = *d;
	return 0;
}

int hport_crowd_open(struct hport_crowd *c, struct weft_host *h, uint32_t n)
{
	uint32_t nq = crowd_sizes.nq;
	int ret = hport_drv_run(h, crowd_begin, c);

	if (ret)
		return ret;
	c->n = n;
	c->port = weft_host_calloc(h, n, sizeof(*c->port));
	c->holes = weft_host_calloc(h, (size_t)n * nq, sizeof(*c->holes));
	c->pages = weft_mem_alloc(h, (size_t)n * PAGES * HP_PAGE, HP_PAGE,
				  &c->phys);
	return c->port && c->holes && c->pages ? 0 : -ENOMEM;
}

static int crowd_end(struct hport_drv *d, void *arg)
{
	d->kernel->opened--;
	return 0;
}

void hport_crowd_close(struct hport_crowd *c)
{
	hport_drv_run(c->drv.host, crowd_end, NULL);
}

static int crowd_enable(struct hport_drv *d, void *arg)
{
	const uint64_t *val = arg;

	hport_drv_store(d, HP_R_VPID_EN, *val);
	return 0;
}

struct hport *hport_crowd_add(struct hport_crowd *c, uint32_t i,
			      struct weft_proc *proc, uint32_t flags)
{
	struct hport *p = &c->port[i];
	uint8_t *page = c->pages + (size_t)i * PAGES * HP_PAGE;
	uint64_t *w = c->drv.kernel->ct + (size_t)HP_WORDS * i;
	uint64_t first = c->phys / HP_PAGE + (uint64_t)PAGES * i;
	uint64_t on = HP_VPID_EN(i, true);

	p->drv = c->drv;
	p->size = c->drv.kernel->sizes;
	p->vpid = i;
	p->hpid = c->drv.node + 1;
	p->wq = p->sdr = p->wdt = p->prq = (uint64_t *)(page + OWN * HP_PAGE);
	p->nq = (uint64_t *)(page + NOTES * HP_PAGE);
	p->rdr = (uint64_t *)(page + RECEIVED * HP_PAGE);
	p->holes = c->holes + (size_t)i * p->size.nq;
	if (!weft_proc_map(c->drv.host, proc, c->drv.dev, HP_BAR_TRIGGER,
			   HP_TRIGGER_PAGE(i), HP_PAGE, WEFT_UC, &p->page))
		return NULL;
	w[0] = hport_context_flags(flags);
	HP_CTX_SET(w, HP_F_WQ_BASE, first + OWN);
	HP_CTX_SET(w, HP_F_WDT_BASE, first + OWN);
	HP_CTX_SET(w, HP_F_SDR_BASE, first + OWN);
	HP_CTX_SET(w, HP_F_PRQ_BASE, first + OWN);
	HP_CTX_SET(w, HP_F_NQ_BASE, first + NOTES);
	HP_CTX_SET(w, HP_F_RDR_BASE, first + RECEIVED);
	HP_CTX_SET(w, HP_F_EPOCH, c->drv.kernel->epoch[i]);
	return hport_drv_run(c->drv.host, crowd_enable, &on) ? NULL : p;
}

void hport_crowd_weight(struct hport_crowd *c, uint32_t i, uint32_t weight)
{
	uint64_t val = HP_VPID_EN_WEIGHT(i, weight);

	hport_drv_run(c->drv.host, crowd_enable, &val);
}

struct asked {
	uint32_t vpid;
	uint64_t bytes;
	struct hport_region *r;
};

static int crowd_map(struct hport_drv *d, void *arg)
{
	struct asked *a = arg;

	return hport_drv_map(d, a->vpid, a->bytes, 0, &a->r);
}

struct hport_region *hport_crowd_map(struct hport_crowd *c, uint32_t vpid,
				     uint64_t bytes)
{
	struct asked a = { vpid, bytes, NULL };

	return hport_drv_run(c->drv.host, crowd_map, &a) ? NULL : a.r;
}

uint32_t hport_crowd_trigger(struct hport *p)
{
	uint32_t n = p->wq_new < HP_COUNT_MAX ? p->wq_new : HP_COUNT_MAX, got;

	if (!n)
		return 0;
	got = (uint32_t)HP_RET_ACCEPTED(hport_trigger(p, HP_T_ISSUE, n));
	p->wq_new -= got;
	return n - got;
}

void hport_crowd_window(struct hport *p, uint32_t id,
			const struct hport_region *r, uint32_t rights)
{
	uint64_t *w = p->wdt + (size_t)HP_WORDS * id;

	w[HP_WIN_VA] = r->va;
	w[HP_WIN_LEN] = r->bytes;
	w[HP_WIN_FLAGS] = HP_WIN_EN | HP_WIN_CAP_ANY |
			  (rights & HPORT_READ ? HP_WIN_RD : 0) |
			  (rights & HPORT_WRITE ? HP_WIN_WR : 0);
}
