/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a device's configuration space against a table. */
#ifndef TESTS_HOST_CONFIG_H
#define TESTS_HOST_CONFIG_H

#include "weft/host.h"

struct config_row {
	uint32_t off, bytes;
	uint32_t reset; /* value after reset */
	uint32_t ones;	/* value after a store of ones */
};
#define CONFIG_CHECK(h, d, rows)                                               \
	config_check(h, d, rows, sizeof(rows) / sizeof(*(rows)))
void config_check(struct weft_host *h, struct weft_dev *d,
		  const struct config_row *row, uint32_t n);
/* Checks the sizes of the first n BARs: address bits below the size read as
 * zero, because an aperture is aligned to its length. The other BARs must not
 * exist. */
void config_bars(struct weft_host *h, struct weft_dev *d, const uint32_t *bytes,
		 uint32_t n);

#endif
