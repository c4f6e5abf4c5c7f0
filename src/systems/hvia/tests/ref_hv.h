/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of HVIA-GE's timing (hvia.md 5.2, 5.3, 7): two cards and a cable,
 * stepped by every clock. It has one VI, whose messages are a chain of posted
 * descriptors. Receives of one or two segments are posted before the sends.
 * Prefetch is on. The reference handles addresses, lengths and times, but no
 * bytes. */
#ifndef HVIA_TESTS_REF_HV_H
#define HVIA_TESTS_REF_HV_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_HV_MSGS = 24, REF_HV_SEGS = 12, REF_HV_PAYLOAD = 1472 };

struct ref_hv_seg {
	/* only the offset of the address in its page has an effect */
	uint32_t addr, len;
};

struct ref_hv_msg {
	uint32_t len, n_src, n_dst;
	struct ref_hv_seg src[REF_HV_SEGS], dst[2];
	/* found, fs */
	uint64_t txd, poll, data, done;
};

struct ref_hv {
	struct ref_hv_msg msg[REF_HV_MSGS];
	uint32_t n;
	/* clock from which the send engine can find the chain */
	uint64_t start;
};

/* Returns the time of a clock edge at 66 MHz. */
uint64_t ref_hv_edge(uint64_t cycle);
void ref_hv_run(struct ref_hv *r);

#endif
