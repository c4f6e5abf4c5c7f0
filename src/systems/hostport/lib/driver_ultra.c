/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: ports of ULTRA (hostport.md 9.3, 9.8). The driver pages
 * belong to the driver. A process changes and maps the ports that it has taken.
 *
 * A port that is given back contains no state of its owner, because its packets
 * have left and its registers name no memory. A port whose packets cannot leave
 * is not given out again. */
#include "systems/hostport/lib/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"

struct hport_uport {
	struct weft_proc *proc;
	bool taken;
	struct weft_io page; /* page.len is 0 while the page is not mapped */
	void *queue;
	uint64_t bytes; /* bytes of the receive queue */
	uint32_t vpid;	/* VPID that the registers of the port name */
};

int hport_ultra_setup(struct hport_drv *d)
{
	struct hport_kernel *k = d->kernel;

	if (!weft_io_map(d->host, d->dev, HP_BAR_ULTRA, 0, HP_ULTRA_BYTES,
			 WEFT_UC, &k->ultra))
		return -ENODEV;
	k->n_uports = (uint32_t)weft_io_load64(d->host, &k->ultra,
					       HP_ULTRA_MGMT + HP_UM_PORTS);
	k->uport = calloc(2 * (size_t)k->n_uports + 1, sizeof(*k->uport));
	return k->uport ? 0 : -ENOMEM;
}

/* Offset in the driver pages of register `reg` of a port. `unit` is 0 for the
 * requester, HP_ULTRA_CPL for the completer. */
#define REG_AT(unit, upid, reg)                                                \
	(HP_ULTRA_DRIVER | (unit) | HP_ULTRA_PAGE(upid) | (reg))
#define OWNER_REG(unit) ((unit) ? HP_UC_OWNER : HP_UR_OWNER)
#define VPID_REG(unit)	((unit) ? HP_UC_VPID : HP_UR_VPID)

static void driver_ultra_put(struct hport_drv *d, uint32_t unit, uint32_t upid,
			     uint32_t reg, uint64_t val)
{
	weft_io_store64(d->host, &d->kernel->ultra, REG_AT(unit, upid, reg),
			val);
}

static uint64_t driver_ultra_get(struct hport_drv *d, uint32_t unit,
				 uint32_t upid, uint32_t reg)
{
	return weft_io_load64(d->host, &d->kernel->ultra,
			      REG_AT(unit, upid, reg));
}

/* Returns the port if it belongs to the caller, otherwise NULL. */
static struct hport_uport *driver_ultra_mine(struct hport_drv *d, uint32_t unit,
					     uint32_t upid)
{
	struct hport_uport *u;

	if ((unit && unit != HP_ULTRA_CPL) || upid >= d->kernel->n_uports)
		return NULL;
	u = &d->kernel->uport[upid + (unit ? d->kernel->n_uports : 0)];
	return u->taken && u->proc == weft_proc_self(d->host) ? u : NULL;
}

int hport_k_ultra_info(struct hport_drv *d, struct hport_c_ultra_info *a)
{
	a->node = d->node;
	a->hpid = (uint32_t)hport_drv_load(d, HP_R_HPID);
	a->ports = d->kernel->n_uports;
	a->words = (uint32_t)weft_io_load64(d->host, &d->kernel->ultra,
					    HP_ULTRA_MGMT + HP_UM_WORDS);
	return 0;
}

bool hport_ultra_names(struct hport_drv *d, uint32_t vpid)
{
	const struct weft_proc *self = weft_proc_self(d->host);

	for (uint32_t i = 0; i < 2 * d->kernel->n_uports; i++) {
		const struct hport_uport *u = &d->kernel->uport[i];

		if (u->taken && u->proc && u->proc != self && u->vpid == vpid)
			return true;
	}
	return false;
}

