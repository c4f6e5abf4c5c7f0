/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that an experiment may use: those of components.c and those of
 * shared objects that --load names. */
#ifndef FRONT_EXP_REGISTRY_H
#define FRONT_EXP_REGISTRY_H

#include "base/vec.h"
#include "weft/component.h"

struct registry {
	/* built-in classes first, in the order of the list */
	VEC(const struct weft_class *);
	struct {
		VEC(void *);
	} handles; /* handles of dlopen */
	/* topologies and routings of shared objects, which the registry owns */
	struct {
		VEC(struct net_topology *);
	} topologies;
	struct {
		VEC(struct net_routing *);
	} routings;
};

void registry_init(struct registry *r);
void registry_fini(struct registry *r);
/* Adds one class. Refuses a duplicate, and a class with another version of the
 * interface. `origin` is the text at the start of the message. Returns 0, or a
 * negative errno with a message. */
int registry_add(struct registry *r, const struct weft_class *cls,
		 const char *origin, struct weft_err *err);
/* Loads a shared object that exports weft_plugin_classes,
 * weft_plugin_topologies or weft_plugin_routings. */
int registry_load(struct registry *r, const char *path, struct weft_err *err);

/* Returns the topology of that name, of the program or of a shared object, or
 * NULL. */
const struct net_topology *registry_topology(const struct registry *r,
					     const char *name);
/* Returns the routing of that name for a topology, or NULL, as
 * net_routing_called() does. */
const struct net_routing *registry_routing(const struct registry *r,
					   const char *name,
					   const struct net_topology *t);

const struct weft_class *registry_find(const struct registry *r,
				       const char *name);
/* Returns the name of class i, or NULL behind the last, for units_nearest. */
const char *registry_next(void *registry, size_t i);

const struct weft_param *class_param(const struct weft_class *cls,
				     const char *name);

/* Returns the name of a parameter's source, such as "stated" or "derived". */
const char *param_source_name(enum weft_source s);

/* Returns the name of a kind, such as "nic". kind_plural returns the plural for
 * `weft list`, such as "nics". */
const char *kind_name(enum weft_kind k);
const char *kind_plural(enum weft_kind k);

#endif
