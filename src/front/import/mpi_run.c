/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the calls of all ranks, see mpi_trace.h. A rank stops at a
 * receive whose message has not been sent yet, and at a collective call until
 * all members have reached it. A packet is therefore written after all packets
 * on which it depends. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "front/import/mpi_trace.h"

enum { NONE = UINT32_MAX };

/* Entry of a hash table: queue of the messages with one sender, receiver, tag
 * and communicator that have been sent and not received, oldest first. */
struct entry {
	uint32_t comm, from, to;
	int32_t tag;
	uint32_t first, last; /* messages, or NONE */
	bool used;
	bool wanted; /* the receiver waits for a message */
};

struct mpi_queue {
	struct entry *at; /* open addressing */
	size_t n, mask;
	struct {
		VEC(struct message {
			uint32_t packet; /* last packet */
			uint32_t next;
		});
	} messages;
};

/* ---- messages ---- */

static struct entry *entry_slot(struct mpi_queue *q, const struct entry *key)
{
	uint64_t h = ((uint64_t)key->comm << 32 | (uint32_t)key->tag) *
		     0x9e3779b97f4a7c15ull;
	size_t i;

	h = (h ^ h >> 29 ^ ((uint64_t)key->from << 32 | key->to)) *
	    0xbf58476d1ce4e5b9ull;
	for (i = (h ^ h >> 31) & q->mask; q->at[i].used;
	     i = (i + 1) & q->mask) {
		const struct entry *e = &q->at[i];

		if (e->comm == key->comm && e->from == key->from &&
		    e->to == key->to && e->tag == key->tag)
			break;
	}
	return &q->at[i];
}

static struct entry *entry_of(struct mpi_queue *q, uint32_t comm, uint32_t from,
			      uint32_t to, int32_t tag)
{
	struct entry key = { comm, from, to, tag, NONE, NONE, true, false };
	struct entry *old = q->at, *e;
	size_t n = old ? q->mask + 1 : 0;

	if (q->n >= n / 2) {
		q->mask = n ? 2 * n - 1 : 1023;
		q->at = need(calloc(q->mask + 1, sizeof(*q->at)));
		for (size_t i = 0; i < n; i++)
			if (old[i].used)
				*entry_slot(q, &old[i]) = old[i];
		free(old);
	}
	e = entry_slot(q, &key);
	if (!e->used) {
		*e = key;
		q->n++;
	}
	return e;
}

static void message_put(struct mpi_trace *t, struct entry *e, uint32_t packet)
{
	struct mpi_queue *q = t->queue;
	uint32_t i = (uint32_t)q->messages.n;

	vec_push(&q->messages, (struct message){ packet, NONE });
	if (e->first == NONE)
		e->first = i;
	else
		q->messages.at[e->last].next = i;
	e->last = i;
	if (e->wanted)
		vec_push(&t->ready, e->to);
	e->wanted = false;
}

/* ---- calls ---- */

/* Sets *peer_p to the rank that a call names by its number in comm. */
static int call_peer(const struct mpi_trace *t, uint32_t rank,
		     const struct mpi_call *c, const struct mpi_comm *comm,
		     uint32_t *peer_p, struct weft_err *err)
{
	if (c->peer < 0 || (uint32_t)c->peer >= comm->n)
		return mpi_call_fail(
			t, rank, c, err,
			"rank %d is none of the %u of communicator %u", c->peer,
			comm->n, c->comm);
	*peer_p = comm->ranks[c->peer];
	return 0;
}

static int call_send(struct mpi_trace *t, uint32_t rank,
		     const struct mpi_call *c, struct mpi_comm *comm,
		     struct weft_err *err)
{
	uint32_t to = 0, last;

	if (call_peer(t, rank, c, comm, &to, err) ||
	    mpi_message(t, rank, to, c, c->bytes, &last, err))
		return -EINVAL;
	message_put(t,
		    entry_of(t->queue, (uint32_t)(comm - t->comms.at), rank, to,
			     c->tag),
		    last);
	return 1;
}

static int call_recv(struct mpi_trace *t, uint32_t rank,
		     const struct mpi_call *c, struct mpi_comm *comm,
		     struct weft_err *err)
{
	struct message *m;
	struct entry *e;
	uint32_t from = 0;

	if (call_peer(t, rank, c, comm, &from, err))
		return -EINVAL;
	e = entry_of(t->queue, (uint32_t)(comm - t->comms.at), from, rank,
		     c->tag);
	e->wanted = e->first == NONE;
	if (e->wanted)
		return 0;
	m = &t->queue->messages.at[e->first];
	mpi_received(t, rank, m->packet);
	e->first = m->next;
	return 1;
}

struct split {
	int32_t colour, key;
	uint32_t i; /* rank in the old communicator */
};

static int split_cmp(const void *a, const void *b)
{
	const struct split *p = a, *q = b;

	if (p->colour != q->colour)
		return p->colour < q->colour ? -1 : 1;
	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->i < q->i ? -1 : p->i > q->i;
}

/* Makes the communicators of a collective call. Members of the same colour get
 * one communicator, with ranks in the order of their keys. A member with
 * MPI_NO_COMM gets none. */
