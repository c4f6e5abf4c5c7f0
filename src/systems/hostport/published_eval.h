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
/* Latency, from the rows that have the parts of both sides. */
double hostport_eval_ultra_latency(const struct repro_data *d);
double hostport_eval_ultra_fastest(const struct repro_data *d);
/* Time per link and its fall, from hostport/atoll-hops. */
double hostport_eval_atoll_hop(const struct repro_data *d);
double hostport_eval_atoll_fall(const struct repro_data *d);
double hostport_eval_atoll_slope(const struct repro_data *d);
/* Lines of one node, of hostport/links. */
double hostport_eval_links(const struct repro_data *d);
/* Triggerpage, of hostport/trigger and hostport/threads. */
double hostport_eval_trigger_more(const struct repro_data *d);
double hostport_eval_threads_ratio(const struct repro_data *d);
/* Bus transactions of an issue, of hostport/tagged. */
double hostport_eval_issue(const struct repro_data *d);

#endif
