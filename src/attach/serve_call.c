/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a client's calls of weft/host.h: MMIO, waiting, time.
 *
 * A wrong argument fails the check of the program and the run, as it would
 * inside the simulator. A command that no library would write is refused the
 * same way, because a client may write anything into its ring. */
#include <errno.h>

#include "attach/serve_host.h"
#include "host/prog.h"
#include "weft/prog.h"

#define COPY_MAX ((uint64_t)1 << 30)
#define POLL_MAX ((uint64_t)1 << 26) /* the node keeps a copy of the range */

bool raw_refuse(struct att_client *c, const char *call, const char *why)
{
	weft_check_failed(c->g->prog, "%s of process %d: %s", call, (int)c->pid,
			  why);
	return false;
}

/* ---- arguments ---- */

static struct weft_dev *dev_of(struct att_client *c,
			       const struct att_host_cmd *k)
{
	return k->dev < ATT_HOST_DEVS ? c->g->raw->dev[k->dev] : NULL;
}

static struct weft_io io_of(struct att_client *c, const struct att_host_cmd *k)
{
	return (struct weft_io){ .dev = dev_of(c, k),
				 .off = k->io_off,
				 .len = k->io_len,
				 .bar = k->bar,
				 .attr = k->attr };
}

void *raw_mem(struct att_client *c, uint64_t off, uint64_t n)
{
	uint64_t size = c->g->raw->info.mem_bytes;

	return off > size || n > size - off ? NULL : c->g->raw->mem + off;
}

struct raw_proc *raw_proc(struct att_client *c, uint16_t handle)
{
	struct att_node *n = c->g->raw;

	if (!handle || handle > n->procs.n || !n->procs.at[handle - 1].p)
		return NULL;
	return &n->procs.at[handle - 1];
}

/* Returns true if the window exists. A window of the monitor lies in a BAR.
 * The host checks that of a process at every access, so it needs no check
 * here. */
static bool window_ok(struct att_client *c, const struct att_host_cmd *k)
{
	struct weft_io io;

	if (!dev_of(c, k) || k->attr > WEFT_WC)
		return false;
	return c->thread.proc ||
	       weft_io_map(c->thread.h, dev_of(c, k), k->bar, k->io_off,
			   k->io_len, (enum weft_io_attr)k->attr, &io);
}

static const char *args_bad(struct att_client *c, const struct att_host_cmd *k,
			    uint32_t args)
{
	if (args & HA_DEV && !dev_of(c, k))
		return "no such device";
	if (args & HA_IO && !window_ok(c, k))
		return "no such window";
	if (args & HA_MEM && !raw_mem(c, k->off, k->io_len))
		return "not in the node's memory";
	if (args & HA_PROC && !raw_proc(c, k->proc))
		return "no such process";
	if (args & HA_DATA &&
	    (!k->n || k->n > ATT_HOST_DATA || k->val > c->view.tx_bytes - k->n))
		return "no such data";
	if (args & HA_KEY && k->n > ATT_HOST_KEY)
		return "name too long";
	return NULL;
}

/* Returns t, or WEFT_NEVER for a time that no run reaches. */
static weft_time_t serve_call_when(uint64_t t)
{
	return t < WEFT_NEVER / 2 ? t : WEFT_NEVER;
}

/* ---- time ---- */

RAW_CALL(call_sync)
{
	weft_host_cpu(c->thread.h, 0);
}

RAW_CALL(call_cpu)
{
	if (k->val <= ATT_BUSY_MAX)
		weft_host_cpu(c->thread.h, k->val);
	else
		raw_refuse(c, "cpu", "too long");
}

RAW_CALL(call_copy)
{
	if (k->io_len <= COPY_MAX)
		weft_prog_copy(c->thread.h, k->io_len);
	else
		raw_refuse(c, "copy", "too long");
}

RAW_CALL(call_now)
{
	r->a = weft_host_now(c->thread.h);
}

RAW_CALL(call_busy)
{
	r->a = weft_host_busy(c->thread.h);
}

RAW_CALL(call_user)
{
	r->a = weft_host_user(c->thread.h);
}

RAW_CALL(call_sleep)
{
	weft_host_sleep(c->thread.h, serve_call_when(k->val));
}

RAW_CALL(call_poll64)
{
	const uint64_t *p = raw_mem(c, k->off, sizeof(*p));

	if (k->off % sizeof(*p) || k->io_len != sizeof(*p)) {
		raw_refuse(c, "poll64", "not aligned");
		return;
	}
	r->a = weft_host_poll64(c->thread.h, p, k->io_off,
				serve_call_when(k->val));
}

RAW_CALL(call_poll_range)
{
	if (k->io_len > POLL_MAX)
		raw_refuse(c, "poll_range", "longer than 64 MiB");
	else
		r->a = weft_host_poll_range(c->thread.h,
					    raw_mem(c, k->off, k->io_len),
					    k->io_len, serve_call_when(k->val));
}

RAW_CALL(call_irq)
{
	static bool (*const fn[])(struct weft_host *, struct weft_dev *,
				  weft_time_t) = { weft_host_irq_wait,
						   weft_host_isr_wait,
						   weft_host_isr_spin };

	r->a = fn[k->kind - ATT_H_IRQ_WAIT](c->thread.h, dev_of(c, k),
					    serve_call_when(k->val));
}

/* ---- devices ---- */

RAW_CALL(call_dev_open)
{
	if (k->dev < ATT_HOST_DEVS)
		c->g->raw->dev[k->dev] = weft_dev_open(c->thread.h, k->dev);
	r->a = dev_of(c, k) != NULL;
}

