/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that act for a process outside the simulation (host/prog.h). Their
 * waits have no deadline. The simulator resumes such a program when its process
 * has posted work. */
#include "host/host_internal.h"
#include "host/prog.h"

void host_deadline(struct weft_host *h, weft_time_t deadline, weft_time_t at)
{
	weft_time_t now = weft_now(h->hp->comp);

	h->deadline = deadline;
	h->kicked = h->called && deadline != WEFT_NEVER;
	if (h->kicked)
		at = now;
	if (at < WEFT_PROG_KICKED)
		host_wake(h, at > now ? at : now);
}

void weft_prog_call(struct weft_host *h, bool on)
{
	h->called = on;
}

void weft_prog_park(struct weft_host *h)
{
	host_block(h, HOST_OUTSIDE);
}

bool weft_prog_rests(const struct weft_host *h)
{
	if (h->wait == HOST_OUTSIDE)
		return true;
	if (h->deadline == WEFT_NEVER)
		return false;
	/* a thread rests if only its deadline can end its wait */
	switch (h->wait) {
	case HOST_POLLS:
		return !host_poll_hit(h);
	case HOST_IRQ:
		return !h->irq_hit;
	case HOST_WORD:
		return h->word != NULL;
	default:
		return false;
	}
}

bool weft_prog_kick(struct weft_host *h)
{
	if (!weft_prog_rests(h))
		return false;
	h->kicked = true;
	host_wake(h, weft_now(h->hp->comp));
	return true;
}

struct weft_prog_node weft_prog_node(struct weft_host *h)
{
	struct host *hp = h->hp;

	return (struct weft_prog_node){ .mem = mem_at(&hp->mem, hp->mem.base,
						      0),
					.base = hp->mem.base,
					.bytes = hp->mem.bytes,
					.store = hp->p.cost_store,
					.wc = hp->p.cost_wc,
					.time = hp->p.time };
}

int weft_prog_share(struct weft_host *h)
{
	return mem_share(&h->hp->mem);
}

weft_time_t weft_prog_debt(const struct weft_host *h)
{
	return h->debt;
}

uint32_t weft_prog_stores(const struct weft_host *h)
{
	uint32_t gathered = 0;

	if (h->hp->gate_head) /* another thread holds the gate */
		return UINT32_MAX / 2;
	/* A flush of a write-combining line makes one store for each run of
	 * neighbouring dwords. */
	for (uint32_t i = 0; i < h->hp->p.wc_lines; i++)
		if (h->line[i].dev)
			gathered += (uint32_t)__builtin_popcount(
				h->line[i].mask &
				~((uint32_t)h->line[i].mask << 1));
	return (uint32_t)(h->hp->stores_in - h->hp->stores_out) + gathered;
}

void weft_prog_copy(struct weft_host *h, uint64_t n)
{
	unsigned __int128 fs =
		(unsigned __int128)n * 8 * WEFT_SEC / h->hp->p.copy_rate;

	host_pass(h, h->hp->p.copy_fixed + (weft_time_t)fs);
	weft_count(h->hp->comp, HOST_C_COPIED, n);
}
