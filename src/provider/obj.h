/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of libfabric: fabric, domain, endpoint and what is bound to it.
 * Everything behind a domain is under the lock of its hub. */
#ifndef PROVIDER_OBJ_H
#define PROVIDER_OBJ_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "provider/hub.h"
#include "provider/op.h"
#include "provider/rxq.h"

enum {
	WFI_INJECT = 2048,
	WFI_CM_DATA = 256,
	WFI_CTX = 1024,	  /* operations of an endpoint, as announced */
	WFI_DGRAM = 4000, /* longest datagram */
};

/* ---- init.c, attr.c ---- */

extern struct fi_provider wfi_prov;
int wfi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info);
/* The i-th kind of endpoint, or NULL: to be freed. */
struct fi_info *wfi_info_base(unsigned i);
/* An IPv4 address: 127.x.y.z or one of this machine.  -FI_ENODATA. */
int wfi_resolve(const char *node, const char *service,
		struct sockaddr_in *sin_p);
/* Caps that are there without being asked for. */
extern const uint64_t wfi_caps_secondary;

/* ---- fabric.c ---- */

struct wfi_fabric {
	struct fid_fabric fid;
	struct wfi_hub *hub;
	int refs;
};

struct wfi_domain {
	struct fid_domain fid;
	struct wfi_fabric *fabric;
	struct wfi_hub *hub;
	struct wfi_eq *eq;
	int refs;
	bool virt_addr, prov_key;
	struct map mrs; /* by key */
	uint64_t next_key;
};

int wfi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
	       void *context);
int wfi_domain(struct fid_fabric *fabric, struct fi_info *info,
	       struct fid_domain **dom_p, void *context);

/* Ops of an object that can do nothing of this. */
int wfi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int wfi_no_control(struct fid *fid, int command, void *arg);
int wfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context);

/* ---- wait.c ---- */

/* How somebody waits for a queue: all wait objects are the transport's. */
struct wfi_wait {
	enum fi_wait_obj obj;
	/* FI_WAIT_FD; -1: none yet.  What the user sleeps on: the transport's
	 * and a bell of our own. */
	int fd, bell;
};

int wfi_wait_init(struct wfi_wait *w, enum fi_wait_obj obj);
void wfi_wait_close(struct wfi_wait *w);
/* There is something to read. */
void wfi_wait_ring(struct wfi_wait *w);
int wfi_wait_get(struct wfi_wait *w, struct wfi_hub *h, void *arg);
int wfi_wait_control(struct wfi_wait *w, struct wfi_hub *h, int command,
		     void *arg);
int wfi_trywait(struct fid_fabric *fabric, struct fid **fids, int count);
int wfi_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		  struct fid_wait **wait_p);
int wfi_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		  struct fid_poll **poll_p);
void wfi_set_add(struct fid_wait *set, struct fid *fid);
/* Something to be read: a queue, a counter that has moved. */
bool wfi_fid_ready(struct fid *fid);
struct wfi_hub *wfi_fid_hub(struct fid *fid);
/* Waits until test() holds: 0, or -FI_ETIMEDOUT after ms (< 0: never).  With
 * the lock, which is not held while it sleeps. */
int wfi_wait_until(struct wfi_hub *h, bool (*test)(void *arg), void *arg,
		   int ms);

struct wfi_trig;

/* ---- cq.c, cntr.c, eq.c ---- */

struct wfi_comp {
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	size_t olen;
	int err;
};

struct wfi_cq {
	struct fid_cq fid;
	struct wfi_domain *dom;
	struct wfi_wait wait;
	enum fi_cq_format format;
	struct wfi_comp *ring;
	size_t cap, head, n;
	bool signaled;
	int refs;
};

struct wfi_cntr {
	struct fid_cntr fid;
	struct wfi_domain *dom;
	struct wfi_wait wait;
	uint64_t val, err;
	uint64_t seen, seen_err; /* by a poll set */
	TAILQ_HEAD(, wfi_trig) triggers;
	int refs;
};

