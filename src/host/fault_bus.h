/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fault.bus: requests of a device (fault_bus.c), accesses of the
 * host (fault_bus_pio.c), injected errors (fault_bus_err.c). */
#ifndef HOST_FAULT_BUS_H
#define HOST_FAULT_BUS_H

#include "sim/fault_schedule.h"
#include "weft/bus.h"

enum { FB_HOLD_NONE, FB_HOLD_WRITES, FB_HOLD_READS, FB_HOLD_ALL };
/* Ports: FB_DEV leads to the device or host, FB_BUS to the bus. */
enum { FB_DEV, FB_BUS };
/* FB_EV_OVER: an outage ends. FB_EV_ROOM: the bus has room for a store. */
enum { FB_EV_OVER, FB_EV_ROOM };
enum fb_access { FB_READS, FB_WRITES, FB_LOADS, FB_STORES };
enum {
	FB_C_HELD,
	FB_C_TIME,
	FB_C_SLOWED,
	FB_C_ERRORS,
	FB_C_PERR,
	FB_C_SERR,
	FB_C_N
};

/* A store or load of the host that is held back. */
struct fb_pio {
	bool load;
	uint8_t space;
	uint32_t dev, bytes;
	uint64_t off;
	uint8_t data[64];
};

#define FB_PIOS 9 /* room for eight stores and one load */

struct fault_bus {
	struct outage when; /* first member, as OUTAGE_PARAMS requires */
	uint32_t hold, split, completion;
	double factor;
	/* Values of enum weft_bus_error and enum fb_access. */
	uint32_t error, access;
	double rate;
	uint64_t number, count;
	uint64_t seen; /* number of accesses so far that the error could hit */
	uint32_t at;   /* index of the current or next outage in `when` */
	struct weft_bus_txn *held; /* requests held back, oldest first */
	struct fb_pio pio[FB_PIOS];
	uint32_t pio_head, n_pio;
	bool waits;	    /* an access waits for the end of an outage */
	weft_time_t since;  /* start of the current wait of a request */
	weft_time_t waited; /* sum of the earlier waits of requests */
};

/* Returns the fault's port on the bus for its port on the device or host. */
static inline struct weft_port *fb_port(struct weft_port *dev_port)
{
	return &dev_port->peer->comp->ports[FB_BUS];
}

/* Returns the current outage, or NULL. */
const struct outage_span *fb_now(struct weft_comp *c);
/* Returns true if an outage holds writes (`write`) or reads (!`write`) now, and
 * stores the end of the outage in *until_p. */
bool fb_holds(struct weft_comp *c, bool write, weft_time_t *until_p);
/* Plans the end of a wait at `until`. */
void fb_wait(struct weft_comp *c, weft_time_t until);

/* fault_bus_err.c */
/* Returns the error of an access of this kind, or WEFT_BUS_E_NONE. Counts the
 * access if the error could hit it. */
enum weft_bus_error fb_err_hit(struct weft_comp *c, enum fb_access access);
/* Counts a PERR# or SERR# of the device and forwards it to the bus. */
void fb_signal(struct weft_port *dev_port, enum weft_bus_signal line);
/* Checks error and access at the start. Returns 0 or a negative error. */
int fb_err_start(struct weft_comp *c, struct weft_err *err);

/* fault_bus_pio.c */
/* Implement operations of weft_bus_ops for the host. An outage delays them. */
bool fb_pio_store(struct weft_port *host_port, uint32_t dev, uint8_t space,
		  uint64_t off, const void *data, uint32_t bytes);
void fb_pio_load(struct weft_port *host_port, uint32_t dev, uint8_t space,
		 uint64_t off, uint32_t bytes);
/* Forwards as many held accesses as the bus accepts. */
void fb_pio_go(struct weft_comp *c);
bool fb_pio_present(struct weft_port *host_port, uint32_t dev);
extern const struct weft_bus_host_ops fb_host_ops;

#endif
