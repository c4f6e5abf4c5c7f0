/* SPDX-License-Identifier: Apache-2.0 */
/* Rig for tests of the simulator's code that serves attached processes. No
 * process is attached. The rig has two nodes with an agent each, clients whose
 * rings the test fills, and an endpoint that records calls and returns the
 * values that the test prescribes. A test runs inside a program of the
 * bench. */
#ifndef ATTACH_SERVE_RIG_H
#define ATTACH_SERVE_RIG_H

#include "../cmocka_all.h"
#include "../host/node.h"
#include "attach/serve_internal.h"

enum { RIG_CLIENTS = 4, RIG_CALLS = 64, RIG_EVENTS = 16, RIG_MSG = 1000 };

enum rig_op {
	RIG_SEND,
	RIG_PUT,
	RIG_GET,
	RIG_FADD,
	RIG_CSWAP,
	RIG_REG,
	RIG_DEREG,
	RIG_RELEASE,
	RIG_WAIT,
	RIG_OPS
};

/* A recorded call of the endpoint. */
struct rig_call {
	enum rig_op op;
	uint32_t dst;
	const void *buf;
	uint64_t len, raddr, rkey, imm, a, b;
	bool notify;
	void *ctx;
};

struct serve_rig {
	struct weft_ep ep; /* first */
	struct att_server srv;
	struct att_agent g[2];
	/* clients 0 and 1 are on node 0, the others on node 1 */
	struct att_client c[RIG_CLIENTS];
	struct weft_host *h;
	struct bench *b;
	uint64_t *counters, count[AGENT_C_N];
	struct rig_call call[RIG_CALLS];
	uint32_t calls;
	int answer[RIG_OPS]; /* return value of each endpoint operation */
	struct weft_ep_event ev[RIG_EVENTS];
	/* number of events that the endpoint's poll has not returned yet */
	int events;
	uint32_t slots[2], map[RIG_CLIENTS];
	char said[2000];
	int measured[2]; /* [0]: measurements ended, [1]: measurements begun */
	int sock[2];
};

/* Runs fn in a program, with a fresh rig whose clients are attached and
 * wait. */
typedef void (*rig_fn)(struct serve_rig *r);
void rig_run(rig_fn fn, enum weft_att_clock clock);

/* Posts a command to a client's ring. */
void rig_post(struct att_client *c, struct att_cmd cmd);
/* Executes the commands in a client's ring. rig_do() posts a command first.
 * Both functions return false if a command must wait. */
bool rig_serve(struct att_client *c);
bool rig_do(struct att_client *c, struct att_cmd cmd);
/* Returns the number of events that the client has not taken. rig_event()
 * returns the i-th of them. */
uint32_t rig_events(const struct att_client *c);
const struct att_event *rig_event(const struct att_client *c, uint32_t i);
/* Takes all events as the client would. */
void rig_taken(struct att_client *c);
/* Returns the last call of the endpoint. */
const struct rig_call *rig_last(const struct serve_rig *r);

#endif
