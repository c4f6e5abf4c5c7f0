/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes on a node, each with a port of the Host Port and a partner
 * on the other node. Tests messages, puts, gets and the end of processes. Ranks
 * 0 and 1 are on node 0, their partners 2 and 3 on node 1.
 *
 * raw_ports play|dies|attack|again
 *
 * dies: rank 1 ends by a signal between a put and its notification
 * attack: rank 0 tries calls that only the driver or rank 1 may make
 * again: a process without a partner starts after another has ended */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/hostport.h>

enum { ROUNDS = 12, BYTES = 4096, HOME = 3 * BYTES, CAP = 77 };
/* number of messages for which a process has room, because the partner's
 * message of the next round may arrive before the acknowledgement of a put */
enum { AHEAD = 2 };

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("rank %u, line %d: %s is wrong\n", me,          \
			       __LINE__, #what);                               \
			exit(1);                                               \
		}                                                              \
	} while (0)

static uint32_t me;

/* State and memory of a process. The memory has bytes to send, bytes that the
 * partner puts, and bytes that the process gets back. */
struct ports {
	struct weft_host *h;
	struct hport *p;
	struct hport_peer to;
	uint8_t *mem;
	uint32_t partner;
	uint32_t came, taken; /* messages */
	struct hport_note message[AHEAD];
};

static void name(char *key, size_t n, const char *what, uint32_t rank)
{
	snprintf(key, n, "%s%u", what, rank);
}

static void say(struct weft_host *h, const char *what, uint64_t val)
{
	char key[32];

	name(key, sizeof(key), what, me);
	weft_oob_put(h, key, val);
}

static uint64_t ask(struct weft_host *h, const char *what, uint32_t rank)
{
	char key[32];

	name(key, sizeof(key), what, rank);
	return weft_oob_get(h, key);
}

static uint8_t byte_of(uint32_t rank, uint32_t round, uint32_t i)
{
	return (uint8_t)(rank * 61 + round * 13 + i * 7 + i / 256);
}

static void fill(uint8_t *p, uint32_t rank, uint32_t round)
{
	for (uint32_t i = 0; i < BYTES; i++)
		p[i] = byte_of(rank, round, i);
}

static bool holds(const uint8_t *p, uint32_t rank, uint32_t round)
{
	for (uint32_t i = 0; i < BYTES; i++)
		if (p[i] != byte_of(rank, round, i))
			return false;
	return true;
}

/* Main function of a second thread, which sleeps for ever. */
static int sleeper(struct weft_host *h, void *arg)
{
	MUST(weft_proc_self(h));
	weft_host_sleep(h, WEFT_NEVER);
	return 0;
}

static void open_port(struct ports *x)
{
	uint64_t va;

	/* turns this program into a process while the program has no port */
	MUST(weft_proc_self(x->h));
	if (me < 2)
		MUST(weft_thread_start(x->h, sleeper, NULL));
	MUST(!hport_open(x->h, NULL, &x->p));
	x->mem = hport_alloc(x->p, HOME, &va);
	MUST(x->mem);
	MUST(!hport_window(x->p, 0, va, HOME, HPORT_READ | HPORT_WRITE,
			   CAP + me));
}

/* Kinds of instructions. The tag of an instruction holds the kind, so that the
 * notification of the instruction can be recognised. */
enum { WORD = 1, PUT, GET };

/* Takes the next notification and keeps messages that arrive meanwhile. Returns
 * false if the notification is an error, or if none arrives for 2 ms. In both
 * cases the partner has exited. */
static bool next(struct ports *x, struct hport_note *n)
{
	if (!hport_wait(x->p, n, weft_host_now(x->h) + 2 * WEFT_MS) || n->error)
		return false;
	if (n->event == HPORT_MESSAGE) {
		MUST(x->came - x->taken < AHEAD);
		x->message[x->came++ % AHEAD] = *n;
	}
	return true;
}

static bool done(struct ports *x, uint64_t api)
{
	struct hport_note n;

	do
		if (!next(x, &n))
			return false;
	while (n.event != HPORT_DONE || n.tag.api != api);
	return true;
}

static bool word(struct ports *x, uint32_t round)
{
	const uint64_t words[2] = { me, round };
	const struct hport_tag tag = { round, WORD };
	struct hport_note n;

	MUST(!hport_fast_send(x->p, &x->to, HPORT_ACK, tag, words, 2));
	if (!done(x, WORD))
		return false;
	while (x->came == x->taken)
		if (!next(x, &n))
			return false;
	n = x->message[x->taken++ % AHEAD];
	MUST(n.data[0] == x->partner && n.data[1] == round);
	return true;
}

