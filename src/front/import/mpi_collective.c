/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations of MPI as messages. Steps have numbers k = 0, 1 ..
 *Before a rank sends in a step, all messages to it in earlier steps have
 *arrived. The communicator has n ranks. i is a rank of the communicator. r is
 *the number of a rank if ranks are counted from the root.
 *
 *	barrier		log2 n steps: i sends a message without data to i + 2^k
 *			(dissemination)
 *	bcast		log2 n steps: r below 2^k sends to r + 2^k (binomial
 *			tree)
 *	reduce		the steps of bcast from the last to the first, in the
 *			other direction
 *	allreduce	log2 n steps: i exchanges with i xor 2^k, if n is a
 *			power of 2; else reduce to rank 0 and bcast
 *	gather		one step: each rank sends to the root
 *	scatter		one step: the root sends to each rank
 *	allgather	n - 1 steps: i sends block i - k to i + 1 (ring)
 *	alltoall, reduce_scatter
 *			n - 1 steps: i sends to i + k + 1 (linear shift)
 *	scan		n - 1 steps: rank k sends to k + 1 */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "front/import/mpi_trace.h"

struct step {
	struct mpi_trace *t;
	const struct mpi_comm *comm;
	uint32_t root;
	struct weft_err *err;
	/* messages of this step: receiver and last packet */
	struct arrival {
		uint32_t to, last;
	} * arrivals;
	uint32_t n_arrivals;
};

static const struct mpi_call *call_of(const struct step *s, uint32_t i)
{
	return mpi_member_call(s->t, s->comm, i);
}

/* Returns the number of bytes that member i sends to member `to`. */
static uint64_t part_of(const struct step *s, uint32_t i, uint32_t to)
{
	const struct mpi_call *c = call_of(s, i);

	if (!c->n_parts)
		return c->bytes;
	return s->t->ranks[s->comm->ranks[i]].parts.at[c->parts + to];
}

static int step_send(struct step *s, uint32_t from, uint32_t to, uint64_t bytes)
{
	struct arrival *a = &s->arrivals[s->n_arrivals++];

	a->to = s->comm->ranks[to];
	return mpi_message(s->t, s->comm->ranks[from], a->to, call_of(s, from),
			   bytes, &a->last, s->err);
}

/* Marks the messages of the step as received. Called after all of them have
 * been sent, because messages of one step do not depend on each other. */
static void step_end(struct step *s)
{
	for (uint32_t i = 0; i < s->n_arrivals; i++)
		mpi_received(s->t, s->arrivals[i].to, s->arrivals[i].last);
	s->n_arrivals = 0;
}

static int shift_step(struct step *s, uint32_t far, bool empty)
{
	uint32_t n = s->comm->n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = (uint32_t)(((uint64_t)i + far) % n);

		if (step_send(s, i, to, empty ? 0 : part_of(s, i, to)))
			return -EINVAL;
	}
	step_end(s);
	return 0;
}

static int barrier(struct step *s)
{
	for (uint32_t far = 1; far < s->comm->n; far *= 2)
		if (shift_step(s, far, true))
			return -EINVAL;
	return 0;
}

static int alltoall(struct step *s)
{
	for (uint32_t far = 1; far < s->comm->n; far++)
		if (shift_step(s, far, false))
			return -EINVAL;
	return 0;
}

/* Sends the messages of one step of a binomial tree between ranks at distance
 * `far`: towards the root if `up`, else away from the root. */
static int tree_step(struct step *s, uint32_t far, bool up)
{
	uint32_t n = s->comm->n;

	for (uint32_t r = 0; r < far && (uint64_t)r + far < n; r++) {
		uint32_t near = (uint32_t)(((uint64_t)r + s->root) % n);
		uint32_t off = (uint32_t)(((uint64_t)r + far + s->root) % n);

		/* The bytes are those of the rank away from the root, because
		 * tracers may count other bytes at the root. */
		if (step_send(s, up ? off : near, up ? near : off,
			      call_of(s, off)->bytes))
			return -EINVAL;
	}
	step_end(s);
	return 0;
}

static int bcast(struct step *s)
{
	for (uint32_t far = 1; far < s->comm->n; far *= 2)
		if (tree_step(s, far, false))
			return -EINVAL;
	return 0;
}

