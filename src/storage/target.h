/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol: serves a drive to initiators of other nodes.
 * One thread runs the target by calls of storage_target_serve. The target
 * trusts nothing in a record or a slot that it has not checked. */
#ifndef STORAGE_TARGET_H
#define STORAGE_TARGET_H

#include "storage/drive.h"
#include "storage/link.h"

struct storage_target;

struct storage_target_attr {
	const char *link, *notify; /* as in weft_disk_attr */
	uint32_t cluster;
	bool use_irq;
	uint32_t max_request; /* bytes */
	uint64_t staging;     /* bytes for writes of each initiator */
	uint64_t read_pool;   /* bytes for reads in flight, all initiators */
	uint32_t piece;	      /* bytes of one read of the drive. A READ is
			       * divided into such pieces, so that data leave
			       * while the drive reads the next piece */
};

struct storage_target_stats {
	uint64_t requests, repeats, stale, refused, damaged, unsealed, sessions;
	uint64_t read_bytes, write_bytes;
};

/* Opens the link and makes a target for the drive d. The caller still owns the
 * drive, and frees it after the target. Returns 0 and *t_p, or an error of
 * storage_link_open. */
int storage_target_new(struct weft_host *h,
		       const struct storage_target_attr *attr, struct drive *d,
		       struct storage_target **t_p);
void storage_target_free(struct storage_target *t);
/* Serves until `until`. Returns earlier if at least `initiators` initiators
 * have logged in, and all initiators have logged out again. With `initiators` 0
 * only the time ends the service. Returns false at the time limit, otherwise
 * true. */
bool storage_target_serve(struct storage_target *t, uint32_t initiators,
			  weft_time_t until);
/* Kills the software of the target, and starts it again after the time `down`
 * with a new epoch. The software forgets all sessions and requests. Memory of
 * link and staging keeps its address, because a driver would reserve it at
 * boot. With `power` the drive loses its power, too. */
void storage_target_restart(struct storage_target *t, weft_time_t down,
			    bool power);
/* If `gone` is true, ends all requests with -ENODEV from now on. Otherwise the
 * drive serves requests again. */
void storage_target_drive_gone(struct storage_target *t, bool gone);
struct storage_target_stats
storage_target_stats(const struct storage_target *t);

#endif
