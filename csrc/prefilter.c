/*
 * prefilter.c - passes over text in which no literal can be.
 *
 * Source: the packed search of Hyperscan's "Teddy" (X. Wang et al.,
 * "Hyperscan: a fast multi-pattern regex matcher for modern CPUs", 2019),
 * with windows from anywhere in the literals (windows.c).
 *
 * Three sieves, each finer and slower than the one before:
 *  - each position of the windows has a table: for each byte, the buckets
 *    that have it there, a bit each.  A window may be where the bits at all
 *    positions have one in common;
 *  - the bytes from a window on are hashed, and eight of them compared with
 *    those of the literals that have this hash;
 *  - eight bytes elsewhere are compared.
 */

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "simd.h"

/* The work that a wrong window makes, as bytes gone over by the automaton. */
#define PREFILTER_WORK 4

/*
 * Text is gone over in stretches of so many blocks (see prefilter.inc): the
 * first one is short, for there may be a literal at once.
 */
#define PREFILTER_BLOCKS 64
#define PREFILTER_FIRST 8

/* More than this are faster found a byte at a time. */
#define PREFILTER_PICKS 16

/* The second of the three bytes that are picked. */
#define PREFILTER_MIDDLE 2

/* Hashes: few enough for the first level cache, many for each literal. */
#define PREFILTER_HASH_BITS 11
#define PREFILTER_HASHES (1 << PREFILTER_HASH_BITS)

/* Eight bytes of a literal, as they are compared. */
struct word {
	uint64_t	 fold;		/* bits to set before comparing */
	uint64_t	 care;		/* bits that are compared */
	uint64_t	 bytes;
	uint32_t	 offset;	/* in the literal */
};

/* What is known of one literal. */
struct suspect {
	struct word	 first;		/* from its window on */
	struct word	 other;		/* elsewhere in it */
	uint8_t		 next;		/* with the same hash; 0: none */
};

/* Bytes of one window, many times each: as many as a vector has. */
struct pick {
	uint8_t		 first[16];
	uint8_t		 middle[16];
	uint8_t		 last[16];
};

struct prefilter {
	size_t		 (*find)(const struct prefilter *,
			     struct prefilter_search *);
	uint32_t	 positions;
	uint32_t	 reach;
	uint64_t	 fold;		/* before hashing: as in a word */
	uint64_t	 care;
	struct simd_bits bits[WINDOWS_MOST];
	uint64_t	 state[256];	/* the same: a byte a position */
	/* By hash, the first suspect; most often 0, which nothing is like. */
	uint8_t		 by_hash[PREFILTER_HASHES];
	struct suspect	 suspect[1 + TW_LITERALS_MAX];
	/* Where vectors cannot look up; none if there are too many. */
	uint32_t	 picks;
	struct pick	 pick[PREFILTER_PICKS];
};

/* A literal may begin so many bytes before the place that was found. */
uint32_t
prefilter_reach(const struct prefilter *f)
{
	return (f->reach);
}

/* Eight bytes of text, in the order of a literal's. */
static uint64_t
prefilter_load(const uint8_t *p)
{
	uint64_t	v;

	memcpy(&v, p, sizeof v);
	return (v);
}

/* The hash of the bytes of a window (Fibonacci hashing). */
static uint32_t
prefilter_hash(const struct prefilter *f, uint64_t bytes)
{
	return ((uint32_t)(((bytes | f->fold) & f->care) *
	    UINT64_C(0x9e3779b97f4a7c15) >> (64 - PREFILTER_HASH_BITS)));
}

static int
prefilter_same(const struct word *w, uint64_t bytes)
{
	return (((bytes | w->fold) & w->care) == w->bytes);
}

/* Whether a literal whose first word is at byte `at` may be there. */
__attribute__((noinline)) static int
prefilter_confirm(const struct prefilter_search *s, const struct suspect *x,
    size_t at)
{
	size_t	start, left;

	if (at - s->begin < x->first.offset)
		return (0);	/* it would begin before */
	start = at - x->first.offset;
	left = s->size - start;
	if (left < x->other.offset ||
	    left - x->other.offset < PREFILTER_BYTES)
		return (1);	/* the text ends before */
	return (prefilter_same(&x->other,
	    prefilter_load(s->text + start + x->other.offset)));
}

/*
 * Whether a literal may have its window at byte `at`.  There is one branch to
 * be guessed, for the same word; it comes once at least, for suspect 0.
 */
