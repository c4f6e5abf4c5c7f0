/* SPDX-License-Identifier: Apache-2.0 */
/* Block RAMs of the FORTH boards, see block_ram.h. */
#include "systems/forth/link/block_ram.h"

#include <errno.h>

int bram_check(const struct weft_comp *c, const struct bram_block *b,
	       uint32_t n, uint32_t budget, uint64_t *sum, struct weft_err *err)
{
	*sum = 0;
	for (uint32_t i = 0; i < n; i++)
		*sum += b[i].used;
	for (uint32_t i = 0; budget == BRAM_REFUSE && i < n; i++)
		if (b[i].used > b[i].budget)
			return weft_fail(
				err, EINVAL,
				"%s: %s: %u block RAMs of 2 KB, the FPGA had %u for them (forth.md 10.3): make %s smaller, or say budget: report",
				c->name, b[i].what, b[i].used, b[i].budget,
				b[i].remedy);
	return 0;
}
