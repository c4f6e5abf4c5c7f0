/* SPDX-License-Identifier: Apache-2.0 */
/* All that host software sees of its machine.
 *
 * A driver, a user library or a program is written against this header alone
 * and contains no simulator knowledge.  Two implementations exist: programs in
 * the simulator (coroutines; every call costs what the host model says) and
 * attached processes.
 *
 * struct weft_host is one thread of host software on one node.  Calls may
 * block the thread (in simulated time); all of them belong to the thread's own
 * context. */
#ifndef WEFT_HOST_H
#define WEFT_HOST_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_host;
struct weft_dev;

/* ---- devices and MMIO -------------------------------------------------
 *
 * UC: every store is one bus transaction, in program order; a load first
 *     drains all earlier stores of this thread, then waits for its data.
 * WC: stores gather in 64-byte lines; a line goes out as one ascending burst
 *     when it is full, when another line is touched (own lines are few), or
 *     at weft_io_fence.  Not ordered against UC stores without a fence. */

enum weft_io_attr { WEFT_UC, WEFT_WC };

/* A mapped window of a device BAR.  Plain value; address arithmetic on `off`
 * is the library's business.  In a process `off` is a virtual address: what the
 * process did not get cannot be reached, whatever it writes there. */
struct weft_io {
	struct weft_dev *dev;
	uint64_t off;
	uint64_t len;
	uint8_t bar;
	uint8_t attr; /* enum weft_io_attr */
};

/* The i-th device of this node (0 = the NIC), or NULL. */
struct weft_dev *weft_dev_open(struct weft_host *h, uint32_t i);
/* Driver part: configuration space, 1/2/4 bytes, naturally aligned. */
uint32_t weft_cfg_load(struct weft_host *h, struct weft_dev *d, uint32_t off,
		       uint32_t size);
void weft_cfg_store(struct weft_host *h, struct weft_dev *d, uint32_t off,
		    uint32_t size, uint32_t val);
/* Window into a BAR; false when it does not fit.  The first window of a BAR
 * sizes it and gives it an address, as firmware would. */
bool weft_io_map(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		 uint64_t off, uint64_t len, enum weft_io_attr attr,
		 struct weft_io *io_p);
uint32_t weft_io_load32(struct weft_host *h, const struct weft_io *io,
			uint64_t off);
uint64_t weft_io_load64(struct weft_host *h, const struct weft_io *io,
			uint64_t off);
/* The last load of this thread was answered with all ones and an error: nobody
 * has the address (bus.ht; other buses give the ones alone). */
bool weft_io_error(const struct weft_host *h);
void weft_io_store32(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint32_t val);
void weft_io_store64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t val);
/* Consecutive ascending stores of n bytes (multiple of 4). */
void weft_io_copy(struct weft_host *h, const struct weft_io *io, uint64_t off,
		  const void *src, size_t n);
/* All WC lines of this thread are on their way; later stores are behind. */
void weft_io_fence(struct weft_host *h);

/* ---- tagged accesses ---------------------------------------------------
 *
 * An access that carries a tag of 16 bits.  The tag of a process is set by the
 * monitor alone (weft_proc_set_tag) and tells the device who asks, from a page
 * that all processes share; the calls with _user carry any tag.  The response
 * tag is one bit, set by the device.  Not combined; after earlier stores of
 * this thread.  Windows as above. */

/* True when the device's bus has such accesses. */
bool weft_io_can_tag(struct weft_host *h, struct weft_dev *d);
/* Tagged store of 4..64 bytes, a multiple of 4, inside a line of 64; posted. */
void weft_io_tstore(struct weft_host *h, const struct weft_io *io, uint64_t off,
		    const void *data, uint32_t n);
void weft_io_tstore_user(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, const void *data, uint32_t n,
			 uint16_t tag);
/* Tagged load: true when the device says that what it gave is valid. */
bool weft_io_tload64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t *val_p);
bool weft_io_tload64_user(struct weft_host *h, const struct weft_io *io,
			  uint64_t off, uint16_t tag, uint64_t *val_p);
