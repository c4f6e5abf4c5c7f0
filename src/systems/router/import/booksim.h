/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration of BookSim2: its settings with their defaults
 * (booksim_keys.c), the reader of its grammar (booksim_text.c), and the
 * translation of settings to Weft (booksim_network.c, booksim_router.c,
 * booksim_traffic.c, booksim_measure.c).
 *
 * Source: BookSim2, config.l, config.y, booksim_config.cpp. */
#ifndef SYSTEMS_ROUTER_BOOKSIM_H
#define SYSTEMS_ROUTER_BOOKSIM_H

#include "front/import/import.h"

/* Types of values that BookSim2 takes for a setting. */
enum { BOOKSIM_INT = 1, BOOKSIM_REAL = 2, BOOKSIM_TEXT = 4 };

/* Meaning of a setting here. */
enum booksim_use {
	BOOKSIM_TAKEN,	 /* becomes part of the experiment */
	BOOKSIM_NOTHING, /* changes no result, with a remark */
	BOOKSIM_CANNOT,	 /* refused if it differs from the default */
};

struct booksim_key {
	const char *name;
	const char *value; /* default */
	uint8_t types;
	enum booksim_use use;
	/* Setting without which this one has no effect, or NULL. */
	const char *with;
	const char *remark; /* another value that would do, or the reason why
			     * the setting changes nothing */
};
enum { BOOKSIM_KEYS = 121 };
extern const struct booksim_key booksim_keys[]; /* ended by name == NULL */

struct booksim_set {
	char *text; /* value as it was written; NULL: default */
	double number;
	uint8_t type;
	uint32_t line; /* 0: a setting of the command line */
};

struct booksim {
	struct import *im;
	struct booksim_set set[BOOKSIM_KEYS];
	/* derived by booksim_shape(): */
	uint32_t nodes;
};

/* ---- booksim_text.c ---- */

/* Reads text into b->set. `from` is the name of the file, and `line` the number
 * of its first line. For a setting of the command line, `line` is 0. Returns 0,
 * or -EINVAL with a message that names file and line. */
int booksim_parse(struct booksim *b, const char *from, const char *text,
		  size_t len, uint32_t line, struct weft_err *err);

/* Returns the number, or the text, of a setting or of its default. */
double booksim_number(const struct booksim *b, const char *key);
const char *booksim_text(const struct booksim *b, const char *key);
static inline bool booksim_on(const struct booksim *b, const char *key)
{
	return booksim_number(b, key) > 0;
}
/* Returns true if the file sets the key to a value other than the default. */
bool booksim_differs(const struct booksim *b, const char *key);

/* Copies token i of a list `{a,b,..}` to buf. A text without braces is a list
 * of one token. Returns false if there is no token i (tokenize_str of
 * BookSim2). */
bool booksim_token(const char *list, uint32_t i, char *buf, size_t size);
/* Splits `name(parameters)`. params is empty if there are none. */
void booksim_call(const char *text, char *name, char *params, size_t size);

/* Adds a note about a setting: booksim_cannot() refuses the setting,
 * booksim_remark() explains it. */
void booksim_cannot(struct booksim *b, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void booksim_remark(struct booksim *b, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- parts of the experiment ---- */

/* Returns factor * k^n, or 0 after a refusal. */
uint32_t booksim_power(struct booksim *b, double factor);
/* Writes the keys `topology` and `dims`, with size k in each of n dimensions.
 */
void booksim_dims(struct booksim *b, FILE *f, const char *topology);
/* booksim_anynet.c */
uint32_t booksim_anynet_nodes(struct booksim *b);
void booksim_anynet_write(struct booksim *b, FILE *f);
/* booksim_concentrated.c: topologies in which a router has several ends. A
 * function ..._nodes() returns the number of ends, or 0 after a refusal. A
 * function ..._write() writes the shape. */
uint32_t booksim_cmesh_nodes(struct booksim *b);
void booksim_cmesh_write(struct booksim *b, FILE *f);
uint32_t booksim_flatfly_nodes(struct booksim *b);
void booksim_flatfly_write(struct booksim *b, FILE *f);
uint32_t booksim_dragonfly_nodes(struct booksim *b);
void booksim_dragonfly_write(struct booksim *b, FILE *f);
/* Finds b->nodes. Returns false if the topology is refused. */
bool booksim_shape(struct booksim *b);
/* Each function writes its part of the experiment, and notes the settings that
 * it refuses. */
void booksim_fabric(struct booksim *b, FILE *f);
void booksim_router(struct booksim *b, FILE *f);
void booksim_traffic(struct booksim *b, FILE *f);
void booksim_measurement(struct booksim *b, FILE *f);
/* Returns true if sources send a batch of packets instead of arrivals. */
bool booksim_batch(const struct booksim *b);
/* Writes a sweep with a point for each batch if there are several. */
void booksim_repeat(struct booksim *b, FILE *f);

#endif