static int reduce(struct step *s)
{
	uint32_t far = 1;

	while (far < s->comm->n)
		far *= 2;
	while (far /= 2)
		if (tree_step(s, far, true))
			return -EINVAL;
	return 0;
}

static int allreduce(struct step *s)
{
	uint32_t n = s->comm->n;

	s->root = 0;
	if (n & (n - 1))
		return reduce(s) ? -EINVAL : bcast(s);
	for (uint32_t far = 1; far < n; far *= 2) {
		for (uint32_t i = 0; i < n; i++)
			if (step_send(s, i, i ^ far, call_of(s, i)->bytes))
				return -EINVAL;
		step_end(s);
	}
	return 0;
}

static int gather(struct step *s)
{
	for (uint32_t i = 0; i < s->comm->n; i++)
		if (i != s->root &&
		    step_send(s, i, s->root, call_of(s, i)->bytes))
			return -EINVAL;
	step_end(s);
	return 0;
}

static int scatter(struct step *s)
{
	for (uint32_t i = 0; i < s->comm->n; i++)
		if (i != s->root &&
		    step_send(s, s->root, i, call_of(s, i)->bytes))
			return -EINVAL;
	step_end(s);
	return 0;
}

static int allgather(struct step *s)
{
	uint32_t n = s->comm->n;

	for (uint32_t k = 0; k + 1 < n; k++) {
		for (uint32_t i = 0; i < n; i++)
			if (step_send(s, i, (i + 1) % n,
				      call_of(s, (i + n - k) % n)->bytes))
				return -EINVAL;
		step_end(s);
	}
	return 0;
}

static int scan(struct step *s)
{
	for (uint32_t i = 0; i + 1 < s->comm->n; i++) {
		if (step_send(s, i, i + 1, call_of(s, i + 1)->bytes))
			return -EINVAL;
		step_end(s);
	}
	return 0;
}

static const struct {
	int (*run)(struct step *s);
	bool rooted;
} algorithms[] = {
	[MPI_OP_BARRIER] = { barrier, false },
	[MPI_OP_BCAST] = { bcast, true },
	[MPI_OP_GATHER] = { gather, true },
	[MPI_OP_SCATTER] = { scatter, true },
	[MPI_OP_ALLGATHER] = { allgather, false },
	[MPI_OP_ALLTOALL] = { alltoall, false },
	[MPI_OP_REDUCE] = { reduce, true },
	[MPI_OP_ALLREDUCE] = { allreduce, false },
	[MPI_OP_REDUCE_SCATTER] = { alltoall, false },
	[MPI_OP_SCAN] = { scan, false },
};

/* Checks the call of member i: its root exists and is that of the others, and
 * it has as many parts as there are members. */
static int member_check(const struct step *s, uint32_t i)
{
	const struct mpi_call *c = call_of(s, i);
	uint32_t rank = s->comm->ranks[i];

	if (algorithms[c->op].rooted &&
	    (c->peer < 0 || (uint32_t)c->peer >= s->comm->n))
		return mpi_call_fail(s->t, rank, c, s->err,
				     "root %d is not among %u ranks", c->peer,
				     s->comm->n);
	if (algorithms[c->op].rooted && (uint32_t)c->peer != s->root)
		return mpi_call_fail(
			s->t, rank, c, s->err,
			"root %d here, but %u in the call of rank %u", c->peer,
			s->root, s->comm->ranks[0]);
	if (c->n_parts && c->n_parts != s->comm->n)
		return mpi_call_fail(s->t, rank, c, s->err,
				     "%u counts for %u ranks", c->n_parts,
				     s->comm->n);
	return 0;
}

int mpi_collective(struct mpi_trace *t, const struct mpi_comm *comm,
		   struct weft_err *err)
{
	struct step s = { .t = t, .comm = comm, .err = err };
	int ret = 0;

	s.root = (uint32_t)call_of(&s, 0)->peer;
	for (uint32_t i = 0; i < comm->n && !ret; i++)
		ret = member_check(&s, i);
	if (ret)
		return ret;
	s.arrivals = need(calloc(comm->n, sizeof(*s.arrivals)));
	ret = algorithms[call_of(&s, 0)->op].run(&s);
	free(s.arrivals);
	return ret;
}
