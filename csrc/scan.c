/*
 * scan.c - the fused pass over one pane's bytes: escape sequences out, lines
 * edited, literals found.
 *
 * An operation that finds no room in the caller's arrays stays pending, with
 * what it has done so far kept, and is taken up by the next call: each step
 * below may be run again from its start.
 *
 * Decisions about what the sequences mean:
 *  - Only a line feed (or VT, FF) completes a line as such, in the last of
 *    its rows; the next line begins in the first column.  In a row before
 *    that it moves down, as shells use it.
 *  - Up and down move the cursor within the rows of the line; beyond them,
 *    and with all that addresses, scrolls or clears the screen, the cursor
 *    leaves the line.  A line without text is left without a trace.
 *  - ED 0 erases what the line has right of the cursor, ED 3 nothing.
 */

#include <stdlib.h>
#include <string.h>

#include "core.h"

/* Bytes of the longest character: what one write needs room for, in hits. */
#define SCAN_GLYPH 4

struct tw_scan *
tw_scan_new(const struct tw_literals *literals,
    const struct tw_options *options)
{
	struct tw_scan	*s;
	uint32_t	 limit = options->limit;

	if (limit == 0 || limit > TW_LINE_LIMIT)
		limit = TW_LINE_LIMIT;
	s = calloc(1, sizeof *s);
	if (s == NULL)
		return (NULL);
	s->literals = literals;
	s->loops = bulk_loops();
	s->context = options->context;
	if (s->context > limit / 4)
		s->context = limit / 4;
	s->keep = options->keep;
	s->pane = options->pane;
	s->replace = options->replace != 0;
	s->known = 1;
	if (literals != NULL)
		s->told = calloc(literals_longest(literals), sizeof *s->told);
	if (!lines_init(&s->lines, options->width, limit) ||
	    (literals != NULL && s->told == NULL)) {
		tw_scan_free(s);
		return (NULL);
	}
	return (s);
}

void
tw_scan_free(struct tw_scan *s)
{
	if (s == NULL)
		return;
	lines_free(&s->lines);
	free(s->told);
	free(s);
}

/* --- writing --- */

/* The write position is the cursor's now. */
static void
scan_wrote(struct tw_scan *s, uint32_t cell, uint32_t bytes)
{
	s->write_cell = cell;
	s->write += bytes;
	s->written = 1;
	s->total += bytes;
}

/* Make blanks up to the cursor, cutting lines on the way; 0: no room. */
static int
scan_blank(struct tw_scan *s, struct tw_out *out)
{
	struct lines	*l = &s->lines;
	uint32_t	 n, room;

	while (lines_cursor(l) > l->cells) {
		n = lines_cursor(l) - l->cells;
		room = l->limit - (l->cells > l->size ? l->cells : l->size);
		if (room != 0)
			lines_append_blanks(l, n < room ? n : room);
		else if (!version_end(s, TW_END_CUT, out))
			return (0);
	}
	return (1);
}

/* In a row that does not wrap: whether there is a place for a character. */
static int
scan_has_place(const struct tw_scan *s, uint32_t width)
{
	const struct lines	*l = &s->lines;

	return (!s->no_wrap || l->width == 0 ||
	    l->column + width <= l->width);
}

/* If the cursor's row is full go to the next one; 0: no room. */
static int
scan_wrap(struct tw_scan *s, uint32_t width, struct tw_out *out)
{
	struct lines	*l = &s->lines;

	if (l->width == 0 || l->column + width <= l->width)
		return (1);
	if (l->column < l->width) {
		/* A wide character and one column: that one stays unused. */
		if (!scan_blank(s, out))
			return (0);
		if (l->cells == l->limit && lines_cursor(l) == l->cells &&
		    !version_end(s, TW_END_CUT, out))
			return (0);
		if (lines_cursor(l) == l->cells)
			lines_append_filler(l);
	}
	l->row += (int32_t)l->width;
	l->column = 0;
	s->wrapped = 1;
	return (1);
}

