/* SPDX-License-Identifier: Apache-2.0 */
/* Records: sealing, checking, and the CRC-32C of records and data (Castagnoli's
 * polynomial, reflected, initial value and result inverted, as in iSCSI). */
#include "storage/record.h"

#include <isa-l/crc.h>
#include <string.h>

#include "base/minmax.h"

enum { CRC_PIECE = 1 << 30 }; /* bytes that one call of ISA-L can count */

uint32_t storage_crc(uint32_t crc, const void *p, size_t n)
{
	/* ISA-L does not change the data, but its argument is not const. */
	unsigned char *b = (unsigned char *)(uintptr_t)p;

	while (n) {
		int k = (int)min_of(n, (size_t)CRC_PIECE);

		crc = ~crc32_iscsi(b, k, ~crc);
		b += k;
		n -= (size_t)k;
	}
	return crc;
}

size_t storage_record_bytes(const struct storage_record *r)
{
	return offsetof(struct storage_record, seg) +
	       r->segs * sizeof(r->seg[0]);
}

static uint32_t record_crc(const struct storage_record *r)
{
	struct storage_record head = *r;

	head.crc = 0;
	return storage_crc(0, &head, storage_record_bytes(&head));
}

void storage_record_seal(struct storage_record *r)
{
	r->magic = STORAGE_MAGIC;
	r->crc = record_crc(r);
}

bool storage_record_read(struct storage_record *r, const void *from, size_t n)
{
	size_t head = offsetof(struct storage_record, seg);

	memset(r, 0, sizeof(*r));
	if (n < head)
		return false;
	memcpy(r, from, min_of(n, sizeof(*r)));
	if (r->magic != STORAGE_MAGIC || r->segs > STORAGE_SEGS ||
	    n < storage_record_bytes(r)) {
		memset(r, 0, sizeof(*r));
		return false;
	}
	memset((uint8_t *)r + storage_record_bytes(r), 0,
	       sizeof(*r) - storage_record_bytes(r));
	if (record_crc(r) == r->crc)
		return true;
	memset(r, 0, sizeof(*r));
	return false;
}
