/* SPDX-License-Identifier: Apache-2.0 */
/* Remote memory: reads, writes and atomics, and all accesses that must be
 * refused; connections and datagrams. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/pep.h"
#include "rig.h"

static unsigned char a[200000], b[200000];

static struct fid_mr *reg(struct rig *r, uint64_t key, uint64_t access)
{
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(r->s[1].dom, b, sizeof(b), access, 0, key, 0,
				   &mr, NULL),
			 0);
	assert_int_equal(fi_mr_key(mr), key);
	return mr;
}

static void writes_and_reads_move_bytes_and_complete(void **state)
{
	static const size_t sizes[] = { 1, 8, 4056, 4057, 4064, 4065, 150000 };
	struct rig r;
	struct fid_mr *mr;
	struct fi_cq_tagged_entry e;

	rig_up(&r, FI_EP_RDM);
	mr = reg(&r, 42, FI_REMOTE_READ | FI_REMOTE_WRITE);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];

		rig_fill(a, n, (unsigned)n);
		memset(b, 0, sizeof(b));
		assert_int_equal(fi_writedata(r.s[0].ep, a, n, NULL, 9,
					      r.s[0].to, 3, 42, a),
				 0);
		e = rig_next(&r, 0);
		assert_int_equal(e.flags, FI_RMA | FI_WRITE);
		assert_memory_equal(a, b + 3, n);
		e = rig_next(&r, 1);
		assert_int_equal(e.flags,
				 FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
		assert_int_equal(e.data, 9);
		assert_int_equal(e.len, n);
		memset(a, 0, n);
		assert_int_equal(
			fi_read(r.s[0].ep, a, n, NULL, r.s[0].to, 3, 42, b), 0);
		e = rig_next(&r, 0);
		assert_int_equal(e.flags, FI_RMA | FI_READ);
		assert_memory_equal(a, b + 3, n);
		rig_none(&r, 1);
	}
	fi_close(&mr->fid);
	rig_down(&r);
}

static void refuse(struct rig *r, bool write, size_t len, uint64_t addr,
		   uint64_t key, int err)
{
	memset(b, 1, sizeof(b));
	memset(a, 2, sizeof(a));
	assert_int_equal(write ? fi_write(r->s[0].ep, a, len, NULL, r->s[0].to,
					  addr, key, a)
			       : fi_read(r->s[0].ep, a, len, NULL, r->s[0].to,
					 addr, key, a),
			 0);
	assert_int_equal(rig_error(r, 0).err, err);
	rig_none(r, 1);
	assert_int_equal(b[addr % sizeof(b)], 1);
	assert_int_equal(a[0], 2);
}

/* The first access stores the region's address and key at the accessing side,
 * so that the second access goes directly to the region. A region that was
 * closed is forgotten. A later region with an equal key is a new one. */
static void second_access_goes_directly_to_a_known_region(void **state)
{
	struct rig r;
	struct fid_mr *mr;

	rig_up(&r, FI_EP_RDM);
	mr = reg(&r, 42, FI_REMOTE_READ | FI_REMOTE_WRITE);
	for (int i = 0; i < 3; i++) {
		unsigned was = double_direct(0);

		rig_fill(a, 3000, (unsigned)i);
		memset(b, 0, sizeof(b));
		fi_write(r.s[0].ep, a, 3000, NULL, r.s[0].to, 5, 42, a);
		assert_int_equal(rig_next(&r, 0).flags, FI_RMA | FI_WRITE);
		assert_memory_equal(a, b + 5, 3000);
		memset(a, 0, 3000);
		fi_read(r.s[0].ep, a, 3000, NULL, r.s[0].to, 5, 42, a);
		rig_next(&r, 0);
		assert_memory_equal(a, b + 5, 3000);
		assert_int_equal(double_direct(0) - was, i ? 2 : 1);
		rig_none(&r, 1);
	}
	refuse(&r, true, 3000, sizeof(b) - 2999, 42, FI_EACCES);
	fi_close(&mr->fid);
	rig_settle(&r);
	refuse(&r, true, 3000, 0, 42, FI_ENOKEY);
	mr = reg(&r, 42, FI_REMOTE_READ);
	refuse(&r, true, 3000, 0, 42, FI_EACCES);
	refuse(&r, true, 3000, 0, 42, FI_EACCES);
	fi_close(&mr->fid);
	rig_down(&r);
}

