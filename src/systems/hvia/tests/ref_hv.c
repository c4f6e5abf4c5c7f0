/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of HVIA-GE's timing: see ref_hv.h. In every clock each part checks
 * whether its present step has ended. */
#include "ref_hv.h"

#include <assert.h>
#include <string.h>

#define NS 1000000ull

enum { FRAMES = 1024, PAGE = 4096 };

struct piece {
	uint32_t addr, len;
};

struct frame {
	uint32_t msg, len;
	bool first, last;
	/* clock in which the Tx descriptor can be handed to the MAC */
	uint64_t ready;
	uint64_t polled; /* fs */
};

struct job {
	struct piece p[2];
	uint32_t n, i;
	uint64_t ready; /* clock */
	bool end, empty, last;
	uint32_t msg;
};

static struct {
	struct ref_hv *r;
	uint64_t now;
	/* sender */
	enum { SCAN, CHECKED, FETCH, FULL, LAST, COMPLETED } tx;
	uint64_t tx_until;
	uint32_t tx_msg, off, seg, seg_off, want, got;
	struct piece tp[2];
	uint32_t n_tp;
	/* GEC and line */
	struct frame frame[FRAMES];
	uint32_t put, taken, arrived, left;
	uint64_t sent[FRAMES]; /* fs */
	/* receiver */
	enum { IDLE, HEADER, ACCEPT, FOUND, HAND, AHEAD, HEAD, STALL } rx;
	uint64_t rx_until;
	uint32_t rx_seg, rx_off, pos, n;
	bool packet, fetched, closing, ahead_known;
	struct piece rp[2], ap[2];
	uint32_t n_rp, n_ap;
	/* message whose descriptor is at the head of the queue */
	uint32_t head;
	bool prep;
	/* writes */
	struct job job[2 * FRAMES];
	uint32_t jobs, written, data_jobs;
	uint64_t wr_until;
	bool writing;
	/* bookkeeping */
	struct job book[FRAMES];
	uint32_t books, booked;
	enum { B_IDLE, B_COMPL, B_WRITE } bk;
	uint64_t bk_until;
} s;

uint64_t ref_hv_edge(uint64_t cycle)
{
	return (uint64_t)((unsigned __int128)cycle * 500000000000ull / 33000);
}

static uint32_t beats(const struct piece *p)
{
	return (p->addr % 8 + p->len + 7) / 8;
}

/* Translates an address into two pieces at most. Returns the number of clocks
 * of the look-up. */
static uint32_t translate(uint32_t addr, uint32_t len, struct piece *p,
			  uint32_t *n)
{
	uint32_t room = PAGE - addr % PAGE;

	p[0] = (struct piece){ addr, len < room ? len : room };
	*n = 1;
	if (len <= room)
		return 30;
	p[1] = (struct piece){ addr + room, len - room };
	*n = 2;
	return 39;
}

/* ---- sender ---- */

static struct ref_hv_msg *tx_of(void)
{
	return &s.r->msg[s.tx_msg];
}

static void next_packet(void)
{
	s.want = tx_of()->len - s.off;
	if (s.want > REF_HV_PAYLOAD)
		s.want = REF_HV_PAYLOAD;
	s.got = 0;
	s.tx = FETCH;
}

static uint32_t buffers(void)
{
	return s.put - s.left;
}

/* Fetches the next bytes of the packet in steps: address, Tx buffer, bytes. */
static void fetch(void)
{
	const struct ref_hv_msg *m = tx_of();
	uint32_t len;

	if (!s.n_tp && s.got < s.want) { /* address first */
		while (s.seg_off == m->src[s.seg].len) {
			s.seg++;
			s.seg_off = 0;
		}
		len = m->src[s.seg].len - s.seg_off;
		if (len > s.want - s.got)
			len = s.want - s.got;
		s.tx_until = s.now + translate(m->src[s.seg].addr + s.seg_off,
					       len, s.tp, &s.n_tp);
		return;
	}
	if (!s.got && buffers() >= 2)
		return;
	for (uint32_t i = 0; i < s.n_tp; i++) {
		s.tx_until = (i ? s.tx_until : s.now) + 35 + beats(&s.tp[i]);
		s.got += s.tp[i].len;
		s.seg_off += s.tp[i].len;
	}
	s.n_tp = 0;
	if (s.got == s.want)
		s.tx = FULL;
}

