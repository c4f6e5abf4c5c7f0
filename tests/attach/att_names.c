/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls under four names. A report shows characters other than letters,
 * digits and '_' as '?', so that three of the names become equal there. */
#include <stdio.h>

#include "weft/attach.h"

int main(void)
{
	static const char *const names[] = {
		"send-fast",
		"send.fast",
		"send fast",
		"send_fast",
	};
	struct weft_att *a;

	if (weft_att_open(&a))
		return 1;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		weft_att_stat_add(a, weft_att_stat(a, names[i]), i + 1);
	weft_att_close(a);
	return 0;
}
