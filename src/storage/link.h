/* SPDX-License-Identifier: Apache-2.0 */
/* Carriers of the block protocol: they write records into slots of the peer,
 * and data into its memory. link_ep.c serves any NIC by the common endpoint. A
 * system may add a link for its NIC (STORAGE(id) in system.def).
 *
 * A link may lose, damage and repeat records. An ordered link may also lose,
 * damage and repeat data, but repeated data arrive before any later transfer.
 * An unordered link delivers all data exactly once, in any order. No link
 * invents records or data, because records are sealed (record.h), and data have
 * their own CRC or that of the link. */
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
	bool target;  /* this node is a target; false: an initiator */
	bool use_irq; /* `wait` sleeps until an interrupt instead of polling */
	/* native link: event that raises a notification (docs/storage.md) */
	const char *notify;
	uint32_t cluster; /* native link: number of transfers that are started
			   * together; 0: all transfers of a request */
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
	/* Starts a write of [p, p + len), memory that reg has registered, into
	 * memory of the peer. addr and p are multiples of 8. So is len unless
	 * info.bytes is true. On an unordered link the peer gets `mark` with
	 * STORAGE_EV_LANDED. len is at most info.max_put. Returns 0, -EAGAIN
	 * (no room now: poll, then repeat the call), or -EINVAL (the peer has
	 * no such memory; some links do not detect this). */
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
	bool bytes; /* puts have any length and alignment; false: qwords */
	uint32_t max_put;
	uint64_t table, table_key; /* initiator: address and key of its table of
				    * slots, for LOGIN */
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

/* Opens the link called `name` ("native", "ep"; NULL: native where device 0 has
 * one).  attr is copied.  Returns 0 and a link for ops->close, -EOPNOTSUPP (no
 * such link here), -ENODEV, -EINVAL (notify, cluster) or -ENOMEM. */
int storage_link_open(struct weft_host *h, const char *name,
		      const struct storage_link_attr *attr,
		      struct storage_link **l_p);
/* Opens a link over the common endpoint. Returns as storage_link_open does. */
int storage_ep_open(struct weft_host *h, const struct storage_link_attr *attr,
		    struct storage_link **l_p);

#endif
