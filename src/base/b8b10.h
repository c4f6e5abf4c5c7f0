/* SPDX-License-Identifier: Apache-2.0 */
/* The 8b/10b line code of Widmer and Franaszek with running disparity
 * (extoll.md 4.8): 256 data and 12 control symbols.
 *
 * A symbol is a byte, with B8B10_K for control symbols: K28.5 is 0x1bc.  A code
 * is ten bits, abcdeifghj from bit 9 down; a is first on the line.  Running
 * disparity is 0 (more zeros, how a line starts) or 1 (more ones). */
#ifndef BASE_B8B10_H
#define BASE_B8B10_H

#include <stdbool.h>
#include <stdint.h>

enum { B8B10_K = 0x100, B8B10_BAD = 0x200, B8B10_SYMBOLS = 512 };

/* Is there a code for this symbol? */
bool b8b10_known(uint32_t sym);
/* The code of a symbol that b8b10_known; changes the disparity. */
uint32_t b8b10_encode(uint32_t sym, uint32_t *rd_p);
/* The symbol of a code.  With B8B10_BAD: there is none (its byte is 0), or not
 * with this disparity (its byte is that of the other one).  The disparity
 * after it follows from the code alone, so one error is not seen twice. */
uint32_t b8b10_decode(uint32_t code, uint32_t *rd_p);

#endif
