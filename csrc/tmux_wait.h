/*
 * tmux_wait.h - the one public header of the stream core.
 *
 * Ownership: a handle comes from tw_..._new (NULL: out of memory) and goes with
 * tw_..._free (NULL allowed).  A handle has one user at a time.  Feeding never
 * allocates, prints or aborts, and reads nothing but data[0 .. size); data may
 * be NULL when size is 0.
 *
 * Resuming: a feed that runs out of room in the caller's arrays returns how
 * many bytes it took and sets `full`.  Empty the arrays and feed the rest (it
 * may be nothing): nothing is lost and nothing comes twice.
 *
 * The result never depends on how the input was cut into feeds.
 */
#ifndef TMUX_WAIT_H
#define TMUX_WAIT_H

#include <stddef.h>
#include <stdint.h>

/* What follows, up to the closing marker, is also the cffi definition. */
/* cdef: begin */

/* Literals: at most this many, each of 1 to this many bytes. */
#define TW_LITERALS_MAX 64
#define TW_LITERAL_BYTES_MAX 4096

/* A line's text is cut at this many bytes, and at this many cells. */
#define TW_LINE_LIMIT 65536

/* A cut line passes at most this many bytes on to the next one. */
#define TW_CONTEXT_MAX 16384

/* The widest pane there is (tmux's own limit), in cells. */
#define TW_WIDTH_MAX 10000

/* One %output line gives one event for each this many bytes of data. */
#define TW_OUTPUT_LIMIT 1048576

/* The body of one reply is kept up to this many bytes. */
#define TW_BODY_LIMIT 16777216

/* The control source remembers the unfinished lines of this many panes. */
#define TW_PANES_MAX 128

/* --- vectors: what the processor has is found out at the first use --- */

enum tw_simd_level {
	TW_SIMD_SCALAR,
	TW_SIMD_SSE2,
	TW_SIMD_AVX2,
	TW_SIMD_AVX512,		/* with VBMI and VBMI2 */
	TW_SIMD_NEON,
	TW_SIMD_LEVELS		/* how many there are */
};

/*
 * Whether the processor has this level.  If so, what is made from now on uses
 * it: for tests, which hold the levels against each other.
 */
uint32_t tw_simd_use(uint32_t level);

/* The level in use. */
uint32_t tw_simd_level(void);

/* --- literals: what is looked for; read-only once built, may be shared --- */

enum tw_literals_status {
	TW_LITERALS_OK,
	TW_LITERALS_NONE,	/* no literal at all */
	TW_LITERALS_TOO_MANY,
	TW_LITERALS_EMPTY,	/* a literal of no bytes; see the index */
	TW_LITERALS_TOO_LONG,	/* see the index */
	TW_LITERALS_NO_MEMORY
};

struct tw_literals;

/*
 * Build from `count` literals that lie one after the other in `bytes`, each
 * lengths[i] bytes; both are copied.  With `fold`, ASCII letters match in
 * either case.  On failure NULL, with the reason and the literal's index.
 * Memory: below 16 MiB, whatever the literals.
 */
struct tw_literals *tw_literals_new(const uint8_t *bytes,
    const uint32_t *lengths, uint32_t count, uint32_t fold,
    uint32_t *status, uint32_t *index);
void tw_literals_free(struct tw_literals *literals);

/* One occurrence; start and end (half-open) count from the first feed. */
struct tw_match {
	uint64_t start;
	uint64_t end;
	uint32_t literal;
	uint32_t unused;
};

/* Where a search stands; all zero at first. */
struct tw_match_state {
	uint64_t offset;	/* bytes searched so far */
	uint32_t node;
	uint32_t full;		/* set: stopped for want of room */
};

/*
 * Search data: every occurrence, by end, then by literal.  `room` must be at
 * least the number of literals.  Returns the bytes taken.
 */
size_t tw_match_feed(const struct tw_literals *literals,
    struct tw_match_state *state, const uint8_t *data, size_t size,
    struct tw_match *matches, uint32_t room, uint32_t *found);

/* --- scan: one pane's bytes in; hits, versions and text out --- */

enum tw_version_end {
	TW_END_LINE,		/* line feed */
	TW_END_REDRAWN,		/* overwritten or erased; the line goes on */
	TW_END_CUT,		/* at the limit; the line goes on */
	TW_END_LEFT,		/* the cursor left the line */
	TW_END_FINISHED		/* tw_scan_finish */
};

struct tw_hit {
	uint64_t version;
	uint64_t offset;	/* bytes of text written when it counted */
	int32_t start;		/* in the line; < 0: in an earlier one */
	int32_t end;		/* half-open; may include the line feed */
	uint32_t pane;
	uint16_t literal;
	uint16_t complete;	/* 1: uses cells left over */
};

