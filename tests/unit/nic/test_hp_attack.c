/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that try to reach memory of others through the Host Port, by
 * weft/hostport.h and weft/host.h alone.  Victims have their bytes in memory
 * that attackers had before. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hpproc.h"
#include "nic/hostport/nic.h"
#include "weft/hostport.h"

extern const struct weft_class weft_class_bus_pci;

enum { BLOCK = 64 * 1024, BLOCKS = 8, LONG = 60000 };
enum { MINE = 'A', THEIRS = 'V' };

static const struct hport_tag tag = { 1, 2 };
static struct exrig rig;
static const struct weft_class *bus; /* NULL: HyperTransport */
static weft_time_t service = WEFT_US;
static uint32_t step; /* faster than names: how far programs are */
enum { GONE = 1, TAKEN, OVER };

static int driver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	return hport_serve(h, service, false);
}

/* Programs of node 0, of node 1 (or NULL), each list ended by NULL. */
static void run(const exrig_fn *here, const exrig_fn *there)
{
	hprig_new(&rig, there ? "2" : "1", bus);
	step = 0;
	for (uint32_t i = 0; i < rig.nodes; i++) {
		struct hp_nic *n = rig.node[i].nic->state;
		const exrig_fn *fn = i ? there : here;

		n->place.topo = &rig.topo;
		for (; *fn; fn++)
			exrig_prog(&rig, i, *fn);
		exrig_prog(&rig, i, driver);
	}
	exrig_start(&rig);
	exrig_run(&rig);
	exrig_free(&rig);
}

static void pause_for(struct weft_host *h, weft_time_t t)
{
	weft_host_sleep(h, weft_host_now(h) + t);
}

static void reach(uint32_t n)
{
	step = n;
}

static void await(struct weft_host *h, uint32_t n)
{
	while (step < n)
		pause_for(h, 100 * WEFT_NS);
}

static struct hport *open_any(struct weft_host *h)
{
	struct hport *p;

	assert_int_equal(hport_open(h, NULL, &p), 0);
	return p;
}

static struct hport *open_as(struct weft_host *h, uint32_t vpid)
{
	struct hport_attr a = { .vpid = (int32_t)vpid };
	struct hport *p;

	assert_int_equal(hport_open(h, &a, &p), 0);
	return p;
}

static struct hport_peer peer(struct hport *p, uint32_t node, uint32_t vpid)
{
	struct hport_peer to;

	assert_int_equal(hport_connect(p, node, vpid, &to), 0);
	return to;
}

static uint8_t *window(struct hport *p, uint32_t id, uint64_t bytes, int fill,
		       uint64_t *va_p)
{
	uint64_t va;
	uint8_t *m = hport_alloc(p, bytes, &va);

	assert_non_null(m);
	memset(m, fill, bytes);
	assert_int_equal(hport_window(p, id, va, bytes,
				      HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0),
			 0);
	if (va_p)
		*va_p = va;
	return m;
}

static uint64_t count(const uint8_t *p, uint64_t n, int byte)
{
	uint64_t k = 0;

	for (uint64_t i = 0; i < n; i++)
		k += p[i] == byte;
	return k;
}

/* ---- the victim: takes what is free, writes its bytes, looks later ---- */

static uint8_t *theirs[BLOCKS];

static void victim_takes(struct weft_host *h)
{
	for (uint32_t i = 0; i < BLOCKS; i++) {
		theirs[i] = weft_mem_alloc(h, BLOCK, 64, NULL);
		assert_non_null(theirs[i]);
		memset(theirs[i], THEIRS, BLOCK);
	}
}

static void victim_looks(void)
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		assert_int_equal(count(theirs[i], BLOCK, THEIRS), BLOCK);
}

static int victim(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	await(h, GONE);
	victim_takes(h);
	reach(TAKEN);
	await(h, OVER);
	victim_looks();
	return 0;
}

static const exrig_fn *with_victim(exrig_fn fn)
{
	static exrig_fn list[3];

	list[0] = fn;
	list[1] = victim;
	list[2] = NULL;
	return list;
}

/* ---- a port that is closed while its message is being read ---- */

