/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port packets, see wire.h.  Source: hostport.md 3.2 to 3.4. */
#include "systems/hostport/nic/wire.h"

#include <string.h>

#include "base/bytes.h"

enum { TAIL_FIX = 5 }; /* bytes of DHASH and VPID element */

/* ---- bytes ---- */

static uint32_t wire_round8(uint32_t n)
{
	return (n + 7) & ~7u;
}

/* ---- routes ---- */

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

int hp_route_topo(const struct topology *t, uint32_t s, uint32_t d, uint8_t *el)
{
	uint32_t n = 0, coins = topo_coins_pair(s, d);

	while (s != d) {
		uint32_t port = topo_way(t, s, d, coins);
		uint8_t one;

		if (port < EX_INTERNAL || port >= EX_PORTS)
			return -1;
		one = (uint8_t)((EX_RUN_PORT_LP + port - EX_INTERNAL) << 4);
		if (n && (el[n - 1] & 0xf0) == one &&
		    (el[n - 1] & 15) < EX_RUN_HOPS_MAX)
			el[n - 1]++;
		else if (n == HP_ROUTE_MAX - 1)
			return -1;
		else
			el[n++] = one | 1;
		if (t->kind == TOPO_HUB)
			break; /* the network finds d */
		s = topo_far(t, s, port);
	}
	return (int)n;
}

/* ---- packets ---- */

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

/* Returns the index at which branches start, which is behind the first
 * multicast element. */
static uint32_t tree_at(const struct hp_route *r)
{
	uint32_t i = 0;

	while (i < r->nf && r->fwd[i] != EX_RUN_MP)
		i++;
	return i + 1 < r->nf ? i + 1 : r->nf;
}

static uint32_t tree_bytes(const struct hp_route *r)
{
	uint32_t n = r->nf - tree_at(r);

	return n ? 2 + n : 0;
}

/* Returns the number of forward elements that a packet carries. Elements behind
 * the first one that is not a link are not counted. */
static uint32_t way_bytes(const struct hp_route *r)
{
	uint32_t i = 0;

	while (i < r->nf && ex_run_is_link(r->fwd[i]))
		i++;
	return i < r->nf ? i + 1 : i;
}

static uint32_t tail_bytes(const struct hp_route *r)
{
	return wire_round8(TAIL_FIX + way_bytes(r) + tree_bytes(r) +
			   (r->nr ? 2u + r->nr : 1));
}

bool hp_route_fits(const struct hp_route *r)
{
	uint32_t hops = 0;

	for (uint32_t i = 0; i < r->nf && ex_run_is_link(r->fwd[i]); i++)
		hops += r->fwd[i] & 15;
	return r->nf && hops <= HP_HOPS_MAX && tail_bytes(r) <= EX_RUNS_BYTES;
}

/* Writes the elements of a route. An element with a special meaning cannot be
 * part of a route, and is replaced by the element of the high availability
 * port. */
static uint8_t *way_write(uint8_t *b, const uint8_t *el, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		*b++ = el[i] < EX_RUN_SEP ? el[i] : EX_RUN_HAP;
	return b;
}

static uint8_t *tail_write(uint8_t *b, const struct hp_route *r, uint32_t vpid)
{
	uint32_t n = tail_bytes(r), tree = tree_bytes(r);
	uint8_t *v;

	memset(b, EX_RUN_END, n);
	put_be(b, r->dhash, 2);
	v = way_write(b + 2, r->fwd, way_bytes(r));
	if (tree) {
		v[0] = EX_RUN_TREE;
		v[1] = (uint8_t)(tree - 2);
		memcpy(v + 2, r->fwd + tree_at(r), tree - 2);
		v += tree;
	}
	v[0] = EX_RUN_VPID;
	put_be(v + 1, vpid, 2);
	if (r->nr) {
		v[3] = EX_RUN_SEP;
		way_write(v + 4, r->back, r->nr);
	}
	return b + n;
}

