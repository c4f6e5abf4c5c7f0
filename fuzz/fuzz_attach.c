/* SPDX-License-Identifier: Apache-2.0 */
/* A process that writes anything into the segment it shares with the simulator
 * while a run goes on: commands, indices, states, payload.  Its peer, a good
 * one, must get an error or its messages; the simulator must not crash, hang or
 * lose memory.  An input is a string of operations, one byte each followed by
 * its arguments; the first byte is the clock. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "attach/client.h"
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
};

static uint64_t take(struct fuzz *f, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n && f->p < f->end; i++)
		v |= (uint64_t)*f->p++ << 8 * i;
	return v;
}

/* ---- the bad one: a process of its own ---- */

/* Any command; of every second its kind and its sizes are small. */
static void op_command(struct fuzz *f)
{
	bool tame = take(f, 1) & 1;
	struct att_cmd cmd = {
		.kind = (uint8_t)(tame ? take(f, 1) % ATT_C_KINDS : take(f, 1)),
		.flags = (uint8_t)take(f, 1),
		.dst = tame ? WEFT_ATT_ADDR(take(f, 1) & 1, 0)
			    : (uint32_t)take(f, 4),
		.busy = take(f, tame ? 3 : 8),
		.ctx = take(f, 2),
		.buf = tame ? (uintptr_t)f->a->cmd + take(f, 2) : take(f, 8),
		.len = take(f, tame ? 2 : 8),
		.raddr = take(f, tame ? 2 : 8),
		.rkey = take(f, tame ? 2 : 8),
		.imm = (uint32_t)take(f, 2),
	};
	struct att_cmd *c = att_cmd_new(f->a, ATT_C_NOP);

	if (!c)
		return;
	*c = cmd;
	att_post(f->a);
}

/* Any word, anywhere; half of them where both sides write. */
static void op_word(struct fuzz *f)
{
	uint64_t off = take(f, 1) & 1 ? offsetof(struct att_seg, state) +
						take(f, 1) * 4
				      : take(f, 4);
	uint32_t v = (uint32_t)take(f, 4);

	if (off + sizeof(v) <= f->a->seg_bytes)
		memcpy((char *)f->a->seg + off, &v, sizeof(v));
}

static void op_send(struct fuzz *f)
{
	uint8_t buf[256] = { 0 };

	f->a->ep.ops->send(&f->a->ep, WEFT_ATT_ADDR(1, 0), buf, take(f, 1),
			   take(f, 1), NULL);
}

static void op_release(struct fuzz *f)
{
	atomic_fetch_or(&f->a->seg->released, take(f, 8));
}

static void op_wait(struct fuzz *f)
{
	weft_att_wait(f->a, 300);
}

static void op_deadline(struct fuzz *f)
{
	atomic_store(&f->a->seg->deadline, take(f, 8));
	att_hand_over(f->a, 300000);
}

static void bad_main(const uint8_t *data, size_t size)
{
	static void (*const ops[])(struct fuzz *) = {
		op_command, op_word, op_send, op_release, op_wait, op_deadline,
	};
	struct fuzz f = { data, data + size, NULL };

	if (weft_att_open(&f.a))
		_exit(1);
	for (int i = 0; i < 60 && f.p < f.end && !weft_att_gone(f.a); i++)
		ops[take(&f, 1) % 6](&f);
	/* whatever it did: it counts as waiting before it goes */
	atomic_store(&f.a->seg->state, ATT_WAIT);
	_exit(0);
}

/* ---- the good one ---- */

static void good_main(void)
{
	struct weft_ep_event ev;
	struct weft_att *a;
	int left = 0;

	if (weft_att_open(&a))
		_exit(1);
	for (int i = 0; i < 2000 && !left; i++) {
		if (i < 20)
			a->ep.ops->send(&a->ep, WEFT_ATT_ADDR(0, 0), "good", 4,
					7, NULL);
		weft_att_wait(a, 1000);
		while (a->ep.ops->poll(&a->ep, &ev, 1)) {
			left |= ev.kind == WEFT_EV_ERROR && ev.status == -EPIPE;
			a->ep.ops->release(&a->ep, &ev);
		}
	}
	_exit(left ? 0 : 2); /* it must have been told */
}

static void start(struct att_server *s, uint32_t rank, const uint8_t *data,
		  size_t size)
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
	alarm(20);
	if (rank)
		good_main();
	bad_main(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t map[] = { 0, 1 };
	struct att_opts o = { .clock = size && data[0] & 1 ? WEFT_CLOCK_NONE
							   : WEFT_CLOCK_FIXED,
			      .ranks = 2,
			      .map = map,
			      .patience_ns = 1000000000 };
	struct exp_opts none = { 0 };
	struct weft_err err = { 0 };
	struct registry reg;
	struct att_server *s = att_server_new(&o, &err);
	struct exp_case c;
	struct exp *e;
	int status;

	registry_init(&reg);
	if (!s || exp_load_text("machine", machine, sizeof(machine) - 1, &none,
				&reg, &e, &err))
		abort();
	e->tap = att_server_tap;
	e->tap_arg = s;
	if (exp_case_open(e, 0, &c, &err))
		abort();
	start(s, 0, data + 1, size ? size - 1 : 0);
	start(s, 1, NULL, 0);
	if (att_server_go(s, &err))
		abort();
	weft_sim_run(c.sim, WEFT_NEVER);
	if (!att_server_status(s, 1, &status) || status)
		abort(); /* the good one */
	exp_case_close(&c);
	exp_free(e);
	att_server_free(s);
	registry_fini(&reg);
	return 0;
}
