/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.crowd: many light processes of one node use its Host Port at once,
 * with instructions of all kinds (hostport.md 7, 13.1 T01).
 *
 * Each process has one instruction in flight. Every instruction has a number,
 * which its tag carries. One bit records that the issuer was notified of the
 * completion. Another bit records that the target was notified of the message
 * or access. Thus the program finds an instruction that is lost or executed
 * twice. It also compares the effect of each instruction on memory.
 *
 * Messages are sent to any process. RMA instructions access the process's line
 * in the window of one of a few servers. */
#include <errno.h>

#include "systems/hostport/programs/crowd.h"
#include "systems/hostport/programs/hostport_program.h"

static const char *const kind_name[KINDS] = {
	"fast_send", "send", "fast_put", "put", "put_bytes",
	"fast_get",  "get",  "faa",	 "cas",
};

/* ---- answers ---- */

static void crowd_mark(struct crowd *a, uint64_t *bits, uint64_t num,
		       uint64_t *n, const char *what)
{
	uint64_t bit = 1ull << num % 64;

	if (num >= a->instructions || bits[num / 64] & bit)
		weft_check_failed(a->w.c, "instruction %llu was %s twice",
				  (unsigned long long)num, what);
	else
		bits[num / 64] |= bit;
	++*n;
}

static void crowd_done(struct member *m, const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user;

	if (n->error || !m->busy ||
	    num != (uint64_t)m->next * a->processes + m->id ||
	    !crowd_good(m, n))
		weft_check_failed(
			a->w.c,
			"process %u: instruction %llu, command %02x error %u, is not what it should be",
			m->id, (unsigned long long)num, n->command, n->error);
	crowd_mark(a, a->done, num, &a->n_done, "completed");
	a->n_kind[crowd_kind(a, num)]++;
	m->busy = false;
	m->next++;
}

static void crowd_executed(struct member *m, struct hport *p,
			   const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user, w[32];

	if (n->error || num >= a->instructions || crowd_target(a, num) != m->id)
		weft_check_failed(a->w.c, "process %u is no target of %llu",
				  m->id, (unsigned long long)num);
	if (n->event == HPORT_MESSAGE) {
		hport_take(p, n, w);
		if (n->bytes != 8ull * crowd_words(a, num) ||
		    program_check(w, 0, crowd_words(a, num),
				  crowd_draw(num, 3)) >= 0)
			weft_check_failed(a->w.c,
					  "message %llu is not what was sent",
					  (unsigned long long)num);
	}
	crowd_mark(a, a->executed, num, &a->n_executed, "executed");
	m->expect--;
}

/* ---- turns ---- */

static struct weft_turn crowd_turn(struct weft_host *h, struct weft_proc *proc,
				   void *arg)
{
	struct member *m = arg;
	struct crowd *a = m->of;
	struct hport *p = &a->hp.port[m->id];
	/* each process issues an equal share of the instructions. If the number
	 * does not divide evenly, the first processes issue one more */
	uint32_t quota = (uint32_t)(a->instructions / a->processes) +
			 (m->id < a->instructions % a->processes);
	uint64_t num;
	struct hport_note n;
	int ret;

	hport_crowd_on(p, h);
	while (hport_poll(p, &n))
		if (n.event == HPORT_DONE)
			crowd_done(m, &n);
		else
			crowd_executed(m, p, &n);
	if (!m->busy && m->next < quota) {
		num = (uint64_t)m->next * a->processes + m->id;
		ret = crowd_post(m, p, num);
		if (ret)
			weft_check_failed(a->w.c, "instruction %llu: %s",
					  (unsigned long long)num,
					  program_why(ret));
		m->busy = true;
	}
	if (p->wq_new && hport_crowd_trigger(p)) {
		a->rejected++;
		return (struct weft_turn){ WEFT_TURN_AGAIN };
	}
	if (!m->busy && m->next == quota && !m->expect)
		return (struct weft_turn){ WEFT_TURN_END };
	return (struct weft_turn){ .kind = WEFT_TURN_WAIT,
				   .p = hport_crowd_word(p),
				   .old = 0 };
}

/* ---- setting up ---- */

/* Opens process i. A server gets a window with the lines of other processes.
 * The first `windows` processes get a window with a page of their own. */
static bool member_open(struct crowd *a, uint32_t i)
{
	struct weft_proc *proc = weft_proc_new(a->w.h, 0);
	uint32_t flags = i < a->servers ? HPORT_RMA_NOTES : 0;
	uint64_t lines = (a->processes + a->servers - 1) / a->servers;
	struct hport *p = &a->hp.port[i];
	struct hport_region *r;

	a->m[i].of = a;
	a->m[i].id = i;
	if (!proc || !hport_crowd_add(&a->hp, i, proc, flags))
		return false;
	if (i < a->servers) {
		r = hport_crowd_map(&a->hp, i, lines * 8 * LINE_WORDS);
		if (!r)
			return false;
		a->lines[i] = r->mem;
		hport_crowd_window(p, WIN_LINES, r, HPORT_READ | HPORT_WRITE);
	}
	if (i < a->windows) {
		r = hport_crowd_map(&a->hp, i, HP_PAGE);
		if (!r)
			return false;
		a->m[i].own = r->mem;
		hport_crowd_window(p, WIN_OWN, r, 0);
	}
	return weft_proc_start(a->w.h, proc, crowd_turn, &a->m[i]);
}

static int crowd_open(struct crowd *a, struct weft_comp *c)
{
	size_t words = a->instructions / 64 + 1;
	int ret;

	a->w = program_from(c);
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
		a->m[crowd_target(a, num)].expect++;
	return hport_connect(&a->hp.port[0], a->w.me, 0, &a->to);
}

/* ---- the end ---- */

static void crowd_tell(struct crowd *a, weft_time_t t)
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
		hostport_program_refused(c, "cannot open all processes", ret);
		return ret;
	}
	t = weft_host_now(a->w.h);
	weft_procs_run(a->w.h, a->cpus);
	crowd_tell(a, weft_host_now(a->w.h) - t);
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
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "many processes, instructions of all kinds, each "
		      "executed exactly once",
	       .source = "hostport.md 7, 13.1",
	       .state_size = sizeof(struct crowd), .params = crowd_params,
	       .ops = { .main = crowd_main });
