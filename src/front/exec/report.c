/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how the processes of `weft exec` ended. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "front/exec/exec.h"

/* Adds a failure for process i to r. The message names a rank only if each
 * process is one rank, because one mpirun process stands for all ranks. */
static void report_child(const struct exec_job *j, size_t i, int status,
			 struct weft_result *r)
{
	char who[200], line[320];

	if (j->pids.n == j->n)
		snprintf(who, sizeof(who), "rank %zu (%.160s)", i, j->argv[0]);
	else
		snprintf(who, sizeof(who), "%.160s", j->argv[0]);
	if (WIFSIGNALED(status))
		snprintf(line, sizeof(line), "%s was ended by signal %d (%s)",
			 who, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(line, sizeof(line), "%s ended with status %d", who,
			 WEXITSTATUS(status));
	result_fail(r, line);
}

/* Collects the calls, flows and ranks of the server into c, sorted by rank and
 * name so that the order does not depend on time. */
static void report_calls(struct att_server *s, struct calls *c)
{
	struct att_rank r;
	struct att_call k;
	struct att_flow w;

	for (size_t i = 0; att_server_rank(s, i, &r); i++)
		calls_rank_add(c, &(struct calls_rank){ r.rank, r.node, r.start,
							r.over });
	for (size_t i = 0; att_server_call(s, i, &k); i++)
		calls_row_add(c, &(struct calls_row){ k.rank, (char *)k.name,
						      k.calls, k.bytes, k.time,
						      k.max });
	for (size_t i = 0; att_server_flow(s, i, &w); i++)
		calls_flow_add(c, &(struct calls_flow){ w.src, w.dst,
							w.messages, w.bytes });
	calls_sort(c);
}

void exec_report(struct exec_job *j, struct weft_result *r)
{
	struct att_sum s;
	int status;

	for (size_t i = 0; i < j->pids.n; i++)
		if (att_server_status(j->server, i, &status) && status)
			report_child(j, i, status, r);
	att_server_sum(j->server, &s);
	result_counter_set(r, "exec.joined", "processes", s.joined);
	result_counter_set(r, "exec.died", "processes", s.died);
	result_counter_set(r, "exec.broken", "processes", s.broken);
	result_counter_set(r, "exec.stopped", "processes", s.stopped);
	result_counter_set(r, "exec.handovers", "times", s.handovers);
	result_counter_set(r, "exec.commands", "commands", s.commands);
	result_counter_set(r, "exec.events", "events", s.events);
	result_counter_set(r, "exec.violations", "commands", s.violations);
	if (s.software)
		result_metric_set(r, "exec.software", "us",
				  (double)s.software / (double)WEFT_US);
	report_calls(j->server, &r->calls);
	if (calls_measured(&r->calls))
		result_metric_set(r, "exec.measured", "us",
				  (double)calls_measured(&r->calls) /
					  (double)WEFT_US);
}

void exec_summary(struct exec_job *j, const struct weft_result *r, FILE *f)
{
	weft_time_t t = 0;
	struct att_sum s;
	char now[40], all[40], call[40];

	att_server_sum(j->server, &s);
	for (size_t i = 0; i < r->n_counters; i++)
		if (!strcmp(r->counters[i].name, "sim.time"))
			t = r->counters[i].value;
	units_print(WEFT_P_TIME, "", &t, now, sizeof(now));
	fprintf(f,
		"weft: %u of %u processes attached, clock %s: %s simulated, %" PRIu64
		" hand-overs, %" PRIu64 " causality violations%s\n",
		s.joined, j->n, exec_clocks[j->clock], now, s.handovers,
		s.violations,
		j->clock != WEFT_CLOCK_NONE && !s.violations ? " (exact)" : "");
	if (!s.joined)
		fprintf(f,
			"weft: no process has joined the machine: is the program one of MPI or libfabric, or linked with libweft (--raw)?\n");
	/* Prints the processor time that libraries have charged to the
	 * nodes. */
	if (s.software) {
		units_print(WEFT_P_TIME, "", &s.software, all, sizeof(all));
		units_print(WEFT_P_TIME, "", &s.cost_call, call, sizeof(call));
		fprintf(f, "weft: software of the processes %s (%s a call)\n",
			all, call);
	}
	exec_calls_table(&r->calls, f);
}
