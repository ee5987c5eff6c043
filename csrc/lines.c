/*
 * lines.c - the cells of one logical line, edited as tmux's terminal would.
 *
 * A line is one run of cells; row r of a pane of `width` columns is cells
 * r * width to (r + 1) * width.  Its text is the cells' bytes in order.
 *
 * Decisions:
 *  - A cell that the cursor passed over and that something was written after
 *    is a space from then on.  Erasing up to the line's end takes the cells
 *    away; erasing before it makes spaces.
 *  - As in tmux: at the end of a full row the cursor stands one past the last
 *    column; backspace in a wrapped row's first column goes to the last
 *    column of the row before.
 *  - Characters join the cell before them as in tmux 3.7 and 3.8: marks, two
 *    regional indicators, skin tones, what follows a zero width joiner.
 *    VS16 makes that cell wide, if there is a column for it.
 *  - Half a wide character does not exist: its other half becomes a space.
 *    (tmux leaves it as it is where its half is erased or moved.)
 *  - A row erased as a whole stays in its line.  (From tmux 3.3 on it ends
 *    the line before it, which cuts zsh's input line at each wrap.)
 *  - ICH makes as many spaces as it says.  (tmux makes no more than the cells
 *    that it moves, and leaves the others as they were.)
 *  - A change that would make the line longer than its limit, but not at its
 *    end, takes away everything from the cursor on.
 *
 * Work.  Writing at the end touches what is written.  An edit before the end
 * touches the cells that it changes, in a pane with a width no more than the
 * cursor's row, and
 *  - the bytes behind it (memmove, up to the line's limit), only if the number
 *    of bytes before them changes;
 *  - where cells have more than a byte, the starts of the cells between this
 *    edit and the last one that changed that number: see lines_pivot;
 *  - the starts behind it (memmove), if there is no width and the number of
 *    cells changes.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define TAB_STOP 8	/* one each so many columns; lines_tab_own knows */

/* Make an empty line; 0: out of memory. */
int
lines_init(struct lines *l, uint32_t width, uint32_t limit)
{
	memset(l, 0, sizeof *l);
	l->limit = limit;
	l->width = width;
	l->plain = 1;
	/* calloc: pages that a short line never touches cost nothing */
	l->text = calloc(limit, 1);
	l->start = calloc((size_t)limit + 1, sizeof *l->start);
	return (l->text != NULL && l->start != NULL);
}

void
lines_free(struct lines *l)
{
	free(l->text);
	free(l->start);
}

/* Begin a new line, the cursor in the first column. */
void
lines_clear(struct lines *l)
{
	l->size = l->cells = l->column = 0;
	l->row = 0;
	l->plain = 1;
	l->pivot = l->shift = 0;
}

/* Where a cell's bytes begin; `cell` may be one past the last. */
uint32_t
lines_byte(const struct lines *l, uint32_t cell)
{
	if (l->plain)
		return (cell);
	return ((l->start[cell] + (cell < l->pivot ? 0 : l->shift)) &
	    ~LINES_TAIL);
}

/* The first column of the cursor's row that is in this line. */
static uint32_t
lines_first_column(const struct lines *l)
{
	return (l->row < 0 ? (uint32_t)-l->row : 0);
}

/* The cursor's cell. */
uint32_t
lines_cursor(const struct lines *l)
{
	return ((uint32_t)(l->row + (int64_t)l->column));
}

/* Whether a cell is the second of a wide character. */
static int
lines_is_tail(const struct lines *l, uint32_t cell)
{
	return (!l->plain && cell < l->cells &&
	    (l->start[cell] & LINES_TAIL) != 0);
}

/* Where an edit at a cell really begins: half a character is all of it. */
uint32_t
lines_edge(const struct lines *l, uint32_t cell)
{
	return (lines_is_tail(l, cell) ? cell - 1 : cell);
}

/* The cells of the cursor's row; 0: the cursor stands past its last column. */
int
lines_row_span(const struct lines *l, uint32_t *from, uint32_t *to)
{
	int64_t	end = l->cells;

	if (l->width != 0 && (int64_t)l->row + l->width < end)
		end = (int64_t)l->row + l->width;
	*from = l->row < 0 ? 0 : (uint32_t)l->row;
	*to = (uint32_t)end;
	return (l->width == 0 || l->column < l->width);
}

/* Whether so many more cells and bytes have room in the line. */
static int
lines_has_room(const struct lines *l, uint32_t cells, uint32_t bytes)
{
	return (l->limit - l->cells >= cells && l->limit - l->size >= bytes);
}

