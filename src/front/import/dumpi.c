/* SPDX-License-Identifier: Apache-2.0 */
/* `weft import dumpi`: reads the lines of dumpi2ascii, see dumpi.h.
 *
 *	MPI_Send entering at walltime 17.000000250, cputime ..
 *	int count=1
 *	MPI_Datatype datatype=9 (MPI_INT)
 *	MPI_Send returning at walltime ..
 *
 * Around the calls are lines of the header, of the footer and of tables. */
#include "front/import/dumpi.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/need.h"

enum { PARAMS = 64 << 20 }; /* bytes of the parameters of a call */

static int line_fail(struct dumpi *d, const char *what)
{
	char shown[44];

	return text_lines_fail(&d->lines, d->lines.no, d->err, "'%s': %s",
			       text_shown(shown, d->lines.line, d->lines.len),
			       what);
}

/* Reads SECONDS.NNNNNNNNN into ns. */
static int time_read(struct dumpi *d, const char *p, uint64_t *ns_p)
{
	int64_t s, ns;
	const char *dot = text_number(p, 0, INT32_MAX, &s);
	const char *end;

	if (!dot || *dot != '.')
		return line_fail(d, "a time would be SECONDS.NANOSECONDS");
	end = text_number(dot + 1, 0, 999999999, &ns);
	if (!end || end - dot != 10)
		return line_fail(d, "a time has nine digits behind its point");
	*ns_p = (uint64_t)s * 1000000000 + (uint64_t)ns;
	return 0;
}

/* Reads `NAME entering at walltime TIME, ..` or `NAME returning ..`. */
static int call_line(struct dumpi *d, const char *verb)
{
	size_t len = (size_t)(verb - d->lines.line);
	bool enters = !strncmp(verb, " entering", 9);
	const char *at = strstr(verb, " at walltime ");
	uint64_t time = 0;
	int ret = 0;

	if (len >= sizeof(d->name) || !at)
		return line_fail(d, "no call looks so");
	if (time_read(d, at + 13, &time))
		return -EINVAL;
	if (enters && d->name[0])
		return text_lines_fail(&d->lines, d->lines.no, d->err,
				       "%s of line %u has not returned",
				       d->name, d->line);
	if (enters) {
		memcpy(d->name, d->lines.line, len);
		d->name[len] = '\0';
		d->time = time;
		d->line = d->lines.no;
		d->params.n = 0;
		return 0;
	}
	if (strlen(d->name) != len || memcmp(d->name, d->lines.line, len))
		return line_fail(d, "this call was not entered");
	if (time < d->time)
		return line_fail(d, "it returns before it was entered");
	ret = dumpi_call(d);
	d->name[0] = '\0';
	return ret;
}

/* Keeps `TYPE NAME=VALUE` or `TYPE NAME[SIZE]=VALUE` of the present call as
 * `NAME=VALUE`. */
static int param_line(struct dumpi *d)
{
	const char *line = d->lines.line, *equals = strchr(line, '=');
	const char *name = line, *end;

	for (const char *p = line; equals && p < equals && *p != '['; p++)
		if (*p == ' ')
			name = p + 1;
	if (!equals || name == line)
		return line_fail(d, "a parameter would be TYPE NAME=VALUE");
	end = memchr(name, '[', (size_t)(equals - name));
	if (d->params.n + d->lines.len > PARAMS)
		return line_fail(d, "a call with so many parameters");
	for (const char *p = name; p < (end ? end : equals); p++)
		vec_push(&d->params, *p);
	for (const char *p = equals; *p; p++)
		vec_push(&d->params, *p);
	vec_push(&d->params, '\0');
	return 0;
}

/* Reads `Datatype N (NAME) has size S`. */
static int type_line(struct dumpi *d)
{
	const char *has = strstr(d->lines.line, " has size ");
	int64_t type, size;

	if (!has ||
	    !text_number(d->lines.line + 9, 0, DUMPI_TYPES - 1, &type) ||
	    !text_number(has + 10, -1, INT32_MAX, &size))
		return line_fail(d, "Datatype N (NAME) has size S would do");
	dumpi_type(d, (uint32_t)type, size);
	return 0;
}

