/* SPDX-License-Identifier: Apache-2.0 */
/* Driver and user library of the FORTH RDMA NIC (forth.md 2.9, 3, 10).
 *
 * The NIC has one operation, a remote write of 1..512 qwords from local to
 * remote physical memory, with three optional notifications. Transfers to one
 * destination leave, travel and arrive in order. The library copies no payload.
 * Programs that need messages, reads or unaligned addresses use the common
 * endpoint (weft/ep.h).
 *
 * A handle belongs to one thread. */
#ifndef WEFT_FORTH_H
#define WEFT_FORTH_H

#include "weft/host.h"

WEFT_C_BEGIN

struct weft_forth;

/* Ways to write descriptors to the request queue (forth.md 3.3, 11.5). */
enum weft_forth_post {
	WEFT_FORTH_POST_WC, /* write-combined lines of up to 4 descriptors */
	WEFT_FORTH_POST_64, /* two 64-bit stores for each descriptor */
	WEFT_FORTH_POST_32, /* four 32-bit stores for each descriptor */
};

/* Flags of a transfer. */
enum {
	WEFT_FORTH_LNOTIFY = 1 << 0,  /* notify the sender when the transfer
				       * has left */
	WEFT_FORTH_RNOTIFY = 1 << 1,  /* notify the receiver when the transfer
				       * has arrived */
	WEFT_FORTH_RIRQ = 1 << 2,     /* interrupt the receiver when the
				       * transfer has arrived */
	WEFT_FORTH_HOLD = 1 << 3,     /* no start flag: a later transfer starts
				       * this one */
	WEFT_FORTH_ANNOUNCE = 1 << 4, /* announces the size of its group: see
				       * weft_forth_desc */
};

struct weft_forth_attr {
	enum weft_forth_post post;
	bool irq;	/* enable the interrupt of remote
			 * notifications */
	bool stopped;	/* do not start the DMA engine */
	uint32_t bench; /* bits WEFT_FORTH_BENCH_*; 0 = off */
	/* number of transfers of a queue after which the library requests a
	 * local notification; 0 = a quarter of the queue */
	uint32_t lnotify_every;
	uint32_t latency_timer; /* latency timer in bus clocks; 0 = 0xFE, as
				 * recommended */
	uint32_t read_max;	/* bytes of a read request: 512, 1024, 2048
				 * or 4096; 0 = 4096 */
	/* Device-visible block of WEFT_FORTH_NOTIFY_BYTES for the words that
	 * the NIC writes; NULL = the library allocates it. A caller that
	 * allocates the block can poll these words and adjacent words by one
	 * weft_host_poll_range. */
	void *notify;
};

#define WEFT_FORTH_NOTIFY_BYTES 128

enum {
	WEFT_FORTH_BENCH_ON = 1 << 0,	/* time stamps ts1 and ts2 replace
					 * payload */
	WEFT_FORTH_BENCH_ZERO = 1 << 1, /* packets carry zeros, without a DMA
					 * read */
	WEFT_FORTH_BENCH_TS34 = 1 << 2, /* the switch adds time stamps, too */
};

struct weft_forth_info {
	uint32_t links;
	uint32_t queues, depth; /* number of request queues, descriptors in
				 * each */
	uint32_t voqs;		/* virtual output queues; 0 = one outgoing
				 * FIFO */
	uint32_t min_payload, max_payload; /* payload of one packet, in bytes */
	uint32_t max_transfer; /* bytes that one descriptor may move on this
				* NIC */
	/* Packets may overtake each other, so only notifications tell a program
	 * that data have arrived. */
	bool multipath;
	bool groups; /* notifications by counting (forth.md 7.7) */
};

/* One transfer. Addresses are multiples of 8. With info.groups a transfer
 * belongs to one of 64 groups of its sender, and the receiver is notified once
 * for each group. In a transfer with ANNOUNCE (and RNOTIFY or RIRQ) `remote` is
 * the number of qwords that the other transfers of its group carry. The qword
 * of the transfer with ANNOUNCE itself is not written. The sender may reuse a
 * group's number when it knows that the receiver has read the notification of
 * the group. */
