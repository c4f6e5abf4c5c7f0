/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: opens the link, serves requests, and restarts.
 * See target_internal.h. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/target_internal.h"

enum {
	MAX_REQUEST = 65536,
	PIECE = 16384,
	STAGING = 4 << 20,
	POOL = 4 << 20,
};

/* ---- opening ---- */

static void attr_default(struct storage_target_attr *a)
{
	a->notify = a->notify ? a->notify : "request";
	a->max_request = a->max_request ? a->max_request : MAX_REQUEST;
	a->piece = a->piece ? a->piece : PIECE;
	a->staging = a->staging ? a->staging : STAGING;
	a->read_pool = a->read_pool ? a->read_pool : POOL;
}

static bool attr_good(const struct storage_target_attr *a,
		      const struct drive *d)
{
	uint32_t sector = drive_config(d)->sector;

	return a->max_request % sector == 0 && a->piece % sector == 0 &&
	       a->piece % 8 == 0 && a->staging >= STORAGE_PAGE &&
	       a->read_pool >= a->piece;
}

static int pool_make(struct storage_target *t)
{
	weft_phys_t phys;

	t->chunks = (uint32_t)(t->attr.read_pool / t->attr.piece);
	t->chunk = weft_host_calloc(t->h, t->chunks, sizeof(*t->chunk));
	t->pool = weft_mem_alloc(t->h, (size_t)t->chunks * t->attr.piece,
				 STORAGE_PAGE, &phys);
	if (!t->chunk || !t->pool)
		return -ENOMEM;
	for (uint32_t i = t->chunks; i--; t->free = &t->chunk[i]) {
		t->chunk[i].p = t->pool + (size_t)i * t->attr.piece;
		t->chunk[i].next = t->free;
	}
	return t->link->ops->reg(t->link, t->pool,
				 (size_t)t->chunks * t->attr.piece,
				 &t->pool_mr);
}

static int target_start(struct storage_target *t)
{
	struct storage_link_attr la = { .target = true,
					.use_irq = t->attr.use_irq,
					.notify = t->attr.notify,
					.cluster = t->attr.cluster };
	int ret;

	if (!attr_good(&t->attr, t->drive))
		return -EINVAL;
	ret = storage_link_open(t->h, t->attr.link, &la, &t->link);
	if (ret)
		return ret;
	t->nodes = weft_host_nodes(t->h);
	t->session = weft_host_calloc(t->h, t->nodes, sizeof(*t->session));
	if (!t->session)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nodes; i++) {
		struct session *se = &t->session[i];

		se->node = i;
		se->send_tail = &se->send;
		se->departing.tail = &se->departing.head;
	}
	return pool_make(t) ? -ENOMEM : 0;
}

int storage_target_new(struct weft_host *h,
		       const struct storage_target_attr *attr, struct drive *d,
		       struct storage_target **t_p)
{
	struct storage_target *t = weft_host_calloc(h, 1, sizeof(*t));
	int ret;

	if (!t)
		return -ENOMEM;
	t->h = h;
	t->drive = d;
	t->attr = *attr;
	t->reads.tail = &t->reads.head;
	t->others.tail = &t->others.head;
	attr_default(&t->attr);
	ret = target_start(t);
	if (ret)
		storage_target_free(t);
	else
		*t_p = t;
	return ret;
}

void storage_target_free(struct storage_target *t)
{
	if (t->link && t->session)
		drive_abandon(t->drive, weft_host_now(t->h));
	if (t->link)
		t->link->ops->close(t->link);
	for (uint32_t i = 0; t->session && i < t->nodes; i++) {
		weft_host_free(t->h, t->session[i].slot);
		weft_mem_free(t->h, t->session[i].staging);
	}
	weft_host_free(t->h, t->session);
	weft_host_free(t->h, t->chunk);
	weft_mem_free(t->h, t->pool);
	weft_host_free(t->h, t);
}

/* ---- serving ---- */