static int send_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_any(h), *p = open_any(h);
	struct hport_peer to = peer(p, 0, hport_vpid(q));
	static uint8_t got[LONG];
	struct hport_note n;
	uint64_t bytes;

	(void)r;
	(void)node;
	memset(hport_sdr(p, &bytes), MINE, LONG);
	assert_int_equal(hport_send(p, &to, 0, tag, 0, LONG), 0);
	pause_for(h, 3 * WEFT_US);
	hport_close(p);
	reach(GONE);
	await(h, TAKEN);
	assert_true(hport_wait(q, &n, weft_host_now(h) + 5 * WEFT_MS));
	assert_int_equal(n.event, HPORT_MESSAGE);
	assert_int_equal(n.bytes, LONG);
	hport_take(q, &n, got);
	assert_int_equal(count(got, LONG, MINE), LONG);
	hport_close(q);
	reach(OVER);
	return 0;
}

static void closing_a_port_waits_for_the_message_being_read(void **state)
{
	(void)state;
	bus = &weft_class_bus_pci;
	run(with_victim(send_and_close), NULL);
	bus = NULL;
}

/* ---- a port that is closed while a put of others is stored ---- */

static int put_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_any(h), *p = open_any(h);
	struct hport_peer to = peer(q, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };
	struct hport_note n;

	(void)r;
	(void)node;
	window(p, 0, 8 * BLOCK, 0, NULL);
	window(q, 0, 8 * BLOCK, MINE, NULL);
	hport_put(q, &to, HPORT_ACK, tag, &far, 0, 0, 8 * BLOCK);
	pause_for(h, 20 * WEFT_US);
	hport_close(p);
	reach(GONE);
	await(h, TAKEN);
	assert_true(hport_wait(q, &n, weft_host_now(h) + 20 * WEFT_MS));
	hport_close(q);
	reach(OVER);
	return 0;
}

static void closing_a_port_waits_for_what_is_stored_to_it(void **state)
{
	(void)state;
	run(with_victim(put_and_close), NULL);
}

/* ---- memory that goes in the middle of a put: window, pages, port ---- */

static int put_and_free(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_any(h), *p = open_any(h);
	struct hport_peer to = peer(q, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };
	struct hport_note n;
	uint8_t *m;

	(void)r;
	(void)node;
	m = window(p, 0, 8 * BLOCK, 0, NULL);
	window(q, 0, 8 * BLOCK, MINE, NULL);
	for (uint32_t i = 0; i < 3; i++)
		hport_put(q, &to, HPORT_ACK, tag, &far, 0, 0, 8 * BLOCK);
	pause_for(h, 20 * WEFT_US);
	hport_window_close(p, 0);
	hport_free(p, m);
	reach(GONE);
	await(h, TAKEN);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(hport_wait(q, &n, weft_host_now(h) + 20 * WEFT_MS));
	hport_close(p);
	hport_close(q);
	reach(OVER);
	return 0;
}

static void memory_freed_during_a_put_is_not_written_any_more(void **state)
{
	(void)state;
	run(with_victim(put_and_free), NULL);
}

/* ---- a reply that comes when its VPID has another owner ---- */

static int get_and_close(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_as(h, 7), *p = open_as(h, 9), *v;
	struct hport_peer to = peer(p, 0, 7);
	struct hport_far far = { 0, 0, 0 };
	struct hport_note n;
	uint8_t *mine;
	uint64_t va;

	(void)r;
	(void)node;
	window(q, 0, BLOCK, MINE, &va);
	window(p, 0, BLOCK, 0, NULL);
	assert_true(hport_page_out(q, va));
	hport_get(p, &to, 0, tag, &far, 0, 0, 4096);
	pause_for(h, 3 * WEFT_US);
	hport_close(p);
	v = open_as(h, 9);
	mine = window(v, 0, BLOCK, THEIRS, NULL);
	assert_false(hport_wait(v, &n, weft_host_now(h) + 3 * service));
	assert_int_equal(count(mine, BLOCK, THEIRS), BLOCK);
	/* the new owner's own get is answered */
	hport_get(v, &to, 0, tag, &far, 0, 0, 4096);
	assert_true(hport_wait(v, &n, weft_host_now(h) + WEFT_MS));
	assert_int_equal(n.error, 0);
	assert_int_equal(count(mine, 4096, MINE), 4096);
	hport_close(v);
	hport_close(q);
	return 0;
}

