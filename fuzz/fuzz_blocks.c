/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the input as the text of a block trace. No text may crash the reader.
 * Requests that the reader accepts are aligned, within the limits and in order
 * of time. The first byte selects format, event and device. */
#include <assert.h>

#include "programs/block_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct block_trace *t)
{
	assert(t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct block_op *op = &t->op[i];
		bool data = op->code == WEFT_DISK_READ ||
			    op->code == WEFT_DISK_WRITE;

		assert(op->code <= WEFT_DISK_ZERO && op->line);
		assert(op->offset % BLOCK_SECTOR == 0);
		assert(op->length % BLOCK_SECTOR == 0);
		assert(op->code == WEFT_DISK_FLUSH || op->length);
		assert(!data || op->length <= BLOCK_LENGTH_MAX);
		assert(op->offset + op->length >= op->offset);
		assert(!op->flags || op->code == WEFT_DISK_WRITE);
		assert(op->time / WEFT_SEC <= BLOCK_SECONDS_MAX);
		assert(!i || t->op[i - 1].time <= op->time);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? *data : 0;
	const struct block_attr attr = { .format = how % 3,
					 .event = "QDC"[how / 3 % 3],
					 .device = how / 9 % 2 ? "8,0" : "" };
	struct weft_err err = { 0 };
	struct block_trace *t;

	t = block_trace_parse("fuzz", (const char *)data + !!size,
			      size - !!size, &attr, &err);
	if (t)
		check(t);
	else
		assert(err.msg[0]);
	block_trace_free(t);
	return 0;
}
