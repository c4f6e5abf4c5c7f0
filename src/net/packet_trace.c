/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of packet traces, see packet_trace.h. Ids are kept as pointers into
 * the text, so that nothing is copied while a trace is read. */
#include "net/packet_trace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

enum { TRACE_LINE = 65536, TRACE_ID = 63, TRACE_MAX = 1 << 28 };

struct name { /* entry of the hash table of ids */
	const char *at;
	uint32_t len, pkt;
};

struct reader {
	/* p..end: the part of the line that is still unread */
	const char *label, *p, *end;
	const char *eof;
	uint32_t line, nodes, bytes_max;
	struct weft_err *err;
	struct {
		VEC(struct trace_pkt);
	} pkts;
	struct {
		VEC(struct trace_edge);
	} deps;
	bool leaves;	    /* the line has named a departure */
	struct name *names; /* open addressing */
	uint32_t n_names, mask;
};

__attribute__((format(printf, 2, 3))) static int
trace_fail(struct reader *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return weft_fail(r->err, EINVAL, "%.150s:%u: %s", r->label, r->line,
			 text);
}

/* ---- ids ---- */

static struct name *name_slot(struct reader *r, const char *s, uint32_t len)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 16777619u;
	i = (h ^ h >> 15) & r->mask;
	while (r->names[i].at &&
	       (r->names[i].len != len || memcmp(r->names[i].at, s, len)))
		i = (i + 1) & r->mask;
	return &r->names[i];
}

static void names_grow(struct reader *r)
{
	struct name *old = r->names;
	uint32_t n = old ? r->mask + 1 : 0;

	if (old && r->n_names < n / 2)
		return;
	r->mask = n ? 2 * n - 1 : 1023;
	r->names = calloc(r->mask + 1, sizeof(*r->names));
	if (!r->names)
		abort();
	for (uint32_t i = 0; i < n; i++)
		if (old[i].at)
			*name_slot(r, old[i].at, old[i].len) = old[i];
	free(old);
}

/* ---- one line ---- */

/* Splits off the next word. Returns false at the end of the line. */
static bool packet_trace_word(struct reader *r, const char **s_p,
			      uint32_t *len_p)
{
	while (r->p < r->end && isblank((unsigned char)*r->p))
		r->p++;
	*s_p = r->p;
	while (r->p < r->end && !isspace((unsigned char)*r->p))
		r->p++;
	*len_p = (uint32_t)(r->p - *s_p);
	return *len_p > 0;
}

static int packet_trace_number(struct reader *r, const char *what, uint64_t max,
			       uint64_t *v_p)
{
	const char *s;
	uint32_t len;

	*v_p = 0;
	if (!packet_trace_word(r, &s, &len))
		return trace_fail(
			r,
			"no %s: a line is CYCLE SOURCE DESTINATION BYTES [ID [ID,..]]",
			what);
	for (uint32_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || i > 18)
			return trace_fail(r, "%s '%.*s' is no number", what,
					  len < 40 ? (int)len : 40, s);
		*v_p = *v_p * 10 + (uint64_t)(s[i] - '0');
	}
	if (*v_p > max)
		return trace_fail(r, "%s %llu is more than %llu", what,
				  (unsigned long long)*v_p,
				  (unsigned long long)max);
	return 0;
}

static bool packet_trace_nothing(const char *s, uint32_t len)
{
	return len == 1 && *s == '-';
}

static int line_id(struct reader *r, uint32_t pkt)
{
	struct name *slot;
	const char *s;
	uint32_t len;

	if (!packet_trace_word(r, &s, &len) || packet_trace_nothing(s, len))
		return 0;
	if (len > TRACE_ID || memchr(s, ',', len) || *s == '>')
		return trace_fail(r, "'%.*s' is no id",
				  len < 40 ? (int)len : 40, s);
	names_grow(r);
	slot = name_slot(r, s, len);
	if (slot->at)
		return trace_fail(r, "a second packet called '%.*s'", (int)len,
				  s);
	*slot = (struct name){ s, len, pkt };
	r->n_names++;
	return 0;
}

