/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.rounds: messages over paths on which they overtake each other
 * and are lost (forth.md 7).
 *
 * In every round each node sends its messages, each to a slot of its own in the
 * receiver's memory. When no message is in flight any more, each receiver
 * checks all of its slots. A missing message was lost: the receiver requests it
 * again until all messages have arrived (lossy_rounds_resend.c). Therefore the
 * memory at the end depends on the parameters alone: `digest` is equal over one
 * path and over four, with losses and without.
 *
 * The program compares the reports of each NIC with the memory: the number of
 * its notifications, and whether it detected each loss. A loss that the NIC has
 * not detected by the end of a round (7.5: the last packet on a path) counts as
 * `late`. With completion=count a group ends with each message that would
 * request a notification otherwise.
 *
 * The nodes synchronise the begin and the end of a round by out-of-band values.
 * They send all other data over the network under test. */
#include <errno.h>
#include <inttypes.h>

#include "systems/forth/programs/lossy_rounds.h"

/* ---- destinations and messages ---- */

struct rounds_msg rounds_msg(const struct rounds *t, uint32_t src, uint32_t dst,
			     uint32_t index)
{
	const struct rounds_plan *p = &t->plan[src];
	uint64_t seq = (uint64_t)t->round * t->slots + index;

	return (struct rounds_msg){
		.base = program_base(src, dst, seq),
		.qwords = program_qwords(src, dst, seq, p->min, p->max),
		.at = ((uint64_t)src * t->slots + index) * t->slot_bytes,
	};
}

/* Returns the destination of the i-th message of src in this round. */
static uint32_t lossy_rounds_destination(const struct rounds *t, uint32_t src,
					 uint32_t i)
{
	const struct rounds_plan *p = &t->plan[src];
	uint64_t seq = (uint64_t)t->round * p->count + i, to = p->to;
	uint32_t k = (uint32_t)(program_base(src, ROUNDS_NODES, seq) %
				(uint32_t)__builtin_popcountll(to));

	while (k--)
		to &= to - 1;
	return (uint32_t)__builtin_ctzll(to);
}

/* Returns whether message `index` of src requests a notification. `total` is
 * the number of messages of src to the same destination. */
static bool stretch_ends(const struct rounds *t, uint32_t src, uint32_t index,
			 uint32_t total)
{
	return (index + 1) % t->plan[src].notify == 0 || index + 1 == total;
}

/* ---- sending ---- */

static void lossy_rounds_stuck(struct rounds *t, uint32_t d)
{
	if (!t->failed)
		weft_check_failed(t->w.c,
				  "round %u: packets to node %u do not leave",
				  t->round, d);
	t->failed = true;
}

void rounds_post(struct rounds *t, struct weft_forth_desc d)
{
	weft_time_t until = weft_host_now(t->w.h) + t->patience;

	while (!t->failed && !weft_forth_post(t->f, &d, 1))
		if (!weft_forth_wait_space(t->f, d.dst, 1, until))
			lossy_rounds_stuck(t, d.dst);
}

static void send_message(struct rounds *t, uint32_t i, uint32_t d,
			 uint32_t index, bool tell, uint32_t group)
{
	struct rounds_msg m = rounds_msg(t, t->w.me, d, index);
	bool groups = weft_forth_info(t->f)->groups;

	program_fill(t->tx + (uint64_t)i * t->slot_bytes, m.qwords, m.base);
	rounds_post(t,
		    (struct weft_forth_desc){
			    .local = t->tx_phys + (uint64_t)i * t->slot_bytes,
			    .remote = (uint32_t)(t->plan[d].rx + m.at),
			    .qwords = (uint16_t)m.qwords,
			    .dst = (uint8_t)d,
			    .flags = tell && !groups ? WEFT_FORTH_RNOTIFY : 0,
			    .group = (uint8_t)group });
	t->sent++;
}

static void send_round(struct rounds *t)
{
	uint32_t total[ROUNDS_NODES] = { 0 }, index[ROUNDS_NODES] = { 0 };
	uint32_t group[ROUNDS_NODES] = { 0 }, qwords[ROUNDS_NODES] = { 0 };
	uint32_t me = t->w.me;

	for (uint32_t i = 0; i < t->count; i++)
		total[lossy_rounds_destination(t, me, i)]++;
	for (uint32_t i = 0; i < t->count && !t->failed; i++) {
		uint32_t d = lossy_rounds_destination(t, me, i), k = index[d]++;
		bool end = stretch_ends(t, me, k, total[d]);

		send_message(t, i, d, k, end, group[d]);
		qwords[d] += rounds_msg(t, me, d, k).qwords;
		if (!end || !weft_forth_info(t->f)->groups)
			continue;
		/* post the packet that announces the number of qwords in the
		 * group (7.7) */
		rounds_post(t, (struct weft_forth_desc){
				       .local = t->tx_phys,
				       .remote = qwords[d],
				       .qwords = 1,
				       .dst = (uint8_t)d,
				       .flags = WEFT_FORTH_ANNOUNCE |
						WEFT_FORTH_RNOTIFY,
				       .group = (uint8_t)group[d]++ });
		qwords[d] = 0;
	}
}

