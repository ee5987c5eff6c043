/*
 * bulk.c - whole lines that need no terminal, many at once.
 *
 * Most of what programs write are lines of text and colours.  Where a line
 * begins in its first column and nothing in it moves the cursor back or
 * changes a cell, its text is what was written, and assembling it cell by
 * cell (lines.c) can be left out: such lines are copied into one block, and
 * the block is searched as a whole.
 *
 * A line is left to scan.c, from its beginning, if it holds anything else
 * than text, line feeds (after carriage returns or not), and what has no
 * effect at the end of a line: SGR, EL to the right, character sets, OSC and
 * controls that do nothing.
 */

#include <string.h>

#include "core.h"
#include "simd.h"

/* A block: not more lines than this, nor more bytes of text. */
#define BULK_LINES 512		/* more than 64 bytes can hold */
#define BULK_TEXT 32768

struct bulk {
	const uint8_t	*begin;		/* of the input */
	const uint8_t	*p;
	const uint8_t	*end;
	uint8_t		*text;		/* the block */
	uint8_t		*line;		/* where the line in it begins */
	uint8_t		*to;
	uint8_t		*to_end;
	uint8_t		*cell;		/* the last cell beyond ASCII begins */
					/* here, or behind */
	uint32_t	 glyphs;	/* visible ones beyond ASCII */
	uint32_t	 limit;		/* of a line, in bytes */
	uint32_t	 lines;
	uint32_t	 lines_room;
	uint8_t		 full;		/* stopped for want of room */
	uint32_t	 taken[BULK_LINES];	/* input up to a line's end */
	uint32_t	 ends[BULK_LINES];	/* block up to a line's end */
	uint32_t	 seen[BULK_LINES];	/* glyphs up to a line's end */
};

/* What blocks of 64 bytes carry over, the first byte's bit lowest. */
struct bulk_carry {
	uint64_t	 bracket;	/* must be the [ after an ESC */
	uint64_t	 value;		/* is in a sequence's values or ends it */
	uint64_t	 inside;	/* is in a sequence */
	uint64_t	 after_cr;	/* must be LF or another CR */
};

/* --- the loops, one byte at a time --- */

static size_t
scalar_plain(const uint8_t *p, size_t n)
{
	size_t	i;

	for (i = 0; i < n && p[i] >= 0x20 && p[i] < 0x7f; i++)
		;
	return (i);
}

static size_t
scalar_visible(const uint8_t *p, size_t n)
{
	size_t	i, count = 0;

	for (i = 0; i < n; i++)
		count += p[i] > 0x20 && p[i] < 0x7f;
	return (count);
}

static void
scalar_copy(struct bulk *b)
{
	while (b->p < b->end && b->to < b->to_end &&
	    *b->p >= 0x20 && *b->p < 0x7f)
		*b->to++ = *b->p++;
}

/* --- what is not printable ASCII --- */

/* A line feed, which there is room for: the line has ended. */
static int
bulk_line_feed(struct bulk *b, const uint8_t *after)
{
	if (b->to - b->line > (ptrdiff_t)b->limit)
		return (0);
	*b->to++ = '\n';
	b->p = after;
	b->line = b->to;
	b->taken[b->lines] = (uint32_t)(b->p - b->begin);
	b->ends[b->lines] = (uint32_t)(b->to - b->text);
	b->seen[b->lines++] = b->glyphs;
	return (1);
}

/* CR: nothing before a line feed, or where the line begins. */
static int
bulk_return(struct bulk *b)
{
	const uint8_t	*q = b->p + 1;

	while (q < b->end && *q == '\r')
		q++;
	if (q < b->end && *q == '\n')
		return (bulk_line_feed(b, q + 1));
	if (b->to != b->line)
		return (0);
	b->p = q;
	return (1);
}

/* CSI: colours, and EL to the right. */
static int
bulk_csi(struct bulk *b)
{
	const uint8_t	*first = b->p + 2, *q = first;

	while (q < b->end && *q >= '0' && *q <= ';')
		q++;
	if (q == b->end)
		return (0);
	if (*q == 'K') {
		if (q != first && (q - first != 1 || *first != '0'))
			return (0);
	} else if (*q != 'm')
		return (0);
	b->p = q + 1;
	return (1);
}

/* OSC, up to BEL or ST. */
static int
bulk_osc(struct bulk *b)
{
	const uint8_t	*q;

	for (q = b->p + 2; q < b->end; q++) {
		if (*q >= 0x20)
			continue;
		if (*q == 0x07) {
			b->p = q + 1;
			return (1);
		}
		if (*q == 0x1b && b->end - q > 1 && q[1] == '\\') {
			b->p = q + 2;
			return (1);
		}
		return (0);
	}
	return (0);
}