struct weft_forth_desc {
	weft_phys_t local;
	uint32_t remote;
	uint16_t qwords; /* length, 1..512 */
	uint8_t dst;
	uint8_t flags;
	uint8_t group; /* number of the group, 0..63; info.groups only */
};

/* Finds the NIC (device 0) and initialises it in the order of forth.md 2.9.
 * attr NULL gives defaults. Returns 0 and a handle for weft_forth_close, or
 * -ENODEV (device 0 is another NIC) or -ENOMEM. */
int weft_forth_open(struct weft_host *h, const struct weft_forth_attr *attr,
		    struct weft_forth **f_p);
/* Stops the DMA engine and frees the handle. */
void weft_forth_close(struct weft_forth *f);
/* Returns the NIC's sizes and features; valid until close. */
const struct weft_forth_info *weft_forth_info(const struct weft_forth *f);
/* Returns the handle of the NIC as a device. */
struct weft_dev *weft_forth_dev(struct weft_forth *f);
/* Returns true when the device has the ids of this NIC. Vendor and device id
 * may be in the order of the standard or, as printed in the paper,
 * exchanged. */
bool weft_forth_probe(struct weft_host *h, struct weft_dev *d);

/* ---- transfers ---- */

/* Posts descriptors in order. Consecutive descriptors for one queue are written
 * as clusters, and the last descriptor of a cluster has the start flag unless
 * it has HOLD. The NIC, not the library, refuses wrong descriptors and counts
 * them (desc_errors). Returns the number of posted descriptors, which is below
 * n when a queue is full. */
uint32_t weft_forth_post(struct weft_forth *f, const struct weft_forth_desc *d,
			 uint32_t n);
/* Posts one transfer.  Returns 0, -EAGAIN (the queue is full) or -EINVAL (size,
 * destination, or an address that is not a multiple of 8). */
int weft_forth_put(struct weft_forth *f, uint32_t dst, weft_phys_t local,
		   weft_phys_t remote, uint32_t qwords, uint32_t flags);
/* Writes the words q0 and q1 into one slot of a queue, without the library's
 * book-keeping. For drivers and tests. */
void weft_forth_slot_write(struct weft_forth *f, uint32_t queue, uint32_t slot,
			   uint64_t q0, uint64_t q1);

/* Returns the number of free slots of dst's queue. Reads the notification
 * words in memory and makes no access to the bus. */
uint32_t weft_forth_space(struct weft_forth *f, uint32_t dst);
/* Each counts transfers since open in the queue that serves dst.
 * weft_forth_posted returns the number of posted transfers. weft_forth_departed
 * returns the number of transfers that are known to have departed. */
uint64_t weft_forth_posted(struct weft_forth *f, uint32_t dst);
uint64_t weft_forth_departed(struct weft_forth *f, uint32_t dst);
/* Waits until n slots are free. Reads the pointer register, which costs a bus
 * load, only if no local notification in flight will report n free slots.
 * Returns false at the deadline, or when the queue has fewer slots than n. */
bool weft_forth_wait_space(struct weft_forth *f, uint32_t dst, uint32_t n,
			   weft_time_t deadline);
/* Waits until all transfers posted to dst's queue have departed.  Returns false
 * at the deadline. */
bool weft_forth_flush(struct weft_forth *f, uint32_t dst, weft_time_t deadline);

/* ---- notifications and interrupts ---- */

/* Returns the last remote notification as the NIC wrote it: count, flow and
 * error bits (forth.md 3.8). */
uint64_t weft_forth_remote_word(const struct weft_forth *f);
/* Returns the number of remote notifications so far, modulo 2^32. The number
 * comes from the last notification. */
uint32_t weft_forth_remote_count(const struct weft_forth *f);
struct weft_forth_note {
	uint32_t count;	 /* remote notifications so far */
	uint32_t flow;	 /* destination in the packet's header: this node */
	uint32_t source; /* with multipath: number of the sender; otherwise 0 */
	uint32_t group;	 /* with info.groups: number of the group; otherwise
			  * 0 */
	bool bad_body;	 /* the CRC-32 of the packet was wrong */
	bool loss;	 /* earlier packets of this source were lost */
};
/* Returns the fields of a remote notification. */
struct weft_forth_note weft_forth_note_decode(uint64_t word);
/* Polls until the remote count differs from `seen`.  Returns false at the
 * deadline. */
