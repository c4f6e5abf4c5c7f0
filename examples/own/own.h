/* SPDX-License-Identifier: Apache-2.0 */
/* What the example's NIC and switch share: their wire format. */
#ifndef EXAMPLE_OWN_H
#define EXAMPLE_OWN_H

#include "weft/sim.h"

/* Fields of a frame of ours. */
enum { F_ADDR, F_NODE };

extern const struct weft_wire own_wire;
extern const struct weft_class weft_class_own_nic, weft_class_own_switch;

#endif
