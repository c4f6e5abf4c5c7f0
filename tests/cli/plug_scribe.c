/* SPDX-License-Identifier: Apache-2.0 */
/* test.scribe: a program that reports what a file contains, in the name of any
 * component: results (metrics, histograms, series, failed checks) and trace
 * events (weft/trace.h). Expected outputs (tests/cli/expected) therefore show
 * messages and curves of exactly known shape.
 *
 * Lines with a KIND act only in runs whose parameter `kind` has that value.
 *
 * at NS                           sleeps until this time
 * COMP metric NAME UNIT VALUE
 * COMP law KIND NAME UNIT A B     a metric of value A * x^B; x: parameter
 * COMP hist NAME UNIT VALUE COUNT
 * COMP series NAME UNIT UNIT X Y
 * COMP fail - TEXT
 * COMP signal KIND N              raises signal N in weft itself
 * COMP open ID PARENT             a message; PARENT 0: no parent
 * COMP mark ID NS STAGE
 * COMP end ID ARRIVED
 * COMP span TRACK INDEX NS NS N TEXT
 * COMP state MACHINE INDEX NS TEXT        INDEX -1: only one machine
 * COMP level QUEUE INDEX NS N
 * COMP sent NODE NS, COMP got NODE NS */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prog.h"
#include "weft/sim.h"
#include "weft/trace.h"

enum { WORDS = 8, MESSAGES = 64 };

struct scribe {
	char file[200], kind[24];
	double x;
	char *text;
	uint64_t id[MESSAGES];
};

static const struct weft_param scribe_params[] = {
	WEFT_PARAM(STR, struct scribe, file, "", "", OWN,
		   "file with the lines"),
	WEFT_PARAM(STR, struct scribe, kind, "", "", OWN, "which laws hold"),
	WEFT_PARAM(REAL, struct scribe, x, "1", "", OWN, "of the laws"),
	{ 0 }
};

/* A line cut into words: w[0] is the component, w[1] the kind of report. */
struct told {
	struct scribe *s;
	struct weft_comp *c;
	char *w[WORDS];
};

static double real(const struct told *t, int i)
{
	return strtod(t->w[i], NULL);
}

static weft_time_t time_of(const struct told *t, int i)
{
	return (weft_time_t)llround(real(t, i) * (double)WEFT_NS);
}

static uint32_t number(const struct told *t, int i)
{
	return (uint32_t)strtol(t->w[i], NULL, 10);
}

static uint64_t *message(const struct told *t, int i)
{
	return &t->s->id[number(t, i) % MESSAGES];
}

static void tell_metric(const struct told *t)
{
	weft_metric(t->c, t->w[2], t->w[3], real(t, 4));
}

static void tell_law(const struct told *t)
{
	if (!strcmp(t->w[2], t->s->kind))
		weft_metric(t->c, t->w[3], t->w[4],
			    real(t, 5) * pow(t->s->x, real(t, 6)));
}

static void tell_hist(const struct told *t)
{
	for (uint32_t i = 0; i < number(t, 5); i++)
		weft_hist_add(t->c, t->w[2], t->w[3], real(t, 4));
}

static void tell_series(const struct told *t)
{
	weft_series_add(t->c, t->w[2], t->w[3], t->w[4], real(t, 5),
			real(t, 6));
}

static void tell_fail(const struct told *t)
{
	weft_check_failed(t->c, "%s", t->w[3]);
}

static void tell_signal(const struct told *t)
{
	if (!strcmp(t->w[2], t->s->kind))
		raise((int)number(t, 3));
}

static void tell_open(const struct told *t)
{
	uint64_t parent = number(t, 3) ? *message(t, 3) : 0;

	*message(t, 2) =
		parent ? weft_msg_fork(t->c, parent) : weft_msg_open(t->c);
}

static void tell_mark(const struct told *t)
{
	weft_mark(t->c, *message(t, 2), t->w[4], time_of(t, 3));
}

static void tell_end(const struct told *t)
{
	weft_msg_end(t->c, *message(t, 2), number(t, 3));
}

