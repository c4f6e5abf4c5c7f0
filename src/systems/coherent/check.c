/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of forth.md 9, checked while the machine runs (`verify`).
 *
 * A flat memory executes every store and every delivered item at the moment
 * when it takes effect, and a load must return the bytes of that memory. At the
 * end of a transaction the copies of its line in all caches and in memory must
 * agree. */
#include <inttypes.h>
#include <string.h>

#include "systems/coherent/coherent_internal.h"

enum { SHOWN = 8 };

#define CHECK(c, cond, ...)                                                    \
	do {                                                                   \
		if (!(cond) && (c)->counters[C_ERRORS]++ < SHOWN)              \
			weft_check_failed(c, __VA_ARGS__);                     \
	} while (0)

void coh_check_op(struct weft_comp *c, uint32_t i, const struct coh_op *op,
		  uint64_t value)
{
	struct coh_system *s = c->state;
	bool own = coh_where(s, op->addr, op->bytes) == COH_PRIVATE;
	struct coh_mem *m = own ? &s->check.priv[i] : &s->check.flat;
	uint64_t addr = own ? op->addr - s->private_base : op->addr;
	uint8_t bytes[8];
	uint64_t want = 0;

	if (!s->verify)
		return;
	weft_count(c, C_CHECKS, 1);
	for (uint32_t b = 0; b < op->bytes; b++)
		bytes[b] = (uint8_t)(value >> 8 * b);
	if (op->store) {
		coh_mem_write(m, addr, bytes, op->bytes);
		return;
	}
	coh_mem_read(m, addr, bytes, op->bytes);
	for (uint32_t b = 0; b < op->bytes; b++)
		want |= (uint64_t)bytes[b] << 8 * b;
	CHECK(c, value == want,
	      "core %u loads %" PRIx64 " from %" PRIx64 ": %" PRIx64
	      " was written",
	      i, value, op->addr, want);
}

struct copies {
	uint32_t n, exclusive, dirty;
};

/* Checks that every copy equals the line of the flat memory, and that clean
 * copies also equal DRAM. */
static struct copies line_copies(struct weft_comp *c, uint64_t addr,
				 const uint8_t *flat, const uint8_t *mem)
{
	struct coh_system *s = c->state;
	struct copies n = { 0 };

	for (uint32_t i = 0; i < s->cores; i++) {
		const struct coh_line *l =
			coh_cache_find(&s->core[i].cache, addr);

		if (!l)
			continue;
		n.n++;
		n.exclusive += l->state == COH_E || l->state == COH_M;
		n.dirty += l->state == COH_M;
		CHECK(c, !memcmp(l->data, flat, s->line),
		      "cache %u, state %s: line %" PRIx64
		      " is not what was written",
		      i, coh_state_name[l->state], addr);
		CHECK(c, l->state == COH_M || !memcmp(l->data, mem, s->line),
		      "cache %u, state %s: line %" PRIx64
		      " is not what memory holds",
		      i, coh_state_name[l->state], addr);
	}
	return n;
}

void coh_check_txn(struct weft_comp *c, const struct coh_txn *t)
{
	struct coh_system *s = c->state;
	uint64_t addr = t->addr & ~(uint64_t)(s->line - 1);
	uint8_t flat[COH_LINE_MAX], mem[COH_LINE_MAX];
	struct copies n;

	if (!s->verify)
		return;
	weft_count(c, C_CHECKS, 1);
	CHECK(c, coh_where(s, t->addr, t->bytes) != COH_PRIVATE,
	      "%s of private address %" PRIx64, coh_bus_name[t->bus], t->addr);
	coh_mem_read(&s->check.flat, addr, flat, s->line);
	coh_mem_read(&s->ddr.mem, addr, mem, s->line);
	n = line_copies(c, addr, flat, mem);
	CHECK(c, n.exclusive <= 1 && (!n.exclusive || n.n == 1),
	      "line %" PRIx64 ": %u copies, %u of them exclusive", addr, n.n,
	      n.exclusive);
	CHECK(c, n.dirty || !memcmp(flat, mem, s->line),
	      "line %" PRIx64 ": memory is not what was written", addr);
	if (t->bus == COH_UPDATE)
		CHECK(c,
		      !memcmp(mem + (t->addr - addr), s->ni.item.data,
			      t->bytes),
		      "Update of %" PRIx64 " has not reached memory", t->addr);
}
