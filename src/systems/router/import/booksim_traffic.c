/* SPDX-License-Identifier: Apache-2.0 */
/* Translates BookSim2's traffic and measurement to net.source and net.meter. */
#include <math.h>
#include <string.h>

#include "systems/router/import/booksim.h"

enum { CALL = 200, SIZES = 8, SIZES_TEXT = 48, DIGITS_MOST = 8, SAMPLES = 3 };

/* ---- patterns ---- */

/* Parameters of a pattern. */
enum params { NONE, DIGITS, SEED, SPOTS, SPOTS_WEIGHED, GROUP };

static const struct {
	const char *name, *here;
	enum params params;
	const char *remark; /* difference, or NULL */
} patterns[] = {
	{ "uniform", "uniform", NONE, NULL },
	{ "bitcomp", "bit_complement", NONE, NULL },
	{ "transpose", "transpose", NONE, NULL },
	{ "bitrev", "bit_reverse", NONE, NULL },
	{ "shuffle", "shuffle", NONE, NULL },
	{ "tornado", "tornado", DIGITS, NULL },
	{ "neighbor", "neighbour", DIGITS, NULL },
	{ "randperm", "permutation", SEED,
	  "the permutation is drawn by another generator" },
	{ "diagonal", "diagonal", NONE, NULL },
	{ "asymmetric", "asymmetric", NONE, NULL },
	{ "taper64", "taper", NONE, NULL },
	{ "background", "background", SPOTS, NULL },
	{ "hotspot", "hotspot", SPOTS_WEIGHED, NULL },
	{ "bad_dragon", "adversarial", GROUP, NULL },
	{ "badperm_yarc", "row_column", DIGITS, NULL },
};
enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

/* Returns number i of a list, or the last number of a shorter list. */
static double number_of(const char *list, uint32_t i)
{
	char item[CALL] = "";

	if (list[0] != '{')
		i = 0;
	while (!booksim_token(list, i, item, sizeof(item)) && i)
		i--;
	return strtod(item, NULL);
}

/* Writes the nodes of a pattern, with their weights if `weighed`. */
static void spots_write(struct booksim *b, FILE *f, const char *params,
			bool weighed)
{
	char nodes[CALL] = "", weights[CALL] = "1", node[CALL];
	uint32_t n = 0;

	booksim_token(params, 0, nodes, CALL);
	booksim_token(params, 1, weights, CALL);
	fprintf(f, "%s, spots: \"", weighed ? ", hot: 1" : "");
	for (; booksim_token(nodes, n, node, CALL); n++) {
		fprintf(f, "%s%.0f", n ? "," : "", strtod(node, NULL));
		if (weighed)
			fprintf(f, ":%.0f", number_of(weights, n));
		if (node[0] == '-') {
			booksim_cannot(b, "traffic",
				       "no node is drawn: its number would do");
			break;
		}
	}
	fprintf(f, "\"");
	if (!n)
		booksim_cannot(b, "traffic",
			       "nodes are missing: hotspot({{5,9},{2,1}}) or "
			       "background({{5,9}}) would do");
}

/* Writes the digits of node numbers that follow from (k, n, xr). A grid of the
 * same k and n has these digits anyway. */
static void digits_write(struct booksim *b, FILE *f, const char *params)
{
	static const char *const keys[] = { "k", "n", "xr" };
	double v[3];
	bool grid = !strcmp(booksim_text(b, "topology"), "mesh") ||
		    !strcmp(booksim_text(b, "topology"), "torus");

	for (uint32_t i = 0; i < 3; i++) {
		char item[CALL];

		v[i] = booksim_token(params, i, item, sizeof(item))
			       ? strtod(item, NULL)
			       : booksim_number(b, keys[i]);
		grid &= v[i] == (i < 2 ? booksim_number(b, keys[i]) : 1);
	}
	if (grid)
		return;
	fprintf(f, ", digits: \"");
	for (uint32_t i = 0; i < v[1] && i < DIGITS_MOST; i++)
		fprintf(f, "%s%.0f", i ? "," : "", v[2] * v[0]);
	fprintf(f, "\"");
}

/* Writes the parameters of pattern i. */
static void params_write(struct booksim *b, FILE *f, uint32_t i,
			 const char *params)
{
	double k = booksim_number(b, "k");

	switch (patterns[i].params) {
	case NONE:
		break;
	case DIGITS:
		digits_write(b, f, params);
		break;
	case SEED:
		fprintf(f, ", permutation: %.0f",
			params[0] ? number_of(params, 0)
				  : booksim_number(b, "perm_seed"));
		break;
	case SPOTS:
	case SPOTS_WEIGHED:
		spots_write(b, f, params, patterns[i].params == SPOTS_WEIGHED);
		break;
	case GROUP:
		if (params[0])
			k = number_of(params, 0);
		fprintf(f, ", group: %.0f", 2 * k * k);
	}
}

static void pattern_write(struct booksim *b, FILE *f)
{
	char name[CALL], params[CALL], text[CALL] = "";
	uint32_t i = 0;

	booksim_token(booksim_text(b, "traffic"), 0, text, sizeof(text));
	booksim_call(text, name, params, CALL);
	while (i < PATTERNS && strcmp(patterns[i].name, name))
		i++;
	if (i == PATTERNS) {
		booksim_cannot(
			b, "traffic",
			"BookSim2 has no such pattern: uniform would do");
		return;
	}
	fprintf(f, ", pattern: %s", patterns[i].here);
	params_write(b, f, i, params);
	if (patterns[i].remark)
		booksim_remark(b, "traffic", "%s", patterns[i].remark);
}

/* ---- sizes ---- */

