/* SPDX-License-Identifier: Apache-2.0 */
#include "base/need.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void no_memory(void)
{
	static const char text[] =
		"weft: out of memory: fewer nodes, smaller "
		"host.pc.mem_bytes, or fewer --jobs\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(2);
}

void *grown(void *at, size_t n, size_t size)
{
	if (!(n & (n - 1)))
		at = need(reallocarray(at, n ? 2 * n : 1, size));
	memset((char *)at + n * size, 0, size);
	return at;
}
