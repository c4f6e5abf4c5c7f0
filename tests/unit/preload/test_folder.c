/* SPDX-License-Identifier: Apache-2.0 */
/* rmdir keeps the folders in which Open MPI's jobs of one node meet, and
 * removes every other folder. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/preload.h"

static int removed_by_next;

static int next_rmdir(const char *path)
{
	removed_by_next++;
	return (int)syscall(SYS_rmdir, path);
}

void *pre_next(const char *name)
{
	assert_string_equal(name, "rmdir");
	return (void *)next_rmdir;
}

enum { PATH_ROOM = 200 };

/* Makes a folder below `base` and removes it. Returns true if it is gone. */
static bool removes(const char *base, const char *name)
{
	char path[PATH_ROOM];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", base, name);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(rmdir(path), 0);
	if (stat(path, &st))
		return true;
	assert_int_equal(syscall(SYS_rmdir, path), 0);
	return false;
}

static void folders_of_open_mpi_stay_and_others_go(void **state)
{
	char base[] = "/tmp/weft-folder-XXXXXX", inner[PATH_ROOM];

	assert_non_null(mkdtemp(base));
	snprintf(inner, sizeof(inner), "%s/ompi.n0.0", base);
	unsetenv("OMPI_MCA_orte_tmpdir_base");
	setenv("WEFT_SOCKET", "s", 1);
	assert_true(removes(base, "/ompi.n0.0"));
	setenv("OMPI_MCA_orte_tmpdir_base", "", 1);
	assert_true(removes(base, "/ompi.n0.0"));
	setenv("OMPI_MCA_orte_tmpdir_base", base, 1);
	assert_false(removes(base, "/ompi.n0.0"));
	assert_true(removes(base, "/ompx.n0.0"));
	assert_true(removes(base, "x"));
	/* the folder of one job, inside the shared one */
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_true(removes(inner, "/jf.1"));
	assert_int_equal(syscall(SYS_rmdir, inner), 0);
	unsetenv("WEFT_SOCKET");
	assert_true(removes(base, "/ompi.n0.0"));
	assert_int_equal(rmdir(base), 0);
	assert_true(removed_by_next > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_of_open_mpi_stay_and_others_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
