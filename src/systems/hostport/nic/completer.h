/* SPDX-License-Identifier: Apache-2.0 */
/* A completer's record of the packet that it handles, for completer.c and
 * receive_buffer.c. */
#ifndef SYSTEMS_HOSTPORT_NIC_COMPLETER_H
#define SYSTEMS_HOSTPORT_NIC_COMPLETER_H

#include "systems/hostport/nic/functional_units.h"

enum cpl_kind {
	CPL_FAST,   /* message that is carried inside its notification */
	CPL_RECV,   /* message in the RDR or in a posted buffer */
	CPL_PUT,    /* to a window */
	CPL_MASKED, /* put of the enabled bytes of one word */
	CPL_GET,    /* response that is stored in a window of the origin */
	CPL_RESULT, /* response whose words are carried in the notification */
	CPL_ACK,
};

struct hp_cpl {
	struct hp_in in; /* first member, because the job is cast to it */
	enum cpl_kind kind;
	uint64_t va;
	struct hp_push push;
	bool pushes, posted;
	/* set in LOOKUP if the job has to wait for an entry of the notification
	 * queue */
	bool lacks;
	/* number of pending stores of MISALIGNED_PUT */
	uint32_t runs;
	uint64_t imm[HP_FAST_WORDS]; /* payload that the notification carries */
	uint64_t prd[HP_WORDS];	     /* posted receive descriptor */
	uint32_t probes;
};

/* Ends the current stage of job `arg`. */
void hp_cpl_done(struct hp_nic *n, void *arg);
/* Finds room for a message in the RDR or in a posted buffer of context c, and
 * ends the stage PLACE (receive_buffer.c). */
void hp_place_recv(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c);
/* Stores the first `total` bytes of the packet. The caller has set up
 * q->push.walk. */
void hp_cpl_store(struct hp_nic *n, struct hp_cpl *q, uint32_t total);

#endif
