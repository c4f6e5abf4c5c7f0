/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port packets, see hp_wire.h.  Source: hostport.md 3.2 to 3.4. */
#include "link/hp_wire.h"

#include <string.h>

enum { EL_MP = 0xa1, EL_SEP = 0xf0, EL_VPID, EL_TREE, EL_END = 0xff };
enum { TAIL_FIX = 5 }; /* DHASH, VPID element */

/* ---- bytes ------------------------------------------------------------- */

static void put_be(uint8_t *b, uint64_t v, uint32_t n)
{
	while (n--) {
		b[n] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get_be(const uint8_t *b, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n; i++)
		v = v << 8 | b[i];
	return v;
}

static uint32_t round8(uint32_t n)
{
	return (n + 7) & ~7u;
}

/* ---- routes ------------------------------------------------------------ */

bool hp_route_parse(struct hp_route *r, const uint8_t *b, uint32_t n)
{
	uint32_t nf, nr;

	if (n < 8)
		return false;
	nf = b[6];
	nr = b[7];
	if (!nf || n < 8 + nf + (nr ? 1 + nr : 0) || nf > HP_ROUTE_MAX ||
	    nr > HP_ROUTE_MAX)
		return false;
	*r = (struct hp_route){ .dtag = (uint32_t)get_be(b, 4),
				.dhash = (uint16_t)get_be(b + 4, 2),
				.nf = (uint8_t)nf,
				.nr = (uint8_t)nr };
	memcpy(r->fwd, b + 8, nf);
	if (nr)
		memcpy(r->back, b + 8 + nf + 1, nr);
	return true;
}

/* Crossbar output of an element; where no port has that number the packet is
 * for the high availability port. */
static uint32_t el_output(uint8_t el)
{
	uint32_t port = el >> 4, n = el & 15;

	if (port >= HP_EL_PORT_LP && port < HP_EL_PORT_LP + EX_LINKS && n)
		return EX_INTERNAL + port - HP_EL_PORT_LP;
	return port < HP_XPORT_SERVICE && n == 1 ? port : HP_XPORT_SERVICE;
}

bool hp_route_expand(struct weft_frame *f, const uint8_t *el, uint32_t n)
{
	struct ex_meta *m = ex_meta(f);

	m->hops = 0;
	memset(&f->u[4], 0xff, 4 * sizeof(f->u[4]));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t out = el_output(el[i]);
		uint32_t times = out < EX_INTERNAL ? 1 : el[i] & 15;

		for (; times; times--) {
			if (m->hops == EX_ROUTE_MAX)
				return false;
			ex_route_set(f, m->hops++, out);
		}
		if (out < EX_INTERNAL)
			break; /* delivered */
	}
	return m->hops > 0;
}

int hp_route_topo(const struct ex_topo *t, uint32_t s, uint32_t d, uint8_t *el)
{
	uint32_t n = 0, coins = ex_coins_pair(s, d);

	while (s != d) {
		uint32_t port = ex_topo_way(t, s, d, coins);
		uint8_t one;

		if (port < EX_INTERNAL || port >= EX_PORTS)
			return -1;
		one = (uint8_t)((HP_EL_PORT_LP + port - EX_INTERNAL) << 4);
		if (n && (el[n - 1] & 0xf0) == one &&
		    (el[n - 1] & 15) < HP_EL_MAX)
			el[n - 1]++;
		else if (n == HP_ROUTE_MAX - 1)
			return -1;
		else
			el[n++] = one | 1;
		s = ex_topo_far(t, s, port);
	}
	return (int)n;
}

/* ---- packets ----------------------------------------------------------- */

uint32_t hp_frame_words(uint32_t cmd)
{
	static const uint8_t request[16] = {
		[2] = 0x3f, [3] = 0x3f,	 [4] = 0x7f, [6] = 0x3f,
		[7] = 0x3f, [10] = 0x3f, [11] = 0xff
	};
	uint32_t group = cmd >> 8 & 7, code = cmd >> 4 & 15;
	bool response = cmd & 4;

	if (code == 15)
		return 0x0f; /* ACK */
	if (group == 1)
		return 0x1f;
	if (response && (code == 3 || code == 6 || code == 7))
		return 0x0f;
	if (response && code == 11)
		return 0xcf;
	return request[code] ? request[code] : 0x0f;
}

/* Forward elements behind the first multicast element: branches. */
static uint32_t tree_at(const struct hp_route *r)
{
	uint32_t i = 0;

	while (i < r->nf && r->fwd[i] != EL_MP)
		i++;
	return i + 1 < r->nf ? i + 1 : r->nf;
}

static uint32_t tree_bytes(const struct hp_route *r)
{
	uint32_t n = r->nf - tree_at(r);

	return n ? 2 + n : 0;
}

static uint32_t tail_bytes(const struct hp_route *r)
{
	return round8(TAIL_FIX + tree_bytes(r) + (r->nr ? 2u + r->nr : 1));
}

