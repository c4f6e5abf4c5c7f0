/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time of M-VIA and TCP/IP on a plain Ethernet NIC (hvia.md 6.6): one
 * processor that runs a process and, in between, interrupts. Frames, rings,
 * bus, moderation and line are modelled in detail; the code of the stacks is a
 * time for each step.
 *
 *   send     a call, then for each frame: protocol, copy, descriptor
 *   receive  interrupt, for each frame: protocol, copy; the process spins
 *            first (M-VIA) or sleeps, and pays for the wake-up
 *
 * Connections join two stations, bytes in order. Not modelled: their start and
 * end, windows, congestion control.
 *
 * TCP resends lost bytes. Segments acknowledge all bytes before the expected
 * one. A receiver sends an acknowledgement alone at once after a segment that
 * is not the expected one, otherwise 40 ms after data that no segment has
 * acknowledged. A sender goes back to the first unacknowledged byte after a
 * time-out, which doubles, or after the third equal acknowledgement. Receivers
 * keep only segments in order, and have room. (More frequent acknowledgements
 * of a real stack are part of the time of a frame.) A sender that gives up
 * resets the connection, so that its peer fails with -ECONNRESET. A receiver
 * without news for two hours sends nine probes (keep-alive), and fails with
 * -EHOSTDOWN if none is answered.
 *
 * M-VIA's VIs deliver unreliably: a receiver reports a gap (-EIO), or that no
 * frame arrived within its time-out (-ETIMEDOUT). */
#ifndef SYSTEMS_ETHERNET_LIB_STACK_H
#define SYSTEMS_ETHERNET_LIB_STACK_H

#include "systems/ethernet/lib/eth.h"

/* Bytes of a frame: number of the first one, their count, and the number that
 * the frame's sender expects next (TCP). */
struct stack_seg {
	uint32_t seq, len, ack;
	bool reset; /* the sender has given up */
};

/* Headers of a protocol after the Ethernet header. */
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
	weft_time_t call;      /* library and system call */
	weft_time_t transmit;  /* protocol and driver, a frame */
	weft_time_t interrupt; /* entry and handler */
	weft_time_t restart;   /* restart of the transmitter in its interrupt */
	weft_time_t receive;   /* protocol, a frame */
	weft_time_t detect;    /* poll that finds the message */
	weft_time_t wake;      /* wake-up, switch, return */
	weft_time_t poll;      /* one turn of the polling loop */
	uint32_t polls;	       /* before the process sleeps */
	uint64_t copy_tx, copy_rx; /* bit/s; 0: not copied */
	uint32_t window;	   /* frames in the NIC at a time; 0: all */
	uint32_t ring;
	uint32_t mtu;	     /* of the line; 0 = 1500 */
	weft_time_t timeout; /* TCP: until bytes are resent; M-VIA: until a
			      * receiver gives up; 0: 200 ms and 1 s */
};

struct stack;
/* Connects to the station with number `peer`. Copies *c; p must outlive the
 * stack. Returns 0 or a negative errno. */
int stack_open(struct weft_host *h, const struct stack_proto *p,
	       const struct stack_cost *c, uint32_t peer, struct stack **s_p);
/* Waits until all frames have left, then frees the stack. */
void stack_close(struct stack *s);
/* Sends n bytes. Returns once the stack has all of them, so that the buffer is
 * free: 0, -ENOMEM, or an error of stack_recv(). */
int stack_send(struct stack *s, const void *p, uint32_t n);
/* Waits for n bytes. Returns 0; -EIO: some are missing; -ETIMEDOUT: nothing
 * arrives (M-VIA), or the peer does not acknowledge (TCP); -ECONNRESET,
 * -EHOSTDOWN: see above. */
int stack_recv(struct stack *s, void *p, uint32_t n);
/* Receives and resends until the deadline. Returns 1 once all sent bytes are
 * acknowledged, 0 at the deadline, or an error of stack_recv(). */
int stack_serve(struct stack *s, weft_time_t deadline);
/* Returns the processor time charged to the process: the time of
 * weft_host_busy() without interrupts and without the switch back while the
 * process slept (hvia.md 7.5). */
weft_time_t stack_charged(struct stack *s);

#endif
