/* SPDX-License-Identifier: Apache-2.0 */
/* libweft-time.so is loaded before all other libraries into the processes of
 * `weft exec`. The program's clocks then show simulated time, calls of MPI are
 * counted, and all ranks start at one simulated time.
 *
 *   preload.c     the attachment; which code belongs to the program
 *   clock.c       clocks of C and C++
 *   name.c        the name of the host
 *   folder.c      folders of Open MPI
 *   heap.c        placement of buffers
 *   mpi.c         MPI_Init, MPI_Finalize, MPI_Wtime
 *   raw.c         programs that call weft/host.h themselves
 *   calls.c       every other call of MPI that communicates
 *
 * Headers of MPI are not used.  Handles are passed on as words, so that one
 * library serves Open MPI and MPICH, C and Fortran. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/attach.h"

/* Returns the next definition of a symbol, in libc or MPI, or NULL. */
void *pre_next(const char *name);

/* Returns the attachment. Returns NULL if weft exec did not start the process,
 * or if the process was forked or has left. */
struct weft_att *pre_att(void);
/* Returns the attachment as pre_att does, but first attaches a process that has
 * MPI or libfabric. */
struct weft_att *pre_attach(void);
/* Leaves the run. Does nothing without an attachment. Called at the end of the
 * process, too, because programs of libfabric alone do not call
 * MPI_Finalize. */
void pre_detach(void);
/* Returns true if the clocks show simulated time. */
bool pre_timed(const struct weft_att *a);
/* Returns simulated time. A call by the attached thread hands over to the
 * simulator. A call by another thread does not hand over and returns the last
 * time that the attached thread received. */
weft_time_t pre_now(struct weft_att *a);
/* Sets the time that other threads get. Called when the time is known without a
 * hand-over, as at the start of the measured part. */
void pre_now_is(weft_time_t t);
/* Returns true in the attached thread, because only this thread may post. */
bool pre_my_turn(void);
/* Returns true if the caller's code belongs to the program, not to a library
 * of the system. */
bool pre_is_program(const void *caller);

/* Returns true, and the simulated time of the thread in *t, if the caller is
 * code of a program that calls weft/host.h itself. */
bool pre_raw_now(const void *caller, weft_time_t *t);

#endif
