/* SPDX-License-Identifier: Apache-2.0 */
/* The cable between two HVIA-GE cards loses, repeats, damages and forges frames
 * (line.h) while kernel agents and a reliable VI use it. Packets of agents
 * (requests, accepts, rejects, disconnects) are lost, repeated, late or forged.
 * The reliable service receives sequence numbers, lengths and acknowledgements
 * that no card sent.
 *
 * Each program connects, sends, receives and disconnects. Every call returns,
 * and every object can be freed. Unless the CRC (FCS) of a damaged frame was
 * made to fit, messages arrive in order, without a gap and with the right
 * bytes. On a good line all messages arrive. */
#include <stdlib.h>
#include <string.h>

#include "systems/hvia/tests/viprig.h"
#include "line.h"
#include "see.h"
#include "sim/sim_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static VIP_RETURN seen(VIP_RETURN ret)
{
	see_value(ret);
	return ret;
}
/* Makes a call of VIPL and passes the returned code to see_value(). */
#define SEEN(call, ...) seen(call(__VA_ARGS__))

enum { MESSAGES = 3, ROOM = 2048, WAIT_MS = 8, TRIES = 3, GUARD = 0x5C };

static const uint32_t sizes[MESSAGES] = { 100, 1800, 9 };

static struct {
	struct fuzz_line line;
	uint32_t got[2], bad[2], over, stuck;
} m;

static void (*wire)(struct bench *b);

/* ---- programs ---- */

static bool connect_to(struct side *s)
{
	uint32_t me = weft_host_node(s->h);
	union vip_addr local, remote;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;

	vip_addr(s, me, "rig", &local);
	vip_addr(s, !me, "rig", &remote);
	if (!me)
		return SEEN(VipConnectWait, s->nic, &local.a, 3 * WAIT_MS,
			    &remote.a, &attr, &conn) == VIP_SUCCESS &&
		       SEEN(VipConnectAccept, conn, s->vi) == VIP_SUCCESS;
	for (uint32_t i = 0; i < TRIES; i++) {
		weft_host_sleep(s->h, weft_host_now(s->h) + 50 * WEFT_US);
		if (SEEN(VipConnectRequest, s->vi, &local.a, &remote.a, WAIT_MS,
			 &attr) == VIP_SUCCESS)
			return true;
	}
	return false;
}

static void receive(struct side *s)
{
	uint32_t me = weft_host_node(s->h), n;
	VIP_DESCRIPTOR *d;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (SEEN(VipRecvWait, s->vi, WAIT_MS, &d) != VIP_SUCCESS)
			return;
		n = m.got[me]++;
		see_value(weft_host_now(s->h));
		m.bad[me] += d->CS.Length != sizes[n] ||
			     !filled(s->data + n * ROOM, sizes[n], n + 1);
	}
}

static void leave(struct side *s)
{
	VIP_DESCRIPTOR *d;

	SEEN(VipDisconnect, s->vi);
	do
		SEEN(VipSendDone, s->vi, &d);
	while (d);
	do
		SEEN(VipRecvDone, s->vi, &d);
	while (d);
	m.stuck += SEEN(VipDestroyVi, s->vi) != VIP_SUCCESS;
	m.stuck += SEEN(VipDeregisterMem, s->nic, s->desc, s->handle) !=
		   VIP_SUCCESS;
	m.stuck += SEEN(VipDestroyPtag, s->nic, s->ptag) != VIP_SUCCESS;
	m.stuck += SEEN(VipCloseNic, s->nic) != VIP_SUCCESS;
}

/* Returns true if the bytes after sizes[i] in each receive buffer are
 * unchanged. */
static bool guarded(const struct side *s)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (uint32_t k = sizes[i]; k < ROOM; k++)
			if (s->data[i * ROOM + k] != GUARD)
				return false;
	return true;
}

static int user(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0+reliable", 2 * MESSAGES * ROOM);
	fuzz_must(SEEN(VipDestroyVi, s.vi) == VIP_SUCCESS,
		  "a VI that is not used");
	s.attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	side_vi(&s, &s.vi);
	side_handler(&s);
	memset(s.data, GUARD, MESSAGES * ROOM);
	for (uint32_t i = 0; i < MESSAGES; i++)
		side_recv(&s, side_desc(&s, i, i * ROOM, sizes[i]));
	if (connect_to(&s)) {
		for (uint32_t i = 0; i < MESSAGES; i++) {
			uint32_t at = (MESSAGES + i) * ROOM;

			fill(s.data + at, sizes[i], i + 1);
			SEEN(VipPostSend, s.vi,
			     side_desc(&s, MESSAGES + i, at, sizes[i]),
			     s.handle);
		}
		receive(&s);
		for (uint32_t i = 0; i < MESSAGES; i++) {
			VIP_DESCRIPTOR *d;

			SEEN(VipSendWait, s.vi, WAIT_MS, &d);
		}
	}
	see(s.desc, VIPRIG_DESCS * sizeof(union vip_desc));
	see(s.data, 2 * MESSAGES * ROOM);
	fuzz_must(guarded(&s), "bytes behind a receive were written");
	leave(&s);
	m.over++;
	return 0;
}

/* ---- the machine ---- */

static void join_line(struct bench *b)
{
	wire(b);
	fuzz_line_on(&m.line, &b->node[0].dev->ports[1], "l0");
	fuzz_line_on(&m.line, &b->node[1].dev->ports[1], "l1");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench *b = viprig_bench();
	struct weft_err err = { 0 };

	memset(&m, 0, sizeof(m));
	m.line.in = (struct fuzz_in){ data, data + size };
	m.line.wire = &fuzz_wire_eth;
	wire = b->join;
	b->join = join_line;
	bench_prog(b, 0, user);
	bench_prog(b, 1, user);
	bench_start(b);
	weft_sim_run(b->sim, 10 * WEFT_SEC);
	fuzz_must(m.over == 2 && !weft_progs_running(b->sim),
		  "a program has not come to its end");
	fuzz_must(!m.stuck, "something cannot be given back");
	for (uint32_t i = 0; i < 2; i++) {
		fuzz_must(m.line.sealed || !m.bad[i], "a message is wrong");
		fuzz_must(m.line.harmed || m.got[i] == MESSAGES,
			  "a message is lost on a good line");
	}
	weft_sim_finish(b->sim, &err);
	fuzz_must(!b->sim->live_frames, "frames are left over");
	bench_free(b);
	return 0;
}
