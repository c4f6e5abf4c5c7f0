/* SPDX-License-Identifier: Apache-2.0 */
/* What the Host Port tells those who listen (weft/trace.h): stages of
 * messages.  A message goes from the trigger, or the tagged store, to the
 * notification: the target's where there is one, else the origin's; without
 * either, to the last store. */
#ifndef SYSTEMS_HOSTPORT_NIC_STAGE_MARKS_H
#define SYSTEMS_HOSTPORT_NIC_STAGE_MARKS_H

#include "base/vec.h"
#include "weft/trace.h"

struct hp_nic;

struct hp_marks {
	uint64_t load; /* message of the load that waits for its answer */
	struct {
		VEC(struct hp_mark_wait {
			uint64_t id;
			uint32_t vpid;
		});
	} wait;	     /* triggered and not fetched, in order; id 0: taken */
	size_t head; /* none before */
};

/* So many of them are in the CSB. */
void hp_marks_accepted(struct hp_nic *n, uint32_t vpid, uint32_t count);
/* The next instruction of this VPID is fetched, or never will be; 0: there is
 * none. */
uint64_t hp_marks_take(struct hp_nic *n, uint32_t vpid);

/* The instruction, or packet, of a command byte in a word. */
const char *hp_command_name(uint32_t byte);

#endif
