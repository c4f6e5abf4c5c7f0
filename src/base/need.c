/* SPDX-License-Identifier: Apache-2.0 */
#include "base/need.h"

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
