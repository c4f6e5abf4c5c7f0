/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of libfabric between two endpoints, right and wrong. A sum is
 * computed over all results, all completions, all memory and every byte that
 * the provider gives to the transport. The sum must equal the sum stored in
 * this file. After an intended change the test prints the sum to store. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum { MEM = 1 << 17, STEPS = 20000, KEYS = 4 };

static struct play {
	struct rig r;
	uint64_t state, sum;
	struct fid_mr *mr[2][KEYS];
	struct fid_cntr *cntr[2];
	bool timed;
} play;

static unsigned char mem[2][MEM];

/* ---- numbers ---- */

static uint64_t rnd(uint64_t n)
{
	play.state ^= play.state << 13;
	play.state ^= play.state >> 7;
	play.state ^= play.state << 17;
	return play.state % n;
}

static void add(uint64_t val)
{
	play.sum = (play.sum ^ val) * 1099511628211u;
}

/* Adds the result of a call to the sum. */
static void ret(ssize_t val)
{
	add((uint64_t)val);
}

static size_t length(void)
{
	static const size_t sizes[] = { 0,    1,    8,	  64,	100,
					2000, 2048, 2049, 4000, 4056,
					4057, 4064, 4065, 5000, 20000 };

	return sizes[rnd(sizeof(sizes) / sizeof(sizes[0]))];
}

static uint64_t tx_flags(void)
{
	static const uint64_t all[] = {
		FI_COMPLETION,	      FI_INJECT,	 FI_DELIVERY_COMPLETE,
		FI_TRANSMIT_COMPLETE, FI_REMOTE_CQ_DATA, FI_MATCH_COMPLETE
	};
	uint64_t f = rnd(2) ? all[rnd(6)] : 0;

	return rnd(4) ? f : f | all[rnd(6)];
}

/* Arguments of a call. They are drawn one after the other, because the compiler
 * chooses the order in which arguments of a function are evaluated. */
struct args {
	unsigned s;
	struct fid_ep *ep;
	unsigned way; /* number that selects the kind of call */
	size_t len, n;
	unsigned char *p[4];
	struct iovec iov[5];
	fi_addr_t to, from;
	void *ctx;
	uint64_t data, tag, ignore, flags;
	uint64_t key, at;
	bool odd;
};

/* Returns a remote address, which lies inside a region in most cases. */
static uint64_t remote(uint64_t key)
{
	uint64_t at = key ? 0 : 4096;

	if (rnd(20))
		return at + rnd(40000);
	return rnd(2) ? at - 1 : MEM / 2 - rnd(64);
}

static struct args pick(unsigned s, bool receive)
{
	struct args a = { .s = s, .ep = play.r.s[s].ep };

	a.way = (unsigned)rnd(720);
	a.len = length();
	for (int i = 0; i < 4; i++)
		a.p[i] = mem[s] + rnd(MEM - 20000);
	/* up to five pieces, of which only four are allowed */
	a.n = rnd(16) ? 1 + rnd(3) : 5;
	a.n = rnd(30) ? a.n : 0;
	/* Without a clock, long messages and receives get at most one piece.
	 * For several pieces the provider would use a bounce buffer in the
	 * heap. The address of that buffer decides which registrations it
	 * overlaps, but results must not depend on an address. */
	if (!play.timed && (a.len > 4000 || receive) && a.n < 5)
		a.n = a.n != 0;
	for (size_t i = 0; i < a.n; i++) {
		a.iov[i].iov_base = mem[s] + rnd(MEM - 20000);
		a.iov[i].iov_len = a.len / a.n;
	}
	a.to = rnd(40) ? play.r.s[s].to : 77;
	a.from = rnd(3) ? FI_ADDR_UNSPEC : a.to;
	a.ctx = (void *)(uintptr_t)rnd(20);
	a.data = rnd(1000);
	a.tag = rnd(4);
	a.tag |= rnd(2) << 40;
	a.ignore = rnd(3) ? 0 : 1ull << 40 | 1;
	a.flags = tx_flags();
	a.key = rnd(KEYS + 1);
	a.at = remote(a.key);
	a.odd = rnd(8) == 0;
	return a;
}

/* ---- messages ---- */

static void do_send(unsigned s)
{
	struct args a = pick(s, false);
	struct fi_msg m = { .msg_iov = a.iov,
			    .iov_count = a.n,
			    .addr = a.to,
			    .context = a.ctx,
			    .data = a.data };

	switch (a.way % 6) {
	case 0:
		ret(fi_send(a.ep, a.p[0], a.len, NULL, a.to, a.ctx));
		break;
	case 1:
		ret(fi_sendv(a.ep, a.iov, NULL, a.n, a.to, a.ctx));
		break;
	case 2:
		ret(fi_sendmsg(a.ep, &m, a.flags));
		break;
	case 3:
		ret(fi_inject(a.ep, a.p[0], a.len, a.to));
		break;
	case 4:
		ret(fi_senddata(a.ep, a.p[0], a.len, NULL, a.data, a.to,
				a.ctx));
		break;
	default:
		ret(fi_injectdata(a.ep, a.p[0], a.len, a.data, a.to));
	}
}

