/* SPDX-License-Identifier: Apache-2.0 */
/* Entry of the provider for libfabric, which finds libweft-fi.so by
 * FI_PROVIDER_PATH. See docs/libfabric.md. */
#include "provider/obj.h"

struct fi_provider wfi_prov = {
	.name = "weft",
	.version = FI_VERSION(0, 1),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.getinfo = wfi_getinfo,
	.fabric = wfi_fabric,
};

FI_EXT_INI;

FI_EXT_INI
{
	fi_param_define(
		&wfi_prov, "layer", FI_PARAM_BOOL,
		"Let utility providers (ofi_rxm, ofi_rxd) use this one (default: no)");
	return &wfi_prov;
}
