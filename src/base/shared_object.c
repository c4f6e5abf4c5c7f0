/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared_object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const uint8_t *at;
	uint64_t bytes;
};

/* Returns a pointer to [off, off + n) of the file, or NULL if a part of it is
 * outside the file. */
static const void *shared_object_part(const struct image *im, uint64_t off,
				      uint64_t n)
{
	return off <= im->bytes && n <= im->bytes - off ? im->at + off : NULL;
}

/* Returns true if the file holds every segment that the loader will map. */
static bool segments_there(const struct image *im, const Elf64_Ehdr *h)
{
	const Elf64_Phdr *p = shared_object_part(
		im, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*p));
	bool dynamic = false;

	if (!p || h->e_phentsize != sizeof(*p))
		return false;
	for (uint32_t i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD &&
		    !shared_object_part(im, p[i].p_offset, p[i].p_filesz))
			return false;
		dynamic |= p[i].p_type == PT_DYNAMIC;
	}
	return dynamic;
}

static bool table_has(const struct image *im, const Elf64_Shdr *syms,
		      const Elf64_Shdr *strs, const char *symbol)
{
	const Elf64_Sym *s =
		shared_object_part(im, syms->sh_offset, syms->sh_size);
	const char *text =
		shared_object_part(im, strs->sh_offset, strs->sh_size);
	size_t len = strlen(symbol) + 1;

	if (!s || !text)
		return false;
	for (uint64_t n = syms->sh_size / sizeof(*s); n; n--, s++)
		if (s->st_shndx != SHN_UNDEF && s->st_name < strs->sh_size &&
		    len <= strs->sh_size - s->st_name &&
		    !memcmp(text + s->st_name, symbol, len))
			return true;
	return false;
}

static bool image_exports(const struct image *im, const Elf64_Ehdr *h,
			  const char *symbol)
{
	const Elf64_Shdr *s = shared_object_part(
		im, h->e_shoff, (uint64_t)h->e_shnum * sizeof(*s));

	for (uint32_t i = 0; s && i < h->e_shnum; i++)
		if (s[i].sh_type == SHT_DYNSYM && s[i].sh_link < h->e_shnum &&
		    table_has(im, &s[i], &s[s[i].sh_link], symbol))
			return true;
	return false;
}

bool shared_object_exports(const char *path, const char *symbol, char *why,
			   size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *wrong = NULL;
	struct image im = { 0 };
	const Elf64_Ehdr *h;
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, size, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	p = st.st_size > 0 && S_ISREG(st.st_mode)
		    ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			   0)
		    : MAP_FAILED;
	close(fd);
	if (p != MAP_FAILED)
		im = (struct image){ p, (uint64_t)st.st_size };
	h = shared_object_part(&im, 0, sizeof(*h));
	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_type != ET_DYN)
		wrong = "not a shared object (cc -shared -fPIC)";
	else if (!segments_there(&im, h))
		wrong = "cut off or damaged: build it again";
	else if (!image_exports(&im, h, symbol))
		wrong = "";
	if (wrong && *wrong)
		snprintf(why, size, "%s", wrong);
	else if (wrong)
		snprintf(why, size, "exports no %s", symbol);
	if (p != MAP_FAILED)
		munmap(p, (size_t)st.st_size);
	return !wrong;
}
