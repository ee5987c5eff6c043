/*
 * versions.c - where a version of a line begins and ends, and which literals
 * are in it.
 *
 * A version's writes only go forward: its write position is the end of the
 * last one.  An edit before the write position ends the version, and the next
 * one begins there.  What stands to the right of the write position is left
 * over from older versions.
 *
 * A literal is a hit of a version if it holds a byte written in that version.
 * It counts at once if it ends at or before the write position, otherwise
 * when the version ends (or in a quiet moment).  A line feed between lines
 * counts as written in the line that it ends.
 *
 * Work for one version: the bytes written, what was passed over, and the
 * longest literal to either side, however long the line.
 */

#include <string.h>

#include "core.h"

/* Whether the caller has room for the hits that so many bytes can give. */
int
version_has_room(const struct tw_scan *s, uint32_t bytes,
    const struct tw_out *out)
{
	return (s->literals == NULL || out->hits_room - out->hits_size >=
	    bytes * literals_count(s->literals));
}

/* Bytes after a write that a literal with a byte of it can reach. */
static uint32_t
version_reach(const struct tw_scan *s)
{
	return (literals_longest(s->literals) - 1);
}

/* Whether a hit was told in a quiet moment; remember it if it is one. */
static int
version_told(struct tw_scan *s, uint32_t literal, uint32_t end, int quiet)
{
	uint64_t	bit = UINT64_C(1) << literal, *told;

	if (!s->telling || end <= s->told_from ||
	    end - s->told_from > version_reach(s))
		return (0);
	told = &s->told[end - s->told_from - 1];
	if ((*told & bit) != 0)
		return (1);
	if (quiet)
		*told |= bit;
	return (0);
}

/* How a hit came to count. */
enum how {
	WRITTEN,	/* its last byte was written now */
	PASSED,		/* the write position passes over its last byte */
	LEFT_OVER,	/* the version ends */
	QUIET
};

/* Report the literals that end at a byte; there is room. */
static void
version_hits(struct tw_scan *s, uint64_t ends, uint32_t end, uint64_t offset,
    enum how how, struct tw_out *out)
{
	struct tw_hit	*hit;
	int32_t		 start;
	uint32_t	 literal;

	for (literal = 0; ends != 0; literal++, ends >>= 1) {
		if ((ends & 1) == 0)
			continue;
		start = (int32_t)end -
		    (int32_t)literals_size(s->literals, literal);
		if (how != WRITTEN && start >= (int32_t)s->write)
			continue;
		if (version_told(s, literal, end, how == QUIET))
			continue;
		hit = &out->hits[out->hits_size++];
		hit->version = s->version;
		hit->offset = offset;
		hit->start = start;
		hit->end = (int32_t)end;
		hit->pane = s->pane;
		hit->literal = (uint16_t)literal;
		hit->complete = how == LEFT_OVER || how == QUIET;
		s->hits++;
	}
}

/* Go over the line's text up to byte `to` without a look at what ends. */
static void
version_skip(struct tw_scan *s, uint32_t to)
{
	uint64_t	ends;

	while (s->at < to)
		s->at += (uint32_t)literals_run(s->literals, &s->node,
		    s->lines.text + s->at, to - s->at, &ends);
}

/* Bring the search to byte `to`, telling nothing. */
static void
version_seek(struct tw_scan *s, uint32_t to)
{
	uint32_t	reach = version_reach(s);

	if (!s->known || s->at > to || to - s->at > reach) {
		s->at = to > reach ? to - reach : 0;
		s->node = s->at == 0 ? s->line_node : LITERALS_ROOT;
		s->known = 1;
	}
	version_skip(s, to);
}

/* Search what is left over, up to byte `to` at most; 0: no room. */
static int
version_left_over(struct tw_scan *s, uint32_t to, enum how how,
    struct tw_out *out)
{
	uint64_t	ends;

	if (!s->written)
		return (1);
	if (to - s->write > version_reach(s))
		to = s->write + version_reach(s);
	if (!s->known)
		version_seek(s, s->write);
	while (s->at < to) {
		if (!version_has_room(s, 1, out))
			return (0);
		s->at += (uint32_t)literals_run(s->literals, &s->node,
		    s->lines.text + s->at, to - s->at, &ends);
		if (ends != 0)
			version_hits(s, ends, s->at, s->total, how, out);
	}
	return (1);
}

