/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, overrides, sweeps and builds an experiment whose text is the input.
 * No text may crash the program. A text that asks for thousands of nodes is
 * only parsed, because building it would take too long. */
#include <ctype.h>
#include <stdlib.h>

#include "front/exp/exp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns true if the text has four digits in a row. Such a number may be a
 * count of nodes. */
static bool asks_much(const uint8_t *data, size_t size)
{
	unsigned digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = isdigit(data[i]) ? digits + 1 : 0;
		if (digits > 3)
			return true;
	}
	return false;
}

static void open_cases(struct exp *e)
{
	for (size_t i = 0; i < e->n_points && i < 3; i++) {
		struct weft_err err = { 0 };
		struct exp_case c;

		if (exp_case_open(e, i, &c, &err)) {
			/* every refusal must name its reason */
			if (!err.msg[0])
				abort();
			continue;
		}
		exp_case_close(&c);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const sets[] = { "seed=2", "run.until=1us" };
	struct exp_opts opts = { .set = sets,
				 .n_set = size % 3,
				 .n_lenient = size % 2 };
	struct weft_err err = { 0 };
	struct registry reg;
	struct exp *e;

	registry_init(&reg);
	if (exp_load_text("fuzz", (const char *)data, size, &opts, &reg, &e,
			  &err)) {
		if (!err.msg[0])
			abort();
	} else {
		if (!asks_much(data, size))
			open_cases(e);
		exp_free(e);
	}
	registry_fini(&reg);
	return 0;
}
