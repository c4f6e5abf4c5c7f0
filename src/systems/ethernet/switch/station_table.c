/* SPDX-License-Identifier: Apache-2.0 */
#include "systems/ethernet/switch/station_table.h"

static struct eth_entry *set_of(const struct eth_table *t, uint64_t addr)
{
	uint64_t h = (addr + 1) * 0x9e3779b97f4a7c15ull;

	return t->at + (h >> 32 & (t->sets - 1)) * ETH_WAYS;
}

static bool alive(const struct eth_table *t, const struct eth_entry *e,
		  weft_time_t now)
{
	return e->key && now - e->seen <= t->ageing;
}

static struct eth_entry *find(const struct eth_table *t, uint64_t addr)
{
	struct eth_entry *e = set_of(t, addr);

	for (uint32_t i = 0; i < ETH_WAYS; i++)
		if (e[i].key == addr + 1)
			return &e[i];
	return NULL;
}

/* Returns the entry to replace: an empty or aged one, otherwise the oldest. */
static struct eth_entry *victim(const struct eth_table *t, uint64_t addr,
				weft_time_t now)
{
	struct eth_entry *e = set_of(t, addr), *oldest = e;

	for (uint32_t i = 0; i < ETH_WAYS; i++) {
		if (!alive(t, &e[i], now))
			return &e[i];
		if (e[i].seen < oldest->seen)
			oldest = &e[i];
	}
	return oldest;
}

enum eth_learned eth_table_learn(struct eth_table *t, uint64_t addr,
				 uint32_t port, weft_time_t now)
{
	struct eth_entry *e = find(t, addr);
	enum eth_learned what;

	if (e && alive(t, e, now)) {
		what = e->port == port ? ETH_KNOWN : ETH_MOVED;
	} else {
		e = e ? e : victim(t, addr, now);
		what = alive(t, e, now) ? ETH_EVICTED : ETH_NEW;
	}
	*e = (struct eth_entry){ addr + 1, now, port };
	return what;
}

uint32_t eth_table_find(const struct eth_table *t, uint64_t addr,
			weft_time_t now)
{
	const struct eth_entry *e = find(t, addr);

	return e && alive(t, e, now) ? e->port : ETH_NO_PORT;
}
