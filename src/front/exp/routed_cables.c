/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of cables, see routed_cables.h.
 *
 *	cables: [[0, 1], [1, 2, 5], [0, 2, 1, 4]]
 *	ends: 2
 *	file: net.txt
 *
 * A cable in `cables` has two routers, a latency and a width. The last two may
 * be missing. `ends` is the number of ends at each router. `file` replaces both
 * keys. Lines of a file are those of BookSim2's anynet, and # begins a comment:
 *
 *	router 0 node 0 node 1 5 router 1 10
 *
 * Router 0 has ends 0 and 1, and a cable of 10 cycles to router 1. A cable may
 * stand in the lines of both routers, once in each. In BookSim2 a latency
 * counts for one direction, and a direction without a latency has 1 cycle.
 * Weft's cables have one latency for both directions. A file with two lines
 * that give a cable different latencies is therefore refused. */
#include "front/exp/routed_cables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/section.h"

enum { LATENCY_MAX = 65535 };

static void cable_add(struct net_cables *l, struct net_cable c)
{
	uint32_t most = c.end || c.a > c.b ? c.a : c.b;

	l->at = grown(l->at, l->n, sizeof(*l->at));
	l->at[l->n++] = c;
	l->routers = most >= l->routers ? most + 1 : l->routers;
	if (c.end && c.b >= l->ends)
		l->ends = c.b + 1;
}

/* ---- in the experiment ---- */

static int cable_read(const struct doc_node *n, struct net_cables *l,
		      struct weft_err *err)
{
	static const char *const range[] = { "0..1048575", "0..1048575",
					     "1..65535", "1..64" };
	uint32_t v[4] = { 0, 0, 0, 1 };

	if (exp_want(n, DOC_SEQ, "a cable", err))
		return -1;
	if (n->n < 2 || n->n > 4)
		return doc_fail(
			n->at, err,
			"a cable has two routers, then its latency and its width: write [0, 1] or [0, 1, 5, 2]");
	for (uint32_t i = 0; i < n->n; i++)
		if (exp_value(n->items[i].val, WEFT_P_U32, range[i], &v[i],
			      sizeof(*v), "a cable", err))
			return -1;
	cable_add(l, (struct net_cable){ v[0], v[1], v[2], (uint16_t)v[3],
					 false });
	return 0;
}

static int list_read(const struct doc_node *list, uint32_t ends,
		     struct net_cables *l, struct weft_err *err)
{
	if (exp_want(list, DOC_SEQ, "cables", err))
		return -1;
	for (uint32_t i = 0; i < list->n; i++)
		if (cable_read(list->items[i].val, l, err))
			return -1;
	if (l->routers > NET_ROUTERS_MAX / ends)
		return doc_fail(list->at, err,
				"%u routers with %u ends are too many ends: at "
				"most %u",
				l->routers, ends, NET_ROUTERS_MAX);
	for (uint32_t e = 0, n = l->routers * ends; e < n; e++)
		cable_add(l, (struct net_cable){ e / ends, e, 0, 1, true });
	return 0;
}

/* ---- in a file ---- */

struct lines {
	struct net_cables *l;
	struct doc_where at;
	char *save; /* of strtok_r */
};

static int number_read(struct lines *f, const char *text, uint32_t most,
		       uint32_t *n_p, struct weft_err *err)
{
	char *end = NULL;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (!text || *end || *text < '0' || *text > '9' || n > most)
		return doc_fail(
			f->at, err,
			"'%.40s' is not a number up to %u: write e.g. router 0 node 0 router 1 5",
			text ? text : "", most);
	*n_p = (uint32_t)n;
	return 0;
}

/* Reads "router" or "node" and a number. */
static int thing_read(struct lines *f, const char *word, bool *end_p,
		      uint32_t *n_p, struct weft_err *err)
{
	*end_p = word && !strcmp(word, "node");
	if (!word || (!*end_p && strcmp(word, "router")))
		return doc_fail(
			f->at, err,
			"'%.40s' is neither router nor node: write e.g. router 0 node 0 router 1 5",
			word ? word : "");
	return number_read(f, strtok_r(NULL, " \t\r", &f->save),
			   NET_ROUTERS_MAX - 1, n_p, err);
}

