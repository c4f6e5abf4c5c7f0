/* SPDX-License-Identifier: Apache-2.0 */
/* The top-level keys of an experiment, and small readers that every section
 * uses. They check keys against a list, and read values by a table of
 * parameters. */
#ifndef FRONT_EXP_SECTION_H
#define FRONT_EXP_SECTION_H

#include "base/vec.h"
#include "front/exp/doc.h"
#include "weft/component.h"

struct exp_build;

/* One top-level key.  Sections are built in the order of the table. */
struct exp_section {
	const char *key;
	/* Builds the section. NULL if other code reads the key. */
	int (*build)(struct exp_build *b, const struct doc_node *n,
		     struct weft_err *err);
	const char *doc;
};
extern const struct exp_section exp_sections[]; /* ended by key == NULL */

bool exp_section_known(const char *key);
const char *exp_section_next(void *unused, size_t i);

/* A list of candidates for "did you mean". */
struct exp_names {
	VEC(char *);
};
void exp_names_add(struct exp_names *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *exp_names_next(void *names, size_t i);
void exp_names_free(struct exp_names *v);

/* Refuses n if it is not of this kind, with a message such as "fabric must be a
 * mapping, not a list". */
int exp_want(const struct doc_node *n, enum doc_kind kind, const char *what,
	     struct weft_err *err);
/* Refuses a key of map that is not in keys (ended by NULL). Returns 0, or a
 * negative errno with a message. */
int exp_keys(const struct doc_node *map, const char *const *keys,
	     const char *what, struct weft_err *err);
/* Reads a scalar into *out as a parameter of this type and range. Returns 0, or
 * a negative errno with a message. */
int exp_value(const struct doc_node *n, enum weft_ptype type, const char *range,
	      void *out, size_t size, const char *what, struct weft_err *err);
/* Reads the scalar of a key as exp_value does, if map has the key. */
int exp_option(const struct doc_node *map, const char *key,
	       enum weft_ptype type, const char *range, void *out, size_t size,
	       struct weft_err *err);
/* Sets the fields of base to defaults, then to the values of map, by a table of
 * parameters. map may be NULL. Returns 0, or a negative errno with a
 * message. */
int exp_fill(const struct doc_node *map, const struct weft_param *params,
	     void *base, const char *what, struct weft_err *err);

#endif
