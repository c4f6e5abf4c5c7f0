/* SPDX-License-Identifier: Apache-2.0 */
/* Program hostport.issue (hostport.md 10.2): node 0 sends FAST_SENDs of one
 * word one after the other. Each is issued by a load of the Triggerpage, after
 * which the device reads the instruction from the work queue, or by a tagged
 * conditional store that carries the instruction.
 *
 * issued_at  mean time at which an issue began; the NIC reports when it had
 *            the instruction (vci_at)
 * issue      time of the processor for one instruction
 * latency    from the start of the issue until the notification is polled */
#include <errno.h>

#include "programs/program.h"
#include "weft/hostport.h"

struct issue {
	uint64_t count;
	weft_time_t pause;
	uint32_t by, partner;
	struct program w;
	struct hport *p;
	struct hport_peer to;
	double issued_at, cost, latency; /* sums, ns */
};

enum { BY_TRIGGER, BY_TAGGED };

/* Sends messages. After each message, waits until the device reports the end of
 * the send. */
static void issue_send(struct issue *a)
{
	double n = (double)a->count;

	for (uint64_t seq = 0; seq < a->count; seq++) {
		const struct hport_tag tag = { seq, 0 };
		weft_time_t t = weft_host_now(a->w.h);
		uint64_t word = t;
		struct hport_note note;

		while (hport_fast_send(a->p, &a->to, 0, tag, &word, 1) ==
		       -EAGAIN)
			;
		a->issued_at += (double)t / WEFT_NS;
		a->cost += (double)(weft_host_now(a->w.h) - t) / WEFT_NS;
		if (hport_wait(a->p, &note, WEFT_NEVER) && note.error)
			weft_check_failed(a->w.c, "error %u", note.error);
		weft_host_cpu(a->w.h, a->pause);
	}
	weft_metric(a->w.c, "issued_at", "ns", a->issued_at / n);
	weft_metric(a->w.c, "issue", "ns", a->cost / n);
}

static void issue_recv(struct issue *a)
{
	struct hport_note n;

	for (uint64_t seq = 0; seq < a->count; seq++) {
		hport_wait(a->p, &n, WEFT_NEVER);
		a->latency +=
			(double)(weft_host_now(a->w.h) - n.data[0]) / WEFT_NS;
		if (n.event != HPORT_MESSAGE || n.error || n.tag.user != seq)
			weft_check_failed(a->w.c,
					  "message %llu is not what was sent",
					  (unsigned long long)seq);
	}
	weft_metric(a->w.c, "latency", "ns", a->latency / (double)a->count);
}

static int issue_main(struct weft_comp *c)
{
	/* VPID 0 on each node, because a thread of the monitor has tag 0 */
	const struct hport_attr attr = { .vpid = 0 };
	struct issue *a = c->state;
	uint32_t peer;
	int ret;

	a->w = program_from(c);
	if (!a->partner || a->partner >= a->w.n) {
		weft_check_failed(c, "partner: one of 1..%u", a->w.n - 1);
		return -EINVAL;
	}
	if (a->w.me && a->w.me != a->partner)
		return 0;
	peer = a->w.me ? 0 : a->partner;
	ret = hport_open(a->w.h, &attr, &a->p);
	if (!ret)
		ret = hport_connect(a->p, peer, 0, &a->to);
	if (!ret && a->by == BY_TAGGED && !hport_use_tags(a->p, true))
		ret = -ENOTSUP;
	if (ret) {
		weft_check_failed(c, "cannot open a Host Port: %s",
				  program_why(ret));
		return ret;
	}
	program_put(&a->w, "issue.ready", 1);
	program_get(&a->w, "issue.ready", peer);
	if (a->w.me)
		issue_recv(a);
	else
		issue_send(a);
	program_put(&a->w, "issue.done", 1);
	program_get(&a->w, "issue.done", peer);
	hport_close(a->p);
	return 0;
}

/* clang-format off */
#define P(type, field, def, range, doc)                                        \
	WEFT_PARAM(type, struct issue, field, def, range, OWN, doc)
static const struct weft_param issue_params[] = {
	P(U64, count, "30", "1..", "instructions; up to 30 need no update of the "
	  "notification queue"),
	P(ENUM, by, "trigger", "trigger|tagged", "how they are issued"),
	P(U32, partner, "1", "1..", "node that gets them"),
	P(TIME, pause, "2us", "", "between two, until the buses are quiet"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(hostport_issue, .name = "hostport.issue",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "issue by Triggerpage or by tagged conditional store",
	       .source = "hostport.md 10.2", .state_size = sizeof(struct issue),
	       .params = issue_params, .ops = { .main = issue_main });
