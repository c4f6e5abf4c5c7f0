/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the reference of HyperTransport, see ref_ht.h: its whole state. */
#ifndef TESTS_HOST_REF_HT_INTERNAL_H
#define TESTS_HOST_REF_HT_INTERNAL_H

#include "ref_ht.h"

enum { P, NP, R, VCS };
enum { DOWN, UP, DIRS };
enum { MANY = 4096 };
#define NEVER UINT64_MAX

struct pkt {
	enum ht_what what;
	uint32_t op;	  /* number of the operation in its list */
	uint32_t dev, at; /* dev: number of the device. at: offset in a read */
	/* vc: virtual channel whose buffer the packet occupies */
	uint32_t bytes, vc;
	uint64_t addr;
	weft_time_t from; /* host: time from which the packet is ready */
	uint64_t ready;	  /* slot from which the packet is ready, or NEVER */
	uint64_t seq, due;
	uint32_t behind; /* load: number of stores in front of it in the core */
	uint8_t number;	 /* load: its number */
	bool relaxed, error, answered, level;
	uint8_t first;
};

struct list {
	uint32_t n;
	struct pkt at[MANY];
};

/* State of a device's transaction. */
struct txn {
	uint32_t sent, came, tenures;
	bool aborted;
};

struct lane {
	struct list queue[VCS];
	uint32_t credits[VCS];
	struct list news; /* credits that return to the sender */
	struct pkt cur;	  /* packet on the link */
	/* number of dwords of cur that have not left; 0 while the link is
	 * free */
	uint32_t left;
	uint32_t last;
};

struct link {
	uint32_t index;
	struct lane lane[DIRS];
	uint64_t seq;
	uint32_t tags;
	/* bridge */
	uint32_t held; /* number of stores that have not left the bridge */
	struct list memory;
	weft_time_t commit;
	/* core */
	struct list pipe, buffer, queue;
	/* loads in the core; only the first may be shown to the device */
	struct list load_buffer, load_queue;
	bool shown;
	uint64_t gone; /* slot at which the load leaves the queue */
	/* device */
	uint64_t told;
	uint32_t places, stores, loads, next;
	weft_time_t list_at, answer_at;
	uint64_t earliest; /* slot from which an answer may leave */
	bool mute;	   /* the device will not answer */
	uint64_t load_told;
	weft_time_t eat[MANY]; /* times at which stores are consumed */
	uint32_t n_eat;
	struct txn txn[HT_OPS];
};

struct ref {
	const struct ht_script *s;
	struct ht_log *log;
	uint64_t k, seq;
	uint32_t rx, tx, reg, credit; /* slots */
	struct link link[HT_DEVS];
	uint32_t next;
	weft_time_t host_at;
	/* time until which each load number of the host is in use */
	weft_time_t load_until[HT_LOADS];
	/* standing: the host waits for an answer. blocked: the host waits for
	 * room in the bridge. */
	bool standing, blocked;
};

/* ref_ht.c */
weft_time_t ref_ht_edge(const struct ref *r, uint64_t k);
struct ht_said *ref_ht_tell(struct ref *r, uint32_t port,
			    enum weft_note_kind kind, weft_time_t t);
void ref_ht_tell_pkt(struct ref *r, uint32_t port, enum weft_note_kind kind,
		     weft_time_t t, const struct pkt *p, bool data);
void ref_ht_push(struct list *l, const struct pkt *p);
struct pkt ref_ht_take(struct list *l, uint32_t i);
uint32_t ref_ht_dwords(uint64_t addr, uint32_t bytes);
weft_time_t ref_ht_less_half(const struct ref *r, weft_time_t t);

/* ref_ht_core.c: the device and its core. */
void ref_ht_dev_acts(struct ref *r, struct link *l, weft_time_t limit);
void ref_ht_dev_load(struct ref *r, struct link *l);
void ref_ht_credit_back(struct ref *r, struct link *l, uint32_t dir,
			uint32_t vc);
uint32_t ref_ht_store_dwords(const struct pkt *p);
void ref_ht_core_step(struct ref *r, struct link *l);

/* ref_ht_link.c: the bridge and the link. */
void ref_ht_bridge_memory(struct ref *r, struct link *l);
void ref_ht_link_ends(struct ref *r, struct link *l);
void ref_ht_link_news(struct ref *r, struct link *l);
void ref_ht_link_ready(struct ref *r, struct link *l);
void ref_ht_link_decides(struct ref *r, struct link *l);

#endif
