/*
 * escape.c - removes terminal escape sequences and reads those that edit a
 * line.
 *
 * Sources: Paul Williams' state diagram of a DEC-compatible parser
 * (vt100.net), ECMA-48, and tmux's terminal (the manual page and how tmux
 * 3.3a acts).  Deviations from the diagram, as in tmux:
 *  - Bytes from 0x80 on are UTF-8 in the ground state and ignored in a
 *    sequence: there are no 8-bit C1 controls.
 *  - OSC ends at BEL as well as at ST, and a colon is a parameter byte.
 *  - ESC k starts a title that ends as APC does: screen's title string.
 *  - ESC in the body of a DCS does not end it unless a backslash follows: a
 *    DCS may hold whole sequences, with their ESCs doubled.
 *  - A sequence with more than 63 parameter bytes, 24 parameters or 4
 *    intermediate bytes is ignored.
 *  - CHT, HPR and VPR (CSI I, a and e) are nothing.
 * Deviation from tmux: CAN and SUB end a DCS too, as in the diagram, so
 * that a stray ESC P hides no more than it must.
 *
 * Of strings (OSC, DCS, APC, PM, SOS, titles) nothing is kept.
 */

#include "core.h"

enum state {
	GROUND = ESCAPE_GROUND,
	ESC,		/* after ESC */
	ESC_MIDDLE,	/* after an intermediate byte */
	CSI,		/* after ESC [ */
	CSI_VALUE,	/* in the parameters */
	CSI_MIDDLE,
	CSI_IGNORE,	/* malformed, up to its final byte */
	OSC,
	STRING,		/* APC, PM, SOS, title, malformed DCS */
	DCS,		/* after ESC P */
	DCS_VALUE,
	DCS_MIDDLE,
	DCS_BODY,
	DCS_ESC		/* ESC in the body */
};

/* The limits above, as tmux has them. */
#define ESCAPE_LENGTH 63
#define ESCAPE_MIDDLES 4
#define ESCAPE_VALUE_MAX 0x7fffffffu

/* What a C0 control asks for, in the ground state and inside sequences. */
static enum op
escape_control(uint8_t byte, uint32_t *n)
{
	*n = 1;
	switch (byte) {
	case '\b':
		return (OP_BACKSPACE);
	case '\t':
		return (OP_TAB);
	case '\n':
	case '\v':
	case '\f':
		return (OP_LINE_FEED);
	case '\r':
		return (OP_RETURN);
	}
	return (OP_NONE);
}

/* Forget the sequence before. */
static void
escape_begin(struct escape *e)
{
	e->bad = e->private = e->middle = e->middles = 0;
	e->length = e->count = 0;
}

/* An intermediate byte, or the marker of a private sequence. */
static void
escape_middle(struct escape *e, uint8_t byte)
{
	if (byte >= '<')
		e->private = byte;
	else
		e->middle = byte;
	if (++e->middles > ESCAPE_MIDDLES)
		e->bad = 1;
}

/* A byte of the parameters. */
static void
escape_value(struct escape *e, uint8_t byte)
{
	uint32_t	*v;

	if (++e->length > ESCAPE_LENGTH)
		e->bad = 1;
	if (e->count == 0)
		e->value[e->count++] = ESCAPE_LEFT_OUT;
	if (byte == ';') {
		if (e->count == ESCAPE_PARAMETERS)
			e->bad = 1;
		else
			e->value[e->count++] = ESCAPE_LEFT_OUT;
	}
	if (e->bad || byte == ';')
		return;
	v = &e->value[e->count - 1];
	if (byte == ':' || *v == ESCAPE_NOT_A_NUMBER) {
		*v = ESCAPE_NOT_A_NUMBER;
		return;
	}
	if (*v == ESCAPE_LEFT_OUT)
		*v = 0;
	if (*v > (ESCAPE_VALUE_MAX - (byte - '0')) / 10)
		e->bad = 1;
	else
		*v = *v * 10 + (byte - '0');
}

/* The first parameter, at least `least`; 0 if it is no number. */
static int
escape_first(const struct escape *e, uint32_t least, uint32_t absent,
    uint32_t *n)
{
	*n = e->count == 0 ? ESCAPE_LEFT_OUT : e->value[0];
	if (*n == ESCAPE_NOT_A_NUMBER)
		return (0);
	if (*n == ESCAPE_LEFT_OUT)
		*n = absent;
	if (*n < least)
		*n = least;
	return (1);
}

