/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of captures: capture.c attaches to lines, capture_rec.c writes the
 * records. */
#ifndef FRONT_RUN_CAPTURE_INTERNAL_H
#define FRONT_RUN_CAPTURE_INTERNAL_H

#include "base/vec.h"
#include "front/out/pcapng.h"
#include "front/run/capture.h"

struct tap {
	struct weft_line_listener head; /* lines that tell */
	struct capture *cap;
	struct weft_port *port;
	uint32_t iface;
	const struct weft_wire_capture *wire;
};

struct capture {
	struct pcapng *file;
	const char *const *patterns;
	size_t n_patterns;
	uint64_t *hits;	  /* lines, by pattern */
	char example[96]; /* end of a line */
	uint8_t upper;	  /* protocol above the lines, byte 3 */
	uint16_t *sym;
	uint32_t cap;
	bool writing;
	bool bare; /* the run carries no payload */
	struct {
		VEC(struct tap *);
	} taps; /* lines whose ports report frames while the run lives */
};

/* Filter on lines whose ports do not report frames; its state is a struct tap.
 */
extern const struct weft_class weft_class_capture;
/* Makes all lines report what they have carried before now. */
void capture_settle(struct capture *cap);
/* weft_tap.hear. */
void capture_hear(struct weft_line_listener *t, const struct weft_frame *f,
		  weft_time_t start);

#endif
