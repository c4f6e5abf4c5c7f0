/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog of a run: ends one in which nothing but time passes.
 *
 * Retries and refreshes keep the clock going for ever when a program waits for
 * something that cannot come.  Once a period of simulated time (run.watchdog)
 * the watchdog asks the hosts whether any program has got what it waited for;
 * if none has, twice in turn, and none sleeps or computes for a period or more,
 * the run ends, and weft_sim_finish names each program and what it waits for.
 *
 * It looks between two events and adds none: the run is the same without it.
 * Attached processes are not watched: their gate knows whether they wait. */
#include <stdio.h>

#include "base/units.h"
#include "front/run/run.h"
#include "host/prog.h"
#include "measure/result.h"

bool watchdog_barks(struct watchdog *w, struct weft_sim *sim)
{
	uint64_t steps = weft_progs_steps(sim);
	char period[32], text[160];

	/* A program that rested at the last look may have gone on since. */
	if (steps != w->steps || weft_progs_resting(sim, w->period))
		w->quiet = 0;
	else if (++w->quiet == 2) {
		units_print(WEFT_P_TIME, "", &w->period, period,
			    sizeof(period));
		snprintf(
			text, sizeof(text),
			"nothing but time passed for %s (run.watchdog): no program got what it waits for",
			period);
		result_fail(weft_sim_result(sim), text);
		return true;
	}
	w->steps = steps;
	w->due += w->period;
	return false;
}
