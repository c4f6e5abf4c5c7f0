/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.crowd: many light processes of one node use its Host Port at the
 * same time, with instructions of all kinds (hostport.md 7, 13.1 T01).
 *
 * Each process has one instruction under way.  Every instruction has a number,
 * which travels in its tag; two bits remember that its issuer was notified of
 * it and that its target was (message, or notification of the access), so that
 * one that is lost, or executed twice, is seen.  What it did to memory is
 * compared as well.
 *
 *   messages   to any process
 *   RMA        to a line of its own in the window of one of a few servers */
#include <errno.h>
#include <string.h>

#include "ulib/hostport_crowd.h"
#include "work/work.h"

enum kind {
	FAST_SEND,
	SEND,
	FAST_PUT,
	PUT,
	PUT_BYTES,
	FAST_GET,
	GET,
	FAA,
	CAS,
	KINDS
};
static const char *const kind_name[KINDS] = {
	"fast_send", "send", "fast_put", "put", "put_bytes",
	"fast_get",  "get",  "faa",	 "cas",
};

/* Words of a line. */
enum { W_DATA, W_BYTES = 3, W_FAA = 6, W_CAS = 7, LINE_WORDS = 8 };
enum { WIN_LINES = HPORT_CROWD_WINS, WIN_OWN = HPORT_CROWD_WINS + 1 };

struct crowd;

struct member {
	struct crowd *of;
	uint32_t id, next; /* next: instruction of its own */
	uint32_t expect;   /* notifications as a target that are to come */
	bool busy;
	uint64_t added; /* sum of its FAAs */
	uint64_t *own;	/* a page that its window 17 shows; NULL: none */
};

struct crowd {
	uint32_t processes, servers, windows, cpus;
	uint64_t instructions;
	struct work w;
	struct hport_crowd hp;
	struct hport_peer to;
	struct member *m;
	uint64_t **lines; /* of servers */
	uint64_t *done, *executed;
	uint64_t n_done, n_executed, n_kind[KINDS];
	uint64_t accepted, rejected;
};

/* ---- what an instruction is -------------------------------------------- */

static uint32_t quota(const struct crowd *a, uint32_t id)
{
	return (uint32_t)(a->instructions / a->processes) +
	       (id < a->instructions % a->processes);
}

static uint64_t number(const struct crowd *a, uint32_t id, uint32_t k)
{
	return (uint64_t)k * a->processes + id;
}

static uint64_t draw(uint64_t num, uint32_t what)
{
	return work_mix(num * 4 + what);
}

static enum kind kind_of(const struct crowd *a, uint64_t num)
{
	enum kind k = draw(num, 0) % KINDS;

	if (num % a->processes < a->windows)
		return k;
	return k == PUT ? FAST_PUT : k == GET ? FAST_GET : k;
}

static uint32_t target_of(const struct crowd *a, uint64_t num)
{
	if (kind_of(a, num) <= SEND)
		return (uint32_t)(draw(num, 1) % a->processes);
	return (uint32_t)(num % a->processes % a->servers);
}

/* Words that it carries or fetches. */
static uint32_t words_of(const struct crowd *a, uint64_t num)
{
	static const uint8_t most[KINDS] = { 5, 32, 3, 6, 1, 3, 6, 1, 1 };

	return 1 + (uint32_t)(draw(num, 2) % most[kind_of(a, num)]);
}

static uint64_t *line_of(const struct crowd *a, uint32_t id)
{
	return a->lines[id % a->servers] + (size_t)id / a->servers * LINE_WORDS;
}

/* ---- posting ----------------------------------------------------------- */

static int post_message(struct member *m, struct hport *p, uint64_t num,
			const struct hport_peer *to, struct hport_tag tag)
{
	uint32_t n = words_of(m->of, num);
	uint64_t w[5];

	if (kind_of(m->of, num) == SEND) {
		work_fill((uint8_t *)p->sdr + HPORT_CROWD_SDR, n, draw(num, 3));
		return hport_send(p, to, HPORT_MORE, tag, HPORT_CROWD_SDR,
				  8ull * n);
	}
	work_fill(w, n, draw(num, 3));
	return hport_fast_send(p, to, HPORT_MORE, tag, w, n);
}

static int post_rma(struct member *m, struct hport *p, uint64_t num,
		    const struct hport_peer *to, struct hport_tag tag)
{
	struct crowd *a = m->of;
	uint32_t n = words_of(a, num), flags = HPORT_MORE | HPORT_ACK;
	struct hport_far far = { WIN_LINES, 0,
				 (uint64_t)m->id / a->servers * 64 };
	uint64_t *line = line_of(a, m->id), w[3];

	work_fill(w, 3, draw(num, 3));
	switch (kind_of(a, num)) {
	case FAST_PUT:
		return hport_fast_put(p, to, flags, tag, &far, w, n);
	case PUT:
		work_fill(m->own, n, draw(num, 3));
		return hport_put(p, to, flags, tag, &far, WIN_OWN, 0, 8ull * n);
	case PUT_BYTES:
		far.off += 8 * W_BYTES;
		line[W_BYTES] = ~w[0];
		return hport_put_bytes(p, to, flags, tag, &far, w[0], 0x5a);
	case FAST_GET:
		return hport_fast_get(p, to, flags, tag, &far, n);
	case GET:
		memset(m->own, 0, 8ull * n);
		return hport_get(p, to, flags, tag, &far, WIN_OWN, 0, 8ull * n);
	case FAA:
		far.off += 8 * W_FAA;
		m->added += w[0];
		return hport_faa(p, to, flags, tag, &far, w[0]);
	default:
		far.off += 8 * W_CAS;
		return hport_cas(p, to, flags, tag, &far, line[W_CAS], w[0]);
	}
}

