/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of weft/host.h from a process. Valid calls are carried out. Invalid
 * calls are refused with a reason and leave the node unchanged. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../host/node.h"
#include "attach/serve_host.h"

enum { TX = 8192, WINDOW = 0x1000 };

/* A client without a process. */
struct rig {
	struct att_server srv;
	struct att_agent g;
	struct att_node node;
	struct att_client c;
	uint8_t tx[TX], rx[ATT_RX_SLOTS * 64];
};

static void rig_init(struct rig *r, struct weft_host *h)
{
	struct weft_prog_node n = weft_prog_node(h);

	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->srv.lock, NULL);
	r->node.mem = n.mem;
	r->node.info.mem_bytes = n.bytes;
	r->node.info.mem_base = n.base;
	r->g.prog = weft_prog_of(h);
	r->g.h = h;
	r->g.srv = &r->srv;
	r->g.raw = &r->node;
	r->c.srv = &r->srv;
	r->c.g = &r->g;
	r->c.thread.h = h;
	r->c.view.tx = r->tx;
	r->c.view.rx = r->rx;
	r->c.view.tx_bytes = TX;
	r->c.view.rx_slot = 64;
	r->c.far.pid = getpid();
	r->c.thread.far_owner = &r->c.far;
}

static struct att_reply call(struct rig *r, struct att_host_cmd k)
{
	struct att_reply reply = { 0 };

	raw_run(&r->c, &k, &reply);
	return reply;
}

/* Checks that the last failed check names the reason, and removes the check. */
static void refused(struct bench *b, uint64_t *n, const char *why)
{
	const char *said = bench_failure(b, *n);

	if (!strstr(said, why))
		fail_msg("'%s' instead of '%s'", said, why);
	assert_string_equal(bench_failure(b, ++*n), "");
}

#define K(k, ...) ((struct att_host_cmd){ .kind = ATT_H_##k, __VA_ARGS__ })
#define WIN(...)  .bar = 1, .io_off = 0, .io_len = WINDOW, __VA_ARGS__

/* ---- calls of a library ---- */

static int good(struct weft_host *h, struct bench *b)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct att_reply a;

	rig_init(r, h);
	assert_int_equal(call(r, K(DEV_OPEN)).a, 1);
	assert_int_equal(call(r, K(IO_MAP, WIN())).a, 1);
	call(r, K(STORE64, WIN(.off = 0x208, .val = 42)));
	assert_int_equal(call(r, K(LOAD64, WIN(.off = 0x208))).a, 42);
	memcpy(r->tx + 64, "0123456789abcdef", 16);
	call(r, K(IO_COPY, WIN(.off = 0x400, .val = 64, .n = 16)));
	call(r, K(FENCE));
	assert_int_equal(call(r, K(LOAD32, WIN(.off = 0x404))).a, 0x37363534);
	a = call(r, K(MEM_ALLOC, .io_len = 100));
	assert_int_equal(a.a, 1);
	memset(r->node.mem + a.b, 1, 100);
	assert_int_equal(
		call(r, K(POLL64, .off = a.b, .io_len = 8, .val = WEFT_NEVER))
			.a,
		1);
	call(r, K(MEM_FREE, .off = a.b));
	strcpy((char *)r->tx, "key");
	call(r, K(OOB_PUT, .n = 4, .io_off = 77));
	assert_int_equal(call(r, K(OOB_GET, .n = 4)).a, 77);
	assert_true(call(r, K(NOW)).a > 0);
	assert_string_equal(bench_failure(b, 0), "");
	free(r);
	return 0;
}

static void valid_calls_of_a_process_are_carried_out(void **state)
{
	bench_well(*state, good);
}

