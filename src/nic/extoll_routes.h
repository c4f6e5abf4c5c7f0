/* SPDX-License-Identifier: Apache-2.0 */
/* For who builds a network of extoll.nic: how packets find their way. */
#ifndef NIC_EXTOLL_ROUTES_H
#define NIC_EXTOLL_ROUTES_H

#include "link/extoll_route.h"

struct weft_comp;

/* After init, before start.  r (not copied) stands for the entries of the route
 * table that nobody writes through the registers; NULL takes it away.  With
 * routing=table the crossbars find the way and the NIC only asks r whether the
 * node exists (r->nodes). */
void extoll_nic_router(struct weft_comp *nic, const struct extoll_router *r);

#endif
