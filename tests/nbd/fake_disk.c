/* SPDX-License-Identifier: Apache-2.0 */
/* weft/disk.h in memory, for tests of the plug-in without a machine. Requests
 * end one after the other, at intervals of 10 us. A test chooses an error by
 * the offset of its request:
 *
 *   covers byte 16 MiB + n KiB   the request ends with status errors[n]
 *   begins at offset 17 MiB      the request is refused three times, as if the
 *                                queue had no room
 *
 * The process ends with SIGABRT when the plug-in waits without a request in
 * flight, submits a request that it should have rejected, exits before it has
 * closed the disk, or joins its thread twice, which POSIX leaves undefined. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/attach.h"
#include "weft/disk.h"

enum { SIZE = 32 << 20, SECTOR = 512, DEPTH = 16, MiB = 1 << 20 };

static const int errors[] = { -EIO,    -ENODEV,	   -EBADMSG,
			      -ESTALE, -ETIMEDOUT, -ENOSPC };

struct weft_host {
	int unused;
};

struct weft_disk {
	uint8_t bytes[SIZE];
	struct weft_disk_event ev[DEPTH];
	uint32_t in_flight, due;
	int refusals;
	weft_time_t now;
	pthread_t owner;
	struct weft_disk_stats stats;
};

static struct weft_host host;
static struct weft_disk *the;
static const struct weft_disk_info info = {
	.size = SIZE, .sector = SECTOR, .link = "fake", .nic = "fake"
};

struct weft_host *weft_host_self(void)
{
	return getenv("FAKE_NONE") ? NULL : &host;
}

weft_time_t weft_host_now(struct weft_host *h)
{
	return the->now;
}

void weft_att_outside(struct weft_host *h)
{
}

void weft_att_end(struct weft_host *h)
{
	assert(!the);
}

int weft_disk_open(struct weft_host *h, const struct weft_disk_attr *attr,
		   struct weft_disk **d_p)
{
	if (attr->targets > 1)
		return -ETIMEDOUT;
	the = calloc(1, sizeof(*the));
	assert(the);
	the->owner = pthread_self();
	*d_p = the;
	return 0;
}

void weft_disk_close(struct weft_disk *d)
{
	assert(!d->in_flight);
	free(d);
	the = NULL;
}

const struct weft_disk_info *weft_disk_info(const struct weft_disk *d)
{
	return &info;
}

struct weft_disk_stats weft_disk_stats(const struct weft_disk *d)
{
	return d->stats;
}

/* Carries out a request at its submission. Its end is reported later. */
static void fake_do(struct weft_disk *d, const struct weft_disk_op *op)
{
	uint8_t *at = d->bytes + op->offset;

	for (uint32_t i = 0; i < op->segs; at += op->seg[i++].len)
		if (op->code == WEFT_DISK_READ)
			memcpy(op->seg[i].p, at, op->seg[i].len);
		else
			memcpy(at, op->seg[i].p, op->seg[i].len);
	if (op->code == WEFT_DISK_ZERO || op->code == WEFT_DISK_TRIM)
		memset(at, 0, op->length);
}

static int fake_status(const struct weft_disk_op *op)
{
	for (uint32_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		uint64_t bad = 16 * MiB + 1024 * i;

		if (op->code != WEFT_DISK_FLUSH && op->offset <= bad &&
		    bad < op->offset + op->length)
			return errors[i];
	}
	return 0;
}

int weft_disk_submit(struct weft_disk *d, const struct weft_disk_op *op)
{
	uint64_t sum = 0;
	int status;

	assert(pthread_equal(d->owner, pthread_self()));
	for (uint32_t i = 0; i < op->segs; i++)
		sum += op->seg[i].len;
	assert(sum == (op->segs ? op->length : 0));
	assert(op->code == WEFT_DISK_FLUSH || op->length);
	if (op->offset % SECTOR || op->length % SECTOR)
		return -EINVAL;
	if (op->offset + op->length > SIZE)
		return -ERANGE;
	if (d->in_flight == DEPTH ||
	    (op->offset == 17 * MiB && d->refusals++ % 4 < 3))
		return -EAGAIN;
	status = fake_status(op);
	if (!status)
		fake_do(d, op);
	d->stats.requests++;
	d->ev[d->in_flight++] =
		(struct weft_disk_event){ status, op->ctx, d->now, 0 };
	return 0;
}

int weft_disk_poll(struct weft_disk *d, struct weft_disk_event *ev, int max)
{
	int n = 0;

	for (; n < max && d->due; n++, d->due--) {
		ev[n] = d->ev[0];
		ev[n].ended = d->now;
		memmove(d->ev, d->ev + 1, --d->in_flight * sizeof(*ev));
	}
	return n;
}

int weft_disk_wait(struct weft_disk *d, weft_time_t deadline)
{
	assert(d->in_flight || deadline != WEFT_NEVER);
	d->now += 10 * WEFT_US;
	if (d->due < d->in_flight)
		d->due++;
	return 0;
}

/* The linker redirects calls of pthread_join() to __wrap_pthread_join(). The
 * real function is __real_pthread_join(). */
int __real_pthread_join(pthread_t t, void **p);
int __wrap_pthread_join(pthread_t t, void **p);

int __wrap_pthread_join(pthread_t t, void **p)
{
	static atomic_int joined;

	assert(!joined++);
	return __real_pthread_join(t, p);
}

int weft_disk_do(struct weft_disk *d, const struct weft_disk_op *op)
{
	assert(!d->in_flight);
	if (getenv("FAKE_SLOW"))
		sleep(1);
	return getenv("FAKE_STALE") ? -ESTALE : 0;
}
