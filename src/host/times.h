/* SPDX-License-Identifier: Apache-2.0 */
/* Times of host software, which are parameters of host.pc: costs of drivers,
 * libraries and programs, and their timeouts. HOST_TIME(name, ...) in
 * host/times.def or a system.def makes T_name. */
#ifndef HOST_TIMES_H
#define HOST_TIMES_H

#include "weft/host.h"

enum host_time_id {
#define HOST_TIME(name, def, range, source, doc) T_##name,
#include "host/times.def"
#include "systems.def"
	HOST_TIMES
};

/* Returns a time of the host that h runs on. Takes no simulated time. */
weft_time_t weft_host_time(const struct weft_host *h, enum host_time_id id);

/* Sleeps for the time `id` of the host. */
static inline void host_nap(struct weft_host *h, enum host_time_id id)
{
	weft_host_nap(h, weft_host_time(h, id));
}

#endif
