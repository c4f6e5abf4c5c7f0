/* SPDX-License-Identifier: Apache-2.0 */
/* Routes as runs of hops, see route_runs.h. */
#include "systems/extoll/network/route_runs.h"

#include <string.h>

bool ex_run_is_link(uint8_t el)
{
	uint32_t port = el >> 4;

	return port >= EX_RUN_PORT_LP && port < EX_RUN_PORT_LP + EX_LINKS &&
	       el & 15;
}

/* Returns the index of the byte 0xFF that ends the routing frame, or n if the
 * frame is incomplete or malformed. */
static uint32_t frame_end(const uint8_t *b, uint32_t n)
{
	uint32_t i = 2;

	while (i < n && b[i] < EX_RUN_SEP)
		i++;
	if (i + 1 < n && b[i] == EX_RUN_TREE)
		i += 2u + b[i + 1];
	if (i >= n || b[i] != EX_RUN_VPID)
		return n;
	for (i += 3; i < n && b[i] != EX_RUN_END;)
		i++;
	return i < n ? i : n;
}

uint32_t ex_runs_step(struct weft_frame *f)
{
	uint8_t *b = weft_slice_data(f->payload);
	uint32_t n = f->payload.len, port, end;

	n = n < EX_RUNS_BYTES ? n : EX_RUNS_BYTES;
	end = b ? frame_end(b, n) : n;
	if (end == n)
		return EX_NIB_FILL;
	/* crossbar output of the first element */
	port = b[2] >> 4;
	if (ex_run_is_link(b[2])) {
		port += EX_INTERNAL - EX_RUN_PORT_LP;
		if (--b[2] & 15)
			return port;
	} else if ((b[2] & 15) != 1) {
		return EX_NIB_FILL;
	} else if (port == EX_RUN_PORT_MP || port == EX_RUN_PORT_HAP) {
		port = EX_RUNS_SERVICE;
	} else if (port >= EX_RUNS_SERVICE) {
		return EX_NIB_FILL; /* not a port of this crossbar */
	}
	memmove(b + 2, b + 3, end - 2);
	return port;
}
