/* SPDX-License-Identifier: Apache-2.0 */
/* Register file of the EXTOLL NIC: host accesses, address intervals, route
 * table, network ports' counters. Source: extoll.md 2.4, 2.6, 4.5.
 *
 * Stores to registers cross HTAX like stores to units (2.4: port 3), and stay
 * in order with them (2.2). Loads do not cross HTAX. They are answered at the
 * HT core (7.4: 10 ns) once all earlier stores have arrived. With `rf_core`
 * stores do not cross HTAX either, and take effect at the HT core. This also
 * applies on a bus that cannot defer loads, because loads would otherwise
 * overtake stores. The table of registers is in registers.c. */
#include "systems/extoll/nic/nic.h"

/* ---- accesses ---- */

/* Returns the size of the largest aligned access at `off` with at most `left`
 * bytes. */
static uint32_t rf_piece(uint64_t off, uint32_t left)
{
	uint32_t size = 8;

	while (size > left || off % size)
		size /= 2;
	return size;
}

void ex_rf_store(struct extoll_nic *n, uint8_t space, uint64_t off,
		 const uint8_t *data, uint32_t bytes)
{
	if (space && !(*ex_command(n) & EXTOLL_CMD_MEMORY))
		return;
	for (uint32_t i = 0, size; i < bytes; i += size) {
		uint64_t val = 0;

		size = rf_piece(off + i, bytes - i);
		memcpy(&val, data + i, size);
		weft_reg_store(n->comp, space, (uint32_t)(off + i), size, val);
	}
}

static void rf_unit_store(struct extoll_nic *n, const struct hx_store *s)
{
	ex_rf_store(n, 1 + EXTOLL_BAR, s->off, s->data, s->bytes);
}

const struct ex_unit ex_rf_unit = { .store = rf_unit_store };

bool ex_rf_load(struct extoll_nic *n, const struct weft_bus_note *note)
{
	uint8_t data[sizeof(note->data)];

	if (note->space && !(*ex_command(n) & EXTOLL_CMD_MEMORY))
		return false;
	for (uint32_t i = 0, size; i < note->bytes; i += size) {
		uint64_t val;

		size = rf_piece(note->off + i, note->bytes - i);
		val = weft_reg_load(n->comp, note->space,
				    (uint32_t)(note->off + i), size);
		memcpy(data + i, &val, size);
	}
	weft_bus_of(n->bus)->reply(n->bus, data, note->bytes);
	return true;
}

int ex_rf_target(const struct extoll_nic *n, uint64_t off, uint32_t bytes)
{
	for (uint32_t i = 0; i < EXTOLL_INTERVALS; i++) {
		const struct ex_interval *v = &n->interval[i];

		if (v->enable && off >= v->lower && off + bytes - 1 <= v->upper)
			return v->port;
	}
	return -1;
}

/* ---- routes (4.5) ---- */

const struct ex_entry *ex_route_entry(const struct extoll_nic *n, uint32_t dest)
{
	struct ex_entry *c = NULL;

	if (n->routes.chunk)
		c = n->routes.chunk[dest / EX_ROUTE_CHUNK];
	return c && c[dest % EX_ROUTE_CHUNK].valid ? &c[dest % EX_ROUTE_CHUNK]
						   : NULL;
}

void ex_route_write(struct extoll_nic *n, uint32_t dest,
		    const struct ex_entry *e)
{
	struct ex_entry **c;

	if (!n->routes.chunk)
		n->routes.chunk =
			calloc(EX_ROUTE_CHUNKS, sizeof(*n->routes.chunk));
	if (!n->routes.chunk)
		abort();
	c = &n->routes.chunk[dest / EX_ROUTE_CHUNK];
	if (!*c)
		*c = calloc(EX_ROUTE_CHUNK, sizeof(**c));
	if (!*c)
		abort();
	(*c)[dest % EX_ROUTE_CHUNK] = *e;
}

bool ex_route(struct extoll_nic *n, struct weft_frame *f, uint32_t dest,
	      uint32_t port, uint32_t words, uint32_t cls)
{
	static const struct ex_entry here;
	const struct ex_entry *e = ex_route_entry(n, dest);
	struct ex_meta *m = ex_meta(f);

	*m = (struct ex_meta){ .words = (uint8_t)words,
			       .cls = (uint8_t)cls,
			       .dest = (uint16_t)dest,
			       .port = (uint8_t)port };
	memset(&f->u[4], 0xff, 4 * sizeof(f->u[4])); /* fillers */
	if (dest > EXTOLL_NODE_MAX)
		return false;
	if (!e && dest == n->place.node)
		e = &here;
	if (e) {
		/* The table entry has one nibble for each link on the way. The
		 * last nibble of the route is the internal port at the
		 * destination. */
		for (uint32_t i = 0; i < e->n; i++)
			ex_route_set(f, i,
				     (uint32_t)(e->nib[i / 16] >> i % 16 * 4) &
					     0xf);
		ex_route_set(f, e->n, port);
		m->hops = (uint8_t)(e->n + 1);
		return true;
	}
	return n->place.topo && dest < n->place.topo->nodes &&
	       ex_route_make(n->place.topo, n->place.node, dest, port,
			     topo_coins_pair(n->place.node, dest), f);
}
