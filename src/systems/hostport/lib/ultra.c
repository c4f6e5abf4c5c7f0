/* SPDX-License-Identifier: Apache-2.0 */
/* User library and driver part of ULTRA (see weft/ultra.h). The layout of pages
 * and registers is in systems/hostport/nic/regs_map.h. An OWNER register in the
 * driver page of a port says whether the port is taken. */
#include "weft/ultra.h"

#include <errno.h>
#include <string.h>

#include "systems/hostport/lib/driver_calls.h"
#include "systems/hostport/nic/regs_map.h"

/* Control messages have kind and port in word 0. A request also contains the
 * Host Port ID of the target and the return route. */
enum ctl_kind { CTL_REQUEST = 1, CTL_RESPONSE, CTL_FAILURE, CTL_COMPLETE };
#define CTL_MAKE(kind, upid) ((uint64_t)(kind) << 32 | (upid))
#define CTL_KIND(w)	     ((uint32_t)((w) >> 32))
#define CTL_UPID(w)	     ((uint32_t)(w))

/* ---- driver pages ---- */

static int ultra_trap(struct ultra_drv *d, uint32_t op, void *arg)
{
	return weft_drv_call(d->h, d->dev, op, arg);
}

static void ultra_put(struct ultra_drv *d, uint32_t unit, uint32_t upid,
		      uint32_t reg, uint64_t val)
{
	struct hport_c_ultra a = { unit, upid, reg, true, val };

	if (d->traps)
		ultra_trap(d, HPORT_C_ULTRA_REG, &a);
	else
		weft_io_store64(d->h, &d->ports,
				(unit | HP_ULTRA_PAGE(upid)) + reg, val);
}

static uint64_t ultra_get(struct ultra_drv *d, uint32_t unit, uint32_t upid,
			  uint32_t reg)
{
	struct hport_c_ultra a = { unit, upid, reg, false, HP_NONE };

	if (d->traps) {
		ultra_trap(d, HPORT_C_ULTRA_REG, &a);
		return a.val;
	}
	return weft_io_load64(d->h, &d->ports,
			      (unit | HP_ULTRA_PAGE(upid)) + reg);
}

static uint64_t ultra_mgmt(struct ultra_drv *d, uint32_t reg)
{
	return weft_io_load64(d->h, &d->mgmt, reg);
}

/* Opens the device through the node's driver. If a node has a driver, processes
 * cannot map the device's driver pages themselves. */
static bool open_by_driver(struct ultra_drv *d)
{
	struct hport_c_ultra_info a;

	d->traps = !ultra_trap(d, HPORT_C_ULTRA_INFO, &a);
	if (!d->traps)
		return false;
	d->node = a.node;
	d->hpid = a.hpid;
	d->n_ports = a.ports;
	d->max_words = a.words;
	return true;
}

int ultra_open(struct weft_host *h, struct ultra_drv *d)
{
	struct weft_io um;

	*d = (struct ultra_drv){ .h = h, .dev = weft_dev_open(h, 0) };
	if (!d->dev)
		return -ENODEV;
	if (open_by_driver(d))
		return 0;
	if (weft_cfg_load(h, d->dev, HP_CFG_VENDOR, 4) !=
	    (HP_DEVICE_ID << 16 | HP_VENDOR_ID))
		return -ENODEV;
	weft_cfg_store(h, d->dev, HP_CFG_COMMAND, 2,
		       HP_CMD_MEMORY | HP_CMD_MASTER);
	if (!weft_io_map(h, d->dev, HP_BAR_MGMT, 0, HP_MGMT_BYTES, WEFT_UC,
			 &d->mgmt) ||
	    !weft_io_map(h, d->dev, HP_BAR_ULTRA, HP_ULTRA_DRIVER,
			 HP_ULTRA_DRIVER, WEFT_UC, &d->ports) ||
	    !weft_io_map(h, d->dev, HP_BAR_ULTRA, HP_ULTRA_MGMT, HP_PAGE,
			 WEFT_UC, &um))
		/* opens through the driver again, because a driver may have
		 * been loaded since the first attempt and then owns the
		 * device */
		return open_by_driver(d) ? 0 : -ENODEV;
	d->node = (uint32_t)ultra_mgmt(d, HP_R_NODE);
	d->hpid = (uint32_t)ultra_mgmt(d, HP_R_HPID);
	d->n_ports = (uint32_t)weft_io_load64(h, &um, HP_UM_PORTS);
	d->max_words = (uint32_t)weft_io_load64(h, &um, HP_UM_WORDS);
	return 0;
}

