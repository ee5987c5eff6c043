/*
 * simd.c - which level of vectors is in use.
 */

#include <stdatomic.h>

#include "core.h"
#include "simd.h"

/* Not known yet. */
#define UNKNOWN TW_SIMD_LEVELS

/* Two threads may find it out at once: they find the same. */
static _Atomic uint32_t simd_used = UNKNOWN;

/* Whether this processor has a level. */
static int
simd_has(uint32_t level)
{
	switch (level) {
	case TW_SIMD_SCALAR:
		return (1);
#ifdef SIMD_X86
	case TW_SIMD_SSE2:
		return (1);
	case TW_SIMD_AVX2:
		return (__builtin_cpu_supports("avx2") &&
		    __builtin_cpu_supports("bmi") &&
		    __builtin_cpu_supports("bmi2") &&
		    __builtin_cpu_supports("popcnt"));
	case TW_SIMD_AVX512:
		return (simd_has(TW_SIMD_AVX2) &&
		    __builtin_cpu_supports("avx512f") &&
		    __builtin_cpu_supports("avx512bw") &&
		    __builtin_cpu_supports("avx512vl") &&
		    __builtin_cpu_supports("avx512vbmi") &&
		    __builtin_cpu_supports("avx512vbmi2"));
#endif
#ifdef SIMD_ARM
	case TW_SIMD_NEON:
		return (1);
#endif
	}
	return (0);
}

uint32_t
tw_simd_use(uint32_t level)
{
	if (!simd_has(level))
		return (0);
	atomic_store_explicit(&simd_used, level, memory_order_relaxed);
	return (1);
}

uint32_t
tw_simd_level(void)
{
	uint32_t	level;

	level = atomic_load_explicit(&simd_used, memory_order_relaxed);
	if (level != UNKNOWN)
		return (level);
	for (level = UNKNOWN - 1; !simd_has(level); level--)
		;
	(void)tw_simd_use(level);
	return (level);
}
