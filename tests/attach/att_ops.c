/* SPDX-License-Identifier: Apache-2.0 */
/* All operations of the endpoint of an attached process, among any number of
 * processes: messages of all sizes, floods, remote memory, atomics.
 *
 * att_ops [ROUNDS]
 *
 * Each address has one rank. Rank i is at WEFT_ATT_ADDR(i / K, i % K), where K
 * is WEFT_PER_NODE (default 1). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/attach.h"

#define PAGE __attribute__((aligned(4096)))

enum { FLOOD = 300, BIG = 200000, RANKS_MAX = 256 };

static struct weft_att *att;
static struct weft_ep *ep;
static uint32_t me, n, per = 1;

/* flood messages received so far from each sender */
static uint32_t got[RANKS_MAX];
/* barrier messages received so far from each sender */
static uint32_t sync_in[RANKS_MAX];
static struct weft_ep_mr mr_of[RANKS_MAX];
static uint32_t n_mrs, put_in, done;
static uint64_t result;

enum { TAG_FLOOD = 1, TAG_BARRIER, TAG_MR };

static void die(const char *what, int64_t val)
{
	fprintf(stderr, "att_ops: rank %u: %s: %" PRId64 "\n", me, what, val);
	exit(1);
}

static uint32_t addr(uint32_t rank)
{
	return WEFT_ATT_ADDR(rank / per, rank % per);
}

static uint32_t rank_of(uint32_t a)
{
	return WEFT_ATT_NODE(a) * per + WEFT_ATT_SLOT(a);
}

static uint8_t byte(uint32_t from, uint32_t seq, size_t i)
{
	return (uint8_t)(from * 31 + seq * 7 + i);
}

static size_t size_of(uint32_t seq)
{
	static const size_t sizes[] = {
		0, 1, 8, 56, 57, 200, 1024, 1025, 3000
	};
	uint32_t max = weft_att_info(att)->max_msg;
	size_t s = sizes[seq % 9];

	return s < max ? s : max;
}

static void recv_one(const struct weft_ep_event *ev)
{
	uint32_t r = rank_of(ev->src), tag = (uint32_t)ev->imm >> 24;
	uint32_t seq = (uint32_t)ev->imm & 0xffffff;
	const uint8_t *d = ev->data;

	if (tag == TAG_BARRIER) {
		sync_in[r]++;
	} else if (tag == TAG_MR) {
		memcpy(&mr_of[r], d, sizeof(mr_of[r]));
		n_mrs++;
	} else {
		if (seq != got[r]++ || ev->len != size_of(seq))
			die("order or length", seq);
		for (size_t i = 0; i < ev->len; i++)
			if (d[i] != byte(r, seq, i))
				die("data of message", seq);
	}
	ep->ops->release(ep, ev);
}

static void take(void)
{
	struct weft_ep_event ev;

	while (ep->ops->poll(ep, &ev, 1))
		switch (ev.kind) {
		case WEFT_EV_RECV:
			recv_one(&ev);
			break;
		case WEFT_EV_PUT_IN:
			put_in++;
			break;
		case WEFT_EV_ERROR:
			die("error event", ev.status);
			break;
		default:
			result = ev.result;
			done++;
		}
}

static void progress(void)
{
	int ret;

	take();
	ret = weft_att_idle(att);
	if (ret && ret != -EAGAIN)
		die("idle", ret);
}

static void tell(uint32_t to, uint32_t tag, uint32_t seq, const void *d,
		 size_t len)
{
	int ret;

	while ((ret = weft_ep_send(ep, addr(to), d, len, tag << 24 | seq,
				   NULL)) == -EAGAIN)
		progress();
	if (ret)
		die("send", ret);
}

static void barrier(void)
{
	static uint32_t k;

	k++;
	for (uint32_t r = 0; r < n; r++)
		if (r != me)
			tell(r, TAG_BARRIER, 0, NULL, 0);
	for (uint32_t r = 0; r < n; r++)
		while (r != me && sync_in[r] < k)
			progress();
}

/* Each rank sends to every rank without polling. No rank may block for ever. */
static void flood(void)
{
	uint8_t buf[4096];

	for (uint32_t i = 0; i < FLOOD; i++)
		for (uint32_t r = 0; r < n; r++) {
			if (r == me)
				continue;
			for (size_t k = 0; k < size_of(i); k++)
				buf[k] = byte(me, i, k);
			tell(r, TAG_FLOOD, i, buf, size_of(i));
		}
	for (uint32_t r = 0; r < n; r++)
		while (r != me && got[r] < FLOOD)
			progress();
	memset(got, 0, sizeof(got));
}

