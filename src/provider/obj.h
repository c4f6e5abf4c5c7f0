/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of libfabric: fabric, domain, endpoint and objects bound to it.
 * The lock of the hub protects a domain and all of its objects. */
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
	WFI_CTX = 1024,	  /* operations that an endpoint may have, as fi_getinfo
			   * reports */
	WFI_DGRAM = 4000, /* bytes of the longest datagram */
};

/* ---- init.c, attr.c ---- */

extern struct fi_provider wfi_prov;
/* Implements fi_getinfo(3). Returns 0 and a list of attributes, or
 * -FI_ENODATA. */
int wfi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info);
/* Returns the attributes of the i-th kind of endpoint, which the caller frees,
 * or NULL. */
struct fi_info *wfi_info_base(unsigned i);
/* Resolves an IPv4 address: 127.x.y.z or one of this machine. Returns 0 or
 * -FI_ENODATA. */
int wfi_resolve(const char *node, const char *service,
		struct sockaddr_in *sin_p);
/* Capabilities that an endpoint has even if the user does not request them. */
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
	struct map mrs; /* struct wfi_mr by key */
	uint64_t next_key;
};

/* Each opens an object of libfabric as its man page describes. Returns 0 or
 * negative errno. */
int wfi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
	       void *context);
int wfi_domain(struct fid_fabric *fabric, struct fi_info *info,
	       struct fid_domain **dom_p, void *context);

/* Adds n (1 or -1) users, so that a domain in use is not closed. */
void wfi_domain_use(struct wfi_domain *d, int n);

/* Implements fi_control of objects that have no commands. Returns 0 for
 * commands that have no effect on such an object, -FI_ENOSYS for others. */
int wfi_control(struct fid *fid, int command, void *arg);
/* Each implements a call that an object does not support. Returns
 * -FI_ENOSYS. */
int wfi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int wfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context);

/* ---- wait.c ---- */

/* State for waits on a queue. All wait objects share the transport's
 * descriptor, because the process has one source of events. */
struct wfi_wait {
	enum fi_wait_obj obj;
	/* The two descriptors of FI_WAIT_FD, -1 until they are opened. fd is
	 * readable when the transport's descriptor or bell is readable. */
	int fd, bell;
};

/* Opens a wait object. Returns 0, or -FI_ENOSYS for an unsupported kind. */
int wfi_wait_init(struct wfi_wait *w, enum fi_wait_obj obj);
/* Closes the descriptors of a wait object. */
void wfi_wait_close(struct wfi_wait *w);
/* Makes the bell readable, because the queue has an entry. */
void wfi_wait_ring(struct wfi_wait *w);
/* Implements FI_GETWAIT and FI_GETWAITOBJ of a queue or a counter. Returns 0 or
 * negative errno. */
int wfi_wait_control(struct fid *fid, int command, void *arg);
/* Each implements a call of libfabric. Returns 0 or negative errno. */
int wfi_trywait(struct fid_fabric *fabric, struct fid **fids, int count);
int wfi_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		  struct fid_wait **wait_p);
int wfi_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		  struct fid_poll **poll_p);
/* Adds an object to a wait set. */
void wfi_set_add(struct fid_wait *set, struct fid *fid);
/* Returns true if a queue has an entry or a counter has changed. */
bool wfi_fid_ready(struct fid *fid);
/* Returns the hub of an object, or NULL. */
struct wfi_hub *wfi_fid_hub(struct fid *fid);
/* Waits until test() returns true. Returns 0, -FI_ETIMEDOUT after ms (< 0: no
 * limit), or -FI_EIO if the simulator has gone. Called with the lock held,
 * which is released during sleeps. */
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
	uint64_t seen, seen_err; /* values that a poll set has seen last */
	TAILQ_HEAD(, wfi_trig) triggers;
	int refs;
};

