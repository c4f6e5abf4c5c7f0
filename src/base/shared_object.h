/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a shared object without loading it: loading runs its code, and the
 * loader does not survive a file that was cut off. */
#ifndef BASE_SHARED_OBJECT_H
#define BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* True when `path` is a whole 64-bit shared object that exports `symbol`;
 * otherwise `why` says what is wrong with it. */
bool shared_object_exports(const char *path, const char *symbol, char *why,
			   size_t size);

#endif
