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

/* The rarest windows of a literal, which are tried with each bucket. */
#define WINDOWS_TRIED 12

/*
 * What passes by mistake costs so much more than to look at a position, with
 * some to spare: shares in the text at hand are often higher.  With halves, a
 * position costs twice as much.
 */
#define WINDOWS_MISTAKE 6000.0f
#define WINDOWS_MISTAKE_HALVES 3000.0f

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

/*
 * What follows what: a row for each letter, one for blanks and one for all
 * other bytes, with a digit for each of the same that follows.  The digit d
 * is a share of 2 to the power of -0.75 d.  Counted over the same, and
 * English documentation.
 */
#define BLANK 26
#define OTHER 27
#define CLASSES 28

static const char windows_after[CLASSES][CLASSES + 1] = {
	"b766ba7e5f8454f7f55488cc8d66",	/* a */
	"5a78498b58c5aa69d7694fd86a73",	/* b */
	"5a8a57f48d55ad38e7758afe8e64",	/* c */
	"58963aad5d99bb6bf67a9ecfaf33",	/* d */
	"676578acbec675c7a456d897af44",	/* e */
	"6a9966df3ff7cc4df6887fffaf33",	/* f */
	"8c7b3c985fd6a669f6795ddfc734",	/* g */
	"3fed2ffe5feb8b4cf8956fdfaf55",	/* h */
	"7567767fbfb57358f754a9f8faa7",	/* i */
	"3b974cdb8ddbac69ba5e289ffe98",	/* j */
	"5bc9297c5ec7b979fa5a8e9ece43",	/* k */
	"5cb736cf3fb4bd5af8778ade6d55",	/* l */
	"38854fbe5fd86b55fe8b6eefaf55",	/* m */
	"7e65574d7caab958fe548affae34",	/* n */
	"b877b78daaa75347f474687cfc57",	/* o */
	"4da84c996fa5bd56f4567bfb4f66",	/* p */
	"9dcb8cdc9dd4bbccbaa918bbdd85",	/* q */
	"6c893b7f6f99874cf866896f8f54",	/* r */
	"8f8a4db76fa9bb78b8637bcf8f33",	/* s */
	"5f9a4bc45fda8f57f6666fae8d35",	/* t */
	"8687697f6fd564b5f435dbf6fe86",	/* u */
	"4ebf1d8f4fec7a8bfcabaefbff84",	/* v */
	"4dcb5eb54fbbf86ff77bdf93ff54",	/* w */
	"6b797aec7fca9cd6f295adcabb33",	/* x */
	"bc678dcd9de98765fa64bcbfcd24",	/* y */
	"5b993ba84dd88a5dd98d9dcda824",	/* z */
	"687797a979c88987e7668a8ebe23",	/* blank */
	"8978999a9cd99aa8f8899ba9ef31",	/* other */
};

/* One by the shares of all blanks, and of all other bytes. */
#define BLANKS 5.2f
#define OTHERS 4.0f

/* See windows_floor. */
#define WINDOWS_WORD 4e-3f
#define WINDOWS_MEET 0.1f

/* The bytes that a bucket has at one position. */
struct place {
	uint64_t	 member[4];	/* a bit for each byte */
	uint16_t	 low;		/* a bit for each low half */
	uint16_t	 high;
	float		 share;		/* of text's bytes that pass */
};

struct bucket {
	struct place	 place[WINDOWS_MOST];
	uint32_t	 members;
	/* The shares of text that are windows of its literals, added up: */
	float		 windows;	/* each byte in the light of the last */
	float		 bytes;		/* as if bytes came independently */
	/* The share that passes: windows, and what is mixed of them. */
	float		 passes;
};

struct choice {
	const uint8_t	*bytes[TW_LITERALS_MAX];
	const uint32_t	*size;
	struct windows	*windows;
	struct bucket	 bucket[WINDOWS_BUCKETS];
	uint8_t		 fold;
	uint8_t		 halves;	/* only halves of bytes are seen */
	float		 share[256];
	float		 after[CLASSES][CLASSES];
	/* Shares by the high half, and by which of eight low halves. */
	float		 half[16][2][256];
};

static float
windows_share_of(uint32_t byte)
{
	if (byte >= 128 || windows_share[byte] == 0)
		return (1e-4f);
	return ((float)windows_share[byte] * 1e-4f);
}

