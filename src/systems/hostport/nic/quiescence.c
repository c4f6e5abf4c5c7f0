/* SPDX-License-Identifier: Apache-2.0 */
/* VPID_QUIET: whether the device holds anything of a VPID (our own; the driver
 * of hostport.md 7.8 gives memory back only when it does not).
 *
 * The context is off: nothing new begins.  What had begun ends by itself,
 * except for what waits for its process or its driver: a page to be translated,
 * room in the notification queue, room for a message.  Those waits end here.
 * The register is looked at a few times when a process closes its port, so the
 * device keeps no count per VPID: it looks at everything that it has. */
#include "systems/hostport/nic/functional_units.h"
#include "systems/hostport/nic/ultra.h"

static bool csb_holds(const struct hp_csb *b, uint32_t vpid)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->at[(b->head + i) % b->depth].vpid == vpid)
			return true;
	return false;
}

static bool fetch_holds(const struct hp_nic *n, uint32_t vpid)
{
	const struct hp_fetch_unit *u = &n->fetch;

	for (uint32_t i = 0; i < HP_LOOKUPS; i++)
		if (u->out[i].busy && u->out[i].entry.vpid == vpid)
			return true;
	for (uint32_t i = 0; i < HP_FETCHES; i++)
		if (u->op[i].req && u->op[i].ctx.vpid == vpid)
			return true;
	return u->in_turn[vpid / 64] >> vpid % 64 & 1;
}

uint32_t hp_held(const struct hp_nic *n, uint32_t vpid)
{
	uint32_t k = csb_holds(&n->csb, vpid) + fetch_holds(n, vpid) +
		     hp_notify_holds(n, vpid) + ultra_cpl_holds(n->ultra, vpid);

	for (uint32_t i = 0; i < HP_PARTS; i++)
		k += hp_sched_holds(&n->sched[i], vpid);
	return k;
}

void hp_quiet(struct hp_nic *n, uint32_t vpid)
{
	hp_tlb_drop(n, vpid);
	/* who waits sees that the context is off */
	hp_notify_again(n, vpid);
	hp_rx_room(n, vpid);
}
