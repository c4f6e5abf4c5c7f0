/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of messages that the Host Port marks for listeners (weft/trace.h). A
 * message lasts from the trigger, or the tagged store, to the notification: the
 * target's if it has one, otherwise the origin's; without either, to the last
 * store. */
#ifndef SYSTEMS_HOSTPORT_NIC_STAGE_MARKS_H
#define SYSTEMS_HOSTPORT_NIC_STAGE_MARKS_H

#include "base/vec.h"
#include "weft/trace.h"

struct hp_nic;

struct hp_marks {
	uint64_t load; /* message of the load whose answer is pending */
	struct {
		VEC(struct hp_mark_wait {
			uint64_t id;
			uint32_t vpid;
		});
	} wait;	     /* triggered and not fetched, in order; id 0: taken */
	size_t head; /* entries before it have been read */
};

/* Notes that `count` of the triggered instructions are in the CSB. */
void hp_marks_accepted(struct hp_nic *n, uint32_t vpid, uint32_t count);
/* Returns the message of the next instruction of this VPID, which is fetched or
 * never will be, or 0 when there is none. */
uint64_t hp_marks_take(struct hp_nic *n, uint32_t vpid);

/* Returns the name of the instruction or packet of a command byte. */
const char *hp_command_name(uint32_t byte);

#endif
