/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a simulation from the text of an experiment: components with their
 * parameters, buses, cables, faults and programs.
 *
 * Components of node 0 have the names n0.host, n0.bus, n0.nic (n0.nic0, n0.nic1
 * if the node has several NICs) and n0.prog0, n0.prog1... Traffic sources are
 * named t0, t1... and faults fault0, fault1... If a class has parameters `node`
 * and `nodes` (U32), they are set to the number of the component's node and the
 * number of all nodes. */
#ifndef FRONT_EXP_BUILD_H
#define FRONT_EXP_BUILD_H

#include "front/exp/override.h"
#include "weft/sim.h"

struct exp_node {
	struct weft_comp *host, *bus;
	struct {
		VEC(struct weft_comp *);
	} nics;
	uint32_t n_progs;
};

struct exp_build {
	struct weft_sim *sim;
	const struct registry *reg;
	struct exp_overs *overs;
	struct {
		VEC(struct exp_node);
	} nodes;
	/* The ends that a fabric joins: NICs in the order of nodes, then
	 * traffic components. */
	struct {
		VEC(struct weft_comp *);
	} ends;
	uint32_t n_progs, n_faults, n_links, n_classes;
	/* number that selects the order in which components are built; 0
	 * selects ascending numbers */
	uint32_t shuffle;
};

/* Returns the number of the component that is built in step k of n steps. */
uint32_t build_turn(const struct exp_build *b, uint32_t k, uint32_t n);

/* Each function builds a section of the experiment. Returns 0, or a negative
 * errno with a message. */
int build_nodes(struct exp_build *b, const struct doc_node *n,
		struct weft_err *err);
int build_traffic(struct exp_build *b, const struct doc_node *n,
		  struct weft_err *err);
/* Checks those keys of a fabric that do not depend on its ends. Called before
 * the ends are built, because a machine may have thousands of nodes. */
int build_fabric_check(const struct doc_node *n, struct weft_err *err);
/* Builds a fabric that build_fabric_check has accepted. */
int build_fabric(struct exp_build *b, const struct doc_node *n,
		 struct weft_err *err);
int build_faults(struct exp_build *b, const struct doc_node *n,
		 struct weft_err *err);
int build_workload(struct exp_build *b, const struct doc_node *n,
		   struct weft_err *err);

/* Builds one component from one mapping. */
struct build_spec {
	enum weft_kind kind;
	const char *type_key;	     /* key with the class, "type" or
				      * "program" */
	const char *const *reserved; /* keys that are not parameters, or NULL */
	/* Default settings, including the class. The mapping overrides them.
	 * May be NULL. */
	const struct doc_node *base;
	bool numbered; /* index and count are values of the parameters `node`
			* and `nodes` */
	uint32_t index, count;
};
int build_comp(struct exp_build *b, const struct build_spec *spec,
	       const char *name, const struct doc_node *map,
	       struct weft_comp **comp_p, struct weft_err *err);
/* Finds the class of a mapping and checks its kind. */
int build_class(struct exp_build *b, const struct build_spec *spec,
		const struct doc_node *map, const struct weft_class **cls_p,
		struct weft_err *err);

/* Returns the k-th link port of a component, or NULL. */
struct weft_port *build_link_port(struct weft_comp *c, uint32_t k);
/* Finds the port of a name such as "n0.nic.link0". */
int build_port(struct exp_build *b, const struct doc_node *n,
	       struct weft_port **port_p, struct weft_err *err);
/* Builds a link component from `map` over the settings of `base` (may be NULL).
 * Cables with equal settings share one component. */
int build_link(struct exp_build *b, const struct doc_node *map,
	       const struct doc_node *base, struct weft_comp **link_p,
	       struct weft_err *err);
int build_cable(struct exp_build *b, struct weft_port *x, struct weft_port *y,
		struct weft_comp *link, struct doc_where at,
		struct weft_err *err);

/* Stores in set->refusal why the override was refused. */
void build_set_refused(struct exp_set *set, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Fails with "The fabric has no KEY" and an example. Returns a negative
 * errno. */
int build_lacks(const struct doc_node *map, const char *key,
		struct weft_err *err);

/* A generator of fabrics. Each has one file and one line in fabrics.def. */
struct fabric_gen {
	const char *name, *doc;
	const char *const *keys; /* keys of the mapping beside "type", ended by
				  * NULL */
	/* Checks the mapping before the fabric's ends are built; may be
	 * NULL. */
	int (*check)(const struct doc_node *map, struct weft_err *err);
	int (*build)(struct exp_build *b, const struct doc_node *map,
		     struct weft_err *err);
};
extern const struct fabric_gen *const fabric_gens[]; /* ended by NULL */
/* Returns the generator of that name, or NULL. */
const struct fabric_gen *fabric_called(const char *name);

#endif
