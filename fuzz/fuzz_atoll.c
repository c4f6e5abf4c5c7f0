/* SPDX-License-Identifier: Apache-2.0 */
/* A cable between two ATOLL NICs loses, repeats, damages and forges flits and
 * states as the input says (line.h). A process at each end sends numbered
 * messages to the other end.
 *
 * The target checks that no buffer holds more than it has room for, that the
 * run ends, and that no message is left in the machine. Damage that the CRC
 * detects neither loses nor changes a message. Forged states may remove
 * messages, but not change or reorder them. A changed or forged flit whose CRC
 * fits may have any effect on messages.
 *
 * Byte 0 of an input selects the machine. The other bytes are actions of the
 * line. */
#include <stdlib.h>
#include <string.h>

#include "systems/atoll/tests/atoll_pair.h"
#include "line.h"
#include "see.h"
#include "measure/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGES = 6, WORDS = 48, PATIENCE_US = 120 };

static struct {
	struct atoll_pair p;
	struct fuzz_line line;
	uint32_t how, ready, over;
	uint32_t got[ATOLL_ENDS], bad[ATOLL_ENDS], disorder[ATOLL_ENDS];
} m;

/* ---- programs ---- */

static uint32_t words_of(uint32_t tag)
{
	return 1 + tag * 11 % WORDS;
}

static uint64_t word_of(uint32_t node, uint32_t tag, uint32_t i)
{
	return (node << 16 | tag << 8 | i) * 0x9E3779B97F4A7C15ull;
}

static void send_one(struct atoll_port *p, uint32_t node, uint32_t tag)
{
	const uint8_t route[] = { AT_LINK0, 1 };
	uint64_t w[WORDS];

	for (uint32_t i = 0; i < words_of(tag); i++)
		w[i] = word_of(node, tag, i);
	atoll_send(p, route, 2, tag, w, 8 * words_of(tag));
}

static void take_one(uint32_t node, const struct atoll_msg *msg,
		     const uint64_t *w)
{
	uint32_t tag = msg->tag;
	bool good = tag < MESSAGES && msg->node != node &&
		    msg->bytes == 8 * words_of(tag);

	for (uint32_t i = 0; good && i < words_of(tag); i++)
		good = w[i] == word_of(msg->node, tag, i);
	m.bad[node] += !good;
	m.disorder[node] += good && tag < m.got[node];
	m.got[node] = good ? tag + 1 : m.got[node];
}

static int receiver(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	uint32_t node = weft_host_node(h);
	struct atoll_attr a = {
		.port = 1, .mode = ATOLL_DMA, .entries = 8, .bytes = 4096
	};
	struct atoll_port *p;
	struct atoll_msg msg;
	uint64_t w[2 * WORDS];

	if (atoll_open(h, &a, &p))
		abort();
	m.ready++;
	while (atoll_recv(p, &msg, w, sizeof(w),
			  weft_host_now(h) + PATIENCE_US * WEFT_US)) {
		see_value(weft_host_now(h));
		see(w, msg.bytes < sizeof(w) ? msg.bytes : sizeof(w));
		take_one(node, &msg, w);
	}
	m.over++;
	return 0;
}

static int sender(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);
	uint32_t node = weft_host_node(h);
	struct atoll_attr a = { .port = 2,
				.mode = m.how >> node & 1 ? ATOLL_PIO
							  : ATOLL_DMA,
				.entries = 8,
				.bytes = 4096 };
	struct atoll_port *p;

	if (atoll_open(h, &a, &p))
		abort();
	while (m.ready < ATOLL_ENDS)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	for (uint32_t tag = 0; tag < MESSAGES; tag++)
		send_one(p, node, tag);
	return 0;
}

/* Sends messages. The program is in the background, so that the run can end
 * while a sender still waits for a blocked link. */
static WEFT_COMPONENT(sender, .name = "sender", .kind = WEFT_KIND_PROGRAM,
		      .doc = "sends", .background = true,
		      .ops = { .main = sender });
static WEFT_COMPONENT(receiver, .name = "receiver", .kind = WEFT_KIND_PROGRAM,
		      .doc = "receives", .ops = { .main = receiver });

/* ---- checks ---- */

static void check(void)
{
	for (uint32_t i = 0; i < ATOLL_ENDS; i++) {
		const struct atoll_xbar *x = &atoll_pair_nic(&m.p, i)->x;

		fuzz_must(x->in[AT_LINK0].used <= x->buffer,
			  "a buffer is overfull");
		fuzz_must(ring_count(&x->link[0].again) <= 64,
			  "too many flits wait for their acknowledgement");
	}
}

static void messages_are_good(void)
{
	for (uint32_t i = 0; i < ATOLL_ENDS; i++) {
		fuzz_must(!m.bad[i], "a message with wrong bytes");
		fuzz_must(!m.disorder[i], "a message out of order");
		fuzz_must(m.line.forged || m.got[i] == MESSAGES,
			  "a message is lost");
	}
	fuzz_must(m.line.forged || !weft_sim_result(m.p.sim)->n_failures,
		  "a check of the run has failed");
}

/* Builds the machine. The links give up after few attempts with a short
 * timeout, so that the run of one input is short. */
static void build(void)
{
	const struct weft_class *const progs[] = { &weft_class_receiver,
						   &weft_class_sender, NULL };
	const char *const set[] = { "attempts", "4", "timeout", "1000", NULL };
	struct weft_err err = { 0 };

	atoll_pair_new(&m.p, progs, set);
	fuzz_line_on(&m.line, &m.p.nic[0]->ports[ATOLL_PAIR_LINK], "l0");
	fuzz_line_on(&m.line, &m.p.nic[1]->ports[ATOLL_PAIR_LINK], "l1");
	fuzz_must(!weft_sim_start(m.p.sim, &err), err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_err err = { 0 };

	memset(&m, 0, sizeof(m));
	m.line.in = (struct fuzz_in){ data, data + size };
	m.line.wire = &fuzz_wire_atoll;
	m.line.check = check;
	m.how = (uint32_t)take(&m.line.in, 1);
	build();
	weft_sim_run(m.p.sim, 50 * WEFT_MS);
	fuzz_must(m.over == ATOLL_ENDS, "a receiver has not come to its end");
	fuzz_must(weft_sim_idle(m.p.sim), "something goes on for ever");
	check();
	if (!m.line.sealed)
		messages_are_good();
	fuzz_must(!weft_sim_finish(m.p.sim, &err) || m.line.sealed, err.msg);
	weft_sim_free(m.p.sim);
	return 0;
}
