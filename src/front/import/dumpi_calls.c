/* SPDX-License-Identifier: Apache-2.0 */
/* Translates MPI calls in the text of dumpi2ascii to calls of mpi_trace.h.
 * Calls that are not in the table `rows` are ignored. The sizes of datatypes
 * are only known at the end of the file. Until then a call has a count and a
 * datatype in place of bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "front/import/dumpi.h"

struct row {
	const char *name;
	int (*take)(struct dumpi *d, const struct row *row);
	enum mpi_op op;
	const char *count, *type; /* names of parameters */
	bool parts;		  /* count is a list, a number for each rank */
};

/* ---- calls ---- */

static int calls_add(struct dumpi *d, struct mpi_call c)
{
	if (++d->t->calls > MPI_CALLS)
		return text_lines_fail(&d->lines, d->line, d->err,
				       "more than %llu calls of all ranks",
				       MPI_CALLS);
	c.line = d->line;
	c.time = d->time;
	vec_push(&d->t->ranks[d->rank].calls, c);
	return 0;
}

/* Reads count, datatype, partner, tag and communicator of a message. */
static int message_read(struct dumpi *d, const struct row *row,
			const char *peer, const char *tag, struct mpi_call *c)
{
	uint32_t count;

	*c = (struct mpi_call){ .op = row->op };
	if (param_small(d, row->count, INT32_MAX, &count) ||
	    param_small(d, row->type, DUMPI_TYPES, &c->made) ||
	    param_int(d, peer, &c->peer) || param_int(d, tag, &c->tag) ||
	    param_small(d, "comm", MPI_COMMS, &c->comm))
		return -EINVAL;
	c->bytes = count;
	return 0;
}

/* Adds a completed receive. If the call gave MPI_ANY_SOURCE or MPI_ANY_TAG,
 * source or tag are from status i of `list`. */
static int recv_add(struct dumpi *d, struct mpi_call c, const char *list,
		    size_t i)
{
	int32_t source = -1, tag = -1;
	bool open = c.peer == -1 || c.tag == -1;

	if (c.peer < -1 || !d->t->waits)
		return 0; /* MPI_PROC_NULL */
	if (open && (!param_status(d, list, i, "source=", &source) ||
		     !param_status(d, list, i, "tag=", &tag)))
		return text_lines_fail(
			&d->lines, d->line, d->err,
			"%s has MPI_ANY_SOURCE or MPI_ANY_TAG and no status: a trace with statuses, or waits=no, would do",
			d->name);
	c.peer = c.peer == -1 ? source : c.peer;
	c.tag = c.tag == -1 ? tag : c.tag;
	c.op = MPI_OP_RECV;
	return calls_add(d, c);
}

static int send_add(struct dumpi *d, struct mpi_call c)
{
	c.op = MPI_OP_SEND;
	return c.peer < 0 ? 0 : calls_add(d, c); /* MPI_PROC_NULL */
}

static int take_send(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "dest", "tag", &c))
		return -EINVAL;
	return send_add(d, c);
}

static int take_recv(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "source", "tag", &c))
		return -EINVAL;
	return recv_add(d, c, "status", 0);
}

static int take_sendrecv(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "dest", "sendtag", &c) || send_add(d, c) ||
	    message_read(d, row, "source", "recvtag", &c))
		return -EINVAL;
	return recv_add(d, c, "status", 0);
}

static int take_collective(struct dumpi *d, const struct row *row)
{
	struct mpi_rank *r = &d->t->ranks[d->rank];
	struct mpi_call c = { .op = row->op };
	struct dumpi_list parts = { 0 };
	bool rooted = row->op == MPI_OP_BCAST || row->op == MPI_OP_GATHER ||
		      row->op == MPI_OP_SCATTER || row->op == MPI_OP_REDUCE;
	uint32_t count = 0;
	int ret = 0;

	if (param_small(d, "comm", MPI_COMMS, &c.comm) ||
	    (row->type && param_small(d, row->type, DUMPI_TYPES, &c.made)) ||
	    (rooted && param_int(d, "root", &c.peer)))
		return -EINVAL;
	if (row->parts)
		ret = param_list(d, row->count, INT32_MAX, &parts);
	else if (row->count)
		ret = param_small(d, row->count, INT32_MAX, &count);
	c.bytes = count;
	c.parts = r->parts.n;
	c.n_parts = (uint32_t)parts.n;
	vec_foreach (&parts, int64_t, p)
		vec_push(&r->parts, *p < 0 ? 0 : (uint64_t)*p);
	vec_free(&parts);
	return ret ? ret : calls_add(d, c);
}

