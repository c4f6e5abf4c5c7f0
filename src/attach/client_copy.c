/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the attached process. It copies memory of the process for the
 * simulator, see copy.h. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/copy_wire.h"

/* Serves the socket until the simulator closes it. Does not check addresses,
 * because send and recv return an error for a bad address. After such an error
 * the thread ends, and the process continues without the thread. */
static void *copy_main(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct att_copy_ask q;
	char done = 0;
	bool ok;

	do {
		ok = att_copy_io(fd, &q, sizeof(q), false, 0) &&
		     q.n <= ATT_COPY &&
		     att_copy_io(fd, (void *)(uintptr_t)q.va, q.n, !q.write,
				 0) &&
		     (!q.write || att_copy_io(fd, &done, 1, true, 0));
	} while (ok);
	close(fd);
	return NULL;
}

int att_copy_serve(int fd)
{
	sigset_t all, old;
	pthread_t t;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&t, NULL, copy_main, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		close(fd);
	else
		pthread_detach(t);
	return -ret;
}
