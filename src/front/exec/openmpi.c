/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs of Open MPI by its mpirun, with settings that send all traffic
 * through the provider. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/exec/elf.h"
#include "front/exec/mpi.h"

static const char *const openmpi_names[] = { "mpirun.openmpi", "orterun",
					     "mpirun", NULL };
static const struct mpi_starter openmpi_starter = {
	"Open MPI (Debian: openmpi-bin)", "orterun", "mpiexec.hydra",
	openmpi_names, false
};

static bool openmpi_fits(const struct exec_job *j)
{
	struct elf_libs l;

	return (elf_libs_of(j->argv[0], &l) && l.openmpi) ||
	       mpi_given(j, &openmpi_starter);
}

/* Settings for all runs. OFI is named explicitly, because Debian's
 * configuration turns it off. */
static const char *const openmpi_settings[][2] = {
	{ "OMPI_MCA_pml", "cm" },
	{ "OMPI_MCA_mtl", "ofi" },
	{ "OMPI_MCA_btl", "self,ofi" },
	{ "OMPI_MCA_opal_common_ofi_provider_include", "weft" },
	{ "OMPI_MCA_oob_tcp_if_include", "lo" },
	{ "OMPI_MCA_plm_rsh_no_tree_spawn", "1" },
	/* With this setting mpirun detects a daemon that died before it was
	 * connected. */
	{ "OMPI_MCA_orte_leave_session_attached", "1" },
	{ "OMPI_MCA_hwloc_base_binding_policy", "none" },
	{ "OMPI_MCA_rmaps_base_oversubscribe", "1" },
	{ "OMPI_MCA_rmaps_base_mapping_policy", "seq" },
	/* Accumulates do not use atomics, because osc/rdma asks btl/ofi for
	 * operations that btl/ofi lacks (Open MPI 4.1). */
	{ "OMPI_MCA_osc_rdma_acc_use_amo", "0" },
	/* Ranks need not spin, because the provider sleeps while it waits. */
	{ "OMPI_MCA_mpi_yield_when_idle", "1" },
	{ NULL, NULL },
};
/* Settings of timed runs. Memory must not stay registered after a transfer.
 * Later transfers would be cheaper if their memory happened to have an address
 * that is still registered, and times would differ from run to run. */
static const char *const openmpi_timed[][2] = {
	{ "OMPI_MCA_mpi_leave_pinned", "0" },
	{ NULL, NULL },
};

/* Returns true if osc/rdma of Open MPI 4.1 cannot be used. osc/rdma stores the
 * state of rank r on node r / ceil(ranks / nodes), but looks for that state on
 * node r * nodes / ranks. If these nodes differ for a rank, osc/rdma uses the
 * state of another rank. */
static bool openmpi_miscounts(const struct exec_job *j)
{
	uint64_t nodes = 0, each;
	uint32_t most = 0;
	bool *used;

	for (uint32_t i = 0; i < j->n; i++)
		most = j->map[i] > most ? j->map[i] : most;
	used = calloc(most + 1, sizeof(*used));
	if (!used)
		abort();
	for (uint32_t i = 0; i < j->n; i++) {
		nodes += !used[j->map[i]];
		used[j->map[i]] = true;
	}
	free(used);
	each = (j->n + nodes - 1) / nodes;

	for (uint64_t r = 0; r < j->n; r++)
		if (r / each != r * nodes / j->n)
			return true;
	return false;
}

static void openmpi_env(struct exec_job *j)
{
	char self[4300];
	ssize_t n = readlink("/proc/self/exe", self, 4095);

	mpi_settings(j, openmpi_settings);
	if (j->clock != WEFT_CLOCK_NONE)
		mpi_settings(j, openmpi_timed);
	self[n > 0 ? n : 0] = '\0';
	exec_plain(j, "weft", self, sizeof(self));
	exec_env(j, "OMPI_MCA_plm_rsh_agent", "%s exec --rsh", self);
	exec_env(j, "OMPI_MCA_plm_rsh_num_concurrent", "%u", j->n + 1);
	if (geteuid() == 0) {
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT", "1");
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
	}
	if (openmpi_miscounts(j) && !getenv("OMPI_MCA_osc"))
		exec_env(j, "OMPI_MCA_osc", "pt2pt,sm");
	/* Open MPI puts its files into the job's folder, so that they are
	 * removed with the folder. */
	exec_env(j, "OMPI_MCA_orte_tmpdir_base", "%s", j->folder);
	exec_env(j, "OMPI_MCA_osc_rdma_backing_directory", "%s", j->folder);
	exec_env(j, "OMPI_MCA_osc_sm_backing_directory", "%s", j->folder);
	exec_env(j, "PMIX_MCA_gds", "hash");
}

int openmpi_settle(struct exec_job *j, struct weft_err *err)
{
	char path[4200], host[EXEC_HOST];
	int ret = exec_folder(j, err);
	FILE *f;

	if (ret)
		return ret;
	/* The file has the node of each rank, in the order of ranks. */
	snprintf(path, sizeof(path), "%s/hosts", j->folder);
	f = fopen(path, "w");
	for (uint32_t i = 0; f && i < j->n; i++) {
		exec_host_address(j->map[i], host);
		fprintf(f, "%s\n", host);
	}
	if (!f || fclose(f))
		return weft_fail(err, errno, "exec: %.200s: %s", path,
				 strerror(errno));
	exec_env(j, "OMPI_MCA_orte_default_hostfile", "%s", path);
	openmpi_env(j);
	return 0;
}

static int openmpi_start(struct exec_job *j, struct weft_err *err)
{
	struct mpi_args a = { 0 };
	struct elf_libs l;
	int ret = mpi_need_provider(err);

	elf_libs_of(j->argv[0], &l);
	if (!ret)
		ret = mpi_command(j, &openmpi_starter, l.mpi, &a, err);
	if (!ret)
		ret = openmpi_settle(j, err);
	return ret ? ret : mpi_spawn(j, &a, err);
}

const struct exec_launcher exec_openmpi = {
	.name = "openmpi",
	.doc = "by Open MPI's mpirun; each node a machine of its own",
	.fits = openmpi_fits,
	.start = openmpi_start,
};
