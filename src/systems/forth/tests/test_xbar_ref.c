/* SPDX-License-Identifier: Apache-2.0 */
/* Crossbar and credit link against the cycle-by-cycle reference: every packet
 * start at every source and output, credits at sampled cycles, counters.
 *
 *   test_xbar_ref              500 switches, 150 direct links, 200 pairs of
 *                              switches
 *   test_xbar_ref SEED         only the scenario of this seed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scripted_node.h"
#include "ref_xbar.h"
#include "unit/cmocka_all.h"
#include "base/rng.h"
#include "systems/forth/switch/crossbar.h"

extern const struct weft_class weft_class_forth_xbar, weft_class_fault_drop;

struct rig {
	struct ref_cfg cfg;
	struct ref_fab *ref;
	struct weft_sim *sim;
	struct weft_comp *node[REF_PORTS], *xbar[2];
	uint64_t seed, span;
	struct weft_rng rng;
	char why[200];
};

static uint32_t pick(struct rig *r, uint32_t lo, uint32_t hi)
{
	return lo + (uint32_t)weft_rng_below(&r->rng, hi - lo + 1);
}

static void set(struct weft_comp *c, const char *name, uint64_t value)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (weft_param_set(c, name, text, &err)) {
		print_error("%s\n", err.msg);
		abort();
	}
}

static void must(int ret, const struct weft_err *err)
{
	if (ret) {
		print_error("%s\n", err->msg);
		abort();
	}
}

enum kind { ONE, DIRECT, CHAIN };

static void choose(struct rig *r, enum kind kind)
{
	struct ref_cfg *c = &r->cfg;
	bool direct = kind == DIRECT;

	*c = (struct ref_cfg){
		.n = direct ? 2 : pick(r, 2, 8),
		.direct = direct,
		.links = direct ? 1u << pick(r, 0, 2) : 1,
		.t_ser = pick(r, 0, 3) ? 24 : pick(r, 7, 40),
		.crtx = pick(r, 0, 3) ? 3 : pick(r, 1, 5),
		.crrx = pick(r, 0, 3) ? 2 : pick(r, 0, 4),
		.refresh = pick(r, 0, 2) ? 1024 : pick(r, 64, 400),
		.credit_words = pick(r, 0, 2) ? 0 : pick(r, 1, 2),
		.min_payload = pick(r, 0, 1) ? 24 : 0,
		.xp_words = pick(r, 0, 1) ? 512 : pick(r, 170, 600),
		.rx_words = pick(r, 0, 1) ? 1023 : pick(r, 200, 2046),
		.l2d = 5,
		.t_bus = pick(r, 1, 30),
		.domains = pick(r, 1, 2),
		.xp_sync = 3,
		.xp_same = 1,
		.cs_sync = pick(r, 0, 3) ? 3 : pick(r, 1, 5),
		.per_word = pick(r, 0, 1),
		.presched = 3,
		.pipe_change = pick(r, 0, 2) ? 5 : pick(r, 3, 8),
		.pipe_same = 3,
		.net_fs = 12800000,
		.bus_fs = pick(r, 0, 1) ? 10000000 : pick(r, 7000000, 40000000),
		.hold = pick(r, 0, 4) ? 0 : pick(r, 0, 4000),
	};
	c->packed = c->links == 1 && pick(r, 0, 2) == 0;
	if (kind != CHAIN)
		return;
	c->half = pick(r, 1, c->n - 1);
	c->trunks = pick(r, 1, REF_TRUNKS);
}

static void build_node(struct rig *r, uint32_t i)
{
	const struct ref_cfg *c = &r->cfg;
	struct weft_err err = { 0 };
	struct weft_comp *n;
	char name[16];

	snprintf(name, sizeof(name), "n%u", i);
	n = r->node[i] = weft_sim_add(r->sim, &test_node_class, name, &err);
	set(n, "me", i);
	set(n, "n", c->n);
	set(n, "links", c->links);
	set(n, "min_payload", c->min_payload);
	set(n, "refresh", c->refresh);
	set(n, "crtx", c->crtx);
	set(n, "crrx", c->crrx);
	set(n, "credit_words", c->credit_words);
	set(n, "rx_words", c->rx_words);
	set(n, "t_bus", c->t_bus);
	set(n, "bus_fs", c->bus_fs);
	set(n, "hold", c->hold);
	must(weft_param_set(n, "frame", c->packed ? "packed" : "word", &err),
	     &err);
	must(weft_comp_init(n, &err), &err);
}

/* Writes routes for as many paths as there are trunks. */
static void build_routes(struct rig *r, uint32_t sw)
{
	const struct ref_cfg *c = &r->cfg;
	uint32_t ports = ref_ports(c), to[REF_PORTS], p, d;
	struct weft_err err = { 0 };

	for (p = 0; p < c->trunks; p++) {
		for (d = 0; d < c->n; d++)
			to[d] = ref_place(c, d) / ports == sw
					? ref_place(c, d) % ports
					: ports - c->trunks + p;
		must(r->xbar[sw]->cls->ops.route(r->xbar[sw], WEFT_ANY_PORT, p,
						 to, c->n, &err),
		     &err);
	}
}

