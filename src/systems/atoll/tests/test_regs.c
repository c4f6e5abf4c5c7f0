/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ATOLL through its registers only (systems/atoll/nic/regs_map.h;
 * hostport.md 2.1 to 2.4). Host port 2 of a node sends to host port 1 of the
 * same node. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "unit/host/config.h"
#include "atoll_pair.h"
#include "host/prog.h"
#include "measure/result.h"
#include "weft/trace.h"

enum { FROM = 2, TO = 1, MGMT = ATOLL_PORTS, ENTRIES = 4, RDR = 256 };

static struct {
	struct atoll_pair p;
	void (*fn)(void);
	struct weft_host *h;
	struct weft_io io[ATOLL_PORTS + 1];
	volatile uint64_t *sdq, *rdq;
	uint64_t *sdr, *rdr;
} t;

static void put(uint32_t port, uint32_t off, uint64_t val)
{
	weft_io_store64(t.h, &t.io[port], off, val);
}

static uint64_t get(uint32_t port, uint32_t off)
{
	return weft_io_load64(t.h, &t.io[port], off);
}

static uint64_t counted(uint32_t k)
{
	return t.p.nic[0]->counters[k];
}

static void later(void)
{
	weft_host_sleep(t.h, weft_host_now(t.h) + 20 * WEFT_US);
}

static void *region(uint32_t port, uint32_t reg, size_t bytes)
{
	weft_phys_t phys;
	void *m = weft_mem_alloc(t.h, bytes, 4096, &phys);

	assert_non_null(m);
	memset(m, 0, bytes);
	put(port, reg, phys);
	return m;
}

/* Sets up the queues of both ports. ctrl selects how port TO receives. */
static void queues(uint32_t ctrl)
{
	t.sdq = region(FROM, ATOLL_SDQ_BASE, ENTRIES * ATOLL_DESC);
	t.sdr = region(FROM, ATOLL_SDR_BASE, 4096);
	t.rdq = region(TO, ATOLL_RDQ_BASE, ENTRIES * ATOLL_DESC);
	t.rdr = region(TO, ATOLL_RDR_BASE, RDR);
	put(FROM, ATOLL_SDQ_SIZE, ENTRIES);
	put(TO, ATOLL_RDQ_SIZE, ENTRIES);
	put(TO, ATOLL_RDR_SIZE, RDR + 63);
	put(TO, ATOLL_CTRL, ctrl);
	for (uint32_t i = 0; i < 512; i++)
		t.sdr[i] = 0x1000 + i;
}

/* Writes descriptor i. Its payload of `bytes` bytes starts at word i of the
 * region. */
static void describe(uint32_t i, uint32_t bytes, uint32_t chars)
{
	volatile uint64_t *d = t.sdq + 8 * (i % ENTRIES);

	d[0] = ATOLL_SD_W0(bytes, 0x70 + i, chars);
	d[1] = 8 * i;
	d[2] = atoll_char(TO);
	d[7] = 0;
	put(FROM, ATOLL_SDQ_WP, (i + 1) % ENTRIES);
	later();
}

static int prog_main(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	struct weft_dev *dev;

	if (weft_host_node(h))
		return 0;
	t.h = h;
	dev = weft_dev_open(t.h, 0);
	weft_cfg_store(t.h, dev, 4, 2, 6);
	for (uint32_t i = 0; i <= ATOLL_PORTS; i++)
		assert_true(weft_io_map(
			t.h, dev, i < MGMT ? ATOLL_BAR_PORTS : ATOLL_BAR_MGMT,
			i % MGMT * (uint64_t)ATOLL_PAGE, ATOLL_PAGE, WEFT_UC,
			&t.io[i]));
	t.fn();
	return 0;
}

static WEFT_COMPONENT(prog, .name = "prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test", .ops = { .main = prog_main });

