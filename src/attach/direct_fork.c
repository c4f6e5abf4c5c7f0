/* SPDX-License-Identifier: Apache-2.0 */
/* Direct endpoint in a child of fork: all calls fail, because the memory of
 * the endpoint is not in the child. */
#include <errno.h>

#include "attach/direct_internal.h"

static int no_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	return -EIO;
}

static int no_mr_reg(struct weft_ep *ep, void *p, size_t len,
		     struct weft_ep_mr *mr_p)
{
	return -EIO;
}

static int no_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	return -EIO;
}

static int no_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	return 0;
}

static int no_wait(struct weft_ep *ep, weft_time_t deadline)
{
	return -EIO;
}

static void no_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
}

static void no_close(struct weft_ep *ep)
{
}

static const struct weft_ep_ops no_ops = {
	.close = no_close,
	.mr_reg = no_mr_reg,
	.mr_dereg = no_mr_dereg,
	.post = no_post,
	.poll = no_poll,
	.release = no_release,
	.wait = no_wait,
};

void direct_forked(struct direct *d)
{
	d->ep.ops = &no_ops;
	d->seg = NULL;
	d->bell = NULL;
	d->self = NULL;
	for (uint32_t i = 0; i < d->n; i++)
		d->peer[i].place = NULL;
}