void rounds_settle(struct rounds *t)
{
	weft_time_t until = weft_host_now(t->w.h) + t->patience;

	for (uint32_t d = 0; d < t->w.n && !t->failed; d++)
		if (!weft_forth_flush(t->f, d, until))
			lossy_rounds_stuck(t, d);
	program_barrier_n(&t->w, "rounds.step", t->step++);
	weft_host_sleep(t->w.h, weft_host_now(t->w.h) + t->settle);
}

/* ---- checks of a round ---- */

bool rounds_here(const struct rounds *t, uint32_t src, uint32_t index)
{
	struct rounds_msg m = rounds_msg(t, src, t->w.me, index);

	return program_check(t->rx + m.at, 0, m.qwords, m.base) < 0;
}

/* Counts messages of src that have not arrived, and puts them on the list for
 * src. Adds to *notes_p the notifications that src has requested. */
static uint32_t lossy_rounds_look(struct rounds *t, uint32_t src,
				  uint32_t *notes_p)
{
	uint32_t total = 0, missing = 0;

	for (uint32_t i = 0; i < t->plan[src].count; i++)
		total += lossy_rounds_destination(t, src, i) == t->w.me;
	for (uint32_t k = 0; k < total; k++) {
		*notes_p += stretch_ends(t, src, k, total);
		if (rounds_here(t, src, k))
			continue;
		rounds_ask(t, src, k);
		missing++;
	}
	t->received += total;
	return missing;
}

void rounds_count_notes(struct rounds *t)
{
	uint32_t count = weft_forth_remote_count(t->f);

	t->notes += count - t->seen;
	t->seen = count;
}

static void look_at_all(struct rounds *t)
{
	uint32_t missing = 0, notes = 0, found;
	struct weft_forth_reseq r;
	uint64_t least, most;

	/* count losses that the NIC has detected since the last round */
	weft_forth_reseq_read(t->f, &r);
	found = (r.losses - t->losses) & 0x3FF;
	t->losses = r.losses;
	for (uint32_t s = 0; s < t->w.n; s++)
		missing += lossy_rounds_look(t, s, &notes);
	t->missing += missing;
	t->reported += found;
	t->late += missing > found ? missing - found : 0;
	t->asked_notes += notes;
	rounds_count_notes(t);
	/* Check the number of notifications. A notification is lost only with
	 * the packet that requests it, and delayed only by a loss that is not
	 * yet detected. Each answered list adds one notification. */
	most = t->asked_notes + t->lists;
	least = t->late ? 0 : t->asked_notes - t->missing;
	if (t->notes > most || t->notes < least)
		weft_check_failed(
			t->w.c,
			"round %u: %" PRIu64 " notifications, %" PRIu64
			" were asked for, %" PRIu64 " messages missing",
			t->round, t->notes, t->asked_notes, t->missing);
	rounds_recover(t, missing);
}

/* ---- set-up and run ---- */

static int check_params(struct rounds *t)
{
	uint64_t max = t->size_max ? t->size_max : t->size;

	t->size_max = max;
	if (t->w.n <= ROUNDS_NODES && !(t->size % 8) && !(max % 8) &&
	    max >= t->size && max <= 4096)
		return 0;
	weft_check_failed(
		t->w.c,
		"up to %u nodes; sizes are multiples of 8, up to 4096, size_max not below size",
		ROUNDS_NODES);
	return -EINVAL;
}

static int share_plan(struct rounds *t)
{
	uint32_t dst[ROUNDS_NODES];
	int n = program_nodes(&t->w, t->to, dst, ROUNDS_NODES);
	uint64_t mask = 0;

	if (n < 0)
		return -EINVAL;
	while (n--)
		mask |= 1ull << dst[n];
	if (!mask)
		t->count = 0;
	program_put(&t->w, "rounds.to", mask);
	program_put(&t->w, "rounds.count", t->count);
	program_put(&t->w, "rounds.notify", t->notify);
	program_put(&t->w, "rounds.min", t->size / 8);
	program_put(&t->w, "rounds.max", t->size_max / 8);
	for (uint32_t i = 0; i < t->w.n; i++) {
		struct rounds_plan *p = &t->plan[i];

		p->to = program_get(&t->w, "rounds.to", i);
		p->count = (uint32_t)program_get(&t->w, "rounds.count", i);
		p->notify = (uint32_t)program_get(&t->w, "rounds.notify", i);
		p->min = (uint32_t)program_get(&t->w, "rounds.min", i);
		p->max = (uint32_t)program_get(&t->w, "rounds.max", i);
		t->slots = p->count > t->slots ? p->count : t->slots;
		if (8 * p->max > t->slot_bytes)
			t->slot_bytes = 8 * p->max;
	}
	return 0;
}

