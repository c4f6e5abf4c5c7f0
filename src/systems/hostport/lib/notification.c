/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port user library: takes notifications and messages, and posts receive
 * buffers (hostport.md 4.6, 4.8, 6).
 *
 * The library gives back entries of the notification queue in batches, because
 * each update of the read pointer causes a status notification. */
#include <errno.h>
#include <string.h>

#include "host/times.h"
#include "systems/hostport/lib/hostport_internal.h"

static volatile uint64_t *nq_head(struct hport *p)
{
	return p->nq + (size_t)HP_WORDS * p->nq_rp;
}

static bool nq_take(struct hport *p, struct hport_note *n);

/* ---- giving back ---- */

/* Updates a pointer by counts of up to 31, and repeats an update that is not
 * accepted. Consumes status notifications after each update, because each
 * update causes a status notification and the queue must not fill up. */
static void notification_tell(struct hport *p, uint32_t cmd, uint32_t n)
{
	struct hport_note status;

	while (n && !p->off) {
		uint32_t k = n < HP_COUNT_MAX ? n : HP_COUNT_MAX;
		uint64_t val = hport_trigger(p, cmd, k);

		if (!hport_refusal(p, val) && val & HP_TRUE)
			n -= k;
		while (cmd != HP_T_NQ_RP &&
		       HP_CMD_BYTE(HP_NQE_CMD(nq_head(p))) == HP_B_NOTIFY_CC)
			nq_take(p, &status);
	}
}

/* ---- layouts (6.2) ---- */

static void note_fields(struct hport *p, struct hport_note *n)
{
	uint32_t words = HP_NQE_WORDS(n->w);

	switch (n->command) {
	case HP_B_NOTIFY_FAST_RECV:
		n->event = HPORT_MESSAGE;
		n->n = words < HP_FAST_WORDS ? words : HP_FAST_WORDS;
		n->bytes = 8ull * n->n;
		memcpy(n->data, &n->w[2], 8 * n->n);
		break;
	case HP_B_NOTIFY_RECV:
		n->event = HPORT_MESSAGE;
		n->posted = n->w[1] & HP_NQE_POSTED;
		if (!n->posted) {
			n->bytes = n->w[3];
			/* offset of the end of the message */
			n->off = HP_PS_LO(n->w[2]);
			break;
		}
		n->stored = n->w[3];
		n->addr = n->w[4];
		n->bytes = n->w[5];
		n->cookie = n->w[6];
		p->prq_rp = HP_PS_LO(n->w[2]);
		break;
	case HP_B_NOTIFY_RMA:
		n->event = HPORT_ACCESSED;
		n->win = (uint32_t)(n->w[3] >> 32);
		n->command = (uint32_t)n->w[3] & 0xff;
		n->off = n->w[4];
		n->bytes = n->w[5];
		break;
	default:
		n->event = HPORT_DONE;
		n->n = words < 3 ? words : 3;
		memcpy(n->data, &n->w[3], 8 * n->n);
	}
}

/* ---- polling ---- */

/* Takes the notification at the head of the queue. Returns false when the
 * library must not pass the notification to the user. */
static bool nq_take(struct hport *p, struct hport_note *n)
{
	volatile uint64_t *e = nq_head(p);
	uint32_t batch = p->size.nq / 4, cmd, byte;

	if (batch > HP_COUNT_MAX)
		batch = HP_COUNT_MAX;
	memset(n, 0, sizeof(*n));
	weft_host_copy(p->drv.host, n->w, (const void *)(uintptr_t)e, HP_LINE);
	e[HP_NQE_CMD] = 0;
	p->nq_rp = p->nq_rp + 1 == p->size.nq ? 0 : p->nq_rp + 1;
	p->nq_owed++;
	if (p->nq_owed && p->nq_owed >= batch) {
		notification_tell(p, HP_T_NQ_RP, p->nq_owed);
		p->nq_owed = 0;
	}
	cmd = HP_NQE_CMD(n->w);
	byte = HP_CMD_BYTE(cmd);
	n->error = HP_CMD_ERR(cmd);
	n->command = byte;
	n->hpid = HP_NQE_HPID(n->w);
	n->vpid = HP_NQE_VPID(n->w);
	n->tag = (struct hport_tag){ HP_NQE_USER(n->w), HP_NQE_TAG(n->w) };
	if (HP_CMD_GROUP(cmd) == HP_G_ULTRA) {
		n->event = HPORT_ULTRA;
		return true;
	}
	if (byte == HP_B_NOTIFY_CC) {
		p->wq_rp = (uint32_t)n->w[1];
		p->prq_rp = HP_PS_HI(n->w[4]);
		return false;
	}
	if (byte != HP_B_NOTIFY_FAST_RECV)
		p->wq_rp = HP_PS_HI(n->w[2]);
	note_fields(p, n);
	return hport_seg_note(p, n);
}