static void retry(int ret, const char *what)
{
	if (ret != -EAGAIN)
		die(what, ret);
	progress();
}

static void wait_done(uint32_t k)
{
	while (done < k)
		progress();
}

/* Passes the word of rank 0 from rank to rank by compare-and-swap. Each rank
 * retries until the word holds the number of the rank before it, and stores its
 * own number. */
static void swaps(uint64_t off)
{
	uint32_t k = done;
	int ret;

	do {
		while ((ret = weft_ep_post(ep,
					   &(struct weft_ep_op){
						   .code = WEFT_EP_CSWAP,
						   .dst = addr(0),
						   .raddr = mr_of[0].addr + off,
						   .rkey = mr_of[0].key,
						   .operand = me - 1,
						   .desired = me,
						   .ctx = &k })))
			retry(ret, "cswap");
		wait_done(++k);
		if (result >= me)
			die("result of cswap", (int64_t)result);
	} while (result != me - 1);
}

static void remote(void)
{
	/* The arrays are aligned, because the time of an operation depends on
	 * the offset of its buffer in a page. */
	static uint8_t region[BIG + 64] PAGE, src[BIG] PAGE, back[BIG] PAGE;
	uint32_t to = (me + 1) % n, from = (me + n - 1) % n, k = done;
	struct weft_ep_mr mr;
	uint32_t in = put_in;
	int ret;

	memset(region, 0, sizeof(region));
	for (size_t i = 0; i < BIG; i++)
		src[i] = byte(me, 99, i);
	n_mrs = 0;
	barrier();
	ret = ep->ops->mr_reg(ep, region, sizeof(region), &mr);
	if (ret)
		die("mr_reg", ret);
	for (uint32_t r = 0; r < n; r++)
		if (r != me)
			tell(r, TAG_MR, 0, &mr, sizeof(mr));
	while (n_mrs < n - 1)
		progress();
	while ((ret = weft_ep_post(
			ep, &(struct weft_ep_op){ .code = WEFT_EP_PUT,
						  .dst = addr(to),
						  .buf = src,
						  .len = BIG,
						  .raddr = mr_of[to].addr,
						  .rkey = mr_of[to].key,
						  .notify = true,
						  .imm = 7,
						  .ctx = src })))
		retry(ret, "put");
	wait_done(k + 1);
	while (put_in == in)
		progress();
	for (size_t i = 0; i < BIG; i++)
		if (region[i] != byte(from, 99, i))
			die("data of put", (int64_t)i);
	barrier();
	while ((ret = weft_ep_post(
			ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
						  .dst = addr(to),
						  .into = back,
						  .len = BIG,
						  .raddr = mr_of[to].addr,
						  .rkey = mr_of[to].key,
						  .ctx = src })))
		retry(ret, "get");
	wait_done(k + 2);
	if (memcmp(back, src, BIG))
		die("data of get", 0);
	barrier();
	memset(region + BIG, 0, 64);
	barrier();
	for (uint32_t i = 0; i < 5 && me; i++) {
		while ((ret = weft_ep_post(ep,
					   &(struct weft_ep_op){
						   .code = WEFT_EP_FADD,
						   .dst = addr(0),
						   .raddr = mr_of[0].addr + BIG,
						   .rkey = mr_of[0].key,
						   .operand = 2,
						   .ctx = src })))
			retry(ret, "fadd");
		wait_done(k + 3 + i);
	}
	if (me)
		swaps(BIG + 8);
	barrier();
	if (me == 0 && *(uint64_t *)(region + BIG + 8) != n - 1)
		die("last swap", *(int64_t *)(region + BIG + 8));
	if (me == 0 && *(uint64_t *)(region + BIG) != 10 * (n - 1))
		die("sum", *(int64_t *)(region + BIG));
	barrier();
	ret = ep->ops->mr_dereg(ep, &mr);
	if (ret)
		die("mr_dereg", ret);
	barrier();
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	const char *k = getenv("WEFT_PER_NODE");
	int ret = weft_att_open(&att);

	if (ret)
		die("open", ret);
	per = k ? (uint32_t)strtoul(k, NULL, 0) : 1;
	ep = weft_att_ep(att);
	me = weft_att_info(att)->rank;
	n = weft_att_info(att)->ranks;
	mr_of[0].key = 0;
	for (uint32_t i = 0; i < rounds; i++) {
		barrier();
		flood();
		remote();
	}
	printf("rank %u: %" PRIu64 " fs\n", me, weft_att_now(att));
	weft_att_close(att);
	return 0;
}
