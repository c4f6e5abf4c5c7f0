/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a client's calls of weft/host.h: memory of the node and of the
 * client, names. */
#include "attach/serve_host.h"

/* ---- memory ---- */

RAW_CALL(call_mem_alloc)
{
	weft_phys_t phys;

	if (k->io_off > c->g->raw->info.mem_bytes ||
	    !weft_mem_alloc(c->thread.h, k->io_len, k->io_off, &phys))
		return;
	r->a = 1;
	r->b = phys - c->g->raw->info.mem_base;
}

RAW_CALL(call_mem_free)
{
	void *p = raw_mem(c, k->off, 1);

	if (p)
		weft_mem_free(c->thread.h, p);
	else
		raw_refuse(c, "mem_free", "not in the node's memory");
}

RAW_CALL(call_mem_give)
{
	weft_mem_give(c->thread.h, k->off);
}

RAW_CALL(call_mem_hold)
{
	r->a = weft_mem_hold(c->thread.h, k->off, k->io_len);
}

RAW_CALL(call_mem_release)
{
	if (!weft_mem_release(c->thread.h, k->off))
		raw_refuse(c, "mem_release", "it is not held");
}

RAW_CALL(call_mem_phys)
{
	r->a = weft_far_phys(c->thread.h, c->thread.far_owner, k->off, &r->b);
}

/* Writes the addresses into rx, which is free because a raw client gets no
 * messages. */
RAW_CALL(call_mem_pin)
{
	uint64_t n = k->io_len / WEFT_PAGE;

	if (k->off % WEFT_PAGE || k->io_len % WEFT_PAGE ||
	    n > ATT_RX_SLOTS * c->view.rx_slot / sizeof(weft_phys_t))
		raw_refuse(c, "mem_pin", "no such pages");
	else
		r->a = weft_far_pin(c->thread.h, c->thread.far_owner, k->off,
				    k->io_len, (weft_phys_t *)c->view.rx);
}

RAW_CALL(call_mem_unpin)
{
	if (!weft_far_unpin(c->thread.h, c->thread.far_owner, k->off,
			    k->io_len))
		raw_refuse(c, "mem_unpin", "it is not pinned");
}

/* ---- names ---- */

RAW_CALL(call_oob)
{
	char key[ATT_HOST_KEY];

	memcpy(key, raw_data(c, k), k->n);
	key[k->n - 1] = '\0';
	if (k->kind == ATT_H_OOB_PUT)
		weft_oob_put(c->thread.h, key, k->io_off);
	else if (k->kind == ATT_H_OOB_THERE)
		r->a = weft_oob_there(c->thread.h, key);
	else
		r->a = weft_oob_get(c->thread.h, key);
}

const raw_fn raw_mem_fns[ATT_H_END] = {
	[ATT_H_MEM_ALLOC] = call_mem_alloc,
	[ATT_H_MEM_FREE] = call_mem_free,
	[ATT_H_MEM_GIVE] = call_mem_give,
	[ATT_H_MEM_HOLD] = call_mem_hold,
	[ATT_H_MEM_RELEASE] = call_mem_release,
	[ATT_H_MEM_PHYS] = call_mem_phys,
	[ATT_H_MEM_PIN] = call_mem_pin,
	[ATT_H_MEM_UNPIN] = call_mem_unpin,
	[ATT_H_OOB_PUT] = call_oob,
	[ATT_H_OOB_GET] = call_oob,
	[ATT_H_OOB_THERE] = call_oob,
};
