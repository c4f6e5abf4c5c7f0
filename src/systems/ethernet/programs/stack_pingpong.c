/* SPDX-License-Identifier: Apache-2.0 */
/* Programs mvia.pingpong and tcpip.pingpong: the comparison stacks of hvia.md
 * 6.6 on eth.nic, ping-pong between nodes 0 and 1 (6.5: latency = half a round
 * trip, bandwidth = size / latency), with the processor's utilisation (7.5):
 * time charged to the process / elapsed time, and all processor time.
 *
 * Costs are hvia.md's.  Calibrated anew, because here they run: copies, so that
 * the processor time of a full frame is 6.63 and 15.86 ns a byte (6.6), and
 * TCP's restart, so that a frame takes 19.93 us. */
#include <errno.h>
#include <string.h>

#include "programs/program.h"
#include "systems/ethernet/lib/stack.h"

struct pingpong {
	uint64_t count;
	uint32_t size;
	weft_time_t slice;
	struct stack_cost cost;
	struct program w;
	const struct stack_proto *proto;
	struct stack *s;
	uint8_t *out, *in;
};

/* clang-format off */
#define C(type_, field_, def_, range_, source_, doc_)                          \
	{ .name = #field_, .type = WEFT_P_##type_,                             \
	  .offset = offsetof(struct pingpong, cost.field_),                    \
	  .size = sizeof(((struct pingpong *)0)->cost.field_), .def = def_,    \
	  .range = range_, .source = WEFT_##source_, .doc = doc_ }
#define PARAMS(call_, transmit_, restart_, receive_, polls_, copy_tx_, copy_rx_, window_, timeout_, until_) \
	WEFT_PARAM(U64, struct pingpong, count, "20", "1..", OWN, "round trips that count"), \
	WEFT_PARAM(U32, struct pingpong, size, "4", "1..16777216", OWN, "bytes of a message"), \
	WEFT_PARAM(TIME, struct pingpong, slice, "1ms", "1us..", OWN, "a station that has ended serves its peer in turns of this length"), \
	C(TIME, call,      call_,     "", RECONSTRUCTED, "library and system call of a send (6.6)"), \
	C(TIME, transmit,  transmit_, "", RECONSTRUCTED, "protocol and driver, each frame sent (6.6)"), \
	C(TIME, interrupt, "3.5us",   "", RECONSTRUCTED, "interrupt and handler (6.6)"), \
	C(TIME, restart,   restart_,  "", CALIBRATED,    "handler of a sent frame, when others wait (6.6: time per further frame)"), \
	C(TIME, receive,   receive_,  "", RECONSTRUCTED, "protocol, each frame received, without its copy (6.6)"), \
	C(TIME, detect,    "0.5us",   "", RECONSTRUCTED, "a poll that sees the message, and return (6.6)"), \
	C(TIME, wake,      "3.5us",   "", RECONSTRUCTED, "wake-up, switch and return (6.6: 2.5 + 1.0)"), \
	C(TIME, poll,      "2ns",     "", CALIBRATED,    "a turn of the loop that spins (6.6)"), \
	C(U32,  polls,     polls_,    "", STATED,        "turns before the process sleeps (6.6)"), \
	C(RATE, copy_tx,   copy_tx_,  "", CALIBRATED,    "copy of the sender; 0 = none (6.6: time per byte)"), \
	C(RATE, copy_rx,   copy_rx_,  "", CALIBRATED,    "copy of the receiver (6.6: time per byte)"), \
	C(U32,  window,    window_,   "", OWN,           "frames that the NIC gets at a time; 0 = all"), \
	C(U32,  ring,      "1024",    "8..65536", OWN,   "transmit descriptors, a multiple of 8"), \
	C(U32,  mtu,       "1500",    "576..9000", STATED, "bytes behind the Ethernet header; above 1500 needs eth.nic.frame_max too"), \
	C(TIME, timeout,   timeout_,  "1us..100s", OWN,  until_)

static const struct weft_param mvia_params[] = {
	PARAMS("0.9us", "2.6us", "0", "3us", "50000", "0", "2.83Gb/s", "0",
	       "1s", "a receiver to whom nothing comes for so long reports a lost message"),
	{ 0 }
};
static const struct weft_param tcpip_params[] = {
	PARAMS("1us", "4.8us", "2.86us", "3.4us", "0", "1.8Gb/s", "1.8Gb/s", "1",
	       "200ms", "bytes without acknowledgement are sent again; doubles each time, 15 times at most (Linux: at least 200 ms)"),
	{ 0 }
};
/* clang-format on */

static uint8_t stack_pingpong_pattern(uint32_t from, uint64_t round, uint32_t i)
{
	return (uint8_t)(i * 7 + i / 251 + round * 13 + from * 101);
}

static int send_one(struct pingpong *p, uint64_t round)
{
	for (uint32_t i = 0; i < p->size; i++)
		p->out[i] = stack_pingpong_pattern(p->w.me, round, i);
	return stack_send(p->s, p->out, p->size);
}

static const char *what_failed(const struct pingpong *p, int err)
{
	if (err == -ETIMEDOUT)
		return p->proto->reliable
			       ? "the peer does not acknowledge, though "
				 "everything was sent 16 times: is the line "
				 "cut?"
			       : "nothing came within timeout: a frame is "
				 "lost, and M-VIA does not repeat it";
	if (err == -ECONNRESET)
		return "the peer has given up and reset the connection";
	if (err == -EHOSTDOWN)
		return "nothing came for two hours, and the peer did not "
		       "answer nine times: has it ended, or is the line cut?";
	return err == -EIO ? "bytes are missing: a frame is lost, and M-VIA "
			     "does not repeat it"
			   : program_why(err);
}

static int recv_one(struct pingpong *p, uint64_t round)
{
	int ret = stack_recv(p->s, p->in, p->size);
	uint32_t i = 0;

	while (!ret && i < p->size &&
	       p->in[i] == stack_pingpong_pattern(!p->w.me, round, i))
		i++;
	if (!ret && i == p->size)
		return 0;
	weft_check_failed(p->w.c, "message %llu: %s", (unsigned long long)round,
			  ret ? what_failed(p, ret) : "wrong bytes");
	return ret ? ret : -EIO;
}

static int stack_pingpong_rounds(struct pingpong *p, uint64_t from, uint64_t n)
{
	int ret = 0;

	for (uint64_t i = from; i < from + n && !ret; i++) {
		ret = p->w.me ? recv_one(p, i) : send_one(p, i);
		if (!ret)
			ret = p->w.me ? send_one(p, i) : recv_one(p, i);
	}
	return ret;
}

static void stack_pingpong_tell(struct pingpong *p, weft_time_t t,
				weft_time_t charged, weft_time_t busy)
{
	double ns = (double)t / 2 / (double)p->count / (double)WEFT_NS;
	double u = 100.0 * (double)charged / (double)t;

	weft_metric(p->w.c, "half_rtt_mean", "ns", ns);
	weft_metric(p->w.c, "bandwidth", "MB/s", p->size * 1000.0 / ns);
	weft_metric(p->w.c, "utilisation", "%", u);
	weft_metric(p->w.c, "utilisation_all", "%",
		    100.0 * (double)busy / (double)t);
	weft_series_add(p->w.c, "half_rtt", "B", "ns", p->size, ns);
	weft_series_add(p->w.c, "utilisation", "B", "%", p->size, u);
}

/* One round first: rings are known, tables of switches learned. */
static int stack_pingpong_measure(struct pingpong *p)
{
	weft_time_t t, charged, busy;
	int ret = stack_pingpong_rounds(p, 0, 1);

	t = weft_host_now(p->w.h);
	charged = stack_charged(p->s);
	busy = stack_busy(p->s);
	ret = ret ? ret : stack_pingpong_rounds(p, 1, p->count);
	t = weft_host_now(p->w.h) - t;
	if (!ret)
		stack_pingpong_tell(p, t, stack_charged(p->s) - charged,
				    stack_busy(p->s) - busy);
	return ret;
}

/* The end of a connection is not on the wire: a node says that it has received
 * all, and until then its peer sends again what is lost. */
static void stack_pingpong_finish(struct pingpong *p)
{
	int ret = !p->proto->reliable;

	program_put(&p->w, "stack.end", 1);
	while (!ret && !program_there(&p->w, "stack.end", !p->w.me))
		ret = stack_serve(p->s, weft_host_now(p->w.h) + p->slice);
}

static int stack_pingpong_run(struct weft_comp *c,
			      const struct stack_proto *proto)
{
	struct pingpong *p = c->state;
	int ret;

	p->w = program_from(c);
	p->proto = proto;
	if (p->w.me > 1)
		return 0;
	p->out = weft_host_calloc(p->w.h, p->size, 1);
	p->in = weft_host_calloc(p->w.h, p->size, 1);
	ret = p->out && p->in
		      ? stack_open(p->w.h, proto, &p->cost, !p->w.me, &p->s)
		      : -ENOMEM;
	if (ret) {
		weft_check_failed(c, "%s on eth.nic: %s", proto->name,
				  program_why(ret));
		return ret;
	}
	program_barrier(&p->w, "stack");
	ret = stack_pingpong_measure(p);
	stack_pingpong_finish(p);
	stack_close(p->s);
	return ret;
}

static int mvia_main(struct weft_comp *c)
{
	return stack_pingpong_run(c, &stack_mvia);
}

static int tcpip_main(struct weft_comp *c)
{
	return stack_pingpong_run(c, &stack_tcpip);
}

WEFT_COMPONENT(mvia_pingpong, .name = "mvia.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "eth.nic",
	       .doc = "ping-pong of M-VIA on a plain Ethernet NIC",
	       .source = "hvia.md 6.6, 7.5",
	       .not_modelled = "connections, reliable delivery",
	       .state_size = sizeof(struct pingpong), .params = mvia_params,
	       .ops = { .main = mvia_main });
WEFT_COMPONENT(tcpip_pingpong, .name = "tcpip.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "eth.nic",
	       .doc = "ping-pong of TCP/IP on a plain Ethernet NIC",
	       .source = "hvia.md 6.6, 7.5",
	       .not_modelled = "connections, windows, congestion control",
	       .state_size = sizeof(struct pingpong), .params = tcpip_params,
	       .ops = { .main = tcpip_main });
