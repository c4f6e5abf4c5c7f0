/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the remote shell of mpirun. mpirun starts a daemon on each node by a
 * remote shell. `weft exec --rsh` starts the daemon on this computer and gives
 * it the name of its node (WEFT_NODE_NAME, which libweft-time.so shows as the
 * host's name). Open MPI then treats every node as a separate machine and
 * shares no memory between nodes.
 *
 * mpirun gets addresses of class E (240.0.0.0/4) as names of nodes. No machine
 * has such an address, and mpirun asks no name server for it, so that it does
 * not wait for time-outs of a name server. */
#include "front/exec/mpi.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void exec_host_address(uint32_t node, char host[EXEC_HOST])
{
	snprintf(host, EXEC_HOST, "240.%u.%u.%u", node >> 16 & 0xff,
		 node >> 8 & 0xff, node & 0xff);
}

/* Joins the words into one string for the shell, as ssh does. */
static char *joined(char **words)
{
	size_t n = 1;
	char *s;

	for (char **w = words; *w; w++)
		n += strlen(*w) + 1;
	s = malloc(n);
	if (!s)
		return NULL;
	s[0] = '\0';
	for (char **w = words; *w; w++) {
		strcat(s, *w);
		if (w[1])
			strcat(s, " ");
	}
	return s;
}

int exec_rsh(char **argv)
{
	unsigned int a, b, c;
	char name[64], *command;

	while (*argv && (*argv)[0] == '-')
		argv++;
	if (!argv[0] || !argv[1]) {
		fprintf(stderr, "weft exec --rsh HOST COMMAND...\n");
		return 2;
	}
	/* Turns "240.0.0.7" into "n7". Other names do not change. */
	if (sscanf(argv[0], "240.%u.%u.%u", &a, &b, &c) == 3)
		snprintf(name, sizeof(name), "n%u", a << 16 | b << 8 | c);
	else
		snprintf(name, sizeof(name), "%s", argv[0]);
	setenv("WEFT_NODE_NAME", name, 1);
	/* The daemon gets a signal when mpirun ends, so that it does not
	 * outlive mpirun. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	command = joined(argv + 1);
	if (command)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	fprintf(stderr, "weft exec --rsh: %s\n", strerror(errno));
	return 127;
}
