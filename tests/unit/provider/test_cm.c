/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: requests sent, received, accepted and rejected in each state,
 * user data, and connections that end. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../locks.h"
#include "provider/pep.h"
#include "rig.h"

static struct rig r;
static struct fid_pep *pep;
static struct sockaddr_in where; /* address of the passive endpoint */

#define EQ(call, want) assert_int_equal(call, want)

/* Sets up both sides. Side 1 listens. */
static int setup(void **state)
{
	size_t len = sizeof(where);

	rig_up(&r, FI_EP_MSG);
	EQ(fi_passive_ep(r.s[1].fabric, r.s[1].info, &pep, &r), 0);
	EQ(fi_listen(pep), -FI_ENOEQ);
	EQ(fi_pep_bind(pep, &r.s[1].eq->fid, 0), 0);
	EQ(fi_listen(pep), 0);
	EQ(fi_getname(&pep->fid, &where, &len), 0);
	return 0;
}

static int teardown(void **state)
{
	EQ(fi_close(&pep->fid), 0);
	rig_down(&r);
	return 0;
}

static union {
	struct fi_eq_cm_entry cm;
	char room[400];
} e;

/* Takes the next event of a side, which must carry `data` bytes of user data.
 * Returns the kind of the event. */
static uint32_t event(int side, size_t data)
{
	uint32_t ev = 0;

	memset(&e, 0, sizeof(e));
	rig_settle(&r);
	EQ(fi_eq_read(r.s[side].eq, &ev, &e, sizeof(e), 0),
	   sizeof(e.cm) + data);
	return ev;
}

static void no_event(int side)
{
	uint32_t ev;

	rig_settle(&r);
	EQ(fi_eq_read(r.s[side].eq, &ev, &e, sizeof(e), 0), -FI_EAGAIN);
}

static struct fi_eq_err_entry failed(int side)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t ev;

	rig_settle(&r);
	EQ(fi_eq_read(r.s[side].eq, &ev, &e, sizeof(e), 0), -FI_EAVAIL);
	EQ(fi_eq_readerr(r.s[side].eq, &err, 0), sizeof(err));
	return err;
}

/* Opens an endpoint of side 1 that accepts the request in e. */
static void take(void)
{
	fi_close(&r.s[1].ep->fid);
	EQ(fi_endpoint(r.s[1].dom, e.cm.info, &r.s[1].ep, NULL), 0);
	fi_freeinfo(e.cm.info);
	EQ(fi_ep_bind(r.s[1].ep, &r.s[1].eq->fid, 0), 0);
	EQ(fi_ep_bind(r.s[1].ep, &r.s[1].cq->fid, FI_TRANSMIT | FI_RECV), 0);
}

static void connected(void)
{
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), 0);
	EQ(event(1, 0), FI_CONNREQ);
	take();
	EQ(fi_accept(r.s[1].ep, NULL, 0), 0);
	EQ(event(1, 0), FI_CONNECTED);
	EQ(event(0, 0), FI_CONNECTED);
}

/* ---- requesting ---- */

