/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pcapng files, see pcapng.h. Times are in units of 100 ps (if_tsresol
 * 10), because Wireshark reads finer units wrongly. Wireshark multiplies the
 * part below a second by 10^9 in 64 bits, which overflows at 18.4 ms when the
 * unit is 1 ps.
 *
 * Models report some transmissions before they happen and others afterwards.
 * Therefore records wait in memory until no earlier record can be reported.
 * They are sorted in batches. */
#include "front/out/pcapng.h"
#include "front/out/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "base/vec.h"

enum { BLOCK_SHB = 0x0a0d0d0a, BLOCK_IDB = 1, BLOCK_EPB = 6 };
enum { OPT_END = 0, OPT_APPL = 4, OPT_NAME = 2, OPT_ABOUT = 3 };
enum { OPT_SPEED = 8, OPT_TSRESOL = 9, OPT_FCSLEN = 13 };
enum { DIGITS = 10, FS_PER_UNIT = 100000 };

/* A whole block in memory: header, data, padding, and its length at the end. */
struct record {
	weft_time_t t;
	size_t at; /* offset of the block in mem */
	uint32_t len;
};
enum { HEADER = 28, TRAILER = 4, BUFFER = 1 << 18 };
/* Number of bytes of new records after which all lines report their frames.
 * Then no earlier record can follow, and the records are written in order. The
 * number is WAIT, or ROOM_LINE for each line if that is more. */
enum { WAIT = 1 << 18, ROOM_LINE = 1 << 9 };

struct pcapng {
	struct out_file out;
	FILE *f; /* stream of `out` */
	uint32_t n_ifaces;
	/* `mem` holds the blocks that wait, in order of reports. `old` is spare
	 * memory for keep(). */
	struct blocks {
		VEC(uint8_t);
	} mem, old;
	size_t full;
	struct {
		VEC(struct record);
	} wait;
	struct record *turn; /* second array for sorting */
	size_t n_turn;
};

/* ---- blocks ---- */

static void pcapng_put16(FILE *f, uint32_t v)
{
	uint16_t x = (uint16_t)v;

	fwrite(&x, 2, 1, f);
}

static void pcapng_put32(FILE *f, uint32_t v)
{
	fwrite(&v, 4, 1, f);
}

static void pcapng_option(FILE *f, uint32_t code, const void *p, size_t n)
{
	static const uint8_t zero[4];

	pcapng_put16(f, code);
	pcapng_put16(f, (uint32_t)n);
	if (n)
		fwrite(p, 1, n, f);
	fwrite(zero, 1, -n & 3, f);
}

/* Writes a block whose body is in memory. */
static void block(FILE *f, uint32_t type, const void *body, size_t n)
{
	pcapng_put32(f, type);
	pcapng_put32(f, (uint32_t)n + 12);
	fwrite(body, 1, n, f);
	pcapng_put32(f, (uint32_t)n + 12);
}

struct body {
	FILE *f;
	char *buf;
	size_t n;
};

static void body_block(struct body *b, FILE *f, uint32_t type)
{
	pcapng_option(b->f, OPT_END, NULL, 0);
	fclose(b->f);
	block(f, type, b->buf, b->n);
	free(b->buf);
}

uint32_t pcapng_iface(struct pcapng *p, const struct pcapng_if *i)
{
	static const uint8_t resol = DIGITS;
	struct body b;

	b.f = need(open_memstream(&b.buf, &b.n));
	pcapng_put16(b.f, i->link_type);
	pcapng_put16(b.f, 0);
	pcapng_put32(b.f, 0); /* 0: records have any length */
	pcapng_option(b.f, OPT_NAME, i->name, strlen(i->name));
	pcapng_option(b.f, OPT_ABOUT, i->about, strlen(i->about));
	if (i->bits_per_s)
		pcapng_option(b.f, OPT_SPEED, &i->bits_per_s, 8);
	pcapng_option(b.f, OPT_TSRESOL, &resol, 1);
	if (i->fcs)
		pcapng_option(b.f, OPT_FCSLEN, &i->fcs, 1);
	body_block(&b, p->f, BLOCK_IDB);
	return p->n_ifaces++;
}

/* ---- records ---- */

static uint8_t *mem_room(struct pcapng *p, size_t n)
{
	size_t at = p->mem.n;

	if (at + n > p->mem.cap) {
		p->mem.cap = 2 * (at + n) + WAIT;
		p->mem.at = need(realloc(p->mem.at, p->mem.cap));
	}
	p->mem.n += n;
	return p->mem.at + at;
}

