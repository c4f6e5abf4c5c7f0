/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver (see driver.h): accesses registers, controls the device's
 * caches and sets up routes. */
#include "systems/hostport/lib/driver.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/times.h"

/* Takes the driver's lock. The lock is in memory and not in the device's
 * register, because threads of the node take it often and loads would occupy
 * the bus. */
void hport_drv_lock(struct hport_drv *d)
{
	while (d->kernel->locked)
		weft_host_cpu(d->host,
			      weft_host_time(d->host, T_hostport_retry));
	d->kernel->locked = true;
}

uint64_t hport_drv_cache_locked(struct hport_drv *d, uint64_t cmd,
				uint64_t arg0, uint64_t arg1)
{
	uint64_t status;

	hport_drv_cache_post(d, cmd, arg0, arg1);
	do
		status = hport_drv_load(d, HP_R_CACHE_STATUS);
	while (status & HP_CACHE_BUSY);
	return status;
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

/* ---- set-up ---- */

/* Writes the sizes and reads them back, because the device does not accept
 * every size. */
void hport_dev_sizes(struct hport_drv *d, const struct hport_sizes *want)
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

	*s = want ? *want : (struct hport_sizes){ 0 };
	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		uint32_t *v = (uint32_t *)((char *)s + row[i].at);

		if (!*v)
			*v = row[i].def;
		hport_drv_store(d, row[i].reg, *v);
	}
	hport_drv_store(d, HP_R_RDR_UNIT, s->rdr_unit);
	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		*(uint32_t *)((char *)s + row[i].at) =
			(uint32_t)hport_drv_load(d, row[i].reg);
	s->rdr_unit = (uint32_t)hport_drv_load(d, HP_R_RDR_UNIT);
}

void hport_drv_route_key(char *key, size_t size, uint32_t from, uint32_t to)
{
	snprintf(key, size, "hport.%u.%u", from, to);
}

int hport_dev_setup(struct hport_drv *d)
{
	struct hport_kernel *k = d->kernel;
	char key[48], part[56];
	uint64_t n;

	k->ct = hport_kmem_table(d, (uint64_t)HP_VPIDS * HP_LINE, &k->ct_phys);
	k->rs = hport_kmem_table(d, (uint64_t)HPORT_ROUTE * d->nodes,
				 &k->rs_phys);
	k->routed = calloc(d->nodes / 64 + 1, sizeof(*k->routed));
	k->bulk = hport_kmem_table(d, HP_PAGE, &k->bulk_phys);
	if (!k->ct || !k->rs || !k->routed || !k->bulk)
		return -ENOMEM;
	hport_drv_store(d, HP_R_CT_BASE, k->ct_phys);
	hport_drv_store(d, HP_R_RS_BASE, k->rs_phys);
	hport_drv_store(d, HP_R_RS_SIZE, (uint64_t)HPORT_ROUTE * d->nodes);
	hport_dev_sizes(d, NULL);
	/* publishes the routes from this node, because other nodes use them as
	 * return routes */
	for (uint32_t to = 0; to < d->nodes; to++) {
		hport_drv_store(d, HP_R_ROUTE_NODE, to);
		n = hport_drv_load(d, HP_R_ROUTE_NODE);
		hport_drv_route_key(key, sizeof(key), d->node, to);
		for (uint32_t i = 0; i < HPORT_ELEMENTS / 8; i++) {
			snprintf(part, sizeof(part), "%s.%u", key, i);
			weft_oob_put(
				d->host, part,
				hport_drv_load(d, HP_R_ROUTE_DATA + 8 * i));
		}
		weft_oob_put(d->host, key, n);
	}
	hport_drv_store(d, HP_R_CTRL,
			hport_drv_load(d, HP_R_CTRL) | HP_CTRL_ENABLE |
				HP_CTRL_ORDER | HP_CTRL_NPS_ALL);
	return 0;
}

bool hport_drv_probe(struct weft_host *h, struct weft_dev *dev)
{
	return weft_cfg_load(h, dev, HP_CFG_VENDOR, 4) ==
	       (HP_DEVICE_ID << 16 | HP_VENDOR_ID);
}

/* ---- routes ---- */

/* Reads the elements of the route from one node to network port np of another
 * node. Returns their count, or -1. */
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

int hport_drv_route(struct hport_drv *d, uint32_t node)
{
	uint8_t there[HPORT_ELEMENTS + 1], back[HPORT_ELEMENTS + 1];
	uint8_t *b = d->kernel->rs + (size_t)HPORT_ROUTE * node;
	uint64_t *done, bit = 1ull << node % 64;
	uint32_t hpid = node + 1;
	int nf, nr;

	if (node >= d->nodes)
		return -EHOSTUNREACH;
	done = &d->kernel->routed[node / 64];
	if (*done & bit)
		return 0;
	nf = route_get(d, d->node, node, 0, there);
	nr = route_get(d, node, d->node, 1, back);
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
	*done |= bit;
	return 0;
}

void hport_drv_epoch_next(struct hport_drv *d, uint32_t vpid)
{
	uint16_t *e = &d->kernel->epoch[vpid];
	char key[48];

	if (!(++*e & HP_EPOCH_LOW))
		++*e;
	snprintf(key, sizeof(key), "hport.epoch.%u.%u", d->node, vpid);
	weft_oob_put(d->host, key, *e);
}

/* Returns the route to a node. The returned length does not count unused
 * elements, because only short routes fit into the device's cache. */
int hport_k_route(struct hport_drv *d, struct hport_c_route *a)
{
	const uint8_t *b;
	char key[48];
	int ret = a->vpid < HP_VPIDS ? hport_drv_route(d, a->node) : -EINVAL;

	if (ret)
		return ret;
	/* reads the epoch of the VPID's present or next owner. Each node
	 * publishes a new epoch when the port of a VPID was closed */
	snprintf(key, sizeof(key), "hport.epoch.%u.%u", a->node, a->vpid);
	if (a->node == d->node)
		a->epoch = d->kernel->epoch[a->vpid];
	else if (weft_oob_there(d->host, key))
		a->epoch = (uint32_t)weft_oob_get(d->host, key);
	else
		a->epoch = HP_EPOCH_FIRST;
	a->epoch &= HP_EPOCH_LOW;
	b = d->kernel->rs + (size_t)HPORT_ROUTE * a->node;
	a->off = HPORT_ROUTE * a->node;
	a->len = HP_RS_HEAD + b[HP_RS_NF] + 1u + b[HP_RS_NR];
	return 0;
}
