/* SPDX-License-Identifier: Apache-2.0 */
/* Writes nonsense into the ring through which a process makes calls. No library
 * writes such calls.
 *
 * raw_wild SEED        calls with random arguments, half of them sensible;
 *                      prints a sum of all answers
 * raw_wild ring        an invalid tail
 * raw_wild kind        a call that does not exist
 * raw_wild drivers     drivers that call each other without end
 * raw_wild fork        a child that continues to call */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "attach/host_client.h"

static uint64_t state_;

static uint64_t rnd(void)
{
	state_ ^= state_ << 13;
	state_ ^= state_ >> 7;
	return state_ ^= state_ << 17;
}

/* Returns a value that is often small or near a limit. */
static uint64_t value(const struct weft_host *h)
{
	const uint64_t edge[] = { 0,
				  1,
				  8,
				  64,
				  4096,
				  h->node->info.mem_bytes - 8,
				  h->node->info.mem_bytes,
				  UINT32_MAX,
				  (uint64_t)1 << 62,
				  UINT64_MAX - 7,
				  UINT64_MAX };
	uint64_t r = rnd();

	return r % 4 ? edge[r / 4 % (sizeof(edge) / sizeof(edge[0]))]
		     : rnd() >> r / 4 % 64;
}

/* Returns whether a call could wait for ever or end the process. This program
 * does not make such calls. Other tests do. */
static bool blocks(uint32_t kind)
{
	switch (kind) {
	case ATT_H_SLEEP:
	case ATT_H_NAP:
	case ATT_H_IRQ_WAIT:
	case ATT_H_ISR_WAIT:
	case ATT_H_ISR_SPIN:
	case ATT_H_WAIT:
	case ATT_H_SPIN:
	case ATT_H_OOB_GET:
	case ATT_H_BYE:
	case ATT_H_DRV_CALL:
	case ATT_H_DRV_SET:
	case ATT_H_ALONE:
		return true;
	default:
		return false;
	}
}

static uint64_t sum(uint64_t sum, uint64_t val)
{
	return (sum ^ val) * 1099511628211u;
}

static void wild(struct weft_host *h, int calls)
{
	uint64_t all = 0;

	for (int i = 0; i < calls; i++) {
		struct att_reply r;
		struct att_host_cmd c = {
			.kind = (uint8_t)(ATT_H_FIRST_ + 1 +
					  rnd() % (ATT_H_END - ATT_H_FIRST_ -
						   1)),
			.bar = (uint8_t)(rnd() % 8),
			.attr = (uint8_t)(rnd() % 3),
			.dev = rnd() % 3 ? 0 : (uint32_t)value(h),
			.off = value(h),
			.val = value(h),
			.io_off = value(h),
			.io_len = value(h),
			.n = (uint32_t)value(h),
			.tag = (uint16_t)rnd(),
			.proc = (uint16_t)(rnd() % 4),
		};

		if (blocks(c.kind))
			continue;
		if (c.kind == ATT_H_POLL64 || c.kind == ATT_H_POLL_RANGE)
			c.val = 1; /* is over */
		if (c.kind == ATT_H_CPU)
			c.val %= WEFT_US;
		if (c.kind == ATT_H_COPY)
			c.io_len %= 4096;
		host_call(h, &c, &r);
		all = sum(sum(sum(all, (uint32_t)r.status), r.a), r.b);
		all = sum(sum(all, r.c), r.stores);
		if (i % 500 == 0)
			printf("call %d: %016" PRIx64 "\n", i, all);
	}
	printf("%d calls: %016" PRIx64 "\n", calls, all);
}

static void ring(struct weft_host *h)
{
	atomic_store(&h->att->seg->cmd_tail, 123456789);
	host_hand_over(h);
}

static void kind(struct weft_host *h)
{
	struct att_host_cmd c = { .kind = 250 };

	host_call(h, &c, NULL);
}

static int drv(struct weft_host *h, void *own, uint32_t op, void *arg)
{
	return weft_drv_call(h, weft_dev_open(h, 0), op + 1, arg);
}

static void drivers(struct weft_host *h)
{
	const struct weft_drv d = { .call = drv };

	if (weft_drv_set(h, weft_dev_open(h, 0), &d))
		weft_drv_call(h, weft_dev_open(h, 0), 0, NULL);
}

static void forks(struct weft_host *h)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		weft_host_now(h); /* this call does not return */
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child: %d, its parent goes on: %s\n", WEXITSTATUS(status),
	       weft_host_now(h) ? "yes" : "no");
}

int main(int argc, char **argv)
{
	struct weft_host *h = weft_host_self();

	if (!h || argc != 2)
		return 2;
	weft_dev_open(h, 0);
	if (!strcmp(argv[1], "ring"))
		ring(h);
	else if (!strcmp(argv[1], "kind"))
		kind(h);
	else if (!strcmp(argv[1], "drivers"))
		drivers(h);
	else if (!strcmp(argv[1], "fork"))
		forks(h);
	else {
		state_ = strtoull(argv[1], NULL, 0) * 2654435761u + 88172645463;
		wild(h, 3000);
	}
	return 0;
}