/* Puts a page to the partner and gets the page back. */
static bool exchange(struct ports *x, uint32_t round, bool dies)
{
	const struct hport_far far = { 0, CAP + x->partner, BYTES };
	struct hport_tag tag = { round, PUT };

	fill(x->mem, me, round);
	MUST(!hport_put(x->p, &x->to, HPORT_ACK, tag, &far, 0, 0, BYTES));
	if (dies)
		raise(SIGKILL);
	if (!done(x, PUT))
		return false;
	tag.api = GET;
	MUST(!hport_get(x->p, &x->to, 0, tag, &far, 0, 2ul * BYTES, BYTES));
	if (!done(x, GET))
		return false;
	MUST(holds(x->mem + 2ul * BYTES, me, round));
	return true;
}

/* Runs all rounds. In each round the bytes that arrive must be the partner's
 * bytes of that round. Returns the number of rounds that were completed. */
static uint32_t play(struct ports *x, bool dies)
{
	uint32_t i = 0;

	for (; i < ROUNDS; i++) {
		if (!word(x, 2 * i) || !exchange(x, i, dies && i == 5) ||
		    !word(x, 2 * i + 1))
			break;
		MUST(holds(x->mem + BYTES, x->partner, i));
	}
	return i;
}

/* Tries calls that only a driver may make, and calls on memory of rank 1. All
 * of them must fail. */
static void attack(struct ports *x)
{
	struct weft_dev *d = weft_dev_open(x->h, 0);
	struct weft_drv drv = { .bars = 0 };
	weft_phys_t phys = ask(x->h, "phys", 1);
	struct weft_io io;
	uint64_t va;

	MUST(!weft_drv_set(x->h, d, &drv));
	for (uint8_t bar = 0; bar < 6; bar++)
		MUST(!weft_io_map(x->h, d, bar, 0, 4096, WEFT_UC, &io));
	MUST(!weft_proc_new(x->h, 0) && !weft_domain_new(x->h));
	MUST(!weft_page_share(x->h, d, 0, 0));
	MUST(!weft_mem_hold(x->h, phys, BYTES));
	MUST(hport_map(x->p, weft_mem_at(x->h, phys, BYTES), BYTES, &va) < 0);
	weft_mem_free(x->h, weft_mem_at(x->h, phys, BYTES));
	for (uint32_t i = 0; i < 8; i++)
		MUST(weft_mem_alloc(x->h, BYTES, BYTES, &phys));
}

static void with_partner(struct ports *x, const char *what)
{
	weft_phys_t phys;
	uint32_t n;

	x->partner = me ^ 2;
	say(x->h, "vpid", hport_vpid(x->p));
	MUST(!hport_connect(x->p, !weft_host_node(x->h),
			    (uint32_t)ask(x->h, "vpid", x->partner), &x->to));
	if (me == 1) {
		uint8_t *own = weft_mem_alloc(x->h, BYTES, BYTES, &phys);

		MUST(own);
		fill(own, 9, 9);
		say(x->h, "phys", phys);
		n = play(x, !strcmp(what, "dies"));
		MUST(holds(own, 9, 9));
	} else {
		if (!me && !strcmp(what, "attack"))
			attack(x);
		n = play(x, false);
	}
	printf("rank %u on node %u, VPID %u: %u of %u rounds\n", me,
	       weft_host_node(x->h), hport_vpid(x->p), n, ROUNDS);
}

/* Exchanges messages and pages between this process and itself. */
static void again(struct ports *x)
{
	x->partner = me;
	MUST(!hport_connect(x->p, weft_host_node(x->h), hport_vpid(x->p),
			    &x->to));
	MUST(word(x, 0) && exchange(x, 0, false));
	printf("rank %u again, VPID %u\n", me, hport_vpid(x->p));
}

int main(int argc, char **argv)
{
	const char *rank = getenv("WEFT_RANK");
	struct ports x = { .h = weft_host_self() };

	if (!x.h || !rank || argc != 2)
		return 2;
	me = (uint32_t)strtoul(rank, NULL, 10);
	open_port(&x);
	if (!strcmp(argv[1], "again"))
		again(&x);
	else
		with_partner(&x, argv[1]);
	return 0;
}
