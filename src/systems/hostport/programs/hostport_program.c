/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the Host Port, see hostport_program.h, and program
 * hostport.driver, the thread of a node that serves translations. */
#include "systems/hostport/programs/hostport_program.h"

#include <errno.h>

enum { MAX = 1 << 20, PAGE = 4096, WORDS = 131072 + 512 };
/* number of posted buffers, of the 32 in the posted receive queue */
enum { BUFFERS = 30 };
enum { SEND_PIECE = 40, RDR_UNIT = 6 };

/* largest number of bytes inside one instruction of each method, or 0 if the
 * instructions of a method carry no data */
static const uint8_t piece_max[] = {
	[HPW_FAST_SEND] = SEND_PIECE, [HPW_FAST_PUT] = 24, [HPW_PUT_BYTES] = 8,
	[HPW_FAST_GET] = 24,	      [HPW_FAA] = 8,	   [HPW_CAS] = 8,
};

void hostport_program_refused(struct weft_comp *c, const char *what, int ret)
{
	weft_check_failed(c, "%s: %s", what, program_why(ret));
}

static bool hostport_program_ok(struct hpw *v, const char *what, int ret)
{
	if (!ret)
		return true;
	hostport_program_refused(v->w.c, what, ret);
	return false;
}

/* ---- opening ---- */

static uint64_t hostport_program_room(const struct hpw *v)
{
	return (v->size + PAGE - 1) / PAGE * PAGE;
}

static int memory(struct hpw *v)
{
	uint64_t bytes;

	v->in = hport_alloc(v->p, 2 * hostport_program_room(v), &v->va);
	if (!v->in) {
		hostport_program_refused(v->w.c, "hport_alloc", -ENOMEM);
		return -ENOMEM;
	}
	v->out = v->in + hostport_program_room(v);
	v->sdr = hport_sdr(v->p, &bytes);
	return hport_window(v->p, HPW_WIN, v->va, 2 * hostport_program_room(v),
			    HPORT_READ | HPORT_WRITE, HPW_CAPABILITY);
}

int hostport_program_words(struct weft_comp *c, const char *name,
			   uint64_t bytes, struct weft_err *err)
{
	if (bytes % 8 == 0)
		return 0;
	return weft_fail(
		err, EINVAL,
		"%s.%s: %llu bytes are no multiple of 8: the Host Port moves words",
		c->name, name, (unsigned long long)bytes);
}

int hostport_program_open(struct hpw *v, struct weft_comp *c, uint32_t partner)
{
	struct hport_attr a = {
		/* a tagged access of the monitor needs VPID 0, because the tag
		 * of a monitor is 0 */
		.vpid = v->tagged ? 0 : -1,
		.sizes = { .sdr = WORDS, .rdr = WORDS, .rdr_unit = RDR_UNIT },
		.flags = (v->unordered ? 0 : HPORT_ORDERED) |
			 (v->way == HPW_POSTED ? HPORT_POSTED : 0),
	};
	static const struct ultra_rx_attr packets = { 0 };
	uint32_t peer;

	v->w = program_from(c);
	if (!partner || partner >= v->w.n || v->size > MAX) {
		weft_check_failed(c, "partner: one of 1..%u", v->w.n - 1);
		return -EINVAL;
	}
	if (v->way == HPW_POSTED && v->mtu && v->size > BUFFERS * v->mtu) {
		weft_check_failed(
			c,
			"mtu: messages of up to %u segments into posted buffers",
			BUFFERS);
		return -EINVAL;
	}
	if (!hostport_program_ok(v, "hport_open",
				 hport_open(v->w.h, &a, &v->p)) ||
	    memory(v))
		return -EIO;
	if (v->tagged &&
	    !hostport_program_ok(v, "tagged accesses",
				 hport_use_tags(v->p, true) ? 0 : -ENOTSUP))
		return -EIO;
	hport_set_mtu(v->p, (uint32_t)v->mtu);
	program_put(&v->w, "hp.vpid", hport_vpid(v->p));
	peer = v->w.me ? 0 : partner;
	if (!hostport_program_ok(
		    v, "hport_connect",
		    hport_connect(v->p, peer,
				  (uint32_t)program_get(&v->w, "hp.vpid", peer),
				  &v->to)))
		return -EIO;
	if (v->way == HPW_ULTRA && (!v->w.me || v->w.me == partner) &&
	    ultraw_open(&v->ultra, &v->w, peer, &packets))
		return -EIO;
	program_barrier(&v->w, "hp.open");
	return 0;
}

