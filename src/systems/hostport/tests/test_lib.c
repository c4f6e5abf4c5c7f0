/* SPDX-License-Identifier: Apache-2.0 */
/* User library and driver of the Host Port (include/weft/hostport.h) on two
 * nodes. The programs also run R21 and R22 of hostport.md 13.3. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hpproc.h"
#include "systems/hostport/nic/nic.h"
#include "weft/hostport.h"

enum { BYTES = 16 * HP_PAGE, CAPA = 99, FIRST = 4, WINS = 4 };

static weft_time_t took; /* time of the put with a miss */
static const struct hport_tag tag = { 11, 22 };

struct end {
	struct weft_host *h;
	struct hport *p;
	struct hport_peer to;
	uint8_t *mem;
	uint64_t va;
};

static weft_time_t service; /* time of the driver for a miss */

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	assert_int_equal(hport_serve(h, service, false), 0);
	return 0;
}

static void open_end(struct end *e, struct weft_host *h, uint32_t node,
		     uint32_t flags)
{
	struct hport_attr a = { .vpid = 5 + (int32_t)node, .flags = flags };
	struct hport *again;

	e->h = h;
	a.sizes.wq = 8;
	assert_int_equal(hport_open(h, &a, &e->p), 0);
	assert_int_equal(hport_open(h, &a, &again), -EBUSY);
	assert_int_equal(hport_vpid(e->p), 5 + node);
	assert_int_equal(hport_hpid(e->p), node + 1);
	assert_int_equal(hport_connect(e->p, 99, 0, &e->to), -EHOSTUNREACH);
	assert_int_equal(hport_connect(e->p, !node, 5 + !node, &e->to), 0);
	e->mem = hport_alloc(e->p, BYTES, &e->va);
	assert_non_null(e->mem);
	memset(e->mem, 0xee, BYTES);
	assert_int_equal(hport_window(e->p, 0, e->va, BYTES,
				      HPORT_READ | HPORT_WRITE, CAPA),
			 0);
	assert_int_equal(hport_window(e->p, 64, e->va, 8, 0, 0), -EINVAL);
}

static void meet(struct weft_host *h, uint32_t node, const char *what)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%u", what, node);
	weft_oob_put(h, key, 1);
	snprintf(key, sizeof(key), "%s%u", what, !node);
	weft_oob_get(h, key);
}

static struct hport_note next(struct end *e)
{
	struct hport_note n;

	assert_true(hport_wait(e->p, &n, WEFT_NEVER));
	return n;
}

static void done(struct end *e, uint32_t error)
{
	struct hport_note n = next(e);

	assert_int_equal(n.event, HPORT_DONE);
	assert_int_equal(n.error, error);
	assert_int_equal(n.tag.user, 11);
	assert_int_equal(n.tag.api, 22);
}

/* ---- R21: a lock of all windows but one ---- */

static void windows_near(struct end *e)
{
	uint64_t word = 1;

	for (uint32_t i = 0; i < WINS; i++) {
		struct hport_far far = { FIRST + i, CAPA, 8 * i };

		assert_int_equal(hport_fast_put(e->p, &e->to, HPORT_ACK, tag,
						&far, &word, 1),
				 0);
		done(e, i == 2 ? 0 : HP_ERR_TWINID_INV);
	}
}

static void windows_far(struct end *e)
{
	for (uint32_t i = 0; i < WINS; i++) {
		hport_window(e->p, FIRST + i, e->va, BYTES, HPORT_WRITE, CAPA);
		if (i)
			assert_int_equal(hport_window_join(e->p, FIRST + i,
							   FIRST + i - 1),
					 0);
	}
	assert_int_equal(hport_window_lock_others(e->p, FIRST + 2, 77, 1), 0);
}

/* ---- memory ---- */

