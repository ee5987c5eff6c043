/*
 * core.h - what the files of the stream core share; Python never sees it.
 */
#ifndef TMUX_WAIT_CORE_H
#define TMUX_WAIT_CORE_H

#include "tmux_wait.h"

/* --- chars.c: UTF-8 and the cells that a character takes --- */

/* What a character is to the cells of a line; widths.h has these numbers. */
enum char_class {
	CHAR_NARROW,	/* one cell */
	CHAR_WIDE,	/* two cells */
	CHAR_ZERO,	/* none: joins the character before it */
	CHAR_WIDENS,	/* the same, and makes that one wide */
	CHAR_REGIONAL,	/* half a flag */
	CHAR_TONE,	/* a skin tone */
	CHAR_TONED,	/* what a skin tone joins */
	CHAR_INITIAL,	/* wide, joins nothing */
	CHAR_NOTHING,	/* vanishes */
	CHAR_BROKEN	/* not UTF-8; not in the table */
};

/* One character, or the bytes that show as one U+FFFD. */
struct glyph {
	uint8_t		 bytes[4];
	uint8_t		 size;
	uint8_t		 width;		/* cells; 0: joins the one before */
	uint8_t		 kind;		/* enum char_class */
	uint8_t		 blank;
};

/* A UTF-8 sequence on its way in; all zero between characters. */
struct utf8 {
	uint8_t		 bytes[4];
	uint8_t		 size;		/* bytes so far */
	uint8_t		 wanted;	/* bytes in all */
};

enum utf8_result {
	UTF8_MORE,	/* taken, the character goes on */
	UTF8_DONE,	/* taken, *glyph is set (width 0xff: a C1 control) */
	UTF8_STOP	/* not taken: *glyph is what came before, broken off */
};

#define WIDTH_CONTROL 0xff

enum utf8_result utf8_next(struct utf8 *, uint8_t, struct glyph *);
void	utf8_stop(struct utf8 *, struct glyph *);
size_t	utf8_whole(const uint8_t *, size_t, struct glyph *);
enum char_class chars_first(const uint8_t *, size_t);
int	chars_end_joining(const uint8_t *, size_t);
int	chars_pair(enum char_class, enum char_class);

/* --- escape.c: which bytes are text, and what the others ask for --- */

/* Parameters of a control sequence: as many as tmux takes. */
#define ESCAPE_PARAMETERS 24

/* A parameter that was left out, or that is none (has a colon in it). */
#define ESCAPE_LEFT_OUT UINT32_MAX
#define ESCAPE_NOT_A_NUMBER (UINT32_MAX - 1)

enum op {
	OP_NONE,
	OP_TEXT,		/* a printable byte; above 0x7f: UTF-8 */
	OP_LINE_FEED,
	OP_RETURN,
	OP_BACKSPACE,
	OP_TAB,
	OP_TAB_BACK,		/* n stops back */
	OP_TAB_SET,
	OP_TAB_CLEAR,		/* n: 0 here, 3 all */
	OP_RIGHT,
	OP_LEFT,
	OP_COLUMN,		/* n, from 1 */
	OP_UP,
	OP_DOWN,
	OP_REVERSE_INDEX,	/* up and down, but still about to wrap */
	OP_INDEX,
	OP_UP_START,		/* and to the first column */
	OP_DOWN_START,
	OP_ERASE_LINE,		/* n: 0, 1, 2 */
	OP_ERASE_SCREEN,	/* n: 0 to 3 */
	OP_ERASE,		/* n cells */
	OP_DELETE,
	OP_INSERT,
	OP_REPEAT,		/* the last character n times */
	OP_SAVE,
	OP_RESTORE,
	OP_INSERT_MODE,		/* n: 1 on, 0 off */
	OP_WRAP_MODE,
	OP_ALTERNATE,		/* n: 1 on, 0 off */
	OP_RESET,
	OP_LEAVE,		/* the cursor goes elsewhere; n: column from */
				/* 1, 0: the column stays */
	OP_PUT			/* not from escape.c: a character to write */
};

