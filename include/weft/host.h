/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as host software sees it.
 *
 * A driver, a user library or a program is written against this header alone
 * and contains no code for the simulator. Two implementations exist: programs
 * in the simulator (coroutines; every call costs what the host model says) and
 * attached processes.
 *
 * struct weft_host is one thread of host software on one node. A call may block
 * the thread in simulated time. Only this thread may make calls with the
 * handle. */
#ifndef WEFT_HOST_H
#define WEFT_HOST_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_host;
struct weft_dev;

/* ---- devices and MMIO -------------------------------------------------
 *
 * UC: every store is one bus transaction, in program order. A load first
 *     drains all earlier stores of this thread, then waits for its data.
 * WC: stores gather in 64-byte lines. A line leaves as one ascending burst
 *     when it is full, when a store needs a free line, or at weft_io_fence.
 *     Without a fence WC stores and UC stores are not ordered. */

enum weft_io_attr { WEFT_UC, WEFT_WC };

/* A mapped window of a device BAR. A library may copy and change this plain
 * value. In a process `off` is a virtual address, so a process that forges a
 * window reaches only its own pages. */
struct weft_io {
	struct weft_dev *dev;
	uint64_t off;
	uint64_t len;
	uint8_t bar;
	uint8_t attr; /* an enum weft_io_attr */
};

/* Returns device i of this node (0 = the NIC), or NULL. The device belongs to
 * the node and is never closed. */
struct weft_dev *weft_dev_open(struct weft_host *h, uint32_t i);
/* Loads 1, 2 or 4 bytes of the configuration space, naturally aligned.  Returns
 * the value; all ones when the device does not answer. */
uint32_t weft_cfg_load(struct weft_host *h, struct weft_dev *d, uint32_t off,
		       uint32_t size);
/* Stores 1, 2 or 4 bytes into the configuration space, naturally aligned. */
void weft_cfg_store(struct weft_host *h, struct weft_dev *d, uint32_t off,
		    uint32_t size, uint32_t val);
/* Maps a window into a BAR. The first call for a BAR determines the size of the
 * BAR and gives the BAR an address, as firmware would. Returns false when the
 * window does not fit. */
bool weft_io_map(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		 uint64_t off, uint64_t len, enum weft_io_attr attr,
		 struct weft_io *io_p);
/* Each loads naturally aligned bytes behind all earlier stores of this thread,
 * and waits for the answer. Returns the bytes, or all ones when no device has
 * the address or the process has no right to the page. */
uint32_t weft_io_load32(struct weft_host *h, const struct weft_io *io,
			uint64_t off);
uint64_t weft_io_load64(struct weft_host *h, const struct weft_io *io,
			uint64_t off);
/* Returns true when the last load of this thread was answered by an error and
 * all ones, because no device has the address. Buses other than bus.ht report
 * no such errors. */
bool weft_io_error(const struct weft_host *h);
/* Each stores naturally aligned bytes, ordered as the window's attribute says.
 * The call blocks the thread while the bridge's buffer is full, but does not
 * wait until the device has the bytes. */
void weft_io_store32(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint32_t val);
void weft_io_store64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t val);
/* Stores n bytes, a multiple of 4, in ascending order. */
void weft_io_copy(struct weft_host *h, const struct weft_io *io, uint64_t off,
		  const void *src, size_t n);
/* Flushes all WC lines of this thread. Later stores are ordered behind these
 * lines. */
void weft_io_fence(struct weft_host *h);

/* ---- tagged accesses ---------------------------------------------------
 *
 * A tagged access carries a tag of 16 bits. Only the monitor sets the tag of a
 * process (weft_proc_set_tag). The tag identifies the process to the device, so
 * that all processes can share a page. Calls whose names end in _user carry a
 * tag that the program chooses. The device answers with a response tag of one
 * bit. Tagged accesses are not combined, and follow earlier stores of this
 * thread. They use windows of weft_io_map. */

/* Returns true when the device's bus has tagged accesses. */
bool weft_io_can_tag(struct weft_host *h, struct weft_dev *d);
/* Each makes a tagged store of 4..64 bytes, a multiple of 4, inside an aligned
 * line of 64. The store is posted: the thread does not wait for the device. */
