/* SPDX-License-Identifier: Apache-2.0 */
/* Private to class host.pc: the node (host.c), its threads and their waiting
 * (host_thread.c), memory-mapped I/O (host_io.c) and tagged accesses
 * (host_tag.c), processes and their pages (host_proc.c), light processes
 * (light_processes.c), programs and the out-of-band store (host_prog.c),
 * threads of a program and drivers (host_kernel.c), programs that act for an
 * external program (external_programs.c). */
#ifndef HOST_HOST_INTERNAL_H
#define HOST_HOST_INTERNAL_H

#include <setjmp.h>

#include "base/vec.h"
#include "host/heap.h"
#include "host/coro.h"
#include "host/mem.h"
#include "host/times.h"
#include "weft/bus.h"
#include "weft/host.h"

enum { HOST_QUIET_MAX = 32 };
enum {
	HOST_WC_MAX = 16,
	HOST_LINE = 64,
	HOST_WATCHES = 8,
	HOST_BARS = 6,
	HOST_LOADS = 32
};

enum {
	HOST_C_STORES,
	HOST_C_LOADS,
	HOST_C_BURSTS,
	HOST_C_STALL,
	HOST_C_POLLS,
	HOST_C_IRQS,
	HOST_C_COPIED,
	HOST_C_RESUMES,
	HOST_C_TAGGED,
	HOST_C_FAULTS,
	HOST_C_REFUSED,
	HOST_C_WALKS,
	HOST_C_TURNS,
	HOST_C_BUSY,
	HOST_C_N
};

/* Reason for which a thread waits. host_thread.c has the names. */
enum host_wait {
	HOST_RUNS,
	HOST_BUSY, /* its processor computes */
	HOST_SLEEPS,
	HOST_POLLS,
	HOST_IRQ,
	HOST_BRIDGE,  /* waits for the path to the bus */
	HOST_KEY,     /* waits for an out-of-band value */
	HOST_DEVICE,  /* another thread sizes the device */
	HOST_IDLE,    /* waits until a light process is ready */
	HOST_WORD,    /* waits for weft_host_wake by another thread */
	HOST_OUTSIDE, /* waits for a process outside the simulation */
	HOST_ENDED,
	HOST_WAIT_N
};

struct weft_dev {
	uint32_t index;
	bool level; /* level of its interrupt line as the processor sees it */
	uint32_t rises; /* times that the line was asserted */
	bool probing;	/* a thread determines the sizes of its BARs */
	struct {
		bool known;
		uint64_t size;
		/* owners of its pages, or NULL if the monitor owns all */
		struct host_pages *pages;
	} bar[HOST_BARS];
	struct weft_drv drv;
};

/* Neighbouring pages that are mapped for a process. */
struct host_map {
	/* First virtual page, number of pages, first page in the BAR. */
	uint32_t vpage, n, page;
	uint16_t dev;
	uint8_t bar, attr;
};

struct weft_proc {
	uint32_t id;
	uint16_t tag;
	bool kernel, started;
	uint32_t domain, n_maps;
	struct host_map *maps; /* sorted by virtual page */
	/* turn function of a light process, and the word or time for which the
	 * process waits */
	weft_turn_fn fn;
	void *arg;
	struct weft_proc *next; /* next process in its queue or hash chain */
	union {
		weft_time_t until;
		struct {
			const volatile uint64_t *p;
			uint64_t old;
		};
	};
};

/* Target of an access. */
struct host_place {
	struct weft_dev *dev;
	uint64_t off;
	uint8_t bar, attr;
};

/* Entry of a processor's table of translations. */
struct host_tlb {
	/* process id + 1 (0: empty entry), its virtual page */
	uint32_t proc, vpage;
};

/* A write-combining buffer: dwords of one 64-byte line. */
struct host_line {
	struct weft_dev *dev; /* NULL: the buffer is free */
	uint8_t bar;
	uint16_t mask;
	uint64_t base, age;
	uint8_t data[HOST_LINE];
};

/* A range that a thread polls, from its first poll on. */
struct host_watch {
	const void *p; /* NULL: the watch is free */
	size_t n;
	bool hit; /* a store has hit the range since its last poll returned */
	uint8_t *old; /* earlier contents, kept only if threads share memory */
	uint64_t age;
};

struct host;

