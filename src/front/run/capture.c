/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches captures to lines, see capture.h. A line whose port reports its
 * frames has a listener. Other lines, and lines behind faults, have a filter
 * that records each transmission and passes it on. This filter is behind the
 * faults, so that the file shows frames as the receiver gets them. A capture
 * does not change the behaviour of a line. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/run/capture_internal.h"

/* ---- attaching ---- */

/* Returns the description of a port's line for captures, or NULL if the line
 * cannot be captured. */
static const struct weft_wire_capture *wire_of(const struct weft_port *p)
{
	if (p->kind != WEFT_PORT_LINK || !p->peer || !p->decl->wire)
		return NULL;
	return p->decl->wire->capture;
}

/* Adds to port p the filter that records frames. p->needs_frames does not
 * change, because only faults need real frames. */
static struct tap *tap_filter(struct weft_port *p, struct weft_err *err)
{
	bool needs_frames = p->needs_frames;
	char full[200];
	struct weft_comp *c;

	snprintf(full, sizeof(full), "~capture.%s.%s", p->comp->name, p->name);
	c = weft_sim_add(p->comp->sim, &weft_class_capture, full, err);
	if (!c || weft_comp_init(c, err) || weft_filter_add(p, c, err))
		return NULL;
	p->needs_frames = needs_frames;
	return c->state;
}

static int port_tap(struct capture *cap, struct weft_port *p, const char *name,
		    struct weft_err *err)
{
	const struct weft_wire_capture *wire = wire_of(p);
	bool tells = p->decl->wire->tells && !p->n_filters;
	bool ethernet = !wire->number;
	struct tap *t = tells ? calloc(1, sizeof(*t)) : tap_filter(p, err);

	if (!t && tells)
		abort();
	if (!t)
		return -EINVAL;
	if (tells) {
		t->head.hear = capture_hear;
		p->listener = &t->head;
		vec_push(&cap->taps, t);
	}
	t->cap = cap;
	t->port = p;
	t->wire = wire;
	t->iface = pcapng_iface(
		cap->file,
		&(struct pcapng_if){
			.name = name,
			.about = p->decl->wire->name,
			.link_type = ethernet ? PCAPNG_ETHERNET : PCAPNG_USER0,
			.bits_per_s = wire->bits_per_s,
			.fcs = wire->fcs,
		});
	return 0;
}

/* Adds both directions of a line, one after the other. Each line is added once,
 * from the end whose name is first. */
static int line_tap(struct capture *cap, struct weft_port *p,
		    struct weft_err *err)
{
	char a[96], b[96], there[200], back[200];
	bool hit = false;
	int order;

	if (!wire_of(p))
		return 0;
	order = strcmp(p->comp->name, p->peer->comp->name);
	if (order ? order > 0 : p->index >= p->peer->index)
		return 0;

	snprintf(a, sizeof(a), "%s.%s", p->comp->name, p->name);
	snprintf(b, sizeof(b), "%s.%s", p->peer->comp->name, p->peer->name);
	strcpy(cap->example, a);
	for (size_t i = 0; i < cap->n_patterns; i++) {
		const char *pat = cap->patterns[i];

		if (strcmp(pat, "all") && fnmatch(pat, a, 0) &&
		    fnmatch(pat, b, 0))
			continue;
		cap->hits[i]++;
		hit = true;
	}
	if (!hit)
		return 0;
	snprintf(there, sizeof(there), "%s > %s", a, b);
	snprintf(back, sizeof(back), "%s > %s", b, a);
	if (port_tap(cap, p, there, err))
		return -EINVAL;
	return port_tap(cap, p->peer, back, err);
}

int capture_tap(void *arg, struct weft_sim *sim, struct weft_err *err)
{
	struct capture *cap = arg;
	uint32_t n = weft_sim_count(sim);

	cap->bare = !weft_sim_payload(sim);
	for (uint32_t i = 0; i < n; i++) {
		struct weft_comp *c = weft_sim_at(sim, i);

		if (c->cls->capture_upper)
			cap->upper = c->cls->capture_upper;
		for (uint32_t k = 0; k < c->n_ports; k++)
			if (line_tap(cap, &c->ports[k], err))
				return -EINVAL;
	}
	if (!*cap->example)
		return weft_fail(
			err, EINVAL,
			"--capture: no line here has a format that can be written down: docs/captures.md names those that have");
	for (size_t i = 0; i < cap->n_patterns; i++)
		if (!cap->hits[i])
			return weft_fail(
				err, EINVAL,
				"--capture '%.60s': no line ends there: give all, or an end such as '%s'",
				cap->patterns[i], cap->example);
	return 0;
}

int capture_open(const char *path, uint64_t limit, const char *const *patterns,
		 size_t n, struct capture **cap_p, struct weft_err *err)
{
	struct capture *cap = calloc(1, sizeof(*cap));

	if (!cap || !(cap->hits = calloc(n + 1, sizeof(*cap->hits))))
		abort();
	cap->patterns = patterns;
	cap->n_patterns = n;
	if (pcapng_open(path, limit, &cap->file, err)) {
		free(cap->hits);
		free(cap);
		return -EINVAL;
	}
	*cap_p = cap;
	return 0;
}

static void taps_free(struct capture *cap)
{
	for (size_t i = 0; i < cap->taps.n; i++)
		free(cap->taps.at[i]);
	vec_free(&cap->taps);
}

void capture_untap(struct capture *cap)
{
	capture_settle(cap);
	taps_free(cap);
}

int capture_close(struct capture *cap, bool keep, struct weft_err *err)
{
	int ret = pcapng_close(cap->file, keep, err);

	taps_free(cap);
	free(cap->hits);
	free(cap->sym);
	free(cap);
	return ret;
}
