/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and payloads.
 *
 * A frame is one transmission on a link: its first word moves at a known time,
 * and a word follows every `word_fs`. A frame has one owner. A sender loses
 * ownership when it sends the frame, and the receiver owns the frame from its
 * arrival on. Fields of the protocol are in `u` (see <nic>_wire.h). The payload
 * is a reference-counted slice.
 *
 * A damaged frame also carries its line symbols in `raw`, and the receiver's
 * state machine processes the symbols one by one. */
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
	struct weft_buf *buf; /* NULL: the slice is empty, or the run carries
			       * only sizes */
	uint32_t off, len;
};

/* Line symbols of a damaged frame: a byte in the low bits, and these flags. */
enum { WEFT_SYM_K = 0x100, WEFT_SYM_BAD = 0x200, WEFT_SYM_DISP = 0x400 };
struct weft_raw {
	uint32_t n;
	uint16_t sym[];
};

struct weft_frame {
	weft_time_t time; /* time at which the first word reaches the receiver
			   * (set by weft_port_send) */
	uint64_t word_fs; /* time of one word on this line, in fs */
	uint32_t words;	  /* number of words on the line */
	uint32_t flags;
	struct weft_slice payload;
	struct weft_raw *raw; /* line symbols of a damaged frame; NULL:
			       * undamaged */
	struct weft_sim *sim;
	union {
		struct weft_frame *next; /* link in the free list, or in a
					  * list of the owner */
		void *priv;
	};
	uint64_t trace_id; /* id of the message that the frame belongs to, or
			    * 0 */
	uint64_t u[8];	   /* fields of the protocol */
};

/* Frames, symbols and slices come from pools of the simulation. None of these
 * functions fails, because the simulation ends the program when memory runs
 * out. */

/* Returns a frame of zeros that the caller owns. */
struct weft_frame *weft_frame_new(struct weft_sim *sim);
/* Frees a frame with its symbols, and drops the frame's reference to the
 * payload. */
void weft_frame_free(struct weft_frame *f);
/* Returns a copy that the caller owns. The copy shares the payload by a
 * reference of its own, and has symbols of its own. */
struct weft_frame *weft_frame_dup(const struct weft_frame *f);
/* Returns room for n symbols, not initialised. The caller stores the pointer in
 * weft_frame.raw. The frame then owns the room. */
struct weft_raw *weft_raw_new(struct weft_sim *sim, uint32_t n);

/* Returns a slice of len bytes, not initialised, with one reference that the
 * caller drops or gives away.  Its buf is NULL when the run carries no payload,
 * or len is 0. */
struct weft_slice weft_slice_new(struct weft_sim *sim, uint32_t len);
/* Returns a slice as weft_slice_new does, but with bytes even in runs without
 * payload, because programs wait for these bytes: notification words,
 * completions. */
struct weft_slice weft_slice_word(struct weft_sim *sim, uint32_t len);
/* Returns s with one more reference. */
struct weft_slice weft_slice_ref(struct weft_slice s);
/* Returns `len` bytes of s from `off` on, with a reference of its own. */
struct weft_slice weft_slice_sub(struct weft_slice s, uint32_t off,
				 uint32_t len);
/* Drops the caller's reference and empties the slice. The bytes are freed with
 * the last reference. */
void weft_slice_drop(struct weft_slice *s);
/* Returns the bytes of a slice, or NULL when it carries none. */
static inline uint8_t *weft_slice_data(struct weft_slice s)
{
	return s.buf ? s.buf->data + s.off : NULL;
}

WEFT_C_END

#endif
