/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run in the trace event format of Chrome, which Perfetto reads, too.
 * Each node is a process and each part a thread. Activities of parts are
 * slices, levels are counters, and arrows connect nodes when a message passes
 * between them. A message has a slice for each stage, at the component of the
 * stage. Slices of one thread do not overlap: activities of a part that overlap
 * in time are put on different threads. */
#include "front/trace/timeline.h"
#include "front/out/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "front/trace/recs.h"

#define FILE_HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

enum { LANES = 64, PARTS = 1 << 16 };

/* One part of a component, with its threads. */
struct part {
	const struct weft_comp *comp; /* component; NULL: the entry is free */
	const char *name;
	uint32_t index, lanes;
	uint32_t tid[LANES];
	weft_time_t free_at[LANES];
	const char *state; /* present state, or NULL */
	weft_time_t since;
	uint64_t level; /* present level + 1; 0: no level yet */
};

struct timeline {
	struct weft_listener listener;
	struct out_file out;
	FILE *file; /* stream of `out` */
	struct recs recs;
	struct part **parts; /* hash table of all parts */
	struct {
		VEC(const struct weft_comp *);
	} nodes; /* one component of each node; the node's pid is the index +
		  * 1 */
	uint32_t tids;
	uint64_t flows;
	bool some, enough;
};

/* ---- events ---- */

static void timeline_event(struct timeline *t, const char *ph, uint32_t pid,
			   uint32_t tid, const char *name)
{
	struct json j;

	json_init(&j, false);
	json_str(&j, NULL, name);
	fprintf(t->file, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"name\":%s",
		t->some ? "," : "", ph, pid, tid, j.buf);
	json_fini(&j);
	t->some = true;
}

/* Writes a time in microseconds, exactly. */
static void put_us(struct timeline *t, const char *key, weft_time_t fs)
{
	fprintf(t->file, ",\"%s\":%" PRIu64 ".%09" PRIu64, key, fs / WEFT_US,
		fs % WEFT_US);
}

static void timeline_meta(struct timeline *t, const char *what, uint32_t pid,
			  uint32_t tid, const char *name)
{
	timeline_event(t, "M", pid, tid, what);
	fprintf(t->file, ",\"args\":{\"name\":\"%s\"}}", name);
}

static uint32_t pid_of(struct timeline *t, const struct weft_comp *c)
{
	size_t n = recs_node(c);
	char name[64];

	for (size_t i = 0; i < t->nodes.n; i++)
		if (recs_node(t->nodes.at[i]) == n &&
		    !strncmp(t->nodes.at[i]->name, c->name, n))
			return (uint32_t)i + 1;
	vec_push(&t->nodes, c);
	snprintf(name, sizeof(name), "%.*s", (int)n, c->name);
	timeline_meta(t, "process_name", (uint32_t)t->nodes.n, 0, name);
	return (uint32_t)t->nodes.n;
}

/* ---- threads ---- */

static struct part *part_of(struct timeline *t, const struct weft_comp *c,
			    const char *name, uint32_t index)
{
	uint64_t h = recs_hash(c, name, c->name, index);

	for (uint32_t i = 0; i < PARTS; i++) {
		struct part **p = &t->parts[(h + i) % PARTS];

		if (!*p) {
			*p = calloc(1, sizeof(**p));
			if (!*p)
				abort();
			**p = (struct part){ .comp = c,
					     .name = name,
					     .index = index };
		}
		if ((*p)->comp == c && (*p)->index == index &&
		    !strcmp((*p)->name, name))
			return *p;
	}
	return NULL;
}

static void part_text(const struct part *p, char *buf, size_t size)
{
	char index[16] = "";

	if (p->index != WEFT_TRACE_ONE)
		snprintf(index, sizeof(index), "%u", p->index);
	snprintf(buf, size, "%s.%s%s", p->comp->name, p->name, index);
}

