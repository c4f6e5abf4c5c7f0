/* SPDX-License-Identifier: Apache-2.0 */
/* Register VPID_QUIET, an addition of Weft. A load returns how many parts of
 * the device still use a VPID. The driver (hostport.md 7.8) needs the register,
 * because it frees memory only when no part of the device uses the VPID.
 *
 * The driver has turned the context off, so that no new work begins. Work in
 * progress ends unless it waits for a translation, for room in the notification
 * queue, or for room for a message. A store to the register ends these waits
 * (hp_quiet). The device keeps no count per VPID but searches all of its state,
 * because the driver reads the register only a few times when a process closes
 * its port. */
#include "systems/hostport/nic/functional_units.h"
#include "systems/hostport/nic/ultra.h"

uint32_t hp_held(const struct hp_nic *n, uint32_t vpid)
{
	const struct hp_fetch_unit *u = &n->fetch;
	bool fetch = u->in_turn[vpid / 64] >> vpid % 64 & 1, csb = false;
	bool ultra = false, job;
	const struct hp_nqe *e = n->notify.live;
	uint32_t k;

	for (uint32_t i = 0; i < n->csb.n; i++)
		csb |= n->csb.at[(n->csb.head + i) % n->csb.depth].vpid == vpid;
	for (uint32_t i = 0; i < HP_LOOKUPS; i++)
		fetch |= u->out[i].busy && u->out[i].entry.vpid == vpid;
	for (uint32_t i = 0; i < HP_FETCHES; i++)
		fetch |= u->op[i].req && u->op[i].ctx.vpid == vpid;
	while (e && e->vpid != vpid)
		e = e->live;
	/* counts pending stores to the queue of an ULTRA port that names the
	 * VPID */
	for (uint32_t i = 0; i < n->param.ultra_ports; i++)
		ultra |= n->ultra->cpl[i].vpid == vpid &&
			 n->ultra->cpl[i].storing;
	k = csb + fetch + (e != NULL) + ultra;
	for (uint32_t i = 0; i < HP_PARTS; i++) {
		job = false;
		for (const struct hp_job *j = n->sched[i].all; j && !job;
		     j = j->chain)
			job = j->live && j->key >> 48 == vpid;
		k += job;
	}
	return k;
}

void hp_quiet(struct hp_nic *n, uint32_t vpid)
{
	hp_tlb_drop(n, vpid);
	/* retries waiting entries and packets, which now find that the context
	 * is off */
	hp_notify_again(n, vpid);
	hp_rx_room(n, vpid);
}
