/* SPDX-License-Identifier: Apache-2.0 */
/* hostport.crowd: the kind and operands of instruction number n, and the check
 * of its effect. */
#include <string.h>

#include "systems/hostport/programs/crowd.h"

/* Words of a process's line in a server's window. Each of them is for one kind
 * of instruction. All other puts and gets use the line from word 0 on. */
enum { W_BYTES = 3, W_FAA = 6, W_CAS = 7 };

/* ---- instructions by their number ---- */

uint64_t crowd_draw(uint64_t num, uint32_t what)
{
	return program_mix(num * 4 + what);
}

enum kind crowd_kind(const struct crowd *a, uint64_t num)
{
	enum kind k = crowd_draw(num, 0) % KINDS;

	if (num % a->processes < a->windows)
		return k;
	return k == PUT ? FAST_PUT : k == GET ? FAST_GET : k;
}

uint32_t crowd_target(const struct crowd *a, uint64_t num)
{
	if (crowd_kind(a, num) <= SEND)
		return (uint32_t)(crowd_draw(num, 1) % a->processes);
	return (uint32_t)(num % a->processes % a->servers);
}

uint32_t crowd_words(const struct crowd *a, uint64_t num)
{
	static const uint8_t most[KINDS] = { 5, 32, 3, 6, 1, 3, 6, 1, 1 };

	return 1 + (uint32_t)(crowd_draw(num, 2) % most[crowd_kind(a, num)]);
}

static uint64_t *line_of(const struct crowd *a, uint32_t id)
{
	return a->lines[id % a->servers] + (size_t)id / a->servers * LINE_WORDS;
}

/* ---- posting ---- */

static int post_rma(struct member *m, struct hport *p, uint64_t num,
		    const struct hport_peer *to, struct hport_tag tag)
{
	struct crowd *a = m->of;
	uint32_t n = crowd_words(a, num), flags = HPORT_MORE | HPORT_ACK;
	struct hport_far far = { WIN_LINES, 0,
				 (uint64_t)m->id / a->servers * 64 };
	uint64_t *line = line_of(a, m->id), w[3];

	program_fill(w, 3, crowd_draw(num, 3));
	switch (crowd_kind(a, num)) {
	case FAST_PUT:
		return hport_fast_put(p, to, flags, tag, &far, w, n);
	case PUT:
		program_fill(m->own, n, crowd_draw(num, 3));
		return hport_put(p, to, flags, tag, &far, WIN_OWN, 0, 8ull * n);
	case PUT_BYTES:
		far.off += 8 * W_BYTES;
		line[W_BYTES] = ~w[0];
		return hport_put_bytes(p, to, flags, tag, &far, w[0], 0x5a);
	case FAST_GET:
		return hport_fast_get(p, to, flags, tag, &far, n);
	case GET:
		memset(m->own, 0, 8ull * n);
		return hport_get(p, to, flags, tag, &far, WIN_OWN, 0, 8ull * n);
	case FAA:
		far.off += 8 * W_FAA;
		m->added += w[0];
		return hport_faa(p, to, flags, tag, &far, w[0]);
	default:
		far.off += 8 * W_CAS;
		return hport_cas(p, to, flags, tag, &far, line[W_CAS], w[0]);
	}
}

int crowd_post(struct member *m, struct hport *p, uint64_t num)
{
	struct hport_peer to = m->of->to;
	struct hport_tag tag = { num, num };
	uint32_t n = crowd_words(m->of, num);
	uint64_t w[5];

	to.vpid = crowd_target(m->of, num);
	switch (crowd_kind(m->of, num)) {
	case FAST_SEND:
		program_fill(w, n, crowd_draw(num, 3));
		return hport_fast_send(p, &to, HPORT_MORE, tag, w, n);
	case SEND:
		program_fill((uint8_t *)p->sdr + HPORT_CROWD_SDR, n,
			     crowd_draw(num, 3));
		return hport_send(p, &to, HPORT_MORE, tag, HPORT_CROWD_SDR,
				  8ull * n);
	default:
		return post_rma(m, p, num, &to, tag);
	}
}

bool crowd_good(struct member *m, const struct hport_note *n)
{
	struct crowd *a = m->of;
	uint64_t num = n->tag.user, base = crowd_draw(num, 3);
	uint32_t words = crowd_words(a, num);
	const uint64_t *line = line_of(a, m->id);
	uint64_t w;

	program_fill(&w, 1, base);
	switch (crowd_kind(a, num)) {
	case FAST_PUT:
	case PUT:
		return program_check(line, 0, words, base) < 0;
	case PUT_BYTES:
		return (line[W_BYTES] ^ w) == 0xff00ff0000ff00ff;
	case FAST_GET:
		return n->n == words && !memcmp(n->data, line, 8 * words);
	case GET:
		return !memcmp(m->own, line, 8 * words);
	case FAA:
		return n->data[0] == m->added && line[W_FAA] == m->added;
	case CAS:
		return n->data[0] == w && line[W_CAS] == w;
	default:
		return true;
	}
}
