/*
 * work.c - what hostile input costs: the work of the core for each byte of
 * it is counted (see core_work.h) and held against a bound, and twice as
 * much input must take twice the work.  Nor may feeding allocate.
 *
 * The count is of branches and of bytes that the C library went over, so it
 * is the same on every run, whatever else the machine does.
 *
 * Usage: work
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tmux_wait.h"

#define CORE_ALLOCATE_ITSELF
#include "core_allocate.h"

/* Input that is counted, in bytes: this much, then once more. */
#define AMOUNT (1u << 20)

/* Input before that: the longest line has been cut then. */
#define WARM_UP (3u * TW_LINE_LIMIT / 2)

/* A feed: how large it is changes nothing. */
#define CHUNK 262144

/* Work for each byte from which on there is less of it. */
#define COSTLY 3000

/*
 * How much more than twice the work twice the input may take, in percent; and
 * one for each byte: a control client's events are of up to a megabyte.
 */
#define MARGIN 3

/*
 * An edit at the front of the longest line moves its text and where each of
 * its cells begins (four bytes), and goes over all of those; up to so many
 * edits in so many bytes of input.
 */
#define EDITS(n, bytes) ((n) * 6 * TW_LINE_LIMIT / (bytes))

/* A version that ends shows its change with the context on both sides. */
#define CONTEXT 4096
#define VERSIONS(n, bytes) (((n) * 2 * CONTEXT + 1000) / (bytes))

/* Each literal at each byte. */
#define HITS (40 * TW_LITERALS_MAX)

/* A sequence writes up to so many cells. */
#define WRITTEN(n, bytes) (5 * (n) * TW_WIDTH_MAX / (bytes))

unsigned long long	work_bytes;
static unsigned long long work_branches;

/* Called by the core at each of its branches. */
void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
	work_branches++;
}

enum source { MATCH, FILTER, SCAN, CONTROL, PANES };

static const char *const source_names[] = {
	"match", "filter", "scan", "control", "panes"
};

#define SOURCES (sizeof source_names / sizeof *source_names)

/* A hostile input: it begins with something and goes on with a unit. */
struct load {
	const char	*name;
	const char	*begin;
	const char	*unit;		/* NULL: random bytes */
	uint32_t	 width;
	uint32_t	 sources;	/* a bit each */
	uint32_t	 bound;		/* work for each byte */
	int		 more;		/* 0, or one of these: */
};

#define LONG_LINE 1		/* it comes after a line near its limit */
#define MANY 2			/* as many literals as there may be */


#define ALL 0x1f
#define TERMINAL (1u << FILTER | 1u << SCAN)
#define CONTROLLED (1u << CONTROL | 1u << PANES)

static const struct load loads[] = {
	{ "a line without end", "", "x", 0, ALL, 10, 0 },
	{ "nearly a literal, again and again", "", "aaaaaaab", 0, ALL, 20,
	    0 },
	{ "a hit at each byte", "", "z", 0, ALL, 200, 0 },
	{ "hits in short lines", "", "zzzzzzz\n", 0, ALL, 200, 0 },
	{ "as many hits as can be", "", "z", 0, ALL, HITS, MANY },
	{ "as many hits as can be, in short lines", "", "zzzzzzzzzzzzzzz\n", 0,
	    ALL, HITS, MANY },
	{ "as many hits as can be, each line once more", "",
	    "zzzzzzzzzzzzzzz\r", 0, ALL, HITS, MANY },
	{ "ESC and nothing else", "", "\033", 0, ALL, 40, 0 },
	{ "an OSC that never ends", "\033]0;", "xyz", 0, ALL, 40, 0 },
	{ "a DCS that never ends", "\033Pq", "\033x", 0, ALL, 40, 0 },
	{ "parameters without end", "\033[", "1;2;", 0, ALL, 60, 0 },
	{ "random bytes", "", NULL, 80, ALL, 200, 0 },
	{ "empty lines", "", "\n", 0, ALL, 60, 0 },
	{ "characters of four bytes", "", "\360\237\231\202", 7, ALL, 150,
	    0 },
	{ "one character with marks without end", "e", "\314\201", 0, ALL,
	    100, 0 },
	{ "a new version at each byte", "\033[?7l", "ab", 4, TERMINAL, 300,
	    0 },
	{ "a line redrawn from its start", "", "ready\r", 0, TERMINAL, 100,
	    0 },
	{ "save and restore", "abc", "\0337x\0338", 10, TERMINAL, 120, 0 },
	{ "repeats as long as they may be", "", "x\033[9999b", 0, TERMINAL,
	    WRITTEN(1, 8), 0 },
	{ "blanks passed over", "", "\033[9999Cx", 0, TERMINAL, WRITTEN(1, 8),
	    0 },
	{ "front of a long line: overwritten", "\r", "ab\r", 0, TERMINAL,
	    VERSIONS(1, 3), LONG_LINE },
	{ "front of a long line: cells in and out", "\r", "\033[@\033[P",
	    0, TERMINAL, EDITS(2, 6), LONG_LINE },
	{ "top row of many: cells in and out", "\033[600A\r",
	    "\033[2P\033[2@", 100, TERMINAL, EDITS(4, 8), LONG_LINE },
	{ "front of a long line: wide over narrow", "\r",
	    "\344\270\226\rab\r", 0, TERMINAL, EDITS(2, 7), LONG_LINE },
	{ "front of a long line: marks", "\r", "x\314\201\r", 0, TERMINAL,
	    EDITS(2, 4), LONG_LINE },
	{ "front of a long line: insert mode", "\033[4h\r", "a\r\033[P", 0,
	    TERMINAL, EDITS(2, 5), LONG_LINE },
	{ "output lines of ever new panes", "", "%output %# ab\n", 0,
	    CONTROLLED, 200, 0 },
	{ "a data line without end", "%output %1 ", "xxxx", 0, CONTROLLED, 12,
	    0 },
	{ "escapes in a line without end", "%output %1 ", "\\033", 0,
	    CONTROLLED, 30, 0 },
	{ "halves of escapes", "%output %1 ", "\\\\0\\01", 0, CONTROLLED, 60,
	    0 },
	{ "a reply without end", "%begin 1 2 3\n", "%end 1 2 4\n", 0,
	    CONTROLLED, 40, 0 },
	{ "extended output without its colon", "",
	    "%extended-output %1 x x x x x x x x x x x x x x x x x x x x\n",
	    0, CONTROLLED, 200, 0 }
};

