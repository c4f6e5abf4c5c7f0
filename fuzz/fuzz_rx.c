/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds line symbols to the receiver of a FORTH link, in both layouts and in
 * bundles. The receiver does not crash. After any noise and a pause a good
 * packet must arrive.
 *
 * Byte 0 of an input selects layout and links. Frames follow. Each frame is
 * coded as a byte n and then n + 1 bytes: FF is SOP, FE is a comma, FD x is the
 * invalid code x, all other bytes are data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "see.h"
#include "systems/forth/tests/scripted_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rig {
	struct weft_sim *sim;
	struct weft_comp *comp[2];
	struct node *n;
	uint64_t cycle;
};

static void must(int ret)
{
	if (ret)
		abort();
}

static void build(struct rig *r, uint8_t mode)
{
	static const char *const links[] = { "1", "2", "4", "1" };
	struct weft_err err = { 0 };
	uint32_t i;

	r->sim = weft_sim_new(1);
	for (i = 0; i < 2; i++) {
		struct weft_comp *c = weft_sim_add(r->sim, &test_node_class,
						   i ? "b" : "a", &err);

		must(weft_param_set(c, "links", links[mode & 3], &err));
		must(weft_param_set(c, "min_payload", mode & 4 ? "24" : "0",
				    &err));
		must(weft_param_set(c, "frame",
				    (mode & 3) == 3 ? "packed" : "word", &err));
		must(weft_comp_init(c, &err));
		r->comp[i] = c;
		node_script(c->state, NULL, 0);
	}
	r->n = r->comp[1]->state;
	for (i = 0; i < r->n->links; i++)
		must(weft_connect(&r->comp[0]->ports[i], &r->comp[1]->ports[i],
				  NULL, 24 * 12800000ull, &err));
	must(weft_sim_start(r->sim, &err));
}

static struct weft_frame *frame_new(struct rig *r)
{
	struct weft_frame *f = weft_frame_new(r->sim);

	f->flags = FORTH_F_CREDITS | FORTH_F_PACKET;
	f->word_fs = 12800000;
	f->time = r->cycle * f->word_fs;
	weft_sim_run(r->sim, f->time);
	return f;
}

static uint32_t symbols(const uint8_t *data, size_t size, uint16_t *sym)
{
	uint32_t n = 0;

	for (size_t i = 0; i < size; i++)
		switch (data[i]) {
		case 0xFF:
			sym[n++] = FORTH_SOP;
			break;
		case 0xFE:
			sym[n++] = FORTH_COMMA;
			break;
		case 0xFD:
			sym[n++] =
				WEFT_SYM_BAD | (i + 1 < size ? data[++i] : 0);
			break;
		default:
			sym[n++] = data[i];
		}
	return n;
}

static void show(const struct node *n)
{
	see_value(n->received);
	see_value(n->errors);
	see_value(n->bad);
	see_value(n->last_header);
	see(n->last_data, n->last_len < sizeof(n->last_data) ? n->last_len : 0);
}

/* Gives each link of a bundle an equal part of the bytes, so that each link
 * gets noise. */
static void noise(struct rig *r, const uint8_t *data, size_t size, uint16_t seq)
{
	uint32_t links = r->n->links, j;
	size_t part = size / links;

	for (j = 0; j < links; j++) {
		struct weft_frame *f = frame_new(r);
		struct forth_shape s = { .links = (uint8_t)links,
					 .line = (uint8_t)j,
					 .seq = seq };

		f->raw = weft_raw_new(r->sim, (uint32_t)part);
		f->raw->n = symbols(data + j * part, part, f->raw->sym);
		f->words = f->raw->n / 4 + 1;
		if (links > 1)
			f->flags |= FORTH_F_LINE;
		forth_shape_set(f, s);
		forth_port_arrive(&r->n->link, j, f);
	}
	show(r->n);
	r->cycle += part / 4 + 1;
}

static void good(struct rig *r)
{
	struct weft_frame *f = frame_new(r);
	struct forth_shape s = { .layout = (uint8_t)r->n->link.cfg.layout,
				 .links = (uint8_t)r->n->links,
				 .wire_len = (uint16_t)forth_port_wire_len(
					 &r->n->link, 3) };
	uint32_t before = r->n->received;

	f->u[FORTH_U_HEADER] = forth_header(0, 0, 3, 0);
	f->payload = weft_slice_new(r->sim, 24);
	memset(weft_slice_data(f->payload), 1, 24);
	f->words = forth_port_words(&r->n->link, 3);
	forth_shape_set(f, s);
	forth_port_arrive(&r->n->link, 0, f);
	if (r->n->received != before + 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig r = { .cycle = 100 };
	uint16_t seq = 0;
	size_t at = 1;

	if (!size || size > 4096)
		return 0;
	build(&r, data[0]);
	while (at < size && seq < 60) {
		size_t n = data[at++] + 1u;

		n = n < size - at ? n : size - at;
		noise(&r, data + at, n, seq++);
		at += n;
	}
	r.cycle += 20; /* The links need 16 comma words to be in sync again. */
	good(&r);
	weft_sim_free(r.sim);
	return 0;
}
