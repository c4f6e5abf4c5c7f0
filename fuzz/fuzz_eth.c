/* SPDX-License-Identifier: Apache-2.0 */
/* Sends arbitrary Ethernet frames into a switch: forged addresses, runts,
 * giants, pauses, symbols that are not bytes. The switch must not crash. The
 * switch must deliver a good frame that the target sends last.
 *
 * Byte 0 of an input selects how the switch forwards. Each frame is coded as
 * port and kind, number of bytes, and bytes. */
#include <stdlib.h>
#include <string.h>

#include "systems/ethernet/tests/eth_feed.h"
#include "see.h"
#include "take.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORTS = 4, FRAMES = 200, GOOD = 0x600d };

enum kind { PLAIN, SHORT, SYMBOLS, PAUSE, LONG, FCS };

static struct fuzz_in in;
static struct feed d;

/* Makes a frame from one station to another and overwrites up to n bytes of the
 * frame. The input gives place and value of each byte. */
static struct weft_frame *plain(uint32_t a, uint32_t len, uint32_t n)
{
	struct weft_frame *f = feed_frame(
		&d, a & 7, a >> 4 == 15 ? UINT32_MAX : a >> 4, len, 0);
	uint8_t *p = eth_frame_data(f);

	while (n--) {
		uint32_t at = (uint32_t)take(&in, 1);

		p[at % len] = (uint8_t)take(&in, 1);
	}
	return f;
}

static struct weft_frame *short_frame(uint32_t n)
{
	struct weft_slice s = weft_slice_new(d.sim, n ? n : 1);
	uint8_t *p = weft_slice_data(s);

	for (uint32_t i = 0; i < s.len; i++)
		p[i] = (uint8_t)take(&in, 1);
	return eth_frame_slice(d.sim, s);
}

/* Makes good symbols and changes some of them. Values from 0x100 are symbols
 * that are not bytes. */
static struct weft_frame *symbols(uint32_t a, uint32_t n)
{
	struct weft_frame *f = plain(a, 64, 0);
	uint32_t len = eth_wire.encode(f, NULL, 0);

	f->raw = weft_raw_new(d.sim, len);
	eth_wire.encode(f, f->raw->sym, len);
	f->raw->n = len;
	while (n--) {
		uint32_t at = (uint32_t)take(&in, 1) % len;

		f->raw->sym[at] = (uint16_t)take(&in, 2);
	}
	return f;
}

static struct weft_frame *pause_frame(uint32_t a)
{
	uint8_t src[ETH_ADDR];

	eth_addr_of(src, a & 7);
	return eth_pause_new(d.sim, src, (uint16_t)take(&in, 1));
}

static struct weft_frame *next_frame(uint32_t kind, uint32_t n)
{
	uint32_t a = (uint32_t)take(&in, 1);
	struct weft_frame *f;

	switch (kind) {
	case SHORT:
		return short_frame(n);
	case SYMBOLS:
		return symbols(a, n);
	case PAUSE:
		return pause_frame(a);
	case LONG:
		return plain(a, 1400 + (n & 15) * 600, n >> 4);
	case FCS:
		f = plain(a, 64 + n, n & 7);
		eth_frame_given_fcs(f);
		return f;
	default:
		return plain(a, 60 + n, n & 15);
	}
}

static void good_frame_arrives(weft_time_t t)
{
	uint32_t from = d.n_got;
	bool came = false;

	feed_send(&d, 0, feed_frame(&d, 0, UINT32_MAX, 100, GOOD), t);
	weft_sim_run(d.sim, t + WEFT_SEC);
	for (uint32_t i = from; i < d.n_got; i++)
		came |= d.got[i].id == GOOD && !d.got[i].bad;
	if (!came)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const modes[][5] = {
		{ NULL },
		{ "mode", "cut", NULL },
		{ "full", "pause", NULL },
		{ "table", "4", "ageing", "1us", NULL },
	};
	weft_time_t t = WEFT_US;

	in = (struct fuzz_in){ data, data + size };
	feed_init(&d, PORTS, modes[take(&in, 1) & 3]);
	for (uint32_t i = 0; i < FRAMES && in.p < in.end; i++) {
		uint32_t a = (uint32_t)take(&in, 1);
		struct weft_frame *f =
			next_frame((a >> 2) % 6, (uint32_t)take(&in, 1));

		feed_send(&d, a % PORTS, f, t);
		t += eth_frame_time(f) + ETH_GAP * ETH_BYTE_FS;
	}
	weft_sim_run(d.sim, t + WEFT_SEC);
	good_frame_arrives(t + 2 * WEFT_SEC);
	for (uint32_t i = 0; i < d.n_got; i++) {
		const struct feed_got *g = &d.got[i];

		see_value(g->start ^ (uint64_t)g->port << 48);
		see_value((uint64_t)g->len << 32 | g->id);
		see_value((uint64_t)g->src << 32 | g->dst);
		see_value(g->bad);
	}
	feed_fini(&d);
	return 0;
}
