/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath, sender side of the FORTH NIC: chooses the link of a packet, and
 * computes its resequencing field. Source: forth.md sections 4.12, 7.2, 7.3
 * (R-30).
 *
 * The paths of successive packets to one destination follow a pattern, or plain
 * round robin if no pattern is given. Therefore the paths of the next two
 * packets are always known. With multipath each VOQ belongs to one
 * destination. */
#include <errno.h>

#include "systems/forth/nic/nic.h"

/* Parses the pattern, a list of links such as "0,1,1,2". An empty pattern means
 * round robin. */
int forth_path_init(struct forth_nic *n, struct weft_err *err)
{
	const char *p = n->p.pattern;
	const char *name = n->comp->name;

	while (*p) {
		char *end;
		unsigned long path = strtoul(p, &end, 10);

		if (end == p || (*end && *end != ','))
			return weft_fail(
				err, EINVAL,
				"%s.pattern: '%s' is no list of links such as 0,1,2,3",
				name, n->p.pattern);
		if (path >= n->n_link)
			return weft_fail(
				err, EINVAL,
				"%s.pattern: there is no link %lu: set links",
				name, path);
		if (n->n_path == PATHS_MAX)
			return weft_fail(err, EINVAL,
					 "%s.pattern: more than %d entries",
					 name, PATHS_MAX);
		n->path[n->n_path++] = (uint8_t)path;
		p = *end ? end + 1 : end;
	}
	for (; !n->p.pattern[0] && n->n_path < n->n_link; n->n_path++)
		n->path[n->n_path] = (uint8_t)n->n_path;
	return 0;
}

static uint32_t path_ahead(const struct forth_nic *n, uint32_t v, uint32_t k)
{
	return n->path[(n->voq[v].turn + k) % n->n_path];
}

uint32_t forth_path_of(const struct forth_nic *n, uint32_t v)
{
	return n->multi ? path_ahead(n, v, 0) : 0;
}

uint64_t forth_path_header(const struct forth_nic *n, uint32_t v, uint64_t hdr)
{
	uint32_t number;

	if (!n->multi || n->p.completion == COMPLETION_COUNT)
		return hdr;
	number = n->voq[v].number[path_ahead(n, v, 0)];
	return forth_header_reseq(hdr, n->p.node << 7 | number << 4 |
					       path_ahead(n, v, 1) << 2 |
					       path_ahead(n, v, 2));
}

/* Advances the pattern of VOQ v, because its front packet has left on its
 * path. */
void forth_path_sent(struct forth_nic *n, uint32_t v)
{
	struct forth_voq *q = &n->voq[v];
	uint8_t *number;

	if (!n->multi)
		return;
	number = &q->number[path_ahead(n, v, 0)];
	*number = (*number + 1) & 7;
	q->turn = (q->turn + 1) % n->n_path;
}

/* Handles register 0x188. Restarts numbers and paths from the beginning for
 * each destination whose bit is set in `val`, because recovery needs this
 * (7.4). */
void forth_reseq_tx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	for (uint32_t v = 0; v < n->n_voq; v++) {
		if (!(val >> v & 1))
			continue;
		n->voq[v].turn = 0;
		memset(n->voq[v].number, 0, sizeof(n->voq[v].number));
		if (!ring_empty(&n->voq[v].pkts))
			forth_voq_kick_one(n, v);
	}
}
