/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that the functional units of the Host Port share (hostport.md 8):
 * lookups of tables in main memory through their caches, translations, window
 * checks, and transfer of payload between host memory and packets. */
#ifndef SYSTEMS_HOSTPORT_NIC_FUNCTIONAL_UNITS_H
#define SYSTEMS_HOSTPORT_NIC_FUNCTIONAL_UNITS_H

#include "systems/hostport/nic/nic.h"

/* Limit of user bytes. Commands for more bytes end in a segmentation fault (own
 * choice). */
enum { HP_BYTES_MAX = 8 << 20 };

/* Returns whether a command is three-staged, which means that a response
 * returns data to the origin. */
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

/* A lookup of a table entry. The cache keeps the pointer until it calls
 * done. */
struct hp_look {
	uint64_t key;
	weft_phys_t addr;
	uint32_t bytes; /* length of the entry, up to HP_LOOK_BYTES */
	hp_fn done;
	void *arg;
	bool ok; /* false when memory did not answer or the entry does not
		  * exist */
	uint8_t data[HP_LOOK_BYTES];
	struct hp_lines *lines;
	const struct hp_cached *line; /* line that the lookup waits for */
	struct hp_look *next;
};

struct hp_cached { /* a line */
	uint8_t data[HP_LINE];
	struct hp_lines *lines;
};

struct hp_lines {
	uint32_t width;	 /* bytes of a line; longer entries are not cached */
	uint32_t cycles; /* time of a hit in cycles */
	enum hp_counter hits, misses;
	struct assoc dir;
	struct hp_cached *at; /* at[i] belongs to entry i of dir */
	struct hp_look *wait;
};

/* Returns a new cache with the parameters of `like` and empty lines. */
struct hp_lines *hp_lines_new(struct hp_lines like, uint32_t entries);
/* Sets up the caches of the NIC: windows, and routes of up to 32 bytes. */
void hp_lines_init(struct hp_nic *n);
void hp_lines_free(struct hp_lines *l); /* Frees a cache. `l` may be NULL. */
/* Looks a key up. If `exists` is false, the lookup takes the usual number of
 * cycles and then fails. */
void hp_lines_get(struct hp_nic *n, struct hp_lines *l, struct hp_look *k,
		  bool exists);
/* Executes CACHE_CMD: flush, remove and query. An insert does nothing, because
 * the next access fills the line. */
uint64_t hp_lines_cmd(struct hp_lines *l, uint32_t op, uint64_t key);

/* Removes all lines with keys from `from` to `to`. */
void hp_lines_drop(struct hp_lines *l, uint64_t from, uint64_t to);

/* ---- routing cache (route_cache.c) ---- */

struct hp_route_req {
	struct hp_look look;
	struct hp_route route;
	bool ok; /* false when the route is invalid (ERR_ROUTE_INV) */
	hp_fn done;
	void *arg;
};
/* Looks up a route by offset and length in the routing space. */
void hp_route_get(struct hp_nic *n, struct hp_route_req *r, uint32_t off,
		  uint32_t len);

/* ---- windows (windows.c) ---- */

/* Looks up a window descriptor. `wdt` is WDT_BASE of the context. */
void hp_win_get(struct hp_nic *n, struct hp_look *k, uint32_t vpid,
		weft_phys_t wdt, uint32_t id);
struct hp_access {
	/* true for a window of the target, false for a window of the origin.
	 * Capability and rights are checked only for a window of the target */
	bool target;
	uint32_t hpid, vpid; /* Host Port and VPID that request access */
	uint32_t capa;
	uint64_t rights; /* HP_WIN_RD, HP_WIN_WR */
	uint64_t off, len;
};
/* Checks an access. Returns HP_ERR_NOERR or the first error that applies.
 * Errors (numbers of 6.3) are tested in the order 4, 6, 7, 5 for a window of
 * the origin, and 9, 10, 12, 13, 11 for a window of the target. */
enum hp_err hp_win_check(const struct hp_access *a, const struct hp_look *k);
/* Returns the virtual address of a window that was looked up. */
uint64_t hp_win_va(const struct hp_look *k);

/* ---- translations (tlb.c) ---- */