/* A thread: the handle of host.h. */
struct weft_host {
	struct host *hp;
	struct weft_comp *prog;
	uint32_t tag; /* tag of its wake-ups */
	bool background;
	struct coro *co;
	int ret;
	enum host_wait wait;
	weft_time_t wait_from; /* start of its current wait */
	weft_time_t resume_at; /* time of its only valid wake-up */
	weft_time_t debt;      /* processor time that has not been waited for */
	weft_time_t deadline;  /* deadline of its current wait */
	bool kicked;	       /* a kick ends its current wait */
	/* set by weft_prog_call: a wait with a deadline ends immediately */
	bool called;
	bool load_error; /* its last load returned an error */
	struct weft_host *gate_next;
	/* polling */
	weft_time_t poll_start;
	const volatile uint64_t *poll_p; /* word that poll64 polls */
	uint64_t poll_old;
	struct host_watch *poll_watch; /* range that poll_range polls */
	struct host_watch watch[HOST_WATCHES];
	uint64_t age;
	/* interrupts, keys */
	struct weft_dev *irq_dev;
	bool irq_hit;
	/* irq_dev has asserted its line ever since it last interrupted
	 * this thread */
	bool irq_stale;
	/* device of the last interrupt, and the device's `rises` at that
	 * interrupt */
	const struct weft_dev *irq_last;
	uint32_t irq_rises;
	/* The thread waits as an interrupt handler, which is not charged for a
	 * wake-up. */
	bool isr;
	bool spins;	    /* keeps the processor busy while it waits */
	weft_time_t busy;   /* processor time so far */
	weft_time_t kernel; /* part of `busy` in calls of drivers */
	const char *key;
	const uint32_t *word;
	struct weft_proc *proc; /* its process, or NULL for the monitor */
	const void *owner;	/* owner of memory that the thread allocates */
	bool driver;  /* the thread was started by a driver and is part of it */
	bool process; /* the end of this thread ends its process */
	struct host_tlb *tlb;
	/* Start function, or NULL for the program's main. */
	int (*entry)(struct weft_host *h);
	/* Function and argument of weft_thread_start. */
	int (*fn)(struct weft_host *h, void *arg);
	void *arg;
	uint32_t calls; /* number of driver calls that the thread is inside */
	struct weft_proc *caller;
	bool killed; /* the thread ends as soon as it is outside driver calls */
	jmp_buf *ending; /* longjmp target that ends the thread */
	struct host_line line[HOST_WC_MAX];
	struct host_heap *heap; /* heap of weft_host_calloc; NULL until used */
};

struct host_word {
	const void *key;
	void *val;
};

/* Ordinary memory of a program, and words of its libraries. */
struct host_heap {
	const struct weft_comp *prog;
	struct heap heap;
	struct {
		VEC(struct host_word *);
	} words;
};

/* State that all hosts of a simulation share. */
struct host_shared {
	uint32_t refs, hosts, live;
	bool stop_at_end;
	uint64_t steps; /* waits that ended by an event, not by time alone */
	struct {
		VEC(struct oob_key *);
	} keys; /* sorted by name */
};

/* Light processes and their processors. */
struct host_crew {
	uint32_t live;		       /* processes that have not ended */
	struct weft_proc *head, *tail; /* queue of ready processes */
	struct {
		VEC(struct weft_proc *);
	} sleeps; /* sleeping processes, a heap by time, then id */
	struct weft_proc **words; /* hash of processes that wait for memory */
	uint32_t n_words, waiting;
	bool running;
};

/* Parameters, described by the rows in host.c. */
struct host_params {
	uint64_t mem_bytes, mem_base, stack;
	uint32_t node, wc_lines;
	weft_time_t cost_store, cost_wc, cost_load, cost_clock;
	weft_time_t copy_fixed, poll_period, poll_hit, irq_entry, wake_up;
	weft_time_t oob_delay;
	uint64_t copy_rate;
	uint32_t tlb;
	weft_time_t walk, turn;
	weft_time_t time[HOST_TIMES];
};

struct host {
	struct host_params
		p; /* first member, because parameter rows hold offsets in it */
	struct weft_comp *comp;
	struct weft_port *bus;
	uint32_t logged; /* lines written to the log */
	struct host_shared *shared;
	struct mem mem;
	struct {
		VEC(struct host_heap *);
	} heaps;
	struct coro_pool pool;
	struct {
		VEC(struct weft_host *);
	} threads;
	struct {
		VEC(struct weft_dev *);
	} devs;
	uint64_t bar_next; /* bus address of the next BAR */
	struct {
		VEC(struct weft_proc *);
	} procs; /* processes by id; NULL: the id is free */
	struct {
		VEC(uint32_t);
	} proc_ids; /* free process ids */
	struct {
		VEC(struct weft_proc *);
	} kernels; /* entry i is the kernel of domain 1 + i */
	struct host_crew crew;
	/* Threads that wait for the bus, in order of arrival. The first one may
	 * use the bus. */
	struct weft_host *gate_head, *gate_tail;
	uint64_t stores_in, stores_out;
	bool loaded, load_status, load_error;
	uint8_t load_data[8];
	/* Loads in flight, by number, on a bus that allows several loads in
	 * flight. */
	struct host_load {
		/* thread of the load; NULL: the number is free */
		struct weft_host *of;
		bool done, error;
		uint8_t data[8];
	} load[HOST_LOADS];
	uint32_t quiet; /* number of queued notes that need no arrival */
};

extern const struct weft_class weft_class_host_pc;

static inline weft_time_t host_clock(const struct weft_host *h)
{
	return weft_now(h->hp->comp);
}

static inline const struct weft_bus_ops *host_bus(const struct weft_host *h)
{
	return weft_bus_of(h->hp->bus);
}

/* host.c */
/* Returns the node's record of slot i. Creates the record on first use. */
struct weft_dev *host_dev(struct host *hp, uint32_t i);
/* Handles all notes of the bus that are due by now. */
void host_settle(struct host *hp);