static uint8_t *tail_write(uint8_t *b, const struct hp_route *r, uint32_t vpid)
{
	uint32_t n = tail_bytes(r);

	uint32_t tree = tree_bytes(r);
	uint8_t *v = b + tree;

	memset(b, EL_END, n);
	put_be(b, r->dhash, 2);
	if (tree) {
		b[2] = EL_TREE;
		b[3] = (uint8_t)(tree - 2);
		memcpy(b + 4, r->fwd + tree_at(r), tree - 2);
	}
	v[2] = EL_VPID;
	put_be(v + 3, vpid, 2);
	if (r->nr) {
		v[TAIL_FIX] = EL_SEP;
		memcpy(v + TAIL_FIX + 1, r->back, r->nr);
	}
	return b + n;
}

struct weft_frame *hp_pkt_new(struct weft_sim *sim, const struct hp_route *r,
			      const struct hp_head *h, uint32_t cls)
{
	uint32_t mask = hp_frame_words(HP_C0_CMD(h->c[0]));
	uint32_t words = (uint32_t)__builtin_popcount(mask);
	struct weft_frame *f = weft_frame_new(sim);
	uint8_t *b;

	*ex_meta(f) = (struct ex_meta){ .cls = (uint8_t)cls, .dim = 0xff };
	if (!hp_route_expand(f, r->fwd, r->nf)) {
		weft_frame_free(f);
		return NULL;
	}
	f->payload = weft_slice_word(sim, tail_bytes(r) + 8 * words +
						  round8(h->bytes));
	b = tail_write(weft_slice_data(f->payload), r, h->vpid);
	for (uint32_t i = 0; i < HP_FRAME_MAX; i++) {
		if (!(mask >> i & 1))
			continue;
		put_be(b, h->c[i], 8);
		b += 8;
	}
	memset(b, 0, round8(h->bytes));
	return f;
}

void hp_pkt_unordered(struct weft_frame *f)
{
	put_be(weft_slice_data(f->payload), 0, 2);
}

/* Bytes of a packet of which `here` have come. */
struct part {
	const uint8_t *b;
	uint32_t n;
	enum hp_parse end; /* what it is that there are not more */
};

static struct part part_of(const struct weft_frame *f, uint32_t here)
{
	bool all = here >= f->payload.len;

	return (struct part){ .b = weft_slice_data(f->payload),
			      .n = all ? f->payload.len : here,
			      .end = all ? HP_PARSE_BAD : HP_PARSE_MORE };
}

/* The return path, from its separator at *i_p on to the end. */
static enum hp_parse back_read(const struct part *p, uint32_t *i_p,
			       struct hp_head *h)
{
	uint32_t i = *i_p;

	h->back = (struct hp_route){ .nf = 0 };
	if (p->b[i] == EL_SEP) {
		for (i++; i < p->n && p->b[i] != EL_END; i++) {
			if (h->back.nf == HP_ROUTE_MAX)
				return HP_PARSE_BAD;
			h->back.fwd[h->back.nf++] = p->b[i];
		}
	}
	if (i >= p->n)
		return p->end;
	*i_p = i;
	return p->b[i] == EL_END ? HP_PARSE_GOOD : HP_PARSE_BAD;
}

/* The routing tail: *at_p bytes. */
static enum hp_parse tail_read(const struct part *p, struct hp_head *h,
			       uint32_t *at_p)
{
	uint32_t i = TAIL_FIX;
	enum hp_parse ret;

	if (p->n < 8)
		return p->end;
	if (p->b[2] == EL_TREE) {
		if (p->b[3] > HP_ROUTE_MAX)
			return HP_PARSE_BAD;
		if (p->n < 8u + 2 + p->b[3])
			return p->end;
		h->n_tree = p->b[3];
		memcpy(h->tree, p->b + 4, h->n_tree);
		i += 2 + h->n_tree;
	}
	if (p->b[i - TAIL_FIX + 2] != EL_VPID)
		return HP_PARSE_BAD;
	h->vpid = (uint32_t)get_be(p->b + i - 2, 2);
	ret = back_read(p, &i, h);
	*at_p = round8(i + 1);
	return ret;
}

enum hp_parse hp_pkt_head(const struct weft_frame *f, uint32_t here,
			  struct hp_head *h)
{
	struct part p = part_of(f, here);
	uint32_t at = 0, mask;
	enum hp_parse ret;

	memset(h, 0, sizeof(*h));
	ret = p.b ? tail_read(&p, h, &at) : HP_PARSE_BAD;
	if (ret != HP_PARSE_GOOD)
		return ret;
	if (at + 32 > p.n)
		return p.end;
	mask = hp_frame_words((uint32_t)get_be(p.b + at, 2));
	if (at + 8 * (uint32_t)__builtin_popcount(mask) > p.n)
		return p.end;
	for (uint32_t i = 0; i < HP_FRAME_MAX; i++) {
		if (!(mask >> i & 1))
			continue;
		h->c[i] = get_be(p.b + at, 8);
		at += 8;
	}
	h->bytes = HP_C3_SIZE(h->c[3]);
	h->back.dtag = HP_C0_HPID(h->c[0]);
	h->back.dhash = (uint16_t)h->back.dtag;
	h->skip = at;
	/* GET names what it wants; a packet may have been ended early */
	if (h->bytes > f->payload.len - at)
		h->bytes = f->payload.len - at;
	return HP_PARSE_GOOD;
}
