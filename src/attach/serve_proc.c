/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from /proc whether the threads of another process run, sleep or are
 * stopped. */
#include <dirent.h>
#include <stdio.h>

#include "attach/serve_internal.h"

size_t att_slurp(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f) {
		n = fread(buf, 1, size - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
	return n;
}

/* Returns the state letter of a thread ('S' and so on), or 0 if the thread
 * does not exist. Adds its processor time to *ran_p. */
static char thread_state(int pid, const char *tid, uint64_t *ran_p)
{
	char path[64], buf[512], *p;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", pid, tid);
	if (att_slurp(path, buf, sizeof(buf)))
		*ran_p += strtoull(buf, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, tid);
	att_slurp(path, buf, sizeof(buf));
	p = strrchr(buf, ')');
	return p && p[1] ? p[2] : '\0';
}

enum att_doing att_doing(int pid, uint64_t *ran_p)
{
	enum att_doing doing = ATT_ASLEEP;
	struct dirent *e;
	char path[32];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	/* The process has ended, or no descriptor is free. The process does not
	 * count as asleep, because its state is unknown. */
	if (!d)
		return ATT_BUSY;
	while ((e = readdir(d))) {
		char st;

		if (e->d_name[0] == '.')
			continue;
		st = thread_state(pid, e->d_name, ran_p);
		if (st == 'T' || st == 't')
			doing = ATT_STOPPED;
		else if (st != 'S' && st != 'Z' && st && doing == ATT_ASLEEP)
			doing = ATT_BUSY;
	}
	closedir(d);
	return doing;
}
