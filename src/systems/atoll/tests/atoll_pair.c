/* SPDX-License-Identifier: Apache-2.0 */
/* See atoll_pair.h. */
#include "atoll_pair.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/prog.h"

extern const struct weft_class weft_class_host_pc, weft_class_bus_pcix,
	weft_class_atoll_nic, weft_class_link_cable;

static void must(int ret, const struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "%s\n", err->msg);
	abort();
}

static struct weft_comp *add(struct atoll_pair *p, const struct weft_class *cls,
			     uint32_t node, const char *what,
			     const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[32];

	snprintf(name, sizeof(name), "n%u.%s", node, what);
	c = weft_sim_add(p->sim, cls, name, &err);
	must(!c, &err);
	for (; set && *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	must(weft_comp_init(c, &err), &err);
	return c;
}

static void join(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link)
{
	struct weft_err err = { 0 };

	must(weft_connect(a, b, link, 0, &err), &err);
}

void atoll_pair_new(struct atoll_pair *p, const struct weft_class *const *progs,
		    const char *const *set)
{
	struct weft_err err = { 0 };

	p->sim = weft_sim_new(1);
	for (uint32_t i = 0; i < ATOLL_ENDS; i++) {
		struct weft_comp *bus =
			add(p, &weft_class_bus_pcix, i, "bus", NULL);
		struct weft_comp *host =
			add(p, &weft_class_host_pc, i, "host", NULL);

		p->nic[i] = add(p, &weft_class_atoll_nic, i, "nic", set);
		join(&bus->ports[0], &host->ports[0], NULL);
		join(&bus->ports[1], &p->nic[i]->ports[0], NULL);
		for (uint32_t k = 0; progs[k]; k++)
			must(weft_prog_attach(host, add(p, progs[k], i,
							progs[k]->name, NULL)),
			     &err);
	}
	join(&p->nic[0]->ports[ATOLL_PAIR_LINK],
	     &p->nic[1]->ports[ATOLL_PAIR_LINK],
	     add(p, &weft_class_link_cable, 0, "cable", NULL));
}

struct at_nic *atoll_pair_nic(const struct atoll_pair *p, uint32_t node)
{
	return p->nic[node]->state;
}
