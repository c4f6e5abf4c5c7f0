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
 * Every instruction has one notification. If the target refuses an instruction
 * without HPORT_ACK, a second notification reports the error. FAA and CAS
 * return the word that is in memory afterwards. The old value of an FAA is its
 * result minus the addend. A CAS with the result `swap` has stored, except when
 * memory held `swap` before. */
#ifndef WEFT_HOSTPORT_H
#define WEFT_HOSTPORT_H

#include "weft/host.h"

WEFT_C_BEGIN

struct hport;

/* Sizes of the queues of a node (4.10); 0 = default. A port sets sizes only
 * if no other port of the node is open, because all ports have the same
 * sizes. */
struct hport_sizes {
	uint32_t wq, nq, prq, wdt; /* entries of each queue and of the window
				    * table */
	uint32_t sdr, rdr;	   /* words of the send and receive data
				    * regions */
	uint32_t rdr_unit;	   /* log2 of the words by which the RDR
				    * pointers advance (7.3) */
};

enum {
	HPORT_ORDERED = 1,   /* instructions to one peer stay in order */
	HPORT_RMA_NOTES = 2, /* successful accesses by other processes are
			      * notified, too */
	HPORT_POSTED = 4,    /* long messages go to posted buffers */
	HPORT_POSTED_PA =
		8, /* posted buffers may have physical addresses: kernel only */
	HPORT_IRQ = 16, /* notifications raise an interrupt */
};

struct hport_attr {
	struct hport_sizes sizes;
	int32_t vpid; /* VPID wanted; < 0: any */
	uint32_t flags;
};

/* Opens a port through the node's driver, which the first program of the node
 * loads. With a == NULL the port gets default attributes and any free VPID.
 * Afterwards the program is a process (weft/host.h) whose tag is the VPID of
 * its first port. Returns 0 and a port for hport_close, or -ENODEV, -ENOMEM,
 * -EBUSY (the VPID is in use), -ENOSPC (no VPID is left) or -EPERM
 * (HPORT_POSTED_PA in a process). */
int hport_open(struct weft_host *h, const struct hport_attr *a,
	       struct hport **p_p);
/* Waits until the device no longer uses the port, then frees the port. Without
 * the wait the device could write to freed memory. When a process ends, its
 * ports are closed. */
void hport_close(struct hport *p);
/* Returns the VPID of the port. */
uint32_t hport_vpid(const struct hport *p);
/* Returns the HPID of the node. */
uint32_t hport_hpid(const struct hport *p);
/* Loads a register of the information page, which all processes may read
 * (4.10). Returns its value. */
uint64_t hport_info(struct hport *p, uint32_t off);
/* Returns the sizes of the queues. Another process may have chosen these sizes.
 */
struct hport_sizes hport_sizes_of(const struct hport *p);

/* Sources of contiguous memory for the queues of ports (4.11). BOOT is a region
 * that is set aside when the driver is loaded. PAGES is the kernel's page
 * allocator, for powers of two up to object_max. With AUTO the driver tries the
 * page allocator first, then the region. The driver's own tables are always in
 * the region. */
enum hport_memory_kind { HPORT_MEM_AUTO, HPORT_MEM_BOOT, HPORT_MEM_PAGES };
struct hport_memory {
	uint32_t kind;
	uint64_t boot_bytes; /* size of the region; 0: 24 MiB, or a half or a
			      * quarter of that when the node has less memory */
	uint64_t object_max; /* largest object of the page allocator, at most 2
			      * MiB; 0: 2 MiB */
};
/* Loads the node's driver. Without this call the first hport_open loads the
 * driver. Returns 0, -EBUSY (the driver is loaded), -ENODEV, -ENOMEM or -EINVAL
 * (*m). */
int hport_load(struct weft_host *h, const struct hport_memory *m);
/* Serves translations as the node's driver until all ports of the node are
 * closed. Finding and pinning a page takes the time `service`. With `always`
 * the call does not return after success, but the run can still end, because
 * the thread sleeps. Returns 0, -ENODEV, -ENOMEM, -EPERM (not the monitor) or
 * -EBUSY (another thread serves). */
int hport_serve(struct weft_host *h, weft_time_t service, bool always);

/* Routing handle of the process that owns the VPID at the time of
 * hport_connect. If the VPID has no owner at that time, the handle leads to its
 * next owner. */
struct hport_peer {
	uint32_t off, len; /* offset and length of the route in the table of
			    * routes */
	uint32_t vpid;
	uint32_t epoch; /* number of the VPID's owner; 0: any owner */
};
/* Fills in a handle. Instructions that arrive when the VPID has another owner
 * are refused (HP_ERR_TVPID_INV), so that they do not reach the wrong process.
 * The caller then connects again. Returns 0, -EHOSTUNREACH (no such node) or
 * -EINVAL (no such VPID). */
