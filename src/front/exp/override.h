/* SPDX-License-Identifier: Apache-2.0 */
/* Overrides: PATH=VALUE given with --set, in the file's `set:`, or as a point
 * of a sweep.
 *
 * PATH is one of
 *	workload.size		a key of the file; in a list the value is set
 *				in every element that accepts the key
 *	bus.pcix.width		CLASS.PARAM: in every component of the class
 *	n0.nic.links		COMPONENT.PARAM
 *	n*.nic.links		in every component whose name matches, if the
 *				component has the parameter
 *	bus.*.clock		in every component whose class matches, if the
 *				component has the parameter
 * PATH is a key of the file if its first word is a top-level key of
 * experiments. */
#ifndef FRONT_EXP_OVERRIDE_H
#define FRONT_EXP_OVERRIDE_H

#include "front/exp/doc.h"
#include "front/exp/registry.h"

/* An override as the user wrote it. */
struct exp_set {
	const char *path;
	struct doc_node *val;
	struct doc_where at;
	/* Overrides of `weft reproduce --set` may match nothing in this
	 * experiment, because they apply to all experiments. All other
	 * overrides must match. */
	bool lenient;
	uint32_t used;	   /* number of keys and parameters to which the
			    * override was applied */
	char refusal[320]; /* why the last mapping or component refused the
			    * override */
};

/* An override of CLASS.PARAM or COMPONENT.PARAM after resolution. */
struct exp_over {
	struct exp_set *set;
	const struct weft_class *cls; /* class, or NULL for a pattern in
				       * `comp` */
	/* pattern for names of components or classes, if cls is NULL */
	const char *comp;
	const char *param;
};

struct exp_overs {
	VEC(struct exp_over);
};

/* Parses "PATH=VALUE" (VALUE in YAML) into *set, which is allocated from d.
 * Returns 0, or a negative errno with a message. */
int exp_set_parse(struct doc *d, const char *text, const char *option,
		  struct exp_set *set, struct weft_err *err);
/* Applies *set: changes d when the path is a key of the file, otherwise appends
 * to overs. Returns 0, or a negative errno with a message. */
int exp_set_apply(struct exp_set *set, struct doc *d,
		  const struct registry *reg, struct exp_overs *overs,
		  struct weft_err *err);
/* Checks the override after the simulation was built. Refuses an override that
 * no part of the experiment has used, because it was probably mistyped. */
struct weft_sim;
int exp_set_check(const struct exp_set *set, struct weft_sim *sim,
		  const struct registry *reg, struct weft_err *err);

#endif
