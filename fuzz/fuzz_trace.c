/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the input as the text of a packet trace. No text may crash the reader.
 * In a trace that the reader accepts, nodes and sizes are within the limits,
 * and packets depend only on earlier packets. */
#include <assert.h>
#include <stdlib.h>

#include "net/packet_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES = 16 };

static void check(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct trace_pkt *p = &t->pkt[i];

		assert(p->src < NODES && p->dst < NODES && p->bytes <= 4096);
		assert(t->pkt[t->order[i]].src < NODES);
		for (uint32_t k = 0; k < p->n; k++)
			assert(t->next[p->first + k] > i);
	}
	assert(t->from[0] == 0 && t->from[NODES] == t->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_err err = { 0 };
	struct trace *t = trace_parse("fuzz", (const char *)data, size, NODES,
				      4096, &err);

	if (t)
		check(t);
	else
		assert(err.msg[0]);
	trace_free(t);
	return 0;
}
