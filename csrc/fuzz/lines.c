/*
 * lines.c - fuzz target: what edits a line, against a line of cells that is
 * too simple to be wrong.
 *
 * Of the data those tokens are taken that the cells below know, all others
 * are left out: ASCII, four other characters, CR, BS, HT, and the control
 * sequences that stay within the line.  The line never reaches its limit.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Cells beyond which an input ends: all of it stays below the limit. */
#define CELLS_MAX 8000

/* Bytes of a character, marks included: more of them are lost. */
#define CELL_MAX 32

/* Up to so many cells the text is looked at after each token. */
#define CELLS_FEW 100

/* How far beyond the text the cursor may go in a line without end. */
#define REACH 10000

struct cell {
	uint8_t		bytes[CELL_MAX];
	uint8_t		size;
	uint8_t		tail;		/* second half of a wide one */
};

struct line {
	struct cell	*cells;		/* 2 * CELLS_MAX + REACH; owned */
	uint32_t	 n;
	uint32_t	 width;
	uint32_t	 row;		/* its first cell */
	uint32_t	 column;
	uint32_t	 write_cell;
	uint64_t	 version;
	int		 insert;
};

static const struct cell cell_blank = { { ' ' }, 1, 0 };

/* A token of the data. */
struct token {
	size_t		 size;
	uint8_t		 kind;		/* final byte, or one of these: */
	uint8_t		 width;
	uint32_t	 n;
};

enum { TOKEN_SKIP = 0, TOKEN_CHARACTER = 1 };

static const struct {
	const char	*bytes;
	uint8_t		 width;
} characters[] = {
	{ "\303\251", 1 }, { "\344\270\226", 2 }, { "\314\201", 0 },
	{ "\360\237\231\202", 2 }
};

/* --- reading the data --- */

/* A control sequence that the model knows. */
static struct token
token_sequence(const uint8_t *p, size_t n)
{
	struct token	t = { 2, TOKEN_SKIP, 0, 0 };

	while (t.size < n && t.size < 5 && p[t.size] >= '0' &&
	    p[t.size] <= '9')
		t.n = t.n * 10 + (uint32_t)(p[t.size++] - '0');
	if (t.size == n)
		return (t);
	if (strchr("@ABCDGKPXZ", p[t.size]) != NULL ||
	    ((p[t.size] == 'h' || p[t.size] == 'l') && t.n == 4))
		t.kind = p[t.size++];
	if (t.kind != 'K' && t.n == 0)
		t.n = 1;
	return (t);
}

/* The token at p, which has bytes; in a sequence that is unknown, its ESC. */
static struct token
token_read(const uint8_t *p, size_t n)
{
	struct token	t = { 1, TOKEN_SKIP, 1, 1 };
	size_t		i, size;

	if (*p >= 0x20 && *p < 0x7f)
		t.kind = TOKEN_CHARACTER;
	else if (*p == '\r' || *p == '\b' || *p == '\t')
		t.kind = *p;
	else if (n > 2 && p[0] == 0x1b && p[1] == '[')
		t = token_sequence(p, n);
	for (i = 0; i < sizeof characters / sizeof *characters; i++) {
		size = strlen(characters[i].bytes);
		if (n < size || memcmp(p, characters[i].bytes, size) != 0)
			continue;
		t.size = size;
		t.kind = TOKEN_CHARACTER;
		t.width = characters[i].width;
	}
	return (t);
}

/* --- the cells --- */

static uint32_t
line_cursor(const struct line *l)
{
	return (l->row + l->column);
}

static uint32_t
line_byte(const struct line *l, uint32_t cell)
{
	uint32_t	i, n = 0;

	for (i = 0; i < cell; i++)
		n += l->cells[i].size;
	return (n);
}

/* Take `gone` cells away at one, and put `blanks` blanks in there. */
static void
line_splice(struct line *l, uint32_t at, uint32_t gone, uint32_t blanks)
{
	uint32_t	i;

	memmove(l->cells + at + blanks, l->cells + at + gone,
	    (l->n - at - gone) * sizeof *l->cells);
	for (i = 0; i < blanks; i++)
		l->cells[at + i] = cell_blank;
	l->n = l->n - gone + blanks;
}

static uint32_t
line_edge(const struct line *l, uint32_t cell)
{
	return (cell < l->n && l->cells[cell].tail ? cell - 1 : cell);
}

/* No character is cut in two at this cell. */
static void
line_split(struct line *l, uint32_t cell)
{
	if (line_edge(l, cell) != cell)
		line_splice(l, cell - 1, 2, 2);
}

/* An edit before what this version wrote begins the next one. */
static void
line_edit(struct line *l, uint32_t cell)
{
	cell = line_edge(l, cell);
	if (cell < l->write_cell) {
		l->write_cell = cell;
		l->version++;
	}
}

