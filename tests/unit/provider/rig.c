/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

static void side_up(struct rig_side *s, enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED,
				 .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_UNSPEC };

	hints->ep_attr->type = type;
	setenv("WEFT_SOCKET", "double", 1);
	assert_int_equal(
		wfi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &s->info),
		0);
	fi_freeinfo(hints);
	assert_int_equal(wfi_fabric(s->info->fabric_attr, &s->fabric, NULL), 0);
	assert_int_equal(fi_domain(s->fabric, s->info, &s->dom, NULL), 0);
	assert_int_equal(fi_eq_open(s->fabric, &eq, &s->eq, NULL), 0);
	assert_int_equal(fi_cq_open(s->dom, &cq, &s->cq, NULL), 0);
	assert_int_equal(fi_av_open(s->dom, &av, &s->av, NULL), 0);
	assert_int_equal(fi_endpoint(s->dom, s->info, &s->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV),
			 0);
	if (type != FI_EP_MSG)
		assert_int_equal(fi_ep_bind(s->ep, &s->av->fid, 0), 0);
}

void rig_up(struct rig *r, enum fi_ep_type type)
{
	struct sockaddr_in sin;

	memset(r, 0, sizeof(*r));
	double_reset();
	for (int i = 0; i < 2; i++)
		side_up(&r->s[i], type);
	for (int i = 0; i < 2; i++) {
		size_t len = sizeof(sin);

		if (type == FI_EP_MSG)
			continue;
		assert_int_equal(fi_enable(r->s[i].ep), 0);
		assert_int_equal(fi_getname(&r->s[i].ep->fid, &sin, &len), 0);
		assert_int_equal(fi_av_insert(r->s[!i].av, &sin, 1,
					      &r->s[!i].to, 0, NULL),
				 1);
	}
}

static void side_down(struct rig_side *s, unsigned node)
{
	assert_int_equal(fi_close(&s->ep->fid), 0);
	assert_int_equal(fi_close(&s->av->fid), 0);
	assert_int_equal(fi_close(&s->cq->fid), 0);
	assert_int_equal(fi_close(&s->eq->fid), 0);
	assert_int_equal(fi_close(&s->dom->fid), 0);
	assert_int_equal(fi_close(&s->fabric->fid), 0);
	fi_freeinfo(s->info);
	assert_int_equal(double_regs(node), 0);
}

void rig_again(struct rig *r, unsigned side)
{
	enum fi_ep_type type = r->s[side].info->ep_attr->type;

	side_down(&r->s[side], side);
	double_next(side);
	side_up(&r->s[side], type);
	assert_int_equal(fi_enable(r->s[side].ep), 0);
}

/* Returns the number of mutexes that this thread holds. Only programs that link
 * tests/unit/locks.c define it. */
int locks_held(void) __attribute__((weak));

void rig_down(struct rig *r)
{
	if (locks_held)
		assert_int_equal(locks_held(), 0);
	for (unsigned i = 0; i < 2; i++)
		side_down(&r->s[i], i);
	double_reset();
}

struct wfi_ep *rig_ep(struct rig *r, int side)
{
	return container_of(r->s[side].ep, struct wfi_ep, fid);
}

bool rig_progress(struct rig *r, int side)
{
	struct wfi_hub *h = rig_ep(r, side)->hub;
	bool any;

	wfi_lock(h);
	any = wfi_hub_progress(h);
	wfi_unlock(h);
	return any;
}

void rig_settle(struct rig *r)
{
	bool any = true;

	while (any) {
		any = rig_progress(r, 0);
		any = rig_progress(r, 1) || any;
	}
}

struct fi_cq_tagged_entry rig_next(struct rig *r, int side)
{
	struct fi_cq_tagged_entry e;

	rig_settle(r);
	assert_int_equal(fi_cq_read(r->s[side].cq, &e, 1), 1);
	return e;
}

struct fi_cq_err_entry rig_error(struct rig *r, int side)
{
	struct fi_cq_err_entry e = { 0 };
	struct fi_cq_tagged_entry t;

	rig_settle(r);
	assert_int_equal(fi_cq_read(r->s[side].cq, &t, 1), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(r->s[side].cq, &e, 0), 1);
	return e;
}

void rig_none(struct rig *r, int side)
{
	struct fi_cq_tagged_entry e;

	rig_settle(r);
	assert_int_equal(fi_cq_read(r->s[side].cq, &e, 1), -FI_EAGAIN);
}

void rig_fill(void *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)p)[i] = (unsigned char)(i * 7 + seed);
}
