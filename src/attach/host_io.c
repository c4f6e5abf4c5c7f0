/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of weft/host.h in a process that access devices, by MMIO or by tagged
 * accesses. */
#include <string.h>

#include "attach/host_client.h"
#include "base/minmax.h"

/* Longer tagged accesses are cut to this length. The simulator still refuses
 * them, because its limit is 64 bytes. */
enum { TAGGED_MAX = 68 };

/* ---- devices ---- */

struct weft_dev *weft_dev_open(struct weft_host *h, uint32_t i)
{
	struct att_host_cmd c = { .kind = ATT_H_DEV_OPEN, .dev = i };
	struct weft_dev *d;

	if (i >= ATT_HOST_DEVS)
		return NULL;
	d = &h->node->dev[i];
	d->index = i;
	if (!d->open)
		d->open = host_call(h, &c, NULL);
	return d->open ? d : NULL;
}

uint32_t weft_cfg_load(struct weft_host *h, struct weft_dev *d, uint32_t off,
		       uint32_t size)
{
	struct att_host_cmd c = {
		.kind = ATT_H_CFG_LOAD, .dev = d->index, .off = off, .n = size
	};

	return (uint32_t)host_call(h, &c, NULL);
}

/* Stores into the configuration space. Waits until the device has accepted the
 * store, because the store takes simulated time. */
void weft_cfg_store(struct weft_host *h, struct weft_dev *d, uint32_t off,
		    uint32_t size, uint32_t val)
{
	struct att_host_cmd c = { .kind = ATT_H_CFG_STORE,
				  .dev = d->index,
				  .off = off,
				  .n = size,
				  .val = val };

	host_post(h, &c, HOST_TAKES(1));
}

bool weft_io_map(struct weft_host *h, struct weft_dev *d, uint8_t bar,
		 uint64_t off, uint64_t len, enum weft_io_attr attr,
		 struct weft_io *io_p)
{
	struct att_host_cmd c = { .kind = ATT_H_IO_MAP,
				  .dev = d->index,
				  .bar = bar,
				  .attr = (uint8_t)attr,
				  .io_off = off,
				  .io_len = len };
	struct att_reply r;

	if (!host_call(h, &c, &r))
		return false;
	*io_p = (struct weft_io){ .dev = d,
				  .off = r.b,
				  .len = len,
				  .bar = h->proc ? 0 : bar,
				  .attr = (uint8_t)attr };
	return true;
}

bool weft_io_can_tag(struct weft_host *h, struct weft_dev *d)
{
	struct att_host_cmd c = { .kind = ATT_H_CAN_TAG, .dev = d->index };

	return host_call(h, &c, NULL);
}

/* ---- accesses ---- */

static struct att_host_cmd access_of(enum att_host_kind kind,
				     const struct weft_io *io, uint64_t off)
{
	return (struct att_host_cmd){ .kind = (uint8_t)kind,
				      .dev = io->dev->index,
				      .bar = io->bar,
				      .attr = io->attr,
				      .io_off = io->off,
				      .io_len = io->len,
				      .off = off };
}

/* Returns the cost of a store of n bytes at `off`, and the largest number of
 * bus stores that the store may become: one for each 64-byte line with write
 * combining, otherwise one for each word. */
static struct host_takes store_takes(const struct weft_host *h,
				     const struct weft_io *io, uint64_t off,
				     uint32_t n)
{
	if (io->attr == WEFT_WC)
		return HOST_TAKES(h->node->info.cost_wc,
				  ((uint32_t)(io->off + off) % 64 + n + 63) /
					  64);
	return HOST_TAKES(h->node->info.cost_store, (n + 7) / 8);
}

uint32_t weft_io_load32(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	struct att_host_cmd c = access_of(ATT_H_LOAD32, io, off);

	return (uint32_t)host_call(h, &c, NULL);
}

uint64_t weft_io_load64(struct weft_host *h, const struct weft_io *io,
			uint64_t off)
{
	struct att_host_cmd c = access_of(ATT_H_LOAD64, io, off);

	return host_call(h, &c, NULL);
}

void weft_io_store32(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint32_t val)
{
	struct att_host_cmd c = access_of(ATT_H_STORE32, io, off);

	c.val = val;
	host_post(h, &c, store_takes(h, io, off, sizeof(val)));
}

void weft_io_store64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t val)
{
	struct att_host_cmd c = access_of(ATT_H_STORE64, io, off);

	c.val = val;
	host_post(h, &c, store_takes(h, io, off, sizeof(val)));
}

void weft_io_copy(struct weft_host *h, const struct weft_io *io, uint64_t off,
		  const void *src, size_t n)
{
	const uint8_t *p = src;

	while (n) {
		struct att_host_cmd c = access_of(ATT_H_IO_COPY, io, off);
		uint32_t most = ATT_HOST_DATA - (io->off + off) % 8;
		uint32_t k = (uint32_t)min_of(n, most);

		host_post_data(h, &c, p, k, store_takes(h, io, off, k));
		p += k;
		off += k;
		n -= k;
	}
}

void weft_io_fence(struct weft_host *h)
{
	struct att_host_cmd c = { .kind = ATT_H_FENCE };

	host_post(h, &c, HOST_TAKES(.fence = true));
}

/* ---- tagged ---- */

static void host_io_tstore(struct weft_host *h, struct att_host_cmd *c,
			   const void *data, uint32_t n)
{
	uint8_t buf[TAGGED_MAX] = { 0 };

	n = min_of(n, TAGGED_MAX);
	memcpy(buf, data, n);
	host_post_data(h, c, buf, n, HOST_TAKES(h->node->info.cost_store, 1));
}

void weft_io_tstore(struct weft_host *h, const struct weft_io *io, uint64_t off,
		    const void *data, uint32_t n)
{
	struct att_host_cmd c = access_of(ATT_H_TSTORE, io, off);

	host_io_tstore(h, &c, data, n);
}

void weft_io_tstore_user(struct weft_host *h, const struct weft_io *io,
			 uint64_t off, const void *data, uint32_t n,
			 uint16_t tag)
{
	struct att_host_cmd c = access_of(ATT_H_TSTORE_USER, io, off);

	c.tag = tag;
	host_io_tstore(h, &c, data, n);
}

static bool host_io_tload(struct weft_host *h, struct att_host_cmd *c,
			  uint64_t *val_p)
{
	struct att_reply r;
	bool ok = host_call(h, c, &r);

	*val_p = r.b;
	return ok;
}

bool weft_io_tload64(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, uint64_t *val_p)
{
	struct att_host_cmd c = access_of(ATT_H_TLOAD, io, off);

	return host_io_tload(h, &c, val_p);
}

bool weft_io_tload64_user(struct weft_host *h, const struct weft_io *io,
			  uint64_t off, uint16_t tag, uint64_t *val_p)
{
	struct att_host_cmd c = access_of(ATT_H_TLOAD_USER, io, off);

	c.tag = tag;
	return host_io_tload(h, &c, val_p);
}

/* Makes a tagged conditional store, whose condition precedes the data. */
bool weft_io_tcstore(struct weft_host *h, const struct weft_io *io,
		     uint64_t off, const void *data, uint32_t n, uint64_t cond)
{
	struct att_host_cmd c = access_of(ATT_H_TCSTORE, io, off);
	uint8_t buf[sizeof(cond) + TAGGED_MAX];

	n = min_of(n, TAGGED_MAX);
	memcpy(buf, &cond, sizeof(cond));
	memcpy(buf + sizeof(cond), data, n);
	return host_call_data(h, &c, buf, (uint32_t)sizeof(cond) + n, NULL);
}
