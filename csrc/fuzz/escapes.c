/*
 * escapes.c - fuzz target: escape sequences against a table of transitions.
 *
 * The table (Paul Williams' diagram with tmux's deviations; see ../escape.c)
 * says where each sequence ends and which bytes act inside of it.  By it the
 * input is written anew in a simple form: the controls that act, each
 * sequence whole and without anything in between, and for what does nothing
 * a NUL.  Both forms must come to the same.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum state {
	GROUND, ESC, ESC_MIDDLE, CSI, CSI_VALUE, CSI_MIDDLE, CSI_IGNORE, OSC,
	STRING, DCS, DCS_VALUE, DCS_MIDDLE, DCS_BODY, DCS_ESC, STATES
};

enum action {
	NOTHING,	/* the byte vanishes */
	TEXT,
	CONTROL,	/* it acts at once */
	BEGIN,		/* a sequence */
	COLLECT,	/* it is a part of the sequence */
	FINAL,		/* it ends a sequence that may do something */
	DROPPED		/* it ends one that does nothing */
};

/* Later rows go over earlier ones. */
static const struct row {
	uint8_t		state;
	uint8_t		first;
	uint8_t		last;
	uint8_t		action;
	uint8_t		next;
} rows[] = {
	{ GROUND, 0x00, 0x1f, CONTROL, GROUND },
	{ GROUND, 0x20, 0x7e, TEXT, GROUND },
	{ GROUND, 0x7f, 0x7f, CONTROL, GROUND },
	{ GROUND, 0x80, 0xff, TEXT, GROUND },
	{ ESC, 0x00, 0x1f, CONTROL, ESC },
	{ ESC, 0x20, 0x2f, COLLECT, ESC_MIDDLE },
	{ ESC, 0x30, 0x7e, FINAL, GROUND },
	{ ESC, 'P', 'P', NOTHING, DCS },
	{ ESC, '[', '[', COLLECT, CSI },
	{ ESC, ']', ']', NOTHING, OSC },
	{ ESC, 'X', 'X', NOTHING, STRING },
	{ ESC, '^', '_', NOTHING, STRING },
	{ ESC, 'k', 'k', NOTHING, STRING },
	{ ESC_MIDDLE, 0x00, 0x1f, CONTROL, ESC_MIDDLE },
	{ ESC_MIDDLE, 0x20, 0x2f, COLLECT, ESC_MIDDLE },
	{ ESC_MIDDLE, 0x30, 0x7e, FINAL, GROUND },
	{ CSI, 0x00, 0x1f, CONTROL, CSI },
	{ CSI, 0x20, 0x2f, COLLECT, CSI_MIDDLE },
	{ CSI, 0x30, 0x3f, COLLECT, CSI_VALUE },
	{ CSI, 0x40, 0x7e, FINAL, GROUND },
	{ CSI_VALUE, 0x00, 0x1f, CONTROL, CSI_VALUE },
	{ CSI_VALUE, 0x20, 0x2f, COLLECT, CSI_MIDDLE },
	{ CSI_VALUE, 0x30, 0x3b, COLLECT, CSI_VALUE },
	{ CSI_VALUE, 0x3c, 0x3f, NOTHING, CSI_IGNORE },
	{ CSI_VALUE, 0x40, 0x7e, FINAL, GROUND },
	{ CSI_MIDDLE, 0x00, 0x1f, CONTROL, CSI_MIDDLE },
	{ CSI_MIDDLE, 0x20, 0x2f, COLLECT, CSI_MIDDLE },
	{ CSI_MIDDLE, 0x30, 0x3f, NOTHING, CSI_IGNORE },
	{ CSI_MIDDLE, 0x40, 0x7e, FINAL, GROUND },
	{ CSI_IGNORE, 0x00, 0x1f, CONTROL, CSI_IGNORE },
	{ CSI_IGNORE, 0x40, 0x7e, DROPPED, GROUND },
	{ OSC, 0x07, 0x07, DROPPED, GROUND },
	{ DCS, 0x20, 0x2f, NOTHING, DCS_MIDDLE },
	{ DCS, 0x30, 0x3f, NOTHING, DCS_VALUE },
	{ DCS, ':', ':', NOTHING, STRING },
	{ DCS, 0x40, 0x7e, NOTHING, DCS_BODY },
	{ DCS_VALUE, 0x20, 0x2f, NOTHING, DCS_MIDDLE },
	{ DCS_VALUE, 0x3c, 0x3f, NOTHING, STRING },
	{ DCS_VALUE, ':', ':', NOTHING, STRING },
	{ DCS_VALUE, 0x40, 0x7e, NOTHING, DCS_BODY },
	{ DCS_MIDDLE, 0x30, 0x3f, NOTHING, STRING },
	{ DCS_MIDDLE, 0x40, 0x7e, NOTHING, DCS_BODY },
	{ DCS_BODY, 0x1b, 0x1b, NOTHING, DCS_ESC },
	{ DCS_ESC, 0x00, 0xff, NOTHING, DCS_BODY },
	{ DCS_ESC, '\\', '\\', DROPPED, GROUND }
};

