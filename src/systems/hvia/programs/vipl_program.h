/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by workloads over VIPL: a NIC, registered memory, descriptors, a
 * connection between two nodes. */
#ifndef SYSTEMS_HVIA_PROGRAMS_VIPL_PROGRAM_H
#define SYSTEMS_HVIA_PROGRAMS_VIPL_PROGRAM_H

#include "programs/program.h"
#include "vipl.h"

enum { VIPW_ADDR = 64 };

struct vipw {
	struct program w;
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	VIP_VI_HANDLE vi;
	VIP_NIC_ATTRIBUTES attr;
};

/* A network address with room for its discriminator. */
union vipl_program_addr {
	VIP_NET_ADDRESS a;
	uint8_t bytes[VIPW_ADDR];
};

/* Returns true, or fails a check that names the call. */
bool vipl_program_ok(struct vipw *v, const char *what, VIP_RETURN ret);
/* Opens a NIC by name and makes a protection tag. Returns false after a failed
 * check. vipl_program_close frees both. */
bool vipl_program_open(struct vipw *v, struct weft_comp *c, const char *nic);
void vipl_program_close(struct vipw *v);
/* Allocates and registers `n` descriptors of 64 bytes, then `bytes` of data.
 * Returns the descriptors and stores data and handle. */
VIP_DESCRIPTOR *vipl_program_mem(struct vipw *v, uint32_t n, size_t bytes,
				 bool rdma_write, uint8_t **data_p,
				 VIP_MEM_HANDLE *handle_p);
/* Fills in a descriptor of one segment. */
void vipl_program_desc(VIP_DESCRIPTOR *d, void *data, VIP_MEM_HANDLE handle,
		       uint32_t bytes);
/* Makes the VI of the workload. Returns false after a failed check. */
bool vipl_program_vi(struct vipw *v, uint32_t level, bool rdma_write);
/* Connects to node `peer`: the lower node listens, the other one requests. */
bool vipl_program_connect(struct vipw *v, uint32_t peer);
/* Makes the network address of a node with this discriminator. */
void vipl_program_addr(struct vipw *v, uint32_t node, uint32_t disc,
		       union vipl_program_addr *to);

#endif
