/* SPDX-License-Identifier: Apache-2.0 */
/* Measures networks, see bench_net.h. */
#include "front/bench/bench_net.h"

#include <string.h>

#include "front/exp/exp.h"
#include "front/exp/registry.h"

static const uint64_t *counter(const struct weft_comp *c, const char *name)
{
	uint32_t i = 0;

	while (strcmp(c->cls->counters[i].name, name))
		i++;
	return &c->counters[i];
}

/* Returns the packets that have left switches so far. Counts only switches of
 * the class of s0, because the networks of the benches have no others. */
static uint64_t hops(struct weft_sim *sim)
{
	const struct weft_comp *s0 = weft_sim_find(sim, "s0");
	ptrdiff_t k = counter(s0, "packets") - s0->counters;
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < weft_sim_count(sim); i++) {
		const struct weft_comp *c = weft_sim_at(sim, i);

		if (c->cls == s0->cls)
			n += c->counters[k];
	}
	return n;
}

int net_case_run(struct net_case *t, const struct registry *reg,
		 struct weft_err *err)
{
	const struct exp_opts opts = { .set = t->set, .n_set = t->n_set };
	uint64_t before = bench_rss_bytes(), from, received, ns, done;
	const uint64_t *in;
	struct exp_case c;
	struct exp *e;
	int ret;

	ret = exp_load_text("bench", t->text, strlen(t->text), &opts, reg, &e,
			    err);
	if (ret)
		return ret;
	ret = exp_case_open(e, 0, &c, err);
	if (!ret) {
		in = counter(weft_sim_find(c.sim, "net"), "received");
		weft_sim_run(c.sim, t->warm);
		from = hops(c.sim);
		received = *in;
		ns = bench_cpu_ns();
		do {
			weft_sim_run(c.sim, weft_sim_now(c.sim) + WEFT_US);
			done = hops(c.sim) - from;
		} while (done < t->hops);
		ns = bench_cpu_ns() - ns;
		t->speed = (double)done * 1e9 / (double)ns;
		t->messages = (double)(*in - received) * 1e9 / (double)ns;
		t->bytes = (double)(bench_rss_bytes() - before) / t->nodes;
		exp_case_close(&c);
	}
	exp_free(e);
	return ret;
}
