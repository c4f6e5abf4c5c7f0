/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of up to three dimensions, for tests of routes (extoll.md 4.5). */
#ifndef TESTS_GRID_H
#define TESTS_GRID_H

#include "cmocka_all.h"
#include "systems/extoll/network/place.h"

/* Returns a grid. z = 0 or y = 0 gives fewer dimensions. */
static inline struct topology grid(uint32_t x, uint32_t y, uint32_t z,
				   bool wrap)
{
	uint32_t size[] = { x, y, z }, dims = z ? 3 : y ? 2 : 1;
	struct weft_err err = { 0 };
	struct topology t;

	assert_int_equal(
		topo_grid(&t, EX_TOPO_PORTS, size, dims, wrap, false, &err), 0);
	return t;
}

#endif
