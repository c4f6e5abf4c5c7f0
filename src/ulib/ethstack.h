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
 * Connections are from one station to another, bytes in order.  Not modelled:
 * acknowledgements, windows and retransmission: what a line loses is missing,
 * and the receiver says so. */
#ifndef ULIB_ETHSTACK_H
#define ULIB_ETHSTACK_H

#include "ulib/eth.h"

/* Headers of a protocol behind the Ethernet header. */
struct stack_proto {
	const char *name;
	uint16_t type;
	uint32_t head; /* bytes */
	/* The data are behind the header. */
	void (*put)(uint8_t *p, uint32_t from, uint32_t to, uint32_t seq,
		    uint32_t len);
	/* False: not for us. */
	bool (*get)(const uint8_t *p, uint32_t len, uint32_t *seq_p,
		    uint32_t *len_p);
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
	uint32_t mtu; /* of the line; 0 = 1500 */
};

struct stack;
/* To the station with number `peer`. */
int stack_open(struct weft_host *h, const struct stack_proto *p,
	       const struct stack_cost *c, uint32_t peer, struct stack **s_p);
/* Waits until what was sent has left. */
void stack_close(struct stack *s);
/* All bytes are with the stack. */
int stack_send(struct stack *s, const void *p, uint32_t n);
/* n bytes; -EIO: some are missing. */
int stack_recv(struct stack *s, void *p, uint32_t n);
/* Processor time charged to the process: not the interrupts, and not the
 * switch back, while it was asleep (hvia.md 7.5); and all of it. */
weft_time_t stack_charged(struct stack *s);
weft_time_t stack_busy(struct stack *s);

#endif
