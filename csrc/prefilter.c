/*
 * prefilter.c - passes over text in which no literal can be.
 *
 * Source: the packed search of Hyperscan's "Teddy" (X. Wang et al.,
 * "Hyperscan: a fast multi-pattern regex matcher for modern CPUs", 2019),
 * with windows from anywhere in the literals (windows.c).
 *
 * Each position of the windows has a table: for each byte, the buckets that
 * have it there, a bit each.  A window may be where the bits at all positions
 * have one in common; a literal may be there if eight of its bytes are, too.
 */

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "simd.h"

/* The work that a wrong window makes, as bytes gone over by the automaton. */
#define PREFILTER_WORK 4

/* Work may run ahead of what was passed over by so many bytes. */
#define PREFILTER_SLACK 128

/* Bytes of one literal. */
struct suspect {
	uint64_t	 fold;		/* bits to set before comparing */
	uint64_t	 care;		/* bits that are compared */
	uint64_t	 bytes;
	uint32_t	 window;	/* offset of its window */
	uint32_t	 compared;	/* offset of those bytes */
};

struct prefilter {
	size_t		 (*find)(const struct prefilter *,
			     struct prefilter_search *);
	uint32_t	 positions;
	uint32_t	 reach;
	struct simd_bits bits[WINDOWS_MOST];
	struct suspect	 suspect[TW_LITERALS_MAX];	/* by bucket */
	uint8_t		 first[WINDOWS_BUCKETS + 1];	/* of a bucket */
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

/* Whether a literal of one of these buckets may have its window at `at`. */
static int
prefilter_check(const struct prefilter *f, struct prefilter_search *s,
    size_t at, uint32_t buckets)
{
	const struct suspect	*x;
	const uint8_t		*p;
	uint32_t		 bucket, i;

	s->work += PREFILTER_WORK;
	for (; buckets != 0; buckets &= buckets - 1) {
		bucket = simd_lowest(buckets);
		s->work += f->first[bucket + 1] - f->first[bucket];
		for (i = f->first[bucket]; i < f->first[bucket + 1]; i++) {
			x = &f->suspect[i];
			if (at - s->begin < x->window)
				continue;	/* it would begin before */
			p = s->text + (at - x->window) + x->compared;
			if (((prefilter_load(p) | x->fold) & x->care) ==
			    x->bytes)
				return (1);
		}
	}
	return (0);
}

/* The first place that is not looked at. */
static size_t
prefilter_end(const struct prefilter_search *s)
{
	return (s->size - (PREFILTER_BYTES - 1));
}

/* Whether so much was looked at for nothing that it does not pay. */
int
prefilter_tired(const struct prefilter_search *s, size_t at)
{
	return (s->work > PREFILTER_SLACK + (at < s->since ? 0 :
	    at - s->since));
}

/* --- the search, one byte at a time --- */

static uint32_t
scalar_buckets(const struct prefilter *f, const uint8_t *p)
{
	uint32_t	buckets = f->bits[0].of[p[0]] & f->bits[1].of[p[1]];
	uint32_t	i;

	for (i = 2; buckets != 0 && i < f->positions; i++)
		buckets &= f->bits[i].of[p[i]];
	return (buckets);
}

static size_t
scalar_find(const struct prefilter *f, struct prefilter_search *s)
{
	uint32_t	buckets;
	size_t		at;

	for (at = s->begin; s->size - at >= PREFILTER_BYTES; at++) {
		buckets = scalar_buckets(f, s->text + at);
		if (buckets != 0 && (prefilter_check(f, s, at, buckets) ||
		    prefilter_tired(s, at)))
			return (at);
	}
	return (prefilter_end(s));
}

/* --- levels --- */

#ifdef SIMD_X86

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
	[TW_SIMD_SSE2] = scalar_find,
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

/* A literal's eight bytes: from its window on, if it has so many. */
static struct suspect
prefilter_suspect(const uint8_t *p, uint32_t size, uint32_t window, int fold)
{
	struct suspect	x = { .window = window, .compared = window };
	uint8_t		bytes[PREFILTER_BYTES] = { 0 }, folds[sizeof bytes];
	uint8_t		care[sizeof bytes] = { 0 };
	uint32_t	i;

	if (size - window < sizeof bytes)
		x.compared = size < sizeof bytes ? 0 : size - sizeof bytes;
	p += x.compared;
	memset(folds, 0, sizeof folds);
	for (i = 0; i < sizeof bytes && i < size - x.compared; i++) {
		care[i] = 0xff;
		folds[i] = fold && prefilter_is_letter(p[i]) ? 0x20 : 0;
		bytes[i] = p[i] | folds[i];
	}
	x.fold = prefilter_load(folds);
	x.care = prefilter_load(care);
	x.bytes = prefilter_load(bytes);
	return (x);
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
prefilter_add(struct prefilter *f, const uint8_t *p, uint32_t size,
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

/* Of `count` literals that lie one after the other; NULL: out of memory. */
struct prefilter *
prefilter_new(const uint8_t *bytes, const uint32_t *size, uint32_t count,
    int fold)
{
	struct prefilter	*f;
	struct windows		 w;
	uint32_t		 i, n = 0, level = tw_simd_level();
	const uint8_t		*p;
	uint8_t			 bucket;

	f = calloc(1, sizeof *f);
	if (f == NULL)
		return (NULL);
	windows_choose(&w, bytes, size, count, fold,
	    level == TW_SIMD_AVX2 || level == TW_SIMD_NEON);
	f->find = prefilter_levels[level];
	f->positions = w.positions;
	f->reach = w.reach;
	for (bucket = 0; bucket < WINDOWS_BUCKETS; bucket++) {
		for (i = 0, p = bytes; i < count; p += size[i++]) {
			if (w.bucket[i] != bucket)
				continue;
			prefilter_add(f, p + w.offset[i],
			    size[i] - w.offset[i], bucket, fold);
			f->suspect[n++] = prefilter_suspect(p, size[i],
			    w.offset[i], fold);
		}
		f->first[bucket + 1] = (uint8_t)n;
	}
	return (f);
}

void
prefilter_free(struct prefilter *f)
{
	free(f);
}
