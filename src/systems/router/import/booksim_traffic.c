/* SPDX-License-Identifier: Apache-2.0 */
/* Translates BookSim2's traffic to net.source. */
#include <math.h>
#include <string.h>

#include "systems/router/import/booksim.h"

enum {
	CLASSES = 16,
	FLITS = 4096,
	OUTSTANDING = 1000000,
	CALL = 200,
	SIZES = 8,
	SIZES_TEXT = 48,
	DIGITS_MOST = 8,
	SAMPLES = 3
};

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

/* Copies the value of a setting for class c to buf: item c of a list, or its
 * last item if the list is shorter. */
static void class_text(const struct booksim *b, const char *key, uint32_t c,
		       char *buf, size_t size)
{
	const char *text = booksim_text(b, key);

	buf[0] = '\0';
	if (text[0] != '{')
		c = 0;
	while (!booksim_token(text, c, buf, size) && c)
		c--;
}

/* Returns the number of a setting for class c. */
static double class_number(const struct booksim *b, const char *key, uint32_t c)
{
	char text[CALL];

	class_text(b, key, c, text, sizeof(text));
	return strtod(text, NULL);
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
		if (strtod(node, NULL) >= b->nodes)
			booksim_cannot(
				b, "traffic",
				"there is no node %.20s: 0 to %u would do",
				node, b->nodes - 1);
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

/* Writes the digits of node numbers that follow from (k, n, xr). A grid with
 * the same k and n has these digits by default. */
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

static void pattern_write(struct booksim *b, FILE *f, uint32_t c)
{
	char name[CALL], params[CALL], text[CALL];
	uint32_t i = 0;

	class_text(b, "traffic", c, text, sizeof(text));
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
static double sizes_write(struct booksim *b, FILE *f, uint32_t c)
{
	char list[CALL], rates[CALL], mix[CALL] = "", item[CALL];
	double sum = 0, weights = 0;
	size_t len = 0;
	uint32_t n = 0;

	class_text(b, "packet_size", c, list, CALL);
	class_text(b, "packet_size_rate", c, rates, CALL);
	for (; n <= SIZES && booksim_token(list, n, item, CALL); n++) {
		double size = strtod(item, NULL), weight = number_of(rates, n);

		if (len < CALL)
			len += (size_t)snprintf(mix + len, CALL - len,
						"%s%.0f:%.0f", n ? "," : "",
						size, weight);
		sum += size < 1 || size > FLITS ? NAN : size * weight;
		weights += weight;
	}
	if (!n || n > SIZES || len >= SIZES_TEXT || !(sum >= weights) ||
	    !(weights > 0)) {
		booksim_cannot(b, "packet_size",
			       "1 to %d sizes of at least a flit and at most "
			       "%d would do",
			       SIZES, FLITS);
		return 0;
	}
	if (n == 1)
		fprintf(f, ", flits: %.0f", sum / weights);
	else
		fprintf(f, ", sizes: \"%s\"", mix);
	return sum / weights;
}

/* ---- requests and replies ---- */

/* Mean number of flits of a packet that a source makes, and number of flits by
 * which BookSim2 divides a rate in flits. */
struct means {
	double own, divisor;
};

/* Writes a range of VCs. A bound below 0 is replaced with that of the lower
 * half of the VCs, or of the upper half in ranges of replies. */
static void range_write(struct booksim *b, FILE *f, const char *param,
			const char *of, bool reply)
{
	uint32_t vcs = (uint32_t)booksim_number(b, "num_vcs");
	char key[40];
	double first, last;

	snprintf(key, sizeof(key), "%s_begin_vc", of);
	first = booksim_number(b, key);
	first = first < 0 ? reply ? vcs / 2 : 0 : first;
	snprintf(key, sizeof(key), "%s_end_vc", of);
	last = booksim_number(b, key);
	last = last >= 0 ? last : reply ? vcs - 1.0 : vcs / 2 - 1.0;
	if (last >= vcs || first > last)
		booksim_cannot(
			b, key,
			"with num_vcs = %u VCs are %.0f to %.0f: %s_begin_vc=-1 "
			"and %s=-1 would do",
			vcs, first, last, of, key);
	fprintf(f, ", %s: %.0f-%.0f", param, first, last);
}

/* Writes the sizes and VCs of reads and writes of a class. BookSim2 divides a
 * rate in flits by the mean size of a transaction, rounded down. */
static struct means requests_write(struct booksim *b, FILE *f, uint32_t c)
{
	static const struct {
		const char *key, *param, *range, *vcs;
	} of[] = {
		{ "read_request_size", "flits", "read_request", "vcs" },
		{ "read_reply_size", "reply", "read_reply", "reply_vcs" },
		{ "write_request_size", "write_flits", "write_request",
		  "write_vcs" },
		{ "write_reply_size", "write_reply", "write_reply",
		  "write_reply_vcs" },
	};
	double writes = class_number(b, "write_fraction", c), size[4], sum = 0;

	for (uint32_t i = 0; i < 4; i++) {
		size[i] = class_number(b, of[i].key, c);
		if (!(size[i] >= 1 && size[i] <= FLITS))
			booksim_cannot(b, of[i].key, "1 to %d would do", FLITS);
		fprintf(f, ", %s: %.0f", of[i].param, size[i]);
		range_write(b, f, of[i].vcs, of[i].range, i & 1);
		sum += size[i];
	}
	if (!(writes >= 0 && writes <= 1))
		booksim_cannot(b, "write_fraction", "0 to 1 would do");
	fprintf(f, ", writes: %.9g", writes);
	return (struct means){ (1 - writes) * size[0] + writes * size[2],
			       floor(sum / 2) };
}

/* ---- arrivals ---- */

/* Writes the process on_off(alpha, beta, r1). Omits a negative value, because
 * it follows from the other two. */
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

static void arrivals_write(struct booksim *b, FILE *f, struct means m,
			   uint32_t c)
{
	char name[CALL], params[CALL], text[CALL];
	double rate = class_number(b, "injection_rate", c);

	if (booksim_on(b, "injection_rate_uses_flits") && m.divisor > 0)
		rate /= m.divisor;
	if (!(rate >= 0 && rate <= 1))
		booksim_cannot(b, "injection_rate",
			       "0 to 1 packets per cycle would do");
	fprintf(f, ", load: %.9g", rate * m.own);
	class_text(b, "injection_process", c, text, CALL);
	booksim_call(text, name, params, CALL);
	if (!strcmp(name, "on_off"))
		on_off_write(b, f, params, m.own);
	else if (strcmp(name, "bernoulli"))
		booksim_cannot(b, "injection_process",
			       "BookSim2 has none of this name: bernoulli or "
			       "on_off would do");
}

bool booksim_batch(const struct booksim *b)
{
	return !strcmp(booksim_text(b, "sim_type"), "batch");
}

/* Writes a batch instead of arrivals. A batch has no rate, because its packets
 * follow each other as fast as they can. */
static void batch_write(struct booksim *b, FILE *f)
{
	double most = booksim_number(b, "max_outstanding_requests");

	if (booksim_number(b, "batch_size") < 1)
		booksim_cannot(b, "batch_size", "1 or more would do");
	fprintf(f, ", batch: %.0f", booksim_number(b, "batch_size"));
	if (most > OUTSTANDING)
		booksim_cannot(b, "max_outstanding_requests",
			       "at most %d would do", OUTSTANDING);
	if (most > 0)
		fprintf(f, ", outstanding: %.0f", most);
}

static void priority_write(struct booksim *b, FILE *f, uint32_t c)
{
	double priority = class_number(b, "class_priority", c);

	if (!(priority >= 0 && priority <= 255))
		booksim_cannot(b, "class_priority", "0 to 255 would do");
	fprintf(f, ", priority: %.0f", priority);
}

/* Writes the keys of a class. */
static void class_write(struct booksim *b, FILE *f, uint32_t c)
{
	bool replies = class_number(b, "use_read_write", c) > 0;
	struct means m;

	pattern_write(b, f, c);
	if (replies) {
		m = requests_write(b, f, c);
	} else {
		m.own = sizes_write(b, f, c);
		m.divisor = m.own;
	}
	if (!strcmp(booksim_text(b, "priority"), "class"))
		priority_write(b, f, c);
	if (!booksim_batch(b)) {
		arrivals_write(b, f, m, c);
		return;
	}
	if (replies)
		booksim_cannot(b, "use_read_write",
			       "BookSim2 counts replies as packets of a batch: "
			       "0 would do");
	batch_write(b, f);
}

void booksim_traffic(struct booksim *b, FILE *f)
{
	double classes = booksim_number(b, "classes");

	if (classes < 1 || classes > CLASSES)
		booksim_cannot(b, "classes", "1 to %d would do", CLASSES);
	else if (classes > 1 && booksim_batch(b))
		booksim_cannot(b, "classes",
			       "classes of BookSim2 share a batch: 1 would do");
	if (!(classes > 1 && classes <= CLASSES)) {
		fprintf(f, "traffic: { type: net.source, count: %u, self: yes",
			b->nodes);
		class_write(b, f, 0);
		fprintf(f, " }\n");
		return;
	}
	fprintf(f,
		"traffic:\n  type: net.source\n  count: %u\n  self: yes\n"
		"  classes:\n",
		b->nodes);
	for (uint32_t c = 0; c < classes; c++) {
		fprintf(f, "    - { name: class%u", c);
		class_write(b, f, c);
		fprintf(f, " }\n");
	}
}
