/* SPDX-License-Identifier: Apache-2.0 */
/* The lines between two nodes with Host Ports lose, repeat, damage and forge
 * cells and control cells (line.h). Forged cells with CRCs that fit carry
 * routing frames, command frames and ULTRA packets that no Host Port sends. A
 * process on each node sends messages to the other node and puts data into a
 * window there.
 *
 * The run ends, and no frame is left over. Memory that belongs to no queue and
 * no window is never written. A changed or forged cell whose CRC fits may have
 * any effect on messages. Without such a cell no message is changed, and none
 * arrives twice. If control cells are not forged either, all messages arrive
 * while the links are up.
 *
 * Byte 0 of an input selects the machine. The other bytes are actions of the
 * line. */
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/tests/hpproc.h"
#include "host/prog.h"
#include "line.h"
#include "see.h"
#include "sim/sim_internal.h"
#include "systems/extoll/network/cell_channel_framed.h"
#include "systems/extoll/network/crossbar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	VPID = 0x11,
	NODES = 2,
	MESSAGES = 9,
	PUT_BYTES = 200,
	SEND_BYTES = 104,
	/* number of pages of memory: one half is a window for reads, the other
	 * half a window for writes */
	PAGES = 4,
	LINES = 4,
	IDLE = 3, /* A process ends after this many periods of 100 us in which
		   * nothing arrived. */
	GUARD = 0xA7,
};
#define VA 0x7f0000000000ull

struct side {
	struct hpdrv d;
	struct hpproc p;
	uint8_t *mem, *guard;
	weft_phys_t phys;
	uint32_t got, done, errors, bad, twice, seen;
	bool over;
};

static struct {
	struct exrig r;
	struct fuzz_line line;
	struct side side[NODES];
	uint32_t ready;
} m;

/* ---- sending ---- */

static uint8_t byte_of(uint32_t node, uint32_t i)
{
	return (uint8_t)(i * 7 + node * 101 + 1);
}

static void fast_send(struct side *s, uint32_t node, uint32_t tag)
{
	const uint64_t w[2] = { node << 8 | tag, ~(uint64_t)tag };

	hpproc_fast_send(&s->p, !node, VPID, tag & 1 ? HP_A : 0, tag, w, 2);
}

static void send(struct side *s, uint32_t node, uint32_t tag)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_SEND | (tag & 1 ? HP_A : 0), !node, VPID, tag);
	w[4] = SEND_BYTES;
	hpproc_put(&s->p, w);
	hpproc_issue(&s->p, 1);
}

static void put(struct side *s, uint32_t node, uint32_t tag)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_PUT | HP_A, !node, VPID, tag);
	w[3] = HP_VCI_W3(1, 0);
	w[4] = tag * 256;
	w[5] = HP_VCI_W5(0);
	w[6] = tag * 256;
	w[7] = PUT_BYTES;
	hpproc_put(&s->p, w);
	hpproc_issue(&s->p, 1);
}

/* ---- receiving ---- */

static bool send_good(const struct side *s, uint32_t node, const uint64_t *w)
{
	uint32_t wp = HP_PS_LO(w[2]), n = SEND_BYTES / 8, size = s->d.rdr;
	const uint64_t *sdr = m.side[!node].p.sdr;

	if (w[3] != SEND_BYTES)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (s->p.rdr[(wp + size - n + i) % size] != sdr[i])
			return false;
	return true;
}

static void notice(struct side *s, uint32_t node, const uint64_t *w)
{
	uint32_t tag = (uint32_t)HP_NQE_TAG(w) % 32;
	bool fast = HP_NQE_CMD(w) == HP_B_NOTIFY_FAST_RECV;

	if (!fast && HP_NQE_CMD(w) != HP_B_NOTIFY_RECV)
		return;
	s->bad += fast ? w[2] != (!node << 8 | tag) || w[3] != ~(uint64_t)tag
		       : !send_good(s, node, w);
	s->twice += s->seen >> tag & 1;
	s->seen |= 1u << tag;
	s->got++;
}

static void take_one(struct side *s, uint32_t node, const uint64_t *w)
{
	if (HP_MAIN(HP_CMD_BYTE(HP_NQE_CMD(w))) == HP_M_NOTIFY) {
		notice(s, node, w);
		return;
	}
	s->done++;
	s->errors += HP_CMD_ERR(HP_NQE_CMD(w)) != 0;
}

/* ---- programs ---- */

static void windows(struct side *s)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t *w = s->p.wdt + HP_WORDS * i;

		w[HP_WIN_VA] = VA + i * PAGES / 2 * HP_PAGE;
		w[HP_WIN_LEN] = PAGES / 2 * HP_PAGE;
		w[HP_WIN_FLAGS] = HP_WIN_EN | HP_WIN_RD | HP_WIN_CAP_ANY |
				  (i ? HP_WIN_WR : 0);
	}
	for (uint32_t i = 0; i < PAGES; i++)
		hpdrv_cache(&s->d, HP_CACHE_INSERT, HP_CACHE_TLB, VPID,
			    VA / HP_PAGE + i,
			    HP_TLB_ARG(s->phys / HP_PAGE + i, i >= PAGES / 2));
}

