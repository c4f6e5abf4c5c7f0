/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of eth.nic: rings and buffers in host memory, one frame in each
 * buffer. The driver charges no processor time for its code, because the stack
 * above it does (stack.h). Only accesses to the device take time. */
#ifndef SYSTEMS_ETHERNET_LIB_ETH_H
#define SYSTEMS_ETHERNET_LIB_ETH_H

#include "weft/host.h"

enum { ETH_STATION = 6, ETH_MTU = 1500, ETH_MTU_MAX = 9000 };

struct eth_attr {
	uint32_t tx, rx; /* number of descriptors, a multiple of 8 */
	uint32_t mtu;	 /* bytes after the Ethernet header, or 0 for 1500 */
};

struct eth_dev;

/* Opens device 0 of the node. Returns 0 or a negative errno. */
int eth_open(struct weft_host *h, const struct eth_attr *a,
	     struct eth_dev **e_p);
/* Resets the device, because it may still own buffers. Then frees all
 * memory. */
void eth_close(struct eth_dev *e);
/* Returns the device, so that the caller can wait for its interrupt. */
struct weft_dev *eth_device(const struct eth_dev *e);
/* Returns the station address, which lives as long as e. */
const uint8_t *eth_address(const struct eth_dev *e);

/* Returns the buffer of the next frame to send, or NULL if all are in use. */
uint8_t *eth_tx_buf(struct eth_dev *e);
/* Writes the descriptor of a frame of len bytes without FCS. eth_tx_post()
 * gives the descriptor to the device. */
void eth_tx_put(struct eth_dev *e, uint32_t len);
/* Posts the next n frames that eth_tx_put() has written into descriptors. */
void eth_tx_post(struct eth_dev *e, uint32_t n);
/* eth_tx_clean() frees the buffers of sent frames and returns the number of
 * frames in the device. eth_tx_kept() returns the number of frames put and not
 * yet posted. */
uint32_t eth_tx_clean(struct eth_dev *e);
uint32_t eth_tx_kept(const struct eth_dev *e);

/* Returns the next received frame, or NULL. The caller returns it with
 * eth_rx_return() before the next call. */
const uint8_t *eth_rx(struct eth_dev *e, uint32_t *len_p);
/* Gives the buffer of the received frame back to the device. */
void eth_rx_return(struct eth_dev *e);

/* Returns the causes of the interrupt and clears them. */
uint32_t eth_causes(struct eth_dev *e);
/* Enables or disables interrupts by cause. */
void eth_enable(struct eth_dev *e, uint32_t causes, bool on);

#endif
