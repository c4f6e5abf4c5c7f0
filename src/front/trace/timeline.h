/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run to files for other programs: `weft run --trace` writes the trace
 * format of Chrome and Perfetto, `weft run --waves` VCD for GTKWave.
 * docs/observation.md describes their contents. */
#ifndef FRONT_TIMELINE_H
#define FRONT_TIMELINE_H

#include "weft/trace.h"

struct timeline;
/* Opens a timeline, whose file ends near `limit` bytes (0: no limit). Returns
 * 0, or a negative errno with a message. */
int timeline_open(const char *path, uint64_t limit, struct timeline **t_p,
		  struct weft_err *err);
void timeline_listen(struct timeline *t, struct weft_sim *sim);
/* timeline_again drops the events so far and continues from now. If the file is
 * a pipe, which cannot be truncated, timeline_again keeps those events.
 * timeline_enough stops the recording. */
void timeline_again(struct timeline *t);
void timeline_enough(struct timeline *t);
/* Writes the messages that have not ended. Called after the simulation has
 * ended and before it is freed. */
void timeline_flush(struct timeline *t);
/* Closes the file. Without keep the run was refused, and the file is removed.
 * Returns 0, or a negative errno with a message when the file could not be
 * written. */
int timeline_close(struct timeline *t, bool keep, struct weft_err *err);

struct waves;
int waves_open(const char *path, struct waves **w_p, struct weft_err *err);
void waves_listen(struct waves *w, struct weft_sim *sim);
int waves_close(struct waves *w, bool keep, struct weft_err *err);

#endif
