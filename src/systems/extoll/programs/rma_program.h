/* SPDX-License-Identifier: Apache-2.0 */
/* What the RMA programs share: a port with one registered buffer, whose place
 * everybody knows. */
#ifndef SYSTEMS_EXTOLL_PROGRAMS_RMA_PROGRAM_H
#define SYSTEMS_EXTOLL_PROGRAMS_RMA_PROGRAM_H

#include "programs/program.h"
#include "weft/rma.h"

struct rmaw {
	struct program w;
	struct rma_port *port;
	const char *name; /* of the program's ports, out of band */
	uint8_t *buf;
	size_t bytes;
	struct rma_region *region;
};

/* Another node's port and buffer. */
struct rma_program_peer {
	uint32_t node;
	struct rma_handle *handle;
	rma_nla_t nla;
};

/* 0, or -EIO with a failed check.  bytes: of the buffer. */
int rma_program_open(struct rmaw *v, struct weft_comp *c, const char *name,
		     size_t bytes);
/* Waits for everybody, closes. */
void rma_program_close(struct rmaw *v);
int rma_program_connect(struct rmaw *v, uint32_t node,
			struct rma_program_peer *peer_p);

/* Reports a return code that is not success; true: it is. */
bool rma_program_ok(struct rmaw *v, const char *what, int ret);
/* Waits for a notification of that unit, which has to be without error. */
void rma_program_noti(struct rmaw *v, uint32_t unit, struct rma_noti *noti_p);

#endif
