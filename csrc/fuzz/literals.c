/*
 * literals.c - fuzz target: the search for literals against the naive one.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Bytes that are searched: the naive search looks at all of them each time. */
#define DATA_MAX 8192

/* Look at every end for every literal. */
static void
naive_search(const struct input *in, struct log *log)
{
	struct tw_match	match = { 0 };
	size_t		end;
	uint32_t	i;

	for (end = 1; end <= in->size; end++) {
		for (i = 0; i < in->count; i++) {
			if (end < in->lengths[i] || !input_matches(in,
			    in->data + (end - in->lengths[i]), i))
				continue;
			match.literal = i;
			match.start = end - in->lengths[i];
			match.end = end;
			log_add(log, &match, sizeof match);
		}
	}
}

/* Search one piece, resuming. */
static void
search_piece(const struct tw_literals *literals, struct tw_match_state *state,
    const uint8_t *p, size_t n, struct tw_match *matches, uint32_t room,
    struct log *log)
{
	uint32_t	found;
	size_t		done = 0;

	do {
		done += tw_match_feed(literals, state, n == 0 ? NULL :
		    p + done, n - done, matches, room, &found);
		CHECK(done <= n && found <= room);
		CHECK(state->full ? found != 0 : done == n);
		log_add(log, matches, found * sizeof *matches);
	} while (state->full);
}

static void
search(const struct input *in, const struct plan *plan, struct log *log)
{
	struct tw_literals	*literals = input_build(in);
	struct tw_match_state	 state = { 0 };
	struct tw_match		*matches;
	struct pieces		 pieces;
	uint32_t		 room = in->count + (plan->tiny ? 0 : 1024);
	size_t			 n;

	matches = malloc(room * sizeof *matches);
	CHECK(matches != NULL);
	pieces_begin(&pieces, plan, in->data, in->size);
	while (pieces_next(&pieces, &n))
		search_piece(literals, &state, pieces.block, n, matches, room,
		    log);
	CHECK(state.offset == in->size);
	free(matches);
	tw_literals_free(literals);
}

int
FUZZ_TARGET(literals)(const uint8_t *p, size_t n)
{
	struct input	 in;
	struct plan	 plan = plan_first();
	struct log	 expected = { 0 }, came = { 0 };
	uint32_t	 i = 0;

	if (!input_take(&in, p, n))
		return (0);
	if (in.size > DATA_MAX)
		in.size = DATA_MAX;
	naive_search(&in, &expected);
	while (plan_next(&in, &plan, &i)) {
		came.size = 0;
		search(&in, &plan, &came);
		log_compare("literals: matches", &plan, &expected, &came);
	}
	log_free(&expected);
	log_free(&came);
	input_free(&in);
	return (0);
}
