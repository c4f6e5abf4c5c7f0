/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of other processes, accessed in any order. The processes are arrays,
 * and the test counts the accesses to them. */
#include "../cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "host/process_memory_internal.h"

enum { MIB = 1 << 20, FAR_BYTES = 16 * MEM_PAGE, FAR_STREAMS = 6 };

/* A process that is an array, with a count of the requests to it. */
struct array {
	struct weft_far_owner owner;
	uint8_t bytes[FAR_BYTES], want[FAR_BYTES];
	uint8_t *shadow;
	uint64_t reads, read_bytes, writes, write_bytes, order;
};

static int array_copy(void *arg, uint64_t va, void *buf, size_t n, bool write)
{
	struct array *a = arg;

	assert_in_range(va + n, n, FAR_BYTES);
	*(write ? &a->writes : &a->reads) += 1;
	*(write ? &a->write_bytes : &a->read_bytes) += n;
	a->order = a->order * 31 + va * 2 + write;
	if (write)
		memcpy(a->bytes + va, buf, n);
	else
		memcpy(buf, a->bytes + va, n);
	return 0;
}

static void array_add(struct mem *m, struct array *a)
{
	memset(a, 0, sizeof(*a));
	a->owner = (struct weft_far_owner){
		.copy = array_copy, .arg = a, .by_copy = true, .ahead = true
	};
	a->shadow = mem_far_add(m, &a->owner, 0, FAR_BYTES);
	assert_non_null(a->shadow);
}

static void array_access(struct mem *m, struct array *a, size_t at, size_t n,
			 bool write, int val)
{
	static uint8_t buf[FAR_BYTES];

	if (write) {
		memset(buf, val, n);
		memcpy(a->want + at, buf, n);
		mem_store(m, a->shadow + at, buf, n);
	} else {
		mem_copy(m, buf, a->shadow + at, n);
		assert_memory_equal(buf, a->want + at, n);
	}
}

/* Mixes streams with accesses at random offsets. Sometimes settles all stores,
 * sometimes lets a process run and change its memory. */
static void array_steps(struct mem *m, struct array *a, struct weft_rng *rng)
{
	size_t next[FAR_STREAMS] = { 0 };

	for (int i = 0; i < 6000; i++) {
		uint32_t k = (uint32_t)weft_rng_below(rng, FAR_STREAMS + 1);
		size_t n = 1 + weft_rng_below(rng, i % 16 ? 200 : 9000);
		struct array *x = &a[k % 2];
		size_t at = k < FAR_STREAMS ? next[k]
					    : weft_rng_below(rng, FAR_BYTES);

		at = at + n < FAR_BYTES ? at : 0;
		if (k < FAR_STREAMS)
			next[k] = at + n;
		array_access(m, x, at, n, k % 4 > 1, i);
		if (!weft_rng_below(
			    rng,
			    100)) { /* copies from one process to the other */
			mem_copy(m, a[1].shadow + at, a[0].shadow + at, n);
			memcpy(a[1].want + at, a[0].want + at, n);
		}
		if (!weft_rng_below(rng, 60))
			mem_settled(m);
		/* drops everything that is kept of the process */
		if (!weft_rng_below(rng, 700)) {
			assert_true(mem_far_del(m, x->shadow));
			x->bytes[at] = x->want[at] = (uint8_t)(i + 2);
			x->shadow = mem_far_add(m, &x->owner, 0, FAR_BYTES);
		}
		if (!weft_rng_below(rng, 400)) {
			mem_settled(m);
			x->owner.epoch++;
			x->bytes[at] = x->want[at] = (uint8_t)(i + 1);
		}
	}
	mem_settled(m);
}

/* Reads always return the bytes written last. At the end the processes contain
 * all written bytes. The expected numbers of calls are those of the present
 * code. */
static void random_accesses_keep_contents_with_few_calls(void **state)
{
	static struct array a[2];
	struct weft_rng rng;
	struct mem m;

	mem_init(&m, 0, MIB);
	array_add(&m, &a[0]);
	array_add(&m, &a[1]);
	weft_rng_seed(&rng, 1, "far");
	array_steps(&m, a, &rng);
	for (uint32_t i = 0; i < 2; i++)
		assert_memory_equal(a[i].bytes, a[i].want, FAR_BYTES);
	assert_int_equal(a[0].reads, 341);
	assert_int_equal(a[0].read_bytes, 1529464);
	assert_int_equal(a[0].writes, 1073);
	assert_int_equal(a[0].write_bytes, 681701);
	assert_true(a[0].order == 0x7a43e9a75f7623c1);
	assert_true(a[1].order == 0x8cdd3ef1de8cf887);
	mem_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_accesses_keep_contents_with_few_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