/* Tagged conditional store: true when the device found the condition (WEFT_COND
 * of weft/bus.h, e.g. "its queue has room": 0) to hold and has stored. */
bool weft_io_tcstore(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, const void *data, uint32_t n, uint64_t cond);

/* ---- processes and domains ---------------------------------------------
 *
 * A thread begins as the monitor: it reaches all of every device.  It makes
 * processes and domains (virtual machines), gives pages of BARs to them, and is
 * in no other way between a process and the device.  A page has one owner at
 * most.  A thread that enters a process (or a domain, as its kernel) can reach
 * what was mapped for it and nothing else, and cannot go back.  The virtual
 * addresses of a process say nothing about which pages they are.
 *
 * What somebody may not do is not done, returns false, and is counted; an
 * access of a process to a page that it did not get is a page fault: loads give
 * all ones. */

enum { WEFT_PAGE = 4096 };
struct weft_proc;

/* Monitor: a new domain, 1.. */
uint32_t weft_domain_new(struct weft_host *h);
/* Monitor: pages that belong to the monitor (domain 0) now belong to a domain,
 * or, when no process has them, back to the monitor. */
bool weft_domain_give(struct weft_host *h, uint32_t domain, struct weft_dev *d,
		      uint8_t bar, uint64_t off, uint64_t len);
/* This thread is a kernel of the domain from now on: it makes processes there
 * and maps the domain's own pages, for them or (weft_io_map) for itself. */
bool weft_domain_enter(struct weft_host *h, uint32_t domain);

/* Monitor, or kernel of the domain.  NULL: not allowed, or no memory. */
struct weft_proc *weft_proc_new(struct weft_host *h, uint32_t domain);
/* Its pages are unmapped and can be mapped for another process. */
void weft_proc_free(struct weft_host *h, struct weft_proc *p);
/* Maps pages of the process's domain (or, by the monitor, its own) that no
 * other process has. */
bool weft_proc_map(struct weft_host *h, struct weft_proc *p, struct weft_dev *d,
		   uint8_t bar, uint64_t off, uint64_t len,
		   enum weft_io_attr attr, struct weft_io *io_p);
void weft_proc_unmap(struct weft_host *h, struct weft_proc *p,
		     const struct weft_io *io);
/* Monitor alone: a page of its own that any number of processes may map, as
 * the tag and not the page says who asks. */
bool weft_page_share(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		     uint64_t off);
/* Monitor alone: the tag of the process's tagged accesses. */
bool weft_proc_set_tag(struct weft_host *h, struct weft_proc *p, uint16_t tag);
/* Process of this thread; in a driver's call: of the caller.  NULL: none. */
struct weft_proc *weft_proc_self(struct weft_host *h);
/* This thread is in the process from now on. */
bool weft_proc_enter(struct weft_host *h, struct weft_proc *p);

/* ---- many light processes ----------------------------------------------
 *
 * A process without a stack of its own: a function that is called for each of
 * its turns, on one of a few processors, inside of the process, and that may
 * use everything of this header.  It says how to go on when it returns; what it
 * has to remember is in `arg`.  A turn that waits inside keeps its processor.
 */

enum weft_turn_kind {
	WEFT_TURN_END,
	WEFT_TURN_AGAIN, /* behind the others that are ready */
	WEFT_TURN_SLEEP, /* at a time */
	WEFT_TURN_WAIT,	 /* when a device has changed *p */
};

struct weft_turn {
	enum weft_turn_kind kind;
	weft_time_t until;	    /* SLEEP */
	const volatile uint64_t *p; /* WAIT: until *p != old */
	uint64_t old;
};

typedef struct weft_turn (*weft_turn_fn)(struct weft_host *h,
					 struct weft_proc *p, void *arg);

/* Ready to run; first come, first served.  Monitor, or kernel of its domain. */
bool weft_proc_start(struct weft_host *h, struct weft_proc *p, weft_turn_fn fn,
		     void *arg);