static void do_tsend(unsigned s)
{
	struct args a = pick(s, false);
	struct fi_msg_tagged m = { .msg_iov = a.iov,
				   .iov_count = a.n,
				   .addr = a.to,
				   .context = a.ctx,
				   .tag = a.tag,
				   .data = a.data };

	switch (a.way % 6) {
	case 0:
		ret(fi_tsend(a.ep, a.p[0], a.len, NULL, a.to, a.tag, a.ctx));
		break;
	case 1:
		ret(fi_tsendv(a.ep, a.iov, NULL, a.n, a.to, a.tag, a.ctx));
		break;
	case 2:
		ret(fi_tsendmsg(a.ep, &m, a.flags));
		break;
	case 3:
		ret(fi_tinject(a.ep, a.p[0], a.len, a.to, a.tag));
		break;
	case 4:
		ret(fi_tsenddata(a.ep, a.p[0], a.len, NULL, a.data, a.to, a.tag,
				 a.ctx));
		break;
	default:
		ret(fi_tinjectdata(a.ep, a.p[0], a.len, a.data, a.to, a.tag));
	}
}

static void do_recv(unsigned s)
{
	struct args a = pick(s, true);
	struct fi_msg m = { .msg_iov = a.iov,
			    .iov_count = a.n,
			    .addr = a.from,
			    .context = a.ctx };

	switch (a.way % 4) {
	case 0:
		ret(fi_recv(a.ep, a.p[0], a.len, NULL, a.from, a.ctx));
		break;
	case 1:
		ret(fi_recvv(a.ep, a.iov, NULL, a.n, a.from, a.ctx));
		break;
	case 2:
		ret(fi_recvmsg(a.ep, &m, a.flags & FI_COMPLETION));
		break;
	default:
		m.iov_count = 1;
		a.iov[0] = (struct iovec){ a.p[0], 500 + a.data * 6 };
		ret(fi_recvmsg(a.ep, &m, FI_MULTI_RECV));
	}
}

static void do_trecv(unsigned s)
{
	static const uint64_t looks[] = { 0,
					  FI_COMPLETION,
					  FI_PEEK,
					  FI_PEEK | FI_CLAIM,
					  FI_PEEK | FI_DISCARD,
					  FI_CLAIM,
					  FI_CLAIM | FI_DISCARD };
	struct args a = pick(s, true);
	struct fi_msg_tagged m = { .msg_iov = a.iov,
				   .iov_count = a.n,
				   .addr = a.from,
				   .context = a.ctx,
				   .tag = a.tag,
				   .ignore = a.ignore };

	switch (a.way % 4) {
	case 0:
		ret(fi_trecv(a.ep, a.p[0], a.len, NULL, a.from, a.tag, a.ignore,
			     a.ctx));
		break;
	case 1:
		ret(fi_trecvv(a.ep, a.iov, NULL, a.n, a.from, a.tag, a.ignore,
			      a.ctx));
		break;
	default:
		ret(fi_trecvmsg(a.ep, &m, looks[a.data % 7]));
	}
}

static void do_cancel(unsigned s)
{
	ret(fi_cancel(&play.r.s[s].ep->fid, (void *)(uintptr_t)rnd(20)));
}

/* ---- memory ---- */

static void do_region(unsigned s)
{
	static const uint64_t access[KEYS] = {
		FI_REMOTE_READ | FI_REMOTE_WRITE,
		FI_REMOTE_READ,
		FI_REMOTE_WRITE,
		FI_REMOTE_READ | FI_REMOTE_WRITE,
	};
	struct iovec iov[2] = { { mem[s], MEM / 2 },
				{ mem[s] + MEM / 2 + 64, 30000 } };
	unsigned k = (unsigned)rnd(KEYS);
	struct fid_mr **mr = &play.mr[s][k];

	if (*mr) {
		ret(fi_close(&(*mr)->fid));
		*mr = NULL;
		return;
	}
	ret(fi_mr_regv(play.r.s[s].dom, iov, k == 3 && play.timed ? 2 : 1,
		       access[k], k ? 0 : 4096, k, 0, mr, NULL));
	if (k == 2 && play.cntr[s])
		ret(fi_mr_bind(*mr, &play.cntr[s]->fid, FI_REMOTE_WRITE));
}

