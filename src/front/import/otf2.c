/* SPDX-License-Identifier: Apache-2.0 */
/* `weft import otf2`: reads the events of otf2-print, see otf2.h:
 *
 *	MPI_SEND  0  1010  Receiver: 1 ("main" <10>), Communicator: "x" <0>,
 *		Tag: 7, Length: 5000
 *
 * Each event is one line of the file. The events of a location are in the order
 * of time. */
#include "front/import/otf2.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_LINES = 1000 };

struct row {
	const char *name;
	int (*take)(struct otf2 *o, const struct row *row,
		    struct otf2_location *l, struct mpi_call *c,
		    const char *attrs);
	enum mpi_op op;
	const char *text; /* mark of the partner, or what would do */
};

static int calls_add(struct otf2 *o, struct otf2_location *l,
		     struct mpi_call *c)
{
	if (l->rank == UINT32_MAX)
		return otf2_fail(
			o,
			"MPI at a location other than a rank, e.g. a thread");
	if (++o->t->calls > MPI_CALLS)
		return otf2_fail(o, "more than 2^26 calls of MPI");
	vec_push(&o->t->ranks[l->rank].calls, *c);
	return 0;
}

/* Reads the number of a communicator, the `<ID>` before the last occurrence of
 * `end` in the line. */
static int comm_read(struct otf2 *o, const char *attrs, const char *end,
		     uint32_t *comm_p)
{
	const char *p = otf2_behind(attrs, end);
	int64_t id;

	for (p = p ? p - strlen(end) : attrs; p > attrs && *p != '<'; p--)
		;
	if (*p != '<' || !text_number(p + 1, 0, MPI_COMMS - 1, &id))
		return otf2_fail(o, "no communicator");
	*comm_p = (uint32_t)id;
	return 0;
}

/* Reads the number behind the last `mark`. */
static int field_read(struct otf2 *o, const char *attrs, const char *mark,
		      int64_t high, int64_t *value_p)
{
	const char *p = otf2_behind(attrs, mark);

	if (!p || !text_number(p, 0, high, value_p))
		return otf2_fail(o, "an attribute is missing or too large");
	return 0;
}

static int take_message(struct otf2 *o, const struct row *row,
			struct otf2_location *l, struct mpi_call *c,
			const char *attrs)
{
	int64_t peer, tag, bytes;
	const char *p = attrs + strspn(attrs, " ");

	if (strncmp(p, row->text, strlen(row->text)) ||
	    !text_number(p + strlen(row->text), 0, MPI_RANKS - 1, &peer))
		return otf2_fail(o, "no partner that is a rank");
	if (comm_read(o, attrs, ">, Tag: ", &c->comm) ||
	    field_read(o, attrs, ">, Tag: ", UINT32_MAX, &tag) ||
	    field_read(o, attrs, ", Length: ", (int64_t)MPI_BYTES, &bytes))
		return -EINVAL;
	c->op = row->op;
	c->peer = (int32_t)peer;
	c->tag = (int32_t)(uint32_t)tag;
	c->bytes = (uint64_t)bytes;
	return row->op == MPI_OP_RECV && !o->t->waits ? 0 : calls_add(o, l, c);
}

static int take_begin(struct otf2 *o, const struct row *row,
		      struct otf2_location *l, struct mpi_call *c,
		      const char *attrs)
{
	l->begin = c->time;
	l->begun = true;
	return 0;
}

/* Relation between the bytes of a message and the byte counts of its operation.
 * Score-P counts the messages to all ranks, including that of a rank to itself.
 */
enum counted {
	COUNTED_SENT,	     /* to the root */
	COUNTED_RECEIVED,    /* from the root */
	COUNTED_SENT_TO_ALL, /* divided by the number of ranks */
	COUNTED_UP_TO,	     /* received from ranks 0 to the own one */
	COUNTED_BELOW,	     /* received from the ranks below the own one */
};

