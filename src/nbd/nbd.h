/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-in of nbdkit that serves a remote disk (weft/disk.h) of the modelled
 * machine to ordinary programs.
 *
 *   client --- socket --- nbdkit: threads of its own, one for each request
 *                            | inbox               ^ end of the job
 *                         owner: the one thread that uses the machine
 *
 * The owner submits all requests that have arrived, and lets simulated time
 * pass only while requests are in flight.  Without requests the owner sleeps in
 * real time, and simulated time stands still. */
#ifndef NBD_NBD_H
#define NBD_NBD_H

#include <semaphore.h>
#include <stdio.h>

#include "weft/disk.h"

/* Parameters of the plug-in as typed after the plug-in's name. */
struct nbd_config {
	struct weft_disk_attr disk;
	char link[16], notify[16]; /* strings to which fields of `disk` point */
	/* Longest wait for new requests, in us of real time. Clients whose
	 * requests have ended may send new ones in this time, before simulated
	 * time passes. */
	uint32_t gather;
	char report[4096]; /* file for latencies; "": none */
	char live[4096];   /* file for reports during the run, written after a
			    * moment without requests; "": none */
	char ready[4096];  /* file that is created when the disk is open; "":
			    * none */
};

/* ---- owner.c ---- */

/* A request of a client. The client's thread waits for `done`. */
struct nbd_job {
	enum weft_disk_code code;
	uint32_t flags; /* WEFT_DISK_FUA */
	uint64_t offset, length;
	void *buf;
	/* The owner alone uses the next fields until `done`. */
	struct nbd_job *next;
	uint64_t submitted; /* number of bytes submitted so far */
	uint32_t in_flight; /* number of requests to the disk in flight */
	bool started;
	int status;
	weft_time_t begin, end;
	sem_t done;
};

/* Starts the owner and opens the disk.  Returns 0, or a negative errno of
 * weft_disk_open; -ENOTCONN: weft has not started this process. */
int owner_start(const struct nbd_config *cfg);
/* Returns the disk's sizes, valid until owner_stop. */
const struct weft_disk_info *owner_info(void);
/* Carries out a job, and returns its status. */
int owner_do(struct nbd_job *j);
/* Waits for all jobs, flushes and closes the disk, writes the report, and
 * detaches from the simulator. Returns the status of the flush. */
int owner_stop(void);

/* ---- latency.c: simulated times of jobs, by kind and size ---- */

struct latency;
/* Returns an empty set of counts, which latency_free frees, or NULL if memory
 * runs out. */
struct latency *latency_new(void);
void latency_free(struct latency *l);
void latency_add(struct latency *l, const struct nbd_job *j);
/* Writes a report, for `weft disk`, which adds it to the results:
 *
 *   hist NAME UNIT count sum sum2 min max scale bins
 *   bin INDEX COUNT           of the last hist, if COUNT is not 0
 *   metric NAME UNIT VALUE
 *   counter NAME UNIT VALUE
 *   failure TEXT              written by the owner */
void latency_write(const struct latency *l, const struct weft_disk_stats *s,
		   FILE *f);

#endif