/* Make room for a character at the cursor, at or before the text's end. */
static int
scan_fit(struct tw_scan *s, const struct glyph *g, struct tw_out *out)
{
	struct lines	*l = &s->lines;

	/* Halves of characters first: what is left of them takes room. */
	lines_split(l, lines_cursor(l));
	if (!s->insert || s->wrapped)
		lines_split(l, lines_cursor(l) + g->width);
	if (!lines_fits(l, g) && lines_cursor(l) < l->cells)
		lines_truncate(l, lines_cursor(l));
	return (lines_fits(l, g) || version_end(s, TW_END_CUT, out));
}

/* Write a character into the cell before the cursor; 0: no room. */
static int
scan_join(struct tw_scan *s, enum join how, struct tw_out *out)
{
	struct lines		*l = &s->lines;
	const struct glyph	*g = &s->glyph;
	uint32_t		 cell = lines_cursor(l);

	if (!version_edit(s, cell, out))
		return (0);
	if (how == JOIN_WIDEN)
		lines_split(l, cell + 1);
	if (!version_advance(s, lines_byte(l, cell), out) ||
	    !version_has_room(s, g->size, out))
		return (0);
	s->write = lines_byte(l, cell);
	if (how == JOIN_WIDEN)
		lines_widen(l, g);
	else
		lines_combine(l, g);
	(void)version_search(s, g->bytes, g->size, out);
	scan_wrote(s, cell + (how == JOIN_WIDEN), g->size);
	s->visible += g->width != 0 && !g->blank;
	return (1);
}

/* Write a mark: it joins the cell before the cursor; 0: no room. */
static int
scan_mark(struct tw_scan *s, struct tw_out *out)
{
	enum join	how;

	if (s->lines.column == 0)
		return (1);
	if (!scan_blank(s, out))
		return (0);
	how = lines_joins(&s->lines, &s->glyph);
	return (how == JOIN_LOST || scan_join(s, how, out));
}

/*
 * Insert mode: make room before a character is written; it fits after it.  As
 * in tmux a character that has wrapped is not inserted.
 */
static void
scan_shift(struct tw_scan *s, const struct glyph *g)
{
	struct lines	*l = &s->lines;

	if (!s->insert || s->wrapped || lines_cursor(l) == l->cells)
		return;
	lines_insert(l, g->width);
	if (!lines_fits(l, g))
		lines_truncate(l, lines_cursor(l));
}

/* Write a character at the cursor; 0: no room. */
static int
scan_put(struct tw_scan *s, struct tw_out *out)
{
	struct lines	*l = &s->lines;
	struct glyph	 g = s->glyph;
	enum join	 how;
	uint32_t	 cell;

	s->last = g;
	if (g.width == 0)
		return (scan_mark(s, out));
	if (!s->alone) {
		how = lines_joins(l, &g);
		if (how != JOIN_NOT)
			return (scan_join(s, how, out));
		s->alone = 1;
	}
	if (l->width == 1)
		g.width = 1;
	if (!scan_has_place(s, g.width)) {
		s->alone = 0;
		return (1);
	}
	if (!scan_wrap(s, g.width, out) ||
	    !scan_blank(s, out) ||
	    !version_edit(s, lines_edge(l, lines_cursor(l)), out) ||
	    !scan_fit(s, &g, out))
		return (0);
	cell = lines_cursor(l);
	if (!version_advance(s, lines_byte(l, cell), out) ||
	    !version_has_room(s, g.size, out))
		return (0);
	scan_shift(s, &g);
	s->alone = s->wrapped = 0;
	s->write = lines_byte(l, cell);
	lines_put(l, &g);
	if (s->no_wrap && l->width != 0 && l->column == l->width)
		l->column--;	/* never about to wrap */
	(void)version_search(s, g.bytes, g.size, out);
	scan_wrote(s, cell + g.width, g.size);
	s->visible += !g.blank;
	return (1);
}

/*
 * Write printable ASCII where the last write ended: no version ends and no
 * line is cut.  Returns how many bytes were written, 0 if it is not so simple.
 */
