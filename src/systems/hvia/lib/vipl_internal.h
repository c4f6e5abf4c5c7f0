/* SPDX-License-Identifier: Apache-2.0 */
/* Private to VIPL: the objects behind the handles of vipl.h. Source: hvia.md
 * 6.1, 6.4, 7.1, 7.5. */
#ifndef SYSTEMS_HVIA_LIB_VIPL_INTERNAL_H
#define SYSTEMS_HVIA_LIB_VIPL_INTERNAL_H

#include "systems/hvia/lib/agent.h"
#include "vipl.h"

enum {
	VIPL_MAX_TRANSFER = 1 << 24,
	VIPL_CQS = 1024,
	VIPL_CQ_ENTRIES = 1 << 20,
	VIPL_QOS_MAX = 7,
	VIPL_RING = 16, /* initial size of the ring of a work queue */
};

struct vipl_vi;
struct vipl_cq;

struct vipl_notify {
	VIP_PVOID ctx;
	VIP_VI_CALLBACK fn;
	VIP_CQ_CALLBACK cq_fn;
	struct vipl_notify *next;
};

/* A posted descriptor. */
struct vipl_posted {
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE handle;
	bool open; /* not yet completed by the reliable service */
};

/* A work queue. The library keeps posted descriptors in a ring. It writes Next
 * for the card and never follows it, because the program may change it.
 * Descriptors are numbered from 1 on. */
struct vipl_queue {
	struct vipl_vi *vi;
	uint32_t dir; /* HVIA_Q_SEND, HVIA_Q_RECV */
	/* descriptors by number, or NULL until the first post */
	struct vipl_posted *ring;
	uint64_t first; /* number of the oldest descriptor */
	uint32_t size, n;
	/* number of descriptors posted and not yet completed (reliable VIs
	 * only) */
	uint32_t open;
	/* a thread has linked a descriptor and not rung its doorbell yet */
	bool posting;
	/* the queue holds descriptors that the reliable service posts to the
	 * card, and not the program's descriptors */
	bool raw;
	struct vipl_notify *notify;
	/* Completion queue. */
	struct vipl_cq *cq;
	struct vipl_queue *cq_next;
	/* number of descriptors at the head that have an entry in the
	 * completion queue */
	uint32_t entered;
};

/* A NIC. Its memory is kept until the program ends, because threads of the
 * library may read it. */
struct vipl_nic {
	VIP_NIC_HANDLE self;
	struct weft_dev *dev;
	struct hvia_client *client;
	uint8_t mac[6];
	uint32_t payload; /* payload bytes of a frame */
	uint64_t version;
	bool with_cq, with_reliable, names;
	uint32_t n_vis, n_cqs;
	struct vipl_vi *vis;
	struct vipl_cq *cqs;
	VIP_ERROR_HANDLER handler;
	VIP_PVOID handler_ctx;
	bool served; /* the library's thread runs */
	char name[32];
};

struct vipl_vi {
	VIP_VI_HANDLE self;
	struct vipl_nic *nic;
	uint32_t vi;
	uint32_t inside; /* number of the program's calls that use the VI */
	/* the VI is being destroyed, so that no further call may start */
	bool leaving;
	/* number of references: that of the handle, and that of the VI's
	 * thread */
	uint32_t held;
	struct hvia_kvi *k;
	struct vipl_queue q[2];
	/* reliable service, or NULL for the card's own service */
	struct vipl_rel *rel;
	struct vipl_vi *next;
};

struct vipl_cq {
	VIP_CQ_HANDLE self;
	struct vipl_nic *nic;
	uint32_t users;
	uint32_t inside;
	struct vipl_queue *queues;
	/* Ring of completions that the program has not taken yet. Each entry is
	 * the work queue of a completed descriptor. The oldest entry is at
	 * `first`. */
	struct vipl_queue **entry;
	uint32_t size, first, n;
	/* the overrun was reported, and the queue has been full since */
	bool overrun;
	struct vipl_notify *notify;
	struct vipl_cq *next;
};

