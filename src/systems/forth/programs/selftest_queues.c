/* SPDX-License-Identifier: Apache-2.0 */
/* forth.selftest: tests of request queues, descriptors, notifications. */
#include <errno.h>

#include "systems/forth/programs/selftest.h"

/* value of lnotify_every at which the library requests no local notification
 * for itself */
#define ST_MANY UINT32_MAX

/* Writes slot `slot` of node 1's queue, to send two qwords to an offset that
 * depends on the slot. */
static void selftest_slot(struct st *s, uint32_t slot, uint64_t start)
{
	uint32_t q = s->i->queues > 1 ? 1 : 0;

	weft_forth_slot_write(
		s->f, q, slot, s->phys + 16 * slot,
		forth_desc_q1(1, 2, (uint32_t)s->remote + 8 * slot, start));
}

/* V14: writes descriptors from the last slot to the first. The descriptors wait
 * for the start flag and then depart in the order of their slots. The targets
 * of neighbouring slots overlap, so that the received data show this order. */
static void selftest_cluster(struct st *s)
{
	const struct weft_forth_attr a = { .post = WEFT_FORTH_POST_32 };
	uint64_t base = program_base(0, 1, 14);

	if (!selftest_open(s, &a))
		return;
	selftest_prepare(s, 14);
	if (selftest_acts(s)) {
		for (uint32_t slot = 3; slot-- > 0;)
			selftest_slot(s, slot, 0);
		selftest_sleep(s, 2);
		ST_EXPECT(s, !weft_forth_load(s->f, FORTH_H2N_DMA_OPS),
			  "cluster: sent before the start flag");
		selftest_slot(s, 3, FORTH_DESC_START);
	}
	selftest_sleep(s, 5);
	selftest_sync(s);
	if (selftest_acts(s)) {
		ST_EXPECT(s, weft_forth_load(s->f, FORTH_H2N_DMA_OPS) == 4,
			  "cluster: not all four were sent");
	} else {
		for (uint32_t k = 0; k < 4; k++)
			ST_EXPECT(s, s->mem[k] == base + 2 * k * PROGRAM_STEP,
				  "cluster: slot %u out of order", k);
		ST_EXPECT(s, s->mem[4] == base + 7 * PROGRAM_STEP,
			  "cluster: slot 3 is not last");
	}
	selftest_close(s);
}

/* F31: measures the capacity of all queues together while the engine is
 * stopped. */
static void selftest_capacity(struct st *s)
{
	const struct weft_forth_attr a = { .stopped = true };
	uint32_t n = 0, slot, tail;

	if (!selftest_open(s, &a))
		return;
	if (selftest_acts(s)) {
		/* release slot after slot. The ring is full when the tail is
		 * back at its first value (forth.md 3.3) */
		for (uint32_t q = 0; q < s->i->queues; q++) {
			slot = 0;
			do {
				weft_forth_slot_write(
					s->f, q, slot, s->phys,
					forth_desc_q1(q, 1, (uint32_t)s->remote,
						      FORTH_DESC_START));
				tail = forth_pointers_tail(weft_forth_load(
					s->f, FORTH_QUEUE_POINTERS + 4 * q));
				slot++;
			} while (tail && slot < 4096);
			n += slot;
		}
		weft_metric(s->w.c, "capacity", "descriptors", n);
		weft_metric(s->w.c, "queues", "", s->i->queues);
		weft_forth_reset(s->f, true);
	}
	selftest_close(s);
}

/* V15: fills a ring completely, several times, beginning at a different slot
 * each time. */
static void selftest_ring(struct st *s)
{
	const struct weft_forth_attr a = { .stopped = true };
	uint32_t rounds = 3, n = 0, reg, off = 0x100 + 0;

	if (!selftest_open(s, &a))
		return;
	selftest_prepare(s, 15);
	if (!selftest_acts(s))
		weft_forth_enable(s->f, true);
	for (uint32_t r = 0; r < rounds && selftest_acts(s); r++) {
		for (uint32_t k = 0; k < 5 * r; k++) /* begin at another slot */
			n += !selftest_put(s, 0, 1, WEFT_FORTH_LNOTIFY);
		weft_forth_enable(s->f, true);
		weft_forth_flush(s->f, 1, WEFT_NEVER);
		weft_forth_enable(s->f, false);
		for (uint32_t k = 0; k < s->i->depth; k++)
			n += !selftest_put(s, k % 512, 1, 0);
		ST_EXPECT(s, selftest_put(s, 0, 1, 0) == -EAGAIN,
			  "ring: took more than its depth");
		off = FORTH_QUEUE_POINTERS + (s->i->queues > 1 ? 4 : 0);
		reg = weft_forth_load(s->f, off);
		ST_EXPECT(s,
			  forth_pointers_head(reg) == forth_pointers_tail(reg),
			  "ring: full, yet head %u and tail %u",
			  forth_pointers_head(reg), forth_pointers_tail(reg));
		weft_forth_enable(s->f, true);
		weft_forth_flush(s->f, 1, WEFT_NEVER);
	}
	if (selftest_acts(s)) {
		selftest_sleep(s, 50);
		reg = weft_forth_load(s->f, FORTH_H2N_DMA_OPS);
		ST_EXPECT(s, reg == n, "ring: %u posted, %u sent", n, reg);
	}
	selftest_sync(s);
	if (!selftest_acts(s))
		selftest_verify(s, 15, s->i->depth < 512 ? s->i->depth : 512);
	selftest_close(s);
}

