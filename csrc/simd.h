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
 *	V(below)		0xff where one is below a byte (not 0)
 *	V(odd)			0xff where a byte is not printable ASCII
 *	V(or), V(and)
 *	V(mask)			of 0xff and 0: V_STEP bits a byte, of which
 *				the highest may be set; the first is lowest
 * and all but SSE2:
 *	V(low), V(high)		the low or high four bits of each byte
 *	V(table), V(lookup)	16 bytes, found by bytes below 16
 *	V(bits), V(bits_load)	eight bits for each byte there is: a table
 *	V(bits_of)		the bits of each byte, or more than those
 *	V(set)			of any bytes: the mask of those that are not 0
 * The scalar level has none of these: its functions are written out.
 * AVX-512 has the last three, besides V(vec), V(load), V(store) and V(and).
 *
 * Levels that can compress also have blocks of 64 bytes, with masks of a bit
 * a byte (V(block_...)): loops over them have no branch for each piece of
 * what they pass over or take out.
 */
#ifndef TMUX_WAIT_SIMD_H
#define TMUX_WAIT_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && !defined TW_NO_SIMD
#define SIMD_X86 1
#include <immintrin.h>
#elif defined __aarch64__ && defined __ARM_NEON && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined TW_NO_SIMD
#define SIMD_ARM 1
#include <arm_neon.h>
#endif

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

