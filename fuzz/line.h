/* SPDX-License-Identifier: Apache-2.0 */
/* A fault on a serial line. The input decides for each frame: the fault lets it
 * pass, loses it, repeats it, changes its symbols, with or without a CRC that
 * fits, or sends others in front of it. When the input ends the line is good,
 * so that the run can end. */
#ifndef FUZZ_LINE_H
#define FUZZ_LINE_H

#include "take.h"
#include "weft/sim.h"

enum { FUZZ_SYMBOLS = 4096 }; /* of a frame at most */

/* Kinds of frames that a receiver accepts from some symbols. */
enum fuzz_passes { FUZZ_NOTHING, FUZZ_CONTROL, FUZZ_DATA };

/* A protocol. */
struct fuzz_wire {
	/* Makes the CRC right, or (inverted) exactly wrong. */
	void (*seal)(uint16_t *sym, uint32_t n, bool inverted);
	/* Symbols of a frame with the right CRC, whose fields are the input's;
	 * at most FUZZ_SYMBOLS / 2. */
	uint32_t (*forge)(struct fuzz_in *in, uint16_t *sym);
	enum fuzz_passes (*passes)(const struct weft_raw *raw);
};

struct fuzz_line {
	struct fuzz_in in;
	const struct fuzz_wire *wire;
	void (*check)(void); /* at every frame; may be NULL */
	uint32_t pass;	     /* frames that go unharmed */
	uint32_t harmed;     /* lost, repeated, changed */
	/* With a CRC that fits, on purpose or by chance: */
	uint32_t sealed; /* data that this fault changed or made */
	uint32_t forged; /* control frames that this fault changed or made */
};

/* Puts the fault on the output of a port. */
void fuzz_line_on(struct fuzz_line *l, struct weft_port *p, const char *name);
/* The class, for rigs that add faults; its state is struct fuzz_line *. */
extern const struct weft_class weft_class_fuzz_line;

/* Prints what went wrong and aborts. */
void fuzz_must(bool good, const char *what);

/* EXTOLL's cells and control cells, 16 and 32 bit. */
extern const struct fuzz_wire fuzz_wire_ex16, fuzz_wire_ex32;

/* ATOLL's flits and states. */
extern const struct fuzz_wire fuzz_wire_atoll;

/* Ethernet; packets of HVIA's kernel agents. */
extern const struct fuzz_wire fuzz_wire_eth;

#endif