static int line_dep(struct reader *r, const char *s, uint32_t len, uint32_t pkt)
{
	const struct name *slot = NULL;
	bool left = len && *s == '>';

	s += left;
	len -= left;
	if (r->names && len)
		slot = name_slot(r, s, len);
	if (!slot || !slot->at || slot->pkt == pkt)
		return trace_fail(r, "no packet above is called '%.*s'",
				  len < 40 ? (int)len : 40, s);
	if (left && r->pkts.at[slot->pkt].src != r->pkts.at[pkt].src)
		return trace_fail(
			r,
			"'>%.*s' is a packet of another source: '%.*s' would do",
			(int)len, s, (int)len, s);
	if (left && r->leaves)
		return trace_fail(r, "a second '>': one would do");
	r->leaves |= left;
	vec_push(&r->deps, (struct trace_edge){ slot->pkt, pkt, left });
	return 0;
}

static int line_deps(struct reader *r, uint32_t pkt)
{
	const char *s;
	uint32_t len;

	r->leaves = false;
	if (!packet_trace_word(r, &s, &len) || packet_trace_nothing(s, len))
		return 0;
	for (const char *end = s + len; s <= end;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *stop = comma ? comma : end;

		if (line_dep(r, s, (uint32_t)(stop - s), pkt))
			return -EINVAL;
		s = stop + 1;
	}
	return 0;
}

static int line_read(struct reader *r)
{
	uint64_t cycle, src, dst, bytes;
	const char *s;
	uint32_t len;

	if (r->pkts.n == TRACE_MAX)
		return trace_fail(r, "more than %u packets", TRACE_MAX);
	if (packet_trace_number(r, "cycle", 1ULL << 48, &cycle) ||
	    packet_trace_number(r, "source", r->nodes - 1, &src) ||
	    packet_trace_number(r, "destination", r->nodes - 1, &dst) ||
	    packet_trace_number(r, "size", r->bytes_max, &bytes))
		return -EINVAL;
	vec_push(&r->pkts, (struct trace_pkt){ .cycle = cycle,
					       .src = (uint32_t)src,
					       .dst = (uint32_t)dst,
					       .bytes = (uint32_t)bytes });
	if (line_id(r, (uint32_t)r->pkts.n - 1) ||
	    line_deps(r, (uint32_t)r->pkts.n - 1))
		return -EINVAL;
	if (packet_trace_word(r, &s, &len))
		return trace_fail(r, "'%.*s' is one word too many",
				  len < 40 ? (int)len : 40, s);
	return 0;
}

static int lines_read(struct reader *r)
{
	for (const char *at = r->p; at < r->eof;) {
		const char *nl = memchr(at, '\n', (size_t)(r->eof - at));
		const char *stop = nl ? nl : r->eof, *hash, *s;
		uint32_t len;

		r->line++;
		if (stop - at > TRACE_LINE)
			return trace_fail(r,
					  "a line of more than %u characters",
					  TRACE_LINE);
		hash = memchr(at, '#', (size_t)(stop - at));
		r->p = at;
		r->end = hash ? hash : stop;
		at = stop + 1;
		if (memchr(r->p, '\0', (size_t)(r->end - r->p)))
			return trace_fail(r, "this is no text");
		s = r->p;
		if (!packet_trace_word(r, &s, &len) || *s == '\r')
			continue;
		r->p = s;
		if (line_read(r))
			return -EINVAL;
	}
	return 0;
}

/* ---- the whole ---- */

static int order_cmp(const void *a, const void *b, void *arg)
{
	const struct trace_pkt *pkt = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct trace_pkt *p = &pkt[i], *q = &pkt[k];

	if (p->src != q->src)
		return p->src < q->src ? -1 : 1;
	if (p->cycle != q->cycle)
		return p->cycle < q->cycle ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void trace_order(struct trace *t)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < t->n; i++)
		t->order[i] = i;
	qsort_r(t->order, t->n, sizeof(*t->order), order_cmp, t->pkt);
	for (uint32_t s = 0; s <= t->nodes; s++) {
		while (k < t->n && t->pkt[t->order[k]].src < s)
			k++;
		t->from[s] = k;
	}
}