static void do_rma(unsigned s)
{
	struct args a = pick(s, false);
	struct fi_rma_iov there = { a.at, a.len, a.key };
	struct fi_msg_rma m = { .msg_iov = a.iov,
				.iov_count = a.n,
				.addr = a.to,
				.rma_iov = &there,
				.rma_iov_count = !a.odd,
				.context = a.ctx,
				.data = a.data };

	switch (a.way % 9) {
	case 0:
		ret(fi_read(a.ep, a.p[0], a.len, NULL, a.to, a.at, a.key,
			    a.ctx));
		break;
	case 1:
		ret(fi_readv(a.ep, a.iov, NULL, a.n, a.to, a.at, a.key, a.ctx));
		break;
	case 2:
		ret(fi_readmsg(a.ep, &m, a.flags & FI_COMPLETION));
		break;
	case 3:
		ret(fi_write(a.ep, a.p[0], a.len, NULL, a.to, a.at, a.key,
			     a.ctx));
		break;
	case 4:
		ret(fi_writev(a.ep, a.iov, NULL, a.n, a.to, a.at, a.key,
			      a.ctx));
		break;
	case 5:
		ret(fi_writemsg(a.ep, &m, a.flags));
		break;
	case 6:
		ret(fi_inject_write(a.ep, a.p[0], a.len, a.to, a.at, a.key));
		break;
	case 7:
		ret(fi_writedata(a.ep, a.p[0], a.len, NULL, a.data, a.to, a.at,
				 a.key, a.ctx));
		break;
	default:
		ret(fi_inject_writedata(a.ep, a.p[0], a.len, a.data, a.to, a.at,
					a.key));
	}
}

static void do_atomic(unsigned s)
{
	static const enum fi_datatype types[] = { FI_UINT8, FI_INT32, FI_UINT64,
						  FI_UINT128 };
	static const enum fi_op ops[] = { FI_SUM,	  FI_MAX,
					  FI_BXOR,	  FI_LAND,
					  FI_ATOMIC_READ, FI_ATOMIC_WRITE,
					  FI_CSWAP,	  FI_MSWAP };
	struct args a = pick(s, false);
	enum fi_datatype t = types[a.data % 4];
	enum fi_op op = ops[a.data / 4 % 8];
	size_t n = a.len > 100 ? 1 + a.len % 5 : a.len * 6;
	struct fi_ioc src[2] = { { a.p[0], n }, { a.p[1], 1 } };
	struct fi_ioc res = { a.p[2], n }, cmp = { a.p[3], n };
	struct fi_rma_ioc there = { a.at & ~15ull, n + a.odd, a.key };
	struct fi_msg_atomic m = { .msg_iov = src,
				   .iov_count = 1 + a.odd,
				   .addr = a.to,
				   .rma_iov = &there,
				   .rma_iov_count = 1,
				   .datatype = t,
				   .op = op,
				   .context = a.ctx };

	switch (a.way % 8) {
	case 0:
		ret(fi_atomic(a.ep, a.p[0], n, NULL, a.to, there.addr, a.key, t,
			      op, a.ctx));
		break;
	case 1:
		ret(fi_atomicmsg(a.ep, &m, a.flags));
		break;
	case 2:
		ret(fi_inject_atomic(a.ep, a.p[0], n, a.to, there.addr, a.key,
				     t, op));
		break;
	case 3:
		ret(fi_fetch_atomic(a.ep, a.p[0], n, NULL, a.p[2], NULL, a.to,
				    there.addr, a.key, t, op, a.ctx));
		break;
	case 4:
		ret(fi_fetch_atomicmsg(a.ep, &m, &res, NULL, 1, 0));
		break;
	case 5:
		ret(fi_fetch_atomicv(a.ep, src, NULL, 1 + a.odd, &res, NULL, 1,
				     a.to, there.addr, a.key, t, op, a.ctx));
		break;
	case 6:
		ret(fi_compare_atomic(a.ep, a.p[0], n, NULL, a.p[3], NULL,
				      a.p[2], NULL, a.to, there.addr, a.key, t,
				      op, a.ctx));
		break;
	default:
		ret(fi_compare_atomicmsg(a.ep, &m, &cmp, NULL, 1, &res, NULL, 1,
					 0));
	}
}

/* ---- outcome ---- */

static void add_place(unsigned s, const void *p)
{
	const unsigned char *b = p;

	add(b >= mem[s] && b < mem[s] + MEM ? (uint64_t)(b - mem[s]) : ~0ull);
}

