/* SPDX-License-Identifier: Apache-2.0 */
/* All settings of BookSim2 with their types and defaults (booksim_config.cpp),
 * and their use in Weft. */
#include "systems/router/import/booksim.h"

#define I  BOOKSIM_INT
#define R  BOOKSIM_REAL
#define T  BOOKSIM_TEXT
#define IT (BOOKSIM_INT | BOOKSIM_TEXT)
#define RT (BOOKSIM_REAL | BOOKSIM_TEXT)

#define TAKEN(name, types, value)                                              \
	{                                                                      \
		name, value, types, BOOKSIM_TAKEN, NULL, NULL                  \
	}
#define NOTHING(name, types, value, with, remark)                              \
	{                                                                      \
		name, value, types, BOOKSIM_NOTHING, with, remark              \
	}
#define CANNOT(name, types, value, with, remark)                               \
	{                                                                      \
		name, value, types, BOOKSIM_CANNOT, with, remark               \
	}

static const char unread[] = "BookSim2 does not read it";
static const char watch[] =
	"nothing is watched: weft run --capture writes down what passes";
static const char stop[] =
	"the length of a measurement does not depend on it: it is 3 sample "
	"periods, and 6 more if queues grow";
static const char file[] = "no file is written: weft run --out keeps results";
static const char power[] = "power is not modelled";
static const char shared[] = "queues of VCs share no places: -1 would do";

