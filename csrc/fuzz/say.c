/*
 * say.c - feeds one scan by a plan and keeps all that it says.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* The unfinished line, and what is known about it. */
static void
say_state(const struct tw_scan *scan, const struct input *in,
    struct said *said)
{
	struct tw_now	now;
	const uint8_t	*text;

	tw_scan_now(scan, &now);
	if (!(in->options.keep & TW_KEEP_FINAL))
		now.visible = 0;	/* it is not counted */
	text = now.text;
	now.text = NULL;
	CHECK(now.write <= now.size);
	log_add(&said->states, &now, sizeof now);
	log_add(&said->states, text, now.size);
}

/* Feed one piece, resuming. */
static void
say_piece(struct tw_scan *scan, const struct input *in, const uint8_t *p,
    size_t n, struct tw_out *out, struct said *said)
{
	size_t	done = 0;

	do {
		done += tw_scan_feed(scan, n == 0 ? NULL : p + done, n - done,
		    out);
		CHECK(done <= n && (out->full || done == n));
		out_take(out, in, said);
	} while (out->full);
}

static void
say_finish(struct tw_scan *scan, const struct input *in, struct tw_out *out,
    struct said *said)
{
	do {
		tw_scan_finish(scan, out);
		out_take(out, in, said);
	} while (out->full);
	say_state(scan, in, said);
}

/* A quiet moment, and another, which has nothing to add. */
static void
say_quiet(struct tw_scan *scan, const struct input *in, struct tw_out *out,
    struct said *said)
{
	do {
		tw_scan_quiet(scan, out);
		CHECK(out->versions_size == 0 && out->text_size == 0);
		out_take(out, in, said);
	} while (out->full);
	tw_scan_quiet(scan, out);
	CHECK(out->hits_size == 0 && !out->full);
	say_state(scan, in, said);
}

/* A line that is already there: the first literal's printable bytes. */
static void
say_seed(struct tw_scan *scan, const struct input *in)
{
	uint8_t		*text;
	const uint8_t	*p = in->literals;
	uint32_t	 i, n = 0;

	text = malloc(in->lengths[0]);
	CHECK(text != NULL);
	for (i = 0; i < in->lengths[0]; i++) {
		if (p[i] >= 0x20 && p[i] != 0x7f)
			text[n++] = p[i];
	}
	tw_scan_seed(scan, text, n, in->random);
	free(text);
}

/* The pane has another width after each pause. */
static void
say_resize(struct tw_scan *scan, const struct input *in, uint32_t pauses)
{
	static const uint32_t	widths[] = { 5, 0, 20, 2 };

	if (in->resizes)
		tw_scan_resize(scan, widths[pauses % 4]);
}

/*
 * Feed in->data with a pause after each in->pause bytes, then finish, twice:
 * the second time there is nothing left.
 */
void
scan_say(const struct input *in, const struct plan *plan, struct said *said)
{
	struct tw_literals	*literals = input_build(in);
	struct tw_scan		*scan = tw_scan_new(literals, &in->options);
	struct tw_out		 out;
	struct pieces		 pieces;
	size_t			 at = 0, n, piece;
	uint32_t		 pauses = 0;

	CHECK(scan != NULL);
	out_new(&out, in, plan->tiny);
	if (in->seeded)
		say_seed(scan, in);
	do {
		n = in->size - at;
		if (in->pause != 0 && n > in->pause)
			n = in->pause;
		pieces_begin(&pieces, plan, in->data + at, n);
		while (pieces_next(&pieces, &piece))
			say_piece(scan, in, pieces.block, piece, &out, said);
		at += n;
		if (in->pause != 0) {
			say_quiet(scan, in, &out, said);
			say_resize(scan, in, pauses++);
		}
	} while (at < in->size);
	say_state(scan, in, said);
	say_finish(scan, in, &out, said);
	tw_scan_finish(scan, &out);
	CHECK(out.hits_size + out.versions_size + out.text_size == 0);
	out_free(&out);
	tw_scan_free(scan);
	tw_literals_free(literals);
}
