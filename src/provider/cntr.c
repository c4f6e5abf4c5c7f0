/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of fi_cntr(3). Each change may start operations that wait for it
 * (trigger.c). */
#include <stdlib.h>

#include "provider/obj.h"

void wfi_cntr_inc(struct wfi_cntr *c, bool err)
{
	if (err)
		c->err++;
	else
		c->val++;
	wfi_wait_ring(&c->wait);
	wfi_trigger(c);
}

/* Reads a counter. A value that has not changed shows that the user polls the
 * counter. After many such reads the process hands over, so that simulated time
 * passes. */
static uint64_t cntr_look(struct wfi_cntr *c, const uint64_t *at)
{
	struct wfi_hub *h = c->dom->hub;
	uint64_t was, val;
	bool any;

	wfi_lock(h);
	was = *at;
	any = wfi_hub_progress(h);
	val = *at;
	wfi_unlock(h);
	if (!any && was == val)
		weft_att_idle(h->att);
	return val;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid);

	return cntr_look(c, &c->val);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid);

	return cntr_look(c, &c->err);
}

static int cntr_change(struct fid_cntr *fid, uint64_t val, bool err, bool add)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid);
	uint64_t *at = err ? &c->err : &c->val;

	wfi_lock(c->dom->hub);
	*at = add ? *at + val : val;
	wfi_wait_ring(&c->wait);
	wfi_trigger(c);
	wfi_unlock(c->dom->hub);
	return 0;
}

static int cntr_add(struct fid_cntr *fid, uint64_t val)
{
	return cntr_change(fid, val, false, true);
}

static int cntr_set(struct fid_cntr *fid, uint64_t val)
{
	return cntr_change(fid, val, false, false);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t val)
{
	return cntr_change(fid, val, true, true);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t val)
{
	return cntr_change(fid, val, true, false);
}

struct cntr_goal {
	struct wfi_cntr *c;
	uint64_t val, err;
};

static bool cntr_test(void *arg)
{
	struct cntr_goal *g = arg;

	return g->c->val >= g->val || g->c->err != g->err;
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid);
	struct cntr_goal g = { .c = c, .val = threshold };
	int rc;

	wfi_lock(c->dom->hub);
	g.err = c->err;
	rc = wfi_wait_until(c->dom->hub, cntr_test, &g, timeout);
	if (!rc && c->err != g.err)
		rc = -FI_EAVAIL;
	wfi_unlock(c->dom->hub);
	return rc;
}

static int cntr_close(struct fid *fid)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid.fid);

	wfi_lock(c->dom->hub);
	if (c->refs) {
		wfi_unlock(c->dom->hub);
		return -FI_EBUSY;
	}
	c->dom->refs--;
	wfi_trigger_drop(c);
	wfi_unlock(c->dom->hub);
	wfi_wait_close(&c->wait);
	free(c);
	return 0;
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = wfi_no_bind,
	.control = wfi_wait_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

int wfi_cntr_open(struct fid_domain *fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	struct wfi_cntr *c;
	int rc;

	if (attr && (attr->events != FI_CNTR_EVENTS_COMP || attr->flags ||
		     (attr->wait_obj == FI_WAIT_SET && !attr->wait_set)))
		return -FI_EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -FI_ENOMEM;
	rc = wfi_wait_init(&c->wait, attr ? attr->wait_obj : FI_WAIT_UNSPEC);
	if (rc) {
		free(c);
		return rc;
	}
	c->dom = d;
	TAILQ_INIT(&c->triggers);
	c->fid.fid = (struct fid){ FI_CLASS_CNTR, context, &cntr_fid_ops };
	c->fid.ops = &cntr_ops;
	wfi_domain_use(d, 1);
	if (attr && attr->wait_obj == FI_WAIT_SET)
		wfi_set_add(attr->wait_set, &c->fid.fid);
	*cntr_p = &c->fid;
	return 0;
}
