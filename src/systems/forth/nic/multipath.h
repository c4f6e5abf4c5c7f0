/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath of the FORTH NIC. The sender chooses paths (path_choice.c). The
 * receiver detects when a message is complete although packets overtake each
 * other (resequencer.c, packet_counting.c). Source: forth.md section 7. */
#ifndef SYSTEMS_FORTH_NIC_MULTIPATH_H
#define SYSTEMS_FORTH_NIC_MULTIPATH_H

#include "systems/forth/nic/network_interface.h"

struct forth_nic;
struct weft_err;

#define FORTH_HDR_ANNOUNCE (1ull << 48) /* completion=count (7.7) */
enum { PATHS_MAX = 32, NO_SLOT = 0xFFFF, SOURCES = 8, GROUPS = 64 };

/* A remote notification or interrupt that waits until PCI edge `at`. */
struct forth_deliver {
	uint64_t hdr, at;
	bool bad, loss;
	uint8_t src, group;
	/* trace id of the message, or 0 if the packet belongs to several
	 * messages */
	uint64_t trace;
};

/* path_choice.c */
int forth_path_init(struct forth_nic *n, struct weft_err *err);
/* Returns the link on which the NIC must send the front packet of VOQ v. */
uint32_t forth_path_of(const struct forth_nic *n, uint32_t v);
/* Returns the header of the front packet of a VOQ with its resequencing
 * field. */
uint64_t forth_path_header(const struct forth_nic *n, uint32_t v, uint64_t hdr);
/* Advances the pattern of paths of VOQ v, because its front packet has left. */
void forth_path_sent(struct forth_nic *n, uint32_t v);
void forth_reseq_tx_wrote(struct weft_comp *c, uint32_t i, uint64_t val);

/* resequencer.c: detects complete messages although packets overtake each
 * other. */
int forth_reseq_init(struct forth_nic *n, struct weft_err *err);
void forth_reseq_fini(struct forth_nic *n);
/* Handles the header of an arriving packet, whose CRC was good. The header
 * takes effect at PCI edge `pc`, at which its CRC is checked. */
void forth_reseq_header(struct forth_nic *n, struct forth_rx *rx, uint64_t pc);
/* Notes that the payload of a packet is in memory, or lost. */
void forth_reseq_written(struct forth_nic *n, const struct forth_rx *rx,
			 bool lost);
/* Handles headers whose CRC has been checked by now. */
void forth_reseq_run(struct forth_nic *n);
/* Functions that the register table calls for loads and stores of 0x14C, 0x184,
 * 0x18C, 0x1A0.. */
uint64_t forth_reseq_read(struct weft_comp *c, uint32_t i);
uint64_t forth_reseq_rx_read(struct weft_comp *c, uint32_t i);
void forth_reseq_rx_wrote(struct weft_comp *c, uint32_t i, uint64_t val);
uint64_t forth_reseq_pool_read(struct weft_comp *c, uint32_t i);
uint64_t forth_reseq_state_read(struct weft_comp *c, uint32_t src);
/* Passes a notification or interrupt to the engine. */
void forth_deliver(struct forth_nic *n, struct forth_deliver d);

/* packet_counting.c: detects complete groups of packets by counting their words
 * (forth.md 7.7). */
int forth_group_init(struct forth_nic *n, struct weft_err *err);
/* Counts the words of a packet that are in memory. Notifies when its group is
 * complete. */
void forth_group_written(struct forth_nic *n, const struct forth_rx *rx);

#endif
