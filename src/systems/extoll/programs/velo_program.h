/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the VELO programs: a port, connections by node, messages with the
 * pattern of programs/program.h, waiting. */
#ifndef SYSTEMS_EXTOLL_PROGRAMS_VELO_PROGRAM_H
#define SYSTEMS_EXTOLL_PROGRAMS_VELO_PROGRAM_H

#include "programs/program.h"
#include "weft/velo.h"

enum { VELOW_LEN_MAX = 120 };

struct velow {
	struct program w;
	struct velo_port *port;
	const char *name; /* of the program's ports, out of band */
	uint64_t bad;	  /* messages with wrong contents */
};

/* A received message. */
struct velo_program_msg {
	uint32_t node, tag, mtt, len;
	uint8_t data[VELOW_LEN_MAX + 8];
};

/* Opens a port and tells its VPID to all; 0, or negative errno with a failed
 * check.  mailbox: bytes, 0 = default. */
int velo_program_open(struct velow *v, struct weft_comp *c, const char *name,
		      uint64_t mailbox);
/* Waits for all nodes, checks that the NIC dropped nothing, closes. */
void velo_program_close(struct velow *v);
int velo_program_connect(struct velow *v, struct velo_connection *c,
			 uint32_t node);

/* Message number seq to `node`: len bytes of the pattern, tag and MTT of
 * seq. */
void velo_program_send(struct velow *v, struct velo_connection *c,
		       uint32_t node, uint32_t len, uint64_t seq);
/* Takes a message if there is one. */
bool velo_program_poll(struct velow *v, struct velo_program_msg *m);
/* Waits for one. */
void velo_program_recv(struct velow *v, struct velo_program_msg *m);
/* It has len bytes, and tag and MTT of seq; says so if not. */
bool velo_program_head(struct velow *v, const struct velo_program_msg *m,
		       uint32_t len, uint64_t seq);
/* It is number seq of m->node for us, len bytes; says so if not. */
void velo_program_verify(struct velow *v, const struct velo_program_msg *m,
			 uint32_t len, uint64_t seq);

#endif
