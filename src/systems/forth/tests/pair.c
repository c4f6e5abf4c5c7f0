/* SPDX-License-Identifier: Apache-2.0 */
/* See pair.h. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>

#define T_SER 24

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static struct weft_comp *cable(struct pair *p, uint32_t i,
			       const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[16];

	if (!set)
		return NULL;
	snprintf(name, sizeof(name), "cable%u", i);
	c = weft_sim_add(p->sim, &weft_class_forth_link, name, &err);
	for (; *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	must(weft_comp_init(c, &err), &err);
	return c;
}

void pair_init(struct pair *p, const char *const *set,
	       const struct weft_class *fault, const char *const *fault_set)
{
	pair_init_on(p, set, fault, fault_set, NULL);
}

void pair_init_on(struct pair *p, const char *const *set,
		  const struct weft_class *fault, const char *const *fault_set,
		  const char *const *link_set)
{
	static const char *const names[] = { "a", "b" };
	struct weft_err err = { 0 };
	uint32_t i;

	*p = (struct pair){ .sim = weft_sim_new(7), .cc = 12800000 };
	for (i = 0; i < 2; i++) {
		const char *const *s = set;

		p->comp[i] =
			weft_sim_add(p->sim, &test_node_class, names[i], &err);
		must(weft_param_set(p->comp[i], "me", i ? "1" : "0", &err),
		     &err);
		for (; s && *s; s += 2)
			must(weft_param_set(p->comp[i], s[0], s[1], &err),
			     &err);
		must(weft_comp_init(p->comp[i], &err), &err);
		p->n[i] = p->comp[i]->state;
		node_script(p->n[i], NULL, 0);
	}
	for (i = 0; i < p->n[0]->links; i++)
		must(weft_connect(&p->comp[0]->ports[i], &p->comp[1]->ports[i],
				  cable(p, i, link_set),
				  link_set ? 0 : T_SER * p->cc, &err),
		     &err);
	if (!fault)
		return;
	p->fault = weft_sim_add(p->sim, fault, "fault", &err);
	for (; fault_set && *fault_set; fault_set += 2)
		must(weft_param_set(p->fault, fault_set[0], fault_set[1], &err),
		     &err);
	must(weft_comp_init(p->fault, &err), &err);
	must(weft_filter_add(&p->comp[0]->ports[0], p->fault, &err), &err);
}

void pair_send(struct pair *p, uint32_t from, uint32_t count, uint32_t qwords)
{
	struct node *n = p->n[from];
	struct node_item *s = calloc(count + 1, sizeof(*s));
	uint32_t i;

	for (i = 0; i < count; i++) {
		s[i].dst = 1 - from;
		s[i].qwords = qwords;
		s[i].seq = i;
	}
	for (i = 0; i < 16; i++)
		free(n->queue[i]);
	free(n->log);
	node_script(n, s, count);
	free(p->n[1 - from]->log);
	p->n[1 - from]->log = malloc((64 * count + 4096) * sizeof(*n->log));
}

void pair_start(struct pair *p)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(p->sim, &err), &err);
}

void pair_run(struct pair *p, uint64_t cycles)
{
	weft_sim_run(p->sim, cycles * p->cc);
}

void pair_fini(struct pair *p)
{
	weft_sim_free(p->sim);
}
