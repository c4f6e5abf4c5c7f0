/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is not the first one of its process makes calls of weft/host.h.
 * It sleeps in real time while simulated time stands still, and returns before
 * the process ends. The other node polls its clock all the time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "weft/attach.h"
#include "weft/host.h"

static void *owner(void *arg)
{
	const struct timespec nap = { 0, 400000000 };
	struct weft_host *h = weft_host_self();
	weft_time_t before, after;

	if (!h)
		exit(2);
	for (int i = 0; i < 3; i++) {
		before = weft_host_now(h);
		if (i < 2)
			weft_att_outside(h);
		/* a system call, because with nanosleep() libweft-time.so would
		 * let the thread sleep in simulated time */
		syscall(SYS_nanosleep, &nap, NULL);
		after = weft_host_now(h);
		printf("time %s\n",
		       after - before < WEFT_US ? "stood still" : "passed");
	}
	weft_oob_put(h, "outside.end", 1);
	weft_att_end(h);
	return NULL;
}

int main(int argc, char **argv)
{
	struct weft_host *h;
	pthread_t t;

	if (!strcmp(getenv("WEFT_NODE"), "0")) {
		pthread_create(&t, NULL, owner, NULL);
		pthread_join(t, NULL);
		printf("left\n");
		return 0;
	}
	h = weft_host_self();
	while (h && !weft_oob_there(h, "outside.end"))
		weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	return 0;
}
