/* SPDX-License-Identifier: Apache-2.0 */
/* What the functional units of the Host Port share (hostport.md 8): lookups of
 * tables in main memory through their caches, translations, window checks, and
 * payload between host memory and packets. */
#ifndef SYSTEMS_HOSTPORT_NIC_FUNCTIONAL_UNITS_H
#define SYSTEMS_HOSTPORT_NIC_FUNCTIONAL_UNITS_H

#include "systems/hostport/nic/nic.h"

/* Packets of more user bytes do not exist: a segmentation fault (our own). */
enum { HP_BYTES_MAX = 8 << 20 };

/* Commands with a response (three-staged), and what comes back to an origin. */
static inline bool hp_is_get(uint32_t byte)
{
	uint32_t m = HP_MAIN(byte);

	return m == HP_M_GET || m == HP_M_FAST_GET || m == HP_M_FAA ||
	       m == HP_M_CAS;
}
static inline bool hp_is_reply(uint32_t byte)
{
	return byte == HP_B_ACK || (hp_is_get(byte) && byte & HP_RESPONSE);
}

/* ---- lookups (table_cache.c) ---- */

enum { HP_LOOK_BYTES = 128, HP_LINE_WAYS = 4 };

/* A request; lent until done. */
struct hp_look {
	uint64_t key;
	weft_phys_t addr;
	uint32_t bytes; /* up to HP_LOOK_BYTES */
	void (*done)(struct hp_nic *n, struct hp_look *k);
	void *arg;
	bool ok; /* false: memory did not answer, or there is no such entry */
	uint8_t data[HP_LOOK_BYTES];
	struct hp_lines *lines;
	const struct hp_cached *line; /* that it waits for */
	struct hp_look *next;
};

struct hp_cached { /* a line */
	uint8_t data[HP_LINE];
	struct hp_lines *lines;
};

struct hp_lines {
	uint32_t width;	 /* bytes of a line; longer: not kept */
	uint32_t cycles; /* of a hit */
	enum hp_counter hits, misses;
	struct assoc dir;
	struct hp_cached *at; /* of its entries */
	struct hp_look *wait;
};

/* A copy of `like` with empty lines. */
struct hp_lines *hp_lines_new(struct hp_lines like, uint32_t entries);
/* Those of the NIC: windows, and routes of up to 32 bytes. */
void hp_lines_init(struct hp_nic *n);
void hp_lines_free(struct hp_lines *l); /* NULL is fine */
void hp_lines_get(struct hp_nic *n, struct hp_lines *l, struct hp_look *k);
/* The same cycles, but there is nothing to be found. */
void hp_lines_none(struct hp_nic *n, struct hp_lines *l, struct hp_look *k);
/* CACHE_CMD: flush, remove and query; an insert is the next access. */
uint64_t hp_lines_cmd(struct hp_lines *l, uint32_t op, uint64_t key);

/* Removes all from key `from` to `to`. */
void hp_lines_drop(struct hp_lines *l, uint64_t from, uint64_t to);

/* ---- routing cache (route_cache.c) ---- */

struct hp_route_req {
	struct hp_look look;
	struct hp_route route;
	bool ok; /* false: ERR_ROUTE_INV */
	void (*done)(struct hp_nic *n, struct hp_route_req *r);
	void *arg;
};
void hp_route_get(struct hp_nic *n, struct hp_route_req *r, uint32_t off,
		  uint32_t len);

/* ---- windows (windows.c) ---- */

/* wdt: the context's WDT_BASE. */
void hp_win_get(struct hp_nic *n, struct hp_look *k, uint32_t vpid,
		weft_phys_t wdt, uint32_t id);
struct hp_access {
	bool target;	     /* target window: capability and rights too */
	uint32_t hpid, vpid; /* who */
	uint32_t capa;
	uint64_t rights; /* HP_WIN_RD, HP_WIN_WR */
	uint64_t off, len;
};
/* ERR 4, 6, 7, 5 or 9, 10, 12, 13, 11 (6.3), or none. */
enum hp_err hp_win_check(const struct hp_access *a, const struct hp_look *k);
uint64_t hp_win_va(const struct hp_look *k);

/* ---- translations (tlb.c) ---- */

