/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the search for an exported symbol in files, some of which are cut off
 * or damaged. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"
#include "base/shared_object.h"

/* A shared object without code. Its last table names the exported symbols, so
 * every byte of the file is needed. */
struct object {
	Elf64_Ehdr head;
	Elf64_Phdr segment[2];
	char names[16];
	Elf64_Sym symbol[3];
	Elf64_Shdr section[3];
};

enum { STRINGS = 1, SYMBOLS };
enum { OURS = 1, OTHER = 5 }; /* offsets of the names */

static struct object object_good(void)
{
	struct object o = {
		.head = { .e_ident = ELFMAG,
			  .e_type = ET_DYN,
			  .e_phoff = offsetof(struct object, segment),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2,
			  .e_shoff = offsetof(struct object, section),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 3 },
		.segment = { { .p_type = PT_LOAD, .p_filesz = sizeof(o) },
			     { .p_type = PT_DYNAMIC } },
		.names = "\0our\0other"
	};

	o.head.e_ident[EI_CLASS] = ELFCLASS64;
	o.symbol[1] = (Elf64_Sym){ .st_name = OTHER, .st_shndx = SHN_UNDEF };
	o.symbol[2] = (Elf64_Sym){ .st_name = OURS, .st_shndx = 1 };
	o.section[STRINGS] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct object, names),
			      .sh_size = sizeof(o.names) };
	o.section[SYMBOLS] =
		(Elf64_Shdr){ .sh_type = SHT_DYNSYM,
			      .sh_offset = offsetof(struct object, symbol),
			      .sh_size = sizeof(o.symbol),
			      .sh_link = STRINGS };
	return o;
}

/* Searches for a symbol in a file with the first n bytes of the object. Returns
 * the reason of the refusal, which is "" if the symbol is exported. */
static const char *asked(const struct object *o, size_t n, const char *symbol)
{
	static char why[100];
	char path[] = "/tmp/weft-object-XXXXXX";
	int fd = mkstemp(path);
	bool found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, o, n), n);
	close(fd);
	strcpy(why, "");
	found = shared_object_exports(path, symbol, why, sizeof(why));
	unlink(path);
	assert_int_equal(found, !why[0]);
	return why;
}

static void only_a_defined_symbol_of_this_name_is_an_export(void **state)
{
	struct object o = object_good();

	assert_string_equal(asked(&o, sizeof(o), "our"), "");
	assert_string_equal(asked(&o, sizeof(o), "other"), "exports no other");
	assert_string_equal(asked(&o, sizeof(o), "ou"), "exports no ou");
	assert_string_equal(asked(&o, sizeof(o), "ours"), "exports no ours");
}

static void a_file_without_its_last_bytes_is_refused(void **state)
{
	struct object o = object_good();

	for (size_t n = 0; n < sizeof(o); n++) {
		const char *why = asked(&o, n, "our");

		if (n < sizeof(o.head))
			assert_non_null(strstr(why, "not a shared object"));
		else
			assert_non_null(strstr(why, "cut off"));
	}
}

/* Sets the offset or the size of each table to values for which the table
 * begins or ends outside the file. */
static void tables_outside_the_file_are_refused(void **state)
{
	struct object o;
	Elf64_Off *const places[] = {
		&o.head.e_phoff,
		&o.head.e_shoff,
		&o.segment[0].p_offset,
		&o.segment[0].p_filesz,
		&o.section[STRINGS].sh_offset,
		&o.section[STRINGS].sh_size,
		&o.section[SYMBOLS].sh_offset,
		&o.section[SYMBOLS].sh_size,
	};
	static const Elf64_Off outside[] = {
		sizeof(o) - 1, sizeof(o),      sizeof(o) + 1,
		1 << 30,       (Elf64_Off)-24, (Elf64_Off)-1,
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (size_t k = 0; k < sizeof(outside) / sizeof(*outside);
		     k++) {
			o = object_good();
			if (places[i] == &o.segment[0].p_filesz &&
			    outside[k] <= sizeof(o))
				continue;
			*places[i] = outside[k];
			assert_string_not_equal(asked(&o, sizeof(o), "our"),
						"");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			only_a_defined_symbol_of_this_name_is_an_export),
		cmocka_unit_test(a_file_without_its_last_bytes_is_refused),
		cmocka_unit_test(tables_outside_the_file_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