static void post(struct member *m, struct hport *p)
{
	struct crowd *a = m->of;
	uint64_t num = number(a, m->id, m->next);
	struct hport_peer to = a->to;
	struct hport_tag tag = { num, num };
	int ret;

	to.vpid = target_of(a, num);
	ret = (kind_of(a, num) <= SEND ? post_message : post_rma)(m, p, num,
								  &to, tag);
	if (ret)
		weft_check_failed(a->w.c, "instruction %llu: error %d",
				  (unsigned long long)num, -ret);
	m->busy = true;
}

/* ---- what comes back --------------------------------------------------- */

static void mark(struct crowd *a, uint64_t *bits, uint64_t num, uint64_t *n,
		 const char *what)
{
	uint64_t bit = 1ull << num % 64;

	if (num >= a->instructions || bits[num / 64] & bit)
		weft_check_failed(a->w.c, "instruction %llu was %s twice",
				  (unsigned long long)num, what);
	else
		bits[num / 64] |= bit;
	++*n;
}

/* What the instruction left behind is right. */
static bool result_good(struct member *m, const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user, base = draw(num, 3);
	uint32_t words = words_of(a, num);
	const uint64_t *line = line_of(a, m->id);
	uint64_t w;

	work_fill(&w, 1, base);
	switch (kind_of(a, num)) {
	case FAST_PUT:
	case PUT:
		return work_check(line, 0, words, base) < 0;
	case PUT_BYTES:
		return (line[W_BYTES] ^ w) == 0xff00ff0000ff00ff;
	case FAST_GET:
		return n->n == words && !memcmp(n->data, line, 8 * words);
	case GET:
		return !memcmp(m->own, line, 8 * words);
	case FAA:
		return n->data[0] == m->added && line[W_FAA] == m->added;
	case CAS:
		return n->data[0] == w && line[W_CAS] == w;
	default:
		return true;
	}
}

static void done(struct member *m, const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user;

	if (n->error || !m->busy || num != number(a, m->id, m->next) ||
	    !result_good(m, n))
		weft_check_failed(a->w.c,
				  "process %u: instruction %llu, command %02x "
				  "error %u, is not what it should be",
				  m->id, (unsigned long long)num, n->command,
				  n->error);
	mark(a, a->done, num, &a->n_done, "completed");
	a->n_kind[kind_of(a, num)]++;
	m->busy = false;
	m->next++;
}

static void executed(struct member *m, struct hport *p,
		     const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user, w[32];

	if (n->error || num >= a->instructions || target_of(a, num) != m->id)
		weft_check_failed(a->w.c, "process %u is no target of %llu",
				  m->id, (unsigned long long)num);
	if (n->event == HPORT_MESSAGE) {
		hport_take(p, n, w);
		if (n->bytes != 8ull * words_of(a, num) ||
		    work_check(w, 0, words_of(a, num), draw(num, 3)) >= 0)
			weft_check_failed(a->w.c,
					  "message %llu is not what was sent",
					  (unsigned long long)num);
	}
	mark(a, a->executed, num, &a->n_executed, "executed");
	m->expect--;
}

/* ---- turns ------------------------------------------------------------- */

static void take(struct member *m, struct hport *p)
{
	struct hport_note n;

	while (hport_poll(p, &n)) {
		if (n.event == HPORT_DONE)
			done(m, &n);
		else
			executed(m, p, &n);
	}
}

static struct weft_turn turn(struct weft_host *h, struct weft_proc *proc,
			     void *arg)
{
	struct member *m = arg;
	struct crowd *a = m->of;
	struct hport *p = &a->hp.port[m->id];

	(void)proc;
	hport_crowd_on(p, h);
	take(m, p);
	if (!m->busy && m->next < quota(a, m->id))
		post(m, p);
	if (p->wq_new && hport_crowd_trigger(p)) {
		a->rejected++;
		return (struct weft_turn){ WEFT_TURN_AGAIN };
	}
	if (!m->busy && m->next == quota(a, m->id) && !m->expect)
		return (struct weft_turn){ WEFT_TURN_END };
	return (struct weft_turn){ .kind = WEFT_TURN_WAIT,
				   .p = hport_crowd_word(p),
				   .old = 0 };
}

/* ---- setting up -------------------------------------------------------- */

