/* SPDX-License-Identifier: Apache-2.0 */
/* A bad process writes arbitrary values into the memory that it shares with
 * other processes during a run:
 *
 * - the rings of the endpoint: commands, events, indices, states, payload;
 * - the ring of calls of weft/host.h, and the node's memory;
 * - the segment of processes that exchange messages directly.
 *
 * The bad process also sends arbitrary data on two sockets: the socket through
 * which processes join, and the socket through which the simulator copies the
 * process's memory. A good process, the peer, follows the rules. Therefore the
 * peer must get its messages or an error. Neither the peer nor the simulator
 * may crash, hang or lose memory.
 *
 * An input is a string of operations, one byte each followed by its arguments.
 * The first byte selects the clock and the path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/client.h"
#include "attach/direct_internal.h"
#include "attach/host_proto.h"
#include "attach/serve.h"
#include "front/exp/exp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char machine[] =
	"nodes: { count: 2, host: { type: host.pc, preset: opteron },\n"
	"  bus: { type: bus.ht }, nic: { type: extoll.nic } }\n"
	"fabric: { type: mesh, dims: [2], switch: { type: extoll.xbar },\n"
	"  link: { type: extoll.cable } }\n"
	"workload: { program: host.agent }\n";

struct fuzz {
	const uint8_t *p, *end;
	struct weft_att *a;
	uint8_t *mem; /* first MEM bytes of the node's memory, or NULL if the
		       * process makes no raw calls */
};

enum { MEM = 1 << 20, TURNS = 200, LAST_FD = 64 };
enum fuzz_way { EP, RAW, DIRECT, COPY, WAYS };

static uint64_t take(struct fuzz *f, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n && f->p < f->end; i++)
		v |= (uint64_t)*f->p++ << 8 * i;
	return v;
}

/* ---- the bad process ---- */

/* Returns a number below 2^48 or, in a quarter of the cases, a number of at
 * least 2^63. The number is often used as a time in fs. The run reaches a time
 * below 2^48 quickly, and the simulator refuses a time of 2^63 or more. Times
 * between these limits are avoided, because hours of simulated time would take
 * minutes. */
static uint64_t take_wide(struct fuzz *f)
{
	uint64_t v = take(f, 8);

	return v >> 62 == 3 ? v | 15ull << 60 : v & ((1ull << 48) - 1);
}

/* Returns true for 15 of 16 commands. The caller makes those commands valid,
 * because an invalid command ends the process and with it the input. */
static bool is_tame(struct fuzz *f)
{
	return take(f, 1) % 16 != 0;
}

static void op_command(struct fuzz *f)
{
	/* The list omits commands that always end the process: BYE, releases,
	 * and ends of calls that have not begun. */
	static const uint8_t kinds[] = {
		ATT_C_NOP,	ATT_C_SEND,  ATT_C_PUT,	   ATT_C_GET,
		ATT_C_FADD,	ATT_C_CSWAP, ATT_C_MR_REG, ATT_C_MR_REG,
		ATT_C_MR_DEREG, ATT_C_NOW,   ATT_C_EPOCH,  ATT_C_OVER
	};
	bool tame = is_tame(f);
	uint8_t kind = (uint8_t)take(f, 1);
	struct att_cmd cmd = {
		.kind = tame ? kinds[kind % sizeof(kinds)] : kind,
		.flags = (uint8_t)take(f, 1),
		.dst = tame ? WEFT_ATT_ADDR(take(f, 1) & 1, 0)
			    : (uint32_t)take(f, 4),
		.busy = tame ? take(f, 3) : take_wide(f),
		.ctx = take(f, 2),
		.buf = take(f, tame ? 2 : 8),
		.len = take(f, tame ? 2 : 8),
		.raddr = take(f, tame ? 2 : 8),
		.rkey = take(f, tame ? 2 : 8),
		.imm = (uint32_t)take(f, 2),
	};
	struct att_cmd *c;

	if (tame && cmd.kind == ATT_C_SEND)
		cmd.len &= 255;
	else if (tame)
		cmd.buf += (uintptr_t)f->a->cmd;
	c = att_cmd_new(f->a, ATT_C_NOP);
	if (!c)
		return;
	*c = cmd;
	att_post(f->a);
}