void hostport_program_close(struct hpw *v)
{
	while (v->done < v->posted)
		hostport_program_absorb(v);
	program_barrier(&v->w, "hp.close");
	if (v->ultra.d.h)
		ultraw_close(&v->ultra);
	hport_free(v->p, v->in);
	hport_close(v->p);
}

/* ---- notifications ---- */

void hostport_program_absorb(struct hpw *v)
{
	/* cut: the library sends the message in segments, and reports the
	 * position of each segment */
	bool cut = v->mtu && v->way == HPW_SEND && v->size > v->mtu;
	struct hport_note n;

	if (!hport_wait(v->p, &n, WEFT_NEVER))
		return;
	if (n.error)
		weft_check_failed(v->w.c, "command %02x: error %u", n.command,
				  n.error);
	if (n.event == HPORT_DONE) {
		v->done++;
		if (n.n && hostport_program_fetches(v->way))
			weft_host_copy(v->w.h, v->in + n.tag.user, n.data,
				       8ul * n.n);
	} else if (n.event == HPORT_MESSAGE) {
		hport_take(v->p, &n, v->in + (cut ? n.at : v->got % v->size));
		v->got += n.bytes;
	}
}

static bool hostport_program_posted(struct hpw *v, int ret)
{
	if (ret == -EAGAIN) {
		hostport_program_absorb(v);
		return false;
	}
	v->posted += hostport_program_ok(v, "post", ret);
	return true;
}

/* ---- messages ---- */

static const struct hport_tag tag = { 0, 0 };

static int hostport_program_piece(struct hpw *v, uint64_t off, uint64_t n,
				  uint32_t flags)
{
	uint64_t from =
		hostport_program_fetches(v->way) ? hostport_program_room(v) : 0;
	struct hport_far far = { HPW_WIN, HPW_CAPABILITY, from + off };
	const uint64_t *words = (const uint64_t *)(v->out + off);
	struct hport_tag at = { off, 0 };
	uint32_t k = (uint32_t)n / 8;

	switch (v->way) {
	case HPW_FAST_SEND:
		return hport_fast_send(v->p, &v->to, flags, tag, words, k);
	case HPW_PUT_BYTES:
		return hport_put_bytes(v->p, &v->to, flags, tag, &far, *words,
				       0xff);
	case HPW_FAST_GET:
		return hport_fast_get(v->p, &v->to, flags, at, &far, k);
	case HPW_FAA:
		return hport_faa(v->p, &v->to, flags, at, &far, 0);
	case HPW_CAS:
		return hport_cas(v->p, &v->to, flags, at, &far, 0, 0);
	default:
		return hport_fast_put(v->p, &v->to, flags, tag, &far, words, k);
	}
}

static int send_whole(struct hpw *v, uint32_t flags)
{
	struct hport_far far = { HPW_WIN, HPW_CAPABILITY, 0 };

	if (v->way == HPW_PUT)
		return hport_put(v->p, &v->to, flags, tag, &far, HPW_WIN,
				 hostport_program_room(v), v->size);
	if (v->way == HPW_GET) {
		far.off = hostport_program_room(v);
		return hport_get(v->p, &v->to, flags, tag, &far, HPW_WIN, 0,
				 v->size);
	}
	return hport_send(v->p, &v->to, flags, tag, 0, v->size);
}

/* Sends packets one after the other. Waits when the slice has no room for a
 * packet. */
static void send_ultra(struct hpw *v)
{
	const uint64_t *w = (const uint64_t *)v->out;
	uint32_t words = (uint32_t)(v->size / 8);

	for (uint32_t at = 0, n; at < words; at += n) {
		n = words - at < ULTRA_PAYLOAD_MAX ? words - at
						   : ULTRA_PAYLOAD_MAX;
		while (!ultra_try(&v->ultra.tx, 0, at, w + at, n))
			;
	}
}

static void recv_ultra(struct hpw *v)
{
	uint64_t w[ULTRA_PAYLOAD_MAX], at, got = 0;

	while (got < v->size) {
		int n = ultra_recv(&v->ultra.rx, &at, w, ULTRA_PAYLOAD_MAX,
				   WEFT_NEVER);

		weft_host_copy(v->w.h, v->in + 8 * at, w, 8 * (size_t)n);
		got += 8 * (uint64_t)n;
	}
	v->got += v->size;
}

