/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the VELO programs, see velo_program.h. */
#include "systems/extoll/programs/velo_program.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Converts enum velo_ret to a negative errno. */
static int velo_program_errno(int ret)
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

int velo_program_open(struct velow *v, struct weft_comp *c, const char *name,
		      uint64_t mailbox)
{
	struct velo_attr a = { .mailbox = mailbox };
	int ret;

	v->w = program_from(c);
	v->name = name;
	ret = velo_open(v->w.h, &a, &v->port);
	if (ret) {
		ret = velo_program_errno(ret);
		weft_check_failed(c, "cannot open VELO: %s", program_why(ret));
		return ret;
	}
	program_put(&v->w, name, velo_vpid(v->port));
	return 0;
}

void velo_program_close(struct velow *v)
{
	struct velo_counters k;

	program_barrier_n(&v->w, v->name, 99);
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

int velo_program_connect(struct velow *v, struct velo_connection *c,
			 uint32_t node)
{
	uint64_t vpid = program_get(&v->w, v->name, node);
	int ret = velo_connect(v->port, c, node, (uint32_t)vpid);

	if (!ret)
		return 0;
	weft_check_failed(v->w.c, "cannot connect to node %u: %s", node,
			  program_why(velo_program_errno(ret)));
	return -EINVAL;
}

void velo_program_send(struct velow *v, struct velo_connection *c,
		       uint32_t node, uint32_t len, uint64_t seq)
{
	uint8_t data[VELOW_LEN_MAX];

	program_fill(data, VELOW_LEN_MAX / 8, program_base(v->w.me, node, seq));
	if (velo_send(c, data, len, seq & 0xff, seq >> 8 & 3))
		v->bad++;
}

bool velo_program_poll(struct velow *v, struct velo_program_msg *m)
{
	uint32_t src = 0;

	if (velo_recv(v->port, m->data, &src, &m->tag, &m->mtt, &m->len))
		return false;
	m->node = VELO_SRC_NODE(src);
	return true;
}

void velo_program_check(struct velow *v, const struct velo_program_msg *m,
			uint32_t len, uint64_t seq, const uint8_t *want)
{
	if (m->len == len && m->tag == (seq & 0xff) &&
	    m->mtt == (seq >> 8 & 3) && (!want || !memcmp(m->data, want, len)))
		return;
	if (!v->bad++)
		weft_check_failed(
			v->w.c,
			"message %" PRIu64
			" of node %u: %u bytes, tag %u, MTT %u, or its contents are wrong",
			seq, m->node, m->len, m->tag, m->mtt);
}