static void comms_make(struct mpi_trace *t, uint32_t index)
{
	struct mpi_comm comm = t->comms.at[index];
	struct split *s = need(calloc(comm.n, sizeof(*s)));
	uint32_t *ranks = need(calloc(comm.n, sizeof(*ranks))), n = 0;

	for (uint32_t i = 0; i < comm.n; i++) {
		const struct mpi_call *c = mpi_member_call(t, &comm, i);

		if (c->made == MPI_NO_COMM ||
		    (c->op == MPI_OP_FIRST && i >= (uint32_t)c->peer))
			continue;
		s[n] = (struct split){ .i = i };
		if (c->op == MPI_OP_SPLIT) {
			s[n].colour = c->peer;
			s[n].key = c->tag;
		}
		n++;
	}
	qsort(s, n, sizeof(*s), split_cmp);
	for (uint32_t i = 0, k; i < n; i = k) {
		uint32_t made;

		for (k = i; k < n && s[k].colour == s[i].colour; k++)
			ranks[k - i] = comm.ranks[s[k].i];
		made = mpi_comm_add(t, ranks, k - i);
		for (uint32_t j = i; j < k; j++)
			mpi_comm_call(&t->ranks[comm.ranks[s[j].i]],
				      mpi_member_call(t, &comm, s[j].i)->made,
				      made);
	}
	free(ranks);
	free(s);
}

/* Carries out a collective call when the last member has reached it. All
 * members then continue with their next calls. */
static int call_together(struct mpi_trace *t, uint32_t rank,
			 const struct mpi_call *c, struct mpi_comm *comm,
			 struct weft_err *err)
{
	uint32_t index = (uint32_t)(comm - t->comms.at);

	if (++comm->arrived < comm->n)
		return 0;
	comm->arrived = 0;
	for (uint32_t i = 0; i < comm->n; i++) {
		const struct mpi_call *other = mpi_member_call(t, comm, i);

		if (other->op != c->op)
			return mpi_call_fail(
				t, rank, c, err,
				"rank %u calls another collective operation here, on line %u of %.100s",
				comm->ranks[i], other->line,
				t->ranks[comm->ranks[i]].file);
	}
	if (c->op >= MPI_OP_COLLECTIVE) {
		if (mpi_collective(t, comm, err))
			return -EINVAL;
	} else {
		comms_make(t, index);
		comm = &t->comms.at[index];
	}
	for (uint32_t i = 0; i < comm->n; i++) {
		t->ranks[comm->ranks[i]].at++;
		if (comm->ranks[i] != rank)
			vec_push(&t->ready, comm->ranks[i]);
	}
	t->ranks[rank].at--;
	return 1;
}

/* Carries out the calls of a rank until a call must wait for another rank. */
static int rank_run(struct mpi_trace *t, uint32_t rank, struct weft_err *err)
{
	struct mpi_rank *r = &t->ranks[rank];

	while (r->at < r->calls.n) {
		const struct mpi_call *c = &r->calls.at[r->at];
		struct mpi_comm *comm = mpi_call_comm(t, rank, c, err);
		int done;

		if (!comm)
			return -EINVAL;
		if (c->op == MPI_OP_SEND)
			done = call_send(t, rank, c, comm, err);
		else if (c->op == MPI_OP_RECV)
			done = call_recv(t, rank, c, comm, err);
		else
			done = call_together(t, rank, c, comm, err);
		if (done <= 0)
			return done;
		r->at++;
	}
	return 0;
}

/* Returns -EINVAL with a message about the first rank that still waits, if
 * there is one. */
static int ranks_ended(const struct mpi_trace *t, struct weft_err *err)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct mpi_rank *r = &t->ranks[i];
		const struct mpi_call *c = &r->calls.at[r->at];

		if (r->at == r->calls.n)
			continue;
		if (c->op == MPI_OP_RECV)
			return mpi_call_fail(
				t, i, c, err,
				"rank %u receives a message of rank %d with tag %d in communicator %u, which was not sent: is the whole trace here?",
				i, c->peer, c->tag, c->comm);
		return mpi_call_fail(
			t, i, c, err,
			"rank %u waits here for other ranks of communicator %u: is the whole trace here?",
			i, c->comm);
	}
	return 0;
}

int mpi_trace_write(struct mpi_trace *t, struct weft_err *err)
{
	struct mpi_queue q = { 0 };
	int ret = 0;

	t->queue = &q;
	t->start = UINT64_MAX;
	for (uint32_t i = t->n; i-- > 0;) {
		vec_foreach (&t->ranks[i].calls, struct mpi_call, c)
			if (c->time < t->start)
				t->start = c->time;
		vec_push(&t->ready, i);
	}
	fprintf(t->im->out, "# cycle source destination bytes%s\n# %u ranks\n",
		t->waits ? " id ids" : "", t->n);
	while (t->ready.n && !ret)
		ret = rank_run(t, vec_pop(&t->ready), err);
	if (!ret)
		ret = ranks_ended(t, err);
	free(q.at);
	vec_free(&q.messages);
	t->queue = NULL;
	return ret;
}