/* Makes any call of weft/host.h, with or without waiting for the answer. */
static void op_call(struct fuzz *f)
{
	bool tame = is_tame(f);
	struct att_host_cmd cmd = {
		.kind = (uint8_t)(tame ? ATT_H_FIRST_ + 1 +
						  take(f, 1) %
							  (ATT_H_END -
							   ATT_H_FIRST_ - 1)
				       : take(f, 1)),
		.bar = (uint8_t)take(f, 1) & 7,
		.attr = (uint8_t)take(f, 1) & 3,
		.dev = tame ? 0 : (uint32_t)take(f, 4),
		.busy = tame ? take(f, 3) : take_wide(f),
		.ctx = take(f, 1) & 1 ? ++f->a->seq : 0,
		.off = take(f, tame ? 3 : 8),
		.val = tame ? take(f, 3) : take_wide(f),
		.io_off = take(f, tame ? 2 : 8),
		.io_len = take(f, tame ? 2 : 8),
		.n = (uint32_t)take(f, tame ? 1 : 4),
		.tag = (uint16_t)take(f, 1),
		.proc = (uint16_t)take(f, 1) & 3,
	};
	struct att_cmd *c = att_cmd_new(f->a, ATT_C_NOP);

	if (!c)
		return;
	memcpy(c, &cmd, sizeof(cmd));
	att_post(f->a);
	att_hand_over(f->a, 300000);
}

static void put_word(struct fuzz *f, void *base, uint64_t bytes, uint64_t off)
{
	uint32_t v = (uint32_t)take(f, 4);

	if (off + sizeof(v) <= bytes)
		memcpy((char *)base + off, &v, sizeof(v));
}

/* Changes any word of the segment. Half of the changes hit words that both the
 * process and the simulator write. */
static void op_word(struct fuzz *f)
{
	uint64_t off = take(f, 1) & 1 ? offsetof(struct att_seg, state) +
						take(f, 1) * 4
				      : take(f, 4);

	put_word(f, f->a->seg, f->a->seg_bytes, off);
}

/* Writes to the node's memory, which holds descriptors and queues of the NIC's
 * library. */
static void op_memory(struct fuzz *f)
{
	if (f->mem)
		put_word(f, f->mem, MEM, take(f, 3));
}

/* Writes to the bad process's own place in direct mode (regions, read counts,
 * the ring to the peer), or to the bells (struct direct_bell), which all
 * processes may write. */
static void op_direct_word(struct fuzz *f)
{
	struct direct *d = f->a->direct;
	uint32_t where = take(f, 1) % 4;
	uint64_t off = take(f, 2);

	if (where == 1)
		off = offsetof(struct direct_place, pair) + off % 512;
	else if (where > 1)
		off += (uint64_t)((char *)d->peer[1].out - (char *)d->self);
	if (take(f, 1) % 16)
		put_word(f, d->self, d->lay.place_bytes, off);
	else
		put_word(f, d->bell, d->n * sizeof(*d->bell), off % 512);
}

/* Sends an arbitrary request of direct mode to the simulator, with or without a
 * file descriptor. */
static void op_direct_want(struct fuzz *f)
{
	struct direct *d = f->a->direct;
	struct direct_req q = { .what = (uint32_t)take(f, 1) % (WANTS + 1),
				.place = (uint32_t)take(f, 1) % (d->n + 1) };
	int fd;

	if (q.what < WANT_RING && q.place < d->n) {
		if (!direct_want(d, q.what, q.place,
				 take(f, 1) & 1 ? f->a->sock : -1, &fd))
			return;
	} else {
		direct_say(d->sock, &q, take(f, 1) % (sizeof(q) + 1), -1);
	}
}

