/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that the processes load: the provider of libfabric (by
 * FI_PROVIDER_PATH) and libweft-time.so (by LD_PRELOAD).  They are beside the
 * program, in ../WEFT_LIBDIR/weft, or in the build folder. */
#include "front/exec/mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool exec_lib_dir(const char *file, char *dir, size_t size)
{
	static const char *const places[] = { "",
					      "/../" WEFT_LIBDIR "/weft",
					      "/../provider",
					      "/../preload",
					      "/../nbd",
					      "/../../bench" };
	const char *given = getenv("WEFT_LIBS");
	char exe[4096], path[8192], *end;
	ssize_t n;

	if (given && *given) {
		snprintf(dir, size, "%s", given);
		snprintf(path, sizeof(path), "%s/%s", given, file);
		return access(path, R_OK) == 0;
	}
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	end = strrchr(exe, '/');
	if (!end)
		return false;
	*end = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(dir, size, "%s%s", exe, places[i]);
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

bool exec_plain(struct exec_job *j, const char *name, char *path, size_t size)
{
	struct weft_err err;
	char link[4300];

	if (!path[strcspn(path, " \t:;")])
		return true;
	if (exec_folder(j, &err))
		return false;
	snprintf(link, sizeof(link), "%s/%s", j->folder, name);
	if (link[strcspn(link, " \t:;")] ||
	    (symlink(path, link) && errno != EEXIST))
		return false;
	snprintf(path, size, "%s", link);
	return true;
}

bool exec_libs(struct exec_job *j)
{
	const char *has = getenv("LD_PRELOAD");
	char dir[4300];

	/* libweft-time.so is first, because it passes calls on to the user's
	 * libraries. */
	if (exec_lib_dir("libweft-time.so", dir, sizeof(dir)) &&
	    exec_plain(j, "time", dir, sizeof(dir)))
		exec_env(j, "LD_PRELOAD", "%s/libweft-time.so%s%s", dir,
			 has && *has ? ":" : "", has ? has : "");
	if (!exec_lib_dir("libweft-fi.so", dir, sizeof(dir)) ||
	    !exec_plain(j, "fi", dir, sizeof(dir)))
		return false;
	exec_env(j, "FI_PROVIDER_PATH", "%s", dir);
	exec_env(j, "FI_PROVIDER", "weft");
	return true;
}
