/* SPDX-License-Identifier: Apache-2.0 */
/* What the FORTH rows compute from several values of a run. */
#ifndef SYSTEMS_FORTH_PUBLISHED_EVAL_H
#define SYSTEMS_FORTH_PUBLISHED_EVAL_H

#include "front/repro/repro.h"

/* Points of sweeps. */
#define STAGES		"workload.size=24"
#define TO_OTHER_DOMAIN "workload.size=24 workload.to=4"
#define TO_SAME_DOMAIN	"workload.size=24 workload.to=1"

double forth_eval_sync_dv(const struct repro_data *d);
double forth_eval_sync_vl(const struct repro_data *d);
double forth_eval_linkstart(const struct repro_data *d);
double forth_eval_into_voq(const struct repro_data *d);
double forth_eval_dma_stage(const struct repro_data *d);
double forth_eval_rtt_switch(const struct repro_data *d);
double forth_eval_rtt_32(const struct repro_data *d);
double forth_eval_rtt_64(const struct repro_data *d);
double forth_eval_rtt_128(const struct repro_data *d);
double forth_eval_rtt_512(const struct repro_data *d);
double forth_eval_rtt_slope(const struct repro_data *d);
double forth_eval_cs_sync(const struct repro_data *d);
double forth_eval_one_way_gbit(const struct repro_data *d);
double forth_eval_each(const struct repro_data *d);
double forth_eval_each_gbit(const struct repro_data *d);
double forth_eval_total_gbit(const struct repro_data *d);
double forth_eval_fairness(const struct repro_data *d);
double forth_eval_line_rate(const struct repro_data *d);
double forth_eval_two_links(const struct repro_data *d);
double forth_eval_bundle(const struct repro_data *d);
double forth_eval_payload(const struct repro_data *d);
double forth_eval_four_switches(const struct repro_data *d);
double forth_eval_line_mib(const struct repro_data *d);
double forth_eval_idle(const struct repro_data *d);
double forth_eval_decision(const struct repro_data *d);
double forth_eval_xp_sync(const struct repro_data *d);
double forth_eval_tr_min(const struct repro_data *d);
double forth_eval_tr_max(const struct repro_data *d);
double forth_eval_plat_min(const struct repro_data *d);
double forth_eval_plat_max(const struct repro_data *d);
double forth_eval_boards_20(const struct repro_data *d);
double forth_eval_boards_12(const struct repro_data *d);
double forth_eval_xp_bram(const struct repro_data *d);
double forth_eval_voq_kb(const struct repro_data *d);
double forth_eval_voq_bram(const struct repro_data *d);
double forth_eval_errors(const struct repro_data *d);

#endif