static void a_late_response_does_not_reach_the_next_owner(void **state)
{
	(void)state;
	service = 500 * WEFT_US;
	run((const exrig_fn[]){ get_and_close, NULL }, NULL);
	service = WEFT_US;
}

/* ---- what the device remembers of memory, ports and windows that went ---- */

static int put_to_freed(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_any(h);
	struct hport_peer to = peer(p, 0, hport_vpid(p));
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1;
	struct hport_note n;
	uint8_t *m;

	(void)r;
	(void)node;
	m = window(p, 0, BLOCK, MINE, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
		assert_true(hport_wait(p, &n, weft_host_now(h) + WEFT_MS));
		while (n.event != HPORT_DONE)
			assert_true(hport_wait(p, &n, WEFT_NEVER));
		assert_int_equal(n.error, i ? HP_ERR_TWINID : 0);
		if (i)
			break;
		hport_free(p, m); /* and the window stays */
		reach(GONE);
		await(h, TAKEN);
	}
	hport_close(p);
	reach(OVER);
	return 0;
}

static void translations_go_with_the_memory(void **state)
{
	(void)state;
	run(with_victim(put_to_freed), NULL);
}

static int send_to_closed(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_as(h, 7), *p = open_as(h, 9);
	struct hport_peer to = peer(q, 0, 9);
	struct hport_note n;
	uint64_t word = 1;

	(void)r;
	(void)node;
	for (uint32_t i = 0; i < 20; i++) {
		hport_fast_send(q, &to, HPORT_ACK, tag, &word, 1);
		assert_true(hport_wait(q, &n, weft_host_now(h) + WEFT_MS));
		assert_int_equal(n.error, i ? HP_ERR_TVPID_INV : 0);
		if (i)
			continue;
		hport_close(p);
		reach(GONE);
		await(h, TAKEN);
	}
	hport_close(q);
	reach(OVER);
	return 0;
}

static void a_closed_port_takes_no_messages(void **state)
{
	(void)state;
	run(with_victim(send_to_closed), NULL);
}

/* Addresses of both owners are equal. */
static int put_to_next(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *q = open_as(h, 7), *p = open_as(h, 9);
	struct hport_peer to = peer(q, 0, 9);
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1, was, va;
	struct hport_note n;
	uint8_t *m;

	(void)r;
	(void)node;
	window(p, 0, BLOCK, MINE, &was);
	hport_fast_put(q, &to, HPORT_ACK, tag, &far, &word, 1);
	assert_true(hport_wait(q, &n, weft_host_now(h) + WEFT_MS));
	assert_int_equal(n.error, 0);
	hport_close(p);
	p = open_as(h, 9);
	to = peer(q, 0, 9);
	m = hport_alloc(p, BLOCK, &va);
	assert_int_equal(va, was);
	memset(m, THEIRS, BLOCK);
	hport_fast_put(q, &to, HPORT_ACK, tag, &far, &word, 1);
	assert_true(hport_wait(q, &n, weft_host_now(h) + WEFT_MS));
	assert_int_equal(n.error, HP_ERR_TWINID_INV);
	assert_int_equal(count(m, BLOCK, THEIRS), BLOCK);
	hport_close(p);
	hport_close(q);
	return 0;
}

static void windows_go_with_the_port(void **state)
{
	(void)state;
	run((const exrig_fn[]){ put_to_next, NULL }, NULL);
}

/* ---- memory that is freed while it is mapped ---- */

static int map_and_free(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_any(h);
	struct hport_peer to = peer(p, 0, hport_vpid(p));
	struct hport_far far = { 1, 0, 0 };
	uint64_t va, word = 0x1111111111111111;
	struct hport_note n;
	uint8_t *own, *m;

	(void)r;
	(void)node;
	own = window(p, 0, BLOCK, 0, NULL);
	m = weft_mem_alloc(h, BLOCK, 4096, NULL);
	memset(m, MINE, BLOCK);
	assert_int_equal(hport_map(p, m, BLOCK, &va), 0);
	hport_window(p, 1, va, BLOCK, HPORT_READ | HPORT_WRITE | HPORT_OPEN, 0);
	weft_mem_free(h, m);
	reach(GONE);
	await(h, TAKEN);
	hport_get(p, &to, 0, tag, &far, 0, 0, BLOCK);
	assert_true(hport_wait(p, &n, weft_host_now(h) + WEFT_MS));
	assert_int_equal(count(own, BLOCK, THEIRS), 0);
	hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
	assert_true(hport_wait(p, &n, weft_host_now(h) + WEFT_MS));
	hport_close(p);
	reach(OVER);
	return 0;
}

