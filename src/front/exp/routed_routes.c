/* SPDX-License-Identifier: Apache-2.0 */
/* A user's routing table, see routed_routes.h. Lines of the file are
 *
 *	ROUTER END PORT [VC | FIRST-LAST]	# a comment
 *
 * END * stands for all ends. A later line replaces an earlier one for the same
 * router and end, so lines with END * must precede the others. A line without
 * VCs allows all VCs. */
#include "front/exp/routed_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/section.h"

enum { WAYS_MAX = 1 << 28 };

struct lines {
	struct net_graph *g;
	struct doc_where at;
	char *save; /* of strtok_r */
};

/* Reads a number below `limit`, up to the character `stop`. */
static int number_read(const struct lines *f, const char *text, char stop,
		       uint32_t limit, const char *what, uint32_t *n_p,
		       const char **rest_p, struct weft_err *err)
{
	char *end = NULL;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (!text || *text < '0' || *text > '9' || (*end && *end != stop))
		return doc_fail(
			f->at, err,
			"'%.40s' is not the number of a %s: write ROUTER END PORT, e.g. 0 5 2 or 0 * 2 0-1",
			text ? text : "", what);
	if (n >= limit)
		return doc_fail(f->at, err,
				"%s %lu does not exist: there are %u", what, n,
				limit);
	*n_p = (uint32_t)n;
	*rest_p = end;
	return 0;
}

static int vcs_read(const struct lines *f, const char *text, struct net_way *w,
		    struct weft_err *err)
{
	const char *rest = "";
	uint32_t n = 0;

	w->last = NET_WAY_ALL;
	if (!text)
		return 0;
	if (number_read(f, text, '-', NET_VCS_MAX, "VC", &n, &rest, err))
		return -1;
	w->first = w->last = (uint8_t)n;
	if (*rest) {
		if (number_read(f, rest + 1, '\0', NET_VCS_MAX, "VC", &n, &rest,
				err))
			return -1;
		w->last = (uint8_t)n;
	}
	if (w->last < w->first)
		return doc_fail(f->at, err, "VCs %u-%u end before they begin",
				w->first, w->last);
	return 0;
}

static int line_read(struct lines *f, char *line, struct weft_err *err)
{
	static const char blank[] = " \t\r,";
	struct net_graph *g = f->g;
	struct net_way w = { 0 };
	uint32_t router = 0, first = 0, last, port = 0;
	const char *word, *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, blank, &f->save);
	if (!word)
		return 0;
	if (number_read(f, word, '\0', g->routers, "router", &router, &rest,
			err))
		return -1;
	word = strtok_r(NULL, blank, &f->save);
	last = g->ends - 1;
	if (!word || strcmp(word, "*") != 0) {
		if (number_read(f, word, '\0', g->ends, "end", &first, &rest,
				err))
			return -1;
		last = first;
	}
	if (number_read(f, strtok_r(NULL, blank, &f->save), '\0',
			net_graph_ports(g, router), "port", &port, &rest, err))
		return -1;
	if (net_graph_far(g, router, port)->at == NET_NOWHERE)
		return doc_fail(f->at, err, "port %u of router %u has no cable",
				port, router);
	w.port = (uint16_t)port;
	if (vcs_read(f, strtok_r(NULL, blank, &f->save), &w, err))
		return -1;
	if (strtok_r(NULL, blank, &f->save))
		return doc_fail(f->at, err,
				"a line ends behind its VCs: write ROUTER END "
				"PORT FIRST-LAST");
	for (uint32_t e = first; e <= last; e++)
		g->way[(size_t)router * g->ends + e] = w;
	return 0;
}

static int file_read(struct lines *f, const struct doc_node *n,
		     struct weft_err *err)
{
	struct weft_err sub = { 0 };
	char *text, *nl;
	int ret = 0;

	if (exp_want(n, DOC_SCALAR, "routes", err))
		return -1;
	if (doc_read_lines(n->text, &text, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	for (char *p = text; p && !ret; p = nl) {
		nl = strchr(p, '\n');
		if (nl)
			*nl++ = '\0';
		f->at.line++;
		ret = line_read(f, p, err);
	}
	free(text);
	return ret;
}

int routed_routes_read(const struct doc_node *map, struct net_graph *g,
		       struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, "routes");
	size_t ways = (size_t)g->routers * g->ends;
	struct lines f = { .g = g, .at = { .file = n ? n->text : NULL } };

	if (!n)
		return 0;
	if (!g->routing->user)
		return doc_fail(n->at, err,
				"routing %s has its own ways: write routing: "
				"table, or leave out routes",
				g->routing->name);
	if (ways > WAYS_MAX)
		return doc_fail(n->at, err,
				"a table for %u routers and %u ends is too "
				"large: use a routing of the program",
				g->routers, g->ends);
	g->way = need(calloc(ways, sizeof(*g->way)));
	for (size_t i = 0; i < ways; i++)
		g->way[i].port = NET_WAY_NONE;
	return file_read(&f, n, err);
}
