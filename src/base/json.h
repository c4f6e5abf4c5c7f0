/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer into a growing buffer. The writer sets commas and
 * indentation. Numbers print as the shortest decimal that reads back to an
 * equal value, NaN and Inf as null, because JSON has neither. buf is always
 * terminated. At most 32 levels may be open. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *buf;
	size_t len, cap;
	uint32_t depth;
	bool need_comma[32], is_arr[32]; /* state of each open level */
	bool pretty;
};

/* Starts an empty text. json_fini frees it. */
void json_init(struct json *j, bool pretty);
void json_fini(struct json *j);
/* Opens an object. key is NULL inside arrays. */
void json_obj(struct json *j, const char *key);
void json_arr(struct json *j, const char *key);
void json_end(struct json *j); /* closes the innermost level */
void json_str(struct json *j, const char *key,
	      const char *val); /* NULL is written as null */
void json_u64(struct json *j, const char *key, uint64_t val);
/* Each writes one value. key is NULL inside arrays. */
void json_i64(struct json *j, const char *key, int64_t val);
void json_real(struct json *j, const char *key, double val);
void json_bool(struct json *j, const char *key, bool val);
void json_null(struct json *j, const char *key);

#endif
