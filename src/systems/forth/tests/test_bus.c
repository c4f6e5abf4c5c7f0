/* SPDX-License-Identifier: Apache-2.0 */
/* Tests errors of the PCI-X bus on whole machines: hosts, buses, fault.bus, two
 * NICs, and programs with the user library. Each row damages one access and
 * names the status bits that must be set (forth.md 2.2, 3.6). All other status
 * bits must stay 0. A second transfer must arrive. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "unit/host/node.h"
#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

extern const struct weft_class weft_class_bus_pcix, weft_class_forth_nic,
	weft_class_fault_bus;

#define WORD 0x1122334455667788ull
#define ALL                                                                    \
	(FORTH_CMD_MEMORY | FORTH_CMD_MASTER | FORTH_CMD_PARITY |              \
	 FORTH_CMD_SERR)
#define QUIET  (ALL & ~FORTH_CMD_PARITY)
#define NOSERR (ALL & ~FORTH_CMD_SERR)
#define DP     FORTH_STATUS_DATA_PARITY
#define STA    FORTH_STATUS_SIG_TARGET_ABORT
#define RTA    FORTH_STATUS_RCV_TARGET_ABORT
#define RMA    FORTH_STATUS_RCV_MASTER_ABORT
#define SSE    FORTH_STATUS_SIG_SERR
#define DPE    FORTH_STATUS_PARITY

/* Effect of the damaged access on its data. */
enum fate {
	RIGHT,	  /* the data arrive as without an error */
	LOST,	  /* nothing arrives */
	TURNED,	  /* the data arrive with a wrong bit and are notified */
	UNTOLD,	  /* the data arrive with a wrong bit and are not notified */
	NOT_DONE, /* store without effect */
	ONES,	  /* the load returns all ones */
};

struct row {
	const char *error, *access;
	uint32_t node; /* whose NIC */
	uint16_t command;
	bool recover;
	uint16_t status;
	/* pcix: bits of the PCI-X status register. ours: result of
	 * weft_forth_bus_errors */
	uint32_t pcix, ours;
	enum fate fate;
	uint32_t perr, serr;
};

static const struct row rows[] = {
	{ "none", "reads", 0, ALL, true, 0, 0, 0, RIGHT, 0, 0 },
	{ "data", "reads", 0, ALL, true, DPE | DP, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_PERR, LOST, 1, 0 },
	{ "data", "reads", 0, ALL, false, DPE | DP | SSE, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_PERR | WEFT_FORTH_BUS_SERR,
	  LOST, 1, 1 },
	{ "data", "reads", 0, NOSERR, false, DPE | DP, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_PERR, LOST, 1, 0 },
	{ "data", "reads", 0, QUIET, false, DPE, 0, WEFT_FORTH_BUS_PARITY,
	  TURNED, 0, 0 },
	{ "data", "writes", 1, ALL, true, DP, 0, WEFT_FORTH_BUS_PERR, UNTOLD, 0,
	  0 },
	{ "data", "writes", 1, ALL, false, DP | SSE, 0,
	  WEFT_FORTH_BUS_PERR | WEFT_FORTH_BUS_SERR, UNTOLD, 0, 1 },
	{ "data", "writes", 1, QUIET, false, 0, 0, 0, TURNED, 0, 0 },
	{ "address", "reads", 0, ALL, true, RTA, 0, WEFT_FORTH_BUS_TARGET_ABORT,
	  LOST, 0, 0 },
	{ "address", "writes", 1, ALL, true, RTA, 0,
	  WEFT_FORTH_BUS_TARGET_ABORT, LOST, 0, 0 },
	{ "target_abort", "reads", 0, ALL, true, RTA, 0,
	  WEFT_FORTH_BUS_TARGET_ABORT, LOST, 0, 0 },
	{ "master_abort", "reads", 0, ALL, true, RMA, 0,
	  WEFT_FORTH_BUS_MASTER_ABORT, LOST, 0, 0 },
	{ "master_abort", "writes", 1, ALL, true, RMA, 0,
	  WEFT_FORTH_BUS_MASTER_ABORT, LOST, 0, 0 },
	{ "message", "reads", 0, ALL, true, 0, FORTH_PCIX_STATUS_MESSAGE,
	  WEFT_FORTH_BUS_READ_FAILED, LOST, 0, 0 },
	{ "repeat", "reads", 0, ALL, true, 0, FORTH_PCIX_STATUS_UNEXPECTED,
	  WEFT_FORTH_BUS_UNEXPECTED, RIGHT, 0, 0 },
	{ "address", "stores", 0, ALL, true, DPE | STA | SSE, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_REFUSED | WEFT_FORTH_BUS_SERR,
	  NOT_DONE, 0, 1 },
	{ "address", "stores", 0, QUIET, true, DPE | STA, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_REFUSED, NOT_DONE, 0, 0 },
	{ "data", "stores", 0, ALL, true, DPE, 0, WEFT_FORTH_BUS_PARITY,
	  NOT_DONE, 1, 0 },
	{ "data", "stores", 0, QUIET, true, DPE, 0, WEFT_FORTH_BUS_PARITY,
	  TURNED, 0, 0 },
	{ "address", "loads", 0, ALL, true, DPE | STA | SSE, 0,
	  WEFT_FORTH_BUS_PARITY | WEFT_FORTH_BUS_REFUSED | WEFT_FORTH_BUS_SERR,
	  ONES, 0, 1 },
	{ "discard", "loads", 0, ALL, true, 0, FORTH_PCIX_STATUS_DISCARDED,
	  WEFT_FORTH_BUS_DISCARDED, ONES, 0, 0 },
};