/* Takes a port without an owner. Returns its number, or -EBUSY. */
static int port_take(struct ultra_drv *d, uint32_t unit, uint32_t owner_reg)
{
	struct hport_c_ultra a = { .unit = unit };
	int upid = -EBUSY;

	if (d->traps) {
		upid = ultra_trap(d, HPORT_C_ULTRA_TAKE, &a);
		return upid ? upid : (int)a.upid;
	}
	while (ultra_mgmt(d, HP_R_DRIVER_LOCK))
		;
	for (uint32_t i = 0; upid < 0 && i < d->n_ports; i++)
		if (!ultra_get(d, unit, i, owner_reg)) {
			ultra_put(d, unit, i, owner_reg, 1);
			upid = (int)i;
		}
	weft_io_store64(d->h, &d->mgmt, HP_R_DRIVER_LOCK, 0);
	return upid;
}

/* ---- routes ---- */

/* Reads the elements of the route from this node to network port np of a
 * node. */
static int route_to(struct ultra_drv *d, uint32_t node, uint32_t np, uint8_t *b)
{
	struct hport_c_ultra_route a = { .node = node, .np = np };
	uint64_t w[HP_ULTRA_ROUTE_MAX / 8], n;

	if (d->traps) {
		int ret = ultra_trap(d, HPORT_C_ULTRA_ROUTE, &a);

		if (!ret)
			memcpy(b, a.el, (size_t)a.n);
		return ret ? ret : a.n;
	}
	while (ultra_mgmt(d, HP_R_DRIVER_LOCK))
		;
	weft_io_store64(d->h, &d->mgmt, HP_R_ROUTE_NODE, node);
	n = ultra_mgmt(d, HP_R_ROUTE_NODE);
	for (uint32_t i = 0; i < HP_ULTRA_ROUTE_MAX / 8; i++)
		w[i] = ultra_mgmt(d, HP_R_ROUTE_DATA + 8 * i);
	weft_io_store64(d->h, &d->mgmt, HP_R_DRIVER_LOCK, 0);
	if (n >= HP_ULTRA_ROUTE_MAX)
		return -EHOSTUNREACH;
	memcpy(b, w, n);
	b[n] = HP_EL(HP_PORT_NP + np, 1);
	return (int)n + 1;
}

/* Maps the user page of a port. */
static void page_map(struct ultra_drv *d, uint32_t unit, uint32_t upid,
		     enum weft_io_attr attr, struct weft_io *io_p)
{
	struct hport_c_ultra_map a = { unit, upid, attr == WEFT_WC, 0, 0 };

	if (!d->traps)
		weft_io_map(d->h, d->dev, HP_BAR_ULTRA,
			    unit | HP_ULTRA_PAGE(upid), HP_PAGE, attr, io_p);
	else if (!ultra_trap(d, HPORT_C_ULTRA_MAP, &a))
		*io_p = (struct weft_io){ .dev = d->dev,
					  .off = a.off,
					  .len = HP_PAGE,
					  .bar = (uint8_t)a.bar,
					  .attr = (uint8_t)attr };
}

/* ---- path set-up: target ---- */

