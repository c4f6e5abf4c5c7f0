/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the bytes of a drive in memory or in a sparse file. The memory
 * consists of pieces of 64 KB, which are the leaves of a tree with 256 branches
 * per node. Bytes that were never written are zero and occupy nothing.
 *
 * A file is locked (flock), so that two runs do not share it. An empty file is
 * extended to the drive's size. A file that has this size keeps its bytes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/need.h"
#include "storage/drive.h"

enum { PIECE = 65536, BRANCHES = 256 };

/* Node of the tree. The branches of a node on the lowest level are pieces, all
 * other branches are nodes. */
struct medium_node {
	void *at[BRANCHES];
	uint32_t n; /* number of branches that are not NULL */
};

struct medium {
	uint64_t size;
	int fd; /* -1: memory */
	struct medium_node *root;
	uint32_t levels;
	uint64_t pieces;
};

/* ---- memory ---- */

static uint32_t branch(uint64_t piece, uint32_t level)
{
	return piece >> 8 * level & (BRANCHES - 1);
}

/* Returns the memory of a piece. If the piece has none, allocates memory
 * (`make` is true) or returns NULL (`make` is false). */
static uint8_t *piece_find(struct medium *m, uint64_t piece, bool make)
{
	struct medium_node *node = m->root;

	for (uint32_t level = m->levels - 1;; level--) {
		void **at = &node->at[branch(piece, level)];

		if (!*at) {
			if (!make)
				return NULL;
			*at = need(calloc(1, level ? sizeof(*node) : PIECE));
			node->n++;
			m->pieces += !level;
		}
		if (!level)
			return *at;
		node = *at;
	}
}

/* Frees pieces from..to of a node, and nodes that have no pieces left. */
static void pieces_free(struct medium *m, struct medium_node *node,
			uint32_t level, uint64_t from, uint64_t to)
{
	uint64_t below = level ? (1ull << 8 * level) - 1 : 0;

	for (uint32_t b = branch(from, level); b <= branch(to, level); b++) {
		bool first = b == branch(from, level);
		bool last = b == branch(to, level);
		struct medium_node *down = node->at[b];

		if (!down)
			continue;
		if (level) {
			pieces_free(m, down, level - 1, first ? from : 0,
				    last ? to : below);
			if (down->n)
				continue;
		}
		m->pieces -= !level;
		free(down);
		node->at[b] = NULL;
		node->n--;
	}
}

static void memory_read(struct medium *m, uint64_t at, uint8_t *p, size_t n)
{
	while (n) {
		size_t off = at % PIECE, part = min_of(n, PIECE - off);
		const uint8_t *piece = piece_find(m, at / PIECE, false);

		if (piece)
			memcpy(p, piece + off, part);
		else
			memset(p, 0, part);
		at += part;
		p += part;
		n -= part;
	}
}

static void memory_write(struct medium *m, uint64_t at, const uint8_t *p,
			 size_t n)
{
	while (n) {
		size_t off = at % PIECE, part = min_of(n, PIECE - off);

		memcpy(piece_find(m, at / PIECE, true) + off, p, part);
		at += part;
		p += part;
		n -= part;
	}
}

/* Clears n bytes of the piece that holds `at`. */
static void piece_clear(struct medium *m, uint64_t at, size_t n)
{
	uint8_t *piece = piece_find(m, at / PIECE, false);

	if (piece)
		memset(piece + at % PIECE, 0, n);
}

static void memory_zero(struct medium *m, uint64_t at, uint64_t n)
{
	uint64_t head = min_of(n, (PIECE - at % PIECE) % PIECE);
	uint64_t whole;

	if (head)
		piece_clear(m, at, head);
	at += head;
	n -= head;
	/* The last piece of the drive counts as whole, even if it is
	 * shorter. */
	whole = n / PIECE + (at + n == m->size && n % PIECE);
	if (whole)
		pieces_free(m, m->root, m->levels - 1, at / PIECE,
			    at / PIECE + whole - 1);
	if (n > whole * PIECE)
		piece_clear(m, at + whole * PIECE, n - whole * PIECE);
}

static void memory_new(struct medium *m)
{
	uint64_t pieces = m->size / PIECE;

	m->levels = 1;
	while (m->levels < 8 && pieces >> 8 * m->levels)
		m->levels++;
	m->root = need(calloc(1, sizeof(*m->root)));
}

/* ---- file ---- */

/* Converts an error of the file to an error of the drive. */
static int file_error(int error)
{
	return error == ENOSPC || error == EFBIG || error == EDQUOT ? -ENOSPC
								    : -EIO;
}

