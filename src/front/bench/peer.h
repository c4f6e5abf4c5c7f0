/* SPDX-License-Identifier: Apache-2.0 */
/* Other simulators beside us (bench_torus.c): a program of the user's is run
 * once, with a file that is written for it, and its output read. */
#ifndef FRONT_BENCH_PEER_H
#define FRONT_BENCH_PEER_H

#include "weft/types.h"

enum { PEER_ARGS = 4 };

/* One way to simulate the 8x8x8 torus. */
struct peer_case {
	const char *flits, *load;
	bool full; /* not --quick */
};

struct peer {
	const char *name;  /* name of the peer in reports */
	const char *title; /* in messages */
	const char *
		variable; /* environment variable with the path of the binary */
	/* Returns 0 and the packet-hops per second of user CPU time. */
	int (*speed)(const struct peer_case *c, double *speed_p,
		     struct weft_err *err);
};
extern const struct peer peer_booksim, peer_merlin;

/* Returns the path of the peer's binary, or NULL. */
const char *peer_path(const struct peer *p);

struct peer_run {
	const char *text;	    /* of the file, the first argument */
	const char *arg[PEER_ARGS]; /* the others */
	void (*line)(void *own, const char *line); /* of its output */
	void *own;
	double cpu; /* result: seconds in user mode */
};
int peer_run(const struct peer *p, struct peer_run *r, struct weft_err *err);
/* Stores the number behind `key` in *val_p if the line has the key. */
void peer_value(const char *line, const char *key, double *v_p);

#endif
