/* SPDX-License-Identifier: Apache-2.0 */
/* Measures latency and rate of small tagged messages between two processes in
 * real time, over any provider of libfabric.
 *
 *     weft-fabric -p PROVIDER -k NAME -r RANK [-n MESSAGES] [-w WINDOW] [-b|-x]
 *
 * The processes connect to each other by the abstract Unix socket NAME. RANK
 * need not be given under weft exec, which sets it. Rank 0 prints two results.
 * "latency NS" is half of the round trip of 8 bytes. "rate MESSAGES/S" is the
 * message rate in one direction, with one answer after each WINDOW messages.
 * With -b the program runs the ping-pong only, and also prints "blocking
 * MESSAGES/S", which counts the messages of both directions. With -x the
 * program exits without closing its objects. */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 8, MAX_WINDOW = 512, NAME = 256 };
enum { TAG_PING = 1, TAG_DATA, TAG_ACK };

struct bench {
	const char *provider, *name;
	unsigned rank, messages, window, blocking, exits;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cq *tx, *rx;
	fi_addr_t peer;
	char buf[MAX_WINDOW][BYTES];
	unsigned owed; /* sends whose completion has not been seen */
};

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "weft-fabric: %s: %s\n", what, fi_strerror(-ret));
	exit(1);
}

/* Returns the real time in ns. Makes the system call itself, because the clock
 * functions of the C library may return simulated time. */
static double real_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- meeting ---- */

static int meet(const struct bench *b)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	socklen_t n;
	int fd, s = socket(AF_UNIX, SOCK_STREAM, 0);

	n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			(size_t)snprintf(sa.sun_path + 1,
					 sizeof(sa.sun_path) - 1, "%s",
					 b->name));
	if (b->rank) {
		for (unsigned i = 0; connect(s, (void *)&sa, n) && i < 1000;
		     i++)
			usleep(10000);
		return s;
	}
	if (bind(s, (void *)&sa, n) || listen(s, 1))
		check(-errno, "socket");
	fd = accept(s, NULL, NULL);
	close(s);
	return fd;
}

static void swap_names(struct bench *b, int fd)
{
	char mine[NAME] = { 0 }, his[NAME];
	size_t n = sizeof(mine);

	check(fi_getname(&b->ep->fid, mine, &n), "fi_getname");
	if (write(fd, mine, NAME) != NAME ||
	    recv(fd, his, NAME, MSG_WAITALL) != NAME)
		check(-EIO, "the other process");
	if (fi_av_insert(b->av, his, 1, &b->peer, 0, NULL) != 1)
		check(-EIO, "fi_av_insert");
}

static void open_ep(struct bench *b)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .size = 1024 };
	struct fi_av_attr av = { .type = FI_AV_UNSPEC };
	struct fi_info *hints = fi_allocinfo();

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(b->provider);
	check(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &b->info),
	      "fi_getinfo");
	fi_freeinfo(hints);
	check(fi_fabric(b->info->fabric_attr, &b->fabric, NULL), "fi_fabric");
	check(fi_domain(b->fabric, b->info, &b->domain, NULL), "fi_domain");
	check(fi_av_open(b->domain, &av, &b->av, NULL), "fi_av_open");
	check(fi_cq_open(b->domain, &cq, &b->tx, NULL), "fi_cq_open");
	check(fi_cq_open(b->domain, &cq, &b->rx, NULL), "fi_cq_open");
	check(fi_endpoint(b->domain, b->info, &b->ep, NULL), "fi_endpoint");
	check(fi_ep_bind(b->ep, &b->av->fid, 0), "fi_ep_bind");
	check(fi_ep_bind(b->ep, &b->tx->fid, FI_TRANSMIT), "fi_ep_bind");
	check(fi_ep_bind(b->ep, &b->rx->fid, FI_RECV), "fi_ep_bind");
	check(fi_enable(b->ep), "fi_enable");
}

/* ---- messages ---- */

static struct fi_context contexts[2][MAX_WINDOW];

/* Polls a completion queue and returns the number of completions. The caller
 * must poll both queues, because a provider may make progress only inside a
 * poll. */
static unsigned look(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry e[16];
	ssize_t n = fi_cq_read(cq, e, 16);

	if (n == -FI_EAGAIN)
		return 0;
	check((int)n, "fi_cq_read");
	return (unsigned)n;
}

static void await(struct bench *b, unsigned n)
{
	while (n) {
		unsigned k = look(b->rx);

		if (k > n)
			check(-EPROTO, "more came than was asked for");
		n -= k;
		if (!k && b->owed)
			b->owed -= look(b->tx);
	}
}

