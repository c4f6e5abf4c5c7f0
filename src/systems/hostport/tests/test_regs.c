/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the Host Port (hostport.md 4.10): reset values, values after
 * stores, configuration space. */
#include "unit/cmocka_all.h"

#include "unit/host/config.h"
#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

static struct hpdrv drv;

/* ---- values of reset ---- */

struct value {
	uint32_t off;
	uint64_t val;
};

static const struct value reset[] = {
	{ HP_R_HPID, 1 },
	{ HP_R_CT_BASE, 0 },
	{ HP_R_RS_BASE, 0 },
	{ HP_R_RS_SIZE, 0 },
	{ HP_R_WQ_SIZE, 64 },
	{ HP_R_SDR_SIZE, 8192 },
	{ HP_R_RDR_SIZE, 8192 },
	{ HP_R_WDT_SIZE, 64 },
	{ HP_R_PRQ_SIZE, 32 },
	{ HP_R_NQ_SIZE, 128 },
	{ HP_R_CTRL, HP_CTRL_NPS_MAKE(3) },
	{ HP_R_RDR_UNIT, 0 },
	{ HP_R_CACHE_ARG0, 0 },
	{ HP_R_CACHE_ARG1, 0 },
	{ HP_R_CACHE_STATUS, 0 },
	{ HP_R_TLB_MISS, HP_NONE },
	{ HP_R_TLB_MISS_CNT, 0 },
	{ HP_R_IRQ_STATUS, 0 },
	{ HP_R_IRQ_VPID, HP_NONE },
	{ HP_R_ERR_LOG, HP_NONE },
	{ HP_R_CSB_FREE, 256 },
	{ HP_R_NODES, 1 },
	{ HP_R_NODE, 0 },
	{ HP_R_EVENTS_BASE, 0 },
	{ HP_R_EVENTS_SIZE, 0 },
	{ HP_R_EVENTS_RP, 0 },
	{ HP_R_PARK_BASE, 0 },
	{ HP_R_PARK_SIZE, 0 },
	{ HP_R_DRIVER_STATE, 0 },
};

/* ---- values after a store ---- */

enum { MOST = 1 << HP_PTR_BITS };

static const struct {
	uint32_t off;
	uint64_t put, get;
} stored[] = {
	{ HP_R_HPID, ~0ull, UINT32_MAX },
	{ HP_R_HPID, 7, 7 },
	{ HP_R_CT_BASE, 0x123456789aff, 0x123456789ac0 },
	{ HP_R_RS_BASE, 0x123456789aff, 0x123456789aff },
	{ HP_R_RS_SIZE, 0x123456789aff, 0x123456789aff },
	{ HP_R_WQ_SIZE, 0, 2 },
	{ HP_R_WQ_SIZE, 1, 2 },
	{ HP_R_WQ_SIZE, 3, 3 },
	{ HP_R_SDR_SIZE, MOST - 1, MOST - 1 },
	{ HP_R_SDR_SIZE, MOST, MOST },
	{ HP_R_SDR_SIZE, MOST + 1, MOST },
	{ HP_R_RDR_SIZE, ~0ull, MOST },
	{ HP_R_RDR_SIZE, 1, 2 },
	{ HP_R_PRQ_SIZE, 1, 2 },
	{ HP_R_NQ_SIZE, 0, 2 },
	{ HP_R_WDT_SIZE, 0, 0 },
	{ HP_R_WDT_SIZE, 1ull << 32 | 5, 5 },
	{ HP_R_CTRL, ~0ull,
	  HP_CTRL_ENABLE | HP_CTRL_ORDER | HP_CTRL_HASH | HP_CTRL_NPS_MAKE(3) },
	{ HP_R_CTRL, 0, 0 },
	{ HP_R_RDR_UNIT, 16, 16 },
	{ HP_R_RDR_UNIT, 17, 16 },
	{ HP_R_RDR_UNIT, 3, 3 },
	{ HP_R_CACHE_ARG0, 0x123456789abcdef0, 0x123456789abcdef0 },
	{ HP_R_CACHE_ARG1, ~0ull, ~0ull },
	{ HP_R_CACHE_STATUS, 7, 0 }, /* read-only from here on */
	{ HP_R_TLB_MISS_CNT, 7, 0 },
	{ HP_R_CSB_FREE, 7, 256 },
	{ HP_R_NODES, 7, 1 },
	{ HP_R_NODE, 7, 0 },
	{ HP_R_COUNTERS, 7, 0 },
	{ HP_R_ROUTE_NODE, 0, 0 }, /* to itself: no element */
	{ HP_R_ROUTE_DATA, 7, 0 },
	{ HP_R_ROUTE_NODE, 1, HP_NONE },
	{ HP_R_EVENTS_BASE, 0x123456789aff, 0x123456789af0 },
	{ HP_R_EVENTS_RP, 1, 0 }, /* ring has no record */
	{ HP_R_EVENTS_SIZE, HP_EVENTS_MAX + 1, HP_EVENTS_MAX },
	{ HP_R_EVENTS_SIZE, 5, 5 },
	{ HP_R_PARK_BASE, 0x123456789aff, 0x123456789000 },
	{ HP_R_PARK_SIZE, HP_PARK_MAX + 1, 0 },
	{ HP_R_PARK_SIZE, HP_PARK_MAX, HP_PARK_MAX },
	{ HP_R_PARK_SIZE, 0, 0 },
	{ HP_R_VPID_QUIET, 1ull << 16 | 9, 0 },
	{ HP_R_DRIVER_STATE, 0x123456789abcdef0, 0x123456789abcdef0 },
};

