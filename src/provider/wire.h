/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the provider's processes. A header of 32 bytes precedes
 * each message, so that a tagged message of 8 bytes with data is 40 bytes and
 * fits one small packet of any NIC. Little endian, as the machine.
 *
 * Short transfers are one message. Long ones are announced, get a window
 * (registered memory and a number), and are put there by the NIC. Each put
 * carries the number as its immediate. */
#ifndef PROVIDER_WIRE_H
#define PROVIDER_WIRE_H

#include <stdint.h>

enum wire_op {
	WIRE_NONE,
	WIRE_MSG,     /* a = tag, b = data; payload */
	WIRE_RTS,     /* long message: a = tag, b = data; payload: length */
	WIRE_CTS,     /* answer: id2 = window, wire_window */
	WIRE_ACK,     /* id has ended: a = errno, 0 = good */
	WIRE_ACKS,    /* payload: numbers of what has ended well */
	WIRE_WRITE,   /* a = address, b = key; payload: data, bytes */
	WIRE_WREQ,    /* long write: a = address, b = key; wire_long */
	WIRE_READ,    /* a = address, b = key; payload: length */
	WIRE_RREQ,    /* long read, into the window id; wire_long */
	WIRE_RESULT,  /* of id: a = errno; payload */
	WIRE_ATOMIC,  /* a = address, b = key, aux = type, op; operands */
	WIRE_QUERY,   /* b = key; the answer is WIRE_REGION */
	WIRE_REGION,  /* of b = key; wire_region */
	WIRE_FORGET,  /* the region with key b no longer exists */
	WIRE_ASK,     /* which process has port a? */
	WIRE_HERE,    /* src has port a */
	WIRE_CONNECT, /* payload: the user's; id = connection */
	WIRE_ACCEPT,
	WIRE_REJECT,
	WIRE_SHUTDOWN,
	WIRE_OPS
};

enum {
	WIRE_TAGGED = 1 << 0,
	WIRE_DATA = 1 << 1,  /* b of a message, or data of a write, is valid */
	WIRE_WANT = 1 << 2,  /* acknowledge after delivery */
	WIRE_FETCH = 1 << 3, /* atomic: with its result */
	WIRE_COMPARE = 1 << 4, /* atomic: two operands */
	WIRE_REPLY = 1 << 5,   /* no answer if the port is closed */
};

struct wire {
	uint8_t op, flags;
	uint16_t dst, src; /* ports: endpoints of a process */
	uint16_t aux;
	uint64_t a, b;
	uint32_t id, id2;
};

struct wire_window {
	uint64_t addr, key, len;
};

struct wire_long {
	uint64_t len, data;
	struct wire_window to; /* WIRE_RREQ */
};

struct wire_region {
	uint64_t addr, key, len; /* as the NIC knows it; len 0: unknown */
	uint64_t base;		 /* address of its first byte in requests */
	uint64_t access;
};

_Static_assert(sizeof(struct wire) == 32, "header");

/* Longest message that every process can take, header included. */
enum { WIRE_MAX = 4096, WIRE_ROOM = WIRE_MAX - (int)sizeof(struct wire) };

#endif
