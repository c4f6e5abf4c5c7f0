/* SPDX-License-Identifier: Apache-2.0 */
/* See ultrarig.h. */
#include "unit/cmocka_all.h"

#include "ultrarig.h"

#include <stdio.h>
#include <string.h>

enum { VPID = 0x21 };

static void ctl_send(void *own, uint32_t node, const uint64_t *w)
{
	struct ultra_end *e = own;
	uint64_t nqe[HP_WORDS];

	hpproc_fast_send(&e->p, node, VPID, HP_A, 1, w, ULTRA_MSG_WORDS);
	assert_true(hpproc_wait(&e->p, nqe)); /* waits for the message */
}

static void ctl_recv(void *own, uint32_t node, uint64_t *w)
{
	struct ultra_end *e = own;
	uint64_t nqe[HP_WORDS];

	while (!hpproc_wait(&e->p, nqe))
		;
	assert_int_equal(HP_NQE_CMD(nqe), HP_B_NOTIFY_FAST_RECV);
	assert_int_equal(HP_NQE_HPID(nqe), node + 1);
	memcpy(w, nqe + 2, 8 * ULTRA_MSG_WORDS);
}

void ultrarig_meet(struct ultra_end *e)
{
	char key[32];

	snprintf(key, sizeof(key), "meet%u.%u", e->meetings, e->node);
	weft_oob_put(e->h, key, 1);
	snprintf(key, sizeof(key), "meet%u.%u", e->meetings++, !e->node);
	weft_oob_get(e->h, key);
}

static int side(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct ultrarig *t = (struct ultrarig *)r;
	struct ultra_end *e = &t->end[node];

	e->h = h;
	e->node = node;
	e->ctl = (struct ultra_ctl){ e, ctl_send, ctl_recv };
	hpdrv_open(&e->d, r, node, h);
	hpproc_open(&e->p, &e->d, h, VPID, 0);
	assert_int_equal(ultra_open(h, &e->u), 0);
	ultrarig_meet(e);
	if (!t->no_path && node)
		assert_int_equal(
			ultra_accept(&e->u, &e->ctl, 0, &t->attr, &e->rx), 0);
	if (!t->no_path && !node)
		assert_int_equal(ultra_connect(&e->u, &e->ctl, 1, VPID, &e->tx),
				 0);
	ultrarig_meet(e);
	t->fn[node](t, e);
	return 0;
}

void ultrarig_run(struct ultrarig *t, const struct weft_class *bus,
		  const char *const *set, ultra_fn near, ultra_fn far)
{
	hprig_new(&t->r, "2", bus);
	for (; set && *set; set++) {
		char cls[32], par[32], val[32];

		assert_int_equal(
			sscanf(*set, "%31[^:]:%31[^=]=%31s", cls, par, val), 3);
		exrig_set(&t->r, cls, par, val);
	}
	t->fn[0] = near;
	t->fn[1] = far;
	exrig_prog(&t->r, 0, side);
	exrig_prog(&t->r, 1, side);
	exrig_start(&t->r);
	exrig_run(&t->r);
}

uint64_t ultrarig_counter(struct ultrarig *t, uint32_t node, const char *name)
{
	return exrig_counter(t->r.node[node].nic, name);
}

void ultrarig_free(struct ultrarig *t)
{
	exrig_free(&t->r);
}

/* ---- packets ---- */

void ultrarig_fill(uint64_t *w, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		w[i] = (seed + 1) * 0x9E3779B97F4A7C15ull + i;
}

void ultrarig_take(struct ultra_end *e, uint64_t tag, uint32_t n)
{
	uint64_t got[ULTRARIG_MAX] = { 0 }, want[ULTRARIG_MAX], t = 0;
	int k = ultra_recv(&e->rx, &t, got, ULTRARIG_MAX,
			   weft_host_now(e->h) + WEFT_MS);

	assert_int_equal(k, n);
	assert_int_equal(t, tag);
	ultrarig_fill(want, n, tag);
	assert_memory_equal(got, want, 8 * n);
}

void ultrarig_give(struct ultra_end *e, uint32_t flags, uint64_t tag,
		   uint32_t n)
{
	uint64_t w[ULTRARIG_MAX];

	ultrarig_fill(w, n, tag);
	ultra_send(&e->tx, flags, tag, w, n);
}
