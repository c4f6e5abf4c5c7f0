/* SPDX-License-Identifier: Apache-2.0 */
/* The direct endpoint between processes: messages, memory, atomics, regions. */
#include "direct_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* ---- messages ---- */

/* Returns the length of message i. Lengths are near borders of cache lines, or
 * the largest ones. Each process sends so many messages of these lengths to
 * every other process that each ring wraps many times. The receiver keeps some
 * messages for a while. */
static size_t length(const struct process *w, uint32_t i)
{
	const size_t edge[] = { 0, 1, 8, 47, 48, 49, 112, 113, 4096 };
	size_t k = sizeof(edge) / sizeof(edge[0]);

	return i % 10 < k ? edge[i % 10] : w->ep->info.max_msg - i % 3;
}

static void got_data(struct process *w, const struct weft_ep_event *ev,
		     uint32_t *next)
{
	uint32_t from =
		WEFT_ATT_SLOT(ev->src) * w->d->nodes + WEFT_ATT_NODE(ev->src);
	uint32_t i = next[from];

	if (i == MESSAGES) { /* the process has received all of its messages */
		CHECK(ev->imm == END);
		w->ends++;
		return;
	}
	next[from]++;
	CHECK(ev->kind == WEFT_EV_RECV && ev->imm == i);
	CHECK(ev->len == length(w, i));
	CHECK(is_pattern(ev->data, ev->len, i + from));
}

static int messages_main(struct process *w)
{
	static uint8_t buf[1 << 16];
	struct weft_ep_event ev, kept = { 0 };
	uint32_t next[MAX] = { 0 }, sent[MAX] = { 0 }, left;

	do {
		left = 0;
		for (uint32_t p = 0; p < w->n; p++) {
			if (sent[p] < MESSAGES) {
				size_t len = length(w, sent[p]);

				pattern(buf, len, sent[p] + w->me);
				if (!weft_ep_send(w->ep, addr(w, p), buf, len,
						  sent[p], NULL))
					sent[p]++;
			}
			left += 2 * MESSAGES - sent[p] - next[p];
		}
		if (w->ep->ops->poll(w->ep, &ev, 1) == 1) {
			got_data(w, &ev, next);
			if (next[0] % 3)
				w->ep->ops->release(w->ep, &ev);
			if (kept.data)
				w->ep->ops->release(w->ep, &kept);
			kept.data = NULL;
			if (!(next[0] % 3))
				kept = ev;
		} else {
			direct_wait(w->d, 100);
		}
	} while (left);
	if (kept.data)
		w->ep->ops->release(w->ep, &kept);
	return finish(w);
}

static void messages_of_all_lengths_arrive_in_order(void **state)
{
	run(1, 1, messages_main);
	run(2, 2, messages_main);
}

static int refusals_main(struct process *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	size_t max = w->ep->info.max_msg;

	CHECK(weft_ep_send(w->ep, addr(w, 0), w, max + 1, 0, NULL) ==
	      -EMSGSIZE);
	CHECK(weft_ep_send(w->ep, WEFT_ATT_ADDR(1, 0), w, 8, 0, NULL) ==
	      -EINVAL);
	CHECK(weft_ep_send(w->ep, WEFT_ATT_ADDR(0, 1), w, 8, 0, NULL) ==
	      -EINVAL);
	CHECK(weft_ep_send(w->ep, addr(w, 0), w, 8, 1ull << 32, NULL) ==
	      -EINVAL);
	CHECK(o->wait(w->ep, direct_now(w->d) + 3 * WEFT_MS) == -ETIMEDOUT);
	return finish(w);
}

static void impossible_sends_are_refused_and_waits_time_out(void **state)
{
	run(1, 1, refusals_main);
}

/* ---- memory ---- */

/* Lets each of three processes put to and get from its own third of every
 * area. */
static int memory_main(struct process *w)
{
	uint8_t *area = calloc(1, AREA), *buf = calloc(1, AREA);
	size_t third = AREA / 3 - 7, at = third * w->me + 3;

	w->d->no_cma = w->no_cma;
	exchange(w, area);
	pattern(buf, third, w->me);
	for (uint32_t i = 0; i < w->n; i++) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       weft_ep_post(w->ep,
				    &(struct weft_ep_op){
					    .code = WEFT_EP_PUT,
					    .dst = addr(w, i),
					    .buf = buf,
					    .len = third,
					    .raddr = w->mr[i].addr + at,
					    .rkey = w->mr[i].key,
					    .notify = true,
					    .imm = 5,
					    .ctx = &ev }),
		       &ev);
		CHECK(ev.kind == WEFT_EV_PUT && !ev.status);
	}
	while (w->put_ins < w->n)
		serve(w);
	for (uint32_t i = 0; i < w->n; i++)
		CHECK(is_pattern(area + third * i + 3, third, i));
	for (uint32_t i = 0; i < w->n; i++) {
		struct weft_ep_event ev = { 0 };

		memset(buf, 0, AREA);
		end_of(w,
		       weft_ep_post(w->ep,
				    &(struct weft_ep_op){
					    .code = WEFT_EP_GET,
					    .dst = addr(w, i),
					    .into = buf,
					    .len = third,
					    .raddr = w->mr[i].addr + at,
					    .rkey = w->mr[i].key,
					    .ctx = &ev }),
		       &ev);
		CHECK(ev.kind == WEFT_EV_GET && is_pattern(buf, third, w->me));
	}
	return finish(w);
}