/* clang-format off */
const struct booksim_key booksim_keys[BOOKSIM_KEYS + 1] = {
	/* network */
	NOTHING("channel_file", T, "", NULL, unread),
	CANNOT("subnets", I, "1", NULL, "there is one network: 1 would do"),
	TAKEN("topology", T, "torus"),
	TAKEN("k", I, "8"),
	TAKEN("n", I, "2"),
	TAKEN("c", I, "1"),
	TAKEN("routing_function", T, "none"),
	TAKEN("use_noc_latency", I, "1"),
	TAKEN("x", I, "8"),
	TAKEN("y", I, "8"),
	TAKEN("xr", I, "1"),
	TAKEN("yr", I, "1"),
	CANNOT("link_failures", I, "0", NULL,
	       "cables between routers do not fail here: 0 would do"),
	NOTHING("fail_seed", IT, "0", "link_failures", "no cable fails"),
	NOTHING("in_ports", I, "5", NULL, unread),
	NOTHING("out_ports", I, "5", NULL, unread),
	TAKEN("network_file", T, ""),
	/* router */
	CANNOT("router", T, "iq", NULL,
	       "the router has input queues: iq would do"),
	NOTHING("output_delay", I, "0", NULL, unread),
	TAKEN("credit_delay", I, "0"),
	TAKEN("internal_speedup", R, "1.0"),
	CANNOT("output_buffer_size", I, "-1", NULL,
	       "the queue behind the crossbar has no bound: -1 would do"),
	CANNOT("noq", I, "0", NULL,
	       "VCs are not divided by the next output: 0 would do"),
	TAKEN("speculative", I, "0"),
	CANNOT("spec_check_elig", I, "1", "speculative", "1 would do"),
	CANNOT("spec_check_cred", I, "1", "speculative", "1 would do"),
	CANNOT("spec_mask_by_reqs", I, "0", "speculative", "0 would do"),
	CANNOT("spec_sw_allocator", T, "prio", "speculative",
	       "one allocator grants both, speculative requests last: prio "
	       "would do"),
	TAKEN("num_vcs", I, "16"),
	TAKEN("vc_buf_size", I, "8"),
	TAKEN("buf_size", I, "-1"),
	CANNOT("buffer_policy", T, "private", NULL,
	       "each VC has its own places: private would do"),
	CANNOT("private_bufs", I, "-1", "buffer_policy", shared),
	CANNOT("private_buf_size", IT, "1", "buffer_policy", shared),
	CANNOT("private_buf_start_vc", IT, "-1", "buffer_policy", shared),
	CANNOT("private_buf_end_vc", IT, "-1", "buffer_policy", shared),
	CANNOT("max_held_slots", I, "-1", "buffer_policy", shared),
	CANNOT("feedback_aging_scale", I, "1", "buffer_policy", shared),
	CANNOT("feedback_offset", I, "0", "buffer_policy", shared),
	TAKEN("wait_for_tail_credit", I, "0"),
	TAKEN("vc_busy_when_full", I, "0"),
	CANNOT("vc_prioritize_empty", I, "0", NULL,
	       "a VC with packets is as good as an empty one: 0 would do"),
	CANNOT("vc_priority_donation", I, "0", "priority",
	       "a packet keeps its own priority: 0 would do"),
	CANNOT("vc_shuffle_requests", I, "0", NULL,
	       "requests keep their order: 0 would do"),
	TAKEN("hold_switch_for_packet", I, "0"),
	TAKEN("input_speedup", I, "1"),
	TAKEN("output_speedup", I, "1"),
	TAKEN("routing_delay", I, "1"),
	TAKEN("vc_alloc_delay", I, "1"),
	TAKEN("sw_alloc_delay", I, "1"),
	TAKEN("st_prepare_delay", I, "0"),
	TAKEN("st_final_delay", I, "1"),
	NOTHING("vct", I, "0", NULL, "BookSim2 reads it for router = event"),
	TAKEN("vc_allocator", T, "islip"),
	TAKEN("sw_allocator", T, "islip"),
	NOTHING("arb_type", T, "round_robin", NULL,
		"BookSim2's router does not read it, but the parameter of an "
		"allocator, as in separable_input_first(matrix)"),
	NOTHING("alloc_iters", I, "1", NULL,
		"BookSim2's router does not read it, but the parameter of an "
		"allocator, as in islip(2)"),
	/* traffic */
	TAKEN("classes", I, "1"),
	TAKEN("traffic", T, "uniform"),
	TAKEN("class_priority", IT, "0"),
	TAKEN("perm_seed", IT, "0"),
	TAKEN("injection_rate", RT, "0.1"),
	TAKEN("injection_rate_uses_flits", I, "0"),
	TAKEN("packet_size", IT, "1"),
	TAKEN("packet_size_rate", IT, "1"),
	TAKEN("injection_process", T, "bernoulli"),
	TAKEN("burst_alpha", R, "0.5"),
	TAKEN("burst_beta", R, "0.5"),
	TAKEN("burst_r1", R, "-1.0"),
	TAKEN("priority", T, "none"),
	TAKEN("batch_size", I, "1000"),
	TAKEN("batch_count", I, "1"),
	TAKEN("max_outstanding_requests", I, "0"),
	TAKEN("use_read_write", IT, "0"),
	TAKEN("write_fraction", RT, "0.5"),
	TAKEN("read_request_begin_vc", I, "0"),
	TAKEN("read_request_end_vc", I, "5"),
	TAKEN("write_request_begin_vc", I, "2"),
	TAKEN("write_request_end_vc", I, "7"),
	TAKEN("read_reply_begin_vc", I, "8"),
	TAKEN("read_reply_end_vc", I, "13"),
	TAKEN("write_reply_begin_vc", I, "10"),
	TAKEN("write_reply_end_vc", I, "15"),
	NOTHING("read_request_subnet", I, "0", "subnets", ""),
	NOTHING("read_reply_subnet", I, "0", "subnets", ""),
	NOTHING("write_request_subnet", I, "0", "subnets", ""),
	NOTHING("write_reply_subnet", I, "0", "subnets", ""),
	TAKEN("read_request_size", IT, "1"),
	TAKEN("write_request_size", IT, "1"),
	TAKEN("read_reply_size", IT, "1"),
	TAKEN("write_reply_size", IT, "1"),
	/* simulation */
	TAKEN("sim_type", T, "latency"),
	TAKEN("warmup_periods", I, "3"),
	TAKEN("sample_period", I, "1000"),
	TAKEN("max_samples", I, "10"),
	CANNOT("measure_stats", IT, "1", NULL,
	       "all packets of the window are measured: 1 would do"),
	NOTHING("pair_stats", I, "0", NULL,
		"latency is measured over all pairs"),
	NOTHING("latency_thres", RT, "500.0", NULL,
		"a saturated network is measured, and net.state says so"),
	NOTHING("warmup_thres", RT, "0.05", NULL,
		"warm-up without periods ends when latency has settled, by the "
		"rule of net.detect"),
	NOTHING("acc_warmup_thres", RT, "0.05", NULL,
		"warm-up without periods ends when latency has settled, by the "
		"rule of net.detect"),
	NOTHING("stopping_thres", RT, "0.05", NULL, stop),
	NOTHING("acc_stopping_thres", RT, "0.05", NULL, stop),
	NOTHING("sim_count", I, "1", NULL,
		"one run is written: sweep: {seed: [1, 2, 3]} repeats it"),
	NOTHING("include_queuing", I, "1", NULL,
		"latency counts from the arrival at the source: net.network "
		"has it from the first flit on"),
	TAKEN("seed", IT, "0"),
	NOTHING("print_activity", I, "0", NULL,
		"counters of components are in the results"),
	NOTHING("print_csv_results", I, "0", NULL,
		"weft run --format csv prints results so"),
	NOTHING("deadlock_warn_timeout", I, "256", NULL,
		"net.watchdog ends a run in which nothing moves"),
	NOTHING("viewer_trace", I, "0", NULL, watch),
	NOTHING("watch_file", T, "", NULL, watch),
	NOTHING("watch_flits", T, "", NULL, watch),
	NOTHING("watch_packets", T, "", NULL, watch),
	NOTHING("watch_transactions", T, "", NULL, watch),
	NOTHING("watch_out", T, "", NULL, watch),
	NOTHING("stats_out", T, "", NULL, file),
	NOTHING("sent_packets_out", T, "", NULL, file),
	NOTHING("sim_power", I, "0", NULL, power),
	NOTHING("power_output_file", T, "pwr_tmp", NULL, power),
	NOTHING("tech_file", T, "", NULL, power),
	NOTHING("channel_width", I, "128", NULL, power),
	NOTHING("channel_sweep", I, "0", NULL, power),
	{ 0 },
};
/* clang-format on */
