/*
 * panes.c - fuzz target: the fused pass over a control client's bytes
 * against its parts, one after the other: the control parser's output
 * events, each given to a scan of its pane.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Lines are shorter here: 128 scans are made for each way to feed. */
#define LIMIT 256

/* Scans of panes differ in these bits of their versions, and above. */
#define LIFE 40

struct slot {
	struct tw_scan	*scan;		/* NULL: never used */
	uint32_t	 pane;
	uint64_t	 heard;
	uint64_t	 life;
};

struct parts {
	const struct input	*in;
	struct tw_literals	*literals;
	struct slot		 slots[TW_PANES_MAX];
	uint64_t		 heard;
	uint64_t		 lives;
	struct tw_out		 out;
	struct said		*said;
};

/* What a scan has said, as that of its pane and its life. */
static void
parts_take(struct parts *s, const struct slot *slot)
{
	uint32_t	i;

	for (i = 0; i < s->out.hits_size; i++) {
		s->out.hits[i].pane = slot->pane;
		s->out.hits[i].version += slot->life << LIFE;
	}
	for (i = 0; i < s->out.versions_size; i++) {
		s->out.versions[i].pane = slot->pane;
		s->out.versions[i].version += slot->life << LIFE;
	}
	out_take(&s->out, s->in, s->said);
}

static void
parts_finish(struct parts *s, struct slot *slot)
{
	if (slot->scan == NULL)
		return;
	do {
		tw_scan_finish(slot->scan, &s->out);
		parts_take(s, slot);
	} while (s->out.full);
	tw_scan_free(slot->scan);
	slot->scan = NULL;
}

/* The slot of a pane: its own, else the one not heard for longest. */
static struct slot *
parts_slot(struct parts *s, uint32_t pane)
{
	struct slot	*slot = &s->slots[0];
	uint32_t	 i;

	for (i = 0; i < TW_PANES_MAX; i++) {
		if (s->slots[i].scan != NULL && s->slots[i].pane == pane)
			return (&s->slots[i]);
		if (s->slots[i].heard < slot->heard)
			slot = &s->slots[i];
	}
	parts_finish(s, slot);
	slot->pane = pane;
	slot->life = s->lives++;
	slot->scan = tw_scan_new(s->literals, &s->in->options);
	CHECK(slot->scan != NULL);
	return (slot);
}

/* What a pane wrote. */
static void
parts_output(struct parts *s, uint32_t pane, const uint8_t *p, size_t n)
{
	struct slot	*slot;
	size_t		 done = 0;

	if (n == 0 || (s->in->only && pane != s->in->options.pane))
		return;
	slot = parts_slot(s, pane);
	slot->heard = ++s->heard;
	do {
		done += tw_scan_feed(slot->scan, p + done, n - done, &s->out);
		parts_take(s, slot);
	} while (s->out.full);
}

/*
 * All whole lines.  (An output line without its end is shown at once by the
 * fused pass, and not by the parser.)
 */
static void
parts_say(const struct input *in, struct said *said, struct said *end)
{
	static struct parts	 s;
	struct tw_control	*control = tw_control_new();
	struct tw_event		 events[64];
	uint32_t		 found, full, i;
	size_t			 done = 0;

	memset(&s, 0, sizeof s);
	s.in = in;
	s.said = said;
	s.literals = input_build(in);
	CHECK(control != NULL);
	out_new(&s.out, in, 0);
	do {
		done += tw_control_feed(control, in->data + done,
		    in->size - done, events, 64, &found, &full);
		for (i = 0; i < found; i++) {
			if (events[i].kind != TW_EVENT_OUTPUT)
				continue;
			parts_output(&s, (uint32_t)events[i].number,
			    tw_control_bytes(control) + events[i].start,
			    events[i].size);
		}
	} while (full);
	s.said = end;
	for (i = 0; i < TW_PANES_MAX; i++)
		parts_finish(&s, &s.slots[i]);
	out_free(&s.out);
	tw_literals_free(s.literals);
	tw_control_free(control);
}

/* --- the fused pass --- */

static void
fused_piece(struct tw_panes *panes, const struct input *in, const uint8_t *p,
    size_t n, struct tw_out *out, struct said *said)
{
	size_t	done = 0;

	do {
		done += tw_panes_feed(panes, n == 0 ? NULL : p + done,
		    n - done, out);
		CHECK(done <= n && (out->full || done == n));
		out_take(out, in, said);
	} while (out->full);
}

static void
fused_say(const struct input *in, const struct plan *plan, struct said *said,
    struct said *end)
{
	struct tw_literals	*literals = input_build(in);
	struct tw_panes		*panes;
	struct tw_out		 out;
	struct pieces		 pieces;
	size_t			 n;

	panes = tw_panes_new(literals, &in->options, in->only);
	CHECK(panes != NULL);
	out_new(&out, in, plan->tiny);
	pieces_begin(&pieces, plan, in->data, in->size);
	while (pieces_next(&pieces, &n))
		fused_piece(panes, in, pieces.block, n, &out, said);
	do {
		tw_panes_finish(panes, &out);
		out_take(&out, in, end);
	} while (out.full);
	tw_panes_finish(panes, &out);
	CHECK(out.hits_size + out.versions_size + out.text_size == 0);
	out_free(&out);
	tw_panes_free(panes);
	tw_literals_free(literals);
}

/* Data up to its last line feed. */
static size_t
whole_lines(const uint8_t *p, size_t n)
{
	while (n != 0 && p[n - 1] != '\n')
		n--;
	return (n);
}

int
FUZZ_TARGET(panes)(const uint8_t *p, size_t n)
{
	struct input	in;
	struct plan	plan = plan_first();
	struct said	first = { { 0 }, { 0 }, { 0 }, { 0 } };
	struct said	first_end = first, said, end;
	uint32_t	i = 0;

	if (!input_take(&in, p, n))
		return (0);
	if (in.options.limit == 0 || in.options.limit > LIMIT)
		in.options.limit = LIMIT;
	in.options.pane = in.random % 4;
	in.size = whole_lines(in.data, in.size);
	parts_say(&in, &first, &first_end);
	while (plan_next(&in, &plan, &i)) {
		memset(&said, 0, sizeof said);
		memset(&end, 0, sizeof end);
		fused_say(&in, &plan, &said, &end);
		said_compare("panes", &plan, &first, &said);
		said_compare("panes at the end", &plan, &first_end, &end);
		said_free(&said);
		said_free(&end);
	}
	said_free(&first);
	said_free(&first_end);
	input_free(&in);
	return (0);
}
