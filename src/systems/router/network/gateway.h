/* SPDX-License-Identifier: Apache-2.0 */
/* A gateway between the line of a NIC and an end of a network of routers. The
 * gateway class of a system embeds a struct gateway as the first member of its
 * state and owns the line. struct gateway carries frames through the network.
 *
 *   line -> gateway_room, gateway_send -> queue -> packets -> network
 *   network -> whole frame, in order -> ops.deliver -> line -> gateway_done
 *
 * A frame becomes packets of a header and at most packet_bytes - header_bytes
 * bytes of content (gateway_packet.c). Packets only point to their frame. The
 * frame is delivered when the last flit of its packets has arrived.
 *
 * Routers let packets of a pair of ends overtake each other, and a NIC may stop
 * accepting frames. Therefore the frames of one source, destination and class
 * have a window. At most `window` of these frames are sent and not yet accepted
 * by the destination's NIC. The receiving gateway has a place for each of them,
 * so that it never blocks flits and can deliver frames in order. A NIC that
 * accepts no frames does not block packets for other NICs. Credits for places
 * travel in the headers of packets in the other direction. When credits for
 * half of a window are owed, a packet without content carries them. */
#ifndef SYSTEMS_ROUTER_NETWORK_GATEWAY_H
#define SYSTEMS_ROUTER_NETWORK_GATEWAY_H

#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"
#include "weft/trace.h"

/* Classes of frames, which never wait for each other in a gateway: requests and
 * responses. */
enum { GATEWAY_CLASSES = 2 };
/* Bytes of the shortest header (docs/systems/router.md). */
enum { GATEWAY_HEADER = 16 };

enum {
	GATEWAY_OUT,
	GATEWAY_IN,
	GATEWAY_BYTES_OUT,
	GATEWAY_BYTES_IN,
	GATEWAY_PACKETS_OUT,
	GATEWAY_PACKETS_IN,
	GATEWAY_CREDITS,
	GATEWAY_WAITS,
	GATEWAY_EARLY,
	GATEWAY_UNKNOWN,
	GATEWAY_N_COUNTERS
};
/* clang-format off */
#define GATEWAY_COUNTERS                                                       \
	[GATEWAY_OUT] = { "frames_out", "frames", "sent into the network" },   \
	[GATEWAY_IN] = { "frames_in", "frames", "delivered to the NIC" },      \
	[GATEWAY_BYTES_OUT] = { "bytes_out", "bytes", "content of frames sent" }, \
	[GATEWAY_BYTES_IN] = { "bytes_in", "bytes",                            \
			       "content of frames delivered" },                \
	[GATEWAY_PACKETS_OUT] = { "packets_out", "packets",                    \
				  "into the network" },                        \
	[GATEWAY_PACKETS_IN] = { "packets_in", "packets", "out of it" },       \
	[GATEWAY_CREDITS] = { "credit_packets", "packets",                     \
			      "sent with credits alone" },                     \
	[GATEWAY_WAITS] = { "window_waits", "frames",                          \
			    "waited because their window was used up" },       \
	[GATEWAY_EARLY] = { "early", "frames",                                 \
			    "overtook a frame of their pair and were held" },  \
	[GATEWAY_UNKNOWN] = { "unknown", "frames",                             \
			      "dropped: their address is that of no end" }

#define GATEWAY_PARAM(type, field, def, range, doc)                            \
	WEFT_PARAM(type, struct gateway, field, def, range, OWN, doc)
#define GATEWAY_PARAMS                                                         \
	GATEWAY_PARAM(U32, flit_bytes, "16", "1..512",                         \
		      "bytes of a flit of the network"),                       \
	GATEWAY_PARAM(U32, header_bytes, "16", "16..256",                      \
		      "header of each packet"),                                \
	GATEWAY_PARAM(U32, packet_bytes, "256", "32..16384",                   \
		      "longest packet with its header; longer frames become "  \
		      "several packets"),                                      \
	GATEWAY_PARAM(U32, window, "8", "1..1024",                             \
		      "frames of a source, a destination and a class on "      \
		      "their way, and places for them behind the network"),    \
	GATEWAY_PARAM(U32, places, "8", "1..4096",                             \
		      "frames of a class that wait in front of the network"),  \
	GATEWAY_PARAM(U32, t_in, "2", "1..64",                                 \
		      "cycles from a whole frame to its first flit"),          \
	GATEWAY_PARAM(U32, t_out, "2", "0..64",                                \
		      "cycles from its last flit to the line of the NIC"),     \
	GATEWAY_PARAM(CLOCK, clock, "1GHz", "",                                \
		      "clock of the network, as that of its routers")
/* clang-format on */
/* First rows of the class's table of ports. The row of port `nic` follows. */
#define GATEWAY_PORTS                                                          \
	{                                                                      \
		"p%u", WEFT_PORT_LINK, "2", &router_wire, true,                \
			"to a router; p1: from the last stage of a network "   \
			"that is passed in one direction"                      \
	}
enum { GATEWAY_PORT_NIC = 2 };