static int
bulk_escape(struct bulk *b)
{
	if (b->end - b->p < 3)
		return (0);
	switch (b->p[1]) {
	case '[':
		return (bulk_csi(b));
	case ']':
		return (bulk_osc(b));
	case '(':
	case ')':
	case '*':
	case '+':
		if (b->p[2] < 0x30 || b->p[2] > 0x7e)
			return (0);
		b->p += 3;
		return (1);
	}
	return (0);
}

/*
 * Whether a character has surely room in the cell that it joins, or is no
 * mark: one without room vanishes, and that is left to scan.c.
 */
static int
bulk_cell(struct bulk *b, const struct glyph *g)
{
	if (b->to[-1] < 0x80)
		b->cell = b->to - 1;
	if (g->kind == CHAR_NARROW || g->kind == CHAR_WIDE ||
	    g->kind == CHAR_INITIAL) {
		/* It joins nothing but a joiner. */
		if (!chars_end_joining(b->cell, (size_t)(b->to - b->cell)))
			b->cell = b->to;
	}
	return (g->width != 0 || b->to - b->cell + g->size <= LINES_CELL);
}

/* A character beyond ASCII; broken ones are left to scan.c. */
static int
bulk_glyph(struct bulk *b)
{
	struct glyph	g;
	size_t		size;

	if (b->to_end - b->to < (ptrdiff_t)sizeof g.bytes) {
		b->full = 1;
		return (0);
	}
	size = utf8_whole(b->p, (size_t)(b->end - b->p), &g);
	if (size == 0)
		return (0);
	if (g.width == WIDTH_CONTROL || (g.width == 0 && b->to == b->line)) {
		b->p += size;
		return (1);
	}
	if (b->to == b->line)
		b->cell = b->to;
	else if (!bulk_cell(b, &g))
		return (0);
	b->p += size;
	memcpy(b->to, g.bytes, g.size);
	b->to += g.size;
	b->glyphs += g.width != 0 && !g.blank;
	return (1);
}

/* Take what is not printable ASCII; 0: the block ends. */
static int
bulk_special(struct bulk *b)
{
	if (b->p == b->end)
		return (0);
	if (b->to == b->to_end || b->lines == b->lines_room) {
		b->full = 1;
		return (0);
	}
	if (*b->p >= 0x80)
		return (bulk_glyph(b));
	switch (*b->p) {
	case 0x1b:
		return (bulk_escape(b));
	case '\n':
	case '\v':
	case '\f':
		return (bulk_line_feed(b, b->p + 1));
	case '\r':
		return (bulk_return(b));
	case '\b':
	case '\t':
		return (0);
	}
	b->p++;
	return (1);
}

/* Where blocks are taken from and written to. */
struct bulk_place {
	const uint8_t	*p;
	uint8_t		*to;
	uint8_t		*line;
	uint32_t	 lines;
};

/* Whether there is a block to be had, and room for what it may hold. */
SIMD_INLINE int
bulk_goes_on(const struct bulk *b, const struct bulk_place *at)
{
	return (b->end - at->p >= 64 && b->to_end - at->to >= 64 &&
	    b->lines_room - at->lines >= 64);
}

/* Whether something that has begun has not ended. */
SIMD_INLINE int
bulk_open(const struct bulk_carry *c)
{
	return ((c->bracket | c->value | c->inside | c->after_cr) != 0);
}

/* How many bytes of the block before there are from its last opener on. */
SIMD_INLINE uint32_t
bulk_since(uint64_t openers)
{
	return (openers == 0 ? 0 : 64 - simd_lowest(simd_highest(openers)));
}

/*
 * The line feeds of a block, of which the bytes in `keep` are about to be
 * copied; 0: a line is too long.
 */
SIMD_INLINE int
bulk_line_feeds(struct bulk *b, struct bulk_place *at, uint64_t line_feeds,
    uint64_t keep)
{
	uint32_t	bit, lines = at->lines, one;
	uint8_t		*to;

	/* Most blocks have one or none: no branch says which. */
	do {
		one = line_feeds != 0;
		bit = one ? simd_lowest(line_feeds) : 0;
		to = at->to + simd_count(keep & ((UINT64_C(1) << bit) - 1));
		if (to - at->line > (ptrdiff_t)b->limit)
			return (0);
		b->taken[lines] = (uint32_t)(at->p - b->begin) + bit + 1;
		b->ends[lines] = (uint32_t)(to + 1 - b->text);
		b->seen[lines] = b->glyphs;
		at->line = one ? to + 1 : at->line;
		lines += one;
		line_feeds &= line_feeds - 1;
	} while (line_feeds != 0);
	at->lines = lines;
	return (1);
}

