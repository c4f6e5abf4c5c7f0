/* SPDX-License-Identifier: Apache-2.0 */
#include "front/out/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *out_temp(const char *path)
{
	mode_t mask = umask(0);
	char *tmp;
	int fd;

	umask(mask);
	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		abort();
	fd = mkstemp(tmp);
	if (fd < 0) {
		free(tmp);
		return NULL;
	}
	fchmod(fd, 0666 & ~mask);
	close(fd);
	return tmp;
}

/* Returns true for a pipe or a device, because a rename cannot replace
 * these. */
static bool in_place(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int out_file_open(struct out_file *o, const char *option, const char *path,
		  struct weft_err *err)
{
	int code;

	*o = (struct out_file){ .option = option, .path = strdup(path) };
	if (!o->path)
		abort();
	if (!in_place(path))
		o->tmp = out_temp(path);
	if (o->tmp || in_place(path))
		o->f = fopen(o->tmp ? o->tmp : path, "w");
	if (o->f)
		return 0;
	code = errno;
	if (o->tmp)
		unlink(o->tmp);
	free(o->tmp);
	free(o->path);
	return weft_fail(err, code, "%s %.200s: cannot write: %s", option, path,
			 strerror(code));
}

bool out_file_full(struct out_file *o)
{
	if (!o->over && o->limit && o->tmp)
		o->over = (uint64_t)ftello(o->f) >= o->limit;
	return o->over;
}

int out_file_close(struct out_file *o, bool keep, struct weft_err *err)
{
	int ret = 0;
	bool bad;

	errno = 0;
	bad = ferror(o->f);
	bad |= fclose(o->f) != 0;
	if (keep && !bad && o->tmp)
		bad = rename(o->tmp, o->path) != 0;
	if (keep && bad)
		ret = weft_fail(err, errno ? errno : EIO,
				"%s %.200s: cannot write it all: %s", o->option,
				o->path,
				errno ? strerror(errno) : "is the disk full?");
	else if (keep && o->over)
		ret = weft_fail(
			err, EFBIG,
			"%s %.200s: more than %" PRIu64
			" bytes: the file ends early: --file-limit SIZE allows more",
			o->option, o->path, o->limit);
	if (o->tmp && (!keep || bad))
		unlink(o->tmp);
	free(o->tmp);
	free(o->path);
	return ret;
}

/* ---- names ---- */

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns the name of the file in its folder. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool folder_of(const char *path, struct stat *st)
{
	size_t n = (size_t)(name_of(path) - path);
	char *dir = n ? strndup(path, n) : strdup(".");
	bool there = dir && !stat(dir, st);

	free(dir);
	return there;
}

/* Returns true if both names lead to one file. Compares folder and name,
 * because a file that does not exist yet has no inode. */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	if (!stat(a, &sa) && !stat(b, &sb))
		return same_inode(&sa, &sb) && S_ISREG(sa.st_mode);
	return !strcmp(name_of(a), name_of(b)) && folder_of(a, &sa) &&
	       folder_of(b, &sb) && same_inode(&sa, &sb);
}

int out_names_differ(const struct out_name *names, struct weft_err *err)
{
	for (const struct out_name *a = names; a->option; a++)
		for (const struct out_name *b = names; b < a; b++)
			if (a->path && b->path && same_file(a->path, b->path))
				return weft_fail(
					err, EEXIST,
					"%s %.200s: that file is also %s: choose another name",
					a->option, a->path, b->option);
	return 0;
}