static size_t
scan_run(struct tw_scan *s, const uint8_t *p, size_t n, struct tw_out *out)
{
	struct lines	*l = &s->lines;
	uint32_t	 cell = lines_cursor(l), room;

	if (cell != s->write_cell || s->insert || s->no_wrap ||
	    (!l->plain && cell != l->cells))
		return (0);
	if (s->literals != NULL && (!s->known || s->at != s->write))
		return (0);
	room = l->limit - (cell > s->write ? cell : s->write);
	if (n > room)
		n = room;
	n = version_search(s, p, n, out);
	if (n == 0)
		return (0);
	lines_write_ascii(l, cell, p, (uint32_t)n);
	lines_wrote(l, (uint32_t)n);
	scan_wrote(s, cell + (uint32_t)n, (uint32_t)n);
	s->visible += s->loops->visible(p, n);
	s->last.bytes[0] = p[n - 1];
	s->last.size = s->last.width = 1;
	s->last.kind = CHAR_NARROW;
	s->last.blank = p[n - 1] == ' ';
	return (n);
}

/* --- operations --- */

/* A line without text goes without a trace. */
static void
scan_forget(struct tw_scan *s)
{
	lines_clear(&s->lines);
	s->write_cell = 0;
	s->saved_here = 0;
}

/* The cursor leaves the line for a column (from 1; 0: its own); 0: no room. */
static int
scan_leave(struct tw_scan *s, uint32_t column, struct tw_out *out)
{
	struct lines	*l = &s->lines;

	if (column == 0)
		column = l->column + 1;
	if (l->size != 0) {
		if (!version_end(s, TW_END_LEFT, out))
			return (0);
	} else
		scan_forget(s);
	lines_to_column(l, column - 1);
	return (1);
}

/* Up or down so many rows; 0: no room. */
static int
scan_vertical(struct tw_scan *s, int64_t rows, struct tw_out *out)
{
	return (lines_vertical(&s->lines, rows) || scan_leave(s, 0, out));
}

/* As CUU and CUD do it: a row that is full is no longer about to wrap. */
static int
scan_move(struct tw_scan *s, int64_t rows, int start, struct tw_out *out)
{
	struct lines	*l = &s->lines;

	if (start)
		lines_to_column(l, 0);
	else if (l->width != 0 && l->column == l->width)
		l->column--;
	return (scan_vertical(s, rows, out));
}

/* Erase cells [from, to) of the line; 0: no room. */
static int
scan_erase(struct tw_scan *s, uint32_t from, uint32_t to, struct tw_out *out)
{
	if (to > s->lines.cells)
		to = s->lines.cells;
	if (from >= to)
		return (1);
	if (!version_edit(s, lines_edge(&s->lines, from), out))
		return (0);
	lines_erase(&s->lines, from, to);
	return (1);
}

/* EL; 0: no room. */
static int
scan_erase_line(struct tw_scan *s, uint32_t which, struct tw_out *out)
{
	uint32_t	cell = lines_cursor(&s->lines), from, to;
	int		inside = lines_row_span(&s->lines, &from, &to);

	switch (which) {
	case 0:
		return (!inside || scan_erase(s, cell, to, out));
	case 1:
		return (scan_erase(s, from, inside && cell < to ? cell + 1 :
		    to, out));
	case 2:
		return (scan_erase(s, from, to, out));
	}
	return (1);
}

/* ED; 0: no room. */
static int
scan_erase_screen(struct tw_scan *s, uint32_t which, struct tw_out *out)
{
	if (which == 0)
		return (scan_erase(s, lines_cursor(&s->lines), s->lines.cells,
		    out));
	return (which > 2 || scan_leave(s, 0, out));
}

/* ECH, DCH and ICH; 0: no room. */
static int
scan_cells(struct tw_scan *s, enum op op, uint32_t n, struct tw_out *out)
{
	struct lines	*l = &s->lines;
	uint32_t	 cell = lines_cursor(l), from, to;

	if (!lines_row_span(l, &from, &to) || cell >= to)
		return (1);
	if (op == OP_ERASE)
		return (scan_erase(s, cell, n < to - cell ? cell + n : to,
		    out));
	if (!version_edit(s, lines_edge(l, cell), out))
		return (0);
	if (op == OP_DELETE)
		lines_delete(l, n);
	else
		lines_insert(l, n);
	return (1);
}

