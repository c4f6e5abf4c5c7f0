/* SPDX-License-Identifier: Apache-2.0 */
/* Translates recorded calls of an MPI program to packets (net/packet_trace.h).
 *A reader (dumpi.c, otf2.c) adds the calls of each rank in the order of the
 * program. mpi_trace_write() then carries out all ranks:
 *
 *	send		becomes a message in the cycle in which the rank called
 *	receive		takes the oldest message of its source, tag and
 *			communicator, in the order in which receives end
 *	collective	becomes the messages of an algorithm, see
 *			mpi_collective.c
 *
 * A message becomes packets of at most `packet` bytes. A rank sends its packets
 * one after another. The first packet of a message also waits for all messages
 * that the rank has received since its last send. A message has arrived when
 *its last packet has arrived. A message of a rank to itself becomes no packet.
 *
 * Rank i is node i. */
#ifndef FRONT_IMPORT_MPI_TRACE_H
#define FRONT_IMPORT_MPI_TRACE_H

#include "base/vec.h"
#include "front/import/import.h"

enum mpi_op {
	MPI_OP_SEND,
	MPI_OP_RECV,
	MPI_OP_DUP,	   /* makes a communicator of the same ranks */
	MPI_OP_SPLIT,	   /* makes one for each colour */
	MPI_OP_FIRST,	   /* makes one of the first `peer` ranks */
	MPI_OP_COLLECTIVE, /* the operations from here on send messages */
	MPI_OP_BARRIER = MPI_OP_COLLECTIVE,
	MPI_OP_BCAST,
	MPI_OP_GATHER,
	MPI_OP_SCATTER,
	MPI_OP_ALLGATHER,
	MPI_OP_ALLTOALL,
	MPI_OP_REDUCE,
	MPI_OP_ALLREDUCE,
	MPI_OP_REDUCE_SCATTER,
	MPI_OP_SCAN,
};

enum {
	MPI_RANKS = 65536, /* largest number of ranks */
	MPI_COMMS = 8192,  /* communicators have smaller numbers */
	MPI_NO_COMM = UINT32_MAX,
};
#define MPI_CALLS   (1ull << 26) /* largest number of calls of all ranks */
#define MPI_PACKETS (1ull << 24) /* largest number of packets of a trace */
#define MPI_BYTES   (1ull << 40) /* largest message */

struct mpi_call {
	uint64_t time; /* ticks of mpi_trace.ticks */
	/* Bytes of a message. In a collective call, bytes of the message that
	 * the rank sends (gather, reduce, allreduce), sends to each rank
	 * (allgather, alltoall, reduce_scatter) or receives (bcast, scatter,
	 * scan). */
	uint64_t bytes;
	/* If n_parts is not 0, the bytes for each rank replace `bytes`
	 * (alltoall, reduce_scatter). They begin at index `parts` of
	 * mpi_rank.parts. */
	size_t parts;
	uint32_t n_parts;
	uint32_t comm; /* number of the communicator in this rank */
	uint32_t made; /* number of the communicator that the call makes, or
			* MPI_NO_COMM */
	int32_t peer;  /* rank of the partner or root in comm; for a split:
			* colour */
	int32_t tag;   /* key of a split */
	uint32_t line; /* of the file */
	enum mpi_op op;
};

struct mpi_rank {
	const char *file;
	struct {
		VEC(struct mpi_call);
	} calls;
	struct {
		VEC(uint64_t);
	} parts;
	struct {
		VEC(uint32_t); /* index in mpi_trace.comms by number of the
				* communicator, or MPI_NO_COMM */
	} comms;
	size_t at; /* next call */
	struct {
		VEC(uint32_t); /* packets received since the last send */
	} got;
	uint32_t last; /* packet that the rank sent last, if sent */
	bool sent;
};

struct mpi_comm {
	uint32_t *ranks; /* rank of the program, by rank of the communicator */
	uint32_t n;
	uint32_t arrived; /* ranks whose next call is a collective here */
};

struct mpi_queue;
struct mpi_trace {
	struct import *im;
	struct mpi_rank *ranks;
	uint32_t n;
	struct {
		VEC(struct mpi_comm);
	} comms;
	uint64_t ticks;	 /* per second */
	uint64_t cycle;	 /* fs; setting `cycle` */
	uint32_t packet; /* bytes; setting `packet` */
	bool waits;	 /* setting `waits` */
	/* state of mpi_trace_write() */
	uint64_t start; /* earliest time */
	uint64_t calls, packets;
	struct mpi_queue *queue;
	struct {
		VEC(uint32_t);
	} ready; /* ranks that may go on */
};

/* Applies setting `KEY=VALUE` of the command line. Returns 1 on success, 0 if
 * arg has no known key and may be a file, or -EINVAL with a message for a wrong
 * value. */
int mpi_trace_setting(struct mpi_trace *t, const char *arg,
		      struct weft_err *err);
/* Sets defaults of the settings. */
void mpi_trace_init(struct mpi_trace *t, struct import *im);
/* Makes n ranks without calls. */
void mpi_trace_ranks(struct mpi_trace *t, uint32_t n);
void mpi_trace_fini(struct mpi_trace *t);
/* Adds a communicator of n ranks, which are copied, and returns its index. */
uint32_t mpi_comm_add(struct mpi_trace *t, const uint32_t *ranks, uint32_t n);
/* Sets the communicator with number `id` < MPI_COMMS of a rank to
 * mpi_trace.comms[index]. */
void mpi_comm_call(struct mpi_rank *r, uint32_t id, uint32_t index);
/* Writes the packets of all calls. Returns 0, or -EINVAL with a message that
 * names file and line of a call that never completes. */
int mpi_trace_write(struct mpi_trace *t, struct weft_err *err);

/* ---- for mpi_collective.c ---- */

/* Returns the communicator of a call, or NULL with a message. */
struct mpi_comm *mpi_call_comm(struct mpi_trace *t, uint32_t rank,
			       const struct mpi_call *c, struct weft_err *err);
/* Returns the present call of member i. */
struct mpi_call *mpi_member_call(const struct mpi_trace *t,
				 const struct mpi_comm *comm, uint32_t i);
int mpi_call_fail(const struct mpi_trace *t, uint32_t rank,
		  const struct mpi_call *c, struct weft_err *err,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Writes the packets of a message. Sets *last_p to the number of the last one,
 * or to UINT32_MAX if the message becomes no packet. */
int mpi_message(struct mpi_trace *t, uint32_t from, uint32_t to,
		const struct mpi_call *c, uint64_t bytes, uint32_t *last_p,
		struct weft_err *err);
/* Notes that a rank has received a message whose last packet is `last`. */
void mpi_received(struct mpi_trace *t, uint32_t rank, uint32_t last);
/* Writes the messages of the collective operation that all members of comm have
 * called. */
int mpi_collective(struct mpi_trace *t, const struct mpi_comm *comm,
		   struct weft_err *err);

#endif
