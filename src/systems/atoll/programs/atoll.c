/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on ATOLL (hostport.md 2, 11.7, 13.6):
 *
 *   atoll.pingpong  node 0 and a node some links away send each other messages
 *                   in turn, by PIO or DMA (AT-03)
 *   atoll.manager   the management process clears or reports deadlocks
 *   atoll.ring      every node sends packets round the border of the mesh (2.3,
 *                   L04)
 *
 * Nodes form a mesh of `width` columns. Links 0 to 3, which are ports 4 to 7,
 * lead to +x, -x, +y and -y. */
#include <errno.h>
#include <string.h>

#include "programs/pingpong.h"
#include "systems/atoll/nic/regs_map.h"
#include "weft/atoll.h"

enum { PX = 4, NX, PY, NY, HOPS = 23, BYTES = 65536, DATA_PORT = 1 };

struct at_work {
	uint64_t packets;
	uint32_t size, width, counter, hops;
	weft_time_t wait, idle;
	bool recover;
	struct program w;
	struct atoll_port *p;
	/* one bit for each received message, by tag */
	uint64_t seen[65536 / 64];
	uint64_t buf[BYTES / 8];
};

static int open_port(struct at_work *a, struct weft_comp *c, uint32_t port,
		     uint32_t mode)
{
	struct atoll_attr attr = { .port = port, .mode = mode };
	int ret;

	a->w = program_from(c);
	ret = atoll_open(a->w.h, &attr, &a->p);
	if (ret)
		weft_check_failed(c, "cannot open the NIC: %s",
				  program_why(ret));
	return ret;
}

/* Builds a route: links in x, then links in y, then the host port. Returns the
 * number of its characters, or 0 if the route is too long. */
static uint32_t mesh_route(uint32_t width, uint32_t s, uint32_t d,
			   uint32_t port, uint8_t *r)
{
	uint32_t x = s % width, y = s / width, n = 0;

	for (; x != d % width && n < HOPS; n++) {
		r[n] = x < d % width ? PX : NX;
		x += x < d % width ? 1 : (uint32_t)-1;
	}
	for (; y != d / width && n < HOPS; n++) {
		r[n] = y < d / width ? PY : NY;
		y += y < d / width ? 1 : (uint32_t)-1;
	}
	r[n++] = (uint8_t)port;
	return n <= HOPS ? n : 0;
}

/* Checks the contents, and that the message has not arrived before. */
static void atoll_verify(struct at_work *a, const struct atoll_msg *m)
{
	uint64_t bit = 1ULL << (m->tag % 64);
	bool twice = a->seen[m->tag / 64] & bit;

	a->seen[m->tag / 64] |= bit;
	if (!twice && m->bytes == a->size &&
	    program_check(a->buf, 0, a->size / 8,
			  program_base(m->node, a->w.me, m->tag)) < 0)
		return;
	weft_check_failed(a->w.c, "message %u of node %u %s", m->tag, m->node,
			  twice ? "has come twice" : "is not what was sent");
}

/* ---- ping-pong ---- */

struct atoll_pingpong {
	struct pingpong p;
	uint32_t mode, width;
	weft_time_t cost, pause;
	struct at_work a;
};

/* Returns a random pause, so that messages start at all phases of the
 * clocks. */
static weft_time_t pp_pause(const struct atoll_pingpong *a, uint32_t node,
			    uint64_t seq)
{
	return a->pause ? program_mix(seq * 2 + !node) % (2 * a->pause) : 0;
}

static int pp_send(struct pingpong *p, uint64_t seq)
{
	struct atoll_pingpong *a = (struct atoll_pingpong *)p;
	uint8_t route[HOPS + 1];
	uint32_t n = mesh_route(a->width, p->w.me, p->peer, DATA_PORT, route);

	if (a->pause)
		weft_host_cpu(p->w.h, pp_pause(a, p->w.me, seq));
	program_sent(&p->w, p->peer);
	pingpong_fill(p, a->a.buf, seq);
	weft_host_cpu(p->w.h, a->cost);
	if (!atoll_send(a->a.p, route, n, seq & 0xffff, a->a.buf,
			(uint32_t)p->len))
		return 0;
	weft_check_failed(p->w.c, "message %llu cannot be sent",
			  (unsigned long long)seq);
	return -EIO;
}

