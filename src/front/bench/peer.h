/* SPDX-License-Identifier: Apache-2.0 */
/* Other simulators (peers) that a bench compares with Weft (bench_torus.c,
 * bench_routers.c). The bench writes an input file, runs the user's copy of the
 * peer with it, and reads the output. */
#ifndef FRONT_BENCH_PEER_H
#define FRONT_BENCH_PEER_H

#include "weft/types.h"

enum { PEER_ARGS = 4 };

/* One case of the 8x8x8 torus. */
struct peer_case {
	const char *flits, *load;
	bool full; /* a full run, without --quick */
};

struct peer {
	const char *name;     /* name of the peer in reports */
	const char *title;    /* name of the peer in messages */
	const char *variable; /* name of the environment variable with the
			       * binary's path */
	/* Runs the peer. Returns 0 and the packet-hops per second of user CPU
	 * time, or a negative errno with a message. */
	int (*speed)(const struct peer_case *c, double *speed_p,
		     struct weft_err *err);
};
extern const struct peer peer_booksim, peer_merlin;

/* Returns the path of the peer's binary, or NULL. */
const char *peer_path(const struct peer *p);

/* A network of BookSim2: its configuration, settings of the command line, and
 * the number of nodes. */
struct peer_config {
	const char *text;
	const char *arg[PEER_ARGS];
	uint32_t nodes;
};
/* Runs BookSim2 with a configuration. Returns as peer.speed does. */
int booksim_speed(const struct peer_config *c, double *speed_p,
		  struct weft_err *err);

struct peer_run {
	const char *text;	    /* text of the file that is the first
				     * argument */
	const char *arg[PEER_ARGS]; /* further arguments, ended by NULL */
	/* called for each line of output */
	void (*line)(void *own, const char *line);
	void *own;
	double cpu; /* result: CPU seconds in user mode */
};
int peer_run(const struct peer *p, struct peer_run *r, struct weft_err *err);
/* Stores the number behind `key` in *val_p if the line has the key. */
void peer_value(const char *line, const char *key, double *v_p);

#endif
