/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of class hostport.nic. Their defaults, ranges and sources are in
 * nic.c. */
#ifndef SYSTEMS_HOSTPORT_NIC_PARAMETERS_H
#define SYSTEMS_HOSTPORT_NIC_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/clock.h"

struct hp_params {
	struct weft_clock f_core, net_clock;
	double ppm;
	uint32_t node, width, np_depth;
	uint32_t csb_depth, csb_vpid_max, tagged_depth;
	uint32_t n_req_fu, n_cpl_fu, n_rsp_fu, n_np;
	bool hash_order;
	uint32_t issue_width, waitq_depth, miss_places, vci_queue, fetches;
	uint32_t lookups, list_pages, miss_buffer;
	uint32_t vpid_ahead, vpid_gets, vpid_recent;
	uint32_t ctx_cache, win_cache, route_cache, tlb;
	uint32_t t_trigger, t_reg, t_ctx, t_win, t_route, t_tlb;
	uint32_t t_decode, t_check, t_frame, t_nqe;
	uint32_t reads, posted, dma_piece, max_request;
	uint32_t ultra_ports, ultra_max_words, ultra_packet_queue;
	uint32_t ultra_port_slice, ultra_req_latency, ultra_cpl_latency;
	uint32_t ultra_cpl_occupancy, ultra_full_policy, nq_full_policy;
	uint32_t rx_block_limit, rx_places, dl_counter;
};

#endif
