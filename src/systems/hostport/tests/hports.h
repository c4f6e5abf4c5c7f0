/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that use Host Ports by weft/hostport.h alone, and the driver of each
 * node. Only one bench can exist at a time. */
#ifndef HOSTPORT_TESTS_HPORTS_H
#define HOSTPORT_TESTS_HPORTS_H

#include "hpproc.h"
#include "weft/hostport.h"

/* Bench that hports_new() sets up. A test may change parameters before
 * hports_run(). */
struct hports {
	struct exrig rig;
	/* time in which the driver serves a miss, 1 us by default */
	weft_time_t service;
	uint32_t step; /* progress of the programs, for hports_await() */
};
extern struct hports hports;

/* Makes the bench. A bus of NULL is HyperTransport. */
void hports_new(const char *dims, const struct weft_class *bus);
/* Sets the programs of a node. The list ends with NULL. */
void hports_progs(uint32_t node, const exrig_fn *fn);
#define HPORTS_PROGS(node, ...)                                                \
	hports_progs(node, (const exrig_fn[]){ __VA_ARGS__, NULL })
/* Runs the programs, and a driver on every node. Then frees the bench. */
void hports_run(void);
/* Sets these programs for one node and runs the bench. */
#define HPORTS_ONE(...)                                                        \
	do {                                                                   \
		hports_new("1", NULL);                                         \
		HPORTS_PROGS(0, __VA_ARGS__);                                  \
		hports_run();                                                  \
	} while (0)

void hports_pause(struct weft_host *h, weft_time_t t);
/* Waits until a program has raised hports.step to n. */
void hports_await(struct weft_host *h, uint32_t n);

struct hport *hports_open_any(struct weft_host *h);
struct hport *hports_open(struct weft_host *h, uint32_t vpid);
struct hport_peer hports_peer(struct hport *p, uint32_t node, uint32_t vpid);
/* Allocates memory full of `fill` and opens it to all processes as window
 * `id`. */
uint8_t *hports_window(struct hport *p, uint32_t id, uint64_t bytes, int fill,
		       uint64_t *va_p);
/* Returns how many of n bytes are `byte`. */
uint64_t hports_count(const uint8_t *p, uint64_t n, int byte);
/* Returns the next notification. Fails unless it arrives within t. */
struct hport_note hports_note(struct hport *p, weft_time_t t);

/* Program of a victim. When hports.step is HPORTS_GONE, it allocates the free
 * memory and fills it. At HPORTS_OVER it checks that no byte has changed. */
enum { HPORTS_BLOCK = 64 * 1024, HPORTS_THEIRS = 'V' };
enum { HPORTS_GONE = 1, HPORTS_TAKEN, HPORTS_OVER };
int hports_victim(struct weft_host *h, struct exrig *r, uint32_t node);

#endif