static void run(void (*fn)(void), const char *const *set)
{
	const struct weft_class *const progs[] = { &weft_class_prog, NULL };
	struct weft_err err = { 0 };

	memset(&t, 0, sizeof(t));
	t.fn = fn;
	atoll_pair_new(&t.p, progs, set);
	assert_int_equal(weft_sim_start(t.p.sim, &err), 0);
	weft_sim_run(t.p.sim, WEFT_NEVER);
	assert_int_equal(weft_sim_finish(t.p.sim, &err), 0);
	assert_int_equal(weft_sim_result(t.p.sim)->n_failures, 0);
	weft_sim_free(t.p.sim);
}

/* ---- PIO ---- */

static void route_to(uint32_t port)
{
	put(FROM, ATOLL_PIO_ROUTE, 1ull << 56 | atoll_char(port));
}

/* A message has at most 512 bytes, and a store at most five routing
 * characters. */
static void pio_sends(void)
{
	uint64_t head = ATOLL_HEAD(FROM, 0x2345, ATOLL_PIO_MAX), s;

	put(FROM, ATOLL_PIO_ROUTE, 6ull << 56 | atoll_char(0));
	route_to(TO);
	put(FROM, ATOLL_PIO_TAG, 0x12345);
	for (uint32_t i = 0; i < 66; i++)
		put(FROM, i < 65 ? ATOLL_PIO_DATA : ATOLL_PIO_LAST, 100 + i);
	later();
	s = get(TO, ATOLL_PIO_STATUS);
	assert_int_equal(s & ~(0xffffull << 32),
			 ATOLL_STATUS_PACKET | ATOLL_PIO_MAX);
	assert_int_equal(ATOLL_STATUS_WORDS(s), 64);
	assert_int_equal(get(TO, ATOLL_PIO_HEAD), head);
	for (uint32_t i = 0; i < 64; i++) {
		assert_int_equal(ATOLL_STATUS_WORDS(get(TO, ATOLL_PIO_STATUS)),
				 64 - i);
		assert_int_equal(get(TO, ATOLL_PIO_RDATA), 100 + i);
	}
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
	/* the next message begins anew */
	route_to(TO);
	put(FROM, ATOLL_PIO_LAST, 7);
	later();
	assert_int_equal(get(TO, ATOLL_PIO_HEAD), ATOLL_HEAD(FROM, 0x2345, 8));
	assert_int_equal(get(TO, ATOLL_PIO_RDATA), 7);
}

static void a_message_of_stores_has_512_bytes_at_most(void **state)
{
	run(pio_sends, NULL);
}

/* One burst stores the last two words of a packet: ATOLL_PIO_DATA and the
 * register behind it, which ends the packet. */
static void pio_bursts(void)
{
	static const uint64_t w[2] = { 11, 22 };
	struct weft_io wc;

	assert_true(weft_io_map(t.h, weft_dev_open(t.h, 0), ATOLL_BAR_PORTS,
				FROM * (uint64_t)ATOLL_PAGE, ATOLL_PAGE,
				WEFT_WC, &wc));
	for (uint32_t i = 0; i < 2; i++) {
		route_to(TO);
		weft_io_copy(t.h, &wc, ATOLL_PIO_DATA, w, sizeof(w));
		weft_io_fence(t.h);
		later();
		assert_int_equal(get(TO, ATOLL_PIO_HEAD),
				 ATOLL_HEAD(FROM, 0, 16));
		assert_int_equal(get(TO, ATOLL_PIO_RDATA), 11);
		assert_int_equal(get(TO, ATOLL_PIO_RDATA), 22);
		assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
	}
}

static void a_burst_is_as_good_as_single_stores(void **state)
{
	run(pio_bursts, NULL);
}

/* ---- configuration space ---- */

static const struct config_row config[] = {
	{ 0x00, 2, ATOLL_VENDOR_ID, ATOLL_VENDOR_ID },
	{ 0x02, 2, ATOLL_DEVICE_ID, ATOLL_DEVICE_ID },
	{ 0x04, 2, 6, 6 },
	{ 0x06, 2, 0, 0 },
	{ 0x08, 4, 0x02800000, 0x02800000 },
	{ 0x0e, 1, 0, 0 },
	{ 0x18, 4, 0, 0 },
	{ 0x3c, 1, 0, 0xff },
	{ 0x3d, 1, 1, 1 },
};

