/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the segment of a client in anonymous memory. The memory is sealed, so
 * that the client cannot change its size while the simulator uses it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "attach/serve_host.h"
#include "base/minmax.h"

static void seg_layout(struct att_seg *s, uint32_t max_msg)
{
	uint64_t tx = 4ull * max_msg;

	s->n_cmds = ATT_CMDS;
	s->n_events = ATT_EVENTS;
	s->tx_bytes = att_page_up(max_of(tx, ATT_TX_MIN));
	s->rx_slot = (max_msg + 63ull) & ~63ull;
	s->rx_bytes = att_page_up(ATT_RX_SLOTS * s->rx_slot);
	s->cmd_off = att_page_up(sizeof(*s));
	s->ev_off = s->cmd_off + att_page_up(ATT_CMDS * sizeof(struct att_cmd));
	s->tx_off =
		s->ev_off + att_page_up(ATT_EVENTS * sizeof(struct att_event));
	s->rx_off = s->tx_off + s->tx_bytes;
	s->bytes = s->rx_off + s->rx_bytes;
}

static void seg_info(struct att_client *c, const struct att_agent *g,
		     struct weft_att_info *i)
{
	static const struct weft_ep_info none = { .name = "" };
	const struct weft_ep_info *e = g->ep ? &g->ep->info : &none;
	const struct att_server *s = c->srv;

	*i = (struct weft_att_info){
		.version = WEFT_ATT_VERSION,
		.node = c->node,
		.nodes = (uint32_t)s->agents.n,
		.slot = c->slot,
		.slots = ATT_NODE_SLOTS + 1,
		.rank = c->rank,
		.ranks = s->o.ranks,
		.clock = s->o.clock,
		.cost_call = g->cost_call,
		.max_msg = e->max_msg,
		.max_put = e->max_put,
		.align = e->align,
		.caps = e->caps,
		.emulated = e->emulated,
	};
	snprintf(i->nic, sizeof(i->nic), "%s", e->name);
}

static int seg_fd(uint64_t bytes)
{
	int fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

int att_seg_new(struct att_client *c, const struct att_agent *g)
{
	struct att_seg head = { .magic = ATT_MAGIC,
				.version = WEFT_ATT_VERSION,
				.spin = c->srv->o.spin,
				.trace = c->srv->o.trace,
				.cpu_factor = c->srv->o.cpu_factor,
				.cost_clock = g->cost_clock };
	int fd;
	struct att_seg *s;

	seg_layout(&head, g->ep ? g->ep->info.max_msg : ATT_RAW_MSG);
	if (g->raw)
		head.host = g->raw->info;
	for (uint32_t i = 0; i < HOST_TIMES; i++)
		head.host.time[i] = weft_host_time(g->h, i);
	seg_info(c, g, &head.info);
	head.deadline = WEFT_NEVER;
	head.state = ATT_WAIT;
	fd = seg_fd(head.bytes);
	if (fd < 0)
		return fd;
	c->seg = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	if (c->seg == MAP_FAILED) {
		c->seg = NULL;
		close(fd);
		return -ENOMEM;
	}
	c->seg_bytes = head.bytes;
	*c->seg = head;
	s = c->seg;
	c->view.cmd = (void *)((char *)s + s->cmd_off);
	c->view.ev = (void *)((char *)s + s->ev_off);
	c->view.tx = (uint8_t *)s + s->tx_off;
	c->view.rx = (uint8_t *)s + s->rx_off;
	c->view.tx_bytes = s->tx_bytes;
	c->view.rx_slot = s->rx_slot;
	c->view.max_msg = s->info.max_msg;
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++)
		c->free_slot[i] = ATT_RX_SLOTS - 1 - i;
	c->n_free = ATT_RX_SLOTS;
	return fd;
}

void att_client_free(struct att_client *c)
{
	/* Frees copies of messages from this node that were not released before
	 * the run ended. */
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++)
		if (c->msg[i].used)
			free(c->msg[i].own);
	for (; !ring_empty(&c->late); ring_pop(&c->late))
		free(ring_front(&c->late)->m.own);
	if (c->seg)
		munmap(c->seg, c->seg_bytes);
	pidfd_close(&c->who);
	ring_free(&c->late);
	free(c->calls.sent);
	free(c);
}