struct weft_frame *hp_pkt_new(struct weft_sim *sim, const struct hp_route *r,
			      const struct hp_head *h, uint32_t cls)
{
	uint32_t mask = hp_frame_words(HP_C0_CMD(h->c[0]));
	uint32_t words = (uint32_t)__builtin_popcount(mask);
	struct weft_frame *f;
	uint8_t *b;

	if (!hp_route_fits(r))
		return NULL;
	f = weft_frame_new(sim);
	*ex_meta(f) =
		(struct ex_meta){ .cls = (uint8_t)cls, .hops = EX_ROUTE_RUNS };
	f->payload = weft_slice_word(sim, tail_bytes(r) + 8 * words +
						  wire_round8(h->bytes));
	b = tail_write(weft_slice_data(f->payload), r, h->vpid);
	for (uint32_t i = 0; i < HP_FRAME_MAX; i++) {
		if (!(mask >> i & 1))
			continue;
		put_be(b, h->c[i], 8);
		b += 8;
	}
	memset(b, 0, wire_round8(h->bytes));
	return f;
}

/* Bytes of a packet, of which the first n have arrived. */
struct part {
	const uint8_t *b;
	uint32_t n;
	enum hp_parse end; /* result when the bytes end too early */
};

/* Reads the return path, from its separator at *i_p to the end. */
static enum hp_parse back_read(const struct part *p, uint32_t *i_p,
			       struct hp_head *h)
{
	uint32_t i = *i_p;

	h->back = (struct hp_route){ .nf = 0 };
	if (p->b[i] == EX_RUN_SEP) {
		for (i++; i < p->n && p->b[i] != EX_RUN_END; i++) {
			if (h->back.nf == HP_ROUTE_MAX)
				return HP_PARSE_BAD;
			h->back.fwd[h->back.nf++] = p->b[i];
		}
	}
	if (i >= p->n)
		return p->end;
	*i_p = i;
	return p->b[i] == EX_RUN_END ? HP_PARSE_GOOD : HP_PARSE_BAD;
}

/* Reads branches at *i_p, if there are any. */
static enum hp_parse tree_read(const struct part *p, uint32_t *i_p,
			       struct hp_head *h)
{
	const uint8_t *b = p->b + *i_p;

	if (b[0] != EX_RUN_TREE)
		return HP_PARSE_GOOD;
	if (*i_p + 1 >= p->n)
		return p->end;
	if (b[1] > HP_ROUTE_MAX)
		return HP_PARSE_BAD;
	if (*i_p + 2u + b[1] >= p->n)
		return p->end;
	h->n_tree = b[1];
	memcpy(h->tree, b + 2, h->n_tree);
	*i_p += 2u + h->n_tree;
	return HP_PARSE_GOOD;
}

/* Reads the routing frame and stores its length in *at_p. The frame still has
 * forward elements if the packet was not delivered at the end of its route. */
static enum hp_parse tail_read(const struct part *p, struct hp_head *h,
			       uint32_t *at_p)
{
	uint32_t i = 2;
	enum hp_parse ret;

	while (i < p->n && p->b[i] < EX_RUN_SEP)
		i++;
	if (i >= p->n)
		return p->end;
	ret = tree_read(p, &i, h);
	if (ret != HP_PARSE_GOOD)
		return ret;
	if (p->b[i] != EX_RUN_VPID)
		return HP_PARSE_BAD;
	if (i + 3 >= p->n)
		return p->end;
	h->vpid = (uint32_t)get_be(p->b + i + 1, 2);
	i += 3;
	ret = back_read(p, &i, h);
	/* skips the padding that replaced used elements */
	for (i = wire_round8(i + 1);
	     i + 8 <= p->n && get_be(p->b + i, 8) == UINT64_MAX; i += 8)
		;
	*at_p = i;
	return ret;
}

enum hp_parse hp_pkt_head(const struct weft_frame *f, uint32_t here,
			  struct hp_head *h)
{
	bool all = here >= f->payload.len;
	struct part p = { .b = weft_slice_data(f->payload),
			  .n = all ? f->payload.len : here,
			  .end = all ? HP_PARSE_BAD : HP_PARSE_MORE };
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
	/* limits the count to the bytes received. C3 of a GET counts requested
	 * bytes, and a packet may have ended early */
	if (h->bytes > f->payload.len - at)
		h->bytes = f->payload.len - at;
	return HP_PARSE_GOOD;
}