/* Whether a character has room at the cursor, which is not beyond the text. */
int
lines_fits(const struct lines *l, const struct glyph *g)
{
	uint32_t	a = lines_cursor(l), b = a + g->width;

	if (b > l->cells)
		b = l->cells;
	return (l->cells - (b - a) + g->width <= l->limit &&
	    l->size - (lines_byte(l, b) - lines_byte(l, a)) + g->size <=
	    l->limit);
}

/* --- the cursor --- */

/* Put the cursor on a cell, the pane being `width` columns wide. */
void
lines_place(struct lines *l, uint32_t cell, uint32_t width)
{
	uint32_t	column = width == 0 ? cell : cell % width;

	/* At the end of text that fills its row it has not wrapped yet. */
	if (width != 0 && column == 0 && cell != 0 && cell == l->cells)
		column = width;
	l->width = width;
	l->column = column;
	l->row = (int32_t)(cell - column);
}

void
lines_to_column(struct lines *l, uint32_t column)
{
	uint32_t	first = lines_first_column(l);
	uint32_t	last;

	if (l->width != 0)
		last = l->width - 1;
	else
		last = first + l->cells + LINES_REACH;
	l->column = column > last ? last : column;
	if (l->column < first)
		l->column = first;
}

void
lines_backspace(struct lines *l)
{
	if (l->column > lines_first_column(l))
		l->column--;
	else if (l->width != 0 && l->row > 0) {
		l->row -= (int32_t)l->width;
		l->column = l->width - 1;
	}
}

/* Whether a column has a tab stop. */
static int
lines_is_stop(const struct lines *l, uint32_t column)
{
	if (!l->own_stops || column >= LINES_REACH)
		return (column % TAB_STOP == 0);
	return ((l->stops[column / 8] >> column % 8 & 1) != 0);
}

/* To the next tab stop, but not past the last column. */
void
lines_tab(struct lines *l)
{
	uint32_t	column = l->column;

	if (l->width != 0 && column >= l->width - 1)
		return;
	do
		column++;
	while ((l->width == 0 || column < l->width - 1) &&
	    !lines_is_stop(l, column));
	lines_to_column(l, column);
}

/* So many tab stops back. */
void
lines_tab_back(struct lines *l, uint32_t n)
{
	uint32_t	column = l->column;

	if (l->width != 0 && column == l->width)
		column--;
	for (; n != 0 && column != 0; n--) {
		do
			column--;
		while (column != 0 && !lines_is_stop(l, column));
	}
	lines_to_column(l, column);
}

/* Begin with the usual tab stops, or none, before some are changed. */
static void
lines_tab_own(struct lines *l, int usual)
{
	memset(l->stops, usual ? 1 : 0, sizeof l->stops);
	l->own_stops = 1;
}

/* Set (or take away) a tab stop at the cursor. */
void
lines_tab_set(struct lines *l, int set)
{
	uint8_t	bit = (uint8_t)(1 << l->column % 8);

	if (l->column >= LINES_REACH || l->column == l->width)
		return;
	if (!l->own_stops)
		lines_tab_own(l, 1);
	if (set)
		l->stops[l->column / 8] |= bit;
	else
		l->stops[l->column / 8] &= (uint8_t)~bit;
}

/* Take all tab stops away. */
void
lines_tab_clear(struct lines *l)
{
	lines_tab_own(l, 0);
}

/* Back to the usual tab stops. */
void
lines_tab_reset(struct lines *l)
{
	l->own_stops = 0;
}

void
lines_right(struct lines *l, uint32_t n)
{
	lines_to_column(l, l->column + (n > LINES_REACH ? LINES_REACH : n));
}

void
lines_left(struct lines *l, uint32_t n)
{
	lines_to_column(l, n > l->column ? 0 : l->column - n);
}

/* So many rows down (up if negative); 0: that row is not in this line. */
int
lines_vertical(struct lines *l, int64_t rows)
{
	int64_t	row = l->row + rows * l->width;

	if (l->width == 0 || row + l->width <= 0 || row >= l->cells)
		return (0);
	l->row = (int32_t)row;
	if (l->column < lines_first_column(l))
		l->column = lines_first_column(l);
	return (1);
}

/* The cursor moves on by so many cells written, wrapping. */
void
lines_wrote(struct lines *l, uint32_t n)
{
	uint32_t	rows;

	l->column += n;
	if (l->width != 0 && l->column > l->width) {
		rows = (l->column - 1) / l->width;
		l->row += (int32_t)(rows * l->width);
		l->column -= rows * l->width;
	}
}

/* --- the cells --- */