static int queue_make(struct ultra_rx *rx, const struct ultra_rx_attr *a)
{
	struct ultra_drv *d = rx->d;
	weft_phys_t phys = 0;

	rx->slices = a->slices ? a->slices : 64;
	rx->words = a->words ? a->words : 40;
	if (d->traps) {
		struct hport_c_ultra_queue q = { rx->upid, rx->slices,
						 rx->words, a->on_device, 0 };
		int ret = ultra_trap(d, HPORT_C_ULTRA_QUEUE, &q);

		if (!ret && !a->on_device)
			rx->queue = weft_mem_at(d->h, q.phys,
						8ull * rx->slices * rx->words);
		ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_VPID, a->vpid);
		return ret;
	}
	if (!a->on_device) {
		rx->queue = weft_mem_alloc(d->h, 8ULL * rx->slices * rx->words,
					   HP_PAGE, &phys);
		if (!rx->queue)
			return -ENOMEM;
	}
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_BASE, phys);
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_SIZE,
		  (uint64_t)rx->words << 24 | rx->slices);
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_PTRS, 0);
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_VPID, a->vpid);
	return 0;
}

int ultra_accept(struct ultra_drv *d, const struct ultra_ctl *c,
		 uint32_t origin, const struct ultra_rx_attr *a,
		 struct ultra_rx *rx)
{
	uint64_t w[ULTRA_MSG_WORDS];
	int upid = port_take(d, HP_ULTRA_CPL, HP_UC_OWNER), ret;

	if (upid < 0) {
		memset(w, 0, sizeof(w));
		w[0] = CTL_MAKE(CTL_FAILURE, 0);
		c->send(c->own, origin, w);
		return upid;
	}
	*rx = (struct ultra_rx){ .d = d, .upid = (uint32_t)upid };
	ret = queue_make(rx, a);
	if (!ret) {
		uint64_t r[ULTRA_MSG_WORDS] = { CTL_MAKE(CTL_REQUEST, rx->upid),
						d->hpid };
		int n = route_to(d, origin, 1, (uint8_t *)&r[3]);

		r[2] = n > 0 ? (uint64_t)n : 0;
		c->send(c->own, origin, r);
		c->recv(c->own, origin, w);
		ret = CTL_KIND(w[0]) == CTL_RESPONSE ? 0 : -EBUSY;
	}
	if (ret) {
		ultra_rx_close(rx);
		return ret;
	}
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_OUPID, CTL_UPID(w[0]));
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_HPID, w[1]);
	ultra_put(d, HP_ULTRA_CPL, rx->upid, HP_UC_CTRL,
		  HP_ULTRA_EN | (a->on_device ? HP_ULTRA_ON_DEVICE : 0));
	ultra_get(d, HP_ULTRA_CPL, rx->upid,
		  /* the load waits until the stores have arrived */
		  HP_UC_CTRL);
	page_map(d, HP_ULTRA_CPL, rx->upid, WEFT_UC, &rx->page);
	memset(w, 0, sizeof(w));
	w[0] = CTL_MAKE(CTL_COMPLETE, rx->upid);
	c->send(c->own, origin, w);
	return 0;
}

/* ---- path set-up: origin ---- */

static int connect_port(struct ultra_tx *tx, uint32_t target, uint32_t vpid,
			const uint64_t *w)
{
	struct ultra_drv *d = tx->d;
	int upid = port_take(d, 0, HP_UR_OWNER), n;
	uint8_t b[2 * HP_ULTRA_ROUTE_MAX + 1] = { 0 };
	uint64_t r[2];

	if (upid < 0)
		return upid;
	tx->upid = (uint32_t)upid;
	ultra_put(d, 0, tx->upid, HP_UR_VPID, vpid);
	ultra_put(d, 0, tx->upid, HP_UR_TUPID, CTL_UPID(w[0]));
	ultra_put(d, 0, tx->upid, HP_UR_DEST, (w[1] & 0xffff) << 32 | w[1]);
	/* the route: forward elements, separator, and the return route that the
	 * target sent */
	n = route_to(d, target, 0, b);
	if (n >= 0 && w[2] && w[2] <= HP_ULTRA_ROUTE_MAX) {
		b[n++] = HP_EL_SEP;
		memcpy(b + n, &w[3], w[2]);
		n += (int)w[2];
	}
	if (n > HP_ULTRA_ROUTE_MAX)
		n = -EHOSTUNREACH;
	if (n < 0) {
		ultra_tx_close(tx);
		return n;
	}
	memcpy(r, b, sizeof(r));
	ultra_put(d, 0, tx->upid, HP_UR_ROUTE, r[0]);
	ultra_put(d, 0, tx->upid, HP_UR_ROUTE + 8, r[1]);
	ultra_put(d, 0, tx->upid, HP_UR_LEN, (uint64_t)n);
	return 0;
}

