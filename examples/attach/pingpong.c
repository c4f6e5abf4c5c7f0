/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes play ping-pong through a user library: VELO of EXTOLL, or puts of
 * FORTH.  This source is both a program of the simulator (a shared object for
 * host.main) and an ordinary process (linked with libweft):
 *
 *	cc -shared -fPIC pingpong.c -o pingpong.so
 *	weft run FILE --set workload.file=pingpong.so ...
 *
 *	cc pingpong.c -lweft -o pingpong
 *	weft exec --raw --fabric exec/extoll-pair -- ./pingpong velo
 *
 * Both print equal times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/forth.h>
#include <weft/velo.h>

enum { ROUNDS = 100, BYTES = 64, QWORDS = BYTES / 8 };

static void must(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s has failed\n", what);
	exit(1);
}

/* Fills p with the n bytes of the message that node `me` sends in a round. */
static void fill(uint8_t *p, size_t n, uint32_t me, uint32_t round)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(me * 59 + round * 7 + i);
}

static void check(const uint8_t *p, size_t n, uint32_t from, uint32_t round)
{
	uint8_t want[BYTES];

	fill(want, n, from, round);
	must(!memcmp(p, want, n), "a message");
}

static void report(const char *name, weft_time_t t0, weft_time_t t1)
{
	printf("%s: %d round trips in %llu fs\n", name, ROUNDS,
	       (unsigned long long)(t1 - t0));
}

/* ---- VELO: ping-pong of messages ---- */

struct velo {
	struct velo_port *port;
	struct velo_connection c;
	uint32_t me, len;
};

static void velo_say(struct velo *v, uint32_t round)
{
	uint8_t buf[BYTES];

	fill(buf, v->len, v->me, round);
	must(!velo_send(&v->c, buf, v->len, round, 0), "velo_send");
}

static void velo_hear(struct velo *v, uint32_t round)
{
	uint32_t src, tag, mtt, len;
	uint8_t buf[BYTES];
	int ret;

	while ((ret = velo_recv(v->port, buf, &src, &tag, &mtt, &len)) ==
	       VELO_NO_MSG)
		velo_wait(v->port, WEFT_NEVER);
	must(!ret && len == v->len && tag == round, "velo_recv");
	check(buf, len, !v->me, round);
}

/* Publishes `mine` under a name, and returns the value that the other node
 * published under that name. */
static uint32_t meet(struct weft_host *h, const char *name, uint64_t mine)
{
	uint32_t me = weft_host_node(h);
	char key[32];

	snprintf(key, sizeof(key), "%s%u", name, me);
	weft_oob_put(h, key, mine);
	snprintf(key, sizeof(key), "%s%u", name, !me);
	return (uint32_t)weft_oob_get(h, key);
}

static int run_velo(struct weft_host *h)
{
	struct velo v = { .me = weft_host_node(h) };
	weft_time_t t0;
	uint32_t vpid;

	must(!velo_open(h, NULL, &v.port), "velo_open");
	v.len = velo_max_len(v.port);
	v.len = v.len < BYTES ? v.len : BYTES;
	vpid = meet(h, "velo", velo_vpid(v.port));
	must(!velo_connect(v.port, &v.c, !v.me, vpid), "velo_connect");
	t0 = weft_host_now(h);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (v.me)
			velo_hear(&v, i);
		velo_say(&v, i);
		if (!v.me)
			velo_hear(&v, i);
	}
	report("velo", t0, weft_host_now(h));
	velo_close(v.port);
	return 0;
}

/* ---- FORTH: ping-pong of puts with a notification ---- */

struct forth {
	struct weft_forth *f;
	uint8_t *out, *in;
	weft_phys_t out_at, there;
	uint32_t me, seen;
};

static void forth_put(struct forth *f, uint32_t round)
{
	fill(f->out, BYTES, f->me, round);
	must(!weft_forth_put(f->f, !f->me, f->out_at, f->there, QWORDS,
			     WEFT_FORTH_RNOTIFY),
	     "weft_forth_put");
}

static void forth_take(struct forth *f, uint32_t round)
{
	must(weft_forth_wait_remote(f->f, f->seen, WEFT_NEVER),
	     "weft_forth_wait_remote");
	f->seen = weft_forth_remote_count(f->f);
	check(f->in, BYTES, !f->me, round);
}

static int run_forth(struct weft_host *h)
{
	const struct weft_forth_attr attr = { .post = WEFT_FORTH_POST_64 };
	struct forth f = { .me = weft_host_node(h) };
	weft_phys_t in_at;
	weft_time_t t0;

	must(!weft_forth_open(h, &attr, &f.f), "weft_forth_open");
	f.out = weft_mem_alloc(h, BYTES, 0, &f.out_at);
	f.in = weft_mem_alloc(h, BYTES, 0, &in_at);
	must(f.out && f.in, "weft_mem_alloc");
	f.there = meet(h, "forth", in_at);
	f.seen = weft_forth_remote_count(f.f);
	t0 = weft_host_now(h);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (f.me)
			forth_take(&f, i);
		forth_put(&f, i);
		if (!f.me)
			forth_take(&f, i);
	}
	report("forth", t0, weft_host_now(h));
	weft_forth_close(f.f);
	return 0;
}

int main(int argc, char **argv)
{
	struct weft_host *h = weft_host_self();

	if (!h)
		return 2;
	if (argc == 2 && !strcmp(argv[1], "velo"))
		return run_velo(h);
	if (argc == 2 && !strcmp(argv[1], "forth"))
		return run_forth(h);
	printf("pingpong velo|forth\n");
	return 2;
}
