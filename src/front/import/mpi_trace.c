/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks, communicators and settings of an MPI trace, and its packets, see
 * mpi_trace.h. mpi_run.c carries out the calls. */
#include "front/import/mpi_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "base/units.h"

/* Upper limit of the number of packets that a packet waits for. It keeps lines
 * short enough for the reader of packet traces (packet_trace.h). */
enum { WAITS = 6000 };

static const struct weft_param trace_params[] = {
	WEFT_PARAM(TIME, struct mpi_trace, cycle, "1ns", "1fs..", OWN, ""),
	WEFT_PARAM(U32, struct mpi_trace, packet, "4096", "1..16777216", OWN,
		   ""),
	WEFT_PARAM(BOOL, struct mpi_trace, waits, "yes", "", OWN, ""),
	{ 0 },
};

void mpi_trace_init(struct mpi_trace *t, struct import *im)
{
	*t = (struct mpi_trace){ .im = im, .ticks = 1000000000 };
	for (const struct weft_param *p = trace_params; p->name; p++)
		units_parse(p->type, p->range, p->def, (char *)t + p->offset,
			    p->size, NULL);
}

int mpi_trace_setting(struct mpi_trace *t, const char *arg,
		      struct weft_err *err)
{
	struct weft_err sub = { 0 };
	const char *equals = strchr(arg, '=');
	char *field = (char *)t;

	for (const struct weft_param *p = trace_params; equals && p->name;
	     p++) {
		if (strlen(p->name) != (size_t)(equals - arg) ||
		    strncmp(p->name, arg, strlen(p->name)))
			continue;
		field += p->offset;
		if (units_parse(p->type, p->range, equals + 1, field, p->size,
				&sub) ||
		    units_check(p->type, p->range, field, &sub))
			return weft_fail(err, EINVAL, "%.60s: %s", arg,
					 sub.msg);
		return 1;
	}
	return 0;
}

void mpi_trace_ranks(struct mpi_trace *t, uint32_t n)
{
	t->ranks = need(calloc(n + 1, sizeof(*t->ranks)));
	t->n = n;
}

void mpi_trace_fini(struct mpi_trace *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		vec_free(&t->ranks[i].calls);
		vec_free(&t->ranks[i].parts);
		vec_free(&t->ranks[i].comms);
		vec_free(&t->ranks[i].got);
	}
	free(t->ranks);
	vec_foreach (&t->comms, struct mpi_comm, c)
		free(c->ranks);
	vec_free(&t->comms);
	vec_free(&t->ready);
}

/* ---- communicators ---- */

uint32_t mpi_comm_add(struct mpi_trace *t, const uint32_t *ranks, uint32_t n)
{
	struct mpi_comm c = { .n = n };

	c.ranks = need(malloc((n + 1) * sizeof(*c.ranks)));
	memcpy(c.ranks, ranks, n * sizeof(*c.ranks));
	vec_push(&t->comms, c);
	return (uint32_t)t->comms.n - 1;
}

void mpi_comm_call(struct mpi_rank *r, uint32_t id, uint32_t index)
{
	while (r->comms.n <= id)
		vec_push(&r->comms, MPI_NO_COMM);
	r->comms.at[id] = index;
}

struct mpi_comm *mpi_call_comm(struct mpi_trace *t, uint32_t rank,
			       const struct mpi_call *c, struct weft_err *err)
{
	const struct mpi_rank *r = &t->ranks[rank];

	if (c->comm < r->comms.n && r->comms.at[c->comm] != MPI_NO_COMM)
		return &t->comms.at[r->comms.at[c->comm]];
	mpi_call_fail(
		t, rank, c, err,
		"communicator %u is unknown: MPI_COMM_WORLD, MPI_COMM_SELF and those of MPI_Comm_dup, MPI_Comm_split and MPI_Cart_create would do",
		c->comm);
	return NULL;
}

struct mpi_call *mpi_member_call(const struct mpi_trace *t,
				 const struct mpi_comm *comm, uint32_t i)
{
	struct mpi_rank *r = &t->ranks[comm->ranks[i]];

	return &r->calls.at[r->at];
}

int mpi_call_fail(const struct mpi_trace *t, uint32_t rank,
		  const struct mpi_call *c, struct weft_err *err,
		  const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return weft_fail(err, EINVAL, "%.150s:%u: %s", t->ranks[rank].file,
			 c->line, text);
}

/* ---- packets ---- */

/* Returns the cycle of a time, or 2^48 for all later cycles. A trace cannot
 * hold more. */
static uint64_t cycle_of(const struct mpi_trace *t, uint64_t time)
{
	unsigned __int128 fs = (unsigned __int128)(time - t->start) * WEFT_SEC;

	fs = fs / t->ticks / t->cycle;
	return fs > 1ull << 48 ? 1ull << 48 : (uint64_t)fs;
}

/* Writes the columns for the id of a packet and for the packets that it waits
 * for. Writes nothing with setting waits=no. */
static void waits_write(const struct mpi_trace *t, struct mpi_rank *r,
			uint32_t id)
{
	FILE *f = t->im->out;
	size_t i = r->got.n > WAITS ? r->got.n - WAITS : 0;
	char mark = ' ';

	if (!t->waits)
		return;
	fprintf(f, " %x", id);
	if (r->sent) {
		fprintf(f, " >%x", r->last);
		mark = ',';
	}
	for (; i < r->got.n; i++, mark = ',')
		fprintf(f, "%c%x", mark, r->got.at[i]);
	r->got.n = 0;
	r->last = id;
	r->sent = true;
}

int mpi_message(struct mpi_trace *t, uint32_t from, uint32_t to,
		const struct mpi_call *c, uint64_t bytes, uint32_t *last_p,
		struct weft_err *err)
{
	FILE *f = t->im->out;
	uint64_t n = bytes ? (bytes - 1) / t->packet + 1 : 1;

	*last_p = UINT32_MAX;
	if (from == to)
		return 0;
	if (t->packets + n > MPI_PACKETS)
		return mpi_call_fail(
			t, from, c, err,
			"more than %llu packets: packet=BYTES larger than %u, or fewer calls, would do",
			MPI_PACKETS, t->packet);
	for (; n; n--) {
		uint64_t part = n > 1 ? t->packet : bytes;

		fprintf(f, "%" PRIu64 " %u %u %" PRIu64, cycle_of(t, c->time),
			from, to, part);
		waits_write(t, &t->ranks[from], (uint32_t)t->packets);
		fputc('\n', f);
		bytes -= part;
		t->packets++;
	}
	*last_p = (uint32_t)t->packets - 1;
	return 0;
}

void mpi_received(struct mpi_trace *t, uint32_t rank, uint32_t last)
{
	if (last != UINT32_MAX && t->waits)
		vec_push(&t->ranks[rank].got, last);
}