/* From now on cells may have any number of bytes. */
static void
lines_unplain(struct lines *l)
{
	uint32_t	i;

	if (!l->plain)
		return;
	l->plain = 0;
	for (i = 0; i <= l->cells; i++)
		l->start[i] = i;
}

/*
 * Bring the starts from `cell` on, and no others, to lack l->shift, so that
 * an edit before them has only to change it.
 */
static void
lines_pivot(struct lines *l, uint32_t cell)
{
	uint32_t	i, *p = l->start;

	if (l->shift != 0) {
		for (i = l->pivot; i < cell; i++)
			p[i] = (p[i] & LINES_TAIL) |
			    ((p[i] + l->shift) & ~LINES_TAIL);
		for (i = cell; i < l->pivot; i++)
			p[i] = (p[i] & LINES_TAIL) |
			    ((p[i] - l->shift) & ~LINES_TAIL);
	}
	l->pivot = cell;
}

/* Say where a cell's bytes begin, and whether it is a tail. */
static void
lines_set(struct lines *l, uint32_t cell, uint32_t byte, uint32_t tail)
{
	if (cell >= l->pivot)
		byte -= l->shift;
	l->start[cell] = (byte & ~LINES_TAIL) | tail;
}

/* Say that `n` cells from one on have a byte each, the first at `byte`. */
static void
lines_set_ones(struct lines *l, uint32_t cell, uint32_t byte, uint32_t n)
{
	uint32_t	i, before = 0;		/* the pivot */

	if (l->plain)
		return;
	if (cell < l->pivot)
		before = l->pivot - cell < n ? l->pivot - cell : n;
	for (i = 0; i < before; i++)
		l->start[cell + i] = byte + i;
	for (; i < n; i++)
		l->start[cell + i] = (byte + i - l->shift) & ~LINES_TAIL;
}

/* The cells from one on are taken away, up to the end. */
static void
lines_cut(struct lines *l, uint32_t cell)
{
	uint32_t	size = lines_byte(l, cell);

	if (l->pivot >= cell)
		l->pivot = l->shift = 0;	/* none lacked it */
	if (!l->plain)
		lines_set(l, cell, size, 0);
	l->size = size;
	l->cells = cell;
}

/* Move the bytes from a cell on by so many (mod 2^32); there is room. */
static void
lines_move_behind(struct lines *l, uint32_t cell, uint32_t delta)
{
	uint32_t	at = lines_byte(l, cell), to = at + delta;

	if (delta == 0)
		return;
	memmove(l->text + to, l->text + at, l->size - at);
	if (!l->plain) {
		lines_pivot(l, cell);
		l->shift += delta;
	}
	l->size += delta;
}

/*
 * Make cells [a, b) `n` cells of `m` bytes in all, which the caller fills and
 * sets.  There is room; neither end cuts a character in two.
 */
static void
lines_splice(struct lines *l, uint32_t a, uint32_t b, uint32_t n, uint32_t m)
{
	uint32_t	from = lines_byte(l, a), to = lines_byte(l, b);
	uint32_t	behind = l->cells - b, delta = from + m - to;

	assert(l->size + delta <= l->limit && a + n + behind <= l->limit);
	if (behind == 0) {
		lines_cut(l, a);
		l->cells += n;
		l->size += m;
		if (!l->plain)
			lines_set(l, l->cells, l->size, 0);
		return;
	}
	lines_move_behind(l, b, delta);
	if (n == b - a)
		return;
	if (!l->plain) {
		lines_pivot(l, b);
		memmove(l->start + a + n, l->start + b,
		    (behind + 1) * sizeof *l->start);
		l->pivot = a + n;
	}
	l->cells = a + n + behind;
}

/* Make cells [a, b) `n` spaces; there is room. */
static void
lines_blank(struct lines *l, uint32_t a, uint32_t b, uint32_t n)
{
	uint32_t	from = lines_byte(l, a);

	lines_splice(l, a, b, n, n);
	memset(l->text + from, ' ', n);
	lines_set_ones(l, a, from, n);
}

/* If a cell is the second half of a character, make both halves spaces. */
void
lines_split(struct lines *l, uint32_t cell)
{
	if (lines_is_tail(l, cell))
		lines_blank(l, cell - 1, cell + 1, 2);
}

/* Add spaces at the end; there is room. */
void
lines_append_blanks(struct lines *l, uint32_t n)
{
	lines_blank(l, l->cells, l->cells, n);
}

/* Add a cell without bytes; there is room. */
void
lines_append_filler(struct lines *l)
{
	lines_unplain(l);
	lines_set(l, ++l->cells, l->size, 0);
}

