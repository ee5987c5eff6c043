/*
 * control.c - what a tmux control client (tmux -C) writes: lines.
 *
 * Source: the tmux manual, "CONTROL MODE", and what tmux 3.1c to 3.8 write:
 *	%output %PANE DATA
 *	%extended-output %PANE AGE ... : DATA
 *	%begin TIME NUMBER FLAGS, the reply's lines, %end or %error likewise
 *	%NAME ARGUMENTS
 * DATA has octal escapes: see unescape.c.
 *
 * Decisions:
 *  - CR before LF is no part of any line; the DCS that tmux -CC begins with
 *    is passed over.
 *  - In a reply every line is its body but the %end or %error with its own
 *    time and number.
 *  - Output is an event for each line, and for each TW_OUTPUT_LIMIT bytes of
 *    a longer one.  The body of a reply is kept up to TW_BODY_LIMIT bytes,
 *    any other line up to TW_OUTPUT_LIMIT; the rest is dropped.
 *  - A line that is none of the above is a notification as it stands, and an
 *    empty one is nothing.
 */

#include <stdlib.h>
#include <string.h>

#include "core.h"

enum state {
	HEAD,		/* the beginning of a line, in `head` */
	DATA,		/* in the data of an output line */
	TEXT		/* in another line, longer than `head` */
};

static const uint8_t control_cr[] = { '\r' };

/* A word of the head that is expected there. */
static int
control_word(const uint8_t **p, const uint8_t *end, const char *word)
{
	size_t	n = strlen(word);

	if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
		return (0);
	*p += n;
	return (1);
}

/* A decimal number of the head, up to `most`. */
static int
control_number(const uint8_t **p, const uint8_t *end, uint64_t most,
    uint64_t *number)
{
	const uint8_t	*begin = *p;

	*number = 0;
	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		if (*number > (most - (**p - '0')) / 10)
			return (0);
		*number = *number * 10 + (**p - '0');
	}
	return (*p != begin);
}

/* The head of an output line, if the input begins with all of it. */
static int
control_whole_head(struct control *c, struct slice *in)
{
	const uint8_t	*p = in->bytes, *end = p + in->size;
	uint64_t	 pane;

	if (!control_word(&p, end, "%output %") ||
	    !control_number(&p, end, UINT32_MAX, &pane) ||
	    !control_word(&p, end, " "))
		return (0);
	c->pane = (uint32_t)pane;
	c->state = DATA;
	in->bytes = p;
	in->size = (size_t)(end - p);
	return (1);
}

/* Whether the head is all that comes before an output line's data. */
static int
control_is_output(struct control *c)
{
	const uint8_t	*p = c->head, *end = p + c->head_size;
	uint64_t	 pane;
	int		 extended;

	extended = control_word(&p, end, "%extended-output %");
	if (!extended && !control_word(&p, end, "%output %"))
		return (0);
	if (!control_number(&p, end, UINT32_MAX, &pane) ||
	    !control_word(&p, end, " "))
		return (0);
	if (extended && (end - p < 2 || memcmp(end - 2, ": ", 2) != 0 ||
	    (end - p > 2 && end[-3] != ' ')))
		return (0);
	c->pane = (uint32_t)pane;
	return (extended || p == end);
}

/* The three numbers after %begin, %end and %error. */
static int
control_guard(const uint8_t *p, const uint8_t *end, uint64_t *time,
    uint64_t *number, uint64_t *flags)
{
	return (control_number(&p, end, UINT64_MAX, time) &&
	    control_word(&p, end, " ") &&
	    control_number(&p, end, UINT64_MAX, number) &&
	    control_word(&p, end, " ") &&
	    control_number(&p, end, UINT64_MAX, flags) && p == end);
}

/* A whole line in the head, outside of replies. */
static enum control_item
control_line(struct control *c)
{
	const uint8_t	*p = c->head, *end = p + c->head_size;

	if (!control_word(&p, end, "%begin ") ||
	    !control_guard(p, end, &c->time, &c->number, &c->flags))
		return (CONTROL_NOTE);
	c->reply = 1;
	return (CONTROL_BEGIN);
}