/* Adds a cable of a line, between routers or between a router and an end. */
static int line_cable(struct lines *f, struct net_cable c, bool end,
		      struct weft_err *err)
{
	uint32_t a = c.a;

	if (end && c.end)
		return doc_fail(f->at, err,
				"node %u is cabled to node %u: a node is "
				"attached to a router",
				c.a, c.b);
	if (end || (!c.end && c.a > c.b)) {
		c.a = c.b;
		c.b = a;
		c.end = end;
	}
	cable_add(f->l, c);
	return 0;
}

/* Reads a line: a router or node, and the routers or nodes to which cables join
 * it, each with an optional latency. */
static int line_read(struct lines *f, char *line, struct weft_err *err)
{
	struct net_cable c = { .width = 1 };
	const char *word;
	bool end;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, " \t\r", &f->save);
	if (!word)
		return 0;
	if (thing_read(f, word, &end, &c.a, err))
		return -1;
	word = strtok_r(NULL, " \t\r", &f->save);
	while (word) {
		c.latency = 0;
		if (thing_read(f, word, &c.end, &c.b, err))
			return -1;
		word = strtok_r(NULL, " \t\r", &f->save);
		if (word && *word >= '0' && *word <= '9') {
			if (number_read(f, word, LATENCY_MAX, &c.latency, err))
				return -1;
			word = strtok_r(NULL, " \t\r", &f->save);
		}
		if (line_cable(f, c, end, err))
			return -1;
	}
	return 0;
}

static int lines_read(struct lines *f, char *text, struct weft_err *err)
{
	for (char *p = text, *nl; p; p = nl) {
		nl = strchr(p, '\n');
		if (nl)
			*nl++ = '\0';
		f->at.line++;
		if (line_read(f, p, err))
			return -1;
	}
	return 0;
}

static int cable_cmp(const void *a, const void *b)
{
	const struct net_cable *x = a, *y = b;

	if (x->end != y->end)
		return x->end ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->latency < y->latency ? -1 : x->latency > y->latency;
}

/* Merges the two entries of a cable that appears in the lines of both its
 * routers. Fails if their latencies differ. */
static int lines_join(struct lines *f, struct weft_err *err)
{
	struct net_cables *l = f->l;
	uint32_t n = 0;

	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), cable_cmp);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct net_cable *c = &l->at[i],
				       *was = &l->at[n ? n - 1 : 0];

		if (!n || was->end != c->end || c->a != was->a ||
		    c->b != was->b) {
			l->at[n++] = *c;
			continue;
		}
		if (c->latency != was->latency)
			return doc_fail(
				(struct doc_where){ .file = f->at.file }, err,
				"cable %u-%u has different latencies in two lines, and one line without a latency counts: write the same in both",
				c->a, c->b);
	}
	l->n = n;
	return 0;
}

static int file_read(const struct doc_node *n, struct net_cables *l,
		     struct weft_err *err)
{
	struct lines f = { .l = l, .at = { .file = n->text } };
	struct weft_err sub = { 0 };
	char *text;
	int ret;

	if (exp_want(n, DOC_SCALAR, "file", err))
		return -1;
	if (doc_read_lines(n->text, &text, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	ret = lines_read(&f, text, err) || lines_join(&f, err);
	free(text);
	return ret ? -1 : 0;
}

int routed_cables_read(const struct doc_node *map, struct net_cables *l,
		       struct weft_err *err)
{
	const struct doc_node *list = doc_get(map, "cables");
	const struct doc_node *file = doc_get(map, "file");
	uint32_t ends = 1;

	if (!list == !file)
		return doc_fail(
			map->at, err,
			"a graph has either 'cables' or a 'file': write e.g. cables: [[0, 1], [1, 2]]");
	if (file && doc_get(map, "ends"))
		return doc_fail(doc_get(map, "ends")->at, err,
				"the file says which ends a router has: leave "
				"out ends");
	if (exp_option(map, "ends", WEFT_P_U32, "1..64", &ends, sizeof(ends),
		       err))
		return -1;
	return file ? file_read(file, l, err) : list_read(list, ends, l, err);
}