/* --- levels --- */

static void
scalar_lines(struct bulk *b)
{
	do
		scalar_copy(b);
	while (bulk_special(b));
}

#ifdef SIMD_X86

#define V(name) sse2_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 1
#include "bulk.inc"
#undef V
#undef V_TARGET
#undef V_BYTES

#define V(name) avx2_ ## name
#define V_TARGET AVX2_TARGET
#define V_BYTES 32
#define V_BLOCKS
#include "bulk.inc"
#include "bulk_blocks.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP
#undef V_BLOCKS

#define V(name) avx512_ ## name
#define V_TARGET AVX512_TARGET
#include "bulk_blocks.inc"
#undef V
#undef V_TARGET

#endif

#ifdef SIMD_ARM

#define V(name) neon_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 4
#include "bulk.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP

#endif

static const struct bulk_loops bulk_levels[TW_SIMD_LEVELS] = {
	[TW_SIMD_SCALAR] = { scalar_plain, scalar_visible, scalar_lines },
#ifdef SIMD_X86
	[TW_SIMD_SSE2] = { sse2_plain, sse2_visible, sse2_lines },
	[TW_SIMD_AVX2] = { avx2_plain, avx2_visible, avx2_line_blocks },
	[TW_SIMD_AVX512] = { avx2_plain, avx2_visible, avx512_line_blocks },
#endif
#ifdef SIMD_ARM
	[TW_SIMD_NEON] = { neon_plain, neon_visible, neon_lines },
#endif
};

/* The loops of the level in use. */
const struct bulk_loops *
bulk_loops(void)
{
	return (&bulk_levels[tw_simd_level()]);
}

/* --- a block and what is in it --- */

/* Whether the scan stands where a line begins, and nothing is special. */
static int
bulk_may(const struct tw_scan *s)
{
	const struct lines	*l = &s->lines;

	return (l->cells == 0 && l->column == 0 && l->row == 0 &&
	    s->escape.state == ESCAPE_GROUND && s->utf8.size == 0 &&
	    s->op == OP_NONE && s->known && s->at == 0 && s->carried == 0 &&
	    !s->written && !s->insert && !s->no_wrap && l->width != 1);
}

/* Where a line of the block begins. */
static uint32_t
bulk_line(const struct bulk *b, uint32_t line)
{
	return (line == 0 ? 0 : b->ends[line - 1]);
}

/* Report what ends at byte `end` of the block, in one of its lines. */
static void
bulk_hits(const struct tw_scan *s, const struct bulk *b, uint64_t ends,
    uint32_t end, uint32_t line, struct tw_out *out)
{
	struct tw_hit	*hit;
	uint32_t	 literal;

	for (literal = 0; ends != 0; literal++, ends >>= 1) {
		if ((ends & 1) == 0)
			continue;
		hit = &out->hits[out->hits_size++];
		hit->version = s->version + line;
		hit->offset = s->total + end;
		hit->end = (int32_t)(end - bulk_line(b, line));
		hit->start = hit->end -
		    (int32_t)literals_size(s->literals, literal);
		hit->pane = s->pane;
		hit->literal = (uint16_t)literal;
		hit->complete = 0;
	}
}

/* Go from a node over the block up to byte `to`, telling nothing. */
static uint32_t
bulk_node(const struct tw_scan *s, const struct bulk *b, uint32_t to)
{
	uint32_t	node = s->node, at = 0;
	uint64_t	ends;

	while (at < to)
		at += (uint32_t)literals_run(s->literals, &node, b->text + at,
		    to - at, &ends);
	return (node);
}

/* Search the block; it loses the lines whose hits have no room. */
static void
bulk_search(struct tw_scan *s, struct bulk *b, struct tw_out *out)
{
	uint32_t	node = s->node, at = 0, line = 0, size;
	uint32_t	before = out->hits_size;	/* hits, of the line */
	uint64_t	ends;

	size = bulk_line(b, b->lines);
	while (at < size) {
		at += (uint32_t)literals_run(s->literals, &node, b->text + at,
		    size - at, &ends);
		if (ends == 0)
			break;
		if (b->ends[line] < at) {
			before = out->hits_size;
			while (b->ends[line] < at)
				line++;
		}
		if (out->hits_room - out->hits_size <
		    literals_count(s->literals)) {
			out->hits_size = before;
			b->lines = line;
			node = bulk_node(s, b, bulk_line(b, line));
			break;
		}
		bulk_hits(s, b, ends, at, line, out);
	}
	s->node = s->line_node = node;
}