struct escape {
	uint8_t		 state;
	uint8_t		 bad;		/* to be ignored when it ends */
	uint8_t		 private;	/* its marker: one of < = > ?, or 0 */
	uint8_t		 middle;	/* its intermediate byte; 0 for none */
	uint8_t		 middles;	/* how many there were */
	uint8_t		 length;	/* parameter bytes so far */
	uint8_t		 count;		/* parameters so far */
	uint32_t	 value[ESCAPE_PARAMETERS];
};

/* The state in which bytes are text. */
#define ESCAPE_GROUND 0

enum op	escape_next(struct escape *, uint8_t, uint32_t *);

/* --- lines.c: the cells of one logical line --- */

/* In lines.start: the second cell of a wide character. */
#define LINES_TAIL 0x80000000u

/* The cursor may go this far beyond a line that never wraps, in cells. */
#define LINES_REACH TW_WIDTH_MAX

/* Bytes that one cell can hold: a mark that has no room vanishes. */
#define LINES_CELL 32

/* How a character joins the cell before the cursor. */
enum join {
	JOIN_NOT,	/* it is written as any other */
	JOIN_LOST,	/* it vanishes */
	JOIN_ADD,	/* its bytes are added to that cell */
	JOIN_WIDEN	/* and the cursor's cell becomes that cell's tail */
};

struct lines {
	uint8_t		*text;		/* limit bytes; owned */
	/*
	 * Where each cell's bytes begin, with LINES_TAIL or not; one more
	 * than there are cells.  Not kept while each cell has one byte
	 * (`plain`).  A cell without bytes is the tail of a wide character,
	 * or fills a row that had no room for one.
	 */
	uint32_t	*start;		/* limit + 1 entries; owned */
	uint32_t	 pivot;		/* entries from here on lack `shift`, */
	uint32_t	 shift;		/* mod 2^31 */
	uint32_t	 limit;
	uint32_t	 size;		/* bytes */
	uint32_t	 cells;
	uint32_t	 width;		/* of the pane; 0: one endless row */
	int32_t		 row;		/* the cell at which the cursor's row */
					/* begins; < 0: in the part cut off */
	uint32_t	 column;	/* of the cursor; `width`: will wrap */
	uint8_t		 plain;
	uint8_t		 own_stops;	/* tab stops are those of `stops` */
	uint8_t		 stops[LINES_REACH / 8 + 1];	/* a bit each column */
};

int	lines_init(struct lines *, uint32_t, uint32_t);
void	lines_free(struct lines *);
void	lines_clear(struct lines *);

/* Where things are. */
uint32_t lines_byte(const struct lines *, uint32_t);
uint32_t lines_cursor(const struct lines *);
uint32_t lines_edge(const struct lines *, uint32_t);
int	lines_row_span(const struct lines *, uint32_t *, uint32_t *);
int	lines_fits(const struct lines *, const struct glyph *);
enum join lines_joins(const struct lines *, const struct glyph *);

/* The cursor. */
void	lines_place(struct lines *, uint32_t, uint32_t);
void	lines_to_column(struct lines *, uint32_t);
void	lines_backspace(struct lines *);
void	lines_tab(struct lines *);
void	lines_tab_back(struct lines *, uint32_t);
void	lines_tab_set(struct lines *, int);
void	lines_tab_clear(struct lines *);
void	lines_tab_reset(struct lines *);
void	lines_right(struct lines *, uint32_t);
void	lines_left(struct lines *, uint32_t);
int	lines_vertical(struct lines *, int64_t);
void	lines_wrote(struct lines *, uint32_t);