/* Before a write at byte `to`: pass over what is left over; 0: no room. */
int
version_advance(struct tw_scan *s, uint32_t to, struct tw_out *out)
{
	if (s->literals == NULL)
		return (1);
	if (to > s->write && !version_left_over(s, to, PASSED, out))
		return (0);
	version_seek(s, to);
	return (1);
}

/*
 * Search bytes about to be written at the write position, as far as there is
 * room for hits; returns how far.
 */
size_t
version_search(struct tw_scan *s, const uint8_t *p, size_t n,
    struct tw_out *out)
{
	size_t		done = 0;
	uint64_t	ends;

	if (s->literals == NULL)
		return (n);
	while (done < n && version_has_room(s, 1, out)) {
		done += literals_run(s->literals, &s->node, p + done,
		    n - done, &ends);
		if (ends != 0)
			version_hits(s, ends, s->write + (uint32_t)done,
			    s->total + done, WRITTEN, out);
	}
	s->at = s->write + (uint32_t)done;
	return (done);
}

/* The line feed after a line. */
static void
version_line_feed(struct tw_scan *s, enum tw_version_end end,
    struct tw_out *out)
{
	uint64_t	ends;
	uint32_t	left_over = s->write < s->lines.size;

	if (s->literals == NULL)
		return;
	version_seek(s, s->lines.size);
	(void)literals_run(s->literals, &s->node, (const uint8_t *)"\n", 1,
	    &ends);
	if (ends == 0)
		return;
	s->write = s->lines.size + 1;	/* it is written, at the line's end */
	version_hits(s, ends, s->lines.size + 1,
	    s->total + (end == TW_END_LINE), left_over ? LEFT_OVER : WRITTEN,
	    out);
}

/* Whether a byte is one of a character, but not its first. */
static int
version_inside(const struct lines *l, uint32_t at)
{
	return (at < l->size && (l->text[at] & 0xc0) == 0x80);
}

/* What of the line's text a version's record holds. */
static void
version_window(const struct tw_scan *s, enum tw_version_end end,
    uint32_t *from, uint32_t *to)
{
	const struct lines	*l = &s->lines;
	int			 i;

	*from = 0;
	*to = l->size;
	if (s->keep & TW_KEEP_PLAIN) {
		*from = s->carried;
		return;
	}
	if (end != TW_END_REDRAWN)
		return;
	if (s->changed > s->context)
		*from = s->changed - s->context;
	if (l->size - s->write > s->context)
		*to = s->write + s->context;
	/* Characters stay whole. */
	for (i = 0; i < 3 && *from > 0 && version_inside(l, *from); i++)
		--*from;
	for (i = 0; i < 3 && version_inside(l, *to); i++)
		++*to;
}

/* Whether a version that ends so is to be kept, once its hits are known. */
static int
version_kept(const struct tw_scan *s, enum tw_version_end end)
{
	if (s->keep & TW_KEEP_HIT)
		return (s->hits != 0);
	if (end == TW_END_REDRAWN)
		return ((s->keep & TW_KEEP_REDRAWN) != 0);
	return ((s->keep & (TW_KEEP_FINAL | TW_KEEP_PLAIN)) != 0);
}

/* Whether there is room for a version's record, text and last hits. */
static int
version_record_room(const struct tw_scan *s, enum tw_version_end end,
    const struct tw_out *out)
{
	uint32_t	from, to;

	if (!version_has_room(s, 1, out))
		return (0);
	if (!version_kept(s, end) && !(s->keep & TW_KEEP_HIT))
		return (1);
	version_window(s, end, &from, &to);
	if (out->text_room - out->text_size < to - from + 1)
		return (0);
	return ((s->keep & TW_KEEP_PLAIN) != 0 ||
	    out->versions_room != out->versions_size);
}

/* Write a version's record; there is room. */
static void
version_record(struct tw_scan *s, enum tw_version_end end, uint32_t write,
    struct tw_out *out)
{
	struct tw_version	*v;
	uint32_t		 from, to, at;