/* Write a byte of ASCII up to s->n times, as far as it is simple. */
static void
scan_repeat_run(struct tw_scan *s, struct tw_out *out)
{
	uint8_t		run[64];
	size_t		n;

	memset(run, s->glyph.bytes[0], sizeof run);
	do {
		n = scan_run(s, run, s->n < sizeof run ? s->n : sizeof run,
		    out);
		s->n -= (uint32_t)n;
	} while (n != 0 && s->n != 0);
}

/* Write the last character s->n times more; 0: no room, s->n are left. */
static int
scan_repeat(struct tw_scan *s, struct tw_out *out)
{
	s->glyph = s->last;
	while (s->n != 0 && s->glyph.size != 0) {
		if (s->glyph.bytes[0] < 0x80)
			scan_repeat_run(s, out);
		if (s->n == 0)
			break;
		if (!scan_put(s, out))
			return (0);
		s->n--;
	}
	s->last.size = 0;	/* as in tmux: once */
	return (1);
}

/* How often REP may repeat: to the end of the row. */
static uint32_t
scan_repeat_limit(const struct tw_scan *s)
{
	const struct lines	*l = &s->lines;

	return (l->width == 0 ? LINES_REACH : l->width - l->column);
}

/* Remember where the cursor is. */
static void
scan_save(struct tw_scan *s)
{
	s->saved_here = 1;
	s->saved_row = s->lines.row;
	s->saved_column = s->lines.column;
}

/* Put the cursor back, in this line or wherever that was; 0: no room. */
static int
scan_restore(struct tw_scan *s, struct tw_out *out)
{
	if (!s->saved_here)
		return (scan_leave(s, s->saved_column + 1, out));
	s->lines.row = s->saved_row;
	s->lines.column = s->saved_column;
	if (s->lines.width != 0 && s->saved_column == s->lines.width)
		lines_to_column(&s->lines, s->lines.width - 1);	/* as tmux */
	return (1);
}

/* Switch to or from the alternate screen; 0: no room. */
static int
scan_alternate(struct tw_scan *s, uint32_t on, struct tw_out *out)
{
	uint32_t	column = s->lines.column;

	if (!scan_leave(s, on ? 0 : s->main_column + 1, out))
		return (0);
	if (on) {
		s->main_column = column;
		s->alternate = 1;
	}
	return (1);
}

/* A line feed, which only moves down in the middle of a line; 0: no room. */
static int
scan_line_feed(struct tw_scan *s, struct tw_out *out)
{
	if (lines_vertical(&s->lines, 1))
		return (1);
	if (!version_end(s, TW_END_LINE, out))
		return (0);
	s->total++;
	return (1);
}

/* Do the pending operation; 0: no room, it stays pending. */
static int
scan_step(struct tw_scan *s, struct tw_out *out)
{
	struct lines	*l = &s->lines;

	switch (s->op) {
	case OP_NONE:
	case OP_TEXT:
		return (1);
	case OP_PUT:
		return (scan_put(s, out));
	case OP_LINE_FEED:
		return (scan_line_feed(s, out));
	case OP_RETURN:
		lines_to_column(l, 0);
		return (1);
	case OP_BACKSPACE:
		lines_backspace(l);
		return (1);
	case OP_TAB:
		lines_tab(l);
		return (1);
	case OP_TAB_BACK:
		lines_tab_back(l, s->n);
		return (1);
	case OP_TAB_SET:
		lines_tab_set(l, 1);
		return (1);
	case OP_TAB_CLEAR:
		if (s->n == 0)
			lines_tab_set(l, 0);
		else if (s->n == 3)
			lines_tab_clear(l);
		return (1);
	case OP_RIGHT:
		lines_right(l, s->n);
		return (1);
	case OP_LEFT:
		lines_left(l, s->n);
		return (1);
	case OP_COLUMN:
		lines_to_column(l, s->n - 1);
		return (1);
	case OP_UP:
		return (scan_move(s, -(int64_t)s->n, 0, out));
	case OP_DOWN:
		return (scan_move(s, s->n, 0, out));
	case OP_UP_START:
		return (scan_move(s, -(int64_t)s->n, 1, out));
	case OP_DOWN_START:
		return (scan_move(s, s->n, 1, out));
	case OP_REVERSE_INDEX:
		return (scan_vertical(s, -1, out));
	case OP_INDEX:
		return (scan_vertical(s, 1, out));
	case OP_ERASE_LINE:
		return (scan_erase_line(s, s->n, out));
	case OP_ERASE_SCREEN:
		return (scan_erase_screen(s, s->n, out));
	case OP_ERASE:
	case OP_DELETE:
	case OP_INSERT:
		return (scan_cells(s, s->op, s->n, out));
	case OP_REPEAT:
		return (scan_repeat(s, out));
	case OP_SAVE:
		scan_save(s);
		return (1);
	case OP_RESTORE:
		return (scan_restore(s, out));
	case OP_INSERT_MODE:
		s->insert = s->n != 0;
		return (1);
	case OP_WRAP_MODE:
		s->no_wrap = s->n == 0;
		return (1);
	case OP_ALTERNATE:
		return (scan_alternate(s, s->n, out));
	case OP_RESET:
		s->insert = s->no_wrap = 0;
		lines_tab_reset(l);
		return (scan_leave(s, 1, out));
	case OP_LEAVE:
		return (scan_leave(s, s->n, out));
	}
	return (1);
}