static void build_xbar(struct rig *r, uint32_t sw)
{
	const struct ref_cfg *c = &r->cfg;
	struct weft_err err = { 0 };
	struct weft_comp *x;

	x = weft_sim_add(r->sim, &weft_class_forth_xbar, sw ? "sw1" : "sw",
			 &err);
	r->xbar[sw] = x;
	set(x, "ports", ref_ports(c));
	set(x, "xp_bytes", c->xp_words * 4);
	set(x, "min_payload", c->min_payload);
	set(x, "domains", c->domains);
	set(x, "cs_sync", c->cs_sync);
	set(x, "t_crtx", c->crtx);
	set(x, "t_crrx", c->crrx);
	set(x, "refresh_cc", c->refresh);
	set(x, "credit_words", c->credit_words);
	set(x, "os_pipe_change", c->pipe_change);
	must(weft_param_set(x, "frame", c->packed ? "packed" : "word", &err),
	     &err);
	must(weft_param_set(x, "cs_credit", c->per_word ? "per_word" : "start",
			    &err),
	     &err);
	must(weft_comp_init(x, &err), &err);
	build_routes(r, sw);
}

/* Makes the link send real frames, with a filter that changes nothing. */
static void tap(struct rig *r, struct weft_port *p)
{
	struct weft_err err = { 0 };
	struct weft_comp *f;
	char name[40];

	if (pick(r, 0, 3))
		return;
	snprintf(name, sizeof(name), "tap.%s.%s", p->comp->name, p->name);
	f = weft_sim_add(r->sim, &weft_class_fault_drop, name, &err);
	must(weft_comp_init(f, &err), &err);
	must(weft_filter_add(p, f, &err), &err);
}

static void cable(struct rig *r, struct weft_port *a, struct weft_port *b)
{
	struct weft_err err = { 0 };

	must(weft_connect(a, b, NULL, r->cfg.t_ser * r->cfg.net_fs, &err),
	     &err);
	tap(r, a);
	tap(r, b);
}

static void traffic(struct rig *r, uint32_t src)
{
	uint32_t count = pick(r, 0, 80), i, seq[REF_PORTS] = { 0 };
	uint32_t most = pick(r, 1, 64), dest = pick(r, 0, r->cfg.n - 1);
	uint32_t one = pick(r, 0, 2), gap = pick(r, 0, 2) ? 0 : pick(r, 1, 300);
	struct node_item *s = calloc(count + 1, sizeof(*s));
	uint64_t t = pick(r, 0, 200);

	for (i = 0; i < count; i++) {
		s[i].dst = one ? pick(r, 0, r->cfg.n - 1) : dest;
		s[i].qwords = pick(r, 0, 1) ? most : pick(r, 1, most);
		s[i].seq = seq[s[i].dst]++;
		s[i].path = r->cfg.trunks ? pick(r, 0, r->cfg.trunks - 1) : 0;
		s[i].ready = t;
		t += gap ? pick(r, 0, 2 * gap) : 0;
		ref_fab_offer(r->ref, src, s[i].dst, s[i].path, s[i].qwords,
			      s[i].seq, s[i].ready);
	}
	if (t + 3000 > r->span)
		r->span = t + 3000;
	node_script(r->node[src]->state, s, count);
}

static struct weft_port *port_of(struct rig *r, uint32_t out)
{
	uint32_t ports = ref_ports(&r->cfg);

	return &r->xbar[out / ports]->ports[out % ports];
}

static void cables(struct rig *r)
{
	const struct ref_cfg *c = &r->cfg;
	uint32_t i, far = ref_ports(c);

	for (i = 0; i < c->n && !c->direct; i++)
		cable(r, &r->node[i]->ports[0], port_of(r, ref_place(c, i)));
	for (i = 0; i < c->links && c->direct; i++)
		cable(r, &r->node[0]->ports[i], &r->node[1]->ports[i]);
	for (i = far - c->trunks; i < far && c->trunks; i++)
		cable(r, port_of(r, i), port_of(r, far + i));
}

static void build(struct rig *r, enum kind kind)
{
	struct weft_err err = { 0 };
	uint32_t i;

	choose(r, kind);
	r->sim = weft_sim_new(r->seed);
	weft_sim_set_payload(r->sim, false);
	r->ref = ref_fab_new(&r->cfg);
	for (i = 0; i < r->cfg.n; i++)
		build_node(r, i);
	if (kind != DIRECT)
		build_xbar(r, 0);
	if (kind == CHAIN)
		build_xbar(r, 1);
	cables(r);
	for (i = 0; i < r->cfg.n; i++)
		traffic(r, i);
	must(weft_sim_start(r->sim, &err), &err);
}

