/* SPDX-License-Identifier: Apache-2.0 */
/* State that processes of a node share through the Host Port's driver: sizes of
 * queues, which the first process chooses for all, and ports of ULTRA
 * (hostport.md 9.3, 9.8). */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hpproc.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/nic/nic.h"
#include "systems/hostport/nic/ultra.h"
#include "weft/ep.h"
#include "weft/hostport.h"

/* Runs one or two programs on each of n nodes. */
static void on_nodes(uint32_t n, exrig_fn fn, exrig_fn second)
{
	struct exrig r;

	hprig_new(&r, "2", NULL);
	for (uint32_t i = 0; i < 2; i++) {
		struct hp_nic *nic = r.node[i].nic->state;

		nic->place.topo = &r.topo;
		if (i < n)
			exrig_prog(&r, i, fn);
		if (i < n && second)
			exrig_prog(&r, i, second);
	}
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- an endpoint in queues whose size another process chose ---- */

/* Sizes for two nodes with 8 requests each. For each node a slot needs two
 * notifications and 320 words of the receive region. Other uses need 2 * 20 +
 * 96 notifications and one unit of 64 words. A message needs 256 words of the
 * send region. */
static const struct {
	uint32_t nq, rdr, sdr;
	int ret;
	uint32_t slots;
} sizes[] = {
	{ 136 + 4 * 16, 640 * 16 + 64, 4096, 0, 16 },
	{ 136 + 4 * 5, 640 * 16 + 64, 4096, 0, 5 },
	{ 136 + 4 * 5 - 1, 640 * 16 + 64, 4096, 0, 4 },
	{ 136 + 4, 640 * 16 + 64, 4096, 0, 1 },
	{ 136 + 3, 640 * 16 + 64, 4096, -EBUSY, 0 },
	{ 256, 640 * 3 + 64, 4096, 0, 3 },
	{ 256, 640 * 3, 4096, 0, 2 },
	{ 256, 640, 4096, -EBUSY, 0 },
	{ 256, 640 * 16 + 64, 256, 0, 16 },
	{ 256, 640 * 16 + 64, 255, -EBUSY, 0 },
};
static uint32_t row;
enum { EAGER = 2048, MESSAGES = 9 };

static struct weft_ep_event next(struct weft_ep *ep, enum weft_ep_kind kind)
{
	struct weft_ep_event ev = { 0 };

	while (!ep->ops->poll(ep, &ev, 1))
		ep->ops->wait(ep, WEFT_NEVER);
	assert_int_equal(ev.kind, kind);
	return ev;
}

/* Posts more messages at once than the send region has slots. */
static void messages(struct weft_ep *ep, uint32_t node)
{
	static uint8_t buf[MESSAGES][EAGER];

	for (uint32_t i = 0; i < MESSAGES && !node; i++) {
		memset(buf[i], (int)(i + 1), EAGER);
		assert_int_equal(weft_ep_send(ep, 1, buf[i], EAGER, i, NULL),
				 0);
	}
	for (uint32_t i = 0; i < MESSAGES && !node; i++)
		next(ep, WEFT_EV_SENT);
	for (uint32_t i = 0; i < MESSAGES && node; i++) {
		struct weft_ep_event ev = next(ep, WEFT_EV_RECV);

		assert_int_equal(ev.imm, i);
		assert_int_equal(ev.len, EAGER);
		for (uint32_t k = 0; k < EAGER; k++)
			assert_int_equal(((const uint8_t *)ev.data)[k], i + 1);
		ep->ops->release(ep, &ev);
	}
	weft_host_sleep(ep->host, weft_host_now(ep->host) + 100 * WEFT_US);
}

static const char *const opened[] = { "open0", "open1" };
static const char *const closed[] = { "close0", "close1" };
static const char *const slots[] = { "ep.hostport.0.0.slots",
				     "ep.hostport.0.1.slots" };

static int first_comer(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr a = { .vpid = -1,
				.sizes = { .wq = 64,
					   .nq = sizes[row].nq,
					   .sdr = sizes[row].sdr,
					   .rdr = sizes[row].rdr,
					   .rdr_unit = 6 } };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), 0);
	assert_int_equal(hport_sizes_of(p).nq, sizes[row].nq);
	assert_int_equal(hport_sizes_of(p).rdr, sizes[row].rdr);
	assert_int_equal(hport_sizes_of(p).sdr, sizes[row].sdr);
	weft_oob_put(h, opened[node], 1);
	weft_oob_get(h, closed[node]);
	hport_close(p);
	return 0;
}

