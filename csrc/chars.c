/*
 * chars.c - UTF-8, and how many cells a character takes.
 *
 * Sources: The Unicode Standard, chapter 3, table 3-7 (well-formed byte
 * sequences) and "U+FFFD substitution of maximal subparts": bytes that are
 * not UTF-8 are text, as many to one U+FFFD as Python's decoder takes.
 * Widths: East Asian Width (W, F) and the combining blocks.  The tables are
 * compact ones of the well-known blocks; a generated one comes later.
 */

#include "core.h"

struct range {
	uint32_t	 first;
	uint32_t	 last;
};

/* Marks and joiners that share the cell before them. */
static const struct range chars_zero[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
	{ 0x0610, 0x061a }, { 0x064b, 0x065f }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }
};

/* Characters of two cells. */
static const struct range chars_wide[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a },
	{ 0x23e9, 0x23ec }, { 0x23f0, 0x23f0 }, { 0x23f3, 0x23f3 },
	{ 0x25fd, 0x25fe }, { 0x2614, 0x2615 }, { 0x2648, 0x2653 },
	{ 0x267f, 0x267f }, { 0x2693, 0x2693 }, { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 },
	{ 0x26ce, 0x26ce }, { 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea },
	{ 0x26f2, 0x26f3 }, { 0x26f5, 0x26f5 }, { 0x26fa, 0x26fa },
	{ 0x26fd, 0x26fd }, { 0x2705, 0x2705 }, { 0x270a, 0x270b },
	{ 0x2728, 0x2728 }, { 0x274c, 0x274c }, { 0x274e, 0x274e },
	{ 0x2753, 0x2755 }, { 0x2757, 0x2757 }, { 0x2795, 0x2797 },
	{ 0x27b0, 0x27b0 }, { 0x27bf, 0x27bf }, { 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 }, { 0x2e80, 0x303e },
	{ 0x3041, 0x33ff }, { 0x3400, 0x4dbf }, { 0x4e00, 0xa4cf },
	{ 0xa960, 0xa97f }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	{ 0xfe10, 0xfe19 }, { 0xfe30, 0xfe6f }, { 0xff01, 0xff60 },
	{ 0xffe0, 0xffe6 }, { 0x16fe0, 0x18cff }, { 0x1b000, 0x1b2ff },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e },
	{ 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 },
	{ 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca },
	{ 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 },
	{ 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc },
	{ 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 },
	{ 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 },
	{ 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc },
	{ 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ec },
	{ 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7eb }, { 0x1f90c, 0x1f93a },
	{ 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd }
};

/* Whether a code point lies in one of a table's ranges. */
static int
chars_in(const struct range *table, size_t n, uint32_t c)
{
	size_t	low = 0, high = n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (c > table[middle].last)
			low = middle + 1;
		else if (c < table[middle].first)
			high = middle;
		else
			return (1);
	}
	return (0);
}

#define IN(table, c) chars_in(table, sizeof table / sizeof *table, c)

/* The code point of a well-formed sequence. */
static uint32_t
utf8_code(const uint8_t *p, size_t size)
{
	switch (size) {
	case 2:
		return ((p[0] & 0x1fu) << 6 | (p[1] & 0x3fu));
	case 3:
		return ((p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 |
		    (p[2] & 0x3fu));
	case 4:
		return ((p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 |
		    (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu));
	}
	return (p[0]);
}

/* Blanks beyond ASCII: they can be seen by nobody. */
static int
chars_blank(uint32_t c)
{
	return (c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x3000);
}

/* The bytes that a lead byte asks for, itself included; 0: no lead byte. */
static uint8_t
utf8_wanted(uint8_t byte)
{
	if (byte >= 0xc2 && byte <= 0xdf)
		return (2);
	if (byte >= 0xe0 && byte <= 0xef)
		return (3);
	if (byte >= 0xf0 && byte <= 0xf4)
		return (4);
	return (0);
}

/* Whether a byte may follow: the second byte of some leads is narrower. */
static int
utf8_follows(const struct utf8 *u, uint8_t byte)
{
	if (byte < 0x80 || byte > 0xbf)
		return (0);
	if (u->size > 1)
		return (1);
	switch (u->bytes[0]) {
	case 0xe0:
		return (byte >= 0xa0);	/* else overlong */
	case 0xed:
		return (byte <= 0x9f);	/* else a surrogate */
	case 0xf0:
		return (byte >= 0x90);
	case 0xf4:
		return (byte <= 0x8f);	/* else beyond U+10FFFF */
	}
	return (1);
}

/* Break off the character on its way in (there is one). */
void
utf8_stop(struct utf8 *u, struct glyph *g)
{
	uint8_t	i;

	for (i = 0; i < u->size; i++)
		g->bytes[i] = u->bytes[i];
	g->size = u->size;
	g->width = 1;
	g->blank = 0;
	u->size = 0;
}

/* Take a byte from 0x80 on. */
enum utf8_result
utf8_next(struct utf8 *u, uint8_t byte, struct glyph *g)
{
	uint32_t	c;

	if (u->size != 0) {
		if (!utf8_follows(u, byte)) {
			utf8_stop(u, g);
			return (UTF8_STOP);
		}
	} else {
		u->wanted = utf8_wanted(byte);
		if (u->wanted == 0)
			u->wanted = 1;
	}
	u->bytes[u->size++] = byte;
	if (u->size < u->wanted)
		return (UTF8_MORE);
	utf8_stop(u, g);
	if (g->size == 1)
		return (UTF8_DONE);
	c = utf8_code(g->bytes, g->size);
	if (c < 0xa0)
		g->width = WIDTH_CONTROL;
	else if (IN(chars_zero, c))
		g->width = 0;
	else if (IN(chars_wide, c))
		g->width = 2;
	g->blank = chars_blank(c);
	return (UTF8_DONE);
}
