/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of eth.nic: rings and buffers in host memory, one frame in each
 * buffer.  Costs nothing but its accesses to the device: what a stack's code
 * costs is the stack's (stack.h). */
#ifndef SYSTEMS_ETHERNET_LIB_ETH_H
#define SYSTEMS_ETHERNET_LIB_ETH_H

#include "weft/host.h"

enum { ETH_STATION = 6, ETH_MTU = 1500, ETH_MTU_MAX = 9000 };

struct eth_attr {
	uint32_t tx, rx; /* descriptors, multiples of 8 */
	uint32_t mtu;	 /* bytes behind the header; 0 = 1500 */
};

struct eth_dev;

/* Device 0 of the node.  0 or negative errno. */
int eth_open(struct weft_host *h, const struct eth_attr *a,
	     struct eth_dev **e_p);
void eth_close(struct eth_dev *e);
struct weft_dev *eth_device(const struct eth_dev *e);
const uint8_t *eth_address(const struct eth_dev *e);

/* Buffer of the next frame to send, or NULL: all are in use. */
uint8_t *eth_tx_buf(struct eth_dev *e);
/* It holds a frame of len bytes without FCS; the device does not know yet. */
void eth_tx_put(struct eth_dev *e, uint32_t len);
/* Gives the device the next n frames that it does not know of. */
void eth_tx_post(struct eth_dev *e, uint32_t n);
/* Takes back what has left; frames that the device has not yet sent, and those
 * that it does not know of. */
uint32_t eth_tx_clean(struct eth_dev *e);
uint32_t eth_tx_kept(const struct eth_dev *e);

/* Next received frame, or NULL; give it back before the next. */
const uint8_t *eth_rx(struct eth_dev *e, uint32_t *len_p);
void eth_rx_return(struct eth_dev *e);

/* Causes of the interrupt; reading ends it. */
uint32_t eth_causes(struct eth_dev *e);
void eth_enable(struct eth_dev *e, uint32_t causes, bool on);

#endif
