/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of unmodified programs: malloc and its family from the program's own
 * heap, so that the place of a block in its page depends on the program's calls
 * alone. Memory that the C library has allocated (by strdup or getline, or
 * while the program was loaded) is freed by the C library. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prog.h"
#include "systems/hvia/programs/host_main_load.h"

enum { ALIGN = 16, PAGE = 4096 };

/* Returns true if the block is from the program's heap. Returns false without a
 * running thread, because the program is being unloaded and its heap is freed
 * as a whole. */
static bool main_memory_owned(const void *p, size_t *bytes_p)
{
	struct weft_host *h = weft_host_self();

	return h && weft_prog_owns(h, p, bytes_p);
}

static void *main_memory_get(size_t align, size_t bytes)
{
	struct weft_host *h = weft_host_self();
	void *p = h ? weft_host_align(h, align < ALIGN ? ALIGN : align, bytes)
		    : NULL;

	if (!p)
		errno = ENOMEM;
	return p;
}

static void *my_malloc(size_t bytes)
{
	return main_memory_get(ALIGN, bytes);
}

static void *my_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX;
	return main_memory_get(ALIGN, bytes);
}

static void my_free(void *p)
{
	size_t bytes;

	if (main_memory_owned(p, &bytes))
		weft_host_free(weft_host_self(), p);
	else if (weft_host_self())
		free(p);
}

static void *my_realloc(void *p, size_t bytes)
{
	size_t old;
	void *q;

	if (p && !main_memory_owned(p, &old))
		return realloc(p, bytes);
	q = main_memory_get(ALIGN, bytes);
	if (q && p) {
		memcpy(q, p, old < bytes ? old : bytes);
		my_free(p);
	}
	return q;
}

static void *my_reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX;
	return my_realloc(p, bytes);
}

static void *my_memalign(size_t align, size_t bytes)
{
	if (align & (align - 1) || align > PAGE) {
		errno = EINVAL;
		return NULL;
	}
	return main_memory_get(align, bytes);
}

static int my_posix_memalign(void **to, size_t align, size_t bytes)
{
	if (align % sizeof(void *) || align & (align - 1) || align > PAGE)
		return EINVAL;
	*to = main_memory_get(align, bytes);
	return *to ? 0 : ENOMEM;
}

static void *my_valloc(size_t bytes)
{
	return main_memory_get(PAGE, bytes);
}

static size_t my_usable(void *p)
{
	size_t bytes;

	return !p			      ? 0
	       : main_memory_owned(p, &bytes) ? bytes
					      : malloc_usable_size(p);
}

/* Reads into a buffer of the C library and copies it, because the C library
 * would otherwise resize the program's buffer. */
static ssize_t my_getdelim(char **line, size_t *n, int end, FILE *f)
{
	char *own = NULL;
	size_t cap = 0;
	ssize_t len = getdelim(&own, &cap, end, f);

	if (len >= 0 && (!*line || *n < (size_t)len + 1)) {
		*line = my_realloc(*line, (size_t)len + 1);
		*n = (size_t)len + 1;
	}
	if (len >= 0)
		memcpy(*line, own, (size_t)len + 1);
	free(own);
	return len;
}

static ssize_t my_getline(char **line, size_t *n, FILE *f)
{
	return my_getdelim(line, n, '\n', f);
}

#define CODE(fn) ((void *)(uintptr_t)(fn))

const struct main_sym main_mem[] = {
	{ "malloc", CODE(my_malloc) },
	{ "calloc", CODE(my_calloc) },
	{ "free", CODE(my_free) },
	{ "cfree", CODE(my_free) },
	{ "realloc", CODE(my_realloc) },
	{ "reallocarray", CODE(my_reallocarray) },
	{ "memalign", CODE(my_memalign) },
	{ "aligned_alloc", CODE(my_memalign) },
	{ "posix_memalign", CODE(my_posix_memalign) },
	{ "valloc", CODE(my_valloc) },
	{ "malloc_usable_size", CODE(my_usable) },
	{ "getdelim", CODE(my_getdelim) },
	{ "__getdelim", CODE(my_getdelim) },
	{ "getline", CODE(my_getline) },
	{ NULL },
};
