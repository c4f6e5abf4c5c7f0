/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the decoding of all 256 command bytes with table 4.1 (hostport.md
 * 5.3 to 5.5). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/hostport/nic/nic.h"

/* Bits 7 to 0 of a command: A for acknowledge, L for words, x for any value. */
static const struct row {
	const char *bits;
	uint32_t least, most; /* of L */
	/* imm: number of words that are sent even without L. first: index of
	 * the first word */
	uint32_t imm, first;
	bool three, rma;
} rows[] = {
	{ "0001ALLL", 0, 5, 0, 3, false, false }, /* FAST_SEND */
	{ "0010AxLL", 1, 3, 0, 5, false, true },  /* FAST_PUT */
	{ "0011x0LL", 1, 3, 0, 5, true, true },	  /* FAST_GET */
	{ "0100Ax00", 0, 0, 1, 6, false, true },  /* MISALIGNED_PUT */
	{ "0110x010", 0, 0, 1, 5, true, true },	  /* FAA */
	{ "0111x011", 0, 0, 2, 5, true, true },	  /* CAS */
	{ "1001Axxx", 0, 0, 0, 0, false, false }, /* SEND */
	{ "1010Axxx", 0, 0, 0, 0, false, true },  /* PUT */
	{ "1011x0xx", 0, 0, 0, 0, true, true },	  /* GET */
};
/* main command whose immediate words are ignored (5.5) */
enum { FAST_GET = 3 };

static bool fits(const struct row *r, uint32_t byte, uint32_t *l_p, bool *a_p)
{
	*l_p = 0;
	*a_p = false;
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t bit = byte >> (7 - i) & 1;

		if (r->bits[i] == 'L')
			*l_p = *l_p << 1 | bit;
		else if (r->bits[i] == 'A')
			*a_p = bit;
		else if (r->bits[i] != 'x' && r->bits[i] != (char)('0' + bit))
			return false;
	}
	return *l_p >= r->least && *l_p <= r->most;
}

static void decode(struct hp_vci *v, uint32_t cmd)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < HP_WORDS; i++)
		w[i] = 0x1111111111111111ull * (i + 1);
	w[0] = HP_VCI_W0(cmd, 0, 0);
	memset(v, 0xff, sizeof(*v));
	hp_vci_decode(v, w, 0x4321);
	assert_int_equal(v->vpid, 0x4321);
	assert_int_equal(v->byte, cmd & 0xff);
	assert_memory_equal(v->w, w, sizeof(w));
}

static void check(const struct hp_vci *v, const struct row *r, uint32_t l,
		  bool a)
{
	bool counted = strchr(r->bits, 'L');

	assert_int_equal(v->err, HP_ERR_NOERR);
	assert_int_equal(v->main, v->byte >> 4);
	assert_int_equal(v->ack, a);
	assert_int_equal(v->three, r->three);
	assert_int_equal(v->rma, r->rma);
	assert_int_equal(v->first, r->first);
	assert_int_equal(v->imm, v->main == FAST_GET ? 0
				 : counted	     ? l
						     : r->imm);
}

static void commands_are_those_of_the_table(void **state)
{
	struct hp_vci v;

	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t known = 0, l;
		bool a;

		decode(&v, HP_CMD(0, HP_G_PORT, byte));
		for (uint32_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			if (fits(&rows[i], byte, &l, &a)) {
				known++;
				check(&v, &rows[i], l, a);
			}
		assert_true(known <= 1);
		if (!known)
			assert_int_equal(v.err, HP_ERR_CMD_INV);
		if (!known)
			assert_int_equal(v.main, 0);
	}
}

static void instructions_have_the_ports_group_and_no_error(void **state)
{
	struct hp_vci v;

	decode(&v, HP_CMD(0, HP_G_PORT, HP_B_SEND));
	assert_int_equal(v.err, HP_ERR_NOERR);
	decode(&v, HP_CMD(0, HP_G_ULTRA, HP_B_SEND));
	assert_int_equal(v.err, HP_ERR_CMD_INV);
	decode(&v, HP_CMD(1, HP_G_PORT, HP_B_SEND));
	assert_int_equal(v.err, HP_ERR_CMD_INV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_those_of_the_table),
		cmocka_unit_test(
			instructions_have_the_ports_group_and_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