/* Returns true for a line between calls that the import ignores. */
static bool line_idle(const char *line)
{
	static const char *const starts[] = {
		"Total keyvals: ",
		"Function address ",
		"Performance counters:",
		"Perfcounters: ",
	};
	const char *p = line;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(line, starts[i], strlen(starts[i])))
			return true;
	if (strstr(line, " times and ignored ") || !*line || *line == ' ')
		return true;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p > line && *p == '=';
}

static int line_read(struct dumpi *d)
{
	const char *line = d->lines.line, *verb;

	if (!strncmp(line, "Perfcounters: ", 14))
		return 0;
	verb = strchr(line, ' ');
	if (!strncmp(line, "MPI", 3) && verb &&
	    (!strncmp(verb, " entering ", 10) ||
	     !strncmp(verb, " returning ", 11)))
		return call_line(d, verb);
	if (d->name[0])
		return param_line(d);
	if (!strncmp(line, "Datatype ", 9))
		return type_line(d);
	if (line_idle(line))
		return 0;
	return line_fail(d, "no line of dumpi2ascii");
}

static int end_check(struct dumpi *d)
{
	if (d->name[0])
		return text_lines_fail(&d->lines, d->line, d->err,
				       "the file ends inside %s", d->name);
	if (!d->ended)
		return text_lines_fail(
			&d->lines, d->lines.no, d->err,
			"no MPI_Finalize before the end: is the file whole, and text of dumpi2ascii?");
	return dumpi_sizes(d);
}

/* Reads the file of a rank. */
static int rank_read(struct mpi_trace *t, uint32_t rank, const char *file,
		     struct weft_err *err)
{
	struct dumpi d = { .t = t, .rank = rank, .err = err };
	int ret = text_lines_open(&d.lines, file, err);
	uint32_t self;

	t->ranks[rank].file = file;
	if (!ret) {
		self = mpi_comm_add(t, &rank, 1);
		mpi_comm_call(&t->ranks[rank], DUMPI_COMM_WORLD, 0);
		mpi_comm_call(&t->ranks[rank], DUMPI_COMM_SELF, self);
		dumpi_types_init(&d);
		while ((ret = text_lines_next(&d.lines, err)) > 0)
			if (line_read(&d)) {
				ret = -EINVAL;
				break;
			}
		if (!ret)
			ret = end_check(&d);
	}
	text_lines_close(&d.lines);
	vec_free(&d.params);
	vec_free(&d.requests);
	vec_free(&d.types);
	return ret;
}

static void world_make(struct mpi_trace *t)
{
	uint32_t *all = need(calloc(t->n, sizeof(*all)));

	for (uint32_t i = 0; i < t->n; i++)
		all[i] = i;
	mpi_comm_add(t, all, t->n);
	free(all);
}

int import_dumpi(struct import *im, struct weft_err *err)
{
	struct mpi_trace t;
	const char **files = need(calloc(im->n_args + 1, sizeof(*files)));
	uint32_t n = 0;
	int ret = 0;

	mpi_trace_init(&t, im);
	files[n++] = im->file;
	for (size_t i = 0; i < im->n_args && ret >= 0; i++) {
		ret = mpi_trace_setting(&t, im->args[i], err);
		if (!ret && strchr(im->args[i], '=') &&
		    access(im->args[i], F_OK))
			ret = weft_fail(
				err, EINVAL,
				"%.60s: no such file, and no setting: cycle, packet and waits are settings",
				im->args[i]);
		if (!ret)
			files[n++] = im->args[i];
	}
	if (ret >= 0 && n > MPI_RANKS)
		ret = weft_fail(err, EINVAL, "more than %u files", MPI_RANKS);
	if (ret >= 0) {
		mpi_trace_ranks(&t, n);
		world_make(&t);
		ret = 0;
		for (uint32_t i = 0; i < n && !ret; i++)
			ret = rank_read(&t, i, files[i], err);
	}
	if (!ret)
		ret = mpi_trace_write(&t, err);
	mpi_trace_fini(&t);
	free(files);
	return ret;
}
