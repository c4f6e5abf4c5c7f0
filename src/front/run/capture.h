/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what passes on the lines of a run to a pcapng file: `weft run
 * --capture`.  docs/captures.md describes the records. */
#ifndef FRONT_CAPTURE_H
#define FRONT_CAPTURE_H

#include "front/exp/exp.h"

struct capture;
/* Opens a capture of the lines whose one or other end ("sw0.p3") matches one of
 * n patterns ("all": every line).  The file ends near `limit` bytes (0:
 * never). */
int capture_open(const char *path, uint64_t limit, const char *const *patterns,
		 size_t n, struct capture **cap_p, struct weft_err *err);
/* Attaches the capture to the lines of a case, for exp.on_open: before the case
 * starts. */
int capture_tap(void *cap, struct weft_sim *sim, struct weft_err *err);
/* Detaches the capture, for exp.on_close: when the run is over, while its lines
 * still exist. */
void capture_untap(struct capture *cap);
int capture_close(struct capture *cap, bool keep, struct weft_err *err);

#endif