/* The shares as they are looked up. */
static void
windows_prepare(struct choice *c)
{
	uint32_t	i, k, set;
	float		of[16];

	of[0] = 1;
	for (i = 1; i < 16; i++)
		of[i] = of[i - 1] * 0.594604f;
	for (i = 0; i < CLASSES; i++) {
		for (k = 0; k < CLASSES; k++) {
			set = (uint8_t)windows_after[i][k];
			c->after[i][k] = of[set <= '9' ? set - '0' :
			    set - 'a' + 10];
		}
	}
	for (i = 0; i < 256; i++)
		c->share[i] = windows_share_of(i);
	for (i = 0; i < 32 && c->halves; i++) {
		c->half[i / 2][i % 2][0] = 0;
		for (set = 1; set < 256; set++) {
			k = (uint32_t)__builtin_ctz(set);
			c->half[i / 2][i % 2][set] = c->share[i * 8 + k] +
			    c->half[i / 2][i % 2][set & (set - 1)];
		}
	}
}

/* The byte that matches too when folding; else the same. */
static uint8_t
windows_other(const struct choice *c, uint8_t byte)
{
	uint8_t	lower = byte | 0x20;

	return (c->fold && lower >= 'a' && lower <= 'z' ? byte ^ 0x20 : byte);
}

/* Which row of what follows what a byte has. */
static uint32_t
windows_class(uint8_t byte)
{
	uint8_t	lower = byte | 0x20;

	if (lower >= 'a' && lower <= 'z')
		return (lower - 'a');
	return (byte == ' ' || byte == '\n' || byte == '\t' ? BLANK : OTHER);
}

/* The share of a byte, in either case when folding. */
static float
windows_share_one(const struct choice *c, uint8_t byte)
{
	uint8_t	other = windows_other(c, byte);

	return (c->share[byte] + (other != byte ? c->share[other] : 0));
}

/* The share of a byte where another came before it. */
static float
windows_share_after(const struct choice *c, uint8_t before, uint8_t byte)
{
	uint32_t	class = windows_class(byte);
	float		share = c->after[windows_class(before)][class];

	if (class == BLANK)
		return (share * c->share[byte] * BLANKS);
	if (class == OTHER)
		return (share * c->share[byte] * OTHERS);
	if (c->fold)
		return (share);
	return (share * c->share[byte] /
	    (c->share[byte] + c->share[byte ^ 0x20]));
}

/*
 * The least share that a window is thought to have: words come as a whole,
 * above all their beginnings, and two that meet in it less often.
 */
static float
windows_floor(const uint8_t *p, uint32_t offset, uint32_t size)
{
	uint32_t	i;
	float		least = WINDOWS_WORD;

	for (i = 1; i < size; i++) {
		least *= 0.5f;
		if (windows_class(p[i]) >= BLANK &&
		    windows_class(p[i - 1]) < BLANK)
			least *= WINDOWS_MEET;
	}
	for (i = 0; i < offset && i < 3; i++) {
		if (windows_class(*--p) >= BLANK)
			break;
		least *= 0.5f;
	}
	return (least);
}

/* The shares of a window: byte by byte, and each in the light of the last. */
static float
windows_shares(const struct choice *c, uint32_t literal, uint32_t offset,
    float *bytes)
{
	const uint8_t	*p = c->bytes[literal] + offset;
	uint32_t	 size = c->size[literal] - offset, i;
	float		 share, least;

	if (size > c->windows->positions)
		size = c->windows->positions;
	share = *bytes = windows_share_one(c, p[0]);
	for (i = 1; i < size; i++) {
		*bytes *= windows_share_one(c, p[i]);
		share *= windows_share_after(c, p[i - 1], p[i]);
	}
	least = windows_floor(p, offset, size);
	return (share > least ? share : least);
}