static int memory_no_cma(struct process *w)
{
	w->no_cma = true;
	return memory_main(w);
}

static void puts_and_gets_move_bytes_with_and_without_cma(void **state)
{
	run(3, 1, memory_main);
	run(3, 1, memory_no_cma);
}

static int atomics_main(struct process *w)
{
	static uint64_t area[AREA / 8];
	uint64_t last = 0;

	exchange(w, (uint8_t *)area);
	for (uint32_t i = 0; i < 300; i++) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       weft_ep_post(
			       w->ep,
			       &(struct weft_ep_op){ .code = WEFT_EP_FADD,
						     .dst = addr(w, 0),
						     .raddr = w->mr[0].addr,
						     .rkey = w->mr[0].key,
						     .operand = 1,
						     .ctx = &ev }),
		       &ev);
		CHECK(ev.kind == WEFT_EV_ATOMIC && (!i || ev.result > last));
		last = ev.result;
	}
	for (uint32_t wins = 0; wins < 100;) {
		struct weft_ep_event ev = { 0 };

		end_of(w,
		       weft_ep_post(
			       w->ep,
			       &(struct weft_ep_op){ .code = WEFT_EP_CSWAP,
						     .dst = addr(w, 0),
						     .raddr = w->mr[0].addr + 8,
						     .rkey = w->mr[0].key,
						     .operand = last,
						     .desired = last + 1,
						     .ctx = &ev }),
		       &ev);
		wins += ev.result == last;
		last = ev.result == last ? last + 1 : ev.result;
	}
	CHECK(weft_ep_post(w->ep,
			   &(struct weft_ep_op){ .code = WEFT_EP_FADD,
						 .dst = addr(w, 0),
						 .raddr = w->mr[0].addr + 4,
						 .rkey = w->mr[0].key,
						 .operand = 1 }) == -EINVAL);
	finish(w);
	CHECK(w->me || (area[0] == 300 * w->n && area[1] >= 100 * w->n));
	return 0;
}

static void atomics_of_four_processes_lose_no_update(void **state)
{
	run(2, 2, atomics_main);
}

static int regions_main(struct process *w)
{
	const struct weft_ep_ops *o = w->ep->ops;
	struct weft_ep_event ev = { 0 };
	static uint8_t area[AREA];
	struct weft_ep_mr mr, old;

	exchange(w, area);
	old = w->mr[w->me];
	CHECK(weft_ep_post(w->ep, &(struct weft_ep_op){
					  .code = WEFT_EP_PUT,
					  .dst = addr(w, 0),
					  .buf = area,
					  .len = 8,
					  .raddr = w->mr[0].addr + AREA - 7,
					  .rkey = w->mr[0].key,
					  .ctx = &ev }) == -EINVAL);
	CHECK(weft_ep_post(w->ep,
			   &(struct weft_ep_op){ .code = WEFT_EP_GET,
						 .dst = addr(w, 0),
						 .into = area,
						 .len = 8,
						 .raddr = w->mr[0].addr - 1,
						 .rkey = w->mr[0].key,
						 .ctx = &ev }) == -EINVAL);
	for (uint32_t i = 0; i < 3 * DIRECT_REGIONS; i++) {
		CHECK(!o->mr_reg(w->ep, area, 100 + i, &mr));
		CHECK(!o->mr_dereg(w->ep, &mr));
		CHECK(o->mr_dereg(w->ep, &mr) == -EINVAL);
	}
	CHECK(!o->mr_dereg(w->ep, &old));
	CHECK(!o->mr_reg(w->ep, area, AREA, &mr));
	CHECK(weft_ep_post(w->ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
							.dst = addr(w, w->me),
							.into = area,
							.len = 8,
							.raddr = old.addr,
							.rkey = old.key,
							.ctx = &ev }) ==
	      -EINVAL);
	return finish(w);
}

static void deregistered_region_and_bytes_beyond_are_refused(void **state)
{
	run(2, 1, regions_main);
}

/* Registers memory that is not mapped. */
static int hole_main(struct process *w)
{
	struct weft_ep_event ev = { 0 };
	uint8_t *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		b[8];
	uint32_t to = !w->me;

	munmap(area + 8192, 4096);
	exchange(w, area);
	end_of(w,
	       weft_ep_post(
		       w->ep,
		       &(struct weft_ep_op){ .code = WEFT_EP_GET,
					     .dst = addr(w, to),
					     .into = b,
					     .len = 8,
					     .raddr = w->mr[to].addr + 8192,
					     .rkey = w->mr[to].key,
					     .ctx = &ev }),
	       &ev);
	CHECK(ev.kind == WEFT_EV_ERROR && ev.status == -EFAULT);
	return finish(w);
}

static void access_to_unmapped_registered_memory_fails(void **state)
{
	run(2, 1, hole_main);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_all_lengths_arrive_in_order),
		cmocka_unit_test(
			impossible_sends_are_refused_and_waits_time_out),
		cmocka_unit_test(puts_and_gets_move_bytes_with_and_without_cma),
		cmocka_unit_test(atomics_of_four_processes_lose_no_update),
		cmocka_unit_test(
			deregistered_region_and_bytes_beyond_are_refused),
		cmocka_unit_test(access_to_unmapped_registered_memory_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
