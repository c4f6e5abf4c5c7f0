/* SPDX-License-Identifier: Apache-2.0 */
/* Packets between the functional units and the network ports (network_ports.c,
 * deadlock_timer.c). */
#ifndef SYSTEMS_HOSTPORT_NIC_NETWORK_PORTS_H
#define SYSTEMS_HOSTPORT_NIC_NETWORK_PORTS_H

#include "systems/extoll/network/network_port.h"
#include "systems/hostport/nic/wire.h"

struct hp_nic;

/* number of the service port, number of ports of the component */
enum { HP_NP_SERVICE = 2, HP_NPS = 3 };

/* A packet that arrives. `head` is valid once its first cells have arrived. */
struct hp_rx {
	struct hp_head head;
	/* frame whose payload is readable up to byte `here` */
	struct weft_frame *f;
	uint32_t here; /* number of user bytes that have arrived */
	bool whole;    /* the whole packet has arrived */
	uint8_t np, cls;
	/* Set by the consumer. Called when `here` has grown or `whole` is
	 * set. */
	void (*more)(struct hp_nic *n, struct hp_rx *rx);
	void *arg;
	/* used by network_ports.c */
	uint32_t arrived; /* number of payload bytes that have arrived */
	enum hp_parse parse;
	bool arrived_all, open, ended, telling;
	/* slots of the cells not yet given back, oldest first */
	uint8_t slots[64];
	/* number of payload bytes up to the end of each cell */
	uint32_t ends[64];
	uint32_t n_slots;
	struct hp_rx *next, *chain;
};
/* Notes that the consumer has taken the first `bytes` user bytes. Gives the
 * cells of these bytes back to the network, because held cells block later
 * packets. */
void hp_rx_took(struct hp_nic *n, struct hp_rx *rx, uint32_t bytes);
/* Gives back all cells, because the consumer has copied all bytes that
 * arrived. */
void hp_rx_copied(struct hp_nic *n, struct hp_rx *rx);
/* Ends the consumer's use of the packet. Drops bytes of the packet that arrive
 * later. */
void hp_rx_end(struct hp_nic *n, struct hp_rx *rx);

/* A packet that is sent. The sender writes user bytes into the payload of f,
 * from offset `skip` on, before it announces them by hp_net_more(). */
struct hp_tx {
	struct weft_frame *f;
	struct netport_pkt *pkt;
	uint8_t np, cls;
	uint16_t vpid; /* VPID of the sender */
	uint32_t skip; /* bytes of the payload before the user bytes */
	/* time of the first word, in cycles of the network port */
	uint64_t cycle;
	uint32_t avail, total;
	/* Called when the network port takes the packet, if the port had no
	 * room at first. May be NULL. The sender sets this callback while pkt
	 * is NULL. */
	void (*taken)(struct hp_nic *n, struct hp_tx *tx);
	/* Called when the last word has left the network port's queue. May be
	 * NULL. */
	void (*sent)(struct hp_nic *n, struct hp_tx *tx);
	void *arg;
	struct hp_tx *next, *chain;
};
struct hp_tx_list {
	struct hp_tx *head, *tail; /* packets that wait for room in the
				    * network port */
};
/* All network ports, with the packets to be sent by class (requests,
 * replies). */
struct hp_net {
	struct netport np[HP_NPS];
	struct hp_tx_list tx[HP_NPS][2], flying[HP_NPS][2];
	struct hp_stall {
		bool counts;
		uint64_t since; /* cycle from which dl_counter counts */
	} stall[HP_NPS];
	struct hp_tx *tx_pool, *tx_all;
	/* packets that are being received, by port and class */
	struct hp_rx *rx[HP_NPS][2];
	struct hp_rx *rx_pool, *rx_all;
};

/* Sends f from `cycle` on, and takes ownership of it. The first `bytes` user
 * bytes are valid, or all if `bytes` is UINT32_MAX. Requests of one network
 * port keep their order, and so do replies. Returns a handle that is valid
 * until sent() has returned. */
struct hp_tx *hp_net_send(struct hp_nic *n, struct weft_frame *f, uint32_t skip,
			  uint64_t cycle, uint32_t bytes,
			  void (*sent)(struct hp_nic *, struct hp_tx *),
			  void *arg);
/* Sends f through network port np. Arguments and result are those of
 * hp_net_send(). */
struct hp_tx *hp_net_send_on(struct hp_nic *n, uint32_t np,
			     struct weft_frame *f, uint32_t skip,
			     uint64_t cycle, uint32_t bytes,
			     void (*sent)(struct hp_nic *, struct hp_tx *),
			     void *arg);
/* Announces that the first `bytes` user bytes are valid. */
void hp_net_more(struct hp_nic *n, struct hp_tx *tx, uint32_t bytes);
/* Applies CTRL after it was written. */
void hp_net_ports(struct hp_nic *n);

/* ---- deadlock timer (deadlock_timer.c) ---- */

/* Starts the deadlock timer of network port p, because the port has a packet
 * now. */
void hp_stall(struct hp_nic *n, uint32_t p);

/* Functions that nic.c calls at the start and the end of a run. */
int hp_net_init(struct hp_nic *n, struct weft_err *err);
void hp_net_abandon(struct hp_nic *n);

#endif