static void memory_near(struct end *e)
{
	struct hport_far far = { 0, CAPA, 0 };
	struct hport_note n;
	weft_time_t from;

	for (uint32_t i = 0; i < BYTES; i++)
		e->mem[i] = (uint8_t)(i * 7 + i / 256);
	/* a page that was swapped out is translated again after a miss */
	assert_true(hport_page_out(e->p, e->va + 5 * HP_PAGE));
	from = weft_host_now(e->h);
	hport_put(e->p, &e->to, HPORT_ACK, tag, &far, 0, 0, BYTES);
	done(e, 0);
	took = weft_host_now(e->h) - from;
	memset(e->mem, 0, BYTES);
	hport_get(e->p, &e->to, 0, tag, &far, 0, 0, BYTES);
	done(e, 0);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(e->mem[i], (uint8_t)(i * 7 + i / 256));
	hport_faa(e->p, &e->to, 0, tag, &far, 3);
	n = next(e);
	assert_int_equal(n.n, 1);
	hport_cas(e->p, &e->to, 0, tag, &far, n.data[0], 1234);
	assert_int_equal(next(e).data[0], 1234);
	hport_put_bytes(e->p, &e->to, HPORT_ACK, tag, &far, 0x4142, 1);
	done(e, 0);
	hport_fast_get(e->p, &e->to, 0, tag, &far, 1);
	assert_int_equal(next(e).data[0], (1234 & ~0xffull) | 0x42);
}

/* ---- messages ---- */

enum { MESSAGES = 60 };

/* Posts more messages than the work queue holds. */
static void messages_near(struct end *e)
{
	uint64_t bytes, *sdr = hport_sdr(e->p, &bytes), left = 0;
	uint32_t full = 0;

	for (uint64_t i = 0; i < bytes / 8; i++)
		sdr[i] = i;
	for (uint32_t i = 0; i < MESSAGES; i++, left++) {
		while (hport_send(e->p, &e->to, i % 3 ? HPORT_MORE : 0, tag,
				  8 * i, 8 * (i + 1)) == -EAGAIN) {
			done(e, 0);
			left--;
			full++;
		}
	}
	hport_flush(e->p);
	for (; left; left--)
		done(e, 0);
	assert_true(full > 0);
}

static void messages_far(struct end *e)
{
	uint64_t got[MESSAGES];

	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct hport_note n = next(e);

		assert_int_equal(n.event, HPORT_MESSAGE);
		assert_int_equal(n.bytes, 8 * (i + 1));
		hport_take(e->p, &n, got);
		for (uint32_t k = 0; k <= i; k++)
			assert_int_equal(got[k], i + k);
	}
}

static int program(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static struct end end[2];
	struct end *e = &end[node];

	open_end(e, h, node, HPORT_ORDERED);
	if (node)
		windows_far(e);
	meet(h, node, "open");
	if (node)
		messages_far(e);
	else
		messages_near(e);
	if (!node)
		memory_near(e);
	meet(h, node, "memory");
	if (!node)
		windows_near(e);
	meet(h, node, "end");
	hport_free(e->p, e->mem);
	hport_close(e->p);
	return 0;
}

static weft_time_t once(weft_time_t takes, const char *irq_entry)
{
	struct exrig r;

	service = takes;
	hprig_new(&r, "2", NULL);
	exrig_set(&r, "host.pc", "irq_entry", irq_entry);
	for (uint32_t i = 0; i < 2; i++) {
		struct hp_nic *n = r.node[i].nic->state;

		n->place.topo = &r.topo;
		exrig_prog(&r, i, program);
		exrig_prog(&r, i, driver);
	}
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(exrig_counter(r.node[0].nic, "tlb_misses"), 1);
	assert_int_equal(exrig_counter(r.node[1].nic, "tlb_misses"), 0);
	exrig_free(&r);
	return took;
}

/* R21, R22 */
static void test_library_walks_locks_and_swaps_windows(void **state)
{
	once(10 * WEFT_US, "2us");
}

/* Checks that a miss takes irq_latency, tlb_driver_service of appendix B and
 * the insert, plus at most the accesses to the driver's registers. */
static void test_miss_time(void **state)
{
	weft_time_t base = once(0, "2us");
	weft_time_t more = once(10 * WEFT_US, "2us");
	weft_time_t irq = once(10 * WEFT_US, "4us");

	assert_in_range(more - base, 9900 * WEFT_NS, 10100 * WEFT_NS);
	assert_in_range(irq - more, 1900 * WEFT_NS, 2100 * WEFT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_walks_locks_and_swaps_windows),
		cmocka_unit_test(test_miss_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
