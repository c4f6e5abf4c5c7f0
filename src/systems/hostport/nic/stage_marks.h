/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of messages that the Host Port marks for listeners (weft/trace.h). A
 * message begins with the trigger or the tagged store. It ends with the
 * notification of the target, if there is one, otherwise with that of the
 * origin. Without any notification it ends with the last store. */
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
	} wait; /* messages triggered and not fetched, in order; id 0 marks a
		 * message that was taken */
	size_t head; /* number of entries at the front that were taken */
};

/* Notes that `count` of the triggered instructions are in the CSB. */
void hp_marks_accepted(struct hp_nic *n, uint32_t vpid, uint32_t count);
/* Takes the message of this VPID's next instruction off the list. Called when
 * that instruction is fetched or dropped. Returns the id of the message, or 0
 * when no message waits. */
uint64_t hp_marks_take(struct hp_nic *n, uint32_t vpid);

/* Returns the name of the instruction or packet of a command byte. */
const char *hp_command_name(uint32_t byte);

#endif