struct hp_xlate { /* the TLB keeps the pointer until it calls done */
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
/* Requests a translation. x->done is called t_tlb cycles later, or after a miss
 * when the driver has answered. */
void hp_tlb_get(struct hp_nic *n, struct hp_xlate *x);
/* Fails the pending translations of a VPID, because the driver will not answer
 * them any more. */
void hp_tlb_drop(struct hp_nic *n, uint32_t vpid);
/* Marks the pages of a walk as in use until hp_tlb_unuse(). The driver cannot
 * remove the translation of a page in use. */
void hp_tlb_use(struct hp_nic *n, struct hp_walk *w);
void hp_tlb_unuse(struct hp_nic *n, struct hp_walk *w);

/* ---- walk over memory, page by page (page_pieces.c) ---- */

enum { HP_AHEAD = 16 }; /* largest number of translations in flight */
#define HP_WALK_NONE UINT64_MAX
enum hp_step { HP_STEP_READY, HP_STEP_WAIT, HP_STEP_FAULT };

struct hp_walk {
	uint32_t bytes;
	bool virtual;
	/* physical walk: the first `first` bytes are at pa[0], the others at
	 * pa[1] */
	weft_phys_t pa[2];
	uint32_t first;
	/* virtual walk */
	uint64_t va;
	uint16_t vpid;
	/* pages: number of pages of the walk. at[] holds the translations of
	 * pages low to asked - 1. */
	uint32_t pages, low, asked;
	uint32_t out; /* number of translations in flight */
	/* number of the page that has no translation, or UINT32_MAX */
	uint32_t fault;
	uint32_t room; /* number of elements of at[] */
	/* at[i % room]: number of the physical page of page i of the walk, or
	 * HP_WALK_NONE while it is not translated */
	uint64_t *at;
	/* memory of at[] if there are more pages than some[] holds */
	uint64_t *list;
	uint64_t some[HP_AHEAD];
	struct hp_xlate ask[HP_AHEAD];
	bool asking[HP_AHEAD];
	struct hp_walk *next; /* next walk in the list of tlb.c */
	hp_fn go;
	/* Called when a page was requested from the driver. The owner of the
	 * walk can then let other jobs use its unit, because the driver's
	 * answer takes long. May be NULL. */
	hp_fn missed;
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
/* Sets up a walk over `bytes` bytes at offset `off` of a ring of `size` bytes
 * at base. The walk wraps at the end of the ring. */
void hp_walk_ring(struct hp_walk *w, weft_phys_t base, uint64_t size,
		  uint64_t off, uint32_t bytes);
/* Sets up a walk over virtual memory and requests translations. The caller has
 * set w->go, which is called for each translation that arrives. */
void hp_walk_virt(struct hp_nic *n, struct hp_walk *w, uint32_t vpid,
		  uint64_t va, uint32_t bytes, bool write);
/* Returns whether the walk has translated the page and still needs it. */
static inline bool hp_walk_uses(const struct hp_walk *w, uint32_t vpid,
				uint64_t vpage)
{
	uint64_t page = vpage - w->va / HP_PAGE;

	return w->vpid == vpid && page >= w->low && page < w->asked &&
	       page < w->fault && w->at[page % w->room] != HP_WALK_NONE;
}
/* Returns whether no translation of the walk is in flight. */
static inline bool hp_walk_known(const struct hp_walk *w)
{
	return !w->out;
}
/* Finds the physical address of byte `off` and how many contiguous bytes follow
 * at that address. */
enum hp_step hp_walk_at(const struct hp_walk *w, uint32_t off,
			weft_phys_t *pa_p, uint32_t *left_p);
/* Releases the pages below byte `off`. */
void hp_walk_past(struct hp_nic *n, struct hp_walk *w, uint32_t off);
/* Ends a walk for which hp_walk_known() holds. */
void hp_walk_end(struct hp_nic *n, struct hp_walk *w);

/* ---- host memory to packet (payload_read.c) ---- */

struct hp_pull {
	struct hp_walk walk;
	struct weft_frame *f; /* owned by this struct until hp_pull_release() */
	uint8_t *data;	      /* payload of the frame */
	struct hp_tx *tx;
	uint32_t total, asked, got, out;
	bool stop; /* a page is missing or memory has refused a read */
	bool cut;  /* an abort tail was sent (8.10) */
	bool over;
	enum hp_err err; /* error code that the tail reports */
	/* Called when translations have arrived or the read has failed. */
	hp_fn go;
	void *arg;
};
/* Reads payload for a struct hp_pull. The caller sets f, total, err, go and the
 * walk, then calls this function once. The walk calls it again (walk.go) when a
 * translation arrives. */
void hp_pull_go(struct hp_nic *n, void *pull);
/* Returns whether the payload failed before its first byte arrived. The unit
 * must not send the packet then. */
static inline bool hp_pull_failed(const struct hp_pull *p)
{
	return p->stop && !p->got && !p->out && hp_walk_known(&p->walk);
}
/* Returns whether the payload has failed, or its first bytes have arrived and
 * no translation is in flight. */
static inline bool hp_pull_ready(const struct hp_pull *p)
{
	return hp_pull_failed(p) || (hp_walk_known(&p->walk) && p->got);
}
/* Sends the packet from `cycle` on. The rest of its payload follows as memory
 * delivers it. */
void hp_pull_release(struct hp_nic *n, struct hp_pull *p, uint64_t cycle,
		     void (*sent)(struct hp_nic *, struct hp_tx *), void *arg);
/* Frees the frame of a packet that was not sent. */
void hp_pull_drop(struct hp_nic *n, struct hp_pull *p);

/* Abort tail: last word of a packet that ends before its size (8.10). */
#define HP_TAIL(err)   ((uint64_t)(err) << 59)
#define HP_TAIL_ERR(w) ((uint32_t)((w) >> 59))

/* ---- packet to host memory (payload_write.c) ---- */

/* Ingress buffer: bytes of a packet that a unit accepts while its stores
 * wait. */
enum { HP_INGRESS = 4096 };

/* Copy of a packet that was moved out of the network. Its bytes are stored or
 * read back later. */
struct hp_park {
	uint32_t kept; /* bytes kept in the buffer of unit fu */
	uint8_t fu;    /* number of that unit */
	/* first page and number of pages in the parking area; 0 pages while the
	 * packet is not in the area */
	uint32_t first, pages;
	/* true if the kept bytes and the pages count against the limit of the
	 * receiver `vpid`, which has no room */
	bool shared;
	uint16_t vpid;
	/* number of bytes whose write was requested, and number handed to the
	 * bus */
	uint32_t put, there;
	/* number of bytes requested from the area, and number read back */
	uint32_t asked, back;
	uint32_t out; /* number of transactions in flight */
};
struct hp_push {
	struct hp_walk walk;
	struct hp_rx *rx;
	uint32_t size;	/* user bytes that a complete packet has */
	uint32_t total; /* number of user bytes that are stored */
	uint32_t asked, stored, out;
	bool hold; /* bytes are accepted from the network, but not stored yet */
	bool stop; /* a page is missing or memory has refused a write */
	/* all bytes that can be stored were handed to the bus */
	bool over;
	/* error that ended the packet early, or HP_ERR_NOERR */
	enum hp_err tail;
	struct hp_park park;
	/* the bytes were copied to the job's record or the unit's buffer */
	bool copied;
	void (*go)(struct hp_nic *n, struct hp_push *p);
	void *arg;
};
/* Starts to store the payload of a packet as it arrives. */
void hp_push_start(struct hp_nic *n, struct hp_push *p);
/* Stores more of the payload for a struct hp_push. Called when bytes or a
 * translation have arrived, or when room has become free. The walk calls it
 * (walk.go) when a translation arrives. */
void hp_push_go(struct hp_nic *n, void *push);
/* Moves a packet into the buffer of the unit or into main memory
 * (parked_packets.c), so that the network can deliver other packets. `vpid` is
 * the receiver without room whose limit includes the packet, or HP_VPIDS when
 * no limit applies. Returns false when the buffer and the area have no room. */
bool hp_park_begin(struct hp_nic *n, struct hp_push *p, uint32_t fu,
		   uint32_t vpid);
/* Gives back the room of a parked packet. */
void hp_park_end(struct hp_nic *n, struct hp_push *p);
/* Writes the bytes that have arrived, up to byte `here`, to the parking area,
 * and reads parked bytes back. Returns how many bytes of the packet were read
 * back, but at most `here`. */
uint32_t hp_park_go(struct hp_nic *n, struct hp_push *p, uint32_t here);
/* Returns how many bytes of a packet of `size` bytes may be read. Sets *tail_p
 * when the packet ended early. */
uint32_t hp_rx_bytes(const struct hp_rx *rx, uint32_t size,
		     enum hp_err *tail_p);

/* ---- packets (dispatch.c) ---- */

/* Record of a completer's or responder's job. */
struct hp_in {
	struct hp_job job;
	struct hp_rx *rx; /* NULL once the packet was given back */
	struct hp_head head;
	uint32_t cmd;
	uint64_t flags; /* W0 of the context */
	uint64_t snap;	/* WQ_RP, shifted to its position in W2 */
	/* the packet is a response or acknowledge to an instruction of this
	 * node */
	bool reply;
	/* the VPID is closed. No notification is written then */
	bool gone;
	enum hp_err err;
	struct hp_ctx_req ctx;
	struct hp_look win;
	struct hp_nqe nqe;
	struct hp_in *next; /* next job that waits for room */
	uint64_t since;	    /* cycle in which the wait began */
	uint64_t trace; /* id of the listeners' message that ends with the job,
			   or 0 */
	bool waiting, asking;
	/* state of receiver_room.c. place: the job has one of rx_places waiting
	 * slots. nq: an NQ entry is reserved. space: the job needs words of the
	 * RDR or a posted buffer. entry: the job lacks only an NQ entry. */
	bool place, nq, space, entry;
};
static inline enum hp_part hp_in_part(const struct hp_in *in)
{
	return hp_is_get(HP_CMD_BYTE(in->cmd)) && !in->reply ? HP_RSP : HP_CPL;
}
/* Implements hp_pipe.what. */
const char *hp_in_what(const struct hp_job *j);
/* Ends the unit's use of the packet, so that the network gets its cells back.
 * Further calls do nothing. */
static inline void hp_in_end(struct hp_nic *n, struct hp_in *in)
{
	if (in->rx)
		hp_rx_end(n, in->rx);
	in->rx = NULL;
}
/* Sends a NACK from the target and ends the packet (8.3, 8.4). */
void hp_in_refuse(struct hp_nic *n, struct hp_in *in, enum hp_err err);
/* Requests the context of the packet's VPID, and calls done with it. */
void hp_in_context(struct hp_nic *n, struct hp_in *in,
		   void (*done)(struct hp_nic *, struct hp_ctx_req *,
				struct hp_ctx *));
/* Returns whether the context is on and has the owner that the packet names.
 * Sets flags and snap. If the context cannot be used, sets `gone` and refuses
 * the packet. */
bool hp_in_usable(struct hp_nic *n, struct hp_in *in, const struct hp_ctx *c);
/* Queues NOTIFY_RMA for a packet that was executed or refused. */
void hp_in_rma(struct hp_nic *n, struct hp_in *in);
/* Returns whether the packet is a negative acknowledge without a reserved entry
 * (4.9). */
static inline bool hp_is_extra(const struct hp_head *h)
{
	uint32_t orig = HP_CMD_BYTE(HP_C1_ORIG(h->c[1]));

	return HP_CMD_BYTE(HP_C0_CMD(h->c[0])) == HP_B_ACK &&
	       !hp_is_get(orig) && !(orig & HP_A);
}
/* Returns the number of bytes of payload, or for a GET the number of bytes that
 * the GET requests. Returns 0 for an acknowledge, whose size field holds an
 * epoch (hp_in_usable). */
static inline uint32_t hp_in_size(const struct hp_in *in)
{
	return HP_CMD_BYTE(in->cmd) == HP_B_ACK ? 0 : HP_C3_SIZE(in->head.c[3]);
}

/* ---- receivers without room (receiver_room.c) ---- */

/* Returns whether a packet waits for room in the queues of this VPID. While one
 * waits, the context has STALL_RX set. */
static inline bool hp_rx_waits(const struct hp_nic *n, uint32_t vpid)
{
	for (const struct hp_in *in = n->room.head; in; in = in->next)
		if (in->head.vpid == vpid)
			return true;
	return false;
}
/* Returns whether a notification of the VPID waits for room. */
bool hp_notify_waits(const struct hp_nic *n, uint32_t vpid);
/* Sets STALL_RX of the context while a packet or notification of the VPID waits
 * for room, otherwise clears it. */
void hp_stall_update(struct hp_nic *n, struct hp_ctx *c);
/* Reserves an entry of the receiver's NQ for the packet if it needs one.
 * Returns false when no entry is free or an older packet waits for one. */
bool hp_room_entry(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c);
/* Queues the packet of `in`, because its receiver has no room. `entry` says
 * that only an NQ entry is missing. Once the receiver may have room, the packet
 * requests its context again (in->ctx). If the packet cannot wait, it is
 * refused, which ends its stage. */
void hp_rx_wait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c,
		bool entry);
/* Ends the wait of a packet that has found room. */
void hp_rx_unwait(struct hp_nic *n, struct hp_in *in, struct hp_ctx *c);
/* Returns whether no older packet of the same receiver has to continue
 * first. */
bool hp_rx_first(const struct hp_nic *n, const struct hp_in *in);
/* Gives one of rx_places waiting slots to a packet (struct hp_in) whose
 * receiver has no room. Returns false when no slot is free. Implements
 * hp_nqe.waits. */
bool hp_room_stand(struct hp_nic *n, void *packet);
/* Returns whether packets of this receiver occupy waiting slots. */
bool hp_room_lacks(struct hp_nic *n, uint32_t vpid);
/* Implements hp_pipe.behind. */
void hp_room_behind(struct hp_sched *s, struct hp_job *j);
/* Frees the waiting slot of a job, if the job has one. */
void hp_room_leave(struct hp_nic *n, struct hp_in *in);
/* Returns the record of waiting slots and memory that a receiver without room
 * uses, and creates it if necessary. hp_room_tidy() removes a record that has
 * become empty. */
struct hp_share *hp_room_share(struct hp_nic *n, uint32_t vpid);
static inline void hp_room_tidy(struct hp_nic *n, struct hp_share *s)
{
	if (!s->places && !s->bytes && !s->pages)
		*s = vec_pop(&n->room.shares);
}

#endif