/* This thread's processor and cpus - 1 others run all started processes, also
 * those that are started meanwhile, until all have ended.  Monitor.  One such
 * call at a time on a node. */
bool weft_procs_run(struct weft_host *h, uint32_t cpus);

/* ---- drivers -------------------------------------------------------------
 *
 * What runs in the kernel for all processes of a node: one driver per device,
 * reached by a trap.  A thread inside of a call is the monitor. */

/* An op may name the bytes of its argument, which then is plain data: such a
 * call can be made from a process that is not in the driver's memory. */
#define WEFT_DRV_OP(n, bytes) ((uint32_t)(bytes) << 16 | (n))
#define WEFT_DRV_BYTES(op)    ((op) >> 16)
enum { WEFT_DRV_BYTES_MAX = 1024 };

struct weft_drv {
	void *own;
	int (*call)(struct weft_host *h, void *own, uint32_t op, void *arg);
	/* A program whose thread is in process p has ended, by itself or not.
	 * NULL: nobody wants to know. */
	void (*gone)(struct weft_host *h, void *own, struct weft_proc *p);
	/* The node goes: nothing runs any more, no other function of this
	 * header may be called.  NULL: nothing to do. */
	void (*fini)(void *own);
	/* Mask of BARs that the driver alone reaches: threads in its calls, and
	 * those that it has started. */
	uint32_t bars;
};

/* Monitor: the driver of a device; false when it has one. */
bool weft_drv_set(struct weft_host *h, struct weft_dev *d,
		  const struct weft_drv *drv);
/* What its call says, or -ENODEV without a driver.  A thread that enters a
 * process in the call is in it afterwards. */
int weft_drv_call(struct weft_host *h, struct weft_dev *d, uint32_t op,
		  void *arg);

/* ---- threads ---- */

/* The thread that runs; NULL outside of programs.  For interfaces that were
 * made without a handle. */
struct weft_host *weft_host_self(void);
/* Another thread of the same program, in the same process, with a processor of
 * its own.  It is not waited for at the end.  NULL: no memory. */
struct weft_host *weft_thread_start(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg);
/* Sleeps until another thread of the node has called weft_host_wake with this
 * p, or until the deadline; not at all when *p != old.  Who is woken pays the
 * wake-up.  True when *p != old. */
bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline);
void weft_host_wake(struct weft_host *h, const uint32_t *p);
/* Ends the program of this thread with this status, wherever its first thread
 * is; memory, drivers' gone as when it returns. */
__attribute__((noreturn)) void weft_host_exit(struct weft_host *h, int status);
/* A line of the node's log: on stderr, with the program's name and the time.
 * After WEFT_LOG_LINES of a node it is silent. */
enum { WEFT_LOG_LINES = 20 };
void weft_host_log(struct weft_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- memory ---- */

/* Pinned, physically contiguous, device-visible memory of this node; zeroed.
 * NULL when the node has no more. align: power of two, 0 = 64.  Pages are of
 * one program, or of drivers, which alone free theirs. */
void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p);
void weft_mem_free(struct weft_host *h, void *p);
/* Ordinary memory of the program (no device can reach it), zeroed.  NULL when
 * there is none.  Its places in pages depend on the program's calls alone.
 * What a program leaves behind, or holds when the run ends in the middle of it,
 * is freed with its node. */
void *weft_host_calloc(struct weft_host *h, size_t n, size_t size);
/* Begins at a multiple of `align`, a power of two from 16 to 4096. */
void *weft_host_align(struct weft_host *h, size_t align, size_t bytes);
void weft_host_free(struct weft_host *h, void *p); /* p may be NULL */
/* A word of the program, NULL at first, that all its threads share: for a
 * library whose interface was made without a handle.  `key` is the address of
 * something constant of that library.  NULL: no memory. */
void **weft_host_word(struct weft_host *h, const void *key);
/* Physical address of a byte of device-visible memory; false if it is not. */
bool weft_mem_phys(struct weft_host *h, const void *p, weft_phys_t *phys_p);
/* Where the program finds n bytes of device-visible memory that a driver has
 * named by their address; NULL: there are none. */
