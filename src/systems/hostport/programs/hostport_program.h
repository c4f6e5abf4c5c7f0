/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the Host Port's programs: a port with memory in a window, and
 * messages of any size by any of its instructions. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_HOSTPORT_PROGRAM_H
#define SYSTEMS_HOSTPORT_PROGRAMS_HOSTPORT_PROGRAM_H

#include "systems/hostport/programs/ultra_program.h"
#include "weft/hostport.h"

enum hostport_program_way {
	HPW_FAST_SEND, /* FAST_SEND in pieces of 40 bytes */
	HPW_SEND,      /* SEND, which is copied at both ends */
	HPW_POSTED,    /* SEND into a posted buffer: data are copied once */
	HPW_FAST_PUT,  /* FAST_PUT in pieces of 24 bytes */
	HPW_PUT,
	HPW_GET,
	HPW_ULTRA,     /* ULTRA in packets of up to 248 bytes */
	HPW_PUT_BYTES, /* MISALIGNED_PUT of words with all bytes enabled */
	/* FAST_GET in pieces of 24 bytes, which notifications carry */
	HPW_FAST_GET,
	HPW_FAA, /* FAA of each word with operand 0 */
	HPW_CAS, /* CAS that keeps the value of each word */
};
#define HPW_WAYS                                                               \
	"fast_send|send|posted|fast_put|put|get|ultra|put_bytes|fast_get|"     \
	"faa|cas"
/* Returns whether the initiator of this method receives the data. */
static inline bool hostport_program_fetches(uint32_t way)
{
	return way == HPW_GET || way >= HPW_FAST_GET;
}

struct hpw {
	struct program w;
	struct hport *p;
	struct hport_peer to;
	uint32_t way;
	bool unordered, tagged;
	uint64_t mtu;
	uint64_t size; /* bytes of a message, a multiple of 8 */
	uint8_t *in, *out, *sdr;
	uint64_t va;
	/* posted, done: numbers of instructions posted and ended. got: number
	 * of bytes of messages received. hostport_program_absorb() counts done
	 * and got. */
	uint64_t posted, done, got;
	struct ultraw ultra;
};

enum { HPW_WIN = 1, HPW_CAPABILITY = 0x57454654 };

/* Checks in ops.init that a parameter in bytes is a multiple of a word. Returns
 * 0 or a negative errno. */
int hostport_program_words(struct weft_comp *c, const char *name,
			   uint64_t bytes, struct weft_err *err);
/* Reports a failed check for a library call that returned `ret`. */
void hostport_program_refused(struct weft_comp *c, const char *what, int ret);
/* Opens a port and connects with node `partner`. Returns 0, or a negative errno
 * after a failed check. */
int hostport_program_open(struct hpw *v, struct weft_comp *c, uint32_t partner);
/* Waits until all instructions have ended and the partner also closes its port.
 * Then closes the port. */
void hostport_program_close(struct hpw *v);
/* Sends v->out as one message. Waits when a queue is full. */
void hostport_program_send(struct hpw *v, uint32_t flags);
/* Takes the next notification. */
void hostport_program_absorb(struct hpw *v);
/* Waits until a message whose last word is seq has arrived in v->in. */
void hostport_program_recv(struct hpw *v, uint64_t seq);

#endif
