/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.multi_state: size of the memory in which a receiver records
 * which messages are complete, for both methods of forth.md 7. The size is the
 * sum of the fields of 7.3, 7.4, 7.6 and 7.7 in bits. The program sends no
 * messages.
 *
 *   resequencing  for each source: p1, p2, a flag that p2 is known, flags for
 *                 loss and sync lost. For each path of a source: a packet
 *                 number and two pointers into the pool. For each header in
 *                 the pool: the header, a pointer, flags for written and bad
 *   counting      for each group of a source: count, total, a flag that the
 *                 total is known, two notification flags, a flag for bad
 *
 * The field for the source has enough bits for all senders, although the header
 * of 7.3 can name only 8 sources. */
#include "programs/program.h"

struct multi_state {
	uint32_t senders, paths, headers, groups; /* parameters */
	struct program w;
};

/* Returns the number of bits that distinguish n values. */
static uint32_t bits(uint32_t n)
{
	return n < 2 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

static int multi_state_main(struct weft_comp *c)
{
	const struct multi_state *m = c->state;
	uint64_t path = bits(m->paths), pointer = bits(m->headers);
	/* resequencing: bits per source, then bits of the pool */
	uint64_t reseq = 2 * path + 1 + m->paths * (3 + 2 * pointer) + 2;
	uint64_t pool = m->headers * (64 + pointer + 2);
	/* counting: bits per source */
	uint64_t count = (uint64_t)m->groups * (32 + 32 + 1 + 2 + 1);

	weft_metric(c, "reseq_per_source", "bits", (double)reseq);
	weft_metric(c, "reseq_pool", "B", (double)pool / 8);
	weft_metric(c, "reseq", "B", (double)(reseq * m->senders + pool) / 8);
	weft_metric(c, "count_per_source", "bits", (double)count);
	weft_metric(c, "count", "B", (double)(count * m->senders) / 8);
	weft_metric(c, "source_field", "bits", bits(m->senders));
	return 0;
}

static const struct weft_param multi_state_params[] = {
	/* clang-format off */
	WEFT_PARAM(U32, struct multi_state, senders, "8", "1..65536", OWN,
		   "nodes that send to this one"),
	WEFT_PARAM(U32, struct multi_state, paths, "4", "1..64", OWN,
		   "paths from each"),
	WEFT_PARAM(U32, struct multi_state, headers, "1024", "1..65534", OWN,
		   "pool of headers (R-35)"),
	WEFT_PARAM(U32, struct multi_state, groups, "64", "1..1024", OWN,
		   "groups of each source (7.7: 6 bits)"),
	{ 0 }
	/* clang-format on */
};

WEFT_COMPONENT(forth_multi_state, .name = "forth.multi_state",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "receiver state of resequencing and counting",
	       .source = "forth.md 7.1, 7.7",
	       .state_size = sizeof(struct multi_state),
	       .params = multi_state_params,
	       .ops = { .main = multi_state_main });
