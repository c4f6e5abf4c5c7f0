/* SPDX-License-Identifier: Apache-2.0 */
/* Bench of ATOLL's tests: nodes with host, PCI-X and NIC each, in a mesh of
 * `width` columns. */
#ifndef ATOLL_TESTS_ATOLL_MESH_H
#define ATOLL_TESTS_ATOLL_MESH_H

#include "weft/atoll.h"
#include "weft/sim.h"

enum { MESH_NODES = 9, MESH_WORDS = 1024 };

struct mesh;
typedef void (*mesh_fn)(struct mesh *r, struct weft_host *h, uint32_t node);

struct mesh {
	struct weft_sim *sim;
	struct weft_comp *nic[MESH_NODES], *host[MESH_NODES];
	uint32_t nodes, width;
	mesh_fn fn, manager;
	/* flit that the fault damages: number, bit, kind */
	uint32_t hit, bit, kind;
	uint32_t chars; /* longest routing string seen on a cable */
	bool recover;
	/* results of the programs: messages received by each node, packets
	 * removed from the network, packets resent, deadlocks reported */
	uint32_t got[MESH_NODES], took, again, reported;
	weft_time_t t[MESH_NODES];
};

/* Builds the mesh and runs it until no event is left. The caller frees r->sim.
 * Links: 0 to +x, 1 to -x, 2 to +y, 3 to -y. With `tap` a fault that damages
 * one flit is on link 0 of node 0. */
void mesh_run(struct mesh *r, uint32_t nodes, uint32_t width, const char *set,
	      const char *cable, bool tap);
uint64_t mesh_counter(const struct weft_comp *c, const char *name);
/* Returns the sum of a counter over all NICs. */
uint64_t mesh_all(const struct mesh *r, const char *name);
size_t mesh_failures(const struct mesh *r);
/* Fills words that follow from a seed. */
void mesh_fill(uint64_t *w, uint32_t n, uint64_t seed);
bool mesh_good(const uint64_t *w, uint32_t n, uint64_t seed);
struct atoll_port *mesh_open(struct weft_host *h, uint32_t port,
			     enum atoll_mode mode);

#endif
