/* SPDX-License-Identifier: Apache-2.0 */
/* VELO's registers: effects of loads and stores (extoll.md 2.6, 3.2, 3.3). */
#include "systems/extoll/nic/nic.h"

/* Returns a copy of the registers, zeros if they were never written. */
static struct extoll_velo_vpid vpid_get(struct extoll_nic *n, uint32_t i)
{
	const struct extoll_velo_vpid *p = velo_vpid(&n->velo, i);

	return p ? *p : (struct extoll_velo_vpid){ 0 };
}

static struct extoll_velo_vpid *vpid_make(struct extoll_nic *n, uint32_t i)
{
	return ex_vpid_make(&n->velo.vpid, i, sizeof(struct extoll_velo_vpid));
}

/* clang-format off */
EX_REG_SHOWS(extoll_velo_config,
	     n->velo.policy_drop ? EXTOLL_VELO_POLICY_DROP : 0)
EX_REG_SETS(extoll_velo_config,
	    n->velo.policy_drop = val & EXTOLL_VELO_POLICY_DROP;
	    extoll_velo_cp_again(n))
EX_REG_SHOWS(extoll_velo_timeout, n->velo.timeout)
EX_REG_SETS(extoll_velo_timeout,
	    n->velo.timeout = (uint32_t)val;
	    extoll_velo_cp_again(n))
EX_REG_SHOWS(extoll_velo_count, i ? n->velo.received : n->velo.sent)
EX_REG_SHOWS(extoll_velo_drop, n->velo.drop[i])
EX_REG_SHOWS(extoll_velo_discard, n->velo.discard[i])
EX_REG_SHOWS(extoll_velo_misc,
	     i == 0 ? n->velo.discard_src :
	     i == 1 ? n->velo.bad_rp :
	     n->velo.rq.state | (uint64_t)n->velo.cp.state << 4)
EX_REG_SHOWS(extoll_velo_tx, vpid_get(n, i).tx)
EX_REG_SETS(extoll_velo_tx, vpid_make(n, i)->tx = val)
EX_REG_SHOWS(extoll_velo_rx, vpid_get(n, i).rx)
EX_REG_SETS(extoll_velo_rx, extoll_velo_rx_set(n, i, val))
EX_REG_SHOWS(extoll_velo_base, vpid_get(n, i).base)
EX_REG_SETS(extoll_velo_base,
	    vpid_make(n, i)->base = val & ~(uint64_t)(EXTOLL_SLOT - 1))
EX_REG_SHOWS(extoll_velo_wp, vpid_get(n, i).wp)
EX_REG_SHOWS(extoll_velo_pending, ex_htax_pending(n, i))
EX_REG_SHOWS(extoll_velo_rp,
	     vpid_get(n, i).rp | (vpid_get(n, i).armed ? EXTOLL_RP_ARM : 0))
EX_REG_SETS(extoll_velo_rp, extoll_velo_rp_set(n, i, val))
/* clang-format on */
