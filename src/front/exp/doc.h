/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an experiment as a tree. Every value has the file, line and
 * column from which it was read. This code does not depend on the meaning of
 * keys.
 *
 * A tree is allocated in the arena of its struct doc and freed with it. */
#ifndef FRONT_EXP_DOC_H
#define FRONT_EXP_DOC_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/types.h"

/* Limits of a text. Experiments are a few pages long, and the limits keep a
 * short text with aliases from expanding to gigabytes. */
#define DOC_MAX_BYTES	(16u << 20)
#define DOC_MAX_NODES	500000u
#define DOC_MAX_DEPTH	64u
#define DOC_MAX_ANCHORS 1000u

struct doc_where {
	const char *file; /* name of the file, or "--set a=b" */
	uint32_t line;	  /* number from 1; 0 = the source has no lines */
	uint32_t col;
};

enum doc_kind { DOC_SCALAR, DOC_MAP, DOC_SEQ };

struct doc_item {
	const char *key; /* key of a mapping; NULL in lists */
	struct doc_where key_at;
	struct doc_node *val;
};

struct doc_node {
	enum doc_kind kind;
	bool quoted; /* scalars: the text was in quotes */
	struct doc_where at;
	const char *text; /* scalars: the value */
	struct doc_item *items;
	uint32_t n, cap;
	/* Override that set this value. A section that reads the value counts
	 * the override as used. NULL if no override set the value, or if the
	 * override has been counted (override.c). */
	struct exp_set *set;
};

struct doc_chunk;
struct doc {
	struct doc_node *root;
	uint32_t n_nodes;
	struct doc_chunk *chunks;
};

struct doc *doc_new(void);
void doc_free(struct doc *d);
void *doc_alloc(struct doc *d, size_t bytes);
char *doc_strdup(struct doc *d, const char *s);
struct doc_node *doc_node_new(struct doc *d, enum doc_kind kind,
			      struct doc_where at);
void doc_append(struct doc *d, struct doc_node *parent, const char *key,
		struct doc_where key_at, struct doc_node *val);
/* Returns a deep copy of n that belongs to d, or NULL when d would exceed
 * DOC_MAX_NODES. The copy shares keys and texts with n, so that a long text
 * with a thousand aliases exists once. Therefore the doc of n must outlive
 * d. */
struct doc_node *doc_copy(struct doc *d, const struct doc_node *n);
/* Moves the whole tree of `from` to d and frees `from`. Returns the root of the
 * moved tree. */
struct doc_node *doc_adopt(struct doc *d, struct doc *from);
/* Returns a copy of src.  Its texts stay in src, so src must live longer than
 * the copy. */
struct doc *doc_clone(const struct doc *src);

/* Returns the value of a key, or NULL when the map lacks the key. */
struct doc_node *doc_get(const struct doc_node *map, const char *key);
struct doc_item *doc_item(const struct doc_node *map, const char *key);
const char *doc_kind_name(const struct doc_node *n);

/* Parses text (YAML) named `file` into d->root.  An empty text gives root ==
 * NULL.  Returns 0, or a negative errno with a message "FILE:LINE: ...". */
int doc_parse(struct doc *d, const char *file, const char *text, size_t len,
	      struct weft_err *err);
/* Reads a file ("-" = standard input) of at most DOC_MAX_BYTES into *text_p,
 * which the caller frees. Returns 0, or a negative errno with a message. */
int doc_read(const char *path, char **text_p, size_t *len_p,
	     struct weft_err *err);
/* Reads a file of lines as doc_read does, into a text that ends with a zero.
 * Returns 0, or a negative errno with a message. A file that contains a zero
 * byte is an error, because the text would end at that byte. */
int doc_read_lines(const char *path, char **text_p, struct weft_err *err);

/* Sets err to "FILE:LINE: message". Returns -EINVAL. */
int doc_fail(struct doc_where at, struct weft_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Fails as doc_fail does, and appends ": did you mean 'x'?" when a candidate is
 * similar to `word`. `next` gives the candidates as for units_nearest. */
int doc_fail_near(struct doc_where at, struct weft_err *err, const char *word,
		  const char *(*next)(void *arg, size_t i), void *arg,
		  const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
