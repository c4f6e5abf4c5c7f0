/* SPDX-License-Identifier: Apache-2.0 */
/* The storage link over the FORTH NIC: opens the link, registers regions, and
 * waits for events. See storage_link.h.
 *
 * The link does not support NICs with several paths or with notifications by
 * counting, where a record may overtake its data. On such NICs the block
 * protocol uses the link over the common endpoint. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/times.h"
#include "systems/forth/lib/storage_link.h"
#include "systems/forth/nic/regs_map.h"

enum { FORTH_STORAGE_PUT_MAX = 65536, FORTH_STORAGE_NODES = 128 };

/* ---- peers ---- */

struct forth_storage_peer *forth_storage_peer(struct forth_storage *x,
					      uint32_t node)
{
	uint32_t i = node < x->nodes ? x->index[node] : 0;

	return i ? &x->peer[i - 1] : NULL;
}

static void word_name(char *key, size_t n, uint32_t node, const char *what)
{
	snprintf(key, n, "storage.forth.%u.%s", node, what);
}

static void tell(struct forth_storage *x, const char *what, uint64_t val)
{
	char key[64];

	word_name(key, sizeof(key), weft_host_node(x->link.host), what);
	weft_oob_put(x->link.host, key, val);
}

/* Returns the word that a node has published under `what`, or 0 if the node has
 * not published it. */
static uint64_t ask(struct forth_storage *x, uint32_t node, const char *what)
{
	char key[64];

	word_name(key, sizeof(key), node, what);
	return weft_oob_there(x->link.host, key)
		       ? weft_oob_get(x->link.host, key)
		       : 0;
}

/* Computes the address of the slots that a peer has for this node. `tables` is
 * the base of the peer's tables, which lie in the order of node numbers.
 * Returns false if the address is unknown or the NIC cannot write it. */
static bool set_table(struct forth_storage *x, struct forth_storage_peer *p,
		      uint64_t tables)
{
	uint64_t at = tables + (uint64_t)weft_host_node(x->link.host) *
				       FORTH_STORAGE_TABLE;

	p->irq = ask(x, p->node, "irq");
	p->table =
		tables && at % 8 == 0 && at <= UINT32_MAX - FORTH_STORAGE_TABLE
			? at
			: 0;
	return p->table;
}

bool forth_storage_meet(struct forth_storage *x, struct forth_storage_peer *p)
{
	return !x->target && set_table(x, p, ask(x, p->node, "tables"));
}

static void peer_table(struct storage_link *l, uint32_t node, uint64_t addr,
		       uint64_t key)
{
	struct forth_storage *x = forth_storage_of(l);
	struct forth_storage_peer *p = forth_storage_peer(x, node);

	if (p)
		set_table(x, p, addr);
}

/* ---- regions ---- */

static int reg(struct storage_link *l, void *p, size_t len,
	       struct storage_mr *mr_p)
{
	weft_phys_t phys;

	if (!len || !weft_mem_phys(l->host, p, &phys) ||
	    len > UINT32_MAX - phys)
		return -EFAULT;
	*mr_p = (struct storage_mr){ .addr = phys, .key = phys << 32 | len };
	return 0;
}

static int dereg(struct storage_link *l, struct storage_mr *mr)
{
	struct forth_storage *x = forth_storage_of(l);

	/* the NIC knows no regions, so that any transfer that has not departed
	 * may still read the region that is to be removed */
	forth_storage_release(x);
	return forth_storage_refresh(x) ? 0 : -EAGAIN;
}

static uint64_t started(struct storage_link *l, uint32_t node)
{
	struct forth_storage_peer *p =
		forth_storage_peer(forth_storage_of(l), node);

	return p ? p->started : 0;
}

static uint64_t departed(struct storage_link *l, uint32_t node)
{
	struct forth_storage *x = forth_storage_of(l);
	struct forth_storage_peer *p = forth_storage_peer(x, node);

	forth_storage_refresh(x);
	return p ? p->departed : 0;
}

/* ---- waiting ---- */

static void wait_event(struct storage_link *l, weft_time_t deadline)
{
	struct forth_storage *x = forth_storage_of(l);

	forth_storage_release(x);
	if (forth_storage_ready(x))
		return;
	/* a departure raises no interrupt */
	if (!x->irq || !forth_storage_refresh(x)) {
		weft_host_poll_range(l->host, x->words, WEFT_FORTH_NOTIFY_BYTES,
				     deadline);
		return;
	}
	/* The caller counts the notifications after weft_forth_irq_ack(),
	 * because notifications that arrived before weft_forth_irq_ack() raise
	 * no further interrupt (forth.md 2.3). */
	if (weft_forth_irq_wait(x->f, deadline)) {
		weft_forth_irq_ack(x->f);
		x->paid = 1;
	}
}