SIMD_INLINE int
prefilter_check(const struct prefilter *f, struct prefilter_search *s,
    size_t at)
{
	uint64_t		 bytes = prefilter_load(s->text + at);
	uint32_t		 i = f->by_hash[prefilter_hash(f, bytes)];
	const struct suspect	*x;

	do {
		x = &f->suspect[i];
		s->work += PREFILTER_WORK;
		if (prefilter_same(&x->first, bytes) &&
		    prefilter_confirm(s, x, at))
			return (1);
		i = x->next;
	} while (i != 0);
	return (0);
}

/* The first place that is not looked at. */
static size_t
prefilter_end(const struct prefilter_search *s)
{
	return (s->size - (PREFILTER_BYTES - 1));
}

/* --- the search, one byte at a time --- */

/*
 * In each byte of `state`, the buckets whose windows may be there, of which
 * so many bytes have been seen (R. Baeza-Yates and G. Gonnet, "A new approach
 * to text searching", 1992).
 */
static size_t
scalar_find(const struct prefilter *f, struct prefilter_search *s)
{
	uint32_t	last = f->positions - 1;
	uint64_t	state = 0;
	size_t		at, end = prefilter_end(s);

	for (at = s->begin; at < end + last; at++) {
		state = (state << 8 | 0xff) & f->state[s->text[at]];
		if (state >> (8 * last) != 0 &&
		    (prefilter_check(f, s, at - last) ||
		    prefilter_tired(s, at - last)))
			return (at - last);
	}
	return (end);
}

/* --- levels --- */

#ifdef SIMD_X86

#define V(name) sse2_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 1
#define V_PICKS
#define V_SHORT scalar_find
#include "prefilter.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP
#undef V_PICKS
#undef V_SHORT

#define V(name) avx2_ ## name
#define V_TARGET AVX2_TARGET
#define V_BYTES 32
#define V_STEP 1
#define V_SHORT scalar_find
#include "prefilter.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_SHORT

#define V(name) avx512_ ## name
#define V_TARGET AVX512_TARGET
#define V_BYTES 64
#define V_SHORT avx2_find
#include "prefilter.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP
#undef V_SHORT

#endif

#ifdef SIMD_ARM

#define V(name) neon_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 4
#define V_SHORT scalar_find
#include "prefilter.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP
#undef V_SHORT

#endif

static size_t (*const prefilter_levels[TW_SIMD_LEVELS])(
    const struct prefilter *, struct prefilter_search *) = {
	[TW_SIMD_SCALAR] = scalar_find,
#ifdef SIMD_X86
	[TW_SIMD_SSE2] = sse2_find,
	[TW_SIMD_AVX2] = avx2_find,
	[TW_SIMD_AVX512] = avx512_find,
#endif
#ifdef SIMD_ARM
	[TW_SIMD_NEON] = neon_find,
#endif
};

/*
 * The first place, from s->begin on, where the window of a literal may begin
 * that itself begins at s->begin or later; or where it does not pay to go on;
 * or the last PREFILTER_BYTES - 1 bytes, in which windows are not looked for.
 * There must be PREFILTER_BYTES of text.
 */
size_t
prefilter_find(const struct prefilter *f, struct prefilter_search *s)
{
	return (f->find(f, s));
}

/* --- building --- */

static int
prefilter_is_letter(uint8_t byte)
{
	byte |= 0x20;
	return (byte >= 'a' && byte <= 'z');
}

/* Up to eight bytes of a literal, from an offset on. */
static struct word
prefilter_word(const uint8_t *p, uint32_t size, uint32_t offset, int fold)
{
	struct word	w = { .offset = offset };
	uint8_t		bytes[PREFILTER_BYTES] = { 0 };
	uint8_t		folds[PREFILTER_BYTES] = { 0 };
	uint8_t		care[PREFILTER_BYTES] = { 0 };
	uint32_t	i;

	for (i = 0; i < PREFILTER_BYTES && i < size - offset; i++) {
		care[i] = 0xff;
		folds[i] = fold && prefilter_is_letter(p[offset + i]) ?
		    0x20 : 0;
		bytes[i] = p[offset + i] | folds[i];
	}
	w.fold = prefilter_load(folds);
	w.care = prefilter_load(care);
	w.bytes = prefilter_load(bytes);
	return (w);
}

/* A literal's bytes behind the window's word, or else those before it. */
static struct suspect
prefilter_suspect(const uint8_t *p, uint32_t size, uint32_t window, int fold)
{
	uint32_t	other = window + PREFILTER_BYTES;

	if (other >= size)
		other = 0;
	else if (size - other < PREFILTER_BYTES)
		other = size - PREFILTER_BYTES;
	return ((struct suspect){
	    .first = prefilter_word(p, size, window, fold),
	    .other = prefilter_word(p, size, other, fold),
	});
}