static void tell_span(const struct told *t)
{
	weft_span(t->c, t->w[2], number(t, 3), t->w[7], number(t, 6),
		  time_of(t, 4), time_of(t, 5));
}

static void tell_state(const struct told *t)
{
	weft_state_at(t->c, t->w[2], number(t, 3), t->w[5], time_of(t, 4));
}

static void tell_level(const struct told *t)
{
	weft_level(t->c, t->w[2], number(t, 3), number(t, 5), time_of(t, 4));
}

static void tell_sent(const struct told *t)
{
	weft_sent(t->c, number(t, 2), time_of(t, 3));
}

static void tell_got(const struct told *t)
{
	weft_got(t->c, number(t, 2), time_of(t, 3));
}

/* Kinds of reports, with the number of words of each. The last word is the rest
 * of the line. */
static const struct {
	const char *word;
	int words;
	void (*tell)(const struct told *t);
} tells[] = {
	{ "metric", 5, tell_metric }, { "law", 7, tell_law },
	{ "hist", 6, tell_hist },     { "series", 7, tell_series },
	{ "fail", 4, tell_fail },     { "open", 4, tell_open },
	{ "mark", 5, tell_mark },     { "end", 4, tell_end },
	{ "span", 8, tell_span },     { "state", 6, tell_state },
	{ "level", 6, tell_level },   { "sent", 4, tell_sent },
	{ "got", 4, tell_got },	      { "signal", 4, tell_signal },
};
enum { TELLS = sizeof(tells) / sizeof(tells[0]) };

static struct weft_comp *called(struct weft_sim *sim, const char *name)
{
	for (uint32_t i = 0; i < weft_sim_count(sim); i++)
		if (!strcmp(weft_sim_at(sim, i)->name, name))
			return weft_sim_at(sim, i);
	return NULL;
}

/* Cuts the line into words w[from] to w[n - 1]. The last of these words is the
 * rest of the line. Returns the index behind the last word found. */
static int cut(char *line, char **w, int from, int n)
{
	while (from < n && *line) {
		w[from++] = line;
		line += from < n ? strcspn(line, " ") : 0;
		if (from < n && *line)
			*line++ = '\0';
	}
	return from;
}

static bool tell_line(const struct weft_comp *c, struct told *t, char *line)
{
	if (cut(line, t->w, 0, 3) < 3)
		return false;
	t->c = called(c->sim, t->w[0]);
	for (int i = 0; t->c && i < TELLS; i++)
		if (!strcmp(t->w[1], tells[i].word) &&
		    cut(t->w[2], t->w, 2, tells[i].words) == tells[i].words) {
			tells[i].tell(t);
			return true;
		}
	return false;
}

static int scribe_main(struct weft_comp *c)
{
	struct scribe *s = c->state;
	struct weft_host *h = weft_prog_host(c);
	struct told t = { .s = s };
	char *save = NULL;

	for (char *line = strtok_r(s->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "at ", 3)) {
			t.w[0] = line + 3;
			weft_host_sleep(h, time_of(&t, 0));
		} else if (!tell_line(c, &t, line)) {
			weft_check_failed(c, "cannot tell '%s'", line);
		}
	}
	return 0;
}

static int scribe_init(struct weft_comp *c, struct weft_err *err)
{
	struct scribe *s = c->state;
	FILE *f = fopen(s->file, "r");
	size_t n = 0;

	if (!f)
		return weft_fail(err, ENOENT, "%s: cannot read", s->file);
	if (getdelim(&s->text, &n, '\0', f) < 0)
		*s->text = '\0'; /* an empty file */
	fclose(f);
	return 0;
}

static void scribe_fini(struct weft_comp *c)
{
	free(((struct scribe *)c->state)->text);
}

WEFT_COMPONENT(scribe, .name = "test.scribe", .kind = WEFT_KIND_PROGRAM,
	       .doc = "tells what a file says",
	       .state_size = sizeof(struct scribe), .params = scribe_params,
	       .ops = { .init = scribe_init,
			.fini = scribe_fini,
			.main = scribe_main });