/* The cells. */
void	lines_append_blanks(struct lines *, uint32_t);
void	lines_append_filler(struct lines *);
void	lines_write_ascii(struct lines *, uint32_t, const uint8_t *, uint32_t);
void	lines_put(struct lines *, const struct glyph *);
void	lines_combine(struct lines *, const struct glyph *);
void	lines_widen(struct lines *, const struct glyph *);
void	lines_split(struct lines *, uint32_t);
void	lines_truncate(struct lines *, uint32_t);
void	lines_erase(struct lines *, uint32_t, uint32_t);
void	lines_delete(struct lines *, uint32_t);
void	lines_insert(struct lines *, uint32_t);
uint32_t lines_tail(const struct lines *, uint32_t);
void	lines_drop(struct lines *, uint32_t);

/* --- windows.c: which bytes of each literal a prefilter looks for --- */

#define WINDOWS_BUCKETS 8
#define WINDOWS_MOST 6		/* positions */

struct windows {
	uint32_t	 positions;	/* bytes of a window */
	uint32_t	 reach;		/* the greatest offset */
	uint8_t		 offset[TW_LITERALS_MAX];	/* in the literal */
	uint8_t		 bucket[TW_LITERALS_MAX];
};

void	windows_choose(struct windows *, const uint8_t *, const uint32_t *,
	    uint32_t, int, int);

/* --- prefilter.c: passes over text in which no literal can be --- */

struct prefilter;

/* What is compared before a literal is thought to be somewhere. */
#define PREFILTER_BYTES 8

/* Where literals are looked for. */
struct prefilter_search {
	const uint8_t	*text;
	size_t		 size;
	size_t		 begin;		/* none of interest begins before */
	size_t		 since;		/* work is counted from here on */
	size_t		 work;		/* bytes that took as long to go over */
};

/* Work may run ahead of what was passed over by so many bytes. */
#define PREFILTER_SLACK 128

/* Whether, at byte `at`, so much was done for nothing that it does not pay. */
static inline int
prefilter_tired(const struct prefilter_search *s, size_t at)
{
	return (s->work > PREFILTER_SLACK + (at < s->since ? 0 :
	    at - s->since));
}

struct prefilter *prefilter_new(const uint8_t *, const uint32_t *, uint32_t,
	    int);
void	prefilter_free(struct prefilter *);
uint32_t prefilter_reach(const struct prefilter *);
size_t	prefilter_find(const struct prefilter *, struct prefilter_search *);

/* --- literals.c: Aho-Corasick behind a prefilter --- */

/* Where a search begins. */
#define LITERALS_ROOT 0

uint32_t literals_count(const struct tw_literals *);
uint32_t literals_longest(const struct tw_literals *);
uint32_t literals_size(const struct tw_literals *, uint32_t);
size_t	literals_run(const struct tw_literals *, uint32_t *, const uint8_t *,
	    size_t, uint64_t *);

/* --- bulk.c: lines that need no terminal --- */

struct bulk;

/* Loops over bytes, for one level of vectors. */
struct bulk_loops {
	/* How many bytes are printable ASCII, up to the first that is not. */
	size_t		(*plain)(const uint8_t *, size_t);
	/* How many are printable ASCII and no spaces. */
	size_t		(*visible)(const uint8_t *, size_t);
	/* Copy whole lines. */
	void		(*lines)(struct bulk *);
};

const struct bulk_loops *bulk_loops(void);
size_t	bulk_feed(struct tw_scan *, const uint8_t *, size_t, struct tw_out *,
	    size_t *);

/* --- versions.c: where a version of a line begins and ends --- */

struct tw_scan {
	const struct tw_literals *literals;	/* the caller's; may be NULL */
	const struct bulk_loops	 *loops;
	struct escape	 escape;
	struct utf8	 utf8;
	struct lines	 lines;
	uint32_t	 context;
	uint32_t	 keep;
	uint32_t	 pane;

	/* The version: what it wrote lies before its write position. */
	uint64_t	 version;
	uint32_t	 write_cell;
	uint32_t	 write;		/* the same in bytes */
	uint32_t	 changed;	/* byte at which its first edit was */
	uint32_t	 carried;
	uint32_t	 hits;		/* in this version so far */
	uint8_t		 written;	/* anything at all */