struct hp_xlate { /* lent until done */
	uint16_t vpid;
	bool write;
	uint64_t vpage;
	void (*done)(struct hp_nic *n, struct hp_xlate *x);
	void (*missed)(struct hp_nic *n, struct hp_xlate *x); /* or NULL */
	void *arg;
	bool fault;
	uint64_t ppage;
	struct hp_xlate *next;
};
struct hp_walk;
void hp_tlb_get(struct hp_nic *n, struct hp_xlate *x);
/* Nobody will answer: those of the VPID that wait have a fault. */
void hp_tlb_drop(struct hp_nic *n, uint32_t vpid);
/* The walk begins and ends: meanwhile its pages are in use. */
void hp_tlb_use(struct hp_nic *n, struct hp_walk *w);
void hp_tlb_unuse(struct hp_nic *n, struct hp_walk *w);

/* ---- a piece of memory, page by page (page_pieces.c) ---- */

enum { HP_AHEAD = 16 }; /* translations asked for at a time */
#define HP_WALK_NONE UINT64_MAX
enum hp_step { HP_STEP_READY, HP_STEP_WAIT, HP_STEP_FAULT };

struct hp_walk {
	uint32_t bytes;
	bool virtual;
	/* physical: `first` bytes at pa[0], the rest at pa[1] */
	weft_phys_t pa[2];
	uint32_t first;
	/* virtual */
	uint64_t va;
	uint16_t vpid;
	uint32_t pages, low, asked; /* [low, asked): in at[] */
	uint32_t out;		    /* translations not answered yet */
	uint32_t fault;		    /* number of the page, or UINT32_MAX */
	uint32_t room;		    /* of at[] */
	uint64_t *at;	/* physical pages by number, or HP_WALK_NONE */
	uint64_t *list; /* at[], where it is not some[] */
	uint64_t some[HP_AHEAD];
	struct hp_xlate ask[HP_AHEAD];
	bool asking[HP_AHEAD];
	struct hp_walk *next; /* tlb.c's */
	void (*go)(struct hp_nic *n, struct hp_walk *w);
	/* The driver is asked for a page: it will take a while.  Or NULL. */
	void (*missed)(struct hp_nic *n, struct hp_walk *w);
	void *arg;
};
static inline void hp_walk_phys(struct hp_walk *w, weft_phys_t pa,
				uint32_t bytes)
{
	w->virtual = false;
	w->fault = UINT32_MAX;
	w->bytes = w->first = bytes;
	w->pa[0] = pa;
}
/* A ring of `size` bytes at base: from `off` on, wrapping. */
void hp_walk_ring(struct hp_walk *w, weft_phys_t base, uint64_t size,
		  uint64_t off, uint32_t bytes);
/* go is set; it is called when a translation has come. */
void hp_walk_virt(struct hp_nic *n, struct hp_walk *w, uint32_t vpid,
		  uint64_t va, uint32_t bytes, bool write);
/* The page has been translated and will be used. */
static inline bool hp_walk_uses(const struct hp_walk *w, uint32_t vpid,
				uint64_t vpage)
{
	uint64_t page = vpage - w->va / HP_PAGE;

	return w->vpid == vpid && page >= w->low && page < w->asked &&
	       page < w->fault && w->at[page % w->room] != HP_WALK_NONE;
}
/* Nothing of what has been asked for is missing. */
static inline bool hp_walk_known(const struct hp_walk *w)
{
	return !w->out;
}
/* Where byte `off` is, and how many follow there. */
enum hp_step hp_walk_at(const struct hp_walk *w, uint32_t off,
			weft_phys_t *pa_p, uint32_t *left_p);
/* Bytes below `off` are done with. */
void hp_walk_past(struct hp_nic *n, struct hp_walk *w, uint32_t off);
/* hp_walk_known holds. */
void hp_walk_end(struct hp_nic *n, struct hp_walk *w);

/* ---- host memory to packet (payload_read.c) ---- */

