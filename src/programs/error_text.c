/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for errors of the libraries, used in failed checks of programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/program.h"

static const struct {
	int code;
	const char *text;
} whys[] = {
	{ ENOMEM,
	  "no memory left on the node: give it more, e.g. "
	  "host.pc.mem_bytes=256MiB" },
	{ ENODEV,
	  "the node has no NIC of that kind, or it is in no network: "
	  "see nodes.nic and fabric" },
	{ EBUSY, "taken already: another program of the node has it" },
	{ ENOSPC, "all that the NIC has are in use: begin fewer" },
	{ EAGAIN, "no room in a queue of the NIC" },
	{ EINVAL,
	  "a value is out of range: see weft describe of the program "
	  "and of the NIC" },
	{ E2BIG, "too many nodes for this program" },
	{ EMSGSIZE, "larger than one message may be" },
	{ EHOSTUNREACH, "no way leads to that node: see fabric" },
	{ ECONNREFUSED, "the other node does not take it" },
	{ ETIMEDOUT, "no answer" },
	{ EPROTOTYPE, "both ends must ask for the same reliability" },
	{ EFAULT, "memory that the NIC has not been told of" },
	{ EPERM, "memory or connection of somebody else" },
	{ ENOTSUP, "this NIC or its bus cannot do that" },
	{ EIO, "the NIC did not do what it was asked for" },
};

const char *program_why(int err)
{
	for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++)
		if (whys[i].code == abs(err))
			return whys[i].text;
	return strerror(abs(err));
}