	if (!version_kept(s, end))
		return;
	version_window(s, end, &from, &to);
	at = out->text_size;
	memcpy(out->text + at, s->lines.text + from, to - from);
	out->text_size += to - from;
	out->text[out->text_size++] = '\n';
	if (s->keep & TW_KEEP_PLAIN)
		return;
	v = &out->versions[out->versions_size++];
	v->version = s->version;
	v->text = at;
	v->size = to - from;
	v->start = from;
	v->length = s->lines.size;
	v->write = write;
	v->carried = s->carried;
	v->pane = s->pane;
	v->end = end;
}

/* Begin the next line with the last bytes of the one that is cut. */
static void
version_carry(struct tw_scan *s)
{
	struct lines	*l = &s->lines;
	uint32_t	 cell = lines_tail(l, s->context);

	if (s->literals != NULL) {
		version_seek(s, lines_byte(l, cell));
		s->line_node = s->node;
		version_skip(s, l->size);
	}
	lines_drop(l, cell);
	if (s->saved_here) {
		s->saved_row -= (int32_t)cell;
		if (s->saved_row + (int64_t)s->saved_column < 0)
			s->saved_here = 0;
	}
	s->at = s->write = s->changed = s->carried = l->size;
	s->write_cell = l->cells;
}

/* Begin an empty line. */
static void
version_clear(struct tw_scan *s, enum tw_version_end end)
{
	lines_clear(&s->lines);
	if (end == TW_END_FINISHED)
		s->node = LITERALS_ROOT;
	s->line_node = s->node;
	s->known = 1;
	s->at = s->write = s->changed = s->carried = s->write_cell = 0;
	s->saved_here = 0;
}

/* The version ends; 0: no room, nothing has ended yet. */
int
version_end(struct tw_scan *s, enum tw_version_end end, struct tw_out *out)
{
	uint32_t	write = s->write;

	if (s->literals != NULL &&
	    !version_left_over(s, s->lines.size, LEFT_OVER, out))
		return (0);
	if (!version_record_room(s, end, out))
		return (0);
	if (end == TW_END_LINE || end == TW_END_LEFT)
		version_line_feed(s, end, out);
	version_record(s, end, write, out);
	s->version++;
	s->hits = 0;
	s->written = s->telling = 0;
	switch (end) {
	case TW_END_LINE:
	case TW_END_LEFT:
	case TW_END_FINISHED:
		version_clear(s, end);
		break;
	case TW_END_CUT:
		version_carry(s);
		break;
	case TW_END_REDRAWN:
		break;		/* version_edit says where the next begins */
	}
	return (1);
}

/* Before an edit at a cell: it may begin a new version; 0: no room. */
int
version_edit(struct tw_scan *s, uint32_t cell, struct tw_out *out)
{
	if (cell >= s->write_cell)
		return (1);
	if (!version_end(s, TW_END_REDRAWN, out))
		return (0);
	s->write_cell = cell;
	s->write = s->changed = lines_byte(&s->lines, cell);
	if (s->carried > s->write)
		s->carried = s->write;
	s->known = 0;
	return (1);
}

/* Move what was told before, so that it counts from the write position. */
static void
version_tell_from(struct tw_scan *s)
{
	uint32_t	reach = version_reach(s), by;

	by = s->telling ? s->write - s->told_from : reach;
	if (by > reach)
		by = reach;
	memmove(s->told, s->told + by, (reach - by) * sizeof *s->told);
	memset(s->told + (reach - by), 0, by * sizeof *s->told);
	s->told_from = s->write;
	s->telling = 1;
}

void
tw_scan_quiet(struct tw_scan *s, struct tw_out *out)
{
	out->hits_size = out->versions_size = out->text_size = 0;
	out->full = 0;
	if (s->literals == NULL || !s->written || s->write == s->lines.size ||
	    version_reach(s) == 0)
		return;
	version_tell_from(s);
	if (!version_left_over(s, s->lines.size, QUIET, out))
		out->full = 1;
	/* The version goes on at its write position. */
	s->known = 0;
}