static void post_send(struct bench *b, unsigned i, uint64_t tag)
{
	ssize_t ret;

	while ((ret = fi_tsend(b->ep, b->buf[i], BYTES, NULL, b->peer, tag,
			       &contexts[0][i])) == -FI_EAGAIN)
		b->owed -= look(b->tx);
	check((int)ret, "fi_tsend");
	b->owed++;
}

static void post_recv(struct bench *b, unsigned i, uint64_t tag)
{
	ssize_t ret;

	while ((ret = fi_trecv(b->ep, b->buf[i], BYTES, NULL, b->peer, tag, 0,
			       &contexts[1][i])) == -FI_EAGAIN)
		b->owed -= look(b->tx);
	check((int)ret, "fi_trecv");
}

static void finish_sends(struct bench *b)
{
	while (b->owed)
		b->owed -= look(b->tx);
}

/* Sends without waiting for a completion, as MPI sends short messages. */
static void inject(struct bench *b, uint64_t tag)
{
	ssize_t ret;

	if (b->info->tx_attr->inject_size < BYTES) {
		post_send(b, 1, tag);
		finish_sends(b);
		return;
	}
	while ((ret = fi_tinject(b->ep, b->buf[1], BYTES, b->peer, tag)) ==
	       -FI_EAGAIN)
		look(b->tx);
	check((int)ret, "fi_tinject");
}

static void pingpong(struct bench *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		post_recv(b, 0, TAG_PING);
		if (!b->rank)
			inject(b, TAG_PING);
		await(b, 1);
		if (b->rank)
			inject(b, TAG_PING);
	}
}

static void stream(struct bench *b, unsigned windows)
{
	for (unsigned i = 0; i < windows; i++) {
		if (!b->rank)
			post_recv(b, 0, TAG_ACK);
		for (unsigned k = 0; k < b->window; k++) {
			if (b->rank)
				post_recv(b, k, TAG_DATA);
			else
				post_send(b, k, TAG_DATA);
		}
		await(b, b->rank ? b->window : 1);
		if (b->rank)
			post_send(b, 0, TAG_ACK);
		finish_sends(b);
	}
}

static void measure(struct bench *b)
{
	unsigned windows = b->messages / b->window + 1;
	double t, n = b->messages;

	pingpong(b, 200);
	t = real_ns();
	pingpong(b, b->messages);
	t = real_ns() - t;
	if (!b->rank && b->blocking)
		printf("blocking %.0f\n", 2 * n / t * 1e9);
	if (!b->rank)
		printf("latency %.1f\n", t / n / 2);
	if (b->blocking)
		return;
	stream(b, 4);
	t = real_ns();
	stream(b, windows);
	t = real_ns() - t;
	if (!b->rank)
		printf("rate %.0f\n", windows * b->window / t * 1e9);
}

static void close_ep(struct bench *b)
{
	fi_close(&b->ep->fid);
	fi_close(&b->tx->fid);
	fi_close(&b->rx->fid);
	fi_close(&b->av->fid);
	fi_close(&b->domain->fid);
	fi_close(&b->fabric->fid);
	fi_freeinfo(b->info);
}

int main(int argc, char **argv)
{
	const char *rank = getenv("WEFT_RANK");
	static struct bench b = { .name = "weft-fabric",
				  .messages = 10000,
				  .window = 64 };
	int c, fd;
	char x = 0;

	while ((c = getopt(argc, argv, "p:k:r:n:w:bx")) >= 0) {
		if (c == 'p')
			b.provider = optarg;
		else if (c == 'k')
			b.name = optarg;
		else if (c == 'r')
			rank = optarg;
		else if (c == 'n')
			b.messages = (unsigned)atoi(optarg);
		else if (c == 'w')
			b.window = (unsigned)atoi(optarg);
		else if (c == 'x')
			b.exits = 1;
		else
			b.blocking = c == 'b';
	}
	if (!b.provider || !rank || !b.window || b.window > MAX_WINDOW) {
		fprintf(stderr, "weft-fabric: see the head of its source\n");
		return 2;
	}
	b.rank = (unsigned)atoi(rank);
	fd = meet(&b); /* while real time is all there is */
	open_ep(&b);
	swap_names(&b, fd);
	measure(&b);
	/* neither process exits before both have received all messages */
	if (write(fd, &x, 1) != 1 || read(fd, &x, 1) != 1)
		check(-EIO, "the other process");
	if (!b.exits)
		close_ep(&b);
	return 0;
}
