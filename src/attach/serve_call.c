/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a client's calls of weft/host.h for MMIO, waiting and time.
 *
 * A wrong argument fails a check of the run, as it does in a program inside the
 * simulator. A command that no library would write fails a check, too, because
 * a client may write anything into its ring. */
#include <errno.h>

#include "attach/serve_host.h"
#include "host/prog.h"
#include "weft/prog.h"

#define COPY_MAX ((uint64_t)1 << 30)
/* limit of a polled range in bytes, because the node keeps a copy of it */
#define POLL_MAX ((uint64_t)1 << 26)

bool raw_refuse(struct att_client *c, const char *call, const char *why)
{
	weft_check_failed(c->g->prog, "%s of process %d: %s", call, (int)c->pid,
			  why);
	return false;
}

/* ---- arguments ---- */

struct weft_dev *raw_dev(const struct att_client *c,
			 const struct att_host_cmd *k)
{
	return k->dev < ATT_HOST_DEVS ? c->g->raw->dev[k->dev] : NULL;
}

weft_time_t raw_time(uint64_t t)
{
	return t < WEFT_NEVER / 2 ? t : WEFT_NEVER;
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

static const char *args_bad(struct att_client *c, const struct att_host_cmd *k,
			    uint32_t args)
{
	struct weft_io io;

	if (args & HA_DEV && !raw_dev(c, k))
		return "no such device";
	/* The monitor's windows must lie in a BAR. Windows of other processes
	 * are not checked here, because the host checks them at every
	 * access. */
	if (args & HA_IO &&
	    (!raw_dev(c, k) || k->attr > WEFT_WC ||
	     (!c->thread.proc &&
	      !weft_io_map(c->thread.h, raw_dev(c, k), k->bar, k->io_off,
			   k->io_len, (enum weft_io_attr)k->attr, &io))))
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

/* ---- calls ----
 * Each function carries out the calls of one subject. It returns false for
 * calls of other subjects. */

static bool run_time(struct att_client *c, const struct att_host_cmd *k,
		     struct att_reply *r)
{
	struct weft_host *h = c->thread.h;

	switch (k->kind) {
	case ATT_H_SYNC:
		weft_host_cpu(h, 0);
		break;
	case ATT_H_CPU:
		if (k->val <= ATT_BUSY_MAX)
			weft_host_cpu(h, k->val);
		else
			raw_refuse(c, "cpu", "too long");
		break;
	case ATT_H_COPY:
		if (k->io_len <= COPY_MAX)
			weft_prog_copy(h, k->io_len);
		else
			raw_refuse(c, "copy", "too long");
		break;
	case ATT_H_NOW:
		r->a = weft_host_now(h);
		break;
	case ATT_H_BUSY:
		r->a = weft_host_busy(h);
		break;
	case ATT_H_USER:
		r->a = weft_host_user(h);
		break;
	default:
		return false;
	}
	return true;
}

static bool run_wait(struct att_client *c, const struct att_host_cmd *k,
		     struct att_reply *r)
{
	weft_time_t end = raw_time(k->val);
	struct weft_host *h = c->thread.h;

	switch (k->kind) {
	case ATT_H_SLEEP:
		weft_host_sleep(h, end);
		break;
	case ATT_H_NAP:
		if (k->val <= ATT_BUSY_MAX)
			weft_host_nap(h, k->val);
		else
			raw_refuse(c, "nap", "too long");
		break;
	case ATT_H_POLL64:
		if (k->off % sizeof(uint64_t) || k->io_len != sizeof(uint64_t))
			raw_refuse(c, "poll64", "not aligned");
		else
			r->a = weft_host_poll64(
				h, raw_mem(c, k->off, sizeof(uint64_t)),
				k->io_off, end);
		break;
	case ATT_H_POLL_RANGE:
		if (k->io_len > POLL_MAX)
			raw_refuse(c, "poll_range", "longer than 64 MiB");
		else
			r->a = weft_host_poll_range(
				h, raw_mem(c, k->off, k->io_len), k->io_len,
				end);
		break;
	case ATT_H_IRQ_WAIT:
		r->a = weft_host_irq_wait(h, raw_dev(c, k), end);
		break;
	case ATT_H_ISR_WAIT:
		r->a = weft_host_isr_wait(h, raw_dev(c, k), end);
		break;
	case ATT_H_ISR_SPIN:
		r->a = weft_host_isr_spin(h, raw_dev(c, k), end);
		break;
	default:
		return false;
	}
	return true;
}

static bool run_device(struct att_client *c, const struct att_host_cmd *k,
		       struct att_reply *r)
{
	struct weft_host *h = c->thread.h;
	struct weft_io io = { 0 };

	switch (k->kind) {
	case ATT_H_DEV_OPEN:
		if (k->dev < ATT_HOST_DEVS)
			c->g->raw->dev[k->dev] = weft_dev_open(h, k->dev);
		r->a = raw_dev(c, k) != NULL;
		break;
	case ATT_H_CFG_LOAD:
	case ATT_H_CFG_STORE:
		if (k->off > 4096 || k->n > 4)
			raw_refuse(c, "cfg", "no such register");
		else if (k->kind == ATT_H_CFG_STORE)
			weft_cfg_store(h, raw_dev(c, k), (uint32_t)k->off, k->n,
				       (uint32_t)k->val);
		else
			r->a = weft_cfg_load(h, raw_dev(c, k), (uint32_t)k->off,
					     k->n);
		break;
	case ATT_H_IO_MAP:
		/* The number of windows is limited, because the node's kernel
		 * stores each of them. */
		r->a = k->attr <= WEFT_WC &&
		       (!c->thread.proc || c->g->raw->n_maps++ < RAW_WORDS) &&
		       weft_io_map(h, raw_dev(c, k), k->bar, k->io_off,
				   k->io_len, (enum weft_io_attr)k->attr, &io);
		r->b = io.off;
		break;
	case ATT_H_CAN_TAG:
		r->a = weft_io_can_tag(h, raw_dev(c, k));
		break;
	default:
		return false;
	}
	return true;
}

static struct weft_io io_of(struct att_client *c, const struct att_host_cmd *k)
{
	return (struct weft_io){ .dev = raw_dev(c, k),
				 .off = k->io_off,
				 .len = k->io_len,
				 .bar = k->bar,
				 .attr = k->attr };
}

static bool run_access(struct att_client *c, const struct att_host_cmd *k,
		       struct att_reply *r)
{
	struct weft_io io = io_of(c, k);
	struct weft_host *h = c->thread.h;

	switch (k->kind) {
	case ATT_H_LOAD32:
		r->a = weft_io_load32(h, &io, k->off);
		break;
	case ATT_H_LOAD64:
		r->a = weft_io_load64(h, &io, k->off);
		break;
	case ATT_H_STORE32:
		weft_io_store32(h, &io, k->off, (uint32_t)k->val);
		break;
	case ATT_H_STORE64:
		weft_io_store64(h, &io, k->off, k->val);
		break;
	case ATT_H_IO_COPY:
		weft_io_copy(h, &io, k->off, raw_data(c, k), k->n);
		break;
	case ATT_H_FENCE:
		weft_io_fence(h);
		break;
	default:
		return false;
	}
	return true;
}

static bool run_tagged(struct att_client *c, const struct att_host_cmd *k,
		       struct att_reply *r)
{
	struct weft_io io = io_of(c, k);
	struct weft_host *h = c->thread.h;
	const uint8_t *p;
	uint64_t cond;

	switch (k->kind) {
	case ATT_H_TSTORE:
		weft_io_tstore(h, &io, k->off, raw_data(c, k), k->n);
		break;
	case ATT_H_TSTORE_USER:
		weft_io_tstore_user(h, &io, k->off, raw_data(c, k), k->n,
				    k->tag);
		break;
	case ATT_H_TLOAD:
		r->a = weft_io_tload64(h, &io, k->off, &r->b);
		break;
	case ATT_H_TLOAD_USER:
		r->a = weft_io_tload64_user(h, &io, k->off, k->tag, &r->b);
		break;
	case ATT_H_TCSTORE:
		if (k->n <= sizeof(cond)) {
			raw_refuse(c, "io_tcstore", "no such data");
			break;
		}
		p = raw_data(c, k);
		memcpy(&cond, p, sizeof(cond));
		r->a = weft_io_tcstore(h, &io, k->off, p + sizeof(cond),
				       k->n - (uint32_t)sizeof(cond), cond);
		break;
	default:
		return false;
	}
	return true;
}

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
	const char *bad = args_bad(c, k, call_rows[k->kind].args);

	if (!bad &&
	    (run_time(c, k, r) || run_wait(c, k, r) || run_device(c, k, r) ||
	     run_access(c, k, r) || run_tagged(c, k, r) ||
	     raw_run_mem(c, k, r) || raw_run_name(c, k, r) ||
	     raw_run_domain(c, k, r) || raw_run_proc(c, k, r) ||
	     raw_run_driver(c, k, r) || raw_run_thread(c, k, r)))
		return;
	raw_refuse(c, call_rows[k->kind].name, bad ? bad : "no such call");
	r->status = -EINVAL;
	r->a = k->kind == ATT_H_LOAD32 || k->kind == ATT_H_LOAD64 ? UINT64_MAX
								  : 0;
}
