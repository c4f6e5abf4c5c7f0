/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of component classes. A class declares tables of parameters,
 * counters, ports and registers, and a few operations. Weft uses the tables to
 * parse experiments, print `weft list` and `weft describe`, decode registers,
 * name counters in results and fill the reference pages. */
#ifndef WEFT_COMPONENT_H
#define WEFT_COMPONENT_H

#include "weft/clock.h"
#include "weft/types.h"
#include "weft/wire.h"

WEFT_C_BEGIN

/* ---- parameters ---- */

enum weft_ptype {
	WEFT_P_BOOL,  /* bool: true/false/yes/no/on/off/1/0 */
	WEFT_P_U32,   /* uint32_t */
	WEFT_P_U64,   /* uint64_t */
	WEFT_P_REAL,  /* double */
	WEFT_P_TIME,  /* weft_time_t: "12.8ns"; unit required unless 0 */
	WEFT_P_CLOCK, /* struct weft_clock: "100MHz" or "10ns" */
	WEFT_P_RATE,  /* uint64_t bit/s: "2.5Gb/s", "300MB/s", "286MiB/s" */
	WEFT_P_BYTES, /* uint64_t: "512", "2KiB", "8KB" (1 KB = 1000 B) */
	WEFT_P_ENUM,  /* uint32_t index into range "word|packed" */
	WEFT_P_STR,   /* char[size], size up to 4096, always terminated */
};

/* Origin of a number, as `weft describe` prints it. */
enum weft_source {
	WEFT_STATED,	    /* printed in the source document */
	WEFT_DERIVED,	    /* follows from stated numbers */
	WEFT_RECONSTRUCTED, /* inferred, because the source is silent or
			     * garbled */
	WEFT_CALIBRATED,    /* chosen to make a published result come out */
	WEFT_OWN,	    /* a choice of Weft, without a source */
};

struct weft_param {
	const char *name;
	enum weft_ptype type;
	uint32_t offset, size; /* offset and size of the field in the state, in
				* bytes */
	const char *def;       /* default value, as text */
	const char *range;     /* "2..64", "8..", "a|b|c"; "" = any value */
	enum weft_source source;
	const char *doc; /* meaning; may end in a reference "(T 3.2.1)" */
};

/* Declares a parameter. Its name, offset and size are those of the field. */
#define WEFT_PARAM(type_, state_, field_, def_, range_, source_, doc_)         \
	{                                                                      \
		.name = #field_, .type = WEFT_P_##type_,                       \
		.offset = offsetof(state_, field_),                            \
		.size = sizeof(((state_ *)0)->field_), .def = def_,            \
		.range = range_, .source = WEFT_##source_, .doc = doc_,        \
	}

/* A named set of parameter values: "links=2 queues=1 payload_max=4096". */
struct weft_preset {
	const char *name, *values, *doc;
};

/* ---- counters and ports ---- */

struct weft_counter {
	const char *name, *unit, *doc;
};

enum weft_port_kind {
	WEFT_PORT_NONE,
	WEFT_PORT_LINK, /* full-duplex serial link: frames */
	WEFT_PORT_BUS,	/* host bus: see weft/bus.h */
};

struct weft_port_decl {
	const char *name; /* "link%u" numbers ports from 0; a plain name when
			   * count is NULL */
	enum weft_port_kind kind;
	const char *count; /* a U32 parameter's name, a number, or NULL for
			    * one port */
	const struct weft_wire *wire; /* wire format, which must be equal at
				       * both ends of a cable */
	bool optional;		      /* the port may stay unconnected */
	const char *doc;
};

/* ---- registers ---- */

enum weft_reg_access { WEFT_RO, WEFT_RW, WEFT_W1C, WEFT_HW, WEFT_MIXED };

/* One register, or `count` registers `stride` bytes apart.  Values live in the
 * component's register file (weft_reg_file, a cell of 64 bits for each
 * register) unless hooks give other values. A write changes only bits of `rw`.
 * Ones written to bits of `w1c` clear these bits. All other bits keep their
 * value. A `bare` register has no cell, only hooks, so that a large array needs
 * no copy of its values. */
struct weft_reg {
	const char *name;
	uint8_t space; /* 0 = configuration space, 1 + n = BAR n */
	uint8_t width; /* bytes: 1, 2, 4 or 8 */
	uint32_t offset;
	uint32_t count, stride; /* number of registers, bytes between them;
				 * 0, 0 = one register */
	enum weft_reg_access access;
	uint64_t reset, rw, w1c;
	bool bare;
	/* Returns the value of a host's load. NULL: a load returns the value of
	 * the cell. */
	uint64_t (*read)(struct weft_comp *c, uint32_t index);
	/* Called after a host's store. `val` is the old value with the stored
	 * bytes in it, before the masks rw and w1c act, so that the hook sees a
	 * whole register. NULL: no hook. */
	void (*wrote)(struct weft_comp *c, uint32_t index, uint64_t val);
	const char *doc;
};