/* A library may leave max_put 0, as for a NIC without puts. */
static void write_is_one_put_unless_the_nic_limits_puts(void **state)
{
	static const struct {
		uint32_t most;
		unsigned puts;
	} runs[] = { { 100000, 2 }, { 60000, 3 }, { 0, 1 } };
	struct rig r;
	struct fid_mr *mr;

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		rig_up(&r, FI_EP_RDM);
		double_max_put(runs[i].most);
		mr = reg(&r, 42, FI_REMOTE_WRITE);
		rig_fill(a, 150000, 1);
		memset(b, 0, sizeof(b));
		fi_write(r.s[0].ep, a, 150000, NULL, r.s[0].to, 3, 42, a);
		assert_int_equal(rig_next(&r, 0).flags, FI_RMA | FI_WRITE);
		assert_memory_equal(a, b + 3, 150000);
		assert_int_equal(double_direct(0), runs[i].puts);
		fi_close(&mr->fid);
		rig_down(&r);
	}
}

static void region_of_pieces_is_accessed_as_one(void **state)
{
	struct rig r;
	struct fid_mr *mr;
	struct iovec there[2] = { { b + 1000, 500 }, { b + 5000, 90000 } };
	struct iovec here[2] = { { a, 700 }, { a + 700, 19300 } };

	rig_up(&r, FI_EP_RDM);
	assert_int_equal(fi_mr_regv(r.s[1].dom, there, 2,
				    FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0,
				    &mr, NULL),
			 0);
	rig_fill(a, 20000, 1);
	memset(b, 0, sizeof(b));
	fi_writev(r.s[0].ep, here, NULL, 2, r.s[0].to, 100, 5, NULL);
	rig_next(&r, 0);
	assert_memory_equal(a, b + 1100, 400);
	assert_memory_equal(a + 400, b + 5000, 19600);
	memset(a, 0, 20000);
	fi_readv(r.s[0].ep, here, NULL, 2, r.s[0].to, 100, 5, NULL);
	rig_next(&r, 0);
	assert_memory_equal(a, b + 1100, 400);
	assert_memory_equal(a + 400, b + 5000, 19600);
	fi_close(&mr->fid);
	rig_down(&r);
}

static void access_without_right_key_or_range_is_refused(void **state)
{
	struct rig r;
	struct fid_mr *w, *rd;

	rig_up(&r, FI_EP_RDM);
	w = reg(&r, 1, FI_REMOTE_WRITE);
	rd = reg(&r, 2, FI_REMOTE_READ);
	for (int i = 0; i < 2; i++) {
		size_t n = i ? 100000 : 8;

		refuse(&r, true, n, 0, 3, FI_ENOKEY);
		refuse(&r, false, n, 0, 3, FI_ENOKEY);
		refuse(&r, true, n, 0, 2, FI_EACCES);
		refuse(&r, false, n, 0, 1, FI_EACCES);
		refuse(&r, true, n, sizeof(b) - n + 1, 1, FI_EACCES);
		refuse(&r, false, n, sizeof(b) + 1, 2, FI_EACCES);
		refuse(&r, true, n, UINT64_MAX - 3, 1, FI_EACCES);
	}
	fi_close(&w->fid);
	refuse(&r, true, 8, 0, 1, FI_ENOKEY);
	fi_close(&rd->fid);
	rig_down(&r);
}