/* The record of a line of the block, whose text is at `text` in the output. */
static void
bulk_record(const struct tw_scan *s, const struct bulk *b, uint32_t line,
    uint32_t text, struct tw_out *out)
{
	struct tw_version	*v = &out->versions[out->versions_size++];

	v->version = s->version + line;
	v->text = text;
	v->size = b->ends[line] - bulk_line(b, line) - 1;
	v->start = 0;
	v->length = v->write = v->size;
	v->carried = 0;
	v->pane = s->pane;
	v->end = TW_END_LINE;
}

/* Keep the lines that have hits, found since `before`. */
static void
bulk_keep_hit(const struct tw_scan *s, const struct bulk *b, uint32_t before,
    struct tw_out *out)
{
	uint64_t	version = s->version - 1;
	uint32_t	i, line, size;

	for (i = before; i < out->hits_size; i++) {
		if (out->hits[i].version == version)
			continue;
		version = out->hits[i].version;
		line = (uint32_t)(version - s->version);
		size = b->ends[line] - bulk_line(b, line);
		memmove(out->text + out->text_size,
		    b->text + bulk_line(b, line), size);
		bulk_record(s, b, line, out->text_size, out);
		out->text_size += size;
	}
}

/* Keep what the scan keeps of the block's lines. */
static void
bulk_keep(const struct tw_scan *s, const struct bulk *b, uint32_t before,
    struct tw_out *out)
{
	uint32_t	i;

	if (s->keep & TW_KEEP_HIT) {
		bulk_keep_hit(s, b, before, out);
		return;
	}
	if (s->keep & TW_KEEP_PLAIN) {
		out->text_size += bulk_line(b, b->lines);
		return;
	}
	if ((s->keep & TW_KEEP_FINAL) == 0)
		return;
	for (i = 0; i < b->lines; i++)
		bulk_record(s, b, i, out->text_size + bulk_line(b, i), out);
	out->text_size += bulk_line(b, b->lines);
}

/* How many lines have room for their records. */
static uint32_t
bulk_lines_room(const struct tw_scan *s, const struct tw_out *out)
{
	uint32_t	room = out->versions_room - out->versions_size;

	if ((s->keep & TW_KEEP_PLAIN) != 0 || room > BULK_LINES)
		room = BULK_LINES;
	return (room);
}

/* Begin a block, in the free room of the caller's text. */
static void
bulk_begin(const struct tw_scan *s, struct bulk *b, const uint8_t *p, size_t n,
    const struct tw_out *out)
{
	size_t	room = out->text_room - out->text_size;

	b->begin = b->p = p;
	b->end = p + n;
	b->text = b->line = b->to = out->text + out->text_size;
	b->to_end = b->to + (room < BULK_TEXT ? room : BULK_TEXT);
	b->glyphs = 0;
	b->limit = s->lines.limit;
	b->lines = 0;
	b->lines_room = bulk_lines_room(s, out);
	b->full = b->lines_room == 0;
}

/*
 * Take whole lines that need no terminal; returns the bytes taken.  *stop is
 * how many bytes of the rest should be left to scan.c.
 */
size_t
bulk_feed(struct tw_scan *s, const uint8_t *p, size_t n, struct tw_out *out,
    size_t *stop)
{
	struct bulk	b;
	uint32_t	before = out->hits_size, found, size;
	size_t		taken, seen;

	*stop = 0;
	/* Text that nobody hears of, of tw_scan_seed, has no room. */
	if (out->text == NULL || !bulk_may(s))
		return (0);
	bulk_begin(s, &b, p, n, out);
	if (!b.full)
		s->loops->lines(&b);
	found = b.lines;
	if (found != 0 && s->literals != NULL)
		bulk_search(s, &b, out);
	seen = (size_t)(b.p - p);
	if (b.lines == 0) {
		*stop = found != 0 ? b.taken[0] : seen + 1;
		return (0);
	}
	taken = b.taken[b.lines - 1];
	if (b.lines == found && !b.full)
		*stop = seen - taken + 1;
	size = bulk_line(&b, b.lines);
	bulk_keep(s, &b, before, out);
	if (s->keep & TW_KEEP_FINAL)
		s->visible += s->loops->visible(b.text, size) +
		    b.seen[b.lines - 1];
	s->total += size;
	s->version += b.lines;
	s->saved_here = 0;
	s->last.size = 0;
	return (taken);
}
