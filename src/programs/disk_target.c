/* SPDX-License-Identifier: Apache-2.0 */
/* Program disk.target: exports a drive to the initiators of other nodes
 * (docs/storage.md). The program ends when all initiators have logged out.
 * Parameters set times at which its software dies and restarts, or its drive
 * loses power or vanishes. */
#include <errno.h>

#include "base/minmax.h"
#include "host/times.h"
#include "programs/program.h"
#include "storage/target.h"

struct disk_target {
	/* parameters */
	struct drive_config drive;
	uint32_t link, notify;
	uint32_t cluster, initiators, max_request, piece, restarts;
	bool use_irq, restart_power;
	uint64_t staging, read_pool;
	weft_time_t restart_at, restart_every, restart_down;
	weft_time_t gone_at, gone_for;
	/* run */
	struct program w;
	struct drive *d;
	struct storage_target *t;
};

/* Names that the library uses for the values of parameters `link` and
 * `notify`. */
static const char *const links[] = { NULL, "native", "ep" };
static const char *const notifies[] = { "request", "page", "packet" };

static int target_open(struct disk_target *x)
{
	struct storage_target_attr a = { .link = links[x->link],
					 .notify = notifies[x->notify],
					 .cluster = x->cluster,
					 .use_irq = x->use_irq,
					 .max_request = x->max_request,
					 .staging = x->staging,
					 .read_pool = x->read_pool,
					 .piece = x->piece };
	char why[200];

	x->d = drive_new(&x->drive, why, sizeof(why));
	if (!x->d) {
		weft_check_failed(x->w.c, "no drive: %s", why);
		return -EINVAL;
	}
	return storage_target_new(x->w.h, &a, x->d, &x->t);
}

/* Serves the initiators until they have logged out. At the times that the
 * parameters set, restarts the software, and removes and restores the drive. */
static void target_run(struct disk_target *x)
{
	weft_time_t restart = x->restart_at ? x->restart_at : WEFT_NEVER;
	weft_time_t gone = x->gone_at ? x->gone_at : WEFT_NEVER;
	weft_time_t back = WEFT_NEVER;
	uint32_t left = x->restarts;

	for (;;) {
		weft_time_t drive = min_of(gone, back);
		weft_time_t until = min_of(restart, drive);

		if (storage_target_serve(x->t, x->initiators, until))
			return;
		if (until == restart) {
			storage_target_restart(x->t, x->restart_down,
					       x->restart_power);
			restart = --left && x->restart_every
					  ? restart + x->restart_every
					  : WEFT_NEVER;
		} else if (until == gone) {
			storage_target_drive_gone(x->t, true);
			back = x->gone_for ? gone + x->gone_for : WEFT_NEVER;
			gone = WEFT_NEVER;
		} else {
			storage_target_drive_gone(x->t, false);
			back = WEFT_NEVER;
		}
	}
}

static void target_report(struct disk_target *x)
{
	struct storage_target_stats s = storage_target_stats(x->t);
	struct drive_stats d = drive_stats(x->d);
	struct weft_comp *c = x->w.c;

	weft_metric(c, "requests", "requests", (double)s.requests);
	weft_metric(c, "repeats", "records", (double)s.repeats);
	weft_metric(c, "stale", "records", (double)s.stale);
	weft_metric(c, "refused", "records", (double)s.refused);
	weft_metric(c, "damaged", "requests", (double)s.damaged);
	weft_metric(c, "unsealed", "records", (double)s.unsealed);
	weft_metric(c, "sessions", "sessions", (double)s.sessions);
	weft_metric(c, "read_bytes", "bytes", (double)s.read_bytes);
	weft_metric(c, "write_bytes", "bytes", (double)s.write_bytes);
	weft_metric(c, "drive_queue_max", "requests", (double)d.queue_max);
	weft_metric(c, "drive_busy", "s", (double)d.busy / WEFT_SEC);
	weft_metric(c, "bad_sectors", "requests", (double)d.bad);
}

static int target_main(struct weft_comp *c)
{
	struct disk_target *x = c->state;
	int ret;

	x->w = program_from(c);
	ret = target_open(x);
	if (ret) {
		weft_check_failed(c, "cannot start: %s", program_why(ret));
		if (x->d)
			drive_free(x->d);
		x->d = NULL;
		return ret;
	}
	target_run(x);
	target_report(x);
	host_nap(x->w.h, T_settle);
	storage_target_free(x->t);
	drive_free(x->d);
	x->d = NULL;
	return 0;
}

/* Frees the drive after a run that ended early. drive_free writes the bytes of
 * the cache to the drive's file, as an orderly shutdown of the machine
 * would. */
static void target_fini(struct weft_comp *c)
{
	struct disk_target *x = c->state;

	if (x->d)
		drive_free(x->d);
}

// clang-format off
#define P(type, field, def, range, doc) \
	WEFT_PARAM(type, struct disk_target, field, def, range, OWN, doc)
static const struct weft_param target_params[] = {
	DRIVE_PARAMS(struct disk_target, drive),
	P(ENUM, link, "auto", "auto|native|ep",
	  "carrier of the protocol; auto = native where the NIC has one"),
	P(ENUM, notify, "request", "request|page|packet",
	  "native link: what raises a notification"),
	P(U32, cluster, "0", "", "native link: transfers of one start; 0 = all"),
	P(BOOL, use_irq, "no", "", "sleep instead of spinning"),
	P(U32, initiators, "1", "1..65536",
	  "it ends when so many have logged in, and all of them out"),
	P(U32, max_request, "65536", "4096..16777216",
	  "bytes of one request of the protocol"),
	P(U32, piece, "16384", "4096..16777216",
	  "bytes of one read of the drive; they leave while it reads the next"),
	P(BYTES, staging, "4MiB", "4KiB..1GiB", "for writes of one initiator"),
	P(BYTES, read_pool, "4MiB", "4KiB..1GiB", "for reads of all"),
	P(TIME, restart_at, "0", "", "its software dies; 0 = never"),
	P(TIME, restart_every, "0", "", "and again"),
	P(U32, restarts, "1", "1..", "so often"),
	P(TIME, restart_down, "1ms", "", "until it starts again"),
	P(BOOL, restart_power, "no", "", "the drive loses its power, too"),
	P(TIME, gone_at, "0", "", "the drive vanishes; 0 = never"),
	P(TIME, gone_for, "0", "", "until it is back; 0 = for ever"),
	{ 0 }
};
static const struct weft_preset target_presets[] = {
	DRIVE_PRESETS,
	{ "clustered", "use_irq=no notify=request cluster=0",
	  "as disk.load; drive as `memory`" },
	{ "clustered-irq", "use_irq=yes notify=request cluster=0",
	  "as disk.load; drive as `memory`" },
	{ "packet-irq", "use_irq=yes notify=packet cluster=1",
	  "as disk.load; drive as `memory`" },
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(disk_target, .name = "disk.target", .kind = WEFT_KIND_PROGRAM,
	       .doc = "target of remote block storage: a drive",
	       .source = "FORTH specification 13",
	       .not_modelled = "file system on the target",
	       .state_size = sizeof(struct disk_target),
	       .params = target_params, .presets = target_presets,
	       .ops = { .main = target_main, .fini = target_fini });
