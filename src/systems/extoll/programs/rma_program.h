/* SPDX-License-Identifier: Apache-2.0 */
/* Base of the RMA programs: a port with one registered buffer, whose address is
 * published to all nodes. */
#ifndef SYSTEMS_EXTOLL_PROGRAMS_RMA_PROGRAM_H
#define SYSTEMS_EXTOLL_PROGRAMS_RMA_PROGRAM_H

#include "programs/program.h"
#include "weft/rma.h"

struct rmaw {
	struct program w;
	struct rma_port *port;
	const char *name; /* key of the published values */
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

/* Opens a port and a buffer of `bytes`, and publishes both. Returns 0, or -EIO
 * with a failed check. */
int rma_program_open(struct rmaw *v, struct weft_comp *c, const char *name,
		     size_t bytes);
/* Waits for all nodes, because their transfers may use the buffer, then closes
 * the port. */
void rma_program_close(struct rmaw *v);
/* Connects to the port of a node, waiting until it is published. Returns 0, or
 * -EIO with a failed check. */
int rma_program_connect(struct rmaw *v, uint32_t node,
			struct rma_program_peer *peer_p);

/* Returns true for success. Otherwise reports the code as a failed check and
 * returns false. */
bool rma_program_ok(struct rmaw *v, const char *what, int ret);
/* Waits for a notification. Returns true for success. Reports a failed check
 * and returns false if another unit wrote it or if it has an error. */
bool rma_program_noti(struct rmaw *v, uint32_t unit, struct rma_noti *noti_p);

#endif
