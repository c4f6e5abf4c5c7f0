/* SPDX-License-Identifier: Apache-2.0 */
/* Programs are components of KIND_PROGRAM. ops.main runs as a coroutine on a
 * host, and uses its machine through a handle of weft/host.h. */
#ifndef WEFT_PROG_H
#define WEFT_PROG_H

#include "weft/host.h"
#include "weft/sim.h"

WEFT_C_BEGIN

/* Returns the handle for weft/host.h of a program's main thread. The handle
 * belongs to the program and is valid as long as the component exists. */
struct weft_host *weft_prog_host(struct weft_comp *prog);
/* Returns the local time of the program's thread, which may be ahead of the
 * simulation's. The call costs no time, so only observers may use it. A program
 * reads its clock with weft_host_now. */
weft_time_t weft_prog_time(struct weft_comp *prog);

WEFT_C_END

#endif
