/* SPDX-License-Identifier: Apache-2.0 */
/* The host name is that of the simulated node if environment variables name the
 * node, else that of the machine. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *const variables[] = { "WEFT_NODE_NAME", "WEFT_RAW",
					 "WEFT_NODE", "PMI_RANK", "WEFT_MAP" };
enum { VARIABLES = 5 };

static const struct {
	/* name: expected host name, or NULL for that of the machine */
	const char *set[VARIABLES], *name;
} rows[] = {
	{ { NULL }, NULL },
	{ { "n7" }, "n7" },
	{ { "" }, NULL },
	{ { "n7", "1", "3", "0", "5" }, "n7" },
	{ { NULL, "1", "3", "0", "5" }, "n3" },
	{ { NULL, NULL, "3" }, NULL },
	{ { NULL, NULL, "3", "0", "12,5,33" }, "n12" },
	{ { NULL, NULL, NULL, "1", "12,5,33" }, "n5" },
	{ { NULL, NULL, NULL, "2", "12,5,33" }, "n33" },
	{ { NULL, NULL, NULL, "3", "12,5,33" }, NULL },
	{ { NULL, NULL, NULL, "4", "12,5,33" }, NULL },
	{ { NULL, NULL, NULL, "1" }, NULL },
	{ { NULL, NULL, NULL, NULL, "12,5,33" }, NULL },
};

static void variables_name_the_host_or_the_machine_does(void **state)
{
	struct utsname machine, u;
	char name[80];

	assert_int_equal(syscall(SYS_uname, &machine), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *want = rows[i].name;

		want = want ? want : machine.nodename;
		for (size_t k = 0; k < VARIABLES; k++)
			if (rows[i].set[k])
				setenv(variables[k], rows[i].set[k], 1);
			else
				unsetenv(variables[k]);
		assert_int_equal(uname(&u), 0);
		assert_string_equal(u.nodename, want);
		assert_string_equal(u.release, machine.release);
		assert_int_equal(gethostname(name, sizeof(name)), 0);
		assert_string_equal(name, want);
	}
}

static void name_fills_its_room_and_nothing_behind(void **state)
{
	char name[8];

	setenv("WEFT_NODE_NAME", "n123", 1);
	for (size_t room = 0; room < sizeof(name); room++) {
		memset(name, '#', sizeof(name));
		errno = 0;
		assert_int_equal(gethostname(name, room), room < 5 ? -1 : 0);
		assert_int_equal(errno, room < 5 ? ENAMETOOLONG : 0);
		assert_memory_equal(name, "n123", room < 5 ? room : 5);
		for (size_t i = room; i < sizeof(name); i++)
			assert_int_equal(name[i], '#');
	}
}

static void name_longer_than_the_field_is_cut(void **state)
{
	char text[200] = { 0 };
	struct utsname u;

	memset(text, 'n', sizeof(text) - 1);
	setenv("WEFT_NODE_NAME", text, 1);
	assert_int_equal(uname(&u), 0);
	assert_int_equal(strlen(u.nodename), sizeof(u.nodename) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_name_the_host_or_the_machine_does),
		cmocka_unit_test(name_fills_its_room_and_nothing_behind),
		cmocka_unit_test(name_longer_than_the_field_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
