/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that nbdkit calls for parameters, sizes and requests. See nbd.h. */
#define NBDKIT_API_VERSION 2
#include <errno.h>
#include <fcntl.h>
#include <nbdkit-plugin.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nbd/nbd.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static struct nbd_config cfg;
static bool started;

/* ---- parameters ---- */

static int number(const char *key, const char *value, uint32_t *val_p)
{
	return nbdkit_parse_uint32_t(key, value, val_p);
}

/* "1,2,5" */
static int take_targets(const char *value)
{
	const char *p = value;

	cfg.disk.targets = 0;
	for (char *end;; p = end + 1) {
		unsigned long node = strtoul(p, &end, 10);

		if (end == p || (*end && *end != ',') || node > UINT32_MAX) {
			nbdkit_error("targets=%s: write nodes as 1,2,5", value);
			return -1;
		}
		if (cfg.disk.targets == WEFT_DISK_TARGETS) {
			nbdkit_error("targets: more than %d",
				     WEFT_DISK_TARGETS);
			return -1;
		}
		cfg.disk.target[cfg.disk.targets++] = (uint32_t)node;
		if (!*end)
			return 0;
	}
}

static int take_check(const char *value)
{
	if (!strcmp(value, "crc32c"))
		cfg.disk.check = WEFT_DISK_CHECK_CRC32C;
	else if (!strcmp(value, "none"))
		cfg.disk.check = WEFT_DISK_CHECK_NONE;
	else {
		nbdkit_error("check=%s: give none or crc32c", value);
		return -1;
	}
	return 0;
}

static int take_text(const char *key, const char *value, char *buf, size_t size)
{
	if ((size_t)snprintf(buf, size, "%s", value) < size)
		return 0;
	nbdkit_error("%s=%s: too long", key, value);
	return -1;
}

static int weft_config(const char *key, const char *value)
{
	const struct {
		const char *key;
		uint32_t *val_p;
	} numbers[] = {
		{ "stripe", &cfg.disk.stripe },
		{ "depth", &cfg.disk.depth },
		{ "cluster", &cfg.disk.cluster },
		{ "gather", &cfg.gather },
	};
	uint32_t us;
	int on;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(key, numbers[i].key))
			return number(key, value, numbers[i].val_p);
	if (!strcmp(key, "targets"))
		return take_targets(value);
	if (!strcmp(key, "timeout")) {
		cfg.disk.timeout = 0;
		if (number(key, value, &us))
			return -1;
		cfg.disk.timeout = us * WEFT_US;
		return 0;
	}
	if (!strcmp(key, "check"))
		return take_check(value);
	if (!strcmp(key, "link")) {
		cfg.disk.link = cfg.link;
		return take_text(key, value, cfg.link, sizeof(cfg.link));
	}
	if (!strcmp(key, "notify")) {
		cfg.disk.notify = cfg.notify;
		return take_text(key, value, cfg.notify, sizeof(cfg.notify));
	}
	if (!strcmp(key, "report"))
		return take_text(key, value, cfg.report, sizeof(cfg.report));
	if (!strcmp(key, "live"))
		return take_text(key, value, cfg.live, sizeof(cfg.live));
	if (!strcmp(key, "ready"))
		return take_text(key, value, cfg.ready, sizeof(cfg.ready));
	if (!strcmp(key, "irq")) {
		on = nbdkit_parse_bool(value);
		cfg.disk.use_irq = on > 0;
		return on < 0 ? -1 : 0;
	}
	nbdkit_error("no parameter '%s'", key);
	return -1;
}

#define weft_config_help                                                       \
	"targets=NODE,...  nodes with a drive (default: 1)\n"                  \
	"stripe=BYTES      on one target before those on the next\n"           \
	"depth=N           requests in flight to a target\n"                   \
	"timeout=US        simulated time until the first repetition\n"        \
	"check=none|crc32c of data, from memory to memory\n"                   \
	"link=native|ep    how requests travel\n"                              \
	"notify=request|page|packet, cluster=N, irq=true|false\n"              \
	"                  of the native link\n"                               \
	"gather=US         real time for clients to send their next request\n" \
	"report=FILE       latencies at the end\n"                             \
	"live=FILE         latencies so far, after 0.1 s without requests\n"   \
	"ready=FILE        is made when the disk is open"

/* ---- lifetime ---- */

static const char *why(int ret)
{
	switch (ret) {
	case -ENOTCONN:
		return "not on a simulated machine: start it with weft disk";
	case -EOPNOTSUPP:
		return "this NIC has no such link: leave link= out";
	case -ETIMEDOUT:
		return "a target does not answer: does its node run disk.target?";
	case -ENODEV:
		return "this node has no NIC that a disk can use";
	case -EINVAL:
		return "a parameter is out of range";
	default:
		return strerror(-ret);
	}
}

/* SIGTERM ends nbdkit when all clients have disconnected. SIGUSR1 ends it
 * immediately, after owner_stop has flushed acknowledged writes and detached
 * from the simulator. */

static sem_t cut;

static void on_cut(int sig)
{
	sem_post(&cut);
}

static void *cut_main(void *arg)
{
	while (sem_wait(&cut))
		;
	owner_stop();
	_exit(0);
}

static int cut_start(void)
{
	struct sigaction sa = { .sa_handler = on_cut, .sa_flags = SA_RESTART };
	pthread_t t;

	if (sem_init(&cut, 0, 0) || pthread_create(&t, NULL, cut_main, NULL))
		return -1;
	pthread_detach(t);
	return sigaction(SIGUSR1, &sa, NULL);
}

