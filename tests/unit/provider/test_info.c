/* SPDX-License-Identifier: Apache-2.0 */
/* fi_getinfo in all forms: offered fields one by one, requests at each limit
 * and one beyond, addresses. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define V      FI_VERSION(1, 17)
#define COMM   (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define MSGS   (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_MULTI_RECV)
#define REMOTE (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define RMAS   (FI_RMA | FI_ATOMIC | REMOTE | FI_RMA_EVENT | FI_TRIGGER)

static struct fi_info *hints;

static int setup(void **state)
{
	setenv("WEFT_SOCKET", "double", 1);
	hints = fi_allocinfo();
	return 0;
}

static int teardown(void **state)
{
	fi_freeinfo(hints);
	return 0;
}

/* Returns the number of matching kinds of endpoints. Returns 0 after
 * -FI_ENODATA. */
static int kinds(void)
{
	struct fi_info *info;
	int n = 0, rc = wfi_getinfo(V, NULL, NULL, 0, hints, &info);

	for (struct fi_info *i = info; i; i = i->next)
		n++;
	assert_int_equal(rc, n ? 0 : -FI_ENODATA);
	fi_freeinfo(info);
	return n;
}

/* ---- offers ---- */

static void is_common(const struct fi_info *i)
{
	const struct fi_tx_attr *t = i->tx_attr;
	const struct fi_rx_attr *r = i->rx_attr;
	const struct fi_ep_attr *e = i->ep_attr;

	assert_int_equal(i->addr_format, FI_SOCKADDR_IN);
	assert_int_equal(i->mode, 0);
	assert_int_equal(t->op_flags, 0);
	assert_int_equal(t->inject_size, 2048);
	assert_int_equal(t->size, 1024);
	assert_int_equal(t->iov_limit, 4);
	assert_int_equal(t->rma_iov_limit, 1);
	assert_int_equal(t->comp_order, 0);
	assert_int_equal(r->op_flags, 0);
	assert_int_equal(r->size, 1024);
	assert_int_equal(r->iov_limit, 4);
	assert_int_equal(r->total_buffered_recv, 0);
	assert_int_equal(r->msg_order, t->msg_order);
	assert_int_equal(e->protocol, (1u << 31 | 0x77656674));
	assert_int_equal(e->protocol_version, 1);
	assert_int_equal(e->max_order_raw_size, 4000);
	assert_int_equal(e->max_order_war_size, 4000);
	assert_int_equal(e->max_order_waw_size, 4000);
	assert_true(e->mem_tag_format == UINT64_MAX);
	assert_int_equal(e->tx_ctx_cnt, 1);
	assert_int_equal(e->rx_ctx_cnt, 1);
	assert_string_equal(i->fabric_attr->name, "weft");
	assert_int_equal(i->fabric_attr->prov_version, FI_VERSION(0, 1));
	assert_int_equal(i->fabric_attr->api_version, V);
}

static void is_domain(const struct fi_domain_attr *d)
{
	assert_string_equal(d->name, "weft0");
	assert_int_equal(d->threading, FI_THREAD_SAFE);
	assert_int_equal(d->control_progress, FI_PROGRESS_MANUAL);
	assert_int_equal(d->data_progress, FI_PROGRESS_MANUAL);
	assert_int_equal(d->resource_mgmt, FI_RM_ENABLED);
	assert_int_equal(d->av_type, FI_AV_UNSPEC);
	assert_int_equal(d->mr_mode, 0);
	assert_int_equal(d->mr_key_size, 8);
	assert_int_equal(d->cq_data_size, 8);
	assert_int_equal(d->cq_cnt, 1024);
	assert_int_equal(d->ep_cnt, 1024);
	assert_int_equal(d->tx_ctx_cnt, 1024);
	assert_int_equal(d->rx_ctx_cnt, 1024);
	assert_int_equal(d->max_ep_tx_ctx, 1);
	assert_int_equal(d->max_ep_rx_ctx, 1);
	assert_int_equal(d->max_ep_stx_ctx, 1024);
	assert_int_equal(d->max_ep_srx_ctx, 1024);
	assert_int_equal(d->cntr_cnt, 1024);
	assert_int_equal(d->mr_iov_limit, 4);
	assert_int_equal(d->caps, COMM);
	assert_int_equal(d->mr_cnt, 65536);
}