static int latecomer(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_ep *ep;

	weft_oob_get(h, opened[node]);
	assert_int_equal(weft_ep_open(h, NULL, &ep), sizes[row].ret);
	if (!sizes[row].ret) {
		assert_int_equal(weft_oob_get(h, slots[node]),
				 sizes[row].slots);
		messages(ep, node);
		ep->ops->close(ep);
	}
	weft_oob_put(h, closed[node], 1);
	return 0;
}

static void an_endpoint_fits_into_the_queues_that_there_are(void **state)
{
	for (row = 0; row < sizeof(sizes) / sizeof(*sizes); row++)
		on_nodes(2, first_comer, latecomer);
}

/* ---- ports of ULTRA ---- */

static int call(struct weft_host *h, uint32_t op, void *arg)
{
	return hport_drv_call(h, weft_dev_open(h, 0), op, arg);
}

/* Returns the owner in the port's registers once earlier stores have
 * arrived. */
static uint64_t owned(struct weft_host *h, struct exrig *r, uint32_t unit,
		      uint32_t upid)
{
	const struct hp_nic *n = r->node[0].nic->state;

	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	return unit ? n->ultra->cpl[upid].owner : n->ultra->port[upid].owner;
}

static int reg(struct weft_host *h, uint32_t unit, uint32_t upid, uint32_t at,
	       uint64_t val)
{
	struct hport_c_ultra a = { unit, upid, at, 1, val };

	return call(h, HPORT_C_ULTRA_REG, &a);
}

static int read_reg(struct weft_host *h, uint32_t unit, uint32_t upid,
		    uint32_t at, uint64_t *val_p)
{
	struct hport_c_ultra a = { .unit = unit, .upid = upid, .reg = at };
	int ret = call(h, HPORT_C_ULTRA_REG, &a);

	*val_p = a.val;
	return ret;
}

static int queue(struct weft_host *h, uint32_t upid, uint32_t slices,
		 uint32_t words)
{
	struct hport_c_ultra_queue a = { upid, slices, words, 0, 0 };

	return call(h, HPORT_C_ULTRA_QUEUE, &a);
}

static int map(struct weft_host *h, uint32_t unit, uint32_t upid)
{
	struct hport_c_ultra_map a = { .unit = unit, .upid = upid };

	return call(h, HPORT_C_ULTRA_MAP, &a);
}

/* Takes all ports of a unit one by one, until none is left. A returned port is
 * available again. */
static void taken(struct weft_host *h, struct exrig *r, uint32_t unit,
		  uint32_t ports)
{
	struct hport_c_ultra a = { .unit = unit };

	for (uint32_t i = 0; i < ports; i++) {
		assert_int_equal(owned(h, r, unit, i), 0);
		assert_int_equal(call(h, HPORT_C_ULTRA_TAKE, &a), 0);
		assert_int_equal(a.upid, i);
		assert_int_equal(owned(h, r, unit, i), 1);
	}
	assert_int_equal(call(h, HPORT_C_ULTRA_TAKE, &a), -EBUSY);
	assert_int_equal(reg(h, unit, 1, unit ? HP_UC_OWNER : HP_UR_OWNER, 0),
			 0);
	assert_int_equal(owned(h, r, unit, 1), 0);
	assert_int_equal(map(h, unit, 1), -EBADF);
	assert_int_equal(call(h, HPORT_C_ULTRA_TAKE, &a), 0);
	assert_int_equal(a.upid, 1);
	assert_int_equal(owned(h, r, unit, 1), 1);
}

