/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver, see hostport_drv.h: set-up, VPIDs, routes. */
#include "ulib/hostport_drv.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* In memory: programs of the node take it often, the bus is for others. */
void hport_drv_lock(struct hport_drv *d)
{
	while (d->kernel->locked)
		weft_host_cpu(d->host, 100 * WEFT_NS);
	d->kernel->locked = true;
}

void hport_drv_unlock(struct hport_drv *d)
{
	d->kernel->locked = false;
}

/* Whether there is a struct hport_kernel. */
static void device_lock(struct hport_drv *d)
{
	while (hport_drv_load(d, HP_R_DRIVER_LOCK))
		weft_host_cpu(d->host, 100 * WEFT_NS);
}

static void device_unlock(struct hport_drv *d)
{
	hport_drv_store(d, HP_R_DRIVER_LOCK, 0);
}

static uint64_t cache_wait(struct hport_drv *d)
{
	uint64_t status;

	do
		status = hport_drv_load(d, HP_R_CACHE_STATUS);
	while (status & HP_CACHE_BUSY);
	return status;
}

static void cache_begin(struct hport_drv *d, uint64_t cmd, uint64_t arg0,
			uint64_t arg1)
{
	hport_drv_store(d, HP_R_CACHE_ARG0, arg0);
	hport_drv_store(d, HP_R_CACHE_ARG1, arg1);
	hport_drv_store(d, HP_R_CACHE_CMD, cmd);
}

uint64_t hport_drv_cache_locked(struct hport_drv *d, uint64_t cmd,
				uint64_t arg0, uint64_t arg1)
{
	cache_begin(d, cmd, arg0, arg1);
	return cache_wait(d);
}

void hport_drv_insert(struct hport_drv *d, uint32_t vpid, uint64_t vpage,
		      uint64_t arg)
{
	hport_drv_lock(d);
	cache_begin(d, HP_CACHE_CMD(HP_CACHE_INSERT, HP_CACHE_TLB, vpid, 1),
		    vpage, arg);
	hport_drv_unlock(d);
}

uint64_t hport_drv_cache(struct hport_drv *d, uint64_t cmd, uint64_t arg0,
			 uint64_t arg1)
{
	uint64_t status;

	hport_drv_lock(d);
	status = hport_drv_cache_locked(d, cmd, arg0, arg1);
	hport_drv_unlock(d);
	return status;
}

/* ---- set-up ------------------------------------------------------------ */

static void kernel_sizes(struct hport_drv *d, const struct hport_sizes *want)
{
	static const struct {
		uint32_t at, def, reg;
	} row[] = {
		{ offsetof(struct hport_sizes, wq), 64, HP_R_WQ_SIZE },
		{ offsetof(struct hport_sizes, nq), 128, HP_R_NQ_SIZE },
		{ offsetof(struct hport_sizes, prq), 32, HP_R_PRQ_SIZE },
		{ offsetof(struct hport_sizes, wdt), 64, HP_R_WDT_SIZE },
		{ offsetof(struct hport_sizes, sdr), 8192, HP_R_SDR_SIZE },
		{ offsetof(struct hport_sizes, rdr), 8192, HP_R_RDR_SIZE },
	};
	struct hport_sizes *s = &d->kernel->sizes;

	if (want)
		*s = *want;
	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		uint32_t *v = (uint32_t *)((char *)s + row[i].at);

		if (!*v)
			*v = row[i].def;
		hport_drv_store(d, row[i].reg, *v);
	}
	hport_drv_store(d, HP_R_RDR_UNIT, s->rdr_unit);
}

void hport_drv_route_key(char *key, size_t size, uint32_t from, uint32_t to)
{
	snprintf(key, size, "hport.%u.%u", from, to);
}

/* What other nodes need for their way back: our way to them. */
static void publish_route(struct hport_drv *d, uint32_t to)
{
	char key[48];
	uint64_t n;

	hport_drv_store(d, HP_R_ROUTE_NODE, to);
	n = hport_drv_load(d, HP_R_ROUTE_NODE);
	hport_drv_route_key(key, sizeof(key), d->node, to);
	for (uint32_t i = 0; i < HPORT_ELEMENTS / 8; i++) {
		char part[56];

		snprintf(part, sizeof(part), "%s.%u", key, i);
		weft_oob_put(d->host, part,
			     hport_drv_load(d, HP_R_ROUTE_DATA + 8 * i));
	}
	weft_oob_put(d->host, key, n);
}