int hport_poll(struct hport *p, struct hport_note *n_p)
{
	bool got = false;

	while (!got && HP_NQE_VALID(nq_head(p))) {
		got = nq_take(p, n_p);
		hport_seg_pump(p);
	}
	return got;
}

bool hport_wait(struct hport *p, struct hport_note *n_p, weft_time_t deadline)
{
	hport_flush(p);
	while (!hport_poll(p, n_p)) {
		if (p->off ||
		    !weft_host_poll64(p->drv.host, nq_head(p) + HP_NQE_CMD, 0,
				      deadline))
			return false;
	}
	return true;
}

/* Sleeps until an interrupt or the deadline. Each sleep is short, because the
 * driver has the same interrupt line and may clear it first. */
bool hport_idle(struct hport *p, bool irq, weft_time_t deadline)
{
	struct weft_host *h = p->drv.host;
	weft_time_t nap = weft_host_time(h, T_hostport_nap), now;

	hport_flush(p);
	if (HP_NQE_VALID(nq_head(p)))
		return true;
	if (p->off)
		return false;
	if (!irq)
		return weft_host_poll64(h, nq_head(p) + HP_NQE_CMD, 0,
					deadline);
	now = weft_host_now(h);
	if (now >= deadline)
		return false;
	weft_host_irq_wait(h, p->drv.dev,
			   deadline - now < nap ? deadline : now + nap);
	return true;
}

/* ---- messages ---- */

void hport_take(struct hport *p, const struct hport_note *n, void *to)
{
	uint32_t words = (uint32_t)(n->bytes + 7) / 8, size = p->size.rdr;
	uint32_t end = (uint32_t)n->off, freed = 0;
	uint32_t start = end >= words ? end - words : end + size - words;
	uint64_t first = 8ull * (size - start);

	if (n->event != HPORT_MESSAGE || n->posted || !n->bytes)
		return;
	if (n->bytes <= 8 * HP_FAST_WORDS) {
		if (to)
			weft_host_move(p->drv.host, to, n->data, n->bytes);
		return;
	}
	if (first > n->bytes)
		first = n->bytes;
	if (to)
		weft_host_copy(p->drv.host, to, p->rdr + start, first);
	if (to && first < n->bytes)
		weft_host_copy(p->drv.host, (uint8_t *)to + first, p->rdr,
			       n->bytes - first);
	words = (words + (1u << p->size.rdr_unit) - 1) >> p->size.rdr_unit;
	words <<= p->size.rdr_unit;
	/* The read pointer can pass only a hole that starts at the pointer's
	 * position. Holes that start later wait until the messages in front of
	 * these holes are taken. */
	p->holes[p->n_holes++] = (struct hport_hole){ end, words };
	for (uint32_t i = 0; i < p->n_holes; i++) {
		struct hport_hole *h = &p->holes[i];

		if ((p->rdr_rp + h->words) % size != h->end)
			continue;
		freed += h->words;
		p->rdr_rp = h->end;
		*h = p->holes[--p->n_holes];
		i = UINT32_MAX; /* searches again from the first hole */
	}
	notification_tell(p, HP_T_RDR_RP, freed >> p->size.rdr_unit);
}

int hport_post(struct hport *p, uint64_t addr, uint64_t bytes, bool pa,
	       uint64_t cookie)
{
	uint32_t next = p->prq_wp + 1 == p->size.prq ? 0 : p->prq_wp + 1;
	uint64_t *w = p->prq + (size_t)HP_WORDS * p->prq_wp;

	if (p->off || next == p->prq_rp)
		return p->off ? p->off : -EAGAIN;
	w[HP_PRD_ADDR] = addr;
	w[HP_PRD_LEN] = bytes;
	w[HP_PRD_COOKIE] = cookie;
	w[HP_PRD_FLAGS] = HP_PRD_VALID | (pa ? HP_PRD_PA : 0);
	p->prq_wp = next;
	notification_tell(p, HP_T_PRQ_WP, 1);
	return p->off;
}