static void refused(struct weft_host *h, uint32_t ports, uint32_t vpid)
{
	struct hport_c_ultra a = { .unit = 1 };
	uint64_t val;

	assert_int_equal(call(h, HPORT_C_ULTRA_TAKE, &a), -EINVAL);
	assert_int_equal(reg(h, 0, ports, HP_UR_LEN, 1), -EBADF);
	assert_int_equal(reg(h, 1, 0, HP_UR_LEN, 1), -EBADF);
	assert_int_equal(reg(h, 0, 0, HP_PAGE, 1), -EINVAL);
	assert_int_equal(reg(h, 0, 0, HP_UR_LEN + 4, 1), -EINVAL);
	/* refused, because memory and the slice of the packet queue belong to
	 * the driver */
	assert_int_equal(reg(h, 0, 0, HP_UR_SLICE, 0), -EPERM);
	assert_int_equal(reg(h, 0, 0, HP_UR_PTRS, 0), -EPERM);
	assert_int_equal(reg(h, HP_ULTRA_CPL, 0, HP_UC_BASE, 0), -EPERM);
	assert_int_equal(reg(h, HP_ULTRA_CPL, 0, HP_UC_SIZE, 0), -EPERM);
	assert_int_equal(read_reg(h, 0, 0, HP_UR_SLICE, &val), 0);
	/* accepts a VPID of the caller's process, or one without an owner */
	assert_int_equal(reg(h, 0, 0, HP_UR_VPID, vpid), 0);
	assert_int_equal(read_reg(h, 0, 0, HP_UR_VPID, &val), 0);
	assert_int_equal(val & 0xffff, vpid);
	assert_int_equal(reg(h, 0, 0, HP_UR_VPID, vpid + 1), 0);
	assert_int_equal(reg(h, HP_ULTRA_CPL, 0, HP_UC_VPID, vpid), 0);
	/* queues */
	assert_int_equal(queue(h, ports, 4, 4), -EBADF);
	assert_int_equal(queue(h, 0, 0, 4), -EINVAL);
	assert_int_equal(queue(h, 0, 4, 0), -EINVAL);
	assert_int_equal(queue(h, 0, 4, 256), -EINVAL);
	assert_int_equal(queue(h, 0, 1 << 24, 1), -EINVAL);
	assert_int_equal(queue(h, 0, 4, 255), 0);
	assert_int_equal(read_reg(h, HP_ULTRA_CPL, 0, HP_UC_SIZE, &val), 0);
	assert_int_equal(val, 255ull << 24 | 4);
	/* refused, because the port has a queue */
	assert_int_equal(queue(h, 0, 4, 255), -EINVAL);
	/* pages */
	assert_int_equal(map(h, 0, 0), 0);
	assert_int_equal(map(h, 0, 0), -EBUSY);
	assert_int_equal(map(h, HP_ULTRA_CPL, 0), 0);
	assert_int_equal(map(h, 0, ports), -EBADF);
}

static int ultra(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_c_ultra_info i = { .node = 99 };
	struct hport *p;

	assert_int_equal(hport_open(h, NULL, &p), 0);
	assert_int_equal(call(h, HPORT_C_ULTRA_INFO, &i), 0);
	assert_int_equal(i.node, node);
	assert_int_equal(i.hpid, hport_hpid(p));
	assert_in_range(i.ports, 2, 1024);
	taken(h, r, 0, i.ports);
	taken(h, r, HP_ULTRA_CPL, i.ports);
	refused(h, i.ports, hport_vpid(p));
	hport_close(p);
	return 0;
}

static void ports_of_ultra_are_taken_once_and_given_back(void **state)
{
	on_nodes(1, ultra, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_endpoint_fits_into_the_queues_that_there_are),
		cmocka_unit_test(ports_of_ultra_are_taken_once_and_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
