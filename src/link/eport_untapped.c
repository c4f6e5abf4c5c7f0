/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for eport_slow.c, eport_rx.c and eport_train.c until these are
 * built (then this file goes): lines with faults or captures are refused. */
#include <errno.h>

#include "link/eport_int.h"

int eport_slow_start(struct eport *ep, struct weft_err *err)
{
	return weft_fail(err, ENOTSUP, "%s: faults on EXTOLL cables: not yet",
			 ep->port->name);
}

void eport_slow_fini(struct eport *ep)
{
	(void)ep;
}

bool eport_slow_can(struct eport *ep, uint32_t vc, uint64_t g)
{
	(void)ep, (void)vc, (void)g;
	return false;
}

void eport_slow_commit(struct eport *ep, const struct ecell *cell, uint32_t vc,
		       uint64_t g)
{
	(void)ep, (void)cell, (void)vc, (void)g;
}

void eport_slow_release(struct eport *ep, const struct ecell *cell,
			uint64_t cycle)
{
	(void)ep, (void)cell, (void)cycle;
}

void eport_arrive(struct eport *ep, struct weft_frame *f)
{
	(void)ep;
	weft_frame_free(f);
}

void eport_event(struct eport *ep)
{
	(void)ep;
}
