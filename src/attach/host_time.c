/* SPDX-License-Identifier: Apache-2.0 */
/* weft/host.h in a process: waiting, time, cost, identity. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach/host_client.h"

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

/* Untimed, most calls return without a hand-over: the time of the last one, and
 * a step for each call since. */
weft_time_t weft_host_now(struct weft_host *h)
{
	weft_time_t now;

	if (h->att->info.clock != WEFT_CLOCK_NONE || weft_att_gone(h->att) ||
	    h->glances++ == GLANCES)
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

bool weft_host_isr_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return host_time_interrupt(h, ATT_H_ISR_WAIT, d, deadline);
}

bool weft_host_isr_spin(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return host_time_interrupt(h, ATT_H_ISR_SPIN, d, deadline);
}

/* ---- other threads ---- */

/* Returns true if a word of the process has changed. The process compares the
 * word itself, after a SYNC has brought the thread to the present time. No time
 * passes between comparison and wait, so that no wake-up is lost. */
static bool word_changed(struct weft_host *h, const uint32_t *p, uint32_t old)
{
	if (h->debt || h->node->info.post == ATT_POST_ALL)
		host_time_plain(h, ATT_H_SYNC);
	return *(const volatile uint32_t *)p != old;
}

bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_WAIT,
				  .off = (uintptr_t)p,
				  .val = deadline };

	if (word_changed(h, p, old))
		return true;
	host_call(h, &c, NULL);
	return *(const volatile uint32_t *)p != old;
}

weft_time_t weft_host_spin(struct weft_host *h, const uint32_t *p, uint32_t old,
			   weft_time_t turn, weft_time_t deadline)
{
	struct att_host_cmd c = { .kind = ATT_H_SPIN,
				  .off = (uintptr_t)p,
				  .io_len = turn,
				  .val = deadline };

	return word_changed(h, p, old) ? 0 : host_call(h, &c, NULL);
}

void weft_host_wake(struct weft_host *h, const uint32_t *p)
{
	struct att_host_cmd c = { .kind = ATT_H_WAKE, .off = (uintptr_t)p };

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
