/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of Open MPI: by its mpirun, with the settings that make all traffic
 * take the provider. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "front/exec/elf.h"
#include "front/exec/mpi.h"

static bool openmpi_fits(const struct exec_job *j)
{
	struct elf_libs l;

	return elf_libs_of(j->argv[0], &l) && l.openmpi;
}

/* Debian's own configuration turns OFI off. */
static const char *const openmpi_settings[][2] = {
	{ "OMPI_MCA_pml", "cm" },
	{ "OMPI_MCA_mtl", "ofi" },
	{ "OMPI_MCA_btl", "self,ofi" },
	{ "OMPI_MCA_opal_common_ofi_provider_include", "weft" },
	{ "OMPI_MCA_oob_tcp_if_include", "lo" },
	{ "OMPI_MCA_plm_rsh_no_tree_spawn", "1" },
	{ "OMPI_MCA_hwloc_base_binding_policy", "none" },
	{ "OMPI_MCA_rmaps_base_oversubscribe", "1" },
	/* osc/rdma asks btl/ofi for operations that it does not have (4.1) */
	{ "OMPI_MCA_osc_rdma_acc_use_amo", "0" },
	/* the provider sleeps; nobody is to spin beside it */
	{ "OMPI_MCA_mpi_yield_when_idle", "1" },
	{ NULL, NULL },
};

/* Everything Open MPI writes goes away with the job. */
static void openmpi_files(struct exec_job *j)
{
	exec_env(j, "OMPI_MCA_orte_tmpdir_base", "%s", j->folder);
	exec_env(j, "OMPI_MCA_osc_rdma_backing_directory", "%s", j->folder);
	exec_env(j, "OMPI_MCA_osc_sm_backing_directory", "%s", j->folder);
	exec_env(j, "PMIX_MCA_gds", "hash");
}

static void openmpi_env(struct exec_job *j)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	mpi_settings(j, openmpi_settings);
	self[n > 0 ? n : 0] = '\0';
	exec_env(j, "OMPI_MCA_plm_rsh_agent", "%s exec --rsh", self);
	exec_env(j, "OMPI_MCA_plm_rsh_num_concurrent", "%u", j->n + 1);
	if (geteuid() == 0) {
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT", "1");
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
	}
	openmpi_files(j);
}

/* In order of ranks: the node of each. */
static void openmpi_hosts(const struct exec_job *j, struct mpi_args *a)
{
	char *list = malloc((size_t)j->n * EXEC_HOST + 1), *p = list;

	if (!list)
		abort();
	for (uint32_t i = 0; i < j->n; i++) {
		char host[EXEC_HOST];

		exec_host_address(j->map[i], host);
		p += sprintf(p, "%s%s", i ? "," : "", host);
	}
	mpi_arg(a, "-H");
	vec_push(a, list);
}

static int openmpi_start(struct exec_job *j, struct weft_err *err)
{
	static const char *const names[] = { "mpirun.openmpi", "orterun",
					     "mpirun", NULL };
	static const struct mpi_starter starter = {
		"Open MPI (Debian: "
		"openmpi-bin)",
		names, "mpiexec.hydra"
	};
	struct mpi_args a = { 0 };
	struct elf_libs l;
	char mpirun[4096];
	int ret = mpi_need_provider(err);

	elf_libs_of(j->argv[0], &l);
	if (!ret)
		ret = mpi_find(j, &starter, l.mpi, mpirun, sizeof(mpirun), err);
	if (!ret)
		ret = exec_folder(j, err);
	if (ret)
		return ret;
	openmpi_env(j);
	mpi_arg(&a, "%s", mpirun);
	mpi_arg(&a, "-n");
	mpi_arg(&a, "%u", j->n);
	openmpi_hosts(j, &a);
	mpi_arg(&a, "--map-by");
	mpi_arg(&a, "seq");
	mpi_arg(&a, "--bind-to");
	mpi_arg(&a, "none");
	return mpi_spawn(j, &a, err);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	if (at->level > 0)
		remove(path);
	return 0;
}

static void files_end(struct exec_job *j)
{
	if (j->folder)
		nftw(j->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const struct exec_launcher exec_openmpi = {
	.name = "openmpi",
	.doc = "by Open MPI's mpirun; each node a machine of its own",
	.fits = openmpi_fits,
	.start = openmpi_start,
	.end = files_end,
};
