/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the EXTOLL rows that compute a number from several values of a
 * run. */
#ifndef SYSTEMS_EXTOLL_PUBLISHED_EVAL_H
#define SYSTEMS_EXTOLL_PUBLISHED_EVAL_H

#include "front/repro/repro.h"

/* Points of sweeps. */
#define W16   "extoll.*.width=w16"
#define W32   "extoll.*.width=w32"
#define LINES "workload.lines=1000"

double extoll_eval_half_16(const struct repro_data *d);
double extoll_eval_half_32(const struct repro_data *d);
double extoll_eval_half_gap(const struct repro_data *d);
double extoll_eval_put_ratio(const struct repro_data *d);
double extoll_eval_lane(const struct repro_data *d);
double extoll_eval_ht_raw(const struct repro_data *d);
double extoll_eval_aggregate(const struct repro_data *d);
double extoll_eval_ports(const struct repro_data *d);
double extoll_eval_queues(const struct repro_data *d);
double extoll_eval_domains(const struct repro_data *d);
double extoll_eval_commands(const struct repro_data *d);
double extoll_eval_mgt_gain(const struct repro_data *d);
double extoll_eval_spacing(const struct repro_data *d);
double extoll_eval_lost(const struct repro_data *d);

#endif
