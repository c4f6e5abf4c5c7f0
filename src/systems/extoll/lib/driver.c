/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL driver, see driver.h.  Source: extoll.md 2.4 to 2.7, 6.1. */
#include <errno.h>
#include <string.h>

#include "host/times.h"
#include "systems/extoll/lib/driver.h"

bool extoll_drv_probe(struct weft_host *h, struct weft_dev *d)
{
	return weft_cfg_load(h, d, EXTOLL_CFG_VENDOR, 4) ==
	       (EXTOLL_DEVICE_ID << 16 | EXTOLL_VENDOR_ID);
}

void extoll_drv_lock(struct extoll_drv *d)
{
	while (extoll_drv_load(d, EXTOLL_DRIVER_LOCK))
		weft_host_cpu(d->host, weft_host_time(d->host, T_extoll_retry));
}

void extoll_drv_unlock(struct extoll_drv *d)
{
	extoll_drv_store(d, EXTOLL_DRIVER_LOCK, 0);
}

/* Sets up the state of the node. Called when its first program opens the
 * device. */
static struct extoll_kernel *drv_kernel_new(struct extoll_drv *d)
{
	static const struct {
		uint64_t lower, bytes, port;
	} range[] = {
		/* address ranges of host requests, and their units (2.4) */
		{ EXTOLL_VELO, EXTOLL_VELO_BYTES, EXTOLL_HX_VELO },
		{ EXTOLL_RMA, EXTOLL_RMA_BYTES, EXTOLL_HX_RMA_REQ },
	};
	weft_phys_t phys;
	struct extoll_kernel *k =
		weft_mem_alloc(d->host, sizeof(*k), 64, &phys);

	if (!k)
		return NULL;
	k->evq = weft_mem_alloc(d->host, 8 * EXTOLL_EVQ_ENTRIES, 64,
				&k->evq_phys);
	if (!k->evq) {
		weft_mem_free(d->host, k);
		return NULL;
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = (i + 1) * EXTOLL_INTERVAL_STRIDE;

		extoll_drv_store(d, at + EXTOLL_INTERVAL_LOWER, range[i].lower);
		extoll_drv_store(d, at + EXTOLL_INTERVAL_UPPER,
				 range[i].lower + range[i].bytes - 1);
		extoll_drv_store(d, at + EXTOLL_INTERVAL_TARGET,
				 range[i].port | EXTOLL_INTERVAL_ENABLE);
	}
	extoll_drv_store(d, EXTOLL_EVQ_BASE, k->evq_phys);
	extoll_drv_store(d, EXTOLL_EVQ_SIZE, EXTOLL_EVQ_ENTRIES);
	extoll_drv_store(d, EXTOLL_DRIVER_STATE, (uintptr_t)k);
	return k;
}

int extoll_drv_open(struct weft_host *h, struct extoll_drv *d)
{
	memset(d, 0, sizeof(*d));
	d->host = h;
	d->dev = weft_dev_open(h, 0);
	if (!d->dev || !extoll_drv_probe(h, d->dev))
		return -ENODEV;
	weft_cfg_store(h, d->dev, EXTOLL_CFG_COMMAND, 2,
		       EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER);
	if (!weft_io_map(h, d->dev, EXTOLL_BAR, EXTOLL_RF, EXTOLL_RF_BYTES,
			 WEFT_UC, &d->rf))
		return -ENOMEM;
	d->build = extoll_drv_load(d, EXTOLL_BUILD);
	d->node = (uint32_t)extoll_drv_load(d, EXTOLL_NODE_ID);
	d->nodes = (uint32_t)extoll_drv_load(d, EXTOLL_NODES);
	extoll_drv_lock(d);
	d->kernel = (struct extoll_kernel *)(uintptr_t)extoll_drv_load(
		d, EXTOLL_DRIVER_STATE);
	if (!d->kernel)
		d->kernel = drv_kernel_new(d);
	if (d->kernel) {
		d->kernel->users++;
		d->seen = d->kernel->taken;
	}
	extoll_drv_unlock(d);
	return d->kernel ? 0 : -ENOMEM;
}