/* Takes a port without an owner, or fails with -EBUSY. */
int hport_k_ultra_take(struct hport_drv *d, struct hport_c_ultra *a)
{
	struct hport_kernel *k = d->kernel;
	struct hport_uport *u = &k->uport[a->unit ? k->n_uports : 0];
	uint32_t i = 0;

	if (a->unit && a->unit != HP_ULTRA_CPL)
		return -EINVAL;
	while (i < k->n_uports && u[i].taken)
		i++;
	if (i == k->n_uports)
		return -EBUSY;
	u += i;
	*u = (struct hport_uport){ .proc = weft_proc_self(d->host),
				   .taken = true };
	if (u->proc) {
		/* Directs notifications to the new owner, because the registers
		 * still name the VPID of the previous owner. */
		u->vpid = hport_vpid_own(d);
		driver_ultra_put(d, a->unit, i, VPID_REG(a->unit), u->vpid);
	}
	driver_ultra_put(d, a->unit, i, OWNER_REG(a->unit), 1);
	a->upid = i;
	return 0;
}

static bool has_packets(struct hport_drv *d, uint32_t upid)
{
	uint64_t p = driver_ultra_get(d, 0, upid, HP_UR_PTRS);

	return (p >> 16 & 0xffff) != (p & 0xffff);
}

/* Ends the use of a port. Unmaps its page first, so that no new packet
 * enters. */
static void uport_end(struct hport_drv *d, struct hport_uport *u, uint32_t unit,
		      uint32_t upid)
{
	weft_time_t until;
	bool over = true;

	if (u->page.len && u->proc)
		weft_proc_unmap(d->host, u->proc, &u->page);
	if (unit) {
		/* lets pending stores reach the queue before the port is
		 * cleared */
		driver_ultra_put(d, unit, upid, HP_UC_CTRL, 0);
		while (driver_ultra_get(d, unit, upid, HP_UC_CTRL) &
		       HP_ULTRA_STORES)
			;
		driver_ultra_put(d, unit, upid, HP_UC_SIZE, 0);
		driver_ultra_put(d, unit, upid, HP_UC_BASE, 0);
	} else {
		/* Waits until queued packets have left. If a packet cannot
		 * leave, the port stays taken, because another owner must not
		 * get the route of that packet. */
		until = weft_host_now(d->host) +
			weft_host_time(d->host, T_ultra_drain);
		over = !has_packets(d, upid);
		if (!over)
			driver_ultra_put(d, unit, upid, HP_UR_CTRL,
					 HP_ULTRA_EN);
		while (!over && weft_host_now(d->host) < until)
			over = !has_packets(d, upid);
		driver_ultra_put(d, unit, upid, HP_UR_CTRL, 0);
	}
	if (u->queue)
		hport_kmem_free(d, u->queue, u->bytes);
	*u = (struct hport_uport){ .taken = !over };
	if (over)
		driver_ultra_put(d, unit, upid, OWNER_REG(unit), 0);
}

/* Returns whether a process may write the register. Only the driver writes the
 * registers for the address of memory and for the slice of the packet queue,
 * because a process could name memory or a slice of another process. A process
 * may direct notifications only to a port of its own or to none. */
static bool reg_allowed(struct hport_drv *d, const struct hport_c_ultra *a)
{
	const struct hport_kport *p;

	if (!a->write || !weft_proc_self(d->host))
		return true;
	if (a->unit ? a->reg == HP_UC_BASE || a->reg == HP_UC_SIZE
		    : a->reg == HP_UR_SLICE || a->reg == HP_UR_PTRS)
		return false;
	if (a->reg != VPID_REG(a->unit))
		return true;
	p = a->val < HP_VPIDS ? d->kernel->port[a->val] : NULL;
	return !p || p->proc == weft_proc_self(d->host);
}