int hport_connect(struct hport *p, uint32_t node, uint32_t vpid,
		  struct hport_peer *to_p);

/* ---- memory and windows ---- */

/* Allocates whole pages that the device reaches by the virtual address in
 * *va_p. Returns the memory, which hport_free frees, or NULL when the node has
 * no free pages. */
void *hport_alloc(struct hport *p, uint64_t bytes, uint64_t *va_p);
/* Frees memory of hport_alloc after the device's last access to it. */
void hport_free(struct hport *p, void *mem);
/* Gives memory of weft_mem_alloc a virtual address. Returns 0, -EFAULT (the
 * device cannot reach it, or other programs have memory in its pages) or
 * -ENOMEM. */
int hport_map(struct hport *p, void *mem, uint64_t bytes, uint64_t *va_p);
/* Removes a virtual address that hport_map has returned. */
void hport_unmap(struct hport *p, uint64_t va);
/* Pages memory out, as the operating system would. Returns false when the
 * device uses the page. */
bool hport_page_out(struct hport *p, uint64_t va);
/* Pages memory in again. */
void hport_page_in(struct hport *p, uint64_t va);

enum {
	HPORT_READ = 1,
	HPORT_WRITE = 2,
	HPORT_OPEN = 4, /* every capability is accepted */
};
/* Opens window `id` (0..) on [va, va + bytes) with these rights, for all
 * processes that present its capability. Returns 0, or -EINVAL (no such
 * window). */
int hport_window(struct hport *p, uint32_t id, uint64_t va, uint64_t bytes,
		 uint32_t rights, uint32_t capability);
/* Closes a window.  Returns 0, or -EINVAL (no such window). */
int hport_window_close(struct hport *p, uint32_t id);
/* Locks a window, so that only {hpid, vpid} may access it. Returns 0, or
 * -EINVAL (no such window). */
int hport_window_lock(struct hport *p, uint32_t id, uint32_t hpid,
		      uint32_t vpid);
/* Unlocks a window for all processes. Returns 0, or -EINVAL (no such window).
 */
int hport_window_unlock(struct hport *p, uint32_t id);
/* Makes window `id` a neighbour of `after`. Windows over the same memory are
 * neighbours, so that hport_window_lock_others can lock all of them except one.
 * Returns 0, or -EINVAL (no such window). */
int hport_window_join(struct hport *p, uint32_t id, uint32_t after);
/* Locks all neighbours of a window, so that only {hpid, vpid} may access them.
 * Returns 0, or -EINVAL (no such window). */
int hport_window_lock_others(struct hport *p, uint32_t id, uint32_t hpid,
			     uint32_t vpid);

/* ---- instructions ----
 *
 * Each function that posts an instruction returns 0, or
 *   -EAGAIN    the work queue is full: poll notifications, then post again
 *   -ENXIO     the port has been switched off
 *   -EINVAL    n is 0 or too large
 *   -EMSGSIZE  more segments than hport_set_mtu can count */

enum {
	HPORT_ACK = 1,	/* notify when the instruction has arrived at its
			 * target */
	HPORT_MORE = 2, /* trigger this instruction together with the next
			 * one */
};

struct hport_tag {
	uint64_t user, api; /* 64 bits of the user, 48 bits of the middleware */
};

/* Sends 1 to 5 words that the instruction itself contains.  Returns 0 or an
 * error of the list above.
 */
int hport_fast_send(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag, const uint64_t *words,
		    uint32_t n);
/* Sends bytes from offset `off` of the send data region. The bytes must not
 * change until the notification arrives. Returns as hport_fast_send does. */
int hport_send(struct hport *p, const struct hport_peer *to, uint32_t flags,
	       struct hport_tag tag, uint64_t off, uint64_t bytes);
/* Returns the send data region, and its size in *bytes_p. */
void *hport_sdr(struct hport *p, uint64_t *bytes_p);

/* Remote operand of an RMA instruction: a window of the peer and an offset. */
struct hport_far {
	uint32_t win, capability;
	uint64_t off;
};
/* Each moves bytes between offset `off` of a window of this port and the peer's
 * window: put writes to the peer, get reads from it. Returns as hport_fast_send
 * does. */
int hport_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
int hport_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
/* Writes 1 to 3 words that the instruction itself contains. Returns as
 * hport_fast_send does. */
int hport_fast_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   const uint64_t *words, uint32_t n);
/* Reads 1 to 3 words into the notification. Returns as hport_fast_send does. */
int hport_fast_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   uint32_t n);
/* Writes byte i of a word when bit i of `enable` is set. Returns as
 * hport_fast_send does. */
