/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of weft/host.h in a process that wait, read the clock or take time, and
 * calls for out-of-band names and the log. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach/host_client.h"
#include "base/minmax.h"

static uint64_t host_time_plain(struct weft_host *h, enum att_host_kind kind)
{
	struct att_host_cmd c = { .kind = (uint8_t)kind };

	return host_call(h, &c, NULL);
}

weft_time_t weft_host_time(const struct weft_host *h, enum host_time_id id)
{
	return h->node->info.time[id];
}

enum { GLANCES = 16 };

/* Returns the time of the node. In an untimed run most calls return without a
 * hand-over: the result is the time of the last hand-over, plus a step for each
 * call since. */
weft_time_t weft_host_now(struct weft_host *h)
{
	weft_time_t now;

	if (h->att->info.clock != WEFT_CLOCK_NONE || weft_att_gone(h->att) ||
	    h->glances++ >= GLANCES)
		return host_time_plain(h, ATT_H_NOW);
	now = atomic_load(&h->att->seg->now);
	if (now <= h->seen)
		now = h->seen + h->node->info.time[T_exec_clock_step];
	h->seen = now;
	return now;
}

weft_time_t weft_host_busy(struct weft_host *h)
{
	return host_time_plain(h, ATT_H_BUSY);
}

weft_time_t weft_host_user(struct weft_host *h)
{
	return host_time_plain(h, ATT_H_USER);
}

void weft_host_cpu(struct weft_host *h, weft_time_t cost)
{
	struct att_host_cmd c = { .kind = ATT_H_CPU, .val = cost };

	if (cost || h->debt || h->node->info.post == ATT_POST_NONE)
		host_post(h, &c, HOST_TAKES(cost));
}

void weft_host_sleep(struct weft_host *h, weft_time_t until)
{
	struct att_host_cmd c = { .kind = ATT_H_SLEEP, .val = until };

	host_call(h, &c, NULL);
}

/* Spends `cost`. In an untimed run the process does not wait for a short sleep.
 * It hands over only after GLANCES short sleeps or reads of the clock, so that
 * a loop of such calls ends. */
void weft_host_nap(struct weft_host *h, weft_time_t cost)
{
	struct att_host_cmd c = { .kind = ATT_H_NAP, .val = cost };

	if (h->att->info.clock == WEFT_CLOCK_NONE &&
	    cost <= h->node->info.time[T_exec_nap] && h->glances++ < GLANCES)
		host_post(h, &c, HOST_TAKES(cost));
	else
		host_call(h, &c, NULL);
}

/* ---- memory ---- */

bool weft_host_poll64(struct weft_host *h, const volatile uint64_t *p,
		      uint64_t old, weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_POLL64,
				  .off = host_off(h, p),
				  .io_off = old,
				  .io_len = sizeof(*p),
				  .val = deadline };

	return host_call(h, &c, NULL);
}

bool weft_host_poll_range(struct weft_host *h, const volatile void *p, size_t n,
			  weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_POLL_RANGE,
				  .off = host_off(h, p),
				  .io_len = n,
				  .val = deadline };

	return host_call(h, &c, NULL);
}

/* ---- interrupts ---- */

static bool host_time_interrupt(struct weft_host *h, enum att_host_kind kind,
				const struct weft_dev *d, weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = (uint8_t)kind,
				  .dev = d->index,
				  .val = deadline };

	return host_call(h, &c, NULL);
}

bool weft_host_irq_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return host_time_interrupt(h, ATT_H_IRQ_WAIT, d, deadline);
}

/* Waits for an interrupt. In an untimed run the process first sleeps for
 * T_exec_gather, so that one hand-over serves the interrupts of several
 * packets. */
bool weft_host_isr_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_SLEEP };

	if (h->att->info.clock == WEFT_CLOCK_NONE) {
		c.val = min_of(weft_host_now(h) +
				       h->node->info.time[T_exec_gather],
			       deadline);
		host_post(h, &c, HOST_TAKES(1));
	}
	return host_time_interrupt(h, ATT_H_ISR_WAIT, d, deadline);
}

bool weft_host_isr_spin(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return host_time_interrupt(h, ATT_H_ISR_SPIN, d, deadline);
}

/* ---- other threads ---- */

/* Waits for a change of a word of the process. Returns true if the word has
 * changed. The process compares the word itself, after a SYNC has brought the
 * thread to the present time. No time passes between comparison and wait, so
 * that no wake-up is lost. With post=all there is no SYNC, and a wake-up may
 * happen between comparison and wait. Therefore the simulator compares the
 * number of the word's last wake-up with the value that `wakes` had before the
 * comparison. */
static bool word_wait(struct weft_host *h, struct att_host_cmd *c,
		      const uint32_t *p, uint32_t old, uint64_t *val_p)
{
	const volatile uint32_t *word = p;

	if (h->debt && h->node->info.post != ATT_POST_ALL)
		host_time_plain(h, ATT_H_SYNC);
	c->off = (uintptr_t)p;
	c->io_off = atomic_load(&h->node->wakes);
	if (*word != old)
		return true;
	*val_p = host_call(h, c, NULL);
	return *word != old;
}

bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_WAIT, .val = deadline };
	uint64_t val;

	return word_wait(h, &c, p, old, &val);
}

weft_time_t weft_host_spin(struct weft_host *h, const uint32_t *p, uint32_t old,
			   weft_time_t turn, weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_SPIN,
				  .io_len = turn,
				  .val = deadline };
	uint64_t into = 0;

	word_wait(h, &c, p, old, &into);
	return into;
}

void weft_host_wake(struct weft_host *h, const uint32_t *p)
{
	struct att_host_cmd c = { .kind = ATT_H_WAKE,
				  .off = (uintptr_t)p,
				  .val = ++h->node->wakes };

	host_post(h, &c, HOST_TAKES(0));
}

/* ---- identity ---- */

uint32_t weft_host_node(struct weft_host *h)
{
	return h->att->info.node;
}

uint32_t weft_host_nodes(struct weft_host *h)
{
	return h->att->info.nodes;
}

static uint32_t key_len(const char *key)
{
	return (uint32_t)strnlen(key, ATT_HOST_KEY - 1) + 1;
}

void weft_oob_put(struct weft_host *h, const char *key, uint64_t val)
{
	struct att_host_cmd c = { .kind = ATT_H_OOB_PUT, .io_off = val };

	host_post_data(h, &c, key, key_len(key), HOST_TAKES(0));
}

uint64_t weft_oob_get(struct weft_host *h, const char *key)
{
	struct att_host_cmd c = { .kind = ATT_H_OOB_GET };

	return host_call_data(h, &c, key, key_len(key), NULL);
}

bool weft_oob_there(struct weft_host *h, const char *key)
{
	struct att_host_cmd c = { .kind = ATT_H_OOB_THERE };

	return host_call_data(h, &c, key, key_len(key), NULL);
}

void weft_host_log(struct weft_host *h, const char *fmt, ...)
{
	struct host_node *n = h->node;
	char line[256];
	va_list ap;

	if (n->logged == WEFT_LOG_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "n%u, %.3f us: %s%s\n", weft_host_node(h),
		(double)weft_host_now(h) / (double)WEFT_US, line,
		++n->logged == WEFT_LOG_LINES ? " (the last line)" : "");
}
