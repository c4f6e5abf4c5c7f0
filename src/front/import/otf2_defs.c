/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of otf2-print, see otf2.h:
 *
 *	LOCATION  10  Name: "main" <1>, Type: .., # Events: 5, Group: ..
 *	GROUP  0  .., Type: COMM_LOCATIONS, Paradigm: MPI, .., 2 Members:
 *		"main" <0>, "main" <10>
 *	GROUP  1  .., Type: COMM_GROUP, .., 1 Members: 1 ("main" <10>)
 *	COMM   0  Name: "x" <5>, Group: "y" <1>, Parent: .. */
#include "front/import/otf2.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"

int otf2_fail(struct otf2 *o, const char *what)
{
	char shown[44];

	return text_lines_fail(&o->lines, o->lines.no, o->err, "'%s': %s",
			       text_shown(shown, o->lines.line, o->lines.len),
			       what);
}

const char *otf2_behind(const char *line, const char *mark)
{
	const char *last = NULL;

	for (const char *p = line; (p = strstr(p, mark)); p++)
		last = p;
	return last ? last + strlen(mark) : NULL;
}

static int clock_define(struct otf2 *o, const char *line)
{
	const char *p = strstr(line, "Ticks per Seconds: ");
	int64_t ticks;

	if (!p || !text_number(p + 19, 1, INT64_MAX, &ticks))
		return otf2_fail(o, "no ticks per second");
	o->t->ticks = (uint64_t)ticks;
	o->clock = true;
	return 0;
}

static int location_define(struct otf2 *o, int64_t id, const char *line)
{
	const char *p = otf2_behind(line, ", # Events: ");
	struct otf2_location l = { .id = (uint64_t)id, .rank = UINT32_MAX };
	int64_t events;

	if (!p || !text_number(p, 0, INT64_MAX, &events))
		return otf2_fail(o, "no number of events");
	l.events = (uint64_t)events;
	vec_push(&o->locations, l);
	return 0;
}

/* Finds the first `<ID>` that follows a quoted name and precedes `end`. Sets
 * *id_p. Returns the text after `end`, or NULL. */
static const char *member_id(const char *p, const char *end, uint64_t *id_p)
{
	int64_t id;

	for (; (p = strstr(p, "\" <")); p++) {
		const char *q = text_number(p + 3, 0, INT64_MAX, &id);

		if (q && !strncmp(q, end, strlen(end))) {
			*id_p = (uint64_t)id;
			return q + strlen(end);
		}
	}
	return NULL;
}

/* Reads members: `"NAME" <ID>` of locations, `RANK ("NAME" <ID>)` of ranks. */
static int members_read(struct otf2 *o, struct otf2_group *g, const char *p,
			int64_t n)
{
	bool ranks = g->kind == OTF2_GROUP_RANKS;

	for (int64_t i = 0; i < n; i++) {
		uint64_t location = 0;
		int64_t rank = 0;

		if (i && strncmp(p, ", ", 2))
			return otf2_fail(o, "members of a group are missing");
		p += i ? 2 : 0;
		if (ranks && !text_number(p, 0, MPI_RANKS - 1, &rank))
			return otf2_fail(o, "a member is none of the ranks");
		p = member_id(p, ranks ? ">)" : ">", &location);
		if (!p)
			return otf2_fail(o, "members of a group are missing");
		vec_push(&g->members, ranks ? (uint64_t)rank : location);
	}
	return *p ? otf2_fail(o, "more members than the group has") : 0;
}

static int group_define(struct otf2 *o, int64_t id, const char *line)
{
	const char *type = otf2_behind(line, ", Type: "), *p;
	const char *flags = otf2_behind(line, ", Flags: ");
	struct otf2_group *g, none = { 0 };
	int64_t n;

	if (id >= MPI_COMMS)
		return otf2_fail(o, "too many groups");
	while (o->groups.n <= (size_t)id)
		vec_push(&o->groups, none);
	g = &o->groups.at[id];
	if (!type || !flags || g->kind != OTF2_GROUP_NONE)
		return otf2_fail(o, "no group looks so, or it is a second one");
	g->line = o->lines.no;
	if (!strncmp(type, "COMM_SELF,", 10))
		g->kind = OTF2_GROUP_SELF;
	else if (!strstr(type, ", Paradigm: MPI,"))
		return 0;
	else if (!strncmp(type, "COMM_LOCATIONS,", 15))
		g->kind = OTF2_GROUP_LOCATIONS;
	else if (!strncmp(type, "COMM_GROUP,", 11))
		g->kind = OTF2_GROUP_RANKS;
	else
		return 0;
	p = strstr(flags, ", ");
	if (g->kind == OTF2_GROUP_SELF)
		return 0;
	if (!p || !(p = text_number(p + 2, 0, MPI_RANKS, &n)))
		return otf2_fail(o, "no number of members, or more than 65536");
	p = strstr(p, ": ");
	if (n && !p)
		return otf2_fail(o, "members of a group are missing");
	return n ? members_read(o, g, p + 2, n) : 0;
}