/* Do what is pending, if anything; 0: no room. */
static int
scan_resume(struct tw_scan *s, struct tw_out *out)
{
	if (!scan_step(s, out)) {
		out->full = 1;
		return (0);
	}
	s->op = OP_NONE;
	return (1);
}

/* --- bytes --- */

/* Write a byte of ASCII where it is not simple. */
static void
scan_ascii(struct tw_scan *s, uint8_t byte, struct tw_out *out)
{
	s->glyph.bytes[0] = byte;
	s->glyph.size = s->glyph.width = 1;
	s->glyph.kind = CHAR_NARROW;
	s->glyph.blank = byte == ' ';
	s->op = OP_PUT;
	(void)scan_resume(s, out);
}

/* What is not UTF-8 shows as U+FFFD. */
static void
scan_broken(struct tw_scan *s)
{
	static const uint8_t	replacement[] = { 0xef, 0xbf, 0xbd };

	if (!s->replace)
		return;
	memcpy(s->glyph.bytes, replacement, sizeof replacement);
	s->glyph.size = sizeof replacement;
}

/* A byte of UTF-8; returns whether it was taken. */
static size_t
scan_utf8(struct tw_scan *s, uint8_t byte, struct tw_out *out)
{
	enum utf8_result	result = utf8_next(&s->utf8, byte, &s->glyph);

	if (result == UTF8_MORE ||
	    (result == UTF8_DONE && s->glyph.width == WIDTH_CONTROL))
		return (1);
	if (result == UTF8_STOP || s->glyph.size == 1)
		scan_broken(s);
	s->op = OP_PUT;
	(void)scan_resume(s, out);
	return (result == UTF8_DONE);
}

/* Write what has come of a broken character. */
static void
scan_stop(struct tw_scan *s, struct tw_out *out)
{
	utf8_stop(&s->utf8, &s->glyph);
	scan_broken(s);
	s->op = OP_PUT;
	(void)scan_resume(s, out);
}

/* Any byte that is not in a run of text; returns whether it was taken. */
static size_t
scan_byte(struct tw_scan *s, uint8_t byte, struct tw_out *out)
{
	if (s->utf8.size != 0 && byte < 0x80) {
		scan_stop(s, out);
		return (0);
	}
	s->op = escape_next(&s->escape, byte, &s->n);
	if (s->op == OP_TEXT) {
		s->op = OP_NONE;
		return (scan_utf8(s, byte, out));
	}
	if (s->op == OP_REPEAT && s->n > scan_repeat_limit(s))
		s->n = scan_repeat_limit(s);
	if (s->op != OP_REPEAT && byte != 0x7f && byte != 0x1b &&
	    (byte < 0x20 || s->escape.state == ESCAPE_GROUND))
		s->last.size = 0;	/* as tmux does */
	if (s->op != OP_NONE)
		(void)scan_resume(s, out);
	return (1);
}

/* Printable ASCII in the ground state; returns how many bytes were taken. */
static size_t
scan_text(struct tw_scan *s, const uint8_t *p, size_t n, struct tw_out *out)
{
	size_t	done = scan_run(s, p, n, out);

	if (done != 0)
		return (done);
	scan_ascii(s, *p, out);
	return (1);
}

