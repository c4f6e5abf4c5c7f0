/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes. One or both send more messages than the receiver has room for.
 * Senders do not poll.
 *
 * att_stall both    both send, read the time, and exit
 * att_stall last    rank 1 sends and exits; rank 0 polls later and receives
 *                   all messages */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/attach.h"

enum { MANY = 3000 };

static struct weft_att *att;
static struct weft_ep *ep;

static int fail(const char *what, long val)
{
	fprintf(stderr, "att_stall: rank %u: %s: %ld\n",
		weft_att_info(att)->rank, what, val);
	exit(1);
}

/* Sends messages until the receiver has no room. */
static uint32_t flood(uint32_t to)
{
	char buf[1000] = "flood";
	uint32_t n = 0;
	int ret = 0;

	while (n < MANY && !(ret = weft_ep_send(ep, WEFT_ATT_ADDR(to, 0), buf,
						sizeof(buf), n, NULL)))
		n++;
	if (ret && ret != -EAGAIN)
		fail("send", ret);
	return n;
}

static void tell(uint32_t to, uint32_t n)
{
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "stall-%u", to);
	f = fopen(name, "w");
	if (!f || fprintf(f, "%u\n", n) < 0 || fclose(f))
		fail("file", errno);
}

static uint32_t told(uint32_t me)
{
	char name[32];
	unsigned int n;
	FILE *f;

	snprintf(name, sizeof(name), "stall-%u", me);
	for (int i = 0; i < 1000; i++) {
		f = fopen(name, "r");
		if (f && fscanf(f, "%u\n", &n) == 1) {
			fclose(f);
			return n;
		}
		if (f)
			fclose(f);
		usleep(10000);
	}
	fail("no file of the other rank", 0);
	return 0;
}

static void take(uint32_t n)
{
	struct weft_ep_event ev;

	for (uint32_t got = 0; got < n;) {
		int ret = weft_att_wait(att, 1000);

		if (ret && ret != -EAGAIN)
			fail("wait", ret);
		while (ep->ops->poll(ep, &ev, 1)) {
			if (ev.kind != WEFT_EV_RECV || ev.imm != got++)
				fail("event", ev.kind);
			ep->ops->release(ep, &ev);
		}
	}
}

int main(int argc, char **argv)
{
	bool both = argc < 2 || !strcmp(argv[1], "both");
	uint32_t me, n;

	if (weft_att_open(&att))
		return 2;
	ep = weft_att_ep(att);
	me = weft_att_info(att)->rank;
	if (both || me == 1) {
		n = flood(!me);
		if (!both)
			tell(!me, n);
		else if (!weft_att_now(att))
			fail("time", 0);
	} else {
		n = told(me);
		/* waits in real time, because the sender waits for this rank to
		 * poll */
		usleep(100000);
		take(n);
	}
	printf("rank %u: %u messages\n", me, n);
	weft_att_close(att);
	return 0;
}