void *weft_mem_at(struct weft_host *h, weft_phys_t phys, size_t n);
/* Monitor, in a driver's call: memory that it has allocated is the caller's. */
void weft_mem_give(struct weft_host *h, weft_phys_t phys);
/* Monitor, in a driver's call: a device may use the pages of [phys, phys + len)
 * until they are released.  Memory that its program frees meanwhile is given to
 * others afterwards only.  False: it is not memory of the caller's program, or
 * others have some in its pages: whole pages are what a device reaches. */
bool weft_mem_hold(struct weft_host *h, weft_phys_t phys, size_t len);
/* False: it is not held. */
bool weft_mem_release(struct weft_host *h, weft_phys_t phys);
/* Makes ordinary memory (stack, static, malloc) device-visible where it is,
 * page by page: phys[i] becomes the address of the i-th page that [p, p + len)
 * touches; they are not next to each other.  As often as it is pinned it must
 * be unpinned.  False: no such memory (errno EFAULT), or the node has no more
 * (ENOMEM). */
bool weft_mem_pin(struct weft_host *h, const void *p, size_t len,
		  weft_phys_t *phys);
void weft_mem_unpin(struct weft_host *h, const void *p, size_t len);

/* ---- waiting, time, cost ---- */

/* Reading the clock costs a little, so that a loop around it ends. */
weft_time_t weft_host_now(struct weft_host *h);
/* The CPU is busy for this long. */
void weft_host_cpu(struct weft_host *h, weft_time_t cost);
/* memcpy that costs what copying costs on this host. */
void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n);
/* memcpy as part of something whose cost is stated elsewhere.  A library
 * touches its user's data with these two and not otherwise: they may be memory
 * of another process. */
void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n);
/* Spins until *p != old (true) or the deadline passes (false).  p must be
 * device-visible memory.  Deadline is absolute, WEFT_NEVER = none.  Takes at
 * least one turn of the loop, whatever *p is. */
bool weft_host_poll64(struct weft_host *h, const volatile uint64_t *p,
		      uint64_t old, weft_time_t deadline);
/* Spins until any store by a device or another thread hits this node's
 * memory in [p, p+n), or the deadline passes.  For libraries that poll
 * several places: check, then wait, then check again.  A store since the last
 * poll of the same range ended is not missed; to be sure of that, the first
 * poll of a range returns true after one turn of the loop. */
bool weft_host_poll_range(struct weft_host *h, const volatile void *p, size_t n,
			  weft_time_t deadline);
/* Sleeps until the device's interrupt line is asserted (true; pays interrupt
 * entry and wake-up) or the deadline passes. */
bool weft_host_irq_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* The same for a thread that is the interrupt handler: no wake-up. */
bool weft_host_isr_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* The same, but the processor spins until then. */
bool weft_host_isr_spin(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* Processor time that this thread has used so far: at work, polling, spinning,
 * waiting for the bus.  Asleep, and until an interrupt's handler runs, it uses
 * none. */
weft_time_t weft_host_busy(struct weft_host *h);
/* The same without what it used inside of drivers (weft_drv_call). */
weft_time_t weft_host_user(struct weft_host *h);
/* Sleeps without using the CPU. */
void weft_host_sleep(struct weft_host *h, weft_time_t until);

/* ---- who am I ---- */

uint32_t weft_host_node(struct weft_host *h);  /* 0.. */
uint32_t weft_host_nodes(struct weft_host *h); /* nodes in the system */
/* A name-value store shared by all nodes, as an out-of-band network (address
 * exchange at start-up); get blocks until the key is there. */
void weft_oob_put(struct weft_host *h, const char *key, uint64_t val);
uint64_t weft_oob_get(struct weft_host *h, const char *key);
/* Is it there? */
bool weft_oob_there(struct weft_host *h, const char *key);

WEFT_C_END

#endif
