/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of captures: capture.c attaches to lines, capture_rec.c writes the
 * records. */
#ifndef FRONT_RUN_CAPTURE_INTERNAL_H
#define FRONT_RUN_CAPTURE_INTERNAL_H

#include "base/vec.h"
#include "front/out/pcapng.h"
#include "front/run/capture.h"

struct tap {
	struct weft_line_listener head; /* listener of a line whose port reports
					 * its frames */
	struct capture *cap;
	struct weft_port *port;
	uint32_t iface;
	const struct weft_wire_capture *wire;
};

struct capture {
	struct pcapng *file;
	const char *const *patterns;
	size_t n_patterns;
	uint64_t *hits;	  /* number of lines that each pattern matched */
	char example[96]; /* name of a line's end, for messages */
	uint8_t upper;	  /* protocol above the lines, byte 3 of the head */
	uint16_t *sym;
	uint32_t cap;
	bool writing;
	bool bare; /* the run carries no payload */
	struct {
		VEC(struct tap *);
	} taps; /* lines with a listener; valid as long as the run exists */
};

/* Class of the filter on lines whose ports do not report frames. Its state is a
 * struct tap. */
extern const struct weft_class weft_class_capture;
/* Makes all lines report the frames that they carried before now. */
void capture_settle(struct capture *cap);
/* Records a frame, as weft_line_listener.hear. */
void capture_hear(struct weft_line_listener *t, const struct weft_frame *f,
		  weft_time_t start);

#endif