int hport_put_bytes(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag,
		    const struct hport_far *far, uint64_t word, uint8_t enable);
/* Adds to a word. The notification has the word's new value. Returns as
 * hport_fast_send does. */
int hport_faa(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint64_t add);
/* Replaces a word that equals `compare`. The notification has the word's value
 * afterwards. Returns as hport_fast_send does. */
int hport_cas(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far,
	      uint64_t compare, uint64_t swap);
/* Triggers instructions that were posted with HPORT_MORE and are not triggered
 * yet. Returns 0, -ENXIO (the port is switched off) or -EIO. */
int hport_flush(struct hport *p);
/* Cuts each send, put and get that is longer than `bytes` into segments of that
 * size. `bytes` is a multiple of 8, or 0 for no cutting (the default). Each
 * segment is acknowledged, but the program gets one notification for a whole
 * message. The program's API tags have 24 bits, because segments use the other
 * bits. Receivers with this MTU get every segment of a message, in any order if
 * the port is not ordered. Segments that find no room in the work queue are
 * posted when the program polls notifications. Returns 0, -ENOMEM, or -EAGAIN
 * while a message is in flight. */
int hport_set_mtu(struct hport *p, uint32_t bytes);
/* Returns true while segments wait for room in the work queue. The caller then
 * polls notifications. */
bool hport_unposted(const struct hport *p);
/* Makes the port write instructions by tagged conditional stores of 64 bytes
 * and trigger them by tagged loads (hostport.md 10), or by plain accesses when
 * `on` is false. The tag of the thread's process must be the VPID. A thread of
 * the monitor has tag 0. Returns false when the bus has no tagged accesses. */
bool hport_use_tags(struct hport *p, bool on);
/* Reports that the port has reached barrier `id` (0..31). The device only
 * counts such reports (14.3). Returns true when the device accepted the report.
 */
bool hport_barrier(struct hport *p, uint32_t id);

/* ---- notifications ---- */

enum hport_event {
	HPORT_DONE,	/* an instruction of this port has ended */
	HPORT_MESSAGE,	/* a message was received */
	HPORT_ACCESSED, /* another process made an RMA access, successful or
			 * refused */
	HPORT_ULTRA,	/* a notification of an ULTRA port */
};

struct hport_note {
	enum hport_event event;
	uint32_t error;	     /* error number of table 4.2; 0 = none */
	uint32_t command;    /* command byte of the instruction that ended or
			      * was executed */
	uint32_t hpid, vpid; /* node and process of the peer */
	struct hport_tag tag;
	uint64_t bytes;	  /* number of bytes (MESSAGE, ACCESSED) */
	uint32_t n;	  /* number of words in data */
	uint64_t data[5]; /* words of a fast send, or results */
	uint32_t win;	  /* number of the window (ACCESSED) */
	uint64_t off;	  /* offset in the window (ACCESSED), or offset in the
			   * RDR in words (MESSAGE) */
	bool posted;	  /* true when the message is in a posted buffer, which
			   * `stored`, `addr` and `cookie` describe */
	uint64_t stored, addr, cookie;
	/* Segment of a message (hport_set_mtu): `at` is its offset in the
	 * message, `message` numbers the messages of this peer, and `more` is
	 * true unless the segment is the last. */
	uint64_t at;
	uint32_t message;
	bool more;
	uint64_t w[8]; /* the entry as the device wrote it */
};

/* Dequeues the next notification. Returns 1, or 0 when none has arrived. */
int hport_poll(struct hport *p, struct hport_note *n_p);
/* Polls until a notification arrives and dequeues it. Returns false at the
 * deadline, or when the port is switched off. */
bool hport_wait(struct hport *p, struct hport_note *n_p, weft_time_t deadline);
/* Waits for a notification without dequeueing it. With `irq` the thread sleeps,
 * which needs HPORT_IRQ. Returns true when a notification may have arrived,
 * false at the deadline. */
bool hport_idle(struct hport *p, bool irq, weft_time_t deadline);
/* Copies a message from the receive data region to `to`, and frees the
 * message's room in the region. Copies nothing when `to` is NULL. */
void hport_take(struct hport *p, const struct hport_note *n, void *to);
/* Posts a buffer for one long message. With `pa`, addr is a physical address.
 * Returns 0, -EAGAIN (the queue is full) or -ENXIO (the port is switched
 * off). */
int hport_post(struct hport *p, uint64_t addr, uint64_t bytes, bool pa,
	       uint64_t cookie);

WEFT_C_END

#endif
