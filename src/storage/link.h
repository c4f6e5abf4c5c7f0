/* SPDX-License-Identifier: Apache-2.0 */
/* Links of the block protocol. A link writes records into slots of the peer,
 * and data into the peer's memory. link_ep.c implements a link for any NIC over
 * the common endpoint. A system may add a link for its NIC (STORAGE(id) in
 * system.def).
 *
 * A link may lose, damage and repeat records. An ordered link may also lose,
 * damage and repeat data, but repeated data arrive before any later transfer.
 * An unordered link delivers all data exactly once, in any order. The receiver
 * detects damage by the CRC of a record (record.h), and by the CRC of the data
 * or of the link. */
#ifndef STORAGE_LINK_H
#define STORAGE_LINK_H

#include "storage/record.h"
#include "weft/host.h"

struct storage_link;

struct storage_mr {
	uint64_t addr, key;
	void *own; /* private data of the link */
};

struct storage_link_attr {
	bool target;  /* true for a target, false for an initiator */
	bool use_irq; /* `wait` sleeps until an interrupt instead of polling */
	/* for a native link: unit of data that raises a notification, such as
	 * "page" (docs/storage.md) */
	const char *notify;
	uint32_t cluster; /* for a native link: number of transfers that the
			   * link starts together, or 0 for all transfers of a
			   * request */
	const uint32_t *targets; /* initiator: nodes of its targets */
	uint32_t n_targets;
};

enum storage_event_kind {
	/* A record of `peer` has arrived in `slot`. A record that
	 * storage_record_read refuses is cleared (rec.code 0), or not
	 * reported. */
	STORAGE_EV_RECORD,
	STORAGE_EV_LANDED, /* unordered links: a put with `mark` has landed */
	STORAGE_EV_GONE,   /* the link to peer will not come back */
};

struct storage_event {
	enum storage_event_kind kind;
	uint32_t peer, slot;
	uint32_t mark;
	struct storage_record rec;
};

struct storage_link_ops {
	void (*close)(struct storage_link *l);
	/* Registers [p, p + len), which must be device-visible memory. Peers
	 * may then write to it, and the link may read from it. Returns 0,
	 * -EFAULT or -ENOSPC. */
	int (*reg)(struct storage_link *l, void *p, size_t len,
		   struct storage_mr *mr_p);
	/* Removes a region. Returns 0, or -EAGAIN while transfers need the
	 * region. */
	int (*dereg)(struct storage_link *l, struct storage_mr *mr);
	/* Starts a write of [p, p + len) into memory of the peer. reg must have
	 * registered the source. addr and p are multiples of 8, and len is a
	 * multiple of 8 unless info.bytes is true. len is at most info.max_put.
	 * On an unordered link the peer gets `mark` with STORAGE_EV_LANDED.
	 * Returns 0, -EAGAIN if the caller must poll and repeat the call,
	 * because the link has no room, or -EINVAL if the peer has no such
	 * memory. Some links do not detect invalid memory. */
	int (*put)(struct storage_link *l, uint32_t peer, const void *p,
		   size_t len, uint64_t addr, uint64_t key, uint32_t mark);
	/* Writes a sealed record into slot `slot` of the peer's table for this
	 * node. If info.ordered is true, the record arrives after all earlier
	 * puts to the peer. Returns 0 or -EAGAIN. A record for a peer without a
	 * table is lost. */
	int (*record)(struct storage_link *l, uint32_t peer, uint32_t slot,
		      const struct storage_record *rec);
	/* Counts of puts to `peer` since open. `started` returns the number of
	 * puts that were started. `departed` returns the largest n for which
	 * the memory of the first n puts is free again. */
	uint64_t (*started)(struct storage_link *l, uint32_t peer);
	uint64_t (*departed)(struct storage_link *l, uint32_t peer);
	/* Continues transfers. Stores up to max events in ev and returns their
	 * number. */
	int (*poll)(struct storage_link *l, struct storage_event *ev, int max);
	/* Waits until poll would return an event or a put has departed, or
	 * until the deadline. May return early. */
	void (*wait)(struct storage_link *l, weft_time_t deadline);
	/* Called by a target: sets address and key of the table of slots of
	 * initiator `peer`. The initiator's LOGIN contains both. */
	void (*peer_table)(struct storage_link *l, uint32_t peer, uint64_t addr,
			   uint64_t key);
};

struct storage_link_info {
	const char *name; /* "native", "ep" */
	const char *nic;  /* system */
	bool ordered;	  /* a record arrives after the puts before it */
	bool bytes; /* puts may have any length and alignment, not only whole
		     * qwords */
	uint32_t max_put;
	uint64_t table, table_key; /* address and key of an initiator's table of
				    * slots, which LOGIN contains */
};

struct storage_link {
	const struct storage_link_ops *ops;
	struct weft_host *host;
	struct storage_link_info info;
};

/* Link that a system provides for its NIC. STORAGE(id) in system.def lists
 * it. */
struct storage_native {
	/* Returns true if d is a NIC of this system, in a mode that the link
	 * serves. */
	bool (*probe)(struct weft_host *h, struct weft_dev *d);
	int (*open)(struct weft_host *h, const struct storage_link_attr *attr,
		    struct storage_link **l_p);
};

#define STORAGE(id) extern const struct storage_native storage_native_##id;
#include "systems.def"

/* Opens the link called `name`: "native" or "ep". NULL opens the native link if
 * there is one for device 0, otherwise "ep". Copies attr. Returns 0 and a link
 * that ops->close frees, -EOPNOTSUPP if there is no such link, -ENODEV, -EINVAL
 * for a wrong notify or cluster, or -ENOMEM. */
int storage_link_open(struct weft_host *h, const char *name,
		      const struct storage_link_attr *attr,
		      struct storage_link **l_p);
/* Opens a link over the common endpoint. Returns as storage_link_open does. */
int storage_ep_open(struct weft_host *h, const struct storage_link_attr *attr,
		    struct storage_link **l_p);

#endif