/* ---- the class ---- */

enum weft_kind {
	WEFT_KIND_NIC,
	WEFT_KIND_SWITCH,
	WEFT_KIND_LINK,
	WEFT_KIND_HOST,
	WEFT_KIND_BUS,
	WEFT_KIND_FAULT,
	WEFT_KIND_PROGRAM,
	WEFT_KIND_TRAFFIC, /* sources and sinks without a host */
	WEFT_KIND_N
};

struct weft_waiting {
	const char *unit; /* unit of `queued`, such as "words"; NULL: not
			   * known */
	uint64_t queued;  /* amount that is queued now */
	bool knows_blocked;
	/* Time so far in which a packet was ready, the line was idle, and the
	 * far end had no room for the packet. */
	weft_time_t blocked;
};

/* Direct networks: a switch at every node, cables between switches. */

/* Position of a component in a direct network. */
struct weft_place {
	uint32_t node;
	const struct topology *topo; /* topology (net/topology.h), owned by the
				      * network */
	struct weft_comp *net;	     /* component that is the network as a
				      * whole */
	/* Graph of a routed network (net/graph.h). `node` is then the number of
	 * a router or end in the graph. NULL: the network is a direct one. */
	const struct net_graph *graph;
};

/* Parts of a network, given to the component of the network. The ops.fini of
 * that component frees `switches`, and frees `topo` by topo_free. */
struct weft_network {
	/* Topology of a direct network. In a routed network: topology of the
	 * NICs and switches behind gateways, or NULL. */
	struct topology *topo;
	struct weft_comp **switches; /* switches by node, all set before
				      * ops.start */
	uint32_t n_switches;
	/* Graph of a routed network. ops.fini frees the graph by net_graph_fini
	 * and then free. */
	struct net_graph *graph;
};

/* Classes of the parts of a network, used where the experiment names none. */
struct weft_network_parts {
	const char *net, *switch_class, *link;
	/* Class of the gateway between a NIC and an end of a routed network.
	 * `link` joins the gateway's port `nic` to the first link of the NIC.
	 * If switch_class is set, each NIC has a switch of that class, and
	 * `link` joins the gateway to the first link of the switch. NULL: the
	 * network has no gateways. */
	const char *gateway;
	/* Class of the components that an experiment lists under `classes` of a
	 * traffic source with ops.part. */
	const char *traffic_class;
};