void weft_io_tstore(struct weft_host *h, const struct weft_io *io, uint64_t off,
		    const void *data, uint32_t n);
void weft_io_tstore_user(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, const void *data, uint32_t n,
			 uint16_t tag);
/* Each function makes a tagged load and waits for its answer. Returns the
 * response tag, which is true when the device reports a valid value. */
bool weft_io_tload64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t *val_p);
bool weft_io_tload64_user(struct weft_host *h, const struct weft_io *io,
			  uint64_t off, uint16_t tag, uint64_t *val_p);
/* Makes a tagged conditional store and waits for the answer. `cond` is a
 * WEFT_COND of weft/bus.h, or 0 for "the device's queue has room". Returns true
 * when the condition held and the device has stored the data. */
bool weft_io_tcstore(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, const void *data, uint32_t n, uint64_t cond);

/* ---- processes and domains ---------------------------------------------
 *
 * A thread begins as the monitor, which reaches all pages of every device. The
 * monitor makes processes and domains (virtual machines) and gives pages of
 * BARs to them. Accesses of these processes and domains then reach the device
 * without the monitor. A page has at most one owner. A thread that enters a
 * process (or a domain, as its kernel) reaches only the pages that were mapped
 * there, and cannot leave. A virtual address of a process does not reveal its
 * page in the BAR.
 *
 * A call that the thread has no right to make does nothing, returns false and
 * is counted. An access of a process to a page that it does not have is a page
 * fault: stores are dropped, and loads return all ones. */

enum { WEFT_PAGE = 4096 };
struct weft_proc;

/* For the monitor. Creates a domain. Returns the domain's number, 1 or more, or
 * 0 when this thread is not the monitor or memory runs out. */
uint32_t weft_domain_new(struct weft_host *h);
/* For the monitor. Gives pages of the monitor (domain 0) to a domain, or takes
 * pages back when `domain` is 0. Returns false when a page belongs to another
 * domain, or a process has one of the pages. */
bool weft_domain_give(struct weft_host *h, uint32_t domain, struct weft_dev *d,
		      uint8_t bar, uint64_t off, uint64_t len);
/* Makes this thread a kernel of the domain from now on. The thread then makes
 * processes there, and maps the domain's pages for them or (weft_io_map) for
 * itself. Returns false when the thread is in a domain or process already, or
 * the domain does not exist. */
bool weft_domain_enter(struct weft_host *h, uint32_t domain);

/* For the monitor or a kernel of the domain. Creates a process. Returns the
 * process, which weft_proc_free frees. Returns NULL in other threads, for an
 * unknown domain or when memory runs out. */
struct weft_proc *weft_proc_new(struct weft_host *h, uint32_t domain);
/* Frees a process. Its pages are unmapped and can be mapped for another
 * process. */
void weft_proc_free(struct weft_host *h, struct weft_proc *p);
/* Maps pages of the process's domain into the process. The monitor may also map
 * its own pages. Returns false when another process has one of the pages, this
 * thread has no right to the pages, or the window does not fit. */
bool weft_proc_map(struct weft_host *h, struct weft_proc *p, struct weft_dev *d,
		   uint8_t bar, uint64_t off, uint64_t len,
		   enum weft_io_attr attr, struct weft_io *io_p);
/* Unmaps a window of a process; its pages can be mapped again. */
void weft_proc_unmap(struct weft_host *h, struct weft_proc *p,
		     const struct weft_io *io);
/* For the monitor. Lets any number of processes map a page of the monitor,
 * because the tag, not the page, identifies the process. Returns false when the
 * page is not the monitor's, or a process has the page. */
bool weft_page_share(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		     uint64_t off);
/* For the monitor. Sets the tag of the process's tagged accesses. Returns false
 * when this thread is not the monitor. */
bool weft_proc_set_tag(struct weft_host *h, struct weft_proc *p, uint16_t tag);
/* Returns the process of this thread or, in a driver's call, the process of the
 * caller. Returns NULL outside processes. */
