/* SPDX-License-Identifier: Apache-2.0 */
/* coh.system against its clock-by-clock reference: for random scripts the cycle
 * and value of every access, every transaction, and the final memory and caches
 * are identical. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/replay.h"
#include "rig.h"

enum { ROUNDS = 2000 };

static uint64_t draw(uint64_t *x, uint64_t n)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (*x >> 11) % n;
}

static uint32_t draw32(uint64_t *x, uint32_t n)
{
	return (uint32_t)draw(x, n);
}

/* Returns an address among few lines in each kind of memory, so that the cores
 * conflict. */
static uint64_t random_addr(uint64_t *x, uint32_t line, uint32_t span)
{
	static const uint64_t base[] = {
		0, 0, 0, 0, 0, 0x8000, REF_COH_OPEN, REF_COH_PRIVATE
	};
	uint32_t room = span * line < REF_COH_PRIV ? span * line : REF_COH_PRIV;

	return base[draw(x, 8)] + draw(x, room / 8) * 8;
}

static void random_ops(uint64_t *x, struct ref_coh_script *s, uint32_t i)
{
	uint32_t span = 1 + draw32(x, 24), stores = draw32(x, 10);

	s->n_ops[i] = draw32(x, REF_COH_OPS + 1);
	for (uint32_t k = 0; k < s->n_ops[i]; k++) {
		struct coh_op *op = &s->op[i][k];

		op->bytes = 1u << draw32(x, 4);
		op->addr = random_addr(x, s->line, span) +
			   draw(x, 8) / op->bytes * op->bytes;
		op->store = draw(x, 10) < stores;
		op->value = draw(x, UINT32_MAX) << 32 | draw(x, UINT32_MAX);
		op->gap = draw(x, 2) ? 0 : draw32(x, 40);
	}
}

static void random_items(uint64_t *x, struct ref_coh_script *s)
{
	uint64_t at = 0;

	s->n_items = draw32(x, REF_COH_ITEMS + 1);
	for (uint32_t k = 0; k < s->n_items; k++) {
		struct coh_item *it = &s->item[k];

		at += draw(x, 60);
		it->cycle = at;
		it->how = (enum coh_delivery)draw(x, 3);
		it->target = draw32(x, s->cores);
		it->bytes = draw(x, 3) ? 1 + draw32(x, s->line) : s->line;
		it->addr = draw(x, 12) * s->line +
			   draw(x, s->line - it->bytes + 1);
		if (it->how == COH_TO_MEMORY)
			it->addr += REF_COH_OPEN;
		for (uint32_t b = 0; b < it->bytes; b++)
			it->data[b] = (uint8_t)draw(x, 256);
	}
}

static void random_times(uint64_t *x, struct ref_coh_script *s)
{
	uint32_t *const zero[] = { &s->t_req,	&s->t_snoop, &s->t_supply,
				   &s->t_reply, &s->t_ni,    &s->t_ctrl,
				   &s->t_rp,	&s->t_rcd,   &s->t_cas,
				   &s->t_cwl };
	uint32_t *const one[] = { &s->t_hit, &s->t_port, &s->t_plb, &s->t_arb };

	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		*zero[i] = draw32(x, 9);
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		*one[i] = 1 + draw32(x, 6);
}

static void random_script(uint64_t seed, struct ref_coh_script *s)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;

	rig_script_default(s);
	s->cores = 2 + draw32(&x, draw(&x, 3) ? 4 : 15);
	s->line = 8u << draw32(&x, 4);
	s->ways = 1u << draw32(&x, 3);
	s->size = (s->line * s->ways) << draw32(&x, 5);
	if (s->size < 64)
		s->size = 64;
	s->width = 1u << draw32(&x, 5);
	s->banks = 1 + draw32(&x, 4);
	s->row_bytes = 256u << draw32(&x, 4);
	s->update_alloc = draw(&x, 2);
	s->supply_shared = draw(&x, 2);
	if (draw(&x, 4))
		random_times(&x, s);
	for (uint32_t i = 0; i < s->cores; i++)
		random_ops(&x, s, i);
	random_items(&x, s);
}