/* Returns the thread of p on which the time from..to is free. */
static uint32_t timeline_lane(struct timeline *t, struct part *p,
			      weft_time_t from, weft_time_t to)
{
	char name[160];
	uint32_t i = 0;

	while (i < p->lanes && i < LANES - 1 && p->free_at[i] > from)
		i++;
	if (i == p->lanes) {
		p->lanes++;
		p->tid[i] = ++t->tids;
		part_text(p, name, sizeof(name));
		timeline_meta(t, "thread_name", pid_of(t, p->comp), p->tid[i],
			      name);
	}
	p->free_at[i] = to;
	return p->tid[i];
}

static uint32_t timeline_slice(struct timeline *t, struct part *p,
			       const char *name, weft_time_t from,
			       weft_time_t to)
{
	uint32_t pid = pid_of(t, p->comp), tid = timeline_lane(t, p, from, to);

	timeline_event(t, "X", pid, tid, name);
	put_us(t, "ts", from);
	put_us(t, "dur", to - from);
	return tid;
}

/* ---- messages ---- */

static void timeline_flow(struct timeline *t, const char *ph,
			  const struct weft_comp *c, uint32_t tid,
			  weft_time_t at)
{
	timeline_event(t, ph, pid_of(t, c), tid, "message");
	put_us(t, "ts", at);
	fprintf(t->file, ",\"cat\":\"message\",\"id\":%" PRIu64 "%s}", t->flows,
		*ph == 'f' ? ",\"bp\":\"e\"" : "");
}

/* Writes a slice for each stage, and an arrow where the node changes. */
static void timeline_message(struct timeline *t, const struct rec *r)
{
	const struct weft_comp *was = NULL;
	weft_time_t at = r->begin, was_at = 0;
	uint32_t was_tid = 0;

	for (size_t i = 0; i < r->marks.n; i++) {
		const struct rec_mark *m = &r->marks.at[i];
		struct part *p;
		uint32_t tid;
		size_t n;

		if (m->end <= at)
			continue;
		p = part_of(t, m->comp, "messages", WEFT_TRACE_ONE);
		tid = timeline_slice(t, p, m->stage, at, m->end);
		fprintf(t->file, ",\"args\":{\"message\":%" PRIu64 "}}",
			r->id & ~(UINT64_C(1) << 63));
		n = recs_node(m->comp);
		if (was && (recs_node(was) != n ||
			    strncmp(was->name, m->comp->name, n))) {
			t->flows++;
			timeline_flow(t, "s", was, was_tid, was_at);
			timeline_flow(t, "f", m->comp, tid, at);
		}
		was = m->comp;
		was_at = at;
		was_tid = tid;
		at = m->end;
	}
}

/* ---- events that are recorded ---- */

static void state(struct timeline *t, const struct weft_trace *e)
{
	struct part *p = part_of(t, e->comp, e->name, e->index);

	if (p->state && !strcmp(p->state, e->text))
		return;
	if (p->state && e->from > p->since) {
		timeline_slice(t, p, p->state, p->since, e->from);
		fprintf(t->file, "}");
	}
	if (p->state && e->from < p->since)
		return;
	p->state = e->text;
	p->since = e->from;
}

static void level(struct timeline *t, const struct weft_trace *e)
{
	struct part *p = part_of(t, e->comp, e->name, e->index);
	char name[160];

	if (p->level == e->value + 1)
		return;
	p->level = e->value + 1;
	part_text(p, name, sizeof(name));
	timeline_event(t, "C", pid_of(t, e->comp), 0, name);
	put_us(t, "ts", e->from);
	fprintf(t->file, ",\"args\":{\"level\":%" PRIu64 "}}", e->value);
}