/* Eight bits for each byte: all of them, and what those of its halves give. */
struct simd_bits {
	uint8_t		 of[256];
	uint8_t		 low[16];
	uint8_t		 high[16];
};

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
sse2_below(__m128i v, uint8_t byte)
{
	return (_mm_cmpeq_epi8(_mm_min_epu8(v, sse2_fill((uint8_t)(byte - 1))),
	    v));
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
avx2_below(__m256i v, uint8_t byte)
{
	return (_mm256_cmpeq_epi8(_mm256_min_epu8(v,
	    avx2_fill((uint8_t)(byte - 1))), v));
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

struct avx2_bits {
	__m256i		 low;
	__m256i		 high;
};

SIMD_INLINE AVX2_TARGET struct avx2_bits
avx2_bits_load(const struct simd_bits *bits)
{
	return ((struct avx2_bits){ avx2_table(bits->low),
	    avx2_table(bits->high) });
}

SIMD_INLINE AVX2_TARGET __m256i
avx2_bits_of(struct avx2_bits bits, __m256i v)
{
	return (avx2_and(avx2_lookup(bits.low, avx2_low(v)),
	    avx2_lookup(bits.high, avx2_high(v))));
}

SIMD_INLINE AVX2_TARGET uint64_t
avx2_set(__m256i v)
{
	return (avx2_mask(avx2_equal(v, avx2_fill(0))) ^ 0xffffffff);
}

/* --- blocks of 64 bytes, and masks of a bit for each of them --- */

struct avx2_block {
	__m256i		 low;
	__m256i		 high;
};

SIMD_INLINE AVX2_TARGET struct avx2_block
avx2_block_load(const uint8_t *p)
{
	return ((struct avx2_block){ avx2_load(p), avx2_load(p + 32) });
}

SIMD_INLINE AVX2_TARGET void
avx2_block_store(uint8_t *p, struct avx2_block b)
{
	avx2_store(p, b.low);
	avx2_store(p + 32, b.high);
}

SIMD_INLINE AVX2_TARGET uint64_t
avx2_block_equal(struct avx2_block b, uint8_t byte)
{
	__m256i	v = avx2_fill(byte);

	return (avx2_mask(avx2_equal(b.low, v)) |
	    avx2_mask(avx2_equal(b.high, v)) << 32);
}

SIMD_INLINE AVX2_TARGET uint64_t
avx2_block_below(struct avx2_block b, uint8_t byte)
{
	return (avx2_mask(avx2_below(b.low, byte)) |
	    avx2_mask(avx2_below(b.high, byte)) << 32);
}

/* Bytes that are not printable ASCII. */
SIMD_INLINE AVX2_TARGET uint64_t
avx2_block_odd(struct avx2_block b)
{
	return (avx2_mask(avx2_odd(b.low)) | avx2_mask(avx2_odd(b.high)) << 32);
}

SIMD_INLINE AVX2_TARGET uint64_t
avx2_half_among(__m256i v, uint8_t first, uint8_t last)
{
	__m256i	from = _mm256_sub_epi8(v, avx2_fill(first));

	return (avx2_mask(avx2_equal(from, _mm256_min_epu8(from,
	    avx2_fill((uint8_t)(last - first))))));
}

/* Bytes from `first` to `last`. */
SIMD_INLINE AVX2_TARGET uint64_t
avx2_block_among(struct avx2_block b, uint8_t first, uint8_t last)
{
	return (avx2_half_among(b.low, first, last) |
	    avx2_half_among(b.high, first, last) << 32);
}

/* Three octal digits of each byte's own: their value, and what is none. */
SIMD_INLINE AVX2_TARGET __m256i
avx2_half_octal(__m256i a, __m256i b, __m256i c, __m256i *wrong)
{
	__m256i	zero = avx2_fill('0');

	a = _mm256_xor_si256(a, zero);
	b = _mm256_xor_si256(b, zero);
	c = _mm256_xor_si256(c, zero);
	*wrong = avx2_or(avx2_and(a, avx2_fill(0xfc)),
	    avx2_and(avx2_or(b, c), avx2_fill(0xf8)));
	/* A neighbour's bits, shifted in, are masked away. */
	a = avx2_and(_mm256_slli_epi16(a, 6), avx2_fill(0xc0));
	b = avx2_and(_mm256_slli_epi16(b, 3), avx2_fill(0x38));
	return (avx2_or(avx2_or(a, b), avx2_and(c, avx2_fill(7))));
}

/*
 * Where `chosen` is set, put the value of the three digits that follow; p has
 * 67 bytes.  Returns where these are no three digits of at most 377.
 */
SIMD_INLINE AVX2_TARGET uint64_t
avx2_block_octal(struct avx2_block *b, const uint8_t *p, uint8_t slash)
{
	__m256i		 value, wrong, chosen, none = avx2_fill(0);
	uint64_t	 bad;

	chosen = avx2_equal(b->low, avx2_fill(slash));
	value = avx2_half_octal(avx2_load(p + 1), avx2_load(p + 2),
	    avx2_load(p + 3), &wrong);
	b->low = _mm256_blendv_epi8(b->low, value, chosen);
	bad = avx2_mask(chosen) & ~avx2_mask(avx2_equal(wrong, none));
	p += 32;
	chosen = avx2_equal(b->high, avx2_fill(slash));
	value = avx2_half_octal(avx2_load(p + 1), avx2_load(p + 2),
	    avx2_load(p + 3), &wrong);
	b->high = _mm256_blendv_epi8(b->high, value, chosen);
	return (bad | (avx2_mask(chosen) &
	    ~avx2_mask(avx2_equal(wrong, none))) << 32);
}

/* Write the bytes whose bit is set, and some more; 64 bytes have room. */
SIMD_INLINE AVX2_TARGET uint8_t *
avx2_block_keep(uint8_t *to, struct avx2_block b, uint64_t keep)
{
	uint8_t		 bytes[64];
	uint64_t	 v, mask;
	int		 i;

	avx2_block_store(bytes, b);
#pragma GCC unroll 8
	for (i = 0; i < 8; i++) {
		memcpy(&v, bytes + 8 * i, sizeof v);
		mask = _pdep_u64(keep, UINT64_C(0x0101010101010101)) * 0xff;
		v = _pext_u64(v, mask);
		memcpy(to, &v, sizeof v);
		to += __builtin_popcountll(keep & 0xff);
		keep >>= 8;
	}
	return (to);
}

/* --- AVX-512 with VBMI2: compresses a whole block at once --- */

#define AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl," \
    "avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt")))
#define avx512_vec __m512i

SIMD_INLINE AVX512_TARGET __m512i
avx512_load(const void *p)
{
	return (_mm512_loadu_si512(p));
}

SIMD_INLINE AVX512_TARGET void
avx512_store(void *p, __m512i v)
{
	_mm512_storeu_si512(p, v);
}

SIMD_INLINE AVX512_TARGET __m512i
avx512_or(__m512i a, __m512i b)
{
	return (_mm512_or_si512(a, b));
}

SIMD_INLINE AVX512_TARGET __m512i
avx512_and(__m512i a, __m512i b)
{
	return (_mm512_and_si512(a, b));
}

/* A byte's seventh bit is left out: ASCII is exact. */
struct avx512_bits {
	__m512i		 low;
	__m512i		 high;
};

SIMD_INLINE AVX512_TARGET struct avx512_bits
avx512_bits_load(const struct simd_bits *bits)
{
	return ((struct avx512_bits){
	    avx512_or(avx512_load(bits->of), avx512_load(bits->of + 128)),
	    avx512_or(avx512_load(bits->of + 64), avx512_load(bits->of + 192))
	});
}

