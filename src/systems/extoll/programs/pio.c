/* SPDX-License-Identifier: Apache-2.0 */
/* Program extoll.pio: throughput and latency of HyperTransport, as seen from
 * the processor (extoll.md 2.1, 7.4; EX-09 to EX-11). It measures the time of a
 * 4-byte load from a register. Then it stores lines of 64 bytes,
 * write-combined, into a part of the register file without registers, so that
 * no unit behind the HT core slows the stores down. The time of n lines is the
 * difference of two measurements, of 2n and of n lines. Every node that starts
 * the program measures on its own. */
#include <errno.h>
#include <string.h>

#include "programs/program.h"
#include "systems/extoll/lib/driver.h"

enum {
	PIO_LINE = 64,
	PIO_HOLE = 0x8000, /* offset without registers in the register file */
	PIO_HOLE_BYTES = 0x1000,
};

struct xpio {
	uint64_t lines; /* parameters: */
	uint32_t loads;
	struct program w;
	struct extoll_drv drv;
	struct weft_io hole;
};

static double ns_since(struct xpio *p, weft_time_t t)
{
	return (double)(weft_host_now(p->w.h) - t) / WEFT_NS;
}

/* Stores n lines. Returns the time from the first store to the answer of a load
 * behind them. */
static double lines_ns(struct xpio *p, uint64_t n)
{
	uint8_t line[PIO_LINE];
	weft_time_t t = weft_host_now(p->w.h);

	memset(line, 0x5a, sizeof(line));
	for (uint64_t i = 0; i < n; i++)
		weft_io_copy(p->w.h, &p->hole, i * PIO_LINE % PIO_HOLE_BYTES,
			     line, PIO_LINE);
	weft_io_fence(p->w.h);
	extoll_drv_load(&p->drv, EXTOLL_NODE_ID);
	return ns_since(p, t);
}

static int xpio_main(struct weft_comp *c)
{
	struct xpio *p = c->state;
	double ns, none;
	weft_time_t t;

	p->w = program_from(c);
	if (extoll_drv_open(p->w.h, &p->drv) ||
	    !weft_io_map(p->w.h, p->drv.dev, EXTOLL_BAR, EXTOLL_RF + PIO_HOLE,
			 PIO_HOLE_BYTES, WEFT_WC, &p->hole)) {
		weft_check_failed(c, "cannot open the NIC");
		return -ENODEV;
	}
	/* The time of the loads is the difference of two times: of n loads and
	 * of none. Both include the time to read the clock. A load before the
	 * measurement waits for earlier stores, so that their time is not
	 * measured. */
	extoll_drv_load(&p->drv, EXTOLL_NODE_ID);
	t = weft_host_now(p->w.h);
	none = ns_since(p, t);
	t = weft_host_now(p->w.h);
	for (uint32_t i = 0; i < p->loads; i++)
		weft_io_load32(p->w.h, &p->drv.rf, EXTOLL_NODE_ID);
	ns = ns_since(p, t);
	weft_metric(c, "load", "ns", (ns - none) / p->loads);
	ns = -lines_ns(p, p->lines);
	ns += lines_ns(p, 2 * p->lines);
	weft_metric(c, "store_rate", "GB/s",
		    (double)(p->lines * PIO_LINE) / ns);
	weft_metric(c, "line", "ns", ns / (double)p->lines);
	extoll_drv_close(&p->drv);
	return 0;
}

/* clang-format off */
static const struct weft_param xpio_params[] = {
	WEFT_PARAM(U64, struct xpio, lines, "1000", "1..", OWN,
		   "lines of 64 bytes of a measurement"),
	WEFT_PARAM(U32, struct xpio, loads, "100", "1..", OWN,
		   "loads of a register"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(extoll_pio, .name = "extoll.pio", .kind = WEFT_KIND_PROGRAM,
	       .needs = "extoll.nic",
	       .doc = "loads of a register, stores of whole lines",
	       .source = "extoll.md 2.1, 7.4",
	       .state_size = sizeof(struct xpio), .params = xpio_params,
	       .ops = { .main = xpio_main });
