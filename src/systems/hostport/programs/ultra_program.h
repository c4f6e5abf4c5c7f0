/* SPDX-License-Identifier: Apache-2.0 */
/* What programs on ULTRA share: a path to a partner and one back, set up by the
 * drivers; their control messages take the out-of-band network. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_ULTRA_PROGRAM_H
#define SYSTEMS_HOSTPORT_PROGRAMS_ULTRA_PROGRAM_H

#include "programs/program.h"
#include "weft/ultra.h"

struct ultraw {
	struct program w;
	uint32_t peer;
	uint32_t sent, got; /* control messages */
	struct ultra_drv d;
	struct ultra_tx tx;
	struct ultra_rx rx;
};

/* 0, or negative with a failed check.  `attr` is of what comes. */
int ultraw_open(struct ultraw *u, const struct program *w, uint32_t peer,
		const struct ultra_rx_attr *attr);
/* Both are ready. */
void ultraw_meet(struct ultraw *u);
void ultraw_close(struct ultraw *u);

#endif
