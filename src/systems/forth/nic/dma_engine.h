/* SPDX-License-Identifier: Apache-2.0 */
/* DMA engine of the FORTH NIC. One FSM reads outgoing transfers (dma_engine.c),
 * one FSM writes packets and notifications to memory (dma_write.c). Source:
 * forth.md sections 3.4 to 3.8. */
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

/* Last report of the bus about a transaction. The bus reports ahead of time. */
enum forth_phase { PHASE_NONE, PHASE_SPLIT, PHASE_DATA, PHASE_DONE };

/* The outgoing half of the engine. */
struct forth_rq {
	enum forth_state state;
	enum forth_phase phase;
	/* since: PCI edge at which the state began. until: PCI edge at which a
	 * timed state ends */
	uint64_t since, until;
	uint64_t done; /* PCI edge at which the last datum moved */
	/* times that the bus has reported, as PCI edges: start and end of the
	 * split wait, end of the transaction */
	uint64_t split_from, data_from, ends;
	uint32_t queue;
	uint64_t q0, q1; /* the descriptor */
	uint32_t qwords, voq, seq;
	uint64_t trace; /* message */
	uint32_t cut;	/* qwords already cut into packets of the VOQ */
	bool error, notified, active;
	/* data of wrong parity arrived while the device was set to respond to
	 * wrong parity */
	bool spoilt;
	/* the engine was reset while txn was on the bus */
	bool orphan;
	struct weft_slice data;
	struct weft_bus_txn txn;
	uint32_t next_cut; /* index of the next packet of the plan */
	struct forth_plan plan;
};

enum forth_job { JOB_NONE, JOB_PACKET, JOB_LNOTIFY, JOB_DELIVER };

/* The incoming half of the engine. It writes one packet or notification to
 * memory at a time. */
struct forth_wr {
	enum forth_state state; /* one of NoPndOp, RxWr, Notify, UpdtCnt */
	enum forth_phase phase;
	enum forth_job job;
	uint64_t until;
	uint32_t credited;  /* link words returned as credits so far */
	uint32_t drained;   /* payload qwords that have left Net2Host so far */
	uint64_t burst_end; /* pc */
	uint64_t ends;	    /* PCI edge at which the transaction ends */
	/* PCI edge at which the last datum of the packet moved */
	uint64_t done;
	uint32_t requests; /* bus requests made for the packet */
	bool for_rq;	   /* the outgoing half waits for this notification */
	bool orphan;
	bool aborted;
	bool irq; /* the interrupt flag is set at the end of the write */
	struct forth_rx rx;
	struct weft_bus_txn txn;
};

struct forth_lnotify {
	uint64_t word, at; /* at: first PCI edge for its write */
	uint32_t queue;
};

/* dma_engine.c */
void forth_engine_run(struct forth_nic *n);
void forth_engine_enable(struct forth_nic *n); /* reads the enable bits again */
void forth_engine_note(struct forth_nic *n, const struct weft_bus_note *note);
/* Resets the engine. A transaction on the bus runs to its end, but
 * without effect. */
void forth_engine_reset(struct forth_nic *n);

/* bus_errors.c */
/* Returns whether the device responds to wrong parity of data, which command
 * bit 6 enables. */
bool forth_minds_parity(struct forth_nic *n);
/* Returns whether a finished transaction failed. The caller then abandons the
 * transfer. Sets the status bits of the error, and counts the failure. */
bool forth_dma_failed(struct forth_nic *n, const struct weft_bus_txn *t);
/* Handles a damaged access of the host. Returns true if the NIC must not carry
 * out the access. */
bool forth_target_error(struct forth_nic *n, const struct weft_bus_note *note);

/* dma_write.c */
/* Returns the PCI edge from which a packet or notification may be written, or
 * UINT64_MAX if none waits. */
uint64_t forth_write_at(const struct forth_nic *n);
/* Returns whether a write may start now. Otherwise wakes the engine when a
 * write may start. */
bool forth_write_ready(struct forth_nic *n);
/* Starts the next write. A local notification goes first, then a remote one,
 * then a packet. */
void forth_write_start(struct forth_nic *n);
/* Writes the local notification of queue q. */
void forth_write_notify(struct forth_nic *n, uint32_t q, uint64_t word);
/* Makes one step of the write. Returns whether its state has changed. */
bool forth_write_run(struct forth_nic *n);
/* Handles a report of the bus about the write. */
void forth_write_note(struct forth_nic *n, const struct weft_bus_note *note);
/* Ends a transaction that was on the bus when software reset the engine. */
void forth_write_orphan(struct forth_nic *n);
/* Ends the write in progress. The packet of the write is lost, but its credits
 * return. */
void forth_write_reset(struct forth_nic *n);

#endif