/* A whole line in the head, in a reply. */
static enum control_item
control_body(struct control *c)
{
	const uint8_t	*p = c->head, *end = p + c->head_size;
	uint64_t	 time, number, flags;

	c->ok = (uint8_t)control_word(&p, end, "%end ");
	if ((!c->ok && !control_word(&p, end, "%error ")) ||
	    !control_guard(p, end, &time, &number, &flags) ||
	    time != c->time || number != c->number)
		return (CONTROL_BODY_END);
	c->reply = 0;
	return (CONTROL_REPLY);
}

/* The line in the head has ended. */
static enum control_item
control_head_end(struct control *c, struct slice *out)
{
	enum control_item	item;

	if (c->head_size != 0 && c->head[c->head_size - 1] == '\r')
		c->head_size--;
	item = c->reply ? control_body(c) : control_line(c);
	out->bytes = c->head;
	out->size = c->head_size;
	c->head_size = 0;
	return (item);
}

/* The line is no output and too long for the head. */
static enum control_item
control_head_full(struct control *c, struct slice *out)
{
	out->bytes = c->head;
	out->size = c->head_size;
	c->head_size = 0;
	if (out->bytes[out->size - 1] == '\r') {
		c->cr = 1;
		out->size--;
	}
	c->state = TEXT;
	return (CONTROL_TEXT);
}

/* At the beginning of a line. */
static enum control_item
control_head(struct control *c, struct slice *in, struct slice *out)
{
	uint8_t	byte;

	if (c->head_size == 0 && !c->reply && control_whole_head(c, in))
		return (CONTROL_OUTPUT);
	while (in->size != 0) {
		byte = *in->bytes++;
		in->size--;
		if (byte == '\n')
			return (control_head_end(c, out));
		c->head[c->head_size++] = byte;
		if (byte == ' ' && !c->reply && control_is_output(c)) {
			c->head_size = 0;
			c->state = DATA;
			return (CONTROL_OUTPUT);
		}
		if (byte == 'p' && c->head_size == 7 && !c->reply &&
		    memcmp(c->head, "\033P1000p", 7) == 0)
			c->head_size = 0;
		if (c->head_size == CONTROL_HEAD)
			return (control_head_full(c, out));
	}
	return (CONTROL_NOTHING);
}

/* How the line that is not in the head ends. */
static enum control_item
control_rest_end(struct control *c)
{
	enum control_item	item = CONTROL_NOTE;

	if (c->state == DATA)
		item = CONTROL_DATA_END;
	else if (c->reply)
		item = CONTROL_BODY_END;
	c->state = HEAD;
	c->cr = 0;
	return (item);
}

/* Within a line. */
static enum control_item
control_rest(struct control *c, struct slice *in, struct slice *out)
{
	const uint8_t	*lf;
	enum control_item more = c->state == DATA ? CONTROL_DATA :
			    CONTROL_TEXT;

	if (c->cr && *in->bytes != '\n') {
		c->cr = 0;
		out->bytes = control_cr;
		out->size = 1;
		return (more);
	}
	lf = memchr(in->bytes, '\n', in->size);
	out->bytes = in->bytes;
	out->size = lf == NULL ? in->size : (size_t)(lf - in->bytes);
	in->bytes += out->size;
	in->size -= out->size;
	if (out->size != 0 && out->bytes[out->size - 1] == '\r') {
		c->cr = 1;
		out->size--;
	}
	if (lf == NULL)
		return (more);
	in->bytes++;
	in->size--;
	return (control_rest_end(c));
}

/*
 * The next piece of the input, which it is taken from; *piece is in the input
 * or in *c, valid until the next call.
 */
