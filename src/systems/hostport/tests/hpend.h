/* SPDX-License-Identifier: Apache-2.0 */
/* Data regions, posted buffers and windows over all memory of both sides, for
 * scenarios on two Host Ports (hppair.h). */
#ifndef HOSTPORT_TESTS_HPEND_H
#define HOSTPORT_TESTS_HPEND_H

#include "hppair.h"

/* Runs both sides by hppair_run(), then frees the bench. */
void hppair_once(void (*before)(struct hppair *), hppair_fn near,
		 hppair_fn far);
/* Parameters of the NICs for `before`: pairs of name and value, ended by
 * NULL. */
extern const char *const *hppair_sets;
#define HPPAIR_SETS(...) ((const char *const[]){ __VA_ARGS__, NULL })
void hppair_set(struct hppair *t);
uint64_t hppair_counter(const struct hppair *t, uint32_t node,
			const char *name);
/* Runs a far side that only calls hppair_meet() once or twice. */
void hppair_far_1(struct hppair *t, struct hpend *e);
void hppair_far_2(struct hppair *t, struct hpend *e);

/* Fills words from the start of the SDR with the bytes of hpend_byte. */
void hpend_sdr(struct hpend *e, uint32_t words, uint32_t seed);
/* Checks that the message of a NOTIFY_RECV holds the words of hpend_sdr. */
void hpend_rdr_check(struct hpend *e, const uint64_t *w, uint32_t bytes,
		     uint32_t seed);
/* Checks that the region outside the message is still 0xee. Then fills the
 * whole region with 0xee for the next message. */
void hpend_rdr_rest(struct hpend *e, const uint64_t *w, uint32_t bytes);
void hpend_rdr_free(struct hpend *e, uint32_t words);
void hpend_prd(struct hpend *e, uint64_t addr, uint64_t len, uint64_t flags,
	       uint64_t cookie);
/* Writes a PRD. `flags` must include HP_PRD_VALID if the PRD is valid. */
void hpend_prd_raw(struct hpend *e, uint64_t addr, uint64_t len, uint64_t flags,
		   uint64_t cookie);

enum {
	HPEND_WIN = 3, /* window open to all */
	HPEND_OWN = 5, /* window for the instructions of its owner */
	HPEND_CAPA = 0x1234,
	HPEND_LEN = 280 * HP_PAGE,
};
#define HPEND_OPEN (HP_WIN_EN | HP_WIN_RD | HP_WIN_WR)

/* Opens both windows, then calls hppair_meet(). */
void hpend_windows(struct hpend *e);
/* Runs the far side: fills its memory with 0xee, opens both windows, and calls
 * hppair_meet() once more. */
void hppair_far_memory(struct hppair *t, struct hpend *e);
struct hprma hpend_put(uint64_t off, uint64_t ooff, uint64_t len);
struct hprma hpend_get(uint64_t off, uint64_t ooff, uint64_t len);

#endif
