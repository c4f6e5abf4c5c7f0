/* SPDX-License-Identifier: Apache-2.0 */
/* A script that calls mpirun or mpiexec itself, any number of times, also in
 * parallel. The script is started once, with the settings of all MPIs. */
#include "front/exec/mpi.h"

static bool script_fits(const struct exec_job *j)
{
	return false; /* The user chooses this launcher by --mpi, because a
		       * script does not show which MPI it uses. */
}

static int script_start(struct exec_job *j, struct weft_err *err)
{
	int ret = mpi_need_provider(err);

	if (!ret)
		ret = openmpi_settle(j, err);
	if (ret)
		return ret;
	mpich_settle(j);
	return exec_spawn(j, j->argv, NULL, err);
}

const struct exec_launcher exec_script = {
	.name = "script",
	.doc = "one process, which calls mpirun or mpiexec itself",
	.fits = script_fits,
	.start = script_start,
};