uint8_t *pcapng_record(struct pcapng *p, uint32_t iface, weft_time_t t,
		       uint32_t n, uint32_t all)
{
	struct record r = { .t = t,
			    .at = p->mem.n,
			    .len = HEADER + TRAILER + ((n + 3) & ~3u) };
	uint8_t *block = mem_room(p, r.len);
	uint64_t at = t / FS_PER_UNIT;
	const uint32_t head[HEADER / 4] = { BLOCK_EPB,	  r.len,
					    iface,	  (uint32_t)(at >> 32),
					    (uint32_t)at, n,
					    all };

	memcpy(block, head, HEADER);
	memset(block + r.len - TRAILER - 4, 0, 4); /* padding */
	memcpy(block + r.len - TRAILER, &r.len, TRAILER);
	vec_push(&p->wait, r);
	return block + HEADER;
}

bool pcapng_full(const struct pcapng *p)
{
	return p->mem.n >= p->full;
}

bool pcapng_over(const struct pcapng *p)
{
	return p->out.over;
}

/* Radix sort by time, DIGIT bits in each pass. Records of equal time keep their
 * order. */
enum { DIGIT = 11 };

static void sort_pass(const struct record *from, struct record *to, size_t n,
		      weft_time_t least, uint32_t shift)
{
	uint32_t at[1 << DIGIT] = { 0 }, sum = 0, k;

	for (size_t i = 0; i < n; i++)
		at[(from[i].t - least) >> shift & ((1 << DIGIT) - 1)]++;
	for (size_t i = 0; i < 1 << DIGIT; i++) {
		k = at[i];
		at[i] = sum;
		sum += k;
	}
	for (size_t i = 0; i < n; i++) {
		k = (from[i].t - least) >> shift & ((1 << DIGIT) - 1);
		to[at[k]++] = from[i];
	}
}

static void pcapng_sort(struct pcapng *p)
{
	weft_time_t least = WEFT_NEVER, most = 0;
	struct record *turn;

	vec_foreach (&p->wait, struct record, r) {
		least = r->t < least ? r->t : least;
		most = r->t > most ? r->t : most;
	}
	if (p->n_turn < p->wait.cap)
		p->turn = need(
			reallocarray(p->turn, p->wait.cap, sizeof(*p->turn)));
	p->n_turn = p->wait.cap;
	for (uint32_t k = 0; k < 64 && (most - least) >> k; k += DIGIT) {
		sort_pass(p->wait.at, p->turn, p->wait.n, least, k);
		turn = p->wait.at;
		p->wait.at = p->turn;
		p->turn = turn;
	}
}

/* Removes the first `done` records and keeps the others. */
static void keep(struct pcapng *p, size_t done)
{
	size_t n = p->wait.n - done, room = p->n_ifaces * ROOM_LINE;
	struct blocks from = p->mem;

	p->mem = p->old;
	p->mem.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct record r = p->wait.at[done + i];

		memcpy(mem_room(p, r.len), from.at + r.at, r.len);
		r.at = p->mem.n - r.len;
		p->wait.at[i] = r;
	}
	p->wait.n = n;
	p->full = p->mem.n + (room > WAIT ? room : WAIT);
	p->old = from;
}

void pcapng_write(struct pcapng *p, weft_time_t until)
{
	size_t done = 0;
	bool over;

	if (!p->wait.n)
		return;
	pcapng_sort(p);
	over = out_file_full(&p->out);
	while (done < p->wait.n && p->wait.at[done].t < until) {
		struct record *r = &p->wait.at[done++];

		if (!over)
			fwrite_unlocked(p->mem.at + r->at, 1, r->len, p->f);
	}
	keep(p, done);
}

/* ---- file ---- */

int pcapng_open(const char *path, uint64_t limit, struct pcapng **p_p,
		struct weft_err *err)
{
	static const char appl[] = "weft " WEFT_VERSION;
	struct pcapng *p = calloc(1, sizeof(*p));
	struct body b;

	if (!p)
		abort();
	if (out_file_open(&p->out, "--capture-file", path, err)) {
		free(p);
		return -EINVAL;
	}
	p->f = p->out.f;
	p->out.limit = limit;
	setvbuf(p->f, NULL, _IOFBF, BUFFER);
	p->full = WAIT;
	b.f = need(open_memstream(&b.buf, &b.n));
	/* number from which readers detect the byte order */
	pcapng_put32(b.f, 0x1a2b3c4d);
	pcapng_put16(b.f, 1);
	pcapng_put16(b.f, 0);
	pcapng_put32(b.f, UINT32_MAX); /* length of the section is unknown */
	pcapng_put32(b.f, UINT32_MAX);
	pcapng_option(b.f, OPT_APPL, appl, sizeof(appl) - 1);
	body_block(&b, p->f, BLOCK_SHB);
	*p_p = p;
	return 0;
}

int pcapng_close(struct pcapng *p, bool keep, struct weft_err *err)
{
	int ret;

	pcapng_write(p, WEFT_NEVER);
	ret = out_file_close(&p->out, keep, err);
	vec_free(&p->wait);
	vec_free(&p->mem);
	vec_free(&p->old);
	free(p->turn);
	free(p);
	return ret;
}