/* V16: requests a local notification for every third transfer, and checks that
 * the NIC writes the word for these transfers only. */
static void selftest_lnotify(struct st *s)
{
	const struct weft_forth_attr a = { .lnotify_every = ST_MANY };
	uint32_t q, notes = 0, base = 0;

	if (!selftest_open(s, &a))
		return;
	selftest_prepare(s, 16);
	q = s->i->queues > 1 ? 1 : 0;
	for (uint32_t k = 0; k < 30 && selftest_acts(s); k++) {
		bool tell = k % 3 == 2;
		uint64_t word = weft_forth_local_word(s->f, q);

		selftest_put(s, k, 1, tell ? WEFT_FORTH_LNOTIFY : 0);
		selftest_sleep(s, 3);
		notes += tell;
		if (!tell) {
			ST_EXPECT(s, weft_forth_local_word(s->f, q) == word,
				  "lnotify: word changed without a flag");
			continue;
		}
		word = weft_forth_local_word(s->f, q);
		if (k == 2) /* the first count is the base, because the NIC
			       counts from power-up */
			base = forth_lnotify_departed(word) - 3;
		ST_EXPECT(s,
			  forth_lnotify_head(word) == k + 1 &&
				  forth_lnotify_departed(word) ==
					  base + k + 1 &&
				  forth_lnotify_queue(word) == q,
			  "lnotify: word is %#llx after transfer %u",
			  (unsigned long long)word, k + 1);
	}
	if (selftest_acts(s))
		ST_EXPECT(s, weft_forth_load(s->f, FORTH_LOCAL_NOTIFY) == notes,
			  "lnotify: counter differs from %u", notes);
	selftest_close(s);
}

/* Sends the message of V17, which takes several packets and has the flag only
 * on its last transfer. */
static void selftest_message(struct st *s, uint32_t flags)
{
	for (uint32_t k = 0; k < 8; k++)
		selftest_put(s, 32 * k, 32, k == 7 ? flags : 0);
}

/* Counts remote notifications. The first word gives the base of the count,
 * because the NIC counts from power-up. */
static void selftest_rnotify(struct st *s)
{
	uint32_t count = 0;

	if (!selftest_open(s, NULL))
		return;
	for (uint32_t r = 1; r <= 5; r++) {
		selftest_prepare(s, 170 + r);
		if (selftest_acts(s)) {
			selftest_message(s, WEFT_FORTH_RNOTIFY);
		} else {
			weft_forth_wait_remote(s->f, count, WEFT_NEVER);
			selftest_verify(s, 170 + r, 256);
			ST_EXPECT(s,
				  r == 1 || weft_forth_remote_count(s->f) ==
						    count + 1,
				  "rnotify: count went from %u to %u", count,
				  weft_forth_remote_count(s->f));
			count = weft_forth_remote_count(s->f);
		}
		selftest_sync(s);
	}
	if (!selftest_acts(s))
		ST_EXPECT(s, weft_forth_load(s->f, FORTH_REMOTE_NOTIFY) == 5,
			  "rnotify: counter is not 5");
	selftest_close(s);
}

static uint32_t selftest_irqs(struct st *s)
{
	return weft_forth_load(s->f, FORTH_IRQ_ASSERTIONS);
}

static bool selftest_irq_flag(struct st *s)
{
	return weft_cfg_load(s->w.h, weft_forth_dev(s->f), FORTH_CFG_APP_IRQ,
			     4) &
	       FORTH_APP_IRQ_FLAG;
}

/* V17, 2.3: checks that the interrupt is a level, that a second interrupt while
 * the line is low causes no new edge, and that the flag is set even while
 * interrupts are disabled. */
static void selftest_irq_receiver(struct st *s)
{
	weft_forth_irq_wait(s->f, WEFT_NEVER);
	selftest_verify(s, 18, 256);
	ST_EXPECT(s, selftest_irq_flag(s) && selftest_irqs(s) == 1,
		  "irq: not one");
	selftest_sync(s);
	selftest_sleep(s, 10); /* the second interrupt arrives meanwhile */
	ST_EXPECT(s, selftest_irqs(s) == 1, "irq: a new edge while asserted");
	weft_forth_irq_ack(s->f);
	ST_EXPECT(s, !selftest_irq_flag(s), "irq: flag survives a write of 1");
	weft_forth_irq_enable(s->f, false);
	selftest_sync(s);
	selftest_sleep(s, 10); /* the third interrupt arrives while masked */
	ST_EXPECT(s, selftest_irq_flag(s) && selftest_irqs(s) == 1,
		  "irq: disabled, flag must be set and INTA# quiet");
	weft_forth_irq_enable(s->f, true);
	ST_EXPECT(
		s,
		weft_forth_irq_wait(s->f, weft_host_now(s->w.h) + 5 * s->pause),
		"irq: enabling with a pending flag must assert");
	ST_EXPECT(s, selftest_irqs(s) == 2, "irq: not two assertions");
	ST_EXPECT(s, weft_forth_load(s->f, FORTH_IRQ_ACTIVE) > 0,
		  "irq: active timer did not run");
	weft_forth_irq_ack(s->f);
}

