/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of `weft exec`: ranks and their nodes, the clock,
 * processors. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"
#include "front/exec/exec.h"
#include "systems/examples.def"

enum {
	/* number of polls of a process before it sleeps; all these polls take
	 * about as long as one wake-up */
	SPIN = 200,
	RANKS_MAX = 65536,
};

static int setup_number(const char *option, const char *text,
			enum weft_ptype type, const char *range, void *out,
			size_t size, struct weft_err *err)
{
	struct weft_err sub = { 0 };

	if (!text || (!units_parse(type, "", text, out, size, &sub) &&
		      !units_check(type, range, out, &sub)))
		return 0;
	return weft_fail(err, EINVAL, "exec: %s: %s", option, sub.msg);
}

const char *const exec_clocks[] = { [WEFT_CLOCK_FIXED] = "fixed",
				    [WEFT_CLOCK_CPU] = "cpu",
				    [WEFT_CLOCK_NONE] = "none" };

static int setup_clock(const char *text, enum weft_att_clock *clock_p,
		       struct weft_err *err)
{
	*clock_p = WEFT_CLOCK_FIXED;
	for (int i = 0; text && i < 3; i++)
		if (!strcmp(text, exec_clocks[i])) {
			*clock_p = (enum weft_att_clock)i;
			return 0;
		}
	return text ? weft_fail(
			      err, EINVAL,
			      "exec: --clock '%.40s': give fixed, cpu or none",
			      text)
		    : 0;
}

/* ---- ranks ---- */

/* Reads a map such as "3:0,4:1". */
static int map_read(const char *text, struct exec_setup *s,
		    struct weft_err *err)
{
	const char *p = text;

	while (*p) {
		char *end;
		unsigned long rank = strtoul(p, &end, 10), node = 0;
		bool ok = end != p && *end == ':';

		if (ok) {
			p = end + 1;
			node = strtoul(p, &end, 10);
			ok = end != p && (*end == ',' || !*end);
		}
		if (!ok)
			return weft_fail(
				err, EINVAL,
				"exec: --map '%.60s': write RANK:NODE,... such as 0:0,1:3",
				text);
		if (rank >= s->att.ranks)
			return weft_fail(
				err, EINVAL,
				"exec: --map: there is no rank %lu: ranks are 0..%u (-n)",
				rank, s->att.ranks - 1);
		s->map[rank] = node > UINT32_MAX ? UINT32_MAX : (uint32_t)node;
		p = *end ? end + 1 : end;
	}
	return 0;
}

static int setup_ranks(const struct exec_args *a, uint32_t nodes,
		       struct exec_setup *s, struct weft_err *err)
{
	uint32_t per = 1;

	if (setup_number("--per-node", a->per_node, WEFT_P_U32, "1..255", &per,
			 sizeof(per), err))
		return -EINVAL;
	s->att.ranks = nodes * per;
	if (setup_number("-n", a->n, WEFT_P_U32, "1..65536", &s->att.ranks,
			 sizeof(s->att.ranks), err))
		return -EINVAL;
	s->map = calloc(s->att.ranks, sizeof(*s->map));
	if (!s->map)
		abort();
	for (uint32_t r = 0; r < s->att.ranks; r++)
		s->map[r] = r / per;
	s->att.map = s->map;
	if (a->map && map_read(a->map, s, err))
		return -EINVAL;
	for (uint32_t r = 0; r < s->att.ranks; r++)
		if (s->map[r] >= nodes)
			return weft_fail(
				err, EINVAL,
				a->map ? "exec: --map: there is no node %u for rank %u: nodes are 0..%u"
				       : "exec: no node %u for rank %u (nodes are 0..%u): give fewer with -n, or more to a node with --per-node",
				s->map[r], r, nodes - 1);
	return 0;
}

/* ---- processors ---- */

/* Restricts weft to `cores` processors, including the processor on which weft
 * runs. */
void exec_pin(uint32_t cores)
{
	cpu_set_t may, set;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof(may), &may) || here < 0)
		return;
	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && cores; i++) {
		int k = (here + i) % CPU_SETSIZE;

		if (!CPU_ISSET(k, &may))
			continue;
		CPU_SET(k, &set);
		cores--;
	}
	sched_setaffinity(0, sizeof(set), &set);
}

static int setup_cores(const struct exec_args *a, struct exec_setup *s,
		       struct weft_err *err)
{
	cpu_set_t set;
	uint32_t all = sched_getaffinity(0, sizeof(set), &set)
			       ? 1
			       : (uint32_t)CPU_COUNT(&set);

