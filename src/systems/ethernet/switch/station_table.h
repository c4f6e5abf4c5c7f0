/* SPDX-License-Identifier: Apache-2.0 */
/* Learning table of an Ethernet switch: port by station address. A hash of the
 * address chooses a set of four ways. A full set drops the station that was
 * silent longest. */
#ifndef SYSTEMS_ETHERNET_SWITCH_STATION_TABLE_H
#define SYSTEMS_ETHERNET_SWITCH_STATION_TABLE_H

#include "systems/ethernet/link/wire.h"

enum { ETH_WAYS = 4 };
#define ETH_NO_PORT UINT32_MAX

struct eth_entry {
	uint64_t key; /* address + 1, or 0 for an empty entry */
	weft_time_t seen;
	uint32_t port;
};

struct eth_table {
	struct eth_entry *at; /* sets x ways entries, zero at first */
	uint32_t sets;	      /* number of sets, a power of two */
	weft_time_t ageing;
};

enum eth_learned { ETH_KNOWN, ETH_NEW, ETH_MOVED, ETH_EVICTED };

/* Records that station addr is at `port`. Returns the change in the table. */
enum eth_learned eth_table_learn(struct eth_table *t, uint64_t addr,
				 uint32_t port, weft_time_t now);
/* Returns the port, or ETH_NO_PORT if addr is unknown or aged. */
uint32_t eth_table_find(const struct eth_table *t, uint64_t addr,
			weft_time_t now);

#endif
