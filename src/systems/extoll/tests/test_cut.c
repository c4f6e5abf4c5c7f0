/* SPDX-License-Identifier: Apache-2.0 */
/* Routes that end at a cable instead of an internal port (extoll.md T-29). No
 * register can hold such a route, because requesters add the port themselves.
 * The next crossbar reads the header as routing flits (3.9), so that the number
 * of the sending node decides where the packet goes. The receiver notices the
 * wrong destination, because the header's byte of the destination node is
 * wrong. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "exrig.h"
#include "systems/extoll/nic/nic.h"

extern const struct weft_class weft_class_fault_bits;

enum { NODES = 4, TO = 2 };

struct cut {
	struct exrig r;
	const char *width;
	uint32_t src;
	/* the first cell is damaged, and passes the crossbars as a void cell */
	bool damaged;
};

static int cut_sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const struct cut *s = (const struct cut *)r;
	struct extoll_nic *n = r->node[node].nic->state;
	struct weft_frame *f = weft_frame_new(r->sim);

	memset(&f->u[4], 0xff, 4 * sizeof(f->u[4]));
	f->u[0] = EX_H0_MAKE(s->src, 0, 0, TO) | EX_PUT(8, 54, 48);
	f->payload = weft_slice_new(r->sim, 8);
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	ex_route_set(f, 0, 3);
	netport_send(&n->np[EX_NP_VELO], f, ex_now(n) + 1, UINT32_MAX);
	weft_host_cpu(h, 50 * WEFT_US);
	return 0;
}

/* Sends a header word and 104 bytes that become ready little by little. A cell
 * leaves when all of its bytes are ready. */
static int slow_sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const struct cut *s = (const struct cut *)r;
	struct extoll_nic *n = r->node[node].nic->state;
	struct netport *np = &n->np[EX_NP_VELO];
	struct weft_frame *f = weft_frame_new(r->sim);
	/* The first cell also has the routing flit and the header word. */
	bool w32 = !strcmp(s->width, "w32");
	uint32_t first = w32 ? 52 : 54, cell = w32 ? 16 : 32;
	struct netport_pkt *p;

	memset(&f->u[4], 0xff, 4 * sizeof(f->u[4]));
	f->u[0] = EX_H0_MAKE(0, 0, 0, TO) | EX_PUT(104, 54, 48);
	f->payload = weft_slice_new(r->sim, 104);
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	ex_route_set(f, 0, 3);
	p = netport_send(np, f, ex_now(n) + 1, first - 1);
	weft_host_cpu(h, 5 * WEFT_US);
	assert_int_equal(p->flit, 0);
	netport_more(np, p, first);
	weft_host_cpu(h, 5 * WEFT_US);
	assert_int_equal(p->flit, cell);
	netport_more(np, p, 103);
	weft_host_cpu(h, 5 * WEFT_US);
	assert_int_equal(p->flit, cell);
	assert_ptr_equal(np->q[0].head, p);
	netport_more(np, p, 104);
	weft_host_cpu(h, 5 * WEFT_US);
	assert_null(np->q[0].head);
	return 0;
}

static void cells_wait_for_their_bytes(void **state)
{
	static const char *const width[] = { "w16", "w32" };

	for (uint32_t i = 0; i < 2; i++) {
		struct cut s = { .width = width[i] };

		exrig_new(&s.r, "4");
		exrig_set(&s.r, "extoll.nic", "width", s.width);
		exrig_set(&s.r, "extoll.xbar", "width", s.width);
		exrig_prog(&s.r, 0, slow_sender);
		exrig_start(&s.r);
		exrig_run(&s.r);
		exrig_free(&s.r);
	}
}

/* The packet ends in a crossbar, the VELO completer or a unit of RMA. */
enum cut_end { XBAR, VELO, RMA };

static void cut(struct cut s, uint32_t at, enum cut_end end)
{
	const struct weft_port *np;
	struct exrig *r = &s.r;

	exrig_new(r, "4");
	exrig_set(r, "extoll.nic", "width", s.width);
	exrig_set(r, "extoll.xbar", "width", s.width);
	if (s.damaged)
		exrig_fault(r, 0, 3, &weft_class_fault_bits,
			    (const char *[]){ "target", "payload", "frame", "1",
					      NULL });
	exrig_prog(r, 0, cut_sender);
	exrig_start(r);
	exrig_run(r);
	/* the network port sent a routing flit and two words */
	np = &r->node[0].nic->ports[EX_PORT_NP];
	assert_int_equal(np->out_frames, 1);
	assert_int_equal(np->out_words, strcmp(s.width, "w32") ? 9 : 5);
	assert_true(np->out_busy > 0);
	for (uint32_t i = 0; i < NODES; i++) {
		const struct exrig_node *d = &r->node[i];
		const struct extoll_nic *n = d->nic->state;

		assert_int_equal(exrig_counter(d->xbar, "voids_in"),
				 s.damaged && i == 1);
		assert_int_equal(exrig_counter(d->xbar, "illegal"),
				 i == at && end == XBAR);
		assert_int_equal(n->velo.discard[EXTOLL_DISCARD_MISROUTED],
				 i == at && end == VELO);
		assert_int_equal(exrig_counter(d->nic, "rma_discarded"),
				 i == at && end == RMA);
	}
	exrig_free(r);
}

static void test_cut_packet_is_discarded_by_every_unit(void **state)
{
	static const char *const width[] = { "w16", "w32" };

	for (uint32_t i = 0; i < 2; i++) {
		const char *w = width[i];

		/* The packet ends at node 1, whose units find that it is for
		 * another node. */
		cut((struct cut){ .width = w, .src = 0 }, 1, VELO);
		cut((struct cut){ .width = w, .src = 1 }, 1, RMA);
		cut((struct cut){ .width = w, .src = 2 }, 1, RMA);
		cut((struct cut){ .width = w, .damaged = true }, 1, VELO);
		/* The packet ends at the node to which the sender's number
		 * leads: node 3, two cables further, or node 0 again. */
		cut((struct cut){ .width = w, .src = 0x33 }, 3, VELO);
		cut((struct cut){ .width = w, .src = 0x4 }, 0, VELO);
		/* The packet ends in a crossbar, because the crossbar has no
		 * such port, or because a flit of four nibbles is used up. */
		cut((struct cut){ .width = w, .src = 0xd }, 1, XBAR);
		cut((struct cut){ .width = w, .src = 0x3333 }, !!i,
		    i ? VELO : XBAR);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_packet_is_discarded_by_every_unit),
		cmocka_unit_test(cells_wait_for_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
