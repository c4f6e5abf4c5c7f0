/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a shared object without loading it, because loading runs its code, and
 * the loader crashes on a truncated file. */
#ifndef BASE_SHARED_OBJECT_H
#define BASE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `path` is a complete 64-bit shared object that exports
 * `symbol`. Otherwise writes the reason to `why`. */
bool shared_object_exports(const char *path, const char *symbol, char *why,
			   size_t size);

#endif
