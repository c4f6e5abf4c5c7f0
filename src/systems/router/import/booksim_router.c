/* SPDX-License-Identifier: Apache-2.0 */
/* Translates settings of BookSim2's router iq to parameters of net.router. */
#include <string.h>

#include "systems/router/import/booksim.h"

/* Numbers and switches that BookSim2 and Weft both have, with the range that
 * Weft allows for a number. */
static const struct {
	const char *key, *param;
	bool on; /* yes or no */
	double least, most;
} same[] = {
	{ "num_vcs", "vcs", false, 1, 32 },
	{ "routing_delay", "t_route", false, 0, 16 },
	{ "vc_alloc_delay", "t_vc_alloc", false, 1, 16 },
	{ "sw_alloc_delay", "t_sw_alloc", false, 1, 16 },
	{ "credit_delay", "credit_delay", false, 0, 1024 },
	{ "input_speedup", "input_speedup", false, 1, 8 },
	{ "output_speedup", "output_speedup", false, 1, 8 },
	{ "speculative", "speculative", true, 0, 0 },
	{ "hold_switch_for_packet", "hold", true, 0, 0 },
	{ "wait_for_tail_credit", "wait_for_tail", true, 0, 0 },
	{ "vc_busy_when_full", "busy_when_full", true, 0, 0 },
};

static const struct {
	const char *name, *here;
} allocators[] = {
	{ "islip", "islip" },
	{ "separable_input_first", "input_first" },
	{ "separable_output_first", "output_first" },
	{ "wavefront", "wavefront" },
	{ "max_size", "maximum" },
};
enum { ALLOCATORS = sizeof(allocators) / sizeof(allocators[0]), CALL = 40 };

/* Writes an allocator. The parameter of islip is its number of iterations. The
 * parameter of a separable allocator is its arbiter, which goes to *arbiter_p.
 */
static void allocator_write(struct booksim *b, FILE *f, const char *key,
			    const char **arbiter_p, char *params)
{
	const char *text = booksim_text(b, key);
	char name[CALL];
	uint32_t i = 0;

	booksim_call(text, name, params, CALL);
	while (i < ALLOCATORS && strcmp(allocators[i].name, name))
		i++;
	if (i == ALLOCATORS) {
		booksim_cannot(
			b, key,
			"there is none: islip, separable_input_first, "
			"separable_output_first, wavefront or max_size would do");
		return;
	}
	fprintf(f, ",\n    %c%c_alloc: %s", key[0], key[1], allocators[i].here);
	if (!strcmp(name, "islip") && params[0] &&
	    !(strtod(params, NULL) >= 1 && strtod(params, NULL) <= 16))
		booksim_cannot(b, key, "islip(1) to islip(16) would do");
	if (!strcmp(name, "islip"))
		fprintf(f, ", %c%c_iterations: %.0f", key[0], key[1],
			params[0] ? strtod(params, NULL) : 1);
	*arbiter_p = NULL;
	if (!strncmp(name, "separable", 9))
		*arbiter_p = params[0] ? params : "round_robin";
}

/* Writes the kind of arbiter, which in Weft is the same for both allocators.
 * With BookSim2's priorities `age` and `class`, the arbiter compares these
 * first. */
static void arbiter_write(struct booksim *b, FILE *f, const char *vc,
			  const char *sw)
{
	const char *priority = booksim_text(b, "priority");
	const char *arbiter = vc ? vc : sw ? sw : "round_robin";
	const char *from =
		vc || sw ? vc ? "vc_allocator" : "sw_allocator" : "arb_type";

	if (vc && sw && strcmp(vc, sw))
		booksim_cannot(b, "sw_allocator",
			       "both allocators have one kind of arbiter: "
			       "the same in both would do");
	if (strcmp(arbiter, "round_robin") && strcmp(arbiter, "matrix"))
		booksim_cannot(b, from,
			       "there is no arbiter '%.20s': round_robin or "
			       "matrix would do",
			       arbiter);
	if (!strcmp(priority, "age") || !strcmp(priority, "class"))
		arbiter = priority;
	else if (strcmp(priority, "none"))
		booksim_cannot(b, "priority",
			       "packets have no other: none, age or class "
			       "would do");
	fprintf(f, ", arbiter: %s", arbiter);
}

static uint32_t buffer_of(struct booksim *b)
{
	double all = booksim_number(b, "buf_size");
	double vcs = booksim_number(b, "num_vcs");

	if (all > 0 && vcs > 0)
		return (uint32_t)(all / vcs);
	return (uint32_t)booksim_number(b, "vc_buf_size");
}

static void number_check(struct booksim *b, const char *key, double value,
			 double least, double most)
{
	if (!(value >= least && value <= most))
		booksim_cannot(b, key, "%g to %g would do", least, most);
}

/* Refuses numbers that net.router does not take. */
static void numbers_check(struct booksim *b)
{
	double all = booksim_number(b, "buf_size");
	double vcs = booksim_number(b, "num_vcs");
	double prepare = booksim_number(b, "st_prepare_delay");

	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!same[i].on)
			number_check(b, same[i].key,
				     booksim_number(b, same[i].key),
				     same[i].least, same[i].most);
	number_check(b, "internal_speedup",
		     booksim_number(b, "internal_speedup"), 1, 8);
	if (all > 0 && vcs > 0)
		number_check(b, "buf_size", all, vcs, 4096 * vcs);
	else
		number_check(b, "vc_buf_size", booksim_number(b, "vc_buf_size"),
			     1, 4096);
	number_check(b, "st_prepare_delay", prepare, 0, 16);
	number_check(b, "st_final_delay", booksim_number(b, "st_final_delay"),
		     prepare < 1, 16 - prepare);
}

void booksim_router(struct booksim *b, FILE *f)
{
	static const char *const stages[] = { "routing_delay", "vc_alloc_delay",
					      "sw_alloc_delay" };
	double cross = booksim_number(b, "st_prepare_delay") +
		       booksim_number(b, "st_final_delay");
	const char *arbiter[2] = { NULL, NULL };
	char params[2][CALL] = { "", "" };
	bool several = cross > 1;

	numbers_check(b);
	fprintf(f, "  switch: { buf_flits: %u, t_cross: %.0f, speedup: %g",
		buffer_of(b), cross, booksim_number(b, "internal_speedup"));
	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		double v = booksim_number(b, same[i].key);

		fprintf(f, "%s%s: ", i % 4 ? ", " : ",\n    ", same[i].param);
		if (same[i].on)
			fprintf(f, "%s", v > 0 ? "yes" : "no");
		else
			fprintf(f, "%.0f", v);
	}
	for (uint32_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		several |= booksim_number(b, stages[i]) > 1;
	allocator_write(b, f, "vc_allocator", &arbiter[0], params[0]);
	allocator_write(b, f, "sw_allocator", &arbiter[1], params[1]);
	arbiter_write(b, f, arbiter[0], arbiter[1]);
	/* BookSim2 does not pipeline stages of several cycles. */
	fprintf(f, ", pipelined: %s }\n", several ? "no" : "yes");
}