/* CSI h and l: only the modes that change what a line is. */
static enum op
escape_mode(const struct escape *e, uint32_t on, uint32_t *n)
{
	enum op		op = OP_NONE;
	uint8_t		i;

	*n = on;
	for (i = 0; i < e->count; i++) {
		if (e->private == '?') {
			switch (e->value[i]) {
			case 3:
			case 6:
				/* 80 or 132 columns, and origin: go home */
				*n = 1;
				return (OP_LEAVE);
			case 7:
				op = OP_WRAP_MODE;
				break;
			case 47:
			case 1047:
			case 1049:
				return (OP_ALTERNATE);
			}
		} else if (e->value[i] == 4)
			op = OP_INSERT_MODE;
	}
	return (op);
}

/* The column of CUP and HVP: the second parameter. */
static enum op
escape_position(const struct escape *e, uint32_t *n)
{
	*n = e->count < 2 || e->value[1] >= ESCAPE_NOT_A_NUMBER ? 1 :
	    e->value[1];
	if (*n == 0)
		*n = 1;
	return (OP_LEAVE);
}

/* An operation with one count, 1 if left out. */
static enum op
escape_counted(const struct escape *e, enum op op, uint32_t *n)
{
	return (escape_first(e, 1, 1, n) ? op : OP_NONE);
}

/* The final byte of a control sequence. */
static enum op
escape_csi(const struct escape *e, uint8_t byte, uint32_t *n)
{
	*n = 0;
	if (e->bad || e->middle != 0)
		return (OP_NONE);
	if (byte == 'h' || byte == 'l') {
		if (e->private != 0 && e->private != '?')
			return (OP_NONE);
		return (escape_mode(e, byte == 'h', n));
	}
	if (e->private != 0)
		return (OP_NONE);
	switch (byte) {
	case '@':
		return (escape_counted(e, OP_INSERT, n));
	case 'A':
		return (escape_counted(e, OP_UP, n));
	case 'B':
		return (escape_counted(e, OP_DOWN, n));
	case 'C':
		return (escape_counted(e, OP_RIGHT, n));
	case 'D':
		return (escape_counted(e, OP_LEFT, n));
	case 'E':
		return (escape_counted(e, OP_DOWN_START, n));
	case 'F':
		return (escape_counted(e, OP_UP_START, n));
	case 'G':
	case '`':
		return (escape_counted(e, OP_COLUMN, n));
	case 'H':
	case 'f':
		return (escape_position(e, n));
	case 'J':
		return (escape_first(e, 0, 0, n) ? OP_ERASE_SCREEN : OP_NONE);
	case 'K':
		return (escape_first(e, 0, 0, n) ? OP_ERASE_LINE : OP_NONE);
	case 'P':
		return (escape_counted(e, OP_DELETE, n));
	case 'X':
		return (escape_counted(e, OP_ERASE, n));
	case 'Z':
		return (escape_counted(e, OP_TAB_BACK, n));
	case 'b':
		return (escape_counted(e, OP_REPEAT, n));
	case 'g':
		return (escape_first(e, 0, 0, n) ? OP_TAB_CLEAR : OP_NONE);
	case 'r':
		*n = 1;
		/* FALLTHROUGH */
	case 'L':
	case 'M':
	case 'S':
	case 'T':
	case 'd':
		return (OP_LEAVE);
	case 's':
		return (OP_SAVE);
	case 'u':
		return (OP_RESTORE);
	}
	return (OP_NONE);
}

/* The final byte of an escape sequence. */
static enum op
escape_esc(const struct escape *e, uint8_t byte, uint32_t *n)
{
	*n = 0;
	if (e->middles != 0) {
		/* ESC # 8 fills the screen; charsets are nothing */
		if (e->middles == 1 && e->middle == '#' && byte == '8') {
			*n = 1;
			return (OP_LEAVE);
		}
		return (OP_NONE);
	}
	switch (byte) {
	case '7':
		return (OP_SAVE);
	case '8':
		return (OP_RESTORE);
	case 'D':
		return (OP_INDEX);
	case 'H':
		return (OP_TAB_SET);
	case 'M':
		return (OP_REVERSE_INDEX);
	case 'E':
		*n = 1;
		return (OP_LEAVE);
	case 'c':
		return (OP_RESET);
	}
	return (OP_NONE);
}