/* ---- requests ---- */

/* Returns the request with number id, or NULL if id is not the number of a
 * request. */
static struct dumpi_request *request_at(struct dumpi *d, int64_t id)
{
	struct dumpi_request idle = { 0 };

	if (id <= DUMPI_REQUEST_NULL || id >= DUMPI_REQUESTS)
		return NULL;
	while (d->requests.n <= (size_t)id)
		vec_push(&d->requests, idle);
	return &d->requests.at[id];
}

static int request_make(struct dumpi *d, const struct mpi_call *c, int kind,
			bool persistent)
{
	struct dumpi_list ids = { 0 };
	struct dumpi_request *q;
	int ret = param_list(d, "request", DUMPI_REQUESTS - 1, &ids);

	q = !ret && ids.n == 1 ? request_at(d, ids.at[0]) : NULL;
	if (q) {
		q->kind = kind;
		q->call = *c;
		q->persistent = persistent;
		q->started = !persistent;
	}
	vec_free(&ids);
	return ret;
}

static int take_irecv(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "source", "tag", &c))
		return -EINVAL;
	return request_make(d, &c, DUMPI_RECV, false);
}

/* Marks the request as idle, because its number may have belonged to a receive
 * before. */
static int take_isend(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "dest", "tag", &c) || send_add(d, c))
		return -EINVAL;
	return request_make(d, &c, DUMPI_IDLE, false);
}

static int take_send_init(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "dest", "tag", &c))
		return -EINVAL;
	return request_make(d, &c, DUMPI_SEND, true);
}

static int take_recv_init(struct dumpi *d, const struct row *row)
{
	struct mpi_call c;

	if (message_read(d, row, "source", "tag", &c))
		return -EINVAL;
	return request_make(d, &c, DUMPI_RECV, true);
}

/* Starts persistent requests. row->count is the name of the parameter that
 * lists them. */
static int take_start(struct dumpi *d, const struct row *row)
{
	struct dumpi_list ids = { 0 };
	int ret = param_list(d, row->count, DUMPI_REQUESTS - 1, &ids);

	for (size_t i = 0; i < ids.n && !ret; i++) {
		struct dumpi_request *q = request_at(d, ids.at[i]);

		if (!q || !q->persistent) {
			ret = param_fail(d, row->count, "no persistent one");
			break;
		}
		q->started = true;
		if (q->kind == DUMPI_SEND)
			ret = send_add(d, q->call);
	}
	vec_free(&ids);
	return ret;
}

/* Ends request ids->at[i]. Its status has index `status` in `list`. */
static int request_end(struct dumpi *d, const struct dumpi_list *ids, int64_t i,
		       const char *list, size_t status)
{
	struct dumpi_request *q;
	bool received;

	if (i < 0 || (size_t)i >= ids->n)
		return 0; /* MPI_UNDEFINED: no request has ended */
	q = request_at(d, ids->at[i]);
	if (!q)
		return 0;
	received = q->kind == DUMPI_RECV && q->started;
	q->started = false;
	if (!q->persistent)
		q->kind = DUMPI_IDLE;
	return received ? recv_add(d, q->call, list, status) : 0;
}

/* Ends the requests of MPI_Wait, MPI_Test and their variants for all requests.
 * row->type is the name of the flag of a test. If the flag is 0, no request has
 * ended. */
static int take_wait(struct dumpi *d, const struct row *row)
{
	const char *statuses = row->count[7] ? "statuses" : "status";
	struct dumpi_list ids = { 0 };
	int32_t flag = 1;
	int ret = param_list(d, row->count, DUMPI_REQUESTS - 1, &ids);

	if (!ret && row->type)
		ret = param_int(d, row->type, &flag);
	for (size_t i = 0; i < ids.n && flag && !ret; i++)
		ret = request_end(d, &ids, (int64_t)i, statuses, i);
	vec_free(&ids);
	return ret;
}

