/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: sessions.
 *
 * A LOGIN begins a new epoch after all requests in service for the initiator
 * have ended and all data for it have left, so that no request or transfer of
 * the previous session takes effect in the new one. No epoch is used twice.
 *
 * HELLO without segments says that the epoch of a request is not known. */
#include <errno.h>

#include "storage/target_internal.h"

void target_refuse(struct storage_target *t, struct session *se,
		   const struct storage_record *rec)
{
	t->stats.stale++;
	if (se->control_due || se->state == SESSION_DRAIN_IN)
		return;
	se->control = (struct storage_record){ .epoch = rec->epoch,
					       .tag = STORAGE_CONTROL,
					       .code = STORAGE_HELLO };
	storage_record_seal(&se->control);
	se->control_due = true;
}

/* Allocates the memory of a session. Does nothing if the session has its memory
 * already. */
static bool session_memory(struct storage_target *t, struct session *se)
{
	weft_phys_t phys;

	if (se->slot)
		return true;
	se->staging =
		weft_mem_alloc(t->h, t->attr.staging, STORAGE_PAGE, &phys);
	if (!se->staging)
		return false;
	if (!t->link->ops->reg(t->link, se->staging, t->attr.staging, &se->mr))
		se->slot = weft_host_calloc(t->h, STORAGE_DEPTH,
					    sizeof(*se->slot));
	if (!se->slot) {
		weft_mem_free(t->h, se->staging);
		se->staging = NULL;
	}
	target_forget(t, se);
	return se->slot;
}

/* ---- answers ---- */

static bool lost_since(const struct storage_target *t, uint32_t epoch)
{
	return epoch && t->lost && (int32_t)(t->lost_epoch - epoch) >= 0;
}

static void hello_make(struct storage_target *t, struct session *se)
{
	const struct drive_config *cfg = drive_config(t->drive);
	bool room = session_memory(t, se);

	se->control = (struct storage_record){
		.epoch = se->epoch,
		.seq = se->login.seq,
		.tag = STORAGE_CONTROL,
		.attempt = se->login.attempt,
		.code = STORAGE_HELLO,
		.flags = lost_since(t, se->login.epoch) ? STORAGE_LOST : 0,
		.segs = 1,
		.offset = cfg->size,
		.length = room ? t->attr.staging : 0,
		.stage = se->mr.addr,
		.value = se->mr.key,
		.seg[0] = { .addr = cfg->sector, .key = t->attr.max_request },
	};
	storage_record_seal(&se->control);
	se->control_due = true;
}

static void done_make(struct session *se)
{
	se->control = (struct storage_record){ .epoch = se->login.epoch,
					       .seq = se->login.seq,
					       .tag = STORAGE_CONTROL,
					       .attempt = se->login.attempt,
					       .code = STORAGE_DONE };
	storage_record_seal(&se->control);
	se->control_due = true;
}

void target_drain(struct storage_target *t, struct session *se)
{
	bool in = se->state == SESSION_DRAIN_IN;
	const struct storage_link_ops *ops = t->link->ops;

	if ((!in && se->state != SESSION_DRAIN_OUT) || se->in_drive ||
	    ops->departed(t->link, se->node) < ops->started(t->link, se->node))
		return;
	if (!in) {
		se->state = SESSION_NONE;
		done_make(se);
		return;
	}
	se->epoch = ++t->epochs;
	if (!t->epochs) /* skips 0, which means no session yet */
		se->epoch = ++t->epochs;
	hello_make(t, se);
	se->state = se->slot ? SESSION_UP : SESSION_NONE;
	t->stats.sessions++;
}

/* ---- records ---- */

static void login_in(struct storage_target *t, struct session *se,
		     const struct storage_record *rec)
{
	if (se->numbered && rec->seq == se->login.seq) {
		se->login.attempt = rec->attempt;
		if (se->state == SESSION_UP)
			hello_make(t, se);
		return;
	}
	se->login = *rec;
	se->numbered = se->seen = true;
	se->out = false;
	t->link->ops->peer_table(t->link, se->node, rec->stage, rec->value);
	target_forget(t, se);
	se->control_due = false;
	se->state = SESSION_DRAIN_IN;
}

static void logout_in(struct storage_target *t, struct session *se,
		      const struct storage_record *rec)
{
	se->login = *rec;
	se->numbered = true;
	se->out = true;
	target_forget(t, se);
	se->control_due = false;
	se->state = SESSION_DRAIN_OUT;
}

void target_control(struct storage_target *t, struct session *se,
		    const struct storage_record *rec)
{
	if (se->numbered && (int32_t)(rec->seq - se->login.seq) < 0)
		t->stats.stale++;
	else if (rec->code == STORAGE_LOGIN)
		login_in(t, se, rec);
	else if (rec->code == STORAGE_LOGOUT)
		logout_in(t, se, rec);
	else
		t->stats.refused++;
}
