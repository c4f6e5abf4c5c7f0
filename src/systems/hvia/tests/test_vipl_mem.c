/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL and its agent: compaction under traffic, regions in use, processes that
 * end, access to pages of other processes, all VIs of a card (hvia.md T-21,
 * T-32, T-34, T-36, T-37). */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "systems/hvia/lib/agent.h"
#include "systems/hvia/lib/vipl_internal.h"

static void *pages(size_t n)
{
	return mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* ---- T-32: fragmented level 2, then a large region ---- */

enum { PIECES = 40, PIECE = 64 }; /* pages */

static struct hvia_agent *agent_of(struct side *s)
{
	return vipl_nic(s->nic)->client->agent;
}

/* Replaces the agent's allocator by one whose table has only `left` bytes. All
 * regions keep their handles and their blocks of level 2. */
static void squeeze(struct side *s, uint32_t left)
{
	struct hvia_agent *a = agent_of(s);
	struct hvia_att att;

	hvia_att_init(&att, left);
	for (uint32_t i = 0; i < a->att.region.n; i++) {
		uint32_t h;

		assert_int_equal(
			hvia_att_take(&att, a->att.region.at[i].pages, &h), 0);
		assert_int_equal(h, i);
		assert_int_equal(att.region.at[h].l2, a->att.region.at[h].l2);
	}
	hvia_att_fini(&a->att);
	a->att = att;
}

static int pieces(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_MEM_HANDLE m[PIECES], big;
	uint8_t *p = pages(PIECES * PIECE), *large = pages(PIECES * PIECE / 2);
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_connect(&s);
	squeeze(&s, 24 * 64 + 4 * (PIECES * PIECE + 600));
	for (uint32_t i = 0; i < PIECES; i++)
		ok(VipRegisterMem(s.nic, p + i * PIECE * 4096, PIECE * 4096,
				  &s.mem_attr, &m[i]));
	for (uint32_t i = 0; i < PIECES; i += 2)
		ok(VipDeregisterMem(s.nic, p + i * PIECE * 4096, m[i]));
	assert_int_equal(agent_of(&s)->compactions, 0);
	meet(&s, "go");
	ok(VipRegisterMem(s.nic, large, PIECES * PIECE / 2 * 4096, &s.mem_attr,
			  &big));
	assert_int_equal(agent_of(&s)->compactions, 1);
	/* old handles still translate to their pages */
	for (uint32_t i = 1; i < PIECES; i += 2) {
		uint8_t *at = p + i * PIECE * 4096 + 4000;

		fill(at, 300, i);
		d = side_desc(&s, 0, 0, 300);
		d->DS[0].Local.Data.Address = at;
		d->DS[0].Local.Handle = m[i];
		side_send(&s, d);
		assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
		assert_int_equal(side_received(&s, NULL) & VIP_STATUS_DONE, 0);
	}
	d = side_desc(&s, 0, 0, 40000);
	d->DS[0].Local.Data.Address = large + 123456;
	d->DS[0].Local.Handle = big;
	fill(large + 123456, 40000, 77);
	side_send(&s, d);
	assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
	/* refused, because the region needs more entries than are free */
	assert_int_equal(VipRegisterMem(s.nic, p, PIECES * PIECE * 4096,
					&s.mem_attr, &m[0]),
			 VIP_ERROR_RESOURCE);
	meet(&s, "end");
	munmap(p, PIECES * PIECE * 4096);
	weft_host_exit(h, 0);
}

/* Receives messages that node 1 sends after it has compacted its table. No
 * message may be lost. */
static int meanwhile(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 1 << 16);
	for (uint32_t i = 0; i < 40; i++)
		side_recv(&s, side_desc(&s, i, i * 300, i < 20 ? 300 : 50000));
	side_connect(&s);
	meet(&s, "go");
	for (uint32_t i = 1; i < PIECES; i += 2) {
		assert_int_equal(side_received(&s, &d),
				 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
		assert_true(filled(d->DS[0].Local.Data.Address, 300, i));
	}
	assert_true(side_received(&s, &d) & VIP_STATUS_DONE);
	assert_int_equal(d->CS.Length, 40000);
	assert_true(filled(d->DS[0].Local.Data.Address, 40000, 77));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-32 */
static void test_compaction_under_traffic_loses_no_message(void **state)
{
	viprig_run(*state, meanwhile, pieces);
}

/* ---- T-34: a region that a send uses ---- */

static int takes_away(struct weft_host *h, struct bench *b)
{
	struct side s;
	uint8_t *p = pages(64);
	VIP_MEM_HANDLE m;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	meet(&s, "go");
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t st;

		ok(VipRegisterMem(s.nic, p, 64 * 4096, &s.mem_attr, &m));
		fill(p, 64 * 4096, i);
		d = side_desc(&s, 0, 0, 60000);
		d->DS[0].Local.Data.Address = p + 100;
		d->DS[0].Local.Handle = m;
		side_send(&s, d);
		weft_host_sleep(h, weft_host_now(h) + i * 30 * WEFT_US);
		ok(VipDeregisterMem(s.nic, p, m));
		/* the card does not read the pages any more */
		memset(p, 0xee, 64 * 4096);
		st = side_sent(&s, NULL);
		assert_true(
			st == VIP_STATUS_DONE ||
			st == (VIP_STATUS_DONE | VIP_STATUS_PROTECTION_ERROR));
		b->v[st == VIP_STATUS_DONE]++;
		weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	}
	meet(&s, "end");
	munmap(p, 64 * 4096);
	side_close(&s);
	return 0;
}

/* A sender deregisters pages and then writes other bytes into them. Checks that
 * no received message contains these bytes. Counts the complete messages. */
static int checks(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	uint32_t whole = 0, k = 0;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_recv(&s, side_desc(&s, 0, 0, 60000));
	side_connect(&s);
	meet(&s, "go");
	while (VipRecvWait(s.vi, 4, &d) != VIP_TIMEOUT) {
		uint32_t st = d->CS.Status;

		for (uint32_t i = 0; i + 8 < d->CS.Length; i++)
			assert_false(!memcmp(s.data + i,
					     "\xee\xee\xee\xee\xee"
					     "\xee\xee\xee",
					     8));
		whole += !(st & VIP_STATUS_ERROR_MASK);
		memset(s.data, 0, 60000);
		side_recv(&s, side_desc(&s, 1 + k++ % 40, 0, 60000));
	}
	b->v[2] = whole;
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-34 */
static void test_in_use(void **state)
{
	struct bench *b = *state;

	viprig_run(b, checks, takes_away);
	assert_true(b->v[0] && b->v[1]); /* both outcomes have occurred */
	assert_true(b->v[2] >= b->v[1]);
}

/* ---- T-36, T-37: processes ---- */

static int dies(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_connect(&s);
	for (uint32_t i = 0; i < 10; i++)
		side_send(&s, side_desc(&s, i, 0, 60000));
	side_recv(&s, side_desc(&s, 20, 0, 100));
	b->p = agent_of(&s);
	weft_host_exit(h, 0);
}

static int survives(struct weft_host *h, struct bench *b)
{
	struct side s;
	const struct hvia_agent *a;

	side_open(&s, h, b, "hvia0", 1 << 16);
	side_handler(&s);
	for (uint32_t i = 0; i < 8; i++)
		side_recv(&s, side_desc(&s, i, 0, 60000));
	side_connect(&s);
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	/* the agent has freed everything that the process had */
	a = b->p;
	assert_int_equal(a->att.live, 0);
	assert_null(a->clients);
	for (uint32_t i = 0; i < HVIA_VIS; i++)
		assert_null(a->vi[i].proc);
	for (uint32_t i = 0; i < HVIA_PTAGS; i++)
		assert_null(a->ptag[i]);
	side_close(&s);
	return 0;
}

/* T-36 */
static void test_peer_survives_the_death_of_a_process(void **state)
{
	viprig_run(*state, survives, dies);
}

static int stranger(struct weft_host *h, struct bench *b)
{
	struct side s;
	struct weft_io io;
	struct vipl_vi *v;
	uint64_t faults = bench_counter(b->node[0].host, "page_faults");

	side_open(&s, h, b, "hvia0", 4096);
	v = vipl_vi(s.vi);
	io = v->k->page;
	/* accesses the page after the VI's page, then the page of a VI that was
	 * destroyed */
	io.off += 4096;
	weft_io_store64(h, &io, HVIA_DB_SEND, hvia_token(s.handle, 0));
	assert_int_equal(bench_counter(b->node[0].host, "page_faults"),
			 faults + 1);
	io = v->k->page;
	ok(VipDestroyVi(s.vi));
	weft_io_store64(h, &io, HVIA_DB_SEND, hvia_token(s.handle, 0));
	assert_int_equal(bench_counter(b->node[0].host, "page_faults"),
			 faults + 2);
	side_vi(&s, &s.vi);
	side_close(&s);
	return 0;
}

/* T-36, T-37: pages of doorbells. */
static void test_doorbell_pages_are_mapped_for_their_owner_only(void **state)
{
	viprig_run(*state, stranger, NULL);
}

/* The memory has one tag and the VI another, so that a forged token is
 * refused. */
static int forger(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_PROTECTION_HANDLE other;
	VIP_MEM_ATTRIBUTES a = { 0 };
	VIP_MEM_HANDLE m;

	side_open(&s, h, b, "hvia0", 4096);
	side_handler(&s);
	ok(VipCreatePtag(s.nic, &other));
	a.Ptag = other;
	ok(VipRegisterMem(s.nic, s.desc, 4096, &a, &m));
	side_connect(&s);
	ok(VipPostSend(s.vi, side_desc(&s, 0, 0, 8), m));
	side_errors(&s, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_POST_DESC);
	meet(&s, "end");
	ok(VipDeregisterMem(s.nic, s.desc, m));
	ok(VipDestroyPtag(s.nic, other));
	side_close(&s);
	return 0;
}

static int victim(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	side_connect(&s);
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-37 */
static void test_forged_token_changes_no_other_vi(void **state)
{
	viprig_run(*state, victim, forger);
}

/* ---- all VIs of a card ---- */

/* number of VIs in addition to the one that every side has */
enum { ALL = 1023 };

static void number(char *to, uint32_t i)
{
	for (uint32_t k = 0; k < 3; k++)
		to[k] = (char)('a' + (i >> 4 * k & 15));
	to[3] = 0;
}

static int all_vis(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_VI_HANDLE *vi = calloc(ALL, sizeof(*vi)), more;
	bool ping = weft_host_node(h) == 1;
	char name[4];
	VIP_DESCRIPTOR *d, *desc;
	VIP_MEM_HANDLE m;
	uint32_t *word;

	side_open(&s, h, b, "hvia0", 4096);
	desc = pages(64);
	word = (uint32_t *)(desc + 2 * ALL);
	ok(VipRegisterMem(s.nic, desc, 64 * 4096, &s.mem_attr, &m));
	for (uint32_t i = 0; i < ALL; i++) {
		side_vi(&s, &vi[i]);
		d = &desc[i];
		d->CS.SegCount = 1;
		d->DS[0].Local.Data.Address = &word[i];
		d->DS[0].Local.Handle = m;
		d->DS[0].Local.Length = 4;
		if (!ping)
			ok(VipPostRecv(vi[i], d, m));
		number(name, i);
		if (ping)
			side_request(&s, vi[i], 0, name);
		else
			side_wait(&s, vi[i], name);
	}
	assert_int_equal(VipCreateVi(s.nic, &s.attr, NULL, NULL, &more),
			 VIP_ERROR_RESOURCE);
	meet(&s, "go");
	for (uint32_t i = 0; i < ALL; i++) {
		uint32_t k = i * 331 % ALL;

		if (ping) { /* all VIs send at once */
			word[k] = k * 7 + 1;
			desc[k].CS.Length = 4;
			ok(VipPostSend(vi[k], &desc[k], m));
		} else {
			ok(VipRecvWait(vi[k], 1000, &d));
			assert_int_equal(word[k], k * 7 + 1);
		}
	}
	for (uint32_t i = 0; ping && i < ALL; i++)
		ok(VipSendWait(vi[i], 1000, &d));
	meet(&s, "end");
	free(vi);
	weft_host_exit(h, 0);
}

/* T-21 over VIPL */
static void test_all_vis(void **state)
{
	viprig_run(*state, all_vis, all_vis);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_compaction_under_traffic_loses_no_message),
		T(test_in_use),
		T(test_peer_survives_the_death_of_a_process),
		T(test_doorbell_pages_are_mapped_for_their_owner_only),
		T(test_forged_token_changes_no_other_vi),
		T(test_all_vis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