static void selftest_irq(struct st *s)
{
	const struct weft_forth_attr a = { .irq = true };

	if (!selftest_open(s, &a))
		return;
	selftest_prepare(s, 18);
	if (selftest_acts(s)) {
		selftest_message(s, WEFT_FORTH_RIRQ);
		selftest_sync(s);
		selftest_put(s, 0, 1, WEFT_FORTH_RIRQ);
		selftest_sync(s);
		selftest_put(s, 0, 1, WEFT_FORTH_RIRQ);
	} else {
		selftest_irq_receiver(s);
	}
	selftest_close(s);
}

/* V21: with VOQs a long transfer is cut into packets. The flags of the transfer
 * are on the last packet. */
static void selftest_segment(struct st *s)
{
	struct weft_forth_counters c;
	uint32_t want, bytes;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 21);
	bytes = s->i->max_transfer;
	want = (bytes + s->i->max_payload - 1) / s->i->max_payload;
	if (selftest_acts(s))
		selftest_put(s, 0, bytes / 8, WEFT_FORTH_RNOTIFY);
	else
		weft_forth_wait_remote(s->f, 0, WEFT_NEVER);
	selftest_sync(s);
	selftest_sleep(s, 2);
	weft_forth_counters_read(s->f, &c);
	if (selftest_acts(s)) {
		ST_EXPECT(s, c.out_packets == want && c.out.ops == 1,
			  "segment: %u packets of %u transfers", c.out_packets,
			  c.out.ops);
	} else {
		selftest_verify(s, 21, bytes / 8);
		ST_EXPECT(s, c.in_packets == want && c.remote_notes == 1,
			  "segment: %u packets, %u notifications", c.in_packets,
			  c.remote_notes);
		weft_metric(s->w.c, "segments", "packets", c.in_packets);
	}
	selftest_close(s);
}

static uint32_t selftest_bad(struct st *s, uint64_t q0, uint64_t q1,
			     uint32_t slot)
{
	weft_forth_slot_write(s->f, 0, slot, q0, q1 | FORTH_DESC_START);
	selftest_sleep(s, 6);
	return weft_forth_load(s->f, FORTH_DESC_ERR);
}

/* 3.6: bad descriptors are skipped and counted, and the queue continues with
 * the next descriptor. */
static void selftest_errors(struct st *s)
{
	uint32_t to, n, before;
	uint64_t word;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 36);
	to = (uint32_t)s->remote;
	if (selftest_acts(s)) {
		before = weft_forth_load(s->f, FORTH_DESC_ERR);
		n = selftest_bad(s, s->phys, forth_desc_q1(0, 0, to, 0), 0);
		ST_EXPECT(s, n == before + 1, "errors: size 0 not counted");
		n = selftest_bad(s, s->phys, forth_desc_q1(0, 1023, to, 0), 1);
		ST_EXPECT(s, n == before + 2, "errors: size 1023 not counted");
		n = selftest_bad(s, s->phys,
				 forth_desc_q1(127, 1, to, FORTH_DESC_LNOTIFY),
				 2);
		ST_EXPECT(s, n == before + 3, "errors: flow 127 not counted");
		word = weft_forth_local_word(s->f, 0);
		ST_EXPECT(s, forth_lnotify_head(word) == 3,
			  "errors: local notification not honoured");
		n = selftest_bad(s, 0xFFFFFFFF00000000ull,
				 forth_desc_q1(0, 1, to, 0), 3);
		ST_EXPECT(s, n == before + 4, "errors: abort not counted");
		ST_EXPECT(s,
			  weft_cfg_load(s->w.h, weft_forth_dev(s->f),
					FORTH_CFG_STATUS, 2) &
				  FORTH_STATUS_RCV_MASTER_ABORT,
			  "errors: no master abort in the status register");
		weft_forth_slot_write(
			s->f, 0, 4, s->phys,
			forth_desc_q1(1, 8, to,
				      FORTH_DESC_START | FORTH_DESC_RNOTIFY));
	} else {
		weft_forth_wait_remote(s->f, 0, WEFT_NEVER);
		selftest_verify(s, 36, 8);
	}
	selftest_close(s);
}

const struct selftest_test selftest_queue_tests[] = {
	{ "cluster", selftest_cluster },
	{ "capacity", selftest_capacity },
	{ "ring", selftest_ring },
	{ "lnotify", selftest_lnotify },
	{ "rnotify", selftest_rnotify },
	{ "irq", selftest_irq },
	{ "segment", selftest_segment },
	{ "errors", selftest_errors },
	{ NULL, NULL },
};