bool weft_forth_wait_remote(struct weft_forth *f, uint32_t seen,
			    weft_time_t deadline);
/* Returns the last local notification of a queue as the NIC wrote it. */
uint64_t weft_forth_local_word(const struct weft_forth *f, uint32_t queue);
/* Enables or disables the remote interrupt. */
void weft_forth_irq_enable(struct weft_forth *f, bool on);
/* Clears the interrupt flag. The caller must poll all notifications afterwards,
 * because a notification that arrived before the flag was cleared raises no
 * interrupt (forth.md 2.3). */
void weft_forth_irq_ack(struct weft_forth *f);
/* Sleeps until an interrupt, or until the deadline.  Returns true after an
 * interrupt. */
bool weft_forth_irq_wait(struct weft_forth *f, weft_time_t deadline);

/* ---- control (bus accesses) ---- */

/* Starts or stops the DMA engine. */
void weft_forth_enable(struct weft_forth *f, bool on);
/* Resets FIFOs and state machines of the NIC. `pointers` resets the pointers of
 * its queues, too, so that the next descriptor goes into slot 0. */
void weft_forth_reset(struct weft_forth *f, bool pointers);
/* Makes packets return to this node instead of leaving it. */
void weft_forth_loopback(struct weft_forth *f, bool on);
/* Sets the bits WEFT_FORTH_BENCH_*; 0 turns benchmark mode off. */
void weft_forth_bench(struct weft_forth *f, uint32_t bits);
/* Loads and returns the register at offset `off`. */
uint32_t weft_forth_load(struct weft_forth *f, uint32_t off);
/* Writes a register. */
void weft_forth_store(struct weft_forth *f, uint32_t off, uint32_t val);

/* ---- measurement (bus accesses) ---- */

struct weft_forth_dir {
	uint32_t ops, req, qwords, active_pc, granted_pc, disconnects;
};
struct weft_forth_counters {
	struct weft_forth_dir out, in; /* out: host to NIC; in: NIC to host */
	uint32_t irq_pc, irqs, local_notes, remote_notes;
	uint32_t split_ops, split_pc;
	uint32_t body_crc, header_align, h2net_full, net2h_full;
	/* Counters of the network block. A read clears a counter. */
	uint32_t out_cc, in_cc, out_packets, out_words, in_packets, in_words;
	uint32_t header_crc, net_align, backpressure_cc, line_errors;
	uint32_t h2net_start, net2h_start;
	/* Counters that extend the published ones. */
	uint32_t credit_parity, credit_leaked, desc_errors;
	uint32_t resyncs, unsync;
};
/* Reads all counters. */
void weft_forth_counters_read(struct weft_forth *f,
			      struct weft_forth_counters *c_p);
/* Sets all counters to 0. */
void weft_forth_counters_clear(struct weft_forth *f);
/* Returns the sum of the error counters, which is 0 on a network without
 * errors. */
uint64_t weft_forth_counters_errors(const struct weft_forth_counters *c);

/* Errors of the PCI-X bus (forth.md 2.2). The driver enables the NIC's response
 * to wrong parity. A transfer that fails is abandoned and counted in
 * desc_errors (forth.md 3.6). A store with wrong parity is not carried out. */
enum {
	WEFT_FORTH_BUS_PERR = 1 << 0,	      /* PERR# during a transfer of the
					       * NIC */
	WEFT_FORTH_BUS_REFUSED = 1 << 1,      /* the NIC ended an access by an
					       * abort */
	WEFT_FORTH_BUS_TARGET_ABORT = 1 << 2, /* a target refused a transfer */
	WEFT_FORTH_BUS_MASTER_ABORT = 1 << 3, /* no target answered a
					       * transfer */
	WEFT_FORTH_BUS_SERR = 1 << 4,	      /* the NIC asserted SERR# */
	WEFT_FORTH_BUS_PARITY = 1 << 5,	      /* the NIC received wrong
					       * parity */
	WEFT_FORTH_BUS_DISCARDED = 1 << 6,    /* the host did not take the
					       * NIC's answer */
	WEFT_FORTH_BUS_UNEXPECTED = 1 << 7,   /* an answer arrived without a
					       * request */
	WEFT_FORTH_BUS_READ_FAILED = 1 << 8,  /* a split completion error
					       * message arrived */
	WEFT_FORTH_BUS_SILENT = 1 << 9,	      /* the registers cannot be read */
};
/* Reads both status registers, and clears the bits that are set. Returns the
 * errors since the last call as bits WEFT_FORTH_BUS_*. */