static int comm_define(struct otf2 *o, int64_t id, const char *line)
{
	const char *p = line;
	uint64_t group;

	if (id >= MPI_COMMS)
		return otf2_fail(o, "too many communicators");
	while (o->comms.n <= (size_t)id)
		vec_push(&o->comms, MPI_NO_COMM);
	p = member_id(p, ">, Group: ", &group);
	p = p ? member_id(p, ">, Parent: ", &group) : NULL;
	if (!p || group >= o->groups.n ||
	    o->groups.at[group].kind == OTF2_GROUP_NONE)
		return otf2_fail(o, "its group was not defined before");
	o->comms.at[id] = (uint32_t)group;
	return 0;
}

int otf2_define(struct otf2 *o)
{
	const char *line = o->lines.line, *p = line;
	int64_t id;

	while (isupper((unsigned char)*p) || isdigit((unsigned char)*p) ||
	       *p == '_')
		p++;
	if (!strncmp(line, "CLOCK_PROPERTIES ", 17))
		return clock_define(o, p);
	if (strncmp(line, "LOCATION ", 9) && strncmp(line, "GROUP ", 6) &&
	    strncmp(line, "COMM ", 5))
		return 0;
	p += strspn(p, " ");
	p = text_number(p, 0, INT64_MAX, &id);
	if (!p)
		return otf2_fail(o, "a definition has a number");
	if (line[0] == 'L')
		return location_define(o, id, p);
	return line[0] == 'G' ? group_define(o, id, p) : comm_define(o, id, p);
}

/* ---- ranks and communicators ---- */

static int location_cmp(const void *a, const void *b)
{
	const struct otf2_location *p = a, *q = b;

	return p->id < q->id ? -1 : p->id > q->id;
}

static int group_fail(struct otf2 *o, const struct otf2_group *g,
		      const char *what)
{
	return text_lines_fail(&o->lines, g->line, o->err, "%s", what);
}

/* The location of each rank knows its number. */
static int ranks_place(struct otf2 *o, const struct otf2_group *g)
{
	mpi_trace_ranks(o->t, (uint32_t)g->members.n);
	for (uint32_t i = 0; i < o->t->n; i++) {
		struct otf2_location key = { .id = g->members.at[i] };
		struct otf2_location *l =
			bsearch(&key, o->locations.at, o->locations.n,
				sizeof(key), location_cmp);

		if (!l || l->rank != UINT32_MAX)
			return group_fail(
				o, g,
				"a member is none of the locations, or is one twice");
		l->rank = i;
		o->t->ranks[i].file = o->lines.name;
	}
	return 0;
}

/* Makes a communicator of the ranks of a group. */
static int comm_make(struct otf2 *o, uint32_t id, const struct otf2_group *g)
{
	uint32_t n = (uint32_t)g->members.n, index;
	uint32_t *ranks = need(calloc(n + 1, sizeof(*ranks)));
	bool *member = need(calloc(o->t->n + 1, sizeof(*member)));
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++) {
		bool location = g->kind == OTF2_GROUP_LOCATIONS;
		uint64_t rank = location ? i : g->members.at[i];

		if (rank >= o->t->n || member[rank])
			ret = group_fail(
				o, g,
				"a member is none of the ranks, or is one twice");
		else
			member[ranks[i] = (uint32_t)rank] = true;
	}
	if (!ret) {
		index = mpi_comm_add(o->t, ranks, n);
		for (uint32_t i = 0; i < n; i++)
			mpi_comm_call(&o->t->ranks[ranks[i]], id, index);
	}
	free(member);
	free(ranks);
	return ret;
}

int otf2_ranks_make(struct otf2 *o)
{
	const struct otf2_group *all = NULL;

	vec_foreach (&o->groups, struct otf2_group, g)
		if (g->kind == OTF2_GROUP_LOCATIONS && !all)
			all = g;
	if (!all || !o->clock)
		return otf2_fail(
			o,
			"definitions of clock and MPI's locations must stand above: otf2-print -A writes them");
	qsort(o->locations.at, o->locations.n, sizeof(*o->locations.at),
	      location_cmp);
	if (ranks_place(o, all))
		return -EINVAL;
	for (uint32_t id = 0; id < o->comms.n; id++) {
		uint32_t group = o->comms.at[id];
		const struct otf2_group *g = &o->groups.at[group];

		if (group == MPI_NO_COMM)
			continue;
		if (g->kind != OTF2_GROUP_SELF) {
			if (comm_make(o, id, g))
				return -EINVAL;
			continue;
		}
		for (uint32_t i = 0; i < o->t->n; i++)
			mpi_comm_call(&o->t->ranks[i], id,
				      mpi_comm_add(o->t, &i, 1));
	}
	return 0;
}

void otf2_defs_fini(struct otf2 *o)
{
	vec_foreach (&o->groups, struct otf2_group, g)
		vec_free(&g->members);
	vec_free(&o->groups);
	vec_free(&o->comms);
	vec_free(&o->locations);
}