struct wfi_event {
	TAILQ_ENTRY(wfi_event) link;
	uint32_t event;
	int err;
	bool user; /* the event is from fi_eq_write */
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

/* Opens a completion queue. Returns 0 or negative errno. */
int wfi_cq_open(struct fid_domain *dom, struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context);
/* Adds a completion. The queue grows if it is full. */
void wfi_cq_add(struct wfi_cq *cq, const struct wfi_comp *c);
/* Opens a counter. Returns 0 or negative errno. */
int wfi_cntr_open(struct fid_domain *dom, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context);
/* Counts a completion, or with `err` an error. Starts operations whose
 * threshold the counter has reached. */
void wfi_cntr_inc(struct wfi_cntr *c, bool err);
/* Opens an event queue. Returns 0 or negative errno. */
int wfi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq_p, void *context);
/* Adds an event with an entry and `more` bytes of data behind it. err != 0
 * makes it an error entry. Returns 0 or -FI_ENOMEM. */
int wfi_eq_add(struct wfi_eq *eq, uint32_t event, int err, const void *entry,
	       size_t len, const void *data, size_t more);
/* Adds n (1 or -1) users, so that a queue in use is not closed. */
void wfi_eq_use(struct wfi_eq *eq, int n);
/* Implements fi_bind of a domain, an address vector or a passive endpoint.
 * These can be bound to an event queue only. Returns 0 or -FI_EINVAL. */
int wfi_eq_bind(struct fid *fid, struct fid *eq, uint64_t flags);

/* ---- av.c ---- */

struct wfi_av_entry {
	struct sockaddr_in sin;
	wfi_name name; /* name of the endpoint; 0: not known yet */
	bool used;
};

struct wfi_av {
	struct fid_av fid;
	struct wfi_domain *dom;
	struct wfi_eq *eq;
	enum fi_av_type type;
	struct wfi_av_entry *at;
	size_t n, cap, unknown;
	struct map back; /* index + 1 of an entry, by name */
	int refs;
};

/* Opens an address vector. Returns 0 or negative errno. */
int wfi_av_open(struct fid_domain *dom, struct fi_av_attr *attr,
		struct fid_av **av_p, void *context);
/* Gets the name for an address, in *name_p, which is 0 while the name is
 * unknown. Returns 0, or -FI_EINVAL if the address does not exist. */
int wfi_av_name(struct wfi_av *av, fi_addr_t addr, wfi_name *name_p);
/* Returns the address of an endpoint, or FI_ADDR_NOTAVAIL. */
fi_addr_t wfi_av_addr(struct wfi_av *av, wfi_name name);

/* ---- mr.c ---- */

struct wfi_mr {
	struct fid_mr fid;
	struct wfi_domain *dom;
	struct wfi_ep *ep; /* endpoint to which the region is bound, or NULL */
	struct wfi_cntr *cntr;
	struct wfi_reg *reg;
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	uint64_t base; /* address of the first byte, as peers name it */
	uint64_t access, flags;
	/* Endpoints that have asked for the region, and the port of this
	 * process to which they sent the request. */
	wfi_name *shown_to;
	size_t shown;
	uint16_t shown_port;
};

/* Implements fi_mr_reg(3). Returns 0 or negative errno. */
int wfi_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
	       uint64_t offset, uint64_t key, uint64_t flags,
	       struct fid_mr **mr_p, void *context);
extern struct fi_ops_mr wfi_ops_mr;
/* Finds the region of a peer's request for `len` bytes. Returns 0 and the
 * offset in *at_p. Returns a positive errno if the request exceeds the region
 * or the access is not allowed. */
