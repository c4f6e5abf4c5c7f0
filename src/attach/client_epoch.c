/* SPDX-License-Identifier: Apache-2.0 */
/* Posts the commands by which an attached process starts and ends its measured
 * part. */
#include <errno.h>

#include "attach/client.h"

void weft_att_aside(struct weft_att *a)
{
	if (!weft_att_gone(a) && !a->direct && att_cmd_new(a, ATT_C_ASIDE))
		att_post(a);
}

static int epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		 uint8_t flags, weft_time_t *t_p)
{
	struct att_cmd cmd = {
		.kind = ATT_C_EPOCH, .flags = flags, .buf = job, .len = ranks
	};
	struct att_reply r;
	int ret;

	if (weft_att_gone(a))
		return -EIO;
	ret = att_call(a, &cmd, &r);
	if (!ret)
		*t_p = r.a;
	return ret;
}

int weft_att_epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		   weft_time_t *t_p)
{
	return epoch(a, job, ranks, 0, t_p);
}

int weft_att_epoch_end(struct weft_att *a, uint64_t job, uint32_t ranks)
{
	weft_time_t unused;

	return epoch(a, job, ranks, ATT_F_END, &unused);
}

void weft_att_over(struct weft_att *a)
{
	struct att_cmd cmd = { .kind = ATT_C_OVER };
	struct att_reply r;

	if (weft_att_gone(a))
		return;
	if (a->info.clock != WEFT_CLOCK_NONE)
		att_call(a, &cmd, &r);
	else if (att_cmd_new(a, ATT_C_OVER))
		att_post(a);
}
