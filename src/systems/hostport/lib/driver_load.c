/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver (see driver.h): loads the driver, dispatches its calls, and
 * cleans up after processes that end. */
#include <errno.h>
#include <stdlib.h>

#include "host/times.h"
#include "systems/hostport/lib/driver.h"

/* Closes all ports of an ended process, ports of ULTRA included, and frees the
 * process. */
static void drv_gone(struct weft_host *h, void *own, struct weft_proc *p)
{
	struct hport_kernel *k = own;
	struct hport_drv d = k->drv;

	d.host = h;
	hport_ultra_gone(&d, p);
	hport_ports_gone(&d, p);
	for (size_t i = 0; i < k->procs.n; i++)
		if (k->procs.at[i] == p) {
			k->procs.at[i] = vec_last(&k->procs);
			k->procs.n--;
			weft_proc_free(h, p);
			return;
		}
}

static int drv_call(struct weft_host *h, void *own, uint32_t op, void *arg)
{
#define X(name, fn, type)                                                      \
	case HPORT_C_##name:                                                   \
		return fn(&d, arg);
	struct hport_kernel *k = own;
	struct hport_drv d;

	while (!k->started)
		weft_host_cpu(h, weft_host_time(h, T_hostport_retry));
	if (k->failed)
		return k->failed;
	d = k->drv;
	d.host = h;
	switch (op) {
		HPORT_CALLS(X)
		X(RUN, hport_k_run, )
	default:
		return -EINVAL;
	}
#undef X
}

static void drv_fini(void *own)
{
	struct hport_kernel *k = own;
	struct hport_region *r;

	for (uint32_t i = 0; k->space && i < HP_VPIDS; i++)
		while ((r = k->space[i].first)) {
			k->space[i].first = r->next;
			free(r->out);
			free(r);
		}
	hport_kmem_fini(&k->kmem);
	for (uint32_t i = 0; k->port && i < HP_VPIDS; i++)
		free(k->port[i]);
	vec_free(&k->closed);
	vec_free(&k->procs);
	free(k->epoch);
	free(k->routed);
	free(k->port);
	free(k->space);
	free(k->uport);
	free(k->server);
	free(k);
}

/* Runs a call. The call that sets up the device also maps the management page,
 * because only the driver may access that page. */
static int first_call(struct weft_host *h, void *own, uint32_t op, void *arg)
{
	struct hport_kernel *k = own;
	struct hport_drv d = k->drv;
	int ret;

	if (op != HPORT_C_RUN || arg != k || k->started)
		return drv_call(h, own, op, arg);
	d.host = h;
	weft_cfg_store(h, d.dev, HP_CFG_COMMAND, 2,
		       HP_CMD_MEMORY | HP_CMD_MASTER);
	if (weft_io_map(h, d.dev, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
			&d.mgmt)) {
		d.node = (uint32_t)hport_drv_load(&d, HP_R_NODE);
		d.nodes = (uint32_t)hport_drv_load(&d, HP_R_NODES);
	}
	ret = d.nodes ? 0 : -ENODEV;
	if (!ret)
		ret = hport_kmem_init(&d, &k->kmem.how);
	if (!ret)
		ret = hport_dev_setup(&d);
	if (!ret && !weft_page_share(h, d.dev, HP_BAR_INFO, 0))
		ret = -ENODEV;
	k->failed = ret ? ret : hport_ultra_setup(&d);
	k->drv = d;
	k->drv.host = NULL;
	k->started = true;
	return k->failed;
}

/* Finds the device. If the caller is the monitor, also loads the driver and
 * sets the device up. Returns 0 or a negative errno, -EBUSY when another
 * program has loaded the driver. */
static int driver_load_attach(struct weft_host *h,
			      const struct hport_memory *how,
			      struct weft_dev **dev_p)
{
	struct weft_drv drv = { .call = first_call,
				.gone = drv_gone,
				.fini = drv_fini,
				.bars = 1u << HP_BAR_MGMT };
	struct hport_kernel *k;

	*dev_p = weft_dev_open(h, 0);
	if (!*dev_p || (!weft_proc_self(h) && !hport_drv_probe(h, *dev_p)))
		return -ENODEV;
	if (weft_proc_self(h))
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->epoch = calloc(HP_VPIDS, sizeof(*k->epoch));
	k->port = calloc(HP_VPIDS, sizeof(*k->port));
	k->space = calloc(HP_VPIDS, sizeof(*k->space));
	if (!k->epoch || !k->port || !k->space) {
		drv_fini(k);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < HP_VPIDS; i++)
		k->epoch[i] = HP_EPOCH_FIRST;
	k->drv.dev = *dev_p;
	k->drv.kernel = k;
	k->kmem.how = *how;
	drv.own = k;
	if (!weft_drv_set(h, *dev_p, &drv)) {
		drv_fini(k);
		return -EBUSY;
	}
	return weft_drv_call(h, *dev_p, HPORT_C_RUN, k);
}

int hport_load(struct weft_host *h, const struct hport_memory *m)
{
	struct weft_dev *dev;

	return weft_proc_self(h) ? -EBUSY : driver_load_attach(h, m, &dev);
}

int hport_drv_call(struct weft_host *h, struct weft_dev *dev, uint32_t op,
		   void *arg)
{
	int ret = weft_drv_call(h, dev, op, arg);

	if (ret != -ENODEV)
		return ret;
	ret = driver_load_attach(h, &(struct hport_memory){ 0 }, &dev);
	return ret && ret != -EBUSY ? ret : weft_drv_call(h, dev, op, arg);
}

int hport_drv_run(struct weft_host *h,
		  int (*fn)(struct hport_drv *d, void *arg), void *arg)
{
	struct hport_c_run a = { fn, arg };
	struct weft_dev *dev = weft_dev_open(h, 0);

	return dev ? hport_drv_call(h, dev, HPORT_C_RUN, &a) : -ENODEV;
}
