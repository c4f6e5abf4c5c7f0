/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the provider's processes. A header of 32 bytes precedes each
 * message, so that a tagged message with remote data and 8 bytes of payload has
 * 40 bytes and fits a small packet of any NIC. The byte order is the machine's,
 * little endian.
 *
 * A short transfer is one message. A long transfer is announced and gets a
 * window (registered memory and a number), into which the NIC puts the data.
 * Each put carries the number as its immediate value. */
#ifndef PROVIDER_WIRE_H
#define PROVIDER_WIRE_H

#include <stdint.h>

enum wire_op {
	WIRE_NONE,
	WIRE_MSG,     /* message: a = tag, b = data; payload: bytes */
	WIRE_RTS,     /* announces a long message: a = tag, b = data; payload:
		       * length */
	WIRE_CTS,     /* answer with a window: id2 = window; payload:
		       * wire_window */
	WIRE_ACK,     /* operation id has ended: a = errno, 0 = good */
	WIRE_ACKS,    /* operations have succeeded; payload: their numbers */
	WIRE_WRITE,   /* write: a = address, b = key; payload: remote data, then
		       * bytes */
	WIRE_WREQ,    /* long write: a = address, b = key; payload: wire_long */
	WIRE_READ,    /* read: a = address, b = key; payload: length */
	WIRE_RREQ,    /* long read into the window id; payload: wire_long */
	WIRE_RESULT,  /* result of operation id: a = errno; payload: bytes */
	WIRE_ATOMIC,  /* a = address, b = key, aux = type, op; payload:
		       * operands */
	WIRE_QUERY,   /* question for the region with key b; answer:
		       * WIRE_REGION */
	WIRE_REGION,  /* answer for the region with key b; payload:
		       * wire_region */
	WIRE_FORGET,  /* the region with key b does not exist any more */
	WIRE_ASK,     /* question: which process has port a? */
	WIRE_HERE,    /* answer: the sender has port a */
	WIRE_CONNECT, /* connection request id; payload: the user's data */
	WIRE_ACCEPT,
	WIRE_REJECT,
	WIRE_SHUTDOWN,
	WIRE_OPS
};

enum {
	WIRE_TAGGED = 1 << 0,
	WIRE_DATA = 1 << 1,  /* b of a message, or data of a write, is valid */
	WIRE_WANT = 1 << 2,  /* the target acknowledges after delivery */
	WIRE_FETCH = 1 << 3, /* atomic: the result is wanted */
	WIRE_COMPARE = 1 << 4, /* atomic: the operation has two operands */
	WIRE_REPLY = 1 << 5, /* a port that does not accept the message drops it
			      * without an error to the sender */
};

struct wire {
	uint8_t op, flags;
	uint16_t dst, src; /* ports, which are endpoints of a process */
	uint16_t aux;
	uint64_t a, b;
	uint32_t id, id2;
};

struct wire_window {
	uint64_t addr, key, len;
};

struct wire_long {
	uint64_t len, data;
	struct wire_window to; /* window for the data of WIRE_RREQ */
};

struct wire_region {
	uint64_t addr, key, len; /* region of the NIC; len 0: the NIC cannot
				  * name it */
	uint64_t base;		 /* address of the first byte in requests */
	uint64_t access;
};

_Static_assert(sizeof(struct wire) == 32, "header");

/* Longest message that every process can receive, header included. */
enum { WIRE_MAX = 4096, WIRE_ROOM = WIRE_MAX - (int)sizeof(struct wire) };

#endif