static void info_offers_three_kinds_of_endpoints(void **state)
{
	static const struct {
		enum fi_ep_type type;
		uint64_t caps, tx, rx;
		size_t max;
	} rows[] = {
		{ FI_EP_RDM, MSGS | RMAS | COMM | FI_SOURCE | FI_DIRECTED_RECV,
		  FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ |
			  FI_WRITE | FI_TRIGGER,
		  FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
			  FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV |
			  FI_SOURCE | FI_DIRECTED_RECV | FI_RMA_EVENT |
			  FI_TRIGGER,
		  SIZE_MAX / 2 },
		{ FI_EP_MSG, MSGS | RMAS | COMM,
		  FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ |
			  FI_WRITE | FI_TRIGGER,
		  FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV |
			  FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV |
			  FI_RMA_EVENT | FI_TRIGGER,
		  SIZE_MAX / 2 },
		{ FI_EP_DGRAM,
		  FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_SOURCE | COMM,
		  FI_MSG | FI_SEND,
		  FI_MSG | FI_RECV | FI_MULTI_RECV | FI_SOURCE, 4000 },
	};
	struct fi_info *info, *i;
	int n = 0;

	assert_int_equal(wfi_getinfo(V, NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next, n++) {
		assert_int_equal(i->ep_attr->type, rows[n].type);
		assert_true(i->caps == rows[n].caps);
		assert_true(i->tx_attr->caps == rows[n].tx);
		assert_true(i->rx_attr->caps == rows[n].rx);
		assert_int_equal(i->ep_attr->max_msg_size, rows[n].max);
		assert_int_equal(!i->tx_attr->msg_order, n == 2);
		is_common(i);
		is_domain(i->domain_attr);
	}
	assert_int_equal(n, 3);
	assert_true(info->tx_attr->msg_order ==
		    (FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR |
		     FI_ORDER_WAW | FI_ORDER_RAS | FI_ORDER_WAS |
		     FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR |
		     FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
		     FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR |
		     FI_ORDER_ATOMIC_WAW));
	fi_freeinfo(info);
	assert_null(wfi_info_base(3));
}

/* ---- limits ---- */

#define LIMIT(field, most, n)                                                  \
	do {                                                                   \
		hints->field = (most);                                         \
		assert_int_equal(kinds(), n);                                  \
		hints->field = (most) + 1;                                     \
		assert_int_equal(kinds(), 0);                                  \
		hints->field = 0;                                              \
	} while (0)

static void hint_beyond_a_limit_has_no_info(void **state)
{
	LIMIT(tx_attr->inject_size, 2048, 3);
	LIMIT(tx_attr->size, 1024, 3);
	LIMIT(tx_attr->iov_limit, 4, 3);
	LIMIT(tx_attr->rma_iov_limit, 1, 3);
	LIMIT(rx_attr->size, 1024, 3);
	LIMIT(rx_attr->iov_limit, 4, 3);
	LIMIT(ep_attr->protocol_version, 1, 3);
	LIMIT(ep_attr->max_order_raw_size, 4000, 3);
	LIMIT(ep_attr->max_order_war_size, 4000, 3);
	LIMIT(ep_attr->max_order_waw_size, 4000, 3);
	LIMIT(ep_attr->max_msg_size, SIZE_MAX / 2, 2);
	LIMIT(ep_attr->tx_ctx_cnt, 1, 3);
	LIMIT(ep_attr->rx_ctx_cnt, 1, 3);
	LIMIT(ep_attr->auth_key_size, 0, 3);
	LIMIT(domain_attr->threading, FI_THREAD_ENDPOINT, 3);
	LIMIT(domain_attr->resource_mgmt, FI_RM_ENABLED, 3);
	LIMIT(domain_attr->av_type, FI_AV_TABLE, 3);
	LIMIT(domain_attr->mr_key_size, 8, 3);
	LIMIT(domain_attr->cq_data_size, 8, 3);
	LIMIT(domain_attr->cq_cnt, 1024, 3);
	LIMIT(domain_attr->ep_cnt, 1024, 3);
	LIMIT(domain_attr->tx_ctx_cnt, 1024, 3);
	LIMIT(domain_attr->rx_ctx_cnt, 1024, 3);
	LIMIT(domain_attr->max_ep_tx_ctx, 1, 3);
	LIMIT(domain_attr->max_ep_rx_ctx, 1, 3);
	LIMIT(domain_attr->max_ep_stx_ctx, 1024, 3);
	LIMIT(domain_attr->max_ep_srx_ctx, 1024, 3);
	LIMIT(domain_attr->cntr_cnt, 1024, 3);
	LIMIT(domain_attr->mr_iov_limit, 4, 3);
	LIMIT(domain_attr->mr_cnt, 65536, 3);
	LIMIT(domain_attr->auth_key_size, 0, 3);
	LIMIT(tx_attr->comp_order, 0, 3);
	LIMIT(rx_attr->comp_order, 0, 3);
	hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_int_equal(kinds(), 3);
}

#define FITS(field, val, n)                                                    \
	do {                                                                   \
		hints->field = (val);                                          \
		assert_int_equal(kinds(), n);                                  \
		hints->field = 0;                                              \
	} while (0)

static void hint_with_an_impossible_value_has_no_info(void **state)
{
	FITS(ep_attr->type, FI_EP_RDM, 1);
	FITS(ep_attr->type, FI_EP_MSG, 1);
	FITS(ep_attr->type, FI_EP_DGRAM, 1);
	FITS(ep_attr->type, FI_EP_SOCK_STREAM, 0);
	FITS(ep_attr->protocol, 1u << 31 | 0x77656674, 3);
	FITS(ep_attr->protocol, FI_PROTO_RXM, 0);
	FITS(ep_attr->max_msg_size, 4000, 3);
	FITS(ep_attr->max_msg_size, 4001, 2);
	FITS(domain_attr->data_progress, FI_PROGRESS_AUTO, 0);
	FITS(domain_attr->control_progress, FI_PROGRESS_AUTO, 0);
	FITS(domain_attr->data_progress, FI_PROGRESS_MANUAL, 3);
	FITS(domain_attr->control_progress, FI_PROGRESS_MANUAL, 3);
	FITS(domain_attr->caps, FI_LOCAL_COMM, 3);
	FITS(domain_attr->caps, FI_SHARED_AV, 0);
	FITS(addr_format, FI_SOCKADDR, 3);
	FITS(addr_format, FI_SOCKADDR_IN, 3);
	FITS(addr_format, FI_SOCKADDR_IN6, 0);
	FITS(tx_attr->op_flags, FI_COMPLETION | FI_INJECT, 3);
	FITS(tx_attr->op_flags,
	     FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
		     FI_MATCH_COMPLETE,
	     3);
	FITS(tx_attr->op_flags, FI_COMMIT_COMPLETE, 0);
	FITS(rx_attr->op_flags, FI_COMPLETION | FI_MULTI_RECV, 3);
	FITS(rx_attr->op_flags, FI_INJECT, 0);
	FITS(tx_attr->msg_order, FI_ORDER_SAS, 2);
	FITS(rx_attr->msg_order, FI_ORDER_SAS, 2);
	FITS(tx_attr->msg_order, FI_ORDER_SAW, 0);
	FITS(rx_attr->msg_order, FI_ORDER_SAR, 0);
	FITS(tx_attr->caps, FI_TAGGED, 2);
	FITS(rx_attr->caps, FI_DIRECTED_RECV, 1);
	FITS(caps, FI_TAGGED, 2);
	FITS(caps, FI_SOURCE, 2);
	FITS(caps, FI_MSG, 3);
	FITS(caps, FI_DIRECTED_RECV, 1);
	FITS(caps, FI_MULTICAST, 0);
	hints->fabric_attr->name = strdup("weft");
	assert_int_equal(kinds(), 3);
	hints->fabric_attr->name[0] = 'x';
	assert_int_equal(kinds(), 0);
	hints->fabric_attr->name[0] = 'w';
	hints->domain_attr->name = strdup("weft0");
	assert_int_equal(kinds(), 3);
	hints->domain_attr->name[4] = '1';
	assert_int_equal(kinds(), 0);
}

/* ---- the answer ---- */

static struct fi_info *first(uint32_t version)
{
	struct fi_info *info;

	assert_int_equal(wfi_getinfo(version, NULL, NULL, 0, hints, &info), 0);
	return info;
}

static void capabilities_follow_from_those_wanted(void **state)
{
	static const struct {
		uint64_t want, got;
	} rows[] = {
		{ 0, MSGS | RMAS | COMM | FI_SOURCE | FI_DIRECTED_RECV },
		{ FI_MSG, FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | COMM },
		{ FI_TAGGED,
		  FI_TAGGED | FI_SEND | FI_RECV | FI_MULTI_RECV | COMM },
		{ FI_MSG | FI_SEND, FI_MSG | FI_SEND | FI_MULTI_RECV | COMM },
		{ FI_MSG | FI_RECV, FI_MSG | FI_RECV | FI_MULTI_RECV | COMM },
		{ FI_RMA, FI_RMA | REMOTE | FI_RMA_EVENT | FI_TRIGGER |
				  FI_MULTI_RECV | COMM },
		{ FI_ATOMIC, FI_ATOMIC | REMOTE | FI_RMA_EVENT | FI_TRIGGER |
				     FI_MULTI_RECV | COMM },
		{ FI_RMA | FI_READ, FI_RMA | FI_READ | FI_RMA_EVENT |
					    FI_TRIGGER | FI_MULTI_RECV | COMM },
		{ FI_RMA | FI_REMOTE_WRITE, FI_RMA | FI_REMOTE_WRITE |
						    FI_RMA_EVENT | FI_TRIGGER |
						    FI_MULTI_RECV | COMM },
		{ FI_MSG | FI_TRIGGER, FI_MSG | FI_SEND | FI_RECV | FI_TRIGGER |
					       FI_MULTI_RECV | COMM },
		{ FI_MSG | FI_SOURCE, FI_MSG | FI_SEND | FI_RECV | FI_SOURCE |
					      FI_MULTI_RECV | COMM },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fi_info *info;

		hints->caps = rows[i].want;
		info = first(V);
		if (info->caps != rows[i].got)
			fail_msg("row %zu: %llx", i,
				 (unsigned long long)info->caps);
		assert_false(info->tx_attr->caps & ~info->caps);
		assert_false(info->rx_attr->caps & ~info->caps);
		fi_freeinfo(info);
	}
	assert_true(wfi_caps_secondary ==
		    (FI_MULTI_RECV | FI_RMA_EVENT | FI_TRIGGER | COMM));
}

#define TAKEN(field, val)                                                      \
	do {                                                                   \
		struct fi_info *i_;                                            \
		hints->field = (val);                                          \
		i_ = first(V);                                                 \
		assert_int_equal(i_->field, val);                              \
		fi_freeinfo(i_);                                               \
	} while (0)

static void possible_hints_are_taken_over(void **state)
{
	struct fid handle;
	struct fi_info *info;

	TAKEN(tx_attr->op_flags, FI_COMPLETION);
	TAKEN(tx_attr->msg_order, FI_ORDER_SAS);
	TAKEN(tx_attr->inject_size, 100);
	TAKEN(tx_attr->size, 10);
	TAKEN(tx_attr->iov_limit, 2);
	TAKEN(tx_attr->rma_iov_limit, 1);
	TAKEN(tx_attr->tclass, 3);
	TAKEN(rx_attr->op_flags, FI_MULTI_RECV);
	TAKEN(rx_attr->msg_order, FI_ORDER_SAS);
	TAKEN(rx_attr->size, 11);
	TAKEN(rx_attr->iov_limit, 3);
	TAKEN(ep_attr->tx_ctx_cnt, FI_SHARED_CONTEXT);
	TAKEN(ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	TAKEN(ep_attr->mem_tag_format, 0xff);
	TAKEN(domain_attr->threading, FI_THREAD_DOMAIN);
	TAKEN(domain_attr->resource_mgmt, FI_RM_DISABLED);
	TAKEN(domain_attr->av_type, FI_AV_MAP);
	TAKEN(domain_attr->tclass, 4);
	hints->handle = &handle;
	info = first(V);
	assert_ptr_equal(info->handle, &handle);
	fi_freeinfo(info);
	hints->handle = NULL;
	/* hints with only some of the attributes */
	free(hints->tx_attr);
	hints->tx_attr = NULL;
	free(hints->rx_attr);
	hints->rx_attr = NULL;
	free(hints->ep_attr);
	hints->ep_attr = NULL;
	info = first(V);
	assert_int_equal(info->tx_attr->op_flags, 0);
	assert_int_equal(info->rx_attr->op_flags, 0);
	assert_int_equal(info->tx_attr->inject_size, 2048);
	assert_int_equal(info->ep_attr->tx_ctx_cnt, 1);
	assert_int_equal(info->domain_attr->av_type, FI_AV_MAP);
	fi_freeinfo(info);
}

/* The user chooses keys, and addresses of remote accesses are offsets, unless
 * the user requests FI_MR_BASIC. */
static void mr_mode_follows_version_and_hints(void **state)
{
	static const struct {
		uint32_t version;
		int want, got;
	} rows[] = {
		{ FI_VERSION(1, 17), 0, 0 },
		{ FI_VERSION(1, 17), FI_MR_BASIC, FI_MR_BASIC },
		{ FI_VERSION(1, 17), FI_MR_SCALABLE, FI_MR_SCALABLE },
		{ FI_VERSION(1, 17), FI_MR_LOCAL | FI_MR_ALLOCATED, 0 },
		{ FI_VERSION(1, 5), FI_MR_PROV_KEY, 0 },
		{ FI_VERSION(1, 4), 0, FI_MR_SCALABLE },
		{ FI_VERSION(1, 4), FI_MR_BASIC, FI_MR_BASIC },
	};
	struct fi_info *info;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hints->domain_attr->mr_mode = rows[i].want;
		info = first(rows[i].version);
		assert_int_equal(info->domain_attr->mr_mode, rows[i].got);
		assert_int_equal(info->fabric_attr->api_version,
				 rows[i].version);
		fi_freeinfo(info);
	}
}

/* ---- addresses ---- */

static void is_addr(const void *addr, size_t len, const char *ip, uint16_t port)
{
	const struct sockaddr_in *sin = addr;

	if (!ip) {
		assert_null(addr);
		return;
	}
	assert_int_equal(len, sizeof(*sin));
	assert_int_equal(sin->sin_family, AF_INET);
	assert_int_equal(sin->sin_addr.s_addr, inet_addr(ip));
	assert_int_equal(ntohs(sin->sin_port), port);
}

static void node_and_service_give_source_and_destination(void **state)
{
	static const struct {
		const char *node, *service;
		uint64_t flags;
		const char *src, *dest;
		uint16_t src_port, dest_port;
		int rc;
	} rows[] = {
		{ NULL, NULL, 0, "127.0.0.1", NULL, 0, 0, 0 },
		{ "127.0.0.3", NULL, 0, "127.0.0.1", "127.0.0.3", 0, 0, 0 },
		{ "127.2.0.1", "700", 0, "127.0.0.1", "127.2.0.1", 0, 700, 0 },
		{ "127.0.0.3", "65535", FI_SOURCE, "127.0.0.3", NULL, 65535, 0,
		  0 },
		{ NULL, "0x10", FI_SOURCE, "127.0.0.1", NULL, 16, 0, 0 },
		{ NULL, "700", 0, NULL, NULL, 0, 0, -FI_ENODATA },
		{ NULL, "65536", FI_SOURCE, NULL, NULL, 0, 0, -FI_ENODATA },
		{ NULL, "7x", FI_SOURCE, NULL, NULL, 0, 0, -FI_ENODATA },
		{ "198.51.100.1", NULL, 0, NULL, NULL, 0, 0, -FI_ENODATA },
		{ "0.0.0.0", NULL, 0, "127.0.0.1", "0.0.0.0", 0, 0, 0 },
	};
	struct fi_info *info;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(wfi_getinfo(V, rows[i].node, rows[i].service,
					     rows[i].flags, NULL, &info),
				 rows[i].rc);
		if (rows[i].rc) {
			assert_null(info);
			continue;
		}
		is_addr(info->src_addr, info->src_addrlen, rows[i].src,
			rows[i].src_port);
		is_addr(info->dest_addr, info->dest_addrlen, rows[i].dest,
			rows[i].dest_port);
		fi_freeinfo(info);
	}
}

