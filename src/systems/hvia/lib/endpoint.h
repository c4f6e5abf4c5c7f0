/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over VIs: one reliable VI of VIPL to each other node, and
 * everything as messages: header, up to max_msg bytes.
 *
 * A receiver has `slots` receives for each peer, and a few for messages that
 * only give back places; a sender counts the places that it has.  What cannot
 * be sent yet waits in the peer's list.  Operations on the own node are done at
 * once. */
#ifndef SYSTEMS_HVIA_LIB_ENDPOINT_H
#define SYSTEMS_HVIA_LIB_ENDPOINT_H

#include "base/vec.h"
#include "systems/hvia/lib/vipl_internal.h"
#include "weft/ep.h"

enum epv_kind {
	EPV_MSG = 1,
	EPV_PUT,      /* bytes for addr of region key */
	EPV_GET,      /* request: arg bytes from addr of region key */
	EPV_GET_DATA, /* bytes for offset addr of request id */
	EPV_FADD,     /* request: add arg */
	EPV_CSWAP,    /* request: if equal to arg set to imm */
	EPV_DONE,     /* answer to request id: status, arg = old value */
	EPV_PLACES,   /* nothing but places */
};

enum { EPV_LAST = 1, EPV_NOTIFY = 2 };

struct epv_head {
	uint32_t kind, flags;
	uint32_t len, places; /* bytes here; places given back */
	uint64_t imm, addr, key, arg;
	uint32_t id;
	int32_t status;
};

struct epv_slot {
	_Alignas(HVIA_DESC_ALIGN) VIP_DESCRIPTOR desc;
	struct epv_head head;
	uint8_t data[];
};

/* An operation, from its call to its event. */
struct epv_op {
	struct epv_op *next;
	bool used, answered; /* answered: an event, or none, is out */
	enum epv_kind kind;
	uint32_t dst, id;
	const uint8_t *buf; /* what is sent */
	uint8_t *own;	    /* it, when the library made it */
	uint8_t *into;	    /* get */
	size_t len, off;
	struct epv_head head;
	enum weft_ep_kind event;
	bool waits; /* for an answer */
	void *ctx;
};

struct epv_peer {
	VIP_VI_HANDLE vi;
	uint8_t *mem; /* slots: sending, receiving */
	VIP_MEM_HANDLE handle;
	uint32_t sending, next; /* slots of ours with the card; used in turn */
	uint32_t places;	/* left at the other side */
	uint32_t owed;		/* to give back */
	struct epv_op *head, **tail;
};

/* Its key: place in the table, and how often that was used before. */
struct epv_region {
	uint8_t *p; /* NULL: free */
	size_t len;
	uint32_t age;
};

enum { EPV_OPS = 256, EPV_SPARE = 4 };

struct epv {
	struct weft_ep ep;
	struct weft_host *h;
	uint32_t me, n, slots;
	size_t stride; /* of a slot */
	bool irq;
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	struct epv_peer *peer; /* by node */
	struct epv_op op[EPV_OPS];
	struct {
		VEC(struct epv_region);
	} region;
	struct {
		VEC(struct weft_ep_event);
	} event;
};

static inline struct epv_slot *epv_slot(const struct epv *e,
					const struct epv_peer *p, uint32_t i)
{
	return (struct epv_slot *)(p->mem + i * e->stride);
}

void *epv_grow(struct epv *e, void *at, size_t n, size_t *cap, size_t size);
void epv_push(struct epv *e, const struct weft_ep_event *ev);
void epv_event(struct epv *e, enum weft_ep_kind kind, int status, void *ctx,
	       uint64_t result);
struct epv_op *epv_op_new(struct epv *e, enum epv_kind kind, uint32_t dst);
void epv_op_start(struct epv *e, struct epv_op *op);
/* Sends what can go. */
void epv_pump(struct epv *e);
/* Receives of a slot again. */
void epv_post(struct epv *e, struct epv_peer *p, struct epv_slot *s);

extern const struct weft_ep_ops epv_ops;

/* endpoint_open.c */
void epv_close(struct weft_ep *ep);

/* endpoint_mem.c */
/* Memory of a region, or NULL. */
uint8_t *epv_at(const struct epv *e, uint64_t key, uint64_t addr, uint64_t len);
int epv_mr_reg(struct weft_ep *ep, void *p, size_t len,
	       struct weft_ep_mr *mr_p);
int epv_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

/* endpoint_rx.c */
void epv_receive(struct epv *e);
uint64_t epv_atomic(struct epv *e, const struct epv_head *h, int32_t *status_p);
void epv_release(struct weft_ep *ep, const struct weft_ep_event *ev);

#endif
