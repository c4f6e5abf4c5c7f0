/* SPDX-License-Identifier: Apache-2.0 */
/* Start, end and clock of MPI. After MPI_Init the ranks are at different
 * simulated times, because PMIx takes real time. Therefore all ranks wait for
 * one simulated time (weft_att_epoch), a whole second, with no message in
 * flight. The measured part starts at this time, so that its start is equal in
 * every run. The measured part ends with MPI_Finalize. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <unistd.h>

typedef uintptr_t word;

/* ---- the epoch ---- */

static weft_time_t epoch;
static uint64_t number;
static int ranks; /* number of ranks; 0: the measured part has not started */

/* Returns a predefined handle. In MPICH a handle is a number. In Open MPI a
 * handle is the address of an object. dlsym finds the object even if the linker
 * has copied it into the program. */
static word mpi_handle(const char *openmpi, word mpich)
{
	void *p = dlsym(RTLD_DEFAULT, openmpi);

	return p ? (word)p : mpich;
}

static word mpi_world(void)
{
	return mpi_handle("ompi_mpi_comm_world", 0x44000000);
}

static bool passed;

static int mpi_pass(void)
{
	passed = true;
	return 0;
}

/* Brings the progress engine of Open MPI to a fixed count of passes. The number
 * of passes so far depends on real time, and every eighth pass also polls
 * low-priority callbacks. */
static void progress_level(void)
{
	void *lib = dlopen("libopen-pal.so.40", RTLD_LAZY | RTLD_NOLOAD);
	int (*add)(int (*)(void)), (*del)(int (*)(void)), (*progress)(void);

	if (!lib)
		return;
	add = dlsym(lib, "opal_progress_register_lp");
	del = dlsym(lib, "opal_progress_unregister");
	progress = dlsym(lib, "opal_progress");
	if (add && del && progress && !add(mpi_pass)) {
		for (int i = 0; i < 64 && !passed; i++)
			progress();
		del(mpi_pass);
	}
	dlclose(lib);
}

/* Takes the process out of the measured part during start-up, because start-up
 * depends on real time. */
static void mpi_start(void)
{
	struct weft_att *a = pre_attach();

	if (pre_timed(a))
		weft_att_aside(a);
}

/* Starts the measured part. The barrier is first, because ranks still inside
 * MPI_Init may need an answer from this rank. */
static void mpi_begin(void)
{
	int (*bcast)(void *, int, word, int, word) = pre_next("PMPI_Bcast");
	int (*barrier)(word) = pre_next("PMPI_Barrier");
	int (*size)(word, int *) = pre_next("PMPI_Comm_size");
	struct weft_att *a = pre_att();

	if (!pre_timed(a) || !barrier || !size)
		return;
	size(mpi_world(), &ranks);
	/* The number of the job is the pid of rank 0, so that it is equal in
	 * all ranks. It is broadcast, because not every launcher names jobs. */
	number = (uint64_t)getpid();
	if (bcast)
		bcast(&number, sizeof(number),
		      mpi_handle("ompi_mpi_byte", 0x4c00010d), 0, mpi_world());
	barrier(mpi_world());
	progress_level();
	if (!weft_att_epoch(a, number, (uint32_t)ranks, &epoch))
		pre_now_is(epoch);
}

/* Ends the measured part. The barrier is first, so that no rank leaves while
 * another still measures. */
static void mpi_end(void)
{
	int (*barrier)(word) = pre_next("PMPI_Barrier");
	struct weft_att *a = pre_att();

	if (a)
		weft_att_over(a);
	if (!pre_timed(a) || !barrier || !ranks)
		return;
	barrier(mpi_world());
	weft_att_epoch_end(a, number, (uint32_t)ranks);
}

/* ---- C ---- */

int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv)
{
	int (*next)(int *, char ***) = pre_next("MPI_Init");
	int ret;

	mpi_start();
	ret = next(argc, argv);
	mpi_begin();
	return ret;
}

int MPI_Init_thread(int *argc, char ***argv, int want, int *have);
int MPI_Init_thread(int *argc, char ***argv, int want, int *have)
{
	int (*next)(int *, char ***, int, int *) = pre_next("MPI_Init_thread");
	int ret;

	mpi_start();
	ret = next(argc, argv, want, have);
	mpi_begin();
	return ret;
}

int MPI_Finalize(void);
int MPI_Finalize(void)
{
	int (*next)(void) = pre_next("MPI_Finalize");
	int ret;

	mpi_end();
	ret = next();
	pre_detach();
	return ret;
}

/* Returns the seconds since the start of the measured part, or with `tick` the
 * resolution of that clock. `name` is the function of the MPI library. */
static double mpi_clock(const char *name, bool tick)
{
	struct weft_att *a = tick ? pre_att() : pre_attach();
	double (*next)(void);
	weft_time_t t;

	if (!pre_timed(a)) {
		next = pre_next(name);
		return next();
	}
	if (tick)
		return 1e-9;
	t = pre_now(a);
	return t > epoch ? (double)(t - epoch) / (double)WEFT_SEC : 0;
}

double MPI_Wtime(void);
double MPI_Wtime(void)
{
	return mpi_clock("MPI_Wtime", false);
}

double MPI_Wtick(void);
double MPI_Wtick(void)
{
	return mpi_clock("MPI_Wtick", true);
}

/* ---- Fortran: mpif.h, use mpi and use mpi_f08. The clocks of mpi_f08 are the
 * functions of C. ---- */

#define FORTRAN_INIT(name)                                                     \
	void name(word a, word b, word c);                                     \
	void name(word a, word b, word c)                                      \
	{                                                                      \
		void (*next)(word, word, word) = pre_next(#name);              \
                                                                               \
		mpi_start();                                                   \
		next(a, b, c);                                                 \
		mpi_begin();                                                   \
	}
#define FORTRAN_FINALIZE(name)                                                 \
	void name(word error);                                                 \
	void name(word error)                                                  \
	{                                                                      \
		void (*next)(word) = pre_next(#name);                          \
                                                                               \
		mpi_end();                                                     \
		next(error);                                                   \
		pre_detach();                                                  \
	}
#define FORTRAN_CLOCK(name, tick)                                              \
	double name(void);                                                     \
	double name(void)                                                      \
	{                                                                      \
		return mpi_clock(#name, tick);                                 \
	}

FORTRAN_INIT(mpi_init_)
FORTRAN_INIT(mpi_init_thread_)
FORTRAN_INIT(mpi_init_f08_)
FORTRAN_INIT(mpi_init_thread_f08_)
FORTRAN_FINALIZE(mpi_finalize_)
FORTRAN_FINALIZE(mpi_finalize_f08_)
FORTRAN_CLOCK(mpi_wtime_, false)
FORTRAN_CLOCK(mpi_wtick_, true)
