/* SPDX-License-Identifier: Apache-2.0 */
/* See config.h. */
#include "../cmocka_all.h"

#include "config.h"

enum { BAR0 = 0x10, BARS = 6 };

void config_check(struct weft_host *h, struct weft_dev *d,
		  const struct config_row *row, uint32_t n)
{
	for (; n--; row++) {
		uint32_t was = weft_cfg_load(h, d, row->off, row->bytes);

		if (was != row->reset)
			fail_msg("%02x: %x", row->off, was);
		weft_cfg_store(h, d, row->off, row->bytes, UINT32_MAX);
		if (weft_cfg_load(h, d, row->off, row->bytes) != row->ones)
			fail_msg("%02x, ones: %x", row->off,
				 weft_cfg_load(h, d, row->off, row->bytes));
	}
}

void config_bars(struct weft_host *h, struct weft_dev *d, const uint32_t *bytes,
		 uint32_t n)
{
	for (uint32_t i = 0; i < BARS; i++) {
		uint32_t was = weft_cfg_load(h, d, BAR0 + 4 * i, 4);

		weft_cfg_store(h, d, BAR0 + 4 * i, 4, UINT32_MAX);
		assert_int_equal(weft_cfg_load(h, d, BAR0 + 4 * i, 4),
				 i < n ? -bytes[i] : 0);
		weft_cfg_store(h, d, BAR0 + 4 * i, 4, was);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct weft_io io;

		assert_true(weft_io_map(h, d, (uint8_t)i, bytes[i] - 4096, 4096,
					WEFT_UC, &io));
		assert_false(weft_io_map(h, d, (uint8_t)i, bytes[i], 4096,
					 WEFT_UC, &io));
	}
}
