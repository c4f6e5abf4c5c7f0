/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of ref_coh: its state, and functions that its files share.
 *
 *   ref_coh_cache.c  memory and caches
 *   ref_coh_net.c    the interconnect: arbiter, snoops
 *   ref_coh.c        cores, interface, the clock */
#ifndef COHERENT_TESTS_REF_COH_INTERNAL_H
#define COHERENT_TESTS_REF_COH_INTERNAL_H

#include "ref_coh.h"

struct line {
	char st; /* state: 'I', 'S', 'E' or 'M' */
	uint64_t addr;
	uint32_t age;
	uint8_t b[COH_LINE_MAX];
};

enum what { W_NOTHING, W_SNOOP, W_DATA };
struct wait {
	uint32_t cycles;
	enum what then;
};
struct waits {
	struct wait w[16];
	uint32_t n;
};

struct core {
	enum { C_STOP, C_BUSY, C_ASKS } st;
	uint64_t until;
	uint32_t pos;
	struct line *lines;
	uint8_t priv[REF_COH_PRIV];
};

struct ref {
	const struct ref_coh_script *s;
	struct ref_coh_log *log;
	uint64_t now;
	struct core core[COH_CORES_MAX];
	/* interface */
	enum { N_STOP, N_WAITS, N_ASKS } ni;
	uint64_t ni_until;
	uint32_t ni_pos;
	/* interconnect */
	bool busy;
	uint32_t turn;
	/* path: list of waits until the requester has the data. side: list of
	 * waits until memory is written */
	struct waits path, side;
	struct coh_txn t;
	struct line *place;
	char fill;
	uint8_t buf[COH_LINE_MAX];
	int64_t row[64]; /* open row of each bank, or -1 for none */
};

static inline uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return a / b + (a % b ? 1 : 0);
}

static inline bool is_private(uint64_t addr)
{
	return addr >= REF_COH_PRIVATE;
}

static inline bool is_uncached(uint64_t addr)
{
	return !is_private(addr) && addr >= REF_COH_OPEN;
}

static inline const struct coh_op *op_of(struct ref *r, uint32_t i)
{
	return &r->s->op[i][r->core[i].pos];
}

static inline const struct coh_item *item_of(struct ref *r)
{
	return &r->s->item[r->ni_pos];
}

/* ref_coh_cache.c */
void ref_coh_then(struct waits *l, uint32_t cycles, enum what what);
void ref_coh_wait_read(struct ref *r, struct waits *l, uint64_t addr);
void ref_coh_wait_write(struct ref *r, struct waits *l, uint64_t addr,
			const uint8_t *b, uint32_t n);
void ref_coh_wait_reply(struct ref *r, uint32_t n, enum what what);
struct line *ref_coh_find(struct ref *r, uint32_t i, uint64_t addr);
void ref_coh_touch(struct ref *r, uint32_t i, struct line *l);
void ref_coh_make_room(struct ref *r, uint32_t i, uint64_t addr,
		       struct waits *l);
void ref_coh_put_line(struct ref *r, uint32_t i, uint64_t addr, char st,
		      const uint8_t *b);

/* ref_coh_net.c */
void ref_coh_net_step(struct ref *r);
void ref_coh_arbitrate(struct ref *r);

/* ref_coh.c */
void ref_coh_access_done(struct ref *r, uint32_t i, uint8_t *b);
void ref_coh_next_item(struct ref *r);

#endif
