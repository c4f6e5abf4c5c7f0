/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port from user space (hostport.md 4 to 8): a process opens a VPID,
 *writes instructions into its work queue, triggers them by one load, and learns
 *of everything through its notification queue.
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
 * Posting returns 0, or -EAGAIN: the work queue is full, take notifications
 * first; -ENXIO: the port has been switched off.  Every instruction has one
 *notification, but for one that was refused by the target and wanted no
 *acknowledge: it has two, the second with the error.  FAA and CAS give back
 *what is in memory afterwards: the old value of FAA is result - addend; CAS has
 *worked when the result is `swap`, if memory did not hold that before. */
#ifndef WEFT_HOSTPORT_H
#define WEFT_HOSTPORT_H

#include "weft/host.h"

WEFT_C_BEGIN

struct hport;

/* Sizes of all queues of a node (4.10); 0 = default.  The first process of the
 * node decides. */
struct hport_sizes {
	uint32_t wq, nq, prq, wdt; /* entries */
	uint32_t sdr, rdr;	   /* words */
	uint32_t rdr_unit;	   /* log2 words: pieces of the RDR (7.3) */
};

enum {
	HPORT_ORDERED = 1,   /* instructions to one peer stay in order */
	HPORT_RMA_NOTES = 2, /* also of accesses by others that succeed */
	HPORT_POSTED = 4,    /* long messages go to posted buffers */
	HPORT_POSTED_PA = 8, /* these may be physical: for the kernel alone */
	HPORT_IRQ = 16,	     /* notifications interrupt */
};

struct hport_attr {
	struct hport_sizes sizes;
	int32_t vpid; /* < 0: any */
	uint32_t flags;
};

/* By the node's driver, which the first program of the node loads: 0, -ENODEV,
 * -ENOMEM, -EBUSY (VPID), -ENOSPC, -EPERM (flags).  NULL: defaults, any VPID.
 * The program is a process afterwards (weft/host.h); its tag is the VPID of its
 * first port. */
int hport_open(struct weft_host *h, const struct hport_attr *a,
	       struct hport **p_p);
/* Returns when the device holds nothing of the port any more.  A process that
 * ends closes its ports. */
void hport_close(struct hport *p);
uint32_t hport_vpid(const struct hport *p);
uint32_t hport_hpid(const struct hport *p);
/* A register of the information page, which all processes may read (4.10). */
uint64_t hport_info(struct hport *p, uint32_t off);
/* As they are: somebody else may have been the first. */
struct hport_sizes hport_sizes_of(const struct hport *p);

/* Contiguous memory for the queues of ports (4.11).  boot: of a region that is
 * set aside when the driver is loaded; pages: of the kernel's page allocator,
 * powers of two up to object_max; auto: of that, and of the region what it does
 * not have.  The driver's own tables are in the region in any case. */
enum hport_memory_kind { HPORT_MEM_AUTO, HPORT_MEM_BOOT, HPORT_MEM_PAGES };
struct hport_memory {
	uint32_t kind;
	uint64_t boot_bytes; /* 0: 24 MiB, or a half or quarter of it */
	uint64_t object_max; /* 0: 2 MiB; more is -EINVAL */
};
/* Loads the node's driver, which the first hport_open does otherwise.  0,
 * -EBUSY (it is loaded), -ENODEV, -ENOMEM, -EINVAL. */
int hport_load(struct weft_host *h, const struct hport_memory *m);
/* As the driver of a node: serves translations until all programs of the node
 * that have opened a port have closed it again.  Finding and pinning a page
 * takes `service`.  always: it does not end and, for the run to come to rest,
 * does nothing until it is asked.  0, -ENODEV, -ENOMEM. */
int hport_serve(struct weft_host *h, weft_time_t service, bool always);

/* Routing handle of another process: of the owner that the VPID has, or will
 * have next, at the time of hport_connect.  Instructions to it that come when
 * the VPID has another owner are refused (HP_ERR_TVPID_INV): connect again.
 * -EHOSTUNREACH: there is no such node; -EINVAL: no such VPID. */
struct hport_peer {
	uint32_t off, len; /* of the route */
	uint32_t vpid;
	uint32_t epoch; /* which owner; 0: whoever has the VPID */
};
int hport_connect(struct hport *p, uint32_t node, uint32_t vpid,
		  struct hport_peer *to_p);

/* ---- memory and windows ---- */

/* Memory that the device reaches by the virtual address in *va_p; whole pages.
 * NULL: there is none. */
void *hport_alloc(struct hport *p, uint64_t bytes, uint64_t *va_p);
void hport_free(struct hport *p, void *mem);
/* Memory of weft_mem_alloc gets a virtual address, and loses it again.  -EFAULT
 * when no device reaches it, or others have memory in its pages; -ENOMEM. */
int hport_map(struct hport *p, void *mem, uint64_t bytes, uint64_t *va_p);
void hport_unmap(struct hport *p, uint64_t va);
/* The O/S takes a page away (true) unless the device uses it; hport_page_in
 * brings it back. */
bool hport_page_out(struct hport *p, uint64_t va);
void hport_page_in(struct hport *p, uint64_t va);

enum {
	HPORT_READ = 1,
	HPORT_WRITE = 2,
	HPORT_OPEN = 4, /* any capability */
};
/* Window `id` (0..): who has the capability may use it.  -EINVAL: no such
 * window. */
int hport_window(struct hport *p, uint32_t id, uint64_t va, uint64_t bytes,
		 uint32_t rights, uint32_t capability);
