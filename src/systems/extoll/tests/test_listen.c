/* SPDX-License-Identifier: Apache-2.0 */
/* A listener on an EXTOLL line without faults hears the frames that a framed
 * line carries, at the same times
 * (systems/extoll/network/cell_channel_listen.c). It hears a refresh only if
 * another frame precedes it. */
#include "ex_pair.h"

#include "base/vec.h"

extern const struct weft_class weft_class_fault_delay;

enum { SYMBOLS = 80 };

struct told {
	weft_time_t start;
	uint32_t n;
	uint16_t sym[SYMBOLS];
};

struct ear {
	struct weft_line_listener listener;
	uint32_t given[EX_VCS];
	bool refreshes, last_refresh;
	uint64_t n_refreshes;
	weft_time_t last;
	struct {
		VEC(struct told);
	} all; /* all frames but refreshes */
};

/* Checks that a refresh reports the credits given so far, and never follows
 * another refresh. */
static void on_refresh(struct ear *e, const struct ex_line *l)
{
	assert_false(e->last_refresh);
	assert_int_equal(l->arg, e->given[l->type - EX_C_REFRESH] & 0xff);
	e->last_refresh = true;
	e->n_refreshes++;
}

static void hear(struct weft_line_listener *tap, const struct weft_frame *f,
		 weft_time_t start)
{
	struct ear *e = (struct ear *)tap;
	const struct ex_line *l = (const struct ex_line *)&f->u[0];
	struct told t = { .start = start };

	assert_true(start > e->last || !e->last);
	e->last = start;
	if (l->type >= EX_C_REFRESH && l->type < EX_C_REFRESH + EX_VCS) {
		if (e->refreshes)
			on_refresh(e, l);
		return;
	}
	if (l->type >= EX_C_CREDIT && l->type < EX_C_CREDIT + EX_VCS)
		e->given[l->type - EX_C_CREDIT] += l->arg;
	e->last_refresh = false;
	t.n = ex_wire_link.encode(f, t.sym, SYMBOLS);
	assert_in_range(t.n, 4, SYMBOLS);
	vec_push(&e->all, t);
}

static void listen(struct ex_pair *p, struct ear *ear, bool refreshes)
{
	for (uint32_t i = 0; i < 2; i++) {
		ear[i] = (struct ear){ .listener.hear = hear,
				       .refreshes = refreshes };
		p->comp[i]->ports[0].listener = &ear[i].listener;
	}
}

/* Compares all frames that started on the line before `until`. */
static void compare(const struct ear *a, const struct ear *b, weft_time_t until)
{
	uint32_t i = 0;

	for (; i < a->all.n && a->all.at[i].start < until; i++) {
		const struct told *s = &a->all.at[i], *t = &b->all.at[i];

		assert_true(i < b->all.n);
		assert_int_equal(s->start, t->start);
		assert_int_equal(s->n, t->n);
		assert_memory_equal(s->sym, t->sym, s->n * sizeof(s->sym[0]));
	}
	assert_true(i > 500);
	assert_true(i == b->all.n || b->all.at[i].start >= until);
}

static void same_frames(const char *const *set)
{
	struct ex_pair p[2];
	struct ear ear[2][2];
	weft_time_t end = WEFT_NEVER, now;

	for (uint32_t i = 0; i < 2; i++) {
		ex_pair_init(&p[i], set);
		listen(&p[i], ear[i], !i);
		if (i)
			ex_pair_fault(&p[i], 0, &weft_class_fault_delay, NULL);
		ex_pair_start(&p[i]);
		assert_int_equal(p[i].n[0]->ep.needs_frames, i);
		ex_pair_drain(&p[i], 10000000);
		for (uint32_t k = 0; k < 2; k++)
			ear[i][k].listener.settle(&p[i].comp[k]->ports[0]);
		now = weft_now(p[i].comp[0]);
		end = now < end ? now : end;
	}
	for (uint32_t k = 0; k < 2; k++) {
		compare(&ear[0][k], &ear[1][k], end);
		assert_true(ear[0][k].n_refreshes > 5);
		vec_free(&ear[0][k].all);
		vec_free(&ear[1][k].all);
	}
	ex_pair_fini(&p[0]);
	ex_pair_fini(&p[1]);
}

static void test_same_frames(void **state)
{
	static const char *const width[] = { "w16", "w32" };
	static const char *const gap[] = { "0", "60", "400" };
	static const char *const hold[] = { "0", "1500" };

	for (uint32_t i = 0; i < 2 * 3 * 2; i++)
		same_frames((const char *[]){
			"width", width[i % 2], "gap", gap[i / 2 % 3], "hold",
			hold[i / 6], "packets", "600", NULL });
}

/* Calls of settle() in the middle of a run change nothing, however many there
 * are. */
static void test_settling_in_a_run_changes_no_result(void **state)
{
	struct ex_pair p[2];
	struct ear ear[2][2];

	for (uint32_t i = 0; i < 2; i++) {
		ex_pair_init(&p[i], (const char *[]){ "gap", "100", "packets",
						      "600", NULL });
		listen(&p[i], ear[i], true);
		ex_pair_start(&p[i]);
		for (uint64_t c = 0; i && c < 30000; c += 37) {
			ex_pair_run(&p[i], c);
			for (uint32_t k = 0; k < 2; k++)
				ear[i][k].listener.settle(
					&p[i].comp[k]->ports[0]);
		}
		ex_pair_drain(&p[i], 10000000);
		for (uint32_t k = 0; k < 2; k++)
			ear[i][k].listener.settle(&p[i].comp[k]->ports[0]);
	}
	for (uint32_t k = 0; k < 2; k++) {
		compare(&ear[0][k], &ear[1][k], WEFT_NEVER);
		assert_int_equal(ear[0][k].n_refreshes, ear[1][k].n_refreshes);
		vec_free(&ear[0][k].all);
		vec_free(&ear[1][k].all);
	}
	ex_pair_fini(&p[0]);
	ex_pair_fini(&p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_frames),
		cmocka_unit_test(test_settling_in_a_run_changes_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