/* What is said of a byte in a state, from the rows. */
static struct row
transition(uint8_t state, uint8_t byte)
{
	struct row	row = { state, 0, 0, NOTHING, state };
	size_t		i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].state == state && byte >= rows[i].first &&
		    byte <= rows[i].last)
			row = rows[i];
	}
	if (byte == 0x18 || byte == 0x1a) {
		row.action = DROPPED;
		row.next = GROUND;
	} else if (byte == 0x1b && state != DCS_BODY && state != DCS_ESC) {
		row.action = BEGIN;
		row.next = ESC;
	}
	return (row);
}

/* Whether a sequence is within tmux's limits. */
static int
within_limits(const struct log *sequence)
{
	size_t	i, values = 0, fields = 1, middles = 0;

	if (sequence->bytes[1] != '[')
		return (sequence->size - 2 <= 4);	/* ESC and the final */
	for (i = 2; i + 1 < sequence->size; i++) {
		if (sequence->bytes[i] < 0x30 || sequence->bytes[i] >= 0x3c)
			middles++;
		else
			values++;
		fields += sequence->bytes[i] == ';';
	}
	return (values <= 63 && fields <= 24 && middles <= 4);
}

/* Write the input in its simple form. */
static void
simplify(const uint8_t *p, size_t n, struct log *out)
{
	static const uint8_t	nothing = 0;
	struct log		sequence = { 0 };
	struct row		row = { 0 };
	size_t			i;

	for (i = 0; i < n; i++) {
		row = transition(row.next, p[i]);
		switch ((enum action)row.action) {
		case NOTHING:
			break;
		case TEXT:
		case CONTROL:
			log_add(out, &p[i], 1);
			break;
		case BEGIN:
			sequence.size = 0;
			log_add(&sequence, &p[i], 1);
			break;
		case COLLECT:
			log_add(&sequence, &p[i], 1);
			break;
		case FINAL:
			log_add(&sequence, &p[i], 1);
			if (within_limits(&sequence)) {
				log_add(out, sequence.bytes, sequence.size);
				break;
			}
			/* FALLTHROUGH */
		case DROPPED:
			log_add(out, &nothing, 1);
			break;
		}
	}
	/* A sequence that has begun breaks off a character. */
	if (row.next != GROUND)
		log_add(out, &nothing, 1);
	log_free(&sequence);
}

int
FUZZ_TARGET(escapes)(const uint8_t *p, size_t n)
{
	struct input	in, simple;
	struct plan	plan = plan_first();
	struct said	first = { { 0 }, { 0 }, { 0 }, { 0 } }, said;
	struct log	text = { 0 };
	uint32_t	i = 0;

	if (!input_take(&in, p, n))
		return (0);
	in.pause = 0;		/* it counts bytes, which are others */
	simplify(in.data, in.size, &text);
	simple = in;
	simple.data = text.bytes != NULL ? text.bytes : in.data;
	simple.size = text.size;
	scan_say(&simple, &plan, &first);
	while (plan_next(&in, &plan, &i)) {
		memset(&said, 0, sizeof said);
		scan_say(&in, &plan, &said);
		said_compare("escapes", &plan, &first, &said);
		said_free(&said);
	}
	said_free(&first);
	log_free(&text);
	input_free(&in);
	return (0);
}
