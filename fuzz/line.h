/* SPDX-License-Identifier: Apache-2.0 */
/* A fault on a serial line that does to each frame what the input says: lets
 * it pass, loses it, repeats it, changes its symbols, with or without a CRC
 * that fits, or sends others in front of it.  When the input ends the line is
 * good. */
#ifndef FUZZ_LINE_H
#define FUZZ_LINE_H

#include "take.h"
#include "weft/sim.h"

enum { FUZZ_SYMBOLS = 4096 }; /* of a frame at most */

/* Frames that a receiver takes as good out of some symbols. */
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
	/* with a CRC that fits, on purpose or by chance: */
	uint32_t sealed; /* data that was changed or made here */
	uint32_t forged; /* control frames likewise */
};

/* Sits on what leaves the port. */
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