static void atomics_change_remote_memory_and_fetch_old_values(void **state)
{
	struct rig r;
	struct fid_mr *mr;
	uint64_t *mem = (uint64_t *)b, v = 5, old = 0, cmp = 12;
	size_t most;

	rig_up(&r, FI_EP_RDM);
	mr = reg(&r, 1, FI_REMOTE_WRITE | FI_REMOTE_READ);
	mem[1] = 7;
	assert_int_equal(fi_atomic(r.s[0].ep, &v, 1, NULL, r.s[0].to, 8, 1,
				   FI_UINT64, FI_SUM, NULL),
			 0);
	assert_int_equal(rig_next(&r, 0).flags, FI_ATOMIC | FI_WRITE);
	assert_int_equal(mem[1], 12);
	v = 100;
	fi_compare_atomic(r.s[0].ep, &v, 1, NULL, &cmp, NULL, &old, NULL,
			  r.s[0].to, 8, 1, FI_UINT64, FI_CSWAP, NULL);
	assert_int_equal(rig_next(&r, 0).flags, FI_ATOMIC | FI_READ);
	assert_int_equal(old, 12);
	assert_int_equal(mem[1], 100);
	fi_fetch_atomic(r.s[0].ep, NULL, 1, NULL, &old, NULL, r.s[0].to, 8, 1,
			FI_UINT64, FI_ATOMIC_READ, NULL);
	rig_next(&r, 0);
	assert_int_equal(old, 100);
	assert_int_equal(
		fi_compare_atomicvalid(r.s[0].ep, FI_UINT128, FI_CSWAP, &most),
		0);
	assert_true(most >= 64);
	assert_int_equal(fi_atomicvalid(r.s[0].ep, FI_FLOAT, FI_BOR, &most),
			 -FI_EOPNOTSUPP);
	assert_int_equal(fi_inject_atomic(r.s[0].ep, &v, 1, r.s[0].to, 8, 99,
					  FI_UINT64, FI_SUM),
			 0);
	assert_int_equal(rig_error(&r, 0).err, FI_ENOKEY);
	fi_close(&mr->fid);
	rig_down(&r);
}

/* ---- counters ---- */

static void region_counts_the_writes_that_arrive(void **state)
{
	struct rig r;
	struct fid_mr *mr;
	struct fid_cntr *c;
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	rig_up(&r, FI_EP_RDM);
	mr = reg(&r, 1, FI_REMOTE_WRITE | FI_REMOTE_READ);
	assert_int_equal(fi_cntr_open(r.s[1].dom, &attr, &c, NULL), 0);
	assert_int_equal(fi_mr_bind(mr, &c->fid, FI_REMOTE_WRITE), 0);
	fi_inject_write(r.s[0].ep, a, 8, r.s[0].to, 0, 1);
	fi_write(r.s[0].ep, a, 100000, NULL, r.s[0].to, 0, 1, NULL);
	rig_settle(&r);
	assert_int_equal(fi_cntr_read(c), 2);
	assert_int_equal(fi_cntr_wait(c, 3, 1), -FI_ETIMEDOUT);
	rig_next(&r, 0);
	rig_none(&r, 0); /* an inject makes no completion */
	fi_close(&mr->fid);
	fi_close(&c->fid);
	rig_down(&r);
}

/* ---- other endpoints ---- */

static void datagram_fits_one_message_of_the_transport(void **state)
{
	struct rig r;

	rig_up(&r, FI_EP_DGRAM);
	fi_recv(r.s[1].ep, b, sizeof(b), NULL, FI_ADDR_UNSPEC, NULL);
	assert_int_equal(
		fi_send(r.s[0].ep, a, WFI_DGRAM, NULL, r.s[0].to, NULL), 0);
	assert_int_equal(rig_next(&r, 1).len, WFI_DGRAM);
	assert_int_equal(
		fi_send(r.s[0].ep, a, WFI_DGRAM + 1, NULL, r.s[0].to, NULL),
		-FI_EMSGSIZE);
	rig_down(&r);
}

static ssize_t event(struct rig *r, int side, uint32_t *ev, void *e, size_t n)
{
	rig_settle(r);
	return fi_eq_read(r->s[side].eq, ev, e, n, 0);
}

