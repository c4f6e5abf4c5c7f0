/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.load: replaces bus and host of an EXTOLL NIC by a process that
 * sends VELO messages at given times and receives others. It serves networks
 * that are too large for programs on hosts.
 *
 *   arrivals -> (queue without end) -> stores on a requester page --> NIC
 *   mailbox, read pointer every few slots  <-- writes of the NIC
 *
 * The NIC is driven as by bus.ht. Stores set up its registers. Messages are
 * write-combined lines of 64 bytes, which are sent when the NIC's posted queue
 * has room. Writes of the NIC are accepted in order. The stages are those of
 * extoll.md 7.1: H1, H2, H3 towards the NIC, H6, H7, H8 towards the host. Their
 * times without load are those of bus.ht and host.pc (preset opteron), except
 * for the phase of the clocks.
 *
 * Simpler than bus.ht: times are not multiples of the link's cycle, free
 * buffers of the NIC's core are known at once, stores of the read pointer take
 * no time on the link, and interrupts are ignored. Simpler than a host: a
 * message is read as soon as the processor sees it, however many arrive. The
 * model reads a message when its last write leaves the NIC, and computes the
 * time at which the processor sees it.
 *
 * extoll.net measures latency and load for all sources. */
#include "systems/extoll/traffic/nic_load.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct extoll_load, field, def, range, source, doc)

static const struct weft_param extoll_load_params[] = {
	EXTOLL_SOURCE_PARAMS("messages", "takes only"),
	P(U32, size, "8", "8..120", OWN, "bytes of a message"),
	P(U32, size_max, "0", "0..120", OWN,
	  "uniform from size to this; 0 = always size"),
	EXTOLL_SOURCE_PACKETS("messages"),
	WEFT_PARAM(CLOCK, struct extoll_source, clock, "156MHz", "", STATED,
		   "cycles of load and latency: core clock of the network"),
	WEFT_PARAM(ENUM, struct extoll_source, width, "w32", "w16|w32", STATED,
		   "network data path, 16 or 32 bit: size of a flit"),
	P(CLOCK, core, "200MHz", "", STATED, "clock of the NIC's HT core"),
	P(TIME, t_dword, "2.5ns", "1fs..", STATED,
	  "H2, H7: 4 bytes on the link, HT400 with 16 bit"),
	P(TIME, t_store, "75ns", "", CALIBRATED,
	  "H1: stores, write-combining flush, north bridge"),
	P(TIME, t_rx, "60ns", "", CALIBRATED, "H3: link to NIC"),
	P(TIME, t_tx, "30ns", "", CALIBRATED, "H6: NIC to link"),
	P(TIME, t_seen, "164ns", "", CALIBRATED,
	  "H8: link to memory, and to the processor that polls it"),
	P(U32, depth, "8", "2..16", RECONSTRUCTED,
	  "stores on their way to the NIC's units"),
	P(U32, slots, "16384", "2..16777215", OWN, "slots of the mailbox"),
	P(U32, lazy, "4", "1..", RECONSTRUCTED,
	  "slots between stores of the read pointer"),
	{ 0 }
};

static const struct weft_counter extoll_load_counters[LOAD_N_COUNTERS] = {
	[LOAD_SENT] = { "sent", "messages", "taken by the NIC" },
	[LOAD_RECEIVED] = { "received", "messages", "written by the NIC" },
	[LOAD_BYTES] = { "bytes", "bytes", "received" },
	[LOAD_WRONG] = { "wrong", "messages",
			 "with a slot, length, source or tag that cannot be" },
	[LOAD_CORRUPT] = { "corrupt", "messages",
			   "with other bytes than were sent" },
	[LOAD_STRAY] = { "strays", "packets",
			 "of the NIC, for elsewhere than the mailbox" },
	[LOAD_RP] = { "rp_stores", "packets", "stores of the read pointer" },
	[LOAD_BACKLOG] = { "backlog", "messages",
			   "waiting in the source at the end" },
};

static const struct weft_port_decl extoll_load_ports[] = {
	{ "dev0", WEFT_PORT_BUS, .doc = "the NIC" },
	{ 0 }
};
/* clang-format on */

static struct extoll_load *extoll_load_of(struct weft_port *dev_port)
{
	return dev_port->peer->comp->state;
}

/* ---- messages ---- */

static void message_measure(struct extoll_load *l, uint64_t stamp, uint32_t len,
			    weft_time_t t)
{
	struct net_packet p = { .born = LOAD_BORN(stamp),
				.injected = LOAD_BORN(stamp) + LOAD_WAIT(stamp),
				.flits = extoll_source_flits(&l->s, len),
				.marked = LOAD_MARKED(stamp) };

	if (l->s.net)
		net_meter_received(l->s.place.net, &p,
				   weft_clock_cycle(&l->s.clock, t));
	else
		l->latency_sum +=
			(double)(t - weft_clock_edge(&l->s.clock, p.born)) /
			(double)WEFT_NS;
}

