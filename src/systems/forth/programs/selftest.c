/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.selftest: the NIC's behaviour as its software sees it,
 * through registers and memory alone (forth.md 2, 3; V14 to V19, V21, F26,
 * F31).  Two nodes; test=NAME runs one of them. */
#include <errno.h>
#include <string.h>

#include "systems/forth/programs/selftest.h"

bool st_open(struct st *s, const struct weft_forth_attr *attr)
{
	if (weft_forth_open(s->w.h, attr, &s->f)) {
		weft_check_failed(s->w.c, "%s: cannot open the NIC", s->name);
		return false;
	}
	s->i = weft_forth_info(s->f);
	st_sync(s);
	return true;
}

void st_close(struct st *s)
{
	st_sync(s);
	st_sleep(s, 100 * WEFT_US);
	weft_forth_close(s->f);
	s->f = NULL;
}

void st_sync(struct st *s)
{
	work_barrier_n(&s->w, "st.sync", s->barriers++);
}

void st_sleep(struct st *s, weft_time_t time)
{
	weft_host_sleep(s->w.h, weft_host_now(s->w.h) + time);
}

void st_prepare(struct st *s, uint64_t seq)
{
	if (st_acts(s))
		work_fill(s->mem, ST_BYTES / 8, work_base(0, 1, seq));
	else
		memset(s->mem, 0, ST_BYTES);
	st_sync(s);
}

void st_verify(struct st *s, uint64_t seq, uint32_t n)
{
	int32_t bad = work_check(s->mem, 0, n, work_base(0, 1, seq));

	ST_EXPECT(s, bad < 0, "%s: payload differs at byte %d", s->name,
		  8 * bad);
}

int st_put(struct st *s, uint32_t off_q, uint32_t qwords, uint32_t flags)
{
	return weft_forth_put(s->f, 1, s->phys + 8 * off_q,
			      s->remote + 8 * off_q, qwords, flags);
}

static uint32_t st_run_group(struct st *s, const struct st_test *t)
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

static int st_main(struct weft_comp *c)
{
	struct st *s = c->state;
	uint32_t n;

	s->w = work_of(c);
	if (s->w.me > 1)
		return 0;
	s->w.n = 2; /* barriers among the two */
	s->mem = weft_mem_alloc(s->w.h, ST_BYTES, 4096, &s->phys);
	if (!s->mem) {
		weft_check_failed(c, "no memory");
		return -ENOMEM;
	}
	work_put(&s->w, "st.buf", s->phys);
	s->remote = work_get(&s->w, "st.buf", 1);
	n = st_run_group(s, st_queue_tests) + st_run_group(s, st_count_tests);
	ST_EXPECT(s, n, "there is no test '%s'", s->test);
	if (st_acts(s))
		weft_metric(c, "tests", "", n);
	return 0;
}

static const struct weft_param st_params[] = {
	WEFT_PARAM(STR, struct st, test, "all", "", OWN,
		   "one test by name, or all"),
	{ 0 }
};

WEFT_COMPONENT(forth_selftest, .name = "forth.selftest",
	       .kind = WEFT_KIND_PROGRAM, .needs = "forth.nic",
	       .doc = "the NIC's behaviour as seen from its registers",
	       .source = "forth.md 2, 3, 13", .state_size = sizeof(struct st),
	       .params = st_params, .ops = { .main = st_main });