/* Writes sizes of packets, and returns their mean, 0 after a refusal. */
static double sizes_write(struct booksim *b, FILE *f)
{
	char list[CALL] = "", rates[CALL] = "", mix[CALL] = "", item[CALL];
	double sum = 0, weights = 0;
	size_t len = 0;
	uint32_t n = 0;

	booksim_token(booksim_text(b, "packet_size"), 0, list, CALL);
	booksim_token(booksim_text(b, "packet_size_rate"), 0, rates, CALL);
	for (; n <= SIZES && booksim_token(list, n, item, CALL); n++) {
		double size = strtod(item, NULL), weight = number_of(rates, n);

		if (len < CALL)
			len += (size_t)snprintf(mix + len, CALL - len,
						"%s%.0f:%.0f", n ? "," : "",
						size, weight);
		sum += size < 1 ? NAN : size * weight;
		weights += weight;
	}
	if (!n || n > SIZES || len >= SIZES_TEXT || !(sum >= weights) ||
	    !(weights > 0)) {
		booksim_cannot(b, "packet_size",
			       "1 to %d sizes of at least a flit would do",
			       SIZES);
		return 0;
	}
	if (n == 1)
		fprintf(f, ", flits: %.0f", sum / weights);
	else
		fprintf(f, ", sizes: \"%s\"", mix);
	return sum / weights;
}

/* ---- arrivals ---- */

/* Writes the process on_off(alpha, beta, r1). A negative value among the three
 * is left out, because it follows from the other two. */
static void on_off_write(struct booksim *b, FILE *f, const char *params,
			 double flits)
{
	static const struct {
		const char *key, *here;
	} of[] = { { "burst_alpha", "start" },
		   { "burst_beta", "stop" },
		   { "burst_r1", "peak" } };

	fprintf(f, ", arrivals: on_off");
	for (uint32_t i = 0; i < 3; i++) {
		char item[CALL];
		double v = booksim_token(params, i, item, sizeof(item))
				   ? strtod(item, NULL)
				   : booksim_number(b, of[i].key);

		if (v > 1)
			booksim_cannot(b, "injection_process",
				       "%s is %g: at most 1 would do",
				       of[i].key, v);
		if (v > 0)
			fprintf(f, ", %s: %.9g", of[i].here,
				i == 2 ? v * flits : v);
	}
}

static void arrivals_write(struct booksim *b, FILE *f, double flits)
{
	char name[CALL], params[CALL], text[CALL];
	double rate = booksim_differs(b, "injection_rate")
			      ? number_of(booksim_text(b, "injection_rate"), 0)
			      : booksim_number(b, "injection_rate");

	if (booksim_on(b, "injection_rate_uses_flits") && flits > 0)
		rate /= flits;
	if (!(rate >= 0 && rate <= 1))
		booksim_cannot(b, "injection_rate",
			       "0 to 1 packets per cycle would do");
	fprintf(f, ", load: %.9g", rate * flits);
	booksim_token(booksim_text(b, "injection_process"), 0, text, CALL);
	booksim_call(text, name, params, CALL);
	if (!strcmp(name, "on_off"))
		on_off_write(b, f, params, flits);
	else if (strcmp(name, "bernoulli"))
		booksim_cannot(b, "injection_process",
			       "BookSim2 has none of this name: bernoulli or "
			       "on_off would do");
}

static bool booksim_batch(const struct booksim *b)
{
	return !strcmp(booksim_text(b, "sim_type"), "batch");
}

/* Packets follow each other as fast as they can, so that the rate does not
 * count. */
static void batch_write(struct booksim *b, FILE *f)
{
	double most = booksim_number(b, "max_outstanding_requests");

	if (booksim_number(b, "batch_size") < 1)
		booksim_cannot(b, "batch_size", "1 or more would do");
	fprintf(f, ", batch: %.0f", booksim_number(b, "batch_size"));
	if (most > 0)
		fprintf(f, ", outstanding: %.0f", most);
}

void booksim_traffic(struct booksim *b, FILE *f)
{
	double flits;

	fprintf(f, "traffic: { type: net.source, count: %u, self: yes",
		b->nodes);
	pattern_write(b, f);
	flits = sizes_write(b, f);
	if (booksim_batch(b))
		batch_write(b, f);
	else
		arrivals_write(b, f, flits);
	fprintf(f, " }\n");
}

/* ---- measurement ---- */

/* Asks for three sample periods, or for fewer if max_samples leaves fewer.
 * BookSim2 measures until latency has changed little in three periods. */
void booksim_measurement(struct booksim *b, FILE *f)
{
	double period = booksim_number(b, "sample_period");
	double warmup = booksim_number(b, "warmup_periods");
	double most = booksim_number(b, "max_samples");
	double samples = most - warmup < SAMPLES ? most - warmup : SAMPLES;
	const char *type = booksim_text(b, "sim_type");

	if (booksim_batch(b)) {
		fprintf(f, "  net: { warmup: 0 }\n");
		return;
	}
	if (strcmp(type, "latency") && strcmp(type, "throughput"))
		booksim_cannot(b, "sim_type",
			       "BookSim2 has none of this name: latency would "
			       "do");
	if (period < 1)
		booksim_cannot(b, "sample_period", "1 or more would do");
	if (samples < 1)
		booksim_cannot(b, "max_samples",
			       "the warm-up takes all samples: %.0f would do",
			       warmup + SAMPLES);
	if (warmup < 1)
		fprintf(f, "  net: { detect: yes, measure: %.0f }\n",
			samples * period);
	else
		fprintf(f, "  net: { warmup: %.0f, measure: %.0f }\n",
			warmup * period, samples * period);
}
