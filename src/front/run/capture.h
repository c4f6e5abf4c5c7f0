/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the transmissions on the lines of a run to a pcapng file, for `weft
 * run --capture`. docs/captures.md describes the records. */
#ifndef FRONT_CAPTURE_H
#define FRONT_CAPTURE_H

#include "front/exp/exp.h"

struct capture;
/* Opens a capture. It records the lines with an end ("sw0.p3") that matches one
 * of n patterns ("all": every line). The file ends near `limit` bytes (0: no
 * limit). Returns 0, or a negative errno with a message. */
int capture_open(const char *path, uint64_t limit, const char *const *patterns,
		 size_t n, struct capture **cap_p, struct weft_err *err);
/* Attaches the capture to the lines of a case before the case starts, for
 * exp.on_open. Returns 0, or a negative errno with a message. */
int capture_tap(void *cap, struct weft_sim *sim, struct weft_err *err);
/* Detaches the capture from the lines of its simulation. exp.on_close calls
 * this function after the run, before the lines are freed. */
void capture_untap(struct capture *cap);
int capture_close(struct capture *cap, bool keep, struct weft_err *err);

#endif