static int share_memory(struct rounds *t)
{
	size_t slots = (size_t)t->slots * t->slot_bytes;
	size_t lists = (size_t)t->w.n * ROUNDS_LIST * 8;
	weft_phys_t rx, asked;

	t->tx = weft_mem_alloc(t->w.h, slots, 64, &t->tx_phys);
	t->rx = weft_mem_alloc(t->w.h, t->w.n * slots, 64, &rx);
	t->ask = weft_mem_alloc(t->w.h, lists, 64, &t->ask_phys);
	t->asked = weft_mem_alloc(t->w.h, lists, 64, &asked);
	if (!t->tx || !t->rx || !t->ask || !t->asked)
		return -ENOMEM;
	program_put(&t->w, "rounds.rx", rx);
	program_put(&t->w, "rounds.lists", asked);
	for (uint32_t i = 0; i < t->w.n; i++) {
		t->plan[i].rx = program_get(&t->w, "rounds.rx", i);
		t->plan[i].lists = program_get(&t->w, "rounds.lists", i);
	}
	return weft_forth_open(t->w.h, NULL, &t->f);
}

/* Checks that a round needs at most ROUNDS_GROUPS groups, because each round
 * starts again with group 0. Returns 0 or -EINVAL. */
static int check_groups(struct rounds *t)
{
	if (!weft_forth_info(t->f)->groups ||
	    (uint64_t)ROUNDS_GROUPS * t->notify >= t->count)
		return 0;
	weft_check_failed(
		t->w.c,
		"a round may not have more than %u groups: raise notify",
		ROUNDS_GROUPS);
	return -EINVAL;
}

static void lossy_rounds_results(struct rounds *t, weft_time_t t0)
{
	uint64_t n = (uint64_t)t->w.n * t->slots * t->slot_bytes / 8, sum = 0;
	double us = (double)(weft_host_now(t->w.h) - t0) / WEFT_US;
	const struct {
		const char *name, *unit;
		uint64_t value;
	} m[] = {
		{ "sent", "messages", t->sent },
		{ "received", "messages", t->received },
		{ "notifications", "", t->notes },
		{ "missing", "messages", t->missing },
		{ "reported", "packets", t->reported },
		{ "late", "messages", t->late },
		{ "resent", "messages", t->resent },
		{ "recovered", "messages", t->recovered },
		{ "lists", "packets", t->lists },
		{ "lists_lost", "packets", t->lists_lost },
	};

	for (uint64_t i = 0; i < n; i++)
		sum = program_mix(sum + ((const uint64_t *)t->rx)[i]);
	for (uint32_t i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		weft_metric(t->w.c, m[i].name, m[i].unit, (double)m[i].value);
	weft_metric(t->w.c, "digest", "", (double)(sum >> 16));
	weft_metric(t->w.c, "elapsed", "us", us);
}

static int rounds_main(struct weft_comp *c)
{
	struct rounds *t = c->state;
	weft_time_t t0;
	int ret;

	t->w = program_from(c);
	ret = check_params(t);
	if (!ret)
		ret = share_plan(t);
	if (!ret)
		ret = share_memory(t);
	if (!ret)
		ret = check_groups(t);
	t0 = weft_host_now(t->w.h);
	for (; !ret && t->round < t->rounds && !t->failed; t->round++) {
		program_barrier_n(&t->w, "rounds.step", t->step++);
		send_round(t);
		rounds_settle(t);
		look_at_all(t);
	}
	if (!ret)
		lossy_rounds_results(t, t0);
	if (t->f)
		weft_forth_close(t->f);
	return ret;
}

/* clang-format off */
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct rounds, field, def, range, OWN, doc)
static const struct weft_param rounds_params[] = {
	P(U32, rounds, "10", "1..", "rounds"),
	P(U32, count, "1000", "0..100000", "messages a node sends in each"),
	P(STR, to, "all", "",
	  "destinations, at random: 0,2,4..6 or all, others, none"),
	P(BYTES, size, "8", "8..4096", "payload of a message"),
	P(BYTES, size_max, "512", "0..4096",
	  "random sizes up to this; 0 = all the same"),
	P(U32, notify, "8", "1..",
	  "every so many messages to a node one remote notification, and one "
	  "at the end of a round"),
	P(TIME, patience, "20ms", "1us..", "with packets that do not leave"),
	P(TIME, settle, "200us", "1us..",
	  "time until what is not there is lost"),
	P(U32, attempts, "20", "0..", "times that lost messages are sent "
	  "again"),
	{ 0 }
};
/* clang-format on */

WEFT_COMPONENT(forth_rounds, .name = "forth.rounds", .kind = WEFT_KIND_PROGRAM,
	       .needs = "forth.nic",
	       .doc = "rounds of messages over paths that reorder and lose",
	       .source = "forth.md 7, V23, V24",
	       .state_size = sizeof(struct rounds), .params = rounds_params,
	       .ops = { .main = rounds_main });
