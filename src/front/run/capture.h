/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what passes on the lines of a run to a pcapng file: `weft run
 * --capture`.  docs/captures.md describes the records. */
#ifndef FRONT_CAPTURE_H
#define FRONT_CAPTURE_H

#include "front/exp/exp.h"

struct capture;
/* Lines whose one or other end ("sw0.p3") matches one of n patterns ("all":
 * every line) go to the file, which ends near `limit` bytes (0: never). */
int capture_open(const char *path, uint64_t limit, const char *const *patterns,
		 size_t n, struct capture **cap_p, struct weft_err *err);
/* exp.listener: sits down on the lines of a case before it starts. */
int capture_tap(void *cap, struct weft_sim *sim, struct weft_err *err);
/* exp.on_close: the run is over, its lines still there. */
void capture_untap(struct capture *cap);
int capture_close(struct capture *cap, bool keep, struct weft_err *err);

#endif