struct tw_version {
	uint64_t version;
	uint32_t text;		/* where its text lies in tw_out.text */
	uint32_t size;		/* bytes of text there */
	uint32_t start;		/* position of that text in the line */
	uint32_t length;	/* bytes of the whole line */
	uint32_t write;		/* write position, bytes */
	uint32_t carried;	/* leading bytes carried over from a cut */
	uint32_t pane;
	uint32_t end;		/* enum tw_version_end */
};

/*
 * The caller's arrays: each call fills them from the start.  A line feed, not
 * counted in its size, follows the text of each version.  Room: hits four
 * times the number of literals, versions 1, text the line limit + 1, at least.
 */
struct tw_out {
	struct tw_hit *hits;
	struct tw_version *versions;
	uint8_t *text;
	uint32_t hits_room;
	uint32_t versions_room;
	uint32_t text_room;
	uint32_t hits_size;
	uint32_t versions_size;
	uint32_t text_size;
	uint32_t full;
};

/* What a scan keeps of versions; see tw_options.keep. */
#define TW_KEEP_FINAL 1		/* lines: LINE, CUT, LEFT, FINISHED */
#define TW_KEEP_REDRAWN 2	/* superseded versions, with their context */
#define TW_KEEP_HIT 4		/* any version that holds a hit */
#define TW_KEEP_PLAIN 8		/* no records: text of lines, each with a LF */

struct tw_options {
	uint32_t width;		/* of the pane in cells; 0: never wraps */
	uint32_t context;	/* bytes kept around a change and over a cut */
	uint32_t limit;		/* of a line; 0: TW_LINE_LIMIT */
	uint32_t keep;
	uint32_t pane;		/* what tw_hit.pane says */
	uint32_t replace;	/* write U+FFFD for what is not UTF-8 */
};

struct tw_scan;

/* `literals` may be NULL; the caller keeps it until the scan is freed. */
struct tw_scan *tw_scan_new(const struct tw_literals *literals,
    const struct tw_options *options);
void tw_scan_free(struct tw_scan *scan);

/*
 * Start with a line that is already there: its text (no control characters)
 * and the cursor, in cells from its start.  Only before the first feed.
 */
void tw_scan_seed(struct tw_scan *scan, const uint8_t *text, size_t size,
    uint32_t cursor);
void tw_scan_resize(struct tw_scan *scan, uint32_t width);

/* Returns the bytes taken. */
size_t tw_scan_feed(struct tw_scan *scan, const uint8_t *data, size_t size,
    struct tw_out *out);

/* Hits of the unfinished version that use cells left over; each once. */
void tw_scan_quiet(struct tw_scan *scan, struct tw_out *out);

/* The unfinished line ends here. */
void tw_scan_finish(struct tw_scan *scan, struct tw_out *out);

/* The unfinished version; `text` is valid until the next call. */
struct tw_now {
	const uint8_t *text;
	uint64_t version;
	uint64_t visible;	/* printable, not blank; with KEEP_FINAL */
	uint32_t size;
	uint32_t write;
	uint32_t alternate;	/* an alternate screen has been switched on */
	uint32_t unused;
};
void tw_scan_now(const struct tw_scan *scan, struct tw_now *now);

/* --- panes: a control client's bytes in, hits of all panes out --- */

struct tw_panes;

/*
 * The pane least recently heard is dropped when there are too many: its line
 * ends there (TW_END_FINISHED).  Memory: TW_PANES_MAX scans.
 * With `only` set, output of panes other than `pane` is passed over.
 */
struct tw_panes *tw_panes_new(const struct tw_literals *literals,
    const struct tw_options *options, uint32_t only);
void tw_panes_free(struct tw_panes *panes);
size_t tw_panes_feed(struct tw_panes *panes, const uint8_t *data, size_t size,
    struct tw_out *out);
void tw_panes_finish(struct tw_panes *panes, struct tw_out *out);

/* --- the octal escapes of an output line --- */

/*
 * Unescape the data of an output line, all of it, into `out`, which has room
 * for `size` bytes and does not overlap it; returns the bytes written.
 */
size_t tw_unescape(const uint8_t *data, size_t size, uint8_t *out);

/* --- control: a control client's bytes in, events out --- */

enum tw_event_kind {
	TW_EVENT_OUTPUT,	/* number: the pane; bytes: its data */
	TW_EVENT_REPLY,		/* number, flags, ok; bytes: the body's lines */
	TW_EVENT_NOTIFICATION	/* bytes: the line without its % */
};

