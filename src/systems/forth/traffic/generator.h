/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the traffic generator: generator.c (tables, set-up and end),
 * generator_sink.c (packets that arrive), generator_source.c (packets to send),
 * generator_path.c (the path of a packet) and generator_order.c (the order of
 * arrival). */
#ifndef SYSTEMS_FORTH_TRAFFIC_GENERATOR_H
#define SYSTEMS_FORTH_TRAFFIC_GENERATOR_H

#include "base/ring.h"
#include "net/traffic_source.h"
#include "systems/forth/link/port.h"

enum { BAL_PACKET, BAL_DESTINATION, BAL_STATIC, BAL_FABRIC };

struct forth_gen_item {
	uint64_t born : 54; /* cycle */
	uint64_t qwords : 10;
};

/* State for one node: the packets to that node, and the order of the packets
 * from that node. The array of this struct is indexed by node. */
struct forth_gen_voq {
	RING(struct forth_gen_item);
	uint32_t sent; /* packets sent to this destination */
	uint32_t turn; /* path of the next packet, modulo the number of paths */
	uint32_t expected; /* number of the next packet from this source */
};

/* The packet numbers of one source that have arrived, at a sink that does not
 * expect order. Any two of these numbers differ by less than GEN_WINDOW. */
enum { GEN_WINDOW = 4096, GEN_PARTNERS = 8 };
struct forth_gen_from {
	/* one bit per packet number from `base` on, set if the packet has
	 * arrived. The index of the bit is the number modulo GEN_WINDOW */
	uint64_t seen[GEN_WINDOW / 64];
	uint32_t base; /* all numbers below `base` have arrived */
	uint32_t held; /* behind base */
	/* highest number that has arrived + 1 - base, or 0 */
	uint32_t span;
	/* largest number of packets that overtook one packet */
	uint32_t deepest;
};

/* Contents of the sink's FIFO, in order. The sink keeps them only where faults
 * may overfill the FIFO, because without faults credits prevent an overflow. */
enum { GEN_FIFO = 1024 };
struct forth_gen_held {
	uint64_t at; /* bus cycle at which the packet begins to leave */
	uint32_t charge, data;
};
struct forth_gen_fifo {
	RING(struct forth_gen_held);
	uint32_t words;
};

struct forth_gen_params {
	uint32_t node, dests, pattern, dest, backlog, balance, paths;
	uint64_t size, size_max, packets, shuffle;
	double load, hot, burst;
	uint32_t frame, min_payload, refresh_cc, t_crtx, t_crrx, credit_words;
	uint32_t resync, t_l2d, t_bus;
	uint64_t rx_bytes;
	struct weft_clock bus;
	weft_time_t hold, warmup;
	bool verify, credit_filter, stamp, crc32_complement;
	char crystal[16], targets[256];
};

/* State of the sink: its bus, its FIFO, and the order of arrival. */
struct forth_gen_sink {
	uint64_t bus_free; /* bus cycle */
	/* contents of the FIFO, or NULL if it cannot overflow */
	struct forth_gen_fifo *fifo;
	/* state per source, or NULL if packets arrive in order */
	struct forth_gen_from *from;
	weft_time_t first, last;
	uint64_t words; /* words on the line since the warm-up */
	uint32_t held, held_max;
	struct weft_hist *latency, *reorder;
};

struct forth_gen {
	struct forth_gen_params p;
	struct forth_port link;
	struct traffic_source source;
	/* pattern=list: destinations of this node */
	uint32_t partner[GEN_PARTNERS];
	struct forth_gen_voq *voq;
	uint64_t mask[2]; /* bit per destination with packets queued */
	uint32_t rr, queued;
	/* verify=no: payload of all packets, shared because no sink checks
	 * it */
	struct weft_slice shared;
	/* ways: number of paths in use, or 0 for path 0 only. turn: path of the
	 * next packet, modulo `ways` */
	uint32_t ways, turn;
	struct forth_gen_sink sink;
};

enum {
	C_SENT,
	C_SENT_BYTES,
	C_RECEIVED,
	C_BYTES,
	C_DISORDER,
	C_CORRUPT,
	C_BAD_BODY,
	C_BACKPRESSURE,
	C_OVERFLOW,
	C_PARITY,
	C_HEADER_CRC,
	C_ALIGN,
	C_LATE,
	C_DUPLICATE,
	C_MISSING,
	C_SYNC_LOSS,
	C_UNSYNC,
	C_RESYNCS,
	C_N
};

/* Returns the right value of qword k of a packet's payload. */
static inline uint64_t pattern_qword(uint32_t tag, uint32_t dest, uint32_t k)
{
	uint64_t z =
		((uint64_t)tag << 32 | dest << 16 | k) + 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	return z ^ z >> 31;
}

/* generator_path.c: forth_gen_paths sets up paths once the link is up.
 * forth_gen_path returns the path number of the next packet to d. */
int forth_gen_paths(struct weft_comp *c, struct weft_err *err);
uint32_t forth_gen_path(const struct forth_gen *g, uint32_t d);
static inline bool forth_gen_in_order(const struct forth_gen *g)
{
	return g->ways < 2 || g->p.balance >= BAL_STATIC;
}

/* generator_order.c: forth_gen_order_add notes the arrival of packet `number`
 * of source src, forth_gen_order_report reports the order of arrival. */
int forth_gen_order_init(struct weft_comp *c, struct weft_err *err);
void forth_gen_order_add(struct weft_comp *c, uint32_t src, uint32_t number,
			 bool measure);
void forth_gen_order_report(struct weft_comp *c);

/* generator_sink.c */
void forth_gen_packet(void *own, struct forth_port *l, struct weft_frame *f,
		      const struct forth_port_rx *rx);

/* generator_source.c */
int forth_gen_source_init(struct weft_comp *c, struct weft_err *err);
/* Sets the timer to the time at which the next packet is due. */
void forth_gen_rearm(struct forth_gen *g);
bool forth_gen_next(void *own, struct forth_port *l, struct forth_port_pkt *p);
void forth_gen_sent(void *own, struct forth_port *l, uint64_t start,
		    uint64_t end, uint32_t shift);

#endif