static int pp_wait(struct pingpong *p, uint64_t seq)
{
	struct atoll_pingpong *a = (struct atoll_pingpong *)p;
	struct atoll_msg m;

	atoll_recv(a->a.p, &m, a->a.buf, sizeof(a->a.buf), WEFT_NEVER);
	if (!p->begins || (seq + 1) % p->count)
		program_got(&p->w, p->peer);
	p->in = a->a.buf;
	if (m.node == p->peer && m.bytes == p->len && m.tag == (seq & 0xffff))
		return 0;
	weft_check_failed(p->w.c, "message %u of node %u is not what was sent",
			  m.tag, m.node);
	return -EIO;
}

/* Subtracts the pauses, since they are not part of the latency. */
static void pp_done(struct pingpong *p, uint64_t seq)
{
	const struct atoll_pingpong *a = (struct atoll_pingpong *)p;

	if (!p->begins || (seq + 1) % p->count)
		return;
	program_got(&p->w, p->peer);
	for (uint64_t i = seq + 1 - p->count; i <= seq; i++)
		p->time -= pp_pause(a, 0, i) + pp_pause(a, 1, i);
}

static int pp_init(struct weft_comp *c, struct weft_err *err)
{
	const struct atoll_pingpong *a = c->state;
	const struct pingpong *p = &a->p;
	uint64_t most = p->size_max ? p->size_max : p->size;

	if (p->size % 8 || p->step % 8)
		return weft_fail(err, EINVAL,
				 "%s.size: %llu bytes are no multiple of 8",
				 c->name, (unsigned long long)p->size);
	if (most > BYTES)
		return weft_fail(err, EINVAL,
				 "%s.size_max: a message has %u bytes at most",
				 c->name, BYTES);
	if (a->mode == ATOLL_PIO && most > ATOLL_PIO_MAX)
		return weft_fail(
			err, EINVAL,
			"%s.size: %llu bytes: a message sent by PIO has %u at most; mode: dma takes more",
			c->name, (unsigned long long)most, ATOLL_PIO_MAX);
	return 0;
}

static int pp_open(struct pingpong *p)
{
	struct atoll_pingpong *a = (struct atoll_pingpong *)p;
	int ret = open_port(&a->a, p->w.c, DATA_PORT, a->mode);

	if (!ret)
		program_barrier(&p->w, "atoll.pp");
	return ret;
}

static void pp_close(struct pingpong *p)
{
	atoll_close(((struct atoll_pingpong *)p)->a.p);
}

static const struct pingpong_ops pp_ops = {
	.flags = PINGPONG_UNMARKED,
	.open = pp_open,
	.send = pp_send,
	.wait = pp_wait,
	.done = pp_done,
	.close = pp_close,
};

static int pp_main(struct weft_comp *c)
{
	return pingpong_main(c, &pp_ops);
}

/* ---- management process ---- */

/* Managers cannot exchange messages about a deadlock, because they have no
 * network of their own. Therefore each one first waits for a time that depends
 * on its node number. It removes a packet if the deadlock still exists after
 * that time. */
static void mgr_clear(struct at_work *a, uint64_t *took_p)
{
	struct atoll_deadlock d;

	weft_host_sleep(a->w.h,
			weft_host_now(a->w.h) + (a->w.me + 1) * a->wait);
	while (atoll_deadlock(a->p, &d)) {
		if (!a->recover) {
			weft_check_failed(
				a->w.c,
				"deadlock: OutPort %u is granted to InPort %u and stopped, InPort %u waits for it; recovery is off",
				d.out, d.granted, d.waits);
			return;
		}
		*took_p += atoll_retrieve(a->p, &d);
		weft_host_sleep(a->w.h, weft_host_now(a->w.h) + a->wait);
	}
}

static int mgr_main(struct weft_comp *c)
{
	struct at_work *a = c->state;
	uint64_t irqs = 0, took = 0, again = 0;
	struct atoll_msg m;
	int ret = open_port(a, c, 0, ATOLL_DMA);

	if (ret)
		return ret;
	atoll_manage(a->p, a->counter);
	program_barrier(&a->w, "atoll.manager");
	while (atoll_irq_wait(a->p, weft_host_now(a->w.h) + a->idle)) {
		irqs++;
		weft_metric(c, "interrupts", "", (double)irqs);
		mgr_clear(a, &took);
		if (!a->recover)
			break;
		/* Resends every packet that was removed from the network
		 * (2.3). */
		while (atoll_poll(a->p, &m, a->buf, sizeof(a->buf)))
			if (m.retrieved && !atoll_again(a->p, &m, a->buf))
				again++;
		weft_metric(c, "taken_out", "packets", (double)took);
		weft_metric(c, "sent_again", "packets", (double)again);
	}
	return 0;
}

/* ---- ring ---- */

