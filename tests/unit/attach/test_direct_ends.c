/* SPDX-License-Identifier: Apache-2.0 */
/* The direct endpoint when processes die, damage shared memory, join late or
 * fork. */
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

/* Lets a process die with a message in flight. The surviving process gets the
 * message, then the event of the death, then errors. */
static int survivor(struct process *w)
{
	struct weft_ep_event ev = { 0 };
	bool got = false;

	while (!w->deaths) {
		if (!w->ep->ops->poll(w->ep, &ev, 1)) {
			direct_wait(w->d, 1000);
			continue;
		}
		got |= ev.kind == WEFT_EV_RECV;
		CHECK(got);
		handle(w, &ev);
	}
	CHECK(w->deaths == 1);
	memset(&ev, 0, sizeof(ev));
	end_of(w, weft_ep_send(w->ep, addr(w, 1), "x", 1, DATA, &ev), &ev);
	CHECK(ev.kind == WEFT_EV_ERROR && ev.status == -EPIPE);
	direct_close(w->d);
	return 0;
}

static void death_arrives_after_the_last_message(void **state)
{
	struct rig r;
	struct process w;

	rig_open(&r, 2, 1);
	if (rig_start(&r, 0, &w))
		_exit(survivor(&w));
	if (rig_start(&r, 1, &w)) {
		post(&w, 0, "last", 5, DATA);
		kill(getpid(), SIGKILL);
	}
	rig_serve(&r);
	assert_true(WIFSIGNALED(r.status[1]));
	assert_int_equal(r.status[0], 0);
	direct_dead(&r.hub, 1, 0); /* a second report has no effect */
	assert_int_equal(r.hub.map->leavers, 2);
	direct_unmake(&r.hub);
}

/* Lets process 0 arm its socket and sleep in poll() until process 1 sends a
 * message. */
static int armed_main(struct process *w)
{
	struct pollfd p = { .events = POLLIN };

	if (w->me) {
		usleep(20000);
		post(w, 0, "x", 1, DATA);
		return finish(w);
	}
	p.fd = w->d->sock;
	while (!direct_arm(w->d)) {
		CHECK(poll(&p, 1, 5000) == 1);
		break;
	}
	CHECK(direct_arm(w->d) == -EAGAIN);
	return finish(w);
}

static void armed_process_sleeps_in_poll_until_a_message(void **state)
{
	run(2, 1, armed_main);
}

/* Damages shared memory, which may lose messages but has no other effect. */
static int scribble_main(struct process *w)
{
	struct weft_ep_event ev[4] = { 0 }, sent = { 0 };
	bool dead = false;

	if (w->me) {
		uint8_t *ring = w->d->peer[0].out;

		post(w, 0, "x", 1, DATA);
		for (uint32_t i = 0; i < w->d->ring_bytes; i++)
			ring[i] = (uint8_t)(i * 2654435761u >> 13);
		memset((void *)w->d->self->region, 0xff, 5000);
		atomic_store(&w->d->self->pair[0].taken, UINT64_MAX - 5);
		_exit(0);
	}
	for (uint32_t i = 0; i < 2000 || !dead; i++) {
		int n = w->ep->ops->poll(w->ep, ev, 4);

		for (int k = 0; k < n; k++) {
			if (ev[k].kind == WEFT_EV_RECV)
				w->ep->ops->release(w->ep, &ev[k]);
			dead |= ev[k].kind == WEFT_EV_ERROR;
		}
		weft_ep_send(w->ep, addr(w, 1), ev, 64, DATA, NULL);
		direct_wait(w->d, 10);
	}
	CHECK(!weft_ep_send(w->ep, addr(w, 1), ev, 64, DATA, &sent));
	do
		CHECK(w->ep->ops->poll(w->ep, ev, 1) == 1);
	while (ev[0].ctx != &sent);
	CHECK(ev[0].kind == WEFT_EV_ERROR && ev[0].status == -EPIPE);
	direct_close(w->d);
	return 0;
}

static void damaged_ring_does_not_hide_the_death_of_its_owner(void **state)
{
	run(2, 1, scribble_main);
}

/* Returns whether memory refuses writes. Memory that other processes share, and
 * the list of processes, can only be read. */
static bool refuses_writes(const void *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return mprotect((void *)((uintptr_t)p & ~(page - 1)), page,
			PROT_READ | PROT_WRITE) != 0;
}

static int walls_main(struct process *w)
{
	int fd = -1;

	exchange(w, calloc(1, AREA));
	CHECK(refuses_writes(w->d->seg));
	CHECK(refuses_writes(w->d->peer[!w->me].place));
	CHECK(refuses_writes(w->d->peer[!w->me].in));
	CHECK(!direct_want(w->d, WANT_PEER, !w->me, -1, &fd));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	      MAP_FAILED);
	CHECK(ftruncate(fd, 0));
	return finish(w);
}

static void memory_of_other_processes_cannot_be_written(void **state)
{
	run(2, 1, walls_main);
}

/* Announces a region that was never registered. Checks that requests for that
 * region, and requests for bytes behind a registered region, are refused. */
static int asks_main(struct process *w)
{
	static uint64_t secret = 42, area[8];
	struct direct_ask q = { .what = ASK_GET, .a = 8 };

	exchange(w, (uint8_t *)area);
	q.raddr = (uintptr_t)&secret;
	q.rkey = w->mr[w->me].key + 1;
	w->d->self->region[(uint32_t)q.rkey].addr = (uintptr_t)&secret;
	w->d->self->region[(uint32_t)q.rkey].len = 8;
	CHECK(!direct_covers(w->d, q.raddr, q.rkey, 8));
	CHECK(direct_covers(w->d, (uintptr_t)area, w->mr[w->me].key, 8));
	CHECK(!direct_covers(w->d, (uintptr_t)area + AREA - 7, w->mr[w->me].key,
			     8));
	CHECK(!direct_covers(w->d, (uintptr_t)area, UINT32_MAX, 8));
	return finish(w);
}

