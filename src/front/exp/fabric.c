/* SPDX-License-Identifier: Apache-2.0 */
/* Section `fabric`: chooses the generator. */
#include <string.h>

#include "front/exp/build.h"
#include "front/exp/section.h"
#include "systems/examples.def"

#define X(id) extern const struct fabric_gen fabric_##id;
#include "front/exp/fabrics.def"
#undef X

const struct fabric_gen *const fabric_gens[] = {
#define X(id) &fabric_##id,
#include "front/exp/fabrics.def"
#undef X
	NULL,
};

const struct fabric_gen *fabric_called(const char *name)
{
	for (const struct fabric_gen *const *g = fabric_gens; *g; g++)
		if (!strcmp((*g)->name, name))
			return *g;
	return NULL;
}

static const char *gens_next(void *unused, size_t i)
{
	return fabric_gens[i] ? fabric_gens[i]->name : NULL;
}

int build_lacks(const struct doc_node *map, const char *key,
		struct weft_err *err)
{
	static const struct {
		const char *key, *example;
	} lacks[] = { { "link", "{type: " EXAMPLE_LINK "}" },
		      { "switch", "{type: " EXAMPLE_SWITCH "}" },
		      { "cables", "[[n0.nic.link0, s0.port0], ...]" } };
	size_t i = 0;

	while (strcmp(lacks[i].key, key))
		i++;
	return doc_fail(map->at, err,
			"the fabric has no '%s': write e.g. %s: %s", key, key,
			lacks[i].example);
}

int build_fabric_check(const struct doc_node *n, struct weft_err *err)
{
	const char *keys[32] = { "type" };
	const struct fabric_gen *g;
	const struct doc_node *type;
	size_t n_keys = 1;

	if (exp_want(n, DOC_MAP, "fabric", err))
		return -1;
	type = doc_get(n, "type");
	if (!type)
		return doc_fail(
			n->at, err,
			"the fabric has no 'type': write direct, switch or list");
	if (exp_want(type, DOC_SCALAR, "type", err))
		return -1;
	g = fabric_called(type->text);
	if (!g)
		return doc_fail_near(type->at, err, type->text, gens_next, NULL,
				     "no fabric is called '%.60s'", type->text);
	for (const char *const *k = g->keys; *k && n_keys < 31; k++)
		keys[n_keys++] = *k;
	if (exp_keys(n, keys, "fabric", err))
		return -1;
	return g->check ? g->check(n, err) : 0;
}

int build_fabric(struct exp_build *b, const struct doc_node *n,
		 struct weft_err *err)
{
	return fabric_called(doc_get(n, "type")->text)->build(b, n, err);
}
