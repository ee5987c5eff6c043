/*
 * simd.h - the only place that knows about vectors.
 *
 * A loop over bytes is written once, in a file NAME.inc, against the
 * operations below, and NAME.c includes it once for each level, having
 * defined for it:
 *	V(name)		the level's own name of an operation or function
 *	V_TARGET	what the level's functions are marked with
 *	V_BYTES		bytes of a vector
 *	V_STEP		bits of a mask for each byte
 * Each level has:
 *	V(vec)			the type
 *	V(load), V(store)	at any address
 *	V(fill)			one byte everywhere
 *	V(equal)		0xff where two are equal, else 0
 *	V(odd)			0xff where a byte is not printable ASCII
 *	V(or), V(and)
 *	V(mask)			of 0xff and 0: V_STEP bits a byte, of which
 *				the highest may be set; the first is lowest
 * and all but SSE2:
 *	V(low), V(high)		the low or high four bits of each byte
 *	V(table), V(lookup)	16 bytes, found by bytes below 16
 * The scalar level has none of these: its functions are written out.
 */
#ifndef TMUX_WAIT_SIMD_H
#define TMUX_WAIT_SIMD_H

#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__ && !defined TW_NO_SIMD
#define SIMD_X86 1
#include <immintrin.h>
#elif defined __aarch64__ && defined __ARM_NEON && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined TW_NO_SIMD
#define SIMD_ARM 1
#include <arm_neon.h>
#endif

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

/* --- SSE2: what every x86-64 has --- */

#ifdef SIMD_X86

#define sse2_vec __m128i

SIMD_INLINE __m128i
sse2_load(const void *p)
{
	return (_mm_loadu_si128((const __m128i *)p));
}

SIMD_INLINE void
sse2_store(void *p, __m128i v)
{
	_mm_storeu_si128((__m128i *)p, v);
}

SIMD_INLINE __m128i
sse2_fill(uint8_t byte)
{
	return (_mm_set1_epi8((char)byte));
}

SIMD_INLINE __m128i
sse2_equal(__m128i a, __m128i b)
{
	return (_mm_cmpeq_epi8(a, b));
}

SIMD_INLINE __m128i
sse2_or(__m128i a, __m128i b)
{
	return (_mm_or_si128(a, b));
}

SIMD_INLINE __m128i
sse2_and(__m128i a, __m128i b)
{
	return (_mm_and_si128(a, b));
}

/* Signed comparison: bytes from 0x80 on are below zero. */
SIMD_INLINE __m128i
sse2_odd(__m128i v)
{
	return (_mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
	    _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f))));
}

SIMD_INLINE uint64_t
sse2_mask(__m128i v)
{
	return ((uint32_t)_mm_movemask_epi8(v));
}

/* --- AVX2: chosen when the processor has it --- */

#define AVX2_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define avx2_vec __m256i

SIMD_INLINE AVX2_TARGET __m256i
avx2_load(const void *p)
{
	return (_mm256_loadu_si256((const __m256i *)p));
}

SIMD_INLINE AVX2_TARGET void
avx2_store(void *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)p, v);
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_fill(uint8_t byte)
{
	return (_mm256_set1_epi8((char)byte));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_equal(__m256i a, __m256i b)
{
	return (_mm256_cmpeq_epi8(a, b));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_or(__m256i a, __m256i b)
{
	return (_mm256_or_si256(a, b));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_and(__m256i a, __m256i b)
{
	return (_mm256_and_si256(a, b));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_odd(__m256i v)
{
	return (_mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v),
	    _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7f))));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_low(__m256i v)
{
	return (_mm256_and_si256(v, _mm256_set1_epi8(0x0f)));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_high(__m256i v)
{
	return (_mm256_and_si256(_mm256_srli_epi16(v, 4),
	    _mm256_set1_epi8(0x0f)));
}

/* A table of 16 bytes for V(lookup). */
SIMD_INLINE AVX2_TARGET __m256i
avx2_table(const uint8_t *table)
{
	return (_mm256_broadcastsi128_si256(
	    _mm_loadu_si128((const __m128i *)table)));
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_lookup(__m256i table, __m256i v)
{
	return (_mm256_shuffle_epi8(table, v));
}

SIMD_INLINE AVX2_TARGET uint64_t
avx2_mask(__m256i v)
{
	return ((uint32_t)_mm256_movemask_epi8(v));
}

#endif /* SIMD_X86 */

/* --- NEON: what every arm64 has --- */

#ifdef SIMD_ARM

#define neon_vec uint8x16_t

SIMD_INLINE uint8x16_t
neon_load(const void *p)
{
	return (vld1q_u8(p));
}

SIMD_INLINE void
neon_store(void *p, uint8x16_t v)
{
	vst1q_u8(p, v);
}

SIMD_INLINE uint8x16_t
neon_fill(uint8_t byte)
{
	return (vdupq_n_u8(byte));
}

SIMD_INLINE uint8x16_t
neon_equal(uint8x16_t a, uint8x16_t b)
{
	return (vceqq_u8(a, b));
}

SIMD_INLINE uint8x16_t
neon_or(uint8x16_t a, uint8x16_t b)
{
	return (vorrq_u8(a, b));
}

SIMD_INLINE uint8x16_t
neon_and(uint8x16_t a, uint8x16_t b)
{
	return (vandq_u8(a, b));
}

/* Printable ASCII begins at 0x20 and has 0x5f bytes. */
SIMD_INLINE uint8x16_t
neon_odd(uint8x16_t v)
{
	return (vcgeq_u8(vsubq_u8(v, vdupq_n_u8(0x20)), vdupq_n_u8(0x5f)));
}

SIMD_INLINE uint8x16_t
neon_low(uint8x16_t v)
{
	return (vandq_u8(v, vdupq_n_u8(0x0f)));
}

SIMD_INLINE uint8x16_t
neon_high(uint8x16_t v)
{
	return (vshrq_n_u8(v, 4));
}

SIMD_INLINE uint8x16_t
neon_table(const uint8_t *table)
{
	return (vld1q_u8(table));
}

SIMD_INLINE uint8x16_t
neon_lookup(uint8x16_t table, uint8x16_t v)
{
	return (vqtbl1q_u8(table, v));
}

/* Narrowing leaves four bits of each byte; the highest of them is kept. */
SIMD_INLINE uint64_t
neon_mask(uint8x16_t v)
{
	uint8x8_t	narrow;

	narrow = vshrn_n_u16(vreinterpretq_u16_u8(v), 4);
	return (vget_lane_u64(vreinterpret_u64_u8(narrow), 0) &
	    UINT64_C(0x8888888888888888));
}

#endif /* SIMD_ARM */

/* How many bits of a mask are set. */
SIMD_INLINE uint32_t
simd_count(uint64_t mask)
{
	return ((uint32_t)__builtin_popcountll(mask));
}

/* The lowest bit set of a mask that is not 0. */
SIMD_INLINE uint32_t
simd_lowest(uint64_t mask)
{
	return ((uint32_t)__builtin_ctzll(mask));
}

#endif
