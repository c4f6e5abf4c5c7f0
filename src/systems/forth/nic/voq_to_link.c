/* SPDX-License-Identifier: Apache-2.0 */
/* The path from the outgoing buffers of the FORTH NIC to its links. Source:
 * forth.md sections 4.10, 6.3 (choice of the VOQ), 7.2 (paths).
 *
 * Each link engine chooses its next packet independently: round robin over the
 * VOQs whose front packet is ready, belongs on this link and has credits. A VOQ
 * sends at most one packet in a NET cycle (our choice, so that the result does
 * not depend on the order of the links at one edge). Packets of one VOQ may be
 * on several lines at once. Words leave the VOQ as they are sent: the header
 * word first, payload words one by one, the CRC word at the end of the
 * packet. */
#include "systems/forth/nic/nic.h"

/* ---- words that leave with the packet on the line ---- */

uint32_t forth_left_by(const struct forth_nic *n, uint32_t link, uint64_t cc)
{
	const struct forth_leaving *l = &n->leaving[link];
	uint64_t data = 0;

	if (cc > l->data_cc)
		data = (cc - l->data_cc) * n->width / 2;
	if (data > l->qwords)
		data = l->qwords;
	return (uint32_t)data + (l->first && cc >= l->head_cc) +
	       (l->last && cc >= l->end_cc);
}

uint64_t forth_net_now(const struct forth_nic *n)
{
	weft_time_t now = weft_now(n->comp);
	uint64_t cc = weft_clock_cycle(&n->link[0].clk, now);

	return weft_clock_edge(&n->link[0].clk, cc) > now ? cc - 1 : cc;
}

/* ---- choice ---- */

/* Returns the time from which the front packet of VOQ v may be sent. */
static weft_time_t front_at(const struct forth_nic *n, uint32_t v)
{
	const struct forth_voq *q = &n->voq[v];
	weft_time_t t = weft_clock_edge(&n->pci, ring_front(&q->pkts)->ready);

	return t > q->next_at ? t : q->next_at;
}

void forth_voq_kick_one(struct forth_nic *n, uint32_t v)
{
	weft_time_t at = front_at(n, v), now = weft_now(n->comp);

	forth_port_kick(forth_port_active(&n->link[forth_path_of(n, v)]),
			at > now ? at : now);
}

/* Makes links call forth_voq_next again when the front packets are ready. The
 * NIC calls this function after a link's own event, because the link forgets
 * kicks during its event. */
void forth_voq_kick(struct forth_nic *n)
{
	for (uint32_t v = 0; v < n->n_voq; v++)
		if (!ring_empty(&n->voq[v].pkts) &&
		    front_at(n, v) > weft_now(n->comp))
			forth_voq_kick_one(n, v);
}

/* Chooses the next packet of a link: round robin over the VOQs whose front
 * packet is ready, belongs on this link and has credits (6.3). */
bool forth_voq_next(void *own, struct forth_port *l, struct forth_port_pkt *out)
{
	struct forth_nic *n = own;
	uint32_t link = forth_link_of(n, l);

	/* a loop end waits until Net2Host holds no packet from the cable (2.6),
	 * because Net2Host is the neighbour's credit buffer */
	if (l->loop && n->fifo[link].line)
		return false;
	for (uint32_t i = 0; i < n->n_voq; i++) {
		uint32_t v = (n->rr_voq[link] + i) % n->n_voq;
		const struct forth_pkt *p;

		if (ring_empty(&n->voq[v].pkts) ||
		    forth_path_of(n, v) != link ||
		    front_at(n, v) > weft_now(n->comp))
			continue;
		p = ring_front(&n->voq[v].pkts);
		if (!forth_port_credit(l, forth_hdr_flow(p->hdr),
				       forth_hdr_size(p->hdr)))
			continue;
		n->rr_voq[link] = v + 1;
		n->going = v;
		weft_bus_settle(n->bus);
		if (forth_bench_mode(n))
			forth_bench_stamp(n, p, forth_port_now(&n->link[link]));
		*out = (struct forth_port_pkt){
			.header = forth_path_header(n, v, p->hdr),
			.payload = p->data,
			.trace_id = p->trace,
			.last = true,
		};
		return true;
	}
	return false;
}

static void to_link_leave(struct forth_nic *n, uint32_t link,
			  const struct forth_pkt *p, uint64_t start,
			  uint64_t end, uint32_t shift)
{
	const struct forth_port *l = &n->link[link];
	uint32_t wire = forth_port_words(l, forth_hdr_size(p->hdr));
	uint32_t bytes = forth_port_wire_len(l, forth_hdr_size(p->hdr));
	uint32_t data = (bytes + 4 * n->width - 1) / (4 * n->width);
	uint64_t payload = start + shift + wire - data - 1;
	struct forth_leaving *was = &n->leaving[link];

	n->voq[was->voq].used -= was->words;
	*was = (struct forth_leaving){
		.voq = n->going,
		.words = p->words,
		.qwords = forth_hdr_size(p->hdr),
		.first = p->first,
		.last = p->last,
		.head_cc = payload - 1,
		.data_cc = payload,
		.end_cc = end,
	};
}

void forth_voq_sent(void *own, struct forth_port *l, uint64_t start,
		    uint64_t end, uint32_t shift)
{
	struct forth_nic *n = own;
	uint32_t link = forth_link_of(n, l);
	struct forth_voq *v = &n->voq[n->going];
	struct forth_pkt p = *ring_front(&v->pkts);
	weft_time_t free = weft_clock_edge(&n->link[link].clk, end);

	ring_pop(&v->pkts);
	to_link_leave(n, link, &p, start, end, shift);
	forth_trace_voq(n, n->going);
	forth_path_sent(n, n->going);
	v->next_at = weft_clock_edge(&n->link[link].clk, start + 1);
	weft_count(n->comp, C_PACKETS_OUT, 1);
	forth_log(n, (enum forth_log_unit)(LOG_LINK0 + link), LOG_START,
		  forth_hdr_flow(p.hdr));
	if (p.last && n->p.lnotify_at == LNOTIFY_DEPARTED)
		forth_track_done(n, p.queue, p.seq, forth_pc_of_cc(n, end));
	if (n->n_masked && n->rq.state == FORTH_NO_PND_OP)
		forth_engine_wake(n, forth_pc(n));
	if (!ring_empty(&v->pkts) && n->n_link > 1)
		forth_voq_kick_one(n, n->going);
	/* if the front packet of any VOQ waits for this link, kick the link
	 * when its line is free */
	for (uint32_t i = 0; i < n->n_voq; i++)
		if (!ring_empty(&n->voq[i].pkts) &&
		    forth_path_of(n, i) == link) {
			forth_port_kick(forth_port_active(&n->link[link]),
					free);
			break;
		}
	forth_ext_poke(n);
}

void forth_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *w)
{
	struct forth_nic *n = c->state;
	uint32_t k = port - PORT_LINK;

	*w = (struct weft_waiting){ .unit = "words", .knows_blocked = true };
	for (struct forth_port *l = &n->link[k < n->n_link ? k : 0]; l;
	     l = l->back)
		w->blocked += forth_port_blocked(l);
	for (uint32_t v = 0; v < n->n_voq && k == 0; v++)
		w->queued += forth_voq_level(n, v);
}
