/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time of M-VIA and TCP/IP on a plain Ethernet NIC (hvia.md 6.6). One
 * processor runs a process and interrupt handlers. Frames, rings, bus,
 * moderation and line are modelled in detail. Each step of the stack's code
 * only takes processor time.
 *
 *   send     a call, then for each frame: protocol, copy, descriptor
 *   receive  interrupt, then for each frame: protocol, copy. The process spins
 *            first (M-VIA) or sleeps at once. Its wake-up takes processor time
 *
 * Connections join two stations and keep bytes in order. Not modelled: start
 * and end of connections, windows, congestion control.
 *
 * TCP resends lost bytes. Each segment acknowledges all bytes before the byte
 * that its sender expects next. A receiver sends a segment without data that
 * only acknowledges: at once after an unexpected segment, otherwise 40 ms after
 * data that no segment has acknowledged. A sender goes back to the first
 * unacknowledged byte after a time-out, or after the third equal
 * acknowledgement. Each further time-out is twice as long, up to a limit. A
 * receiver drops segments out of order. Its buffer has no limit. A real stack
 * sends more acknowledgements, and their cost is included in the processor time
 * of a frame. A sender that gives up resets the connection, so that its peer
 * fails with -ECONNRESET. A receiver without a segment for two hours sends nine
 * probes (keep-alive), and fails with -EHOSTDOWN if no probe is answered.
 *
 * M-VIA's VIs deliver unreliably: a receiver reports a gap (-EIO), or that no
 * frame arrived within its time-out (-ETIMEDOUT). */
#ifndef SYSTEMS_ETHERNET_LIB_STACK_H
#define SYSTEMS_ETHERNET_LIB_STACK_H

#include "systems/ethernet/lib/eth.h"

/* Bytes of a frame: number of the first byte, number of bytes, and the byte
 * that the frame's sender expects next (TCP). */
struct stack_seg {
	uint32_t seq, len, ack;
	bool reset; /* the sender of the segment has given up */
};

/* Functions for the headers of a protocol, which follow the Ethernet header. */
struct stack_proto {
	const char *name;
	uint16_t type;
	bool reliable;
	uint32_t head; /* bytes */
	/* Writes the header. The data follow it. */
	void (*put)(uint8_t *p, uint32_t from, uint32_t to,
		    const struct stack_seg *g);
	/* Reads the header. Returns false if the frame is not for this station
	 * or damaged. */
	bool (*get)(const uint8_t *p, uint32_t len, struct stack_seg *g);
};
extern const struct stack_proto stack_mvia, stack_tcpip;

struct stack_cost {
	weft_time_t call;      /* time of library and system call */
	weft_time_t transmit;  /* time of protocol and driver per frame */
	weft_time_t interrupt; /* time of interrupt entry and handler */
	/* processor time of the interrupt that restarts the transmitter */
	weft_time_t restart;
	weft_time_t receive; /* time of the protocol per received frame */
	weft_time_t detect;  /* time of the poll that finds the message */
	weft_time_t wake;    /* time of wake-up, process switch and return */
	weft_time_t poll;    /* time of one iteration of the polling loop */
	uint32_t polls;	     /* number of polls before the process sleeps */
	/* rate of copying in bit/s, or 0 for no copy */
	uint64_t copy_tx, copy_rx;
	/* largest number of frames in the NIC, or 0 for no limit */
	uint32_t window;
	uint32_t ring;
	uint32_t mtu; /* MTU of the line, or 0 for 1500 */
	/* TCP: time until the first resend, 0 for 200 ms. M-VIA: time until a
	 * receiver gives up, 0 for 1 s. */
	weft_time_t timeout;
};

struct stack;
/* Connects to the station with number `peer`. Copies *c. p must outlive the
 * stack. Returns 0 or a negative errno. */
int stack_open(struct weft_host *h, const struct stack_proto *p,
	       const struct stack_cost *c, uint32_t peer, struct stack **s_p);
/* Waits until all frames have left, then frees the stack. */
void stack_close(struct stack *s);
/* Sends n bytes. Returns once the stack has copied all of them, so that the
 * caller may reuse the buffer. Returns 0, -ENOMEM, or an error of
 * stack_recv(). */
int stack_send(struct stack *s, const void *p, uint32_t n);
/* Waits for n bytes. Returns 0, -EIO if some are missing, -ETIMEDOUT if nothing
 * arrives (M-VIA) or the peer does not acknowledge (TCP), -ECONNRESET if the
 * peer gave up, or -EHOSTDOWN if it answers no probe. */
int stack_recv(struct stack *s, void *p, uint32_t n);
/* Receives and resends until the deadline. Returns 1 once all sent bytes are
 * acknowledged, 0 at the deadline, or an error of stack_recv(). */
int stack_serve(struct stack *s, weft_time_t deadline);
/* Returns the processor time charged to the process: the time of
 * weft_host_busy() minus the time of interrupts and of switches back to a
 * process that slept (hvia.md 7.5). */
weft_time_t stack_charged(struct stack *s);

#endif