void hostport_program_send(struct hpw *v, uint32_t flags)
{
	uint64_t max;

	if (v->way == HPW_ULTRA) {
		send_ultra(v);
		return;
	}
	if (v->way < sizeof(piece_max) && piece_max[v->way]) {
		max = piece_max[v->way];
		for (uint64_t off = 0, n; off < v->size; off += n) {
			uint32_t more = off + max < v->size ? HPORT_MORE : 0;

			n = v->size - off < max ? v->size - off : max;
			while (!hostport_program_posted(
				v, hostport_program_piece(v, off, n,
							  flags | more)))
				;
		}
		return;
	}
	if (v->way == HPW_SEND || v->way == HPW_POSTED) {
		/* waits, because the device still reads the region */
		while (v->done < v->posted)
			hostport_program_absorb(v);
		weft_host_copy(v->w.h, v->sdr, v->out, v->size);
	}
	while (!hostport_program_posted(v, send_whole(v, flags)))
		;
	while (hport_unposted(v->p))
		hostport_program_absorb(v);
}

void hostport_program_recv(struct hpw *v, uint64_t seq)
{
	const volatile uint64_t *last = (uint64_t *)(v->in + v->size - 8);
	uint64_t want = v->got - v->got % v->size + v->size;
	uint64_t unit = v->mtu ? v->mtu : v->size;

	if (v->way == HPW_FAST_PUT || v->way == HPW_PUT ||
	    v->way == HPW_PUT_BYTES) {
		/* The last word of the message is polled, because it arrives
		 * last. */
		while (*last != seq)
			weft_host_poll64(v->w.h, last, *last, WEFT_NEVER);
		return;
	}
	if (v->way == HPW_ULTRA) {
		recv_ultra(v);
		return;
	}
	if (v->way == HPW_POSTED && v->size > SEND_PIECE)
		/* posts one buffer for each segment */
		for (uint64_t at = 0, n; at < v->size; at += n) {
			n = v->size - at < unit ? v->size - at : unit;
			hostport_program_ok(
				v, "hport_post",
				hport_post(v->p, v->va + at, n, false, seq));
		}
	while (v->got < want)
		hostport_program_absorb(v);
}

/* ---- the driver's thread ---- */

struct driver {
	weft_time_t tlb_driver_service;
	uint32_t memory;
	uint64_t boot_bytes, object_max;
};

static int driver_main(struct weft_comp *c)
{
	const struct driver *a = c->state;
	struct program w = program_from(c);
	struct hport_memory m = { a->memory, a->boot_bytes, a->object_max };
	int ret = 0;

	/* Loads the driver here only if it needs special attributes. Without
	 * them the first program loads it. */
	if (m.kind || m.boot_bytes || m.object_max)
		ret = hport_load(w.h, &m);
	if (ret) {
		hostport_program_refused(c, "hport_load", ret);
		return ret;
	}
	ret = hport_serve(w.h, a->tlb_driver_service, true);
	if (ret)
		hostport_program_refused(c, "hport_serve", ret);
	return ret;
}

static const struct weft_param driver_params[] = {
	WEFT_PARAM(TIME, struct driver, tlb_driver_service, "10us", "", OWN,
		   "processor time of finding and pinning the page of a TLB "
		   "miss, besides interrupt and registers (14.3)"),
	WEFT_PARAM(ENUM, struct driver, memory, "auto", "auto|boot|pages", OWN,
		   "where queues are (4.11): boot, a region set aside at "
		   "first; pages, the page allocator; auto, there, or else in "
		   "the region"),
	WEFT_PARAM(BYTES, struct driver, boot_bytes, "0", "0..1TiB", OWN,
		   "of the region; 0: 24 MiB, or a half or quarter of it"),
	WEFT_PARAM(BYTES, struct driver, object_max, "0", "0..2MiB", OWN,
		   "the page allocator's longest piece; 0: 2 MiB"),
	{ 0 }
};

WEFT_COMPONENT(hostport_driver, .name = "hostport.driver",
	       .kind = WEFT_KIND_PROGRAM, .needs = "hostport.nic",
	       .doc = "serves translations of the Host Port on its node",
	       .source = "hostport.md 8.8", .state_size = sizeof(struct driver),
	       .params = driver_params, .ops = { .main = driver_main },
	       .background = true);
