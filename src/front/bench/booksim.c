/* SPDX-License-Identifier: Apache-2.0 */
/* Runs BookSim2 for comparison. BookSim2 does not print the number of packets
 * that it moved. Therefore the bench multiplies the offered rate by the number
 * of cycles, which gives a little more than the packets moved. */
#include <errno.h>
#include <stdio.h>

#include "front/bench/peer.h"

/* A router of five cycles with four virtual channels of 32 flits each, in a run
 * of fixed length. Keys have BookSim2's names. */
static const char config[] =
	"topology = torus;\n"
	"k = 8;\n"
	"n = 3;\n"
	"routing_function = dim_order;\n"
	"num_vcs = 4;\n"
	"vc_buf_size = 32;\n"
	"wait_for_tail_credit = 0;\n"
	"use_noc_latency = 0;\n"
	"vc_allocator = islip;\n"
	"sw_allocator = islip;\n"
	"alloc_iters = 1;\n"
	"routing_delay = 1;\n"
	"vc_alloc_delay = 1;\n"
	"sw_alloc_delay = 1;\n"
	"st_final_delay = 1;\n"
	"credit_delay = 0;\n"
	"input_speedup = 1;\n"
	"output_speedup = 1;\n"
	"internal_speedup = 1.0;\n"
	"traffic = uniform;\n"
	"injection_process = bernoulli;\n"
	"injection_rate_uses_flits = 1;\n"
	"sim_type = latency;\n"
	"warmup_periods = 1;\n"
	"max_samples = 4;\n"
	"stopping_thres = -1.0;\n"
	"acc_stopping_thres = -1.0;\n"
	"latency_thres = -1.0;\n"
	"deadlock_warn_timeout = 100000;\n"
	"seed = 1;\n";

enum { NODES = 512 };

struct told {
	double hops, cycles, rate;
};

/* Reads the number from a line such as "Hops average = 7.00 (1 samples)". A
 * later line of this form replaces the value. */
static void take_line(void *own, const char *line)
{
	struct told *t = own;

	peer_value(line, "Hops average = ", &t->hops);
	peer_value(line, "Time taken is ", &t->cycles);
	peer_value(line, "Injected packet rate average = ", &t->rate);
}

int booksim_speed(const struct peer_config *c, double *speed_p,
		  struct weft_err *err)
{
	struct told t = { 0 };
	struct peer_run r = { .text = c->text, .line = take_line, .own = &t };
	int ret;

	for (uint32_t i = 0; i < PEER_ARGS; i++)
		r.arg[i] = c->arg[i];
	ret = peer_run(&peer_booksim, &r, err);
	if (ret)
		return ret;
	if (!t.hops || !t.cycles || !t.rate)
		return weft_fail(err, EIO, "%s: not the output of BookSim2",
				 peer_path(&peer_booksim));
	*speed_p = t.rate * c->nodes * t.cycles * t.hops / r.cpu;
	return 0;
}

static int torus_speed(const struct peer_case *c, double *speed_p,
		       struct weft_err *err)
{
	char size[40], rate[40];
	struct peer_config p = { .text = config,
				 .arg = { size, rate,
					  c->full ? "sample_period=1000"
						  : "sample_period=250" },
				 .nodes = NODES };

	snprintf(size, sizeof(size), "packet_size=%s", c->flits);
	snprintf(rate, sizeof(rate), "injection_rate=%s", c->load);
	return booksim_speed(&p, speed_p, err);
}

const struct peer peer_booksim = { .name = "booksim",
				   .title = "BookSim2",
				   .variable = "BOOKSIM",
				   .speed = torus_speed };
