/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of weft/host.h in a process for processes and domains of the simulated
 * node, whose state is in the simulator, and for drivers, whose state is in the
 * process. While a thread is inside a driver's call, it has the rights of the
 * monitor in the simulator, too.
 *
 * Not supported: light processes (weft_proc_start, weft_procs_run). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/host_client.h"

/* ---- domains ---- */

uint32_t weft_domain_new(struct weft_host *h)
{
	struct att_host_cmd c = { .kind = ATT_H_DOMAIN_NEW };

	return (uint32_t)host_call(h, &c, NULL);
}

bool weft_domain_give(struct weft_host *h, uint32_t domain, struct weft_dev *d,
		      uint8_t bar, uint64_t off, uint64_t len)
{
	struct att_host_cmd c = { .kind = ATT_H_DOMAIN_GIVE,
				  .dev = d->index,
				  .n = domain,
				  .bar = bar,
				  .io_off = off,
				  .io_len = len };

	return host_call(h, &c, NULL);
}

static struct weft_proc *proc_local(uint64_t handle)
{
	struct weft_proc *p = handle ? calloc(1, sizeof(*p)) : NULL;

	if (p)
		p->handle = (uint16_t)handle;
	return p;
}

void host_is_process(struct weft_host *h)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_SELF };

	h->proc = proc_local(host_call(h, &c, NULL));
}

bool weft_domain_enter(struct weft_host *h, uint32_t domain)
{
	struct att_host_cmd c = { .kind = ATT_H_DOMAIN_ENTER, .n = domain };
	struct weft_proc *p = proc_local(host_call(h, &c, NULL));

	if (p)
		h->proc = p;
	return p;
}

bool weft_page_share(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		     uint64_t off)
{
	struct att_host_cmd c = { .kind = ATT_H_PAGE_SHARE,
				  .dev = d->index,
				  .bar = bar,
				  .io_off = off };

	return host_call(h, &c, NULL);
}

/* ---- processes ---- */

struct weft_proc *weft_proc_new(struct weft_host *h, uint32_t domain)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_NEW, .n = domain };

	return proc_local(host_call(h, &c, NULL));
}

/* Frees the process in the simulator. The local struct is kept, because threads
 * of the process may still use it. */
void weft_proc_free(struct weft_host *h, struct weft_proc *p)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_FREE, .proc = p->handle };

	host_call(h, &c, NULL);
}

bool weft_proc_map(struct weft_host *h, struct weft_proc *p, struct weft_dev *d,
		   uint8_t bar, uint64_t off, uint64_t len,
		   enum weft_io_attr attr, struct weft_io *io_p)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_MAP,
				  .proc = p->handle,
				  .dev = d->index,
				  .bar = bar,
				  .attr = (uint8_t)attr,
				  .io_off = off,
				  .io_len = len };
	struct att_reply r;

	if (!host_call(h, &c, &r))
		return false;
	*io_p = (struct weft_io){
		.dev = d, .off = r.b, .len = len, .attr = (uint8_t)attr
	};
	return true;
}

void weft_proc_unmap(struct weft_host *h, struct weft_proc *p,
		     const struct weft_io *io)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_UNMAP,
				  .proc = p->handle,
				  .io_off = io->off };

	host_call(h, &c, NULL);
}

bool weft_proc_set_tag(struct weft_host *h, struct weft_proc *p, uint16_t tag)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_TAG,
				  .proc = p->handle,
				  .tag = tag };

	return host_call(h, &c, NULL);
}

struct weft_proc *weft_proc_self(struct weft_host *h)
{
	return h->calls ? h->caller : h->proc;
}

bool weft_proc_enter(struct weft_host *h, struct weft_proc *p)
{
	struct att_host_cmd c = { .kind = ATT_H_PROC_ENTER, .proc = p->handle };
	bool ok = host_call(h, &c, NULL);

	if (ok)
		h->proc = p;
	return ok;
}

bool weft_proc_start(struct weft_host *h, struct weft_proc *p, weft_turn_fn fn,
		     void *arg)
{
	weft_host_log(
		h,
		"light processes (weft_proc_start) are there for programs of the simulator only");
	return false;
}

bool weft_procs_run(struct weft_host *h, uint32_t cpus)
{
	weft_host_log(
		h,
		"light processes (weft_procs_run) are there for programs of the simulator only");
	return false;
}

/* ---- drivers ---- */

bool weft_drv_set(struct weft_host *h, struct weft_dev *d,
		  const struct weft_drv *drv)
{
	struct att_host_cmd c = { .kind = ATT_H_DRV_SET,
				  .dev = d->index,
				  .n = drv->bars };
	bool ok = host_call(h, &c, NULL);

	if (ok)
		d->drv = *drv;
	return ok;
}

/* Enters or leaves a driver. Takes no time and needs no reply, because it only
 * changes the identity of the thread. */
static void enter_or_leave(struct weft_host *h, enum att_host_kind kind,
			   const struct weft_dev *d)
{
	struct att_host_cmd c = { .kind = (uint8_t)kind, .dev = d->index };

	host_put(h, &c);
}

int weft_drv_call(struct weft_host *h, struct weft_dev *d, uint32_t op,
		  void *arg)
{
	struct weft_proc *was = h->proc;
	int ret;

	if (!d->drv.call) {
		/* The process has no driver for this device, so the simulator's
		 * driver executes the call. */
		uint32_t n = WEFT_DRV_BYTES(op);
		struct att_host_cmd c = { .kind = ATT_H_DRV_TRAP,
					  .dev = d->index,
					  .io_off = op };
		struct att_reply r;

		if (!n || n > WEFT_DRV_BYTES_MAX)
			return -ENODEV;
		host_call_data(h, &c, arg, n, &r);
		if (r.status)
			return -EINVAL;
		memcpy(arg, h->att->rx, n);
		if (r.a)
			h->proc = proc_local(r.a);
		return (int)(int64_t)r.b;
	}
	enter_or_leave(h, ATT_H_DRV_CALL, d);
	h->proc = NULL;
	if (!h->calls++)
		h->caller = was;
	ret = d->drv.call(h, d->drv.own, op, arg);
	h->calls--;
	if (!h->proc)
		h->proc = was;
	enter_or_leave(h, ATT_H_DRV_LEAVE, d);
	return ret;
}

void host_gone(struct weft_host *h)
{
	struct att_host_cmd alone = { .kind = ATT_H_ALONE };
	struct weft_proc *p = h->proc;

	if (!p)
		return;
	host_call(h, &alone, NULL);
	for (uint32_t i = 0; i < ATT_HOST_DEVS; i++) {
		struct weft_dev *d = &h->node->dev[i];

		if (!d->drv.gone)
			continue;
		enter_or_leave(h, ATT_H_DRV_CALL, d);
		h->proc = NULL;
		d->drv.gone(h, d->drv.own, p);
		enter_or_leave(h, ATT_H_DRV_LEAVE, d);
	}
}
