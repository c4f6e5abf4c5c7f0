/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port from user space (hostport.md 4 to 8): a process opens a VPID,
 * writes instructions into its work queue, triggers them by one load, and reads
 * their results from its notification queue.
 *
 *	struct hport *p;
 *	struct hport_peer to;
 *	struct hport_note n;
 *
 *	hport_open(h, NULL, &p);
 *	hport_connect(p, node, vpid, &to);
 *	hport_fast_send(p, &to, HPORT_ACK, tag, words, 3);
 *	hport_wait(p, &n, WEFT_NEVER);
 *	hport_close(p);
 *
 * Every instruction has one notification, except one that the target refused
 * and that wanted no acknowledge: it has two, the second with the error.  FAA
 * and CAS give back the word in memory afterwards: the old value of FAA is
 * result - addend; CAS has worked when the result is `swap`, if memory did not
 * hold that before. */
#ifndef WEFT_HOSTPORT_H
#define WEFT_HOSTPORT_H

#include "weft/host.h"

WEFT_C_BEGIN

struct hport;

/* Sizes of all queues of a node (4.10); 0 = default. The first process of the
 * node decides, because the queues of all processes have one size. */
struct hport_sizes {
	uint32_t wq, nq, prq, wdt; /* entries */
	uint32_t sdr, rdr;	   /* words */
	uint32_t rdr_unit;	   /* log2 words: pieces of the RDR (7.3) */
};

enum {
	HPORT_ORDERED = 1, /* instructions to one peer stay in order */
	HPORT_RMA_NOTES =
		2, /* notify successful accesses by other processes, too */
	HPORT_POSTED = 4, /* long messages go to posted buffers */
	HPORT_POSTED_PA =
		8, /* descriptors may hold physical addresses: kernel only */
	HPORT_IRQ = 16, /* notifications interrupt */
};

struct hport_attr {
	struct hport_sizes sizes;
	int32_t vpid; /* < 0: any */
	uint32_t flags;
};

/* Opens a port through the node's driver, which the first program of the node
 * loads.  a NULL: defaults, any VPID.  The program is a process afterwards
 * (weft/host.h); its tag is the VPID of its first port.  Returns 0, and a port
 * for hport_close, or -ENODEV, -ENOMEM, -EBUSY (the VPID is taken), -ENOSPC (no
 * VPID is left) or -EPERM (flags). */
int hport_open(struct weft_host *h, const struct hport_attr *a,
	       struct hport **p_p);
/* Waits until the device holds nothing of the port any more, otherwise it could
 * write to freed memory, and frees it. A process that ends closes its ports. */
void hport_close(struct hport *p);
/* Returns the VPID of the port. */
uint32_t hport_vpid(const struct hport *p);
/* Returns the HPID of the node. */
uint32_t hport_hpid(const struct hport *p);
/* Returns a register of the information page, which all processes may read
 * (4.10), by a load. */
uint64_t hport_info(struct hport *p, uint32_t off);
/* Returns the sizes of the queues, which another process may have chosen. */
struct hport_sizes hport_sizes_of(const struct hport *p);

/* Source of contiguous memory for the queues of ports (4.11).  boot: a region
 * that is set aside when the driver is loaded; pages: the kernel's page
 * allocator, powers of two up to object_max; auto: the page allocator first,
 * then the region.  The driver's own tables are always in the region. */
enum hport_memory_kind { HPORT_MEM_AUTO, HPORT_MEM_BOOT, HPORT_MEM_PAGES };
struct hport_memory {
	uint32_t kind;
	uint64_t boot_bytes; /* 0: 24 MiB, or a half or quarter of it */
	uint64_t object_max; /* 0: 2 MiB; more is -EINVAL */
};
/* Loads the node's driver, which the first hport_open does otherwise.  Returns
 * 0, -EBUSY (it is loaded), -ENODEV, -ENOMEM or -EINVAL (*m). */
int hport_load(struct weft_host *h, const struct hport_memory *m);
/* Serves translations as the node's driver until all programs of the node that
 * have opened a port have closed it. Finding and pinning a page takes
 * `service`. always: serves without end, and does nothing between requests so
 * that the run can end. Returns 0, -ENODEV, -ENOMEM, -EPERM (not the monitor)
 * or -EBUSY (another thread serves). */
int hport_serve(struct weft_host *h, weft_time_t service, bool always);