static int take_waitany(struct dumpi *d, const struct row *row)
{
	struct dumpi_list ids = { 0 };
	int32_t flag = 1, index = 0;
	int ret = param_list(d, row->count, DUMPI_REQUESTS - 1, &ids);

	if (!ret && row->type)
		ret = param_int(d, row->type, &flag);
	if (!ret)
		ret = param_int(d, "index", &index);
	if (!ret && flag)
		ret = request_end(d, &ids, index, "status", 0);
	vec_free(&ids);
	return ret;
}

static int take_waitsome(struct dumpi *d, const struct row *row)
{
	struct dumpi_list ids = { 0 }, ended = { 0 };
	int ret = param_list(d, row->count, DUMPI_REQUESTS - 1, &ids);

	if (!ret)
		ret = param_list(d, "indices", INT32_MAX, &ended);
	for (size_t i = 0; i < ended.n && !ret; i++)
		ret = request_end(d, &ids, ended.at[i], "statuses", i);
	vec_free(&ended);
	vec_free(&ids);
	return ret;
}

/* ---- communicators, begin and end ---- */

static int take_comm(struct dumpi *d, const struct row *row)
{
	struct mpi_call c = { .op = row->op };
	struct dumpi_list dims = { 0 };
	int64_t first = 1;
	int ret = 0;

	if (param_small(d, "oldcomm", MPI_COMMS, &c.comm) ||
	    param_small(d, "newcomm", MPI_COMMS, &c.made))
		return -EINVAL;
	if (c.made == DUMPI_COMM_NULL)
		c.made = MPI_NO_COMM;
	if (row->op == MPI_OP_SPLIT &&
	    (param_int(d, "color", &c.peer) || param_int(d, "key", &c.tag)))
		return -EINVAL;
	if (row->op == MPI_OP_FIRST)
		ret = param_list(d, "dims", MPI_RANKS, &dims);
	vec_foreach (&dims, int64_t, n)
		first = *n < 1 || first > MPI_RANKS ? first : first * *n;
	if (row->op == MPI_OP_FIRST)
		c.peer = first > MPI_RANKS ? MPI_RANKS : (int32_t)first;
	vec_free(&dims);
	return ret ? ret : calls_add(d, c);
}

/* Compares the result of MPI_Comm_rank or MPI_Comm_size with the order or
 * number of the files. A difference means that files are missing or in a wrong
 * order. */
static int take_place(struct dumpi *d, const struct row *row)
{
	uint32_t comm, value, here;

	if (param_small(d, "comm", MPI_COMMS, &comm) ||
	    param_small(d, row->count, INT32_MAX, &value))
		return -EINVAL;
	here = row->count[0] == 'r' ? d->rank : d->t->n;
	if (comm != DUMPI_COMM_WORLD || value == here)
		return 0;
	if (row->count[0] == 'r')
		return text_lines_fail(
			&d->lines, d->line, d->err,
			"the file of rank %u, and file %u here: name the files of all ranks in their order",
			value, here);
	return text_lines_fail(
		&d->lines, d->line, d->err,
		"a program of %u ranks, and %u files: name the files of all ranks",
		value, here);
}

static int take_end(struct dumpi *d, const struct row *row)
{
	d->ended = true;
	return 0;
}

/* `count` says what would do. */
static int take_refused(struct dumpi *d, const struct row *row)
{
	return text_lines_fail(&d->lines, d->line, d->err,
			       "%s has no counterpart: %s would do", d->name,
			       row->count);
}

#define SEND(name, take)                                                       \
	{                                                                      \
		name, take, MPI_OP_SEND, "count", "datatype", false            \
	}