static int values(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_io info;

	hpdrv_map(&drv, h);
	assert_true(weft_io_map(h, drv.dev, HP_BAR_INFO, 0, HP_INFO_BYTES,
				WEFT_UC, &info));
	for (uint32_t i = 0; i < sizeof(reset) / sizeof(*reset); i++)
		if (hpdrv_get(&drv, reset[i].off) != reset[i].val)
			fail_msg("reset of %03x", reset[i].off);
	for (uint32_t i = 0; i < sizeof(stored) / sizeof(*stored); i++) {
		hpdrv_set(&drv, stored[i].off, stored[i].put);
		if (hpdrv_get(&drv, stored[i].off) != stored[i].get)
			fail_msg("row %u: %llx", i,
				 (unsigned long long)hpdrv_get(&drv,
							       stored[i].off));
	}
	/* users may read these registers and no others */
	for (uint32_t off = 0; off < HP_INFO_BYTES; off += 8) {
		bool open = off == HP_R_HPID || off == HP_R_RDR_UNIT ||
			    (off >= HP_R_WQ_SIZE && off <= HP_R_NQ_SIZE);
		uint64_t want = open ? hpdrv_get(&drv, off) : 0;

		weft_io_store64(h, &info, off, 12345);
		assert_int_equal(weft_io_load64(h, &info, off), want);
	}
	return 0;
}

static void values_of_reset_and_limits_of_stores(void **state)
{
	hprig_one(values);
}

/* Checks a device with other parameters: one network port, order of packets
 * with equal hashes, another node number. */
static int other_parameters(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const uint64_t all = HP_CTRL_ENABLE | HP_CTRL_ORDER | HP_CTRL_HASH |
			     HP_CTRL_NPS_MAKE(1);

	hpdrv_map(&drv, h);
	assert_int_equal(hpdrv_get(&drv, HP_R_CTRL),
			 HP_CTRL_HASH | HP_CTRL_NPS_MAKE(1));
	hpdrv_set(&drv, HP_R_CTRL, ~0ull);
	assert_int_equal(hpdrv_get(&drv, HP_R_CTRL), all);
	assert_int_equal(hpdrv_get(&drv, HP_R_NODE), 41);
	assert_int_equal(hpdrv_get(&drv, HP_R_HPID), 42);
	assert_int_equal(hpdrv_get(&drv, HP_R_CSB_FREE), 1);
	return 0;
}

static void registers_follow_the_parameters(void **state)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "n_np", "1");
	exrig_set(&r, "hostport.nic", "hash_order", "yes");
	exrig_set(&r, "hostport.nic", "node", "41");
	exrig_set(&r, "hostport.nic", "csb_depth", "1");
	exrig_prog(&r, 0, other_parameters);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* Checks that a load tests and sets the lock. */
static int lock(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hpdrv_map(&drv, h);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(hpdrv_get(&drv, HP_R_DRIVER_LOCK), 0);
		assert_int_equal(hpdrv_get(&drv, HP_R_DRIVER_LOCK), 1);
		assert_int_equal(hpdrv_get(&drv, HP_R_DRIVER_LOCK), 1);
		hpdrv_set(&drv, HP_R_DRIVER_LOCK, i);
	}
	return 0;
}

static void the_lock_is_taken_by_a_load(void **state)
{
	hprig_one(lock);
}

/* ---- configuration space ---- */

static const struct config_row config[] = {
	{ HP_CFG_VENDOR, 2, HP_VENDOR_ID, HP_VENDOR_ID },
	{ HP_CFG_DEVICE, 2, HP_DEVICE_ID, HP_DEVICE_ID },
	{ HP_CFG_COMMAND, 2, HP_CMD_MEMORY | HP_CMD_MASTER,
	  HP_CMD_MEMORY | HP_CMD_MASTER },
	{ HP_CFG_STATUS, 2, 0, 0 },
	{ HP_CFG_CLASS, 4, 0x02800001, 0x02800001 },
	{ HP_CFG_HEADER, 1, 0, 0 },
	{ HP_CFG_IRQ_LINE, 1, 0, 0xff },
	{ HP_CFG_IRQ_PIN, 1, 1, 1 },
	{ 0x40, 4, 0, 0 },
};