static void op_direct_put(struct fuzz *f)
{
	static uint8_t buf[65536];
	struct weft_ep *ep = weft_att_ep(f->a);
	uint64_t raddr = take(f, 2), rkey = take(f, 2);
	uint32_t to = WEFT_ATT_ADDR(1, 0);

	if (take(f, 1) & 1)
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						       .dst = to,
						       .buf = buf,
						       .len = take(f, 2),
						       .raddr = raddr,
						       .rkey = rkey,
						       .notify = true,
						       .imm = 1 });
	else
		weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
						       .dst = to,
						       .into = buf,
						       .len = take(f, 2),
						       .raddr = raddr,
						       .rkey = rkey,
						       .ctx = buf });
}

static void op_poll(struct fuzz *f)
{
	struct weft_ep *ep = weft_att_ep(f->a);
	struct weft_ep_event ev;

	while (ep->ops->poll(ep, &ev, 1))
		ep->ops->release(ep, &ev);
}

static void op_send(struct fuzz *f)
{
	uint8_t buf[256] = { 0 };

	weft_ep_send(weft_att_ep(f->a), WEFT_ATT_ADDR(1, 0), buf, take(f, 1),
		     take(f, 1), NULL);
}

static void op_release(struct fuzz *f)
{
	atomic_fetch_or(&f->a->seg->released, take(f, is_tame(f) ? 0 : 8));
}

static void op_wait(struct fuzz *f)
{
	weft_att_wait(f->a, 300);
}

static void op_deadline(struct fuzz *f)
{
	atomic_store(&f->a->seg->deadline, take_wide(f));
	att_hand_over(f->a, 300000);
}

/* Opens one more connection and sends a hello message one to three times. The
 * message is right, wrong in one word, too short or too long. If the simulator
 * gives the connection a place, the place stays taken until the process
 * ends. */
static void op_hello(struct fuzz *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *path = getenv("WEFT_SOCKET");
	uint32_t hello[8] = { ATT_MAGIC, WEFT_ATT_VERSION,
			      (uint32_t)take(f, 1) % 4, (uint32_t)getpid(),
			      (uint32_t)take(f, 1) % 4 };
	uint32_t wrong = (uint32_t)take(f, 1);
	size_t n = take(f, 1) % 4 ? sizeof(struct att_hello)
				  : take(f, 1) % sizeof(hello);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (wrong % 8 < 5)
		hello[wrong % 8] = (uint32_t)take(f, 4);
	memcpy(sa.sun_path, path, strlen(path));
	sa.sun_path[0] = '\0';
	if (fd < 0)
		return;
	if (fd > LAST_FD ||
	    connect(fd, (struct sockaddr *)&sa,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				strlen(path)))) {
		close(fd);
		return;
	}
	for (uint64_t i = take(f, 1) % 3 + 1; i; i--)
		send(fd, hello, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (take(f, 1) & 1)
		close(fd);
}

/* Damages the socket over which the simulator copies the process's memory.
 * Sends bytes that answer no request, or closes the socket. */
static void op_copy(struct fuzz *f)
{
	uint8_t bytes[64];
	uint32_t n = (uint32_t)take(f, 1) % sizeof(bytes) + 1;
	bool ends = take(f, 1) % 16 == 0;

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)take(f, 1);
	for (int fd = 3; fd < LAST_FD; fd++) {
		int type = 0;
		socklen_t len = sizeof(type);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
		    type != SOCK_STREAM)
			continue;
		if (ends)
			shutdown(fd, SHUT_RDWR);
		else
			send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

/* Posts a put whose bytes the simulator must read from the process's memory. */
static void op_far_put(struct fuzz *f)
{
	static uint8_t buf[65536];
	struct weft_ep *ep = weft_att_ep(f->a);
	static struct weft_ep_mr mr;

	if (!mr.len)
		ep->ops->mr_reg(ep, buf, sizeof(buf), &mr);
	weft_ep_post(ep, &(struct weft_ep_op){
				 .code = WEFT_EP_PUT,
				 .dst = WEFT_ATT_ADDR(take(f, 1) & 1, 0),
				 .buf = buf,
				 .len = take(f, 2),
				 .raddr = take(f, 2),
				 .rkey = take(f, 1),
				 .notify = true,
				 .imm = 1 });
}

