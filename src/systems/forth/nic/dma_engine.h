/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: the request-queue FSM: outgoing transfers (dma_engine.c), incoming
 * packets and notifications to memory (dma_write.c). Source: forth.md sections
 * 3.4 to 3.8. */
#ifndef SYSTEMS_FORTH_NIC_DMA_ENGINE_H
#define SYSTEMS_FORTH_NIC_DMA_ENGINE_H

#include "systems/forth/nic/network_interface.h"
#include "systems/forth/nic/voq.h"
#include "weft/bus.h"

struct forth_nic;

enum forth_state {
	FORTH_NO_PND_OP,
	FORTH_RD_D0,
	FORTH_RD_D1,
	FORTH_CHECK,
	FORTH_RD_REQ,
	FORTH_SPLIT_WAIT,
	FORTH_RD_DATA,
	FORTH_BM_GEN,
	FORTH_RX_WR,
	FORTH_NOTIFY,
	FORTH_UPDT_CNT,
	FORTH_STATES
};
extern const char *const forth_state_name[FORTH_STATES];

/* Last report of the bus about a transaction, which is made ahead of time. */
enum forth_phase { PHASE_NONE, PHASE_SPLIT, PHASE_DATA, PHASE_DONE };

/* The outgoing half of the engine. */
struct forth_rq {
	enum forth_state state;
	enum forth_phase phase;
	uint64_t since, until; /* pc: state entered; timed state ends */
	uint64_t done;	       /* pc: last datum moved */
	/* pc, known ahead: start and end of the split wait; start of
	 * PHASE_DONE */
	uint64_t split_from, data_from, ends;
	uint32_t queue;
	uint64_t q0, q1; /* the descriptor */
	uint32_t qwords, voq, seq;
	uint64_t trace; /* message */
	uint32_t cut;	/* qwords already handed to the VOQ */
	bool error, notified, active;
	bool spoilt; /* data of wrong parity arrived, and the device responds
		      * to it */
	bool orphan; /* reset while the bus still has txn */
	struct weft_slice data;
	struct weft_bus_txn txn;
	uint32_t next_cut; /* next packet of the plan */
	struct forth_plan plan;
};

enum forth_job { JOB_NONE, JOB_PACKET, JOB_LNOTIFY, JOB_DELIVER };

/* The incoming half: one write to memory at a time. */
struct forth_wr {
	enum forth_state state; /* NoPndOp, RxWr, Notify, UpdtCnt */
	enum forth_phase phase;
	enum forth_job job;
	uint64_t until;
	uint32_t credited;  /* link words given back so far */
	uint32_t drained;   /* payload qwords out of Net2Host so far */
	uint64_t burst_end; /* pc */
	uint64_t ends;	    /* pc from which PHASE_DONE counts */
	uint64_t done;	    /* pc: last datum of the packet moved */
	uint32_t requests;  /* bus requests of the packet */
	bool for_rq;	    /* the outgoing half waits for this notification */
	bool orphan;
	bool aborted;
	bool irq; /* set the interrupt flag at the end */
	struct forth_rx rx;
	struct weft_bus_txn txn;
};

struct forth_lnotify {
	uint64_t word, at; /* at: pc from which it may be written */
	uint32_t queue;
};

/* dma_engine.c */
void forth_engine_run(struct forth_nic *n);
void forth_engine_enable(struct forth_nic *n); /* rereads the registers */
void forth_engine_note(struct forth_nic *n, const struct weft_bus_note *note);
/* Resets the engine. A transaction on the bus runs to its end there,
 * without effect. */
void forth_engine_reset(struct forth_nic *n);

/* bus_errors.c */
/* Returns whether the device responds to data of wrong parity (command bit
 * 6). */
bool forth_minds_parity(struct forth_nic *n);
/* Returns whether a finished transaction is abandoned. Sets the status bits of
 * its error. */
bool forth_dma_failed(struct forth_nic *n, const struct weft_bus_txn *t);
/* Handles an access of the host that arrived damaged. Returns true when it must
 * not be carried out. */
bool forth_target_error(struct forth_nic *n, const struct weft_bus_note *note);

/* dma_write.c */
/* Returns the PCI edge from which a packet or notification may be written, or
 * UINT64_MAX. */
uint64_t forth_write_at(const struct forth_nic *n);
/* Returns whether a write may start now. Otherwise the engine wakes when it
 * may. */
bool forth_write_ready(struct forth_nic *n);
/* Starts the next write: local notification, remote notification, packet. */
void forth_write_start(struct forth_nic *n);
/* Writes the local notification of queue q. */
void forth_write_notify(struct forth_nic *n, uint32_t q, uint64_t word);
/* Makes one step of the write. Returns whether its state has changed. */
bool forth_write_run(struct forth_nic *n);
/* Takes a report of the bus about the write. */
void forth_write_note(struct forth_nic *n, const struct weft_bus_note *note);
/* Ends a transaction that was on the bus when the engine was reset. */
void forth_write_orphan(struct forth_nic *n);
/* Ends the write. Its packet is lost, and its credits are returned. */
void forth_write_reset(struct forth_nic *n);

#endif
