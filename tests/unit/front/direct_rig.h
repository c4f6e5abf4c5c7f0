/* SPDX-License-Identifier: Apache-2.0 */
/* A direct network of EXTOLL crossbars with a source of traffic at each
 * crossbar, built from the text of an experiment. */
#ifndef TEST_DIRECT_RIG_H
#define TEST_DIRECT_RIG_H

#include "front/exp/exp.h"
#include "front/exp/registry.h"

struct direct_rig {
	struct registry reg;
	struct exp *e;
	struct exp_case c;
	struct weft_err err;
	struct weft_result *r;
};

/* Builds the network. Returns -1 if it is refused, with the reason in err. The
 * caller calls net_close in both cases. */
int net_try(struct direct_rig *g, uint32_t ends, const char *traffic,
	    const char *fabric);
void net_close(struct direct_rig *g);
/* Runs to the end. Failures are in g->r, and the caller checks them. */
void net_run(struct direct_rig *g, uint32_t ends, const char *traffic,
	     const char *fabric);
/* Checks that no check failed and no packet is left in the network. */
void net_good(const struct direct_rig *g);
uint64_t net_counter(const struct direct_rig *g, const char *name);
double net_metric(const struct direct_rig *g, const char *name);
/* Returns an entry of the manifest, or "" if the entry does not exist. */
const char *net_manifest(const struct direct_rig *g, const char *name);
/* Writes a packet trace into a new file. */
void net_trace_file(char path[32], const char *text);
/* Plays a trace and checks it by net_good(). */
void net_run_trace(struct direct_rig *g, uint32_t ends, const char *text,
		   const char *fabric);

#endif
