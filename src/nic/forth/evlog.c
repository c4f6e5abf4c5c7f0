/* SPDX-License-Identifier: Apache-2.0 */
/* Event log of the FORTH NIC (forth.md 10.2, an extension): a ring of
 * (time, unit, event, argument) records that the host reads through registers
 * 0x1C0.. .  Times are pc counts as in the time stamp register.
 * Off unless software turns it on; while off nothing is kept and nothing costs.
 * Not modelled: records of credits sent and received (link/flink.h works them
 * out when they matter, not when they happen). */
#include "nic/forth/nic.h"

enum { LOG_RECORDS = 4096 };

struct forth_evlog {
	uint32_t written; /* since it was turned on */
	uint32_t index;	  /* next to be read */
	uint64_t rec[LOG_RECORDS][2];
};

void forth_log_add(struct forth_nic *n, enum forth_log_unit unit,
		   enum forth_log_event event, uint32_t arg)
{
	uint64_t *r = n->log->rec[n->log->written++ % LOG_RECORDS];

	r[0] = forth_pc(n);
	r[1] = forth_log_pack(unit, event, arg);
}

/* Turning it on begins an empty log; turning it off throws it away. */
void forth_log_enable(struct forth_nic *n, bool on)
{
	free(n->log);
	n->log = on ? calloc(1, sizeof(*n->log)) : NULL;
}

uint32_t forth_log_written(const struct forth_nic *n)
{
	return n->log ? n->log->written : 0;
}

void forth_log_seek(struct forth_nic *n, uint32_t index)
{
	if (n->log)
		n->log->index = index;
}

/* Dword `i` of the record at the read index, 0 when it is not (or no longer)
 * there; the last dword moves the index on. */
uint32_t forth_log_read(struct forth_nic *n, uint32_t i)
{
	struct forth_evlog *l = n->log;
	uint32_t val = 0;

	if (!l)
		return 0;
	if (l->written - l->index - 1 < LOG_RECORDS)
		val = (uint32_t)(l->rec[l->index % LOG_RECORDS][i / 2] >>
				 (i % 2 * 32));
	if (i == 3)
		l->index++;
	return val;
}