static void full(void)
{
	struct frame *f = &s.frame[s.put++];

	assert(s.put < FRAMES);
	*f = (struct frame){ .msg = s.tx_msg,
			     .len = s.want,
			     .first = !s.off,
			     .ready = s.now + 10 };
	s.off += s.want;
	f->last = s.off == tx_of()->len;
	if (!f->last) {
		next_packet();
		return;
	}
	s.tx = LAST;
	s.tx_until = s.now + 4;
}

static bool tx_step(void)
{
	const struct ref_hv_msg *m = tx_of();

	if (s.now < s.tx_until || s.tx_msg == s.r->n || s.now < s.r->start)
		return false;
	switch (s.tx) {
	case SCAN:
		s.tx = CHECKED;
		s.tx_until = s.now + 4 + 30 + 43 + 4;
		if (m->n_src > 2)
			s.tx_until += (m->n_src + 1) / 4 * 43;
		return true;
	case CHECKED:
		s.off = s.seg = s.seg_off = 0;
		next_packet();
		return true;
	case FETCH:
		fetch();
		return s.tx == FULL || s.now < s.tx_until;
	case FULL:
		full();
		return true;
	case LAST:
		s.tx = COMPLETED;
		s.tx_until = s.now + 8 + 8;
		return true;
	case COMPLETED:
		s.tx = SCAN;
		s.tx_msg++;
		return true;
	}
	return false;
}

/* ---- GEC, line ---- */

static void line(void)
{
	uint64_t at, wire;
	struct frame *f;

	while (s.left < s.taken && s.sent[s.left] <= ref_hv_edge(s.now))
		s.left++;
	if (s.taken == s.put || s.frame[s.taken].ready > s.now)
		return;
	f = &s.frame[s.taken];
	at = ref_hv_edge(f->ready);
	if (s.taken && s.sent[s.taken - 1] > ref_hv_edge(s.now))
		return;
	if (s.taken && s.sent[s.taken - 1] > at)
		at = s.sent[s.taken - 1];
	if (f->first)
		s.r->msg[f->msg].txd = at;
	wire = (8 + (f->len < 18 ? 60 : f->len + 42) + 4) * 8 * NS;
	at += ref_hv_edge(6) + ref_hv_edge(14) + ref_hv_edge(16) + 266 * NS;
	s.sent[s.taken++] = at + wire + 96 * NS;
	f->polled = at + wire + 410 * NS + 668 * NS + ref_hv_edge(18) +
		    ref_hv_edge(12) + ref_hv_edge(4);
}

/* ---- receiver ---- */

static void skip_segments(void)
{
	const struct ref_hv_msg *m = &s.r->msg[s.head];

	while (s.rx_seg < m->n_dst && s.rx_off == m->dst[s.rx_seg].len) {
		s.rx_seg++;
		s.rx_off = 0;
	}
}

/* Returns the number of clocks to translate the next `len` bytes, or 0 if no
 * bytes are left. */
static uint32_t find(uint32_t len, struct piece *p, uint32_t *n)
{
	const struct ref_hv_msg *m = &s.r->msg[s.head];

	skip_segments();
	if (s.rx_seg == m->n_dst)
		return 0;
	if (len > m->dst[s.rx_seg].len - s.rx_off)
		len = m->dst[s.rx_seg].len - s.rx_off;
	return translate(m->dst[s.rx_seg].addr + s.rx_off, len, p, n);
}

static void ahead(void)
{
	uint32_t c = find(REF_HV_PAYLOAD, s.ap, &s.n_ap);

	s.ahead_known = c;
	s.rx = AHEAD;
	s.rx_until = s.now + c;
}

static void push(const struct job *j)
{
	s.job[s.jobs] = *j;
	s.job[s.jobs++].ready = s.now + (j->n ? 2 : 0);
	s.data_jobs += !!j->n;
}

static void end_of_packet(const struct frame *f)
{
	push(&(struct job){
		.end = true, .empty = !s.n, .last = f->last, .msg = f->msg });
	s.packet = false;
	if (f->last) {
		s.closing = true;
		s.rx = IDLE;
	} else {
		ahead();
	}
}

static void hand(const struct frame *f)
{
	struct job j = { .msg = f->msg };

	if (s.data_jobs == 2)
		return;
	for (uint32_t i = 0; i < s.n_rp && s.pos < s.n; i++) {
		j.p[j.n] = s.rp[i];
		if (j.p[j.n].len > s.n - s.pos)
			j.p[j.n].len = s.n - s.pos;
		s.pos += j.p[j.n].len;
		s.rx_off += j.p[j.n].len;
		j.n++;
	}
	push(&j);
	if (s.pos == s.n) {
		end_of_packet(f);
		return;
	}
	s.rx_until = s.now + find(s.n - s.pos, s.rp, &s.n_rp);
}