/* Returns true if s is not a status that an extoll.load sends to this node. */
static bool status_wrong(const struct extoll_load *l, uint64_t s)
{
	uint32_t len = EXTOLL_STATUS_LEN(s);
	uint32_t max = l->size_max > l->size ? l->size_max : l->size;

	return len < l->size || len > max ||
	       EXTOLL_STATUS_NODE(s) >= l->s.nodes ||
	       EXTOLL_STATUS_VPID(s) != LOAD_VPID ||
	       EXTOLL_STATUS_TAG(s) != (l->s.node & 0xff) ||
	       (s & (EXTOLL_STATUS_EOM | EXTOLL_STATUS_ERROR)) !=
		       EXTOLL_STATUS_EOM;
}

/* Returns true if the bytes at `data` are the payload words from word `first`
 * on. */
static bool words_good(const struct extoll_load *l, const uint8_t *data,
		       uint64_t s, uint64_t stamp, uint32_t first)
{
	uint32_t len = EXTOLL_STATUS_LEN(s);

	for (uint32_t k = first; k < (len + 7) / 8; k++, data += 8) {
		uint64_t w = extoll_load_word(stamp, EXTOLL_STATUS_NODE(s),
					      l->s.node, k);

		if (memcmp(data, &w, len - 8 * k < 8 ? len - 8 * k : 8))
			return false;
	}
	return true;
}

/* Receives the write that ends a slot and so completes the message. A message
 * longer than 56 bytes has had an earlier write with its first words. */
static void message_take(struct extoll_load *l, const uint8_t *data,
			 uint32_t bytes, weft_time_t t)
{
	uint32_t len, first = 0;
	uint64_t s;

	memcpy(&s, data + bytes - 8, 8);
	len = EXTOLL_STATUS_LEN(s);
	weft_count(l->comp, LOAD_RECEIVED, 1);
	weft_count(l->comp, LOAD_BYTES, len);
	l->next = l->next + 1 < l->slots ? l->next + 1 : 0;
	if (++l->behind >= l->lazy && !l->rp_at)
		extoll_load_src_rp(l, t);
	if (status_wrong(l, s)) {
		weft_count(l->comp, LOAD_WRONG, 1);
		return;
	}
	if (len > 56)
		first = (len - 56 + 7) / 8;
	else
		memcpy(&l->stamp, data, 8);
	if (!words_good(l, data + (first ? 0 : 8), s, l->stamp,
			first ? first : 1))
		weft_count(l->comp, LOAD_CORRUPT, 1);
	message_measure(l, l->stamp, len, t);
}

/* Receives a write of the NIC, which the processor sees at time t. */
static void write_take(struct extoll_load *l, const struct weft_bus_txn *w,
		       weft_time_t t)
{
	const uint8_t *data = weft_slice_data(w->data);
	uint64_t off = w->addr - LOAD_BOX;

	if (off >= (uint64_t)l->slots * EXTOLL_SLOT || w->bytes < 8) {
		weft_count(l->comp, LOAD_STRAY, 1);
		return;
	}
	if (off / EXTOLL_SLOT != l->next)
		weft_count(l->comp, LOAD_WRONG, 1);
	if ((off + w->bytes) % EXTOLL_SLOT == 0)
		message_take(l, data, w->bytes, t);
	else
		memcpy(&l->stamp, data, 8);
}

/* ---- the bus ---- */

/* Accepts a transaction. Aborts a read. Completes a write when the write has
 * crossed the link. */
static void extoll_load_submit(struct weft_port *dev_port,
			       struct weft_bus_txn *w)
{
	struct extoll_load *l = extoll_load_of(dev_port);
	weft_time_t t = weft_now(l->comp) + l->t_tx;
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .txn = w,
				      .last = true };

	if (t < l->up_free)
		t = l->up_free;
	note.time = l->up_free = t + (2 + (w->bytes + 3) / 4) * l->t_dword;
	w->status =
		w->op == WEFT_BUS_READ ? WEFT_BUS_MASTER_ABORT : WEFT_BUS_OK;
	w->t_done = note.time;
	if (w->op == WEFT_BUS_WRITE)
		write_take(l, w, note.time + l->t_seen);
	else
		weft_count(l->comp, LOAD_STRAY, 1);
	weft_bus_tell(l->dev, &note);
}

/* Handles stores that the NIC has consumed. The NIC consumes a store of the
 * read pointer at its arrival (l->rp_at). If that time has come, the consumed
 * store is the store of the read pointer. Otherwise it is a store of a
 * message. */
static bool extoll_load_consumed(struct weft_port *dev_port, uint32_t stores)
{
	struct extoll_load *l = extoll_load_of(dev_port);
	weft_time_t now = weft_now(l->comp);

	for (; stores; stores--) {
		bool end = l->ends & 1;

		if (l->rp_at && l->rp_at <= now) {
			l->rp_at = 0;
			if (l->behind >= l->lazy)
				extoll_load_src_rp(l, now);
			continue;
		}
		l->ends >>= 1;
		l->out--;
		if (!end)
			continue;
		weft_count(l->comp, LOAD_SENT, 1);
		l->last_sent = weft_clock_cycle(&l->s.clock, now);
		if (l->s.net)
			net_meter_sent(l->s.place.net);
	}
	extoll_load_src_next(l);
	return true;
}

