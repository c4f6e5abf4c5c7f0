/* SPDX-License-Identifier: Apache-2.0 */
/* What the faults of a FORTH link share. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include "link/flink.h"

/* The frame as line symbols, with the part of each one in its upper bits
 * (unless the frame was damaged before); room for `spare` more. */
struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare);
/* From now on the frame is these symbols. */
void fault_set(struct weft_frame *f, struct weft_raw *raw);

#endif
