/* SPDX-License-Identifier: Apache-2.0 */
/* libweft-time.so, loaded before everything else into the processes of
 * `weft exec`: the program's clocks show simulated time, calls of MPI are
 * counted, and all ranks begin at the same simulated moment.
 *
 *   preload.c     the attachment, whose code is the program's
 *   clock.c       clocks of C and C++
 *   name.c        the name of the host
 *   folder.c      folders of Open MPI
 *   heap.c        where buffers lie
 *   mpi.c         MPI_Init, MPI_Finalize, MPI_Wtime
 *   raw.c         programs that call weft/host.h themselves
 *   calls.c       every other call of MPI that communicates
 *
 * Nothing of MPI's headers is used: handles go through as words, so one library
 * serves Open MPI and MPICH, C and Fortran. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/attach.h"

/* The next definition of a symbol: that of libc, of MPI... or NULL. */
void *pre_next(const char *name);

/* The attachment, or NULL: not started by weft exec, forked, left. */
struct weft_att *pre_att(void);
/* Opens it, where this process is of MPI or libfabric; NULL as above. */
struct weft_att *pre_attach(void);
void pre_detach(void);
/* Simulated time is what the clocks show. */
bool pre_timed(const struct weft_att *a);
/* Simulated time; only the thread that attached hands over, others see what
 * that one saw last. */
weft_time_t pre_now(struct weft_att *a);
/* Known without asking. */
void pre_now_is(weft_time_t t);
/* This is the thread that attached: it may post. */
bool pre_my_turn(void);
/* The caller's code belongs to the program, not to a library of its system. */
bool pre_is_program(const void *caller);

/* Simulated time of the thread, where the caller is code of a program that
 * calls weft/host.h itself; false: it is not. */
bool pre_raw_now(const void *caller, weft_time_t *t);

/* fs since the start of the measured part. */
weft_time_t pre_since_epoch(struct weft_att *a);

#endif