struct weft_ops {
	/* Sets up the state. Parameters are set and in range, and ports exist
	 * but are not connected. Returns 0, or a negative errno with a message.
	 */
	int (*init)(struct weft_comp *c, struct weft_err *err);
	/* Requests the first wake-ups. All ports are connected and ids are
	 * final. Returns 0, or a negative errno with a message. */
	int (*start)(struct weft_comp *c, struct weft_err *err);
	/* Phase 0: handles a frame that arrived on `port`. f is NULL for
	 * weft_post. May change state and wake the component, but must make no
	 * decision yet, because other arrivals of this moment may follow. Owns
	 * f. */
	void (*arrive)(struct weft_comp *c, uint32_t port,
		       struct weft_frame *f);
	/* Phase 1: handles the wake-up of weft_wake(c, tag, t). */
	void (*event)(struct weft_comp *c, uint32_t tag);
	/* Ends the run and checks that no message was lost or invented.
	 * Returns 0, or a negative errno with a message. */
	int (*finish)(struct weft_comp *c, struct weft_err *err);
	/* Frees what init and the run allocated. After a failed init the state
	 * may be incomplete. */
	void (*fini)(struct weft_comp *c);
	/* KIND_FAULT: handles a frame that is sent through the filter's port,
	 * at the time of sending. Owns f, and forwards 0..n frames by
	 * weft_filter_pass. */
	void (*filter)(struct weft_comp *c, struct weft_frame *f);
	/* KIND_PROGRAM: body of the program, a coroutine on its host. Returns
	 * 0, or a negative errno, which fails the run. */
	int (*main)(struct weft_comp *c);
	/* KIND_SWITCH: sets routes, after init and before start. Packets that
	 * enter at port `in` (WEFT_ANY_PORT: at any port) on path number `path`
	 * for destination d < n leave through port to[d]. Such packets leave
	 * through no port if d >= n or to[d] is WEFT_ANY_PORT. A NIC without
	 * multipath uses path 0. Returns 0, or a negative errno with a message.
	 * NULL: the class has no tables. */
	int (*route)(struct weft_comp *c, uint32_t in, uint32_t path,
		     const uint32_t *to, uint32_t n, struct weft_err *err);
	/* Brings counters up to date in the middle of a run, for classes that
	 * otherwise do so in ops.finish only. May be called any number of times
	 * and must not affect the run. ops.finish sets the same metrics again
	 * at the end. Returns as ops.finish does, so that one function can be
	 * both ops. NULL: counters are always up to date. */
	int (*sample)(struct weft_comp *c, struct weft_err *err);
	/* Returns the part of counter k that belongs to the time after now,
	 * because a counter includes a whole transfer as soon as the transfer
	 * begins. Curves over time subtract this part. Called after ops.sample.
	 * NULL: always 0. */
	uint64_t (*ahead)(const struct weft_comp *c, uint32_t k);
	/* Prefetches memory that a wake-up will touch soon
	 * (__builtin_prefetch), without effect on the run. Called with stages 0
	 * to 3. A higher stage is nearer to the wake-up. The kernel calls this
	 * op only in large networks, because only their state misses the
	 * caches. The kernel itself prefetches the first lines of the state.
	 * NULL: no other lines need a prefetch. */
	void (*soon)(const struct weft_comp *c, uint32_t stage);
	/* KIND_FAULT with two bus ports (device's side, bus's side): handles a
	 * note that the bus sends to the device behind `port`, at the time of
	 * sending. Forwards the note by weft_bus_tell. */
	void (*note)(struct weft_comp *c, uint32_t port,
		     const struct weft_bus_note *note);
	/* Fills w with the queue and the blocked time of a link port, for
	 * curves over time. Called between events any number of times, and must
	 * not affect the run. NULL: not known. */
	void (*waiting)(struct weft_comp *c, uint32_t port,
			struct weft_waiting *w);
	/* For the ends and switches of direct networks: sets the component's
	 * position in the network, after init and before start. Ports np0.. of
	 * a switch are cabled to its node, ports lp0.. to other switches. Ports
	 * np0.. of an end are cabled to its switch. Returns 0, or a negative
	 * errno with a message. NULL: the class cannot be part of a direct
	 * network. */
	int (*place)(struct weft_comp *c, const struct weft_place *at,
		     struct weft_err *err);
	/* Class of a whole direct network (fabric.net): receives the network's
	 * parts after init, and owns them even when the call fails. Returns 0,
	 * or a negative errno with a message. NULL in all other classes. */
	int (*network)(struct weft_comp *c, const struct weft_network *parts,
		       struct weft_err *err);
	/* Gives a traffic source a component that describes one class of its
	 * packets. Called after init, once for each class, in the order of the
	 * experiment. The sources of one section of the experiment share
	 * `part`. Returns 0, or a negative errno with a message. NULL: the
	 * source has no packet classes. */
	int (*part)(struct weft_comp *c, struct weft_comp *part,
		    struct weft_err *err);
};
#define WEFT_ANY_PORT UINT32_MAX

struct weft_class {
	uint32_t api_version, struct_size; /* filled by WEFT_COMPONENT */
	const char *name;		   /* name in experiments:
					    * "forth.nic" */
	enum weft_kind kind;
	const char *doc;    /* description in one line */
	const char *source; /* source document and section */
	const char *not_modelled;
	size_t state_size;
	const struct weft_param *params;   /* ended by name == NULL */
	const struct weft_preset *presets; /* ended by name == NULL; may be
					    * NULL */
	const struct weft_counter *counters;
	uint32_t n_counters;
	const struct weft_port_decl *ports; /* ended by name == NULL */
	const struct weft_reg *regs;	    /* ended by name == NULL */
	struct weft_ops ops;
	/* The run does not wait for the end of this program, because the
	 * program only serves other programs. */
	bool background;
	/* Class of the NIC that a program of this class drives. NULL: the
	 * program drives any NIC, or none. */
	const char *needs;
	/* Protocol that captures show above the wire of a NIC
	 * (weft_wire_capture.more). 0: the wire has one protocol. */
	uint8_t capture_upper;
	/* For the ends of networks: classes of the parts of the network, used
	 * where the experiment names none. NULL: the experiment must name all
	 * classes. */
	const struct weft_network_parts *network_parts;
};

/* Defines `const struct weft_class weft_class_<id>`. The class is listed by a
 * line CLASS(id) in the file system.def of its system, or in the array
 * `weft_plugin_classes` of a shared object. */
#define WEFT_COMPONENT(id, ...)                                                \
	const struct weft_class weft_class_##id = {                            \
		.api_version = WEFT_API_VERSION,                               \
		.struct_size = sizeof(struct weft_class),                      \
		__VA_ARGS__                                                    \
	}

/* Defines the list of classes that a shared object given by --load exports,
 * ended by NULL. */
#define WEFT_PLUGIN(...)                                                       \
	WEFT_C_BEGIN                                                           \
	extern const struct weft_class *const weft_plugin_classes[];           \
	WEFT_C_END                                                             \
	__attribute__((visibility("default")))                                 \
	const struct weft_class *const weft_plugin_classes[] = { __VA_ARGS__,  \
								 NULL }

WEFT_C_END

#endif
