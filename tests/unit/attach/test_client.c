/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the process's side of its rings. The test changes the segment as the
 * simulator would. Counters start just before they wrap, so that the wrap is
 * tested. */
#include "../cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "attach/client.h"

enum { CMDS = 8, EVENTS = 8, TX = 1024, SLOT = 64 };
#define START (UINT32_MAX - 2)

struct rig {
	struct weft_att a;
	struct att_seg *seg;
	struct att_bell bell;
	struct att_cmd cmd[CMDS];
	struct att_event ev[EVENTS];
	uint64_t tx_end[CMDS];
	uint8_t tx[TX], rx[ATT_RX_SLOTS * SLOT];
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(posix_memalign((void **)&r->seg, 64, sizeof(*r->seg)),
			 0);
	memset(r->seg, 0, sizeof(*r->seg));
	r->seg->n_cmds = CMDS;
	r->seg->n_events = EVENTS;
	r->seg->tx_bytes = TX;
	r->seg->rx_slot = SLOT;
	r->seg->state = ATT_RUN;
	r->seg->cmd_tail = r->seg->cmd_head = START;
	r->seg->ev_tail = r->seg->ev_head = START;
	r->a = (struct weft_att){
		.ep = { .ops = &att_ep_ops },
		.info = { .clock = WEFT_CLOCK_FIXED, .max_msg = 512 },
		.sock = -1,
		.seg = r->seg,
		.bell = &r->bell,
		.cmd = r->cmd,
		.ev = r->ev,
		.tx = r->tx,
		.rx = r->rx,
		.tx_end = r->tx_end,
		.tail = START,
		.head = START,
		.ev_head = START,
	};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	free(r->seg);
	free(r);
	return 0;
}

static int give(struct rig *r, size_t len, uint64_t imm)
{
	uint8_t buf[512];

	memset(buf, (int)imm, sizeof(buf));
	return att_ep_ops.post(&r->a.ep,
			       &(struct weft_ep_op){ .code = WEFT_EP_MSG,
						     .dst = 5,
						     .buf = buf,
						     .len = len,
						     .imm = imm });
}

static const struct att_cmd *nth(const struct rig *r, uint32_t i)
{
	return &r->cmd[(START + i) % CMDS];
}

static void commands_are_posted_in_order_until_the_ring_is_full(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < CMDS; i++)
		assert_int_equal(give(r, 0, i), 0);
	assert_int_equal(r->seg->cmd_tail, (uint32_t)(START + CMDS));
	assert_int_equal(r->seg->want_room, 0);
	assert_int_equal(give(r, 0, 99), -EAGAIN);
	assert_int_equal(r->seg->want_room, 1);
	for (uint32_t i = 0; i < CMDS; i++) {
		assert_int_equal(nth(r, i)->kind, ATT_C_SEND);
		assert_int_equal(nth(r, i)->imm, i);
		assert_int_equal(nth(r, i)->dst, 5);
		assert_int_equal(nth(r, i)->flags, ATT_F_QUIET);
	}
	r->seg->cmd_head += 3;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(give(r, 0, 100 + i), 0);
	assert_int_equal(give(r, 0, 99), -EAGAIN);
	assert_int_equal(nth(r, CMDS + 2)->imm, 102);
}

static void assert_bytes(const struct rig *r, uint32_t i, uint8_t val)
{
	for (uint64_t k = 0; k < nth(r, i)->len; k++)
		assert_int_equal(r->tx[nth(r, i)->buf + k], val);
}

/* Posts payloads of 400 bytes, which take 448 of the 1024 bytes of the ring.
 * The third payload starts at the beginning of the ring once the first is
 * freed, because a payload never wraps. */
static void payload_never_wraps_and_waits_for_room(void **state)
{
	struct rig *r = *state;

	assert_int_equal(give(r, 400, 1), 0);
	assert_int_equal(give(r, 400, 2), 0);
	assert_int_equal(give(r, 400, 3), -EAGAIN);
	assert_int_equal(nth(r, 0)->buf, 0);
	assert_int_equal(nth(r, 1)->buf, 448);
	assert_bytes(r, 0, 1);
	assert_bytes(r, 1, 2);
	r->seg->cmd_head++;
	assert_int_equal(give(r, 400, 3), 0);
	assert_int_equal(nth(r, 2)->buf, 0);
	assert_bytes(r, 1, 2);
	assert_bytes(r, 2, 3);
	assert_int_equal(give(r, 1, 4), -EAGAIN);
	/* no operation is in flight, therefore the whole ring is free */
	r->seg->cmd_head += 2;
	assert_int_equal(give(r, 512, 5), 0);
	assert_int_equal(nth(r, 3)->buf, 448);
	assert_int_equal(give(r, 512, 6), -EAGAIN);
	assert_int_equal(give(r, 513, 7), -EMSGSIZE);
	assert_bytes(r, 3, 5);
}