/* The share of text whose halves are both in. */
static float
windows_halves(const struct choice *c, uint32_t low, uint32_t high)
{
	uint32_t	i;
	float		share = 0;

	for (; high != 0; high &= high - 1) {
		i = (uint32_t)__builtin_ctz(high);
		share += c->half[i][0][low & 0xff] + c->half[i][1][low >> 8];
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
		at->share += c->share[byte];
}

/* The share of bytes that would pass at a place with one more byte. */
static float
windows_share_with(const struct choice *c, const struct place *at,
    uint8_t byte)
{
	uint8_t		other = windows_other(c, byte);
	uint32_t	low, high;
	float		share = at->share;

	if (!c->halves) {
		if (!windows_member(at, byte))
			share += c->share[byte];
		if (other != byte && !windows_member(at, other))
			share += c->share[other];
		return (share);
	}
	low = at->low | 1u << (byte & 0xf);
	high = at->high | 1u << (byte >> 4) | 1u << (other >> 4);
	if (low == at->low && high == at->high)
		return (share);
	return (windows_halves(c, low, high));
}

/* What passes: the windows, and where their bytes are mixed. */
static float
windows_passes(float windows, float bytes, float mixed)
{
	return (windows + (mixed > bytes ? mixed - bytes : 0));
}

/* The share of text that a bucket would pass with a window more. */
static float
windows_passes_with(const struct choice *c, const struct bucket *b,
    uint32_t literal, uint32_t offset)
{
	const uint8_t	*p = c->bytes[literal] + offset;
	uint32_t	 size = c->size[literal] - offset, i;
	float		 windows, bytes, mixed = 1;

	windows = windows_shares(c, literal, offset, &bytes);
	for (i = 0; i < c->windows->positions && i < size; i++)
		mixed *= windows_share_with(c, &b->place[i], p[i]);
	return (windows_passes(b->windows + windows, b->bytes + bytes,
	    mixed));
}

/* Add a literal's window to its bucket. */
static void
windows_add(struct choice *c, uint32_t literal)
{
	uint32_t	 offset = c->windows->offset[literal], i;
	const uint8_t	*p = c->bytes[literal] + offset;
	uint32_t	 size = c->size[literal] - offset;
	struct bucket	*b = &c->bucket[c->windows->bucket[literal]];
	struct place	*at = b->place;
	float		 bytes, mixed = 1;

	b->members++;
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
				at->share = windows_halves(c, at->low,
				    at->high);
		}
		mixed *= at->share;
	}
	b->windows += windows_shares(c, literal, offset, &bytes);
	b->bytes += bytes;
	b->passes = windows_passes(b->windows, b->bytes, mixed);
}

/* Take a literal out of its bucket. */
static void
windows_remove(struct choice *c, uint32_t literal, uint32_t count)
{
	uint32_t	bucket = c->windows->bucket[literal], i;

	memset(&c->bucket[bucket], 0, sizeof c->bucket[bucket]);
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
	uint32_t	 size = c->size[literal], last, i, k, n = 0;
	float		 share[WINDOWS_TRIED + 1], passes, bytes;

	/* However many positions there are, for the sake of the hashes. */
	last = size < WINDOWS_MOST ? 0 : size - WINDOWS_MOST;
	if (last > WINDOWS_REACH)
		last = WINDOWS_REACH;
	for (i = 0; i <= last; i++) {
		passes = windows_shares(c, literal, i, &bytes) *
		    (1 + (float)i / WINDOWS_REACH);
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
	struct bucket	*b;
	float		more, least = 0;
	int		empty = 0;

	for (bucket = 0; bucket < WINDOWS_BUCKETS; bucket++) {
		b = &c->bucket[bucket];
		if (b->members == 0 && empty++)
			continue;	/* one empty bucket is like another */
		for (i = 0; i < n; i++) {
			more = windows_passes_with(c, b, literal,
			    offset[i]) - b->passes;
			if (c->windows->bucket[literal] != WINDOWS_BUCKETS &&
			    more >= least)
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

	memset(c->bucket, 0, sizeof c->bucket);
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
		passes += c->bucket[i].passes;
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
	static const uint8_t	 positions[] = { 4, 5, 6 };
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
	windows_prepare(&c);
	for (i = 0; i < sizeof positions; i++) {
		cost = windows_try(&c, positions[i], count) * (halves ?
		    WINDOWS_MISTAKE_HALVES : WINDOWS_MISTAKE) + positions[i];
		if (i != 0 && cost >= least)
			break;
		least = cost;
		*w = tried;
	}
	w->reach = 0;
	for (i = 0; i < count; i++) {
		if (w->offset[i] > w->reach)
			w->reach = w->offset[i];
	}
}
