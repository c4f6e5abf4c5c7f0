/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL nodes on a bench: each has a host, HyperTransport, NIC and crossbar,
 * joined as a torus. Test functions run as programs. */
#ifndef EXTOLL_TESTS_EXRIG_H
#define EXTOLL_TESTS_EXRIG_H

#include "systems/extoll/network/place.h"
#include "weft/prog.h"

enum { EXRIG_NODES = 12 };

struct exrig;
typedef int (*exrig_fn)(struct weft_host *h, struct exrig *r, uint32_t node);

struct exrig_node {
	struct weft_comp *host, *bus, *nic, *xbar;
	uint32_t progs;
};

struct exrig {
	struct weft_sim *sim;
	struct exrig_node node[EXRIG_NODES];
	uint32_t nodes;
	struct topology topo;
	struct {
		struct weft_comp *comp, *xbar;
		uint32_t port;
	} fault[8];
	uint32_t n_faults;
	/* values that programs leave for the test */
	uint64_t v[64];
	void *p[16];
};

/* Makes the nodes. `dims`: "1" (loopback only), "2", "4", "2x2x2". */
void exrig_new(struct exrig *r, const char *dims);
/* Makes the nodes with another NIC that has EXTOLL's ports, and another bus. */
void exrig_new_of(struct exrig *r, const char *dims,
		  const struct weft_class *nic, const struct weft_class *bus);
/* Sets a parameter of every component of a class, before exrig_start. */
void exrig_set(struct exrig *r, const char *cls, const char *param,
	       const char *value);
/* Puts a fault on frames that leave through a port of a node's crossbar. `set`
 * has its parameters as names and values, ended by NULL. */
void exrig_fault(struct exrig *r, uint32_t node, uint32_t port,
		 const struct weft_class *cls, const char *const *set);
void exrig_prog(struct exrig *r, uint32_t node, exrig_fn fn);
void exrig_start(struct exrig *r);
/* Runs until no event is left, and makes all checks that belong to the end of a
 * run. */
void exrig_run(struct exrig *r);
void exrig_free(struct exrig *r);
uint64_t exrig_counter(const struct weft_comp *c, const char *name);

#endif
