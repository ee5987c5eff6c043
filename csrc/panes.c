/*
 * panes.c - the fused pass over a control client's bytes: the output of each
 * pane goes to a scan of its own.
 *
 * Bounded: TW_PANES_MAX scans.  For one more pane the one least recently
 * heard goes: its unfinished line ends there, and if it speaks again it is a
 * pane like a new one.
 */

#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "core.h"

/*
 * Unescaped bytes on their way to a scan: the output of one pane, of as many
 * lines as fit, so that the scan sees much at once.
 */
#define PANES_CHUNK 32768

/* What one step takes at most. */
#define PANES_STEP (PANES_CHUNK / 2)

/* With room for a step and what an escape held back there is room enough. */
#define PANES_FULL (PANES_CHUNK - PANES_STEP - 4)

/* Versions of different panes in one scan differ in these bits and above. */
#define PANES_LIFE 40

struct slot {
	struct tw_scan	*scan;		/* owned */
	uint32_t	 pane;
	uint64_t	 heard;		/* when, in outputs; 0: never used */
};

struct tw_panes {
	struct control	 lines;
	struct unescape	 unescape;
	struct slot	 slots[TW_PANES_MAX];
	uint32_t	 last;		/* slot of the last output */
	uint64_t	 outputs;
	uint64_t	 lives;		/* panes begun */
	uint32_t	 only;
	uint32_t	 pane;		/* the only one */
	uint8_t		 busy;		/* a scan has something pending */
	uint32_t	 at;		/* in chunk: what the scan has taken */
	uint32_t	 size;
	uint32_t	 speaker;	/* the pane whose output it is */
	uint8_t		 chunk[PANES_CHUNK];
};

struct tw_panes *
tw_panes_new(const struct tw_literals *literals,
    const struct tw_options *options, uint32_t only)
{
	struct tw_panes	*t;
	uint32_t	 i;

	t = calloc(1, sizeof *t);
	if (t == NULL)
		return (NULL);
	t->only = only;
	t->pane = options->pane;
	t->unescape.loop = unescape_loop_now();
	for (i = 0; i < TW_PANES_MAX; i++) {
		t->slots[i].scan = tw_scan_new(literals, options);
		if (t->slots[i].scan == NULL) {
			tw_panes_free(t);
			return (NULL);
		}
	}
	return (t);
}

void
tw_panes_free(struct tw_panes *t)
{
	uint32_t	i;

	if (t == NULL)
		return;
	for (i = 0; i < TW_PANES_MAX; i++)
		tw_scan_free(t->slots[i].scan);
	free(t);
}

/* The slot of a pane, or the one that it should have. */
static uint32_t
panes_slot(const struct tw_panes *t, uint32_t pane)
{
	uint32_t	i, oldest = 0;

	if (t->slots[t->last].heard != 0 && t->slots[t->last].pane == pane)
		return (t->last);
	for (i = 0; i < TW_PANES_MAX; i++) {
		if (t->slots[i].heard != 0 && t->slots[i].pane == pane)
			return (i);
		if (t->slots[i].heard < t->slots[oldest].heard)
			oldest = i;
	}
	return (oldest);
}

/* The scan of a pane; NULL: no room for what another's end gives. */
static struct tw_scan *
panes_scan(struct tw_panes *t, uint32_t pane, struct tw_out *out)
{
	uint32_t	 i = panes_slot(t, pane);
	struct slot	*slot = &t->slots[i];

	if (slot->heard == 0 || slot->pane != pane) {
		scan_finish(slot->scan, out);
		if (out->full)
			return (NULL);
		scan_reset(slot->scan, pane, t->lives++ << PANES_LIFE);
		slot->pane = pane;
	}
	slot->heard = ++t->outputs;
	t->last = i;
	return (slot->scan);
}

/* Give the first bytes of the chunk to its pane's scan; 0: no room. */
static int
panes_drain(struct tw_panes *t, uint32_t size, struct tw_out *out)
{
	struct tw_scan	*scan;

	if (t->size == 0 && !t->busy)
		return (1);
	scan = panes_scan(t, t->speaker, out);
	if (scan == NULL)
		return (0);
	t->at += (uint32_t)scan_feed(scan, t->chunk + t->at, size - t->at,
	    out);
	t->busy = (uint8_t)out->full;
	if (out->full)
		return (0);
	memmove(t->chunk, t->chunk + t->at, t->size - t->at);
	t->size -= t->at;
	t->at = 0;
	return (1);
}

/* How much of the chunk is whole lines; all of it if none is. */
static uint32_t
panes_lines(const struct tw_panes *t)
{
	uint32_t	n = t->size;

	while (n > t->at && t->chunk[n - 1] != '\n')
		n--;
	return (n == t->at ? t->size : n);
}

/* Whether the output line that is on its way is wanted. */
static int
panes_wants(const struct tw_panes *t)
{
	return (!t->only || t->lines.pane == t->pane);
}

/* Put a piece of output into the chunk, which has room. */
static void
panes_take(struct tw_panes *t, enum control_item item, struct slice *piece)
{
	if (item != CONTROL_DATA && item != CONTROL_DATA_END)
		return;
	if (!panes_wants(t))
		return;
	t->speaker = t->lines.pane;
	t->size += (uint32_t)unescape_feed(&t->unescape, piece,
	    t->chunk + t->size, PANES_CHUNK - t->size);
	if (item == CONTROL_DATA_END)
		t->size += (uint32_t)unescape_end(&t->unescape,
		    t->chunk + t->size);
}

/*
 * Make room for more output; 0: no room.  Before that of another pane all of
 * it goes; otherwise the line that has not ended may wait for its end.
 */
static int
panes_ready(struct tw_panes *t, struct tw_out *out)
{
	if (t->busy || (t->size != 0 && t->speaker != t->lines.pane))
		return (panes_drain(t, t->size, out));
	return (t->size <= PANES_FULL || panes_drain(t, panes_lines(t), out));
}

/* Take some of the input, which there is room for in the chunk. */
static void
panes_step(struct tw_panes *t, struct slice *in)
{
	struct slice		piece;
	enum control_item	item;
	size_t			size = in->size;

	if (panes_wants(t)) {
		t->speaker = t->lines.pane;
		t->size += (uint32_t)control_output(&t->lines, &t->unescape,
		    in, t->chunk + t->size, PANES_CHUNK - t->size);
		if (in->size != size)
			return;
	}
	item = control_next(&t->lines, in, &piece);
	panes_take(t, item, &piece);
}

size_t
tw_panes_feed(struct tw_panes *t, const uint8_t *data, size_t size,
    struct tw_out *out)
{
	struct slice	in;
	size_t		done = 0, step;

	scan_begin(out);
	while (done < size) {
		/* After control_next said whose output comes. */
		if (!panes_ready(t, out))
			return (done);
		step = size - done < PANES_STEP ? size - done : PANES_STEP;
		in.bytes = data + done;
		in.size = step;
		panes_step(t, &in);
		done += step - in.size;
	}
	(void)panes_drain(t, t->size, out);
	return (done);
}

void
tw_panes_finish(struct tw_panes *t, struct tw_out *out)
{
	uint32_t	i;

	scan_begin(out);
	if (!panes_drain(t, t->size, out))
		return;
	for (i = 0; i < TW_PANES_MAX && !out->full; i++)
		scan_finish(t->slots[i].scan, out);
}
