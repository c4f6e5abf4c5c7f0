/* SPDX-License-Identifier: Apache-2.0 */
/* Base of the VELO programs: a port, connections by node, sending and receiving
 * messages with the pattern of programs/program.h. */
#ifndef SYSTEMS_EXTOLL_PROGRAMS_VELO_PROGRAM_H
#define SYSTEMS_EXTOLL_PROGRAMS_VELO_PROGRAM_H

#include "programs/program.h"
#include "weft/velo.h"

enum { VELOW_LEN_MAX = 120 };

struct velow {
	struct program w;
	struct velo_port *port;
	const char *name; /* key of the published VPIDs */
	uint64_t bad;	  /* messages with wrong contents */
};

/* A received message. */
struct velo_program_msg {
	uint32_t node, tag, mtt, len;
	uint8_t data[VELOW_LEN_MAX + 8];
};

/* Opens a port and publishes its VPID. mailbox is in bytes, 0 = default.
 * Returns 0, or a negative errno with a failed check. */
int velo_program_open(struct velow *v, struct weft_comp *c, const char *name,
		      uint64_t mailbox);
/* Waits for all nodes, checks that the NIC dropped no message, and closes the
 * port. */
void velo_program_close(struct velow *v);
/* Connects to the port of a node, waiting until it is published. Returns 0, or
 * -EINVAL with a failed check. */
int velo_program_connect(struct velow *v, struct velo_connection *c,
			 uint32_t node);

/* Sends message number seq to `node`. Its len bytes follow the pattern, its tag
 * and MTT follow from seq. */
void velo_program_send(struct velow *v, struct velo_connection *c,
		       uint32_t node, uint32_t len, uint64_t seq);
/* Receives a message. Returns false if there is none. */
bool velo_program_poll(struct velow *v, struct velo_program_msg *m);
/* Reports a failed check unless the message has len bytes, tag and MTT of seq,
 * and the bytes of `want` (NULL: any bytes). */
void velo_program_check(struct velow *v, const struct velo_program_msg *m,
			uint32_t len, uint64_t seq, const uint8_t *want);

#endif
