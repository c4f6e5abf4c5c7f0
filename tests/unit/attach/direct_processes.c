/* SPDX-License-Identifier: Apache-2.0 */
/* See direct_processes.h. */
#include "direct_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

void rig_open(struct rig *r, uint32_t nodes, uint32_t slots)
{
	assert_int_equal(direct_make(nodes, slots, &r->hub), 0);
	for (uint32_t i = 0; i < r->hub.places; i++) {
		int s[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
		r->sock[i] = s[0];
		r->theirs[i] = s[1];
		r->who[i] = (struct pidfd){ .fd = -1 };
	}
}

/* Starts process i, which joins at node i % nodes and slot i / nodes. Returns
 * true in the new process. */
bool rig_start(struct rig *r, uint32_t i, struct process *w)
{
	uint32_t nodes = r->hub.nodes;
	struct direct_way way = { dup(r->hub.fd), dup(r->hub.bell_fd),
				  r->theirs[i], i % nodes, i / nodes };

	fflush(NULL);
	r->who[i].pid = fork();
	assert_true(r->who[i].pid >= 0);
	if (r->who[i].pid) {
		close(way.fd);
		close(way.bell_fd);
		close(r->theirs[i]);
		r->theirs[i] = -1;
		r->who[i].fd = pidfd_open_pid(r->who[i].pid);
		direct_seat(&r->hub, i % nodes, i / nodes, r->sock[i],
			    r->who[i].fd);
		return false;
	}
	for (uint32_t k = 0; k < r->hub.places; k++) {
		close(r->sock[k]);
		if (k != i && r->theirs[k] >= 0)
			close(r->theirs[k]);
	}
	*w = (struct process){ .me = i, .n = r->hub.places };
	CHECK(!direct_open(&way, &w->d));
	w->ep = direct_ep(w->d);
	alarm(20);
	return true;
}

static void rig_ended(struct rig *r, uint32_t i)
{
	shutdown(r->sock[i], SHUT_RDWR);
	waitpid(r->who[i].pid, &r->status[i], 0);
	direct_dead(&r->hub, i % r->hub.nodes, i / r->hub.nodes);
	close(r->sock[i]);
	pidfd_close(&r->who[i]);
	r->sock[i] = -1;
}

/* Serves until all processes have ended. */
void rig_serve(struct rig *r)
{
	struct pollfd p[MAX];
	uint32_t left;

	do {
		left = 0;
		for (uint32_t i = 0; i < r->hub.places; i++) {
			p[i] = (struct pollfd){ r->sock[i], POLLIN, 0 };
			left += r->sock[i] >= 0;
		}
		if (left)
			poll(p, r->hub.places, -1);
		for (uint32_t i = 0; i < r->hub.places; i++)
			if (left && p[i].revents &&
			    direct_serve(&r->hub, i % r->hub.nodes,
					 i / r->hub.nodes))
				rig_ended(r, i);
	} while (left);
}

uint32_t addr(const struct process *w, uint32_t i)
{
	return direct_addr(w->d, i);
}

void pattern(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(seed * 31 + i * 7 + i / 251);
}

bool is_pattern(const uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seed * 31 + i * 7 + i / 251))
			return false;
	return true;
}

void handle(struct process *w, const struct weft_ep_event *ev)
{
	uint32_t from =
		WEFT_ATT_SLOT(ev->src) * w->d->nodes + WEFT_ATT_NODE(ev->src);

	if (ev->kind == WEFT_EV_RECV) {
		if (ev->imm == KEY) {
			CHECK(ev->len == sizeof(w->mr[0]));
			memcpy(&w->mr[from], ev->data, sizeof(w->mr[0]));
			w->keys++;
		}
		w->ends += ev->imm == END;
		w->ep->ops->release(w->ep, ev);
	} else if (ev->kind == WEFT_EV_PUT_IN) {
		w->put_ins++;
	} else if (ev->kind == WEFT_EV_ERROR && !ev->ctx) {
		CHECK(ev->status == -EPIPE);
		w->deaths++;
	} else {
		w->others++;
		*(struct weft_ep_event *)ev->ctx = *ev;
	}
}

void serve(struct process *w)
{
	struct weft_ep_event ev;

	if (w->ep->ops->poll(w->ep, &ev, 1))
		handle(w, &ev);
	else
		direct_wait(w->d, 1000);
}

void post(struct process *w, uint32_t to, const void *p, size_t len,
	  uint32_t imm)
{
	int ret;

	while ((ret = weft_ep_send(w->ep, addr(w, to), p, len, imm, NULL)) ==
	       -EAGAIN)
		serve(w);
	CHECK(!ret);
}

/* Sends END to all processes and waits until all have sent END. Other processes
 * would count an earlier end as a death. Returns the exit status. */
int finish(struct process *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		post(w, i, NULL, 0, END);
	while (w->ends < w->n)
		serve(w);
	direct_close(w->d);
	return 0;
}

void run(uint32_t nodes, uint32_t slots, int (*fn)(struct process *w))
{
	struct rig r;
	struct process w;

	rig_open(&r, nodes, slots);
	for (uint32_t i = 0; i < r.hub.places; i++)
		if (rig_start(&r, i, &w))
			_exit(fn(&w));
	rig_serve(&r);
	for (uint32_t i = 0; i < r.hub.places; i++)
		assert_int_equal(r.status[i], 0);
	direct_unmake(&r.hub);
}

struct weft_ep_event end_of(struct process *w, int ret,
			    struct weft_ep_event *ev)
{
	CHECK(!ret);
	while (!ev->ctx)
		serve(w);
	return *ev;
}

void exchange(struct process *w, uint8_t *area)
{
	struct weft_ep_mr mr;

	CHECK(!w->ep->ops->mr_reg(w->ep, area, AREA, &mr));
	for (uint32_t i = 0; i < w->n; i++)
		post(w, i, &mr, sizeof(mr), KEY);
	while (w->keys < w->n)
		serve(w);
}
