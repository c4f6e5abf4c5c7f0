/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a client's calls of weft/host.h for memory of the node and of the
 * client, and for out-of-band names. */
#include "attach/serve_host.h"

/* Writes the addresses of pinned pages into rx. rx is free, because a raw
 * client receives no messages. */
static void run_pin(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r)
{
	uint64_t n = k->io_len / WEFT_PAGE;

	if (k->off % WEFT_PAGE || k->io_len % WEFT_PAGE ||
	    n > ATT_RX_SLOTS * c->view.rx_slot / sizeof(weft_phys_t))
		raw_refuse(c, "mem_pin", "no such pages");
	else
		r->a = weft_far_pin(c->thread.h, c->thread.far_owner, k->off,
				    k->io_len, (weft_phys_t *)c->view.rx);
}

bool raw_run_mem(struct att_client *c, const struct att_host_cmd *k,
		 struct att_reply *r)
{
	struct weft_far_owner *far_owner = c->thread.far_owner;
	const struct att_seg_host *info = &c->g->raw->info;
	struct weft_host *h = c->thread.h;
	weft_phys_t phys;

	switch (k->kind) {
	case ATT_H_MEM_ALLOC:
		r->a = k->io_off <= info->mem_bytes &&
		       weft_mem_alloc(h, k->io_len, k->io_off, &phys);
		r->b = r->a ? phys - info->mem_base : 0;
		break;
	case ATT_H_MEM_FREE:
		if (raw_mem(c, k->off, 1))
			weft_mem_free(h, raw_mem(c, k->off, 1));
		else
			raw_refuse(c, "mem_free", "not in the node's memory");
		break;
	case ATT_H_MEM_GIVE:
		weft_mem_give(h, k->off);
		break;
	case ATT_H_MEM_HOLD:
		r->a = weft_mem_hold(h, k->off, k->io_len);
		break;
	case ATT_H_MEM_RELEASE:
		if (!weft_mem_release(h, k->off))
			raw_refuse(c, "mem_release", "it is not held");
		break;
	case ATT_H_MEM_PHYS:
		r->a = weft_far_phys(h, far_owner, k->off, &r->b);
		break;
	case ATT_H_MEM_PIN:
		run_pin(c, k, r);
		break;
	case ATT_H_MEM_UNPIN:
		if (!weft_far_unpin(h, far_owner, k->off, k->io_len))
			raw_refuse(c, "mem_unpin", "it is not pinned");
		break;
	default:
		return false;
	}
	return true;
}

bool raw_run_name(struct att_client *c, const struct att_host_cmd *k,
		  struct att_reply *r)
{
	char key[ATT_HOST_KEY];

	if (k->kind != ATT_H_OOB_PUT && k->kind != ATT_H_OOB_GET &&
	    k->kind != ATT_H_OOB_THERE)
		return false;
	memcpy(key, raw_data(c, k), k->n);
	key[k->n - 1] = '\0';
	if (k->kind == ATT_H_OOB_PUT)
		weft_oob_put(c->thread.h, key, k->io_off);
	else if (k->kind == ATT_H_OOB_THERE)
		r->a = weft_oob_there(c->thread.h, key);
	else
		r->a = weft_oob_get(c->thread.h, key);
	return true;
}