static bool extoll_load_window(struct weft_port *dev_port, uint32_t stores)
{
	struct extoll_load *l = extoll_load_of(dev_port);

	if (l->depth > stores)
		l->depth = stores > 2 ? stores : 2;
	return true;
}

static bool extoll_load_many(struct weft_port *dev_port)
{
	return true;
}

static const struct weft_clock *extoll_load_clock(struct weft_port *dev_port)
{
	return &extoll_load_of(dev_port)->core;
}

/* reply is not called, because extoll.load makes no loads. Interrupts are
 * ignored. */
static void extoll_load_reply(struct weft_port *dev_port, const void *data,
			      uint32_t bytes)
{
	(void)dev_port, (void)data, (void)bytes;
	assert(!"nobody has asked");
}

static void extoll_load_irq(struct weft_port *dev_port, bool asserted)
{
	(void)dev_port, (void)asserted;
}

static const struct weft_bus_ops extoll_load_ops = {
	.submit = extoll_load_submit,
	.reply = extoll_load_reply,
	.irq = extoll_load_irq,
	.clock = extoll_load_clock,
	.window = extoll_load_window,
	.consumed = extoll_load_consumed,
	.many = extoll_load_many,
};

/* ---- set-up ---- */

static int extoll_load_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_load *l = c->state;

	l->comp = c;
	l->dev = &c->ports[0];
	l->dev->iface = &extoll_load_ops;
	if (extoll_source_init(c, err))
		return -EINVAL;
	if (l->size_max && l->size_max < l->size)
		return weft_fail(err, EINVAL, "%s.size_max: %u is below %u",
				 c->name, l->size_max, l->size);
	/* Store the read pointer after half of the slots at the latest.
	 * Otherwise a small mailbox would seem full to the NIC. */
	if (l->lazy > l->slots / 2)
		l->lazy = l->slots / 2;
	return 0;
}

static const struct net_source_ops extoll_load_source = {
	.backlog = extoll_source_backlog, .starves = extoll_load_src_starves
};

static int extoll_load_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_load *l = c->state;
	struct weft_slice some = weft_slice_new(c->sim, 8);
	bool carried = some.buf;

	weft_slice_drop(&some);
	if (!carried)
		return weft_fail(
			err, EINVAL,
			"%s: messages carry when they were sent: it needs payload: carried",
			c->name);
	if (extoll_load_src_start(l, err) ||
	    extoll_source_join(c, &extoll_load_source, err))
		return -EINVAL;
	extoll_load_src_next(l);
	return 0;
}

static void extoll_load_arrive(struct weft_comp *c, uint32_t port,
			       struct weft_frame *f)
{
	(void)c, (void)port, (void)f;
	assert(!"a bus takes no messages");
}

static int extoll_load_sample(struct weft_comp *c, struct weft_err *err)
{
	const struct extoll_load *l = c->state;

	c->counters[LOAD_BACKLOG] =
		extoll_source_backlog(
			c, 0, weft_clock_cycle(&l->s.clock, weft_now(c)))
			.packets;
	return 0;
}

static int extoll_load_finish(struct weft_comp *c, struct weft_err *err)
{
	const struct extoll_load *l = c->state;
	const uint64_t *k = c->counters;

	extoll_load_sample(c, err);
	if (!l->s.net && k[LOAD_RECEIVED])
		weft_metric(c, "latency", "ns",
			    l->latency_sum / (double)k[LOAD_RECEIVED]);
	if (k[LOAD_WRONG] || k[LOAD_CORRUPT])
		return weft_fail(
			err, EPROTO,
			"%s: %llu messages that nobody sent, %llu with other bytes",
			c->name, (unsigned long long)k[LOAD_WRONG],
			(unsigned long long)k[LOAD_CORRUPT]);
	return 0;
}

WEFT_COMPONENT(
	extoll_load, .name = "extoll.load", .kind = WEFT_KIND_BUS,
	.doc = "VELO messages of a process, in the place of host and bus",
	.source = "own; extoll.md 3.2, 3.3, 7.1",
	.not_modelled =
		"credits and steps of the link, room for read "
		"pointers on it, time a processor takes for a message",
	.state_size = sizeof(struct extoll_load), .params = extoll_load_params,
	.counters = extoll_load_counters, .n_counters = LOAD_N_COUNTERS,
	.ports = extoll_load_ports,
	.ops = { .init = extoll_load_init,
		 .start = extoll_load_start,
		 .arrive = extoll_load_arrive,
		 .sample = extoll_load_sample,
		 .finish = extoll_load_finish });
