/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file that grows with the run. Every line is a JSON object,
 * complete when it appears.
 *
 * Every five seconds a line has the progress of a point. Its counters are sums
 * over all components of a class:
 *   {"running": POINT, "time_us": .., "events": .., "seconds": ..,
 *    "counters": {"CLASS.received": .., ..}}
 *
 * A finished point has the line
 *   {"point": POINT, "manifest": .., "metrics": .., ..} */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "front/out/out.h"
#include "front/run/run.h"

enum { FOLLOW_SECONDS = 5 };

struct follow {
	struct run_watch watch; /* first member, so that a pointer to it can be
				 * cast */
	char *path;
	FILE *f;
	time_t start, last;
};

static void line_write(struct follow *w, struct json *j)
{
	fwrite(j->buf, 1, j->len, w->f);
	fputc('\n', w->f);
	fflush(w->f);
	json_fini(j);
}

/* ---- the running point ---- */

static void class_counters(struct weft_sim *sim, const struct weft_class *cls,
			   struct json *j)
{
	for (uint32_t k = 0; k < cls->n_counters; k++) {
		uint64_t sum = 0;
		char name[128];

		for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
			const struct weft_comp *c = weft_sim_at(sim, i);

			sum += c->cls == cls ? c->counters[k] : 0;
		}
		snprintf(name, sizeof(name), "%s.%s", cls->name,
			 cls->counters[k].name);
		json_u64(j, name, sum);
	}
}

static void follow_tick(struct run_watch *watch, const char *point,
			struct weft_sim *sim)
{
	struct follow *w = (struct follow *)watch;
	time_t now = (time_t)(progress_now() / 1000000000u);
	struct json j;

	if (now - w->last < FOLLOW_SECONDS)
		return;
	w->last = now;
	weft_sim_sample(sim);
	json_init(&j, false);
	json_obj(&j, NULL);
	json_str(&j, "running", point);
	json_real(&j, "time_us", (double)weft_sim_now(sim) / (double)WEFT_US);
	json_u64(&j, "events", weft_sim_events(sim));
	json_u64(&j, "seconds", (uint64_t)(now - w->start));
	json_obj(&j, "counters");
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		const struct weft_class *cls = weft_sim_at(sim, i)->cls;
		uint32_t first = 0;

		/* The sums of a class are printed at its first component. */
		while (weft_sim_at(sim, first)->cls != cls)
			first++;
		if (first == i)
			class_counters(sim, cls, &j);
	}
	json_end(&j);
	json_end(&j);
	line_write(w, &j);
}

/* ---- finished points ---- */

static void follow_point(struct run_watch *watch, const struct run_point *p)
{
	struct json j;

	json_init(&j, false);
	json_obj(&j, NULL);
	json_str(&j, "point", p->point);
	out_json_result(&j, p->result);
	json_end(&j);
	line_write((struct follow *)watch, &j);
}

int follow_open(const char *path, struct follow **f_p, struct weft_err *err)
{
	struct follow *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->watch = (struct run_watch){ .point = follow_point,
				       .tick = follow_tick };
	w->f = fopen(path, "w");
	if (!w->f) {
		int code = errno;

		free(w);
		return weft_fail(err, code, "--follow %.200s: cannot write: %s",
				 path, strerror(code));
	}
	w->path = strdup(path);
	w->start = w->last = (time_t)(progress_now() / 1000000000u);
	*f_p = w;
	return 0;
}

struct run_watch *follow_watch(struct follow *w)
{
	return &w->watch;
}

int follow_close(struct follow *w, struct weft_err *err)
{
	bool bad = ferror(w->f) | fclose(w->f);
	int ret = 0;

	if (bad)
		ret = weft_fail(
			err, EIO,
			"--follow %.200s: cannot write: is the disk full?",
			w->path);
	free(w->path);
	free(w);
	return ret;
}
