/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations, see collective.h. */
#include "net/collective.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/vec.h"

struct maker {
	enum collective_kind kind;
	uint32_t nodes, size;
	struct {
		VEC(struct trace_pkt);
	} pkts;
	struct {
		VEC(struct trace_edge);
	} deps;
	struct {
		VEC(uint32_t);
	} steps;
	/* had[i] is the last packet that arrived at node i before this step.
	 * got[i] is the packet that arrives at node i in this step. UINT32_MAX
	 * means no packet. */
	uint32_t *had, *got;
};

static uint32_t steps_log(uint32_t nodes)
{
	uint32_t k = 0;

	while ((1ull << k) < nodes)
		k++;
	return k;
}

static uint32_t steps_of(enum collective_kind kind, uint32_t nodes)
{
	switch (kind) {
	case COLLECTIVE_ALL_TO_ALL:
		return nodes - 1;
	case COLLECTIVE_RING:
		return 2 * (nodes - 1);
	default:
		return steps_log(nodes);
	}
}

/* Returns the node to which a node sends in a step. Returns the node itself if
 * it sends nothing. */
static uint32_t partner_of(const struct maker *m, uint32_t step, uint32_t node)
{
	uint64_t far = 1ull << (step & 31);

	switch (m->kind) {
	case COLLECTIVE_ALL_TO_ALL:
		return (uint32_t)(((uint64_t)node + step + 1) % m->nodes);
	case COLLECTIVE_RING:
		return (node + 1) % m->nodes;
	case COLLECTIVE_DOUBLING:
		return node ^ (uint32_t)far;
	case COLLECTIVE_BROADCAST:
		if (node < far && node + far < m->nodes)
			return node + (uint32_t)far;
		return node;
	default:
		return (uint32_t)((node + far) % m->nodes);
	}
}

static void packet_add(struct maker *m, uint32_t step, uint32_t node,
		       uint32_t dest)
{
	uint32_t i = (uint32_t)m->pkts.n;

	vec_push(&m->pkts, (struct trace_pkt){ .src = node,
					       .dst = dest,
					       .bytes = m->size });
	vec_push(&m->steps, step);
	if (m->had[node] != UINT32_MAX)
		vec_push(&m->deps, (struct trace_edge){ m->had[node], i });
	m->got[dest] = i;
}

static void step_add(struct maker *m, uint32_t step)
{
	uint32_t *was = m->had;

	for (uint32_t i = 0; i < m->nodes; i++)
		m->got[i] = UINT32_MAX;
	for (uint32_t i = 0; i < m->nodes; i++) {
		uint32_t to = partner_of(m, step, i);

		if (to != i)
			packet_add(m, step, i, to);
	}
	/* If a node receives no packet in this step, its next packet still
	 * depends on the last packet that it received. */
	for (uint32_t i = 0; i < m->nodes; i++)
		if (m->got[i] == UINT32_MAX)
			m->got[i] = m->had[i];
	m->had = m->got;
	m->got = was;
}

struct trace *collective_make(enum collective_kind kind, uint32_t nodes,
			      uint32_t size, struct weft_err *err)
{
	struct maker m = { .kind = kind, .nodes = nodes, .size = size };
	uint32_t steps = steps_of(kind, nodes);
	struct trace *t;

	if (nodes < 2) {
		weft_fail(err, EINVAL,
			  "a collective operation needs two nodes or more");
		return NULL;
	}
	if (kind == COLLECTIVE_DOUBLING && nodes & (nodes - 1)) {
		weft_fail(
			err, EINVAL,
			"doubling exchanges by bits of the number: it needs a power of 2 nodes, not %u, or use ring",
			nodes);
		return NULL;
	}
	if ((uint64_t)steps * nodes > COLLECTIVE_PACKETS) {
		weft_fail(
			err, EINVAL,
			"%u steps of %u nodes are more than %u packets: use fewer nodes, or an operation with fewer steps",
			steps, nodes, COLLECTIVE_PACKETS);
		return NULL;
	}
	m.had = need(calloc(nodes, sizeof(*m.had)));
	m.got = need(calloc(nodes, sizeof(*m.got)));
	for (uint32_t i = 0; i < nodes; i++)
		m.had[i] = UINT32_MAX;
	for (uint32_t k = 0; k < steps; k++)
		step_add(&m, k);
	t = trace_of(m.pkts.at, (uint32_t)m.pkts.n, m.deps.at, m.deps.n, nodes);
	t->step = m.steps.at;
	t->steps = steps;
	vec_free(&m.deps);
	free(m.had);
	free(m.got);
	return t;
}
