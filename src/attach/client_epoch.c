/* SPDX-License-Identifier: Apache-2.0 */
/* The attachment of a process: begin and end of what is measured. */
#include <errno.h>

#include "attach/client.h"

int weft_att_epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		   weft_time_t *t_p)
{
	struct att_cmd cmd = { .kind = ATT_C_EPOCH, .buf = job, .len = ranks };
	struct att_reply r;
	int ret;

	if (weft_att_gone(a))
		return -EIO;
	ret = att_call(a, &cmd, &r);
	if (!ret)
		*t_p = r.a;
	return ret;
}

void weft_att_over(struct weft_att *a)
{
	if (!weft_att_gone(a) && att_cmd_new(a, ATT_C_OVER))
		att_post(a);
}
