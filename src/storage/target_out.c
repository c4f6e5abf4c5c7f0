/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: data and answers.
 *
 * The target sends the data of a READ in order, and computes their CRC while it
 * sends them. If a READ is served again, its CRC is computed again. The answer
 * follows the data. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/target_internal.h"

void target_out(struct session *se, struct slot *sl)
{
	if (sl->out)
		return;
	sl->out = true;
	sl->out_next = NULL;
	*se->send_tail = sl;
	se->send_tail = &sl->out_next;
}

void target_answer(struct session *se, struct slot *sl, int status)
{
	sl->state = SLOT_ANSWER;
	sl->status = status;
	sl->busy_due = false;
	target_out(se, sl);
}

/* ---- data ---- */

/* Puts the remaining bytes of a chunk. Returns 0, -EAGAIN, or -EINVAL if the
 * initiator has named invalid memory. */
static int chunk_put(struct storage_target *t, struct session *se,
		     struct slot *sl, struct chunk *c)
{
	while (c->put_at < c->len) {
		const struct storage_seg *g = &sl->rec.seg[sl->seg];
		uint32_t n = min_of(c->len - c->put_at, g->len - sl->seg_at);
		int ret;

		n = min_of(n, t->link->info.max_put);
		ret = t->link->ops->put(
			t->link, se->node, c->p + c->put_at, n,
			g->addr + sl->seg_at, g->key,
			storage_mark(sl->rec.tag, se->epoch, sl->rec.seq));
		if (ret)
			return ret;
		sl->puts++;
		c->put_at += n;
		sl->put += n;
		sl->seg_at += n;
		if (sl->seg_at == g->len) {
			sl->seg++;
			sl->seg_at = 0;
		}
	}
	return 0;
}

/* Sends the first chunk of a READ. Returns false if the link has no room. */
static bool chunk_send(struct storage_target *t, struct session *se,
		       struct slot *sl)
{
	struct chunk *c = sl->chunks.head;
	int ret = 0;

	if (!sl->status && !c->summed && sl->rec.flags & STORAGE_CHECK) {
		sl->crc = target_crc(t, sl->crc, c->p, c->len);
		c->summed = true;
	}
	if (!sl->status)
		ret = chunk_put(t, se, sl, c);
	if (ret == -EAGAIN)
		return false;
	if (ret) {
		t->stats.refused++;
		target_read_stop(t, sl, -EINVAL);
	}
	chunks_pop(&sl->chunks);
	if (!c->put_at) {
		target_chunk_free(t, c);
		return true;
	}
	c->ticket = t->link->ops->started(t->link, se->node);
	chunks_push(&se->departing, c);
	return true;
}

/* ---- answers ---- */

static bool answer_send(struct storage_target *t, struct session *se,
			struct slot *sl, enum storage_code code)
{
	struct storage_record r = { .epoch = se->epoch,
				    .seq = sl->rec.seq,
				    .tag = sl->rec.tag,
				    .attempt = sl->rec.attempt,
				    .code = (uint8_t)code };

	if (code == STORAGE_DONE) {
		r.value = (uint64_t)(int64_t)sl->status;
		r.data_crc = sl->crc;
		r.puts = sl->puts;
	}
	storage_record_seal(&r);
	if (t->link->ops->record(t->link, se->node, r.tag, &r))
		return false;
	weft_host_cpu(t->h, weft_host_time(t->h, T_disk_record));
	return true;
}

static void served(struct storage_target *t, struct slot *sl)
{
	sl->state = SLOT_SERVED;
	if (sl->status)
		return;
	if (sl->rec.code == STORAGE_READ)
		t->stats.read_bytes += sl->rec.length;
	if (sl->rec.code == STORAGE_WRITE)
		t->stats.write_bytes += sl->rec.length;
}

/* Sends data and answers of a slot. Returns false if the link has no room. */
static bool slot_send(struct storage_target *t, struct session *se,
		      struct slot *sl)
{
	if (sl->state == SLOT_AGAIN)
		return answer_send(t, se, sl, STORAGE_AGAIN);
	while (sl->chunks.head && !sl->chunks.head->in_drive)
		if (!chunk_send(t, se, sl))
			return false;
	if (sl->state == SLOT_DRIVE && sl->rec.code == STORAGE_READ &&
	    sl->asked == sl->rec.length && !sl->chunks.head)
		target_answer(se, sl, sl->status);
	if (sl->state == SLOT_ANSWER) {
		if (!answer_send(t, se, sl, STORAGE_DONE))
			return false;
		served(t, sl);
	}
	if (sl->busy_due && !answer_send(t, se, sl, STORAGE_BUSY))
		return false;
	sl->busy_due = false;
	return true;
}

void target_send(struct storage_target *t, struct session *se)
{
	const struct storage_link_ops *ops = t->link->ops;
	struct slot *sl;

	while (se->departing.head &&
	       ops->departed(t->link, se->node) >= se->departing.head->ticket)
		target_chunk_free(t, chunks_pop(&se->departing));
	if (se->control_due)
		se->control_due = ops->record(t->link, se->node,
					      STORAGE_CONTROL, &se->control);
	t->stuck |= se->control_due;
	while ((sl = se->send)) {
		if (!slot_send(t, se, sl)) {
			t->stuck = true;
			return;
		}
		sl->out = false;
		se->send = sl->out_next;
		if (!se->send)
			se->send_tail = &se->send;
	}
}