/* ---- opening and closing ---- */

static void free_all(struct forth_storage *x)
{
	struct weft_host *h = x->link.host;

	if (x->f)
		weft_forth_close(x->f);
	for (uint32_t i = 0; i < FORTH_STORAGE_QUEUES; i++) {
		weft_host_free(h, x->queue[i].pending);
		weft_host_free(h, x->queue[i].ends);
	}
	weft_mem_free(h, x->words);
	weft_mem_free(h, x->tables);
	weft_mem_free(h, x->out);
	weft_host_free(h, x->index);
	weft_host_free(h, x->peer);
	weft_host_free(h, x);
}

static void close_link(struct storage_link *l)
{
	struct forth_storage *x = forth_storage_of(l);
	weft_time_t deadline = weft_host_now(l->host) +
			       weft_host_time(l->host, T_forth_storage_close);

	/* wait until the last records have departed, up to a deadline, because
	 * the network may have stopped */
	forth_storage_release(x);
	for (uint32_t i = 0; i < x->queues; i++)
		weft_forth_flush(x->f, i, deadline);
	free_all(x);
}

static const struct storage_link_ops forth_storage_ops = {
	.close = close_link,
	.reg = reg,
	.dereg = dereg,
	.put = forth_storage_put,
	.record = forth_storage_record,
	.started = started,
	.departed = departed,
	.poll = forth_storage_poll,
	.wait = wait_event,
	.peer_table = peer_table,
};