/* ---- programs ---- */

static const struct row *row_of(const struct bench *b)
{
	return b->p;
}

static void settings(struct weft_host *h, struct weft_forth *f,
		     const struct row *r)
{
	struct weft_dev *d = weft_forth_dev(f);
	uint32_t cmd = weft_cfg_load(h, d, FORTH_CFG_PCIX_CMD, 2);

	/* check the settings of the driver, then apply the settings of the
	 * row */
	assert_int_equal(weft_cfg_load(h, d, FORTH_CFG_COMMAND, 2), ALL);
	assert_int_equal(cmd & FORTH_PCIX_CMD_RECOVER, FORTH_PCIX_CMD_RECOVER);
	weft_cfg_store(h, d, FORTH_CFG_COMMAND, 2, r->command);
	if (!r->recover)
		weft_cfg_store(h, d, FORTH_CFG_PCIX_CMD, 2,
			       cmd & ~FORTH_PCIX_CMD_RECOVER);
}

/* Checks that the NIC has the status bits of the row if `hit`, otherwise none.
 * The driver reports the bits and clears them. */
static void look(struct weft_host *h, struct weft_forth *f, const struct row *r,
		 bool hit)
{
	struct weft_dev *d = weft_forth_dev(f);

	for (uint32_t i = 0; i < 2; i++, hit = false) {
		assert_int_equal(weft_cfg_load(h, d, FORTH_CFG_STATUS, 2),
				 0x0430 | (hit ? r->status : 0));
		assert_int_equal(weft_cfg_load(h, d, FORTH_CFG_PCIX_STATUS, 4) &
					 FORTH_PCIX_STATUS_W1C,
				 hit ? r->pcix : 0);
		assert_int_equal(weft_forth_bus_errors(f), hit ? r->ours : 0);
	}
}

/* Makes the access of the row. The outage begins at 100 us and damages the
 * first access after that time. */
static void access_once(struct weft_forth *f, const struct row *r)
{
	uint32_t v;

	if (!strcmp(r->access, "stores")) {
		weft_forth_store(f, FORTH_QUEUE_SELECT, 4);
		v = weft_forth_load(f, FORTH_QUEUE_SELECT);
		assert_int_equal(v, r->fate == NOT_DONE ? 0 : 5);
	} else {
		v = weft_forth_load(f, FORTH_BUILD);
		assert_int_equal(v, 0xFFFFFFFF);
		assert_int_not_equal(weft_forth_load(f, FORTH_BUILD), v);
	}
}

static int sender(struct weft_host *h, struct bench *b)
{
	const struct row *r = row_of(b);
	bool dma = r->fate < NOT_DONE && strcmp(r->access, "stores");
	struct weft_forth *f;
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 4096, 64, &phys);

	assert_int_equal(weft_forth_open(h, NULL, &f), 0);
	settings(h, f, r);
	p[0] = p[1] = p[8] = WORD;
	weft_host_sleep(h, 110 * WEFT_US);
	if (!dma)
		access_once(f, r);
	for (uint32_t i = dma ? 0 : 1; i < 2; i++)
		assert_int_equal(weft_forth_put(f, 0, phys + 64 * i,
						b->v[0] + 64 * i, 2,
						WEFT_FORTH_RNOTIFY),
				 0);
	assert_true(weft_forth_flush(f, 0, WEFT_MS));
	weft_host_sleep(h, 300 * WEFT_US);
	assert_int_equal(weft_forth_load(f, FORTH_DESC_ERR),
			 r->node == 0 && r->fate == LOST);
	look(h, f, r, r->node == 0);
	weft_forth_close(f);
	return 0;
}

