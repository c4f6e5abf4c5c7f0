/* SPDX-License-Identifier: Apache-2.0 */
/* Block traces: parsing, and the message for each wrong line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"
#include "programs/block_trace.h"

static const struct block_attr any = { .event = 'Q', .device = "" };

static struct block_trace *
parse(const char *text, const struct block_attr *attr, struct weft_err *err)
{
	*err = (struct weft_err){ 0 };
	return block_trace_parse("t", text, strlen(text), attr, err);
}

static void op_is(const struct block_trace *t, uint32_t i, uint64_t us,
		  enum weft_disk_code code, uint64_t offset, uint64_t length)
{
	assert_in_range(i, 0, t->n - 1);
	assert_int_equal(t->op[i].time, us * WEFT_US);
	assert_int_equal(t->op[i].code, code);
	assert_int_equal(t->op[i].offset, offset);
	assert_int_equal(t->op[i].length, length);
}

static const char blk[] =
	"  8,0    3        1     0.000001000   697  Q   W 8 + 16 [a b] x\n"
	"  8,0    3        2     0.000002000   697  G   W 8 + 16 [a]\n"
	"  8,0    3        3     0.000003000   697  D   W 8 + 16 [a]\n"
	"  8,0    3        4     0.000004000     0  C   W 8 + 16 [0]\n"
	"  8,0    3        5     0.000009000   697  Q  RA 4096 + 8 [a]\n"
	"  8,0    3        6     0.000006000   697  Q FWFSM 16 + 8 [a]\n"
	"  8,0    3        7     0.000007000   697  Q FN [a]\n"
	"  8,0    3        8     0.000008000   697  Q  DS 0 + 200000 [a]\n"
	"  8,0    3        9     0.000008500   697  m   N cfq697S alloced\n"
	"  8,0    3       10     0.000008600   697  Q   N 0 + 8 [sg]\n"
	"  8,0    3       11     0.000008700   697  Q  WS [a]\n"
	"  8,0    3       12     0.000008800   697  A   W 24 + 8 <- (8,1) 16\n"
	"CPU0 (8,0):\n"
	" Reads Queued:           4,      292KiB\n"
	"Total (8,0):\n";

static void blkparse_lines_of_one_event_are_requests_in_order_of_time(void **st)
{
	struct weft_err err;
	struct block_trace *t = parse(blk, &any, &err);

	assert_non_null(t);
	assert_int_equal(t->n, 6);
	op_is(t, 0, 1, WEFT_DISK_WRITE, 8 * 512, 16 * 512);
	op_is(t, 1, 6, WEFT_DISK_FLUSH, 0, 0);
	op_is(t, 2, 6, WEFT_DISK_WRITE, 16 * 512, 8 * 512);
	assert_int_equal(t->op[2].flags, WEFT_DISK_FUA);
	assert_int_equal(t->op[2].line, 6);
	op_is(t, 3, 7, WEFT_DISK_FLUSH, 0, 0);
	op_is(t, 4, 8, WEFT_DISK_TRIM, 0, 200000 * 512);
	op_is(t, 5, 9, WEFT_DISK_READ, 4096 * 512, 8 * 512);
	assert_int_equal(t->op[0].flags, 0);
	block_trace_free(t);
}

static void event_chooses_the_lines_of_blkparse(void **st)
{
	const struct block_attr c = { .event = 'C', .device = "8,0" };
	struct weft_err err;
	struct block_trace *t = parse(blk, &c, &err);

	assert_non_null(t);
	assert_int_equal(t->n, 1);
	op_is(t, 0, 4, WEFT_DISK_WRITE, 8 * 512, 16 * 512);
	block_trace_free(t);
}

static void values_with_commas_are_requests(void **st)
{
	const struct block_attr csv = { .format = BLOCK_CSV,
					.event = 'Q',
					.device = "" };
	static const char text[] =
		"# recorded by hand\n"
		"\n"
		"time,op,offset,bytes\r\n"
		"0.5,R,1024,512\r\n"
		" 0 , W ,0, 4096 # first\n"
		"0.000001,WF,512,512\n"
		"0.000002,F,,\n"
		"0.000003,F,0,0\n"
		"0.000004,T,4096,512\n"
		"0.000005000000000,Z,512,1024";
	struct weft_err err;
	struct block_trace *t = parse(text, &csv, &err);

	assert_non_null(t);
	assert_int_equal(t->n, 7);
	op_is(t, 0, 0, WEFT_DISK_WRITE, 0, 4096);
	op_is(t, 1, 1, WEFT_DISK_WRITE, 512, 512);
	assert_int_equal(t->op[1].flags, WEFT_DISK_FUA);
	op_is(t, 2, 2, WEFT_DISK_FLUSH, 0, 0);
	op_is(t, 3, 3, WEFT_DISK_FLUSH, 0, 0);
	op_is(t, 4, 4, WEFT_DISK_TRIM, 4096, 512);
	op_is(t, 5, 5, WEFT_DISK_ZERO, 512, 1024);
	op_is(t, 6, 500000, WEFT_DISK_READ, 1024, 512);
	block_trace_free(t);
	t = parse(text, &any, &err);
	assert_non_null(t);
	assert_int_equal(t->n, 7);
	block_trace_free(t);
}

#define Q "8,0 0 1 0.0 1 Q "

static void wrong_line_is_refused_with_its_number(void **st)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "t:0: no request" },
		{ "# nothing\n", "t:1: no request" },
		{ "1,W,0", "t:1: a line is TIME,OPERATION,OFFSET,BYTES" },
		{ "\n1,W,0,512,x", "t:2: 'x' is one value too many" },
		{ "x,W,0,512", "time 'x' is not a number of seconds" },
		{ "1.2.3,W,0,512", "time '1.2.3' is not a number" },
		{ "-1,W,0,512", "time '-1' is not a number" },
		{ ",W,0,512", "time '' is not a number" },
		{ "1.0000000000000001,W,0,512", "is not a number of seconds" },
		{ "99999,W,0,512", "time 99999 is beyond 18000 s" },
		{ "1,X,0,512", "operation 'X' is none of R, W, WF, F, T" },
		{ "1,w,0,512", "operation 'w' is none of" },
		{ "1,W,x,512", "offset 'x' is not a number" },
		{ "1,W,0,1e3", "length '1e3' is not a number" },
		{ "1,W,0,1234567890123456789", "is not a number" },
		{ "1,W,1,512", "512 bytes at 1 are not whole sectors" },
		{ "1,W,0,0", "0 bytes at 0 are not whole sectors" },
		{ "1,R,0,67109376", "67109376 bytes are more than 67108864" },
		{ "1,W,0,512\ntime,op,offset,bytes", "t:2: time 'time' is" },
		{ Q "W x + 8", "t:1: sector 'x' is not a number" },
		{ Q "W 8 + x", "number of sectors 'x' is not a number" },
		{ Q "W 8 +", "number of sectors '' is not a number" },
		{ Q "W 8 + 0\n" Q "W 0 + 1", NULL },
		{ Q "X 8 + 8", "'X' is not a kind of request" },
		{ Q "W 99999999999999999 + 8", "is beyond any disk" },
		{ Q "W 8 + 999999", "bytes are more than 67108864" },
		{ Q "W 8 + 8\n8,0 0 x", "t:2: sequence number 'x' is not" },
		{ Q "W 8 + 8\nhello", "t:2: 'hello' is not a device" },
		{ Q "W 8 + 8\n8,0 0 1 z", "time 'z' is not a number" },
		{ Q "W 8 + 8\n8,0 0 1 0.0 1 Q", "t:2: the line ends" },
		{ Q "W 8 + 8\n8,1 0 1 0.0 1 Q W 8 + 8",
		  "t:2: a second device, 8,1 after 8,0: name one with "
		  "device=8,0" },
		{ "8,0 0 1 0.0 1 D W 8 + 8",
		  "none of 1 events is a request with event=Q" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weft_err err;
		struct block_trace *t = parse(bad[i].text, &any, &err);

		if (!bad[i].says) {
			assert_non_null(t);
			block_trace_free(t);
			continue;
		}
		assert_null(t);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("'%s' instead of '%s'", err.msg, bad[i].says);
	}
}

/* An offset in bytes is accepted if twice its value still fits 64 bits. */
static void last_sector_that_an_offset_can_name_is_accepted(void **st)
{
	struct weft_err err;
	struct block_trace *t = parse(Q "W 18014398509481983 + 8", &any, &err);

	assert_non_null(t);
	op_is(t, 0, 0, WEFT_DISK_WRITE, 18014398509481983 * 512, 8 * 512);
	block_trace_free(t);
	assert_null(parse(Q "W 18014398509481984 + 8", &any, &err));
	assert_non_null(strstr(err.msg, "is beyond any disk"));
}