struct weft_proc *weft_proc_self(struct weft_host *h);
/* For the monitor or a kernel of the process's domain. Puts this thread into
 * the process permanently. Returns false in other threads. */
bool weft_proc_enter(struct weft_host *h, struct weft_proc *p);

/* ---- many light processes ----------------------------------------------
 *
 * A light process has no stack of its own. A few processors call its function
 * again and again, and each such call is a turn of the process. The function
 * runs in the process, may use all of this header, and keeps its state in
 * `arg`. The result of the function determines when the next turn is due. A
 * turn that blocks does not free its processor. */

enum weft_turn_kind {
	WEFT_TURN_END,
	WEFT_TURN_AGAIN, /* next turn after the turns of all other ready
			  * processes */
	WEFT_TURN_SLEEP, /* next turn at the time `until` */
	WEFT_TURN_WAIT,	 /* next turn when a device has changed *p */
};

struct weft_turn {
	enum weft_turn_kind kind;
	weft_time_t until;	    /* time of the next turn (SLEEP) */
	const volatile uint64_t *p; /* the next turn is due when *p != old
				     * (WAIT) */
	uint64_t old;
};

typedef struct weft_turn (*weft_turn_fn)(struct weft_host *h,
					 struct weft_proc *p, void *arg);

/* For the monitor or a kernel of the process's domain. Makes a light process
 * ready to run. Processors run processes in the order in which the processes
 * became ready. Returns false in other threads, or when the process was started
 * before. */
bool weft_proc_start(struct weft_host *h, struct weft_proc *p, weft_turn_fn fn,
		     void *arg);
/* For the monitor. Runs all started processes, including processes that are
 * started during the call, on this thread's processor and on cpus - 1 others.
 * Returns true when all processes have ended. Returns false when this thread is
 * not the monitor, cpus is 0, or another thread of the node is inside this
 * call. */
bool weft_procs_run(struct weft_host *h, uint32_t cpus);

/* ---- drivers -------------------------------------------------------------
 *
 * A driver is code that runs in the kernel for all processes of a node. Each
 * device has one driver, which programs call by a trap. A thread inside such a
 * call is the monitor. */

/* An op may contain the number of bytes of its argument. Such an argument must
 * be plain data, because it is copied when the driver is outside the memory of
 * the calling process. */
#define WEFT_DRV_OP(n, bytes) ((uint32_t)(bytes) << 16 | (n))
#define WEFT_DRV_BYTES(op)    ((op) >> 16)
enum { WEFT_DRV_BYTES_MAX = 1024 };

struct weft_drv {
	void *own;
	/* Carries out one call of a thread. Returns the result of
	 * weft_drv_call: 0 or a negative errno by convention. */
	int (*call)(struct weft_host *h, void *own, uint32_t op, void *arg);
	/* Called when a program with a thread in process p has returned or was
	 * killed. May be NULL. */
	void (*gone)(struct weft_host *h, void *own, struct weft_proc *p);
	/* Called when the node is freed. No thread runs any more, and no other
	 * function of this header may be called. May be NULL. */
	void (*fini)(void *own);
	/* Mask of BARs that are reserved for the driver: only threads in the
	 * driver's calls, and threads that the driver has started, may use
	 * these BARs. */
	uint32_t bars;
};

/* For the monitor. Sets the driver of a device; *drv is copied. Returns false
 * when the device has a driver, or when this thread is not the monitor. */
bool weft_drv_set(struct weft_host *h, struct weft_dev *d,
		  const struct weft_drv *drv);
/* Calls the driver of a device by a trap. A thread that enters a process in the
 * call stays in the process. Returns
 *   the driver's result
 *   -ENODEV  the device has no driver */
int weft_drv_call(struct weft_host *h, struct weft_dev *d, uint32_t op,
		  void *arg);

/* ---- threads ---- */

/* Returns the thread that runs, or NULL outside programs. For libraries whose
 * interface has no handle. */
struct weft_host *weft_host_self(void);
/* Starts a thread of the same program, in the same process, on a processor of
 * its own. The end of the program does not wait for the end of the thread.
 * Returns the thread's handle, which belongs to the program, or NULL when
 * memory runs out. */
