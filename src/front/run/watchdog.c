/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog ends a run in which no program makes progress.
 *
 * Retries and refreshes give events for ever when a program waits for an
 * arrival that cannot happen. Once in a period of simulated time (run.watchdog)
 * the watchdog asks the hosts whether a wait of any program has ended. The run
 * ends if no wait has ended in two periods in a row, unless a program sleeps or
 * computes for a period or more. weft_sim_finish then names each program and
 * the object of its wait.
 *
 * The watchdog checks between two events and adds none, so that it does not
 * change the run. Attached processes are not watched, because their gate knows
 * whether they wait. */
#include <stdio.h>

#include "base/units.h"
#include "front/run/run.h"
#include "host/prog.h"
#include "measure/result.h"

bool watchdog_barks(struct watchdog *w, struct weft_sim *sim)
{
	uint64_t steps = weft_progs_steps(sim);
	char period[32], text[160];

	/* Only two quiet checks in a row end the run, because a program that
	 * slept at the last check may have continued since. */
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
