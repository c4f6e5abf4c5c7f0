/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the programs on ULTRA: a path to a partner and one back, which
 * the drivers set up over the out-of-band network. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_ULTRA_PROGRAM_H
#define SYSTEMS_HOSTPORT_PROGRAMS_ULTRA_PROGRAM_H

#include "programs/program.h"
#include "weft/ultra.h"

struct ultraw {
	struct program w;
	uint32_t peer;
	uint32_t sent, got; /* numbers of control messages sent and received */
	struct ultra_drv d;
	struct ultra_tx tx;
	struct ultra_rx rx;
};

/* Opens both paths, and waits until the partner is ready too. `attr` describes
 * the receive queue. Returns 0, or a negative errno after a failed check. */
int ultraw_open(struct ultraw *u, const struct program *w, uint32_t peer,
		const struct ultra_rx_attr *attr);
void ultraw_close(struct ultraw *u);

#endif