#define TWO_SIDED "messages of two-sided calls"
#define BLOCKING  "a collective call that blocks"
/* clang-format off */
static const struct row rows[] = {
	SEND("MPI_Send", take_send), SEND("MPI_Bsend", take_send),
	SEND("MPI_Ssend", take_send), SEND("MPI_Rsend", take_send),
	SEND("MPI_Isend", take_isend), SEND("MPI_Ibsend", take_isend),
	SEND("MPI_Issend", take_isend), SEND("MPI_Irsend", take_isend),
	SEND("MPI_Send_init", take_send_init),
	SEND("MPI_Bsend_init", take_send_init),
	SEND("MPI_Ssend_init", take_send_init),
	SEND("MPI_Rsend_init", take_send_init),
	SEND("MPI_Recv", take_recv), SEND("MPI_Irecv", take_irecv),
	SEND("MPI_Recv_init", take_recv_init),
	{ "MPI_Sendrecv", take_sendrecv, MPI_OP_SEND, "sendcount", "sendtype",
	  false },
	SEND("MPI_Sendrecv_replace", take_sendrecv),
	{ "MPI_Start", take_start, 0, "request", NULL, false },
	{ "MPI_Startall", take_start, 0, "requests", NULL, false },
	{ "MPI_Wait", take_wait, 0, "request", NULL, false },
	{ "MPI_Waitall", take_wait, 0, "requests", NULL, false },
	{ "MPI_Test", take_wait, 0, "request", "flag", false },
	{ "MPI_Testall", take_wait, 0, "requests", "flag", false },
	{ "MPI_Waitany", take_waitany, 0, "requests", NULL, false },
	{ "MPI_Testany", take_waitany, 0, "requests", "flag", false },
	{ "MPI_Waitsome", take_waitsome, 0, "requests", NULL, false },
	{ "MPI_Testsome", take_waitsome, 0, "requests", NULL, false },
	{ "MPI_Barrier", take_collective, MPI_OP_BARRIER, NULL, NULL, false },
#define COLLECTIVE(name, op, count, type)                                      \
	{ "MPI_" name, take_collective, MPI_OP_##op, count, type, false }
	COLLECTIVE("Bcast", BCAST, "count", "datatype"),
	COLLECTIVE("Gather", GATHER, "sendcount", "sendtype"),
	COLLECTIVE("Gatherv", GATHER, "sendcount", "sendtype"),
	COLLECTIVE("Scatter", SCATTER, "recvcount", "recvtype"),
	COLLECTIVE("Scatterv", SCATTER, "recvcount", "recvtype"),
	COLLECTIVE("Allgather", ALLGATHER, "sendcount", "sendtype"),
	COLLECTIVE("Allgatherv", ALLGATHER, "sendcount", "sendtype"),
	COLLECTIVE("Alltoall", ALLTOALL, "sendcount", "sendtype"),
	COLLECTIVE("Reduce", REDUCE, "count", "datatype"),
	COLLECTIVE("Allreduce", ALLREDUCE, "count", "datatype"),
	COLLECTIVE("Scan", SCAN, "count", "datatype"),
	COLLECTIVE("Exscan", SCAN, "count", "datatype"),
	{ "MPI_Alltoallv", take_collective, MPI_OP_ALLTOALL, "sendcounts",
	  "sendtype", true },
	{ "MPI_Reduce_scatter", take_collective, MPI_OP_REDUCE_SCATTER,
	  "recvcounts", "datatype", true },
	{ "MPI_Comm_dup", take_comm, MPI_OP_DUP, NULL, NULL, false },
	{ "MPI_Comm_split", take_comm, MPI_OP_SPLIT, NULL, NULL, false },
	{ "MPI_Cart_create", take_comm, MPI_OP_FIRST, NULL, NULL, false },
	{ "MPI_Comm_rank", take_place, 0, "rank", NULL, false },
	{ "MPI_Comm_size", take_place, 0, "size", NULL, false },
	{ "MPI_Finalize", take_end, 0, NULL, NULL, false },
	{ "MPI_Alltoallw", take_refused, 0, "MPI_Alltoallv", NULL, false },
	{ "MPI_Put", take_refused, 0, TWO_SIDED, NULL, false },
	{ "MPI_Get", take_refused, 0, TWO_SIDED, NULL, false },
	{ "MPI_Accumulate", take_refused, 0, TWO_SIDED, NULL, false },
	{ "MPI_Cancel", take_refused, 0, "a program without it", NULL, false },
	{ "MPI_Comm_spawn", take_refused, 0, "a program of one start", NULL,
	  false },
	{ 0 },
};
/* clang-format on */

int dumpi_call(struct dumpi *d)
{
	for (const struct row *row = rows; row->name; row++)
		if (!strcmp(row->name, d->name))
			return row->take(d, row);
	return 0;
}
