/* SPDX-License-Identifier: Apache-2.0 */
/* Parses YAML into a tree by the events of libyaml, within the limits of doc.h:
 * no recursion through aliases, bounded expansion, no duplicate keys. */
#include "base/need.h"
#include "front/exp/doc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

struct anchor {
	const char *name;
	struct doc_node *node; /* node of the anchor; NULL until the node is
				* complete */
};

struct loader {
	struct doc *doc;
	const char *file;
	yaml_parser_t parser;
	/* Mappings and lists that are open, outermost first. */
	struct {
		struct doc_node *node;
		uint32_t anchor; /* number of the node's anchor + 1, or 0 */
		const char *key; /* mapping: key whose value follows */
		struct doc_where key_at;
	} open[DOC_MAX_DEPTH];
	uint32_t depth;
	struct anchor *anchors;
	uint32_t n_anchors;
	bool seen_document;
};

static struct doc_where loader_at(const struct loader *l, yaml_mark_t m)
{
	return (struct doc_where){ .file = l->file,
				   .line = (uint32_t)m.line + 1,
				   .col = (uint32_t)m.column + 1 };
}

/* Adds a finished or just opened node to the innermost open container. */
static int loader_place(struct loader *l, struct doc_node *n,
			struct weft_err *err)
{
	if (l->depth == 0) {
		l->doc->root = n;
		return 0;
	}
	struct doc_node *top = l->open[l->depth - 1].node;

	if (top->kind == DOC_SEQ) {
		doc_append(l->doc, top, NULL, n->at, n);
	} else if (!l->open[l->depth - 1].key) {
		if (n->kind != DOC_SCALAR)
			return doc_fail(n->at, err,
					"a key must be a word, not %s",
					doc_kind_name(n));
		l->open[l->depth - 1].key = n->text;
		l->open[l->depth - 1].key_at = n->at;
	} else {
		doc_append(l->doc, top, l->open[l->depth - 1].key,
			   l->open[l->depth - 1].key_at, n);
		l->open[l->depth - 1].key = NULL;
	}
	return 0;
}

static int loader_anchor(struct loader *l, const yaml_char_t *name,
			 struct doc_node *n, bool finished,
			 struct weft_err *err, uint32_t *index_p)
{
	*index_p = 0;
	if (!name)
		return 0;
	if (l->n_anchors == DOC_MAX_ANCHORS)
		return doc_fail(n->at, err, "more than %u anchors",
				DOC_MAX_ANCHORS);
	l->anchors[l->n_anchors].name = doc_strdup(l->doc, (const char *)name);
	l->anchors[l->n_anchors].node = finished ? n : NULL;
	*index_p = ++l->n_anchors;
	return 0;
}

static int loader_room(struct loader *l, struct doc_where at,
		       struct weft_err *err)
{
	if (l->doc->n_nodes >= DOC_MAX_NODES)
		return doc_fail(
			at, err,
			"more than %u values (aliases expanded): write less, or use a topology generator",
			DOC_MAX_NODES);
	return 0;
}

static int loader_scalar(struct loader *l, const yaml_event_t *ev,
			 struct weft_err *err)
{
	struct doc_where at = loader_at(l, ev->start_mark);
	size_t len = ev->data.scalar.length;
	uint32_t index;
	int ret = loader_room(l, at, err);

	if (ret)
		return ret;
	if (memchr(ev->data.scalar.value, 0, len))
		return doc_fail(at, err, "a zero byte inside a value");
	if (ev->data.scalar.tag)
		return doc_fail(at, err, "tag '%.60s': tags are not used here",
				ev->data.scalar.tag);

	struct doc_node *n = doc_node_new(l->doc, DOC_SCALAR, at);

	n->text = doc_strdup(l->doc, (const char *)ev->data.scalar.value);
	n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	ret = loader_anchor(l, ev->data.scalar.anchor, n, true, err, &index);
	return ret ? ret : loader_place(l, n, err);
}