static int file_read(struct medium *m, uint64_t at, uint8_t *p, size_t n)
{
	while (n) {
		ssize_t part = pread(m->fd, p, n, (off_t)at);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0) /* 0: another process has cut the file */
			return -EIO;
		at += (size_t)part;
		p += part;
		n -= (size_t)part;
	}
	return 0;
}

static int file_write(struct medium *m, uint64_t at, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t part = pwrite(m->fd, p, n, (off_t)at);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return part ? file_error(errno) : -EIO;
		at += (size_t)part;
		p += part;
		n -= (size_t)part;
	}
	return 0;
}

/* Writes zeros over the bytes that are not holes. */
static int file_write_zeros(struct medium *m, uint64_t at, uint64_t n)
{
	static const uint8_t zeros[PIECE];
	uint64_t end = at + n;

	while (at < end) {
		off_t data = lseek(m->fd, (off_t)at, SEEK_DATA);
		int ret;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data >= 0)
			at = (uint64_t)data;
		if (at >= end)
			return 0;
		n = min_of(end - at, (uint64_t)PIECE);
		ret = file_write(m, at, zeros, n);
		if (ret)
			return ret;
		at += n;
	}
	return 0;
}

static int file_zero(struct medium *m, uint64_t at, uint64_t n)
{
	int ret;

	do
		ret = fallocate(m->fd,
				FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)at, (off_t)n);
	while (ret && errno == EINTR);
	if (!ret)
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSYS
		       ? file_write_zeros(m, at, n)
		       : file_error(errno);
}

/* Checks and extends a locked file.  Returns 0, or -1 with the reason. */
static int file_size(int fd, const char *path, uint64_t size, char *why,
		     size_t n)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		snprintf(why, n, "%s is not a regular file", path);
	} else if (st.st_size && (uint64_t)st.st_size != size) {
		snprintf(why, n,
			 "%s has %jd bytes and the drive %" PRIu64
			 ": give the drive this size, or another file",
			 path, (intmax_t)st.st_size, size);
	} else if (size > INT64_MAX ||
		   (!st.st_size && ftruncate(fd, (off_t)size))) {
		snprintf(
			why, n,
			"%s cannot have %" PRIu64
			" bytes: %s: give a smaller size, or a folder of another file system",
			path, size, strerror(size > INT64_MAX ? EFBIG : errno));
	} else {
		return 0;
	}
	return -1;
}

/* Returns the file's descriptor, or -1 with the reason. */
static int file_open(const char *path, uint64_t size, char *why, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0) {
		snprintf(
			why, n,
			"%s cannot be opened: %s: give a file that can be written",
			path, strerror(errno));
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		snprintf(
			why, n,
			"%s is the drive of another run: end that, or give another file",
			path);
	} else if (!file_size(fd, path, size, why, n)) {
		return fd;
	}
	close(fd);
	return -1;
}

/* ---- memory or file ---- */

struct medium *medium_new(const char *path, uint64_t size, char *why, size_t n)
{
	struct medium *m = need(calloc(1, sizeof(*m)));

	m->size = size;
	m->fd = -1;
	if (!*path) {
		memory_new(m);
		return m;
	}
	m->fd = file_open(path, size, why, n);
	if (m->fd >= 0)
		return m;
	free(m);
	return NULL;
}

void medium_free(struct medium *m)
{
	if (!m)
		return;
	if (m->fd >= 0) {
		close(m->fd);
	} else {
		memory_zero(m, 0, m->size);
		free(m->root);
	}
	free(m);
}

int medium_read(struct medium *m, uint64_t at, void *p, size_t n)
{
	if (m->fd >= 0)
		return file_read(m, at, p, n);
	memory_read(m, at, p, n);
	return 0;
}

int medium_write(struct medium *m, uint64_t at, const void *p, size_t n)
{
	if (m->fd >= 0)
		return file_write(m, at, p, n);
	memory_write(m, at, p, n);
	return 0;
}

int medium_zero(struct medium *m, uint64_t at, uint64_t n)
{
	if (!n)
		return 0;
	if (m->fd >= 0)
		return file_zero(m, at, n);
	memory_zero(m, at, n);
	return 0;
}

int medium_sync(struct medium *m)
{
	return m->fd >= 0 && fdatasync(m->fd) ? -EIO : 0;
}

uint64_t medium_used(const struct medium *m)
{
	struct stat st;

	if (m->fd < 0)
		return m->pieces * PIECE;
	return fstat(m->fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}