static const struct operation {
	const char *name;
	enum mpi_op op;
	enum counted counted;
} operations[] = {
	{ "BARRIER", MPI_OP_BARRIER, COUNTED_SENT },
	{ "BCAST", MPI_OP_BCAST, COUNTED_RECEIVED },
	{ "GATHER", MPI_OP_GATHER, COUNTED_SENT },
	{ "GATHERV", MPI_OP_GATHER, COUNTED_SENT },
	{ "SCATTER", MPI_OP_SCATTER, COUNTED_RECEIVED },
	{ "SCATTERV", MPI_OP_SCATTER, COUNTED_RECEIVED },
	{ "ALLGATHER", MPI_OP_ALLGATHER, COUNTED_SENT_TO_ALL },
	{ "ALLGATHERV", MPI_OP_ALLGATHER, COUNTED_SENT_TO_ALL },
	{ "ALLTOALL", MPI_OP_ALLTOALL, COUNTED_SENT_TO_ALL },
	{ "ALLTOALLV", MPI_OP_ALLTOALL, COUNTED_SENT_TO_ALL },
	{ "ALLTOALLW", MPI_OP_ALLTOALL, COUNTED_SENT_TO_ALL },
	{ "ALLREDUCE", MPI_OP_ALLREDUCE, COUNTED_SENT_TO_ALL },
	{ "REDUCE", MPI_OP_REDUCE, COUNTED_SENT },
	{ "REDUCE_SCATTER", MPI_OP_REDUCE_SCATTER, COUNTED_SENT_TO_ALL },
	{ "REDUCE_SCATTER_BLOCK", MPI_OP_REDUCE_SCATTER, COUNTED_SENT_TO_ALL },
	{ "SCAN", MPI_OP_SCAN, COUNTED_UP_TO },
	{ "EXSCAN", MPI_OP_SCAN, COUNTED_BELOW },
	{ 0 },
};

/* Returns the bytes of a rank's message, rounded up. Definitions precede
 * events, so the communicator is known. */
static uint64_t message_bytes(const struct otf2 *o, uint32_t rank,
			      const struct mpi_call *c, enum counted counted,
			      uint64_t sent, uint64_t received)
{
	const struct mpi_rank *r = &o->t->ranks[rank];
	const struct mpi_comm *comm;
	uint64_t n, i = 0;

	if (c->comm >= r->comms.n || r->comms.at[c->comm] == MPI_NO_COMM)
		return 0; /* mpi_trace_write() refuses the call */
	comm = &o->t->comms.at[r->comms.at[c->comm]];
	n = comm->n;
	if (counted >= COUNTED_UP_TO)
		while (comm->ranks[i] != rank)
			i++;
	switch (counted) {
	case COUNTED_SENT:
		return sent;
	case COUNTED_RECEIVED:
		return received;
	case COUNTED_SENT_TO_ALL:
		return (sent + n - 1) / n;
	case COUNTED_UP_TO:
		return (received + i) / (i + 1);
	default:
		return i ? (received + i - 1) / i : 0;
	}
}

static int take_collective(struct otf2 *o, const struct row *row,
			   struct otf2_location *l, struct mpi_call *c,
			   const char *attrs)
{
	const char *name = attrs + strspn(attrs, " ") + 11, *root;
	const struct operation *op = operations;
	int64_t sent, received, peer = 0;

	if (strncmp(name - 11, "Operation: ", 11))
		return otf2_fail(o, "no operation");
	while (op->name && (strncmp(name, op->name, strlen(op->name)) ||
			    name[strlen(op->name)] != ','))
		op++;
	if (!op->name)
		return 0; /* makes a communicator or a window */
	root = otf2_behind(attrs, ", Root: ");
	if (!root || (strncmp(root, "NONE", 4) &&
		      !text_number(root, 0, MPI_RANKS - 1, &peer)))
		return otf2_fail(o, "a root that is none of the ranks");
	if (comm_read(o, attrs, ">, Root: ", &c->comm) ||
	    field_read(o, attrs, ", Sent: ", (int64_t)MPI_BYTES, &sent) ||
	    field_read(o, attrs, ", Received: ", (int64_t)MPI_BYTES, &received))
		return -EINVAL;
	if (l->rank == UINT32_MAX)
		return calls_add(o, l, c);
	if (l->begun)
		c->time = l->begin;
	l->begun = false;
	c->op = op->op;
	c->peer = (int32_t)peer;
	c->bytes = message_bytes(o, l->rank, c, op->counted, (uint64_t)sent,
				 (uint64_t)received);
	return calls_add(o, l, c);
}

static int take_refused(struct otf2 *o, const struct row *row,
			struct otf2_location *l, struct mpi_call *c,
			const char *attrs)
{
	return otf2_fail(o, row->text);
}

/* Events without a row are ignored. A name that ends with `*` stands for all
 * names with this prefix. */
static const struct row rows[] = {
	{ "MPI_SEND", take_message, MPI_OP_SEND, "Receiver: " },
	{ "MPI_ISEND", take_message, MPI_OP_SEND, "Receiver: " },
	{ "MPI_RECV", take_message, MPI_OP_RECV, "Sender: " },
	{ "MPI_IRECV", take_message, MPI_OP_RECV, "Sender: " },
	{ "MPI_COLLECTIVE_BEGIN", take_begin, 0, NULL },
	{ "MPI_COLLECTIVE_END", take_collective, 0, NULL },
	{ "NON_BLOCKING_COLLECTIVE_*", take_refused, 0,
	  "no counterpart: a collective call that blocks would do" },
	{ "RMA_*", take_refused, 0,
	  "no counterpart: messages of two-sided calls would do" },
	{ 0 },
};

