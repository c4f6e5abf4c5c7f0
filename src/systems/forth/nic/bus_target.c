/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI-X target of the FORTH NIC: host loads and stores to configuration
 * space, BAR0 (plain memory, whose upper end is external memory of the VOQs
 * when external memory is on) and BAR1. Source: forth.md sections 2.1, 2.2,
 * 2.4. Not modelled: target retries and the limit of one outstanding target
 * split, because the bus makes one load at a time, which the NIC answers at
 * once. */
#include "systems/forth/nic/nic.h"

enum { RAM_CHUNK_LOG2 = 16, RAM_CHUNK = 1 << RAM_CHUNK_LOG2 };
enum { RAM_CHUNKS = FORTH_BAR0_BYTES >> RAM_CHUNK_LOG2 };

/* Returns a pointer to the byte of BAR0 at off, or NULL if its chunk was never
 * written. `make` allocates the chunk. Cuts *size to the bytes from off to the
 * end of the chunk. */
static uint8_t *ram_at(struct forth_nic *n, uint64_t off, bool make,
		       uint32_t *size)
{
	uint32_t i = (uint32_t)(off >> RAM_CHUNK_LOG2);
	uint32_t left = RAM_CHUNK - (uint32_t)(off & (RAM_CHUNK - 1));

	*size = left < *size ? left : *size;
	if (i >= RAM_CHUNKS)
		return NULL;
	if (!n->ram && make)
		n->ram = calloc(RAM_CHUNKS, sizeof(*n->ram));
	if (!n->ram)
		return NULL;
	if (!n->ram[i] && make)
		n->ram[i] = calloc(1, RAM_CHUNK);
	return n->ram[i] ? n->ram[i] + (off & (RAM_CHUNK - 1)) : NULL;
}

void forth_ram_fini(struct forth_nic *n)
{
	for (uint32_t i = 0; n->ram && i < RAM_CHUNKS; i++)
		free(n->ram[i]);
	free(n->ram);
}

void forth_ram_write(struct forth_nic *n, uint64_t off, const uint8_t *p,
		     uint32_t bytes)
{
	for (uint32_t i = 0, size; i < bytes; i += size) {
		uint8_t *at;

		size = bytes - i;
		at = ram_at(n, off + i, true, &size);
		if (at)
			memcpy(at, p + i, size);
	}
}

void forth_ram_read(struct forth_nic *n, uint64_t off, uint8_t *p,
		    uint32_t bytes)
{
	for (uint32_t i = 0, size; i < bytes; i += size) {
		uint8_t *at;

		size = bytes - i;
		at = ram_at(n, off + i, false, &size);
		if (at)
			memcpy(p + i, at, size);
		else
			memset(p + i, 0, size);
	}
}

/* Returns the size of the largest naturally aligned piece at off, up to `left`
 * bytes and one qword. */
static uint32_t bus_target_piece(uint64_t off, uint32_t left)
{
	uint32_t size = 8;

	while (size > left || off % size)
		size /= 2;
	return size;
}

static bool bus_target_decodes(struct forth_nic *n,
			       const struct weft_bus_note *note)
{
	return note->space == 0 ||
	       (forth_cell(n, R_COMMAND) & FORTH_CMD_MEMORY &&
		note->space <= 1 + FORTH_BAR_REGS);
}

void forth_bus_store(struct forth_nic *n, const struct weft_bus_note *note)
{
	bool queues = note->space == 1 + FORTH_BAR_REGS &&
		      note->off >= FORTH_QUEUE_MEM &&
		      note->off + note->bytes <= FORTH_BAR1_BYTES &&
		      note->off % 4 == 0 && note->bytes % 4 == 0;
	uint64_t *place;

	if (!bus_target_decodes(n, note) || forth_target_error(n, note))
		return;
	if (note->space == 1 + FORTH_BAR_RAM) {
		forth_ram_write(n, note->off, note->data, note->bytes);
		return;
	}
	/* store directly into the cells of queue memory, because most stores go
	 * there */
	for (uint32_t i = 0; queues && i < note->bytes / 4; i++) {
		uint32_t at = (uint32_t)(note->off - FORTH_QUEUE_MEM) / 4 + i;
		uint32_t val;

		memcpy(&val, note->data + 4 * i, 4);
		n->qmem[at] = val;
		if (at % 4 == 3 && val & FORTH_DESC_START_HI)
			forth_queue_trigger(n, at / 4);
	}
	if (queues)
		return;
	for (uint32_t i = 0, size; i < note->bytes; i += size) {
		uint32_t off = (uint32_t)note->off + i;
		uint64_t val = 0;

		size = bus_target_piece(off, note->bytes - i);
		memcpy(&val, note->data + i, size);
		weft_reg_store(n->comp, note->space, off, size, val);
	}
	/* the first configuration write sets the device's number on the bus
	 * (2.2) */
	if (note->space != 0)
		return;
	place = weft_reg_cell(n->comp, R_PCIX_STATUS, 0);
	*place = (*place & ~0xFFF8ull) | (note->dev & 0x1F) << 3;
}

/* Answers a load. With memory accesses disabled the device does not answer, so
 * that the load ends with a master abort. */
void forth_bus_load(struct forth_nic *n, const struct weft_bus_note *note)
{
	uint8_t data[sizeof(note->data)];

	if (!bus_target_decodes(n, note))
		return;
	if (forth_target_error(n, note)) {
		weft_bus_refuse(n->bus, note->bytes);
		return;
	}
	if (note->space == 1 + FORTH_BAR_RAM)
		forth_ram_read(n, note->off, data, note->bytes);
	else
		for (uint32_t i = 0, size; i < note->bytes; i += size) {
			uint32_t off = (uint32_t)note->off + i;
			uint64_t val;

			size = bus_target_piece(off, note->bytes - i);
			val = weft_reg_load(n->comp, note->space, off, size);
			memcpy(data + i, &val, size);
		}
	weft_bus_of(n->bus)->reply(n->bus, data, note->bytes);
}
