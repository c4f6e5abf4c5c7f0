/* SPDX-License-Identifier: Apache-2.0 */
/* When a fault is active: once, at regular intervals, or at random. Shared by
 * all faults that start and end. */
#ifndef SIM_FAULT_SCHEDULE_H
#define SIM_FAULT_SCHEDULE_H

#include "base/vec.h"
#include "weft/sim.h"

struct outage_span {
	weft_time_t from, to; /* WEFT_NEVER as `to`: for good */
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
	bool over; /* no more spans follow */
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

/* For ops.init of such a class: checks the parameters. Random spans are drawn
 * from c->rng. Returns 0 or a negative error. */
int outage_init(struct weft_comp *c, struct weft_err *err);
/* For ops.fini: frees the spans. */
void outage_fini(struct weft_comp *c);
/* Returns span number i, or NULL if there are fewer. The pointer is valid until
 * the next call. */
const struct outage_span *outage_get(struct outage *o, uint32_t i);
/* Returns the first span from number *i_p on that ends after t and stores its
 * number in *i_p, or NULL. Callers keep *i_p, so that spans in the past are not
 * searched again. */
const struct outage_span *outage_after(struct outage *o, uint32_t *i_p,
				       weft_time_t t);

#endif
