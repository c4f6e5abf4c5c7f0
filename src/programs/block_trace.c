/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of block traces, see block_trace.h. */
#include "programs/block_trace.h"

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

enum { TRACE_OPS = 1 << 26, TRACE_SHOWN = 40 };

/* A part of the text. */
struct text {
	const char *at;
	size_t len;
};

struct reader {
	const char *label, *p, *end; /* label: name of the trace in error
				      * messages. p..end: unread part of the
				      * line */
	const char *eof;
	uint32_t line, events; /* line: number of the current line. events:
				* number of blkparse events of all kinds so
				* far */
	const struct block_attr *attr;
	enum block_format format;
	struct text device; /* device of the first request */
	struct weft_err *err;
	struct {
		VEC(struct block_op);
	} ops;
};

__attribute__((format(printf, 2, 3))) static int
block_fail(struct reader *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return weft_fail(r->err, EINVAL, "%.150s:%u: %s", r->label, r->line,
			 text);
}

/* ---- values ---- */

static int shown(struct text t)
{
	return t.len < TRACE_SHOWN ? (int)t.len : TRACE_SHOWN;
}

static bool text_is(struct text t, const char *s)
{
	return strlen(s) == t.len && !memcmp(t.at, s, t.len);
}

static bool digit(const char *p, const char *end)
{
	return p < end && isdigit((unsigned char)*p);
}

/* Reads a number of at most 18 digits.  Returns the first character behind it,
 * or NULL. */
static const char *digits(const char *p, const char *end, uint64_t *v_p)
{
	const char *from = p;

	for (*v_p = 0; digit(p, end) && p - from < 18; p++)
		*v_p = *v_p * 10 + (uint64_t)(*p - '0');
	return p == from || digit(p, end) ? NULL : p;
}

static int value(struct reader *r, struct text t, const char *what,
		 uint64_t *v_p)
{
	if (digits(t.at, t.at + t.len, v_p) != t.at + t.len)
		return block_fail(r, "%s '%.*s' is not a number", what,
				  shown(t), t.at);
	return 0;
}

/* Reads a time in seconds with up to 15 digits behind the decimal point. */
static int seconds(struct reader *r, struct text t, weft_time_t *time_p)
{
	const char *end = t.at + t.len, *p;
	weft_time_t unit = WEFT_SEC / 10;
	uint64_t whole, rest = 0;

	p = digits(t.at, end, &whole);
	if (p && p < end && *p == '.')
		for (p++; digit(p, end) && unit; p++, unit /= 10)
			rest += unit * (uint64_t)(*p - '0');
	if (p != end)
		return block_fail(r, "time '%.*s' is not a number of seconds",
				  shown(t), t.at);
	if (whole > BLOCK_SECONDS_MAX)
		return block_fail(r,
				  "time %.*s is beyond %u s: cut the trace, or "
				  "subtract its start",
				  shown(t), t.at, BLOCK_SECONDS_MAX);
	*time_p = whole * WEFT_SEC + rest;
	return 0;
}

/* ---- requests ---- */

static int op_add(struct reader *r, struct block_op op)
{
	bool data = op.code == WEFT_DISK_READ || op.code == WEFT_DISK_WRITE;

	if (op.code == WEFT_DISK_FLUSH)
		op.offset = op.length = 0;
	else if (op.offset % BLOCK_SECTOR || op.length % BLOCK_SECTOR ||
		 !op.length)
		return block_fail(r,
				  "%llu bytes at %llu are not whole sectors of "
				  "%u bytes",
				  (unsigned long long)op.length,
				  (unsigned long long)op.offset, BLOCK_SECTOR);
	if (data && op.length > BLOCK_LENGTH_MAX)
		return block_fail(r, "%llu bytes are more than %u of a request",
				  (unsigned long long)op.length,
				  BLOCK_LENGTH_MAX);
	if (r->ops.n == TRACE_OPS)
		return block_fail(r, "more than %u requests", TRACE_OPS);
	op.line = r->line;
	vec_push(&r->ops, op);
	return 0;
}

/* ---- blkparse ---- */

/* Removes the next word from the line and returns it. The word is empty at the
 * end of the line. */
static struct text word(struct reader *r)
{
	struct text t;

	while (r->p < r->end && isspace((unsigned char)*r->p))
		r->p++;
	t.at = r->p;
	while (r->p < r->end && !isspace((unsigned char)*r->p))
		r->p++;
	t.len = (size_t)(r->p - t.at);
	return t;
}

/* Returns true for MAJOR,MINOR. */
static bool is_device(struct text t)
{
	const char *end = t.at + t.len, *p;
	uint64_t v;

	p = digits(t.at, end, &v);
	return p && p < end && *p == ',' && digits(p + 1, end, &v) == end;
}

/* Returns true if lines of `device` are to be read, false if the user has named
 * another device, or a negative error. If the user has named no device, all
 * lines must have the same device, because blkparse lists a request to a
 * partition also as a request to the disk, and the request would count
 * twice. */