/* --- the input --- */

struct input {
	const struct load *load;
	size_t		 at;		/* bytes made so far */
	uint64_t	 random;
	uint32_t	 pane;		/* for # in a unit */
	char		 unit[64];
	size_t		 unit_size;
	size_t		 unit_at;
};

/* The unit anew, with the number of a new pane in it. */
static void
input_unit(struct input *in)
{
	const char	*unit = in->load->unit, *number = strchr(unit, '#');

	if (number == NULL)
		in->unit_size = (size_t)snprintf(in->unit, sizeof in->unit,
		    "%s", unit);
	else
		in->unit_size = (size_t)snprintf(in->unit, sizeof in->unit,
		    "%.*s%u%s", (int)(number - unit), unit, in->pane++,
		    number + 1);
	in->unit_at = 0;
}

static uint8_t
input_random(struct input *in)
{
	in->random ^= in->random << 13;
	in->random ^= in->random >> 7;
	in->random ^= in->random << 17;
	return ((uint8_t)(in->random >> 32));
}

static void
input_fill(struct input *in, uint8_t *to, size_t n)
{
	for (; n != 0; n--) {
		if (in->load->unit == NULL) {
			*to++ = input_random(in);
			continue;
		}
		if (in->unit_at == in->unit_size)
			input_unit(in);
		*to++ = (uint8_t)in->unit[in->unit_at++];
	}
}

/* --- what is fed --- */

static const char	few_bytes[] = "aaaaaaaazzzzREADYout of memory";
static const uint32_t	few_sizes[] = { 8, 1, 2, 1, 5, 13 };

struct fed {
	enum source		 source;
	struct tw_literals	*literals;
	struct tw_scan		*scan;
	struct tw_panes		*panes;
	struct tw_control	*control;
	struct tw_match_state	 state;
	struct tw_match		 matches[1024];
	struct tw_event		 events[1024];
	struct tw_out		 out;
};

static struct tw_hit		 fed_hits[1024];
static struct tw_version	 fed_versions[4096];
static uint8_t			 fed_text[4 * TW_LINE_LIMIT];

static void
fail(const char *what, const struct load *load, enum source source)
{
	(void)fprintf(stderr, "work: %s: %s: %s\n", source_names[source],
	    load->name, what);
	exit(1);
}

static struct tw_literals *
fed_literals(int many)
{
	uint8_t		bytes[TW_LITERALS_MAX * TW_LITERALS_MAX];
	uint32_t	sizes[TW_LITERALS_MAX], status, index, i;

	if (!many)
		return (tw_literals_new((const uint8_t *)few_bytes, few_sizes,
		    sizeof few_sizes / sizeof *few_sizes, 1, &status,
		    &index));
	/* z, zz, zzz and so on */
	memset(bytes, 'z', sizeof bytes);
	for (i = 0; i < TW_LITERALS_MAX; i++)
		sizes[i] = i + 1;
	return (tw_literals_new(bytes, sizes, TW_LITERALS_MAX, 1, &status,
	    &index));
}

