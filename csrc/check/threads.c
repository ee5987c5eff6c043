/*
 * threads.c - threads that each have scans of their own and share what may be
 * shared: the literals, and the level of vectors.  Built with ThreadSanitizer;
 * each thread must come to the same.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tmux_wait.h"

#define THREADS 8
#define ROUNDS 300

static const char	text[] =
    "booting\r\n\033[1;32mready\033[0m to accept\r\n50%\r60%\r100% READY\n"
    "a line with re\b\bready in it, and \344\270\226\347\225\214\nready";
static const char	lines[] =
    "%output %1 booting\\015\\012\n%output %2 rea\n%begin 1 2 3\nready\n"
    "%end 1 2 3\n%output %2 dy\\015\\012\n%output %1 \\033[1mready\\012\n";

static struct tw_literals	*shared;
static pthread_mutex_t		 gate = PTHREAD_MUTEX_INITIALIZER;

/* What a thread found in all its rounds. */
struct found {
	uint64_t	hits;
	uint64_t	versions;
	uint64_t	matches;
	uint64_t	events;
	uint64_t	panes;
};

struct arrays {
	struct tw_hit		hits[64];
	struct tw_version	versions[16];
	uint8_t			text[TW_LINE_LIMIT + 1];
	struct tw_out		out;
};

static struct arrays *
arrays_new(void)
{
	struct arrays	*a = calloc(1, sizeof *a);

	if (a == NULL)
		abort();
	a->out.hits = a->hits;
	a->out.versions = a->versions;
	a->out.text = a->text;
	a->out.hits_room = 64;
	a->out.versions_room = 16;
	a->out.text_room = sizeof a->text;
	return (a);
}

static void
search(struct found *f)
{
	struct tw_match_state	state = { 0 };
	struct tw_match		matches[256];
	uint32_t		found;

	(void)tw_match_feed(shared, &state, (const uint8_t *)text,
	    sizeof text - 1, matches, 256, &found);
	f->matches += found;
}

static void
scan(struct found *f, struct arrays *a, size_t piece)
{
	struct tw_options	 options = { .keep = TW_KEEP_FINAL };
	struct tw_scan		*s = tw_scan_new(shared, &options);
	size_t			 at, n;

	if (s == NULL)
		abort();
	for (at = 0; at < sizeof text - 1; at += n) {
		n = sizeof text - 1 - at < piece ? sizeof text - 1 - at :
		    piece;
		n = tw_scan_feed(s, (const uint8_t *)text + at, n, &a->out);
		f->hits += a->out.hits_size;
		f->versions += a->out.versions_size;
	}
	tw_scan_finish(s, &a->out);
	f->versions += a->out.versions_size;
	tw_scan_free(s);
}

static void
control(struct found *f, struct arrays *a)
{
	struct tw_options	 options = {
		.keep = TW_KEEP_HIT, .limit = 256
	};
	struct tw_panes		*panes = tw_panes_new(shared, &options, 0);
	struct tw_control	*parser = tw_control_new();
	struct tw_event		 events[16];
	uint32_t		 found, full;

	if (panes == NULL || parser == NULL)
		abort();
	(void)tw_panes_feed(panes, (const uint8_t *)lines, sizeof lines - 1,
	    &a->out);
	f->panes += a->out.hits_size;
	(void)tw_control_feed(parser, (const uint8_t *)lines,
	    sizeof lines - 1, events, 16, &found, &full);
	f->events += found;
	tw_control_free(parser);
	tw_panes_free(panes);
}

static void *
run(void *found)
{
	struct found	*f = found;
	struct arrays	*a = arrays_new();
	size_t		 i;

	(void)pthread_mutex_lock(&gate);
	(void)pthread_mutex_unlock(&gate);
	(void)tw_simd_level();
	for (i = 0; i < ROUNDS; i++) {
		search(f);
		scan(f, a, 1 + i % 40);
		if (i % 20 == 0)
			control(f, a);
	}
	free(a);
	return (NULL);
}

int
main(void)
{
	const uint32_t	 lengths[] = { 5, 1, 4 };
	struct found	 found[THREADS] = { { 0 } };
	pthread_t	 threads[THREADS];
	uint32_t	 status, index, i;

	shared = tw_literals_new((const uint8_t *)"readya50%\r", lengths, 3,
	    1, &status, &index);
	if (shared == NULL)
		abort();
	(void)pthread_mutex_lock(&gate);
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, run, &found[i]) != 0)
			abort();
	}
	(void)pthread_mutex_unlock(&gate);	/* all at once */
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	tw_literals_free(shared);
	for (i = 0; i < THREADS; i++) {
		/* Four times ready, and once over an output line's end. */
		if (memcmp(&found[i], &found[0], sizeof found[0]) != 0 ||
		    found[i].hits < 4 * ROUNDS || found[i].matches == 0 ||
		    found[i].events != ROUNDS / 20 * 5 ||
		    found[i].panes == 0) {
			(void)fprintf(stderr, "threads: they differ\n");
			return (1);
		}
	}
	(void)printf("%d threads came to the same\n", THREADS);
	return (0);
}
