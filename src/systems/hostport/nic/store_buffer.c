/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional store buffer, see store_buffer.h.  Source: hostport.md 7.4, 7.5.
 */
#include "systems/hostport/nic/store_buffer.h"

#include <stdlib.h>

bool hp_csb_init(struct hp_csb *b)
{
	b->at = calloc(b->depth, sizeof(*b->at));
	if (b->vpid_max)
		b->of_vpid = calloc(HP_VPIDS, sizeof(*b->of_vpid));
	return b->at && (b->of_vpid || !b->vpid_max);
}

void hp_csb_fini(struct hp_csb *b)
{
	free(b->at);
	free(b->of_vpid);
}

static uint64_t csb_answer(const struct hp_csb *b, uint32_t accepted,
			   enum hp_reason why)
{
	uint32_t left = hp_csb_free(b);

	return HP_RET_MAKE(accepted, why, left > 0xffff ? 0xffff : left);
}

uint64_t hp_csb_trigger(struct hp_csb *b, uint32_t vpid, uint32_t cmd,
			uint32_t par)
{
	uint32_t want = cmd == HP_T_ISSUE ? par : 1, room = hp_csb_free(b);
	uint32_t n = want;

	if (!hp_csb_on(b, vpid))
		return csb_answer(b, 0, HP_CTX_OFF);
	if (cmd >= HP_T_COMMANDS)
		return csb_answer(b, 0, HP_CMD_BAD);
	if (b->vpid_max && n > b->vpid_max - b->of_vpid[vpid])
		n = b->vpid_max - b->of_vpid[vpid]; /* CSB14 */
	if (n > room)
		n = room;
	for (uint32_t i = 0; i < n; i++)
		b->at[(b->head + b->n++) % b->depth] = (struct hp_csb_entry){
			(uint16_t)vpid, (uint8_t)cmd,
			(uint8_t)(cmd == HP_T_ISSUE ? 1 : par)
		};
	if (b->vpid_max)
		b->of_vpid[vpid] += n;
	if (n == want)
		return csb_answer(b, n, HP_OK);
	return csb_answer(b, n, n == room ? HP_CSB_FULL : HP_REFUSED);
}

bool hp_csb_take(struct hp_csb *b, struct hp_csb_entry *e)
{
	if (!b->n)
		return false;
	*e = b->at[b->head];
	b->head = (b->head + 1) % b->depth;
	b->n--;
	if (b->vpid_max)
		b->of_vpid[e->vpid]--;
	return true;
}
