/* SPDX-License-Identifier: Apache-2.0 */
/* See capture.h.  A capture is a filter behind all others on what leaves a port
 * (so a line with faults shows what came through) that writes the line symbols
 * of each transmission down and hands it on.  Nothing else changes: a line that
 * is listened to behaves as one that is not.
 *
 * Ethernet: destination to FCS.  Others: struct head, the symbols, a bit for
 * each that says "control", and, when flagged, another that says "no valid
 * code". */
#include "front/run/capture.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "front/out/pcapng.h"
#include "link/eth_wire.h"
#include "link/extoll_frame.h"
#include "link/forth_wire.h"

enum { HEAD_VERSION = 2, HEAD_DAMAGED = 1, HEAD_BAD = 2 };

/* In front of the symbols; little-endian. */
struct head {
	uint8_t version, wire, flags, more;
	uint32_t symbols;
	uint32_t words;
	uint32_t word_ps;
	uint32_t line; /* that of the other direction: ^ 1 */
};
_Static_assert(sizeof(struct head) == 20, "as docs/captures.md says");

struct capture;

static uint8_t forth_more(const struct capture *c, const struct weft_frame *f);
static uint8_t ex_more(const struct capture *c, const struct weft_frame *f);

static const struct {
	const char *name; /* struct weft_wire */
	uint8_t number;	  /* 0: as Ethernet */
	/* What a reader needs to know and the symbols do not say. */
	uint8_t (*more)(const struct capture *c, const struct weft_frame *f);
} wires[] = { { "forth", 1, forth_more },
	      { "extoll", 2, ex_more },
	      { "atoll", 3, NULL },
	      { "ethernet", 0, NULL } };
#define N_WIRES (sizeof(wires) / sizeof(wires[0]))

/* What speaks above a line, by class of NIC. */
static const struct {
	const char *nic;
	uint8_t number;
} uppers[] = { { "extoll.nic", 1 }, { "hostport.nic", 2 } };

struct capture {
	struct pcapng *file;
	const char *const *patterns;
	size_t n_patterns;
	uint64_t *hits;	  /* lines, by pattern */
	char example[96]; /* end of a line */
	uint8_t upper;
	uint16_t *sym;
	uint32_t cap;
};

struct tap {
	struct capture *cap;
	uint32_t iface;
	uint8_t wire; /* index into wires[] */
};

/* ---- records ---- */

enum { MORE_TABLE = 0x10, MORE_WIDE = 0x20 }; /* EXTOLL */

static uint8_t forth_more(const struct capture *c, const struct weft_frame *f)
{
	struct forth_shape s = forth_shape_get(f);
	uint32_t links = s.links ? (uint32_t)__builtin_ctz(s.links) : 0;

	return (uint8_t)(s.layout | links << 1 | (uint32_t)s.lane << 3);
}

static uint8_t ex_more(const struct capture *c, const struct weft_frame *f)
{
	const struct ex_line *l = (const struct ex_line *)&f->u[0];
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	bool table = f->flags & EX_F_CELL && !m->hops;

	return (uint8_t)(c->upper | (table ? MORE_TABLE : 0) |
			 (l->width == EX_W32 ? MORE_WIDE : 0));
}

/* Line symbols of f, in cap->sym or where a fault has left them. */
static const uint16_t *symbols(struct capture *cap, const struct weft_port *p,
			       const struct weft_frame *f, uint32_t *n_p)
{
	uint32_t n;

	if (f->raw) {
		*n_p = f->raw->n;
		return f->raw->sym;
	}
	while ((n = p->decl->wire->encode(f, cap->sym, cap->cap)) > cap->cap) {
		cap->cap = n;
		free(cap->sym);
		cap->sym = calloc(n, sizeof(*cap->sym));
		if (!cap->sym)
			abort();
	}
	*n_p = n;
	return cap->sym;
}