enum control_item
control_next(struct control *c, struct slice *in, struct slice *piece)
{
	enum control_item	item = CONTROL_NOTHING;

	while (in->size != 0 && item == CONTROL_NOTHING) {
		piece->size = 0;
		if (c->state == HEAD)
			item = control_head(c, in, piece);
		else
			item = control_rest(c, in, piece);
	}
	return (item);
}

/*
 * The data of an output line, unescaped as far as there is room, and its end,
 * without the way over pieces: where that is possible, else nothing is taken.
 */
size_t
control_output(struct control *c, struct unescape *u, struct slice *in,
    uint8_t *out, size_t room)
{
	size_t	n;

	if (c->state != DATA || c->cr || u->size != 0)
		return (0);
	n = (size_t)(u->loop(in, out, out + room) - out);
	if (in->size != 0 && *in->bytes == '\n') {
		in->bytes++;
		in->size--;
		c->state = HEAD;
	}
	return (n);
}

/* --- events --- */

/* The events of one feed, and the longest line that has not ended. */
#define CONTROL_ARENA (TW_BODY_LIMIT + 2 * TW_OUTPUT_LIMIT)

/* What one step takes at most: then an output line is split but once in it. */
#define CONTROL_STEP (TW_OUTPUT_LIMIT / 2)

/* More than a step adds to the arena without input of its own. */
#define CONTROL_EXTRA (CONTROL_HEAD + 16)

struct tw_control {
	struct control	 lines;
	struct unescape	 unescape;
	uint8_t		*arena;		/* CONTROL_ARENA bytes; owned */
	uint32_t	 start;		/* of the line that has not ended */
	uint32_t	 size;
	uint8_t		 cut;		/* the body is over its limit */
};

struct tw_control *
tw_control_new(void)
{
	struct tw_control	*t;

	t = calloc(1, sizeof *t);
	if (t == NULL)
		return (NULL);
	t->unescape.loop = unescape_loop_now();
	/* calloc: pages that are never touched cost nothing */
	t->arena = calloc(CONTROL_ARENA, 1);
	if (t->arena == NULL) {
		free(t);
		return (NULL);
	}
	return (t);
}

void
tw_control_free(struct tw_control *t)
{
	if (t == NULL)
		return;
	free(t->arena);
	free(t);
}

const uint8_t *
tw_control_bytes(const struct tw_control *t)
{
	return (t->arena);
}

/* The caller's events. */
struct events {
	struct tw_event	*event;
	uint32_t	 room;
	uint32_t	 size;
};

/* An event of what stands in the arena since `start`; there is room. */
static struct tw_event *
control_event(struct tw_control *t, struct events *events,
    enum tw_event_kind kind)
{
	struct tw_event	*e = &events->event[events->size++];

	memset(e, 0, sizeof *e);
	e->kind = kind;
	e->start = t->start;
	e->size = t->size - t->start;
	t->start = t->size;
	return (e);
}

static void
control_output_event(struct tw_control *t, struct events *events)
{
	control_event(t, events, TW_EVENT_OUTPUT)->number = t->lines.pane;
}

/* Data of an output line, split at the limit. */
static void
control_data(struct tw_control *t, struct slice *piece, struct events *events)
{
	while (piece->size != 0) {
		if (t->size - t->start == TW_OUTPUT_LIMIT)
			control_output_event(t, events);
		t->size += (uint32_t)unescape_feed(&t->unescape, piece,
		    t->arena + t->size, TW_OUTPUT_LIMIT - (t->size - t->start));
	}
}

/* The end of an output line. */
static void
control_data_end(struct tw_control *t, struct events *events)
{
	uint8_t	rest[sizeof t->unescape.held];
	size_t	n = unescape_end(&t->unescape, rest), i;

	for (i = 0; i < n; i++) {
		if (t->size - t->start == TW_OUTPUT_LIMIT)
			control_output_event(t, events);
		t->arena[t->size++] = rest[i];
	}
	control_output_event(t, events);
}

