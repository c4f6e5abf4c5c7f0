/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the VELO programs, see velo_program.h. */
#include "systems/extoll/programs/velo_program.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* enum velo_ret as others say it. */
static int velow_errno(int ret)
{
	static const int code[] = {
		[-VELO_INV_MSG] = EMSGSIZE,
		[-VELO_ERR_FDOPEN] = ENODEV,
		[-VELO_ERR_MMAP] = ENOMEM,
		[-VELO_INVALID_MBOX] = EBUSY,
		[-VELO_INVALID_NODE] = EHOSTUNREACH,
		[-VELO_INV_MTT] = EINVAL,
	};
	bool known = -ret < (int)(sizeof(code) / sizeof(code[0]));

	return known && code[-ret] ? -code[-ret] : -EIO;
}

int velow_open(struct velow *v, struct weft_comp *c, const char *name,
	       uint64_t mailbox)
{
	struct velo_attr a = { .mailbox = mailbox };
	int ret;

	v->w = work_of(c);
	v->name = name;
	ret = velo_open(v->w.h, &a, &v->port);
	if (ret) {
		ret = velow_errno(ret);
		weft_check_failed(c, "cannot open VELO: %s", work_why(ret));
		return ret;
	}
	work_put(&v->w, name, velo_vpid(v->port));
	return 0;
}

void velow_close(struct velow *v)
{
	struct velo_counters k;

	work_barrier_n(&v->w, v->name, 99);
	velo_counters(v->port, &k);
	if (k.dropped || k.discarded)
		weft_check_failed(v->w.c,
				  "the NIC dropped %" PRIu64
				  " messages and discarded %" PRIu64,
				  k.dropped, k.discarded);
	if (v->bad)
		weft_check_failed(v->w.c, "%" PRIu64 " messages were wrong",
				  v->bad);
	velo_close(v->port);
}

int velow_connect(struct velow *v, struct velo_connection *c, uint32_t node)
{
	uint64_t vpid = work_get(&v->w, v->name, node);
	int ret = velo_connect(v->port, c, node, (uint32_t)vpid);

	if (!ret)
		return 0;
	weft_check_failed(v->w.c, "cannot connect to node %u: %s", node,
			  work_why(velow_errno(ret)));
	return -EINVAL;
}

static void velow_fill(uint8_t *p, uint32_t src, uint32_t dst, uint64_t seq)
{
	work_fill(p, VELOW_LEN_MAX / 8, work_base(src, dst, seq));
}

void velow_send(struct velow *v, struct velo_connection *c, uint32_t node,
		uint32_t len, uint64_t seq)
{
	uint8_t data[VELOW_LEN_MAX];

	velow_fill(data, v->w.me, node, seq);
	if (velo_send(c, data, len, seq & 0xff, seq >> 8 & 3))
		v->bad++;
}

bool velow_poll(struct velow *v, struct velow_msg *m)
{
	uint32_t src = 0;

	if (velo_recv(v->port, m->data, &src, &m->tag, &m->mtt, &m->len))
		return false;
	m->node = VELO_SRC_NODE(src);
	return true;
}

void velow_recv(struct velow *v, struct velow_msg *m)
{
	while (!velow_poll(v, m))
		velo_wait(v->port, WEFT_NEVER);
}

bool velow_verify(struct velow *v, const struct velow_msg *m, uint32_t len,
		  uint64_t seq)
{
	uint8_t want[VELOW_LEN_MAX];

	velow_fill(want, m->node, v->w.me, seq);
	if (m->len == len && m->tag == (seq & 0xff) &&
	    m->mtt == (seq >> 8 & 3) && !memcmp(m->data, want, len))
		return true;
	if (!v->bad++)
		weft_check_failed(
			v->w.c,
			"message %" PRIu64
			" of node %u: %u bytes, tag %u, MTT %u, or its contents are wrong",
			seq, m->node, m->len, m->tag, m->mtt);
	return false;
}

static void velow_think(struct velow *v)
{
	if (v->think)
		weft_host_cpu(v->w.h, v->think);
}

double velow_pingpong(struct velow *v, struct velo_connection *c, uint32_t node,
		      uint32_t len, uint64_t count, uint64_t seq)
{
	weft_time_t t = weft_host_now(v->w.h);
	struct velow_msg m;

	work_sent(&v->w, node);
	for (uint64_t i = 0; i < count; i++) {
		velow_think(v);
		velow_send(v, c, node, len, seq + i);
		velow_recv(v, &m);
		velow_verify(v, &m, len, seq + i);
		if (i + 1 < count)
			work_turn(&v->w, node);
	}
	t = weft_host_now(v->w.h) - t;
	work_got(&v->w, node);
	return (double)t / 2 / (double)count / WEFT_NS;
}

void velow_serve(struct velow *v, struct velo_connection *c, uint32_t node,
		 uint32_t len, uint64_t count, uint64_t seq)
{
	struct velow_msg m;

	for (uint64_t i = 0; i < count; i++) {
		velow_recv(v, &m);
		work_turn(&v->w, node);
		velow_think(v);
		velow_send(v, c, node, len, seq + i);
		velow_verify(v, &m, len, seq + i);
	}
}
