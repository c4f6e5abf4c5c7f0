/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps nbdkit 1.32.4 to 1.33.9 alive when a client hangs up.
 *
 * Such an nbdkit aborts if one of its threads has closed the socket of a
 * disconnected client and another thread has an answer for that client
 * (raw_send_socket: Assertion `sock >= 0' failed). Without this file, one
 * killed client would end the disk for all clients. weft disk loads the plug-in
 * before nbdkit's own libraries, so that the __assert_fail of this file
 * replaces that of the C library. A thread that fails this assertion sleeps
 * until nbdkit ends instead of aborting. The other threads of its connection
 * then wait, too. Later versions do not assert. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noreturn)) void __assert_fail(const char *text, const char *file,
					     unsigned line, const char *func)
{
	if (!strcmp(func, "raw_send_socket"))
		for (;;)
			pause();
	fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, func,
		text);
	abort();
}
