/*
 * core_work.h - put before each file of the core that is built to count its
 * work: bytes that go through the C library's functions are counted here, and
 * all other work by the compiler's calls at each branch
 * (-fsanitize-coverage=trace-pc).  Both are the same on every run.
 */
#ifndef TMUX_WAIT_CORE_WORK_H
#define TMUX_WAIT_CORE_WORK_H

#include <string.h>

#include "core_allocate.h"

extern unsigned long long work_bytes;	/* searched, moved, copied, set */

static inline size_t
work(size_t n)
{
	work_bytes += n;
	return (n);
}

/* What was really searched: up to the byte that was found. */
static inline void *
work_memchr(const void *p, int byte, size_t n)
{
	void	*found = memchr(p, byte, n);

	work_bytes += found == NULL ? n :
	    (size_t)((const char *)found - (const char *)p) + 1;
	return (found);
}

#define memcpy(to, from, n) memcpy(to, from, work(n))
#define memmove(to, from, n) memmove(to, from, work(n))
#define memset(p, byte, n) memset(p, byte, work(n))
#define memcmp(a, b, n) memcmp(a, b, work(n))
#define memchr(p, byte, n) work_memchr(p, byte, n)

#endif