int hport_k_ultra_queue(struct hport_drv *d, struct hport_c_ultra_queue *a)
{
	struct hport_uport *u = driver_ultra_mine(d, HP_ULTRA_CPL, a->upid);

	if (!u)
		return -EBADF;
	if (u->queue || !a->slices || !a->words || a->words > 255 ||
	    a->slices >> 24)
		return -EINVAL;
	a->phys = 0;
	if (!a->on_device) {
		u->bytes = 8ull * a->slices * a->words;
		u->queue = hport_kmem_alloc(d, u->bytes, &a->phys);
		if (!u->queue)
			return -ENOMEM;
	}
	driver_ultra_put(d, HP_ULTRA_CPL, a->upid, HP_UC_BASE, a->phys);
	driver_ultra_put(d, HP_ULTRA_CPL, a->upid, HP_UC_SIZE,
			 (uint64_t)a->words << 24 | a->slices);
	driver_ultra_put(d, HP_ULTRA_CPL, a->upid, HP_UC_PTRS, 0);
	return 0;
}

int hport_k_ultra_reg(struct hport_drv *d, struct hport_c_ultra *a)
{
	struct hport_uport *u = driver_ultra_mine(d, a->unit, a->upid);

	if (!u)
		return -EBADF;
	if (a->reg >= HP_PAGE || a->reg % 8)
		return -EINVAL;
	if (!reg_allowed(d, a))
		return -EPERM;
	if (!a->write)
		a->val = driver_ultra_get(d, a->unit, a->upid, a->reg);
	else if (a->reg == OWNER_REG(a->unit))
		uport_end(d, u, a->unit, a->upid);
	else
		driver_ultra_put(d, a->unit, a->upid, a->reg, a->val);
	if (a->write && a->reg == VPID_REG(a->unit))
		u->vpid = a->val & (HP_VPIDS - 1);
	return 0;
}

/* Reads the elements of the route from this node to network port np of a
 * node. */
int hport_k_ultra_route(struct hport_drv *d, struct hport_c_ultra_route *a)
{
	uint64_t w[HP_ULTRA_ROUTE_MAX / 8], n;

	hport_drv_lock(d);
	hport_drv_store(d, HP_R_ROUTE_NODE, a->node);
	n = hport_drv_load(d, HP_R_ROUTE_NODE);
	for (uint32_t i = 0; i < HP_ULTRA_ROUTE_MAX / 8; i++)
		w[i] = hport_drv_load(d, HP_R_ROUTE_DATA + 8 * i);
	hport_drv_unlock(d);
	if (n >= HP_ULTRA_ROUTE_MAX)
		return -EHOSTUNREACH;
	memcpy(a->el, w, n);
	a->el[n] = HP_EL(HP_PORT_NP + a->np, 1);
	a->n = (int32_t)n + 1;
	return 0;
}

int hport_k_ultra_map(struct hport_drv *d, struct hport_c_ultra_map *a)
{
	struct hport_uport *u = driver_ultra_mine(d, a->unit, a->upid);
	uint64_t off = a->unit | HP_ULTRA_PAGE(a->upid);
	enum weft_io_attr attr = a->wc ? WEFT_WC : WEFT_UC;
	bool ok;

	if (!u || u->page.len)
		return u ? -EBUSY : -EBADF;
	ok = u->proc ? weft_proc_map(d->host, u->proc, d->dev, HP_BAR_ULTRA,
				     off, HP_PAGE, attr, &u->page)
		     : weft_io_map(d->host, d->dev, HP_BAR_ULTRA, off, HP_PAGE,
				   attr, &u->page);
	a->off = u->page.off;
	a->bar = u->page.bar;
	return ok ? 0 : -ENOMEM;
}

void hport_ultra_gone(struct hport_drv *d, const struct weft_proc *p)
{
	struct hport_kernel *k = d->kernel;

	for (uint32_t i = 0; i < 2 * k->n_uports; i++) {
		uint32_t unit = i < k->n_uports ? 0 : HP_ULTRA_CPL;
		uint32_t upid = i % k->n_uports;

		if (k->uport[i].taken && k->uport[i].proc == p)
			uport_end(d, &k->uport[i], unit, upid);
	}
}
