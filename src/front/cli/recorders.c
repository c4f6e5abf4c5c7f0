/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the files that are written during a run. */
#include "front/cli/recorders.h"

#include <errno.h>

#include "base/units.h"
#include "front/out/file.h"
#include "front/run/capture.h"
#include "front/trace/timeline.h"

static int recorders_tap(void *arg, struct weft_sim *sim, struct weft_err *err)
{
	struct recorders *l = arg;

	if (l->timeline)
		timeline_listen(l->timeline, sim);
	if (l->waves)
		waves_listen(l->waves, sim);
	return l->cap ? capture_tap(l->cap, sim, err) : 0;
}

static void recorders_untap(void *arg)
{
	struct recorders *l = arg;

	if (l->timeline)
		timeline_flush(l->timeline);
	if (l->cap)
		capture_untap(l->cap);
}

/* Returns the name of an option that needs a recorder, or NULL. */
static const char *recorders_wanted(const struct cli *c)
{
	return c->capture.n ? "capture"
	       : c->trace   ? "trace"
	       : c->waves   ? "waves"
			    : NULL;
}

static int file_limit(const char *text, uint64_t *limit, struct weft_err *err)
{
	struct weft_err sub = { 0 };

	*limit = OUT_LIMIT;
	if (!text || (!units_parse(WEFT_P_BYTES, "", text, limit,
				   sizeof(*limit), &sub) &&
		      !units_check(WEFT_P_BYTES, "1KiB..", limit, &sub)))
		return 0;
	return weft_fail(err, EINVAL, "--file-limit: %s", sub.msg);
}

static int open_all(const struct cli *c, struct recorders *l,
		    struct weft_err *err)
{
	uint64_t limit;

	if (file_limit(c->file_limit, &limit, err))
		return -EINVAL;
	if (c->capture.n &&
	    capture_open(c->capture_file ? c->capture_file : "weft.pcapng",
			 limit, c->capture.at, c->capture.n, &l->cap, err))
		return -EINVAL;
	if (c->trace && timeline_open(c->trace, limit, &l->timeline, err))
		return -EINVAL;
	if (c->waves && waves_open(c->waves, &l->waves, err))
		return -EINVAL;
	return 0;
}

int recorders_check(const struct cli *c, const char *input,
		    struct weft_err *err)
{
	const struct out_name names[] = {
		{ "the experiment", input },
		{ "--out", c->out },
		{ "--follow", c->follow },
		{ "--capture-file", c->capture.n && !c->capture_file
					    ? "weft.pcapng"
					    : c->capture_file },
		{ "--trace", c->trace },
		{ "--waves", c->waves },
		{ 0 },
	};

	return out_names_differ(names, err);
}

int recorders_open(const struct cli *c, struct exp *e, struct recorders *l,
		   struct weft_err *err)
{
	struct weft_err unused = { 0 };

	*l = (struct recorders){ 0 };
	if (c->capture_file && !c->capture.n)
		return weft_fail(
			err, EINVAL,
			"run: --capture-file needs --capture, e.g. --capture all");
	if (c->file_limit && !recorders_wanted(c))
		return weft_fail(
			err, EINVAL,
			"run: --file-limit needs a file, e.g. --capture all");
	if (!recorders_wanted(c))
		return 0;
	if (e->n_points > 1 || e->search)
		return weft_fail(
			err, EINVAL,
			"run: --%s writes one run down, %s has several: choose one, e.g. --set sweep=none",
			recorders_wanted(c), c->args.at[0]);
	if (open_all(c, l, err)) {
		recorders_close(l, false, &unused);
		return -EINVAL;
	}
	e->on_open = recorders_tap;
	e->on_close = recorders_untap;
	e->hook_arg = l;
	return 0;
}

int recorders_close(struct recorders *l, bool keep, struct weft_err *err)
{
	struct weft_err later = { 0 };
	int ret = 0;

	if (l->cap)
		ret = capture_close(l->cap, keep, err);
	if (l->timeline)
		ret |= timeline_close(l->timeline, keep, ret ? &later : err);
	if (l->waves)
		ret |= waves_close(l->waves, keep, ret ? &later : err);
	*l = (struct recorders){ 0 };
	return ret;
}
