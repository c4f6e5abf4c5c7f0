/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.selftest: the NIC's behaviour as software sees it, through
 * registers and memory alone (forth.md 2, 3; V14 to V19, V21, F26, F31). It
 * needs two nodes. test=NAME runs one of the tests. */
#include <errno.h>
#include <string.h>

#include "systems/forth/programs/selftest.h"

bool selftest_open(struct st *s, const struct weft_forth_attr *attr)
{
	if (weft_forth_open(s->w.h, attr, &s->f)) {
		weft_check_failed(s->w.c, "%s: cannot open the NIC", s->name);
		return false;
	}
	s->i = weft_forth_info(s->f);
	selftest_sync(s);
	return true;
}

void selftest_close(struct st *s)
{
	selftest_sync(s);
	selftest_sleep(s, 10);
	weft_forth_close(s->f);
	s->f = NULL;
}

void selftest_sync(struct st *s)
{
	program_barrier_n(&s->w, "st.sync", s->barriers++);
}

void selftest_sleep(struct st *s, uint32_t pauses)
{
	weft_host_sleep(s->w.h, weft_host_now(s->w.h) + pauses * s->pause);
}

void selftest_prepare(struct st *s, uint64_t seq)
{
	if (selftest_acts(s))
		program_fill(s->mem, ST_BYTES / 8, program_base(0, 1, seq));
	else
		memset(s->mem, 0, ST_BYTES);
	selftest_sync(s);
}

void selftest_verify(struct st *s, uint64_t seq, uint32_t n)
{
	int32_t bad = program_check(s->mem, 0, n, program_base(0, 1, seq));

	ST_EXPECT(s, bad < 0, "%s: payload differs at byte %d", s->name,
		  8 * bad);
}

int selftest_put(struct st *s, uint32_t off_q, uint32_t qwords, uint32_t flags)
{
	return weft_forth_put(s->f, 1, s->phys + 8 * off_q,
			      s->remote + 8 * off_q, qwords, flags);
}

static uint32_t selftest_run_group(struct st *s, const struct selftest_test *t)
{
	uint32_t n = 0;

	for (; t->name; t++) {
		if (strcmp(s->test, "all") && strcmp(s->test, t->name))
			continue;
		s->name = t->name;
		t->run(s);
		n++;
	}
	return n;
}

static int selftest_main(struct weft_comp *c)
{
	struct st *s = c->state;
	uint32_t n;

	s->w = program_from(c);
	if (s->w.me > 1)
		return 0;
	s->w.n = 2; /* barriers wait only for the two nodes of the test */
	s->mem = weft_mem_alloc(s->w.h, ST_BYTES, 4096, &s->phys);
	if (!s->mem) {
		weft_check_failed(c, "no memory");
		return -ENOMEM;
	}
	program_put(&s->w, "st.buf", s->phys);
	s->remote = program_get(&s->w, "st.buf", 1);
	n = selftest_run_group(s, selftest_queue_tests) +
	    selftest_run_group(s, selftest_count_tests);
	ST_EXPECT(s, n, "there is no test '%s'", s->test);
	if (selftest_acts(s))
		weft_metric(c, "tests", "", n);
	return 0;
}

static const struct weft_param selftest_params[] = {
	WEFT_PARAM(STR, struct st, test, "all", "", OWN,
		   "one test by name, or all"),
	WEFT_PARAM(TIME, struct st, pause, "10us", "1us..", OWN,
		   "what tests wait for takes less than twice this"),
	{ 0 }
};

WEFT_COMPONENT(forth_selftest, .name = "forth.selftest",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "the NIC's behaviour as seen from its registers",
	       .source = "forth.md 2, 3, 13", .state_size = sizeof(struct st),
	       .params = selftest_params, .ops = { .main = selftest_main });
