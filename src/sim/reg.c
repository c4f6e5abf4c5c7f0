/* SPDX-License-Identifier: Apache-2.0 */
/* Registers as data: decoding, access rules and reset are in the class's table.
 * A hook of a device gets a whole register, so that no device handles partial
 * accesses. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"

/* One register of a class, or one element of an array of registers. The map is
 * sorted by (space, offset). */
struct reg_at {
	uint32_t offset;
	uint16_t reg, index;
	uint32_t cell;
	uint8_t space, width;
};

/* marks a bare register, which has no stored value */
#define NO_CELL UINT32_MAX

struct reg_map {
	const struct weft_class *cls;
	struct reg_map *next;
	uint32_t *first_cell; /* first cell of each row of the table */
	uint32_t n, n_cells;
	struct reg_at at[];
};

static int at_cmp(const void *a, const void *b)
{
	const struct reg_at *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static uint32_t reg_elements(const struct weft_reg *r)
{
	return r->count ? r->count : 1;
}

/* Returns the length of the group of rows that begins at `first`: arrays whose
 * elements are interleaved, or a single row. */
static uint32_t reg_group(const struct weft_reg *first)
{
	uint32_t n = 1;

	while (first[n].name && first[n].count && first->count &&
	       first[n].count == first->count &&
	       first[n].stride == first->stride &&
	       first[n].space == first->space &&
	       first[n].offset - first->offset < first->stride)
		n++;
	return n;
}

static struct reg_at at_of(const struct reg_map *m, uint32_t row,
			   uint32_t index)
{
	const struct weft_reg *g = &m->cls->regs[row];

	return (struct reg_at){
		.offset = g->offset + index * g->stride,
		.reg = (uint16_t)row,
		.index = (uint16_t)index,
		.cell = g->bare ? NO_CELL : m->first_cell[row] + index,
		.space = g->space,
		.width = g->width,
	};
}

/* Fills the map. Groups of rows are added in the order of their first offsets,
 * and the rows of a group element by element. The map is then in order unless
 * groups interleave, so that it rarely has to be sorted. (Sorting a thousand
 * pages of doorbells took a third of the time of a small machine.) */
static void map_fill(struct reg_map *m, uint32_t rows)
{
	struct reg_at *first = calloc(rows + 1, sizeof(*first));
	uint32_t groups = 0, k = 0;

	assert(first);
	for (uint32_t r = 0; r < rows; r += reg_group(&m->cls->regs[r]))
		first[groups++] = at_of(m, r, 0);
	qsort(first, groups, sizeof(*first), at_cmp);
	for (uint32_t j = 0; j < groups; j++) {
		uint32_t r = first[j].reg, n = reg_group(&m->cls->regs[r]);

		for (uint32_t i = 0; i < reg_elements(&m->cls->regs[r]); i++)
			for (uint32_t row = r; row < r + n; row++)
				m->at[k++] = at_of(m, row, i);
	}
	free(first);
}

static struct reg_map *map_new(const struct weft_class *cls)
{
	const struct weft_reg *regs = cls->regs;
	uint32_t rows = 0, n = 0, cell = 0;
	struct reg_map *m;

	for (; regs[rows].name; rows++)
		n += reg_elements(&regs[rows]);
	m = calloc(1, sizeof(*m) + n * sizeof(m->at[0]));
	assert(m);
	m->first_cell = calloc(rows + 1, sizeof(*m->first_cell));
	assert(m->first_cell);
	m->cls = cls;
	m->n = n;
	for (uint32_t r = 0; r < rows; r++) {
		m->first_cell[r] = cell;
		cell += regs[r].bare ? 0 : reg_elements(&regs[r]);
	}
	m->n_cells = cell;
	map_fill(m, rows);
	for (uint32_t i = 1; i < n; i++)
		if (at_cmp(&m->at[i - 1], &m->at[i]) > 0) {
			qsort(m->at, n, sizeof(m->at[0]), at_cmp);
			break;
		}
	return m;
}

int comp_regs_init(struct weft_comp *c, struct weft_err *err)
{
	struct reg_map *m = c->sim->regmaps;

	if (!c->cls->regs)
		return 0;
	while (m && m->cls != c->cls)
		m = m->next;
	if (!m) {
		m = map_new(c->cls);
		m->next = c->sim->regmaps;
		c->sim->regmaps = m;
		for (uint32_t i = 1; i < m->n; i++) {
			const struct reg_at *a = &m->at[i - 1], *b = &m->at[i];

			if (a->space != b->space ||
			    a->offset + a->width <= b->offset)
				continue;
			return weft_fail(
				err, EINVAL, "%s: registers %s and %s overlap",
				m->cls->name, m->cls->regs[a->reg].name,
				m->cls->regs[b->reg].name);
		}
	}
	c->regmap = m;
	c->regs = calloc(m->n_cells + 1, sizeof(*c->regs));
	assert(c->regs);
	weft_reg_reset(c);
	return 0;
}

void regmap_fini(struct weft_sim *sim)
{
	struct reg_map *m, *next;

	for (m = sim->regmaps; m; m = next) {
		next = m->next;
		free(m->first_cell);
		free(m);
	}
}

void weft_reg_reset(struct weft_comp *c)
{
	const struct reg_map *m = c->regmap;

	for (uint32_t i = 0; m && i < m->n; i++)
		if (m->at[i].cell != NO_CELL)
			c->regs[m->at[i].cell] =
				c->cls->regs[m->at[i].reg].reset;
}

uint64_t *weft_reg_cell(struct weft_comp *c, uint32_t reg, uint32_t index)
{
	return &c->regs[c->regmap->first_cell[reg] + index];
}

/* Returns the first register that ends after `off`. */
static uint32_t map_seek(const struct reg_map *m, uint8_t space, uint32_t off)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct reg_at *a = &m->at[mid];

		if (a->space < space ||
		    (a->space == space && a->offset + a->width <= off))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint64_t reg_lanes(uint32_t bytes)
{
	return bytes >= 8 ? UINT64_MAX : (1ull << bytes * 8) - 1;
}

static uint64_t reg_value(struct weft_comp *c, const struct reg_at *a)
{
	const struct weft_reg *r = &c->cls->regs[a->reg];
	uint64_t v = 0;

	if (r->read)
		v = r->read(c, a->index);
	else if (!r->bare)
		v = c->regs[a->cell];
	return v & reg_lanes(a->width);
}

uint64_t weft_reg_load(struct weft_comp *c, uint8_t space, uint32_t off,
		       uint32_t size)
{
	const struct reg_map *m = c->regmap;
	uint64_t out = 0;

	assert(m && size && size <= 8);
	for (uint32_t i = map_seek(m, space, off); i < m->n; i++) {
		const struct reg_at *a = &m->at[i];
		uint64_t v;

		if (a->space != space || a->offset >= off + size)
			break;
		v = reg_value(c, a);
		if (a->offset >= off)
			out |= v << (a->offset - off) * 8;
		else
			out |= v >> (off - a->offset) * 8;
	}
	return out & reg_lanes(size);
}

/* Writes a register by its access rules. val and mask are aligned with the
 * register's own bits. */
static void reg_write(struct weft_comp *c, const struct reg_at *a, uint64_t val,
		      uint64_t mask)
{
	const struct weft_reg *r = &c->cls->regs[a->reg];
	uint64_t rw = r->rw & mask, w1c = r->w1c & mask;
	uint64_t *cell, whole;

	if (r->bare) {
		if (r->wrote)
			r->wrote(c, a->index,
				 (reg_value(c, a) & ~mask) | (val & mask));
		return;
	}
	cell = &c->regs[a->cell];
	whole = (*cell & ~mask & ~r->w1c) | (val & mask);
	*cell = ((*cell & ~rw) | (val & rw)) & ~(val & w1c);
	if (r->wrote)
		r->wrote(c, a->index, whole & reg_lanes(a->width));
}

void weft_reg_store(struct weft_comp *c, uint8_t space, uint32_t off,
		    uint32_t size, uint64_t val)
{
	const struct reg_map *m = c->regmap;

	assert(m && size && size <= 8);
	for (uint32_t i = map_seek(m, space, off); i < m->n; i++) {
		const struct reg_at *a = &m->at[i];
		uint64_t mask = reg_lanes(size), v = val & mask;
		uint32_t d;

		if (a->space != space || a->offset >= off + size)
			break;
		d = (a->offset >= off ? a->offset - off : off - a->offset) * 8;
		if (a->offset >= off)
			reg_write(c, a, v >> d,
				  mask >> d & reg_lanes(a->width));
		else
			reg_write(c, a, v << d,
				  mask << d & reg_lanes(a->width));
	}
}
