/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the RMA programs, see rma_program.h. */
#include "systems/extoll/programs/rma_program.h"

#include <errno.h>
#include <stdio.h>

bool rma_program_ok(struct rmaw *v, const char *what, int ret)
{
	if (ret == RMA_SUCCESS)
		return true;
	weft_check_failed(v->w.c, "%s: %s", what, rma_strerror(ret));
	return false;
}

static void rma_program_key(const struct rmaw *v, const char *what, char *key,
			    size_t n)
{
	snprintf(key, n, "%s.%s", v->name, what);
}

int rma_program_open(struct rmaw *v, struct weft_comp *c, const char *name,
		     size_t bytes)
{
	rma_nla_t nla = 0;
	weft_phys_t phys;
	char key[48];

	v->w = program_from(c);
	v->name = name;
	v->bytes = bytes;
	if (!rma_program_ok(v, "rma_open", rma_open(v->w.h, NULL, &v->port)))
		return -EIO;
	v->buf = weft_mem_alloc(v->w.h, bytes, 4096, &phys);
	if (!v->buf ||
	    !rma_program_ok(v, "rma_register",
			    rma_register(v->port, v->buf, bytes, &v->region)))
		return -EIO;
	rma_get_nla(v->region, 0, &nla);
	rma_program_key(v, "nla", key, sizeof(key));
	program_put(&v->w, key, nla);
	rma_program_key(v, "vpid", key, sizeof(key));
	program_put(&v->w, key, rma_get_vpid(v->port));
	return 0;
}

void rma_program_close(struct rmaw *v)
{
	char key[48];

	rma_program_key(v, "end", key, sizeof(key));
	program_barrier(&v->w, key);
	rma_program_ok(v, "rma_unregister", rma_unregister(v->port, v->region));
	rma_program_ok(v, "rma_close", rma_close(v->port));
	weft_mem_free(v->w.h, v->buf);
}

int rma_program_connect(struct rmaw *v, uint32_t node,
			struct rma_program_peer *peer_p)
{
	uint64_t vpid;
	char key[48];

	rma_program_key(v, "nla", key, sizeof(key));
	peer_p->node = node;
	peer_p->nla = program_get(&v->w, key, node);
	rma_program_key(v, "vpid", key, sizeof(key));
	vpid = program_get(&v->w, key, node);
	return rma_program_ok(v, "rma_connect",
			      rma_connect(v->port, node, (uint32_t)vpid,
					  RMA_CONN_DEFAULT, &peer_p->handle))
		       ? 0
		       : -EIO;
}

bool rma_program_noti(struct rmaw *v, uint32_t unit, struct rma_noti *noti_p)
{
	struct rma_noti *n;
	bool good;

	if (!rma_program_ok(v, "rma_noti_get_block",
			    rma_noti_get_block(v->port, &n)))
		return false;
	good = n->unit == unit && !n->error;
	if (!good)
		weft_check_failed(
			v->w.c,
			"notification of unit %u, error %u, instead of one of unit %u",
			n->unit, n->error, unit);
	if (noti_p)
		*noti_p = *n;
	rma_noti_free(v->port, n);
	return good;
}
