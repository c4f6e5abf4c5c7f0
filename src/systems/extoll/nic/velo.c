/* SPDX-License-Identifier: Apache-2.0 */
/* VELO as a unit of the NIC: connects HTAX, network port 0 and the register
 * file. Source: extoll.md 5.1, 5.2, 3.3. */
#include "systems/extoll/nic/nic.h"

const struct netport_ops ex_velo_np = { .cell = extoll_velo_cp_cell,
					.sent = extoll_velo_rq_sent };

static void extoll_velo_event(struct extoll_nic *n, uint32_t port)
{
	if (weft_timer_due(n->comp, &n->velo.rq.timer))
		extoll_velo_rq_expire(n);
	if (weft_timer_due(n->comp, &n->velo.cp.timer))
		extoll_velo_cp_run(n);
}

/* ---- registers ---- */

/* Stores EXTOLL_VELO_RX. The mailbox is empty afterwards if it was disabled or
 * gets another size, because its old slots have no meaning then. */
void extoll_velo_rx_set(struct extoll_nic *n, uint32_t vpid, uint64_t val)
{
	struct extoll_velo_vpid *p = ex_vpid_make(
		&n->velo.vpid, vpid, sizeof(struct extoll_velo_vpid));

	if (!(p->rx & EXTOLL_RX_ENABLE) ||
	    EXTOLL_RX_SLOTS(val) != EXTOLL_RX_SLOTS(p->rx)) {
		p->wp = p->rp = 0;
		p->armed = p->wanted = false;
	}
	p->rx = val;
	if (EXTOLL_RX_SLOTS(val) < 2)
		p->rx &= ~EXTOLL_RX_ENABLE;
	extoll_velo_cp_again(n);
}

void extoll_velo_rp_set(struct extoll_nic *n, uint32_t vpid, uint64_t val)
{
	struct extoll_velo_vpid *p = velo_vpid(&n->velo, vpid);

	if (!p || (uint32_t)val >= EXTOLL_RX_SLOTS(p->rx)) {
		n->velo.bad_rp++;
		return;
	}
	p->rp = (uint32_t)val;
	p->armed = val & EXTOLL_RP_ARM;
	extoll_velo_look(n, vpid);
	extoll_velo_cp_again(n);
}

void extoll_velo_look(struct extoll_nic *n, uint32_t vpid)
{
	struct extoll_velo_vpid *p = velo_vpid(&n->velo, vpid);

	if (!p)
		return;
	if (p->rp == p->wp)
		p->wanted = false;
	if (p->wanted && p->armed &&
	    ex_event_vpid(n, EXTOLL_EV_VELO_IRQ, vpid, p->late))
		p->armed = p->wanted = false;
}

/* If the run came to rest, frees the messages that still wait. */
static int extoll_velo_finish(struct extoll_nic *n, struct weft_err *err)
{
	if (weft_sim_idle(n->comp->sim)) {
		extoll_velo_rq_fini(n);
		extoll_velo_cp_fini(n);
	}
	return 0;
}

static void extoll_velo_fini(struct extoll_nic *n)
{
	extoll_velo_rq_fini(n);
	extoll_velo_cp_fini(n);
	ex_vpid_free(&n->velo.vpid);
}

const struct ex_unit ex_velo_unit = { .room = extoll_velo_rq_room,
				      .store = extoll_velo_rq_store,
				      .event = extoll_velo_event,
				      .finish = extoll_velo_finish,
				      .fini = extoll_velo_fini };
