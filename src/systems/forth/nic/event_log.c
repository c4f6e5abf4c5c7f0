/* SPDX-License-Identifier: Apache-2.0 */
/* Event log of the FORTH NIC (forth.md 10.2, an extension): a ring of records
 * (time, unit, event, argument) that the host reads through the registers from
 * 0x1C0 on. Times are numbers of PCI cycles, as in the time stamp register. The
 * log is off unless software turns it on, and costs nothing while off.
 *
 * The link end (systems/forth/link/port.h) computes credits when they matter,
 * not when they occur. Therefore a record of a credit is inserted before the
 * records with later times. A load of the count first computes all credits
 * up to now. */
#include "systems/forth/nic/nic.h"

enum { LOG_RECORDS = 4096 };

struct forth_evlog {
	uint32_t written; /* records since the log was turned on */
	uint32_t index;	  /* index of the next record to read */
	bool credits;
	uint64_t rec[LOG_RECORDS][2];
};

static uint64_t *event_log_record(struct forth_evlog *l, uint32_t i)
{
	return l->rec[i % LOG_RECORDS];
}

/* Inserts a record behind all records whose time is `pc` or earlier. */
void forth_log_at(struct forth_nic *n, uint64_t pc, enum forth_log_unit unit,
		  enum forth_log_event event, uint32_t arg)
{
	struct forth_evlog *l = n->log;
	uint32_t oldest =
		l->written < LOG_RECORDS ? 0 : l->written - LOG_RECORDS;
	uint32_t i = l->written++;

	for (; i > oldest && event_log_record(l, i - 1)[0] > pc; i--)
		memcpy(event_log_record(l, i), event_log_record(l, i - 1),
		       sizeof(l->rec[0]));
	event_log_record(l, i)[0] = pc;
	event_log_record(l, i)[1] = forth_log_pack(unit, event, arg);
}

void forth_log_credit(void *own, struct forth_port *l, uint64_t cc,
		      uint16_t credit, bool in)
{
	struct forth_nic *n = own;
	uint32_t link = forth_link_of(n, l);

	forth_log_at(n, forth_pc_of_cc(n, cc),
		     (enum forth_log_unit)(LOG_LINK0 + link),
		     in ? LOG_CREDIT_IN : LOG_CREDIT_OUT, credit);
}

static void watch_links(struct forth_nic *n, bool on)
{
	for (uint32_t k = 0; k < n->n_link; k++)
		forth_port_watch(&n->link[k], on);
}

/* Turns the log on, with no record in it, or turns it off and drops all
 * records. */
void forth_log_control_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	if (n->log && n->log->credits)
		watch_links(n, false);
	free(n->log);
	n->log = val & FORTH_LOG_ON ? calloc(1, sizeof(*n->log)) : NULL;
	if (!n->log || !(val & FORTH_LOG_CREDITS) || !n->started)
		return;
	n->log->credits = true;
	watch_links(n, true);
}

uint64_t forth_log_count_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;

	if (!n->log)
		return 0;
	for (uint32_t k = 0; n->log->credits && k < n->n_link; k++)
		for (struct forth_port *l = &n->link[k]; l; l = l->back)
			forth_port_counts(l);
	return n->log->written;
}

void forth_log_index_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	if (n->log)
		n->log->index = (uint32_t)val;
}

/* Returns dword `i` of the record at the read index, or 0 if the log does not
 * hold that record. A load of the last dword advances the index. */
uint64_t forth_log_data_read(struct weft_comp *c, uint32_t i)
{
	struct forth_nic *n = c->state;
	struct forth_evlog *l = n->log;
	uint32_t val = 0;

	if (!l)
		return 0;
	if ((uint32_t)forth_log_count_read(c, 0) - l->index - 1 < LOG_RECORDS)
		val = (uint32_t)(event_log_record(l, l->index)[i / 2] >>
				 (i % 2 * 32));
	if (i == 3)
		l->index++;
	return val;
}
