/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the reference of PCI-X and PCI: the bus (ref_pcix.c) and the data
 * of a tenure (ref_pcix_data.c). */
#ifndef TESTS_HOST_REF_PCIX_INTERNAL_H
#define TESTS_HOST_REF_PCIX_INTERNAL_H

#include "ref_pcix.h"

enum phase { FREE, ARB, PHASES, WAIT, DATA, TAIL };
enum kind { STORE, LOAD, COMPLETION, WRITE, READ };
enum tail { OVER, STOPPED, IDLE }; /* meaning of the last clocks of a tenure */

/* A device's stream of reads or writes. */
struct stream {
	const struct ref_list *list;
	/* number of the operation that waits or is in progress */
	uint32_t next;
	bool active;
	weft_time_t at; /* time at which that operation is submitted */
	uint64_t hold;	/* no request before this edge */
	bool asking;	/* requests the bus, now or at `hold` */
	uint32_t moved, seq, tenures, splits;
	uint64_t fetched; /* PCI: edge from which the bridge has `seq` bytes */
};

struct bridge_read {
	uint32_t dev;
	uint64_t hold;
};

struct ref {
	const struct ref_script *s;
	struct ref_log *log;
	uint64_t k; /* this edge */
	struct stream wr[REF_DEVS], rd[REF_DEVS];
	struct bridge_read fifo[REF_DEVS];
	uint32_t n_fifo;
	/* host */
	uint32_t pio_next, pio_done, stores_held;
	weft_time_t pio_at;
	uint64_t pio_ready[REF_OPS];
	bool pio_blocked;
	/* PCI: true if the device has been notified of the load */
	bool latched;
	weft_time_t answer_at; /* time of the device's answer */
	uint32_t retries;
	weft_time_t commit; /* time at which all writes so far are in memory */
	/* time at which all stores so far have reached their devices */
	weft_time_t stored;
	uint32_t places[REF_DEVS];
	struct {
		uint32_t dev;
		weft_time_t at;
	} taken[REF_OPS]; /* stores that a device holds, until time `at` */
	uint32_t n_taken;
	/* tenure */
	enum phase phase;
	enum kind kind;
	uint32_t dev, left, last;
	uint32_t chunk;	     /* number of bytes of this tenure */
	uint32_t done_bytes; /* number of bytes of the tenure that were moved */
	uint64_t grant, frame, start, asked;
	bool abort_;
	enum tail tail;
	/* bytes, offset and first edge of the part of the transaction that the
	 * next note reports */
	uint32_t part, part_off;
	uint64_t part_start;
	bool part_timer;
};

weft_time_t pcix_edge(const struct ref *r, uint64_t k);
struct ref_note *pcix_tell(struct ref *r, uint32_t port,
			   enum weft_note_kind kind, uint64_t k);
const struct ref_op *pcix_op_of(const struct stream *st);
void pcix_stream_done(struct ref *r, struct stream *st, bool write,
		      enum weft_bus_status status);
bool pcix_others_ask(const struct ref *r);
uint32_t pcix_least(uint32_t a, uint32_t b);
struct stream *pcix_data_stream(struct ref *r);
void pcix_data_begin(struct ref *r);
void pcix_beat(struct ref *r);
bool pcix_data_over(struct ref *r);

#endif