static void
line_to_column(struct line *l, uint32_t column)
{
	uint32_t	last = l->width != 0 ? l->width - 1 : l->n + REACH;

	l->column = column < last ? column : last;
}

/* One past the last cell of the cursor's row. */
static uint32_t
line_row_end(const struct line *l)
{
	if (l->width != 0 && l->row + l->width < l->n)
		return (l->row + l->width);
	return (l->n);
}

/* Whether the cursor stands in its row, not past it. */
static int
line_inside(const struct line *l)
{
	return (l->width == 0 || l->column < l->width);
}

static void
line_erase(struct line *l, uint32_t from, uint32_t to)
{
	if (from >= to)
		return;
	line_edit(l, from);
	line_split(l, from);
	line_split(l, to);
	line_splice(l, from, to - from, to == l->n ? 0 : to - from);
}

/* Blanks in at the cursor; what leaves the row is lost. */
static void
line_shift(struct line *l, uint32_t n)
{
	uint32_t	at = line_cursor(l), end = line_row_end(l), lost = 0;
	uint32_t	room = l->width != 0 ? l->width - l->column : REACH;

	if (n > room)
		n = room;
	if (l->width != 0 && end - at > room - n)
		lost = end - at - (room - n);
	line_split(l, at);
	line_split(l, end - lost);
	line_split(l, end);
	line_splice(l, end - lost, lost, 0);
	line_splice(l, at, 0, n);
}

static void
line_delete(struct line *l, uint32_t n)
{
	uint32_t	at = line_cursor(l), end = line_row_end(l);

	if (n > end - at)
		n = end - at;
	line_split(l, at);
	line_split(l, at + n);
	line_split(l, end);
	if (end != l->n)
		line_splice(l, end, 0, n);
	line_splice(l, at, n, 0);
}

/* Blanks up to the cursor. */
static void
line_fill(struct line *l)
{
	if (line_cursor(l) > l->n)
		line_splice(l, l->n, 0, line_cursor(l) - l->n);
}

/* The cursor's row is full, or has one column and the character two. */
static void
line_wrap(struct line *l)
{
	if (l->column < l->width) {
		line_fill(l);
		if (line_cursor(l) == l->n) {
			line_splice(l, l->n, 0, 1);
			l->cells[l->n - 1].size = 0;
		}
	}
	l->row += l->width;
	l->column = 0;
}

static void
line_mark(struct line *l, const uint8_t *p, uint8_t size)
{
	uint32_t	 at, first;
	struct cell	*cell;

	if (l->column == 0)
		return;
	line_fill(l);
	at = line_cursor(l);
	if (line_edge(l, at) != at)
		return;
	cell = &l->cells[at - 1];
	first = line_edge(l, at - 1);
	if (line_byte(l, at) - line_byte(l, first) + size > CELL_MAX)
		return;
	if (at < l->write_cell)
		l->version++;
	memcpy(cell->bytes + cell->size, p, size);
	cell->size += size;
	l->write_cell = at;
}

static void
line_put(struct line *l, const uint8_t *p, uint8_t size, uint32_t width)
{
	uint32_t	at, i;
	int		wraps;

	if (l->width == 1)
		width = 1;
	wraps = l->width != 0 && l->column + width > l->width;
	if (wraps)
		line_wrap(l);
	line_fill(l);
	at = line_cursor(l);
	line_edit(l, at);
	line_split(l, at);
	/* As in tmux what has wrapped is not inserted. */
	if (!l->insert || wraps)
		line_split(l, at + width);
	else if (at < l->n)
		line_shift(l, width);
	if (at + width > l->n)
		line_splice(l, l->n, 0, at + width - l->n);
	for (i = 0; i < width; i++) {
		l->cells[at + i].tail = i != 0;
		l->cells[at + i].size = i == 0 ? size : 0;
	}
	memcpy(l->cells[at].bytes, p, size);
	l->column += width;
	l->write_cell = at + width;
}

/* EL. */
static void
line_erase_row(struct line *l, uint32_t which)
{
	uint32_t	at = line_cursor(l), end = line_row_end(l);

	if (which == 0 && line_inside(l))
		line_erase(l, at, end);
	else if (which == 1)
		line_erase(l, l->row, line_inside(l) && at < end ? at + 1 :
		    end);
	else if (which == 2)
		line_erase(l, l->row, end);
}

/* Up or down within the line; 0: it would leave it. */
static int
line_vertical(struct line *l, uint32_t rows, int down)
{
	uint32_t	cells = rows * l->width;

	if (l->width == 0 ||
	    (down ? l->row + cells >= l->n : cells > l->row))
		return (0);
	if (l->row >= l->n && cells <= l->row && l->row - cells >= l->n)
		return (0);
	if (l->column == l->width)
		l->column--;
	l->row += down ? cells : -cells;
	return (1);
}

