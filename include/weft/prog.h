/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: components of KIND_PROGRAM.  ops.main runs as a coroutine on a
 * host; it reaches its machine through the handle below (weft/host.h). */
#ifndef WEFT_PROG_H
#define WEFT_PROG_H

#include "weft/host.h"
#include "weft/sim.h"

WEFT_C_BEGIN

/* The host.h handle of a program's thread. */
struct weft_host *weft_prog_host(struct weft_comp *prog);
/* Its time, which costs none to know: for those who watch, not for it. */
weft_time_t weft_prog_time(struct weft_comp *prog);

WEFT_C_END

#endif