/* What follows ESC. */
static enum op
escape_introducer(struct escape *e, uint8_t byte, uint32_t *n)
{
	switch (byte) {
	case '[':
		e->state = CSI;
		return (OP_NONE);
	case ']':
		e->state = OSC;
		return (OP_NONE);
	case 'P':
		e->state = DCS;
		return (OP_NONE);
	case 'X':
	case '^':
	case '_':
	case 'k':
		e->state = STRING;
		return (OP_NONE);
	}
	e->state = GROUND;
	return (escape_esc(e, byte, n));
}

/* A byte of a control sequence, from 0x20 to 0x7e. */
static enum op
escape_csi_byte(struct escape *e, uint8_t byte, uint32_t *n)
{
	if (byte >= 0x40) {
		enum state	before = e->state;

		e->state = GROUND;
		if (before == CSI_IGNORE)
			return (OP_NONE);
		return (escape_csi(e, byte, n));
	}
	if (e->state == CSI_IGNORE)
		return (OP_NONE);
	if (byte < 0x30) {
		escape_middle(e, byte);
		e->state = CSI_MIDDLE;
	} else if (e->state == CSI_MIDDLE ||
	    (e->state == CSI_VALUE && byte >= '<'))
		e->state = CSI_IGNORE;
	else {
		if (byte >= '<')
			escape_middle(e, byte);
		else
			escape_value(e, byte);
		e->state = CSI_VALUE;
	}
	return (OP_NONE);
}

/* A byte of a DCS before its body, from 0x20 to 0x7e. */
static void
escape_dcs_byte(struct escape *e, uint8_t byte)
{
	if (byte >= 0x40)
		e->state = DCS_BODY;
	else if (byte < 0x30)
		e->state = DCS_MIDDLE;
	else if (byte == ':' || e->state == DCS_MIDDLE ||
	    (e->state == DCS_VALUE && byte >= '<'))
		e->state = STRING;
	else
		e->state = DCS_VALUE;
}

/* A byte of a DCS's body: only ESC \ ends it (CAN and SUB came before). */
static enum op
escape_dcs_body(struct escape *e, uint8_t byte)
{
	if (e->state == DCS_ESC)
		e->state = byte == '\\' ? GROUND : DCS_BODY;
	else if (byte == 0x1b)
		e->state = DCS_ESC;
	return (OP_NONE);
}

/* Take one byte; what it asks for, with a count or column in *n. */
enum op
escape_next(struct escape *e, uint8_t byte, uint32_t *n)
{
	if (byte == 0x18 || byte == 0x1a) {
		e->state = GROUND;
		return (OP_NONE);
	}
	if (e->state == DCS_BODY || e->state == DCS_ESC)
		return (escape_dcs_body(e, byte));
	if (byte == 0x1b) {
		e->state = ESC;
		escape_begin(e);
		return (OP_NONE);
	}
	if (e->state == OSC && byte == 0x07)
		e->state = GROUND;
	if (byte < 0x20)
		return (e->state < OSC ? escape_control(byte, n) : OP_NONE);
	if (e->state == GROUND)
		return (byte == 0x7f ? OP_NONE : OP_TEXT);
	if (byte > 0x7e)
		return (OP_NONE);
	switch ((enum state)e->state) {
	case ESC:
	case ESC_MIDDLE:
		if (byte < 0x30) {
			escape_middle(e, byte);
			e->state = ESC_MIDDLE;
			return (OP_NONE);
		}
		if (e->state == ESC)
			return (escape_introducer(e, byte, n));
		e->state = GROUND;
		return (e->bad ? OP_NONE : escape_esc(e, byte, n));
	case CSI:
	case CSI_VALUE:
	case CSI_MIDDLE:
	case CSI_IGNORE:
		return (escape_csi_byte(e, byte, n));
	case DCS:
	case DCS_VALUE:
	case DCS_MIDDLE:
		escape_dcs_byte(e, byte);
		return (OP_NONE);
	case GROUND:
	case OSC:
	case STRING:
	case DCS_BODY:
	case DCS_ESC:
		return (OP_NONE);
	}
	return (OP_NONE);
}