/* ---- comparing ---- */

#define DIFFER(...)                                                            \
	do {                                                                   \
		snprintf(r->why, sizeof(r->why), __VA_ARGS__);                 \
		return false;                                                  \
	} while (0)

static bool same_lanes(struct rig *r, uint64_t cycle)
{
	uint32_t i, k;

	for (i = 0; i < r->cfg.n; i++) {
		struct node *n = r->node[i]->state;
		const struct ref_end *e = &r->ref->node[i].end;

		forth_port_counts(&n->link);
		for (k = 0; k < e->tx_lanes; k++)
			if (n->link.tx[k].sent != e->sent[k] ||
			    n->link.tx[k].acked != e->acked[k])
				DIFFER("cycle %llu node %u lane %u: T %u F' "
				       "%u, "
				       "reference %u %u",
				       (unsigned long long)cycle, i, k,
				       n->link.tx[k].sent, n->link.tx[k].acked,
				       e->sent[k], e->acked[k]);
	}
	return true;
}

static bool same_log(struct rig *r, uint32_t where, const struct node *n)
{
	uint32_t a = 0, b = 0;

	for (;;) {
		const struct node_log *p;
		const struct ref_log *q;

		while (a < n->n_log && n->log[a].where != where)
			a++;
		while (b < r->ref->n_log && r->ref->log[b].where != where)
			b++;
		if (a == n->n_log && b == r->ref->n_log)
			return true;
		p = a < n->n_log ? &n->log[a] : NULL;
		q = b < r->ref->n_log ? &r->ref->log[b] : NULL;
		if (!p || !q || p->cycle != q->cycle || p->src != q->src ||
		    p->dst != q->dst || p->seq != q->seq)
			DIFFER("at %u: cycle %lld %u->%u #%d, reference cycle "
			       "%lld %u->%u #%d",
			       where, p ? (long long)p->cycle : -1,
			       p ? p->src : 0, p ? p->dst : 0,
			       p ? (int)p->seq : -1,
			       q ? (long long)q->cycle : -1, q ? q->src : 0,
			       q ? q->dst : 0, q ? (int)q->seq : -1);
		a++;
		b++;
	}
}

/* Returns whether nothing is in flight to e, so that both sides have equal
 * counts. */
static bool quiet(const struct ref_end *e, uint64_t cycle)
{
	uint32_t k, back = e->delay + e->crrx + 1;

	for (k = 0; k < REF_DELAY; k++)
		if (e->peer->wire[k].data || e->due[k].data)
			return false;
	return cycle > e->peer->last_start + back;
}

struct end_pair {
	struct forth_port *l;
	struct ref_end *e;
	const char *who;
	uint32_t i;
};

static bool same_counts(struct rig *r, const struct end_pair *p)
{
	const struct forth_port_count *c = forth_port_counts(p->l);
	const struct ref_end *e = p->e;
	const uint64_t mine[] = { c->credits_out,  c->credits_in,
				  c->out_cycles,   c->in_cycles,
				  c->tx_packets,   c->backpressure,
				  p->l->rr_active, p->l->rr_refresh };
	const uint64_t refs[] = { e->credits_out, e->credits_in,
				  e->out_cycles,  e->in_cycles,
				  e->packets,	  e->backpressure,
				  e->rr_active,	  e->rr_refresh };
	static const char *const name[] = { "credits out", "credits in",
					    "cycles out",  "cycles in",
					    "packets",	   "backpressure",
					    "active turn", "refresh turn" };
	uint32_t k;

	for (k = 0; k < 8; k++)
		if (mine[k] != refs[k])
			DIFFER("%s %u: %s %llu, reference %llu", p->who, p->i,
			       name[k], (unsigned long long)mine[k],
			       (unsigned long long)refs[k]);
	return true;
}

static bool same_xbar(struct rig *r, uint32_t sw)
{
	struct forth_xbar *x = r->xbar[sw]->state;
	const struct ref_out *out = &r->ref->out[sw * x->ports];
	uint32_t i, o;

	for (i = 0; i < x->ports; i++) {
		if (x->port[i].unknown || x->port[i].overflow)
			DIFFER("port %u drops", i);
		for (o = 0; o < x->ports; o++)
			if (forth_xbar_xp(x, i, o)->high != out[o].xp[i].high)
				DIFFER("xp %u,%u high %u, reference %u", i, o,
				       forth_xbar_xp(x, i, o)->high,
				       out[o].xp[i].high);
	}
	return true;
}

