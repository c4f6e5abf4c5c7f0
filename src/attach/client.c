/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches the process to a run and detaches it. Ends the attachment in a child
 * of fork. */
#include "attach/client.h"
#include "attach/copy.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The attachment is global, because the simulator attaches processes, not
 * threads. */
static struct {
	pthread_mutex_t lock;
	struct weft_att *att;
	bool forked, registered;
} the = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Ends the attachment in a child of fork. The child does not inherit the
 * segment (MADV_DONTFORK), because the agent serves one process per segment.
 * Empty memory in state GONE is mapped at the segment's address, so that a late
 * access in the child finds an ended attachment. */
static void on_fork(void)
{
	const int prot = PROT_READ | PROT_WRITE;
	const int how = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
	struct weft_att *a = the.att;
	struct att_seg *s;

	the.forked = true;
	if (!a)
		return;
	a->gone = true;
	s = mmap(a->seg, a->seg_bytes, prot, how, -1, 0);
	if (s != MAP_FAILED) {
		s->state = ATT_GONE;
		s->n_cmds = ATT_CMDS;
		s->n_events = ATT_EVENTS;
		mmap(a->bell, a->bell_bytes, prot, how, -1, 0);
	}
	if (a->direct)
		direct_forked(a->direct);
	close(a->sock);
}

/* ---- joining ---- */

/* Largest number of descriptors in a welcome message. The third descriptor is
 * the node's memory, or a socket for copies of the process's memory. On the
 * direct path the third and the fourth descriptor are the memory of the run and
 * the bells. */
enum { FDS = ATT_SEND_FDS + 2 };

/* Connects to `path`. A first character '@' stands for an abstract socket
 * name. */
static int att_connect(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	int fd;

	if (!n || n >= sizeof(sa.sun_path))
		return -ENOENT;
	memcpy(sa.sun_path, path, n);
	if (path[0] == '@')
		sa.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n))) {
		close(fd);
		return -ECONNREFUSED;
	}
	return fd;
}

/* Checks that the simulator belongs to the process's user, because the process
 * maps memory that the simulator sends. Lets the simulator and the processes
 * that it started (peers of a direct path) access this process's memory. Other
 * processes of the user get no access. */
static int att_trust(int fd)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    who.uid != geteuid())
		return -EACCES;
#ifdef PR_SET_PTRACER
	if (who.pid > 0)
		prctl(PR_SET_PTRACER, who.pid, 0, 0, 0);
#endif
	return 0;
}

static uint32_t att_rank(void)
{
	static const char *const names[] = { "WEFT_RANK",
					     "OMPI_COMM_WORLD_RANK",
					     "PMIX_RANK", "PMI_RANK",
					     "SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *v = getenv(names[i]);
		char *end;
		unsigned long r = v ? strtoul(v, &end, 10) : 0;

		if (v && end != v && !*end && r < UINT32_MAX)
			return (uint32_t)r;
	}
	return UINT32_MAX;
}

static int att_greet(int fd, enum att_role role, struct att_welcome *w,
		     int *fds)
{
	struct att_hello hello = { ATT_MAGIC, WEFT_ATT_VERSION, att_rank(),
				   (uint32_t)getpid(), role };
	char control[CMSG_SPACE(FDS * sizeof(int))];
	struct iovec iov = { w, sizeof(*w) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;

	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		return -ECONNREFUSED;
	do {
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*w))
		return n <= 0 ? -ECONNREFUSED : -EPROTO;
	if (w->magic != ATT_MAGIC || w->version != WEFT_ATT_VERSION)
		return -EPROTO;
	if (w->status)
		return w->status;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len < CMSG_LEN(ATT_SEND_FDS * sizeof(int)) ||
	    c->cmsg_len > CMSG_LEN(FDS * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return 0;
}

static void *att_map(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_DONTFORK);
	return p;
}

static int att_segment(struct weft_att *a, const struct att_welcome *w,
		       const int *fds)
{
	struct att_seg *s;

	a->seg_bytes = w->seg_bytes;
	a->bell_bytes = w->bell_bytes;
	a->seg = s = att_map(fds[0], a->seg_bytes);
	a->bell = att_map(fds[1], a->bell_bytes);
	if (!s || !a->bell)
		return -ENOMEM;
	if (s->magic != ATT_MAGIC || s->version != WEFT_ATT_VERSION)
		return -EPROTO;
	a->cmd = (void *)((char *)s + s->cmd_off);
	a->ev = (void *)((char *)s + s->ev_off);
	a->tx = (uint8_t *)s + s->tx_off;
	a->rx = (uint8_t *)s + s->rx_off;
	a->info = s->info;
	a->tx_end = calloc(s->n_cmds, sizeof(*a->tx_end));
	return a->tx_end ? 0 : -ENOMEM;
}

/* Opens the direct endpoint. The attachment then reports the limits and
 * capabilities of that endpoint. */
