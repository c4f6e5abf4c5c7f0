/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the shape of a topology, see routed_shape.h. */
#include "front/exp/routed_shape.h"

#include <string.h>

#include "front/exp/routed_cables.h"
#include "front/exp/section.h"

static const char *const shape_keys[] = { ROUTED_SHAPE_KEYS, NULL };
static const char *const grid_keys[] = { "dims", "ends", NULL };

static bool among(const char *const *keys, const char *key)
{
	while (*keys && strcmp(*keys, key))
		keys++;
	return *keys;
}

/* Returns true if the key describes the shape of this topology. */
static bool takes(const struct net_topology *t, const char *key)
{
	return among(t->keys ? t->keys : grid_keys, key);
}

/* Refuses keys of other topologies. */
static int keys_check(const struct doc_node *map, const struct net_topology *t,
		      struct weft_err *err)
{
	for (uint32_t i = 0; i < map->n; i++) {
		const struct doc_item *it = &map->items[i];

		if (among(shape_keys, it->key) && !takes(t, it->key))
			return doc_fail(it->key_at, err,
					"a %s has no '%s': leave it out",
					t->name, it->key);
	}
	return 0;
}

/* Reads a list of up to NET_DIMS numbers. */
static int list_read(const struct doc_node *n, const char *key, uint32_t *n_p,
		     uint32_t *at, struct weft_err *err)
{
	if (exp_want(n, DOC_SEQ, key, err))
		return -1;
	if (n->n < 1 || n->n > NET_DIMS)
		return doc_fail(n->at, err, "%u %s: give 1 to %u", n->n,
				strcmp(key, "dims") ? "levels" : "dimensions",
				NET_DIMS);
	for (*n_p = 0; *n_p < n->n; ++*n_p)
		if (exp_value(n->items[*n_p].val, WEFT_P_U32, "1..1048576",
			      &at[*n_p], sizeof(*at), key, err))
			return -1;
	return 0;
}

int routed_shape_read(const struct doc_node *map, const struct net_topology *t,
		      struct net_shape *s, struct net_cables *cables,
		      struct weft_err *err)
{
	const struct doc_node *dims = doc_get(map, "dims");
	const struct doc_node *up = doc_get(map, "up");
	const struct doc_node *lengths = doc_get(map, "lengths");
	const struct doc_node *trunking = doc_get(map, "trunking");

	*s = (struct net_shape){ 0 };
	if (keys_check(map, t, err))
		return -1;
	s->cables = cables;
	if (takes(t, "cables"))
		return routed_cables_read(map, cables, err);
	if (exp_option(map, "seed", WEFT_P_U64, "", &s->seed, sizeof(s->seed),
		       err))
		return -1;
	if (!dims && takes(t, "dims"))
		return doc_fail(
			map->at, err,
			"the fabric has no 'dims': write e.g. dims: [8, 8]");
	if (dims && list_read(dims, "dims", &s->dims, s->size, err))
		return -1;
	if (lengths &&
	    list_read(lengths, "lengths", &s->lengthy, s->length, err))
		return -1;
	if (up && list_read(up, "up", &s->ups, s->up, err))
		return -1;
	if (trunking &&
	    list_read(trunking, "trunking", &s->trunked, s->trunking, err))
		return -1;
	if (exp_option(map, "arrangement", WEFT_P_ENUM, "consecutive|palmtree",
		       &s->arrangement, sizeof(s->arrangement), err))
		return -1;
	return exp_option(map, "ends", WEFT_P_U32, "1..64", &s->ends,
			  sizeof(s->ends), err);
}
