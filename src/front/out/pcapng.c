/* SPDX-License-Identifier: Apache-2.0 */
/* See pcapng.h.  Times are in picoseconds (if_tsresol 12).
 *
 * Models tell of a transmission ahead of its time; records wait in a heap until
 * no earlier one can come. */
#include "front/out/pcapng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { BLOCK_SHB = 0x0a0d0d0a, BLOCK_IDB = 1, BLOCK_EPB = 6 };
enum { OPT_END = 0, OPT_APPL = 4, OPT_NAME = 2, OPT_ABOUT = 3 };
enum { OPT_SPEED = 8, OPT_TSRESOL = 9, OPT_FCSLEN = 13 };
enum { PS_DIGITS = 12 };
#define FS_PER_PS 1000

/* A whole block in memory: header, data, padding, length once more. */
struct record {
	weft_time_t t;
	uint64_t seq; /* of equal times the first comes first */
	uint8_t *block;
	uint32_t len, room;
};
enum { HEADER = 28, TRAILER = 4, ROOM_MIN = 128, BUFFER = 1 << 18 };

struct pcapng {
	FILE *f;
	char *path;
	uint32_t n_ifaces;
	uint64_t seq;
	struct {
		VEC(struct record);
	} heap, spare; /* spare: blocks that are written */
};

/* ---- blocks ---- */

static void put16(FILE *f, uint32_t v)
{
	uint16_t x = (uint16_t)v;

	fwrite(&x, 2, 1, f);
}

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, 4, 1, f);
}

static void pad4(FILE *f, size_t n)
{
	static const uint8_t zero[4];

	fwrite(zero, 1, -n & 3, f);
}

static void option(FILE *f, uint32_t code, const void *p, size_t n)
{
	put16(f, code);
	put16(f, (uint32_t)n);
	if (n)
		fwrite(p, 1, n, f);
	pad4(f, n);
}

/* The body has been written to memory. */
static void block(FILE *f, uint32_t type, const void *body, size_t n)
{
	put32(f, type);
	put32(f, (uint32_t)n + 12);
	fwrite(body, 1, n, f);
	put32(f, (uint32_t)n + 12);
}

struct body {
	FILE *f;
	char *buf;
	size_t n;
};

static void body_open(struct body *b)
{
	b->f = open_memstream(&b->buf, &b->n);
	if (!b->f)
		abort();
}

static void body_block(struct body *b, FILE *f, uint32_t type)
{
	option(b->f, OPT_END, NULL, 0);
	fclose(b->f);
	block(f, type, b->buf, b->n);
	free(b->buf);
}

static void section(FILE *f)
{
	static const char appl[] = "weft " WEFT_VERSION;
	struct body b;

	body_open(&b);
	put32(b.f, 0x1a2b3c4d); /* byte order */
	put16(b.f, 1);
	put16(b.f, 0);
	put32(b.f, UINT32_MAX); /* length of the section: not known */
	put32(b.f, UINT32_MAX);
	option(b.f, OPT_APPL, appl, sizeof(appl) - 1);
	body_block(&b, f, BLOCK_SHB);
}

uint32_t pcapng_iface(struct pcapng *p, const struct pcapng_if *i)
{
	static const uint8_t resol = PS_DIGITS;
	struct body b;

	body_open(&b);
	put16(b.f, i->link_type);
	put16(b.f, 0);
	put32(b.f, 0); /* no limit to a record */
	option(b.f, OPT_NAME, i->name, strlen(i->name));
	option(b.f, OPT_ABOUT, i->about, strlen(i->about));
	if (i->bits_per_s)
		option(b.f, OPT_SPEED, &i->bits_per_s, 8);
	option(b.f, OPT_TSRESOL, &resol, 1);
	if (i->fcs)
		option(b.f, OPT_FCSLEN, &i->fcs, 1);
	body_block(&b, p->f, BLOCK_IDB);
	return p->n_ifaces++;
}

static void record_fill(struct record *r, uint32_t iface, uint32_t n)
{
	uint64_t ps = r->t / FS_PER_PS;
	const uint32_t head[HEADER / 4] = {
		BLOCK_EPB,    r->len, iface, (uint32_t)(ps >> 32),
		(uint32_t)ps, n,      n
	};

	memcpy(r->block, head, HEADER);
	memset(r->block + r->len - TRAILER - 4, 0, 4); /* padding */
	memcpy(r->block + r->len - TRAILER, &r->len, TRAILER);
}

/* Memory of at least r->len bytes. */
static void record_room(struct pcapng *p, struct record *r)
{
	if (p->spare.n) {
		struct record old = p->spare.at[--p->spare.n];

		r->block = old.block;
		r->room = old.room;
	}
	if (r->room >= r->len)
		return;
	free(r->block);
	r->room = r->len > ROOM_MIN ? r->len : ROOM_MIN;
	r->block = malloc(r->room);
	if (!r->block)
		abort();
}

/* ---- heap by (time, sequence) ---- */

static bool before(const struct record *a, const struct record *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

static void heap_up(struct record *h, size_t i)
{
	struct record r = h[i];

	for (; i && before(&r, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = r;
}

static void heap_down(struct record *h, size_t n)
{
	struct record r = h[0];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < n) {
		if (k + 1 < n && before(&h[k + 1], &h[k]))
			k++;
		if (!before(&h[k], &r))
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = r;
}

static void write_until(struct pcapng *p, weft_time_t now)
{
	while (p->heap.n && p->heap.at[0].t < now) {
		struct record r = p->heap.at[0];

		fwrite(r.block, 1, r.len, p->f);
		vec_push(&p->spare, r);
		p->heap.at[0] = p->heap.at[--p->heap.n];
		if (p->heap.n)
			heap_down(p->heap.at, p->heap.n);
	}
}

uint8_t *pcapng_record(struct pcapng *p, uint32_t iface, weft_time_t t,
		       uint32_t n, weft_time_t now)
{
	struct record r = { .t = t,
			    .seq = p->seq++,
			    .len = HEADER + TRAILER + ((n + 3) & ~3u) };

	write_until(p, now);
	record_room(p, &r);
	record_fill(&r, iface, n);
	vec_push(&p->heap, r);
	heap_up(p->heap.at, p->heap.n - 1);
	return r.block + HEADER;
}

/* ---- file ---- */

int pcapng_open(const char *path, struct pcapng **p_p, struct weft_err *err)
{
	struct pcapng *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->f = fopen(path, "wb");
	if (!p->f) {
		free(p);
		return weft_fail(err, errno,
				 "--capture-file %.200s: cannot write: %s",
				 path, strerror(errno));
	}
	setvbuf(p->f, NULL, _IOFBF, BUFFER);
	p->path = strdup(path);
	section(p->f);
	*p_p = p;
	return 0;
}

int pcapng_close(struct pcapng *p, struct weft_err *err)
{
	int ret = 0;

	write_until(p, WEFT_NEVER);
	if (ferror(p->f) | fclose(p->f))
		ret = weft_fail(err, EIO,
				"--capture-file %.200s: cannot write it all: "
				"is the disk full?",
				p->path);
	for (size_t i = 0; i < p->spare.n; i++)
		free(p->spare.at[i].block);
	vec_free(&p->spare);
	vec_free(&p->heap);
	free(p->path);
	free(p);
	return ret;
}
