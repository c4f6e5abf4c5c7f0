/* SPDX-License-Identifier: Apache-2.0 */
/* See hvline.h. */
#include "hvline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct hvline hvline;

static void seen(struct weft_comp *c, struct weft_frame *f)
{
	struct hvline *l = &hvline;

	assert(l->n < HVLINE_FRAMES && f->payload.len <= HVLINE_BYTES);
	l->len[l->n] = f->payload.len;
	memcpy(l->data[l->n++], weft_slice_data(f->payload), f->payload.len);
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(looker, .name = "line.looker", .kind = WEFT_KIND_FAULT,
		      .doc = "keeps what passes", .ops = { .filter = seen });

static void (*joined)(struct bench *b);

static void join(struct bench *b)
{
	struct weft_err err = { 0 };

	joined(b);
	if (weft_filter_add(&b->node[0].dev->ports[1],
			    weft_sim_find(b->sim, "looker"), &err))
		abort();
}

void hvline_watch(struct bench *b)
{
	memset(&hvline, 0, sizeof(hvline));
	if (!weft_sim_add(b->sim, &weft_class_looker, "looker", NULL))
		abort();
	joined = b->join;
	b->join = join;
}

uint64_t hvline_field(uint32_t frame, uint32_t at, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = n; i--;)
		v = v << 8 | hvline.data[frame][at + i];
	return v;
}