static void timeline_span(struct timeline *t, const struct weft_trace *e)
{
	struct part *p = part_of(t, e->comp, e->name, e->index);
	uint32_t pid;
	char name[32];

	if (strcmp(e->name, WEFT_TRACE_CALLS)) {
		timeline_slice(t, p, e->text, e->from, e->to);
		fprintf(t->file, ",\"args\":{\"n\":%" PRIu64 "}}", e->value);
		return;
	}
	/* Calls of a process are on one thread, shown above the other threads
	 * of the node. */
	pid = pid_of(t, p->comp);
	if (!p->lanes) {
		p->lanes = 1;
		p->tid[0] = ++t->tids;
		snprintf(name, sizeof(name), "rank %u", p->index);
		timeline_meta(t, "thread_name", pid, p->tid[0], name);
		timeline_event(t, "M", pid, p->tid[0], "thread_sort_index");
		fprintf(t->file, ",\"args\":{\"sort_index\":-1}}");
	}
	timeline_event(t, "X", pid, p->tid[0], e->text);
	put_us(t, "ts", e->from);
	put_us(t, "dur", e->to - e->from);
	fprintf(t->file, ",\"args\":{\"rank\":%" PRIu64 "}}", e->value);
}

static void timeline_hear(struct weft_listener *l, const struct weft_trace *e)
{
	struct timeline *t = (struct timeline *)l;
	const struct rec *r;

	if (!t->enough && out_file_full(&t->out))
		timeline_enough(t);
	if (t->enough)
		return;
	switch (e->kind) {
	case WEFT_TRACE_SPAN:
		timeline_span(t, e);
		break;
	case WEFT_TRACE_STATE:
		state(t, e);
		break;
	case WEFT_TRACE_LEVEL:
		level(t, e);
		break;
	case WEFT_TRACE_SENT:
	case WEFT_TRACE_GOT:
		timeline_event(t, "i", pid_of(t, e->comp),
			       timeline_lane(t,
					     part_of(t, e->comp, "thread",
						     WEFT_TRACE_ONE),
					     0, 0),
			       e->kind == WEFT_TRACE_SENT ? "sends" : "has");
		put_us(t, "ts", e->from);
		fprintf(t->file, ",\"s\":\"t\"}");
		break;
	default:
		r = recs_hear(&t->recs, e);
		if (r)
			timeline_message(t, r);
	}
}

/* ---- the file ---- */

int timeline_open(const char *path, uint64_t limit, struct timeline **t_p,
		  struct weft_err *err)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	if (out_file_open(&t->out, "--trace", path, err)) {
		free(t);
		return -EINVAL;
	}
	t->file = t->out.f;
	t->out.limit = limit;
	t->parts = calloc(PARTS, sizeof(*t->parts));
	if (!t->parts)
		abort();
	t->listener.hear = timeline_hear;
	recs_init(&t->recs);
	fprintf(t->file, FILE_HEAD);
	*t_p = t;
	return 0;
}

static void parts_free(struct timeline *t)
{
	for (size_t i = 0; i < PARTS; i++) {
		free(t->parts[i]);
		t->parts[i] = NULL;
	}
}

/* Drops the events so far. Events that were already written to a pipe cannot be
 * removed. */
void timeline_again(struct timeline *t)
{
	if (fflush(t->file) || ftruncate(fileno(t->file), 0) ||
	    fseek(t->file, 0, SEEK_SET))
		return;
	fprintf(t->file, FILE_HEAD);
	parts_free(t);
	recs_fini(&t->recs);
	recs_init(&t->recs);
	t->nodes.n = 0;
	t->tids = 0;
	t->flows = 0;
	t->some = false;
	if (t->out.over) /* the file had reached its limit before the measured
			  * part began */
		t->enough = t->out.over = false;
}

void timeline_enough(struct timeline *t)
{
	timeline_flush(t);
	t->enough = true;
}

void timeline_listen(struct timeline *t, struct weft_sim *sim)
{
	weft_sim_listen(sim, &t->listener);
}

void timeline_flush(struct timeline *t)
{
	const struct rec *r;
	size_t i = 0;

	if (t->enough)
		return;
	while ((r = recs_next(&t->recs, &i)))
		timeline_message(t, r);
	recs_fini(&t->recs);
}

int timeline_close(struct timeline *t, bool keep, struct weft_err *err)
{
	int ret;

	fprintf(t->file, "\n]}\n");
	ret = out_file_close(&t->out, keep, err);
	parts_free(t);
	free(t->parts);
	vec_free(&t->nodes);
	recs_fini(&t->recs);
	free(t);
	return ret;
}