static void calls_in_the_wrong_state_are_refused(void **state)
{
	static char data[257];
	struct sockaddr_in other;
	size_t len = sizeof(other);

	EQ(fi_connect(r.s[0].ep, &where, data, 257), -FI_EINVAL);
	EQ(fi_connect(r.s[0].ep, NULL, NULL, 0), -FI_EINVAL);
	EQ(fi_accept(r.s[0].ep, NULL, 0), -FI_EINVAL);
	EQ(fi_shutdown(r.s[0].ep, 0), -FI_ENOTCONN);
	EQ(fi_getpeer(r.s[0].ep, &other, &len), -FI_ENOTCONN);
	EQ(fi_reject(pep, NULL, NULL, 0), -FI_EINVAL);
	EQ(fi_reject(pep, &r.s[0].ep->fid, NULL, 0), -FI_EINVAL);
	EQ(fi_pep_bind(pep, &r.s[1].cq->fid, 0), -FI_EINVAL);
	EQ(fi_pep_bind(pep, &r.s[1].eq->fid, 0), -FI_EINVAL);
	EQ(pep->cm->getpeer((struct fid_ep *)pep, &other, &len), -FI_ENOSYS);
	EQ(pep->cm->connect((struct fid_ep *)pep, &where, NULL, 0), -FI_ENOSYS);
	EQ(pep->cm->accept((struct fid_ep *)pep, NULL, 0), -FI_ENOSYS);
	EQ(pep->cm->shutdown((struct fid_ep *)pep, 0), -FI_ENOSYS);
	EQ(r.s[0].ep->cm->listen(NULL), -FI_ENOSYS);
	EQ(r.s[0].ep->cm->reject(NULL, NULL, NULL, 0), -FI_ENOSYS);
	EQ(fi_control(&pep->fid, FI_BACKLOG, NULL), 0);
	EQ(fi_control(&pep->fid, FI_ENABLE, NULL), -FI_ENOSYS);
	EQ(fi_cancel(&pep->fid, NULL), -FI_ENOSYS);
	len = 8;
	EQ(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, data,
		     &len),
	   0);
	EQ(*(size_t *)data, 256);
	EQ(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, data, &len),
	   -FI_ENOPROTOOPT);
	EQ(fi_setopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, data,
		     8),
	   -FI_ENOPROTOOPT);
	/* an endpoint without an event queue cannot be enabled */
	EQ(fi_close(&r.s[0].ep->fid), 0);
	EQ(fi_endpoint(r.s[0].dom, r.s[0].info, &r.s[0].ep, NULL), 0);
	EQ(fi_ep_bind(r.s[0].ep, &r.s[0].cq->fid, FI_TRANSMIT | FI_RECV), 0);
	EQ(fi_enable(r.s[0].ep), -FI_ENOEQ);
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), -FI_ENOEQ);
}

static void passive_endpoint_owns_the_port_it_names(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET }, out;
	struct fid_pep *same;
	size_t len = sizeof(out);

	in.sin_port = htons(600);
	EQ(fi_setname(&pep->fid, &in, sizeof(in) - 1), -FI_EINVAL);
	EQ(fi_setname(&pep->fid, &in, sizeof(in)), 0);
	EQ(fi_getname(&pep->fid, &out, &len), 0);
	EQ(ntohs(out.sin_port), 600);
	EQ(ntohl(out.sin_addr.s_addr), 0x7f010001);
	len = 3;
	EQ(fi_getname(&pep->fid, &out, &len), -FI_ETOOSMALL);
	/* an endpoint cannot take the address of another endpoint */
	free(r.s[1].info->src_addr);
	r.s[1].info->src_addr = malloc(sizeof(in));
	memcpy(r.s[1].info->src_addr, &in, sizeof(in));
	EQ(fi_passive_ep(r.s[1].fabric, r.s[1].info, &same, NULL),
	   -FI_EADDRINUSE);
	in.sin_port = htons(601);
	EQ(fi_setname(&pep->fid, &in, sizeof(in)), 0);
	EQ(fi_passive_ep(r.s[1].fabric, r.s[1].info, &same, NULL), 0);
	EQ(container_of(same, struct wfi_pep, fid)->port.num, 600);
	EQ(fi_close(&same->fid), 0);
}

/* ---- accepting ---- */

static void accepted_connection_passes_data_both_ways(void **state)
{
	struct sockaddr_in mine, his;
	struct fi_info *info;
	size_t len = sizeof(mine);
	char data[256];

	memset(data, 'd', sizeof(data));
	EQ(fi_connect(r.s[0].ep, &where, data, 256), 0);
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), -FI_EISCONN);
	EQ(fi_send(r.s[0].ep, data, 1, NULL, 0, NULL), -FI_ENOTCONN);
	EQ(event(1, 256), FI_CONNREQ);
	assert_ptr_equal(e.cm.fid, &pep->fid);
	assert_memory_equal(e.cm.data, data, 256);
	info = e.cm.info;
	EQ(info->handle->fclass, FI_CLASS_CONNREQ);
	EQ(info->dest_addrlen, sizeof(his));
	EQ(fi_getname(&r.s[0].ep->fid, &mine, &len), 0);
	assert_memory_equal(info->dest_addr, &mine, sizeof(mine));
	no_event(0);
	take();
	EQ(fi_accept(r.s[1].ep, data, 257), -FI_EINVAL);
	/* the endpoint reports the requested port */
	EQ(fi_getname(&r.s[1].ep->fid, &his, &len), 0);
	EQ(his.sin_port, where.sin_port);
	EQ(fi_accept(r.s[1].ep, "yes", 3), 0);
	EQ(fi_accept(r.s[1].ep, "yes", 3), -FI_EINVAL);
	EQ(event(1, 0), FI_CONNECTED);
	assert_ptr_equal(e.cm.fid, &r.s[1].ep->fid);
	EQ(event(0, 3), FI_CONNECTED);
	assert_ptr_equal(e.cm.fid, &r.s[0].ep->fid);
	assert_memory_equal(e.cm.data, "yes", 3);
	EQ(fi_getpeer(r.s[1].ep, &his, &len), 0);
	assert_memory_equal(&his, &mine, sizeof(mine));
	EQ(fi_getpeer(r.s[0].ep, &his, &len), 0);
	EQ(ntohs(his.sin_port), wfi_ep_of(r.s[1].ep)->port.num);
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), -FI_EISCONN);
}

