/* SPDX-License-Identifier: Apache-2.0 */
/* Test node on a FORTH link. It sends packets by a script and logs every packet
 * start that it causes or sees. Differential tests compare this node with the
 * reference, because it embeds a link end as a NIC does. */
#ifndef FORTH_TESTS_SCRIPTED_NODE_H
#define FORTH_TESTS_SCRIPTED_NODE_H

#include "systems/forth/link/port.h"

extern const struct weft_class test_node_class;

struct node_item {
	uint32_t dst, qwords, seq;
	uint64_t ready; /* cycle */
	uint32_t path;
};

struct node_log {
	uint64_t cycle;
	/* number of the source or output: number of the node, or 100 + receiver
	 * for an output of the switch */
	uint32_t where, src, dst, seq;
};

struct node {
	uint32_t me, n, links, frame, min_payload, refresh, crtx, crrx;
	uint32_t credit_words, rx_words, l2d, t_bus, resync, lanes;
	uint64_t bus_fs, hold;
	struct forth_port link;
	struct weft_clock bus;
	struct node_item *script;
	uint32_t n_script, at; /* items of the script, index of the next one */
	uint32_t *queue[16], head[16], tail[16]; /* indices into script */
	uint32_t rr, queued;
	uint64_t bus_free;
	struct node_log *log;
	uint32_t n_log;
	/* bad: packets with a FORTH_PORT_* error. errors: header CRC errors */
	uint32_t bad, errors;
	uint32_t received;
	/* description of the latest packet received */
	struct forth_port_rx last_rx;
	uint64_t last_header;
	uint32_t last_len;
	uint8_t last_data[8192];
};

/* Takes ownership of `script` (from malloc). The items must be in order of
 * `ready`. */
void node_script(struct node *n, struct node_item *script, uint32_t count);

#endif
