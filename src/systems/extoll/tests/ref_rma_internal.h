/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the reference of the RMA, see ref_rma.h. */
#ifndef EXTOLL_TESTS_REF_RMA_INTERNAL_H
#define EXTOLL_TESTS_REF_RMA_INTERNAL_H

#include "ref_atu.h"
#include "ref_rma.h"

enum { PORT_REQ = 5, PORT_RESP, PORT_COMP, PORT_ATU };
enum {
	REQ,
	RESP,
	COMP
}; /* unit numbers, used by the ATU and as bit numbers in specs and errors */

enum {
	GET_BT = 0,
	GET_QW = 1,
	PUT_BT = 2,
	PUT_QW = 3,
	NOTI_PUT = 5,
	IMM_PUT = 6,
	GET_BT_RSP = 10,
	GET_QW_RSP = 11,
	LOCK_REQ = 12,
	LOCK_RSP = 13
};

struct cmd {
	uint32_t op, opt, spec, mods, vpid, far_vpid, far_node, low, bytes;
	uint64_t w[2];
	bool at_resp;
};

struct op { /* a command of requester or responder */
	enum ref_rma_tx_state state;
	struct cmd c;
	uint64_t until, from, w0, phys;
	bool bad, answers, physical, lock, asked_atu, told, sent, stalled;
	uint32_t bytes, skew, total, asked, got;
	int use;
	struct ref_rma_out out;
};

struct rd {
	uint32_t op, end;
	bool done;
};

struct tx {
	struct op op[REF_RMA_MAX];
	uint32_t first, n; /* commands in progress: first .. n - 1 */
	uint64_t next;	   /* cycle from which the next command may start */
	struct rd rd[REF_HX_MAX];
	uint32_t rd_first, rd_n;
	/* Number of packets handed to the network port, and number of packets
	 * that have left it. */
	uint32_t handed, left;
	bool translating;
};

struct in {
	enum ref_rma_in_state state;
	uint32_t cell[REF_HX_MAX], first, n;
	uint32_t pkt, wrote, out;
	uint64_t until, phys;
	struct cmd c;
	bool bad, silent, remote, asked_atu, told, stalled, eop;
	int use;
};

struct program {
	struct ref_rma *x;
	struct ref_atu atu;
	uint64_t now;
	struct tx tx[2];
	struct in in[REF_RMA_VCS];
	uint64_t in_next;
	bool in_translating;
	/* queued descriptors, as numbers of stores */
	uint32_t queue[REF_HX_MAX], q_first, q_n;
	struct cmd asked[REF_HX_MAX]; /* queued requests of the responder */
	uint32_t a_first, a_n;
	/* packets of port 2 that wait for the request queue */
	uint32_t wait[REF_HX_MAX], wait_first, wait_n;
	uint32_t wp[REF_RMA_VPIDS], rp[REF_RMA_VPIDS];
	uint32_t in_writes; /* writes of the completer that are not granted */
	uint32_t next_cell, next_left, next_went, scan;
};

/* ref_rma.c: adds a request to HTAX in this cycle. Returns it. */
struct ref_rma_req *ref_ask(struct program *w, uint32_t port, bool read,
			    uint64_t addr, uint32_t bytes);
/* Writes a notification. Returns false if its ring is full. */
bool ref_tell(struct program *w, uint32_t port, const struct cmd *c,
	      uint64_t w0, uint32_t unit, uint32_t error);
bool ref_enabled(const struct program *w, uint32_t vpid);
uint32_t ref_memory(const struct program *w, uint64_t addr, uint64_t t);

/* ref_rma_cmd.c: command words of extoll.md 3.4 and 3.9. */
bool ref_desc(const struct program *w, const struct ref_rma_store *s,
	      struct cmd *c);
bool ref_packet(const struct program *w, const struct ref_rma_pkt *p,
		struct cmd *c);
uint64_t ref_header(const struct program *w, const struct cmd *c, uint32_t op);
bool ref_is_get(const struct cmd *c);
bool ref_is_put(const struct cmd *c);

/* ref_rma_tx.c */
bool ref_tx_run(struct program *w, uint32_t unit);
void ref_tx_read_done(struct program *w, uint32_t unit, uint32_t rd);
void ref_tx_answer(struct program *w, uint32_t unit, uint64_t phys, int use);
void ref_resp_packets(struct program *w);

/* ref_rma_in.c */
bool ref_in_run(struct program *w);
void ref_in_cell(struct program *w, uint32_t cell);
void ref_in_answer(struct program *w, uint32_t vc, uint64_t phys, int use);
void ref_in_granted(struct program *w, uint32_t vc);

#endif
