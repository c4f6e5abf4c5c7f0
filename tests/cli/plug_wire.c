/* SPDX-License-Identifier: Apache-2.0 */
/* test.line: a source and sink on a wire that only this plug-in knows. It shows
 * that faults and captures need nothing but weft_wire.
 *
 * A frame is words of four symbols: start (control), number, payload, and the
 * sum of number and payload. */
#include "weft/sim.h"

enum { START = 0xfb, WORD = 4 };
#define WORD_FS (10 * WEFT_NS)

static uint8_t payload_byte(const struct weft_frame *f, uint32_t i)
{
	return (uint8_t)(f->u[0] * 7 + i);
}

static uint32_t line_parts(const struct weft_frame *f, uint16_t *sym,
			   uint32_t max)
{
	uint32_t n = f->words * WORD, i, sum = 0;

	for (i = 0; sym && i < n && i < max; i++) {
		uint32_t byte = i == 1 ? f->u[0] & 255 : payload_byte(f, i);
		uint32_t part = i == 1 ? WEFT_PART_HEADER : WEFT_PART_PAYLOAD;

		if (i == 0)
			byte = START | WEFT_SYM_K, part = WEFT_PART_CONTROL;
		else if (i == n - 1)
			byte = sum & 255, part = WEFT_PART_CRC;
		else
			sum += byte;
		sym[i] = (uint16_t)(byte | part << WEFT_PART_SHIFT);
	}
	return n;
}

static uint32_t line_encode(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max)
{
	uint32_t n = line_parts(f, sym, max);

	for (uint32_t i = 0; sym && i < n && i < max; i++)
		sym[i] &= (1u << WEFT_PART_SHIFT) - 1;
	return n;
}

static uint32_t line_word(const struct weft_frame *f)
{
	return WORD;
}

static uint64_t line_word_fs(const struct weft_port *p)
{
	return WORD_FS;
}

static uint8_t line_more(const struct weft_frame *f, uint8_t upper)
{
	return (uint8_t)f->words;
}

static const struct weft_wire_faults line_faults = {
	.encode_parts = line_parts,
	.targets = { [WEFT_PART_CONTROL] = 1u << WEFT_PART_CONTROL,
		     [WEFT_PART_HEADER] = 1u << WEFT_PART_HEADER,
		     [WEFT_PART_PAYLOAD] = 1u << WEFT_PART_PAYLOAD,
		     [WEFT_PART_CRC] = 1u << WEFT_PART_CRC },
	.code = WEFT_LINE_BYTES,
	.whole_words = true,
	.noise = WORD,
	.word = line_word,
	.word_fs = line_word_fs,
	.credit_part = WEFT_PARTS,
	.credit_symbols = 1,
};
static const struct weft_wire_capture line_capture = { .number = 200,
						       .more = line_more };
static const struct weft_wire line_wire = { .name = "line",
					    .encode = line_encode,
					    .faults = &line_faults,
					    .capture = &line_capture };

struct line {
	uint32_t packets, words, sent;
};

static const struct weft_param line_params[] = {
	WEFT_PARAM(U32, struct line, packets, "4", "0..1000", OWN, "to send"),
	WEFT_PARAM(U32, struct line, words, "3", "1..64", OWN, "of a packet"),
	{ 0 }
};
enum { L_SENT, L_GOOD, L_BAD, L_CODES, L_N };
static const struct weft_counter line_counters[L_N] = {
	[L_SENT] = { "sent", "packets", "packets sent" },
	[L_GOOD] = { "good", "packets", "packets with the right sum" },
	[L_BAD] = { "bad", "packets", "packets with another sum or start" },
	[L_CODES] = { "codes", "frames", "frames with invalid codes" },
};
static const struct weft_port_decl line_ports[] = {
	{ "link", WEFT_PORT_LINK, .wire = &line_wire, .doc = "to the other" },
	{ 0 }
};

static int line_start(struct weft_comp *c, struct weft_err *err)
{
	if (((struct line *)c->state)->packets)
		weft_wake(c, 0, WEFT_US);
	return 0;
}

static void line_event(struct weft_comp *c, uint32_t tag)
{
	struct line *l = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);

	f->words = l->words;
	f->word_fs = WORD_FS;
	f->u[0] = l->sent;
	weft_port_send(&c->ports[0], f, weft_now(c));
	weft_count(c, L_SENT, 1);
	if (++l->sent < l->packets)
		weft_wake(c, 0, weft_now(c) + WEFT_US);
}

/* Returns the counter to increment for a frame with these symbols. */
static uint32_t line_judge(const uint16_t *sym, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (sym[i] & WEFT_SYM_BAD)
			return L_CODES;
	for (uint32_t i = 1; i + 1 < n; i++)
		sum += sym[i] & 255;
	return n >= WORD && sym[0] == (START | WEFT_SYM_K) &&
			       (sum & 255) == (sym[n - 1] & 255u)
		       ? L_GOOD
		       : L_BAD;
}

static void line_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	weft_count(c, f->raw ? line_judge(f->raw->sym, f->raw->n) : L_GOOD, 1);
	weft_frame_free(f);
}

extern const struct weft_class weft_class_line;
WEFT_COMPONENT(line, .name = "test.line", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "packets on a wire of the plug-in", .source = "tests",
	       .state_size = sizeof(struct line), .params = line_params,
	       .counters = line_counters, .n_counters = L_N,
	       .ports = line_ports,
	       .ops = { .start = line_start,
			.event = line_event,
			.arrive = line_arrive });

/* ---- a switch whose cable ports precede its node port ---- */

static int turned_place(struct weft_comp *c, const struct weft_place *at,
			struct weft_err *err)
{
	return 0;
}

static const struct weft_port_decl turned_ports[] = {
	{ "lp%u", WEFT_PORT_LINK, "2", &line_wire, true, "cables" },
	{ "np%u", WEFT_PORT_LINK, "1", &line_wire, true, "to the node" },
	{ 0 }
};

extern const struct weft_class weft_class_turned;
WEFT_COMPONENT(turned, .name = "test.turned", .kind = WEFT_KIND_SWITCH,
	       .doc = "a switch with its ports in the wrong order",
	       .source = "tests", .state_size = 1, .ports = turned_ports,
	       .ops = { .place = turned_place });
