/*
 * fuzz.h - what the fuzz targets share: an input taken apart, the many ways
 * in which it is fed, and the comparison of what came of them.
 *
 * A target is a function that is given bytes and aborts if the core says
 * something wrong about them.  Built for libFuzzer it is the only one in its
 * program; built with FUZZ_REPLAY all are in one, each under its own name.
 *
 * Only tmux_wait.h is used: what is private may change.
 */
#ifndef TMUX_WAIT_FUZZ_H
#define TMUX_WAIT_FUZZ_H

#include "../tmux_wait.h"

#ifdef FUZZ_REPLAY
#define FUZZ_TARGET(name) fuzz_##name
#else
#define FUZZ_TARGET(name) LLVMFuzzerTestOneInput
#endif

int	FUZZ_TARGET(control)(const uint8_t *, size_t);
int	FUZZ_TARGET(escapes)(const uint8_t *, size_t);
int	FUZZ_TARGET(lines)(const uint8_t *, size_t);
int	FUZZ_TARGET(literals)(const uint8_t *, size_t);
int	FUZZ_TARGET(panes)(const uint8_t *, size_t);
int	FUZZ_TARGET(scan)(const uint8_t *, size_t);

/* All ways to feed an input, not a choice of them: slower. */
extern int fuzz_thorough;

/* --- an input taken apart --- */

/*
 * Bytes of options, one for each field below; then literals with an
 * INPUT_NEXT between them, ended by INPUT_DATA; then data.
 */
#define INPUT_OPTIONS 8
#define INPUT_NEXT 0x1f
#define INPUT_DATA 0x1e

struct input {
	struct tw_options options;
	uint32_t	 fold;
	uint32_t	 resizes;	/* the width changes at each pause */
	uint32_t	 only;		/* one pane's output only */
	uint32_t	 seeded;
	uint32_t	 pause;		/* quiet after so many bytes; 0: never */
	uint32_t	 random;	/* where the cuts are */
	uint32_t	 count;		/* of literals; at least 1 */
	uint32_t	 lengths[TW_LITERALS_MAX];
	uint8_t		*literals;	/* one after the other; owned */
	const uint8_t	*data;
	size_t		 size;
};

int	input_take(struct input *, const uint8_t *, size_t);
void	input_free(struct input *);
const uint8_t *input_literal(const struct input *, uint32_t);
struct tw_literals *input_build(const struct input *);
int	input_matches(const struct input *, const uint8_t *, uint32_t);

/* --- ways to feed it --- */

struct plan {
	uint32_t	 level;		/* enum tw_simd_level */
	size_t		 most;		/* bytes of a piece; 0: all at once */
	int		 tiny;		/* arrays as small as they may be */
	uint64_t	 random;
};

/* The plan by which the others are judged; then each, until it says 0. */
struct plan plan_first(void);
int	plan_next(const struct input *, struct plan *, uint32_t *);

/* The pieces of data, each in a block of its own size, gone with the next. */
struct pieces {
	const struct plan *plan;
	const uint8_t	*at;
	size_t		 left;
	uint64_t	 random;
	uint8_t		*block;		/* owned */
	int		 any;
};

void	pieces_begin(struct pieces *, const struct plan *, const uint8_t *,
	    size_t);
int	pieces_next(struct pieces *, size_t *);

/* --- what came of it --- */

struct log {
	uint8_t		*bytes;		/* owned */
	size_t		 size;
	size_t		 room;
};

void	log_add(struct log *, const void *, size_t);
void	log_free(struct log *);

/* What scans say: each in its own order, however it was delivered. */
struct said {
	struct log	 hits;		/* struct tw_hit */
	struct log	 versions;	/* struct tw_version, text 0 */
	struct log	 texts;		/* what those hold, each with a LF */
	struct log	 states;	/* struct tw_now and line at each pause */
};

void	said_free(struct said *);
void	said_compare(const char *, const struct plan *, const struct said *,
	    const struct said *);
void	log_compare(const char *, const struct plan *, const struct log *,
	    const struct log *);

/* The arrays of a scan; `tiny` as in the plan. */
void	out_new(struct tw_out *, const struct input *, int);
void	out_free(struct tw_out *);
void	out_take(const struct tw_out *, const struct input *, struct said *);

/* One scan fed by a plan; see say.c. */
void	scan_say(const struct input *, const struct plan *, struct said *);

/* Say what is wrong and abort. */
void	fuzz_fail(const char *, ...)
	    __attribute__((noreturn, format(printf, 1, 2)));

#define CHECK(condition) \
	((condition) ? (void)0 : fuzz_fail("%s:%d: not so: %s", __FILE__, \
	    __LINE__, #condition))

#endif