static void connection_is_refused_rejected_then_accepted(void **state)
{
	struct rig r;
	struct fid_pep *pep;
	struct sockaddr_in sin;
	size_t len = sizeof(sin);
	union {
		struct fi_eq_cm_entry cm;
		char room[400];
	} e;
	struct fi_eq_err_entry err = { 0 };
	uint32_t ev;

	rig_up(&r, FI_EP_MSG);
	assert_int_equal(fi_passive_ep(r.s[1].fabric, r.s[1].info, &pep, NULL),
			 0);
	assert_int_equal(fi_pep_bind(pep, &r.s[1].eq->fid, 0), 0);
	assert_int_equal(fi_getname(&pep->fid, &sin, &len), 0);
	fi_enable(r.s[0].ep);
	assert_int_equal(fi_send(r.s[0].ep, a, 8, NULL, 0, NULL), -FI_ENOTCONN);
	/* no endpoint listens */
	assert_int_equal(fi_connect(r.s[0].ep, &sin, NULL, 0), 0);
	assert_int_equal(event(&r, 0, &ev, &e, sizeof(e)), -FI_EAVAIL);
	fi_eq_readerr(r.s[0].eq, &err, 0);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	fi_listen(pep);
	fi_connect(r.s[0].ep, &sin, "hello", 6);
	assert_int_equal(event(&r, 1, &ev, &e, sizeof(e)), sizeof(e.cm) + 6);
	assert_int_equal(ev, FI_CONNREQ);
	assert_string_equal(e.cm.data, "hello");
	assert_int_equal(fi_reject(pep, e.cm.info->handle, "no", 3), 0);
	fi_freeinfo(e.cm.info);
	assert_int_equal(event(&r, 0, &ev, &e, sizeof(e)), -FI_EAVAIL);
	fi_eq_readerr(r.s[0].eq, &err, 0);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	assert_string_equal(err.err_data, "no");
	fi_connect(r.s[0].ep, &sin, NULL, 0);
	event(&r, 1, &ev, &e, sizeof(e));
	fi_close(&r.s[1].ep->fid);
	assert_int_equal(fi_endpoint(r.s[1].dom, e.cm.info, &r.s[1].ep, NULL),
			 0);
	fi_freeinfo(e.cm.info);
	fi_ep_bind(r.s[1].ep, &r.s[1].eq->fid, 0);
	fi_ep_bind(r.s[1].ep, &r.s[1].cq->fid, FI_TRANSMIT | FI_RECV);
	assert_int_equal(fi_accept(r.s[1].ep, "yes", 4), 0);
	assert_int_equal(event(&r, 1, &ev, &e, sizeof(e)), sizeof(e.cm));
	assert_int_equal(ev, FI_CONNECTED);
	assert_int_equal(event(&r, 0, &ev, &e, sizeof(e)), sizeof(e.cm) + 4);
	assert_string_equal(e.cm.data, "yes");
	fi_recv(r.s[1].ep, b, 100, NULL, 0, NULL);
	assert_int_equal(fi_send(r.s[0].ep, a, 100, NULL, 0, NULL), 0);
	assert_int_equal(rig_next(&r, 1).len, 100);
	fi_shutdown(r.s[1].ep, 0);
	event(&r, 0, &ev, &e, sizeof(e));
	assert_int_equal(ev, FI_SHUTDOWN);
	fi_close(&pep->fid);
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_and_reads_move_bytes_and_complete),
		cmocka_unit_test(region_of_pieces_is_accessed_as_one),
		cmocka_unit_test(second_access_goes_directly_to_a_known_region),
		cmocka_unit_test(write_is_one_put_unless_the_nic_limits_puts),
		cmocka_unit_test(access_without_right_key_or_range_is_refused),
		cmocka_unit_test(
			atomics_change_remote_memory_and_fetch_old_values),
		cmocka_unit_test(region_counts_the_writes_that_arrive),
		cmocka_unit_test(datagram_fits_one_message_of_the_transport),
		cmocka_unit_test(connection_is_refused_rejected_then_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
