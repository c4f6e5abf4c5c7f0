/* SPDX-License-Identifier: Apache-2.0 */
/* The toy's two published numbers. Both follow from the symbols of a packet (17
 * and the data bytes), the clock, and the latencies of NICs, switches and
 * cables. */
#include "front/repro/repro.h"

/* Returns messages per second that all nodes received. */
static double eval_rate(const struct repro_data *d)
{
	return repro_sum(d, NULL, "n*.prog*.message_rate") / 1000;
}

/* clang-format off */
const struct repro_row repro_toy_rows[] = {
	{ "TOY-1", "64 bytes to a neighbour, from store to last symbol", "us",
	  10.32, REPRO_ABS, 0.04, REPRO_STRUCTURAL,
	  .why = "the store waits for an edge of 40 ns",
	  .note = "81 symbols on three lines, 2 + 5 + 5 cycles of latency, a "
	  "cable of 50 ns, three edges: 258 cycles",
	  .experiment = "toy/pair", .metric = "part.network" },
	{ "TOY-2", "messages of 64 bytes from one node to eight", "kmsg/s",
	  308.64, REPRO_PCT, 1, REPRO_STRUCTURAL,
	  .why = "the way of the last message is within the time of 800",
	  .note = "a message occupies the line of its NIC for 81 symbols of "
	  "40 ns", .experiment = "toy/rate", .eval = eval_rate },
	{ 0 }
};
/* clang-format on */