int hport_window_close(struct hport *p, uint32_t id);
/* Only {hpid, vpid} may use it; unlock: all again. */
int hport_window_lock(struct hport *p, uint32_t id, uint32_t hpid,
		      uint32_t vpid);
int hport_window_unlock(struct hport *p, uint32_t id);
/* Windows over one piece of memory: `id` becomes a neighbour of `after`; then
 * all but one of them can be locked. */
int hport_window_join(struct hport *p, uint32_t id, uint32_t after);
int hport_window_lock_others(struct hport *p, uint32_t id, uint32_t hpid,
			     uint32_t vpid);

/* ---- instructions ---- */

enum {
	HPORT_ACK = 1,	/* notified when it has arrived */
	HPORT_MORE = 2, /* triggered together with the next one */
};

struct hport_tag {
	uint64_t user, api; /* 64 and 48 bits */
};

/* Up to 5 words. */
int hport_fast_send(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag, const uint64_t *words,
		    uint32_t n);
/* From the send data region. */
int hport_send(struct hport *p, const struct hport_peer *to, uint32_t flags,
	       struct hport_tag tag, uint64_t off, uint64_t bytes);
void *hport_sdr(struct hport *p, uint64_t *bytes_p);

/* The other side of an RMA instruction. */
struct hport_far {
	uint32_t win, capability;
	uint64_t off;
};
int hport_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
int hport_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint32_t win,
	      uint64_t off, uint64_t bytes);
/* 1 to 3 words. */
int hport_fast_put(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   const uint64_t *words, uint32_t n);
int hport_fast_get(struct hport *p, const struct hport_peer *to, uint32_t flags,
		   struct hport_tag tag, const struct hport_far *far,
		   uint32_t n);
/* Bytes of a word: bit i of `enable` for byte i. */
int hport_put_bytes(struct hport *p, const struct hport_peer *to,
		    uint32_t flags, struct hport_tag tag,
		    const struct hport_far *far, uint64_t word, uint8_t enable);
int hport_faa(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far, uint64_t add);
int hport_cas(struct hport *p, const struct hport_peer *to, uint32_t flags,
	      struct hport_tag tag, const struct hport_far *far,
	      uint64_t compare, uint64_t swap);
/* Triggers what HPORT_MORE has left behind.  0, or -ENXIO: the port is off, its
 * device takes nothing any more (as all that post afterwards); -EIO. */
int hport_flush(struct hport *p);
/* Sends, puts and gets of more bytes are cut into segments of so many (a
 * multiple of 8; 0: none is cut, the default), each acknowledged; the user has
 * one notification for all of them, and API tags of 24 bits.  Receivers with
 * the same unit get every segment of a message, in any order if the port is not
 * ordered.  What finds no room in the work queue goes on while notifications
 * are taken.  -ENOMEM, -EAGAIN: one is under way. */
int hport_set_mtu(struct hport *p, uint32_t bytes);
/* Some of it still waits for room: take notifications. */
bool hport_unposted(const struct hport *p);
/* From now on instructions are tagged conditional stores of 64 bytes and
 * triggers tagged loads (hostport.md 10), where the bus has them (true).  The
 * tag of the thread's process must be the VPID; a thread of the monitor has tag
 * 0. */
bool hport_use_tags(struct hport *p, bool on);
/* Barrier `id` (0..31) is reached: accepted and counted, no more (14.3). */
bool hport_barrier(struct hport *p, uint32_t id);

/* ---- notifications ---- */

enum hport_event {
	HPORT_DONE,	/* an own instruction */
	HPORT_MESSAGE,	/* received */
	HPORT_ACCESSED, /* RMA by somebody else, or refused to him */
	HPORT_ULTRA,	/* of an ULTRA port */
};

struct hport_note {
	enum hport_event event;
	uint32_t error;	     /* table 4.2, 0 = none */
	uint32_t command;    /* byte: of the instruction, or executed */
	uint32_t hpid, vpid; /* the other side */
	struct hport_tag tag;
	uint64_t bytes;	  /* message, access */
	uint32_t n;	  /* words in data */
	uint64_t data[5]; /* fast receive, results */
	uint32_t win;	  /* access */
	uint64_t off;	  /* access; message: words of the RDR, see below */
	bool posted;	  /* message in a posted buffer: */
	uint64_t stored, addr, cookie;
	/* of a segment (hport_set_mtu): where it belongs in its message, which
	 * message of this peer it is, and whether it is not the last one */
	uint64_t at;
	uint32_t message;
	bool more;
	uint64_t w[8]; /* as the device wrote it */
};

/* 1 = *n_p is the next one, 0 = none. */
int hport_poll(struct hport *p, struct hport_note *n_p);
/* Polls until there is one (true), the deadline passes, or the port is off. */
bool hport_wait(struct hport *p, struct hport_note *n_p, weft_time_t deadline);
/* Waits until there may be one (true) or the deadline passes, without taking
 * it; irq: asleep, for ports with HPORT_IRQ. */
bool hport_idle(struct hport *p, bool irq, weft_time_t deadline);
/* A message in the receive data region: copies it out, unless `to` is NULL, and
 * gives its place back. */
void hport_take(struct hport *p, const struct hport_note *n, void *to);
/* A buffer for one long message; -EAGAIN: queue full.  pa: addr is physical. */
int hport_post(struct hport *p, uint64_t addr, uint64_t bytes, bool pa,
	       uint64_t cookie);

WEFT_C_END

#endif