/* vipl_handles.c: a handle is a number. The library looks it up in the
 * program's table and never follows it as a pointer. */
enum vipl_kind { VIPL_NIC = 1, VIPL_VI, VIPL_CQ, VIPL_CONN, VIPL_PTAG };

/* A slot of the program's table of handles. `of` is the object. For tags and
 * connection requests `of` is their NIC, and `val` is the tag or the agent's
 * number of the request. */
struct vipl_entry {
	void *of; /* NULL: free */
	uint64_t val;
	enum vipl_kind kind;
	uint32_t turn; /* generation: number of earlier uses of this slot */
	uint32_t next; /* index of the next free slot + 1, or 0 */
};

/* Sets the owner field of the program's handles. Called before the first handle
 * is made. Returns false if memory is short. */
bool vipl_handles(uint32_t client);
/* Makes a handle. Returns NULL if the table cannot grow. */
void *vipl_handle(enum vipl_kind kind, void *of, uint64_t val);
/* Returns the entry of a handle. Returns NULL if the value is not a handle, is
 * no longer valid, or has another kind. */
struct vipl_entry *vipl_find(enum vipl_kind kind, const void *handle);
/* Makes a handle invalid and its slot free. */
void vipl_forget(enum vipl_kind kind, const void *handle);
/* Makes the handles of all tags and connection requests of a NIC invalid. */
void vipl_forget_of(const struct vipl_nic *n);
/* Returns the object of a handle of this kind, or NULL. */
void *vipl_object(enum vipl_kind kind, const void *handle);
static inline struct vipl_nic *vipl_nic(VIP_NIC_HANDLE x)
{
	return vipl_object(VIPL_NIC, x);
}

static inline struct vipl_vi *vipl_vi(VIP_VI_HANDLE x)
{
	return vipl_object(VIPL_VI, x);
}

static inline struct vipl_cq *vipl_cq(VIP_CQ_HANDLE x)
{
	return vipl_object(VIPL_CQ, x);
}
/* Returns the card's tag, or 0 if the handle is not a tag of this NIC. */
static inline uint32_t vipl_tag(const struct vipl_nic *n,
				VIP_PROTECTION_HANDLE x)
{
	const struct vipl_entry *e = vipl_find(VIPL_PTAG, x);

	return e && e->of == n ? (uint32_t)e->val : 0;
}

/* Returns the handle of a tag, or NULL if it was made through another NIC. */
VIP_PROTECTION_HANDLE vipl_tag_handle(const struct vipl_nic *n, uint32_t tag);
/* Find a VI or a CQ and keep it until the matching leave, so that no other
 * thread frees it during a call. The leave functions return `ret`. */
struct vipl_vi *vipl_vi_enter(VIP_VI_HANDLE x);

static inline VIP_RETURN vipl_vi_leave(struct vipl_vi *v, VIP_RETURN ret)
{
	if (v)
		v->inside--;
	return ret;
}

struct vipl_cq *vipl_cq_enter(VIP_CQ_HANDLE x);

static inline VIP_RETURN vipl_cq_leave(struct vipl_cq *c, VIP_RETURN ret)
{
	if (c)
		c->inside--;
	return ret;
}

/* Returns the return code of VIPL for a negative errno. */
VIP_RETURN vipl_return(int err);
/* Traps to the agent. Returns its errno as a return code of VIPL. */
static inline VIP_RETURN vipl_call(struct vipl_nic *n, enum hvia_call op,
				   void *arg)
{
	return vipl_return(weft_drv_call(weft_host_self(), n->dev, op, arg));
}

/* Returns the deadline of a time-out in ms. */
weft_time_t vipl_deadline(struct weft_host *h, VIP_ULONG ms);

/* vipl_vi.c */
/* Fills in the attributes of a VI. `n` is NULL for a VI of a remote node,
 * because the tag of such a VI is not valid on this node. */
void vipl_attr_out(VIP_VI_ATTRIBUTES *to, const struct hvia_vi_attr *a,
		   const struct vipl_nic *n);
