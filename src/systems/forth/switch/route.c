/* SPDX-License-Identifier: Apache-2.0 */
/* Routing tables of the buffered crossbar (forth.md 8.2: identity map,
 * otherwise a table). A table is indexed by path and flow. All inputs share one
 * table until an experiment gives an input a table of its own. The fabric
 * writes the rows and decides their meaning, because a crossbar does not know
 * the topology. */
#include "systems/forth/switch/crossbar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t table_bytes(const struct forth_xbar *x)
{
	return (size_t)x->rows * FORTH_FLOWS;
}

static uint8_t *table_of(const struct forth_xbar *x, uint32_t in)
{
	return x->route + (x->tables > 1 ? in * table_bytes(x) : 0);
}

void forth_xbar_route_bind(struct forth_xbar *x)
{
	for (uint32_t i = 0; i < x->ports; i++) {
		struct forth_xbar_port *p = &x->port[i];

		p->route = p->link.cfg.route = table_of(x, i);
		p->path_mask = p->link.cfg.path_mask = x->rows - 1;
		p->link.cfg.paths = x->paths;
	}
}

/* Extends the routes to the given numbers of rows and tables. New rows have no
 * route. New tables are copies of the first table. */
static int table_grow(struct weft_comp *c, uint32_t tables, uint32_t rows,
		      struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	size_t old = table_bytes(x), new = (size_t)rows *FORTH_FLOWS;
	uint8_t *t = malloc(tables * new);

	if (!t)
		return weft_fail(err, ENOMEM, "%s: no memory for routes",
				 c->name);
	memset(t, FORTH_XBAR_NOWHERE, tables * new);
	for (uint32_t i = 0; x->route && i < tables; i++)
		memcpy(t + i * new, table_of(x, i), old);
	free(x->route);
	x->route = t;
	x->tables = tables;
	x->rows = rows;
	return 0;
}

/* Makes room for routes of input `in` and path `path`. */
static int table_fit(struct weft_comp *c, uint32_t in, uint32_t path,
		     struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	uint32_t tables = x->tables, rows = x->rows;

	if (in != WEFT_ANY_PORT)
		tables = x->ports;
	while (rows <= path)
		rows *= 2;
	if (path > x->paths)
		x->paths = path;
	if (tables == x->tables && rows == x->rows)
		return 0;
	return table_grow(c, tables, rows, err);
}

static void row_write(struct forth_xbar *x, uint32_t table, uint32_t path,
		      const uint32_t *to, uint32_t n)
{
	uint8_t *row = x->route + table * table_bytes(x) + path * FORTH_FLOWS;

	for (uint32_t d = 0; d < FORTH_FLOWS; d++)
		row[d] = d < n && to[d] != WEFT_ANY_PORT ? (uint8_t)to[d]
							 : FORTH_XBAR_NOWHERE;
}

int forth_xbar_route(struct weft_comp *c, uint32_t in, uint32_t path,
		     const uint32_t *to, uint32_t n, struct weft_err *err)
{
	struct forth_xbar *x = c->state;

	if ((in != WEFT_ANY_PORT && in >= x->ports) || path >= FORTH_PATHS ||
	    n > FORTH_FLOWS)
		return weft_fail(
			err, EINVAL,
			"%s: no route for input %u, path %u, %u destinations: there are %u ports, %u paths and %u flows",
			c->name, in, path, n, x->ports, FORTH_PATHS,
			FORTH_FLOWS);
	for (uint32_t d = 0; d < n; d++)
		if (to[d] != WEFT_ANY_PORT && to[d] >= x->ports)
			return weft_fail(
				err, EINVAL,
				"%s: no port %u for destination %u: give it more ports",
				c->name, to[d], d);
	if (table_fit(c, in, path, err))
		return -err->code;
	if (in != WEFT_ANY_PORT)
		row_write(x, in, path, to, n);
	for (uint32_t i = 0; in == WEFT_ANY_PORT && i < x->tables; i++)
		row_write(x, i, path, to, n);
	forth_xbar_route_bind(x);
	return 0;
}

/* Parses one entry: "flow:port" or "path/flow:port". */
static int parse_entry(struct weft_comp *c, const char **p_p,
		       struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	uint32_t path = 0, flow, port;
	const char *p = *p_p;
	int n = 0;

	if (sscanf(p, "%u/%n", &path, &n) != 1 || !n)
		path = 0;
	p += n;
	if (sscanf(p, "%u:%u%n", &flow, &port, &n) != 2 ||
	    (p[n] && p[n] != ','))
		return weft_fail(
			err, EINVAL,
			"%s.routes: '%s' is no list of flow:port or path/flow:port",
			c->name, *p_p);
	if (flow >= FORTH_FLOWS || port >= x->ports || path >= FORTH_PATHS)
		return weft_fail(
			err, EINVAL,
			"%s.routes: %u/%u:%u: paths are 0..%u, flows 0..%u, ports 0..%u",
			c->name, path, flow, port, FORTH_PATHS - 1,
			FORTH_FLOWS - 1, x->ports - 1);
	if (table_fit(c, WEFT_ANY_PORT, path, err))
		return -err->code;
	x->route[forth_way(path, flow)] = (uint8_t)port;
	*p_p = p + n + (p[n] == ',');
	return 0;
}

int forth_xbar_route_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_xbar *x = c->state;
	const char *p = x->routes;

	if (table_grow(c, 1, 1, err))
		return -err->code;
	for (uint32_t flow = 0; flow < FORTH_FLOWS && flow < x->ports; flow++)
		x->route[flow] = (uint8_t)flow;
	while (*p)
		if (parse_entry(c, &p, err))
			return -err->code;
	return 0;
}

void forth_xbar_route_prune(struct forth_xbar *x, uint32_t port)
{
	for (size_t k = 0; k < x->tables * table_bytes(x); k++)
		if (x->route[k] == port)
			x->route[k] = FORTH_XBAR_NOWHERE;
}
