/* SPDX-License-Identifier: Apache-2.0 */
/* Basic types shared by every public header. */
#ifndef WEFT_TYPES_H
#define WEFT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_API_VERSION 5

/* Enclose the declarations of every public header, so that C++ programs and
 * plug-ins use them as C. */
#ifdef __cplusplus
#define WEFT_C_BEGIN extern "C" {
#define WEFT_C_END   }
#else
#define WEFT_C_BEGIN
#define WEFT_C_END
#endif

WEFT_C_BEGIN

/* Simulated time in femtoseconds since the start of the run (5.1 hours fit). */
typedef uint64_t weft_time_t;
#define WEFT_NEVER UINT64_MAX
#define WEFT_NS	   ((weft_time_t)1000000)
#define WEFT_US	   ((weft_time_t)1000000000)
#define WEFT_MS	   ((weft_time_t)1000000000000)
#define WEFT_SEC   ((weft_time_t)1000000000000000)

/* Physical address as a bus master puts it on the bus. */
typedef uint64_t weft_phys_t;

struct weft_sim;
struct weft_comp;
struct weft_frame;
struct weft_bus_note;

/* A user's mistake, described in one line that names the cause and the remedy.
 * The first function that knows the cause fills the struct. The callers of that
 * function pass the struct on unchanged. */
struct weft_err {
	int code; /* positive errno, 0 = no error */
	char msg[480];
};

/* Fills err (which may be NULL) and returns -code, so that a caller can write
 * `return weft_fail(err, EINVAL, "...")`. A filled err is not overwritten,
 * because the first function that fails knows the cause. */
int weft_fail(struct weft_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

WEFT_C_END

#endif
