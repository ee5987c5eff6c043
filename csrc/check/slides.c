/*
 * slides.c - what is hard for vectors at every place in them: each piece of
 * input is moved on byte by byte, with text before and behind it, and goes
 * through the fuzz targets, which end their blocks where the input ends.
 */

#include <string.h>

#include "check.h"

/* More than two of the widest vectors. */
#define SLIDE 70

#define WORDS "ready\x1f" "adyr\x1f" "y\nr\x1f" "\xc3\xa9\x1e"

typedef int target(const uint8_t *, size_t);

/* Options, then literals, then the piece among `fill`. */
static void
slide(target *run, const char *options, const char *begin, uint8_t fill,
    const char *piece, const char *end)
{
	uint8_t	input[1024];
	size_t	before, behind, n;

	for (before = 0; before < SLIDE; before++) {
		for (behind = 0; behind <= 40; behind += 20 + before % 3) {
			memcpy(input, options, INPUT_OPTIONS);
			input[6] = (uint8_t)before;	/* the way to feed */
			n = INPUT_OPTIONS;
			memcpy(input + n, WORDS, strlen(WORDS));
			n += strlen(WORDS);
			memcpy(input + n, begin, strlen(begin));
			n += strlen(begin);
			memset(input + n, fill, before);
			n += before;
			memcpy(input + n, piece, strlen(piece));
			n += strlen(piece);
			memset(input + n, fill, behind);
			n += behind;
			memcpy(input + n, end, strlen(end));
			n += strlen(end);
			(void)run(input, n);
		}
	}
}

static const char *const terminal_pieces[] = {
	"ready", "READY", "\n", "\r\n", "\r", "\x7f", "\x1b[1;31mready\x1b[m",
	"\x1b]0;title\x07" "ready", "re\xc3\xa9" "ady", "\xff", "rea\b\bady",
	"\x1b[Kready", "readyready\nready"
};

static const char *const control_pieces[] = {
	"\\033[1mready\\015\\012", "\\", "\\0", "\\01", "\\377", "\\400",
	"\\\\134", "\r", "\n%output %2 ready\n%output %1 ready"
};

#define COUNT(table) (sizeof (table) / sizeof *(table))

/* Options: no width; fold; width 10 and a short line; plain text. */
#define OPTIONS_WIDE "\0\0\0\0\0\0\5\0"
#define OPTIONS_FOLD "\0\0\0\0\0\1\4\0"
#define OPTIONS_NARROW "\10\5\3\0\0\1\3\0"
#define OPTIONS_PLAIN "\0\0\0\3\0\0\2\0"

static void
slide_terminal(void)
{
	size_t	i;

	for (i = 0; i < COUNT(terminal_pieces); i++) {
		slide(fuzz_scan, OPTIONS_WIDE, "", 'x', terminal_pieces[i],
		    "");
		slide(fuzz_scan, OPTIONS_FOLD, "", 'r', terminal_pieces[i],
		    "\n");
		slide(fuzz_scan, OPTIONS_NARROW, "", 'x', terminal_pieces[i],
		    "");
		slide(fuzz_escapes, OPTIONS_PLAIN, "", 'x',
		    terminal_pieces[i], "");
	}
}

static void
slide_literals(void)
{
	static const char *const	pieces[] = {
		"ready", "reaDY", "adyready", "readyr", "\xc3\xa9", "y\nr"
	};
	size_t	i;

	for (i = 0; i < COUNT(pieces); i++) {
		slide(fuzz_literals, OPTIONS_WIDE, "", 'x', pieces[i], "");
		slide(fuzz_literals, OPTIONS_FOLD, "", 'a', pieces[i], "");
	}
}

static void
slide_control(void)
{
	size_t	i;

	for (i = 0; i < COUNT(control_pieces); i++) {
		slide(fuzz_control, OPTIONS_WIDE, "%output %1 ", 'x',
		    control_pieces[i], "\n");
		slide(fuzz_panes, OPTIONS_FOLD, "%output %1 ", 'x',
		    control_pieces[i], "\n");
	}
}

const struct check slide_checks[] = {
	{ "terminal bytes at every place of a vector", slide_terminal },
	{ "literals at every place of a vector", slide_literals },
	{ "control lines at every place of a vector", slide_control },
	{ NULL, NULL }
};