int wfi_mr_check(struct wfi_ep *ep, const struct wfi_in *in, size_t len,
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
	struct wfi_ep *base; /* this endpoint; for an alias the original */
	struct wfi_domain *dom;
	struct wfi_hub *hub;
	struct fi_info *info;
	enum fi_ep_type type;
	struct wfi_port port;
	struct wfi_av *av;
	struct wfi_eq *eq;
	struct wfi_cq *tx_cq, *rx_cq;
	bool tx_sel, rx_sel; /* only operations with FI_COMPLETION report a
			      * completion */
	struct wfi_cntr *cntr[WFI_CNTRS];
	struct wfi_rxq *rxq, own_rxq;
	struct wfi_srx *srx;
	uint64_t tx_flags, rx_flags;
	bool enabled;
	int refs;
	/* The next fields are for FI_EP_MSG. */
	enum wfi_conn conn;
	wfi_name remote;
	uint16_t shown; /* port that fi_getname returns, if a passive endpoint
			 * received the connection request; 0: the endpoint's
			 * own port */
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

/* Each opens an endpoint or a shared context. Returns 0 or negative errno. */
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
/* Finds the peer and the port for an address. Returns 0, -FI_EAGAIN while they
 * are unknown, or another negative errno. */
int wfi_ep_dest(struct wfi_ep *ep, fi_addr_t addr, struct wfi_peer **p_p,
		uint16_t *port_p);
/* Completes an operation of this process: adds a completion and counts it. */
void wfi_ep_tx_end(struct wfi_op *op, int err);
/* Completes a receive. With `quiet` a receive without error reports no
 * completion. */
void wfi_ep_rx_end(struct wfi_ep *ep, const struct wfi_comp *c, bool quiet);
/* Counts the end of an operation, or with `err` an error, if a counter is
 * bound. */
void wfi_ep_count(struct wfi_ep *ep, enum wfi_cntr_kind k, bool err);
/* Delivers a received message to its endpoint. */
void wfi_ep_in(struct wfi_port *p, const struct wfi_in *in);

/* Returns the endpoint, or alias, of a libfabric handle. */
static inline struct wfi_ep *wfi_ep_of(struct fid_ep *fid)
{
	return container_of(fid, struct wfi_ep, fid);
}

/* ---- trigger.c ---- */

/* Starts operations whose threshold the counter has reached. */
void wfi_trigger(struct wfi_cntr *c);
/* Queues or cancels deferred work, for fi_control of a domain. Returns 0 or
 * negative errno. */
int wfi_trigger_control(struct fid *domain, int command, void *arg);
/* Frees all operations that wait for a counter, because the counter is being
 * closed. */
void wfi_trigger_drop(struct wfi_cntr *c);

/* ---- rx.c ---- */

/* Delivers message m to receive rx, which is in queue q or in no queue. */
void wfi_rx_meet(struct wfi_rxq *q, struct wfi_rx *rx, const struct wfi_msg *m);
/* Drops a message, and does not transfer its data. */
void wfi_rx_refuse(struct wfi_hub *h, const struct wfi_msg *m);
/* Returns the completion of a received message. */
struct wfi_comp wfi_rx_comp(const struct wfi_msg *m, void *context);

/* ---- messages in ---- */

/* Each handles a message of a peer for the endpoint. Handlers check each field,
 * because the sender may have written any value into it. */
void wfi_msg_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_write_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_read_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_long_in(struct wfi_ep *ep, const struct wfi_in *in);
/* Answers a request with a result, or with errno `err` if that is not 0. */
void wfi_result(struct wfi_ep *ep, const struct wfi_in *in, int err,
		const void *data, size_t len);
/* Each handles a message of a peer for the endpoint. Checks each field, because
 * the sender may have written any value into it. */
void wfi_atomic_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_answer_in(struct wfi_ep *ep, const struct wfi_in *in);
void wfi_shutdown_in(struct wfi_ep *ep, const struct wfi_in *in);

/* ---- cm.c ---- */

/* Opens a passive endpoint. Returns 0 or negative errno. */
int wfi_passive_ep(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_pep **pep_p, void *context);
/* Uses info->handle for a new endpoint. The handle is a connection request or a
 * passive endpoint, and the endpoint owns it afterwards. Returns 0 or negative
 * errno. */
int wfi_cm_adopt(struct wfi_ep *ep, struct fid *handle);
/* Disconnects an endpoint that is being closed. */
void wfi_cm_close(struct wfi_ep *ep);
/* Disconnects endpoints from a peer that has ended. */
void wfi_cm_down(struct wfi_port *p, struct wfi_peer *peer);

#endif
