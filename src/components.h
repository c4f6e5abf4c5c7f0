/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all classes that can be instantiated (components.def). */
#ifndef WEFT_COMPONENTS_H
#define WEFT_COMPONENTS_H

#include "weft/component.h"

extern const struct weft_class *const weft_classes[]; /* ended by NULL */

#endif
