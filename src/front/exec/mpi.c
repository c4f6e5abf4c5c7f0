/* SPDX-License-Identifier: Apache-2.0 */
/* MPI programs: by Open MPI's mpirun, or that of an MPICH built on libfabric,
 * with the settings that make all traffic take the provider. */
#include "front/exec/mpi.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/exec/elf.h"

struct args {
	VEC(char *);
};

static void arg(struct args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void arg(struct args *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	vec_push(a, s);
}

static int spawn(struct exec_job *j, struct args *a, struct weft_err *err)
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

/* The first of several names that PATH has. */
static const char *in_path(const char *const *names)
{
	const char *path = getenv("PATH");
	char file[4096];

	for (; *names; names++)
		for (const char *d = path; d && *d;
		     d += strcspn(d, ":") + (d[strcspn(d, ":")] == ':')) {
			snprintf(file, sizeof(file), "%.*s/%s",
				 (int)strcspn(d, ":"), d, *names);
			if (!access(file, X_OK))
				return *names;
		}
	return NULL;
}

static int need_provider(struct exec_job *j, struct weft_err *err)
{
	char dir[4200];

	if (exec_lib_dir("libweft-fi.so", dir, sizeof(dir)))
		return 0;
	return weft_fail(err, ENOENT,
			 "exec: no libweft-fi.so beside weft: it is built "
			 "where libfabric-dev is installed");
}

/* The user's own setting wins. */
static void setting(struct exec_job *j, const char *name, const char *value)
{
	if (!getenv(name))
		exec_env(j, name, "%s", value);
}

/* ---- Open MPI ---- */

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
	/* looking for graphics takes longer than all the rest */
	{ "HWLOC_COMPONENTS", "-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero,-pci" },
	/* osc/rdma asks btl/ofi for operations that it does not have (4.1) */
	{ "OMPI_MCA_osc_rdma_acc_use_amo", "0" },
	/* the provider sleeps; nobody is to spin beside it */
	{ "OMPI_MCA_mpi_yield_when_idle", "1" },
	{ NULL, NULL },
};

/* Small pieces for names whose length is not the same in every run (preload,
 * heap.c). */
static void heap_env(struct exec_job *j)
{
	const char *has = getenv("GLIBC_TUNABLES");

	exec_env(j, "GLIBC_TUNABLES", "%s%sglibc.malloc.tcache_count=64",
		 has ? has : "", has ? ":" : "");
}

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

	for (size_t i = 0; openmpi_settings[i][0]; i++)
		setting(j, openmpi_settings[i][0], openmpi_settings[i][1]);
	self[n > 0 ? n : 0] = '\0';
	exec_env(j, "OMPI_MCA_plm_rsh_agent", "%s exec --rsh", self);
	exec_env(j, "OMPI_MCA_plm_rsh_num_concurrent", "%u", j->n + 1);
	if (geteuid() == 0) {
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT", "1");
		exec_env(j, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
	}
	openmpi_files(j);
	heap_env(j);
}

/* In order of ranks: the node of each. */
static void openmpi_hosts(const struct exec_job *j, struct args *a)
{
	char *list = malloc((size_t)j->n * EXEC_HOST + 1), *p = list;

	if (!list)
		abort();
	for (uint32_t i = 0; i < j->n; i++) {
		char host[EXEC_HOST];

		exec_host_address(j->map[i], host);
		p += sprintf(p, "%s%s", i ? "," : "", host);
	}
	arg(a, "-H");
	vec_push(a, list);
}

static int openmpi_start(struct exec_job *j, struct weft_err *err)
{
	static const char *const names[] = { "mpirun.openmpi", "orterun",
					     "mpirun", NULL };
	const char *mpirun = in_path(names);
	struct args a = { 0 };
	int ret = need_provider(j, err);

	if (!ret && !mpirun)
		ret = weft_fail(err, ENOENT,
				"exec: no mpirun of Open MPI in PATH (Debian: "
				"openmpi-bin)");
	if (!ret)
		ret = exec_folder(j, err);
	if (ret)
		return ret;
	openmpi_env(j);
	arg(&a, "%s", mpirun);
	arg(&a, "-n");
	arg(&a, "%u", j->n);
	openmpi_hosts(j, &a);
	arg(&a, "--map-by");
	arg(&a, "seq");
	arg(&a, "--bind-to");
	arg(&a, "none");
	return spawn(j, &a, err);
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

/* ---- MPICH ---- */

static bool mpich_fits(const struct exec_job *j)
{
	struct elf_libs l;

	return elf_libs_of(j->argv[0], &l) && l.mpich;
}

static int mpich_start(struct exec_job *j, struct weft_err *err)
{
	static const char *const names[] = { "mpiexec.hydra", "mpirun.mpich",
					     "mpiexec", NULL };
	const char *mpiexec = in_path(names);
	struct elf_libs l;
	struct args a = { 0 };
	int ret = need_provider(j, err);

	if (ret)
		return ret;
	if (elf_libs_of(j->argv[0], &l) && l.mpich && !l.libfabric)
		return weft_fail(err, EOPNOTSUPP,
				 "exec: '%.200s' uses an MPICH without "
				 "libfabric (Debian's has UCX): one built with "
				 "--with-device=ch4:ofi is needed",
				 j->argv[0]);
	if (!mpiexec)
		return weft_fail(err, ENOENT, "exec: no mpiexec in PATH");
	heap_env(j);
	setting(j, "MPIR_CVAR_NOLOCAL", "1");
	setting(j, "HYDRA_IFACE", "lo");
	setting(j, "HYDRA_LAUNCHER", "fork");
	arg(&a, "%s", mpiexec);
	arg(&a, "-n");
	arg(&a, "%u", j->n);
	return spawn(j, &a, err);
}

const struct exec_launcher exec_mpich = {
	.name = "mpich",
	.doc = "by mpiexec of an MPICH built on libfabric (ch4:ofi)",
	.fits = mpich_fits,
	.start = mpich_start,
};