/*
 * Write ASCII from a cell on, over cells of one byte each or at the end;
 * there is room.  The cursor stays.
 */
void
lines_write_ascii(struct lines *l, uint32_t cell, const uint8_t *p, uint32_t n)
{
	uint32_t	from = lines_byte(l, cell);

	memcpy(l->text + from, p, n);
	lines_set_ones(l, cell, from, n + 1);
	if (cell + n > l->cells) {
		l->cells = cell + n;
		l->size = from + n;
	}
}

/* Take away the cells from one on. */
void
lines_truncate(struct lines *l, uint32_t cell)
{
	lines_split(l, cell);
	lines_cut(l, cell);
}

/*
 * Write a character of one or two cells at the cursor, which is not beyond
 * the text; it fits, and cuts no other character in two.
 */
void
lines_put(struct lines *l, const struct glyph *g)
{
	uint32_t	a = lines_cursor(l), b = a + g->width, from;

	assert(lines_fits(l, g) && !lines_is_tail(l, a) &&
	    !lines_is_tail(l, b));
	if (b > l->cells)
		b = l->cells;
	if (g->size != 1 || g->width != 1)
		lines_unplain(l);
	from = lines_byte(l, a);
	lines_splice(l, a, b, g->width, g->size);
	memcpy(l->text + from, g->bytes, g->size);
	if (!l->plain) {
		lines_set(l, a, from, 0);
		if (g->width == 2)
			lines_set(l, a + 1, from + g->size, LINES_TAIL);
	}
	l->column += g->width;
}

/*
 * How a character joins the cell before the cursor, as in tmux 3.7 and 3.8.
 * Before a mark the cursor is not beyond the text.
 */
enum join
lines_joins(const struct lines *l, const struct glyph *g)
{
	enum join	 alone = g->width == 0 ? JOIN_LOST : JOIN_NOT;
	uint32_t	 cursor = lines_cursor(l), cell, from, size;
	const uint8_t	*p;
	int		 narrow;	/* the cell before, as yet */

	if ((g->width != 0 && l->plain) || g->size < 2 ||
	    g->kind == CHAR_INITIAL || g->kind == CHAR_BROKEN ||
	    l->column <= lines_first_column(l) || cursor > l->cells ||
	    lines_is_tail(l, cursor))
		return (alone);
	cell = lines_edge(l, cursor - 1);
	narrow = cell + 1 == cursor;
	from = lines_byte(l, cell);
	size = lines_byte(l, cursor) - from;
	p = l->text + from;
	if (size + g->size > LINES_CELL || !lines_has_room(l, 0, g->size))
		return (alone);
	if (g->kind == CHAR_WIDENS ||
	    ((narrow || g->kind != CHAR_REGIONAL) &&
	    chars_pair(chars_first(p, size), g->kind)))
		return (narrow && l->column != l->width &&
		    cursor != l->limit ? JOIN_WIDEN : JOIN_ADD);
	if (g->width == 0 || chars_end_joining(p, size))
		return (JOIN_ADD);
	return (JOIN_NOT);
}

/* Join a mark to the cell before the cursor, which is not beyond the text. */
void
lines_combine(struct lines *l, const struct glyph *g)
{
	uint32_t	cell = lines_cursor(l), at;

	lines_unplain(l);
	at = lines_byte(l, cell);
	lines_move_behind(l, cell, g->size);
	memcpy(l->text + at, g->bytes, g->size);
}

/*
 * Join a character to the cell before the cursor, and make the cursor's cell
 * the second one of that: it held no half of another character.
 */
void
lines_widen(struct lines *l, const struct glyph *g)
{
	uint32_t	a = lines_cursor(l), from;

	lines_unplain(l);
	from = lines_byte(l, a);
	lines_splice(l, a, a < l->cells ? a + 1 : a, 1, g->size);
	memcpy(l->text + from, g->bytes, g->size);
	lines_set(l, a, from + g->size, LINES_TAIL);
	l->column++;
}

/* Erase cells [a, b). */
void
lines_erase(struct lines *l, uint32_t a, uint32_t b)
{
	uint32_t	kept;		/* bytes outside of them */

	lines_split(l, a);
	lines_split(l, b);
	if (b >= l->cells) {
		lines_truncate(l, a);
		return;
	}
	kept = l->size - (lines_byte(l, b) - lines_byte(l, a));
	if (b - a > l->limit - kept)
		lines_truncate(l, a);
	else
		lines_blank(l, a, b, b - a);
}

/*
 * Delete `n` cells at `a`, in a row that ends at `to` and is not the last:
 * what is behind it keeps its cells.
 */