/* Hashes are of as many bytes as every literal has from its window on. */
static void
prefilter_set_hash(struct prefilter *f, const struct windows *w,
    const uint32_t *size, uint32_t count, int fold)
{
	uint8_t		care[PREFILTER_BYTES] = { 0 };
	uint32_t	i, least = PREFILTER_BYTES;

	for (i = 0; i < count; i++) {
		if (size[i] - w->offset[i] < least)
			least = size[i] - w->offset[i];
	}
	memset(care, 0xff, least);
	f->care = prefilter_load(care);
	f->fold = fold ? UINT64_C(0x2020202020202020) : 0;
	/* Nothing has these bits not set when they have been set. */
	f->suspect[0].first.fold = ~UINT64_C(0);
	f->suspect[0].first.care = ~UINT64_C(0);
}

/* The bucket has this byte at that position. */
static void
prefilter_put(struct simd_bits *bits, uint8_t byte, uint8_t bucket, int fold)
{
	uint8_t	bit = (uint8_t)(1 << bucket);

	bits->of[byte] |= bit;
	bits->low[byte & 0xf] |= bit;
	bits->high[byte >> 4] |= bit;
	if (fold && prefilter_is_letter(byte))
		prefilter_put(bits, byte ^ 0x20, bucket, 0);
}

/* Put a literal's window into the tables. */
static void
prefilter_set_bits(struct prefilter *f, const uint8_t *p, uint32_t size,
    uint8_t bucket, int fold)
{
	uint32_t	i, byte;

	for (i = 0; i < f->positions; i++) {
		if (i < size) {
			prefilter_put(&f->bits[i], p[i], bucket, fold);
			continue;
		}
		for (byte = 0; byte < 256; byte++)
			prefilter_put(&f->bits[i], (uint8_t)byte, bucket, 0);
	}
}

/* Pick bytes of all windows, if they are few and none is cut short. */
static void
prefilter_pick(struct prefilter *f, const struct windows *w, const uint8_t *p,
    const uint32_t *size, uint32_t count)
{
	struct pick	*x = f->pick;
	uint8_t		 fold = (uint8_t)f->fold;
	uint32_t	 i;

	if (count > PREFILTER_PICKS)
		return;
	for (i = 0; i < count; p += size[i++], x++) {
		if (size[i] - w->offset[i] < w->positions)
			return;
		memset(x->first, p[w->offset[i]] | fold, sizeof x->first);
		memset(x->middle, p[w->offset[i] + PREFILTER_MIDDLE] | fold,
		    sizeof x->middle);
		memset(x->last, p[w->offset[i] + w->positions - 1] | fold,
		    sizeof x->last);
	}
	f->picks = count;
}

/* Add a literal; its number counts from 1. */
static void
prefilter_add(struct prefilter *f, uint32_t number, const uint8_t *p,
    uint32_t size, uint32_t window, int fold)
{
	struct suspect	*x = &f->suspect[number];
	uint8_t		*head;

	*x = prefilter_suspect(p, size, window, fold);
	head = &f->by_hash[prefilter_hash(f, x->first.bytes)];
	x->next = *head;
	*head = (uint8_t)number;
}

/* Of `count` literals that lie one after the other; NULL: out of memory. */
struct prefilter *
prefilter_new(const uint8_t *bytes, const uint32_t *size, uint32_t count,
    int fold)
{
	struct prefilter	*f;
	struct windows		 w;
	uint32_t		 i, level = tw_simd_level();

	f = calloc(1, sizeof *f);
	if (f == NULL)
		return (NULL);
	windows_choose(&w, bytes, size, count, fold,
	    level == TW_SIMD_AVX2 || level == TW_SIMD_NEON);
	f->find = prefilter_levels[level];
	f->positions = w.positions;
	f->reach = w.reach;
	prefilter_set_hash(f, &w, size, count, fold);
	prefilter_pick(f, &w, bytes, size, count);
	for (i = 0; i < count; bytes += size[i++]) {
		prefilter_set_bits(f, bytes + w.offset[i],
		    size[i] - w.offset[i], w.bucket[i], fold);
		prefilter_add(f, i + 1, bytes, size[i], w.offset[i], fold);
	}
	for (i = 0; i < 256 * w.positions; i++)
		f->state[i % 256] |= (uint64_t)f->bits[i / 256].of[i % 256] <<
		    8 * (i / 256);
	return (f);
}

void
prefilter_free(struct prefilter *f)
{
	free(f);
}