static void config_space(void)
{
	static const uint32_t bytes[2] = { ATOLL_PORTS * ATOLL_PAGE,
					   ATOLL_PAGE };
	struct weft_dev *d = weft_dev_open(t.h, 0);

	CONFIG_CHECK(t.h, d, config);
	config_bars(t.h, d, bytes, 2);
}

static void configuration_space_is_as_the_table_says(void **state)
{
	run(config_space, NULL);
}

static void pio_nothing(void)
{
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
	assert_int_equal(get(TO, ATOLL_PIO_HEAD), 0);
	assert_int_equal(get(TO, ATOLL_PIO_RDATA), ~0ull);
	assert_int_equal(get(TO, 0x100), 0);
	/* a packet without payload ends when its header is read */
	queues(0);
	describe(0, 0, 1);
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), ATOLL_STATUS_PACKET);
	assert_int_equal(get(TO, ATOLL_PIO_HEAD), ATOLL_HEAD(FROM, 0x70, 0));
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
	/* reading ATOLL_PIO_RDATA also ends a packet without payload */
	describe(1, 0, 1);
	assert_int_equal(get(TO, ATOLL_PIO_RDATA), ~0ull);
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
}

static void what_is_not_there_reads_as_nothing(void **state)
{
	run(pio_nothing, NULL);
}

/* Fills a receive buffer of two flits. The host port accepts a flit only if the
 * buffer has 64 free bytes. The first flit contains the header word and 56
 * bytes of payload. The header word does not occupy the buffer. Reading words
 * frees their bytes. */
static void pio_full(void)
{
	queues(0);
	describe(0, 256, 1);
	assert_int_equal(ATOLL_STATUS_WORDS(get(TO, ATOLL_PIO_STATUS)), 15);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(get(TO, ATOLL_PIO_RDATA), 0x1000 + i);
	later();
	assert_int_equal(ATOLL_STATUS_WORDS(get(TO, ATOLL_PIO_STATUS)), 16);
	for (uint32_t i = 7; i < 32; i++)
		assert_int_equal(get(TO, ATOLL_PIO_RDATA), 0x1000 + i);
	assert_int_equal(get(TO, ATOLL_PIO_STATUS), 0);
}

static void a_full_buffer_takes_a_flit_when_one_has_room(void **state)
{
	run(pio_full, (const char *const[]){ "rx_flits", "2", NULL });
}

/* ---- DMA ---- */

static void dma_receives(void)
{
	queues(ATOLL_CTRL_DMA);
	assert_int_equal(get(TO, ATOLL_CTRL), ATOLL_CTRL_DMA);
	/* three messages of 96 bytes fit into four entries and cross the end of
	 * the region */
	for (uint32_t i = 0; i < 4; i++) {
		describe(i, 96, 1);
		assert_int_equal(t.sdq[8 * i + 7], ATOLL_D_DONE);
		assert_int_equal(get(FROM, ATOLL_SDQ_RP), (i + 1) % ENTRIES);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(t.rdq[8 * i], ATOLL_HEAD(FROM, 0x70 + i, 96));
		assert_int_equal(t.rdq[8 * i + 1], 96 * i);
		assert_int_equal(t.rdq[8 * i + 7], ATOLL_D_VALID);
		assert_int_equal(t.rdr[12 * i], 0x1000 + i);
		assert_int_equal(t.rdr[12 * i + 11], 0x1000 + i + 11);
	}
	/* 192 bytes leave no room for another flit */
	assert_int_equal(t.rdq[8 * 2 + 7], 0);
	put(TO, ATOLL_RDR_RP, 193 + 96); /* beyond the received bytes */
	later();
	assert_int_equal(t.rdq[8 * 2 + 7], 0);
	put(TO, ATOLL_RDR_RP, 192);
	later();
	assert_int_equal(t.rdq[8 * 2 + 7], ATOLL_D_VALID);
	assert_int_equal(t.rdq[8 * 2 + 1], 192);
	assert_int_equal(t.rdr[24], 0x1002);
	assert_int_equal(t.rdr[31], 0x1002 + 7);
	assert_int_equal(t.rdr[0], 0x1002 + 8);
	assert_int_equal(t.rdr[3], 0x1002 + 11);
	assert_int_equal(t.rdq[8 * 3 + 7], 0); /* no entry */
	put(TO, ATOLL_RDR_RP, 288);
	put(TO, ATOLL_RDR_RP, 192); /* a store does not move the pointer back */
	put(TO, ATOLL_RDQ_RP, 1);
	later();
	assert_int_equal(t.rdq[8 * 3 + 7], ATOLL_D_VALID);
	assert_int_equal(t.rdq[8 * 3 + 1], 32);
	assert_int_equal(t.rdr[4], 0x1003);
	assert_int_equal(counted(AT_K_IRQS), 0);
	assert_int_equal(counted(AT_K_SENT), 4);
	assert_int_equal(counted(AT_K_RECEIVED), 4);
}