	/* The search: `node` is right for the text before byte `at`. */
	uint8_t		 known;		/* else node and at mean nothing */
	uint32_t	 at;
	uint32_t	 node;
	uint32_t	 line_node;	/* at the line's first byte */

	/* Hits told in quiet moments: by end after told_from, a bit each. */
	uint64_t	*told;		/* longest literal - 1; owned */
	uint32_t	 told_from;
	uint8_t		 telling;	/* any in this version */

	/* What waits for room in the caller's arrays. */
	enum op		 op;
	uint32_t	 n;
	struct glyph	 glyph;

	struct glyph	 last;		/* for REP; size 0: nothing to repeat */
	uint8_t		 replace;	/* write U+FFFD for what is not UTF-8 */
	uint8_t		 insert;	/* IRM */
	uint8_t		 no_wrap;	/* DECAWM is off */
	uint8_t		 alone;		/* the pending character joins none, */
	uint8_t		 wrapped;	/* has wrapped */
	uint8_t		 alternate;
	uint8_t		 saved_here;	/* the cursor saved is in this line */
	int32_t		 saved_row;
	uint32_t	 saved_column;
	uint32_t	 main_column;	/* when the alternate screen came */

	uint64_t	 total;		/* bytes of text written */
	uint64_t	 visible;
};

int	version_edit(struct tw_scan *, uint32_t, struct tw_out *);
int	version_advance(struct tw_scan *, uint32_t, struct tw_out *);
size_t	version_search(struct tw_scan *, const uint8_t *, size_t,
	    struct tw_out *);
int	version_end(struct tw_scan *, enum tw_version_end, struct tw_out *);
int	version_has_room(const struct tw_scan *, uint32_t,
	    const struct tw_out *);

/* --- scan.c: feeding without emptying the caller's arrays first --- */

size_t	scan_feed(struct tw_scan *, const uint8_t *, size_t, struct tw_out *);
void	scan_finish(struct tw_scan *, struct tw_out *);
void	scan_begin(struct tw_out *);
void	scan_reset(struct tw_scan *, uint32_t, uint64_t);

/* --- control.c: the lines of a control client --- */

/* Enough for all of a line that is not data: tmux's are below 100 bytes. */
#define CONTROL_HEAD 256

enum control_item {
	CONTROL_NOTHING,	/* all input taken */
	CONTROL_OUTPUT,		/* an output line begins, of `pane` */
	CONTROL_DATA,		/* bytes of an output line, still escaped */
	CONTROL_TEXT,		/* bytes of another line */
	CONTROL_DATA_END,
	CONTROL_BODY_END,	/* a line of a reply's body */
	CONTROL_BEGIN,
	CONTROL_REPLY,		/* `ok` says which */
	CONTROL_NOTE		/* any other line */
};

struct control {
	uint8_t		 head[CONTROL_HEAD];
	uint32_t	 head_size;
	uint8_t		 state;
	uint8_t		 cr;		/* a CR is held back */
	uint8_t		 reply;		/* in a reply's body */
	uint8_t		 ok;
	uint32_t	 pane;		/* of the output line */
	uint64_t	 time;		/* of the reply */
	uint64_t	 number;
	uint64_t	 flags;
};

/* A run of bytes: in the input, or in the struct it came from. */
struct slice {
	const uint8_t	*bytes;
	size_t		 size;
};

enum control_item control_next(struct control *, struct slice *,
	    struct slice *);

/* --- unescape.c: the octal escapes in the data of output lines --- */

/* Whole escapes and what is between them; returns where the output ends. */
typedef uint8_t *unescape_loop(struct slice *, uint8_t *, const uint8_t *);

/* An octal escape on its way in. */
struct unescape {
	unescape_loop	*loop;
	uint8_t		 held[4];
	uint8_t		 size;
};

unescape_loop *unescape_loop_now(void);
size_t	unescape_feed(struct unescape *, struct slice *, uint8_t *, size_t);
size_t	unescape_end(struct unescape *, uint8_t *);
size_t	control_output(struct control *, struct unescape *, struct slice *,
	    uint8_t *, size_t);

#endif