/* Builds the route round the border of the mesh from node s over `hops` links.
 * Sets *d_p to the last node of the route. Returns the number of routing
 * characters. */
static uint32_t ring_route(const struct at_work *a, uint32_t s, uint32_t hops,
			   uint32_t port, uint8_t *r, uint32_t *d_p)
{
	uint32_t w = a->width, h = a->w.n / w, x = s % w, y = s / w, n;

	for (n = 0; n < hops && n < HOPS; n++) {
		if (y == 0 && x + 1 < w) {
			r[n] = PX;
			x++;
		} else if (x + 1 == w && y + 1 < h) {
			r[n] = PY;
			y++;
		} else if (y + 1 == h && x) {
			r[n] = NX;
			x--;
		} else {
			r[n] = NY;
			y--;
		}
	}
	r[n] = (uint8_t)port;
	*d_p = y * w + x;
	return n + 1;
}

static int ring_main(struct weft_comp *c)
{
	struct at_work *a = c->state;
	uint64_t got = 0;
	uint8_t route[HOPS + 1];
	struct atoll_msg m;
	uint32_t n, to;
	int ret = open_port(a, c, DATA_PORT, ATOLL_DMA);

	if (ret)
		return ret;
	n = ring_route(a, a->w.me, a->hops, DATA_PORT, route, &to);
	program_barrier(&a->w, "atoll.ring");
	for (uint64_t i = 0; i < a->packets; i++) {
		program_fill(a->buf, a->size / 8, program_base(a->w.me, to, i));
		atoll_send(a->p, route, n, i & 0xffff, a->buf, a->size);
		for (; atoll_poll(a->p, &m, a->buf, sizeof(a->buf)); got++)
			atoll_verify(a, &m);
	}
	for (; got < a->packets; got++) {
		atoll_recv(a->p, &m, a->buf, sizeof(a->buf), WEFT_NEVER);
		atoll_verify(a, &m);
	}
	weft_metric(c, "received", "packets", (double)got);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct at_work, field, def, range, source, doc)

#define P_PP(type, field, def, range, source, doc)                             \
	WEFT_PARAM(type, struct atoll_pingpong, field, def, range, source, doc)
static const struct weft_param pp_params[] = {
	PINGPONG_PARAMS("100", "8", "8..65536", "8"),
	P_PP(U32, width, "2", "1..64", OWN, "columns of the mesh"),
	P_PP(ENUM, mode, "pio", "pio|dma", OWN, "how messages are sent and taken"),
	P_PP(TIME, pause, "0", "", OWN,
	  "mean of a random time before each message, not counted"),
	P_PP(TIME, cost, "200ns", "", CALIBRATED,
	  "of software, for each message (11.7)"),
	{ 0 }
};
static const struct weft_param mgr_params[] = {
	P(BOOL, recover, "yes", "", OWN,
	  "take a packet out; no: report the deadlock and end"),
	P(U32, counter, "0", "", OWN,
	  "cycles of the deadlock counter; 0 = the NIC's dl_counter"),
	P(TIME, wait, "100us", "", OWN,
	  "times own number + 1, before the condition is looked at again"),
	P(TIME, idle, "2ms", "1us..", OWN,
	  "without an interrupt: the process ends"),
	{ 0 }
};
static const struct weft_param ring_params[] = {
	P(U64, packets, "1", "1..65536", OWN, "that each node sends"),
	P(U32, size, "4096", "8..65536", OWN, "bytes of a message"),
	P(U32, width, "2", "1..64", OWN, "columns of the mesh"),
	P(U32, hops, "2", "1..23", OWN, "links each one goes round"),
	{ 0 }
};
/* clang-format on */

#define PROGRAM(id, name_, doc_, source_, state_, params_, init_, main_)       \
	WEFT_COMPONENT(id, .name = name_, .kind = WEFT_KIND_PROGRAM,           \
		       .needs = "atoll.nic", .doc = doc_, .source = source_,   \
		       .state_size = sizeof(state_), .params = params_,        \
		       .ops = { .init = init_, .main = main_ })

PROGRAM(atoll_pingpong, "atoll.pingpong", "ping-pong over ATOLL",
	"hostport.md 11.7", struct atoll_pingpong, pp_params, pp_init, pp_main);
PROGRAM(atoll_manager, "atoll.manager", "ATOLL's management process",
	"hostport.md 2.3", struct at_work, mgr_params, NULL, mgr_main);
PROGRAM(atoll_ring, "atoll.ring", "packets round the border of a mesh",
	"hostport.md 2.3, L04", struct at_work, ring_params, NULL, ring_main);