static struct hport_region *region(struct crowd *a, uint32_t id, uint64_t bytes)
{
	struct hport_region *r;

	if (hport_drv_map(&a->hp.drv, id, bytes, NULL, &r))
		return NULL;
	return r;
}

/* Windows of process i: lines of others, a page of its own. */
static bool windows_open(struct crowd *a, uint32_t i)
{
	struct hport *p = &a->hp.port[i];
	uint64_t lines = (a->processes + a->servers - 1) / a->servers;
	struct hport_region *r;

	if (i < a->servers) {
		r = region(a, i, lines * 8 * LINE_WORDS);
		if (!r)
			return false;
		a->lines[i] = r->mem;
		hport_crowd_window(p, WIN_LINES, r, HPORT_READ | HPORT_WRITE);
	}
	if (i < a->windows) {
		r = region(a, i, HP_PAGE);
		if (!r)
			return false;
		a->m[i].own = r->mem;
		hport_crowd_window(p, WIN_OWN, r, 0);
	}
	return true;
}

static bool member_open(struct crowd *a, uint32_t i)
{
	struct weft_proc *proc = weft_proc_new(a->w.h, 0);
	uint32_t flags = i < a->servers ? HPORT_RMA_NOTES : 0;

	a->m[i].of = a;
	a->m[i].id = i;
	return proc && hport_crowd_add(&a->hp, i, proc, flags) &&
	       windows_open(a, i) &&
	       weft_proc_start(a->w.h, proc, turn, &a->m[i]);
}

static int crowd_open(struct crowd *a, struct weft_comp *c)
{
	size_t words = a->instructions / 64 + 1;
	int ret;

	a->w = work_of(c);
	a->m = weft_host_calloc(a->w.h, a->processes, sizeof(*a->m));
	a->lines = weft_host_calloc(a->w.h, a->servers, sizeof(*a->lines));
	a->done = weft_host_calloc(a->w.h, words, 8);
	a->executed = weft_host_calloc(a->w.h, words, 8);
	ret = hport_crowd_open(&a->hp, a->w.h, a->processes);
	if (ret || !a->m || !a->lines || !a->done || !a->executed)
		return ret ? ret : -ENOMEM;
	for (uint32_t i = 0; i < a->processes; i++)
		if (!member_open(a, i))
			return -ENOMEM;
	for (uint64_t num = 0; num < a->instructions; num++)
		a->m[target_of(a, num)].expect++;
	return hport_connect(&a->hp.port[0], a->w.me, 0, &a->to);
}

/* ---- the end ----------------------------------------------------------- */

static void tell(struct crowd *a, weft_time_t t)
{
	struct weft_comp *c = a->w.c;

	for (uint32_t k = 0; k < KINDS; k++)
		weft_metric(c, kind_name[k], "instructions",
			    (double)a->n_kind[k]);
	weft_metric(c, "completed", "instructions", (double)a->n_done);
	weft_metric(c, "executed", "instructions", (double)a->n_executed);
	weft_metric(c, "rejected", "triggers", (double)a->rejected);
	weft_metric(c, "time", "us", (double)t / WEFT_US);
	weft_metric(c, "rate", "instructions/us",
		    (double)a->n_done / ((double)t / WEFT_US));
	weft_metric(c, "context_bytes", "bytes", 3 * HP_PAGE + HP_LINE);
	if (a->n_done != a->instructions || a->n_executed != a->instructions)
		weft_check_failed(c, "%llu of %llu completed, %llu executed",
				  (unsigned long long)a->n_done,
				  (unsigned long long)a->instructions,
				  (unsigned long long)a->n_executed);
}

static int crowd_main(struct weft_comp *c)
{
	struct crowd *a = c->state;
	int ret = crowd_open(a, c);
	weft_time_t t;

	if (ret) {
		weft_check_failed(c, "cannot open all processes: error %d",
				  -ret);
		return ret;
	}
	t = weft_host_now(a->w.h);
	weft_procs_run(a->w.h, a->cpus);
	tell(a, weft_host_now(a->w.h) - t);
	hport_crowd_close(&a->hp);
	return 0;
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct crowd, field, def, range, OWN, doc)
static const struct weft_param crowd_params[] = {
	P(U32, processes, "65536", "1..65536", "light processes, each with a VPID"),
	P(U64, instructions, "100000", "", "of all of them together"),
	P(U32, servers, "64", "1..65536", "processes whose windows the others use"),
	P(U32, windows, "4096", "0..65536", "processes with a window of their own, for put and get"),
	P(U32, cpus, "2", "1..64", "processors that run them"),
	{ 0 }
};
#undef P
// clang-format on

WEFT_COMPONENT(hostport_crowd, .name = "hostport.crowd",
	       .kind = WEFT_KIND_PROGRAM,
	       .doc = "many processes, instructions of all kinds, each "
		      "executed exactly once",
	       .source = "hostport.md 7, 13.1",
	       .state_size = sizeof(struct crowd), .params = crowd_params,
	       .ops = { .main = crowd_main });