static void regions_and_queues_wrap_and_fill(void **state)
{
	run(dma_receives, NULL);
}

/* Checks that a port accepts flits only while fewer than eight writes are in
 * flight. The test sets the number of writes. */
static void dma_waits(void)
{
	struct at_nic *n = atoll_pair_nic(&t.p, 0);

	queues(ATOLL_CTRL_DMA);
	later();
	for (uint32_t i = 0; i < 12; i++) {
		n->rx[TO].writes = i;
		assert_int_equal(at_rx_room(n, TO), i < 8);
	}
	n->rx[TO].writes = 0;
	describe(0, 8, 1);
	assert_int_equal(t.rdq[7], ATOLL_D_VALID);
}

static void a_port_takes_no_flit_with_eight_stores_under_way(void **state)
{
	run(dma_waits, NULL);
}

static void dma_tells(void)
{
	queues(ATOLL_CTRL_DMA | ATOLL_CTRL_IRQ);
	describe(0, 8, 1);
	assert_int_equal(get(MGMT, ATOLL_M_IRQ), ATOLL_IRQ_RECEIVED);
	assert_int_equal(counted(AT_K_IRQS), 1);
	put(MGMT, ATOLL_M_IRQ, ATOLL_IRQ_ROUTE);
	assert_int_equal(get(MGMT, ATOLL_M_IRQ), ATOLL_IRQ_RECEIVED);
	put(MGMT, ATOLL_M_IRQ, ATOLL_IRQ_RECEIVED);
	assert_int_equal(get(MGMT, ATOLL_M_IRQ), 0);
	describe(1, 8, 1);
	assert_int_equal(counted(AT_K_IRQS), 2);
}

static void a_message_raises_the_interrupt_that_was_asked_for(void **state)
{
	run(dma_tells, NULL);
}

/* Sends wrong descriptors, each of which becomes an empty packet. */
static void dma_wrong(void)
{
	queues(ATOLL_CTRL_DMA);
	describe(0, 16, 0);
	describe(1, 16, ATOLL_ROUTE_MAX + 1);
	describe(2, 12, 1);
	assert_int_equal(counted(AT_K_BAD_DESC), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(t.sdq[8 * i + 7], ATOLL_D_DONE);
		assert_int_equal(t.rdq[8 * i], ATOLL_HEAD(FROM, 0x70 + i, 0));
		assert_int_equal(t.rdq[8 * i + 7], ATOLL_D_VALID);
	}
	put(TO, ATOLL_RDQ_RP, 3);
	describe(3, 16, ATOLL_ROUTE_MAX); /* as many characters as fit */
	assert_int_equal(t.rdq[8 * 3], ATOLL_HEAD(FROM, 0x73, 16));
	assert_int_equal(counted(AT_K_BAD_DESC), 3);
}

static void a_wrong_descriptor_sends_an_empty_packet(void **state)
{
	run(dma_wrong, NULL);
}

/* A read that no device answers returns a descriptor with all bits set. Its
 * route has wrong parity, so that the packet goes to the management's port. */