struct weft_host *weft_thread_start(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg);
/* Sleeps until another thread of the node calls weft_host_wake with this p, or
 * until the deadline. Does not sleep when *p != old. A thread that slept is
 * charged the time of a wake-up. Returns true when *p != old. */
bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline);
/* Keeps the processor busy until another thread of the node calls
 * weft_host_wake with this p, exactly as this loop would:
 *   weft_host_cpu(h, turn); if (weft_host_now(h) >= deadline) break;
 * The thread is not charged for a wake-up. Returns 0 at once when *p != old.
 * Returns
 *   0..turn     the part of `turn` that had passed at the wake-up
 *   WEFT_NEVER  the loop has ended at the deadline */
weft_time_t weft_host_spin(struct weft_host *h, const uint32_t *p, uint32_t old,
			   weft_time_t turn, weft_time_t deadline);
/* Wakes all threads of the node that sleep or spin on p. */
void weft_host_wake(struct weft_host *h, const uint32_t *p);
/* Ends the program of this thread with this status, even if the program's first
 * thread still runs. The program's memory and processes are freed as when the
 * program returns. */
__attribute__((noreturn)) void weft_host_exit(struct weft_host *h, int status);
enum { WEFT_LOG_LINES = 20 };
/* Prints a line on stderr with the program's name and the time. A node prints
 * WEFT_LOG_LINES lines, and further lines are dropped. */
void weft_host_log(struct weft_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- memory ---- */

/* Allocates pinned, physically contiguous, device-visible memory of this node,
 * zeroed, at a multiple of align (a power of two, 0 = 64). A page holds memory
 * of one program, or of drivers, because devices reach whole pages. Returns
 * NULL when the node has no more memory. */
void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p);
/* Frees memory of weft_mem_alloc. Memory of drivers is freed by drivers alone.
 * p may be NULL. */
void weft_mem_free(struct weft_host *h, void *p);
/* Allocates ordinary memory of the program, zeroed, which no device reaches.
 * The offset of the memory in its page depends on the program's calls alone, so
 * that the times of transfers do not depend on the process that runs the
 * simulator. Memory that a program has not freed is freed with its node.
 * Returns NULL when the memory is used up. */
void *weft_host_calloc(struct weft_host *h, size_t n, size_t size);
/* Returns memory as weft_host_calloc does, at a multiple of `align`: a power of
 * two from 16 to 4096. */
void *weft_host_align(struct weft_host *h, size_t align, size_t bytes);
/* Frees memory of weft_host_calloc or weft_host_align.  p may be NULL. */
void weft_host_free(struct weft_host *h, void *p);
/* Returns the address of a word that all threads of the program share. The word
 * is NULL at first. A library whose interface has no handle keeps its state
 * there. `key` is the address of a constant of that library. Returns NULL when
 * memory runs out. */
void **weft_host_word(struct weft_host *h, const void *key);
/* Stores the physical address of a byte in *phys_p. Returns false when the byte
 * is not in device-visible memory of the program. */
bool weft_mem_phys(struct weft_host *h, const void *p, weft_phys_t *phys_p);
/* Returns the program's address of n bytes of device-visible memory whose
 * physical address a driver has returned, or NULL when the program has no
 * memory there. */
void *weft_mem_at(struct weft_host *h, weft_phys_t phys, size_t n);
/* For the monitor in a driver's call. Makes the caller of the driver the owner
 * of memory that the driver has allocated. */
void weft_mem_give(struct weft_host *h, weft_phys_t phys);
/* For the monitor in a driver's call. Lets a device use the pages of [phys,
 * phys + len) until weft_mem_release. Memory in these pages that the program
 * frees before the release is not allocated again until then, because the
 * device may still write to it. Returns false when the range is not memory of
 * the caller's program. Also returns false when other programs have memory in
 * these pages, because a device reaches whole pages. */
bool weft_mem_hold(struct weft_host *h, weft_phys_t phys, size_t len);
/* Ends a weft_mem_hold of the same range.  Returns false when the range is not
 * held. */
