/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the launchers of MPI programs: finds the command that starts
 * the ranks, and passes the settings and the provider to it. */
#include "front/exec/mpi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/exec/elf.h"

void mpi_arg(struct mpi_args *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	vec_push(a, s);
}

int mpi_spawn(struct exec_job *j, struct mpi_args *a, struct weft_err *err)
{
	size_t own = a->n;
	int ret;

	for (char **w = j->argv; *w; w++)
		vec_push(a, *w);
	vec_push(a, NULL);
	ret = exec_spawn(j, a->at, NULL, err);
	for (size_t i = 0; i < own; i++)
		free(a->at[i]);
	vec_free(a);
	return ret;
}

int mpi_need_provider(struct weft_err *err)
{
	char dir[4200];

	if (exec_lib_dir("libweft-fi.so", dir, sizeof(dir)))
		return 0;
	return weft_fail(
		err, ENOENT,
		"exec: no libweft-fi.so beside weft: it is built where libfabric-dev is installed");
}

void mpi_settings(struct exec_job *j, const char *const (*s)[2])
{
	static const char *const all[][2] = {
		/* These components of hwloc are off, because their search for
		 * graphics cards takes longer than all other steps of a
		 * start. */
		{ "HWLOC_COMPONENTS",
		  "-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero,-pci" },
		{ NULL, NULL },
	};

	for (int i = 0; i < 2; i++)
		for (const char *const(*v)[2] = i ? s : all; (*v)[0]; v++)
			if (!getenv((*v)[0]))
				exec_env(j, (*v)[0], "%s", (*v)[1]);
}

/* ---- the command that starts ranks: mpirun or mpiexec ---- */

/* Returns true if the path leads, through all links, to a file of this name. */
static bool is_file(const char *path, const char *name)
{
	char *real = realpath(path, NULL);
	const char *base = real ? strrchr(real, '/') : NULL;
	bool yes = base && !strcmp(base + 1, name);

	free(real);
	return yes;
}

static int mpi_find(const struct exec_job *j, const struct mpi_starter *s,
		    const char *lib, char *path, size_t size,
		    struct weft_err *err)
{
	static const char *const up[] = { "/../bin", "/../../bin", NULL };
	const char *end = strrchr(lib, '/');
	if (j->mpiexec) {
		if (elf_find(j->mpiexec, path, size))
			return 0;
		return weft_fail(err, ENOENT,
				 "exec: --mpiexec '%.200s': no such program",
				 j->mpiexec);
	}
	/* The command is in PREFIX/bin. The library is in PREFIX/lib or
	 * PREFIX/lib/MACHINE. */
	for (const char *const *u = up; end && *u; u++)
		for (const char *const *n = s->names; *n; n++) {
			snprintf(path, size, "%.*s%s/%s", (int)(end - lib), lib,
				 *u, *n);
			if (!access(path, X_OK) && !is_file(path, s->others))
				return 0;
		}
	for (const char *const *n = s->names; *n; n++)
		if (elf_find(*n, path, size) && !is_file(path, s->others))
			return 0;
	return weft_fail(
		err, ENOENT,
		"exec: no %s of %s in bin beside its library, nor in PATH: name it with --mpiexec",
		s->names[0], s->of);
}

bool mpi_given(const struct exec_job *j, const struct mpi_starter *s)
{
	char path[4096];

	return elf_find(j->argv[0], path, sizeof(path)) &&
	       is_file(path, s->real);
}

/* Refuses a program that is linked with another MPI than the command that
 * starts it, because each of its ranks would start a separate job. */
static int same_mpi(const struct exec_job *j, const struct mpi_starter *s,
		    struct weft_err *err)
{
	struct elf_libs l;

	for (char **w = j->argv + 1; *w; w++) {
		if (!elf_libs_of(*w, &l) || l.openmpi == l.mpich)
			continue;
		if (l.mpich == s->mpich)
			return 0;
		return weft_fail(
			err, EINVAL,
			"exec: '%.100s' is of %s, but '%.100s' of the MPI %.100s: take that one's",
			j->argv[0], s->of, *w, l.mpi);
	}
	return 0;
}

int mpi_command(const struct exec_job *j, const struct mpi_starter *s,
		const char *lib, struct mpi_args *a, struct weft_err *err)
{
	char path[4096];
	int ret;

	if (mpi_given(j, s))
		return same_mpi(j, s, err);
	ret = mpi_find(j, s, lib, path, sizeof(path), err);
	if (ret)
		return ret;
	mpi_arg(a, "%s", path);
	mpi_arg(a, "-n");
	mpi_arg(a, "%u", j->n);
	return 0;
}
