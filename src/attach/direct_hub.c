/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's part of the direct path. Makes the memory of the run and
 * serves the requests that processes send on their sockets. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "attach/direct_internal.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* exists since Linux 5.1 */
#endif

/* Sizes of rings and messages. Runs of few processes get longer rings and
 * messages, because each process has a ring for every place. */
enum {
	RING_MANY = 32 << 10,
	RING_FEW = 256 << 10,
	FEW = 16,
	MSG_MANY = 4096,
	MSG_FEW = 16384,
	UNREAD = 8192, /* limit of unread bytes in a socket. The kernel also
			* counts overhead, so that a few short messages reach
			* the limit. */
};

uint64_t att_page_up(uint64_t bytes)
{
	return (bytes + 4095) & ~4095ull;
}

struct direct_lay direct_layout(uint32_t nodes, uint32_t slots)
{
	struct direct_lay s = { .magic = DIRECT_MAGIC,
				.version = DIRECT_VERSION,
				.nodes = nodes,
				.places = nodes * slots };
	bool few = s.places <= FEW;

	s.bytes = att_page_up(sizeof(struct direct_seg) +
			      s.places * sizeof(struct direct_post));
	s.ring_bytes = few ? RING_FEW : RING_MANY;
	s.max_msg = few ? MSG_FEW : MSG_MANY;
	s.ring_off = att_page_up(sizeof(struct direct_place) +
				 s.places * sizeof(struct direct_pair));
	s.ring_step = s.ring_bytes;
	s.place_bytes = s.ring_off + s.places * s.ring_step;
	return s;
}

/* ---- memory ---- */

int direct_seals(bool readers)
{
	return F_SEAL_SHRINK | F_SEAL_GROW |
	       (readers ? F_SEAL_FUTURE_WRITE : 0);
}

/* Maps the memory before sealing it, because F_SEAL_FUTURE_WRITE forbids later
 * writable mappings. Older kernels do not have that seal, therefore its failure
 * is not an error. */
void *direct_memory(uint64_t bytes, bool readers, int *fd_p)
{
	int fd = memfd_create("weft-direct", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)bytes))
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
	if (p != MAP_FAILED && fcntl(fd, F_ADD_SEALS, direct_seals(readers)) &&
	    fcntl(fd, F_ADD_SEALS, direct_seals(false))) {
		munmap(p, bytes);
		p = MAP_FAILED;
	}
	if (p == MAP_FAILED && fd >= 0) {
		close(fd);
		fd = -1;
	}
	*fd_p = fd;
	return p == MAP_FAILED ? NULL : p;
}

int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p)
{
	struct direct_lay s;

	if (!nodes || !slots || nodes > DIRECT_PLACES ||
	    slots > DIRECT_PLACES / nodes)
		return -E2BIG;
	s = direct_layout(nodes, slots);
	s.start_ns = att_now_ns();
	*hub_p = (struct direct_hub){ .fd = -1,
				      .bell_fd = -1,
				      .bytes = s.bytes,
				      .nodes = nodes,
				      .places = s.places };
	hub_p->map = direct_memory(s.bytes, true, &hub_p->fd);
	hub_p->bell = direct_memory(s.places * sizeof(struct direct_bell),
				    false, &hub_p->bell_fd);
	hub_p->seat = malloc(s.places * sizeof(*hub_p->seat));
	for (uint32_t i = 0; hub_p->seat && i < s.places; i++)
		hub_p->seat[i] = (struct direct_seat){ -1, -1, -1 };
	if (!hub_p->map || !hub_p->bell || !hub_p->seat) {
		direct_unmake(hub_p);
		return -ENOMEM;
	}
	memcpy(hub_p->map, &s, sizeof(s)); /* the rest of the memory is zero */
	return 0;
}

void direct_unmake(struct direct_hub *h)
{
	for (uint32_t i = 0; h->seat && i < h->places; i++)
		if (h->seat[i].mem_fd >= 0)
			close(h->seat[i].mem_fd);
	free(h->seat);
	if (h->map)
		munmap(h->map, h->bytes);
	if (h->bell)
		munmap(h->bell, h->places * sizeof(struct direct_bell));
	if (h->fd >= 0)
		close(h->fd);
	if (h->bell_fd >= 0)
		close(h->bell_fd);
	*h = (struct direct_hub){ .fd = -1, .bell_fd = -1 };
}

/* ---- places ---- */

static bool place_of(const struct direct_hub *h, uint32_t node, uint32_t slot,
		     uint32_t *place_p)
{
	*place_p = slot * h->nodes + node;
	return node < h->nodes && slot < h->places / h->nodes;
}

