/* SPDX-License-Identifier: Apache-2.0 */
/* The 8b/10b line code of Widmer and Franaszek with running disparity
 * (extoll.md 4.8): 256 data and 12 control symbols.
 *
 * A symbol is a byte, with B8B10_K for control symbols: K28.5 is 0x1bc. A code
 * is ten bits, abcdeifghj from bit 9 down. Bit a leaves first. Running
 * disparity is 0 (more zeros, the start of a line) or 1 (more ones). */
#ifndef BASE_B8B10_H
#define BASE_B8B10_H

#include <stdbool.h>
#include <stdint.h>

enum { B8B10_K = 0x100, B8B10_BAD = 0x200, B8B10_SYMBOLS = 512 };

/* Returns true if the symbol has a code. */
bool b8b10_known(uint32_t sym);
/* Returns the code of a symbol for which b8b10_known is true, and updates the
 * disparity. */
uint32_t b8b10_encode(uint32_t sym, uint32_t *rd_p);
/* Returns the symbol of a code. B8B10_BAD is set in two cases: the code has no
 * symbol (the byte is then 0), or the code is valid only at the other disparity
 * (the byte is then correct). The disparity afterwards depends on the code
 * alone, so that one error is not counted twice. */
uint32_t b8b10_decode(uint32_t code, uint32_t *rd_p);

#endif
