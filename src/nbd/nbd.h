/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-in of nbdkit that serves a remote disk (weft/disk.h) of the modelled
 * machine to ordinary programs.
 *
 *   client --- socket --- nbdkit: threads of its own, one for each request
 *                            | inbox               ^ end of the job
 *                         owner: the one thread that uses the machine
 *
 * The owner submits everything that has come, and lets simulated time pass only
 * while requests are in flight.  Without any it sleeps in real time, and
 * simulated time stands still. */
#ifndef NBD_NBD_H
#define NBD_NBD_H

#include <semaphore.h>
#include <stdio.h>

#include "weft/disk.h"

/* Parameters of the plug-in as typed after the plug-in's name. */
struct nbd_config {
	struct weft_disk_attr disk;
	char link[16], notify[16]; /* disk points here */
	/* Real time in us for clients, which have just got the end of a
	 * request, to send the next one before simulated time goes on. */
	uint32_t gather;
	char report[4096]; /* file for latencies; "": none */
	char live[4096];   /* file for the report so far, whenever the disk has
			    * had no requests for a moment; "": none */
	char ready[4096];  /* file that says that the disk is open; "": none */
};

/* ---- owner.c ---- */

/* One request of a client, in its thread. */
struct nbd_job {
	enum weft_disk_code code;
	uint32_t flags; /* WEFT_DISK_FUA */
	uint64_t offset, length;
	void *buf;
	/* of the owner */
	struct nbd_job *next;
	uint64_t submitted; /* bytes */
	uint32_t in_flight; /* requests of the disk */
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
/* Lets all jobs end, flushes and closes the disk, writes the report, and leaves
 * the machine.  Returns the status of the flush. */
int owner_stop(void);

/* ---- latency.c: simulated times of jobs, by kind and size ---- */

struct latency;
/* Returns NULL without memory. */
struct latency *latency_new(void);
void latency_free(struct latency *l);
void latency_add(struct latency *l, const struct nbd_job *j);
/* Writes a report, for `weft disk`, which adds it to the results:
 *
 *   hist NAME UNIT count sum sum2 min max scale bins
 *   bin INDEX COUNT           of the last hist, those that are not 0
 *   metric NAME UNIT VALUE
 *   counter NAME UNIT VALUE
 *   failure TEXT              written by the owner */
void latency_write(const struct latency *l, const struct weft_disk_stats *s,
		   FILE *f);

#endif
