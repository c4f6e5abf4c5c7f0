/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an experiment's text: allocation, look-up, copies, messages. */
#include "front/exp/doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

struct doc_chunk {
	struct doc_chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

struct doc *doc_new(void)
{
	struct doc *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	return d;
}

void doc_free(struct doc *d)
{
	if (!d)
		return;
	while (d->chunks) {
		struct doc_chunk *c = d->chunks;

		d->chunks = c->next;
		free(c);
	}
	free(d);
}

void *doc_alloc(struct doc *d, size_t bytes)
{
	struct doc_chunk *c = d->chunks;

	bytes = (bytes + 15) & ~(size_t)15;
	if (!c || c->size - c->used < bytes) {
		size_t size = bytes > 4000 ? bytes : 4000;

		c = malloc(sizeof(*c) + size);
		if (!c)
			abort();
		c->next = d->chunks;
		c->used = 0;
		c->size = size;
		d->chunks = c;
	}
	void *p = c->data + c->used;

	c->used += bytes;
	return memset(p, 0, bytes);
}

char *doc_strdup(struct doc *d, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(doc_alloc(d, n), s, n);
}

struct doc_node *doc_node_new(struct doc *d, enum doc_kind kind,
			      struct doc_where at)
{
	struct doc_node *n = doc_alloc(d, sizeof(*n));

	n->kind = kind;
	n->at = at;
	n->text = "";
	d->n_nodes++;
	return n;
}

void doc_append(struct doc *d, struct doc_node *parent, const char *key,
		struct doc_where key_at, struct doc_node *val)
{
	if (parent->n == parent->cap) {
		uint32_t cap = parent->cap ? parent->cap * 2 : 4;
		struct doc_item *items = doc_alloc(d, cap * sizeof(*items));

		if (parent->n)
			memcpy(items, parent->items,
			       parent->n * sizeof(*items));
		parent->items = items;
		parent->cap = cap;
	}
	parent->items[parent->n++] =
		(struct doc_item){ .key = key, .key_at = key_at, .val = val };
}

struct doc_node *doc_copy(struct doc *d, const struct doc_node *n)
{
	if (d->n_nodes >= DOC_MAX_NODES)
		return NULL;

	struct doc_node *c = doc_node_new(d, n->kind, n->at);

	c->quoted = n->quoted;
	c->text = n->text;
	c->set = n->set;
	for (uint32_t i = 0; i < n->n; i++) {
		const struct doc_item *it = &n->items[i];
		struct doc_node *v = doc_copy(d, it->val);

		if (!v)
			return NULL;
		doc_append(d, c, it->key, it->key_at, v);
	}
	return c;
}

struct doc_node *doc_adopt(struct doc *d, struct doc *from)
{
	struct doc_node *root = from->root;
	struct doc_chunk **end = &d->chunks;

	while (*end)
		end = &(*end)->next;
	*end = from->chunks;
	d->n_nodes += from->n_nodes;
	free(from);
	return root;
}

struct doc *doc_clone(const struct doc *src)
{
	struct doc *d = doc_new();

	/* The copy needs no check of the limits, because src is within them. */
	d->root = src->root ? doc_copy(d, src->root) : NULL;
	return d;
}

struct doc_item *doc_item(const struct doc_node *map, const char *key)
{
	for (uint32_t i = 0; map && map->kind == DOC_MAP && i < map->n; i++)
		if (!strcmp(map->items[i].key, key))
			return &map->items[i];
	return NULL;
}

struct doc_node *doc_get(const struct doc_node *map, const char *key)
{
	struct doc_item *it = doc_item(map, key);

	return it ? it->val : NULL;
}

const char *doc_kind_name(const struct doc_node *n)
{
	static const char *const names[] = {
		[DOC_SCALAR] = "a value",
		[DOC_MAP] = "a mapping",
		[DOC_SEQ] = "a list",
	};

	return names[n->kind];
}

int doc_fail(struct doc_where at, struct weft_err *err, const char *fmt, ...)
{
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (!at.line)
		return weft_fail(err, EINVAL, "%.200s: %s", at.file, msg);
	return weft_fail(err, EINVAL, "%.200s:%u: %s", at.file, at.line, msg);
}

int doc_fail_near(struct doc_where at, struct weft_err *err, const char *word,
		  const char *(*next)(void *arg, size_t i), void *arg,
		  const char *fmt, ...)
{
	const char *near = units_nearest(word, next, arg);
	char msg[300], names[140] = "";
	const char *name;
	size_t len = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (near)
		return doc_fail(at, err, "%s: did you mean '%s'?", msg, near);
	/* Appends the list ": there are a, b, ..." as far as it fits. */
	for (size_t i = 0; (name = next(arg, i)); i++) {
		if (len + strlen(name) + 20 > sizeof(names)) {
			snprintf(names + len, sizeof(names) - len, ", ...");
			break;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s%s", i ? ", " : ": there are ",
					name);
	}
	return doc_fail(at, err, "%s%s", msg, names);
}
