/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and payloads.
 *
 * A frame is what one transmission puts on a link: once its first word moves
 * the rest is arithmetic, one word per `word_fs`.  A frame has exactly one
 * owner: sending gives it away, arrival takes it.  The protocol's own fields
 * live in `u` (see <nic>_wire.h); the payload is a reference-counted slice.
 *
 * A frame damaged on the way carries its line symbols in `raw` instead: the
 * receiver then walks its state machine symbol by symbol. */
#ifndef WEFT_FRAME_H
#define WEFT_FRAME_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_buf {
	uint32_t refs;
	uint32_t cap_log2;
	struct weft_sim *sim;
	struct weft_buf *next_free;
	uint64_t pad_;
	uint8_t data[];
};

struct weft_slice {
	struct weft_buf *buf; /* NULL: sizes only, or empty */
	uint32_t off, len;
};

/* Line symbols of a damaged frame: byte plus flags. */
enum { WEFT_SYM_K = 0x100, WEFT_SYM_BAD = 0x200, WEFT_SYM_DISP = 0x400 };
struct weft_raw {
	uint32_t n;
	uint16_t sym[];
};

struct weft_frame {
	weft_time_t time; /* first word at the receiver (set by send) */
	uint64_t word_fs; /* time per word on this line */
	uint32_t words;	  /* words on the line */
	uint32_t flags;
	struct weft_slice payload;
	struct weft_raw *raw; /* NULL: undamaged */
	struct weft_sim *sim;
	union {
		struct weft_frame *next; /* free list, owner's own lists */
		void *priv;
	};
	uint64_t trace_id; /* follows the message through the system */
	uint64_t u[8];	   /* protocol fields */
};

/* Frames, symbols and slices come from pools of the simulation, which ends the
 * program when memory runs out: none of these functions fails. */

/* Returns a frame of zeros that the caller owns. */
struct weft_frame *weft_frame_new(struct weft_sim *sim);
/* Frees a frame with its symbols and drops its reference to the payload. */
void weft_frame_free(struct weft_frame *f);
/* Returns a copy that the caller owns; it shares the payload by a reference of
 * its own and has its own symbols. */
struct weft_frame *weft_frame_dup(const struct weft_frame *f);
/* Returns room for n symbols, not initialised, to be put into weft_frame.raw:
 * the frame frees it. */
struct weft_raw *weft_raw_new(struct weft_sim *sim, uint32_t n);

/* Returns a slice of len bytes, not initialised, with one reference that the
 * caller drops or gives away.  Its buf is NULL when the run carries no payload,
 * or len is 0. */
struct weft_slice weft_slice_new(struct weft_sim *sim, uint32_t len);
/* Returns a slice as weft_slice_new does, but also in runs without payload,
 * because programs wait for its data: notification words, completions. */
struct weft_slice weft_slice_word(struct weft_sim *sim, uint32_t len);
/* Returns s with one more reference. */
struct weft_slice weft_slice_ref(struct weft_slice s);
/* Returns `len` bytes of s from `off` on, with a reference of its own. */
struct weft_slice weft_slice_sub(struct weft_slice s, uint32_t off,
				 uint32_t len);
/* Drops the caller's reference and empties the slice; the last one frees the
 * bytes. */
void weft_slice_drop(struct weft_slice *s);
/* Returns the bytes of a slice, or NULL when it carries none. */
static inline uint8_t *weft_slice_data(struct weft_slice s)
{
	return s.buf ? s.buf->data + s.off : NULL;
}

WEFT_C_END

#endif
