/* SPDX-License-Identifier: Apache-2.0 */
/* A run as files for other programs to show: `weft run --trace` writes the
 * trace format of Chrome and Perfetto, `weft run --waves` VCD for GTKWave.
 * docs/looking-inside.md describes what is in them. */
#ifndef FRONT_TIMELINE_H
#define FRONT_TIMELINE_H

#include "weft/trace.h"

struct timeline;
/* The file ends near `limit` bytes (0: never). */
int timeline_open(const char *path, uint64_t limit, struct timeline **t_p,
		  struct weft_err *err);
void timeline_listen(struct timeline *t, struct weft_sim *sim);
/* What comes from now on is to be seen, and nothing of what was before; or
 * nothing more. */
void timeline_again(struct timeline *t);
void timeline_enough(struct timeline *t);
/* After the simulation has ended, and before it is freed: what is left. */
void timeline_flush(struct timeline *t);
/* Without keep the run was refused, and nothing is left of the file.  Negative
 * errno with a message when something could not be written. */
int timeline_close(struct timeline *t, bool keep, struct weft_err *err);

struct waves;
int waves_open(const char *path, struct waves **w_p, struct weft_err *err);
void waves_listen(struct waves *w, struct weft_sim *sim);
int waves_close(struct waves *w, bool keep, struct weft_err *err);

#endif
