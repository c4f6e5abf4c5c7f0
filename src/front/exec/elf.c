/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the libraries that a program is linked with, directly or through other
 * libraries. The loader of glibc lists them without running the program
 * (LD_TRACE_LOADED_OBJECTS). Any other loader would run the program, therefore
 * the file is checked first. */
#include "front/exec/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool elf_find(const char *program, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	size_t n;

	if (strchr(program, '/')) {
		snprintf(path, size, "%s", program);
		return access(path, X_OK) == 0;
	}
	for (; dirs && *dirs; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		snprintf(path, size, "%.*s/%s", (int)n, dirs, program);
		if (n && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Returns true for a 64-bit program whose interpreter is the loader of
 * glibc. */
static bool has_loader(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char name[256] = "";
	const char *base = NULL;
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (fd < 0)
		return false;
	if (read(fd, &h, sizeof(h)) != sizeof(h) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(p))
		h.e_phnum = 0;
	for (int i = 0; i < h.e_phnum && !base; i++) {
		off_t at = (off_t)(h.e_phoff + (size_t)i * sizeof(p));

		if (pread(fd, &p, sizeof(p), at) == sizeof(p) &&
		    p.p_type == PT_INTERP && p.p_filesz < sizeof(name) &&
		    pread(fd, name, p.p_filesz, (off_t)p.p_offset) > 0)
			base = strrchr(name, '/');
	}
	close(fd);
	return base && (!strncmp(base, "/ld-linux", 9) ||
			!strncmp(base, "/ld64.so", 8));
}

static FILE *list_open(const char *path, pid_t *pid_p)
{
	int p[2];
	FILE *f;

	if (pipe2(p, O_CLOEXEC))
		return NULL;
	fflush(NULL);
	*pid_p = fork();
	if (!*pid_p) {
		dup2(p[1], STDOUT_FILENO);
		setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
		unsetenv("LD_PRELOAD");
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	f = *pid_p > 0 ? fdopen(p[0], "r") : NULL;
	if (!f)
		close(p[0]);
	return f;
}

/* Returns true if the line names this library. Lines are "<tab>libmpi.so.12 =>
 * /opt/lib/libmpi.so.12 (0x7f...)" or end in "=> not found". */
static bool elf_is(const char *line, const char *name)
{
	size_t n = strlen(name);

	line += strspn(line, "\t ");
	return !strncmp(line, name, n) && line[n] == ' ';
}

bool elf_libs_of(const char *program, struct elf_libs *l)
{
	char path[4096], line[4096];
	pid_t pid = -1;
	FILE *f;

	*l = (struct elf_libs){ 0 };
	if (!elf_find(program, path, sizeof(path)) || !has_loader(path))
		return false;
	f = list_open(path, &pid);
	while (f && fgets(line, sizeof(line), f)) {
		const char *from = strchr(line, '/'), *to = strrchr(line, '(');
		bool openmpi = elf_is(line, "libmpi.so.40");
		bool mpich = elf_is(line, "libmpi.so.12") ||
			     elf_is(line, "libmpich.so.12");

		l->openmpi |= openmpi;
		l->mpich |= mpich;
		l->libfabric |= elf_is(line, "libfabric.so.1");
		l->ucx |= elf_is(line, "libucp.so.0");
		if ((openmpi || mpich) && from && to && to > from)
			snprintf(l->mpi, sizeof(l->mpi), "%.*s",
				 (int)(to - from - 1), from);
	}
	if (f)
		fclose(f);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return f != NULL;
}
