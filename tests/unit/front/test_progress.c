/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line on the terminal during a run, with the test's own clock and
 * terminal. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "front/run/run.h"

static struct {
	uint64_t ns;
	bool terminal;
	/* width of the terminal, or 0 if it is not known */
	unsigned short columns;
	weft_time_t now;
	uint64_t events;
} fake;

static int fake_clock(clockid_t id, struct timespec *ts)
{
	ts->tv_sec = (time_t)(fake.ns / 1000000000u);
	ts->tv_nsec = (long)(fake.ns % 1000000000u);
	return 0;
}

static int fake_tty(int fd)
{
	return fd == 2 && fake.terminal;
}

static int fake_size(int fd, unsigned long what, struct winsize *w)
{
	w->ws_col = fake.columns;
	return fd == 2 && what == TIOCGWINSZ ? 0 : -1;
}

static weft_time_t fake_now(struct weft_sim *sim)
{
	return fake.now;
}

static uint64_t fake_events(struct weft_sim *sim)
{
	return fake.events;
}

#define clock_gettime	fake_clock
#define isatty		fake_tty
#define ioctl		fake_size
#define weft_sim_now	fake_now
#define weft_sim_events fake_events
#include "front/run/progress.c"

/* ---- contents of the line ---- */

static int held;
static FILE *file;

static void catch_stderr(void)
{
	fflush(stderr);
	held = dup(2);
	file = tmpfile();
	assert_non_null(file);
	dup2(fileno(file), 2);
}

/* Checks the text written to stderr since catch_stderr(), and restores
 * stderr. */
static void shown(const char *want)
{
	char text[4096];
	size_t n;

	fflush(stderr);
	dup2(held, 2);
	close(held);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	assert_string_equal(text, want);
}

static struct progress begin(const struct run_opts *o, size_t total)
{
	struct progress p;

	fake.terminal = true;
	fake.columns = 0;
	fake.ns = 5000000000;
	setenv("TERM", "xterm", 1);
	progress_start(&p, o, "name", total);
	return p;
}

#define LINE "\r\033[K"

static void line_of_a_run_shows_share_rest_and_rate(void **state)
{
	struct progress p = begin(&(struct run_opts){ 0 }, 1);

	fake.ns += 2000000000;
	fake.now = 250 * WEFT_US;
	fake.events = 5000000;
	catch_stderr();
	progress_sim(&p, NULL, 1000 * WEFT_US);
	shown(LINE
	      "name: 25 %, 6 s left: 250 us simulated, 5 M events, "
	      "2.50 M/s");
	catch_stderr();
	progress_sim(&p, NULL, WEFT_NEVER);
	shown(LINE "name: 250 us simulated, 5 M events, 2.50 M/s");
	catch_stderr();
	progress_points(&p, 1);
	progress_end(&p);
	shown(LINE);
	fake.ns = 5000000000;
	catch_stderr();
	progress_sim(&p, NULL, WEFT_NEVER);
	shown(LINE "name: 250 us simulated, 5 M events, 0.00 M/s");
}

static void sweep_line_is_drawn_every_200_ms_at_most(void **state)
{
	struct progress p = begin(&(struct run_opts){ 0 }, 4);

	fake.ns += 3000000000;
	catch_stderr();
	progress_points(&p, 1);
	shown(LINE "name: 25 %, 9 s left: 1 of 4 points");
	fake.ns += 199999999;
	catch_stderr();
	progress_points(&p, 2); /* too soon */
	shown("");
	fake.ns += 1;
	catch_stderr();
	progress_points(&p, 2);
	shown(LINE "name: 50 %, 3 s left: 2 of 4 points");
	fake.now = 500 * WEFT_US;
	fake.events = 1234567;
	catch_stderr();
	progress_sim(&p, NULL, 1000 * WEFT_US);
	shown(LINE
	      "name: 62 %, 2 s left: point 3 of 4, 500 us simulated, "
	      "1.23 M events, 0.39 M/s");
	catch_stderr();
	progress_sim(&p, NULL, WEFT_NEVER);
	shown(LINE
	      "name: 50 %, 3 s left: point 3 of 4, 500 us simulated, "
	      "1.23 M events, 0.39 M/s");
}

/* Shows the second of four experiments. The first began 10 s before. */
static void remaining_time_covers_all_experiments(void **state)
{
	struct run_opts o = { .part = 1, .parts = 4, .began_ns = 1000000000 };
	struct progress p = begin(&o, 2);

	fake.ns = 11000000000;
	catch_stderr();
	progress_points(&p, 1);
	shown(LINE "2 of 4, name: 38 %, 17 s left: 1 of 2 points");
	o = (struct run_opts){ .part = 0, .parts = 1, .began_ns = 9000000000 };
	p = begin(&o, 2);
	fake.ns = 11000000000;
	catch_stderr();
	progress_points(&p, 1);
	shown(LINE "name: 50 %, 2 s left: 1 of 2 points");
}

/* A line that is too long is cut, because a terminal would wrap it. */
static void line_is_cut_at_width_of_terminal(void **state)
{
	struct progress p = begin(&(struct run_opts){ 0 }, 4);
	char want[128];

	p.name = "a name that is much longer than a terminal of any use is "
		 "wide, and longer still";
	catch_stderr();
	progress_points(&p, 1);
	snprintf(want, sizeof(want), LINE "%.79s", p.name);
	shown(want);
	fake.columns = 20;
	fake.ns += 200000000;
	catch_stderr();
	progress_points(&p, 1);
	shown(LINE "a name that is much");
	fake.columns = 21;
	p.name = "1234567890";
	fake.ns += 200000000;
	p.began_ns = fake.ns;
	catch_stderr();
	progress_points(&p, 0); /* at 0 % the remaining time is not known */
	shown(LINE "1234567890: 0 of 4 p");
}

static void quiet_run_and_dumb_terminal_show_nothing(void **state)
{
	struct progress p = begin(&(struct run_opts){ .quiet = true }, 4);

	catch_stderr();
	progress_points(&p, 1);
	progress_sim(&p, NULL, WEFT_NEVER);
	fake.terminal = false;
	progress_start(&p, &(struct run_opts){ 0 }, "name", 4);
	progress_points(&p, 1);
	fake.terminal = true;
	setenv("TERM", "dumb", 1);
	progress_start(&p, &(struct run_opts){ 0 }, "name", 4);
	progress_points(&p, 1);
	progress_end(&p);
	shown("");
	unsetenv("TERM");
	progress_start(&p, &(struct run_opts){ 0 }, "name", 4);
	assert_true(p.on);
	assert_int_equal(progress_now(), fake.ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_of_a_run_shows_share_rest_and_rate),
		cmocka_unit_test(sweep_line_is_drawn_every_200_ms_at_most),
		cmocka_unit_test(remaining_time_covers_all_experiments),
		cmocka_unit_test(line_is_cut_at_width_of_terminal),
		cmocka_unit_test(quiet_run_and_dumb_terminal_show_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