static void
fed_begin(struct fed *f, const struct load *load, enum source source)
{
	struct tw_options	options = { .width = load->width };

	memset(f, 0, sizeof *f);
	f->source = source;
	options.context = source == FILTER ? 0 : CONTEXT;
	options.keep = source == FILTER ? TW_KEEP_PLAIN : source == SCAN ?
	    TW_KEEP_FINAL | TW_KEEP_REDRAWN : TW_KEEP_HIT;
	f->literals = fed_literals(load->more == MANY);
	f->scan = tw_scan_new(source == FILTER ? NULL : f->literals,
	    &options);
	f->panes = tw_panes_new(f->literals, &options, 0);
	f->control = tw_control_new();
	f->out.hits = fed_hits;
	f->out.versions = fed_versions;
	f->out.text = fed_text;
	f->out.hits_room = sizeof fed_hits / sizeof *fed_hits;
	f->out.versions_room = sizeof fed_versions / sizeof *fed_versions;
	f->out.text_room = sizeof fed_text;
	if (f->literals == NULL || f->scan == NULL || f->panes == NULL ||
	    f->control == NULL)
		fail("no memory", load, source);
}

static void
fed_end(struct fed *f)
{
	tw_control_free(f->control);
	tw_panes_free(f->panes);
	tw_scan_free(f->scan);
	tw_literals_free(f->literals);
}

/* Feed once; returns the bytes taken, and whether it must be resumed. */
static size_t
fed_once(struct fed *f, const uint8_t *p, size_t n, uint32_t *full)
{
	size_t		taken = 0;
	uint32_t	found;

	switch (f->source) {
	case MATCH:
		taken = tw_match_feed(f->literals, &f->state, p, n,
		    f->matches, 1024, &found);
		*full = f->state.full;
		break;
	case FILTER:
	case SCAN:
		taken = tw_scan_feed(f->scan, p, n, &f->out);
		*full = f->out.full;
		break;
	case CONTROL:
		taken = tw_control_feed(f->control, p, n, f->events, 1024,
		    &found, full);
		break;
	case PANES:
		taken = tw_panes_feed(f->panes, p, n, &f->out);
		*full = f->out.full;
		break;
	}
	return (taken);
}

static void
fed_all(struct fed *f, const uint8_t *p, size_t n)
{
	uint32_t	full;
	size_t		done = 0;

	do {
		done += fed_once(f, p + done, n - done, &full);
	} while (full);
}

/* Feed so much of the input; returns the work. */
static unsigned long long
fed_amount(struct fed *f, struct input *in, size_t amount)
{
	static uint8_t		chunk[CHUNK];
	unsigned long long	before = work_bytes + work_branches;
	size_t			n;

	for (; amount != 0; amount -= n) {
		n = amount < CHUNK ? amount : CHUNK;
		input_fill(in, chunk, n);
		fed_all(f, chunk, n);
	}
	return (work_bytes + work_branches - before);
}

/* The beginning: a line near its limit, if one is asked for. */
static void
fed_opening(struct fed *f, const struct load *load)
{
	static uint8_t	line[TW_LINE_LIMIT - 1024];

	if (load->more == LONG_LINE) {
		memset(line, 'x', sizeof line);
		/* Not plain: each cell's place is kept. */
		memcpy(line + sizeof line - 2, "\303\251", 2);
		fed_all(f, line, sizeof line);
	}
	fed_all(f, (const uint8_t *)load->begin, strlen(load->begin));
}

/* --- the checks --- */

static void
measure(const struct load *load, enum source source)
{
	static struct fed	f;
	struct input		in = { .load = load, .random = 88172645463325252 };
	unsigned long long	one, two;
	size_t			calls, amount = AMOUNT;

	fed_begin(&f, load, source);
	calls = allocated_calls;
	fed_opening(&f, load);
	if (load->bound > COSTLY)
		amount /= 256;
	else
		(void)fed_amount(&f, &in, WARM_UP);
	one = fed_amount(&f, &in, amount);
	two = one + fed_amount(&f, &in, amount);
	(void)printf("%-8s %-46s %10.2f of %u\n", source_names[source],
	    load->name, (double)one / (double)amount, load->bound);
	(void)fflush(stdout);
	if (allocated_calls != calls)
		fail("feeding allocates", load, source);
	if (one > (unsigned long long)load->bound * amount)
		fail("over its bound", load, source);
	if (two * 100 > one * (200 + MARGIN) + amount * 100)
		fail("twice the input takes more than twice the work", load,
		    source);
	fed_end(&f);
}

int
main(void)
{
	size_t	i, source;

	(void)printf("work for each byte of hostile input, and its bound\n");
	for (i = 0; i < sizeof loads / sizeof *loads; i++) {
		for (source = 0; source < SOURCES; source++) {
			if (loads[i].sources & 1u << source)
				measure(&loads[i], (enum source)source);
		}
	}
	return (0);
}
