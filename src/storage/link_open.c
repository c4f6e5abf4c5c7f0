/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the link of a node's NIC. */
#include <errno.h>
#include <string.h>

#include "storage/link.h"

static const struct storage_native *const natives[] = {
#define STORAGE(id) &storage_native_##id,
#include "systems.def"
	NULL
};

int storage_link_open(struct weft_host *h, const char *name,
		      const struct storage_link_attr *attr,
		      struct storage_link **l_p)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	bool native = !name || !strcmp(name, "native");

	if (!d)
		return -ENODEV;
	if (!native && strcmp(name, "ep") != 0)
		return -EOPNOTSUPP;
	for (uint32_t i = 0; native && natives[i]; i++)
		if (natives[i]->probe(h, d))
			return natives[i]->open(h, attr, l_p);
	return name && native ? -EOPNOTSUPP : storage_ep_open(h, attr, l_p);
}