static bool txn_same(const struct coh_txn *a, const struct coh_txn *b)
{
	return a->bus == b->bus && a->src == b->src && a->bytes == b->bytes &&
	       a->addr == b->addr && a->grant == b->grant &&
	       a->snoop == b->snoop && a->data == b->data && a->end == b->end &&
	       a->supplier == b->supplier && a->shared == b->shared &&
	       a->allocated == b->allocated;
}

static void txn_print(const char *who, const struct coh_txn *t)
{
	fprintf(stderr,
		"  %s: %s by %u at %" PRIx64 ": grant %" PRIu64
		" snoop %" PRIu64 " data %" PRIu64 " end %" PRIu64
		" supplier %d shared %d allocated %d\n",
		who, coh_bus_name[t->bus], t->src, t->addr, t->grant, t->snoop,
		t->data, t->end, t->supplier, t->shared, t->allocated);
}

static bool txns_same(const struct ref_coh_log *a, const struct ref_coh_log *b)
{
	for (uint32_t i = 0; i < a->n_txns && i < b->n_txns; i++)
		if (!txn_same(&a->txn[i], &b->txn[i])) {
			txn_print("model    ", &a->txn[i]);
			txn_print("reference", &b->txn[i]);
			return false;
		}
	return a->n_txns == b->n_txns;
}

static void op_print(const char *who, const struct ref_coh_access *a)
{
	fprintf(stderr,
		"  %s: core %u at %" PRIx64 ": cycle %" PRIu64 " value %" PRIx64
		"\n",
		who, a->core, a->addr, a->cycle, a->value);
}

static bool op_same(const struct ref_coh_access *a,
		    const struct ref_coh_access *b)
{
	return a->core == b->core && a->cycle == b->cycle &&
	       a->addr == b->addr && a->value == b->value;
}

static bool ops_same(const struct ref_coh_log *a, const struct ref_coh_log *b)
{
	for (uint32_t i = 0; i < a->n_ops && i < b->n_ops; i++)
		if (!op_same(&a->op[i], &b->op[i])) {
			op_print("model    ", &a->op[i]);
			op_print("reference", &b->op[i]);
			return false;
		}
	return a->n_ops == b->n_ops;
}

/* Number of events of each kind, so that the test notices a kind that never
 * occurred. */
struct tally {
	uint64_t ops, bus[COH_BUSES + 1], allocated, supplied;
};

static void tally(struct tally *n, const struct ref_coh_log *log)
{
	n->ops += log->n_ops;
	for (uint32_t i = 0; i < log->n_txns; i++) {
		n->bus[log->txn[i].bus]++;
		n->allocated += log->txn[i].allocated;
		n->supplied += log->txn[i].supplier >= 0;
	}
}

static int play(uint64_t seed, void *totals)
{
	static struct ref_coh_script s;
	static struct ref_coh_log model, ref;
	struct rig rig;
	int bad;

	random_script(seed, &s);
	rig_run(&rig, &s, &model);
	ref_coh_run(&s, &ref);
	bad = !txns_same(&model, &ref) || !ops_same(&model, &ref) ||
	      rig.errors || memcmp(model.mem, ref.mem, sizeof(ref.mem)) ||
	      memcmp(model.copies, ref.copies, sizeof(ref.copies));
	if (bad)
		fprintf(stderr,
			"%u and %u accesses, %u and %u transactions, %" PRIu64
			" errors\n",
			model.n_ops, ref.n_ops, model.n_txns, ref.n_txns,
			rig.errors);
	tally(totals, &model);
	rig_free(&rig);
	return bad;
}

/* Returns true if the scripts have reached every case. */
static bool reached(const struct tally *n, uint64_t rounds)
{
	bool all = n->ops > rounds * 100;

	for (enum coh_bus b = COH_RD; b < COH_NONE; b++)
		all = all && n->bus[b] > rounds;
	return all && n->bus[COH_NONE] > rounds / 200 &&
	       n->allocated > rounds && n->supplied > rounds;
}

int main(int argc, char **argv)
{
	struct tally n = { 0 };
	uint64_t rounds = replay(argc, argv, ROUNDS, play, &n);

	return !rounds || (rounds >= ROUNDS && !reached(&n, rounds));
}
