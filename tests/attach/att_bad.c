/* SPDX-License-Identifier: Apache-2.0 */
/* A process that breaks the rules in one of several ways. Rank 0 follows the
 * rules and sends to rank 1 until it is notified that rank 1 has gone.
 *
 *   att_bad WAY */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "attach/client.h"

static void bad_tail(struct weft_att *a)
{
	atomic_store(&a->seg->cmd_tail, a->tail + 5000);
}

static void bad_kind(struct weft_att *a)
{
	struct att_cmd *c = att_cmd_new(a, ATT_C_NOP);

	c->kind = 250;
	att_post(a);
}

static void bad_message(struct weft_att *a)
{
	struct att_cmd *c = att_cmd_new(a, ATT_C_SEND);

	c->buf = ~0ull - 3;
	c->len = 64;
	c->dst = WEFT_ATT_ADDR(0, 0);
	att_post(a);
}

static void bad_release(struct weft_att *a)
{
	struct att_cmd *c = att_cmd_new(a, ATT_C_RELEASE);

	c->buf = 1ull << 40;
	att_post(a);
}

static void bad_head(struct weft_att *a)
{
	atomic_store(&a->seg->ev_head, 77777);
}

/* Breaks every rule except those that the hand-over of the processor needs. */
static void bad_all(struct weft_att *a)
{
	uint8_t *p = (uint8_t *)a->cmd;

	for (size_t i = 0; i < a->seg_bytes - a->seg->cmd_off; i++)
		p[i] = (uint8_t)(i * 2654435761u >> 13);
	atomic_store(&a->seg->cmd_tail, a->tail + 1000);
	atomic_store(&a->seg->ev_head, 5);
	atomic_store(&a->seg->released, ~0ull);
	a->seg->n_cmds = 3;
	a->seg->rx_slot = 1ull << 60;
}

static void bad_put(struct weft_att *a)
{
	weft_ep_post(&a->ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						   .dst = WEFT_ATT_ADDR(0, 0),
						   .buf = (void *)8,
						   .len = 1ull << 50,
						   .raddr = 16,
						   .rkey = 99,
						   .notify = true,
						   .imm = 1 });
}

/* Neither dies nor breaks a rule. */
static void ok_fork(struct weft_att *a)
{
	pid_t pid = fork();
	struct weft_att *b;
	int status;

	if (!pid)
		_exit(weft_att_open(&b) != -EIO ||
		      weft_ep_send(&a->ep, 0, "x", 1, 0, NULL) != -EIO ||
		      weft_att_now(a) != 0 ||
		      a->ep.ops->poll(&a->ep, NULL, 0) != 0);
	waitpid(pid, &status, 0);
	if (status)
		exit(3);
}

static void bad_exit(struct weft_att *a)
{
	exit(0);
}

static void bad_kill(struct weft_att *a)
{
	abort();
}

static const struct {
	const char *name;
	void (*fn)(struct weft_att *a);
	bool lives;
} ways[] = {
	{ "tail", bad_tail, false },	   { "kind", bad_kind, false },
	{ "message", bad_message, false }, { "release", bad_release, false },
	{ "head", bad_head, false },	   { "all", bad_all, false },
	{ "put", bad_put, true },	   { "fork", ok_fork, true },
	{ "exit", bad_exit, false },	   { "abort", bad_kill, false },
};

/* Sends until rank 1 has gone. */
static int good(struct weft_att *a)
{
	struct weft_ep_event ev;
	char byte = 1;

	for (;;) {
		while (a->ep.ops->poll(&a->ep, &ev, 1)) {
			if (ev.kind == WEFT_EV_ERROR)
				return ev.status == -EPIPE ? 0 : 1;
			a->ep.ops->release(&a->ep, &ev);
		}
		weft_ep_send(&a->ep, WEFT_ATT_ADDR(1, 0), &byte, 1, 0, NULL);
		weft_att_wait(a, 2000);
	}
}

static int bad(struct weft_att *a, size_t i)
{
	struct weft_ep_event ev;

	while (!a->ep.ops->poll(&a->ep, &ev, 1)) /* rank 0 sends already */
		weft_att_wait(a, 2000);
	ways[i].fn(a);
	for (int k = 0; k < 500 && !weft_att_gone(a); k++)
		att_hand_over(a, ways[i].lives ? 1000 : 10000000);
	if (!ways[i].lives)
		return !weft_att_gone(a);
	if (weft_att_gone(a))
		return 1;
	weft_att_close(a);
	return 0;
}

int main(int argc, char **argv)
{
	struct weft_att *a;
	size_t i;
	int ret = weft_att_open(&a);

	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			break;
	if (ret || i == sizeof(ways) / sizeof(ways[0])) {
		fprintf(stderr, "att_bad: %d\n", ret);
		return 2;
	}
	return weft_att_info(a)->rank ? bad(a, i) : good(a);
}