static int spaces(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint32_t bytes[HP_BARS] = { HP_MGMT_BYTES, HP_INFO_BYTES,
						 HP_TRIGGER_BYTES,
						 HP_ULTRA_BYTES };

	hpdrv_map(&drv, h);
	CONFIG_CHECK(h, drv.dev, config);
	config_bars(h, drv.dev, bytes, HP_BARS);
	return 0;
}

static void configuration_space_is_as_the_table_says(void **state)
{
	hprig_one(spaces);
}

/* Checks that the device ignores stores and does not answer loads while memory
 * access is disabled. */
static int deaf(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hpdrv_map(&drv, h);
	hpdrv_set(&drv, HP_R_HPID, 5);
	assert_int_equal(hpdrv_get(&drv, HP_R_HPID), 5);
	weft_cfg_store(h, drv.dev, HP_CFG_COMMAND, 2, HP_CMD_MASTER);
	hpdrv_set(&drv, HP_R_HPID, 6);
	assert_int_equal(hpdrv_get(&drv, HP_R_HPID), ~0ull);
	weft_cfg_store(h, drv.dev, HP_CFG_COMMAND, 2, HP_CMD_MEMORY);
	assert_int_equal(hpdrv_get(&drv, HP_R_HPID), 5);
	return 0;
}

static void nothing_answers_with_memory_accesses_off(void **state)
{
	hprig_one(deaf);
}

/* Accesses parts of a register: halves, words and bytes at their offsets. */
static int pieces(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hpdrv_map(&drv, h);
	hpdrv_set(&drv, HP_R_DRIVER_STATE, 0x1122334455667788);
	assert_int_equal(weft_io_load32(h, &drv.mgmt, HP_R_DRIVER_STATE),
			 0x55667788);
	assert_int_equal(weft_io_load32(h, &drv.mgmt, HP_R_DRIVER_STATE + 4),
			 0x11223344);
	weft_io_store32(h, &drv.mgmt, HP_R_DRIVER_STATE + 4, 0xaabbccdd);
	assert_int_equal(hpdrv_get(&drv, HP_R_DRIVER_STATE),
			 0xaabbccdd55667788);
	weft_io_store32(h, &drv.mgmt, HP_R_DRIVER_STATE, 1);
	assert_int_equal(hpdrv_get(&drv, HP_R_DRIVER_STATE),
			 0xaabbccdd00000001);
	return 0;
}

static void halves_of_a_register_have_their_places(void **state)
{
	hprig_one(pieces);
}

/* ---- the network ---- */

enum { WAY = 35 };

/* A row of nodes. Each node reaches the next one alternately by its first or
 * second link, so that each hop of a route is an element of its own. */
static void row_of_nodes(struct topology *t)
{
	static uint8_t table[WAY * WAY];
	static uint32_t far[WAY * EX_LINKS];

	*t = (struct topology){ .kind = TOPO_GRAPH,
				.ports = EX_TOPO_PORTS,
				.nodes = WAY,
				.table = table,
				.far = far };
	for (uint32_t i = 0; i < WAY; i++) {
		memset(&table[WAY * i], (int)(EX_INTERNAL + i % 2), WAY);
		far[EX_LINKS * i + i % 2] = i + 1;
	}
}

static int way(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = r->node[node].nic->state;
	const struct topology *own = n->place.topo;
	struct topology row;

	row_of_nodes(&row);
	n->place.topo = &row;
	hpdrv_map(&drv, h);
	assert_int_equal(hpdrv_get(&drv, HP_R_NODES), WAY);
	for (uint32_t k = 0; k <= WAY; k++) {
		hpdrv_set(&drv, HP_R_ROUTE_NODE, k);
		assert_int_equal(hpdrv_get(&drv, HP_R_ROUTE_NODE),
				 k <= 32 ? k : HP_NONE);
		for (uint32_t i = 0; i < 32 && k <= 32; i++) {
			uint64_t w =
				hpdrv_get(&drv, HP_R_ROUTE_DATA + 8 * (i / 8));

			assert_int_equal(w >> 8 * (i % 8) & 0xff,
					 i < k ? HP_EL(4 + i % 2, 1) : 0);
		}
	}
	n->place.topo = own;
	return 0;
}

static void routes_of_up_to_32_elements_are_shown(void **state)
{
	hprig_one(way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_reset_and_limits_of_stores),
		cmocka_unit_test(registers_follow_the_parameters),
		cmocka_unit_test(the_lock_is_taken_by_a_load),
		cmocka_unit_test(configuration_space_is_as_the_table_says),
		cmocka_unit_test(nothing_answers_with_memory_accesses_off),
		cmocka_unit_test(halves_of_a_register_have_their_places),
		cmocka_unit_test(routes_of_up_to_32_elements_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