static void memory_freed_while_mapped_is_given_to_nobody_else(void **state)
{
	(void)state;
	run(with_victim(map_and_free), NULL);
}

/* ---- memory of others: beside one's own, or named outright ---- */

static uint8_t *small;

static int small_victim(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	weft_oob_get(h, "first");
	small = weft_mem_alloc(h, 64, 64, NULL);
	memset(small, THEIRS, 64);
	weft_oob_put(h, "second", 1);
	await(h, OVER);
	assert_int_equal(count(small, 64, THEIRS), 64);
	return 0;
}

static int map_beside(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_any(h);
	struct hport_peer to = peer(p, 0, hport_vpid(p));
	struct hport_far far = { 1, 0, 0 };
	struct hport_note n;
	uint8_t *own, *m;
	uint64_t va, at;

	(void)r;
	(void)node;
	own = window(p, 0, BLOCK, 0, NULL);
	m = weft_mem_alloc(h, 64, 64, NULL);
	weft_oob_put(h, "first", 1);
	weft_oob_get(h, "second");
	assert_int_equal(hport_map(p, small, 64, &at), -EFAULT);
	if (!hport_map(p, m, 64, &va)) {
		hport_window(p, 1, va & ~4095ull, 4096, HPORT_READ | HPORT_OPEN,
			     0);
		hport_get(p, &to, 0, tag, &far, 0, 0, 4096);
		assert_true(hport_wait(p, &n, weft_host_now(h) + WEFT_MS));
		assert_int_equal(count(own, 4096, THEIRS), 0);
	}
	hport_close(p);
	reach(OVER);
	return 0;
}

static void memory_of_others_in_the_same_page_is_not_mapped(void **state)
{
	(void)state;
	run((const exrig_fn[]){ map_beside, small_victim, NULL }, NULL);
}

static int posted_pa(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr a = { .vpid = -1,
				.flags = HPORT_POSTED | HPORT_POSTED_PA };
	struct hport *p;

	(void)r;
	(void)node;
	assert_int_equal(hport_open(h, &a, &p), -EPERM);
	assert_null(p);
	p = open_any(h); /* nor when it is a process already */
	assert_int_equal(hport_open(h, &a, &p), -EPERM);
	return 0; /* without a close */
}

static void physical_addresses_are_refused_to_processes(void **state)
{
	(void)state;
	run((const exrig_fn[]){ posted_pa, NULL }, NULL);
}

/* ---- registers and pages of others ---- */

static int map_registers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io = { .dev = d, .len = HP_MGMT_BYTES };
	uint64_t faults;

	weft_oob_get(h, "open");
	faults = exrig_counter(r->node[node].host, "page_faults");
	assert_false(weft_io_map(h, d, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
				 &(struct weft_io){ 0 }));
	weft_io_store64(h, &io, HP_R_VPID_EN, HP_VPID_EN(7, false));
	assert_true(weft_io_load64(h, &io, HP_R_HPID) == HP_NONE);
	assert_int_equal(exrig_counter(r->node[node].host, "page_faults"),
			 faults + 2);
	weft_oob_put(h, "tried", 1);
	return 0;
}

