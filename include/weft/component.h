/* SPDX-License-Identifier: Apache-2.0 */
/* How a component declares itself: tables of parameters, counters, ports and
 * registers, a few operations, one declaration.  The tables are the
 * implementation: they parse the experiment, print `weft list` and
 * `weft describe`, decode registers, name counters in results and fill the
 * reference pages. */
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
	WEFT_P_STR,   /* char[size], always terminated */
};

/* Source of a number. `weft describe` prints it. */
enum weft_source {
	WEFT_STATED,	    /* printed in the source document */
	WEFT_DERIVED,	    /* follows from stated numbers */
	WEFT_RECONSTRUCTED, /* the source is silent or garbled; our reading */
	WEFT_CALIBRATED,    /* chosen to make a published result come out */
	WEFT_OWN,	    /* our own addition */
};

struct weft_param {
	const char *name;
	enum weft_ptype type;
	uint32_t offset, size; /* of the field in the component's state */
	const char *def;       /* default, as text */
	const char *range;     /* "2..64", "8..", "a|b|c", "" = any */
	enum weft_source source;
	const char *doc; /* meaning; may end in "(T 3.2.1)" */
};

/* A parameter is written once: name, offset and size come from the field. */
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
	const char *name; /* "link%u"; plain when count is NULL */
	enum weft_port_kind kind;
	const char *count; /* name of the U32 parameter, or a number, or NULL */
	const struct weft_wire *wire; /* links: both ends must agree */
	bool optional;		      /* may stay unconnected */
	const char *doc;
};

/* ---- registers ---- */

enum weft_reg_access { WEFT_RO, WEFT_RW, WEFT_W1C, WEFT_HW, WEFT_MIXED };

/* One register, or `count` registers `stride` bytes apart.  Values live in the
 * component's register file (weft_reg_file, 64-bit cells, one per register);
 * hooks override.  A write changes only bits of `rw`; ones written to bits of
 * `w1c` clear them; everything else keeps its value.  A register that is
 * `bare` has no cell: its hooks are all there is (large arrays). */
struct weft_reg {
	const char *name;
	uint8_t space; /* 0 = configuration space, 1 + n = BAR n */
	uint8_t width; /* bytes: 1, 2, 4 or 8 */
	uint32_t offset;
	uint32_t count, stride; /* 0, 0 = a single register */
	enum weft_reg_access access;
	uint64_t reset, rw, w1c;
	bool bare;
	/* Returns the value that a host loads.  NULL: the cell's. */
	uint64_t (*read)(struct weft_comp *c, uint32_t index);
	/* Called after a host's store. `val` is the old value with the stored
	 * bytes in it, before masks, so that the hook sees a whole register.
	 * NULL: nothing happens. */
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
	const char *unit; /* of `queued`: "words"; NULL: not known */
	uint64_t queued;  /* now */
	bool knows_blocked;
	/* Time so far in which a packet stood ready for an idle line and the
	 * far end had no room for it. */
	weft_time_t blocked;
};

/* Direct networks: a switch at every node, cables between switches. */

/* Place of a component in a direct network. */
struct weft_place {
	uint32_t node;
	const struct topology *topo; /* net/topology.h; the network's */
	struct weft_comp *net;	     /* the network as a whole */
};

/* Parts of a network as a whole, on the heap: it frees both in
 * ops.fini, the topology with topo_free. */
struct weft_network {
	struct topology *topo;
	struct weft_comp **switches; /* by node; filled before ops.start */
	uint32_t n_switches;
};

/* Classes of a network's parts where the experiment names none. */
struct weft_network_parts {
	const char *net, *switch_class, *link;
};