static void open_side(struct side *s, struct weft_host *h, uint32_t node)
{
	weft_phys_t phys;

	s->d.wq = s->d.nq = 32;
	s->d.rdr = s->d.sdr = 1024;
	hpdrv_open(&s->d, &m.r, node, h);
	s->mem = weft_mem_alloc(h, PAGES * HP_PAGE, HP_PAGE, &s->phys);
	s->guard = weft_mem_alloc(h, HP_PAGE, HP_PAGE, &phys);
	fuzz_must(s->mem && s->guard, "no memory");
	memset(s->guard, GUARD, HP_PAGE);
	for (uint32_t i = 0; i < PAGES / 2 * HP_PAGE; i++)
		s->mem[i] = byte_of(node, i);
	hpproc_open(&s->p, &s->d, h, VPID, 0);
	for (uint32_t i = 0; i < s->d.sdr; i++)
		s->p.sdr[i] = (i + 1) * 0x9E3779B97F4A7C15ull ^ node;
	windows(s);
	m.ready++;
	while (m.ready < NODES)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

static int process(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static void (*const ways[])(struct side *, uint32_t,
				    uint32_t) = { fast_send, send, put };
	struct side *s = &m.side[node];
	uint64_t w[HP_WORDS];

	open_side(s, h, node);
	for (uint32_t tag = 0; tag < MESSAGES; tag++)
		ways[tag % 3](s, node, tag);
	for (uint32_t idle = 0; idle < IDLE;)
		if (hpproc_wait(&s->p, w)) {
			see(w, sizeof(w));
			take_one(s, node, w);
		} else {
			idle++;
		}
	s->over = true;
	return 0;
}

/* ---- checks ---- */

static bool links_up(void)
{
	for (uint32_t i = 0; i < NODES; i++) {
		const struct extoll_xbar *x = m.r.node[i].xbar->state;

		for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++)
			if (x->ep[p].slow &&
			    x->ep[p].slow->state != CELL_CHANNEL_READY)
				return false;
	}
	return true;
}

/* Checks the bytes of a put. With `whole`, all bytes must have arrived.
 * Otherwise some bytes of the put may be lost, but no byte may be wrong. */
static void put_good(const struct side *s, uint32_t node, bool whole)
{
	for (uint32_t tag = 2; tag < MESSAGES; tag += 3)
		for (uint32_t i = 0; i < PUT_BYTES; i++) {
			uint32_t at = tag * 256 + i;
			uint8_t b = s->mem[PAGES / 2 * HP_PAGE + at];

			fuzz_must(b == byte_of(!node, at) || (!whole && !b),
				  "a put has other bytes");
		}
}

static void messages_good(void)
{
	bool whole = links_up() && !m.line.forged;

	for (uint32_t i = 0; i < NODES; i++) {
		const struct side *s = &m.side[i];

		fuzz_must(!s->bad, "a message has other bytes");
		fuzz_must(!s->twice, "a message has come twice");
		put_good(s, i, whole);
		fuzz_must(!whole || s->got == MESSAGES * 2 / 3,
			  "a message is lost");
		fuzz_must(!whole || s->done == MESSAGES,
			  "an instruction has no end");
		fuzz_must(!whole || !s->errors, "an error without a cause");
	}
}

static void guards_good(void)
{
	for (uint32_t i = 0; i < NODES; i++) {
		const struct side *s = &m.side[i];

		fuzz_must(s->over, "a process has not come to its end");
		for (uint32_t k = 0; k < HP_PAGE; k++)
			fuzz_must(s->guard[k] == GUARD,
				  "memory of no queue was written");
		for (uint32_t k = 0; k < PAGES / 2 * HP_PAGE; k++)
			fuzz_must(s->mem[k] == byte_of(i, k),
				  "a window that is read was written");
	}
}

static void build(uint32_t how)
{
	const char *const none[] = { NULL };

	hprig_new(&m.r, "2", NULL);
	exrig_set(&m.r, "extoll.xbar", "hash_order", how & 1 ? "yes" : "no");
	exrig_set(&m.r, "extoll.xbar", "store_forward", how & 2 ? "yes" : "no");
	exrig_set(&m.r, "extoll.xbar", "hap", how & 4 ? "yes" : "no");
	for (uint32_t i = 0; i < LINES; i++) {
		exrig_fault(&m.r, i / 2, EX_INTERNAL + i % 2,
			    &weft_class_fuzz_line, none);
		*(struct fuzz_line **)m.r.fault[i].comp->state = &m.line;
	}
	for (uint32_t i = 0; i < NODES; i++)
		exrig_prog(&m.r, i, process);
	exrig_start(&m.r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_err err = { 0 };

	memset(&m, 0, sizeof(m));
	m.line.in = (struct fuzz_in){ data, data + size };
	m.line.wire = &fuzz_wire_ex32;
	build((uint32_t)take(&m.line.in, 1));
	weft_sim_run(m.r.sim, 50 * WEFT_MS);
	fuzz_must(weft_sim_idle(m.r.sim), "something goes on for ever");
	guards_good();
	if (!m.line.sealed)
		messages_good();
	weft_sim_finish(m.r.sim, &err);
	fuzz_must(!m.r.sim->live_frames && !m.r.sim->live_bufs,
		  "frames or payloads are left over");
	exrig_free(&m.r);
	return 0;
}
