/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in worker processes, several at a time; each hands back bytes. */
#ifndef FRONT_POOL_H
#define FRONT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/sim.h"

struct pool {
	size_t n;      /* tasks */
	uint32_t jobs; /* processes that run at a time */
	/* Runs in the worker: writes the bytes of the task to fd and returns.
	 * A worker that cannot ends its process. */
	void (*work)(void *arg, size_t task, int fd);
	/* Called when the worker has ended. Its output may be incomplete. */
	int (*take)(void *arg, size_t task, const void *buf, size_t len,
		    struct weft_err *err);
	/* Several times a second. */
	void (*show)(void *arg, size_t done);
	void *arg;
};

/* Runs all tasks; returns early when `take` fails, or after SIGINT or SIGTERM
 * when signals are caught (signals.c): workers then are told to end, and still
 * hand back what they have. */
int pool_run(const struct pool *p, struct weft_err *err);
/* Writes all of buf.  Returns false when the other end has closed. */
bool pool_write(int fd, const void *buf, size_t len);

#endif
