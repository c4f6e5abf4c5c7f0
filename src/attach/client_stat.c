/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times the calls of an attached process.
 *
 * The start and the end of a call are marks: commands without effect. The agent
 * records their times, because only the agent knows when the commands before a
 * mark have been executed. Marks are posted together with the next command, so
 * that they cost the process nothing. If a call posts no command, its start
 * mark is not posted yet when the call ends. The mark is then dropped, unless a
 * timeline is recorded. The time of such a call is the processor time that was
 * charged inside the call. */
#include <errno.h>
#include <string.h>

#include "attach/client.h"
#include "base/minmax.h"

static void stat_lock(struct weft_att *a)
{
	while (atomic_flag_test_and_set_explicit(&a->stat_lock,
						 memory_order_acquire))
		att_pause();
}

static void stat_unlock(struct weft_att *a)
{
	atomic_flag_clear_explicit(&a->stat_lock, memory_order_release);
}

/* ---- counts ---- */

int weft_att_stat(struct weft_att *a, const char *name)
{
	struct att_stat *s = a->seg->stat;
	const size_t most = sizeof(s->name) - 1;
	uint32_t i = 0;

	stat_lock(a);
	while (i < a->n_stats && strncmp(s[i].name, name, most))
		i++;
	if (i == a->n_stats && i < WEFT_ATT_STATS)
		strncpy(s[a->n_stats++].name, name, most);
	stat_unlock(a);
	return i < WEFT_ATT_STATS ? (int)i : -ENOSPC;
}

void weft_att_stat_add(struct weft_att *a, int stat, uint64_t bytes)
{
	if (stat < 0 || (uint32_t)stat >= a->n_stats)
		return;
	a->seg->stat[stat].calls++;
	a->seg->stat[stat].bytes += bytes;
}

/* ---- times ---- */

static bool stat_timed(const struct weft_att *a, int stat)
{
	return stat >= 0 && (uint32_t)stat < a->n_stats &&
	       a->info.clock != WEFT_CLOCK_NONE && !weft_att_gone(a);
}

/* Adds a mark. If the array is full, the mark is dropped, and its call is not
 * timed. */
static void mark_add(struct weft_att *a, enum att_cmd_kind kind, int stat,
		     uint8_t flags)
{
	uint32_t n = atomic_load(&a->n_marks);

	if (n == ATT_MARKS)
		return;
	a->mark[n] = (struct att_mark){ .kind = (uint8_t)kind,
					.flags = flags,
					.stat = (uint16_t)stat,
					.busy = a->busy };
	atomic_store(&a->n_marks, n + 1);
}

void weft_att_stat_begin(struct weft_att *a, int stat)
{
	if (!stat_timed(a, stat))
		return;
	att_cpu_charge(a);
	stat_lock(a);
	mark_add(a, ATT_C_BEGIN, stat, 0);
	stat_unlock(a);
}

static void stat_end(struct weft_att *a, int stat, bool drop)
{
	const struct att_mark *last;

	if (!stat_timed(a, stat))
		return;
	att_cpu_charge(a);
	stat_lock(a);
	last = a->n_marks ? &a->mark[a->n_marks - 1] : NULL;
	/* The last mark is the start of this call if the call has posted
	 * nothing. */
	if (last && last->kind == ATT_C_BEGIN && last->stat == stat &&
	    (drop || !a->seg->trace)) {
		a->n_marks--;
		if (!drop) {
			struct att_stat *s = &a->seg->stat[stat];
			weft_time_t t = a->busy - last->busy;

			s->time += t;
			s->max = max_of(t, s->max);
		}
	} else {
		mark_add(a, ATT_C_END, stat, drop ? ATT_F_DROP : 0);
	}
	stat_unlock(a);
}

void weft_att_stat_end(struct weft_att *a, int stat)
{
	stat_end(a, stat, false);
}

void weft_att_stat_drop(struct weft_att *a, int stat)
{
	stat_end(a, stat, true);
}

/* ---- into the ring ---- */

void att_marks_put(struct weft_att *a)
{
	weft_time_t done = 0;
	uint32_t n = 0;

	stat_lock(a);
	if (a->tail + a->n_marks - a->head >= a->seg->n_cmds)
		att_look_head(a);
	for (; n < a->n_marks && a->tail - a->head + 1 < a->seg->n_cmds; n++) {
		uint32_t mask = a->seg->n_cmds - 1, i = a->tail & mask;

		/* A mark has no payload, so its tx_end is that of the command
		 * before the mark. */
		a->cmd[i] = (struct att_cmd){ .kind = a->mark[n].kind,
					      .flags = a->mark[n].flags,
					      .busy = (a->mark[n].busy - done),
					      .buf = a->mark[n].stat };
		a->tx_end[i] = a->tx_end[(a->tail - 1) & mask];
		a->tail++;
		done = a->mark[n].busy;
	}
	a->busy -= done;
	a->n_marks -= n;
	memmove(a->mark, a->mark + n, a->n_marks * sizeof(*a->mark));
	for (uint32_t i = 0; i < a->n_marks; i++)
		a->mark[i].busy -= done;
	stat_unlock(a);
}

void att_marks_after(struct weft_att *a)
{
	stat_lock(a);
	for (uint32_t i = 0; i < a->n_marks; i++)
		a->mark[i].busy = 0;
	stat_unlock(a);
}