int ultra_connect(struct ultra_drv *d, const struct ultra_ctl *c,
		  uint32_t target, uint32_t vpid, struct ultra_tx *tx)
{
	uint64_t w[ULTRA_MSG_WORDS], r[ULTRA_MSG_WORDS] = { 0 };
	uint64_t slice, ptrs;
	int ret;

	*tx = (struct ultra_tx){ .d = d };
	c->recv(c->own, target, w);
	if (CTL_KIND(w[0]) != CTL_REQUEST)
		return -EBUSY;
	ret = connect_port(tx, target, vpid, w);
	r[0] = CTL_MAKE(ret ? CTL_FAILURE : CTL_RESPONSE, tx->upid);
	r[1] = d->hpid;
	c->send(c->own, target, r);
	if (ret)
		return ret;
	c->recv(c->own, target, w);
	if (CTL_KIND(w[0]) != CTL_COMPLETE) {
		ultra_tx_close(tx);
		return -EBUSY;
	}
	ultra_put(d, 0, tx->upid, HP_UR_CTRL, HP_ULTRA_EN);
	ultra_get(d, 0, tx->upid, HP_UR_CTRL);
	page_map(d, 0, tx->upid, WEFT_WC, &tx->page);
	slice = ultra_get(d, 0, tx->upid, HP_UR_SLICE);
	ptrs = ultra_get(d, 0, tx->upid, HP_UR_PTRS);
	tx->lower = (uint32_t)slice & 0xffff;
	tx->size = (uint32_t)(slice >> 16 & 0xffff) - tx->lower;
	tx->wp = (uint32_t)(ptrs >> 16 & 0xffff) - tx->lower;
	tx->rp = tx->wp;
	return 0;
}

/* Closes a path after its packets have left. */
void ultra_tx_close(struct ultra_tx *tx)
{
	uint64_t p;

	do
		p = ultra_get(tx->d, 0, tx->upid, HP_UR_PTRS);
	while ((p >> 16 & 0xffff) != (p & 0xffff));
	ultra_put(tx->d, 0, tx->upid, HP_UR_CTRL, 0);
	ultra_put(tx->d, 0, tx->upid, HP_UR_OWNER, 0);
}

void ultra_rx_close(struct ultra_rx *rx)
{
	ultra_put(rx->d, HP_ULTRA_CPL, rx->upid, HP_UC_CTRL, 0);
	while (ultra_get(rx->d, HP_ULTRA_CPL, rx->upid, HP_UC_CTRL) &
	       HP_ULTRA_STORES)
		;
	ultra_put(rx->d, HP_ULTRA_CPL, rx->upid, HP_UC_OWNER, 0);
	if (rx->queue && !rx->d->traps)
		weft_mem_free(rx->d->h, (void *)rx->queue);
	rx->queue = NULL;
}

/* ---- packets ---- */

/* Sends a packet. Its words must arrive with rising index (hostport.md 14.3). A
 * first line that is not full is written and flushed separately, because the
 * processor would flush it after the full lines. */
void ultra_send(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		const uint64_t *w, uint32_t n)
{
	uint64_t b[1 + ULTRA_PAYLOAD_MAX];
	uint32_t k = n < ULTRA_PAYLOAD_MAX ? n : ULTRA_PAYLOAD_MAX;
	uint32_t off = flags << 8 | HP_ULTRA_START(k + 1);
	uint32_t first = (0 - off) % HP_LINE / 8;

	b[0] = tag;
	memcpy(b + 1, w, 8 * k);
	first = first < k + 1 ? first : 0;
	if (first) {
		weft_io_copy(tx->d->h, &tx->page, off, b, 8 * first);
		weft_io_fence(tx->d->h);
	}
	weft_io_copy(tx->d->h, &tx->page, off + 8 * first, b + first,
		     8 * (k + 1 - first));
	weft_io_fence(tx->d->h);
	if (tx->size)
		tx->wp = (tx->wp + k + 1) % tx->size;
}