/* Returns the enum forth_storage_notify of a name, or -1 if there is none. */
static int notify_of(const char *name)
{
	static const char *const names[] = {
		[FORTH_STORAGE_REQUEST] = "request",
		[FORTH_STORAGE_PAGE] = "page",
		[FORTH_STORAGE_PACKET] = "packet",
	};

	if (!name)
		return FORTH_STORAGE_REQUEST;
	for (int i = 0; i <= FORTH_STORAGE_PACKET; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

/* Adds the peers. The peers of an initiator are its targets, the peers of a
 * target are all other nodes. */
static bool add_peers(struct forth_storage *x,
		      const struct storage_link_attr *attr)
{
	struct weft_host *h = x->link.host;
	uint32_t me = weft_host_node(h);

	x->nodes = weft_host_nodes(h);
	if (x->nodes > FORTH_STORAGE_NODES)
		x->nodes = FORTH_STORAGE_NODES;
	x->index = weft_host_calloc(h, x->nodes, 1);
	x->peer = weft_host_calloc(h, x->nodes, sizeof(*x->peer));
	if (!x->index || !x->peer)
		return false;
	for (uint32_t node = 0; node < x->nodes; node++) {
		bool is = attr->target && node != me;

		for (uint32_t i = 0; i < attr->n_targets; i++)
			is |= !attr->target && attr->targets[i] == node;
		if (!is)
			continue;
		x->peer[x->peers].node = node;
		x->index[node] = (uint8_t)++x->peers;
	}
	return true;
}

/* Allocates one table for each node number from the lowest to the highest peer:
 * the table of node n lies at info.table + n * FORTH_STORAGE_TABLE. */
static bool add_memory(struct forth_storage *x)
{
	struct weft_host *h = x->link.host;
	uint32_t lo = x->peer[0].node, hi = x->peer[x->peers - 1].node;
	size_t out = (size_t)FORTH_STORAGE_RECORDS * STORAGE_SLOT_BYTES;
	weft_phys_t words, tables, copies;

	x->words = weft_mem_alloc(h, WEFT_FORTH_NOTIFY_BYTES, 64, &words);
	x->tables = weft_mem_alloc(h, (hi - lo + 1) * FORTH_STORAGE_TABLE,
				   STORAGE_SLOT_BYTES, &tables);
	x->out = weft_mem_alloc(h, x->peers * out, STORAGE_SLOT_BYTES, &copies);
	if (!x->words || !x->tables || !x->out)
		return false;
	for (uint32_t i = 0; i < x->peers; i++) {
		struct forth_storage_peer *p = &x->peer[i];

		p->slots = x->tables +
			   (size_t)(p->node - lo) * FORTH_STORAGE_TABLE;
		p->out = x->out + i * out;
		p->out_phys = copies + i * out;
	}
	x->link.info.table = tables - (uint64_t)lo * FORTH_STORAGE_TABLE;
	return tables + (hi - lo + 1) * FORTH_STORAGE_TABLE <= UINT32_MAX;
}

static bool add_queues(struct forth_storage *x)
{
	struct weft_host *h = x->link.host;

	for (uint32_t i = 0; i < x->queues; i++) {
		struct forth_storage_queue *q = &x->queue[i];

		q->pending = weft_host_calloc(h, x->depth, sizeof(*q->pending));
		q->ends = weft_host_calloc(h, x->depth, 1);
		if (!q->pending || !q->ends)
			return false;
	}
	return true;
}

static void set_sizes(struct forth_storage *x)
{
	const struct weft_forth_info *info = weft_forth_info(x->f);
	uint32_t max = info->max_transfer;
	uint32_t put;

	x->queues = info->queues;
	x->depth = info->depth;
	x->part = max < STORAGE_PAGE ? max : STORAGE_PAGE;
	if (x->notify == FORTH_STORAGE_PACKET) {
		x->cluster = 1;
		x->part = info->max_payload < max ? info->max_payload : max;
	}
	if (x->cluster > x->depth / 2)
		x->cluster = x->depth / 2;
	/* a put uses at most half of a queue, because it waits for room for all
	 * its descriptors */
	put = x->depth / 2 * x->part / STORAGE_PAGE * STORAGE_PAGE;
	x->link.info.max_put =
		put < FORTH_STORAGE_PUT_MAX ? put : FORTH_STORAGE_PUT_MAX;
}

static int start(struct forth_storage *x, const struct storage_link_attr *attr)
{
	struct weft_forth_attr fa = { .irq = attr->use_irq };
	int ret;

	if (!add_peers(x, attr))
		return -ENOMEM;
	if (!x->peers)
		return -EINVAL;
	if (!add_memory(x))
		return -ENOMEM;
	fa.notify = x->words;
	ret = weft_forth_open(x->link.host, &fa, &x->f);
	if (ret)
		return ret;
	set_sizes(x);
	if (!add_queues(x))
		return -ENOMEM;
	/* start from the NIC's count, which includes notifications of earlier
	 * programs */
	x->seen = weft_forth_load(x->f, FORTH_RNOTIFY_TOTAL);
	tell(x, "irq", x->irq);
	if (x->target)
		tell(x, "tables", x->link.info.table);
	return 0;
}

/* Waits a limited time for the tables of the targets, because a target may open
 * later than its initiators. */
static void await_targets(struct forth_storage *x)
{
	struct weft_host *h = x->link.host;
	weft_time_t deadline =
		weft_host_now(h) + weft_host_time(h, T_forth_storage_meet);

	for (uint32_t i = 0; i < x->peers; i++)
		while (!forth_storage_meet(x, &x->peer[i]) &&
		       weft_host_now(h) < deadline)
			host_nap(h, T_forth_storage_ask);
}

static int forth_storage_open(struct weft_host *h,
			      const struct storage_link_attr *attr,
			      struct storage_link **l_p)
{
	int notify = notify_of(attr->notify), ret;
	struct forth_storage *x;

	if (notify < 0)
		return -EINVAL;
	x = weft_host_calloc(h, 1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->link = (struct storage_link){
		.ops = &forth_storage_ops,
		.host = h,
		.info = { .name = "native", .nic = "forth", .ordered = true },
	};
	x->notify = (enum forth_storage_notify)notify;
	x->cluster = attr->cluster;
	x->target = attr->target;
	x->irq = attr->use_irq;
	ret = start(x, attr);
	if (ret) {
		free_all(x);
		return ret;
	}
	if (!x->target)
		await_targets(x);
	*l_p = &x->link;
	return 0;
}

/* Returns whether the NIC writes each record after the data that were posted
 * before it. NICs with several paths or with notifications by counting do not.
 * Reads the build register, because the driver is not open yet. */
static bool forth_storage_probe(struct weft_host *h, struct weft_dev *d)
{
	struct weft_io io;
	uint32_t build;

	if (!weft_forth_probe(h, d))
		return false;
	weft_cfg_store(h, d, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	if (!weft_io_map(h, d, FORTH_BAR_REGS, 0, FORTH_BAR1_BYTES, WEFT_UC,
			 &io))
		return false;
	build = weft_io_load32(h, &io, FORTH_BUILD);
	return !(build & (FORTH_BUILD_MULTIPATH | FORTH_BUILD_COUNT));
}

const struct storage_native storage_native_forth = {
	.probe = forth_storage_probe,
	.open = forth_storage_open,
};