static int device_check(struct reader *r, struct text device)
{
	if (*r->attr->device)
		return text_is(device, r->attr->device);
	if (!r->device.len)
		r->device = device;
	if (r->device.len == device.len &&
	    !memcmp(r->device.at, device.at, device.len))
		return true;
	return block_fail(r,
			  "a second device, %.*s after %.*s: name one with "
			  "device=%.*s",
			  shown(device), device.at, shown(r->device),
			  r->device.at, shown(r->device), r->device.at);
}

/* Reads "SECTOR + SECTORS". A request without these words, such as a FLUSH, has
 * length 0. */
static int blk_place(struct reader *r, struct block_op *op)
{
	struct text sector = word(r), plus = word(r), n;
	uint64_t max = UINT64_MAX / BLOCK_SECTOR / 2;

	op->offset = op->length = 0;
	if (!text_is(plus, "+"))
		return 0;
	n = word(r);
	if (value(r, sector, "sector", &op->offset) ||
	    value(r, n, "number of sectors", &op->length))
		return -EINVAL;
	if (op->offset > max || op->length > max)
		return block_fail(r, "sector %.*s + %.*s is beyond any disk",
				  shown(sector), sector.at, shown(n), n.at);
	op->offset *= BLOCK_SECTOR;
	op->length *= BLOCK_SECTOR;
	return 0;
}

/* Adds the requests that a line's letters encode. F before the operation's
 * letter means a FLUSH before the operation. F after that letter means FUA. */
static int blk_request(struct reader *r, struct text kind, struct block_op op)
{
	static const char letters[] = "RWD";
	static const uint8_t codes[] = { WEFT_DISK_READ, WEFT_DISK_WRITE,
					 WEFT_DISK_TRIM };
	bool flush = *kind.at == 'F';
	size_t i = 0;
	const char *l;

	while (i < kind.len && kind.at[i] == 'F')
		i++;
	if (flush && op_add(r, (struct block_op){ .time = op.time,
						  .code = WEFT_DISK_FLUSH }))
		return -EINVAL;
	if (!op.length || i == kind.len || kind.at[i] == 'N')
		return 0;
	l = strchr(letters, kind.at[i]);
	if (!l || !*l)
		return block_fail(r, "'%.*s' is not a kind of request",
				  shown(kind), kind.at);
	op.code = codes[l - letters];
	if (op.code == WEFT_DISK_WRITE &&
	    memchr(kind.at + i, 'F', kind.len - i))
		op.flags = WEFT_DISK_FUA;
	return op_add(r, op);
}

/* Reads one line. Returns 0, 1 if the summary begins, or a negative error. */
static int blk_line(struct reader *r)
{
	static const char *const names[] = { "processor", "sequence number" };
	struct text device = word(r), t, kind;
	struct block_op op = { 0 };
	uint64_t v;
	int ret;

	if (!device.len)
		return 0;
	if ((device.len > 3 && !memcmp(device.at, "CPU", 3)) ||
	    text_is(device, "Total"))
		return 1;
	if (!is_device(device))
		return block_fail(
			r,
			"'%.*s' is not a device: a line is DEVICE CPU "
			"SEQUENCE SECONDS PID EVENT KIND SECTOR + "
			"SECTORS",
			shown(device), device.at);
	for (size_t i = 0; i < 2; i++)
		if (value(r, word(r), names[i], &v))
			return -EINVAL;
	if (seconds(r, word(r), &op.time) || value(r, word(r), "process", &v))
		return -EINVAL;
	t = word(r);
	kind = word(r);
	if (!kind.len)
		return block_fail(r, "the line ends in front of its request");
	r->events++;
	if (t.len != 1 || *t.at != r->attr->event)
		return 0;
	ret = device_check(r, device);
	if (ret <= 0)
		return ret;
	return blk_place(r, &op) ? -EINVAL : blk_request(r, kind, op);
}

/* ---- values with commas ---- */

/* Removes the next value from the line, without blanks around it. Returns false
 * if the line has no further value. */
static bool field(struct reader *r, struct text *t_p)
{
	const char *comma, *stop;

	if (!r->p)
		return false;
	comma = memchr(r->p, ',', (size_t)(r->end - r->p));
	stop = comma ? comma : r->end;
	while (r->p < stop && isspace((unsigned char)*r->p))
		r->p++;
	t_p->at = r->p;
	while (stop > t_p->at && isspace((unsigned char)stop[-1]))
		stop--;
	t_p->len = (size_t)(stop - t_p->at);
	r->p = comma ? comma + 1 : NULL;
	return true;
}