void extoll_drv_close(struct extoll_drv *d)
{
	extoll_drv_lock(d);
	if (!--d->kernel->users) {
		extoll_drv_store(d, EXTOLL_EVQ_SIZE, 0);
		extoll_drv_store(d, EXTOLL_DRIVER_STATE, 0);
		weft_mem_free(d->host, (void *)d->kernel->evq);
		weft_mem_free(d->host, d->kernel);
	}
	extoll_drv_unlock(d);
}

/* ---- VPIDs ---- */

int extoll_drv_vpid(struct extoll_drv *d, int32_t want)
{
	uint64_t *taken = d->kernel->vpids;
	uint32_t v = want < 0 ? 0 : (uint32_t)want;
	int ret = want < 0 ? -ENOSPC : -EBUSY;

	if (want >= EXTOLL_VPIDS)
		return -EINVAL;
	extoll_drv_lock(d);
	/* for want < 0 advances to the lowest free VPID */
	while (want < 0 && v < EXTOLL_VPIDS - 1 && taken[v / 64] >> v % 64 & 1)
		v++;
	if (!(taken[v / 64] >> v % 64 & 1)) {
		taken[v / 64] |= 1ull << v % 64;
		ret = (int)v;
	}
	extoll_drv_unlock(d);
	return ret;
}

void extoll_drv_vpid_free(struct extoll_drv *d, uint32_t vpid)
{
	extoll_drv_lock(d);
	d->kernel->vpids[vpid / 64] &= ~(1ull << vpid % 64);
	extoll_drv_unlock(d);
}

void extoll_drv_drain(struct extoll_drv *d)
{
	weft_io_fence(d->host);
	while (extoll_drv_load(d, EXTOLL_HTAX_WAITING))
		weft_host_cpu(d->host, weft_host_time(d->host, T_extoll_retry));
}

/* ---- routes, events ---- */

void extoll_drv_route(struct extoll_drv *d, uint32_t node, const uint8_t *port,
		      uint32_t n)
{
	uint64_t nib[4] = { 0 };

	for (uint32_t i = 0; i < n && i < 64; i++)
		nib[i / 16] |= (uint64_t)(port[i] & 15) << i % 16 * 4;
	extoll_drv_lock(d);
	extoll_drv_store(d, EXTOLL_ROUTE_INDEX, node);
	for (uint32_t i = 0; i < 4; i++)
		extoll_drv_store(d, EXTOLL_ROUTE_DATA + 8 * i, nib[i]);
	extoll_drv_store(d, EXTOLL_ROUTE_LENGTH, n | EXTOLL_ROUTE_VALID);
	extoll_drv_unlock(d);
}

uint64_t extoll_drv_event(struct extoll_drv *d)
{
	struct extoll_kernel *k = d->kernel;
	uint64_t e = k->evq[k->evq_rp];

	if (!e)
		return 0;
	k->taken++;
	d->seen++;
	k->evq[k->evq_rp] = 0;
	k->evq_rp = (k->evq_rp + 1) % EXTOLL_EVQ_ENTRIES;
	extoll_drv_store(d, EXTOLL_EVQ_RP, k->evq_rp);
	return e;
}

bool extoll_drv_event_wait(struct extoll_drv *d, weft_time_t deadline)
{
	struct extoll_kernel *k = d->kernel;

	while (!k->evq[k->evq_rp] && d->seen == k->taken) {
		extoll_drv_store(d, EXTOLL_EVQ_RP, k->evq_rp | EXTOLL_RP_ARM);
		/* The answer to this load follows the posted store. Therefore
		 * the NIC has lowered the interrupt line before the queue is
		 * checked again. */
		extoll_drv_load(d, EXTOLL_EVQ_RP);
		if (k->evq[k->evq_rp] || d->seen != k->taken)
			break;
		if (!weft_host_irq_wait(d->host, d->dev, deadline))
			return false;
	}
	d->seen = k->taken;
	return true;
}