struct hp_pull {
	struct hp_walk walk;
	struct weft_frame *f; /* ours until released */
	uint8_t *data;	      /* of the frame */
	struct hp_tx *tx;
	uint32_t total, asked, got, out;
	bool stop; /* a page is missing, memory has refused */
	bool cut;  /* an abort tail has been sent (8.10) */
	bool over;
	enum hp_err err; /* for the tail */
	/* Pages are known, or it is over. */
	void (*go)(struct hp_nic *n, struct hp_pull *p);
	void *arg;
};
/* f, total, err, go are set, walk begun by the caller (hp_pull_walk). */
void hp_pull_go(struct hp_nic *n, struct hp_pull *p);
void hp_pull_walk(struct hp_nic *n, struct hp_walk *w);
/* The first page cannot be had: nothing may be sent. */
static inline bool hp_pull_failed(const struct hp_pull *p)
{
	return p->stop && !p->got && !p->out && hp_walk_known(&p->walk);
}
/* The first bytes are there, and what comes after them is known. */
static inline bool hp_pull_ready(const struct hp_pull *p)
{
	return hp_pull_failed(p) || (hp_walk_known(&p->walk) && p->got);
}
void hp_pull_release(struct hp_nic *n, struct hp_pull *p, uint64_t cycle,
		     void (*sent)(struct hp_nic *, struct hp_tx *), void *arg);
void hp_pull_drop(struct hp_nic *n, struct hp_pull *p);

/* Abort tail: last word of a packet that ends before its size (8.10). */
#define HP_TAIL(err)   ((uint64_t)(err) << 59)
#define HP_TAIL_ERR(w) ((uint32_t)((w) >> 59))

/* ---- packet to host memory (payload_write.c) ---- */

/* Ingress buffer: bytes of a packet taken while its stores wait. */
enum { HP_INGRESS = 4096 };

struct hp_park {       /* the packet is out of the network, and comes back */
	uint32_t kept; /* bytes in the buffer of the unit */
	uint8_t fu;    /* that one */
	uint32_t first, pages; /* of the area; 0: it is not */
	bool shared;	       /* counts for `vpid`, which has no room */
	uint16_t vpid;
	uint32_t put, there;  /* bytes written, and handed over */
	uint32_t asked, back; /* bytes read, and here */
	uint32_t out;	      /* transactions */
};
struct hp_push {
	struct hp_walk walk;
	struct hp_rx *rx;
	uint32_t size;	/* user bytes that the packet should have */
	uint32_t total; /* of them are to be stored */
	uint32_t asked, stored, out;
	bool hold;	  /* nothing is stored yet, only taken */
	bool stop;	  /* a page is missing, memory has refused */
	bool over;	  /* all that can be stored has been handed over */
	enum hp_err tail; /* the packet was ended early */
	struct hp_park park;
	bool copied; /* it is in the job's record, or the buffer */
	void (*go)(struct hp_nic *n, struct hp_push *p);
	void *arg;
};
void hp_push_start(struct hp_nic *n, struct hp_push *p);
void hp_push_go(struct hp_nic *n, struct hp_push *p);
/* Into the buffer of the unit or main memory (parked_packets.c); false: no
 * room.  vpid: the receiver without room of which it is a share, or HP_VPIDS.
 */
bool hp_park_begin(struct hp_nic *n, struct hp_push *p, uint32_t fu,
		   uint32_t vpid);
void hp_park_end(struct hp_nic *n, struct hp_push *p);
/* `here` bytes have come; bytes that are back. */
uint32_t hp_park_go(struct hp_nic *n, struct hp_push *p, uint32_t here);
void hp_push_walk(struct hp_nic *n, struct hp_walk *w);
/* Bytes of a packet of `size` that may be looked at; tail_p: it ended early. */
uint32_t hp_rx_bytes(const struct hp_rx *rx, uint32_t size,
		     enum hp_err *tail_p);

/* ---- packets (dispatch.c) ---- */

