/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, an interface
 * for each line, and records in order of their times. */
#ifndef FRONT_PCAPNG_H
#define FRONT_PCAPNG_H

#include "weft/types.h"

enum { PCAPNG_ETHERNET = 1, PCAPNG_USER0 = 147 }; /* link types */

struct pcapng_if {
	const char *name, *about;
	uint16_t link_type;
	uint64_t bits_per_s; /* rate of the line; 0 = not known */
	uint8_t fcs;	     /* bytes of FCS at the end of each record */
};

struct pcapng;
int pcapng_open(const char *path, uint64_t limit, struct pcapng **p_p,
		struct weft_err *err);
/* Adds an interface.  Returns its number. */
uint32_t pcapng_iface(struct pcapng *p, const struct pcapng_if *i);
/* Adds a record of the first n of `all` bytes that the line carried at time t.
 * Returns the room for the n bytes, which the caller fills before its next
 * call. */
uint8_t *pcapng_record(struct pcapng *p, uint32_t iface, weft_time_t t,
		       uint32_t n, uint32_t all);
/* Returns true when many records wait. The caller then makes all lines report
 * their frames up to now, and calls pcapng_write. */
bool pcapng_full(const struct pcapng *p);
/* Returns true when the file has reached its limit. The caller then adds no
 * more records. */
bool pcapng_over(const struct pcapng *p);
/* Writes the records before `until`. All records before `until` must have been
 * reported, because the file is in order of time. */
void pcapng_write(struct pcapng *p, weft_time_t until);
/* Writes the remaining records and closes the file. Returns 0, or a negative
 * errno with a message. */
int pcapng_close(struct pcapng *p, bool keep, struct weft_err *err);

#endif
