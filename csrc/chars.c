/*
 * chars.c - UTF-8, and how many cells a character takes.
 *
 * Sources: The Unicode Standard, chapter 3, table 3-7 (well-formed byte
 * sequences) and "U+FFFD substitution of maximal subparts": bytes that are
 * not UTF-8 are text, as many to one U+FFFD as Python's decoder takes.
 * Widths: the table of widths.h, as tmux 3.7 and 3.8 have them.
 *
 * Decisions:
 *  - C1 controls vanish; so does U+3164, as in tmux.
 *  - Bytes that are not UTF-8 take one cell for each U+FFFD.  tmux drops them
 *    up to 3.5; later it shows one U+FFFD for the bytes that the first one
 *    asked for, and takes characters behind it with it.
 */

#include "core.h"
#include "widths.h"

/* The class of a code point. */
static enum char_class
chars_class(uint32_t c)
{
	uint8_t	pair = widths_blocks[widths_index[c >> 8]][(c & 0xff) >> 1];

	return ((enum char_class)((c & 1) != 0 ? pair >> 4 : pair & 0x0f));
}

/* The cells of a character of some class, if it does not join another. */
static uint8_t
chars_width(enum char_class kind)
{
	switch (kind) {
	case CHAR_NARROW:
	case CHAR_REGIONAL:
	case CHAR_BROKEN:
		return (1);
	case CHAR_WIDE:
	case CHAR_TONE:
	case CHAR_TONED:
	case CHAR_INITIAL:
		return (2);
	case CHAR_ZERO:
	case CHAR_WIDENS:
		return (0);
	case CHAR_NOTHING:
		break;
	}
	return (WIDTH_CONTROL);
}

uint32_t
tw_width(uint32_t c)
{
	uint8_t	width;

	if (c > 0x10ffff)
		return (1);
	width = chars_width(chars_class(c));
	return (width == WIDTH_CONTROL ? 0 : width);
}

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

/* Blanks beyond ASCII: they can be seen by nobody. */
static int
chars_blank(uint32_t c)
{
	return (c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x3000);
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
	g->kind = CHAR_BROKEN;
	g->width = 1;
	g->blank = 0;
	u->size = 0;
}

/* Say what a whole character is. */
static void
utf8_done(struct glyph *g)
{
	uint32_t	c = utf8_code(g->bytes, g->size);

	g->kind = chars_class(c);
	g->width = c < 0xa0 ? WIDTH_CONTROL : chars_width(g->kind);
	g->blank = chars_blank(c);
}

/* The bytes of the character beyond ASCII at `p`; 0: it is none, or cut off. */
size_t
utf8_whole(const uint8_t *p, size_t n, struct glyph *g)
{
	const struct utf8	u = { .bytes = { p[0] }, .size = 1 };
	size_t			size = utf8_wanted(p[0]), i;

	if (size == 0 || size > n || !utf8_follows(&u, p[1]))
		return (0);
	for (i = 0; i < size; i++)
		g->bytes[i] = p[i];
	for (i = 2; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (0);
	}
	g->size = (uint8_t)size;
	utf8_done(g);
	return (size);
}

/* Take a byte from 0x80 on. */
enum utf8_result
utf8_next(struct utf8 *u, uint8_t byte, struct glyph *g)
{
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
	if (g->size != 1)
		utf8_done(g);
	return (UTF8_DONE);
}

/* The class of the first character of a cell's bytes. */
enum char_class
chars_first(const uint8_t *p, size_t n)
{
	struct utf8		u = { 0 };
	struct glyph		g;
	enum utf8_result	result = UTF8_MORE;

	if (n == 0 || p[0] < 0x80)
		return (CHAR_NARROW);
	while (n-- != 0 && result == UTF8_MORE)
		result = utf8_next(&u, *p++, &g);
	return (result == UTF8_DONE ? (enum char_class)g.kind : CHAR_BROKEN);
}

/* Whether a character joins one before it, and both take two cells. */
int
chars_pair(enum char_class first, enum char_class second)
{
	return ((first == CHAR_REGIONAL && second == CHAR_REGIONAL) ||
	    (first == CHAR_TONED && second == CHAR_TONE) ||
	    (first == CHAR_TONE && second == CHAR_TONED));
}

/* Whether bytes end with a zero width joiner, U+200D. */
int
chars_end_joining(const uint8_t *p, size_t n)
{
	return (n >= 3 && p[n - 3] == 0xe2 && p[n - 2] == 0x80 &&
	    p[n - 1] == 0x8d);
}
