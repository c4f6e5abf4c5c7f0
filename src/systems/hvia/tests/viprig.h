/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL on a bench: two nodes with HVIA-GE and a cable. The test programs use
 * the library as any program does. */
#ifndef HVIA_TESTS_VIPRIG_H
#define HVIA_TESTS_VIPRIG_H

#include "unit/cmocka_all.h"
#include "hvrig.h"
#include "vipl.h"

enum { VIPRIG_DESCS = 64, VIPRIG_DISC = 16 };

union vip_addr {
	VIP_NET_ADDRESS a;
	uint8_t bytes[4 + 6 + VIPRIG_DISC + 2];
};

/* A descriptor with room for segments. */
union vip_desc {
	VIP_DESCRIPTOR d;
	uint8_t bytes[32 + 16 * HVIA_SEGMENTS + 32];
};

/* The objects of one program. */
struct side {
	struct weft_host *h;
	struct bench *b;
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	VIP_VI_HANDLE vi;
	VIP_VI_ATTRIBUTES attr;
	VIP_MEM_ATTRIBUTES mem_attr;
	union vip_desc *desc; /* descriptors, followed by the data */
	uint8_t *data;
	VIP_MEM_HANDLE handle;
	/* asynchronous errors that the handler has received */
	uint32_t n_err;
	VIP_ERROR_DESCRIPTOR err[32];
};

struct bench *viprig_bench(void);
int viprig_setup(void **state);
/* Runs the programs of both nodes to their ends. */
void viprig_run(struct bench *b, node_fn zero, node_fn one);

/* A fault on the line in both directions. If cls is NULL, the line has no
 * fault. */
struct vip_fault {
	const struct weft_class *cls;
	const char *param[3], *value[3];
};
extern const struct weft_class weft_class_fault_drop, weft_class_fault_delay,
	weft_class_fault_bits;
/* Makes a bench with the fault and runs it. The caller frees it. */
struct bench *viprig_run_with(const struct vip_fault *f, node_fn zero,
			      node_fn one);

/* Opens a NIC with a tag, memory of `bytes` and an unreliable VI with RDMA. */
void side_open(struct side *s, struct weft_host *h, struct bench *b,
	       const char *nic, uint32_t bytes);
/* Opens a side like side_open(), but with `descs` descriptors, because
 * registering many pages takes time. */
void side_open_few(struct side *s, struct weft_host *h, struct bench *b,
		   const char *nic, uint32_t descs, uint32_t bytes);
/* Disconnects and removes all posted descriptors. */
void side_drain(struct side *s);
/* Drains the side, then frees all objects of it. */
void side_close(struct side *s);
void side_vi(struct side *s, VIP_VI_HANDLE *vi);
/* Makes the handler collect asynchronous errors. */
void side_handler(struct side *s);
/* Waits until n errors have arrived, at most 5 ms. */
void side_errors(struct side *s, uint32_t n);

void vip_addr(struct side *s, uint32_t node, const char *disc,
	      union vip_addr *to);
/* side_request() requests a connection of two VIs. side_wait() waits for the
 * request and accepts it. `disc` is the discriminator of both addresses. */
void side_wait(struct side *s, VIP_VI_HANDLE vi, const char *disc);
void side_request(struct side *s, VIP_VI_HANDLE vi, uint32_t node,
		  const char *disc);
/* Connects the sides. Node 0 waits for node 1. */
void side_connect(struct side *s);

VIP_DESCRIPTOR *side_desc(struct side *s, uint32_t i, uint32_t offset,
			  uint32_t bytes);
VIP_DESCRIPTOR *side_rdma(struct side *s, uint32_t i, uint32_t offset,
			  uint32_t bytes, uint64_t va, uint32_t handle);
void side_send(struct side *s, VIP_DESCRIPTOR *d);
void side_recv(struct side *s, VIP_DESCRIPTOR *d);
/* Polls for the next completion, at most 50 ms. Returns its status. */
uint32_t side_sent(struct side *s, VIP_DESCRIPTOR **d_p);
uint32_t side_received(struct side *s, VIP_DESCRIPTOR **d_p);

void fill(uint8_t *p, uint32_t n, uint32_t seed);
bool filled(const uint8_t *p, uint32_t n, uint32_t seed);
/* Waits until all programs have called meet() with this name. Each meeting has
 * a different name. */
void meet(struct side *s, const char *name);

#define ok(call) assert_int_equal(call, VIP_SUCCESS)

#endif