static void requests_are_checked_against_private_memory(void **state)
{
	run(2, 1, asks_main);
}

/* Offers file descriptors of memory with a wrong size or wrong seals, which are
 * refused. A valid descriptor is refused too, because the process has offered
 * one already. */
static int bad_place_main(struct process *w)
{
	int fd = memfd_create("x", MFD_ALLOW_SEALING);

	CHECK(direct_want(w->d, WANT_PLACE, w->me, -1, NULL) == -EINVAL);
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EINVAL);
	CHECK(!ftruncate(fd, (off_t)w->d->lay.place_bytes));
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EINVAL);
	CHECK(!fcntl(fd, F_ADD_SEALS, direct_seals(true)));
	CHECK(direct_want(w->d, WANT_PLACE, w->me, fd, NULL) == -EALREADY);
	CHECK(direct_want(w->d, WANT_PEER, w->n, -1, NULL) == -EPIPE);
	_exit(0); /* the simulator removes processes that break a rule */
}

static void descriptors_from_processes_are_checked(void **state)
{
	run(1, 1, bad_place_main);
}

/* Lets the first process send before the second has joined. The first process
 * sends more than its ring holds, so that it must wait for room. */
static int early_main(struct process *w)
{
	static uint8_t buf[4096];

	if (!w->me) {
		for (uint32_t i = 0; i < 200; i++)
			post(w, 1, buf, sizeof(buf), DATA);
		return finish(w);
	}
	return finish(w);
}

static void messages_wait_for_a_process_that_joins_later(void **state)
{
	struct rig r;
	struct process w;

	rig_open(&r, 2, 1);
	if (rig_start(&r, 0, &w))
		_exit(early_main(&w));
	/* serves two requests of the first process: to join, and to reach the
	 * memory of the second */
	for (uint32_t i = 0; i < 2; i++) {
		poll(&(struct pollfd){ r.sock[0], POLLIN, 0 }, 1, -1);
		assert_int_equal(direct_serve(&r.hub, 0, 0), 0);
	}
	usleep(20000);
	if (rig_start(&r, 1, &w))
		_exit(early_main(&w));
	rig_serve(&r);
	assert_int_equal(r.status[0] | r.status[1], 0);
	direct_unmake(&r.hub);
}

/* Marks every unit of the ring to a peer as a message, and dies. The peer
 * always finds another message, but must be notified of the death
 * nevertheless. */
static int round_main(struct process *w)
{
	struct weft_ep_event ev;
	uint32_t from = !w->me;

	if (w->me) {
		struct direct_peer *p = &w->d->peer[0];

		post(w, 0, "x", 1, DATA);
		for (uint32_t at = 0; at < w->d->ring_bytes; at += DIRECT_UNIT)
			atomic_store(&direct_head_at(w->d, p->out, at)->mark,
				     DIRECT_MSG << 24 | 1);
		kill(getpid(), SIGKILL);
	}
	while (!w->d->peer[from].left) {
		while (w->ep->ops->poll(w->ep, &ev, 1))
			if (ev.kind == WEFT_EV_RECV)
				w->ep->ops->release(w->ep, &ev);
		direct_wait(w->d, 1000);
	}
	direct_close(w->d);
	return 0;
}

static void ring_of_the_dead_ends(void **state)
{
	struct rig r;
	struct process w;

	rig_open(&r, 2, 1);
	for (uint32_t i = 0; i < 2; i++)
		if (rig_start(&r, i, &w))
			_exit(round_main(&w));
	rig_serve(&r);
	assert_int_equal(r.status[0], 0);
	direct_unmake(&r.hub);
}

static int forks_main(struct process *w)
{
	struct weft_ep_event ev;
	int status;
	pid_t pid = fork();

	if (!pid) {
		direct_forked(w->d);
		CHECK(weft_ep_send(w->ep, 0, "x", 1, 0, NULL) == -EIO);
		CHECK(!w->ep->ops->poll(w->ep, &ev, 1));
		CHECK(direct_wait(w->d, 10) == -EIO);
		direct_close(w->d);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return finish(w);
}

static void forked_child_cannot_use_the_endpoint(void **state)
{
	run(2, 1, forks_main);
}

static void hub_of_no_or_too_many_processes_is_refused(void **state)
{
	struct direct_hub hub;

	assert_int_equal(direct_make(0, 1, &hub), -E2BIG);
	assert_int_equal(direct_make(1024, 2, &hub), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(death_arrives_after_the_last_message),
		cmocka_unit_test(armed_process_sleeps_in_poll_until_a_message),
		cmocka_unit_test(
			damaged_ring_does_not_hide_the_death_of_its_owner),
		cmocka_unit_test(memory_of_other_processes_cannot_be_written),
		cmocka_unit_test(requests_are_checked_against_private_memory),
		cmocka_unit_test(descriptors_from_processes_are_checked),
		cmocka_unit_test(messages_wait_for_a_process_that_joins_later),
		cmocka_unit_test(ring_of_the_dead_ends),
		cmocka_unit_test(forked_child_cannot_use_the_endpoint),
		cmocka_unit_test(hub_of_no_or_too_many_processes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
