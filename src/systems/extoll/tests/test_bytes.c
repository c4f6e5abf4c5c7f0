/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL's receiver delivers the bytes that arrived. A fault on the line
 * changes a byte of one cell and corrects the CRC. */
#include "ex_pair.h"

#include <stdlib.h>

struct forger {
	/* number of the forged cell, from 1 on; index of its forged byte */
	uint32_t cell, at;
	uint32_t seen;
};

static const struct weft_param forger_params[] = {
	WEFT_PARAM(U32, struct forger, cell, "1", "1..", OWN, "which cell"),
	WEFT_PARAM(U32, struct forger, at, "0", "", OWN, "byte of it"),
	{ 0 },
};

static void forge(struct weft_frame *f, uint32_t at)
{
	struct weft_frame *g = weft_frame_dup(f);
	uint32_t len = f->payload.len, n;

	assert_in_range(at, 0, len - 1);
	weft_slice_drop(&g->payload);
	g->payload = weft_slice_word(f->sim, len);
	for (uint32_t i = 0; i < len; i++)
		weft_slice_data(g->payload)[i] =
			weft_slice_data(f->payload)[i] ^ (i == at ? 0x50 : 0);
	n = ex_wire_link.encode(g, NULL, 0);
	f->raw = weft_raw_new(f->sim, n);
	f->raw->n = ex_wire_link.encode(g, f->raw->sym, n);
	weft_frame_free(g);
}

static void forger_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct forger *g = c->state;

	if (f->flags & EX_F_CELL && ++g->seen == g->cell)
		forge(f, g->at);
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(forger, .name = "test.forger", .kind = WEFT_KIND_FAULT,
		      .doc = "changes a byte and the CRC",
		      .state_size = sizeof(struct forger),
		      .params = forger_params,
		      .ops = { .filter = forger_filter });

/* Sends a packet with a forged byte. The packet has at most 40 bytes and fits
 * into one cell: route, header, payload. */
static void forged(const char *width, const char *at, struct ex_pair *p)
{
	ex_pair_init(p, (const char *[]){ "width", width, "0.packets", "1",
					  "size", "40", "vcs", "1", NULL });
	ex_pair_fault(p, 0, &weft_class_forger,
		      (const char *[]){ "at", at, NULL });
	ex_pair_start(p);
	ex_pair_drain(p, 100000);
	assert_int_equal(p->n[1]->ep.count.crc, 0);
	assert_int_equal(p->n[1]->n_log, 1);
}

static void a_forged_payload_is_delivered_as_it_came(void **state)
{
	static const char *const width[] = { "w16", "w32" };

	for (uint32_t i = 0; i < 2; i++) {
		struct ex_pair p;

		forged(width[i], i ? "12" : "10", &p);
		assert_true(p.n[1]->last.payload.len > 0);
		assert_int_equal(p.n[1]->bad_bytes, 1);
		assert_int_equal(p.n[1]->last.u[0], 1);
		assert_int_equal(p.n[1]->last.trace_id, 1);
		ex_pair_fini(&p);
	}
}

static void a_forged_header_is_delivered_as_it_came(void **state)
{
	struct ex_pair p;

	forged("w32", "4", &p);
	assert_int_equal(p.n[1]->last.u[0], 1 ^ 0x50);
	ex_pair_fini(&p);
	forged("w16", "3", &p);
	assert_int_equal(p.n[1]->last.u[0], 1 ^ 0x5000);
	ex_pair_fini(&p);
}

/* The first byte is 0x03: nibbles 3 and 0, for two hops. */
static void a_forged_route_is_delivered_as_it_came(void **state)
{
	struct ex_pair p;

	forged("w32", "0", &p);
	assert_int_equal(p.n[1]->last.u[4], ~0xffULL | 0x53);
	ex_pair_fini(&p);
	forged("w16", "0", &p);
	assert_int_equal(p.n[1]->last.u[4], ~0xffULL | 0x53);
	ex_pair_fini(&p);
}

static void one_forged_cell_of_many_spoils_one_packet(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "packets", "200", NULL });
	ex_pair_fault(&p, 0, &weft_class_forger,
		      (const char *[]){ "cell", "77", "at", "3", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 2000000);
	assert_int_equal(p.n[1]->bad_bytes, 1);
	assert_int_equal(p.n[0]->bad_bytes, 0);
	p.n[1]->bad_bytes = 0;
	ex_pair_check_all(&p);
	ex_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forged_payload_is_delivered_as_it_came),
		cmocka_unit_test(a_forged_header_is_delivered_as_it_came),
		cmocka_unit_test(a_forged_route_is_delivered_as_it_came),
		cmocka_unit_test(one_forged_cell_of_many_spoils_one_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
