/*
 * core_allocate.h - put before each file of the core that is built for its
 * checks: what the core allocates is counted, and can be made to fail.
 */
#ifndef TMUX_WAIT_CORE_ALLOCATE_H
#define TMUX_WAIT_CORE_ALLOCATE_H

#include <stddef.h>
#include <stdlib.h>

extern size_t allocated_bytes;	/* by all calls so far */
extern size_t allocated_calls;
extern size_t allocate_fails;	/* the call of this number gives NULL; */
				/* from 1, 0: none does */

void	*core_malloc(size_t);
void	*core_calloc(size_t, size_t);

#ifndef CORE_ALLOCATE_ITSELF
#define malloc(size) core_malloc(size)
#define calloc(n, size) core_calloc(n, size)
#define realloc(p, size) core_has_no_realloc(p, size)
#define aligned_alloc(a, size) core_has_no_aligned_alloc(a, size)
#endif

#endif
