/* SPDX-License-Identifier: Apache-2.0 */
/* Wire format of the example, shared by its NIC and its switch. */
#ifndef EXAMPLE_OWN_H
#define EXAMPLE_OWN_H

#include "weft/sim.h"

/* Fields of a frame (weft_frame.u). */
enum { F_ADDR, F_NODE };

extern const struct weft_wire own_wire;
extern const struct weft_class weft_class_own_nic, weft_class_own_switch;

#endif
