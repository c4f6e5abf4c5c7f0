/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.reset: an operator resets a FORTH port of a switch, NIC or
 * generator together with the port at the other end of the line (forth.md 5.7:
 * a port reset on both sides). The line goes down at once: both ends are out of
 * sync while their receive buffers drain, and frames on the line are lost. Then
 * T = F = F' = 0 on both sides, and after 16 words of commas both ends are in
 * sync again (4.9). If buffers do not drain in time, the reset is counted as
 * refused. Both ends then keep their credits and get in sync again. */
#include <errno.h>

#include "systems/forth/link/port_internal.h"

/* Cycles between two polls. Each poll keeps both ends out of sync until the
 * next poll. Therefore the cycles are fewer than the 16 words of commas that
 * end a loss of sync (4.9). */
enum { LOOK_CC = 8 };

struct reset {
	weft_time_t at, every, patience;
	/* time at which the line went down, or WEFT_NEVER while it is up */
	weft_time_t began;
};

enum { C_RESETS, C_REFUSED, C_TIME, C_N };
static const struct weft_counter reset_counters[C_N] = {
	[C_RESETS] = { "resets", "times", "the port was reset" },
	[C_REFUSED] = { "refused", "times", "buffers did not drain" },
	[C_TIME] = { "down_ns", "ns", "until the buffers were empty" },
};

static const struct weft_param reset_params[] = {
	WEFT_PARAM(TIME, struct reset, at, "0", "", OWN,
		   "when it begins; 0 = never"),
	WEFT_PARAM(TIME, struct reset, every, "0", "", OWN,
		   "from one beginning to the next; 0 = only once"),
	WEFT_PARAM(TIME, struct reset, patience, "1ms", "", OWN,
		   "without a reset the line comes back after so long"),
	{ 0 }
};

/* Polls both ends while the line is down. Returns whether the reset has
 * ended. */
static bool fault_reset_look(struct weft_comp *c, struct forth_port *a)
{
	struct forth_port *ends[] = { a, a->peer };
	struct reset *r = c->state;
	weft_time_t down = weft_now(c) - r->began;
	bool drained = true;

	for (uint32_t k = 0; k < 2; k++) {
		struct forth_port *l = ends[k];

		for (uint32_t j = 0; !l->lost_sync && j < l->cfg.links; j++)
			l->count.sync_loss[j]++;
		forth_port_out_of_sync(l);
		if (forth_port_now(l) > l->rx_quiet)
			l->rx_quiet = forth_port_now(l);
	}
	/* wait until frames on the line have arrived, because they must be
	 * dropped before the reset */
	for (uint32_t k = 0; k < 2; k++)
		drained &= down > ends[k]->delay &&
			   weft_now(c) >= ends[k]->fwd_last &&
			   (!ends[k]->ops->drained ||
			    ends[k]->ops->drained(ends[k]->own, ends[k]));
	if (!drained && down < r->patience)
		return false;
	weft_count(c, drained ? C_RESETS : C_REFUSED, 1);
	weft_count(c, C_TIME, down / WEFT_NS);
	for (uint32_t k = 0; k < 2; k++) {
		if (drained)
			forth_port_credit_reset(ends[k]);
		/* packets that wait for credits may start once the ends are in
		 * sync */
		ends[k]->wake_at = forth_port_in_sync_at(ends[k]);
		forth_port_arm(ends[k]);
	}
	return true;
}

static void reset_event(struct weft_comp *c, uint32_t tag)
{
	struct reset *r = c->state;
	struct forth_port *a = (struct forth_port *)c->on->iface;
	weft_time_t next;

	if (r->began == WEFT_NEVER)
		r->began = weft_now(c);
	if (!fault_reset_look(c, a)) {
		weft_wake(c, 0, weft_now(c) + LOOK_CC * a->word_fs);
		return;
	}
	next = r->began + r->every;
	r->began = WEFT_NEVER;
	if (r->every)
		weft_wake(c, 0, next > weft_now(c) ? next : weft_now(c) + 1);
}

static int reset_start(struct weft_comp *c, struct weft_err *err)
{
	struct reset *r = c->state;

	if (c->on->decl->wire != &forth_wire)
		return weft_fail(
			err, EINVAL,
			"%s: only a FORTH port can be reset: %s.%s is none",
			c->name, c->on->comp->name, c->on->name);
	r->began = WEFT_NEVER;
	if (r->at && c->on->peer)
		weft_wake(c, 0, r->at);
	return 0;
}

WEFT_COMPONENT(fault_reset, .name = "fault.reset", .kind = WEFT_KIND_FAULT,
	       .doc = "an operator that resets a FORTH port and its neighbour",
	       .source = "forth.md 5.7", .state_size = sizeof(struct reset),
	       .params = reset_params, .counters = reset_counters,
	       .n_counters = C_N,
	       .ops = { .start = reset_start,
			.event = reset_event,
			.filter = weft_filter_pass });