static void put_event(struct rig *r, const struct att_event *e)
{
	r->ev[r->seg->ev_tail % EVENTS] = *e;
	r->seg->ev_tail++;
}

static void events_are_polled_in_order_once_the_client_runs(void **state)
{
	struct rig *r = *state;
	struct weft_ep_event ev[EVENTS];

	assert_int_equal(att_ep_ops.poll(&r->a.ep, ev, EVENTS), 0);
	for (uint32_t i = 0; i < 5; i++)
		put_event(r, &(struct att_event){ .kind = WEFT_EV_RECV,
						  .src = i,
						  .len = 3,
						  .data = i * SLOT });
	/* a waiting client takes no events, because the simulator may still be
	 * writing them */
	r->seg->state = ATT_WAIT;
	assert_int_equal(att_ep_ops.poll(&r->a.ep, ev, EVENTS), 0);
	r->seg->state = ATT_RUN;
	assert_int_equal(att_ep_ops.poll(&r->a.ep, ev, 3), 3);
	assert_int_equal(r->seg->ev_head, (uint32_t)(START + 3));
	assert_int_equal(att_ep_ops.poll(&r->a.ep, ev + 3, EVENTS), 2);
	assert_int_equal(att_ep_ops.poll(&r->a.ep, ev, EVENTS), 0);
	assert_int_equal(r->seg->ev_head, r->seg->ev_tail);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(ev[i].src, i);
		assert_ptr_equal(ev[i].data, r->rx + i * SLOT);
	}
}

static void release_uses_a_bit_when_the_ring_is_full(void **state)
{
	struct rig *r = *state;
	struct weft_ep_event ev = { .kind = WEFT_EV_RECV,
				    .data = r->rx + 7 * SLOT };

	att_ep_ops.release(&r->a.ep, &ev);
	assert_int_equal(nth(r, 0)->kind, ATT_C_RELEASE);
	assert_int_equal(nth(r, 0)->buf, 7);
	for (uint32_t i = 1; i < CMDS; i++)
		assert_int_equal(give(r, 0, i), 0);
	assert_int_equal(r->seg->released, 0);
	att_ep_ops.release(&r->a.ep, &ev);
	ev.data = r->rx + 63 * SLOT;
	att_ep_ops.release(&r->a.ep, &ev);
	assert_true(r->seg->released == (1ull << 7 | 1ull << 63));
}

static void detached_client_gets_eio_from_every_call(void **state)
{
	struct rig *r = *state;
	struct weft_ep_mr mr;

	r->seg->state = ATT_GONE;
	assert_int_equal(give(r, 8, 1), -EIO);
	assert_int_equal(att_ep_ops.mr_reg(&r->a.ep, r, 8, &mr), -EIO);
	assert_int_equal(att_ep_ops.wait(&r->a.ep, WEFT_NEVER), -EIO);
	assert_int_equal(r->seg->cmd_tail, START);
}

static void charged_time_goes_once_with_the_next_command(void **state)
{
	struct rig *r = *state;

	weft_att_charge(&r->a, 700);
	weft_att_charge(&r->a, 77);
	assert_int_equal(give(r, 0, 1), 0);
	assert_int_equal(give(r, 0, 2), 0);
	assert_int_equal(nth(r, 0)->busy, 777);
	assert_int_equal(nth(r, 1)->busy, 0);
	assert_true(r->a.posted);
}

static bool waits(const struct rig *r)
{
	return r->seg->state == ATT_WAIT;
}

static void look(struct rig *r, int times)
{
	for (int i = 0; i < times; i++)
		assert_int_equal(weft_att_idle(&r->a), -EAGAIN);
}

static void client_waits_after_sixteen_empty_polls_in_a_row(void **state)
{
	struct rig *r = *state;

	look(r, 15);
	assert_false(waits(r));
	for (int i = 0; i < 4; i++) {
		weft_att_made_progress(&r->a);
		look(r, 15);
		assert_false(waits(r));
	}
	look(r, 1);
	assert_true(waits(r));
}

static void command_or_own_time_restarts_the_count_of_polls(void **state)
{
	struct rig *r = *state;

	look(r, 15);
	assert_int_equal(give(r, 0, 1), 0);
	look(r, 15);
	assert_false(waits(r));
	weft_att_charge(&r->a, 100);
	att_flush(&r->a);
	assert_int_equal(nth(r, 1)->kind, ATT_C_NOP);
	assert_int_equal(nth(r, 1)->busy, 100);
	look(r, 15);
	assert_false(waits(r));
	look(r, 1);
	assert_true(waits(r));
}

