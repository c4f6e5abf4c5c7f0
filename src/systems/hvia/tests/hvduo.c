/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes with HVIA-GE: see hvduo.h. */
#include "hvduo.h"

struct hvduo hvduo;

void hvduo_open_side(struct weft_host *h, uint32_t rights, uint32_t flags)
{
	uint32_t i = weft_host_node(h);

	hvrig_open(&hvduo.rig[i], h);
	hvduo.buf[i] = hvrig_mem(&hvduo.rig[i], LEN, rights, &hvduo.handle[i]);
	hvrig_vi(&hvduo.rig[i], i ? PEER : VI, i ? VI : PEER, flags);
}

/* Posts n receives of 4 KB each on the peer. */
void hvduo_peer_posts(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];

	hvduo_open_side(h, HVIA_ATT_RDMA_WRITE, hvduo.flags);
	for (uint32_t i = 0; i < b->v[0]; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_seg(d, hvduo.buf[1] + i % 16 * HVIA_PAGE, hvduo.handle[1],
			  HVIA_PAGE);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
}

/* Runs the peer: posts the receives and waits until node 0 has finished its
 * test. */
int hvduo_peer(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_peer_posts(h, b);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	return 0;
}

void hvduo_run(node_fn a, node_fn z, uint64_t posted)
{
	struct bench *b = hvrig_bench();

	hvduo.flags = HVIA_VIF_RDMA_WRITE;
	b->v[0] = posted;
	if (hvduo.param)
		bench_set(b, hvduo.of ? hvduo.of : "hvia.nic", hvduo.param,
			  hvduo.value);
	hvduo.param = hvduo.of = NULL;
	bench_prog(b, 0, a);
	bench_prog(b, 1, z);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

struct hvrig_desc *hvduo_simple(uint32_t i, uint32_t len)
{
	struct hvrig_desc *d = hvrig_desc(&hvduo.rig[0], i, 0);

	hvrig_seg(d, hvduo.buf[0], hvduo.handle[0], len);
	return d;
}

uint32_t hvduo_sent(struct hvrig_desc *d)
{
	hvrig_post(&hvduo.rig[0], VI, HVIA_Q_SEND, d);
	return hvrig_wait(&hvduo.rig[0], d);
}

enum hvia_vi_state hvduo_state_of(struct hvrig *r, uint32_t vi)
{
	return (enum hvia_vi_state)HVIA_VI_0_STATE(
		hvrig_load(r, hvia_vi_entry(vi, HVIA_VI_0)));
}

void hvduo_no_error(struct hvrig *r)
{
	assert_int_equal(hvrig_error(r), 0);
}

void hvduo_error_is(struct hvrig *r, uint32_t vi, enum hvia_error code)
{
	uint64_t e = hvrig_error(r);

	assert_true(e & HVIA_ERR_VALID);
	assert_int_equal(HVIA_ERR_VI(e), vi);
	assert_int_equal(HVIA_ERR_CODE(e), code);
}

uint32_t hvduo_try_data(uint64_t va, uint32_t handle, uint32_t len)
{
	struct hvrig_desc *d = hvrig_desc(&hvduo.rig[0], 7, 0);

	hvrig_seg(d, (void *)(uintptr_t)va, handle, len);
	return hvduo_sent(d);
}
