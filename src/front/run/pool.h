/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tasks in worker processes, several at a time. Each task returns
 * bytes. */
#ifndef FRONT_POOL_H
#define FRONT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/sim.h"

struct pool {
	size_t n;      /* number of tasks */
	uint32_t jobs; /* processes that run at a time */
	/* Runs in the worker: writes the result of the task to fd and returns.
	 * On failure the worker ends its process. */
	void (*work)(void *arg, size_t task, int fd);
	/* Called with all bytes of a worker that has ended. The bytes may be
	 * incomplete. */
	int (*take)(void *arg, size_t task, const void *buf, size_t len,
		    struct weft_err *err);
	/* Called several times a second, to show the number of finished
	 * tasks. */
	void (*show)(void *arg, size_t done);
	void *arg;
};

/* Runs all tasks. Returns 0, or a negative errno with a message when `take`
 * fails. If signals are caught (signals.c), SIGINT and SIGTERM make pool_run
 * ask the workers to end. pool_run then passes the bytes so far to `take`, and
 * returns early. */
int pool_run(const struct pool *p, struct weft_err *err);
/* Writes all of buf.  Returns false when the other end has closed. */
bool pool_write(int fd, const void *buf, size_t len);

#endif
