/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL ATU: commands, executed in order (extoll.md 3.8, 5.5).
 *
 * A flush ends when the TLB has dropped the pages and all uses of their
 * translations have ended. No write to these pages follows then. Earlier writes
 * precede the ATU's own notification, because the posted queue keeps order. A
 * fence waits for every translation that was answered before it. */
#include "systems/extoll/nic/atu.h"

#include <string.h>

#include "systems/extoll/nic/nic.h"

/* Pages of a flush. */
struct flush {
	uint32_t first, n; /* pages */
	uint32_t vpid;	   /* only if n is 0: flush all pages of this VPID */
};

static bool flush_hits(const struct flush *f, const struct atu_req *r)
{
	if (!f->n)
		return r->vpid == f->vpid;
	return NLA_PAGE(r->nla) - f->first < f->n;
}

/* Marks in a->epoch the time at which a command begins. The command does not
 * wait for translations that are answered later. */
static void cmd_begin(struct atu *a)
{
	a->begun = true;
	a->epoch++;
}

static bool cmd_flush(struct atu *a, uint64_t cmd)
{
	bool all = ATU_CMD_OP(cmd) == ATU_FLUSH_VPID;
	struct flush f = { .first = all ? 0 : ATU_CMD_PAGE(cmd),
			   .n = all ? 0 : ATU_CMD_COUNT(cmd),
			   .vpid = all ? ATU_CMD_VPID(cmd) : 0 };

	if (!a->begun) {
		cmd_begin(a);
		atu_tlb_flush(&a->tlb, f.first, f.n, f.vpid);
		for (struct atu_req *r = a->looking; r; r = r->next)
			if (r->walking && flush_hits(&f, r))
				r->stale = true;
	}
	for (struct atu_req *r = a->in_use; r; r = r->next)
		if (r->epoch != a->epoch && flush_hits(&f, r))
			return false;
	return true;
}

static bool cmd_tell(struct atu *a, uint64_t cmd)
{
	struct hx_pkt *p =
		ex_pkt_write(a->nic, ATU_CMD_PHYS(cmd) & ~7ULL, sizeof(cmd));
	const uint64_t one = 1;

	memcpy(weft_slice_data(p->txn.data), &one, sizeof(one));
	ex_htax_send(a->nic, EXTOLL_HX_ATU, p, ex_now(a->nic));
	return true;
}

static bool cmd_fence(struct atu *a, uint64_t cmd)
{
	if (!a->begun)
		cmd_begin(a);
	for (struct atu_req *r = a->in_use; r; r = r->next)
		if (r->epoch != a->epoch)
			return false;
	return cmd_tell(a, cmd);
}

/* Reports to the host that the command is not executed. Returns true. */
static bool cmd_bad(struct atu *a, uint64_t cmd)
{
	ex_event(a->nic, EXTOLL_EV_RMA_ERROR, 0, 0, ATU_CMD_OP(cmd));
	return true;
}

/* Each function executes a command as far as it can. Returns true when the
 * command has ended. */
static bool (*const cmd_do[16])(struct atu *a, uint64_t cmd) = {
	[ATU_FLUSH_PAGES] = cmd_flush,
	[ATU_FLUSH_VPID] = cmd_flush,
	[ATU_FENCE] = cmd_fence,
	[ATU_NOTIFY] = cmd_tell,
};

void atu_cmd_run(struct atu *a)
{
	while (a->head != a->tail) {
		uint64_t cmd = a->cmd[a->head % ATU_QUEUE];
		uint32_t op = ATU_CMD_OP(cmd);

		if (!(cmd_do[op] ? cmd_do[op] : cmd_bad)(a, cmd))
			return;
		a->head++;
		a->begun = false;
	}
}

void atu_command(struct atu *a, uint64_t word)
{
	if (a->tail - a->head == ATU_QUEUE) {
		cmd_bad(a, word);
		return;
	}
	a->cmd[a->tail++ % ATU_QUEUE] = word;
	atu_cmd_run(a);
}
