/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that owns the disk.  See nbd.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nbd/nbd.h"
#include "weft/attach.h"

enum {
	BATCH = 64,
	/* A longer request is submitted in pieces, so that one request does not
	 * take all tags of the disk. */
	PIECE = 1 << 20,
	LIVE_US = 100000, /* time in us without requests before a report is
			   * written */
};

struct jobs {
	struct nbd_job *head, **tail_p;
};

/* State of the plug-in. It is global, because nbdkit passes a plug-in no
 * pointer to state of its own. */
static struct {
	const struct nbd_config *cfg;
	pthread_t thread;
	sem_t opened;
	int status; /* status of opening the disk, later of the last flush */
	struct weft_host *h;
	struct weft_disk *d;
	struct latency *latency;
	uint32_t in_flight; /* number of requests to the disk in flight */
	bool unreported;    /* requests have ended since `live` was written */

	/* shared with the threads of clients */
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct jobs inbox;
	uint32_t n_inbox;
	bool asleep, quit;
} the;

static void jobs_init(struct jobs *l)
{
	l->head = NULL;
	l->tail_p = &l->head;
}

static void jobs_push(struct jobs *l, struct nbd_job *j)
{
	j->next = NULL;
	*l->tail_p = j;
	l->tail_p = &j->next;
}

/* Moves all jobs of `from` to the end of l. */
static void jobs_take(struct jobs *l, struct jobs *from)
{
	if (!from->head)
		return;
	*l->tail_p = from->head;
	l->tail_p = from->tail_p;
	jobs_init(from);
}

static void jobs_pop(struct jobs *l)
{
	l->head = l->head->next;
	if (!l->head)
		jobs_init(l);
}

/* ---- jobs ---- */

static void job_done(struct nbd_job *j)
{
	the.unreported = true;
	latency_add(the.latency, j);
	sem_post(&j->done);
}

/* Submits the next request of a job. Returns as weft_disk_submit does. */
static int submit_piece(struct nbd_job *j)
{
	bool data = j->code == WEFT_DISK_READ || j->code == WEFT_DISK_WRITE;
	uint64_t left = j->length - j->submitted;
	struct weft_disk_seg seg = { .p = (char *)j->buf + j->submitted };
	struct weft_disk_op op = {
		.code = j->code,
		.flags = j->flags,
		.offset = j->offset + j->submitted,
		.length = data && left > PIECE ? PIECE : left,
		.ctx = j,
	};
	int ret;

	if (data) {
		seg.len = op.length;
		op.seg = &seg;
		op.segs = 1;
	}
	ret = weft_disk_submit(the.d, &op);
	if (ret)
		return ret;
	j->started = true;
	j->submitted += op.length;
	j->in_flight++;
	the.in_flight++;
	return 0;
}

static bool job_submitted(const struct nbd_job *j)
{
	return j->status || (j->started && j->submitted == j->length);
}

/* Submits jobs in order until the disk has no room.  A job stays at the head
 * until its last piece has been submitted. */
static void submit(struct jobs *todo)
{
	while (todo->head) {
		struct nbd_job *j = todo->head;
		int ret = 0;

		while (!ret && !job_submitted(j))
			ret = submit_piece(j);
		if (ret == -EAGAIN)
			return;
		if (ret)
			j->status = ret;
		jobs_pop(todo);
		if (!j->in_flight)
			job_done(j);
	}
}

/* Polls the disk for ended requests. Returns the number of jobs that have
 * ended. */
static uint32_t take_ends(const struct jobs *todo)
{
	struct weft_disk_event ev[BATCH];
	uint32_t ended = 0;
	int n = weft_disk_poll(the.d, ev, BATCH);

	for (int i = 0; i < n; i++) {
		struct nbd_job *j = ev[i].ctx;

		the.in_flight--;
		if (ev[i].status && !j->status)
			j->status = ev[i].status;
		if (!j->begin || ev[i].submitted < j->begin)
			j->begin = ev[i].submitted;
		if (ev[i].ended > j->end)
			j->end = ev[i].ended;
		if (--j->in_flight || !job_submitted(j) || j == todo->head)
			continue;
		job_done(j);
		ended++;
	}
	return ended;
}

/* ---- report ---- */

/* Writes latencies and counts to a file. Returns false on failure. */
static bool report(const char *path)
{
	struct weft_disk_stats s = weft_disk_stats(the.d);
	FILE *f = fopen(path, "w");
	bool good = f;

	if (f) {
		latency_write(the.latency, &s, f);
		if (the.status)
			fprintf(f, "failure the last flush failed: %s\n",
				strerror(-the.status));
		good = !fclose(f);
	}
	if (!good)
		fprintf(stderr, "weft: %s: %m\n", path);
	return good;
}

/* ---- waiting ---- */