static uint32_t bitmap(uint8_t *out, const uint16_t *sym, uint32_t n,
		       uint32_t flag)
{
	uint32_t bytes = (n + 7) / 8, i;

	for (i = 0; i + 8 <= n; i += 8) {
		uint32_t b = 0;

		for (uint32_t k = 0; k < 8; k++)
			b |= (uint32_t) !!(sym[i + k] & flag) << k;
		out[i / 8] = (uint8_t)b;
	}
	if (i < n)
		out[i / 8] = 0;
	for (; i < n; i++)
		out[i / 8] |= (uint8_t)(!!(sym[i] & flag) << i % 8);
	return bytes;
}

static bool any(const uint16_t *sym, uint32_t n, uint32_t flag)
{
	for (uint32_t i = 0; i < n; i++)
		if (sym[i] & flag)
			return true;
	return false;
}

static void put_ethernet(struct tap *t, const struct weft_frame *f,
			 const uint16_t *sym, uint32_t n, weft_time_t at,
			 weft_time_t now)
{
	uint32_t skip = n < ETH_PREAMBLE ? n : ETH_PREAMBLE;
	uint8_t *out = pcapng_record(t->cap->file, t->iface,
				     at + skip * f->word_fs, n - skip, now);

	for (uint32_t i = skip; i < n; i++)
		*out++ = (uint8_t)sym[i];
}

static void put_symbols(struct tap *t, const struct weft_frame *f,
			const uint16_t *sym, uint32_t n, weft_time_t at,
			weft_time_t now)
{
	bool bad = f->raw && any(sym, n, WEFT_SYM_BAD);
	struct head h = {
		.version = HEAD_VERSION,
		.wire = wires[t->wire].number,
		.flags = (uint8_t)((f->raw ? HEAD_DAMAGED : 0) |
				   (bad ? HEAD_BAD : 0)),
		.more = wires[t->wire].more ? wires[t->wire].more(t->cap, f)
					    : 0,
		.symbols = n,
		.words = f->words,
		.word_ps = (uint32_t)(f->word_fs / 1000),
		.line = t->iface,
	};
	uint32_t len = (uint32_t)sizeof(h) + n + (n + 7) / 8 * (1u + bad);
	uint8_t *out = pcapng_record(t->cap->file, t->iface, at, len, now);

	memcpy(out, &h, sizeof(h));
	out += sizeof(h);
	for (uint32_t i = 0; i < n; i++)
		*out++ = (uint8_t)sym[i];
	out += bitmap(out, sym, n, WEFT_SYM_K);
	if (bad)
		bitmap(out, sym, n, WEFT_SYM_BAD);
}

static void tap_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;
	weft_time_t at = f->time - c->on->delay;
	uint32_t n;
	const uint16_t *sym = symbols(t->cap, c->on, f, &n);

	if (n && wires[t->wire].number)
		put_symbols(t, f, sym, n, at, weft_now(c));
	else if (n)
		put_ethernet(t, f, sym, n, at, weft_now(c));
	weft_filter_pass(c, f);
}

WEFT_COMPONENT(capture, .name = "capture", .kind = WEFT_KIND_FAULT,
	       .doc = "writes down what passes", .source = "own",
	       .state_size = sizeof(struct tap),
	       .ops = { .filter = tap_filter });

/* ---- sitting down ---- */

static void port_name(char *buf, size_t size, const struct weft_port *p)
{
	snprintf(buf, size, "%s.%s", p->comp->name, p->name);
}

static bool matches(struct capture *cap, const char *a, const char *b)
{
	bool hit = false;

	for (size_t i = 0; i < cap->n_patterns; i++) {
		const char *pat = cap->patterns[i];

		if (strcmp(pat, "all") && fnmatch(pat, a, 0) &&
		    fnmatch(pat, b, 0))
			continue;
		cap->hits[i]++;
		hit = true;
	}
	return hit;
}

/* Index into wires[], N_WIRES: none that can be written down. */
static size_t wire_of(const struct weft_port *p)
{
	size_t i = 0;

	if (p->kind != WEFT_PORT_LINK || !p->peer || !p->decl->wire)
		return N_WIRES;
	while (i < N_WIRES && strcmp(wires[i].name, p->decl->wire->name))
		i++;
	return i;
}