/* Makes calls with the largest allowed values. */
static int most(struct weft_host *h, struct bench *b)
{
	struct rig *r = calloc(1, sizeof(*r));
	weft_time_t now;

	rig_init(r, h);
	call(r, K(DEV_OPEN));
	assert_int_equal(call(r, K(IO_MAP, WIN(.attr = WEFT_WC))).a, 1);
	call(r, K(IO_COPY, WIN(.attr = WEFT_WC, .val = TX - 4096, .n = 4096)));
	call(r, K(FENCE));
	memset(r->tx, 'k', 255);
	call(r, K(OOB_PUT, .n = 256, .io_off = 7));
	assert_int_equal(call(r, K(OOB_GET, .n = 256)).a, 7);
	call(r, K(COPY, .io_len = (uint64_t)1 << 30));
	now = call(r, K(NOW)).a;
	call(r, K(CPU, .val = 3600 * WEFT_SEC));
	assert_true(call(r, K(NOW)).a - now >= 3600 * WEFT_SEC);
	assert_string_equal(bench_failure(b, 0), "");
	free(r);
	return 0;
}

static void calls_with_the_largest_values_are_carried_out(void **state)
{
	bench_well(*state, most);
}

/* ---- calls that no library makes ---- */

struct row {
	struct att_host_cmd k;
	const char *why;
	uint64_t a; /* expected field `a` of the answer */
};

static const struct row rows[] = {
	{ K(STORE64, .dev = 3), "no such window", 0 },
	{ K(STORE64, .dev = UINT32_MAX), "no such window", 0 },
	{ K(STORE64, WIN(.off = WINDOW)), "outside of its window", 0 },
	{ K(STORE64, WIN(.off = UINT64_MAX - 7)), "outside of its window", 0 },
	{ K(STORE64, .bar = 1, .io_off = CARD_BAR - 8, .io_len = 16),
	  "no such window", 0 },
	{ K(STORE32, .bar = 1, .io_off = UINT64_MAX, .io_len = 16),
	  "no such window", 0 },
	{ K(STORE32, .bar = 9, .io_len = 16), "no such window", 0 },
	{ K(STORE32, .bar = 1, .io_len = 16, .attr = 7), "no such window", 0 },
	{ K(LOAD64, .bar = 1, .io_len = UINT64_MAX), "no such window",
	  UINT64_MAX },
	{ K(IO_COPY, WIN(.val = TX - 7, .n = 8)), "no such data", 0 },
	{ K(IO_COPY, WIN(.val = UINT64_MAX, .n = 8)), "no such data", 0 },
	{ K(IO_COPY, WIN(.n = ATT_HOST_DATA + 4)), "no such data", 0 },
	{ K(IO_COPY, WIN(.n = 0)), "no such data", 0 },
	{ K(TCSTORE, WIN(.n = 8)), "no such data", 0 },
	{ K(POLL64, .off = UINT64_MAX, .io_len = 8), "not in the node's", 0 },
	{ K(POLL64, .off = 4, .io_len = 8), "not aligned", 0 },
	{ K(POLL64, .off = 8, .io_len = 0), "not aligned", 0 },
	{ K(POLL_RANGE, .off = 8, .io_len = UINT64_MAX), "not in the node's",
	  0 },
	{ K(IRQ_WAIT, .dev = 1), "no such device", 0 },
	{ K(CFG_LOAD, .off = 5000, .n = 4), "no such register", 0 },
	{ K(CFG_STORE, .off = 2, .n = 4), "1, 2 or 4 bytes", 0 },
	{ K(CPU, .val = 3600 * WEFT_SEC + 1), "too long", 0 },
	{ K(CPU, .val = UINT64_MAX), "too long", 0 },
	{ K(COPY, .io_len = ((uint64_t)1 << 30) + 1), "too long", 0 },
	{ K(COPY, .io_len = UINT64_MAX), "too long", 0 },
	{ K(MEM_FREE, .off = UINT64_MAX), "not in the node's", 0 },
	{ K(MEM_FREE, .off = 4096), "never allocated", 0 },
	{ K(MEM_PIN, .off = 1, .io_len = 4096), "no such pages", 0 },
	{ K(MEM_PIN, .io_len = (uint64_t)1 << 40), "no such pages", 0 },
	{ K(MEM_UNPIN, .off = 4096, .io_len = 4096), "not pinned", 0 },
	{ K(MEM_UNPIN, .off = 4096, .io_len = UINT64_MAX), "not pinned", 0 },
	{ K(OOB_GET, .n = 257), "name too long", 0 },
	{ K(OOB_GET, .val = TX, .n = 3), "no such data", 0 },
	{ K(PROC_MAP, .proc = 1), "no such process", 0 },
	{ K(PROC_ENTER, .proc = UINT16_MAX), "no such process", 0 },
	{ K(DRV_LEAVE), "in no driver", 0 },
	{ K(THREAD, .dev = 4), "no such thread", 0 },
};