/* Creates the file `ready`, because nbdkit writes its pid file before the disk
 * is open. */
static int tell_ready(void)
{
	int fd = *cfg.ready ? open(cfg.ready, O_CREAT | O_WRONLY, 0600) : 0;

	if (fd < 0)
		nbdkit_error("%s: %s", cfg.ready, strerror(errno));
	else if (*cfg.ready)
		close(fd);
	return fd < 0 ? -1 : 0;
}

/* Opens the disk after nbdkit's fork, because an attachment does not survive a
 * fork. */
static int weft_after_fork(void)
{
	int ret = owner_start(&cfg);

	started = !ret;
	if (ret)
		nbdkit_error("the disk cannot be opened: %s", why(ret));
	else if (cut_start())
		nbdkit_error("no thread: %s", strerror(errno));
	return ret ? -1 : tell_ready();
}

static void weft_cleanup(void)
{
	int ret = started ? owner_stop() : 0;

	started = false;
	if (ret)
		nbdkit_error("the last flush of the disk failed: %s",
			     strerror(-ret));
}

static void *weft_open(int readonly)
{
	return NBDKIT_HANDLE_NOT_NEEDED;
}

/* ---- sizes and abilities ---- */

static int64_t weft_get_size(void *handle)
{
	return (int64_t)owner_info()->size;
}

static int weft_block_size(void *handle, uint32_t *minimum, uint32_t *preferred,
			   uint32_t *maximum)
{
	*minimum = owner_info()->sector;
	*preferred = 4096;
	*maximum = UINT32_MAX;
	return 0;
}

static int weft_yes(void *handle)
{
	return 1;
}

static int weft_can_fua(void *handle)
{
	return NBDKIT_FUA_NATIVE;
}

/* ---- requests ---- */

/* Returns the error of NBD for a status of the disk. */
static int error_of(int status)
{
	switch (status) {
	case -ENOSPC:
	case -EINVAL:
	case -ENOMEM:
	case -ESHUTDOWN:
		return -status;
	case -ERANGE:
		return EINVAL;
	case -ENODEV:
		return ESHUTDOWN;
	default: /* EIO, EBADMSG, ESTALE, ETIMEDOUT */
		return EIO;
	}
}

static int carry_out(enum weft_disk_code code, uint64_t offset, uint64_t length,
		     void *buf, uint32_t flags)
{
	static const char *const names[] = {
		[WEFT_DISK_READ] = "read",   [WEFT_DISK_WRITE] = "write",
		[WEFT_DISK_FLUSH] = "flush", [WEFT_DISK_TRIM] = "trim",
		[WEFT_DISK_ZERO] = "zero",
	};
	struct nbd_job j = {
		.code = code,
		.flags = flags & NBDKIT_FLAG_FUA ? WEFT_DISK_FUA : 0,
		.offset = offset,
		.length = length,
		.buf = buf,
	};
	int ret = owner_do(&j);

	if (!ret)
		return 0;
	nbdkit_error("%s of %llu bytes at %llu: %s", names[code],
		     (unsigned long long)length, (unsigned long long)offset,
		     strerror(-ret));
	nbdkit_set_error(error_of(ret));
	return -1;
}

static int weft_pread(void *handle, void *buf, uint32_t count, uint64_t offset,
		      uint32_t flags)
{
	return carry_out(WEFT_DISK_READ, offset, count, buf, 0);
}

static int weft_pwrite(void *handle, const void *buf, uint32_t count,
		       uint64_t offset, uint32_t flags)
{
	return carry_out(WEFT_DISK_WRITE, offset, count, (void *)buf, flags);
}

static int weft_flush(void *handle, uint32_t flags)
{
	return carry_out(WEFT_DISK_FLUSH, 0, 0, NULL, 0);
}

/* Carries out a trim. A trim with FUA is carried out as ZERO, because a ZERO
 * may free the bytes like a trim. */
static int weft_trim(void *handle, uint32_t count, uint64_t offset,
		     uint32_t flags)
{
	return carry_out(flags & NBDKIT_FLAG_FUA ? WEFT_DISK_ZERO
						 : WEFT_DISK_TRIM,
			 offset, count, NULL, flags);
}

static int weft_zero(void *handle, uint32_t count, uint64_t offset,
		     uint32_t flags)
{
	return carry_out(WEFT_DISK_ZERO, offset, count, NULL, flags);
}

static struct nbdkit_plugin plugin = {
	.name = "weft",
	.version = WEFT_VERSION,
	.longname = "remote disk of a simulated machine",
	.description = "Blocks on drives of other nodes, over modelled NICs.",
	.config = weft_config,
	.config_help = weft_config_help,
	.after_fork = weft_after_fork,
	.cleanup = weft_cleanup,
	.open = weft_open,
	.get_size = weft_get_size,
	.block_size = weft_block_size,
	.can_flush = weft_yes,
	.can_trim = weft_yes,
	.can_zero = weft_yes,
	.can_fast_zero = weft_yes,
	.can_multi_conn = weft_yes,
	.can_fua = weft_can_fua,
	.pread = weft_pread,
	.pwrite = weft_pwrite,
	.flush = weft_flush,
	.trim = weft_trim,
	.zero = weft_zero,
};

NBDKIT_REGISTER_PLUGIN(plugin)
