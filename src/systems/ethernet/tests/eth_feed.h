/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted stations around an Ethernet switch or other bridge. */
#ifndef ETHERNET_TESTS_ETH_FEED_H
#define ETHERNET_TESTS_ETH_FEED_H

#include "unit/cmocka_all.h"
#include "systems/ethernet/link/wire.h"

enum { FEED_PORTS = 8, FEED_MAX = 8192 };
#define FEED_CABLE (410 * WEFT_NS)

struct feed_got {
	weft_time_t start; /* time at which the first byte left the switch */
	uint32_t port, len, id;
	bool bad;
	uint32_t src, dst;
};

struct feed {
	struct weft_sim *sim;
	struct weft_comp *sw, *st[FEED_PORTS];
	uint32_t ports;
	struct feed_got got[FEED_MAX];
	uint32_t n_got;
};

/* Builds the switch and its stations. set: "name", "value", ..., NULL are
 * parameters of the switch. */
void feed_init(struct feed *d, uint32_t ports, const char *const *set);
/* Adds station i with a cable to a port of the bench. */
void feed_station(struct feed *d, uint32_t i, struct weft_port *to);
/* Returns a frame of station src for station dst (UINT32_MAX: broadcast) with
 * id in its bytes. feed_send sends it so that its first byte is at the switch
 * at `t`. */
struct weft_frame *feed_frame(struct feed *d, uint32_t src, uint32_t dst,
			      uint32_t len, uint32_t id);
void feed_send(struct feed *d, uint32_t port, struct weft_frame *f,
	       weft_time_t t);
/* Makes the FCS of a frame wrong. */
void feed_damage(struct weft_frame *f);
void feed_run(struct feed *d);
void feed_fini(struct feed *d);
uint64_t feed_count(const struct feed *d, const char *counter);

#endif