/* Empty the caller's arrays. */
void
scan_begin(struct tw_out *out)
{
	out->hits_size = out->versions_size = out->text_size = 0;
	out->full = 0;
}

/* Feed without emptying the caller's arrays. */
size_t
scan_feed(struct tw_scan *s, const uint8_t *p, size_t size,
    struct tw_out *out)
{
	size_t	i = 0, n, stop, slow = 0, plain = 0;

	if (s->op != OP_NONE && !scan_resume(s, out))
		return (0);
	while (i < size && !out->full) {
		/* Up to `slow` there is something that bulk.c does not take. */
		if (i >= slow) {
			n = bulk_feed(s, p + i, size - i, out, &stop);
			i += n;
			slow = i + stop;
			if (n != 0)
				continue;
		}
		/* Up to `plain` there is printable ASCII: looked at once. */
		if (i >= plain && s->escape.state == ESCAPE_GROUND &&
		    s->utf8.size == 0)
			plain = i + s->loops->plain(p + i, size - i);
		if (i < plain)
			i += scan_text(s, p + i, plain - i, out);
		else
			i += scan_byte(s, p[i], out);
	}
	return (i);
}

size_t
tw_scan_feed(struct tw_scan *s, const uint8_t *data, size_t size,
    struct tw_out *out)
{
	scan_begin(out);
	return (scan_feed(s, data, size, out));
}

/* Finish without emptying the caller's arrays. */
void
scan_finish(struct tw_scan *s, struct tw_out *out)
{
	if (s->op != OP_NONE && !scan_resume(s, out))
		return;
	if (s->utf8.size != 0) {
		scan_stop(s, out);
		if (out->full)
			return;
	}
	if (s->lines.size == 0)
		scan_forget(s);
	else if (!version_end(s, TW_END_FINISHED, out))
		out->full = 1;
}

void
tw_scan_finish(struct tw_scan *s, struct tw_out *out)
{
	scan_begin(out);
	scan_finish(s, out);
}

void
tw_scan_resize(struct tw_scan *s, uint32_t width)
{
	if (width == s->lines.width)
		return;
	lines_place(&s->lines, lines_cursor(&s->lines), width);
	lines_tab_reset(&s->lines);
	s->saved_here = 0;
}

void
tw_scan_seed(struct tw_scan *s, const uint8_t *text, size_t size,
    uint32_t cursor)
{
	const struct tw_literals	*literals = s->literals;
	uint32_t			 keep = s->keep;
	struct tw_out			 none = { 0 };
	struct lines			*l = &s->lines;

	/* Written like any text, but nobody hears of it. */
	s->literals = NULL;
	s->keep = 0;
	(void)tw_scan_feed(s, text, size, &none);
	if (s->utf8.size != 0)
		scan_stop(s, &none);
	s->literals = literals;
	s->keep = keep;
	memset(&s->escape, 0, sizeof s->escape);
	if (cursor > l->cells + LINES_REACH)
		cursor = l->cells + LINES_REACH;
	lines_place(l, cursor, l->width);
	s->write_cell = cursor < l->cells ? lines_edge(l, cursor) : l->cells;
	s->write = s->changed = lines_byte(l, s->write_cell);
	s->version = s->total = s->visible = 0;
	s->carried = s->hits = 0;
	s->written = s->known = 0;
	s->last.size = 0;
}

/* Begin anew, for another pane; versions count from `version`. */
void
scan_reset(struct tw_scan *s, uint32_t pane, uint64_t version)
{
	struct tw_scan	old = *s;

	memset(s, 0, sizeof *s);
	s->literals = old.literals;
	s->loops = old.loops;
	s->lines = old.lines;
	s->context = old.context;
	s->keep = old.keep;
	s->replace = old.replace;
	s->told = old.told;
	s->known = 1;
	s->pane = pane;
	s->version = version;
	lines_clear(&s->lines);
	lines_tab_reset(&s->lines);
}

void
tw_scan_now(const struct tw_scan *s, struct tw_now *now)
{
	now->text = s->lines.text;
	now->version = s->version;
	now->visible = s->visible;
	now->size = s->lines.size;
	now->write = s->write;
	now->alternate = s->alternate;
	now->unused = 0;
}