static int forge_pages(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 7);
	struct weft_dev *d = weft_dev_open(h, 0);
	struct hport_peer to = peer(p, 0, 7);
	struct hport_note n;
	uint64_t word = 5;

	(void)r;
	(void)node;
	weft_oob_put(h, "open", 1);
	weft_oob_get(h, "tried");
	for (uint8_t bar = 0; bar < HP_BARS; bar++)
		for (uint64_t off = 0; off < 64 * HP_PAGE; off += HP_PAGE) {
			struct weft_io io = {
				.dev = d, .off = off, .len = HP_PAGE, .bar = bar
			};

			assert_false(weft_io_map(h, d, bar, off, HP_PAGE,
						 WEFT_UC, &io));
			if (off > 5 * HP_PAGE) /* not one's own */
				weft_io_store64(h, &io, HP_R_VPID_EN,
						HP_VPID_EN(7, false));
		}
	assert_int_equal(hport_fast_send(p, &to, HPORT_ACK, tag, &word, 1), 0);
	assert_true(hport_wait(p, &n, weft_host_now(h) + WEFT_MS));
	assert_int_equal(n.error, 0);
	hport_close(p);
	return 0;
}

static void registers_and_pages_of_others_are_out_of_reach(void **state)
{
	(void)state;
	run((const exrig_fn[]){ forge_pages, map_registers, NULL }, NULL);
}

/* ---- a port that is off ---- */

static int switched_off(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 7);
	struct hp_nic *nic = r->node[node].nic->state;
	struct hport_peer to = peer(p, 0, 7);
	struct hport_note n;
	uint64_t word = 5;

	hp_csb_enable(&nic->csb, 7, false);
	assert_int_equal(hport_fast_send(p, &to, 0, tag, &word, 1), -ENXIO);
	assert_int_equal(hport_fast_send(p, &to, 0, tag, &word, 1), -ENXIO);
	assert_int_equal(hport_post(p, 0, 64, false, 0), -ENXIO);
	assert_false(hport_wait(p, &n, WEFT_NEVER));
	hport_close(p);
	return 0;
}

static void a_port_that_is_off_refuses_instead_of_trying_for_ever(void **state)
{
	(void)state;
	run((const exrig_fn[]){ switched_off, NULL }, NULL);
}

/* ---- programs that close at the same time ---- */

static weft_time_t behind; /* that the first one closes behind the other */

/* Its two regions lie around that of the other one in the driver's list; the
 * pages of the first of them take a while. */
static int close_long(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 0);

	(void)r;
	(void)node;
	window(p, 1, BLOCK, 0, NULL);
	weft_host_sleep(h, 600 * WEFT_US);
	window(p, 0, 4 * BLOCK, 0, NULL);
	weft_host_sleep(h, 1000 * WEFT_US + behind);
	hport_close(p);
	return 0;
}

static int close_short(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = open_as(h, 1);
	uint64_t va;

	(void)r;
	(void)node;
	weft_host_sleep(h, 500 * WEFT_US);
	hport_alloc(p, 4096, &va);
	weft_host_sleep(h, 1000 * WEFT_US);
	hport_close(p);
	reach(GONE);
	return 0;
}

static int take_small(struct weft_host *h, struct exrig *r, uint32_t node)
{
	(void)r;
	(void)node;
	await(h, GONE);
	for (uint32_t i = 0; i < 4000; i++)
		memset(weft_mem_alloc(h, 64, 64, NULL), 0x30, 64);
	return 0;
}

static void programs_may_close_at_the_same_time(void **state)
{
	(void)state;
	for (behind = 0; behind < 5 * WEFT_US; behind += 250 * WEFT_NS)
		run((const exrig_fn[]){ close_long, close_short, take_small,
					NULL },
		    NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			closing_a_port_waits_for_the_message_being_read),
		cmocka_unit_test(closing_a_port_waits_for_what_is_stored_to_it),
		cmocka_unit_test(
			memory_freed_during_a_put_is_not_written_any_more),
		cmocka_unit_test(a_late_response_does_not_reach_the_next_owner),
		cmocka_unit_test(translations_go_with_the_memory),
		cmocka_unit_test(a_closed_port_takes_no_messages),
		cmocka_unit_test(windows_go_with_the_port),
		cmocka_unit_test(
			memory_freed_while_mapped_is_given_to_nobody_else),
		cmocka_unit_test(
			memory_of_others_in_the_same_page_is_not_mapped),
		cmocka_unit_test(physical_addresses_are_refused_to_processes),
		cmocka_unit_test(
			registers_and_pages_of_others_are_out_of_reach),
		cmocka_unit_test(
			a_port_that_is_off_refuses_instead_of_trying_for_ever),
		cmocka_unit_test(programs_may_close_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
