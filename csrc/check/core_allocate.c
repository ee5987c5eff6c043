/*
 * core_allocate.c - counts what the core allocates; see core_allocate.h.
 */

#define CORE_ALLOCATE_ITSELF
#include "core_allocate.h"

size_t	allocated_bytes, allocated_calls, allocate_fails;

static int
core_count(size_t size)
{
	allocated_bytes += size;
	return (++allocated_calls != allocate_fails);
}

void *
core_malloc(size_t size)
{
	return (core_count(size) ? malloc(size) : NULL);
}

void *
core_calloc(size_t n, size_t size)
{
	return (core_count(n * size) ? calloc(n, size) : NULL);
}