static void hints_give_source_and_destination(void **state)
{
	struct sockaddr_in src = { .sin_family = AF_INET },
			   dest = { .sin_family = AF_INET };
	struct fi_info *info;

	src.sin_addr.s_addr = inet_addr("127.0.0.9");
	src.sin_port = htons(9);
	dest.sin_addr.s_addr = inet_addr("127.0.0.8");
	dest.sin_port = htons(8);
	hints->src_addr = malloc(sizeof(src));
	memcpy(hints->src_addr, &src, sizeof(src));
	hints->src_addrlen = sizeof(src);
	hints->dest_addr = malloc(sizeof(dest));
	memcpy(hints->dest_addr, &dest, sizeof(dest));
	hints->dest_addrlen = sizeof(dest);
	assert_int_equal(wfi_getinfo(V, NULL, NULL, 0, hints, &info), 0);
	is_addr(info->src_addr, info->src_addrlen, "127.0.0.9", 9);
	is_addr(info->dest_addr, info->dest_addrlen, "127.0.0.8", 8);
	fi_freeinfo(info);
	/* with a service, but without a node name, the destination is on this
	 * machine */
	assert_int_equal(wfi_getinfo(V, NULL, "5", 0, hints, &info), 0);
	is_addr(info->dest_addr, info->dest_addrlen, "127.0.0.1", 5);
	fi_freeinfo(info);
	hints->src_addrlen = sizeof(src) - 1;
	assert_int_equal(kinds(), 0);
	hints->src_addrlen = sizeof(src);
	((struct sockaddr_in *)hints->src_addr)->sin_family = AF_INET6;
	assert_int_equal(kinds(), 0);
	((struct sockaddr_in *)hints->src_addr)->sin_family = AF_INET;
	hints->dest_addrlen = 3;
	assert_int_equal(kinds(), 0);
}

/* Only a process of a run (WEFT_SOCKET) gets the provider. A utility provider
 * gets it only if the parameter `layer` is set. */
static void only_processes_of_a_run_have_the_provider(void **state)
{
	struct fi_info *info;

	assert_int_equal(wfi_getinfo(V, NULL, NULL, 1ull << 59, NULL, &info),
			 -FI_ENODATA);
	unsetenv("WEFT_SOCKET");
	assert_int_equal(wfi_getinfo(V, NULL, NULL, 0, NULL, &info),
			 -FI_ENODATA);
	assert_null(info);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(info_offers_three_kinds_of_endpoints),
		T(hint_beyond_a_limit_has_no_info),
		T(hint_with_an_impossible_value_has_no_info),
		T(capabilities_follow_from_those_wanted),
		T(possible_hints_are_taken_over),
		T(mr_mode_follows_version_and_hints),
		T(node_and_service_give_source_and_destination),
		T(hints_give_source_and_destination),
		T(only_processes_of_a_run_have_the_provider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
