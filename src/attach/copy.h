/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between simulator and process if the kernel refuses access to the
 * memory of the process from outside. A thread of the process sends and
 * receives the bytes over a socket. The thread does not depend on the program's
 * threads. A copy therefore succeeds whatever the program does, like a copy by
 * the kernel. */
#ifndef ATTACH_COPY_H
#define ATTACH_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft_far_owner;

/* ---- in the process ---- */

/* Starts a thread that serves the socket until the peer closes it. The thread
 * owns fd. Returns 0, or negative errno after closing fd. */
int att_copy_serve(int fd);

/* ---- in the simulator ---- */

/* Returns true if the kernel refuses access to the process's memory, or if
 * WEFT_NO_CMA is set, which forces this path for tests. */
bool att_copy_needed(pid_t pid);
/* Makes a socket pair. Returns the process's end, which the caller sends to the
 * process, or negative errno. Copies through o use the other end, which
 * att_copy_free closes. A request that takes longer than patience_ns breaks the
 * connection. */
int att_copy_new(struct weft_far_owner *o, uint64_t patience_ns);
/* Closes o's end of the socket, which ends the process's thread. */
void att_copy_free(struct weft_far_owner *o);

#endif