RAW_CALL(call_cfg)
{
	if (k->off > 4096 || k->n > 4)
		raw_refuse(c, "cfg", "no such register");
	else if (k->kind == ATT_H_CFG_STORE)
		weft_cfg_store(c->thread.h, dev_of(c, k), (uint32_t)k->off,
			       k->n, (uint32_t)k->val);
	else
		r->a = weft_cfg_load(c->thread.h, dev_of(c, k),
				     (uint32_t)k->off, k->n);
}

RAW_CALL(call_io_map)
{
	struct weft_io io = { 0 };

	/* the kernel of a node keeps windows, so their number is limited */
	r->a = k->attr <= WEFT_WC &&
	       (!c->thread.proc || c->g->raw->n_maps++ < RAW_WORDS) &&
	       weft_io_map(c->thread.h, dev_of(c, k), k->bar, k->io_off,
			   k->io_len, (enum weft_io_attr)k->attr, &io);
	r->b = io.off;
}

RAW_CALL(call_load)
{
	struct weft_io io = io_of(c, k);

	r->a = k->kind == ATT_H_LOAD32
		       ? weft_io_load32(c->thread.h, &io, k->off)
		       : weft_io_load64(c->thread.h, &io, k->off);
}

RAW_CALL(call_store)
{
	struct weft_io io = io_of(c, k);

	if (k->kind == ATT_H_STORE32)
		weft_io_store32(c->thread.h, &io, k->off, (uint32_t)k->val);
	else
		weft_io_store64(c->thread.h, &io, k->off, k->val);
}

RAW_CALL(call_io_copy)
{
	struct weft_io io = io_of(c, k);

	weft_io_copy(c->thread.h, &io, k->off, raw_data(c, k), k->n);
}

RAW_CALL(call_fence)
{
	weft_io_fence(c->thread.h);
}

RAW_CALL(call_can_tag)
{
	r->a = weft_io_can_tag(c->thread.h, dev_of(c, k));
}

RAW_CALL(call_tstore)
{
	struct weft_io io = io_of(c, k);

	if (k->kind == ATT_H_TSTORE)
		weft_io_tstore(c->thread.h, &io, k->off, raw_data(c, k), k->n);
	else
		weft_io_tstore_user(c->thread.h, &io, k->off, raw_data(c, k),
				    k->n, k->tag);
}

RAW_CALL(call_tload)
{
	struct weft_io io = io_of(c, k);

	r->a = k->kind == ATT_H_TLOAD
		       ? weft_io_tload64(c->thread.h, &io, k->off, &r->b)
		       : weft_io_tload64_user(c->thread.h, &io, k->off, k->tag,
					      &r->b);
}

RAW_CALL(call_tcstore)
{
	struct weft_io io = io_of(c, k);
	const uint8_t *p = raw_data(c, k);
	uint64_t cond;

	if (k->n <= sizeof(cond)) {
		raw_refuse(c, "io_tcstore", "no such data");
		return;
	}
	memcpy(&cond, p, sizeof(cond));
	r->a = weft_io_tcstore(c->thread.h, &io, k->off, p + sizeof(cond),
			       k->n - (uint32_t)sizeof(cond), cond);
}

/* ---- the table ---- */

static const raw_fn call_fns[ATT_H_END] = {
	[ATT_H_SYNC] = call_sync,
	[ATT_H_CPU] = call_cpu,
	[ATT_H_COPY] = call_copy,
	[ATT_H_NOW] = call_now,
	[ATT_H_BUSY] = call_busy,
	[ATT_H_USER] = call_user,
	[ATT_H_SLEEP] = call_sleep,
	[ATT_H_POLL64] = call_poll64,
	[ATT_H_POLL_RANGE] = call_poll_range,
	[ATT_H_IRQ_WAIT] = call_irq,
	[ATT_H_ISR_WAIT] = call_irq,
	[ATT_H_ISR_SPIN] = call_irq,
	[ATT_H_DEV_OPEN] = call_dev_open,
	[ATT_H_CFG_LOAD] = call_cfg,
	[ATT_H_CFG_STORE] = call_cfg,
	[ATT_H_IO_MAP] = call_io_map,
	[ATT_H_LOAD32] = call_load,
	[ATT_H_LOAD64] = call_load,
	[ATT_H_STORE32] = call_store,
	[ATT_H_STORE64] = call_store,
	[ATT_H_IO_COPY] = call_io_copy,
	[ATT_H_FENCE] = call_fence,
	[ATT_H_CAN_TAG] = call_can_tag,
	[ATT_H_TSTORE] = call_tstore,
	[ATT_H_TSTORE_USER] = call_tstore,
	[ATT_H_TLOAD] = call_tload,
	[ATT_H_TLOAD_USER] = call_tload,
	[ATT_H_TCSTORE] = call_tcstore,
};

static const struct {
	const char *name;
	uint32_t args;
} call_rows[ATT_H_END] = {
#define X(kind, name, args) [ATT_H_##kind] = { name, args },
	ATT_HOST_CALLS(X)
#undef X
};

void raw_run(struct att_client *c, const struct att_host_cmd *k,
	     struct att_reply *r)
{
	/* Each kind is in exactly one table. */
	raw_fn fn = call_fns[k->kind]	   ? call_fns[k->kind]
		    : raw_mem_fns[k->kind] ? raw_mem_fns[k->kind]
					   : raw_proc_fns[k->kind];
	const char *bad =
		fn ? args_bad(c, k, call_rows[k->kind].args) : "no such call";

	if (!bad) {
		fn(c, k, r);
		return;
	}
	raw_refuse(c, call_rows[k->kind].name, bad);
	r->status = -EINVAL;
	r->a = k->kind == ATT_H_LOAD32 || k->kind == ATT_H_LOAD64 ? UINT64_MAX
								  : 0;
}