struct weft_ops {
	/* Parameters are set and in range, ports exist but are not connected.
	 * Returns 0, or a negative errno with a message. */
	int (*init)(struct weft_comp *c, struct weft_err *err);
	/* Everything is connected, ids are final: first wake-ups go here.
	 * Returns 0, or a negative errno with a message. */
	int (*start)(struct weft_comp *c, struct weft_err *err);
	/* Phase 0: a message arrived on `port` (f may be NULL for weft_post).
	 * May change state and wake itself; must not decide. Takes f. */
	void (*arrive)(struct weft_comp *c, uint32_t port,
		       struct weft_frame *f);
	/* Phase 1: a wake-up asked for with weft_wake(c, tag, t). */
	void (*event)(struct weft_comp *c, uint32_t tag);
	/* End of run: checks conservation.  Returns 0, or a negative errno with
	 * a message. */
	int (*finish)(struct weft_comp *c, struct weft_err *err);
	/* Frees what init and the run allocated; state may be half built. */
	void (*fini)(struct weft_comp *c);
	/* KIND_FAULT: a frame passes the port this filter sits on, at send
	 * time.  Owns f; forwards with weft_filter_pass (0..n times). */
	void (*filter)(struct weft_comp *c, struct weft_frame *f);
	/* KIND_PROGRAM: body, runs as a coroutine on its host.  Returns 0, or a
	 * negative errno: then the run fails. */
	int (*main)(struct weft_comp *c);
	/* KIND_SWITCH, after init and before start: packets that enter at port
	 * `in` (WEFT_ANY_PORT: at any) on path number `path` for destination
	 * d < n leave through to[d]; WEFT_ANY_PORT there, and d >= n, mean
	 * nowhere.  A NIC without multipath uses path 0.  Returns 0, or a
	 * negative errno with a message.  NULL: the class has no tables. */
	int (*route)(struct weft_comp *c, uint32_t in, uint32_t path,
		     const uint32_t *to, uint32_t n, struct weft_err *err);
	/* For classes that bring some counters up to date only in finish: does
	 * so in the middle of a run, any number of times, without effect on the
	 * run; metrics it sets are set again in finish.  Returns 0 as finish
	 * does, so that a finish which does no more can serve as both.  NULL:
	 * counters are always up to date. */
	int (*sample)(struct weft_comp *c, struct weft_err *err);
	/* Returns how much of counter k lies behind now, because transfers are
	 * counted when they begin and pictures over time show them while they
	 * last. Called after ops.sample. NULL: nothing. */
	uint64_t (*ahead)(const struct weft_comp *c, uint32_t k);
	/* A wake-up will run soon: prefetches the memory that it will touch
	 * (__builtin_prefetch), without effect on the run.  Called with stages
	 * 0 to 3, nearer each time, when many components are at work, since
	 * their state then misses the caches; the kernel has prefetched the
	 * first lines of state.  NULL: these are enough. */
	void (*soon)(const struct weft_comp *c, uint32_t stage);
	/* KIND_FAULT on a bus port (two bus ports of its own: device's side,
	 * bus's side): the bus sends a note to the device behind `port`, at the
	 * time of sending.  The fault hands it on with weft_bus_tell. */
	void (*note)(struct weft_comp *c, uint32_t port,
		     const struct weft_bus_note *note);
	/* Fills in how much waits to leave through a link port, for the picture
	 * of a run; between events, any number of times, without effect on the
	 * run.  NULL: not known. */
	void (*waiting)(struct weft_comp *c, uint32_t port,
			struct weft_waiting *w);
	/* Ends and switches of direct networks, after init and before start:
	 * the component stands at this place.  A switch has ports np0.. to its
	 * node and lp0.. for cables, and an end np0.. to its switch.  Returns
	 * 0, or a negative errno with a message.  NULL: it cannot stand in a
	 * direct network. */
	int (*place)(struct weft_comp *c, const struct weft_place *at,
		     struct weft_err *err);
	/* The class is that of a direct network as a whole (fabric.net), which
	 * gets its parts after init, and owns them also when it fails.  Returns
	 * 0, or a negative errno with a message.  NULL: it is not one. */
	int (*network)(struct weft_comp *c, const struct weft_network *parts,
		       struct weft_err *err);
};
#define WEFT_ANY_PORT UINT32_MAX

struct weft_class {
	uint32_t api_version, struct_size; /* filled by WEFT_COMPONENT */
	const char *name;		   /* "forth.nic" */
	enum weft_kind kind;
	const char *doc;    /* one line */
	const char *source; /* document and section */
	const char *not_modelled;
	size_t state_size;
	const struct weft_param *params;   /* ended by name == NULL */
	const struct weft_preset *presets; /* likewise, may be NULL */
	const struct weft_counter *counters;
	uint32_t n_counters;
	const struct weft_port_decl *ports; /* ended by name == NULL */
	const struct weft_reg *regs;	    /* ended by name == NULL */
	struct weft_ops ops;
	/* Programs: it serves others for as long as they run, therefore the run
	 * does not wait for it. */
	bool background;
	/* Programs: the class of NIC they drive; NULL: any, or none. */
	const char *needs;
	/* NICs: the protocol above their wire, for captures of it
	 * (weft_wire_capture.more); 0: there is one only. */
	uint8_t capture_upper;
	/* Ends of direct networks: parts of the network around them.  NULL:
	 * the experiment names them all. */
	const struct weft_network_parts *network_parts;
};

/* Defines `const struct weft_class weft_class_<id>`; a line
 * CLASS(id) in the system.def of its system lists it, or `weft_plugin_classes`
 * of a shared object. */
#define WEFT_COMPONENT(id, ...)                                                \
	const struct weft_class weft_class_##id = {                            \
		.api_version = WEFT_API_VERSION,                               \
		.struct_size = sizeof(struct weft_class),                      \
		__VA_ARGS__                                                    \
	}

/* A shared object given with --load exports this, ended by NULL. */
#define WEFT_PLUGIN(...)                                                       \
	WEFT_C_BEGIN                                                           \
	extern const struct weft_class *const weft_plugin_classes[];           \
	WEFT_C_END                                                             \
	__attribute__((visibility("default")))                                 \
	const struct weft_class *const weft_plugin_classes[] = { __VA_ARGS__,  \
								 NULL }

WEFT_C_END

#endif
