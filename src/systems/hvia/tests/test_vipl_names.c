/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: addresses, names and the list of stations (hvia.md 6.1), for many more
 * nodes than the bench has. */
#include "viprig.h"

#include <stdio.h>
#include <string.h>

#include "host/host_internal.h"

enum { STATIONS = 70000, LISTED = 4 };

static VIP_RETURN by_name(VIP_NIC_HANDLE nic, const char *name,
			  union vip_addr *a, VIP_ULONG index)
{
	char text[32];

	strcpy(text, name);
	memset(a, 0, sizeof(*a));
	a->a.HostAddressLen = 99;
	return VipNSGetHostByName(nic, text, &a->a, index);
}

static void address_is(const union vip_addr *a, uint32_t node)
{
	const uint8_t want[6] = {
		2, 0, 0, 0, (uint8_t)(node >> 8), (uint8_t)node
	};

	assert_int_equal(a->a.HostAddressLen, 6);
	assert_int_equal(a->a.DiscriminatorLen, 0);
	assert_memory_equal(a->a.HostAddress, want, 6);
}

static void names(VIP_NIC_HANDLE nic)
{
	static const char *const wrong[] = { "",    "n",    "n1x",    "1",
					     "m1",  "n 1x", "n70000", "n70001",
					     "n1 ", "nn1" };
	static const uint32_t right[] = { 0, 1, 255, 256, 0x1234, 65535 };
	union vip_addr a;

	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(by_name(nic, wrong[i], &a, 0),
				 VIP_ERROR_NAMESERVICE);
	for (uint32_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		char text[16], name[16];
		VIP_ULONG len = sizeof(name);

		snprintf(text, sizeof(text), "n%u", right[i]);
		ok(by_name(nic, text, &a, 0));
		address_is(&a, right[i]);
		ok(VipNSGetHostByAddr(nic, &a.a, name, &len));
		assert_string_equal(name, text);
		assert_int_equal(len, strlen(text) + 1);
		/* a buffer of exactly the name and its zero byte, then a buffer
		 * that is one byte shorter */
		ok(VipNSGetHostByAddr(nic, &a.a, name, &len));
		len--;
		assert_int_equal(VipNSGetHostByAddr(nic, &a.a, name, &len),
				 VIP_ERROR_RESOURCE);
		assert_int_equal(len, strlen(text) + 1);
		assert_int_equal(by_name(nic, text, &a, 1),
				 VIP_ERROR_NAMESERVICE);
	}
}

static void addresses(VIP_NIC_HANDLE nic)
{
	union vip_addr a;
	char name[16];
	VIP_ULONG len = sizeof(name);
	/* an address longer than the declared field */
	VIP_UINT8 *host = a.a.HostAddress;

	ok(by_name(nic, "n300", &a, 0));
	for (uint32_t i = 0; i < 4; i++) { /* another station's */
		host[i] ^= 2;
		assert_int_equal(VipNSGetHostByAddr(nic, &a.a, name, &len),
				 VIP_ERROR_NAMESERVICE);
		host[i] ^= 2;
	}
	ok(VipNSGetHostByAddr(nic, &a.a, name, &len));
	for (uint32_t n = 5; n <= 7; n += 2) {
		a.a.HostAddressLen = (VIP_UINT16)n;
		assert_int_equal(VipNSGetHostByAddr(nic, &a.a, name, &len),
				 VIP_INVALID_PARAMETER);
	}
	a.a.HostAddressLen = 6;
	a.a.DiscriminatorLen = VIPRIG_DISC;
	ok(VipNSGetHostByAddr(nic, &a.a, name, &len));
	a.a.DiscriminatorLen = VIPRIG_DISC + 1;
	assert_int_equal(VipNSGetHostByAddr(nic, &a.a, name, &len),
			 VIP_INVALID_PARAMETER);
}

/* Checks that the list of stations is filled up to the caller's room, and that
 * it reports all `nodes` stations in any case. */
static void discovery(VIP_NIC_HANDLE nic, VIP_ULONG nodes)
{
	union vip_addr a[LISTED];
	VIP_NET_ADDRESS *at[LISTED];
	VIP_AUTODISCOVERY_LIST list = { 0, at, 0 };

	for (VIP_ULONG room = 0; room <= LISTED; room++) {
		memset(a, 0xee, sizeof(a));
		for (uint32_t i = 0; i < LISTED; i++)
			at[i] = &a[i].a;
		list.NumAdAddrs = room;
		ok(VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY,
						&list));
		assert_int_equal(list.NumAdAddrs, nodes);
		assert_int_equal(list.NumberOfHops, 1);
		for (uint32_t i = 0; i < LISTED; i++)
			if (i < room && i < nodes)
				address_is(&a[i], i);
			else
				assert_int_equal(a[i].bytes[0], 0xee);
	}
}