static void fetch_head(void)
{
	s.rx = HEAD;
	s.rx_until = s.now + 30 + 43 + 4;
}

static void accept(const struct frame *f)
{
	if (s.closing) {
		s.rx = STALL;
		return;
	}
	if (f->first && !s.fetched) {
		fetch_head();
		return;
	}
	s.n = f->len;
	s.pos = 0;
	s.rx = FOUND;
	s.rx_until = s.now + 1;
}

static bool rx_step(void)
{
	const struct frame *f = &s.frame[s.arrived ? s.arrived - 1 : 0];

	if (s.now < s.rx_until)
		return false;
	switch (s.rx) {
	case IDLE:
		f = &s.frame[s.arrived];
		if (s.arrived < s.taken && f->polled <= ref_hv_edge(s.now)) {
			if (f->last)
				s.r->msg[f->msg].poll = f->polled;
			s.arrived++;
			s.packet = true;
			s.rx = HEADER;
			s.rx_until = s.now + 16 + 12;
			return true;
		}
		if (!s.prep)
			return false;
		s.prep = false;
		if (s.fetched || s.head == s.r->n)
			return false;
		fetch_head();
		return true;
	case HEADER:
		s.rx = ACCEPT;
		return true;
	case STALL:
	case ACCEPT:
		if (s.rx == STALL && s.closing)
			return false;
		accept(f);
		return s.rx != STALL;
	case FOUND:
		if (!s.n) {
			end_of_packet(f);
			return true;
		}
		assert(s.ahead_known);
		s.ahead_known = false;
		memcpy(s.rp, s.ap, sizeof(s.rp));
		s.n_rp = s.n_ap;
		s.rx = HAND;
		return true;
	case HAND: {
		uint32_t before = s.jobs;

		hand(f);
		return s.jobs != before;
	}
	case AHEAD:
		s.rx = s.packet ? ACCEPT : IDLE;
		return true;
	case HEAD:
		s.fetched = true;
		s.rx_seg = s.rx_off = 0;
		ahead();
		return true;
	}
	return false;
}

static bool write_step(void)
{
	struct job *j = &s.job[s.written];

	if (s.written == s.jobs || s.now < s.wr_until || s.now < j->ready)
		return false;
	if (s.writing) {
		s.writing = false;
		j->i++;
	}
	if (j->i < j->n) {
		s.writing = true;
		s.wr_until = s.now + 7 + beats(&j->p[j->i]);
		return true;
	}
	s.data_jobs -= !!j->n;
	if (j->end) {
		s.book[s.books] = *j;
		s.book[s.books++].ready = s.now + (j->empty ? 6 : 26);
	}
	s.written++;
	return true;
}

static bool book_step(void)
{
	struct job *j = &s.book[s.booked];
	struct ref_hv_msg *m = &s.r->msg[j->msg];

	if (s.booked == s.books || s.now < s.bk_until || s.now < j->ready)
		return false;
	switch (s.bk) {
	case B_IDLE:
		if (!j->last) {
			s.booked++;
			return true;
		}
		m->data = ref_hv_edge(s.now);
		s.bk = B_COMPL;
		s.bk_until = s.now + 8;
		return true;
	case B_COMPL:
		s.bk = B_WRITE;
		s.bk_until = s.now + 8;
		s.ahead_known = false;
		return true;
	case B_WRITE:
		s.fetched = s.closing = false;
		s.head++;
		m->done = ref_hv_edge(s.now + 20);
		s.bk = B_IDLE;
		s.prep = true;
		s.booked++;
		return true;
	}
	return false;
}

/* Records that the head descriptor and the address of its first bytes are
 * known. */
static void receive_ready(void)
{
	s.fetched = true;
	ahead();
	s.rx_until = 0;
	s.rx = IDLE;
}

void ref_hv_run(struct ref_hv *r)
{
	memset(&s, 0, sizeof(s));
	s.r = r;
	s.now = r->start;
	receive_ready();
	while (s.booked < s.put || s.tx_msg < r->n) {
		bool more = true;

		line();
		while (more) {
			more = book_step();
			more |= write_step();
			more |= rx_step();
			more |= tx_step();
		}
		s.now++;
	}
}
