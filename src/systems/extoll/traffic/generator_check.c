/* SPDX-License-Identifier: Apache-2.0 */
/* extoll.gen with `verify`: packets of a pair of nodes are numbered and must
 * arrive in order, once. Their bytes are a function of source, destination and
 * number, so that the sink can compute them. */
#include <errno.h>
#include <stdlib.h>

#include "systems/extoll/traffic/generator.h"

/* largest number of nodes, because the memory grows with the square of this
 * number */
enum { CHECK_NODES = 4096 };

int extoll_gen_check_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;

	if (!g->verify)
		return 0;
	if (g->s.nodes > CHECK_NODES)
		return weft_fail(
			err, EINVAL,
			"%s: verify keeps a number for every pair: for up to %u nodes",
			c->name, CHECK_NODES);
	g->check = calloc(1, sizeof(*g->check));
	if (g->check) {
		g->check->sent = calloc(g->s.nodes, sizeof(uint32_t));
		g->check->expected = calloc(g->s.nodes, sizeof(uint32_t));
	}
	if (!g->check || !g->check->sent || !g->check->expected)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	return 0;
}

static uint8_t byte_of(uint64_t key, uint32_t k)
{
	uint64_t z = (key + k / 8) * 0x9E3779B97F4A7C15ull;

	z ^= z >> 29;
	return (uint8_t)(z >> k % 8 * 8);
}

static uint64_t key_of(uint32_t src, uint32_t dest, uint32_t number)
{
	return (uint64_t)number << 32 | src << 16 | dest;
}

struct weft_slice extoll_gen_check_payload(struct weft_comp *c, uint32_t dest,
					   uint32_t number, uint32_t len)
{
	struct extoll_gen *g = c->state;
	struct weft_slice s = weft_slice_new(c->sim, len);
	uint8_t *p = weft_slice_data(s);

	for (uint32_t k = 0; p && k < len; k++)
		p[k] = byte_of(key_of(g->s.node, dest, number), k);
	return s;
}

void extoll_gen_check_take(struct weft_comp *c, struct weft_frame *f)
{
	struct extoll_gen *g = c->state;
	uint32_t src = EX_H0_SRC(f->u[0]), number = extoll_gen_number(f);
	uint64_t key = key_of(src, g->s.node, number);
	const uint8_t *p = weft_slice_data(f->payload);
	bool good = true;

	if (src >= g->s.nodes || g->check->expected[src] != number)
		weft_count(c, EXTOLL_GEN_DISORDER, 1);
	if (src < g->s.nodes)
		g->check->expected[src] = number + 1;
	for (uint32_t k = 0; p && good && k < f->payload.len; k++)
		good = p[k] == byte_of(key, k);
	weft_count(c, EXTOLL_GEN_CORRUPT, !good);
}

int extoll_gen_check_end(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	uint64_t lost = 0;

	if (c->counters[EXTOLL_GEN_DISORDER] || c->counters[EXTOLL_GEN_CORRUPT])
		return weft_fail(
			err, EPROTO,
			"%s: %llu packets out of order, %llu with wrong bytes",
			c->name,
			(unsigned long long)c->counters[EXTOLL_GEN_DISORDER],
			(unsigned long long)c->counters[EXTOLL_GEN_CORRUPT]);
	if (!weft_sim_idle(c->sim) || !g->s.net)
		return 0;
	NET_METER_SOURCES(&g->s.net->m, end)
	{
		const struct extoll_gen *to = end->comp->state;

		if (end->comp->cls == c->cls && to->check)
			lost += g->check->sent[to->s.node] -
				to->check->expected[g->s.node];
	}
	if (lost)
		return weft_fail(err, EPROTO,
				 "%s: %llu packets have not arrived", c->name,
				 (unsigned long long)lost);
	return 0;
}
