/* SPDX-License-Identifier: Apache-2.0 */
/* Times at which a fault is active: once, at regular intervals, or at random.
 * All faults that start and end use this schedule. */
#ifndef SIM_FAULT_SCHEDULE_H
#define SIM_FAULT_SCHEDULE_H

#include "base/vec.h"
#include "weft/sim.h"

struct outage_span {
	/* the fault is active from `from` to `to`, or for ever if `to` is
	 * WEFT_NEVER */
	weft_time_t from, to;
};

struct outage {
	/* parameters */
	weft_time_t at, length, every;
	bool random;
	/* spans drawn so far, in order of time */
	struct weft_rng *rng;
	struct {
		VEC(struct outage_span);
	} spans;
	bool over; /* no further spans will be drawn */
};

/* Parameters of a class whose state begins with a struct outage. */
#define OUTAGE_PARAMS                                                          \
	WEFT_PARAM(TIME, struct outage, at, "0", "", OWN, "when it begins"),   \
		WEFT_PARAM(TIME, struct outage, length, "0", "", OWN,          \
			   "how long it lasts; 0 = for good"),                 \
		WEFT_PARAM(TIME, struct outage, every, "0", "", OWN,           \
			   "from one beginning to the next; 0 = only once"),   \
		WEFT_PARAM(BOOL, struct outage, random, "no", "", OWN,         \
			   "`length` and the time in between are means of "    \
			   "exponential ones")

/* Checks the parameters. Called by ops.init of a class with OUTAGE_PARAMS.
 * Random spans are drawn from c->rng. Returns 0 or a negative error. */
int outage_init(struct weft_comp *c, struct weft_err *err);
/* Frees the spans. Called by ops.fini of a class with OUTAGE_PARAMS. */
void outage_fini(struct weft_comp *c);
/* Returns span number i, or NULL if there are fewer. The pointer is valid until
 * the next call. */
const struct outage_span *outage_get(struct outage *o, uint32_t i);
/* Returns the first span that ends after t, or NULL. Searches from span number
 * *i_p on, and sets *i_p to the number of the result. A caller passes the same
 * i_p again, so that past spans are not searched twice. */
const struct outage_span *outage_after(struct outage *o, uint32_t *i_p,
				       weft_time_t t);

#endif
