/* SPDX-License-Identifier: Apache-2.0 */
/* `weft import booksim`: writes a configuration of BookSim2 as an experiment
 * with net.router. A setting without a counterpart is refused. The message
 * names the setting's line and a value that would do. Remarks about settings
 * are written into the experiment. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "systems/router/import/booksim.h"

/* A part of the experiment, written to memory. */
struct part {
	char *text;
	size_t len;
	FILE *f;
};

static void part_open(struct part *p)
{
	*p = (struct part){ 0 };
	p->f = need(open_memstream(&p->text, &p->len));
}

/* Reads the file, then each setting of the command line like a line of the
 * file. */
static int settings_read(struct booksim *b, struct weft_err *err)
{
	if (booksim_parse(b, b->im->file, b->im->text, b->im->len, 1, err))
		return -EINVAL;
	for (size_t i = 0; i < b->im->n_args; i++) {
		char *text;
		int len = asprintf(&text, "%s;", b->im->args[i]), ret;

		if (len < 0)
			no_memory();
		ret = booksim_parse(b, b->im->args[i], text, (size_t)len, 0,
				    err);
		free(text);
		if (ret)
			return -EINVAL;
	}
	return 0;
}

/* Notes settings that differ from their default and have no counterpart. */
static void settings_check(struct booksim *b)
{
	for (const struct booksim_key *k = booksim_keys; k->name; k++) {
		const struct booksim_set *s = &b->set[k - booksim_keys];

		if (k->use == BOOKSIM_TAKEN || !booksim_differs(b, k->name) ||
		    (k->with && !booksim_differs(b, k->with)))
			continue;
		if (k->use == BOOKSIM_CANNOT)
			booksim_cannot(b, k->name, "%s", k->remark);
		else if (k->remark[0] &&
			 !(k->types & BOOKSIM_REAL && s->number < 0))
			booksim_remark(b, k->name, "%s", k->remark);
	}
}

static void seed_write(struct booksim *b, FILE *f)
{
	if (strcmp(booksim_text(b, "seed"), "time") &&
	    booksim_number(b, "seed") >= 0)
		fprintf(f, "seed: %.0f\n", booksim_number(b, "seed"));
	else
		booksim_cannot(b, "seed",
			       "results depend on it: a number would do");
}

/* Writes the file name without its folder. Replaces characters other than
 * letters, digits, `_`, `-` and `.` with `_`, so that the name needs no quotes.
 */
static void name_write(const struct import *im, FILE *f)
{
	const char *slash = strrchr(im->file, '/');
	const char *p = slash ? slash + 1 : im->file;

	fprintf(f, "name: booksim/");
	for (; *p; p++)
		fputc(isalnum((unsigned char)*p) || strchr("_-.", *p) ? *p
								      : '_',
		      f);
	fputc('\n', f);
}

static void remarks_write(const struct import *im, FILE *f)
{
	fprintf(f, "# A configuration of BookSim2, by weft import booksim.\n");
	for (size_t i = 0; i < im->notes.n; i++) {
		fprintf(f, "# ");
		for (const char *p = im->notes.at[i].text; *p; p++)
			fputc(isprint((unsigned char)*p) ? *p : '?', f);
		fputc('\n', f);
	}
}

static void parts_write(struct booksim *b)
{
	struct part p;
	FILE *out = b->im->out;

	part_open(&p);
	fprintf(p.f, "payload: none\n");
	seed_write(b, p.f);
	booksim_traffic(b, p.f);
	booksim_fabric(b, p.f);
	booksim_router(b, p.f);
	booksim_measurement(b, p.f);
	booksim_repeat(b, p.f);
	fprintf(p.f,
		"run: { until: 1s }\n"
		"record: { counters: \"net.*\", metrics: \"net.*\" }\n");
	fclose(p.f);
	remarks_write(b->im, out);
	name_write(b->im, out);
	fwrite(p.text, 1, p.len, out);
	free(p.text);
}

int import_booksim(struct import *im, struct weft_err *err)
{
	struct booksim b = { .im = im };
	int ret = settings_read(&b, err);

	if (!ret) {
		settings_check(&b);
		if (booksim_shape(&b))
			parts_write(&b);
	}
	for (uint32_t i = 0; i < BOOKSIM_KEYS; i++)
		free(b.set[i].text);
	return ret;
}