static bool kernel_memory(struct hport_drv *d, struct hport_kernel *k)
{
	weft_phys_t phys;

	k->ct = weft_mem_alloc(d->host, (size_t)HP_VPIDS * HP_LINE, HP_PAGE,
			       &k->ct_phys);
	k->rs = weft_mem_alloc(d->host, (size_t)HPORT_ROUTE * d->nodes, HP_PAGE,
			       &k->rs_phys);
	k->routed = weft_mem_alloc(d->host, d->nodes / 64 * 8 + 8, 64, &phys);
	k->bulk = weft_mem_alloc(d->host, HP_PAGE, HP_PAGE, &k->bulk_phys);
	return k->ct && k->rs && k->routed && k->bulk;
}

static void kernel_free(struct hport_drv *d)
{
	struct hport_kernel *k = d->kernel;

	weft_mem_free(d->host, k->ct);
	weft_mem_free(d->host, k->rs);
	weft_mem_free(d->host, k->routed);
	weft_mem_free(d->host, k->bulk);
	weft_mem_free(d->host, k);
}

/* The first program of the node comes: everything is made. */
static int kernel_new(struct hport_drv *d, const struct hport_sizes *sizes)
{
	weft_phys_t phys;
	struct hport_kernel *k =
		weft_mem_alloc(d->host, sizeof(*k), HP_LINE, &phys);

	if (!k || !kernel_memory(d, k))
		return -ENOMEM;
	d->kernel = k;
	k->next_va = 0x100000000ull;
	hport_drv_store(d, HP_R_CT_BASE, k->ct_phys);
	hport_drv_store(d, HP_R_RS_BASE, k->rs_phys);
	hport_drv_store(d, HP_R_RS_SIZE, (uint64_t)HPORT_ROUTE * d->nodes);
	kernel_sizes(d, sizes);
	for (uint32_t i = 0; i < d->nodes; i++)
		publish_route(d, i);
	hport_drv_store(d, HP_R_CTRL,
			hport_drv_load(d, HP_R_CTRL) | HP_CTRL_ENABLE |
				HP_CTRL_ORDER | HP_CTRL_NPS_ALL);
	hport_drv_store(d, HP_R_DRIVER_STATE, (uintptr_t)k);
	return 0;
}

static int drv_attach(struct hport_drv *d, const struct hport_sizes *sizes)
{
	int ret = 0;

	device_lock(d);
	d->kernel = (struct hport_kernel *)(uintptr_t)hport_drv_load(
		d, HP_R_DRIVER_STATE);
	if (!d->kernel)
		ret = kernel_new(d, sizes);
	if (!ret)
		d->kernel->users++;
	device_unlock(d);
	return ret;
}

bool hport_drv_probe(struct weft_host *h, struct weft_dev *dev)
{
	return weft_cfg_load(h, dev, HP_CFG_VENDOR, 4) ==
	       (HP_DEVICE_ID << 16 | HP_VENDOR_ID);
}

int hport_drv_device(struct weft_host *h, struct hport_drv *d)
{
	memset(d, 0, sizeof(*d));
	d->host = h;
	d->dev = weft_dev_open(h, 0);
	if (!d->dev || !hport_drv_probe(h, d->dev))
		return -ENODEV;
	weft_cfg_store(h, d->dev, HP_CFG_COMMAND, 2,
		       HP_CMD_MEMORY | HP_CMD_MASTER);
	if (!weft_io_map(h, d->dev, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
			 &d->mgmt))
		return -ENODEV;
	d->node = (uint32_t)hport_drv_load(d, HP_R_NODE);
	d->nodes = (uint32_t)hport_drv_load(d, HP_R_NODES);
	return d->nodes ? 0 : -ENODEV;
}

int hport_drv_open(struct weft_host *h, const struct hport_sizes *sizes,
		   struct hport_drv *d)
{
	int ret = hport_drv_device(h, d);

	return ret ? ret : drv_attach(d, sizes);
}

void hport_drv_close(struct hport_drv *d)
{
	device_lock(d);
	if (!--d->kernel->users) {
		hport_drv_store(d, HP_R_CTRL,
				hport_drv_load(d, HP_R_CTRL) &
					~(uint64_t)HP_CTRL_ENABLE);
		hport_drv_store(d, HP_R_DRIVER_STATE, 0);
		kernel_free(d);
	}
	device_unlock(d);
}

/* ---- VPIDs ------------------------------------------------------------- */

static int vpid_take(struct hport_kernel *k, uint32_t vpid)
{
	uint64_t bit = 1ull << vpid % 64;

	if (k->vpids[vpid / 64] & bit)
		return -EBUSY;
	k->vpids[vpid / 64] |= bit;
	return (int)vpid;
}