/* Routing handle of another process: of the owner that the VPID has, or will
 * have next, at the time of hport_connect. */
struct hport_peer {
	uint32_t off, len; /* of the route */
	uint32_t vpid;
	uint32_t epoch; /* number of the owner; 0: any owner */
};
/* Fills in a handle. Instructions that arrive when the VPID has another owner
 * are refused (HP_ERR_TVPID_INV), so that they do not reach a process they were
 * not meant for: connect again. Returns 0, -EHOSTUNREACH (no such node) or
 * -EINVAL (no such VPID). */
int hport_connect(struct hport *p, uint32_t node, uint32_t vpid,
		  struct hport_peer *to_p);

/* ---- memory and windows ---- */

/* Allocates whole pages that the device reaches by the virtual address in
 * *va_p. Returns them, for hport_free, or NULL when there are none. */
void *hport_alloc(struct hport *p, uint64_t bytes, uint64_t *va_p);
/* Frees memory of hport_alloc when the device has no more access to it. */
void hport_free(struct hport *p, void *mem);
/* Gives memory of weft_mem_alloc a virtual address.  Returns 0, -EFAULT (no
 * device reaches it, or others have memory in its pages) or -ENOMEM. */
int hport_map(struct hport *p, void *mem, uint64_t bytes, uint64_t *va_p);
/* Takes the virtual address away again. */
void hport_unmap(struct hport *p, uint64_t va);
/* Lets the operating system take a page away.  Returns false when the device
 * uses it. */
bool hport_page_out(struct hport *p, uint64_t va);
/* Brings a page back. */
void hport_page_in(struct hport *p, uint64_t va);

enum {
	HPORT_READ = 1,
	HPORT_WRITE = 2,
	HPORT_OPEN = 4, /* any capability */
};
/* Opens window `id` (0..) on [va, va + bytes) for all that name its capability,
 * with these rights.  Returns 0, or -EINVAL (no such window). */
int hport_window(struct hport *p, uint32_t id, uint64_t va, uint64_t bytes,
		 uint32_t rights, uint32_t capability);
/* Closes a window.  Returns 0, or -EINVAL (no such window). */
int hport_window_close(struct hport *p, uint32_t id);
/* Locks a window for {hpid, vpid} alone.  Returns 0, or -EINVAL (no such
 * window). */
int hport_window_lock(struct hport *p, uint32_t id, uint32_t hpid,
		      uint32_t vpid);
/* Unlocks a window for all.  Returns 0, or -EINVAL (no such window). */
int hport_window_unlock(struct hport *p, uint32_t id);
/* Makes window `id` a neighbour of `after`, for windows over one piece of
 * memory, of which hport_window_lock_others can lock all but one.  Returns 0,
 * or -EINVAL (no such window). */
int hport_window_join(struct hport *p, uint32_t id, uint32_t after);
/* Locks all neighbours of a window for {hpid, vpid} alone.  Returns 0, or
 * -EINVAL (no such window). */
int hport_window_lock_others(struct hport *p, uint32_t id, uint32_t hpid,
			     uint32_t vpid);

/* ---- instructions ----
 *
 * All that post an instruction return 0, or
 *   -EAGAIN    the work queue is full: take notifications, then again
 *   -ENXIO     the port has been switched off
 *   -EINVAL    n is 0 or too large
 *   -EMSGSIZE  more segments than hport_set_mtu can count */

enum {
	HPORT_ACK = 1,	/* notified when it has arrived */
	HPORT_MORE = 2, /* triggered together with the next one */
};

struct hport_tag {
	uint64_t user, api; /* 64 and 48 bits */
};

/* Sends 1 to 5 words that stand in the instruction itself.  Returns as above.
 */
int hport_fast_send(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag, const uint64_t *words,
		    uint32_t n);
/* Sends bytes from offset `off` of the send data region, which must stay until
 * the notification.  Returns as above. */
int hport_send(struct hport *p, const struct hport_peer *to, uint32_t flags,
	       struct hport_tag tag, uint64_t off, uint64_t bytes);
/* Returns the send data region, with its size. */
void *hport_sdr(struct hport *p, uint64_t *bytes_p);

/* The other side of an RMA instruction. */
struct hport_far {
	uint32_t win, capability;
	uint64_t off;
};
/* Each moves bytes between offset `off` of a window of this port and a window
 * of another one: put writes there, get reads there.  Each returns as above. */