/* A frame in flight, or credits without a frame. */
struct gateway_frame {
	struct gateway_frame *next;
	struct weft_frame *f; /* NULL: credits without a frame */
	uint64_t ready;	      /* cycle from which it may leave */
	uint32_t src, dest;   /* ends */
	uint32_t cls, bytes;
	uint32_t number; /* among frames of one source, dest, cls */
	/* number of credits that the frame's first packet carries, for frames
	 * of the same class in the other direction */
	uint32_t credits;
	uint32_t sent;	  /* bytes of content in packets so far */
	uint32_t packets; /* made and not arrived */
	bool cut;	  /* the last packet is made */
	bool waited;
};

struct gateway_list {
	struct gateway_frame *first, **end;
	uint32_t n;
};

/* Traffic with another end in a class. */
struct gateway_way {
	uint32_t sent; /* number of the next frame to that end */
	uint32_t open; /* frames in the window to that end */
	uint32_t next; /* number of the next frame from that end */
	uint32_t owed; /* credits owed to that end */
	bool asked;    /* gateway.owed has an entry for these credits */
	struct gateway_frame *early; /* by number */
};
struct gateway_peer {
	struct gateway_way way[GATEWAY_CLASSES];
};
struct gateway_owed { /* credits that need a packet of their own */
	uint32_t end, cls;
};

struct gateway_ops {
	/* Receives a whole frame from end `src`, and owns it. The frame may
	 * leave on the NIC's line from `ready` on. Called in phase 1. The class
	 * calls gateway_done() when the frame has left. */
	void (*deliver)(struct weft_comp *c, struct weft_frame *f, uint32_t src,
			uint32_t cls, weft_time_t ready);
	/* Called when a frame has left its place. */
	void (*room)(struct weft_comp *c, uint32_t cls);
};

struct gateway {
	struct station s;
	/* parameters: */
	uint32_t flit_bytes, header_bytes, packet_bytes;
	uint32_t window, places, t_in, t_out;
	struct weft_clock clock;
	/* state: */
	const struct gateway_ops *ops;
	struct gateway_list queue[GATEWAY_CLASSES];
	uint32_t turn;		    /* class that is asked first */
	struct gateway_peer **peer; /* by end, NULL: no traffic yet */
	struct gateway_frame *spare;
	struct {
		RING(struct gateway_owed);
	} owed;
	/* the line to the router: */
	const struct router_face *router;
	struct out_vc *vc;
	uint32_t last_vc;	     /* of the last packet, or ARBITER_NONE */
	struct gateway_frame *now;   /* frame whose packets leave, or NULL */
	uint32_t packet, flits_sent; /* packet that leaves, or ARBITER_NONE */
	uint64_t free;		     /* cycle of the next flit */
	struct weft_rng coins;
};

/* Sets up the state in ops.init, after the parameters are set. Returns 0, or
 * -EINVAL with a message. */
int gateway_init(struct weft_comp *c, const struct gateway_ops *ops,
		 struct weft_err *err);
/* Connects the gateway to the network in ops.start. Returns 0, or -EINVAL with
 * a message. */
int gateway_start(struct weft_comp *c, struct weft_err *err);
/* Frees the frames that still wait at the end of a run. Called in ops.finish.
 */
void gateway_abandon(struct gateway *g);
void gateway_fini(struct weft_comp *c);

/* Returns true if `end` exists and has a gateway of this class. */
bool gateway_knows(const struct gateway *g, uint32_t end);
/* Returns true if there is a place for a frame of this class. */
static inline bool gateway_room(const struct gateway *g, uint32_t cls)
{
	return g->queue[cls].n < g->places;
}
/* Sends a frame with `bytes` bytes of content to end `dest`, and owns the frame
 * afterwards. The frame must have arrived completely, and gateway_knows() and
 * gateway_room() must be true. */
void gateway_send(struct gateway *g, struct weft_frame *f, uint32_t dest,
		  uint32_t cls, uint32_t bytes);
/* Drops a frame for which gateway_knows() is false. */
void gateway_drop(struct gateway *g, struct weft_frame *f);
/* Owes `src` a credit. Called when a frame from `src` has left on the NIC's
 * line, or was dropped. */
void gateway_done(struct gateway *g, uint32_t src, uint32_t cls);

/* gateway_packet.c: returns the number of flits of a packet with `bytes` bytes
 * of content. */
uint32_t gateway_flits(const struct gateway *g, uint32_t bytes);
/* Sends flits of the current packet, or makes the next packet. */
void gateway_inject(struct gateway *g, uint64_t now);
/* Receives the packets whose last flit has arrived. */
void gateway_take(struct gateway *g, uint64_t now);

/* gateway.c: removes the next frame to send from its queue. Returns the frame,
 * or NULL if none is ready. If the first frame of a queue becomes ready later,
 * sets a wake for that cycle. */
struct gateway_frame *gateway_next(struct gateway *g, uint64_t now);
/* Accepts a frame whose packets have all arrived, or a record that only carries
 * credits. */
void gateway_whole(struct gateway *g, struct gateway_frame *w, uint64_t now);
/* Returns the number of credits owed to an end, and sets it to 0. */
uint32_t gateway_pay(struct gateway *g, uint32_t end, uint32_t cls);

#endif