static int loader_open(struct loader *l, const yaml_event_t *ev,
		       enum doc_kind kind, const yaml_char_t *anchor,
		       const yaml_char_t *tag, struct weft_err *err)
{
	struct doc_where at = loader_at(l, ev->start_mark);
	uint32_t index;
	int ret = loader_room(l, at, err);

	if (ret)
		return ret;
	if (tag)
		return doc_fail(at, err, "tag '%.60s': tags are not used here",
				tag);
	if (l->depth == DOC_MAX_DEPTH)
		return doc_fail(at, err, "nested deeper than %u levels",
				DOC_MAX_DEPTH);

	struct doc_node *n = doc_node_new(l->doc, kind, at);

	ret = loader_anchor(l, anchor, n, false, err, &index);
	if (!ret)
		ret = loader_place(l, n, err);
	if (ret)
		return ret;
	l->open[l->depth].node = n;
	l->open[l->depth].anchor = index;
	l->open[l->depth++].key = NULL;
	return 0;
}

static int key_cmp(const void *a, const void *b)
{
	const struct doc_item *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	if (c)
		return c;
	return x->key_at.line < y->key_at.line	 ? -1
	       : x->key_at.line > y->key_at.line ? 1
	       : x->key_at.col < y->key_at.col	 ? -1
						 : 1;
}

/* Ends a mapping or a list. Checks that the keys of a mapping are unique. */
static int loader_close(struct loader *l, struct weft_err *err)
{
	struct doc_node *n = l->open[l->depth - 1].node;
	uint32_t anchor = l->open[l->depth - 1].anchor;
	struct doc_item *sorted;
	int ret = 0;

	l->depth--;
	if (anchor)
		l->anchors[anchor - 1].node = n;
	if (n->kind != DOC_MAP || n->n < 2)
		return 0;
	sorted = need(malloc(n->n * sizeof(*sorted)));
	memcpy(sorted, n->items, n->n * sizeof(*sorted));
	qsort(sorted, n->n, sizeof(*sorted), key_cmp);
	for (uint32_t i = 1; i < n->n && !ret; i++)
		if (!strcmp(sorted[i - 1].key, sorted[i].key))
			ret = doc_fail(sorted[i].key_at, err,
				       "'%.80s' was given before, in line %u",
				       sorted[i].key,
				       sorted[i - 1].key_at.line);
	free(sorted);
	return ret;
}

static int loader_alias(struct loader *l, const yaml_event_t *ev,
			struct weft_err *err)
{
	struct doc_where at = loader_at(l, ev->start_mark);
	const char *name = (const char *)ev->data.alias.anchor;
	uint32_t i = l->n_anchors;

	while (i > 0 && strcmp(l->anchors[i - 1].name, name))
		i--;
	if (i == 0)
		return doc_fail(
			at, err,
			"no anchor '&%.60s' before this alias: a text that begins with * stands in quotes",
			name);
	if (!l->anchors[i - 1].node)
		return doc_fail(at, err, "alias '*%.60s' contains itself",
				name);

	struct doc_node *n = doc_copy(l->doc, l->anchors[i - 1].node);

	if (!n)
		return loader_room(l, at, err);
	return loader_place(l, n, err);
}

static int loader_event(struct loader *l, const yaml_event_t *ev,
			struct weft_err *err)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (l->seen_document)
			return doc_fail(
				loader_at(l, ev->start_mark), err,
				"a second document: one experiment per file");
		l->seen_document = true;
		return 0;
	case YAML_SCALAR_EVENT:
		return loader_scalar(l, ev, err);
	case YAML_ALIAS_EVENT:
		return loader_alias(l, ev, err);
	case YAML_MAPPING_START_EVENT:
		return loader_open(l, ev, DOC_MAP,
				   ev->data.mapping_start.anchor,
				   ev->data.mapping_start.tag, err);
	case YAML_SEQUENCE_START_EVENT:
		return loader_open(l, ev, DOC_SEQ,
				   ev->data.sequence_start.anchor,
				   ev->data.sequence_start.tag, err);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return loader_close(l, err);
	default:
		return 0;
	}
}