static void wait_ends_with_an_event_or_when_detached(void **state)
{
	struct rig *r = *state;

	assert_int_equal(weft_att_wait(&r->a, 1), -EAGAIN);
	assert_true(waits(r));
	assert_true(r->seg->deadline == WEFT_NEVER);
	r->seg->state = ATT_RUN;
	put_event(r, &(struct att_event){ .kind = WEFT_EV_RECV });
	assert_int_equal(weft_att_wait(&r->a, 1), 0);
	assert_false(waits(r));
	r->seg->state = ATT_GONE;
	assert_int_equal(weft_att_wait(&r->a, 1), -EIO);
}

/* Polls of a waiting client are not counted, because their number depends on
 * real time. */
static void polls_of_a_waiting_client_are_not_counted(void **state)
{
	struct rig *r = *state;
	uint32_t empty;

	look(r, 16);
	assert_true(waits(r));
	empty = r->a.empty;
	look(r, 3);
	assert_int_equal(r->a.empty, empty);
	assert_true(waits(r));
}

/* The simulator resumes a client between the client's poll, which found
 * nothing, and the client's wait. If the client waited, both sides would wait
 * for ever. */
static void resumed_client_polls_before_it_waits(void **state)
{
	struct rig *r = *state;

	assert_int_equal(weft_att_wait(&r->a, 1), -EAGAIN);
	assert_true(waits(r));
	put_event(r, &(struct att_event){ .kind = WEFT_EV_RECV });
	r->seg->state = ATT_RUN;
	att_hand_over(&r->a, 1);
	assert_false(waits(r));
	assert_true(att_has_event(&r->a));
	/* the client has polled, so that it may wait */
	r->a.ev_head = r->seg->ev_head = r->seg->ev_tail;
	att_hand_over(&r->a, 1);
	assert_true(waits(r));
}

/* The simulator admits a client before the client waits to be admitted. */
static void admitted_client_does_not_wait(void **state)
{
	struct rig *r = *state;

	assert_int_equal(att_noticed(&r->a), 0);
	assert_false(waits(r));
	/* the client waits for the first time */
	att_hand_over(&r->a, 1);
	assert_true(waits(r));
}

/* A killed simulator resumes no client. */
static void wait_ends_with_the_simulator(void **state)
{
	struct rig *r = *state;

	/* a socket without a peer */
	r->a.sock = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(weft_att_wait(&r->a, 1), -EIO);
	close(r->a.sock);
}

static void wakes(int sig)
{
}

/* The agent plans its work by the deadline that a client had when the client
 * began to wait. Therefore a new deadline must ring the agent's bell. */
static void new_deadline_of_a_waiting_client_rings_the_bell(void **state)
{
	/* a signal ends a sleep of a second */
	struct sigaction on = { .sa_handler = wakes };
	struct itimerval soon = { .it_value = { .tv_usec = 5000 } };
	struct rig *r = *state;
	uint32_t seq;

	r->seg->now = 7;
	assert_int_equal(weft_att_wait(&r->a, 1), -EAGAIN);
	seq = r->bell.seq;
	assert_int_equal(att_ep_ops.wait(&r->a.ep, 7), -ETIMEDOUT);
	assert_int_equal(r->bell.seq, seq);
	/* a socket without a peer */
	r->a.sock = socket(AF_UNIX, SOCK_STREAM, 0);
	sigaction(SIGALRM, &on, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(att_ep_ops.wait(&r->a.ep, 8), -EIO);
	assert_true(r->seg->deadline == 8);
	assert_int_equal(r->bell.seq, seq + 1);
	close(r->a.sock);
}

static void end_closes_socket_and_memory_of_the_node(void **state)
{
	struct weft_att *a = calloc(1, sizeof(*a));
	int fds[2];

	assert_non_null(a);
	assert_int_equal(pipe(fds), 0);
	a->sock = fds[0];
	a->mem_fd = fds[1];
	att_free(a);
	assert_int_equal(fcntl(fds[0], F_GETFD), -1);
	assert_int_equal(fcntl(fds[1], F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			commands_are_posted_in_order_until_the_ring_is_full,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			payload_never_wraps_and_waits_for_room, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			events_are_polled_in_order_once_the_client_runs, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			release_uses_a_bit_when_the_ring_is_full, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			detached_client_gets_eio_from_every_call, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			charged_time_goes_once_with_the_next_command, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			client_waits_after_sixteen_empty_polls_in_a_row, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			command_or_own_time_restarts_the_count_of_polls, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			wait_ends_with_an_event_or_when_detached, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			polls_of_a_waiting_client_are_not_counted, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			resumed_client_polls_before_it_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(admitted_client_does_not_wait,
						setup, teardown),
		cmocka_unit_test_setup_teardown(wait_ends_with_the_simulator,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			new_deadline_of_a_waiting_client_rings_the_bell, setup,
			teardown),
		cmocka_unit_test(end_closes_socket_and_memory_of_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
