/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run to files for other programs: `weft run --trace` writes the trace
 * format of Chrome and Perfetto, `weft run --waves` VCD for GTKWave.
 * docs/observation.md describes their contents. */
#ifndef FRONT_TIMELINE_H
#define FRONT_TIMELINE_H

#include "weft/trace.h"

struct timeline;
/* The file ends near `limit` bytes (0: never). */
int timeline_open(const char *path, uint64_t limit, struct timeline **t_p,
		  struct weft_err *err);
void timeline_listen(struct timeline *t, struct weft_sim *sim);
/* timeline_again drops what was recorded and goes on from now; a pipe keeps
 * what it has, because it cannot be truncated.  timeline_enough records nothing
 * more. */
void timeline_again(struct timeline *t);
void timeline_enough(struct timeline *t);
/* Writes the messages that are left; call it after the simulation has ended and
 * before it is freed. */
void timeline_flush(struct timeline *t);
/* Closes the file.  Without keep the run was refused, and the file is removed.
 * Returns a negative errno with a message when something could not be
 * written. */
int timeline_close(struct timeline *t, bool keep, struct weft_err *err);

struct waves;
int waves_open(const char *path, struct waves **w_p, struct weft_err *err);
void waves_listen(struct waves *w, struct weft_sim *sim);
int waves_close(struct waves *w, bool keep, struct weft_err *err);

#endif