static bool row_is(const struct row *row, const char *name, size_t len)
{
	size_t n = strlen(row->name);

	if (row->name[n - 1] == '*')
		return len >= n - 1 && !strncmp(row->name, name, n - 1);
	return len == n && !strncmp(row->name, name, n);
}

/* Reads `NAME LOCATION TIME ATTRIBUTES`. */
static int event_read(struct otf2 *o)
{
	const char *line = o->lines.line, *p = line;
	struct mpi_call c = { .line = o->lines.no, .made = MPI_NO_COMM };
	struct otf2_location *l;
	int64_t id, time;
	size_t len;

	while (isupper((unsigned char)*p) || isdigit((unsigned char)*p) ||
	       *p == '_')
		p++;
	len = (size_t)(p - line);
	p = len ? text_number(p + strspn(p, " "), 0, INT64_MAX, &id) : NULL;
	p = p ? text_number(p + strspn(p, " "), 0, INT64_MAX, &time) : NULL;
	if (!p)
		return otf2_fail(o, "no event: NAME LOCATION TIME .. would do");
	l = o->locations.at;
	for (size_t low = 0, high = o->locations.n; low < high;) {
		size_t mid = (low + high) / 2;

		l = &o->locations.at[mid];
		if (l->id == (uint64_t)id)
			break;
		if (l->id < (uint64_t)id)
			low = mid + 1;
		else
			high = mid;
	}
	if (!l || l->id != (uint64_t)id)
		return otf2_fail(o, "its location was not defined");
	l->seen++;
	c.time = (uint64_t)time;
	for (const struct row *row = rows; row->name; row++)
		if (row_is(row, line, len))
			return row->take(o, row, l, &c, p);
	return 0;
}

static int line_read(struct otf2 *o)
{
	const char *line = o->lines.line;

	if (!strncmp(line, "=== Events ", 11)) {
		if (o->section == OTF2_EVENTS)
			return otf2_fail(o, "events for a second time");
		o->section = OTF2_EVENTS;
		return otf2_ranks_make(o);
	}
	if (!strncmp(line, "=== Global Definitions ", 23) &&
	    o->section == OTF2_HEAD) {
		o->section = OTF2_DEFS;
		return 0;
	}
	/* Attributes of an event are indented. */
	if (!*line || *line == ' ' || *line == '=' || *line == '-')
		return 0;
	if (o->section == OTF2_DEFS)
		return otf2_define(o);
	if (o->section == OTF2_HEAD)
		return o->lines.no > HEAD_LINES
			       ? otf2_fail(o, "no text of otf2-print -A")
			       : 0;
	if (!strncmp(line, "Event ", 6))
		return 0;
	return event_read(o);
}

/* Checks that each location has as many events as its definition states. */
static int end_check(struct otf2 *o)
{
	if (o->section != OTF2_EVENTS)
		return text_lines_fail(
			&o->lines, o->lines.no, o->err,
			"no events: text of otf2-print -A would do");
	vec_foreach (&o->locations, struct otf2_location, l)
		if (l->seen != l->events)
			return text_lines_fail(
				&o->lines, o->lines.no, o->err,
				"location %llu has %llu events, but %llu are here: is the text whole, of otf2-print -A?",
				(unsigned long long)l->id,
				(unsigned long long)l->events,
				(unsigned long long)l->seen);
	return 0;
}

int import_otf2(struct import *im, struct weft_err *err)
{
	struct mpi_trace t;
	struct otf2 o = { .t = &t, .err = err };
	int ret = 1;

	mpi_trace_init(&t, im);
	for (size_t i = 0; i < im->n_args && ret > 0; i++) {
		ret = mpi_trace_setting(&t, im->args[i], err);
		if (!ret)
			ret = weft_fail(
				err, EINVAL,
				"%.60s: an OTF2 archive is one file: cycle, packet and waits are settings",
				im->args[i]);
	}
	if (ret > 0)
		ret = text_lines_open(&o.lines, im->file, err);
	while (!ret && (ret = text_lines_next(&o.lines, err)) > 0)
		ret = line_read(&o);
	if (!ret)
		ret = end_check(&o);
	if (!ret)
		ret = mpi_trace_write(&t, err);
	text_lines_close(&o.lines);
	otf2_defs_fini(&o);
	mpi_trace_fini(&t);
	return ret;
}