static void bytes_that_are_not_text_are_refused(void **st)
{
	static const char text[] = "0,W,0,512\n\0\n";
	struct weft_err err = { 0 };

	assert_null(block_trace_parse("t", text, sizeof(text) - 1, &any, &err));
	assert_non_null(strstr(err.msg, "t:2: this is not text"));
}

static void requests_to_the_named_device_alone_are_read(void **st)
{
	const struct block_attr one = { .event = 'Q', .device = "8,1" };
	struct weft_err err;
	struct block_trace *t =
		parse(Q "W 8 + 8\n8,1 0 1 0.0 1 Q R 16 + 8\n", &one, &err);

	assert_non_null(t);
	assert_int_equal(t->n, 1);
	op_is(t, 0, 0, WEFT_DISK_READ, 16 * 512, 8 * 512);
	block_trace_free(t);
}

static void file_is_read_whole_and_special_files_are_refused(void **st)
{
	char name[] = "/tmp/weft-block-XXXXXX";
	struct weft_err err = { 0 };
	struct block_trace *t;
	int fd = mkstemp(name);
	FILE *f = fdopen(fd, "w");

	for (int i = 0; i < 20000; i++)
		fprintf(f, "%d.5,W,%d,512\n", i % 9, i * 512);
	fclose(f);
	t = block_trace_load(name, &any, &err);
	assert_non_null(t);
	assert_int_equal(t->n, 20000);
	for (uint32_t i = 1; i < t->n; i++)
		assert_true(t->op[i - 1].time < t->op[i].time ||
			    t->op[i - 1].line < t->op[i].line);
	block_trace_free(t);
	unlink(name);
	assert_null(block_trace_load("/nonexistent/x", &any, &err));
	assert_non_null(strstr(err.msg, "/nonexistent/x: No such file"));
	err = (struct weft_err){ 0 };
	assert_null(block_trace_load("/dev/zero", &any, &err));
	assert_non_null(strstr(err.msg, "write it to a file first"));
	err = (struct weft_err){ 0 };
	assert_null(block_trace_load("/proc/self/mem", &any, &err));
	assert_string_equal(err.msg, "/proc/self/mem: cannot be read");
	err = (struct weft_err){ 0 };
	assert_null(block_trace_load("/proc/self/status", &any, &err));
	assert_non_null(strstr(err.msg, "/proc/self/status:1: "));
	block_trace_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			blkparse_lines_of_one_event_are_requests_in_order_of_time),
		cmocka_unit_test(event_chooses_the_lines_of_blkparse),
		cmocka_unit_test(values_with_commas_are_requests),
		cmocka_unit_test(wrong_line_is_refused_with_its_number),
		cmocka_unit_test(
			last_sector_that_an_offset_can_name_is_accepted),
		cmocka_unit_test(bytes_that_are_not_text_are_refused),
		cmocka_unit_test(requests_to_the_named_device_alone_are_read),
		cmocka_unit_test(
			file_is_read_whole_and_special_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
