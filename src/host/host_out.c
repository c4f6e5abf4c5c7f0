/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that act for somebody outside of the simulation (host/prog.h): they
 * wait without end, and are called when there is something to do. */
#include "host/host_priv.h"
#include "host/prog.h"

void host_deadline(struct weft_host *h, weft_time_t deadline, weft_time_t at)
{
	weft_time_t now = weft_now(h->hp->comp);

	h->deadline = deadline;
	h->kicked = false;
	if (at < WEFT_PROG_KICKED)
		host_wake(h, at > now ? at : now);
}

void weft_prog_park(struct weft_host *h)
{
	host_block(h, HOST_OUTSIDE);
}

/* Nothing but its deadline is due. */
static bool only_waits(const struct weft_host *h)
{
	if (h->deadline == WEFT_NEVER)
		return false;
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
	if (h->wait != HOST_OUTSIDE && !only_waits(h))
		return false;
	h->kicked = true;
	host_wake(h, weft_now(h->hp->comp));
	return true;
}