static int vpid_any(struct hport_kernel *k)
{
	for (uint32_t i = 0; i < HP_VPIDS / 64; i++)
		if (~k->vpids[i])
			return vpid_take(k, 64 * i + (uint32_t)__builtin_ctzll(
							     ~k->vpids[i]));
	return -ENOSPC;
}

int hport_drv_vpid(struct hport_drv *d, int32_t want)
{
	int ret;

	if (want >= HP_VPIDS)
		return -EINVAL;
	hport_drv_lock(d);
	ret = want < 0 ? vpid_any(d->kernel)
		       : vpid_take(d->kernel, (uint32_t)want);
	d->kernel->opened += ret >= 0;
	hport_drv_unlock(d);
	return ret;
}

static void context_drop(struct hport_drv *d, uint32_t vpid)
{
	hport_drv_cache(d, HP_CACHE_CMD(HP_CACHE_REMOVE, HP_CACHE_CTX, vpid, 1),
			0, 0);
}

void hport_drv_enable(struct hport_drv *d, uint32_t vpid, const uint64_t *w)
{
	context_drop(d, vpid);
	memcpy(d->kernel->ct + (size_t)HP_WORDS * vpid, w, HP_LINE);
	hport_drv_store(d, HP_R_VPID_EN, HP_VPID_EN(vpid, true));
}

void hport_drv_disable(struct hport_drv *d, uint32_t vpid)
{
	hport_drv_store(d, HP_R_VPID_EN, HP_VPID_EN(vpid, false));
	context_drop(d, vpid);
	d->kernel->ct[(size_t)HP_WORDS * vpid] &= ~HP_CTX_EN;
	hport_drv_lock(d);
	d->kernel->vpids[vpid / 64] &= ~(1ull << vpid % 64);
	d->kernel->opened--;
	hport_drv_unlock(d);
}

/* ---- routes ------------------------------------------------------------ */

/* Elements of the way from one node to another, and the network port there;
 * count, or -1. */
static int route_get(struct hport_drv *d, uint32_t from, uint32_t to,
		     uint32_t np, uint8_t *el)
{
	char key[48], part[56];
	uint64_t n, w;

	hport_drv_route_key(key, sizeof(key), from, to);
	n = weft_oob_get(d->host, key);
	if (n >= HPORT_ELEMENTS)
		return -1;
	for (uint32_t i = 0; i < HPORT_ELEMENTS / 8; i++) {
		snprintf(part, sizeof(part), "%s.%u", key, i);
		w = weft_oob_get(d->host, part);
		memcpy(el + 8 * i, &w, 8);
	}
	el[n] = HP_EL(HP_PORT_NP + np, 1);
	return (int)n + 1;
}

static int route_write(struct hport_drv *d, uint32_t node)
{
	uint8_t there[HPORT_ELEMENTS + 1], back[HPORT_ELEMENTS + 1];
	uint8_t *b = d->kernel->rs + (size_t)HPORT_ROUTE * node;
	int nf = route_get(d, d->node, node, 0, there);
	int nr = route_get(d, node, d->node, 1, back);
	uint32_t hpid = node + 1;

	if (nf < 0 || nr < 0 || HP_RS_HEAD + nf + 1 + nr > HPORT_ROUTE)
		return -EHOSTUNREACH;
	for (uint32_t i = 0; i < 4; i++)
		b[HP_RS_DTAG + i] = (uint8_t)(hpid >> (24 - 8 * i));
	b[HP_RS_DHASH] = (uint8_t)(hpid >> 8);
	b[HP_RS_DHASH + 1] = (uint8_t)hpid;
	b[HP_RS_NF] = (uint8_t)nf;
	b[HP_RS_NR] = (uint8_t)nr;
	memcpy(b + HP_RS_HEAD, there, (size_t)nf);
	b[HP_RS_HEAD + nf] = HP_EL_SEP;
	memcpy(b + HP_RS_HEAD + nf + 1, back, (size_t)nr);
	return 0;
}

int hport_drv_route(struct hport_drv *d, uint32_t node)
{
	struct hport_kernel *k = d->kernel;
	int ret = 0;

	if (node >= d->nodes)
		return -EHOSTUNREACH;
	if (k->routed[node / 64] >> node % 64 & 1)
		return 0;
	ret = route_write(d, node);
	if (!ret)
		k->routed[node / 64] |= 1ull << node % 64;
	return ret;
}