static int att_direct(struct weft_att *a, int fd, int bell_fd)
{
	struct direct_way way = { fd, bell_fd, a->sock, a->info.node,
				  a->info.slot };
	const struct weft_ep_info *e;
	int ret = direct_open(&way, &a->direct);

	if (ret)
		return ret;
	e = &direct_ep(a->direct)->info;
	a->info.max_msg = e->max_msg;
	a->info.max_put = e->max_put;
	a->info.align = e->align;
	a->info.caps = e->caps;
	a->info.emulated = e->emulated;
	snprintf(a->info.nic, sizeof(a->info.nic), "%s", e->name);
	return 0;
}

void att_free(struct weft_att *a)
{
	if (a->direct)
		direct_close(a->direct);
	if (a->seg)
		munmap(a->seg, a->seg_bytes);
	if (a->bell)
		munmap(a->bell, a->bell_bytes);
	if (a->sock >= 0)
		close(a->sock);
	if (a->mem_fd >= 0)
		close(a->mem_fd);
	free(a->tx_end);
	free(a);
}

static int att_join(struct weft_att *a, const char *path)
{
	struct att_welcome w = { 0 };
	int fds[FDS] = { -1, -1, -1, -1 }, ret;

	a->sock = att_connect(path);
	if (a->sock < 0)
		return a->sock;
	ret = att_trust(a->sock);
	if (!ret)
		ret = att_greet(a->sock, a->role, &w, fds);
	if (!ret)
		ret = att_segment(a, &w, fds);
	if (a->role != ATT_ROLE_EP)
		a->mem_fd = fds[ATT_SEND_FDS];
	else if (!ret && fds[ATT_SEND_FDS + 1] >= 0)
		ret = att_direct(a, fds[ATT_SEND_FDS], fds[ATT_SEND_FDS + 1]);
	else if (!ret && fds[ATT_SEND_FDS] >= 0)
		ret = att_copy_serve(fds[ATT_SEND_FDS]);
	return ret;
}

int att_connected(enum att_role role, struct weft_att **a_p)
{
	const char *path = getenv("WEFT_SOCKET");
	struct weft_att *a;
	int ret;

	if (!path || !*path)
		return -ENOENT;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->role = role;
	a->sock = a->mem_fd = -1;
	ret = att_join(a, path);
	if (ret)
		att_free(a);
	else
		*a_p = a;
	return ret;
}

int att_noticed(struct weft_att *a)
{
	a->naps = true; /* the client joins in state WAIT */
	do {
		att_hand_over(a, 1000000000);
		att_look(a);
	} while (atomic_load(&a->seg->state) == ATT_WAIT && !a->gone);
	if (weft_att_gone(a))
		return -ECONNREFUSED;
	att_cpu_charge(a);
	a->busy = 0;
	return 0;
}

static int att_new(struct weft_att **a_p)
{
	struct weft_att *a;
	int ret;

	if (!the.registered && pthread_atfork(NULL, NULL, on_fork))
		return -ENOMEM;
	the.registered = true;
	ret = att_connected(ATT_ROLE_EP, &a);
	if (ret)
		return ret;
	ret = att_noticed(a);
	if (ret) {
		att_free(a);
		return ret;
	}
	a->ep = (struct weft_ep){
		.ops = &att_ep_ops,
		.info = { .name = a->info.nic,
			  .caps = a->info.caps,
			  .emulated = a->info.emulated,
			  .max_msg = a->info.max_msg,
			  .max_put = a->info.max_put,
			  .align = a->info.align },
	};
	*a_p = a;
	return 0;
}

int weft_att_open(struct weft_att **a_p)
{
	int ret = 0;

	pthread_mutex_lock(&the.lock);
	if (the.forked && the.att)
		ret = -EIO;
	else if (!the.att)
		ret = att_new(&the.att);
	if (!ret) {
		the.att->refs++;
		*a_p = the.att;
	}
	pthread_mutex_unlock(&the.lock);
	return ret;
}

/* Drops a reference. The call that drops the last reference leaves the run
 * after the agent has executed all posted commands. */
void weft_att_close(struct weft_att *a)
{
	struct att_cmd bye = { .kind = ATT_C_BYE };
	struct att_reply r;

	pthread_mutex_lock(&the.lock);
	if (a && a == the.att && !--a->refs) {
		if (the.forked) /* the memory belongs to the parent process */
			a->seg = NULL, a->bell = NULL, a->sock = -1;
		the.att = NULL;
		/* The direct endpoint is closed before BYE is sent, so that
		 * peers report a regular exit and not the death of the
		 * process. */
		if (a->direct)
			direct_close(a->direct);
		a->direct = NULL;
		if (!weft_att_gone(a))
			att_call(a, &bye, &r);
		att_free(a);
	}
	pthread_mutex_unlock(&the.lock);
}

const struct weft_att_info *weft_att_info(const struct weft_att *a)
{
	return &a->info;
}

struct weft_ep *weft_att_ep(struct weft_att *a)
{
	return a->direct ? direct_ep(a->direct) : &a->ep;
}

bool weft_att_gone(const struct weft_att *a)
{
	return a->gone || !a->seg || atomic_load(&a->seg->state) == ATT_GONE;
}
