/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time program: prints the tables of the 8b/10b code, made from its two
 * parts, 5b/6b and 3b/4b. The tables below list both parts for disparity 0. For
 * disparity 1 a part is complemented if it is unbalanced, or if it is balanced
 * and has two forms. */
#include <stdint.h>
#include <stdio.h>

/* codes abcdei of D0..D31 and K28 */
static const char *const six[33] = {
	"100111", "011101", "101101", "110001", "110101", "101001", "011001",
	"111000", "111001", "100101", "010101", "110100", "001101", "101100",
	"011100", "010111", "011011", "100011", "010011", "110010", "001011",
	"101010", "011010", "111010", "110011", "100110", "010110", "110110",
	"001110", "101110", "011110", "101011", "001111",
};
/* codes fghj of Dx.0..Dx.6, primary and alternate Dx.7, then Kx.0..Kx.7 */
static const char *const four[9] = { "1011", "1001", "0101", "1100", "1101",
				     "1010", "0110", "1110", "0111" };
static const char *const four_k[8] = { "1011", "0110", "1010", "1100",
				       "1101", "0101", "1001", "0111" };

static uint32_t b8b10_gen_number(const char *s)
{
	uint32_t v = 0;

	for (; *s; s++)
		v = v << 1 | (*s == '1');
	return v;
}

static int b8b10_gen_disparity(uint32_t v, uint32_t bits)
{
	return 2 * __builtin_popcount(v) - (int)bits;
}

/* Returns one part of a code at disparity *rd_p. `twin` marks a balanced part
 * that has two forms. */
static uint32_t b8b10_gen_part(const char *s, uint32_t bits, int twin,
			       uint32_t *rd_p)
{
	uint32_t v = b8b10_gen_number(s);
	int d = b8b10_gen_disparity(v, bits);

	if (*rd_p && (d || twin))
		v ^= (1u << bits) - 1;
	if (d)
		*rd_p ^= 1;
	return v;
}

static int b8b10_gen_alternate(uint32_t x, uint32_t rd)
{
	return rd ? x == 11 || x == 13 || x == 14
		  : x == 17 || x == 18 || x == 20;
}

static int is_control(uint32_t x, uint32_t y)
{
	return x == 28 ||
	       (y == 7 && (x == 23 || x == 27 || x == 29 || x == 30));
}

/* Returns the code of a symbol, or 0 if the symbol does not exist. */
static uint32_t b8b10_gen_encode(uint32_t sym, uint32_t *rd_p)
{
	uint32_t x = sym & 31, y = sym >> 5 & 7, k = sym >> 8, hi;

	if (k && !is_control(x, y))
		return 0;
	hi = b8b10_gen_part(six[k && x == 28 ? 32 : x], 6, x == 7, rd_p) << 4;
	if (k)
		return hi | b8b10_gen_part(four_k[y], 4, 1, rd_p);
	if (y == 7 && b8b10_gen_alternate(x, *rd_p))
		y = 8;
	return hi | b8b10_gen_part(four[y], 4, y == 3, rd_p);
}

static uint16_t enc[2][512], dec[2][1024];

static void b8b10_gen_print(const char *name, const uint16_t *t, uint32_t n)
{
	printf("static const uint16_t %s[2][%u] = {", name, n / 2);
	for (uint32_t i = 0; i < n; i++)
		printf("%s0x%03X,%s", i % (n / 2) ? "" : "\n{", t[i],
		       i % (n / 2) == n / 2 - 1 ? "},"
		       : i % 12			? " "
						: "\n");
	printf("\n};\n");
}

int main(void)
{
	for (uint32_t rd = 0; rd < 2; rd++)
		for (uint32_t i = 0; i < 1024; i++)
			dec[rd][i] = 0x200;
	for (uint32_t rd = 0; rd < 2; rd++)
		for (uint32_t s = 0; s < 512; s++) {
			uint32_t r = rd, c = b8b10_gen_encode(s, &r);

			enc[rd][s] = (uint16_t)(c | r << 10);
			if (!c)
				continue;
			dec[rd][c] = (uint16_t)s;
			if (dec[!rd][c] == 0x200)
				dec[!rd][c] = (uint16_t)(s | 0x200);
		}
	b8b10_gen_print("enc", enc[0], 1024);
	b8b10_gen_print("dec", dec[0], 2048);
	return 0;
}
