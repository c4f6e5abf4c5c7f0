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

static int gen_check(const struct fabric_gen *g, const struct doc_node *map,
		     struct weft_err *err)
{
	const char *keys[16] = { "type" };
	size_t n = 1;

	for (const char *const *k = g->keys; *k && n < 15; k++)
		keys[n++] = *k;
	if (exp_keys(map, keys, "fabric", err))
		return -1;
	return g->check ? g->check(map, err) : 0;
}

static const struct fabric_gen *gen_called(const char *name)
{
	for (const struct fabric_gen *const *g = fabric_gens; *g; g++)
		if (!strcmp((*g)->name, name))
			return *g;
	return NULL;
}

int build_fabric_check(const struct doc_node *n, struct weft_err *err)
{
	const struct fabric_gen *g;
	const struct doc_node *type;

	if (exp_want(n, DOC_MAP, "fabric", err))
		return -1;
	type = doc_get(n, "type");
	if (!type)
		return doc_fail(
			n->at, err,
			"the fabric has no 'type': write direct, switch or list");
	if (exp_want(type, DOC_SCALAR, "type", err))
		return -1;
	g = gen_called(type->text);
	if (!g)
		return doc_fail_near(type->at, err, type->text, gens_next, NULL,
				     "no fabric is called '%.60s'", type->text);
	return gen_check(g, n, err);
}

int build_fabric(struct exp_build *b, const struct doc_node *n,
		 struct weft_err *err)
{
	return gen_called(doc_get(n, "type")->text)->build(b, n, err);
}
