/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet II frames on 1000BASE-T (hvia.md 3.8, 4; IEEE 802.3 clauses 3, 4,
 * 31). Fields in bytes: preamble 7, SFD 1, destination 6, source 6, EtherType
 * 2, data padded to 46, FCS 4, gap 12. A byte takes 8 ns.
 *
 * A frame is one weft_frame whose payload reaches from the destination to the
 * last byte of data or padding. The payload is always carried, also in runs
 * without payload, because switches and receivers read it. The FCS is right
 * unless the frame has line symbols (raw): the bytes from the first byte of the
 * preamble to the last byte of the FCS. */
#ifndef SYSTEMS_ETHERNET_LINK_WIRE_H
#define SYSTEMS_ETHERNET_LINK_WIRE_H

#include "base/bytes.h"
#include "base/crc.h"
#include "weft/sim.h"

enum {
	ETH_ADDR = 6,
	ETH_TYPE_AT = 2 * ETH_ADDR,
	ETH_HEAD = 14,
	ETH_FCS = 4,
	ETH_PREAMBLE = 8, /* with SFD */
	ETH_GAP = 12,
	ETH_FRAME_MIN = 60, /* without FCS */
	ETH_FRAME_MAX = 1514,
	ETH_FRAME_JUMBO = 9014,
	ETH_FRAME_LIMIT = 16384, /* length of the longest frame of any kind */
	ETH_TYPE_PAUSE = 0x8808,
	ETH_TYPE_HVIA = 0x88b5,
};
#define ETH_BYTE_FS	 (8 * WEFT_NS)
#define ETH_PAUSE_QUANTA (512 * WEFT_NS) /* 512 bit times */

extern const struct weft_wire eth_wire;
/* in wire_faults.c */
extern const struct weft_wire_faults eth_wire_faults;
extern const struct weft_wire_capture eth_wire_capture;
/* Classes of cable and gateway for a network of routers with Ethernet stations
 * (cable.c). */
extern const struct weft_network_parts eth_network_parts;
extern const uint8_t eth_broadcast[ETH_ADDR], eth_pause_group[ETH_ADDR];

/* Returns a frame of len bytes without FCS. The len bytes are undefined, but
 * padding up to 60 bytes is zero. */
struct weft_frame *eth_frame_new(struct weft_sim *sim, uint32_t len);
/* Returns a frame whose data are the bytes of s, without padding. Takes over
 * the caller's reference to s. */
struct weft_frame *eth_frame_slice(struct weft_sim *sim, struct weft_slice s);
/* Sets destination, source and EtherType (big endian on the wire). */
void eth_frame_head(struct weft_frame *f, const uint8_t dst[ETH_ADDR],
		    const uint8_t src[ETH_ADDR], uint16_t type);
static inline uint8_t *eth_frame_data(const struct weft_frame *f)
{
	return f->payload.buf->data + f->payload.off;
}
static inline uint16_t eth_frame_type(const struct weft_frame *f)
{
	return (uint16_t)get_be(eth_frame_data(f) + ETH_TYPE_AT, 2);
}
/* Returns the number of bytes on the line: preamble, frame and FCS, but no
 * gap. */
static inline uint32_t eth_wire_bytes(uint32_t len)
{
	return ETH_PREAMBLE + len + ETH_FCS;
}
/* Returns the time from the first byte of the preamble to the end of the
 * FCS. */
static inline weft_time_t eth_frame_time(const struct weft_frame *f)
{
	return f->words * ETH_BYTE_FS;
}
/* Returns the time at which the last byte of the FCS has arrived. */
static inline weft_time_t eth_frame_end(const struct weft_frame *f)
{
	return f->time + eth_frame_time(f);
}

/* eth_line_add() inserts an arriving frame into a list by the time of its end,
 * because a fault may let frames overlap. eth_line_take() removes the first
 * frame that has ended by `now`, or returns NULL. */
void eth_line_add(struct weft_frame **line, struct weft_frame *f);
struct weft_frame *eth_line_take(struct weft_frame **line, weft_time_t now);
/* Frees a list of frames. */
void eth_line_free(struct weft_frame **line);

/* Returns the FCS of n bytes. Its least significant byte is first on the
 * wire. */
static inline uint32_t eth_fcs(const uint8_t *p, uint32_t n)
{
	return crc32_reflected(0, p, n);
}

enum eth_verdict {
	ETH_GOOD,
	ETH_BAD_FCS,
	ETH_BAD_SYMBOL, /* a symbol is not a data byte, or the SFD is missing */
	ETH_RUNT,
	ETH_GIANT, /* longer than `max` */
};
/* Checks a frame as a receiver does. Decodes the bytes of a damaged frame into
 * its payload if possible. Drops the line symbols of a frame without an
 * error. */
enum eth_verdict eth_frame_check(struct weft_frame *f, uint32_t max);
/* Declares that the last four bytes of a frame are its FCS, which may be
 * wrong. */
void eth_frame_given_fcs(struct weft_frame *f);

/* Returns a pause frame (802.3 annex 31B). */
struct weft_frame *eth_pause_new(struct weft_sim *sim,
				 const uint8_t src[ETH_ADDR], uint16_t quanta);
/* Returns true if f is a pause frame, and stores the pause time in quanta_p. */
bool eth_pause_parse(const struct weft_frame *f, uint16_t *quanta_p);

static inline bool eth_is_group(const uint8_t addr[ETH_ADDR])
{
	return addr[0] & 1;
}
/* Returns the address as a number, which tables use as key. */
static inline uint64_t eth_addr_key(const uint8_t a[ETH_ADDR])
{
	return (uint64_t)a[0] << 40 | (uint64_t)a[1] << 32 |
	       (uint64_t)a[2] << 24 | (uint64_t)a[3] << 16 |
	       (uint64_t)a[4] << 8 | a[5];
}
/* Writes the locally administered address of station n: 02:00:00:00:hh:ll. */
void eth_addr_of(uint8_t a[ETH_ADDR], uint32_t n);
/* Returns the number of the station in a component's name: n3.nic is 3. */
uint32_t eth_station_of(const char *name);

#endif
