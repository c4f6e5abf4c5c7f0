/* SPDX-License-Identifier: Apache-2.0 */
/* See locks.h. */
#include "locks.h"

#include <dirent.h>
#include <pthread.h>
#include <stddef.h>

#include "cmocka_all.h"

enum { HELD = 32 };

static __thread pthread_mutex_t *held[HELD];
static __thread int n_held;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int locks_held(void)
{
	return n_held;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	assert_true(n_held < HELD);
	held[n_held++] = m;
	return __real_pthread_mutex_lock(m);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	int i = n_held;

	while (i && held[i - 1] != m)
		i--;
	assert_true(i > 0); /* fails if the mutex is not locked */
	for (n_held--; i - 1 < n_held; i++)
		held[i - 1] = held[i];
	return __real_pthread_mutex_unlock(m);
}

int descriptors_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}
