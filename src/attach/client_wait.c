/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the processor of an attached process to the simulator, and reads
 * simulated time. An idle process polls a few times, then waits, because
 * simulated time can pass only while all processes wait. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/client.h"
#include "base/minmax.h"

enum {
	POLLS = 16,    /* empty polls in a row before the client waits */
	VAIN = 256,    /* empty polls, summed over calls that returned without a
			* wait, after which the client waits */
	NAP_US = 1000, /* length of the first sleep in us; grows by NAP_US for
			* each PEERS processes of the run */
	PEERS = 16,
	SIMULATOR_CHECK_NS =
		1000000000, /* ns between checks of the simulator */
};

/* ---- states ---- */

void att_resume(struct weft_att *a)
{
	uint32_t was = atomic_load(&a->seg->state);

	while (was == ATT_WAIT || was == ATT_OUT)
		if (atomic_compare_exchange_weak(&a->seg->state, &was,
						 ATT_RUN)) {
			a->naps = false;
			att_bell_ring(a->bell);
			return;
		}
}

/* Changes RUN or OUT to WAIT, and wakes the simulator, which may sleep until
 * the state changes. Does nothing while `naps` is set, because a client that
 * the simulator has resumed must poll before its next wait. */
static void att_to_wait(struct weft_att *a)
{
	uint32_t was = atomic_load(&a->seg->state);

	if (a->naps)
		return;
	while (was == ATT_RUN || was == ATT_OUT) {
		if (!atomic_compare_exchange_weak(&a->seg->state, &was,
						  ATT_WAIT))
			continue;
		if (was == ATT_OUT)
			att_bell_ring(a->bell);
		else if (atomic_load(&a->seg->sim_waits))
			att_futex_wake(&a->seg->state);
		return;
	}
}

static bool att_waits(struct weft_att *a)
{
	return atomic_load(&a->seg->state) == ATT_WAIT;
}

void att_look(struct weft_att *a)
{
	struct pollfd p = { .fd = a->sock, .events = POLLRDHUP };

	if (poll(&p, 1, 0) == 1 && p.revents & (POLLRDHUP | POLLHUP | POLLERR))
		a->gone = true;
}

static void att_sleep(struct weft_att *a, uint64_t ns)
{
	uint64_t end = att_now_ns() + ns, now;

	atomic_fetch_add(&a->seg->sleeps, 1);
	while (att_waits(a) && !a->gone) {
		now = att_now_ns();
		if (now >= end)
			break;
		att_futex_wait(&a->seg->state, ATT_WAIT,
			       min_of(end - now, SIMULATOR_CHECK_NS));
		if (att_waits(a))
			att_look(a);
	}
	atomic_fetch_sub(&a->seg->sleeps, 1);
}

void att_hand_over(struct weft_att *a, uint64_t real_ns)
{
	uint32_t was = ATT_WAIT;

	att_to_wait(a);
	if (a->info.clock == WEFT_CLOCK_NONE && att_has_event(a)) {
		/* The event arrived before the state was WAIT. The agent did
		 * not wake the client then, because the client was running. */
		atomic_compare_exchange_strong(&a->seg->state, &was, ATT_RUN);
		return;
	}
	for (uint32_t i = 0; i < a->seg->spin && att_waits(a); i++)
		att_pause();
	if (att_waits(a))
		att_sleep(a, real_ns);
	a->naps = true;
	att_woken(a);
}

/* ---- time ---- */

void att_cpu_charge(struct weft_att *a)
{
	uint64_t was = a->cpu_ns;
	struct timespec ts;

	if (a->info.clock != WEFT_CLOCK_CPU)
		return;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	a->cpu_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	if (a->cpu_ns > was)
		weft_att_charge(a, (a->cpu_ns - was) * a->seg->cpu_factor);
}

void weft_att_charge(struct weft_att *a, weft_time_t busy)
{
	if (a->info.clock == WEFT_CLOCK_NONE)
		return;
	att_woken(a);
	a->busy += busy;
	a->ahead += busy;
}

weft_time_t weft_att_now(struct weft_att *a)
{
	struct att_cmd cmd = { .kind = ATT_C_NOW };
	struct att_reply r;

	if (weft_att_gone(a))
		return 0;
	if (a->direct)
		return direct_now(a->direct);
	att_cpu_charge(a);
	att_woken(a);
	if (a->posted && !att_call(a, &cmd, &r))
		return r.a;
	weft_att_charge(a, a->seg->cost_clock);
	return atomic_load(&a->seg->now) + a->ahead;
}

weft_time_t weft_att_seen(const struct weft_att *a)
{
	if (weft_att_gone(a))
		return 0;
	return a->direct ? direct_now(a->direct) : atomic_load(&a->seg->now);
}

