/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls of the user for the statistics of the run. Polls without a
 * result are not counted, because their number depends on the speed of the
 * simulating machine. */
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "provider/hub.h"

void wfi_calls_open(struct wfi_hub *h)
{
	static const char *const names[WFI_CALLS] = {
		[WFI_CALL_SEND] = "fi_send",
		[WFI_CALL_TSEND] = "fi_tsend",
		[WFI_CALL_RECV] = "fi_recv",
		[WFI_CALL_TRECV] = "fi_trecv",
		[WFI_CALL_WRITE] = "fi_write",
		[WFI_CALL_READ] = "fi_read",
		[WFI_CALL_ATOMIC] = "fi_atomic",
		[WFI_CALL_FETCH] = "fi_fetch_atomic",
		[WFI_CALL_CQ_READ] = "fi_cq_read",
	};

	for (int i = 0; i < WFI_CALLS; i++)
		h->stat[i] = weft_att_stat(h->att, names[i]);
}

enum wfi_call wfi_call_of(uint64_t kind)
{
	if (kind & FI_ATOMIC)
		return kind & FI_READ ? WFI_CALL_FETCH : WFI_CALL_ATOMIC;
	if (kind & FI_RMA)
		return kind & FI_READ ? WFI_CALL_READ : WFI_CALL_WRITE;
	return kind & FI_TAGGED ? WFI_CALL_TSEND : WFI_CALL_SEND;
}

void wfi_call_begin(struct wfi_hub *h, enum wfi_call call, uint64_t bytes)
{
	h->call = call;
	h->call_bytes = bytes;
	weft_att_stat_begin(h->att, h->stat[call]);
	if (h->info->cost_call)
		weft_att_charge(h->att, h->info->cost_call);
}

void wfi_call_end(struct wfi_hub *h, int rc)
{
	int stat = h->stat[h->call];

	if (rc == -FI_EAGAIN) {
		weft_att_stat_drop(h->att, stat);
		return;
	}
	weft_att_stat_end(h->att, stat);
	weft_att_stat_add(h->att, stat, h->call_bytes);
}