static void
lines_delete_in_row(struct lines *l, uint32_t a, uint32_t to, uint32_t n)
{
	uint32_t	from = lines_byte(l, a), end = lines_byte(l, to), i;
	uint32_t	gone = lines_byte(l, a + n) - from;
	uint32_t	kept = end - from - gone;

	if (n > gone && !lines_has_room(l, 0, n - gone)) {
		lines_truncate(l, a);
		return;
	}
	memmove(l->text + from, l->text + from + gone, kept);
	lines_move_behind(l, to, n - gone);
	memset(l->text + from + kept, ' ', n);
	if (l->plain)
		return;
	lines_pivot(l, to);
	for (i = a; i < to - n; i++)
		l->start[i] = l->start[i + n] - gone;
	lines_set_ones(l, to - n, from + kept, n);
}

/* Take `n` cells away at the cursor; the rest of its row moves up. */
void
lines_delete(struct lines *l, uint32_t n)
{
	uint32_t	a = lines_cursor(l), from, to;

	(void)lines_row_span(l, &from, &to);
	if (n > to - a)
		n = to - a;
	lines_split(l, a);
	lines_split(l, a + n);
	lines_split(l, to);
	if (to == l->cells)
		lines_splice(l, a, a + n, 0, 0);
	else
		lines_delete_in_row(l, a, to, n);
}

/*
 * Insert `n` spaces at `a`, in a row that ends at `to` and is not the last:
 * what is behind it keeps its cells.
 */
static void
lines_insert_in_row(struct lines *l, uint32_t a, uint32_t to, uint32_t n)
{
	uint32_t	from = lines_byte(l, a), end = lines_byte(l, to), i;
	uint32_t	kept = lines_byte(l, to - n) - from;
	uint32_t	lost = end - from - kept;

	if (n > lost && !lines_has_room(l, 0, n - lost)) {
		lines_truncate(l, a);
		return;
	}
	if (n > lost)
		lines_move_behind(l, to, n - lost);
	memmove(l->text + from + n, l->text + from, kept);
	if (n < lost)
		lines_move_behind(l, to, n - lost);
	memset(l->text + from, ' ', n);
	if (l->plain)
		return;
	lines_pivot(l, to);
	for (i = to; i-- > a + n;)
		l->start[i] = l->start[i - n] + n;
	lines_set_ones(l, a, from, n);
}

/* Put `n` spaces in at the cursor; what leaves its row is lost. */
void
lines_insert(struct lines *l, uint32_t n)
{
	uint32_t	a = lines_cursor(l), from, to, room, lost = 0;

	(void)lines_row_span(l, &from, &to);
	room = l->width == 0 ? LINES_REACH : l->width - l->column;
	if (n > room)
		n = room;
	if (l->width != 0 && to - a > room - n)
		lost = to - a - (room - n);
	lines_split(l, a);
	lines_split(l, to - lost);
	lines_split(l, to);
	if (to != l->cells) {
		lines_insert_in_row(l, a, to, n);
		return;
	}
	lines_cut(l, to - lost);
	if (lines_has_room(l, n, n))
		lines_blank(l, a, a, n);
	else
		lines_truncate(l, a);
}

/*
 * The first of the last cells that have at most `bytes` bytes and are no more
 * than that.
 */
uint32_t
lines_tail(const struct lines *l, uint32_t bytes)
{
	uint32_t	cell, low, high = l->cells;

	low = l->cells > bytes ? l->cells - bytes : 0;
	if (l->plain)
		return (low);
	while (low < high) {
		cell = (low + high) / 2;
		if (l->size - lines_byte(l, cell) > bytes)
			low = cell + 1;
		else
			high = cell;
	}
	return (lines_is_tail(l, low) ? low + 1 : low);
}

/* Drop the first `n` cells; the cursor is at or behind the last one. */
void
lines_drop(struct lines *l, uint32_t n)
{
	uint32_t	cell = lines_cursor(l) - n, gone = lines_byte(l, n), i;

	memmove(l->text, l->text + gone, l->size - gone);
	if (!l->plain) {
		lines_pivot(l, l->cells + 1);
		l->pivot = l->shift = 0;
		for (i = 0; i + n <= l->cells; i++)
			l->start[i] = l->start[i + n] - gone;
	}
	l->size -= gone;
	l->cells -= n;
	l->row -= (int32_t)n;
	/* An endless row keeps its tab stops, and the numbers stay small. */
	if (l->width == 0 && l->row < 0)
		l->row = -(-l->row % TAB_STOP);
	l->column = (uint32_t)((int64_t)cell - l->row);
}