static int bad(struct weft_host *h, struct bench *b)
{
	struct rig *r = calloc(1, sizeof(*r));
	uint64_t n = 0;

	rig_init(r, h);
	assert_int_equal(call(r, K(DEV_OPEN, .dev = 1000)).a, 0);
	assert_int_equal(call(r, K(MEM_ALLOC, .io_len = UINT64_MAX)).a, 0);
	assert_int_equal(call(r, K(MEM_ALLOC, .io_len = 8, .io_off = 3)).a, 0);
	assert_int_equal(call(r, K(MEM_PHYS, .off = UINT64_MAX)).a, 0);
	call(r, K(DEV_OPEN));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct att_reply a = call(r, rows[i].k);

		assert_int_equal(a.a, rows[i].a);
		refused(b, &n, rows[i].why);
	}
	/* pretends that the node has more memory */
	r->node.info.mem_bytes = 1 << 27;
	call(r, K(POLL_RANGE, .io_len = (1 << 26) + 1));
	refused(b, &n, "longer than 64 MiB");
	r->node.info.mem_bytes = weft_prog_node(h).bytes;
	/* the node is unchanged */
	call(r, K(STORE64, WIN(.off = 0x208, .val = 43)));
	assert_int_equal(call(r, K(LOAD64, WIN(.off = 0x208))).a, 43);
	assert_string_equal(bench_failure(b, n), "");
	free(r);
	return 0;
}

static void impossible_calls_are_refused_and_change_nothing(void **state)
{
	bench_main(*state, bad);
}

/* Lets a thread enter a process. The thread then reaches only the pages of the
 * process, and the process cannot be freed while the thread is in it. */
static int inside(struct weft_host *h, struct bench *b)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct att_reply a;
	uint16_t p;

	rig_init(r, h);
	call(r, K(DEV_OPEN));
	call(r, K(IO_MAP, WIN()));
	p = (uint16_t)call(r, K(PROC_NEW)).a;
	assert_int_equal(p, 1);
	a = call(r, K(PROC_MAP, .proc = p, .bar = 1, .io_off = 0x1000,
		      .io_len = 0x1000));
	assert_int_equal(a.a, 1);
	assert_int_equal(call(r, K(PROC_ENTER, .proc = p)).a, p);
	assert_int_equal(call(r, K(LOAD64, .io_off = a.b, .io_len = 0x1000)).a,
			 0);
	/* loads from beyond the page of the thread's process return all ones */
	assert_int_equal(
		call(r, K(LOAD64, .io_off = a.b + 0x1000, .io_len = 0x1000)).a,
		UINT64_MAX);
	assert_int_equal(call(r, K(LOAD64, WIN())).a, UINT64_MAX);
	assert_int_equal(call(r, K(PROC_NEW)).a, 0);
	call(r, K(PROC_FREE, .proc = p));
	call(r, K(LOAD64, .io_off = a.b, .io_len = 0x1000));
	assert_string_equal(bench_failure(b, 0), "");
	for (size_t i = 0; i < r->node.procs.n; i++)
		vec_free(&r->node.procs.at[i].maps);
	vec_free(&r->node.procs);
	free(r);
	return 0;
}

static void entered_process_limits_a_thread_to_its_pages(void **state)
{
	bench_well(*state, inside);
}

static int setup(void **state)
{
	*state = bench_new(1);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(valid_calls_of_a_process_are_carried_out),
		T(calls_with_the_largest_values_are_carried_out),
		T(impossible_calls_are_refused_and_change_nothing),
		T(entered_process_limits_a_thread_to_its_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
