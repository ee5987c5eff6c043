/*
 * windows.c - which bytes of each literal a prefilter looks for.
 *
 * A literal is where its window is: a few of its bytes in a row, wherever in
 * it they are rarest in text.  (Prefixes would be the wrong choice: what
 * "listening on" is looked for in is full of "list".)  Each literal belongs
 * to one of eight buckets, and what is looked for is whether, at each
 * position, a byte is one of those that some window of the bucket has there.
 * Windows and buckets are chosen together, greedily, so that by the shares
 * below the least text passes.
 */

#include <string.h>

#include "core.h"

/* A window begins within so many first bytes of its literal. */
#define WINDOWS_REACH 32

/* The likeliest windows of a literal that are tried with each bucket. */
#define WINDOWS_TRIED 12

/* What passes by mistake costs so much more than to look at a position. */
#define WINDOWS_MISTAKE 600.0f

/* Good enough: more positions would cost more than what passes. */
#define WINDOWS_FEW 0.5f

/*
 * How often each byte is in text, in 10,000: rounded from a count over
 * package managers' logs, change logs, commit logs with their statistics,
 * listings of folders, and programs.  Bytes not listed count as one.
 */
static const uint16_t windows_share[128] = {
	['\t'] = 10, ['\n'] = 220, [' '] = 1700,
	['!'] = 2, ['"'] = 23, ['#'] = 9, ['%'] = 5, ['\''] = 27, ['('] = 45,
	[')'] = 43, ['*'] = 12, ['+'] = 30, [','] = 46, ['-'] = 250,
	['.'] = 220, ['/'] = 100, [':'] = 120, [';'] = 4, ['<'] = 17,
	['='] = 30, ['>'] = 22, ['@'] = 8, ['['] = 20, [']'] = 20,
	['_'] = 60, ['`'] = 3, ['|'] = 17, ['~'] = 3,
	['0'] = 210, ['1'] = 200, ['2'] = 200, ['3'] = 100, ['4'] = 100,
	['5'] = 90, ['6'] = 90, ['7'] = 80, ['8'] = 80, ['9'] = 80,
	['A'] = 24, ['B'] = 8, ['C'] = 16, ['D'] = 14, ['E'] = 24, ['F'] = 10,
	['G'] = 8, ['H'] = 5, ['I'] = 18, ['J'] = 4, ['K'] = 3, ['L'] = 8,
	['M'] = 13, ['N'] = 16, ['O'] = 14, ['P'] = 13, ['Q'] = 2, ['R'] = 18,
	['S'] = 26, ['T'] = 20, ['U'] = 9, ['V'] = 3, ['W'] = 6, ['X'] = 2,
	['Y'] = 3, ['Z'] = 2,
	['a'] = 390, ['b'] = 118, ['c'] = 207, ['d'] = 246, ['e'] = 545,
	['f'] = 122, ['g'] = 113, ['h'] = 120, ['i'] = 325, ['j'] = 11,
	['k'] = 50, ['l'] = 247, ['m'] = 151, ['n'] = 325, ['o'] = 390,
	['p'] = 156, ['q'] = 8, ['r'] = 404, ['s'] = 349, ['t'] = 448,
	['u'] = 178, ['v'] = 50, ['w'] = 82, ['x'] = 40, ['y'] = 73,
	['z'] = 13,
};

/* The bytes that a bucket has at one position. */
struct place {
	uint64_t	 member[4];	/* a bit for each byte */
	uint16_t	 low;		/* a bit for each low half */
	uint16_t	 high;
	float		 share;		/* of text that passes */
};

struct choice {
	const uint8_t	*bytes[TW_LITERALS_MAX];
	const uint32_t	*size;
	struct windows	*windows;
	struct place	 place[WINDOWS_BUCKETS][WINDOWS_MOST];
	float		 passes[WINDOWS_BUCKETS];	/* share of text */
	uint32_t	 members[WINDOWS_BUCKETS];
	uint8_t		 fold;
	uint8_t		 halves;	/* only halves of bytes are seen */
};