weft_time_t weft_att_seen_after(const struct weft_att *a, weft_time_t last)
{
	weft_time_t seen = weft_att_seen(a);

	return seen > last ? seen : last + a->seg->host.time[T_exec_clock_step];
}

void att_flush(struct weft_att *a)
{
	bool marks = atomic_load(&a->n_marks) && !att_waits(a);

	if ((a->busy || marks) && att_cmd_new(a, ATT_C_NOP))
		att_post(a);
}

int weft_att_wait(struct weft_att *a, uint32_t real_us)
{
	if (weft_att_gone(a))
		return -EIO;
	if (a->direct) {
		/* A process on the direct path does not report its waits,
		 * because no simulated time depends on them. */
		int ret = direct_wait(a->direct, real_us);

		if (ret)
			att_look(a);
		return ret && a->gone ? -EIO : ret;
	}
	if (att_has_event(a))
		return 0;
	att_cpu_charge(a);
	att_flush(a);
	atomic_store(&a->seg->deadline, WEFT_NEVER);
	att_hand_over(a, (uint64_t)real_us * 1000);
	if (att_has_event(a))
		return 0;
	return weft_att_gone(a) ? -EIO : -EAGAIN;
}

void weft_att_made_progress(struct weft_att *a)
{
	if (a->info.clock != WEFT_CLOCK_NONE)
		atomic_fetch_add(&a->vain, atomic_exchange(&a->empty, 0));
}

void weft_att_enter(struct weft_att *a, bool looks)
{
	a->glances = looks;
	if (!looks)
		weft_att_made_progress(a);
}

void weft_att_leave(struct weft_att *a)
{
	a->glances = false;
}

/* Sleeps. Each sleep is twice as long as the previous one, up to 8 times the
 * first sleep, so that an idle process does not wake too often. */
static int att_nap(struct weft_att *a)
{
	uint32_t nap = NAP_US * (1 + a->info.ranks / PEERS);
	uint32_t us = atomic_load(&a->idle_us);
	int ret;

	us = max_of(us, nap);
	ret = weft_att_wait(a, us);
	atomic_store(&a->idle_us, min_of(us * 2, 8 * nap));
	return ret;
}

int weft_att_idle(struct weft_att *a)
{
	uint64_t acts = a->direct ? direct_acts(a->direct) : a->acts;
	uint32_t polls;

	/* Resets the counts of empty polls after progress on the direct path,
	 * because att_post and att_poll, which reset them otherwise, are not
	 * called on that path. */
	if (acts != a->acts) {
		a->acts = acts;
		atomic_store(&a->empty, 0);
		atomic_store(&a->idle_us, 0);
	}
	/* A client that has not been resumed from its wait polls at a rate that
	 * depends on real time. Such polls must not be counted. */
	if (!a->direct && !a->glances && att_blind(a))
		return att_nap(a);
	polls = atomic_fetch_add(&a->empty, 1) + 1;
	if (polls < POLLS && polls + atomic_load(&a->vain) < VAIN)
		return weft_att_gone(a) ? -EIO : -EAGAIN;
	if ((a->glances || polls < POLLS) && a->info.clock != WEFT_CLOCK_NONE) {
		/* Doubles the wait after each 256 waits that expired, up to 512
		 * times the first wait, because each wait is a hand-over. */
		uint32_t k = min_of(a->glanced / 256, 9);
		weft_time_t now = atomic_load(&a->seg->now) + a->ahead;
		int ret = a->ep.ops->wait(
			&a->ep,
			now + (a->seg->host.time[T_exec_empty_poll] << k));

		if (ret != -ETIMEDOUT)
			return ret;
		a->glanced++;
		a->empty = a->vain = 0;
		return -EAGAIN;
	}
	/* Here `glances` is set only in an untimed run. The process then yields
	 * the processor to other processes. */
	if (a->glances) {
		sched_yield();
		return -EAGAIN;
	}
	return att_nap(a);
}

/* ---- wait objects ---- */

int weft_att_fd(struct weft_att *a)
{
	return a->sock;
}

int weft_att_arm(struct weft_att *a)
{
	char buf[64];

	if (weft_att_gone(a))
		return -EIO;
	if (a->direct)
		return direct_arm(a->direct);
	while (recv(a->sock, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	if (att_has_event(a))
		return -EAGAIN;
	atomic_store(&a->seg->armed, 1);
	att_cpu_charge(a);
	att_flush(a);
	atomic_store(&a->seg->deadline, WEFT_NEVER);
	att_to_wait(a);
	return att_has_event(a) ? -EAGAIN : 0;
}