/* Drops a reference to the VI. Frees the VI with its last reference. */
void vipl_vi_drop(struct vipl_vi *v);

/* vipl_post.c */
/* Returns true if the oldest descriptor is done. */
bool vipl_queue_done(struct vipl_queue *q);
/* Removes and returns the oldest descriptor. */
VIP_DESCRIPTOR *vipl_queue_take(struct vipl_queue *q);
/* Completes all posted descriptors as flushed (disconnected). */
void vipl_queue_flush(struct vipl_queue *q);
/* Links a descriptor to the queue. Returns false if memory is short. */
bool vipl_queue_link(struct vipl_queue *q, VIP_DESCRIPTOR *d,
		     VIP_MEM_HANDLE handle);
/* Returns a posted descriptor by number, or NULL if it is not posted. */
static inline struct vipl_posted *vipl_queue_at(const struct vipl_queue *q,
						uint64_t number)
{
	return number - q->first < q->n ? &q->ring[number % q->size] : NULL;
}
/* Sleeps until one of the queues may have a completion, or an error has
 * arrived. Does not arm an empty queue or the program's queue of a reliable VI,
 * because the card completes no descriptor of such a queue. */
int vipl_sleep(struct vipl_nic *n, struct vipl_queue **q, uint32_t count,
	       uint32_t seen, weft_time_t deadline);
/* Returns the token of a descriptor (2.3). */
uint64_t vipl_token(const struct vipl_nic *n, const VIP_DESCRIPTOR *d,
		    VIP_MEM_HANDLE handle);
/* Rings the card's doorbell for a descriptor, which the caller has linked to
 * the queue. */
void vipl_ring(struct weft_host *h, struct vipl_vi *v, uint32_t dir,
	       const VIP_DESCRIPTOR *d, VIP_MEM_HANDLE handle);
static inline volatile uint32_t *vipl_status(VIP_DESCRIPTOR *d)
{
	return &d->CS.Status;
}
/* Polls a queue like VipSendDone and VipRecvDone. The poll takes the time
 * `cost`. */
VIP_RETURN vipl_done(VIP_VI_HANDLE vi, uint32_t dir, weft_time_t cost,
		     VIP_DESCRIPTOR **d_p);
/* Returns the status bits that name a descriptor's operation. */
uint32_t vipl_status_op(const VIP_DESCRIPTOR *d, uint32_t dir);

/* vipl_notify.c */
/* Starts the NIC's thread if needed, and makes the thread check its lists. */
void vipl_serve(struct vipl_nic *n);
/* Appends a request to a list, which owns it. */
void vipl_notify_add(struct vipl_notify **list, struct vipl_notify *n);
/* Drops requests without calling their handlers. */
void vipl_notify_drop(struct vipl_notify **list);

/* vipl_completion_queue.c */
/* Enters the completions since the last call into the completion queue. */
void vipl_cq_collect(struct vipl_cq *c);
/* Returns the work queue of the oldest entry and removes the entry. Returns
 * false if the queue is empty. */
bool vipl_cq_look(struct vipl_cq *c, struct vipl_queue **q_p);
/* Adds a work queue to a completion queue, which may be NULL. vipl_cq_detach()
 * removes it together with its entries. */
void vipl_cq_attach(struct vipl_cq *c, struct vipl_queue *q);
void vipl_cq_detach(struct vipl_queue *q);

/* vipl_reliable.c: reliable delivery and reception in software */
/* Makes the service of a reliable VI: its memory and its thread. Returns
 * VIP_SUCCESS or the error. */
VIP_RETURN vipl_rel_new(struct vipl_vi *v);
void vipl_rel_free(struct vipl_vi *v);
void vipl_rel_connected(struct vipl_vi *v);
void vipl_rel_posted(struct vipl_vi *v, uint32_t dir);
/* Applies the remote side's last acknowledgement, which arrived with its
 * disconnect. Called before the remaining descriptors are flushed. */
void vipl_rel_last(struct vipl_vi *v);
void vipl_rel_ended(struct vipl_vi *v);

#endif
