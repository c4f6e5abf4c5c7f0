/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs of an MPICH on libfabric (device ch4:ofi) by its mpiexec
 * (Hydra), which starts all ranks on this computer. Each rank gets the name of
 * its node by the environment. A user's own command line of mpiexec gets these
 * settings, too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/exec/elf.h"
#include "front/exec/mpi.h"

static const char *const mpich_names[] = { "mpiexec.hydra", "mpiexec.mpich",
					   "mpirun.mpich", "mpiexec", NULL };
static const struct mpi_starter mpich_starter = { "MPICH", "mpiexec.hydra",
						  "orterun", mpich_names,
						  true };

static bool mpich_fits(const struct exec_job *j)
{
	struct elf_libs l;

	return (elf_libs_of(j->argv[0], &l) && l.mpich) ||
	       mpi_given(j, &mpich_starter);
}

static int check_device(const char *program, const struct elf_libs *l,
			struct weft_err *err)
{
	if (!program || l->libfabric)
		return 0;
	if (!l->mpi[0])
		return weft_fail(
			err, ENOENT,
			"exec: the MPICH of '%.160s' is not found: LD_LIBRARY_PATH",
			program);
	return weft_fail(
		err, EOPNOTSUPP,
		"exec: '%.100s' uses the MPICH %.100s, which is not built on libfabric%s: compile it with the mpicc of an MPICH configured with --with-device=ch4:ofi --with-libfabric=/usr, or with Open MPI's",
		program, l->mpi, l->ucx ? " but on UCX (as Debian's is)" : "");
}

static const char *const mpich_settings[][2] = {
	/* Shared memory is off, because ranks must not bypass the fabric. */
	{ "MPIR_CVAR_NOLOCAL", "1" },
	{ "HYDRA_IFACE", "lo" },
	{ "HYDRA_LAUNCHER", "fork" },
	{ "HYDRA_RMK", "user" },
	{ NULL, NULL },
};

void mpich_settle(struct exec_job *j)
{
	/* List of the nodes of all ranks, from which ranks take their host
	 * name. */
	char *list = malloc((size_t)j->n * 12 + 1), *p = list;

	if (!list)
		abort();
	mpi_settings(j, mpich_settings);
	*p = '\0';
	for (uint32_t i = 0; i < j->n; i++)
		p += sprintf(p, "%s%u", i ? "," : "", j->map[i]);
	exec_env(j, "WEFT_MAP", "%s", list);
	free(list);
}

static int mpich_start(struct exec_job *j, struct weft_err *err)
{
	struct elf_libs l = { 0 };
	struct mpi_args a = { 0 };
	char **program = j->argv;
	int ret = mpi_need_provider(err);

	/* Finds the first word that is a program of MPICH. Scripts are not
	 * searched. */
	while (*program && !(elf_libs_of(*program, &l) && l.mpich))
		program++;
	if (!*program)
		l = (struct elf_libs){ 0 };
	if (!ret)
		ret = check_device(*program, &l, err);
	if (!ret)
		ret = mpi_command(j, &mpich_starter, l.mpi, &a, err);
	if (ret)
		return ret;
	mpich_settle(j);
	return mpi_spawn(j, &a, err);
}

const struct exec_launcher exec_mpich = {
	.name = "mpich",
	.doc = "by mpiexec of an MPICH built on libfabric (ch4:ofi)",
	.fits = mpich_fits,
	.start = mpich_start,
};
