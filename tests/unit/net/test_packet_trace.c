/* SPDX-License-Identifier: Apache-2.0 */
/* Packet traces: parsing, and the message for each wrong line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"
#include "net/packet_trace.h"

static struct trace *parse(const char *text, struct weft_err *err)
{
	*err = (struct weft_err){ 0 };
	return trace_parse("t.trace", text, strlen(text), 8, 4096, err);
}

static void trace_is_read_in_order_with_its_dependences(void **st)
{
	struct weft_err err;
	struct trace *t =
		parse("# head\n"
		      "\n"
		      "100 5 0 4096 b  # tail\r\n"
		      "7 5 1 0 c b\n"
		      "7 5 2 8 - b,c\n"
		      "  3\t2 3 64",
		      &err);

	assert_non_null(t);
	assert_int_equal(t->n, 4);
	assert_int_equal(t->pkt[0].bytes, 4096);
	assert_int_equal(t->pkt[1].wait, 1);
	assert_int_equal(t->pkt[2].wait, 2);
	assert_int_equal(t->pkt[0].n, 2);
	assert_int_equal(t->next[t->pkt[0].first], 1);
	assert_int_equal(t->next[t->pkt[0].first + 1], 2);
	assert_int_equal(t->next[t->pkt[1].first], 2);
	/* packets are sorted by source, cycle, line */
	assert_int_equal(t->from[2], 0);
	assert_int_equal(t->from[3], 1);
	assert_int_equal(t->from[5], 1);
	assert_int_equal(t->from[6], 4);
	assert_int_equal(t->order[1], 1);
	assert_int_equal(t->order[2], 2);
	assert_int_equal(t->order[3], 0);
	trace_free(t);
}

static void departures_are_kept_apart_from_arrivals(void **st)
{
	struct weft_err err;
	struct trace *t =
		parse("1 5 0 8 a\n"
		      "2 5 0 8 b >a\n"
		      "2 5 1 8 c >a,b\n"
		      "2 0 1 8 d a",
		      &err);

	assert_non_null(t);
	assert_int_equal(t->pkt[0].n, 1);
	assert_int_equal(t->next[t->pkt[0].first], 3);
	assert_int_equal(t->pkt[1].wait, 1);
	assert_int_equal(t->pkt[2].wait, 2);
	assert_int_equal(t->pkt[0].left, 2 + 1);
	assert_int_equal(t->pkt[2].left_next, 1 + 1);
	assert_int_equal(t->pkt[1].left_next, 0);
	assert_int_equal(t->pkt[1].left, 0);
	trace_free(t);
}

static void empty_trace_has_no_packets(void **st)
{
	struct weft_err err;
	struct trace *t = parse("", &err);

	assert_non_null(t);
	assert_int_equal(t->n, 0);
	trace_free(t);
}

static void wrong_line_is_refused_with_its_number(void **st)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "0 0 1", "t.trace:1: no size" },
		{ "\n0 x 1 8", "t.trace:2: source 'x' is no number" },
		{ "0 8 1 8", "t.trace:1: source 8 is more than 7" },
		{ "0 0 1 4097", "size 4097 is more than 4096" },
		{ "0 0 1 8 a\n1 0 1 8 a", "t.trace:2: a second packet" },
		{ "0 0 1 8 a b", "no packet above is called 'b'" },
		{ "0 0 1 8 a a", "no packet above is called 'a'" },
		{ "0 0 1 8 a\n0 0 1 8 b a,,a", "no packet above is called ''" },
		{ "0 0 1 8 a\n0 1 0 8 b >a",
		  "t.trace:2: '>a' is a packet of another source: 'a' would do" },
		{ "0 0 1 8 a\n0 0 0 8 b >a,>a", "a second '>'" },
		{ "0 0 1 8 >a", "'>a' is" },
		{ "0 0 1 8 a >", "no packet above is called ''" },
		{ "0 0 1 8 a - x", "'x' is one word too many" },
		{ "0 0 1 8 a,b", "'a,b' is no id" },
		{ "-1 0 1 8", "cycle '-1' is no number" },
		{ "99999999999999999999 0 1 8", "is no number" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weft_err err;

		assert_null(parse(bad[i].text, &err));
		if (!strstr(err.msg, bad[i].says))
			fail_msg("'%s' instead of '%s'", err.msg, bad[i].says);
	}
}

static void long_trace_is_read_and_special_files_refused(void **st)
{
	struct weft_err err = { 0 };
	struct trace *t;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (uint32_t i = 0; i < 20000; i++)
		fprintf(f, "%u %u %u 8 p%u %s%u\n", 20000 - i, i % 8,
			(i + 1) % 8, i, i ? "p" : "-\n#", i ? i - 1 : 0);
	fclose(f);
	t = trace_parse("x", text, len, 8, 4096, &err);
	assert_non_null(t);
	assert_int_equal(t->n, 20000);
	for (uint32_t i = 1; i < t->n; i++) {
		assert_int_equal(t->pkt[i].wait, 1);
		assert_int_equal(t->next[t->pkt[i - 1].first], i);
	}
	trace_free(t);
	free(text);
	assert_null(trace_load("/nonexistent/x", 8, 4096, &err));
	err.code = 0;
	assert_null(trace_load("/dev/zero", 8, 4096, &err));
	assert_non_null(strstr(err.msg, "no file"));
	/* a file whose first page cannot be read */
	err.code = 0;
	assert_null(trace_load("/proc/self/mem", 8, 4096, &err));
	assert_string_equal(err.msg, "/proc/self/mem: cannot be read");
}

/* Files of the kernel report size 0, therefore a file is read to its end. */
static void a_file_is_read_whatever_size_it_says(void **state)
{
	struct weft_err err = { 0 };

	assert_null(trace_load("/proc/self/status", 8, 4096, &err));
	assert_non_null(strstr(err.msg, "/proc/self/status:1: "));
}

static void a_pipe_is_refused(void **state)
{
	struct weft_err err = { 0 };
	char name[64];
	int p[2];

	assert_int_equal(pipe(p), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", p[0]);
	assert_null(trace_load(name, 8, 4096, &err));
	assert_non_null(strstr(err.msg, "write it to a file first"));
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_is_read_in_order_with_its_dependences),
		cmocka_unit_test(departures_are_kept_apart_from_arrivals),
		cmocka_unit_test(empty_trace_has_no_packets),
		cmocka_unit_test(wrong_line_is_refused_with_its_number),
		cmocka_unit_test(long_trace_is_read_and_special_files_refused),
		cmocka_unit_test(a_file_is_read_whatever_size_it_says),
		cmocka_unit_test(a_pipe_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