void direct_seat(struct direct_hub *h, uint32_t node, uint32_t slot, int sock,
		 int pid_fd)
{
	uint32_t i;

	if (!place_of(h, node, slot, &i))
		return;
	h->seat[i].sock = sock;
	h->seat[i].pid_fd = pid_fd;
}

/* Sends a wake-up message, which makes the socket of a process readable. Sends
 * nothing while the socket holds UNREAD unread bytes or more, because replies
 * must still find room. */
static void hub_ring(struct direct_hub *h, uint32_t i)
{
	struct direct_rep r = { .what = WANT_RING };
	int sock = h->seat[i].sock, unread = 0;

	if (sock >= 0 && !ioctl(sock, SIOCOUTQ, &unread) && unread < UNREAD)
		direct_say(sock, &r, sizeof(r), -1);
}

/* Marks a process as gone and wakes all peers, because any of them may wait for
 * it. */
static void hub_left(struct direct_hub *h, uint32_t i, enum direct_state as)
{
	struct direct_seg *s = h->map;

	if (atomic_load(&s->post[i].state) >= DIRECT_LEFT)
		return;
	atomic_store(&s->post[i].state, as);
	atomic_fetch_add(&s->leavers, 1);
	for (uint32_t k = 0; k < h->places; k++)
		if (direct_knock(&h->bell[k]) == DIRECT_ARMED)
			hub_ring(h, k);
}

void direct_dead(struct direct_hub *h, uint32_t node, uint32_t slot)
{
	uint32_t i;

	if (!place_of(h, node, slot, &i))
		return;
	h->seat[i].sock = h->seat[i].pid_fd = -1;
	hub_left(h, i, DIRECT_DEAD);
}

/* ---- requests of processes ---- */

struct call {
	uint32_t from, place;
	int fd;	  /* received descriptor, or -1; a request that keeps the
		   * descriptor sets fd to -1 */
	int give; /* descriptor to send back, or -1 */
};

/* Accepts a process's memory. The descriptor must have the right size and be
 * sealed, so that its size cannot change and no other process can write to
 * it. */
static int want_place(struct direct_hub *h, struct call *c)
{
	int must = fcntl(h->fd, F_GET_SEALS) & direct_seals(true);
	struct direct_seat *s = &h->seat[c->from];
	struct stat st;

	if (c->fd < 0 || fstat(c->fd, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size != h->map->lay.place_bytes ||
	    (fcntl(c->fd, F_GET_SEALS) & must) != must)
		return -EINVAL;
	if (s->mem_fd >= 0)
		return -EALREADY;
	s->mem_fd = c->fd;
	c->fd = -1;
	atomic_store(&h->map->post[c->from].state, DIRECT_HERE);
	atomic_fetch_add(&h->map->joined, 1);
	return 0;
}

/* Carries out a request. Returns 0 or negative errno for the reply. */
static int call_do(struct direct_hub *h, enum direct_want what, struct call *c)
{
	switch (what) {
	case WANT_PLACE:
		return want_place(h, c);
	case WANT_MEET:
		if (h->seat[c->from].mem_fd < 0)
			return -EINVAL;
		atomic_fetch_or(&h->map->post[c->place].senders[c->from / 64],
				1ull << c->from % 64);
		/* fall through */
	case WANT_PEER:
		/* Sends the descriptor of a process's memory even after the
		 * process has ended, because the memory may still hold
		 * messages. */
		c->give = h->seat[c->place].mem_fd;
		return c->give < 0 ? -EAGAIN : 0;
	case WANT_WHO:
		c->give = h->seat[c->place].pid_fd;
		return c->give < 0 ? -ESRCH : 0;
	case WANT_LEAVE:
		hub_left(h, c->from, DIRECT_LEFT);
		return 0;
	default:
		hub_ring(h, c->place);
		return 0;
	}
}

int direct_serve(struct direct_hub *h, uint32_t node, uint32_t slot)
{
	struct call c = { .fd = -1, .give = -1 };
	struct direct_req q;
	struct direct_rep r;
	int n, ret = 0, sock;

	if (!place_of(h, node, slot, &c.from))
		return -EPROTO;
	sock = h->seat[c.from].sock;
	n = direct_hear(sock, &q, sizeof(q), MSG_DONTWAIT, &c.fd);
	if (n == -EAGAIN)
		return 0;
	if (n == sizeof(q) && q.what < WANTS && q.place < h->places) {
		c.place = q.place;
		r.what = q.what;
		r.status = call_do(h, q.what, &c);
		if (q.what != WANT_RING)
			ret = direct_say(sock, &r, sizeof(r), c.give);
	} else {
		ret = n < 0 ? n : -EPROTO;
	}
	if (c.fd >= 0)
		close(c.fd);
	return ret;
}