static int bad_open(struct fuzz *f, enum fuzz_way way)
{
	int ret;

	if (way != RAW)
		return weft_att_open(&f->a);
	ret = att_connected(ATT_ROLE_HOST, &f->a);
	if (!ret)
		ret = att_noticed(f->a);
	if (ret)
		return ret;
	f->mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED,
		      f->a->mem_fd, 0);
	if (f->mem == MAP_FAILED)
		f->mem = NULL;
	return 0;
}

static void bad_main(enum fuzz_way way, const uint8_t *data, size_t size)
{
	static void (*const ops[WAYS][12])(struct fuzz *) = {
		[EP] = { op_command, op_command, op_command, op_command,
			 op_send, op_hello, op_poll, op_poll, op_wait,
			 op_deadline, op_word, op_release },
		[RAW] = { op_call, op_call, op_call, op_call, op_call, op_call,
			  op_memory, op_memory, op_deadline, op_word, op_call,
			  op_hello },
		[DIRECT] = { op_direct_word, op_direct_word, op_direct_want,
			     op_send, op_poll, op_poll, op_wait, op_wait,
			     op_direct_put, op_direct_put, op_word, op_hello },
		[COPY] = { op_copy, op_copy, op_far_put, op_far_put, op_far_put,
			   op_command, op_command, op_send, op_poll, op_wait,
			   op_hello, op_word },
	};
	struct fuzz f = { data, data + size, NULL, NULL };

	if (bad_open(&f, way))
		_exit(1);
	for (int i = 0; i < TURNS && f.p < f.end && !weft_att_gone(f.a); i++)
		ops[way][take(&f, 1) % 12](&f);
	/* Sets the state to "waits", whatever the input did to the state,
	 * because otherwise the simulator would wait for the process. */
	atomic_store(&f.a->seg->state, ATT_WAIT);
	_exit(0);
}

/* ---- the good process ---- */

static void good_remote(struct weft_ep *ep, int turn)
{
	static uint64_t region[512], word;
	static struct weft_ep_mr mr;

	if (!turn)
		ep->ops->mr_reg(ep, region, sizeof(region), &mr);
	weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
					       .dst = WEFT_ATT_ADDR(0, 0),
					       .buf = region,
					       .len = 64,
					       .raddr = 0,
					       .rkey = 1 });
	weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
					       .dst = WEFT_ATT_ADDR(0, 0),
					       .into = region,
					       .len = 64,
					       .raddr = 0,
					       .rkey = 1,
					       .ctx = &word });
	weft_ep_post(ep, &(struct weft_ep_op){ .code = WEFT_EP_FADD,
					       .dst = WEFT_ATT_ADDR(0, 0),
					       .raddr = 8,
					       .rkey = 1,
					       .operand = 1,
					       .ctx = &word });
}

/* Runs the good process. In direct mode the bad process may damage the segment
 * that all processes share. The good process may then fail to join, or may miss
 * a notification. */
static void good_main(enum fuzz_way way)
{
	struct weft_ep_event ev;
	struct weft_att *a;
	struct weft_ep *ep;
	int left = 0;

	if (weft_att_open(&a))
		_exit(way == DIRECT ? 0 : 1);
	ep = weft_att_ep(a);
	for (int i = 0; i < (way == DIRECT ? 200 : 2000) && !left; i++) {
		if (i < 20)
			weft_ep_send(ep, WEFT_ATT_ADDR(0, 0), "good", 4, 7,
				     NULL);
		if (i < 20 && way == DIRECT)
			good_remote(ep, i);
		weft_att_wait(a, 1000);
		while (ep->ops->poll(ep, &ev, 1)) {
			left |= ev.kind == WEFT_EV_ERROR &&
				ev.status == -EPIPE && !ev.ctx;
			ep->ops->release(ep, &ev);
		}
	}
	/* Outside direct mode the good process must have been notified that the
	 * bad process left. */
	_exit(left || way == DIRECT ? 0 : 2);
}

