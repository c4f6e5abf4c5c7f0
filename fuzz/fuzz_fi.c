/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that breaks the rules sends messages of the provider with arbitrary
 * bytes (announcements, windows, writes, reads, atomics, answers, connections)
 * between calls of a good process. The good process neither crashes nor loses
 * memory.
 *
 * An input is a string of operations, one byte each followed by its
 * arguments. */
#include <string.h>

#include "../tests/unit/provider/rig.h"
#include "provider/wire.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AREA = 1 << 16, TURNS = 300 };
enum { BAD, GOOD }; /* sides; BAD sends the forged messages */

struct fuzz {
	struct fuzz_in in;
	struct rig r;
	struct fid_mr *mr;
	uint64_t key;
};

static uint8_t area[AREA], spare[AREA];

/* ---- the bad side ---- */

/* Returns an address, a key or a number that may be valid. */
static uint64_t near(struct fuzz *f)
{
	switch (take(&f->in, 1) % 6) {
	case 0:
		return (uintptr_t)area + take(&f->in, 2);
	case 1:
		return f->key + take(&f->in, 1) % 3;
	case 2:
		return take(&f->in, 1);
	case 3:
		return UINT64_MAX - take(&f->in, 1);
	case 4:
		return take(&f->in, 2);
	default:
		return take(&f->in, 8);
	}
}

static void op_forge(struct fuzz *f)
{
	uint64_t msg[WIRE_MAX / 8] = { 0 };
	struct wire *w = (struct wire *)msg;
	uint64_t *more = msg + sizeof(*w) / 8;
	uint32_t n = take(&f->in, 1) % 8;

	w->op = (uint8_t)(take(&f->in, 1) % (WIRE_OPS + 1));
	w->flags = (uint8_t)take(&f->in, 1);
	w->dst = take(&f->in, 1) % 8 ? rig_ep(&f->r, GOOD)->port.num
				     : (uint16_t)take(&f->in, 2);
	w->src = take(&f->in, 1) % 8 ? rig_ep(&f->r, BAD)->port.num
				     : (uint16_t)take(&f->in, 2);
	w->aux = (uint16_t)take(&f->in, 2);
	w->a = near(f);
	w->b = near(f);
	w->id = (uint32_t)near(f);
	w->id2 = (uint32_t)near(f);
	for (uint32_t i = 0; i < n; i++)
		more[i] = near(f);
	double_forge(BAD, GOOD, msg,
		     take(&f->in, 1) % 8 ? sizeof(*w) + n * 8
					 : take(&f->in, 2) % sizeof(msg));
}

/* ---- the good side ---- */

static size_t length(struct fuzz *f)
{
	return take(&f->in, 1) & 1 ? take(&f->in, 1) : take(&f->in, 2) % AREA;
}

static void op_recv(struct fuzz *f)
{
	if (take(&f->in, 1) & 1)
		fi_recv(f->r.s[GOOD].ep, area, length(f), NULL, FI_ADDR_UNSPEC,
			area);
	else
		fi_trecv(f->r.s[GOOD].ep, area, length(f), NULL, FI_ADDR_UNSPEC,
			 take(&f->in, 1), 3, area);
}

static void op_send(struct fuzz *f)
{
	fi_tsend(f->r.s[GOOD].ep, area, length(f), NULL, f->r.s[GOOD].to,
		 take(&f->in, 1), spare);
}

static void op_rma(struct fuzz *f)
{
	struct fid_ep *ep = f->r.s[GOOD].ep;
	fi_addr_t to = f->r.s[GOOD].to;
	uint64_t addr = near(f), key = near(f);

	if (take(&f->in, 1) & 1)
		fi_write(ep, area, length(f), NULL, to, addr, key, area);
	else
		fi_read(ep, spare, length(f), NULL, to, addr, key, spare);
}

static void op_atomic(struct fuzz *f)
{
	fi_fetch_atomic(f->r.s[GOOD].ep, area, 1, NULL, spare, NULL,
			f->r.s[GOOD].to, near(f), near(f), FI_UINT64, FI_SUM,
			spare);
}

static void op_region(struct fuzz *f)
{
	if (f->mr)
		fi_close(&f->mr->fid);
	f->mr = NULL;
	if (take(&f->in, 1) & 1)
		return;
	fi_mr_reg(f->r.s[GOOD].dom, area, length(f) + 1,
		  FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0, &f->mr, NULL);
	f->key = f->mr ? fi_mr_key(f->mr) : 0;
}

static void op_progress(struct fuzz *f)
{
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry bad = { 0 };

	for (int i = 0; i < 8; i++)
		if (fi_cq_read(f->r.s[GOOD].cq, &e, 1) == -FI_EAVAIL)
			fi_cq_readerr(f->r.s[GOOD].cq, &bad, 0);
}

static void op_answers(struct fuzz *f)
{
	struct fi_cq_tagged_entry e;

	fi_cq_read(f->r.s[BAD].cq, &e, 1);
}

static void op_full(struct fuzz *f)
{
	double_full(GOOD, take(&f->in, 1) % 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const ops[])(struct fuzz *) = {
		op_forge,  op_forge, op_forge,	 op_forge,    op_forge,
		op_forge,  op_recv,  op_send,	 op_rma,      op_atomic,
		op_region, op_full,  op_answers, op_progress, op_progress,
	};
	struct fuzz f = { .in = { data, data + size } };

	rig_up(&f.r, FI_EP_RDM);
	op_region(&f);
	for (int i = 0; i < TURNS && f.in.p < f.in.end; i++)
		ops[take(&f.in, 1) % (sizeof(ops) / sizeof(ops[0]))](&f);
	double_full(GOOD, 0);
	op_progress(&f);
	if (f.mr)
		fi_close(&f.mr->fid);
	rig_down(&f.r);
	return 0;
}