static float
windows_share_of(uint32_t byte)
{
	if (byte >= 128 || windows_share[byte] == 0)
		return (1e-4f);
	return ((float)windows_share[byte] * 1e-4f);
}

/* The byte that matches too when folding; else the same. */
static uint8_t
windows_other(const struct choice *c, uint8_t byte)
{
	uint8_t	lower = byte | 0x20;

	return (c->fold && lower >= 'a' && lower <= 'z' ? byte ^ 0x20 : byte);
}

/* The share of text whose halves are both in. */
static float
windows_halves(uint32_t low, uint32_t high)
{
	uint32_t	byte;
	float		share = 0;

	for (byte = 0; byte < 256; byte++) {
		if ((high >> (byte >> 4)) == 0)
			break;
		if ((high >> (byte >> 4) & 1) == 0)
			byte |= 0xf;
		else if (low >> (byte & 0xf) & 1)
			share += windows_share_of(byte);
	}
	return (share);
}

static int
windows_member(const struct place *at, uint8_t byte)
{
	return (at->member[byte >> 6] >> (byte & 63) & 1);
}

/* Add a byte to a place. */
static void
windows_put(const struct choice *c, struct place *at, uint8_t byte)
{
	if (windows_member(at, byte))
		return;
	at->member[byte >> 6] |= UINT64_C(1) << (byte & 63);
	at->low |= (uint16_t)(1 << (byte & 0xf));
	at->high |= (uint16_t)(1 << (byte >> 4));
	if (!c->halves)
		at->share += windows_share_of(byte);
}

/* The share of text that would pass at a place with one more byte. */
static float
windows_share_with(const struct choice *c, const struct place *at,
    uint8_t byte)
{
	uint8_t		other = windows_other(c, byte);
	uint32_t	low, high;
	float		share = at->share;

	if (!c->halves) {
		if (!windows_member(at, byte))
			share += windows_share_of(byte);
		if (other != byte && !windows_member(at, other))
			share += windows_share_of(other);
		return (share);
	}
	low = at->low | 1u << (byte & 0xf);
	high = at->high | 1u << (byte >> 4) | 1u << (other >> 4);
	if (low == at->low && high == at->high)
		return (share);
	return (windows_halves(low, high));
}

/* The share of text that a bucket would pass with a window more. */
static float
windows_passes_with(const struct choice *c, uint32_t bucket,
    uint32_t literal, uint32_t offset)
{
	const uint8_t	*p = c->bytes[literal] + offset;
	uint32_t	 size = c->size[literal] - offset, i;
	float		 passes = 1;

	for (i = 0; i < c->windows->positions && i < size; i++)
		passes *= windows_share_with(c, &c->place[bucket][i], p[i]);
	return (passes);
}

/* Add a literal's window to its bucket. */
static void
windows_add(struct choice *c, uint32_t literal)
{
	const uint8_t	*p = c->bytes[literal] + c->windows->offset[literal];
	uint32_t	 size = c->size[literal] - c->windows->offset[literal];
	uint32_t	 bucket = c->windows->bucket[literal], i;
	struct place	*at = c->place[bucket];

	c->passes[bucket] = 1;
	c->members[bucket]++;
	for (i = 0; i < c->windows->positions; i++, at++) {
		if (i >= size) {
			/* The window is shorter: whatever follows it. */
			memset(at->member, 0xff, sizeof at->member);
			at->low = at->high = 0xffff;
			at->share = 1;
		} else {
			windows_put(c, at, p[i]);
			windows_put(c, at, windows_other(c, p[i]));
			if (c->halves)
				at->share = windows_halves(at->low, at->high);
		}
		c->passes[bucket] *= at->share;
	}
}

/* Take a literal out of its bucket. */
static void
windows_remove(struct choice *c, uint32_t literal, uint32_t count)
{
	uint32_t	bucket = c->windows->bucket[literal], i;

	memset(c->place[bucket], 0, sizeof c->place[bucket]);
	c->passes[bucket] = 0;
	c->members[bucket] = 0;
	c->windows->bucket[literal] = WINDOWS_BUCKETS;
	for (i = 0; i < count; i++) {
		if (c->windows->bucket[i] == bucket)
			windows_add(c, i);
	}
}