	s->cores = s->att.clock == WEFT_CLOCK_NONE ? all : 1;
	if (setup_number("--cores", a->cores, WEFT_P_U32, "1..1024", &s->cores,
			 sizeof(s->cores), err))
		return -EINVAL;
	s->cores = s->cores < all ? s->cores : all;
	/* Without a spare processor a process must not spin, because it would
	 * take the processor from the process for which it waits. */
	s->att.spin = s->cores > s->att.ranks ? SPIN : 0;
	return 0;
}

/* Raises the limit of open files, because a process needs up to three
 * descriptors of the simulator. The limit stays moderate even if the user's
 * maximum is large, because some programs close every descriptor number up to
 * the limit. */
void exec_descriptors(void)
{
	const rlim_t enough = 65536;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= enough)
		return;
	l.rlim_cur = l.rlim_max < enough ? l.rlim_max : enough;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* ---- path of messages ---- */

static int setup_path(const struct exec_args *a, uint32_t nodes,
		      struct exec_setup *s, struct weft_err *err)
{
	uint32_t per = 0, slots, ret;

	if (!a->path || !strcmp(a->path, "nic"))
		return 0;
	if (strcmp(a->path, "direct"))
		return weft_fail(err, EINVAL,
				 "exec: --path '%.40s': give nic or direct",
				 a->path);
	if (s->att.clock != WEFT_CLOCK_NONE)
		return weft_fail(
			err, EINVAL,
			"exec: --path direct: no time passes there: give --clock none, too");
	/* Every node gets up to four slots for each process of the fullest
	 * node, because processes may start further processes. */
	for (uint32_t r = 0, n; r < s->att.ranks; r++) {
		n = 0;
		for (uint32_t k = 0; k <= r; k++)
			n += s->map[k] == s->map[r];
		per = n > per ? n : per;
	}
	slots = DIRECT_PLACES / nodes;
	slots = slots > 4 * per ? 4 * per : slots;
	ret = slots < per ? E2BIG
			  : (uint32_t)-direct_make(nodes, slots, &s->direct);
	if (ret)
		return weft_fail(
			err, (int)ret,
			"exec: --path direct: no memory for %u processes on each of %u nodes: %s",
			per, nodes, strerror((int)ret));
	s->att.direct = &s->direct;
	return 0;
}

/* Sets up a run with --raw. A node without a driver may have only one process
 * that calls the functions of weft/host.h, because that process is the
 * monitor. */
static int setup_raw(const struct exec_args *a, struct exec_setup *s,
		     struct weft_err *err)
{
	s->att.raw = a->raw;
	if (a->raw && s->att.direct)
		return weft_fail(
			err, EINVAL,
			"exec: --raw: there is no --path direct: the processes use the NIC themselves");
	for (uint32_t r = 0; a->raw && !a->drivers && r < s->att.ranks; r++)
		for (uint32_t k = 0; k < r; k++)
			if (s->map[k] == s->map[r])
				return weft_fail(
					err, EINVAL,
					"exec: --raw: ranks %u and %u are both on node %u: several need a driver that all use (" EXAMPLE_DRIVER
					")",
					k, r, s->map[r]);
	return 0;
}

void exec_setup_fini(struct exec_setup *s)
{
	if (s->att.direct)
		direct_unmake(&s->direct);
	free(s->map);
	s->map = NULL;
}

int exec_setup(const struct exec_args *a, uint32_t nodes, struct exec_setup *s,
	       struct weft_err *err)
{
	weft_time_t patience = 10 * WEFT_SEC;
	double factor = 1;

	*s = (struct exec_setup){ 0 };
	if (setup_clock(a->clock, &s->att.clock, err) ||
	    setup_ranks(a, nodes, s, err) || setup_cores(a, s, err) ||
	    setup_number("--patience", a->patience, WEFT_P_TIME, "", &patience,
			 sizeof(patience), err) ||
	    setup_number("--cpu-factor", a->cpu_factor, WEFT_P_REAL,
			 "0..1000000", &factor, sizeof(factor), err) ||
	    setup_path(a, nodes, s, err) || setup_raw(a, s, err)) {
		exec_setup_fini(s);
		return -EINVAL;
	}
	s->att.patience_ns = patience / WEFT_NS;
	s->att.cpu_factor = (uint64_t)(factor * (double)WEFT_NS);
	return 0;
}
