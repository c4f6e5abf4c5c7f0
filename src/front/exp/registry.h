/* SPDX-License-Identifier: Apache-2.0 */
/* The classes an experiment may use: those of components.c and those of the
 * shared objects given with --load. */
#ifndef FRONT_EXP_REGISTRY_H
#define FRONT_EXP_REGISTRY_H

#include "base/vec.h"
#include "weft/component.h"

struct registry {
	VEC(const struct weft_class *); /* built-in first, in list order */
	struct {
		VEC(void *);
	} handles; /* of dlopen */
};

void registry_init(struct registry *r);
void registry_fini(struct registry *r);
/* Adds one class; refuses duplicates and foreign interface versions.  `origin`
 * begins the message. */
int registry_add(struct registry *r, const struct weft_class *cls,
		 const char *origin, struct weft_err *err);
/* Loads a shared object that exports weft_plugin_classes. */
int registry_load(struct registry *r, const char *path, struct weft_err *err);

const struct weft_class *registry_find(const struct registry *r,
				       const char *name);
/* For units_nearest. */
const char *registry_next(void *registry, size_t i);

const struct weft_param *class_param(const struct weft_class *cls,
				     const char *name);

/* "stated", "derived"... */
const char *param_source_name(enum weft_source s);

/* "nic", "switch"... and the plural that `weft list` takes. */
const char *kind_name(enum weft_kind k);
const char *kind_plural(enum weft_kind k);

#endif