/* Record of a completer's or responder's job. */
struct hp_in {
	struct hp_job job;
	struct hp_rx *rx; /* NULL: ended */
	struct hp_head head;
	uint32_t cmd;
	uint64_t flags; /* W0 of the context */
	uint64_t snap;	/* WQ_RP in its place of W2 */
	bool reply;	/* response or acknowledge: this node is the origin */
	bool gone;	/* nobody is told of it */
	enum hp_err err;
	struct hp_ctx_req ctx;
	struct hp_look win;
	struct hp_nqe nqe;
	struct hp_in *next; /* waits for space */
	uint64_t since;	    /* cycle */
	uint64_t trace;	    /* the message ends with the job; 0: it does not */
	bool waiting, asking;
	/* receiver_room.c's: it has a place; an NQ entry is reserved for it; it
	 * goes to the RDR or a posted buffer; an NQ entry is all that it lacks
	 */
	bool place, nq, space, entry;
};
static inline enum hp_part hp_in_part(const struct hp_in *in)
{
	return hp_is_get(HP_CMD_BYTE(in->cmd)) && !in->reply ? HP_RSP : HP_CPL;
}
/* hp_pipe.what */
const char *hp_in_what(const struct hp_job *j);
/* Gives the packet back to the network, once. */
static inline void hp_in_end(struct hp_nic *n, struct hp_in *in)
{
	if (in->rx)
		hp_rx_end(n, in->rx);
	in->rx = NULL;
}
/* Target side: NACK, and the packet ends (8.3, 8.4). */
void hp_in_refuse(struct hp_nic *n, struct hp_in *in, enum hp_err err);
/* Asks for the context; next(n, in) with flags, snap, WDT set; a context that
 * is off has been dealt with, gone is set. */
void hp_in_context(struct hp_nic *n, struct hp_in *in,
		   void (*done)(struct hp_nic *, struct hp_ctx_req *,
				struct hp_ctx *));
bool hp_in_usable(struct hp_nic *n, struct hp_in *in, const struct hp_ctx *c);
/* NOTIFY_RMA for what the packet did, or was refused. */
void hp_in_rma(struct hp_nic *n, struct hp_in *in);
/* Its hp_nqe.waits; arg is the hp_in. */
bool hp_in_note_waits(struct hp_nic *n, struct hp_nqe *e);
/* A negative acknowledge for which nothing is reserved (4.9). */
static inline bool hp_is_extra(const struct hp_head *h)
{
	uint32_t orig = HP_CMD_BYTE(HP_C1_ORIG(h->c[1]));

	return HP_CMD_BYTE(HP_C0_CMD(h->c[0])) == HP_B_ACK &&
	       !hp_is_get(orig) && !(orig & HP_A);
}
static inline uint32_t hp_in_size(const struct hp_in *in)
{
	return HP_C3_SIZE(in->head.c[3]);
}

/* ---- receivers without room (receiver_room.c) ---- */

/* A packet waits for room of this VPID: STALL_RX. */
static inline bool hp_rx_waits(const struct hp_nic *n, uint32_t vpid)
{
	for (const struct hp_in *in = n->room.head; in; in = in->next)
		if (in->head.vpid == vpid)
			return true;
	return false;
}
bool hp_notify_waits(const struct hp_nic *n, uint32_t vpid);
void hp_stall_update(struct hp_nic *n, struct hp_ctx *c);
/* An entry of the receiver's NQ is reserved for the packet, or it needs none;
 * false: there is none, or an older packet waits for it. */
bool hp_room_entry(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c);
/* The packet that `in` has been made for finds no room (entry: in the NQ): it
 * asks for its context again (in->ctx) when there may be some, or is refused
 * and its stage over. */
void hp_rx_wait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c,
		bool entry);
void hp_rx_unwait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c);
/* No older packet has to go on before it. */
bool hp_rx_first(const struct hp_nic *n, const struct hp_in *in);
/* It waits for something else of its receiver's: a place; false: none. */
bool hp_room_stand(struct hp_nic *n, struct hp_in *in);
/* Packets of this receiver have places. */
bool hp_room_lacks(struct hp_nic *n, uint32_t vpid);
/* hp_pipe.behind */
void hp_room_behind(struct hp_sched *s, struct hp_job *j);
/* The job waits no longer. */
void hp_room_leave(struct hp_nic *n, struct hp_in *in);
/* Share of a receiver, made where there is none; tidied after it has changed.
 */
struct hp_share *hp_room_share(struct hp_nic *n, uint32_t vpid);
static inline void hp_room_tidy(struct hp_nic *n, struct hp_share *s)
{
	if (!s->places && !s->bytes && !s->pages)
		*s = vec_pop(&n->room.shares);
}

#endif