/* Makes calls until the simulator closes the connection, but at most 2000. */
static void good_raw(void)
{
	struct att_host_cmd now = { .kind = ATT_H_NOW };
	struct weft_att *a;
	struct att_reply r;
	int ret = 0;

	if (att_connected(ATT_ROLE_HOST, &a) || att_noticed(a))
		_exit(1);
	for (int i = 0; i < 2000 && !ret; i++)
		ret = att_call(a, (struct att_cmd *)&now, &r);
	_exit(ret && !weft_att_gone(a) ? 2 : 0);
}

static void start(struct att_server *s, uint32_t rank, enum fuzz_way way,
		  const uint8_t *data, size_t size)
{
	char text[16];
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid) {
		att_server_child(s, pid);
		return;
	}
	snprintf(text, sizeof(text), "%u", rank);
	setenv("WEFT_RANK", text, 1);
	setenv("WEFT_SOCKET", att_server_socket(s), 1);
	alarm(60);
	if (!rank)
		bad_main(way, data, size);
	if (way == RAW)
		good_raw();
	good_main(way);
}

/* Returns the exit status of the good process. Waits for that process, because
 * the process may end a little later than the run. */
static int good_status(struct att_server *s)
{
	int status;

	for (int i = 0; i < 2500; i++) {
		if (att_server_status(s, 1, &status))
			return status;
		usleep(10000);
	}
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t map[] = { 0, 1 };
	enum fuzz_way way = !size	     ? EP
			    : data[0] & 0x80 ? COPY
					     : data[0] / 2 % COPY;
	struct direct_hub hub = { .fd = -1 };
	struct att_opts o = {
		.clock = (size && data[0] & 1) || way == DIRECT
				 ? WEFT_CLOCK_NONE
				 : WEFT_CLOCK_FIXED,
		.ranks = 2,
		.map = map,
		.raw = way == RAW,
		.direct = way == DIRECT ? &hub : NULL,
		/* A process that uses weft/host.h is not notified when its peer
		 * dies, therefore its run ends only after patience_ns. With raw
		 * calls patience_ns is short, to save time. */
		.patience_ns = way == RAW ? 30000000 : 1000000000,
	};
	struct exp_opts none = { 0 };
	struct weft_err err = { 0 };
	struct registry reg;
	struct att_server *s;
	struct exp_case c;
	struct exp *e;
	int status;

	if (way == DIRECT && direct_make(2, 4, &hub))
		abort();
	/* The variable makes the simulator act as if the kernel forbade one
	 * process to read the memory of another. */
	if (way == COPY)
		setenv("WEFT_NO_CMA", "1", 1);
	else
		unsetenv("WEFT_NO_CMA");
	s = att_server_new(&o, &err);
	registry_init(&reg);
	if (!s || exp_load_text("machine", machine, sizeof(machine) - 1, &none,
				&reg, &e, &err))
		abort();
	e->on_open = att_server_tap;
	e->hook_arg = s;
	if (exp_case_open(e, 0, &c, &err))
		abort();
	start(s, 0, way, data + 1, size ? size - 1 : 0);
	start(s, 1, way, NULL, 0);
	if (att_server_go(s, &err))
		abort();
	weft_sim_run(c.sim, WEFT_NEVER);
	status = good_status(s);
	if (status) {
		fprintf(stderr, "status of the good one: 0x%x\n",
			(unsigned int)status);
		abort();
	}
	att_server_untap(s);
	exp_case_close(&c);
	exp_free(e);
	att_server_free(s);
	registry_fini(&reg);
	direct_unmake(&hub);
	return 0;
}