bool ultra_try(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
	       const uint64_t *w, uint32_t n)
{
	for (uint32_t tries = 0; tries < 2; tries++) {
		uint32_t used = tx->wp >= tx->rp ? tx->wp - tx->rp
						 : tx->wp + tx->size - tx->rp;

		/* One word of the slice stays free, because equal pointers mean
		 * an empty queue. */
		if (used + n + 1 < tx->size) {
			ultra_send(tx, flags, tag, w, n);
			return true;
		}
		if (!tries)
			tx->rp = ultra_read_pointer(tx) - tx->lower;
	}
	return false;
}

bool ultra_send_cond(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		     const uint64_t *w, uint32_t n)
{
	uint64_t b[HP_WORDS] = { tag };

	if (n + 1 > HP_WORDS)
		return false;
	memcpy(b + 1, w, 8 * n);
	return weft_io_tcstore(tx->d->h, &tx->page,
			       flags << 8 | HP_ULTRA_START(n + 1), b,
			       8 * (n + 1), 0);
}

uint32_t ultra_read_pointer(struct ultra_tx *tx)
{
	return (uint32_t)weft_io_load64(tx->d->h, &tx->page, HP_ULTRA_RP);
}

static volatile uint64_t *status_at(const struct ultra_rx *rx)
{
	return rx->queue + (uint64_t)(rx->rp + 1) * rx->words - 1;
}

static int poll_memory(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t max)
{
	volatile uint64_t *s = status_at(rx);
	uint32_t n = HP_ULTRA_STATUS_WORDS(*s), behind;

	if (!*s)
		return -1;
	*tag_p = s[-(int64_t)n - 1];
	for (uint32_t i = 0; i < n && i < max; i++)
		w[i] = s[(int64_t)i - n];
	*s = 0;
	rx->rp = rx->rp + 1 == rx->slices ? 0 : rx->rp + 1;
	behind = rx->rp >= rx->told ? rx->rp - rx->told
				    : rx->rp + rx->slices - rx->told;
	if (behind < (rx->slices + 3) / 4)
		/* stores the read pointer only once per quarter of the queue,
		 * because the device need not know the present pointer (9.6) */
		return (int)n;
	rx->told = rx->rp;
	weft_io_store64(rx->d->h, &rx->page, HP_ULTRA_RP, rx->rp);
	return (int)n;
}

static int poll_device(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t max)
{
	struct weft_host *h = rx->d->h;
	uint64_t s = weft_io_load64(h, &rx->page, 0), v;
	uint32_t n = HP_ULTRA_STATUS_WORDS(s);

	if (!s || s == ~0ULL)
		return -1;
	*tag_p = weft_io_load64(h, &rx->page, HP_ULTRA_INDEX(1));
	for (uint32_t i = 0; i < n; i++) {
		v = weft_io_load64(h, &rx->page, HP_ULTRA_INDEX(2 + i));
		if (i < max)
			w[i] = v;
	}
	return (int)n;
}

bool ultra_poll_tagged(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t n)
{
	struct weft_host *h = rx->d->h;

	if (!weft_io_tload64(h, &rx->page, HP_ULTRA_INDEX(1), tag_p))
		return false;
	for (uint32_t i = 0; i < n; i++)
		weft_io_tload64(h, &rx->page, HP_ULTRA_INDEX(2 + i), &w[i]);
	return true;
}

int ultra_poll(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max)
{
	return rx->queue ? poll_memory(rx, tag_p, w, max)
			 : poll_device(rx, tag_p, w, max);
}

int ultra_recv(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max,
	       weft_time_t deadline)
{
	for (;;) {
		int n = ultra_poll(rx, tag_p, w, max);

		if (n >= 0)
			return n;
		if (rx->queue) {
			if (!weft_host_poll64(rx->d->h, status_at(rx), 0,
					      deadline))
				return -1;
		} else if (deadline != WEFT_NEVER &&
			   weft_host_now(rx->d->h) >= deadline) {
			return -1;
		}
	}
}