uint32_t weft_forth_bus_errors(struct weft_forth *f);

/* One sample of the sampler (forth.md 2.8): qwords out and in since sampling
 * started. */
struct weft_forth_sample {
	uint32_t out, in;
};
/* Starts n samples (at most 4096), one every interval_pc clocks. */
void weft_forth_sample_start(struct weft_forth *f, uint32_t interval_pc,
			     uint32_t n);
/* Reads samples first..first+n-1. */
void weft_forth_sample_read(struct weft_forth *f, uint32_t first, uint32_t n,
			    struct weft_forth_sample *s_p);
/* Writes the cumulative timer (forth.md 2.7). The write arms the timer. */
void weft_forth_timer_arm(struct weft_forth *f, uint32_t value);
/* Returns the cumulative timer, in clocks of PCI-X. */
uint32_t weft_forth_timer_read(struct weft_forth *f);
/* Returns the NIC's time stamp, in clocks of PCI-X, modulo 2^32. */
uint32_t weft_forth_timestamp(struct weft_forth *f);
/* Returns the period of the bus clock in ns, measured by the time stamp and the
 * host's clock. The first call takes 2 ms. */
double weft_forth_pc_ns(struct weft_forth *f);
/* Entry of the event log (forth.md 10.2). The log is off until started, and the
 * NIC keeps the last 4096 entries. Credits sent and received are recorded only
 * on request, because they are frequent. */
struct weft_forth_event {
	uint64_t time; /* time in clocks of PCI-X (pc) */
	uint32_t arg;
	uint8_t unit, event;
};
/* Starts the log without credits. */
void weft_forth_log_start(struct weft_forth *f);
/* Starts the log with credits. */
void weft_forth_log_start_credits(struct weft_forth *f);
/* Stops the log and discards its records. */
void weft_forth_log_stop(struct weft_forth *f);
/* Returns the number of records written since the log was started. */
uint32_t weft_forth_log_count(struct weft_forth *f);
/* Reads records first..first+n-1. Records that were overwritten read as zeros.
 */
void weft_forth_log_read(struct weft_forth *f, uint32_t first, uint32_t n,
			 struct weft_forth_event *e_p);
/* Each returns the name for a number in an entry of the log, or "?" for an
 * unknown number.
 */
const char *weft_forth_unit_name(uint32_t unit);
const char *weft_forth_event_name(uint32_t event);

/* ---- multipath (forth.md 7) ---- */

struct weft_forth_reseq {
	uint32_t losses, sync_lost, overflows; /* 10-bit counters */
	uint32_t out_of_sync;		       /* sources that are out of
						* sync, one bit each */
	uint32_t held, held_max;	       /* number of headers held now,
						* largest number so far */
};
/* Reads the state of resequencing. */
void weft_forth_reseq_read(struct weft_forth *f, struct weft_forth_reseq *r_p);
/* Each restarts paths after loss of sync. The sender calls
 * weft_forth_path_restart for the destinations in the mask. The receiver calls
 * weft_forth_reseq_restart for the sources in the mask. No packet may be in
 * flight between the nodes, because the packet would arrive out of sequence. */
void weft_forth_path_restart(struct weft_forth *f, uint32_t dst_mask);
void weft_forth_reseq_restart(struct weft_forth *f, uint32_t src_mask);

/* Reads the credit state of a flow: words sent, and words that are known to
 * have been forwarded. */
void weft_forth_credit(struct weft_forth *f, uint32_t flow, uint32_t *sent_p,
		       uint32_t *forwarded_p);

WEFT_C_END

#endif