static bool compare(struct rig *r)
{
	uint64_t t = 0;

	while (t < r->span) {
		t += pick(r, 1, 600);
		if (t > r->span)
			t = r->span;
		ref_fab_run(r->ref, t + 1);
		weft_sim_run(r->sim, t * r->cfg.net_fs);
		if (!same_lanes(r, t))
			return false;
	}
	return true;
}

static uint32_t end_pairs(struct rig *r, struct end_pair *p)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < r->cfg.n; i++) {
		struct node *nd = r->node[i]->state;

		p[n++] = (struct end_pair){ &nd->link, &r->ref->node[i].end,
					    "node", i };
	}
	for (k = 0; k < 2 && r->xbar[k]; k++) {
		struct forth_xbar *x = r->xbar[k]->state;

		for (i = 0; i < x->ports; i++)
			if (x->port[i].link.peer)
				p[n++] = (struct end_pair){
					&x->port[i].link,
					&r->ref->out[k * x->ports + i].end,
					"port", k * x->ports + i
				};
	}
	return n;
}

/* Continues the run at the end of a scenario. The counters of each end must
 * agree whenever its line is quiet. */
static bool compare_counts(struct rig *r, uint64_t t)
{
	struct end_pair p[REF_PORTS + 2 * REF_SWITCH];
	uint32_t n = end_pairs(r, p), i;
	uint64_t stop = t + 20000;

	for (; n && t < stop; t++) {
		ref_fab_run(r->ref, t);
		weft_sim_run(r->sim, t * r->cfg.net_fs - 1);
		for (i = 0; i < n; i++) {
			if (!quiet(p[i].e, t))
				continue;
			if (!same_counts(r, &p[i]))
				return false;
			p[i--] = p[--n];
		}
	}
	return true;
}

/* Returns whether all packets have been delivered and drained. */
static bool drained(const struct ref_fab *f)
{
	uint32_t i, k, left = 0;

	for (i = 0; i < f->cfg.n; i++) {
		const struct ref_node *n = &f->node[i];

		left += n->script.n + n->rx.n + n->wait + n->left;
		left += !ref_end_free(&n->end);
		for (k = 0; k < f->cfg.n; k++)
			left += n->voq[k].n;
	}
	for (i = 0; i < 2 * REF_SWITCH; i++) {
		left += !ref_end_free(&f->out[i].end);
		for (k = 0; k < REF_SWITCH; k++)
			left += f->out[i].xp[k].n;
	}
	return !left;
}

static bool compare_end(struct rig *r)
{
	uint64_t t = r->span;
	uint32_t i;

	while (!drained(r->ref) && t < r->span + 200000)
		ref_fab_run(r->ref, t += 100);
	ref_fab_run(r->ref, t += 1200);
	weft_sim_run(r->sim, t * r->cfg.net_fs - 1);
	for (i = 0; i < r->cfg.n; i++) {
		struct node *n = r->node[i]->state;

		if (!same_log(r, i, n))
			return false;
		if (!r->cfg.direct && !same_log(r, 100 + i, n))
			return false;
		if (n->n_script && n->at < n->n_script)
			DIFFER("node %u is stuck", i);
	}
	if (!compare_counts(r, t))
		return false;
	return (!r->xbar[0] || same_xbar(r, 0)) &&
	       (!r->xbar[1] || same_xbar(r, 1));
}

static bool scenario(uint64_t seed)
{
	struct rig *r = calloc(1, sizeof(*r));
	bool ok;

	r->seed = seed;
	weft_rng_seed(&r->rng, seed, "test");
	build(r, seed >= 2000000 ? CHAIN : seed >= 1000000 ? DIRECT : ONE);
	ok = compare(r) && compare_end(r);
	if (!ok)
		print_error("seed %llu: %s\nrerun: test_xbar_ref %llu\n",
			    (unsigned long long)seed, r->why,
			    (unsigned long long)seed);
	ref_fab_free(r->ref);
	weft_sim_free(r->sim);
	free(r);
	return ok;
}

/* Sanitizers need fewer scenarios, because these already reach all code. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 10 };
#else
enum { SHARE = 1 };
#endif

static void switch_matches(void **state)
{
	for (uint64_t seed = 1; seed <= 500 / SHARE; seed++)
		assert_true(scenario(seed));
}

static void direct_matches(void **state)
{
	for (uint64_t seed = 1; seed <= 150 / SHARE; seed++)
		assert_true(scenario(1000000 + seed));
}

/* Two switches: credits per crosspoint at both ends of the trunks, and several
 * paths in the queue of one flow. */
static void chain_matches(void **state)
{
	for (uint64_t seed = 1; seed <= 200 / SHARE; seed++)
		assert_true(scenario(2000000 + seed));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_matches),
		cmocka_unit_test(direct_matches),
		cmocka_unit_test(chain_matches),
	};

	if (argc > 1)
		return !scenario(strtoull(argv[1], NULL, 0));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
