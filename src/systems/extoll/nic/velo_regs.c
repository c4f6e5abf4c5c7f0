/* SPDX-License-Identifier: Apache-2.0 */
/* VELO's registers: what a load sees and a store does (extoll.md 2.6, 3.2,
 * 3.3). */
#include "systems/extoll/nic/nic.h"

static struct extoll_nic *nic_of(struct weft_comp *c)
{
	return c->state;
}

uint64_t extoll_velo_config_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->velo.policy_drop ? EXTOLL_VELO_POLICY_DROP : 0;
}

void extoll_velo_config_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	nic_of(c)->velo.policy_drop = val & EXTOLL_VELO_POLICY_DROP;
	extoll_velo_cp_again(nic_of(c));
}

uint64_t extoll_velo_timeout_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->velo.timeout;
}

void extoll_velo_timeout_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	nic_of(c)->velo.timeout = (uint32_t)val;
	extoll_velo_cp_again(nic_of(c));
}

uint64_t extoll_velo_count_read(struct weft_comp *c, uint32_t i)
{
	const struct ex_velo *v = &nic_of(c)->velo;

	return i ? v->received : v->sent;
}

uint64_t extoll_velo_drop_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->velo.drop[i];
}

uint64_t extoll_velo_discard_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->velo.discard[i];
}

uint64_t extoll_velo_misc_read(struct weft_comp *c, uint32_t i)
{
	const struct ex_velo *v = &nic_of(c)->velo;
	const uint64_t val[] = { v->discard_src, v->bad_rp,
				 v->rq.state | (uint64_t)v->cp.state << 4 };

	return val[i];
}

/* Registers that were never written read as zeros. */
static struct extoll_velo_vpid vpid_get(struct weft_comp *c, uint32_t i)
{
	const struct extoll_velo_vpid *p = velo_vpid(&nic_of(c)->velo, i);

	return p ? *p : (struct extoll_velo_vpid){ 0 };
}

static struct extoll_velo_vpid *vpid_make(struct weft_comp *c, uint32_t i)
{
	return ex_vpid_make(&nic_of(c)->velo.vpid, i,
			    sizeof(struct extoll_velo_vpid));
}

uint64_t extoll_velo_tx_read(struct weft_comp *c, uint32_t i)
{
	return vpid_get(c, i).tx;
}

void extoll_velo_tx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	vpid_make(c, i)->tx = val;
}

uint64_t extoll_velo_rx_read(struct weft_comp *c, uint32_t i)
{
	return vpid_get(c, i).rx;
}

void extoll_velo_rx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	extoll_velo_rx_set(nic_of(c), i, val);
}

uint64_t extoll_velo_base_read(struct weft_comp *c, uint32_t i)
{
	return vpid_get(c, i).base;
}

void extoll_velo_base_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	vpid_make(c, i)->base = val & ~(uint64_t)(EXTOLL_SLOT - 1);
}

uint64_t extoll_velo_wp_read(struct weft_comp *c, uint32_t i)
{
	return vpid_get(c, i).wp;
}

uint64_t extoll_velo_pending_read(struct weft_comp *c, uint32_t i)
{
	return ex_htax_pending(nic_of(c), i);
}

uint64_t extoll_velo_rp_read(struct weft_comp *c, uint32_t i)
{
	struct extoll_velo_vpid p = vpid_get(c, i);

	return p.rp | (p.armed ? EXTOLL_RP_ARM : 0);
}

void extoll_velo_rp_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	extoll_velo_rp_set(nic_of(c), i, val);
}