int hport_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
int hport_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
/* Writes 1 to 3 words that stand in the instruction itself.  Returns as above.
 */
int hport_fast_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   const uint64_t *words, uint32_t n);
/* Reads 1 to 3 words into the notification.  Returns as above. */
int hport_fast_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   uint32_t n);
/* Writes bytes of a word: byte i when bit i of `enable` is set.  Returns as
 * above. */
int hport_put_bytes(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag,
		    const struct hport_far *far, uint64_t word, uint8_t enable);
/* Adds to a word; the notification has its new value.  Returns as above. */
int hport_faa(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint64_t add);
/* Replaces a word that equals `compare`; the notification has its value
 * afterwards.  Returns as above. */
int hport_cas(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far,
	      uint64_t compare, uint64_t swap);
/* Triggers the instructions that HPORT_MORE has left untriggered.  Returns 0,
 * -ENXIO (the port is switched off, and later posts return it too) or -EIO. */
int hport_flush(struct hport *p);
/* Cuts sends, puts and gets of more bytes into segments of so many (a multiple
 * of 8; 0: no cutting, the default), each acknowledged. The program gets one
 * notification for all of them and has API tags of 24 bits, because segments
 * use the rest. Receivers with this MTU get every segment of a message, in any
 * order if the port is not ordered. Segments that find no room in the work
 * queue are posted while notifications are taken. Returns 0, -ENOMEM, or
 * -EAGAIN while a message is under way. */
int hport_set_mtu(struct hport *p, uint32_t bytes);
/* Returns true while segments wait for room: take notifications. */
bool hport_unposted(const struct hport *p);
/* Makes instructions tagged conditional stores of 64 bytes and triggers tagged
 * loads (hostport.md 10), or plain ones again.  The tag of the thread's process
 * must be the VPID; a thread of the monitor has tag 0.  Returns false when the
 * bus has no tagged accesses. */
bool hport_use_tags(struct hport *p, bool on);
/* Reports that barrier `id` (0..31) is reached; the device only counts it
 * (14.3).  Returns true when the device accepted it. */
bool hport_barrier(struct hport *p, uint32_t id);

/* ---- notifications ---- */

enum hport_event {
	HPORT_DONE,	/* an own instruction */
	HPORT_MESSAGE,	/* received */
	HPORT_ACCESSED, /* RMA by another process, done or refused */
	HPORT_ULTRA,	/* of an ULTRA port */
};

struct hport_note {
	enum hport_event event;
	uint32_t error;	  /* table 4.2, 0 = none */
	uint32_t command; /* command byte of the instruction that was notified
			     or executed */
	uint32_t hpid, vpid; /* the other side */
	struct hport_tag tag;
	uint64_t bytes;	  /* message, access */
	uint32_t n;	  /* words in data */
	uint64_t data[5]; /* fast receive, results */
	uint32_t win;	  /* access */
	uint64_t off;	  /* access; message: words of the RDR, see below */
	bool posted;	  /* message in a posted buffer: */
	uint64_t stored, addr, cookie;
	/* of a segment (hport_set_mtu): its offset in the message, the number
	 * of the message among those of this peer, and more: not the last */
	uint64_t at;
	uint32_t message;
	bool more;
	uint64_t w[8]; /* as the device wrote it */
};

/* Takes the next notification.  Returns 1, or 0 when there is none. */
int hport_poll(struct hport *p, struct hport_note *n_p);
/* Polls until there is a notification and takes it.  Returns false at the
 * deadline, or when the port is switched off. */
bool hport_wait(struct hport *p, struct hport_note *n_p, weft_time_t deadline);
/* Waits for a notification without taking it; irq: asleep, for ports with
 * HPORT_IRQ.  Returns true when there may be one, false at the deadline. */
bool hport_idle(struct hport *p, bool irq, weft_time_t deadline);
/* Copies a message out of the receive data region, unless `to` is NULL, and
 * gives its place back. */
void hport_take(struct hport *p, const struct hport_note *n, void *to);
/* Posts a buffer for one long message; pa: addr is physical.  Returns 0,
 * -EAGAIN (the queue is full) or -ENXIO (the port is switched off). */
int hport_post(struct hport *p, uint64_t addr, uint64_t bytes, bool pa,
	       uint64_t cookie);

WEFT_C_END

#endif
