/* SPDX-License-Identifier: Apache-2.0 */
/* What the Host Port's programs share: a port with memory in a window, and
 * messages of any size by any of its instructions. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_HOSTPORT_PROGRAM_H
#define SYSTEMS_HOSTPORT_PROGRAMS_HOSTPORT_PROGRAM_H

#include "systems/hostport/programs/ultra_program.h"
#include "weft/hostport.h"

enum hostport_program_way {
	HPW_FAST_SEND, /* pieces of 40 bytes */
	HPW_SEND,      /* copied at both ends */
	HPW_POSTED,    /* send into a posted buffer: copied once */
	HPW_FAST_PUT,  /* pieces of 24 bytes */
	HPW_PUT,
	HPW_GET,
	HPW_ULTRA,     /* packets of up to 248 bytes */
	HPW_PUT_BYTES, /* words, all their bytes enabled */
	HPW_FAST_GET,  /* pieces of 24 bytes, in notifications */
	HPW_FAA,       /* words; nothing is added */
	HPW_CAS,       /* words; they stay what they are */
};
#define HPW_WAYS                                                               \
	"fast_send|send|posted|fast_put|put|get|ultra|put_bytes|fast_get|"     \
	"faa|cas"
/* Bytes come to who asks. */
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
	uint64_t size; /* of a message, multiple of 8 */
	uint8_t *in, *out, *sdr;
	uint64_t va;
	/* counted by hostport_program_absorb */
	uint64_t posted, done, got; /* instructions; bytes */
	struct ultraw ultra;
};

enum { HPW_WIN = 1, HPW_CAPABILITY = 0x57454654 };

/* ops.init: a parameter in bytes that must be whole words; 0 or negative. */
int hostport_program_words(struct weft_comp *c, const char *name,
			   uint64_t bytes, struct weft_err *err);
/* The failed check of a library call that returned `ret`. */
void hostport_program_refused(struct weft_comp *c, const char *what, int ret);
/* 0, or negative with a failed check.  Pairs with node `partner`. */
int hostport_program_open(struct hpw *v, struct weft_comp *c, uint32_t partner);
void hostport_program_close(struct hpw *v);
/* One message: what is in v->out; waits for queue space where it must. */
void hostport_program_send(struct hpw *v, uint32_t flags);
/* Takes the next notification. */
void hostport_program_absorb(struct hpw *v);
/* A message whose last word is seq has come into v->in. */
void hostport_program_recv(struct hpw *v, uint64_t seq);

#endif