static void endpoint_of_a_passive_one_takes_over_its_port(void **state)
{
	struct sockaddr_in out;
	struct fid_pep *from;
	size_t len = sizeof(out);
	uint16_t port;

	EQ(fi_passive_ep(r.s[0].fabric, r.s[0].info, &from, NULL), 0);
	port = container_of(from, struct wfi_pep, fid)->port.num;
	EQ(fi_close(&r.s[0].ep->fid), 0);
	r.s[0].info->handle = &from->fid;
	EQ(fi_endpoint(r.s[0].dom, r.s[0].info, &r.s[0].ep, NULL), 0);
	r.s[0].info->handle = NULL;
	EQ(fi_getname(&r.s[0].ep->fid, &out, &len), 0);
	EQ(ntohs(out.sin_port), port);
	EQ(container_of(from, struct wfi_pep, fid)->port.num, 0);
	EQ(fi_close(&from->fid), 0);
}

/* ---- refusing ---- */

static void rejected_connection_may_ask_again(void **state)
{
	struct fi_eq_err_entry err;

	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), 0);
	EQ(event(1, 0), FI_CONNREQ);
	EQ(fi_reject(pep, e.cm.info->handle, &r, 257), -FI_EINVAL);
	EQ(fi_reject(pep, e.cm.info->handle, "no!", 3), 0);
	fi_freeinfo(e.cm.info);
	err = failed(0);
	assert_ptr_equal(err.fid, &r.s[0].ep->fid);
	EQ(err.err, FI_ECONNREFUSED);
	EQ(err.prov_errno, FI_ECONNREFUSED);
	EQ(err.err_data_size, 3);
	assert_memory_equal(err.err_data, "no!", 3);
	no_event(0);
	connected(); /* the client may request again */
}

static void refused(void)
{
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), 0);
	EQ(failed(0).err, FI_ECONNREFUSED);
	no_event(1);
}

/* Refuses a request if no endpoint listens at the address, if the endpoint is
 * not passive, or if the data are too long. */
static void connection_to_a_closed_port_is_refused(void **state)
{
	struct wfi_pep *p = container_of(pep, struct wfi_pep, fid);
	struct {
		struct wire w;
		char data[257];
	} m = { .w = { .op = WIRE_CONNECT, .id = 9 } };

	p->port.open = false;
	refused();
	p->port.open = true;
	where.sin_port = htons((uint16_t)(ntohs(where.sin_port) + 9));
	refused();
	m.w.dst = p->port.num;
	double_forge(2, 1, &m, sizeof(m.w) + 257);
	no_event(1);
	m.w.op = WIRE_MSG;
	double_forge(2, 1, &m, sizeof(m.w));
	no_event(1);
	m.w.op = WIRE_CONNECT;
	double_forge(2, 1, &m, sizeof(m.w) + 256);
	EQ(event(1, 256), FI_CONNREQ);
	EQ(fi_close(e.cm.info->handle), 0); /* the server rejects the request */
	fi_freeinfo(e.cm.info);
}

