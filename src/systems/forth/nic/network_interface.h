/* SPDX-License-Identifier: Apache-2.0 */
/* Net2Host of the FORTH NIC: FIFOs between the link engines and the host side
 * (network_interface.c). Source: forth.md sections 1.2, 4.8 to 4.11 and 5.2. */
#ifndef SYSTEMS_FORTH_NIC_NETWORK_INTERFACE_H
#define SYSTEMS_FORTH_NIC_NETWORK_INTERFACE_H

#include "systems/forth/link/port.h"
#include "systems/forth/nic/registers.h"
#include "base/ring.h"

struct forth_nic;
struct weft_err;

/* One received packet in Net2Host. */
struct forth_rx {
	uint64_t hdr;
	struct weft_slice data;
	uint64_t ready;	  /* PCI edge of Net2HPReady */
	uint64_t data_cc; /* NET cycle of the first payload word */
	uint64_t end_cc;  /* NET cycle after the last word */
	uint32_t qwords;  /* payload qwords in the FIFO */
	uint32_t charge;  /* link words */
	bool bad;
	bool loop; /* the packet arrived at the loop end of its link */
	/* multipath */
	uint8_t link, src;
	uint16_t slot; /* slot of its header in the pool, or NO_SLOT */
	uint32_t epoch;
	uint64_t trace; /* message */
};

/* A Net2Host FIFO, one per link engine. */
struct forth_fifo {
	struct {
		RING(struct forth_rx);
	} q;
	uint32_t used; /* qwords, headers included */
	uint32_t line; /* packets in the FIFO that arrived over the cable */
	/* qwords of the latest burst, which `used` contains until out_at */
	uint32_t out;
	uint64_t out_at; /* pc */
};

int forth_netif_init(struct forth_nic *n, struct weft_err *err);
int forth_netif_start(struct forth_nic *n, struct weft_err *err);
/* Returns the qwords in the FIFO of a link now. */
uint32_t forth_fifo_used(struct forth_nic *n, uint32_t link);
/* Drops all waiting packets. Their credits return from PCI edge `pc` on. */
void forth_netif_flush(struct forth_nic *n, uint64_t pc);
weft_time_t forth_rx_word_at(const struct forth_nic *n,
			     const struct forth_rx *rx, uint32_t i);
/* Gives back credits for `count` payload qwords from `first` on. These qwords
 * leave Net2Host from edge pc0 on, one in each PCI cycle (5.2, NIC
 * receiver). */
void forth_netif_words_out(struct forth_nic *n, uint32_t first, uint32_t count,
			   uint64_t pc0);
/* Gives the remaining charge of a packet back as credits, including the charge
 * of words that were not written. */
void forth_netif_rest_out(struct forth_nic *n, uint64_t pc);
/* Notes that a packet was written or dropped. If the FIFO then holds no packet
 * from the cable, lets a waiting loop end send (2.6). */
void forth_netif_gone(struct forth_nic *n, const struct forth_rx *rx);
/* Returns a network counter since it was last cleared, summed over all
 * links. */
uint64_t forth_net_count(struct forth_nic *n, enum forth_net id);
/* Returns the sum over all links of the counter at this offset in struct
 * forth_port_count. */
uint64_t forth_link_sum(struct forth_nic *n, size_t counter);

#endif
