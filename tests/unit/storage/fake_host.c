/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of weft/host.h that storage libraries use. Computing takes no
 * time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "host/times.h"

struct weft_host {
	uint32_t node;
	weft_time_t asleep;
};

static struct weft_host hosts[FAKE_NODES] = {
	{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }
};

struct weft_host *fake_host(uint32_t node)
{
	return &hosts[node];
}

weft_time_t fake_asleep(uint32_t node)
{
	return hosts[node].asleep;
}

void weft_host_sleep(struct weft_host *h, weft_time_t until)
{
	h->asleep = until;
}

weft_time_t weft_host_now(struct weft_host *h)
{
	return fake_now();
}

void weft_host_cpu(struct weft_host *h, weft_time_t cost)
{
}

weft_time_t weft_host_time(const struct weft_host *h, enum host_time_id id)
{
	switch (id) {
	case T_disk_timeout:
		return 500 * WEFT_US;
	case T_disk_again:
		return WEFT_US;
	case T_disk_quiet:
		return fake_rules.delay + fake_rules.jitter + WEFT_US;
	default:
		return 0;
	}
}

void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

uint32_t weft_host_node(struct weft_host *h)
{
	return h->node;
}

uint32_t weft_host_nodes(struct weft_host *h)
{
	return FAKE_NODES;
}

void *weft_host_calloc(struct weft_host *h, size_t n, size_t size)
{
	return calloc(n, size);
}

void weft_host_free(struct weft_host *h, void *p)
{
	free(p);
}

void *weft_mem_alloc(struct weft_host *h, size_t bytes, size_t align,
		     weft_phys_t *phys_p)
{
	return calloc(1, bytes);
}

void weft_mem_free(struct weft_host *h, void *p)
{
	free(p);
}