struct wfi_event {
	TAILQ_ENTRY(wfi_event) link;
	uint32_t event;
	int err;
	bool user; /* from fi_eq_write */
	size_t len;
	char data[];
};

struct wfi_eq {
	struct fid_eq fid;
	struct wfi_fabric *fabric;
	struct wfi_hub *hub;
	bool writable;
	struct wfi_wait wait;
	pthread_mutex_t lock;
	TAILQ_HEAD(, wfi_event) events;
	void *err_data;
	int refs;
};

int wfi_cq_open(struct fid_domain *dom, struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context);
void wfi_cq_add(struct wfi_cq *cq, const struct wfi_comp *c);
int wfi_cntr_open(struct fid_domain *dom, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context);
void wfi_cntr_inc(struct wfi_cntr *c, bool err);
int wfi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq_p, void *context);
/* An event with data behind its entry; err != 0: an error entry. */
int wfi_eq_add(struct wfi_eq *eq, uint32_t event, int err, const void *entry,
	       size_t len, const void *data, size_t more);
/* Somebody uses it, or (-1) no more. */
void wfi_eq_use(struct wfi_eq *eq, int n);

/* ---- av.c ---- */

struct wfi_av_entry {
	struct sockaddr_in sin;
	wfi_name name; /* 0: not known yet */
	bool used;
};

struct wfi_av {
	struct fid_av fid;
	struct wfi_domain *dom;
	struct wfi_eq *eq;
	enum fi_av_type type;
	struct wfi_av_entry *at;
	size_t n, cap, unknown;
	struct map back; /* name to index + 1 */
	int refs;
};

int wfi_av_open(struct fid_domain *dom, struct fi_av_attr *attr,
		struct fid_av **av_p, void *context);
/* 0: 0 in *name_p while nobody knows it.  -FI_EINVAL: no such address. */
int wfi_av_name(struct wfi_av *av, fi_addr_t addr, wfi_name *name_p);
fi_addr_t wfi_av_addr(struct wfi_av *av, wfi_name name);

/* ---- mr.c ---- */

struct wfi_mr {
	struct fid_mr fid;
	struct wfi_domain *dom;
	struct wfi_ep *ep; /* bound to it */
	struct wfi_cntr *cntr;
	struct wfi_reg *reg;
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	uint64_t base; /* address of its first byte in requests */
	uint64_t access, flags;
	/* peers that know it, through an endpoint's port */
	wfi_name *shown_to;
	size_t shown;
	uint16_t shown_port;
};

int wfi_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
	       uint64_t offset, uint64_t key, uint64_t flags,
	       struct fid_mr **mr_p, void *context);
extern struct fi_ops_mr wfi_ops_mr;
/* The region of a peer's request: all of it inside and allowed, or a positive
 * errno.  *at_p: offset in the region. */
int wfi_mr_check(struct wfi_domain *d, uint64_t key, uint64_t addr, size_t len,
		 uint64_t access, struct wfi_mr **mr_p, size_t *at_p);

/* ---- ep.c ---- */

enum wfi_cntr_kind {
	WFI_C_SEND,
	WFI_C_RECV,
	WFI_C_READ,
	WFI_C_WRITE,
	WFI_C_REMOTE_READ,
	WFI_C_REMOTE_WRITE,
	WFI_CNTRS
};

enum wfi_conn { CONN_NONE, CONN_ASKED, CONN_UP, CONN_DOWN };

struct wfi_connreq;