/*
 * The rarest windows of a literal, as offsets; returns how many.  The later
 * ones cost a little more: what goes before them is searched again.
 */
static uint32_t
windows_rarest(const struct choice *c, uint32_t literal, uint8_t *offset)
{
	struct place	 none = { .share = 0 };
	uint32_t	 size = c->size[literal], last, i, k, n = 0;
	float		 share[WINDOWS_TRIED + 1], passes;

	last = size < c->windows->positions ? 0 : size - c->windows->positions;
	if (last > WINDOWS_REACH)
		last = WINDOWS_REACH;
	for (i = 0; i <= last; i++) {
		passes = 1 + (float)i / WINDOWS_REACH;
		for (k = 0; k < c->windows->positions && i + k < size; k++)
			passes *= windows_share_with(c, &none,
			    c->bytes[literal][i + k]);
		for (k = n; k > 0 && share[k - 1] > passes; k--) {
			share[k] = share[k - 1];
			offset[k] = offset[k - 1];
		}
		share[k] = passes;
		offset[k] = (uint8_t)i;
		if (n < WINDOWS_TRIED)
			n++;
	}
	return (n);
}

/* Give a literal the bucket and window by which least more text passes. */
static void
windows_place(struct choice *c, uint32_t literal)
{
	uint8_t		offset[WINDOWS_TRIED + 1];
	uint32_t	n = windows_rarest(c, literal, offset), bucket, i;
	float		more, least = 2;
	int		empty = 0;

	for (bucket = 0; bucket < WINDOWS_BUCKETS; bucket++) {
		if (c->members[bucket] == 0 && empty++)
			continue;	/* one empty bucket is like another */
		for (i = 0; i < n; i++) {
			more = windows_passes_with(c, bucket, literal,
			    offset[i]) - c->passes[bucket];
			if (more >= least)
				continue;
			least = more;
			c->windows->bucket[literal] = (uint8_t)bucket;
			c->windows->offset[literal] = offset[i];
		}
	}
	windows_add(c, literal);
}

/* Choose windows of so many positions; returns the share that passes. */
static float
windows_try(struct choice *c, uint32_t positions, uint32_t count)
{
	uint32_t	i;
	float		passes = 0;

	memset(c->place, 0, sizeof c->place);
	memset(c->passes, 0, sizeof c->passes);
	memset(c->members, 0, sizeof c->members);
	c->windows->positions = positions;
	memset(c->windows->bucket, WINDOWS_BUCKETS,
	    sizeof c->windows->bucket);
	for (i = 0; i < count; i++)
		windows_place(c, i);
	/* Once more, now that it is known who else is there. */
	for (i = 0; i < count && count > WINDOWS_BUCKETS; i++) {
		windows_remove(c, i, count);
		windows_place(c, i);
	}
	for (i = 0; i < WINDOWS_BUCKETS; i++)
		passes += c->passes[i];
	return (passes);
}

/*
 * Choose the windows of `count` literals that lie one after the other.
 * With `halves`, only halves of bytes can be told apart.
 */
void
windows_choose(struct windows *w, const uint8_t *bytes,
    const uint32_t *size, uint32_t count, int fold, int halves)
{
	static const uint8_t	 positions[] = { 2, 3, 4, 6, 8 };
	struct windows		 tried;
	struct choice		 c;
	uint32_t		 i;
	float			 cost, least = 0;

	c.size = size;
	c.windows = &tried;
	c.fold = fold != 0;
	c.halves = halves != 0;
	for (i = 0; i < count; i++) {
		c.bytes[i] = bytes;
		bytes += size[i];
	}
	for (i = 0; i < sizeof positions; i++) {
		cost = windows_try(&c, positions[i], count) * WINDOWS_MISTAKE;
		if (i == 0 || cost + positions[i] < least) {
			least = cost + positions[i];
			*w = tried;
		}
		if (cost < WINDOWS_FEW)
			break;
	}
	w->reach = 0;
	for (i = 0; i < count; i++) {
		if (w->offset[i] > w->reach)
			w->reach = w->offset[i];
	}
}