bool weft_mem_release(struct weft_host *h, weft_phys_t phys);
/* Makes ordinary memory (stack, static, malloc) device-visible without moving
 * it. phys[i] becomes the address of the i-th page that [p, p + len) touches.
 * These pages need not be contiguous. Each pin needs an unpin. Returns true, or
 * false with errno
 *   EFAULT  the memory does not exist
 *   ENOMEM  the node has no more memory */
bool weft_mem_pin(struct weft_host *h, const void *p, size_t len,
		  weft_phys_t *phys);
/* Undoes one weft_mem_pin of the same range. */
void weft_mem_unpin(struct weft_host *h, const void *p, size_t len);

/* ---- waiting, time, cost ---- */

/* Returns the present time of the thread. Each call takes a little time,
 * because otherwise a loop that reads the clock until a deadline would never
 * end. */
weft_time_t weft_host_now(struct weft_host *h);
/* Keeps the processor busy for a time. */
void weft_host_cpu(struct weft_host *h, weft_time_t cost);
/* Copies n bytes in the time that copying takes on this host. */
void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n);
/* Copies n bytes in no time, when the cost of the copy is part of another
 * stated cost. A library touches its user's data by weft_host_copy and
 * weft_host_move alone, because the data may be memory of another process. */
void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n);
/* Spins until *p != old, or until the deadline, an absolute time (WEFT_NEVER =
 * no deadline). p must be device-visible memory. Takes at least one iteration
 * of the loop, even when *p != old at the call. Returns true when *p != old. */
bool weft_host_poll64(struct weft_host *h, const volatile uint64_t *p,
		      uint64_t old, weft_time_t deadline);
/* Spins until a store by a device or another thread hits this node's memory in
 * [p, p+n), or until the deadline. A library that polls several words reads
 * them, calls this function and reads them again. Returns true after a store,
 * false at the deadline. A store counts if it was made after the last poll of
 * this range ended. The first poll of a range returns true after one iteration
 * of the loop, so that no earlier store is missed. */
bool weft_host_poll_range(struct weft_host *h, const volatile void *p, size_t n,
			  weft_time_t deadline);
/* Sleeps until the device's interrupt line is asserted, or until the deadline.
 * After an interrupt the thread is charged the times of interrupt entry and
 * wake-up. Returns true when the line is asserted. */
bool weft_host_irq_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* Sleeps as weft_host_irq_wait does. The thread acts as the interrupt handler,
 * so it is not charged for a wake-up. Returns true when the line is
 * asserted. */
bool weft_host_isr_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* Waits as weft_host_isr_wait does, but keeps the processor busy meanwhile.
 * Returns true when the line is asserted. */
bool weft_host_isr_spin(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline);
/* Returns the processor time that this thread has used so far for work, polls,
 * spinning and waits for the bus. A thread uses no processor time while it
 * sleeps or waits until the handler of an interrupt runs. */
weft_time_t weft_host_busy(struct weft_host *h);
/* Returns weft_host_busy minus the time inside drivers (weft_drv_call). */
weft_time_t weft_host_user(struct weft_host *h);
/* Sleeps until an absolute time, without use of the processor. */
void weft_host_sleep(struct weft_host *h, weft_time_t until);
/* Sleeps until weft_host_now(h) + cost. */
void weft_host_nap(struct weft_host *h, weft_time_t cost);

/* ---- nodes ---- */

/* Returns the number of this node, from 0 on. */
uint32_t weft_host_node(struct weft_host *h);
/* Returns the number of nodes of the machine. */
uint32_t weft_host_nodes(struct weft_host *h);
/* Puts a value into a table of names that all nodes share. The table stands for
 * an out-of-band network, so that nodes can exchange addresses at the start. A
 * second value of a name replaces the first. */
void weft_oob_put(struct weft_host *h, const char *key, uint64_t val);
/* Blocks until a node has put a value of this name. Returns the value. */
uint64_t weft_oob_get(struct weft_host *h, const char *key);
/* Returns true when a value of this name has been put. */
bool weft_oob_there(struct weft_host *h, const char *key);

WEFT_C_END

#endif