static void dma_nowhere(void)
{
	queues(ATOLL_CTRL_DMA);
	put(MGMT, ATOLL_M_HOST_PORT, ATOLL_PORTS + TO);
	assert_int_equal(get(MGMT, ATOLL_M_HOST_PORT), TO);
	put(FROM, ATOLL_SDQ_BASE, 0xf0000000);
	put(FROM, ATOLL_SDQ_WP, 1);
	later();
	assert_int_equal(counted(AT_K_BAD_DESC), 1);
	assert_int_equal(counted(AT_K_LENGTHS), 1);
	assert_int_equal(get(MGMT, ATOLL_M_IRQ), ATOLL_IRQ_ROUTE);
	assert_int_equal(t.rdq[0], 0xffffffff); /* no bytes */
	assert_int_equal(t.rdq[2], 0xff);
	assert_int_equal(t.rdq[6], 1ull << 48);
	assert_int_equal(t.rdq[7], ATOLL_D_VALID | ATOLL_D_RETRIEVED);
}

static void a_descriptor_that_cannot_be_read_is_taken_out(void **state)
{
	run(dma_nowhere, NULL);
}

/* ---- states in the trace ---- */

static char told[256];

/* Selects the states that hear() collects: states of the receiving side of port
 * TO if true, states of the sending side of port FROM if false. */
static bool receives;

static void hear(struct weft_listener *l, const struct weft_trace *k)
{
	if (k->kind != WEFT_TRACE_STATE || k->comp != t.p.nic[0] ||
	    strcmp(k->name, receives ? "receive" : "send") ||
	    k->index != (receives ? TO : FROM))
		return;
	strcat(told, k->text);
	strcat(told, " ");
}

static void tells(void)
{
	static struct weft_listener ear = { .hear = hear };

	queues(ATOLL_CTRL_DMA);
	weft_sim_listen(t.p.sim, &ear);
	told[0] = 0;
	route_to(TO);
	put(FROM, ATOLL_PIO_DATA, 1);
	put(FROM, ATOLL_PIO_LAST, 2);
	later();
	assert_string_equal(told, "STORE STORE IDLE IDLE IDLE ");
	told[0] = 0;
	describe(0, 8, 1);
	assert_string_equal(told, "DESC DATA DATA IDLE IDLE ");
	receives = true;
	told[0] = 0;
	describe(1, 128, 1); /* a header and 128 bytes are three flits */
	assert_string_equal(told, "HEAD DATA DATA IDLE ");
	receives = false;
}

static void a_port_tells_what_it_does(void **state)
{
	run(tells, NULL);
}

/* ---- management ---- */

static void manages(void)
{
	assert_int_equal(get(MGMT, ATOLL_M_NODE), 7);
	assert_int_equal(get(MGMT, ATOLL_M_DL_COUNTER), 4096);
	put(MGMT, ATOLL_M_DL_COUNTER, 0); /* becomes 1, the least */
	assert_int_equal(get(MGMT, ATOLL_M_DL_COUNTER), 1);
	for (uint32_t i = 0; i < AT_PORTS + 2; i++) {
		put(MGMT, ATOLL_M_REDIRECT, i); /* no packet waits there */
		assert_int_equal(get(MGMT, ATOLL_M_REDIRECT), 0);
	}
	for (uint32_t i = 0; i < AT_PORTS; i++)
		assert_int_equal(get(MGMT, ATOLL_M_DL_STATE + 8 * i), 0);
	assert_int_equal(get(MGMT, ATOLL_M_DL_PORTS), 0);
}

static void the_management_page_reads_as_it_was_written(void **state)
{
	run(manages, (const char *const[]){ "node", "7", NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_of_stores_has_512_bytes_at_most),
		cmocka_unit_test(a_burst_is_as_good_as_single_stores),
		cmocka_unit_test(configuration_space_is_as_the_table_says),
		cmocka_unit_test(what_is_not_there_reads_as_nothing),
		cmocka_unit_test(a_full_buffer_takes_a_flit_when_one_has_room),
		cmocka_unit_test(regions_and_queues_wrap_and_fill),
		cmocka_unit_test(
			a_port_takes_no_flit_with_eight_stores_under_way),
		cmocka_unit_test(
			a_message_raises_the_interrupt_that_was_asked_for),
		cmocka_unit_test(a_wrong_descriptor_sends_an_empty_packet),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_is_taken_out),
		cmocka_unit_test(a_port_tells_what_it_does),
		cmocka_unit_test(the_management_page_reads_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
