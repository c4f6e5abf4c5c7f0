/* SPDX-License-Identifier: Apache-2.0 */
/* What M-VIA and TCP/IP on a plain Ethernet NIC cost a host (hvia.md 6.6): one
 * processor that runs a process and, in between, interrupts.  Frames, rings,
 * bus, moderation and line are real; the code of the stacks is so many
 * microseconds for each step.
 *
 *   send     a call, then for each frame: protocol, copy, descriptor
 *   receive  interrupt, for each frame: protocol, copy; the process spins
 *            first (M-VIA) or sleeps, and pays for being woken
 *
 * Connections are from one station to another, bytes in order; their begin and
 * end are not on the wire.
 *
 * TCP repeats what a line loses.  Segments acknowledge all bytes before those
 * that are expected; a receiver sends an acknowledgement alone at once when a
 * segment is not the expected one, and otherwise 40 ms after the data that no
 * answer has acknowledged.  A sender goes back to the first byte without
 * acknowledgement after a time-out, which doubles, or the third equal
 * acknowledgement.  Receivers keep only segments in order, and have room.
 * (Acknowledgements of a real stack that come more often are part of what a
 * frame costs.)  A sender that gives up resets the connection: its peer fails
 * with -ECONNRESET.  A receiver that has heard nothing for two hours asks, nine
 * times (keep-alive), and fails with -EHOSTDOWN when nothing answers.
 *
 * M-VIA's VIs deliver unreliably: a receiver reports a gap (-EIO), or that
 * nothing came for its time-out (-ETIMEDOUT). */
#ifndef SYSTEMS_ETHERNET_LIB_STACK_H
#define SYSTEMS_ETHERNET_LIB_STACK_H

#include "systems/ethernet/lib/eth.h"

/* Bytes of a frame: number of the first, how many, and the number that the
 * sender of the frame expects next (TCP). */
struct stack_seg {
	uint32_t seq, len, ack;
	bool reset; /* the sender has given up */
};

/* Headers of a protocol behind the Ethernet header. */
struct stack_proto {
	const char *name;
	uint16_t type;
	bool reliable;
	uint32_t head; /* bytes */
	/* The data are behind the header. */
	void (*put)(uint8_t *p, uint32_t from, uint32_t to,
		    const struct stack_seg *g);
	/* False: not for us. */
	bool (*get)(const uint8_t *p, uint32_t len, struct stack_seg *g);
};
extern const struct stack_proto stack_mvia, stack_tcpip;

struct stack_cost {
	weft_time_t call;	   /* library and system call */
	weft_time_t transmit;	   /* protocol and driver, a frame */
	weft_time_t interrupt;	   /* entry and handler */
	weft_time_t restart;	   /* of the transmitter, by its interrupt */
	weft_time_t receive;	   /* protocol, a frame */
	weft_time_t detect;	   /* by polling */
	weft_time_t wake;	   /* wake-up, switch, return */
	weft_time_t poll;	   /* a turn of the loop that spins */
	uint32_t polls;		   /* before the process sleeps */
	uint64_t copy_tx, copy_rx; /* bit/s; 0: not copied */
	uint32_t window;	   /* frames the NIC gets at a time; 0: all */
	uint32_t ring;
	uint32_t mtu;	     /* of the line; 0 = 1500 */
	weft_time_t timeout; /* TCP: until bytes are sent again; M-VIA: until a
			      * receiver gives up; 0: 200 ms and 1 s */
};

struct stack;
/* To the station with number `peer`. */
int stack_open(struct weft_host *h, const struct stack_proto *p,
	       const struct stack_cost *c, uint32_t peer, struct stack **s_p);
/* Waits until what was sent has left. */
void stack_close(struct stack *s);
/* All bytes are with the stack. */
int stack_send(struct stack *s, const void *p, uint32_t n);
/* n bytes; -EIO: some are missing; -ETIMEDOUT: nothing comes (M-VIA), or the
 * peer does not acknowledge (TCP); -ECONNRESET, -EHOSTDOWN: see above. */
int stack_recv(struct stack *s, void *p, uint32_t n);
/* Receives and repeats until the deadline, or all that was sent is
 * acknowledged (1); an error as of stack_recv. */
int stack_serve(struct stack *s, weft_time_t deadline);
/* Processor time charged to the process: not the interrupts, and not the
 * switch back, while it was asleep (hvia.md 7.5); and all of it. */
weft_time_t stack_charged(struct stack *s);
weft_time_t stack_busy(struct stack *s);

#endif