static void do_read(unsigned s)
{
	struct fi_cq_tagged_entry e[5];
	struct fi_cq_err_entry err = { 0 };
	fi_addr_t src[5];
	size_t most = 1 + rnd(5);
	ssize_t n = fi_cq_readfrom(play.r.s[s].cq, e, most, src);

	ret(n);
	for (ssize_t i = 0; i < n; i++) {
		add((uintptr_t)e[i].op_context);
		add(e[i].flags);
		add(e[i].len);
		add(e[i].data);
		add(e[i].tag);
		add(src[i]);
		if (e[i].flags & FI_RECV)
			add_place(s, e[i].buf);
	}
	if (n != -FI_EAVAIL)
		return;
	ret(fi_cq_readerr(play.r.s[s].cq, &err, 0));
	add((uintptr_t)err.op_context);
	add(err.flags);
	add(err.len);
	add(err.olen);
	add((uint64_t)err.err);
	add(err.tag);
}

static void do_move(unsigned s)
{
	add(rig_progress(&play.r, (int)s));
}

static void do_full(unsigned s)
{
	double_full(s, (unsigned)rnd(4));
}

static void look(void)
{
	for (unsigned s = 0; s < 2; s++) {
		for (size_t i = 0; i < MEM; i += 8)
			add(*(uint64_t *)(mem[s] + i));
		add(double_charged(s));
		if (play.cntr[s]) {
			add(fi_cntr_read(play.cntr[s]));
			add(fi_cntr_readerr(play.cntr[s]));
		}
	}
	add(double_log());
}

/* ---- endpoints ---- */

/* Binds one counter to all operations of an endpoint. Completions are reported
 * on request. */
static void counted(unsigned s)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct rig_side *x = &play.r.s[s];
	uint64_t all = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
		       FI_REMOTE_WRITE;

	assert_int_equal(fi_cntr_open(x->dom, &attr, &play.cntr[s], NULL), 0);
	rig_ep(&play.r, (int)s)->enabled = false;
	assert_int_equal(fi_ep_bind(x->ep, &play.cntr[s]->fid, all), 0);
	assert_int_equal(fi_enable(x->ep), 0);
	rig_ep(&play.r, (int)s)->tx_sel = rig_ep(&play.r, (int)s)->rx_sel =
		true;
}

static void end(void)
{
	for (unsigned s = 0; s < 2; s++) {
		double_full(s, 0);
		rig_settle(&play.r);
		for (unsigned k = 0; k < KEYS; k++)
			if (play.mr[s][k])
				fi_close(&play.mr[s][k]->fid);
	}
	rig_settle(&play.r);
	for (unsigned s = 0; s < 2; s++) {
		fi_close(&play.r.s[s].ep->fid);
		if (play.cntr[s])
			assert_int_equal(fi_close(&play.cntr[s]->fid), 0);
		assert_int_equal(fi_endpoint(play.r.s[s].dom, play.r.s[s].info,
					     &play.r.s[s].ep, NULL),
				 0);
	}
	rig_down(&play.r);
}

static const struct mode {
	const char *name;
	enum fi_ep_type type;
	bool counts, timed;
	uint64_t want;
} modes[] = {
	{ "plain", FI_EP_RDM, false, false, 0xfb10416e140a6a50 },
	{ "counted", FI_EP_RDM, true, false, 0xb9dd6fe0be036ba0 },
	{ "timed", FI_EP_RDM, false, true, 0x6ef48e80cbc10e69 },
	{ "datagrams", FI_EP_DGRAM, false, false, 0x31f5a7189bddc108 },
};

static uint64_t run(const struct mode *m)
{
	static void (*const ops[])(unsigned s) = {
		do_send, do_send,   do_tsend, do_tsend,	 do_recv,   do_recv,
		do_recv, do_trecv,  do_trecv, do_trecv,	 do_rma,    do_rma,
		do_rma,	 do_atomic, do_read,  do_read,	 do_read,   do_move,
		do_move, do_move,   do_full,  do_cancel, do_region,
	};

	memset(&play, 0, sizeof(play));
	play.state = 88172645463325252u + (uint64_t)(m - modes);
	play.timed = m->timed;
	for (size_t i = 0; i < MEM; i++)
		mem[0][i] = mem[1][i] = (unsigned char)(i * 31 >> 3);
	rig_up(&play.r, m->type);
	for (unsigned s = 0; s < 2 && m->counts; s++)
		counted(s);
	if (m->timed)
		double_cost(1000);
	for (int i = 0; i < STEPS; i++) {
		unsigned s = (unsigned)rnd(2);

		ops[rnd(sizeof(ops) / sizeof(ops[0]))](s);
		if (i % 1000 == 999)
			look();
	}
	end();
	return play.sum;
}

static void random_calls_give_the_stored_outcome(void **state)
{
	bool wrong = false;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		uint64_t sum = run(&modes[i]);

		if (sum == modes[i].want)
			continue;
		wrong = true;
		print_error("%s: 0x%016llx\n", modes[i].name,
			    (unsigned long long)sum);
	}
	assert_false(wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_calls_give_the_stored_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