static int csv_code(struct reader *r, struct text t, struct block_op *op)
{
	static const struct {
		const char *name;
		uint8_t code, flags;
	} codes[] = {
		{ "R", WEFT_DISK_READ, 0 },
		{ "W", WEFT_DISK_WRITE, 0 },
		{ "F", WEFT_DISK_FLUSH, 0 },
		{ "WF", WEFT_DISK_WRITE, WEFT_DISK_FUA },
		{ "T", WEFT_DISK_TRIM, 0 },
		{ "Z", WEFT_DISK_ZERO, 0 },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (text_is(t, codes[i].name)) {
			op->code = codes[i].code;
			op->flags = codes[i].flags;
			return 0;
		}
	return block_fail(r, "operation '%.*s' is none of R, W, WF, F, T and Z",
			  shown(t), t.at);
}

static int csv_line(struct reader *r)
{
	struct text time, code, at, len, more;
	struct block_op op = { 0 };

	field(r, &time);
	if (!time.len && !r->p)
		return 0;
	if (text_is(time, "time") && !r->ops.n)
		return 0;
	if (!field(r, &code) || !field(r, &at) || !field(r, &len))
		return block_fail(r, "a line is TIME,OPERATION,OFFSET,BYTES");
	if (field(r, &more))
		return block_fail(r, "'%.*s' is one value too many",
				  shown(more), more.at);
	if (seconds(r, time, &op.time) || csv_code(r, code, &op))
		return -EINVAL;
	if (op.code == WEFT_DISK_FLUSH && !at.len && !len.len)
		return op_add(r, op);
	if (value(r, at, "offset", &op.offset) ||
	    value(r, len, "length", &op.length))
		return -EINVAL;
	return op_add(r, op);
}

/* ---- the whole text ---- */

/* Returns the format of the text. A line of blkparse begins with a device and
 * the number of a processor. */
static enum block_format format_of(struct reader *r)
{
	struct reader probe = *r;
	struct text device = word(&probe), cpu = word(&probe);

	return is_device(device) && digit(cpu.at, probe.end) ? BLOCK_BLKPARSE
							     : BLOCK_CSV;
}

static int line_read(struct reader *r, const char *at, const char *stop)
{
	const char *hash;

	r->p = at;
	r->end = stop;
	if (memchr(at, '\0', (size_t)(stop - at)))
		return block_fail(r, "this is not text");
	hash = memchr(at, '#', (size_t)(stop - at));
	if (r->format != BLOCK_BLKPARSE && hash)
		r->end = hash;
	if (r->format == BLOCK_AUTO) {
		while (at < r->end && isspace((unsigned char)*at))
			at++;
		if (at == r->end)
			return 0;
		r->format = format_of(r);
		r->end = r->format == BLOCK_BLKPARSE ? stop : r->end;
	}
	return r->format == BLOCK_BLKPARSE ? blk_line(r) : csv_line(r);
}

static int lines_read(struct reader *r)
{
	for (const char *at = r->p; at < r->eof;) {
		const char *nl = memchr(at, '\n', (size_t)(r->eof - at));
		const char *stop = nl ? nl : r->eof;
		int ret;

		r->line++;
		ret = line_read(r, at, stop);
		if (ret)
			return ret < 0 ? ret : 0;
		at = stop + 1;
	}
	return 0;
}

static int op_cmp(const void *a, const void *b)
{
	const struct block_op *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	/* Sorts the FLUSH of a line before the other requests of the line. */
	return (q->code == WEFT_DISK_FLUSH) - (p->code == WEFT_DISK_FLUSH);
}

struct block_trace *block_trace_parse(const char *label, const char *text,
				      size_t len, const struct block_attr *attr,
				      struct weft_err *err)
{
	struct reader r = { .label = label,
			    .p = text,
			    .eof = text + len,
			    .attr = attr,
			    .format = attr->format,
			    .err = err };
	struct block_trace *t = NULL;
	int ret = lines_read(&r);

	if (!ret && !r.ops.n)
		ret = r.events ? block_fail(&r,
					    "none of %u events is a request "
					    "with event=%c: choose another one",
					    r.events, attr->event)
			       : block_fail(&r, "no request");
	if (!ret) {
		qsort(r.ops.at, r.ops.n, sizeof(*r.ops.at), op_cmp);
		t = malloc(sizeof(*t));
		if (!t)
			abort();
		*t = (struct block_trace){ r.ops.at, (uint32_t)r.ops.n };
		r.ops.at = NULL;
	}
	vec_free(&r.ops);
	return t;
}

/* Opens a regular file, because a pipe yields its text once and a sweep reads
 * the trace for every point. */
static FILE *text_open(const char *path, struct weft_err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		weft_fail(err, errno, "%.200s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		weft_fail(err, EINVAL,
			  "%.200s: not a file: a trace is read several times, "
			  "write it to a file first",
			  path);
		close(fd);
		return NULL;
	}
	return fdopen(fd, "r");
}

struct block_trace *block_trace_load(const char *path,
				     const struct block_attr *attr,
				     struct weft_err *err)
{
	FILE *f = text_open(path, err);
	struct block_trace *t = NULL;
	char *text = NULL;
	size_t len = 0;
	ssize_t got;

	if (!f)
		return NULL;
	/* Reads the whole file as one record, because a text file has no byte
	 * 0. */
	got = getdelim(&text, &len, '\0', f);
	if (ferror(f))
		weft_fail(err, EIO, "%.200s: cannot be read", path);
	else
		t = block_trace_parse(path, got < 0 ? "" : text,
				      got < 0 ? 0 : (size_t)got, attr, err);
	fclose(f);
	free(text);
	return t;
}

void block_trace_free(struct block_trace *t)
{
	if (t)
		free(t->op);
	free(t);
}