/* Bytes of another line, up to the limit. */
static void
control_text(struct tw_control *t, const struct slice *piece)
{
	size_t	limit = t->lines.reply ? TW_BODY_LIMIT : TW_OUTPUT_LIMIT;
	size_t	room = limit - (t->size - t->start), n = piece->size;

	if (n > room) {
		n = room;
		t->cut = 1;
	}
	if (n != 0)
		memcpy(t->arena + t->size, piece->bytes, n);
	t->size += (uint32_t)n;
}

/* The end of a line of a reply's body. */
static void
control_body_line(struct tw_control *t, const struct slice *piece)
{
	static const uint8_t	line_feed[] = { '\n' };
	const struct slice	end = { line_feed, 1 };

	control_text(t, piece);
	control_text(t, &end);
}

static void
control_reply_event(struct tw_control *t, struct events *events)
{
	struct tw_event	*e = control_event(t, events, TW_EVENT_REPLY);

	e->number = t->lines.number;
	e->flags = t->lines.flags;
	e->ok = t->lines.ok;
	e->cut = t->cut;
}

/* The end of a line that is a notification. */
static void
control_note(struct tw_control *t, const struct slice *piece,
    struct events *events)
{
	control_text(t, piece);
	t->cut = 0;
	if (t->size != t->start)
		(void)control_event(t, events, TW_EVENT_NOTIFICATION);
}

/* As control_output, into the arena; returns the bytes taken. */
static size_t
control_direct(struct tw_control *t, struct slice *in, struct events *events)
{
	size_t	size = in->size, room = TW_OUTPUT_LIMIT - (t->size - t->start);

	if (t->lines.state != DATA || room == 0)
		return (0);
	t->size += (uint32_t)control_output(&t->lines, &t->unescape, in,
	    t->arena + t->size, room);
	if (t->lines.state == HEAD)
		control_output_event(t, events);
	return (size - in->size);
}

/* What a piece means. */
static void
control_take(struct tw_control *t, enum control_item item, struct slice *piece,
    struct events *events)
{
	switch (item) {
	case CONTROL_NOTHING:
	case CONTROL_OUTPUT:
		return;
	case CONTROL_DATA:
		control_data(t, piece, events);
		return;
	case CONTROL_DATA_END:
		control_data(t, piece, events);
		control_data_end(t, events);
		return;
	case CONTROL_TEXT:
		control_text(t, piece);
		return;
	case CONTROL_BEGIN:
		t->cut = 0;
		return;
	case CONTROL_BODY_END:
		control_body_line(t, piece);
		return;
	case CONTROL_REPLY:
		control_reply_event(t, events);
		return;
	case CONTROL_NOTE:
		control_note(t, piece, events);
		return;
	}
}

/* Move the line that has not ended to the arena's start. */
static void
control_compact(struct tw_control *t)
{
	if (t->start == 0)
		return;
	memmove(t->arena, t->arena + t->start, t->size - t->start);
	t->size -= t->start;
	t->start = 0;
}

size_t
tw_control_feed(struct tw_control *t, const uint8_t *data, size_t size,
    struct tw_event *event, uint32_t room, uint32_t *found, uint32_t *full)
{
	struct events		 events = { event, room, 0 };
	struct slice		 in, piece;
	enum control_item	 item;
	size_t			 done = 0, step, space;

	*full = 0;
	control_compact(t);
	while (done < size) {
		space = CONTROL_ARENA - t->size;
		if (events.room - events.size < 2 || space <= CONTROL_EXTRA) {
			*full = 1;
			break;
		}
		step = size - done;
		if (step > CONTROL_STEP)
			step = CONTROL_STEP;
		if (step > space - CONTROL_EXTRA)
			step = space - CONTROL_EXTRA;
		in.bytes = data + done;
		in.size = step;
		step = control_direct(t, &in, &events);
		done += step;
		if (step != 0)
			continue;
		step = in.size;
		item = control_next(&t->lines, &in, &piece);
		done += step - in.size;
		control_take(t, item, &piece, &events);
	}
	*found = events.size;
	return (done);
}