static int receiver(struct weft_host *h, struct bench *b)
{
	static const uint64_t first[] = { [RIGHT] = WORD,
					  [LOST] = 0,
					  [TURNED] = WORD ^ 1,
					  [UNTOLD] = WORD ^ 1 };
	const struct row *r = row_of(b);
	bool dma = r->fate < NOT_DONE && strcmp(r->access, "stores");
	bool told = dma && (r->fate == RIGHT || r->fate == TURNED);
	struct weft_forth *f;
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 4096, 64, &phys);

	b->v[0] = phys;
	assert_int_equal(weft_forth_open(h, NULL, &f), 0);
	settings(h, f, r);
	weft_host_sleep(h, 300 * WEFT_US);
	assert_int_equal(weft_forth_remote_count(f), 1 + told);
	assert_int_equal(weft_forth_load(f, FORTH_DESC_ERR),
			 r->node == 1 && !told);
	assert_true(p[0] == (dma ? first[r->fate] : 0));
	assert_true(p[8] == WORD);
	look(h, f, r, r->node == 1);
	weft_forth_close(f);
	return 0;
}

/* ---- the bench ---- */

static void join(struct bench *b)
{
	const struct row *r = row_of(b);
	struct weft_err err = { 0 };

	if (weft_connect(weft_port_find(b->node[0].dev, "link0"),
			 weft_port_find(b->node[1].dev, "link0"), NULL,
			 24 * 12800000ull, &err) ||
	    weft_filter_add(&b->node[r->node].dev->ports[0],
			    weft_sim_find(b->sim, "fault"), &err))
		fail_msg("%s", err.msg);
}

static struct bench *make(const struct row *r)
{
	struct bench *b =
		bench_make(2, &weft_class_bus_pcix, &weft_class_forth_nic);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < 2; i++)
		if (weft_preset_apply(b->node[i].dev, "tr-switch", &err))
			fail_msg("%s", err.msg);
	assert_non_null(
		weft_sim_add(b->sim, &weft_class_fault_bus, "fault", &err));
	bench_set(b, "fault.bus", "error", r->error);
	bench_set(b, "fault.bus", "access", r->access);
	bench_set(b, "fault.bus", "number", "1");
	bench_set(b, "fault.bus", "at", "100us");
	b->p = (void *)r;
	b->join = join;
	return b;
}

static void one(const struct row *r)
{
	struct bench *b = make(r);
	const struct weft_comp *fault;

	bench_prog(b, 1, receiver);
	bench_well(b, sender);
	fault = weft_sim_find(b->sim, "fault");
	assert_int_equal(bench_counter(fault, "errors"),
			 strcmp(r->error, "none") != 0);
	assert_int_equal(bench_counter(fault, "perr"), r->perr);
	assert_int_equal(bench_counter(fault, "serr"), r->serr);
	bench_free(b);
}

static void each_error_sets_its_bits(void **state)
{
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s of %s, command 0x%x\n", rows[i].error,
			      rows[i].access, rows[i].command);
		one(&rows[i]);
	}
}

/* A load returns all ones if the device does not answer. The driver must not
 * interpret these ones as status bits. */
static int silent_program(struct weft_host *h, struct bench *b)
{
	struct weft_forth *f;

	assert_int_equal(weft_forth_open(h, NULL, &f), 0);
	assert_int_equal(weft_forth_bus_errors(f), 0);
	weft_host_sleep(h, 110 * WEFT_US);
	assert_int_equal(weft_forth_bus_errors(f), WEFT_FORTH_BUS_SILENT);
	assert_int_equal(weft_forth_bus_errors(f), WEFT_FORTH_BUS_DISCARDED);
	weft_forth_close(f);
	return 0;
}

static void unreadable_status_is_no_error_bits(void **state)
{
	static const struct row r = { .error = "discard", .access = "loads" };
	struct bench *b = make(&r);

	bench_well(b, silent_program);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_sets_its_bits),
		cmocka_unit_test(unreadable_status_is_no_error_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
