/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the block protocol (docs/storage.md): little endian and sealed
 * with a CRC-32C. With the CRC the receiver detects a record that has arrived
 * only in part, or that was overwritten while the receiver read it.
 *
 * A request has an epoch (session of the target), a tag (its slot), a number
 * that grows with each request of the slot, and an attempt, which grows each
 * time the initiator sends it again. The answer repeats all four. */
#ifndef STORAGE_RECORD_H
#define STORAGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORAGE_MAGIC = 0x31425357,	 /* "WSB1" */
	STORAGE_DEPTH = 128,		 /* tags of an initiator */
	STORAGE_CONTROL = STORAGE_DEPTH, /* slot of LOGIN, LOGOUT, HELLO */
	STORAGE_SLOTS = STORAGE_DEPTH + 1,
	STORAGE_SEGS = 8,
	STORAGE_PAGE = 4096,
	STORAGE_SLOT_BYTES = 256,
};

enum storage_code {
	/* initiator to target */
	STORAGE_LOGIN = 1,
	STORAGE_LOGOUT,
	STORAGE_READ,
	STORAGE_WRITE,
	STORAGE_FLUSH,
	STORAGE_TRIM,
	STORAGE_ZERO,
	/* target to initiator */
	STORAGE_HELLO = 16, /* session, sizes */
	STORAGE_DONE,	    /* end of a request, with its status */
	STORAGE_AGAIN, /* WRITE: data damaged or missing, send them again */
	STORAGE_BUSY,  /* in service: the answer will come */
};

enum {
	STORAGE_FUA = 1 << 0,
	STORAGE_CHECK = 1 << 1, /* data_crc is the CRC-32C of the data */
	STORAGE_LOST = 1 << 2,	/* HELLO: the drive's cache was lost since the
				 * initiator's previous epoch */
	STORAGE_FRESH = 1 << 3, /* READ: the initiator asks for the data again,
				 * because the data sent so far may be
				 * damaged */
};

/* Memory of the initiator for bytes of a READ. */
struct storage_seg {
	uint64_t addr, key;
	uint32_t len;
	uint32_t zero;
};

struct storage_record {
	uint32_t magic;
	uint32_t crc; /* CRC of the record, computed with 0 in this field */
	uint32_t epoch;
	uint32_t seq;
	uint16_t tag;
	uint16_t attempt; /* number of the attempt, from 1 on */
	uint8_t code, flags, segs, zero;
	uint64_t offset; /* READ, WRITE, TRIM, ZERO: first byte on the drive.
			  * FLUSH: 0. HELLO: size of the drive */
	uint64_t length; /* READ, WRITE, TRIM, ZERO: bytes. FLUSH: 0. HELLO:
			  * bytes of the initiator's staging */
	/* CRC of the data if flag STORAGE_CHECK is set. Used in a WRITE, and in
	 * the DONE that answers a READ. */
	uint32_t data_crc;
	/* Number of puts that have carried data of this request, in all
	 * attempts together. The receiver of an unordered link waits until this
	 * number of puts has landed. Used in a WRITE, and in the DONE that
	 * answers a READ. */
	uint32_t puts;
	/* WRITE: offset of the data in the initiator's part of the staging.
	 * LOGIN: address of the initiator's table of slots. HELLO: address of
	 * the initiator's part of the staging. */
	uint64_t stage;
	/* LOGIN, HELLO: key of `stage`.  DONE: status, a negative errno of
	 * weft/disk.h or 0 */
	uint64_t value;
	/* READ: memory of the initiator for the data, in the first `segs`
	 * entries. HELLO: size of a sector in seg[0].addr, size of the largest
	 * request in seg[0].key */
	struct storage_seg seg[STORAGE_SEGS];
};

/* Returns the mark of the puts of a request, so that a put of an older request,
 * or of another session, is not counted. */
static inline uint32_t storage_mark(uint32_t tag, uint32_t epoch, uint32_t seq)
{
	return tag % STORAGE_DEPTH | (epoch & 0x1FF) << 7 | seq << 16;
}

/* Returns the size of a record in bytes, its segments included. */
size_t storage_record_bytes(const struct storage_record *r);
/* Sets magic and CRC. */
void storage_record_seal(struct storage_record *r);
/* Copies n bytes from `from` into *r and clears the remaining bytes of *r.
 * Returns true if the bytes are a complete record, whose magic, number of
 * segments, length and CRC are right. Otherwise clears *r. */
bool storage_record_read(struct storage_record *r, const void *from, size_t n);
/* Extends a CRC-32C by the n bytes at p, and returns it. `crc` is 0 at first,
 * later the result of the previous call. */
uint32_t storage_crc(uint32_t crc, const void *p, size_t n);

#endif