static struct timespec after_us(uint32_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us * 1000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Writes a report during the run. Renames the complete file, so that readers
 * never see a part of a report. */
static void write_live(void)
{
	char path[sizeof(the.cfg->live) + 4];

	snprintf(path, sizeof(path), "%s.new", the.cfg->live);
	if (report(path))
		rename(path, the.cfg->live);
}

/* Sleeps until a job arrives or the owner must stop. The caller holds the lock.
 * If requests have ended since the last report, and no job arrives for LIVE_US,
 * writes a report. */
static void sleep_idle(void)
{
	struct timespec t = after_us(LIVE_US);

	while (!the.n_inbox && !the.quit) {
		if (!the.unreported || !*the.cfg->live) {
			pthread_cond_wait(&the.news, &the.lock);
		} else if (pthread_cond_timedwait(&the.news, &the.lock, &t)) {
			write_live();
			the.unreported = false;
		}
	}
}

/* Moves new jobs into todo. Without work, sleeps until a job arrives. Otherwise
 * waits for `ended` new jobs, because each client whose job has ended may send
 * another one. Waits at most `gather` us of real time, in which simulated time
 * stands still. Returns false if no work is left and the owner must stop. */
static bool take_inbox(struct jobs *todo, uint32_t ended)
{
	bool idle = !todo->head && !the.in_flight, more;
	struct timespec t = after_us(the.cfg->gather);

	weft_att_outside(the.h);
	pthread_mutex_lock(&the.lock);
	the.asleep = true;
	if (idle)
		sleep_idle();
	if (!idle && the.cfg->gather)
		while (the.n_inbox < ended &&
		       !pthread_cond_timedwait(&the.news, &the.lock, &t))
			;
	the.asleep = false;
	jobs_take(todo, &the.inbox);
	the.n_inbox = 0;
	more = todo->head || the.in_flight || !the.quit;
	pthread_mutex_unlock(&the.lock);
	return more;
}

/* ---- lifetime ---- */

static void serve(void)
{
	struct jobs todo;
	uint32_t ended = 0;

	jobs_init(&todo);
	while (take_inbox(&todo, ended)) {
		submit(&todo);
		ended = take_ends(&todo);
		if (ended || (!the.in_flight && !todo.head))
			continue;
		/* Jobs without room are submitted again after the wait. Without
		 * requests in flight no event would end the wait, therefore the
		 * deadline is now. */
		weft_disk_wait(the.d, the.in_flight ? WEFT_NEVER
						    : weft_host_now(the.h));
		ended = take_ends(&todo);
	}
}

static int owner_open(void)
{
	the.h = weft_host_self();
	if (!the.h)
		return -ENOTCONN;
	the.latency = latency_new();
	if (!the.latency)
		return -ENOMEM;
	return weft_disk_open(the.h, &the.cfg->disk, &the.d);
}

static void *owner_main(void *arg)
{
	const struct weft_disk_op flush = { .code = WEFT_DISK_FLUSH };

	the.status = owner_open();
	if (the.status) {
		if (the.h)
			weft_att_end(the.h);
		sem_post(&the.opened);
		return NULL;
	}
	sem_post(&the.opened);
	serve();
	the.status = weft_disk_do(the.d, &flush);
	if (*the.cfg->report)
		report(the.cfg->report);
	weft_disk_close(the.d);
	weft_att_end(the.h);
	return NULL;
}

int owner_start(const struct nbd_config *cfg)
{
	pthread_condattr_t a;
	int ret;

	the.cfg = cfg;
	jobs_init(&the.inbox);
	pthread_mutex_init(&the.lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&the.news, &a);
	pthread_condattr_destroy(&a);
	sem_init(&the.opened, 0, 0);
	ret = pthread_create(&the.thread, NULL, owner_main, NULL);
	if (ret)
		return -ret;
	while (sem_wait(&the.opened))
		;
	if (the.status)
		pthread_join(the.thread, NULL);
	return the.status;
}

const struct weft_disk_info *owner_info(void)
{
	return weft_disk_info(the.d);
}

int owner_do(struct nbd_job *j)
{
	bool quit;

	if (sem_init(&j->done, 0, 0))
		return -ENOMEM;
	pthread_mutex_lock(&the.lock);
	quit = the.quit;
	if (!quit) {
		jobs_push(&the.inbox, j);
		the.n_inbox++;
		if (the.asleep)
			pthread_cond_signal(&the.news);
	}
	pthread_mutex_unlock(&the.lock);
	while (!quit && sem_wait(&j->done))
		;
	sem_destroy(&j->done);
	return quit ? -ESHUTDOWN : j->status;
}

int owner_stop(void)
{
	bool quit;

	pthread_mutex_lock(&the.lock);
	quit = the.quit;
	the.quit = true;
	pthread_cond_signal(&the.news);
	pthread_mutex_unlock(&the.lock);
	if (quit) /* another thread ends the process */
		pause();
	pthread_join(the.thread, NULL);
	latency_free(the.latency);
	return the.status;
}
