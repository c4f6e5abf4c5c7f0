/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process where the kernel lets nobody else look into it: a thread
 * of the process copies what the simulator asks for, over a socket.  The thread
 * is there in that case alone; it answers whatever the process does otherwise,
 * as the kernel would. */
#ifndef ATTACH_COPY_H
#define ATTACH_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft_far_owner;

/* ---- in the process ---- */

/* Serves the socket until it ends.  0 or negative errno. */
int att_copy_serve(int fd);

/* ---- in the simulator ---- */

/* The kernel does not let us read and write its memory (or WEFT_NO_CMA is set,
 * for those who want to see the other way). */
bool att_copy_needed(pid_t pid);
/* The process's end of a socket, for it to serve; the other one is used for o
 * from now on, and a piece that takes longer than patience is the last one.
 * Negative errno. */
int att_copy_new(struct weft_far_owner *o, uint64_t patience_ns);
void att_copy_free(struct weft_far_owner *o);

#endif
