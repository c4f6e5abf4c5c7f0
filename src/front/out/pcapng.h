/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, an interface
 * for each line, records in order of their times. */
#ifndef FRONT_PCAPNG_H
#define FRONT_PCAPNG_H

#include "weft/types.h"

enum { PCAPNG_ETHERNET = 1, PCAPNG_USER0 = 147 }; /* link types */

struct pcapng_if {
	const char *name, *about;
	uint16_t link_type;
	uint64_t bits_per_s; /* 0 = not known */
	uint8_t fcs;	     /* bytes of it at the end of each record */
};

struct pcapng;
int pcapng_open(const char *path, uint64_t limit, struct pcapng **p_p,
		struct weft_err *err);
/* Its number. */
uint32_t pcapng_iface(struct pcapng *p, const struct pcapng_if *i);
/* Room for a record of n bytes, of `all` that were on the line at t; to be
 * filled before the next call. */
uint8_t *pcapng_record(struct pcapng *p, uint32_t iface, weft_time_t t,
		       uint32_t n, uint32_t all);
/* Many records wait: time to find out up to when all are known. */
bool pcapng_full(const struct pcapng *p);
/* The file has ended at its limit: records are not wanted any more. */
bool pcapng_over(const struct pcapng *p);
/* Records of times before `until` are all there: writes them. */
void pcapng_write(struct pcapng *p, weft_time_t until);
/* Writes the rest; the file is complete, or there is an error. */
int pcapng_close(struct pcapng *p, bool keep, struct weft_err *err);

#endif
