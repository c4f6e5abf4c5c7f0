/* SPDX-License-Identifier: Apache-2.0 */
/* Values of rows of `weft reproduce hostport` that are computed from several
 * metrics. */
#ifndef SYSTEMS_HOSTPORT_PUBLISHED_EVAL_H
#define SYSTEMS_HOSTPORT_PUBLISHED_EVAL_H

#include "front/repro/repro.h"

/* Parts of an ULTRA packet, from experiment hostport/ultra-parts. */
double hostport_eval_ultra_store(const struct repro_data *d);
double hostport_eval_ultra_write(const struct repro_data *d);
double hostport_eval_ultra_units(const struct repro_data *d);
double hostport_eval_ultra_share(const struct repro_data *d);
double hostport_eval_ultra_bus(const struct repro_data *d);
/* Latency of ULTRA, computed from the rows that hold the parts of both
 * sides. */
double hostport_eval_ultra_latency(const struct repro_data *d);
double hostport_eval_ultra_fastest(const struct repro_data *d);
/* Times of an ATOLL crossbar and slope of the latency per link, from
 * hostport/atoll-hops. */
double hostport_eval_atoll_hop(const struct repro_data *d);
double hostport_eval_atoll_fall(const struct repro_data *d);
double hostport_eval_atoll_slope(const struct repro_data *d);
/* Rate of the links of one node, from hostport/links. */
double hostport_eval_links(const struct repro_data *d);
/* Costs of triggers, from hostport/trigger and hostport/threads. */
double hostport_eval_trigger_more(const struct repro_data *d);
double hostport_eval_threads_ratio(const struct repro_data *d);
/* Bus transactions of an issue, from hostport/tagged. */
double hostport_eval_issue(const struct repro_data *d);

#endif