static void forged_answers_do_not_change_a_connection(void **state)
{
	struct wfi_ep *ep = rig_ep(&r, 0);
	struct {
		struct wire w;
		char data[257];
	} m = { .w = { .op = WIRE_ACCEPT } };

	m.w.dst = ep->port.num;
	EQ(fi_enable(r.s[0].ep), 0);
	double_forge(1, 0, &m, sizeof(m.w));
	no_event(0);
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), 0);
	for (int op = WIRE_ACCEPT; op <= WIRE_REJECT; op++) {
		m.w.op = (uint8_t)op;
		m.w.id = ep->connecting->id;
		/* an answer of another process */
		double_forge(2, 0, &m, sizeof(m.w));
		no_event(0);
		double_forge(1, 0, &m, sizeof(m.w) + 257); /* too long */
		no_event(0);
		m.w.id++;
		/* an answer to another request */
		double_forge(1, 0, &m, sizeof(m.w));
		no_event(0);
	}
	EQ(ep->conn, CONN_ASKED);
	m.w.op = WIRE_SHUTDOWN;
	double_forge(1, 0, &m, sizeof(m.w));
	no_event(0);
	EQ(event(1, 0), FI_CONNREQ);
	take();
	EQ(fi_accept(r.s[1].ep, NULL, 0), 0);
	EQ(event(0, 0), FI_CONNECTED);
	/* messages and ends of other connections */
	double_forge(1, 0, &m, sizeof(m.w));
	double_forge(2, 0, &m, sizeof(m.w));
	no_event(0);
	m.w.op = WIRE_MSG;
	m.w.id = 0;
	double_forge(1, 0, &m, sizeof(m.w) + 5);
	EQ(fi_recv(r.s[0].ep, &e, 8, NULL, 0, NULL), 0);
	rig_none(&r, 0);
}

/* ---- ends ---- */

static void shutdown_ends_both_sides_once(void **state)
{
	struct sockaddr_in out;
	size_t len = sizeof(out);
	char b[8] = "message";

	connected();
	EQ(fi_recv(r.s[1].ep, &e, 8, NULL, 0, NULL), 0);
	EQ(fi_send(r.s[0].ep, b, 8, NULL, 0, NULL), 0);
	EQ(rig_next(&r, 1).len, 8);
	EQ(fi_shutdown(r.s[0].ep, 0), 0);
	EQ(fi_shutdown(r.s[0].ep, 0), 0);
	EQ(event(0, 0), FI_SHUTDOWN);
	assert_ptr_equal(e.cm.fid, &r.s[0].ep->fid);
	no_event(0);
	EQ(event(1, 0), FI_SHUTDOWN);
	no_event(1);
	EQ(fi_send(r.s[0].ep, b, 8, NULL, 0, NULL), -FI_ENOTCONN);
	EQ(fi_send(r.s[1].ep, b, 8, NULL, 0, NULL), -FI_ENOTCONN);
	EQ(fi_getpeer(r.s[1].ep, &out, &len), -FI_ENOTCONN);
	EQ(fi_shutdown(r.s[1].ep, 0), 0);
}

static void closing_an_endpoint_shuts_its_peer_down(void **state)
{
	connected();
	EQ(fi_close(&r.s[1].ep->fid), 0);
	EQ(fi_endpoint(r.s[1].dom, r.s[1].info, &r.s[1].ep, NULL), 0);
	EQ(event(0, 0), FI_SHUTDOWN);
}

static void death_of_the_peer_shuts_a_connection_down(void **state)
{
	connected();
	double_die(2); /* another one */
	no_event(0);
	double_die(1);
	EQ(event(0, 0), FI_SHUTDOWN);
	no_event(0);
	EQ(rig_ep(&r, 0)->conn, CONN_DOWN);
}

/* The peer dies after the request was sent to it. */
static void death_of_an_asked_peer_refuses_the_connection(void **state)
{
	EQ(fi_connect(r.s[0].ep, &where, NULL, 0), 0);
	double_die(1);
	EQ(failed(0).err, FI_ECONNREFUSED);
	EQ(rig_ep(&r, 0)->conn, CONN_NONE);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(calls_in_the_wrong_state_are_refused),
		T(passive_endpoint_owns_the_port_it_names),
		T(accepted_connection_passes_data_both_ways),
		T(endpoint_of_a_passive_one_takes_over_its_port),
		T(rejected_connection_may_ask_again),
		T(connection_to_a_closed_port_is_refused),
		T(forged_answers_do_not_change_a_connection),
		T(shutdown_ends_both_sides_once),
		T(closing_an_endpoint_shuts_its_peer_down),
		T(death_of_the_peer_shuts_a_connection_down),
		T(death_of_an_asked_peer_refuses_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
