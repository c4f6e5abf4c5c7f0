/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the parts of a network that a fabric consists of: switches, cables,
 * and the network as a whole. The fabric has a key with the settings of each
 * part. If the settings do not name the part's class, it is the default that
 * the class of the ends names. */
#ifndef FRONT_EXP_NETWORK_PART_H
#define FRONT_EXP_NETWORK_PART_H

#include "front/exp/build.h"

/* Settings of a part. Keys that the fabric gives for the part override the
 * defaults in `base`, which name the default class. */
struct network_part {
	struct doc_node text, number, base;
	struct doc_item item[2];
	const struct doc_node *map;
	struct build_spec spec;
};

/* Returns the default parts that the class of the ends names. */
const struct weft_network_parts *network_parts(const struct exp_build *b);
/* Sets up a part. `type` is its default class, or NULL. The part contains
 * pointers to itself, therefore the caller must not move it. */
void network_part_init(struct network_part *p, const struct doc_node *map,
		       const char *key, const char *type, enum weft_kind kind);
/* Adds a parameter of a class to the defaults of a part. Both texts must
 * outlive the part. */
void network_part_default(struct network_part *p, const char *param,
			  const char *value);
/* Builds the part that `map` configures under `key`. Returns 0, or a negative
 * errno with a message. */
int network_part_build(struct exp_build *b, const struct doc_node *map,
		       const char *key, const char *type, enum weft_kind kind,
		       const char *name, struct weft_comp **c_p,
		       struct weft_err *err);
/* Returns 0 if the component can be part of a network, else a negative errno
 * with a message. */
int network_part_stands(const struct weft_comp *c, const struct doc_node *map,
			struct weft_err *err);
/* Sets the position of a component in the network. Returns 0, or a negative
 * errno with a message. */
int network_part_place(struct weft_comp *c, const struct weft_place *at,
		       const struct doc_node *map, struct weft_err *err);
/* Builds the network as a whole, called `net`. `type` is its default class, or
 * NULL. Returns 0, or a negative errno with a message. */
int network_part_net(struct exp_build *b, const struct doc_node *map,
		     const char *type, struct weft_comp **net_p,
		     struct weft_err *err);
/* Joins ports np0.. of an end to ports np0.. of the switch beside it. Returns
 * 0, or a negative errno with a message. */
int network_part_beside(struct weft_comp *end, struct weft_comp *sw,
			const struct doc_node *map, struct weft_err *err);

#endif