SIMD_INLINE AVX512_TARGET __m512i
avx512_bits_of(struct avx512_bits bits, __m512i v)
{
	return (_mm512_permutex2var_epi8(bits.low, v, bits.high));
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_set(__m512i v)
{
	return (_mm512_test_epi8_mask(v, v));
}

struct avx512_block {
	__m512i		 v;
};

SIMD_INLINE AVX512_TARGET struct avx512_block
avx512_block_load(const uint8_t *p)
{
	return ((struct avx512_block){ _mm512_loadu_si512(p) });
}

SIMD_INLINE AVX512_TARGET void
avx512_block_store(uint8_t *p, struct avx512_block b)
{
	_mm512_storeu_si512(p, b.v);
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_block_equal(struct avx512_block b, uint8_t byte)
{
	return (_mm512_cmpeq_epi8_mask(b.v, _mm512_set1_epi8((char)byte)));
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_block_below(struct avx512_block b, uint8_t byte)
{
	return (_mm512_cmplt_epu8_mask(b.v, _mm512_set1_epi8((char)byte)));
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_block_among(struct avx512_block b, uint8_t first, uint8_t last)
{
	return (_mm512_cmple_epu8_mask(_mm512_sub_epi8(b.v,
	    _mm512_set1_epi8((char)first)),
	    _mm512_set1_epi8((char)(last - first))));
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_block_odd(struct avx512_block b)
{
	return (~avx512_block_among(b, 0x20, 0x7e));
}

SIMD_INLINE AVX512_TARGET uint64_t
avx512_block_octal(struct avx512_block *block, const uint8_t *p,
    uint8_t slash)
{
	__m512i		 zero = _mm512_set1_epi8('0');
	__m512i		 a = _mm512_xor_si512(_mm512_loadu_si512(p + 1), zero);
	__m512i		 b = _mm512_xor_si512(_mm512_loadu_si512(p + 2), zero);
	__m512i		 c = _mm512_xor_si512(_mm512_loadu_si512(p + 3), zero);
	uint64_t	 chosen = avx512_block_equal(*block, slash), bad;
	__m512i		 wrong;

	wrong = _mm512_or_si512(
	    _mm512_and_si512(a, _mm512_set1_epi8((char)0xfc)),
	    _mm512_and_si512(_mm512_or_si512(b, c),
	    _mm512_set1_epi8((char)0xf8)));
	bad = _mm512_mask_test_epi8_mask(chosen, wrong, wrong);
	/* A neighbour's bits, shifted in, are masked away. */
	a = _mm512_and_si512(_mm512_slli_epi16(a, 6),
	    _mm512_set1_epi8((char)0xc0));
	b = _mm512_and_si512(_mm512_slli_epi16(b, 3), _mm512_set1_epi8(0x38));
	c = _mm512_and_si512(c, _mm512_set1_epi8(7));
	block->v = _mm512_mask_blend_epi8(chosen, block->v,
	    _mm512_or_si512(_mm512_or_si512(a, b), c));
	return (bad);
}

SIMD_INLINE AVX512_TARGET uint8_t *
avx512_block_keep(uint8_t *to, struct avx512_block b, uint64_t keep)
{
	_mm512_storeu_si512(to, _mm512_maskz_compress_epi8(keep, b.v));
	return (to + __builtin_popcountll(keep));
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
neon_below(uint8x16_t v, uint8_t byte)
{
	return (vcltq_u8(v, vdupq_n_u8(byte)));
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

struct neon_bits {
	uint8x16_t	 low;
	uint8x16_t	 high;
};

SIMD_INLINE struct neon_bits
neon_bits_load(const struct simd_bits *bits)
{
	return ((struct neon_bits){ neon_table(bits->low),
	    neon_table(bits->high) });
}

SIMD_INLINE uint8x16_t
neon_bits_of(struct neon_bits bits, uint8x16_t v)
{
	return (neon_and(neon_lookup(bits.low, neon_low(v)),
	    neon_lookup(bits.high, neon_high(v))));
}

SIMD_INLINE uint64_t
neon_set(uint8x16_t v)
{
	return (neon_mask(vtstq_u8(v, v)));
}

#endif /* SIMD_ARM */

/* How many bits of a mask are set. */
SIMD_INLINE uint32_t
simd_count(uint64_t mask)
{
	return ((uint32_t)__builtin_popcountll(mask));
}

/* The highest bit set of a mask, alone; 0 if none is. */
SIMD_INLINE uint64_t
simd_highest(uint64_t mask)
{
	return (mask == 0 ? 0 :
	    UINT64_C(1) << (63 - __builtin_clzll(mask)));
}

/* The lowest bit set of a mask that is not 0. */
SIMD_INLINE uint32_t
simd_lowest(uint64_t mask)
{
	return ((uint32_t)__builtin_ctzll(mask));
}

#endif