static void event_in(struct storage_target *t, const struct storage_event *ev)
{
	struct session *se;

	if (ev->peer >= t->nodes)
		return;
	se = &t->session[ev->peer];
	if (ev->kind == STORAGE_EV_GONE) {
		se->out = se->seen;
		return;
	}
	if (ev->kind == STORAGE_EV_LANDED) {
		target_landed(t, se, ev->mark);
		return;
	}
	weft_host_cpu(t->h, weft_host_time(t->h, T_disk_record));
	if (!ev->rec.code || ev->slot != ev->rec.tag)
		t->stats.unsealed++;
	else if (ev->slot == STORAGE_CONTROL)
		target_control(t, se, &ev->rec);
	else if (ev->slot < STORAGE_DEPTH)
		target_request(t, se, &ev->rec);
	else
		t->stats.refused++;
}

static void target_pass(struct storage_target *t)
{
	enum { EVENTS = 16 };
	struct storage_event ev[EVENTS];
	int n;

	t->stuck = false;
	do {
		n = t->link->ops->poll(t->link, ev, EVENTS);
		t->now = weft_host_now(t->h);
		for (int i = 0; i < n; i++)
			event_in(t, &ev[i]);
	} while (n == EVENTS);
	target_drive(t);
	for (uint32_t i = 0; i < t->nodes; i++) {
		target_drain(t, &t->session[i]);
		target_send(t, &t->session[i]);
	}
	/* Sending may have freed chunks, with which the drive can start more
	 * requests. A drive without latency ends the new requests at once,
	 * therefore their data are sent now, too. */
	target_drive(t);
	for (uint32_t i = 0; i < t->nodes; i++)
		target_send(t, &t->session[i]);
}

/* Returns true if all initiators have logged out. */
static bool all_out(const struct storage_target *t, uint32_t initiators)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct session *se = &t->session[i];

		if (se->control_due || (se->seen && !se->out) ||
		    se->state == SESSION_DRAIN_OUT)
			return false;
		seen += se->seen;
	}
	return seen >= initiators;
}

bool storage_target_serve(struct storage_target *t, uint32_t initiators,
			  weft_time_t until)
{
	for (;;) {
		weft_time_t to;

		target_pass(t);
		if (initiators && all_out(t, initiators))
			return true;
		if (t->now >= until)
			return false;
		to = min_of(until, drive_next(t->drive));
		if (t->stuck)
			to = min_of(to, t->now + weft_host_time(t->h,
								T_disk_again));
		if (to > t->now)
			t->link->ops->wait(t->link, to);
	}
}

/* ---- restart ---- */

static void sessions_forget(struct storage_target *t)
{
	for (uint32_t i = 0; i < t->nodes; i++) {
		struct session *se = &t->session[i];

		target_forget(t, se);
		se->state = SESSION_NONE;
		se->numbered = se->control_due = false;
	}
}

void storage_target_restart(struct storage_target *t, weft_time_t down,
			    bool power)
{
	weft_time_t now = weft_host_now(t->h);

	if (power && drive_power_lost(t->drive, now)) {
		t->lost = true;
		t->lost_epoch = t->epochs;
	}
	if (!power)
		drive_abandon(t->drive, now);
	target_drive_drop(t);
	sessions_forget(t);
	weft_host_sleep(t->h, now + down);
}

/* Ends all requests of a session that are in the drive or queued for it. */
static void session_fail(struct session *se)
{
	for (uint32_t i = 0; se->slot && i < STORAGE_DEPTH; i++) {
		struct slot *sl = &se->slot[i];

		if (sl->state == SLOT_QUEUE || sl->state == SLOT_DRIVE)
			target_answer(se, sl, -ENODEV);
	}
}

void storage_target_drive_gone(struct storage_target *t, bool gone)
{
	t->gone = gone;
	if (!gone)
		return;
	drive_abandon(t->drive, weft_host_now(t->h));
	target_drive_drop(t);
	for (uint32_t i = 0; i < t->nodes; i++)
		session_fail(&t->session[i]);
}

struct storage_target_stats storage_target_stats(const struct storage_target *t)
{
	return t->stats;
}
