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

enum hvia_ep_kind {
	HVIA_EP_MSG = 1,
	HVIA_EP_PUT,	  /* bytes for addr of region key */
	HVIA_EP_GET,	  /* request: arg bytes from addr of region key */
	HVIA_EP_GET_DATA, /* bytes for offset addr of request id */
	HVIA_EP_FADD,	  /* request: add arg */
	HVIA_EP_CSWAP,	  /* request: if equal to arg set to imm */
	HVIA_EP_DONE,	  /* answer to request id: status, arg = old value */
	HVIA_EP_PLACES,	  /* nothing but places */
};

enum { HVIA_EP_LAST = 1, HVIA_EP_NOTIFY = 2 };

struct hvia_ep_head {
	uint32_t kind, flags;
	uint32_t len, places; /* bytes here; places given back */
	uint64_t imm, addr, key, arg;
	uint32_t id;
	int32_t status;
};

struct hvia_ep_slot {
	_Alignas(HVIA_DESC_ALIGN) VIP_DESCRIPTOR desc;
	struct hvia_ep_head head;
	uint8_t data[];
};

/* An operation, from its call to its event. */
struct hvia_ep_op {
	struct hvia_ep_op *next;
	bool used, answered; /* answered: an event, or none, is out */
	enum hvia_ep_kind kind;
	uint32_t dst, id;
	const uint8_t *buf; /* what is sent */
	uint8_t *own;	    /* it, when the library made it */
	uint8_t *into;	    /* get */
	size_t len, off;
	struct hvia_ep_head head;
	enum weft_ep_kind event;
	bool waits; /* for an answer */
	void *ctx;
};

struct hvia_ep_peer {
	VIP_VI_HANDLE vi;
	uint8_t *mem; /* slots: sending, receiving */
	VIP_MEM_HANDLE handle;
	uint32_t sending, next; /* slots of ours with the card; used in turn */
	uint32_t places;	/* left at the other side */
	uint32_t owed;		/* to give back */
	struct hvia_ep_op *head, **tail;
};

/* Its key: place in the table, and how often that was used before. */
struct hvia_ep_region {
	uint8_t *p; /* NULL: free */
	size_t len;
	uint32_t age;
};

enum { HVIA_EP_OPS = 256, HVIA_EP_SPARE = 4 };

struct hvia_ep {
	struct weft_ep ep;
	struct weft_host *h;
	uint32_t me, n, slots;
	size_t stride; /* of a slot */
	bool irq;
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	struct hvia_ep_peer *peer; /* by node */
	struct hvia_ep_op op[HVIA_EP_OPS];
	struct {
		VEC(struct hvia_ep_region);
	} region;
	struct {
		VEC(struct weft_ep_event);
	} event;
};

static inline struct hvia_ep_slot *
hvia_ep_slot(const struct hvia_ep *e, const struct hvia_ep_peer *p, uint32_t i)
{
	return (struct hvia_ep_slot *)(p->mem + i * e->stride);
}

void *hvia_ep_grow(struct hvia_ep *e, void *at, size_t n, size_t *cap,
		   size_t size);
void hvia_ep_push(struct hvia_ep *e, const struct weft_ep_event *ev);
void hvia_ep_event(struct hvia_ep *e, enum weft_ep_kind kind, int status,
		   void *ctx, uint64_t result);
struct hvia_ep_op *hvia_ep_op_new(struct hvia_ep *e, enum hvia_ep_kind kind,
				  uint32_t dst);
void hvia_ep_op_start(struct hvia_ep *e, struct hvia_ep_op *op);
/* Sends what can go. */
void hvia_ep_pump(struct hvia_ep *e);
/* Receives of a slot again. */
void hvia_ep_post(struct hvia_ep *e, struct hvia_ep_peer *p,
		  struct hvia_ep_slot *s);

extern const struct weft_ep_ops hvia_ep_ops;

/* endpoint_open.c */
void hvia_ep_close(struct weft_ep *ep);

/* endpoint_mem.c */
/* Memory of a region, or NULL. */
uint8_t *hvia_ep_at(const struct hvia_ep *e, uint64_t key, uint64_t addr,
		    uint64_t len);
int hvia_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		   struct weft_ep_mr *mr_p);
int hvia_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

/* endpoint_rx.c */
void hvia_ep_receive(struct hvia_ep *e);
uint64_t hvia_ep_atomic(struct hvia_ep *e, const struct hvia_ep_head *h,
			int32_t *status_p);
void hvia_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

#endif
