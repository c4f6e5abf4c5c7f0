/* SPDX-License-Identifier: Apache-2.0 */
/* Programs mvia.pingpong and tcpip.pingpong: the comparison stacks of
 * hvia.md 6.6 on eth.nic. They play ping-pong between node 0 and a partner
 * (6.5: latency = half a round trip, bandwidth = size / latency). They also
 * report the processor's utilisation (7.5): time charged to the process divided
 * by elapsed time, and all processor time divided by elapsed time.
 *
 * Times are those of hvia.md. Two of these times are calibrated again, because
 * here the code runs on a model of the NIC. The copy rates are chosen so that a
 * full frame costs 6.63 ns (M-VIA) or 15.86 ns (TCP/IP) of processor time per
 * byte (6.6). TCP's restart time is chosen so that a further frame takes 19.93
 * us. */
#include <errno.h>
#include <string.h>

#include "programs/pingpong.h"
#include "systems/ethernet/lib/stack.h"

struct stack_pingpong {
	struct pingpong p;
	weft_time_t slice;
	struct stack_cost cost;
	const struct stack_proto *proto;
	struct stack *s;
	uint8_t *out, *in;
	/* processor times at the start of the measurement */
	weft_time_t charged, busy;
};

/* clang-format off */
#define C(type_, field_, def_, range_, source_, doc_)                          \
	{ .name = #field_, .type = WEFT_P_##type_,                             \
	  .offset = offsetof(struct stack_pingpong, cost.field_),                    \
	  .size = sizeof(((struct stack_pingpong *)0)->cost.field_), .def = def_,    \
	  .range = range_, .source = WEFT_##source_, .doc = doc_ }
#define PARAMS(call_, transmit_, restart_, receive_, polls_, copy_tx_, copy_rx_, window_, timeout_, until_) \
	PINGPONG_PARAMS("20", "4", "1..16MiB", "1"), \
	WEFT_PARAM(TIME, struct stack_pingpong, slice, "1ms", "1us..", OWN, "a station that has ended serves its peer in turns of this length"), \
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

static const char *what_failed(const struct stack_pingpong *s, int err)
{
	if (err == -ETIMEDOUT)
		return s->proto->reliable
			       ? "the peer does not acknowledge, though everything was sent 16 times: is the line cut?"
			       : "nothing came within timeout: a frame is lost, and M-VIA does not repeat it";
	if (err == -ECONNRESET)
		return "the peer has given up and reset the connection";
	if (err == -EHOSTDOWN)
		return "nothing came for two hours, and the peer did not answer nine times: has it ended, or is the line cut?";
	return err == -EIO
		       ? "bytes are missing: a frame is lost, and M-VIA does not repeat it"
		       : program_why(err);
}

static int stack_pingpong_send(struct pingpong *p, uint64_t seq)
{
	struct stack_pingpong *s = (struct stack_pingpong *)p;

	pingpong_fill(p, s->out, seq);
	return stack_send(s->s, s->out, (uint32_t)p->len);
}

static int stack_pingpong_wait(struct pingpong *p, uint64_t seq)
{
	struct stack_pingpong *s = (struct stack_pingpong *)p;
	int ret = stack_recv(s->s, s->in, (uint32_t)p->len);

	p->in = s->in;
	if (ret)
		weft_check_failed(p->w.c, "message %llu: %s",
				  (unsigned long long)seq, what_failed(s, ret));
	return ret;
}

/* Reads the processor's time when the measurement of a size starts. The first
 * measurement starts after the warm-up, which fills rings and the tables of
 * switches. */
static void stack_pingpong_mark(struct pingpong *p)
{
	struct stack_pingpong *s = (struct stack_pingpong *)p;

	s->charged = stack_charged(s->s);
	s->busy = weft_host_busy(p->w.h);
}

static void stack_pingpong_sized(struct pingpong *p, double ns)
{
	const struct stack_pingpong *s = (struct stack_pingpong *)p;
	double t = (double)p->time;
	double u = 100.0 * (double)(stack_charged(s->s) - s->charged) / t;

	weft_metric(p->w.c, "bandwidth", "MB/s", (double)p->len * 1000.0 / ns);
	weft_metric(p->w.c, "utilisation", "%", u);
	weft_metric(p->w.c, "utilisation_all", "%",
		    100.0 * (double)(weft_host_busy(p->w.h) - s->busy) / t);
	weft_series_add(p->w.c, "utilisation", "B", "%", (double)p->len, u);
}

/* Closes the connection. No frame on the wire ends a connection. Therefore a
 * node publishes "stack.end" when it has received all bytes. It resends lost
 * bytes until its peer has published "stack.end", too. */
static void stack_pingpong_close(struct pingpong *p)
{
	struct stack_pingpong *s = (struct stack_pingpong *)p;
	int ret = !s->proto->reliable;

	program_put(&p->w, "stack.end", 1);
	while (!ret && !program_there(&p->w, "stack.end", p->peer))
		ret = stack_serve(s->s, weft_host_now(p->w.h) + s->slice);
	stack_close(s->s);
}

static int stack_pingpong_open(struct pingpong *p)
{
	struct stack_pingpong *s = (struct stack_pingpong *)p;
	int ret;

	s->out = weft_host_calloc(p->w.h, p->size_max, 1);
	s->in = weft_host_calloc(p->w.h, p->size_max, 1);
	ret = s->out && s->in
		      ? stack_open(p->w.h, s->proto, &s->cost, p->peer, &s->s)
		      : -ENOMEM;
	if (ret) {
		weft_check_failed(p->w.c, "%s on eth.nic: %s", s->proto->name,
				  program_why(ret));
		return ret;
	}
	program_barrier(&p->w, "stack");
	return 0;
}

static const struct pingpong_ops stack_pingpong_ops = {
	.flags = PINGPONG_WARM | PINGPONG_BOTH | PINGPONG_UNMARKED |
		 PINGPONG_PAIR,
	.open = stack_pingpong_open,
	.start = stack_pingpong_mark,
	.send = stack_pingpong_send,
	.wait = stack_pingpong_wait,
	.sized = stack_pingpong_sized,
	.close = stack_pingpong_close,
};

static int mvia_main(struct weft_comp *c)
{
	((struct stack_pingpong *)c->state)->proto = &stack_mvia;
	return pingpong_main(c, &stack_pingpong_ops);
}

static int tcpip_main(struct weft_comp *c)
{
	((struct stack_pingpong *)c->state)->proto = &stack_tcpip;
	return pingpong_main(c, &stack_pingpong_ops);
}

WEFT_COMPONENT(mvia_pingpong, .name = "mvia.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "eth.nic",
	       .doc = "ping-pong of M-VIA on a plain Ethernet NIC",
	       .source = "hvia.md 6.6, 7.5",
	       .not_modelled = "connections, reliable delivery",
	       .state_size = sizeof(struct stack_pingpong),
	       .params = mvia_params, .ops = { .main = mvia_main });
WEFT_COMPONENT(tcpip_pingpong, .name = "tcpip.pingpong",
	       .kind = WEFT_KIND_PROGRAM, .needs = "eth.nic",
	       .doc = "ping-pong of TCP/IP on a plain Ethernet NIC",
	       .source = "hvia.md 6.6, 7.5",
	       .not_modelled = "connections, windows, congestion control",
	       .state_size = sizeof(struct stack_pingpong),
	       .params = tcpip_params, .ops = { .main = tcpip_main });