struct wfi_ep {
	struct fid_ep fid;
	struct wfi_ep *base; /* itself, or whose alias it is */
	struct wfi_domain *dom;
	struct wfi_hub *hub;
	struct fi_info *info;
	enum fi_ep_type type;
	struct wfi_port port;
	struct wfi_av *av;
	struct wfi_eq *eq;
	struct wfi_cq *tx_cq, *rx_cq;
	bool tx_sel, rx_sel; /* selective completion */
	struct wfi_cntr *cntr[WFI_CNTRS];
	struct wfi_rxq *rxq, own_rxq;
	struct wfi_srx *srx;
	uint64_t tx_flags, rx_flags;
	bool enabled;
	int refs;
	/* FI_EP_MSG */
	enum wfi_conn conn;
	wfi_name remote;
	uint16_t shown; /* port of whom it was accepted by; 0: its own */
	struct sockaddr_in peer_sin;
	struct wfi_connreq *req;
	struct wfi_op *connecting;
};

/* A receive context that several endpoints share. */
struct wfi_srx {
	struct fid_ep fid;
	struct wfi_domain *dom;
	struct wfi_rxq rxq;
	uint64_t rx_flags;
	int refs;
};

int wfi_endpoint(struct fid_domain *dom, struct fi_info *info,
		 struct fid_ep **ep_p, void *context);
int wfi_stx(struct fid_domain *dom, struct fi_tx_attr *attr,
	    struct fid_stx **stx_p, void *context);
int wfi_srx(struct fid_domain *dom, struct fi_rx_attr *attr,
	    struct fid_ep **ep_p, void *context);
extern struct fi_ops_ep wfi_ops_ep;
extern struct fi_ops_msg wfi_ops_msg;
extern struct fi_ops_tagged wfi_ops_tagged;
extern struct fi_ops_rma wfi_ops_rma;
extern struct fi_ops_atomic wfi_ops_atomic;
extern struct fi_ops_cm wfi_ops_cm;
/* Where to: the peer and port behind an address. -FI_EAGAIN: not known yet. */
int wfi_ep_dest(struct wfi_ep *ep, fi_addr_t addr, struct wfi_peer **p_p,
		uint16_t *port_p);
/* Completion of an operation of this side, and its counter. */
void wfi_ep_tx_end(struct wfi_op *op, int err);
void wfi_ep_rx_end(struct wfi_ep *ep, const struct wfi_comp *c, bool quiet);
void wfi_ep_count(struct wfi_ep *ep, enum wfi_cntr_kind k, bool err);
/* A message that has come for the endpoint. */
void wfi_ep_in(struct wfi_port *p, const struct wfi_in *in);

static inline struct wfi_ep *wfi_ep_of(struct fid_ep *fid)
{
	return container_of(fid, struct wfi_ep, fid);
}

/* ---- trigger.c ---- */

/* The counter has moved: what waited for it may go. */
void wfi_trigger(struct wfi_cntr *c);
int wfi_trigger_control(struct wfi_domain *d, int command, void *arg);
void wfi_trigger_drop(struct wfi_cntr *c);

/* ---- rx.c ---- */

/* A message has got its receive, which is in no queue, or in this one. */
void wfi_rx_meet(struct wfi_rxq *q, struct wfi_rx *rx, const struct wfi_msg *m);
/* Nothing of it is wanted. */
void wfi_rx_refuse(struct wfi_hub *h, const struct wfi_msg *m);
struct wfi_comp wfi_rx_comp(const struct wfi_msg *m, void *context);

/* ---- what comes in ---- */

void wfi_msg_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_rts_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_write_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_wreq_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_read_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_rreq_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Answers a request: with this result, or an errno. */
void wfi_result(struct wfi_ep *ep, const struct wfi_in *in, int err,
		const void *data, size_t len);
void wfi_atomic_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_accept_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_reject_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_shutdown_in(struct wfi_ep *ep, const struct wfi_in *in);

/* ---- cm.c ---- */

int wfi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **pep_p, void *context);
/* info->handle of a new endpoint: a request, or a passive endpoint. */
int wfi_cm_adopt(struct wfi_ep *ep, struct fid *handle);
void wfi_cm_close(struct wfi_ep *ep);
void wfi_cm_down(struct wfi_port *p, struct wfi_peer *peer);

#endif
