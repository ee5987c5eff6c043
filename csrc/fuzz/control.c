/*
 * control.c - fuzz target: the lines of a control client, and their octal
 * escapes, against a reader of whole lines.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* The data of an output line begins within so many bytes of it. */
#define HEAD 256

/* What the naive reader knows between lines. */
struct reader {
	struct log	*log;
	struct log	 body;
	uint64_t	 time;
	uint64_t	 number;
	uint64_t	 flags;
	int		 reply;
};

/* A stretch of a line that is read from its front. */
struct text {
	const uint8_t	*p;
	size_t		 n;
};

static int
text_word(struct text *t, const char *word)
{
	size_t	n = strlen(word);

	if (t->n < n || memcmp(t->p, word, n) != 0)
		return (0);
	t->p += n;
	t->n -= n;
	return (1);
}

static int
text_number(struct text *t, uint64_t most, uint64_t *number)
{
	size_t	n = t->n;

	for (*number = 0; t->n != 0 && *t->p >= '0' && *t->p <= '9';
	    t->p++, t->n--) {
		if (*number > most / 10 ||
		    *number * 10 > most - (uint64_t)(*t->p - '0'))
			return (0);
		*number = *number * 10 + (uint64_t)(*t->p - '0');
	}
	return (n != t->n);
}

/* TIME NUMBER FLAGS and nothing behind them. */
static int
text_guard(struct text t, uint64_t *time, uint64_t *number, uint64_t *flags)
{
	return (text_number(&t, UINT64_MAX, time) && text_word(&t, " ") &&
	    text_number(&t, UINT64_MAX, number) && text_word(&t, " ") &&
	    text_number(&t, UINT64_MAX, flags) && t.n == 0);
}

/* An event and its bytes. */
static void
read_event(const struct reader *r, struct tw_event e, const uint8_t *p,
    size_t n)
{
	e.size = (uint32_t)n;
	log_add(r->log, &e, sizeof e);
	log_add(r->log, p, n);
}

/* Where the data of an extended output line begins; NULL: nowhere. */
static const uint8_t *
read_extended(struct text t)
{
	size_t	i;

	if (text_word(&t, ": "))
		return (t.p);
	for (i = 0; i + 3 <= t.n; i++) {
		if (memcmp(t.p + i, " : ", 3) == 0)
			return (t.p + i + 3);
	}
	return (NULL);
}

/* An output line; 0: it is none. */
static int
read_output(const struct reader *r, struct text line)
{
	struct text	 t = line;
	struct tw_event	 e = { .kind = TW_EVENT_OUTPUT };
	const uint8_t	*data;
	uint8_t		*out;
	size_t		 n = 0;
	int		 extended = text_word(&t, "%extended-output %");

	if ((!extended && !text_word(&t, "%output %")) ||
	    !text_number(&t, UINT32_MAX, &e.number) || !text_word(&t, " "))
		return (0);
	data = extended ? read_extended(t) : t.p;
	if (data == NULL || data - line.p > HEAD)
		return (0);
	t.n = (size_t)(line.p + line.n - data);
	out = malloc(t.n + 1);
	CHECK(out != NULL);
	for (t.p = data; t.n != 0; t.p++, t.n--) {
		out[n++] = *t.p;
		if (t.n < 4 || t.p[0] != '\\' ||
		    t.p[1] < '0' || t.p[1] > '3' ||
		    t.p[2] < '0' || t.p[2] > '7' ||
		    t.p[3] < '0' || t.p[3] > '7')
			continue;
		out[n - 1] = (uint8_t)((t.p[1] - '0') * 64 +
		    (t.p[2] - '0') * 8 + (t.p[3] - '0'));
		t.p += 3;
		t.n -= 3;
	}
	read_event(r, e, out, n);
	free(out);
	return (1);
}

/* A line of a reply. */
static void
read_body(struct reader *r, struct text line)
{
	struct tw_event	e = { .kind = TW_EVENT_REPLY };
	struct text	t = line;
	uint64_t	time, number, flags;

	e.ok = (uint32_t)text_word(&t, "%end ");
	if ((e.ok || text_word(&t, "%error ")) &&
	    text_guard(t, &time, &number, &flags) && time == r->time &&
	    number == r->number) {
		e.number = r->number;
		e.flags = r->flags;
		read_event(r, e, r->body.bytes, r->body.size);
		r->reply = 0;
		return;
	}
	log_add(&r->body, line.p, line.n);
	log_add(&r->body, "\n", 1);
}

/* A line outside of replies. */
static void
read_line(struct reader *r, struct text line)
{
	struct tw_event	e = { .kind = TW_EVENT_NOTIFICATION };
	struct text	t;

	while (text_word(&line, "\033P1000p"))
		;
	t = line;
	if (text_word(&t, "%begin ") &&
	    text_guard(t, &r->time, &r->number, &r->flags)) {
		r->reply = 1;
		r->body.size = 0;
	} else if (!read_output(r, line) && line.n != 0)
		read_event(r, e, line.p, line.n);
}

/* All whole lines. */
static void
read_all(const struct input *in, struct log *log)
{
	struct reader	 r = { .log = log };
	struct text	 rest = { in->data, in->size }, line;
	const uint8_t	*end;

	while (rest.n != 0 && (end = memchr(rest.p, '\n', rest.n)) != NULL) {
		line.p = rest.p;
		line.n = (size_t)(end - rest.p);
		rest.n -= line.n + 1;
		rest.p = end + 1;
		if (line.n != 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (r.reply)
			read_body(&r, line);
		else
			read_line(&r, line);
	}
	log_free(&r.body);
}

/* --- the core's own --- */

static void
parse_piece(struct tw_control *control, const uint8_t *p, size_t n,
    struct tw_event *events, uint32_t room, struct log *log)
{
	struct tw_event	e;
	uint32_t	found, full, i;
	size_t		done = 0;

	do {
		done += tw_control_feed(control, n == 0 ? NULL : p + done,
		    n - done, events, room, &found, &full);
		CHECK(done <= n && found <= room);
		CHECK(full ? found != 0 : done == n);
		for (i = 0; i < found; i++) {
			e = events[i];
			e.start = 0;
			log_add(log, &e, sizeof e);
			log_add(log, tw_control_bytes(control) +
			    events[i].start, e.size);
		}
	} while (full);
}

static void
parse(const struct input *in, const struct plan *plan, struct log *log)
{
	struct tw_control	*control = tw_control_new();
	struct tw_event		*events;
	struct pieces		 pieces;
	uint32_t		 room = plan->tiny ? 2 : 512;
	size_t			 n;

	events = malloc(room * sizeof *events);
	CHECK(control != NULL && events != NULL);
	pieces_begin(&pieces, plan, in->data, in->size);
	while (pieces_next(&pieces, &n))
		parse_piece(control, pieces.block, n, events, room, log);
	free(events);
	tw_control_free(control);
}

int
FUZZ_TARGET(control)(const uint8_t *p, size_t n)
{
	struct input	in;
	struct plan	plan = plan_first();
	struct log	expected = { 0 }, came = { 0 };
	uint32_t	i = 0;

	if (!input_take(&in, p, n))
		return (0);
	/* Beyond the limits the naive reader is another. */
	if (in.size > TW_OUTPUT_LIMIT / 2)
		in.size = TW_OUTPUT_LIMIT / 2;
	read_all(&in, &expected);
	while (plan_next(&in, &plan, &i)) {
		came.size = 0;
		parse(&in, &plan, &came);
		log_compare("control: events", &plan, &expected, &came);
	}
	log_free(&expected);
	log_free(&came);
	input_free(&in);
	return (0);
}