static int loader_run(struct loader *l, struct weft_err *err)
{
	yaml_parser_t *p = &l->parser;
	yaml_event_type_t type;
	int ret;

	do {
		yaml_event_t ev;

		if (!yaml_parser_parse(p, &ev)) {
			struct doc_where at = loader_at(l, p->problem_mark);

			if (p->error == YAML_READER_ERROR)
				at.line = (uint32_t)p->mark.line + 1;
			return doc_fail(at, err, "not YAML: %.200s",
					p->problem ? p->problem
						   : "unreadable text");
		}
		type = ev.type;
		ret = loader_event(l, &ev, err);
		yaml_event_delete(&ev);
	} while (!ret && type != YAML_STREAM_END_EVENT);
	return ret;
}

int doc_parse(struct doc *d, const char *file, const char *text, size_t len,
	      struct weft_err *err)
{
	struct loader l = { .doc = d, .file = doc_strdup(d, file) };
	int ret;

	if (len > DOC_MAX_BYTES)
		return weft_fail(
			err, EFBIG,
			"%.200s: larger than %u MiB: that is no experiment",
			file, DOC_MAX_BYTES >> 20);
	if (!yaml_parser_initialize(&l.parser))
		abort();
	l.anchors = calloc(DOC_MAX_ANCHORS, sizeof(*l.anchors));
	if (!l.anchors)
		abort();
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)text,
				     len);
	ret = loader_run(&l, err);
	free(l.anchors);
	yaml_parser_delete(&l.parser);
	return ret;
}

static int doc_slurp(int fd, const char *path, char **text_p, size_t *len_p,
		     struct weft_err *err)
{
	size_t cap = 1 << 16, len = 0;
	char *buf = malloc(cap);
	ssize_t n;

	if (!buf)
		abort();
	while ((n = read(fd, buf + len, cap - len)) > 0) {
		len += (size_t)n;
		if (len > DOC_MAX_BYTES) {
			free(buf);
			return weft_fail(
				err, EFBIG,
				"%.200s: larger than %u MiB: that is no experiment",
				path, DOC_MAX_BYTES >> 20);
		}
		if (len == cap) {
			buf = realloc(buf, cap *= 2);
			if (!buf)
				abort();
		}
	}
	if (n < 0) {
		int code = errno;

		free(buf);
		return weft_fail(err, code, "%.200s: cannot read: %s", path,
				 strerror(code));
	}
	*text_p = buf;
	*len_p = len;
	return 0;
}

int doc_read(const char *path, char **text_p, size_t *len_p,
	     struct weft_err *err)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(path, "-"))
		return doc_slurp(0, "standard input", text_p, len_p, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		ret = weft_fail(err, errno, "%.200s: cannot open: %s", path,
				strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		ret = weft_fail(err, EISDIR,
				"%.200s: is a directory: name a YAML file",
				path);
	} else if (S_ISREG(st.st_mode) && st.st_size > DOC_MAX_BYTES) {
		ret = weft_fail(
			err, EFBIG,
			"%.200s: larger than %u MiB: that is no experiment",
			path, DOC_MAX_BYTES >> 20);
	} else {
		ret = doc_slurp(fd, path, text_p, len_p, err);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int doc_read_lines(const char *path, char **text_p, struct weft_err *err)
{
	uint32_t line = 1;
	char *text;
	size_t len;
	int ret = doc_read(path, &text, &len, err);

	if (ret)
		return ret;
	text[len] = '\0'; /* doc_slurp leaves room for it */
	if (strlen(text) == len) {
		*text_p = text;
		return 0;
	}
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		line++;
	free(text);
	return weft_fail(
		err, EINVAL,
		"%.200s:%u: a byte 0 in a file of lines: save it as plain text (UTF-8)",
		path, line);
}
