/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the calls of processes: the calls that took most time, messages
 * from rank to rank, machines side by side. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "front/exec/exec.h"
#include "front/out/out.h"

#define US UINT64_C(1000000000)

static void call(struct calls *c, uint32_t rank, const char *name,
		 uint64_t calls, uint64_t bytes, uint64_t time, uint64_t max)
{
	calls_row_add(c, &(struct calls_row){ rank, (char *)name, calls, bytes,
					      time, max });
}

static void rank(struct calls *c, uint32_t i, uint64_t start, uint64_t over)
{
	calls_rank_add(c, &(struct calls_rank){ i, i, start, over });
}

static void prints(const struct calls *c, const char *want)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	exec_calls_table(c, f);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void table_of_calls_leaves_out_libfabric_below_mpi(void **state)
{
	struct calls c = { 0 };

	rank(&c, 0, 10 * US, 110 * US);
	rank(&c, 1, 20 * US, 210 * US);
	call(&c, 0, "MPI_Send", 3, 300, 30 * US, 20 * US);
	call(&c, 1, "MPI_Send", 1, 100, 10 * US, 10 * US);
	call(&c, 1, "fi_send", 9, 900, 90 * US, 90 * US);
	call(&c, 1, "MPI_Recv", 4, 400, 60 * US, 50 * US);
	calls_flow_add(&c, &(struct calls_flow){ 0, 1, 3, 300 });
	prints(&c,
	       "weft: measured part 200 us\n"
	       "call      calls  bytes   time   share   mean  longest\n"
	       "MPI_Recv      4    400  60 us  15.0 %  15 us    50 us\n"
	       "MPI_Send      4    400  40 us  10.0 %  10 us    20 us\n"
	       "messages, bytes  to rank 0  to rank 1\n"
	       "from rank 0              -  3, 300\n"
	       "from rank 1              -  -\n");
	calls_free(&c);
}

/* Checks a table without a measurement. Its times have several units, and one
 * call was never made. */
static void table_of_calls_scales_units_and_omits_shares(void **state)
{
	struct calls c = { 0 };

	rank(&c, 0, 0, 0);
	call(&c, 0, "a", 1, 1, 2500000 * US, 12345 * US);
	call(&c, 0, "b", 2, 2, 999 * US, 999999);
	call(&c, 0, "c", 0, 3, 1000000, 999);
	prints(&c,
	       "call  calls  bytes    time  share      mean      longest\n"
	       "a         1      1   2.5 s      -     2.5 s     12.35 ms\n"
	       "b         2      2  999 us      -  499.5 us         1 ns\n"
	       "c         0      3    1 ns      -      0 ns  0.000999 ns\n");
	calls_free(&c);
	prints(&c, "");
}

static void table_of_calls_ends_after_six_calls_and_eight_ranks(void **state)
{
	struct calls c = { 0 };
	char name[8];

	for (uint32_t i = 0; i < 8; i++)
		rank(&c, i, 0, 0);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		call(&c, 0, name, 1, 0, (10 - i) * US, 0);
	}
	calls_flow_add(&c, &(struct calls_flow){ 7, 0, 1, 2 });
	prints(&c,
	       "call  calls  bytes   time  share   mean  longest\n"
	       "f0        1      0  10 us      -  10 us     0 ns\n"
	       "f1        1      0   9 us      -   9 us     0 ns\n"
	       "f2        1      0   8 us      -   8 us     0 ns\n"
	       "f3        1      0   7 us      -   7 us     0 ns\n"
	       "f4        1      0   6 us      -   6 us     0 ns\n"
	       "f5        1      0   5 us      -   5 us     0 ns\n"
	       "messages, bytes  to rank 0  to rank 1  to rank 2  to rank 3  "
	       "to rank 4  to rank 5  to rank 6  to rank 7\n"
	       "from rank 0      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 1      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 2      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 3      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 4      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 5      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 6      -                  -          -          -  "
	       "        -          -          -          -\n"
	       "from rank 7      1, 2               -          -          -  "
	       "        -          -          -          -\n");
	call(&c, 0, "g", 1, 0, 1, 0);
	rank(&c, 8, 0, 0);
	prints(&c,
	       "call  calls  bytes   time  share   mean  longest\n"
	       "f0        1      0  10 us      -  10 us     0 ns\n"
	       "f1        1      0   9 us      -   9 us     0 ns\n"
	       "f2        1      0   8 us      -   8 us     0 ns\n"
	       "f3        1      0   7 us      -   7 us     0 ns\n"
	       "f4        1      0   6 us      -   6 us     0 ns\n"
	       "f5        1      0   5 us      -   5 us     0 ns\n"
	       "and 1 more: --format json, or --out and weft report\n");
	calls_free(&c);
}

static struct run_point machine(const char *name, uint64_t measured,
				uint64_t send, uint64_t other)
{
	struct run_point p = { strdup(name), result_new() };
	struct calls *c = &p.result->calls;

	rank(c, 0, US, US + measured);
	if (send)
		call(c, 0, "MPI_Send", 1, 8, send, send);
	call(c, 0, "MPI_Wait", 1, 0, other, other);
	call(c, 0, "fi_cq_read", 1, 0, 77 * US, 77 * US);
	return p;
}

static void compares(struct run_point *p, size_t n, const char *want)
{
	struct run_set s = { .points = p, .n_points = n };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	exec_compare(&s, f);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void machines_are_compared_call_by_call_with_ratios(void **state)
{
	struct run_point p[] = { machine("fabric=a", 100 * US, 40 * US, US),
				 machine("fabric=b", 150 * US, 10 * US, 3 * US),
				 machine("fabric=c", 50 * US, 0, 0) };

	compares(p, 2,
		 "\nsimulated time, all ranks       a       b  ratio\n"
		 "measured part              100 us  150 us  1.500\n"
		 "MPI_Send                    40 us   10 us  0.250\n"
		 "MPI_Wait                     1 us    3 us  3.000\n");
	compares(p, 3,
		 "\nsimulated time, all ranks       a       b      c    2/1    "
		 "3/1\n"
		 "measured part              100 us  150 us  50 us  1.500  "
		 "0.500\n"
		 "MPI_Send                    40 us   10 us   0 ns  0.250  "
		 "0.000\n"
		 "MPI_Wait                     1 us    3 us   0 ns  3.000  "
		 "0.000\n");
	compares(p + 2, 1,
		 "\nsimulated time, all ranks      c\n"
		 "measured part              50 us\n"
		 "MPI_Wait                    0 ns\n");
	for (int i = 0; i < 3; i++) {
		free(p[i].point);
		result_free(p[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_of_calls_leaves_out_libfabric_below_mpi),
		cmocka_unit_test(table_of_calls_scales_units_and_omits_shares),
		cmocka_unit_test(
			table_of_calls_ends_after_six_calls_and_eight_ranks),
		cmocka_unit_test(
			machines_are_compared_call_by_call_with_ratios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
