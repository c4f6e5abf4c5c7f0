/* SPDX-License-Identifier: Apache-2.0 */
/* A process that starts to wait until a simulated time although the simulator
 * already counts this process as waiting.
 *
 * att_late outside    after a sleep in the kernel
 * att_late poll       after a wait for an event that did not arrive */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "weft/attach.h"

int main(int argc, char **argv)
{
	struct weft_att *att;
	struct weft_ep *ep;
	weft_time_t end;
	int ret;

	if (weft_att_open(&att))
		return 2;
	ep = weft_att_ep(att);
	if (argc > 1 && !strcmp(argv[1], "outside"))
		usleep(200000);
	else if (weft_att_wait(att, 1000) != -EAGAIN)
		return 3;
	/* The deadline is relative to the time last seen, because
	 * weft_att_now() would post a command. */
	end = weft_att_seen(att) + 5 * WEFT_US;
	ret = ep->ops->wait(ep, end);
	printf("wait: %d, %s\n", ret,
	       weft_att_seen(att) >= end ? "in time" : "too early");
	weft_att_close(att);
	return 0;
}
