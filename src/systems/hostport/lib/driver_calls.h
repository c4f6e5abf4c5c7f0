/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and results of the calls of the Host Port's driver (hostport.md
 * 7.8). Each call is a trap. Arguments are plain data and name memory by its
 * physical address, because the caller may be a process with other addresses
 * than the driver.
 *
 * All calls return 0 or a negative errno. They return -EBADF when the VPID or
 * the ULTRA port does not belong to the caller. */
#ifndef SYSTEMS_HOSTPORT_LIB_DRIVER_CALLS_H
#define SYSTEMS_HOSTPORT_LIB_DRIVER_CALLS_H

#include "weft/host.h"
#include "weft/hostport.h"

/* Opens a port. If the calling program is not a process yet, it becomes one. */
struct hport_c_open {
	struct hport_sizes
		sizes; /* input: requested sizes. Output: sizes of the device */
	/* input: requested VPID, or < 0 for any. Output: the VPID given */
	int32_t vpid;
	uint32_t flags;
	uint32_t hpid, bar;
	uint64_t queue[6]; /* addresses of WQ, SDR, RDR, WDT, PRQ, NQ */
	/* positions of the Triggerpage and the information page: offsets in the
	 * BAR `bar`, or virtual addresses of the process */
	uint64_t page, info;
};

struct hport_c_vpid {
	uint32_t vpid;
};

/* HPORT_C_MAP maps bytes at phys. If phys is 0, it allocates and maps new
 * memory. HPORT_C_FREE frees memory at phys that HPORT_C_MAP has allocated.
 * Other calls name the region by va. */
struct hport_c_mem {
	uint32_t vpid, unused;
	uint64_t phys, bytes, va;
};

struct hport_c_win {
	uint32_t vpid, id;
};

/* Returns the route to a node and the epoch of the VPID's owner on that
 * node. */
struct hport_c_route {
	uint32_t node, vpid;
	uint32_t off, len, epoch;
};

struct hport_c_serve {
	weft_time_t service;
	uint64_t always;
};

/* Runs fn as a part of the driver. Only the monitor may call it. */
struct hport_drv;
struct hport_c_run {
	int (*fn)(struct hport_drv *d, void *arg);
	void *arg;
};

struct hport_c_ultra {
	/* unit: HP_ULTRA_CPL for the completer, 0 for the requester */
	uint32_t unit, upid;
	uint32_t reg, write;
	uint64_t val;
};

struct hport_c_ultra_info {
	uint32_t node, hpid, ports, words;
};

struct hport_c_ultra_route {
	uint32_t node, np;
	int32_t n;
	uint8_t el[20];
};

/* Sets the receive queue of an ULTRA port: memory that the driver allocates, or
 * if on_device is set, packet slots on the device. Output: phys, the address of
 * the memory. */
struct hport_c_ultra_queue {
	uint32_t upid, slices, words, on_device;
	uint64_t phys;
};

struct hport_c_ultra_map {
	uint32_t unit, upid, wc, bar;
	uint64_t off;
};

/* List of calls: X(name, function, argument). HPORT_C_RUN is not in the list,
 * because its argument is a function. */
#define HPORT_CALLS(X)                                                         \
	X(OPEN, hport_k_open, struct hport_c_open)                             \
	X(CLOSE, hport_k_close, struct hport_c_vpid)                           \
	X(MAP, hport_k_map, struct hport_c_mem)                                \
	X(UNMAP, hport_k_unmap, struct hport_c_mem)                            \
	X(FREE, hport_k_free, struct hport_c_mem)                              \
	X(PAGE_OUT, hport_k_page_out, struct hport_c_mem)                      \
	X(PAGE_IN, hport_k_page_in, struct hport_c_mem)                        \
	X(WINDOW, hport_k_window, struct hport_c_win)                          \
	X(ROUTE, hport_k_route, struct hport_c_route)                          \
	X(SERVE, hport_k_serve, struct hport_c_serve)                          \
	X(ULTRA_INFO, hport_k_ultra_info, struct hport_c_ultra_info)           \
	X(ULTRA_TAKE, hport_k_ultra_take, struct hport_c_ultra)                \
	X(ULTRA_REG, hport_k_ultra_reg, struct hport_c_ultra)                  \
	X(ULTRA_ROUTE, hport_k_ultra_route, struct hport_c_ultra_route)        \
	X(ULTRA_QUEUE, hport_k_ultra_queue, struct hport_c_ultra_queue)        \
	X(ULTRA_MAP, hport_k_ultra_map, struct hport_c_ultra_map)

enum hport_call_n {
#define X(name, fn, type) HPORT_N_##name,
	HPORT_CALLS(X)
#undef X
		HPORT_N
};
enum {
#define X(name, fn, type)                                                      \
	HPORT_C_##name = WEFT_DRV_OP(HPORT_N_##name, sizeof(type)),
	HPORT_CALLS(X)
#undef X
	/* Only code in the driver's own memory can make this call, because its
	 * argument contains a pointer to a function. */
	HPORT_C_RUN = WEFT_DRV_OP(HPORT_N, 0),
};

#endif