static void
line_backspace(struct line *l)
{
	if (l->column > 0)
		l->column--;
	else if (l->width != 0 && l->row > 0) {
		l->row -= l->width;
		l->column = l->width - 1;
	}
}

static void
line_tab_back(struct line *l, uint32_t n)
{
	uint32_t	column = l->column, stop;

	if (l->width != 0 && column == l->width)
		column--;
	stop = (column + 7) / 8;
	line_to_column(l, n >= stop ? 0 : (stop - n) * 8);
}

/* Take a token; 0: it is left out. */
static int
line_take(struct line *l, const struct token *t, const uint8_t *p)
{
	uint32_t	at = line_cursor(l);
	int		within = line_inside(l) && at < line_row_end(l);

	switch (t->kind) {
	case TOKEN_CHARACTER:
		if (t->width == 0)
			line_mark(l, p, (uint8_t)t->size);
		else
			line_put(l, p, (uint8_t)t->size, t->width);
		return (1);
	case '\r':
		line_to_column(l, 0);
		return (1);
	case '\b':
		line_backspace(l);
		return (1);
	case '\t':
		if (l->width == 0 || l->column + 1 < l->width)
			line_to_column(l, (l->column / 8 + 1) * 8);
		return (1);
	case 'Z':
		line_tab_back(l, t->n);
		return (1);
	case 'A':
	case 'B':
		return (line_vertical(l, t->n, t->kind == 'B'));
	case 'C':
		line_to_column(l, l->column + t->n);
		return (1);
	case 'D':
		line_to_column(l, t->n > l->column ? 0 : l->column - t->n);
		return (1);
	case 'G':
		line_to_column(l, t->n - 1);
		return (1);
	case 'K':
		line_erase_row(l, t->n);
		return (1);
	case 'X':
		if (within)
			line_erase(l, at, at + t->n < line_row_end(l) ?
			    at + t->n : line_row_end(l));
		return (1);
	case 'P':
	case '@':
		if (!within)
			return (1);
		line_edit(l, at);
		if (t->kind == 'P')
			line_delete(l, t->n);
		else
			line_shift(l, t->n);
		return (1);
	case 'h':
	case 'l':
		l->insert = t->kind == 'h';
		return (1);
	}
	return (0);
}

/* --- the comparison --- */

static void
line_compare(const struct line *l, const struct tw_scan *scan)
{
	struct tw_now	now;
	uint32_t	i, at = 0;

	tw_scan_now(scan, &now);
	CHECK(now.version == l->version);
	CHECK(now.write == line_byte(l, l->write_cell));
	CHECK(now.size == line_byte(l, l->n));
	for (i = 0; i < l->n; i++) {
		CHECK(memcmp(now.text + at, l->cells[i].bytes,
		    l->cells[i].size) == 0);
		at += l->cells[i].size;
	}
}

/* Feed a token to the scan. */
static void
line_feed(struct tw_scan *scan, const uint8_t *p, size_t n,
    struct tw_out *out)
{
	size_t	done = 0;

	do {
		done += tw_scan_feed(scan, p + done, n - done, out);
	} while (out->full);
	CHECK(done == n);
}

static void
line_check(const struct input *in)
{
	struct tw_options	 options = { 0 };
	struct tw_literals	*literals = input_build(in);
	struct tw_scan		*scan;
	struct tw_out		 out;
	struct line		 l = { 0 };
	struct token		 t;
	size_t			 at;

	l.width = options.width = in->options.width;
	options.keep = TW_KEEP_FINAL;
	scan = tw_scan_new(literals, &options);
	l.cells = calloc(2 * (CELLS_MAX + REACH), sizeof *l.cells);
	CHECK(scan != NULL && l.cells != NULL);
	out_new(&out, in, 0);
	for (at = 0; at < in->size; at += t.size) {
		t = token_read(in->data + at, in->size - at);
		if (l.n > CELLS_MAX || line_cursor(&l) > CELLS_MAX)
			break;
		if (!line_take(&l, &t, in->data + at))
			continue;
		line_feed(scan, in->data + at, t.size, &out);
		if (l.n < CELLS_FEW)
			line_compare(&l, scan);
	}
	line_compare(&l, scan);
	free(l.cells);
	out_free(&out);
	tw_scan_free(scan);
	tw_literals_free(literals);
}

int
FUZZ_TARGET(lines)(const uint8_t *p, size_t n)
{
	struct input	in;
	uint32_t	level;

	if (!input_take(&in, p, n))
		return (0);
	in.options.limit = 0;
	for (level = 0; level < TW_SIMD_LEVELS; level++) {
		if (tw_simd_use(level))
			line_check(&in);
	}
	input_free(&in);
	return (0);
}