struct tw_event {
	uint64_t number;
	uint64_t flags;
	uint32_t kind;
	uint32_t start;		/* where its bytes lie in tw_control_bytes */
	uint32_t size;
	uint32_t ok;		/* reply: %end, not %error */
	uint32_t cut;		/* reply: its body was over TW_BODY_LIMIT */
	uint32_t unused;
};

struct tw_control;

struct tw_control *tw_control_new(void);
void tw_control_free(struct tw_control *control);

/* Where the events' bytes are, always; they stay until the next feed. */
const uint8_t *tw_control_bytes(const struct tw_control *control);

/* Returns the bytes taken; `full` as above.  `room` must be at least 2. */
size_t tw_control_feed(struct tw_control *control, const uint8_t *data,
    size_t size, struct tw_event *events, uint32_t room, uint32_t *found,
    uint32_t *full);

/* --- characters --- */

/* The cells of a code point: 0 (joins the one before, or vanishes), 1 or 2. */
uint32_t tw_width(uint32_t code_point);

/* --- drain: a thread reads descriptors, whatever those who read it do --- */

/* Bytes of one tap kept in memory. */
#define TW_TAP_MEMORY 262144

/* Bytes of one tap that go into its spool file, at most, as we use it. */
#define TW_TAP_SPOOL 67108864

/*
 * The calls below lock for themselves: several threads may use one drain, and
 * one tap; a reader has one user at a time.  In a forked child they do nothing.
 */
struct tw_drain;
struct tw_tap;
struct tw_reader;

/* NULL: no memory, or no descriptor.  Free it after its taps and readers. */
struct tw_drain *tw_drain_new(void);
void tw_drain_free(struct tw_drain *drain);

/*
 * Read `fd` from here on, behind the `size` bytes that came from it already
 * (at most TW_TAP_MEMORY, copied).  It must not block, and stays the caller's,
 * who closes it after the tap.  What nobody has taken yet goes, beyond memory,
 * into a spool: a file without a name, of at most `limit` bytes, made beside
 * `path`, which is copied and must not exist.  0: no spool.  NULL: no memory,
 * or no thread.
 */
struct tw_tap *tw_tap_new(struct tw_drain *drain, int32_t fd,
    const char *path, uint64_t limit, const uint8_t *first, size_t size);

/* When it returns nobody reads the descriptor; its readers have ended. */
void tw_tap_free(struct tw_tap *tap);

struct tw_tap_now {
	uint64_t head;		/* bytes that have been read */
	uint64_t base;		/* bytes that every reader has taken */
	uint64_t spooled;	/* bytes of what was not taken in the spool */
	uint32_t ended;		/* the descriptor is at its end */
	uint32_t full;		/* it is not read for want of room */
	uint32_t reading;	/* more may have left it than head says */
	uint32_t unused;
};
void tw_tap_now(struct tw_tap *tap, struct tw_tap_now *now);

/*
 * The first reader begins with the tap's first byte, a later one with what is
 * read next.  NULL: no memory, or no descriptor.
 */
struct tw_reader *tw_reader_new(struct tw_tap *tap);
void tw_reader_free(struct tw_reader *reader);

/* Readable while there is something to take, or the end; only poll it. */
int32_t tw_reader_fd(const struct tw_reader *reader);

/* Returns the bytes copied; `ended`: nothing more will come behind them. */
size_t tw_reader_take(struct tw_reader *reader, uint8_t *to, size_t room,
    uint32_t *ended);

/*
 * Copy the last bytes before what the reader takes next, as many as are still
 * in memory and fit.  `from` says the number of the first.
 */
size_t tw_reader_recall(struct tw_reader *reader, uint8_t *to, size_t room,
    uint64_t *from);

/*
 * Lend a scan: the thread feeds it what the reader would take, until a feed
 * finds something, which stays in `out`; bytes behind it are kept as before.
 * What the completed lines say, each with a line feed, goes to `text`, the last
 * `room` bytes of it.  The reader's descriptor becomes readable when something
 * was found, at the end, and TW_SCAN_REPORT milliseconds after the first byte.
 * Scan, arrays and text are the thread's until they are taken back; `taken` of
 * a scan that is not lent is all zero.
 */
#define TW_SCAN_REPORT 20

struct tw_taken {
	uint64_t size;		/* bytes that were scanned */
	uint64_t text;		/* bytes of text, all told; it goes round */
	int64_t last;		/* when the last came: monotonic, nanoseconds */
	uint32_t found;		/* `out` holds something */
	uint32_t unused;
};
void tw_reader_lend(struct tw_reader *reader, struct tw_scan *scan,
    struct tw_out *out, uint8_t *text, size_t room);
void tw_reader_take_back(struct tw_reader *reader, struct tw_taken *taken);

/* cdef: end */

#endif
