/* SPDX-License-Identifier: Apache-2.0 */
/* Runs SST's merlin for comparison. The router is hr_router. The endpoint is
 * offered_load, which sends packets at regular times to random nodes. merlin
 * prints neither packets nor hops. Therefore the bench multiplies the packets
 * that offered_load should send by the mean number of hops in dimension order.
 * The product is a little larger than the true number of packet-hops: by 2 %
 * with the longest packets at the highest load, where packets wait for room.
 *
 * The time to build the network must not count, therefore the bench makes two
 * runs of different length and takes their difference. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/bench/peer.h"

/* Links carry a flit per cycle of 1 ns. Each input and each output of a
 * crossbar has room for 128 flits, as much as four channels of 32 flits in
 * BookSim2. A hop takes about five cycles. */
static const char script[] =
	"flits, load, ns = %s, %s, %u\n"
	"import sst\n"
	"from sst.merlin.base import *\n"
	"from sst.merlin.endpoint import *\n"
	"from sst.merlin.interface import *\n"
	"from sst.merlin.topology import *\n"
	"from sst.merlin.targetgen import *\n"
	"bw, room = '8GB/s', '1kB'\n"
	"topo = topoTorus()\n"
	"topo.shape, topo.width, topo.local_ports = '8x8x8', '1x1x1', 1\n"
	"topo.link_latency = '1ns'\n"
	"r = hr_router()\n"
	"r.link_bw = r.xbar_bw = bw\n"
	"r.flit_size = '8B'\n"
	"r.input_latency = r.output_latency = '1ns'\n"
	"r.input_buf_size = r.output_buf_size = room\n"
	"r.num_vns = 1\n"
	"r.xbar_arb = 'merlin.xbar_arb_rr'\n"
	"topo.router = r\n"
	"port = LinkControl()\n"
	"port.link_bw = bw\n"
	"port.input_buf_size = port.output_buf_size = room\n"
	"job = OfferedLoadJob(0, topo.getNumNodes())\n"
	"job.network_interface = port\n"
	"job.offered_load, job.link_bw = load, bw\n"
	"job.message_size = '%%dB' %% (8 * flits)\n"
	"job.pattern = UniformTarget()\n"
	"job.warmup_time, job.drain_time = '0ns', '0ns'\n"
	"job.collect_time = '%%dns' %% ns\n"
	"system = System()\n"
	"system.setTopology(topo)\n"
	"system.allocateNodes(job, 'linear')\n"
	"system.build()\n";

enum { NODES = 512, SHORT = 5 };

/* Mean number of crossbars on a route to another node. Each of the three rings
 * of 8 nodes adds 2 links on average, and a route has one crossbar more than it
 * has links. */
static const double hops_mean = 3 * 2.0 * NODES / (NODES - 1) + 1;

static void take_line(void *own, const char *line)
{
	*(bool *)own |= strstr(line, "Simulation is complete") != NULL;
}

static int run_ns(const struct peer_case *c, uint32_t ns, double *cpu_p,
		  struct weft_err *err)
{
	char text[sizeof(script) + 80];
	bool done = false;
	struct peer_run r = { .text = text, .line = take_line, .own = &done };
	int ret;

	snprintf(text, sizeof(text), script, c->flits, c->load, ns);
	ret = peer_run(&peer_merlin, &r, err);
	if (!ret && !done)
		ret = weft_fail(err, EIO, "%s: not the output of SST",
				peer_path(&peer_merlin));
	*cpu_p = r.cpu;
	return ret;
}

static int merlin_speed(const struct peer_case *c, double *speed_p,
			struct weft_err *err)
{
	double flits = strtod(c->flits, NULL), load = strtod(c->load, NULL);
	double per_ns = NODES * load / flits * hops_mean;
	uint32_t ns = (uint32_t)((c->full ? 1000000 : 100000) / per_ns);
	double cpu[2];

	if (run_ns(c, ns, &cpu[0], err) || run_ns(c, SHORT * ns, &cpu[1], err))
		return -EIO;
	if (cpu[1] <= cpu[0])
		return weft_fail(err, EIO, "SST: a longer run took no longer");
	*speed_p = per_ns * (SHORT - 1) * ns / (cpu[1] - cpu[0]);
	return 0;
}

const struct peer peer_merlin = { .name = "merlin",
				  .title = "SST",
				  .variable = "SST",
				  .speed = merlin_speed };