static int port_tap(struct capture *cap, struct weft_port *p, size_t wire,
		    const char *name, struct weft_err *err)
{
	char full[200];
	struct weft_comp *c;
	struct tap *t;
	bool ethernet = !wires[wire].number;

	snprintf(full, sizeof(full), "~capture.%s.%s", p->comp->name, p->name);
	c = weft_sim_add(p->comp->sim, &weft_class_capture, full, err);
	if (!c || weft_comp_init(c, err) || weft_filter_add(p, c, err))
		return -EINVAL;
	t = c->state;
	t->cap = cap;
	t->wire = (uint8_t)wire;
	t->iface = pcapng_iface(
		cap->file,
		&(struct pcapng_if){
			.name = name,
			.about = wires[wire].name,
			.link_type = ethernet ? PCAPNG_ETHERNET : PCAPNG_USER0,
			.bits_per_s = ethernet ? 1000000000 : 0,
			.fcs = ethernet ? ETH_FCS : 0,
		});
	return 0;
}

/* Both directions of a line, one behind the other. */
static int line_tap(struct capture *cap, struct weft_port *p, size_t wire,
		    struct weft_err *err)
{
	char a[96], b[96], there[200], back[200];

	port_name(a, sizeof(a), p);
	port_name(b, sizeof(b), p->peer);
	strcpy(cap->example, a);
	if (!matches(cap, a, b))
		return 0;
	snprintf(there, sizeof(there), "%s > %s", a, b);
	snprintf(back, sizeof(back), "%s > %s", b, a);
	if (port_tap(cap, p, wire, there, err))
		return -EINVAL;
	return port_tap(cap, p->peer, wire, back, err);
}

/* Each line once, from the end that comes first by name. */
static bool first_end(const struct weft_port *p)
{
	int order = strcmp(p->comp->name, p->peer->comp->name);

	return order ? order < 0 : p->index < p->peer->index;
}

static int port_try(struct capture *cap, struct weft_port *p,
		    struct weft_err *err)
{
	size_t wire = wire_of(p);

	if (wire == N_WIRES || !first_end(p))
		return 0;
	return line_tap(cap, p, wire, err);
}

static void find_upper(struct capture *cap, const struct weft_comp *c)
{
	for (size_t i = 0; i < sizeof(uppers) / sizeof(uppers[0]); i++)
		if (!strcmp(c->cls->name, uppers[i].nic))
			cap->upper = uppers[i].number;
}

int capture_tap(void *arg, struct weft_sim *sim, struct weft_err *err)
{
	struct capture *cap = arg;
	uint32_t n = weft_sim_count(sim);

	for (uint32_t i = 0; i < n; i++) {
		struct weft_comp *c = weft_sim_at(sim, i);

		find_upper(cap, c);
		for (uint32_t k = 0; k < c->n_ports; k++)
			if (port_try(cap, &c->ports[k], err))
				return -EINVAL;
	}
	if (!*cap->example)
		return weft_fail(err, EINVAL,
				 "--capture: no line here has a format that "
				 "can be written down: docs/captures.md names "
				 "those that have");
	for (size_t i = 0; i < cap->n_patterns; i++)
		if (!cap->hits[i])
			return weft_fail(err, EINVAL,
					 "--capture '%.60s': no line ends "
					 "there: give all, or an end such as "
					 "'%s'",
					 cap->patterns[i], cap->example);
	return 0;
}

int capture_open(const char *path, const char *const *patterns, size_t n,
		 struct capture **cap_p, struct weft_err *err)
{
	struct capture *cap = calloc(1, sizeof(*cap));

	if (!cap || !(cap->hits = calloc(n + 1, sizeof(*cap->hits))))
		abort();
	cap->patterns = patterns;
	cap->n_patterns = n;
	if (pcapng_open(path, &cap->file, err)) {
		free(cap->hits);
		free(cap);
		return -EINVAL;
	}
	*cap_p = cap;
	return 0;
}

int capture_close(struct capture *cap, struct weft_err *err)
{
	int ret = pcapng_close(cap->file, err);

	free(cap->hits);
	free(cap->sym);
	free(cap);
	return ret;
}
