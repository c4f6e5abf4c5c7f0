/* SPDX-License-Identifier: Apache-2.0 */
/* Turns components.def and the lists of the systems into an array. */
#include "components.h"

#define X(id)	  extern const struct weft_class weft_class_##id;
#define CLASS(id) X(id)
#include "components.def"
#include "systems.def"
#undef X

const struct weft_class *const weft_classes[] = {
#define X(id)	  &weft_class_##id,
#define CLASS(id) X(id)
#include "components.def"
#include "systems.def"
#undef X
	NULL
};
