/* SPDX-License-Identifier: Apache-2.0 */
/* A fault on a serial line. The input decides for each frame whether the fault
 * lets it pass, loses it, repeats it, changes its symbols (with or without a
 * CRC that fits), or sends forged symbols in front of it. When the input is
 * used up, the fault lets every frame pass, so that the run can end. */
#ifndef FUZZ_LINE_H
#define FUZZ_LINE_H

#include "take.h"
#include "weft/sim.h"

enum { FUZZ_SYMBOLS = 4096 }; /* symbols of one frame at most */

/* Kind of frame that a receiver decodes from the symbols. FUZZ_NOTHING: the
 * receiver accepts no frame. */
enum fuzz_passes { FUZZ_NOTHING, FUZZ_CONTROL, FUZZ_DATA };

/* Operations of a wire protocol that seal and forge its frames. */
struct fuzz_wire {
	/* Writes the right CRC into the symbols or, with `inverted`, the
	 * inverted CRC, which is wrong. */
	void (*seal)(uint16_t *sym, uint32_t n, bool inverted);
	/* Writes the symbols of a frame that takes its fields from the input
	 * and has a right CRC. Returns the number of symbols, at most
	 * FUZZ_SYMBOLS / 2. */
	uint32_t (*forge)(struct fuzz_in *in, uint16_t *sym);
	enum fuzz_passes (*passes)(const struct weft_raw *raw);
};

struct fuzz_line {
	struct fuzz_in in;
	const struct fuzz_wire *wire;
	void (*check)(void); /* called at every frame, or NULL */
	uint32_t pass;	     /* frames still to let pass unharmed */
	uint32_t harmed;     /* frames lost, repeated or changed so far */
	/* Only frames with a correct CRC count in `sealed` and `forged`. The
	 * CRC of a changed frame may be correct on purpose or by chance. */
	uint32_t sealed; /* data frames that this fault changed or made */
	uint32_t forged; /* control frames that this fault changed or made */
};

/* Puts the fault on the output of port p, as a component named `name`. */
void fuzz_line_on(struct fuzz_line *l, struct weft_port *p, const char *name);
/* Class of the fault, for rigs that add it themselves. Its state is a struct
 * fuzz_line *. */
extern const struct weft_class weft_class_fuzz_line;

/* Aborts and prints `what` unless `good` is true. */
void fuzz_must(bool good, const char *what);

/* EXTOLL's cells and control cells, for data paths of 16 and 32 bits. */
extern const struct fuzz_wire fuzz_wire_ex16, fuzz_wire_ex32;

/* ATOLL's flits and states. */
extern const struct fuzz_wire fuzz_wire_atoll;

/* Ethernet, with forged packets of HVIA's kernel agents. */
extern const struct fuzz_wire fuzz_wire_eth;

#endif
