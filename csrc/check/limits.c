/*
 * limits.c - each limit of tmux_wait.h from below, at it and from above; what
 * is said when memory runs out; and calls in an order that nobody expects.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Bytes that the largest set of literals may take; see ../tmux_wait.h. */
#define LITERALS_MEMORY (64u << 20)

static const char *const	words[] = { "ready", "a" };

/* --- literals --- */

/* What is said about `count` literals of `size` bytes each. */
static uint32_t
literals_status(uint32_t count, uint32_t size, uint32_t last, uint32_t *index)
{
	static uint32_t		 lengths[TW_LITERALS_MAX + 1];
	struct tw_literals	*literals;
	uint8_t			*bytes;
	uint32_t		 status, i;

	for (i = 0; i < count; i++)
		lengths[i] = i + 1 == count ? last : size;
	bytes = calloc((size_t)count + 1, TW_LITERAL_BYTES_MAX + 1);
	CHECK(bytes != NULL);
	for (i = 0; i < count * (TW_LITERAL_BYTES_MAX + 1); i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	literals = tw_literals_new(bytes, lengths, count, 1, &status, index);
	CHECK((literals != NULL) == (status == TW_LITERALS_OK));
	tw_literals_free(literals);
	free(bytes);
	return (status);
}

static void
check_literal_limits(void)
{
	const uint32_t	most = TW_LITERALS_MAX, long_ = TW_LITERAL_BYTES_MAX;
	uint32_t	index;

	CHECK(literals_status(0, 1, 1, &index) == TW_LITERALS_NONE);
	CHECK(literals_status(most - 1, 1, 1, &index) == TW_LITERALS_OK);
	CHECK(literals_status(most, 1, 1, &index) == TW_LITERALS_OK);
	CHECK(literals_status(most + 1, 1, 1, &index) ==
	    TW_LITERALS_TOO_MANY);
	CHECK(literals_status(3, 1, long_ - 1, &index) == TW_LITERALS_OK);
	CHECK(literals_status(3, 1, long_, &index) == TW_LITERALS_OK);
	CHECK(literals_status(3, 1, long_ + 1, &index) ==
	    TW_LITERALS_TOO_LONG && index == 2);
	CHECK(literals_status(2, 1, 0, &index) == TW_LITERALS_EMPTY &&
	    index == 1);
}

static void
check_literal_memory(void)
{
	uint32_t	index;

	allocated_bytes = 0;
	CHECK(literals_status(TW_LITERALS_MAX, TW_LITERAL_BYTES_MAX,
	    TW_LITERAL_BYTES_MAX, &index) == TW_LITERALS_OK);
	CHECK(allocated_bytes > 0 && allocated_bytes < LITERALS_MEMORY);
}

/* --- no memory --- */

/* Make something with each of its allocations failing in turn. */
static void
each_failure(int (*make)(void))
{
	size_t	calls, i;

	allocated_calls = 0;
	CHECK(make());
	calls = allocated_calls;
	CHECK(calls != 0);
	for (i = 1; i <= calls; i++) {
		allocated_calls = 0;
		allocate_fails = i;
		(void)make();
		allocate_fails = 0;
	}
}

static int
make_literals(void)
{
	const uint32_t		 lengths[] = { 5, 1 };
	struct tw_literals	*literals;
	uint32_t		 status, index;

	literals = tw_literals_new((const uint8_t *)"readya", lengths, 2, 1,
	    &status, &index);
	/* A quicker form may be left out; a literal is never. */
	CHECK((literals != NULL) == (status == TW_LITERALS_OK));
	CHECK(literals != NULL || status == TW_LITERALS_NO_MEMORY);
	tw_literals_free(literals);
	return (literals != NULL);
}

static struct tw_literals	*made_with;

static int
make_scan(void)
{
	struct tw_options	 options = { .keep = TW_KEEP_FINAL };
	struct tw_scan		*scan = tw_scan_new(made_with, &options);

	tw_scan_free(scan);
	return (scan != NULL);
}

static int
make_panes(void)
{
	struct tw_options	 options = { .keep = TW_KEEP_HIT };
	struct tw_panes		*panes;

	panes = tw_panes_new(made_with, &options, 0);
	tw_panes_free(panes);
	return (panes != NULL);
}

static int
make_control(void)
{
	struct tw_control	*control = tw_control_new();

	tw_control_free(control);
	return (control != NULL);
}

static void
check_no_memory(void)
{
	each_failure(make_literals);
	made_with = check_literals(words, 2, 1);
	each_failure(make_scan);
	each_failure(make_panes);
	each_failure(make_control);
	tw_literals_free(made_with);
	tw_literals_free(NULL);
	tw_scan_free(NULL);
	tw_panes_free(NULL);
	tw_control_free(NULL);
}

/* --- lines --- */

/* A scan and the arrays that it fills. */
struct scanned {
	struct tw_literals	*literals;
	struct tw_scan		*scan;
	struct tw_out		 out;
};

static void
scanned_begin(struct scanned *s, uint32_t width, uint32_t keep)
{
	const struct input	in = { .count = 2 };
	struct tw_options	options = { .width = width, .keep = keep };

	s->literals = check_literals(words, 2, 1);
	s->scan = tw_scan_new(s->literals, &options);
	CHECK(s->scan != NULL);
	out_new(&s->out, &in, 0);
}

static void
scanned_end(struct scanned *s)
{
	out_free(&s->out);
	tw_scan_free(s->scan);
	tw_literals_free(s->literals);
}

/* Feed all of it; the arrays keep what came last. */
static void
scanned_feed(struct scanned *s, const char *p, size_t n)
{
	size_t	done = 0;

	do {
		done += tw_scan_feed(s->scan, (const uint8_t *)p + done,
		    n - done, &s->out);
	} while (s->out.full);
	CHECK(done == n);
}

static void
check_line_limit(void)
{
	struct scanned	 s;
	char		*text = malloc(TW_LINE_LIMIT + 2);
	size_t		 n;

	CHECK(text != NULL);
	memset(text, 'x', TW_LINE_LIMIT + 1);
	for (n = TW_LINE_LIMIT - 1; n <= TW_LINE_LIMIT + 1; n++) {
		scanned_begin(&s, 0, TW_KEEP_FINAL);
		scanned_feed(&s, text, n);
		CHECK(s.out.versions_size == (n > TW_LINE_LIMIT));
		if (n > TW_LINE_LIMIT) {
			CHECK(s.out.versions[0].end == TW_END_CUT);
			CHECK(s.out.versions[0].length == TW_LINE_LIMIT);
		}
		scanned_end(&s);
	}
	free(text);
}

/*
 * Text that wraps in a pane of any width is one line; a line feed above its
 * last row only goes down.
 */
static void
check_widths(void)
{
	static const uint32_t	widths[] = { 0, 1, 2, 5, TW_WIDTH_MAX };
	static const char	text[] = "aready\xe4\xb8\x96 x\x1b[Ay\r\n\n";
	struct scanned		s;
	size_t			i;

	for (i = 0; i < sizeof widths / sizeof *widths; i++) {
		scanned_begin(&s, widths[i], TW_KEEP_FINAL);
		scanned_feed(&s, text, 6);
		/* a, the a in ready, ready */
		CHECK(s.out.hits_size == 3);
		scanned_feed(&s, text + 6, sizeof text - 7);
		CHECK(s.out.versions_size >= 1);
		CHECK(s.out.versions[s.out.versions_size - 1].end ==
		    TW_END_LINE);
		scanned_end(&s);
	}
}

/* Quiet and finish without anything new, in every order. */
static void
check_quiet_and_finish(void)
{
	struct scanned	s;

	scanned_begin(&s, 0, TW_KEEP_FINAL);
	tw_scan_quiet(s.scan, &s.out);
	tw_scan_finish(s.scan, &s.out);
	CHECK(s.out.versions_size == 0);
	scanned_feed(&s, "steady\r r", 9);
	tw_scan_quiet(s.scan, &s.out);
	CHECK(s.out.hits_size == 1 && s.out.hits[0].complete);
	tw_scan_quiet(s.scan, &s.out);
	CHECK(s.out.hits_size == 0);
	tw_scan_finish(s.scan, &s.out);
	/* It was told; but not the a, which was not written then. */
	CHECK(s.out.hits_size == 0 && s.out.versions_size == 1);
	CHECK(s.out.versions[0].end == TW_END_FINISHED);
	tw_scan_quiet(s.scan, &s.out);
	CHECK(s.out.hits_size == 0);
	tw_scan_finish(s.scan, &s.out);
	CHECK(s.out.versions_size == 0);
	CHECK(tw_scan_feed(s.scan, NULL, 0, &s.out) == 0 && !s.out.full);
	scanned_feed(&s, "ready\n", 6);
	CHECK(s.out.hits_size == 2 && s.out.versions_size == 1);
	scanned_end(&s);
}

/* --- panes --- */

/* `n` panes write half a word each, then in turn the other half. */
static uint32_t
panes_remembered(uint32_t n)
{
	const struct input	 in = { .count = 2 };
	struct tw_options	 options = { .keep = TW_KEEP_HIT };
	struct tw_literals	*literals = check_literals(words, 1, 1);
	struct tw_panes		*panes;
	struct tw_out		 out;
	char			 line[64];
	uint32_t		 half, i, hits = 0;
	size_t			 size;

	panes = tw_panes_new(literals, &options, 0);
	CHECK(panes != NULL);
	out_new(&out, &in, 0);
	allocated_calls = 0;
	for (half = 0; half < 2; half++) {
		for (i = 0; i < n; i++) {
			size = (size_t)snprintf(line, sizeof line,
			    "%%output %%%u %s\n", i, half ? "dy" : "rea");
			CHECK(tw_panes_feed(panes, (const uint8_t *)line,
			    size, &out) == size && !out.full);
			hits += out.hits_size;
		}
	}
	CHECK(allocated_calls == 0);
	out_free(&out);
	tw_panes_free(panes);
	tw_literals_free(literals);
	return (hits);
}

static void
check_panes(void)
{
	CHECK(panes_remembered(TW_PANES_MAX - 1) == TW_PANES_MAX - 1);
	CHECK(panes_remembered(TW_PANES_MAX) == TW_PANES_MAX);
	/* In turn: each is forgotten before its second half. */
	CHECK(panes_remembered(TW_PANES_MAX + 1) == 0);
}

/* --- control --- */

/* Feed and expect one event; returns its size. */
static uint32_t
control_event_size(struct tw_control *control, const char *begin, size_t n,
    const char *end, uint32_t *cut)
{
	struct tw_event	 events[4];
	uint32_t	 found, full, all = 0, size = 0;
	uint8_t		*line = malloc(n + 64);
	size_t		 length = strlen(begin), done = 0;

	CHECK(line != NULL);
	memcpy(line, begin, length);
	memset(line + length, 'x', n);
	length += n;
	memcpy(line + length, end, strlen(end));
	length += strlen(end);
	do {
		done += tw_control_feed(control, line + done, length - done,
		    events, 4, &found, &full);
		all += found;
		if (found != 0) {
			size = events[found - 1].size;
			*cut = events[found - 1].cut;
		}
	} while (full);
	CHECK(done == length && all == 1);
	free(line);
	return (size);
}

static void
check_control_limits(void)
{
	struct tw_control	*control = tw_control_new();
	uint32_t		 over, cut = 0;
	size_t			 size;

	CHECK(control != NULL);
	for (over = 0; over < 3; over++) {
		size = TW_BODY_LIMIT - 1 + over - 1;	/* and a line feed */
		CHECK(control_event_size(control, "%begin 1 2 3\n", size,
		    "\n%end 1 2 3\n", &cut) == (over == 2 ?
		    TW_BODY_LIMIT : size + 1));
		CHECK(cut == (over == 2));
	}
	for (over = 0; over < 3; over++) {
		size = TW_OUTPUT_LIMIT - 1 + over;
		CHECK(control_event_size(control, "", size, "\n", &cut) ==
		    (over == 2 ? TW_OUTPUT_LIMIT : size));
	}
	CHECK(control_event_size(control, "%output %1 ", TW_OUTPUT_LIMIT,
	    "\n", &cut) == TW_OUTPUT_LIMIT);
	tw_control_free(control);
}

const struct check limit_checks[] = {
	{ "literals: how many and how long", check_literal_limits },
	{ "literals: memory of the largest set", check_literal_memory },
	{ "no memory: NULL, and nothing is lost", check_no_memory },
	{ "a line is cut beyond its limit", check_line_limit },
	{ "panes of every width", check_widths },
	{ "quiet and finish in every order", check_quiet_and_finish },
	{ "panes remembered", check_panes },
	{ "control: bodies and lines over their limits",
	    check_control_limits },
	{ NULL, NULL }
};
