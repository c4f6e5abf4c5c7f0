/* SPDX-License-Identifier: Apache-2.0 */
/* Loading programs, see host_main_load.h.  ELF, 64 bit: the references of a
 * shared object are the relocations JUMP_SLOT and GLOB_DAT of its dynamic
 * section. */
#include "systems/hvia/programs/host_main_load.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { REL_JUMP = R_X86_64_JUMP_SLOT, REL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { REL_JUMP = R_AARCH64_JUMP_SLOT, REL_DATA = R_AARCH64_GLOB_DAT };
#else
enum { REL_JUMP = -1, REL_DATA = -1 };
#endif

/* ---- a private copy ---- */

/* Copies the file to memory. Without the copy all instances would share one
 * object, because the loader identifies files by their inode. */
static int copy_open(const char *file)
{
	int from = open(file, O_RDONLY | O_CLOEXEC), to;
	char buf[65536];
	ssize_t n = 0;
	bool ok;

	if (from < 0)
		return -1;
	to = memfd_create("program", MFD_CLOEXEC);
	ok = to >= 0;
	while (ok && (n = read(from, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0, k; ok && at < n; at += k) {
			k = write(to, buf + at, (size_t)(n - at));
			ok = k > 0;
		}
	if (to >= 0 && (!ok || n < 0)) {
		close(to);
		to = -1;
	}
	close(from);
	return to;
}

void *main_load(const char *file, int *fd_p, char *why, size_t size)
{
	int fd = copy_open(file);
	char path[64];
	void *dl;

	if (fd < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!dl) {
		const char *said = dlerror();

		/* skips the name of the copy, because the user does not know
		 * it */
		if (!strncmp(said, path, strlen(path)))
			said += strlen(path) + strlen(": ");
		snprintf(why, size,
			 "not a shared object with main (cc -shared -fPIC): %s",
			 said);
		close(fd);
	}
	*fd_p = fd;
	return dl;
}

/* ---- references ---- */

struct dynamic {
	const ElfW(Sym) * sym;
	const char *str;
	const ElfW(Rela) * rela[2];
	size_t bytes[2];
};

static struct dynamic dynamic_of(const struct link_map *m)
{
	struct dynamic d = { 0 };

	for (const ElfW(Dyn) *p = m->l_ld; p->d_tag != DT_NULL; p++) {
		void *at = (void *)p->d_un.d_ptr;

		switch (p->d_tag) {
		case DT_SYMTAB:
			d.sym = at;
			break;
		case DT_STRTAB:
			d.str = at;
			break;
		case DT_RELA:
			d.rela[0] = at;
			break;
		case DT_RELASZ:
			d.bytes[0] = p->d_un.d_val;
			break;
		case DT_JMPREL:
			d.rela[1] = at;
			break;
		case DT_PLTRELSZ:
			d.bytes[1] = p->d_un.d_val;
			break;
		default:
			break;
		}
	}
	return d;
}

static bool main_load_redirect(const struct link_map *m,
			       const struct dynamic *d, uint32_t part,
			       const struct main_sym *tab)
{
	const ElfW(Rela) *r = d->rela[part];
	uintptr_t size = (uintptr_t)getpagesize();

	for (size_t n = d->bytes[part] / sizeof(*r); n; n--, r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info);
		uint32_t sym = ELF64_R_SYM(r->r_info);
		const char *name = d->str + d->sym[sym].st_name;
		uintptr_t slot = m->l_addr + r->r_offset;
		const struct main_sym *s = tab;

		if (type != (uint32_t)REL_JUMP && type != (uint32_t)REL_DATA)
			continue;
		while (s->name && strcmp(s->name, name))
			s++;
		if (!s->name || !s->to)
			continue;
		/* makes the table writable, because it may have become
		 * read-only after relocation */
		if (mprotect((void *)(slot & ~(size - 1)), size,
			     PROT_READ | PROT_WRITE))
			return false;
		*(void **)slot = s->to;
	}
	return true;
}

bool main_redirect(void *dl, const struct main_sym *tab)
{
	struct link_map *m;
	struct dynamic d;

	if (REL_JUMP == -1 || dlinfo(dl, RTLD_DI_LINKMAP, &m))
		return false;
	d = dynamic_of(m);
	return main_load_redirect(m, &d, 0, tab) &&
	       main_load_redirect(m, &d, 1, tab);
}
