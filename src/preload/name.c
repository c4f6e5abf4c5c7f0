/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the host the name of the simulated node (WEFT_NODE_NAME), so that an
 * MPI treats ranks on different nodes as ranks on different machines. */
#include "base/minmax.h"
#include "preload/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Returns the name of the node of an MPICH rank. Hydra starts all ranks with
 * one environment, therefore a variable lists the nodes of all ranks. */
static const char *node_of_rank(void)
{
	const char *rank = getenv("PMI_RANK"), *at = getenv("WEFT_MAP");

	if (!rank)
		return NULL;
	for (int i = atoi(rank); at && i > 0; i--) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return at;
}

int uname(struct utsname *u)
{
	const char *name = getenv("WEFT_NODE_NAME"), *node = NULL;
	long ret = syscall(SYS_uname, u);
	char buf[32];

	if (!name)
		node = getenv("WEFT_RAW") ? getenv("WEFT_NODE")
					  : node_of_rank();
	if (node) {
		snprintf(buf, sizeof(buf), "n%.*s", (int)strcspn(node, ","),
			 node);
		name = buf;
	}
	if (!ret && name && *name) {
		memset(u->nodename, 0, sizeof(u->nodename));
		strncpy(u->nodename, name, sizeof(u->nodename) - 1);
	}
	return (int)ret;
}

int gethostname(char *name, size_t len)
{
	struct utsname u;
	size_t n;

	if (uname(&u))
		return -1;
	n = strlen(u.nodename) + 1;
	memcpy(name, u.nodename, min_of(n, len));
	if (n <= len)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}