static int caller(struct weft_host *h, struct bench *b)
{
	union vip_addr a;
	struct side s;
	char name[16];
	VIP_ULONG len = sizeof(name);

	side_open(&s, h, b, "hvia0", 64);
	assert_int_equal(by_name(s.nic, "n1", &a, 0), VIP_ERROR_NAMESERVICE);
	ok(VipNSInit(s.nic, NULL));
	discovery(s.nic, 2);
	h->hp->shared->hosts = STATIONS;
	names(s.nic);
	addresses(s.nic);
	discovery(s.nic, STATIONS);
	ok(by_name(s.nic, "n1", &a, 0));
	h->hp->shared->hosts = 2;
	ok(VipNSShutdown(s.nic));
	assert_int_equal(by_name(s.nic, "n1", &a, 0), VIP_ERROR_NAMESERVICE);
	ok(VipNSInit(s.nic, NULL));
	ok(by_name(s.nic, "n1", &a, 0));
	ok(VipNSShutdown(s.nic));
	assert_int_equal(VipNSGetHostByAddr(s.nic, &a.a, name, &len),
			 VIP_ERROR_NAMESERVICE);
	assert_int_equal(VipNSShutdown(s.nic), VIP_ERROR_NAMESERVICE);
	side_close(&s);
	return 0;
}

static void stations_have_names_addresses_and_a_list(void **state)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, caller);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

/* ---- addresses that a connection accepts ---- */

/* Requests a connection with a deadline of 1 ms. */
static VIP_RETURN request(struct side *s, union vip_addr *local,
			  union vip_addr *remote)
{
	VIP_VI_ATTRIBUTES attr;

	return VipConnectRequest(s->vi, &local->a, &remote->a, 1, &attr);
}

static int dialler(struct weft_host *h, struct bench *b)
{
	union vip_addr me, to;
	VIP_UINT8 *mine = me.a.HostAddress, *theirs = to.a.HostAddress;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	struct side s;

	side_open(&s, h, b, "hvia0", 64);
	vip_addr(&s, 0, "here", &me);
	vip_addr(&s, 1, "there", &to);
	/* Changes one byte of the card's address at a time. The calls refuse
	 * the changed address, because it is not that of this card. */
	for (uint32_t i = 0; i < 6; i++) {
		mine[i] ^= 4;
		assert_int_equal(request(&s, &me, &to), VIP_INVALID_PARAMETER);
		assert_int_equal(
			VipConnectWait(s.nic, &me.a, 1, &to.a, &attr, &conn),
			VIP_INVALID_PARAMETER);
		mine[i] ^= 4;
	}
	theirs[0] |= 1; /* a group */
	assert_int_equal(request(&s, &me, &to), VIP_NOT_REACHABLE);
	memset(theirs, 0, 6);
	assert_int_equal(request(&s, &me, &to), VIP_NOT_REACHABLE);
	theirs[5] = 1; /* no station has this address, but it is valid */
	assert_int_equal(request(&s, &me, &to), VIP_TIMEOUT);
	assert_int_equal(request(&s, &me, &me), VIP_NOT_REACHABLE);
	to.a.HostAddressLen = 7;
	assert_int_equal(request(&s, &me, &to), VIP_INVALID_PARAMETER);
	vip_addr(&s, 1, "there", &to);
	to.a.DiscriminatorLen = VIPRIG_DISC + 1;
	assert_int_equal(request(&s, &me, &to), VIP_INVALID_PARAMETER);
	vip_addr(&s, 1, "there", &to);
	assert_int_equal(VipConnectRequest(s.vi, &me.a, &to.a, 0, &attr),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipConnectWait(s.nic, &me.a, 1, NULL, &attr, &conn),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipConnectWait(s.nic, &me.a, 1, &to.a, &attr, NULL),
			 VIP_INVALID_PARAMETER);
	assert_int_equal(VipConnectWait(s.nic, &me.a, 1, &to.a, &attr, &conn),
			 VIP_TIMEOUT);
	assert_int_equal(VipConnectPeerDone(s.vi, &attr), VIP_TIMEOUT);
	side_close(&s);
	return 0;
}

static void addresses_that_cannot_be_are_refused(void **state)
{
	struct bench *b = viprig_bench();

	bench_prog(b, 0, dialler);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stations_have_names_addresses_and_a_list),
		cmocka_unit_test(addresses_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
