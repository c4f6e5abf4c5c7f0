/* SPDX-License-Identifier: Apache-2.0 */
/* Values of FORTH rows that are computed from several values of a run. */
#ifndef SYSTEMS_FORTH_PUBLISHED_EVAL_H
#define SYSTEMS_FORTH_PUBLISHED_EVAL_H

#include "front/repro/repro.h"

/* Points of sweeps. */
#define STAGES		"workload.size=24"
#define NO_SYNC_DV	STAGES " forth.nic.t_sync_dv=0"
#define NO_SYNC_VL	STAGES " forth.nic.t_sync_vl=0"
#define NO_LINKSTART	STAGES " forth.nic.t_linkstart=0"
#define RTT_32		"workload.size=240"
#define RTT_512		"workload.size=4080"
#define TO_OTHER_DOMAIN "workload.size=24 workload.to=4"
#define TO_SAME_DOMAIN	"workload.size=24 workload.to=1"

/* Each function returns the value of a row at the row's point. forth_eval_each,
 * forth_eval_line_rate and forth_eval_voq return the value in the row's
 * unit. */
double forth_eval_stage(const struct repro_data *d);
double forth_eval_rtt(const struct repro_data *d);
double forth_eval_packet(const struct repro_data *d);
double forth_eval_boards(const struct repro_data *d);
double forth_eval_one_way_gbit(const struct repro_data *d);
double forth_eval_total_gbit(const struct repro_data *d);
double forth_eval_into_voq(const struct repro_data *d);
double forth_eval_dma_stage(const struct repro_data *d);
double forth_eval_rtt_slope(const struct repro_data *d);
double forth_eval_cs_sync(const struct repro_data *d);
double forth_eval_each(const struct repro_data *d);

double forth_eval_fairness(const struct repro_data *d);
double forth_eval_line_rate(const struct repro_data *d);
double forth_eval_two_links(const struct repro_data *d);
double forth_eval_bundle(const struct repro_data *d);
double forth_eval_payload(const struct repro_data *d);
double forth_eval_four_switches(const struct repro_data *d);

double forth_eval_idle(const struct repro_data *d);
double forth_eval_decision(const struct repro_data *d);
double forth_eval_xp_sync(const struct repro_data *d);
double forth_eval_xp_bram(const struct repro_data *d);
double forth_eval_voq(const struct repro_data *d);

double forth_eval_errors(const struct repro_data *d);
double forth_eval_gain(const struct repro_data *d);
double forth_eval_rise(const struct repro_data *d);

#endif
