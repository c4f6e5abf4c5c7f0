/* SPDX-License-Identifier: Apache-2.0 */
/* Curves around the published numbers: what `weft report` draws, and which of
 * the numbers lie on them. */
#include "front/repro/repro.h"

#include <string.h>

const struct repro_curve repro_curves[] = {
	{ "forth", "forth/pingpong", NULL },
	{ "forth", "forth/one-way-sizes", NULL },
	{ "forth", "forth/load", NULL },
	{ "forth", "forth/ep-pingpong", NULL },
	{ "forth", "forth/hotspot", NULL },
	{ "extoll", "extoll/pingpong-sizes", NULL },
	{ "extoll", "extoll/pingpong-sizes", "extoll.*.width=w16" },
	{ "extoll", "extoll/rma-put-curve", "workload.count=200" },
	{ "extoll", "extoll/rma-put-curve",
	  "workload.count=200 extoll.*.width=w16" },
	{ "extoll", "extoll/net-torus", NULL },
	{ "extoll", "extoll/hop-sweep", NULL },
	{ "extoll", "extoll/ep-pingpong", NULL },
	{ "hostport", "hostport/ep-pingpong", NULL },
	{ "hvia", "hvia/latency", NULL },
	{ "hvia", "hvia/latency", "hvia.nic.mtu=9014" },
	{ "hvia", "hvia/latency", "hvia.nic.att_host=yes" },
	{ "hvia", "hvia/latency", "hvia.nic.prefetch=0" },
	{ "hvia", "hvia/rdma", NULL },
	{ "hvia", "hvia/mvia", NULL },
	{ "hvia", "hvia/tcpip", NULL },
	{ 0 },
};

const struct repro_mark repro_marks[] = {
	{ "F14", "forth/one-way-sizes", 496 },
	{ "EX-01", "extoll/pingpong-sizes", 8 },
	{ "EX-02", "extoll/pingpong-sizes", 8 },
	{ "EX-05", "extoll/rma-put-curve", 4096 },
	{ "EX-06", "extoll/rma-put-curve", 4096 },
	{ "HV-01", "hvia/latency", 4 },
	{ "HV-03", "hvia/latency", 1048576 },
	{ "HV-09", "hvia/blocking", 4 },
	{ 0 },
};

const struct repro_mark *repro_mark_of(const struct repro_row *row)
{
	for (const struct repro_mark *m = repro_marks; m->row; m++)
		if (!strcmp(m->row, row->id))
			return m;
	return NULL;
}