/* host_io.c */
/* Finds the target of an access to an address of a window. Returns false on a
 * page fault. */
bool host_place(struct weft_host *h, const struct weft_io *io, uint64_t off,
		struct host_place *pl);
/* Returns true if a window holds the access. Otherwise fails a check of the run
 * and returns false, because the program has used a wrong address. */
bool host_fits(struct weft_host *h, const struct weft_io *io, uint64_t off,
	       uint64_t n, uint64_t align);
/* Returns the size of a BAR. The first call reads the size from the device,
 * which takes bus time. */
uint64_t host_bar_size(struct weft_host *h, struct weft_dev *d, uint8_t bar);
/* Waits for the gate to the bus. Threads pass it in order of arrival. */
void host_gate_enter(struct weft_host *h);
/* Lets the next thread pass the gate. */
void host_gate_leave(struct weft_host *h);

/* host_proc.c */
/* Finds the page of a process at a virtual address. Returns false and counts a
 * page fault if there is no page at that address. */
bool host_translate(struct weft_host *h, uint64_t va, struct host_place *pl);
/* Counts an access or call that is not allowed. Returns false. */
static inline bool host_refuse(struct weft_host *h)
{
	weft_count(h->hp->comp, HOST_C_REFUSED, 1);
	return false;
}

/* Returns true if the thread is the monitor, or kernel of the domain. */
static inline bool host_rules(const struct weft_host *h, uint32_t domain)
{
	return !h->proc || (h->proc->kernel && h->proc->domain == domain);
}

/* Frees all processes of the node. */
void host_procs_fini(struct host *hp);

/* light_processes.c */
/* Returns true if a light process waits for a word in [p, p + n). */
bool host_crew_polled(const struct host *hp, const void *p, size_t n);
/* Wakes light processes that wait for a word in [p, p + n). */
void host_crew_stored(struct host *hp, const void *p, size_t n);

/* host_kernel.c */
/* Returns true if no driver owns the BAR, or the thread is inside a driver. */
static inline bool host_reaches(const struct weft_host *h,
				const struct weft_dev *d, uint32_t bar)
{
	return bar >= HOST_BARS || !(d->drv.bars >> bar & 1) || h->calls ||
	       h->driver;
}
/* Returns the owner of memory that the thread allocates now. */
static inline const void *host_owner(const struct weft_host *h)
{
	return h->calls || h->driver ? MEM_KERNEL : h->owner;
}
/* Makes h the result of weft_host_self while a thread runs. Returns the
 * previous result. When the thread yields, the caller passes the previous
 * result to host_running. */
struct weft_host *host_running(struct weft_host *h);
/* Notifies drivers that the thread's process has ended. */
void host_process_gone(struct weft_host *h);
/* Ends the calling thread, and does not return, if the thread was killed and is
 * outside a driver call. Returns otherwise. */
void host_check_killed(struct weft_host *h);

/* host_prog.c */
/* Creates a thread of `prog`, which starts at its first wake-up. */
struct weft_host *host_thread_new(struct weft_comp *host,
				  struct weft_comp *prog);

/* host_thread.c */
/* Resumes the thread if its wake-up is due. Called from the host's event. */
void host_thread_run(struct weft_host *h);
/* Resumes the thread at t, or earlier if an earlier time is planned already. */
void host_wake(struct weft_host *h, weft_time_t t);
/* Lets the thread check its condition now if it waits for `why`. Does nothing
 * if h is NULL. */
static inline void host_nudge(struct weft_host *h, enum host_wait why)
{
	if (h && h->wait == why)
		host_wake(h, host_clock(h));
}

/* Waits until an event wakes the thread. Call it from the thread. */
void host_block(struct weft_host *h, enum host_wait why);
/* Waits for dt plus h->debt, the processor time that the thread has used but
 * not waited for yet. Call it from the thread. */
void host_pass(struct weft_host *h, weft_time_t dt);
/* Returns true if the thread's poll would find a change. */
bool host_poll_hit(const struct weft_host *h);
/* Starts a wait with a deadline, and plans a wake-up at `at`, or now if
 * weft_prog_call has requested that waits end immediately. */
void host_deadline(struct weft_host *h, weft_time_t deadline, weft_time_t at);
/* Returns true if a thread polls memory that overlaps [p, p + n). */
bool host_polled(const struct host *hp, const void *p, size_t n);
/* Wakes threads that poll [p, p + n), because a device has stored to it. */
void host_stored(struct host *hp, const void *p, size_t n);
/* Sets the interrupt line of a device and wakes threads that wait for it. */
void host_irq(struct host *hp, struct weft_dev *d, bool level);
/* Writes the reason for which an unfinished thread waits. */
void host_wait_describe(const struct weft_host *h, char *buf, size_t size);

/* host_prog.c */
/* Finds or makes the state that all hosts share. Returns 0 or -ENOMEM. */
int host_shared_get(struct host *hp);
/* Drops the host's reference to the shared state. */
void host_shared_put(struct host *hp);

/* Counts the end of a program. When the last program has ended, stops the run
 * if weft_progs_stop_at_end is on. */
void host_thread_ended(struct weft_host *h);

#endif