struct trace *trace_of(struct trace_pkt *pkt, uint32_t n,
		       const struct trace_edge *dep, size_t n_deps,
		       uint32_t nodes)
{
	struct trace *t = calloc(1, sizeof(*t));
	uint32_t at = 0;

	if (!t)
		abort();
	t->pkt = pkt;
	t->n = n;
	t->nodes = nodes;
	t->next = calloc(n_deps + 1, sizeof(*t->next));
	t->order = calloc(t->n + 1, sizeof(*t->order));
	t->from = calloc(t->nodes + 1, sizeof(*t->from));
	if (!t->next || !t->order || !t->from)
		abort();
	for (size_t i = 0; i < n_deps; i++) {
		struct trace_pkt *p = &pkt[dep[i].before];

		pkt[dep[i].after].deps = ++pkt[dep[i].after].wait;
		if (dep[i].left) {
			pkt[dep[i].after].left_next = p->left;
			p->left = dep[i].after + 1;
		} else {
			p->n++;
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		t->pkt[i].first = at;
		at += t->pkt[i].n;
		t->pkt[i].n = 0;
	}
	for (size_t i = 0; i < n_deps; i++) {
		struct trace_pkt *p = &t->pkt[dep[i].before];

		if (!dep[i].left)
			t->next[p->first + p->n++] = dep[i].after;
	}
	trace_order(t);
	return t;
}

struct trace *trace_parse(const char *label, const char *text, size_t len,
			  uint32_t nodes, uint32_t bytes_max,
			  struct weft_err *err)
{
	struct reader r = { .label = label,
			    .p = text,
			    .eof = text + len,
			    .nodes = nodes,
			    .bytes_max = bytes_max,
			    .err = err };
	struct trace *t = NULL;

	if (!lines_read(&r)) {
		t = trace_of(r.pkts.at, (uint32_t)r.pkts.n, r.deps.at, r.deps.n,
			     nodes);
		r.pkts.at = NULL;
	}
	vec_free(&r.pkts);
	vec_free(&r.deps);
	free(r.names);
	return t;
}

/* Reads a whole file up to its end, because the size that the file system
 * reports may be wrong. Rejects pipes because a pipe yields its text once, but
 * a sweep reads its trace for every point. Returns a text that the caller
 * frees, or NULL with a message. */
static char *text_read(const char *path, size_t *len_p, struct weft_err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	size_t cap = 65536, n = 0, got;
	struct stat st;
	char *text;
	FILE *f;

	if (fd < 0) {
		weft_fail(err, errno, "%.200s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		weft_fail(
			err, EINVAL,
			"%.200s: no file: a trace is read several times, write it to a file first",
			path);
		close(fd);
		return NULL;
	}
	f = fdopen(fd, "r");
	text = f ? malloc(cap) : NULL;
	while (text && (got = fread(text + n, 1, cap - n, f))) {
		n += got;
		if (n == cap)
			text = realloc(text, cap *= 2);
	}
	if (!text)
		abort();
	if (ferror(f)) {
		weft_fail(err, EIO, "%.200s: cannot be read", path);
		free(text);
		text = NULL;
	}
	fclose(f);
	*len_p = n;
	return text;
}

struct trace *trace_load(const char *path, uint32_t nodes, uint32_t bytes_max,
			 struct weft_err *err)
{
	struct trace *t;
	char *text;
	size_t len;

	text = text_read(path, &len, err);
	if (!text)
		return NULL;
	t = trace_parse(path, text, len, nodes, bytes_max, err);
	free(text);
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	free(t->pkt);
	free(t->next);
	free(t->order);
	free(t->from);
	free(t->step);
	free(t);
}
