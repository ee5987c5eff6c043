/*
 * literals.c - searches for up to 64 literals at once.
 *
 * Source: A. V. Aho and M. J. Corasick, "Efficient string matching: an aid to
 * bibliographic search", 1975.
 *
 * Most text is not gone over by the automaton at all: a prefilter passes over
 * it up to where a literal may be, and the automaton goes on from there until
 * nothing that began there can still be a literal.
 *
 * Bytes are mapped to classes: one for each byte that is in a literal (both
 * cases of a letter share one when folding), and one for all others.  A node
 * is a prefix of some literal.  Two forms of the automaton:
 *  - dense: a row of next nodes for each node, when all rows fit into
 *    LITERALS_DENSE bytes;
 *  - sparse: the trie's edges and failure links, for many long literals, with
 *    rows for the few nodes that have several children.  Steps are amortised:
 *    as many failures as there were steps forward.
 *
 * Memory: at most LITERALS_NODES nodes of 24 bytes, and LITERALS_DENSE bytes;
 * while it is built, 4 bytes more for each node.  Below 16 MiB in all.
 */

#include <stdlib.h>
#include <string.h>

#include "core.h"

#define LITERALS_NODES (TW_LITERALS_MAX * TW_LITERAL_BYTES_MAX + 1)

/* A cell of a dense row has four bytes. */
#define DENSE_CELL 2

/* Bytes of dense rows: beyond it they would not stay in the cache anyway. */
#define LITERALS_DENSE (4u << 20)

/* In a dense row: a literal ends at that node. */
#define LITERALS_ENDS 1u

/*
 * Rows of the sparse form, for the root and each node with several children:
 * all of a node's children but the first are one literal more.
 */
#define LITERALS_ROWS (TW_LITERALS_MAX + 1)

/* A node of the trie. */
struct node {
	uint32_t	 child;		/* first child; 0: none */
	uint32_t	 sibling;	/* next child of the same parent */
	uint32_t	 fail;
	uint32_t	 class : 9;	/* that leads here */
	uint32_t	 row : 7;	/* 0: it has one child at most */
	uint32_t	 depth : 13;	/* bytes of the prefix */
};

struct tw_literals {
	uint32_t	 count;
	uint32_t	 longest;
	uint32_t	 size[TW_LITERALS_MAX];
	uint16_t	 class[256];	/* 0: in no literal */
	uint32_t	 classes;

	struct node	*node;		/* owned */
	uint64_t	*ends;		/* by node, literals that end there, */
					/* a bit each; owned */
	uint32_t	 nodes;

	/* By row and class, the next node; owned; NULL: dense. */
	uint32_t	*row;
	uint32_t	 rows;

	/*
	 * By node << shift and class << DENSE_CELL, in bytes: the next node
	 * << shift, with LITERALS_ENDS or not; owned; NULL: sparse.
	 */
	uint8_t		*dense;
	uint32_t	 shift;

	struct prefilter *filter;	/* owned */
};

/*
 * Where a search stands, in one word: its node, and above it for how many
 * bytes the automaton goes on alone, since the prefilter did not pay.
 */
#define LITERALS_NODE 0xfffff
#define LITERALS_ALONE 20

/* How many these are: much more than are lost to find out again. */
#define LITERALS_REST 2048u

/* To start the automaton costs as much as so many bytes gone over. */
#define LITERALS_START 24

/* Shorter text is left to the automaton. */
#define LITERALS_SHORT 24

/* Where hits are dense, to hand a node through memory is what takes long. */
#define LITERALS_INLINE static inline __attribute__((always_inline))

uint32_t
literals_count(const struct tw_literals *t)
{
	return (t->count);
}

/* Bytes of the longest literal. */
uint32_t
literals_longest(const struct tw_literals *t)
{
	return (t->longest);
}

uint32_t
literals_size(const struct tw_literals *t, uint32_t literal)
{
	return (t->size[literal]);
}

/* Give each byte its class. */
static void
literals_classify(struct tw_literals *t, const uint8_t *bytes, size_t total,
    int fold)
{
	size_t		i;
	uint8_t		b, other;

	t->classes = 1;
	for (i = 0; i < total; i++) {
		b = bytes[i];
		if (t->class[b] != 0)
			continue;
		t->class[b] = (uint16_t)t->classes++;
		other = b | 0x20;
		if (fold && other >= 'a' && other <= 'z') {
			t->class[other] = t->class[b];
			t->class[other & ~0x20] = t->class[b];
		}
	}
}

/* The child of a node by a class; 0: none (the root is no one's child). */
static uint32_t
literals_child(const struct tw_literals *t, uint32_t node, uint16_t class)
{
	uint32_t	c;

	for (c = t->node[node].child; c != 0; c = t->node[c].sibling) {
		if (t->node[c].class == class)
			return (c);
	}
	return (0);
}

/* Add a literal to the trie. */
static void
literals_add(struct tw_literals *t, const uint8_t *p, uint32_t literal)
{
	uint32_t	 node = LITERALS_ROOT, next, i;
	struct node	*new;

	for (i = 0; i < t->size[literal]; i++) {
		next = literals_child(t, node, t->class[p[i]]);
		if (next == 0) {
			next = t->nodes++;
			new = &t->node[next];
			new->class = t->class[p[i]];
			new->depth = i + 1;
			new->sibling = t->node[node].child;
			t->node[node].child = next;
		}
		node = next;
	}
	t->ends[node] |= UINT64_C(1) << literal;
}

/* The next node, by the trie, its rows and its failure links. */
static uint32_t
literals_step(const struct tw_literals *t, uint32_t node, uint16_t class)
{
	const struct node	*at;

	for (;;) {
		at = &t->node[node];
		if (at->row != 0)
			return (t->row[(at->row - 1) * t->classes + class]);
		if (at->child != 0 && t->node[at->child].class == class)
			return (at->child);
		node = at->fail;
	}
}

/* Give a node a row, if it has several children or is the root. */
static void
literals_set_row(struct tw_literals *t, uint32_t node)
{
	uint32_t	 c = t->node[node].child, *row;
	uint16_t	 class;

	if (node != LITERALS_ROOT && (c == 0 || t->node[c].sibling == 0))
		return;
	row = t->row + t->rows++ * t->classes;
	for (class = 0; class < t->classes; class++) {
		row[class] = node == LITERALS_ROOT ? LITERALS_ROOT :
		    literals_step(t, t->node[node].fail, class);
	}
	for (; c != 0; c = t->node[c].sibling)
		row[t->node[c].class] = c;
	t->node[node].row = t->rows;
}

/*
 * Set the failure links and rows, nearest nodes first; `queue` has room for
 * all.
 */
static void
literals_link(struct tw_literals *t, uint32_t *queue)
{
	uint32_t	head = 0, tail = 0, node, c;

	queue[tail++] = LITERALS_ROOT;
	while (head < tail) {
		node = queue[head++];
		literals_set_row(t, node);
		for (c = t->node[node].child; c != 0;
		    c = t->node[c].sibling) {
			queue[tail++] = c;
			if (node == LITERALS_ROOT)
				continue;	/* it fails to the root */
			t->node[c].fail = literals_step(t,
			    t->node[node].fail, t->node[c].class);
			t->ends[c] |= t->ends[t->node[c].fail];
		}
	}
}

/* Fill the dense rows: a node's own edges over those of its failure link. */
static void
literals_fill(struct tw_literals *t, const uint32_t *queue)
{
	uint32_t	i, node, c, cell;
	uint8_t		*row;

	for (i = 0; i < t->nodes; i++) {
		node = queue[i];
		row = t->dense + ((size_t)node << t->shift);
		if (node != LITERALS_ROOT)
			memcpy(row, t->dense +
			    ((size_t)t->node[node].fail << t->shift),
			    t->classes << DENSE_CELL);
		for (c = t->node[node].child; c != 0;
		    c = t->node[c].sibling) {
			cell = c << t->shift |
			    (t->ends[c] != 0 ? LITERALS_ENDS : 0);
			memcpy(row + (t->node[c].class << DENSE_CELL), &cell,
			    sizeof cell);
		}
	}
}

/* Allocate for so many nodes at most; 0: out of memory. */
static int
literals_allocate(struct tw_literals *t, size_t nodes)
{
	t->node = calloc(nodes, sizeof *t->node);
	t->ends = calloc(nodes, sizeof *t->ends);
	t->row = calloc((size_t)LITERALS_ROWS * t->classes, sizeof *t->row);
	t->nodes = 1;
	return (t->node != NULL && t->ends != NULL && t->row != NULL);
}

/* Make the automaton of the trie; 0: out of memory. */
static int
literals_finish(struct tw_literals *t)
{
	uint32_t	*queue;

	queue = malloc(t->nodes * sizeof *queue);
	if (queue == NULL)
		return (0);
	literals_link(t, queue);
	t->shift = DENSE_CELL;
	while (1u << (t->shift - DENSE_CELL) < t->classes)
		t->shift++;
	if ((size_t)t->nodes << t->shift <= LITERALS_DENSE) {
		t->dense = calloc(t->nodes, (size_t)1 << t->shift);
		if (t->dense != NULL) {
			literals_fill(t, queue);
			free(t->row);
			t->row = NULL;
		}
	}
	free(queue);
	return (1);
}

/* Whether the literals are within the limits; sets their sizes. */
static uint32_t
literals_check(struct tw_literals *t, const uint32_t *lengths, uint32_t count,
    uint32_t *index)
{
	if (count == 0)
		return (TW_LITERALS_NONE);
	if (count > TW_LITERALS_MAX)
		return (TW_LITERALS_TOO_MANY);
	for (*index = 0; *index < count; ++*index) {
		if (lengths[*index] == 0)
			return (TW_LITERALS_EMPTY);
		if (lengths[*index] > TW_LITERAL_BYTES_MAX)
			return (TW_LITERALS_TOO_LONG);
		t->size[*index] = lengths[*index];
		if (lengths[*index] > t->longest)
			t->longest = lengths[*index];
	}
	t->count = count;
	return (TW_LITERALS_OK);
}

struct tw_literals *
tw_literals_new(const uint8_t *bytes, const uint32_t *lengths, uint32_t count,
    uint32_t fold, uint32_t *status, uint32_t *index)
{
	struct tw_literals	*t;
	size_t			 total = 0;
	uint32_t		 i;

	*index = 0;
	*status = TW_LITERALS_NO_MEMORY;
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return (NULL);
	*status = literals_check(t, lengths, count, index);
	if (*status != TW_LITERALS_OK) {
		free(t);
		return (NULL);
	}
	for (i = 0; i < count; i++)
		total += lengths[i];
	literals_classify(t, bytes, total, fold != 0);
	*status = TW_LITERALS_NO_MEMORY;
	t->filter = prefilter_new(bytes, lengths, count, fold != 0);
	if (t->filter == NULL || !literals_allocate(t, total + 1))
		goto fail;
	for (i = 0; i < count; i++) {
		literals_add(t, bytes, i);
		bytes += lengths[i];
	}
	if (!literals_finish(t))
		goto fail;
	*status = TW_LITERALS_OK;
	return (t);
fail:
	tw_literals_free(t);
	return (NULL);
}

void
tw_literals_free(struct tw_literals *t)
{
	if (t == NULL)
		return;
	free(t->node);
	free(t->ends);
	free(t->row);
	free(t->dense);
	prefilter_free(t->filter);
	free(t);
}

/*
 * The automaton alone: from *node over p[i .. n), up to the first byte at
 * which a literal ends (*ends says which), or up to where everything that may
 * still become a literal begins at p[after] or later.
 */
LITERALS_INLINE size_t
literals_walk_dense(const struct tw_literals *t, uint32_t *node,
    const uint8_t *p, size_t i, size_t n, size_t after, uint64_t *ends)
{
	const uint8_t	*cell;
	uint32_t	 at = *node << t->shift;

	while (i < n) {
		if (i >= after && i - after >= t->node[at >> t->shift].depth)
			break;
		do {
			/* What this waits for is the last cell alone. */
			cell = t->dense + (t->class[p[i++]] << DENSE_CELL);
			memcpy(&at, cell + at, sizeof at);
			if ((at & LITERALS_ENDS) != 0) {
				*node = at >> t->shift;
				*ends = t->ends[*node];
				return (i);
			}
		} while (i < after && i < n);
	}
	*node = at >> t->shift;
	return (i);
}

/* The same over the trie. */
LITERALS_INLINE size_t
literals_walk(const struct tw_literals *t, uint32_t *node, const uint8_t *p,
    size_t i, size_t n, size_t after, uint64_t *ends)
{
	if (t->dense != NULL)
		return (literals_walk_dense(t, node, p, i, n, after, ends));
	while (i < n && (i < after || i - after < t->node[*node].depth)) {
		*node = literals_step(t, *node, t->class[p[i++]]);
		if ((*ends = t->ends[*node]) != 0)
			break;
	}
	return (i);
}

/*
 * From where nothing is pending to where something may be: passes over text.
 * *after is set for the automaton: what begins there is not known yet.
 */
static size_t
literals_skip(const struct tw_literals *t, struct prefilter_search *s,
    size_t *after)
{
	uint32_t	reach = prefilter_reach(t->filter);
	size_t		at;

	*after = s->size;
	if (s->size - s->begin < PREFILTER_BYTES)
		return (s->begin);
	at = prefilter_find(t->filter, s);
	if (s->size - at >= PREFILTER_BYTES) {
		*after = at + 1;
		s->work += reach + LITERALS_START;
	}
	return (at - s->begin < reach ? s->begin : at - reach);
}

/* literals_run from p[i] on, with the prefilter. */
static size_t
literals_search(const struct tw_literals *t, uint32_t *node, uint32_t *alone,
    const uint8_t *p, size_t i, size_t n, uint64_t *ends)
{
	struct prefilter_search	 s = { .text = p, .size = n, .since = i };
	size_t			 after = 0, rest;

	for (;;) {
		i = literals_walk(t, node, p, i, n, after, ends);
		if (i == n || *ends != 0)
			break;
		s.begin = i - t->node[*node].depth;
		*node = LITERALS_ROOT;
		i = literals_skip(t, &s, &after);
		if (!prefilter_tired(&s, i))
			continue;
		rest = n - i < LITERALS_REST ? n - i : LITERALS_REST;
		s.since = i + rest;
		s.work = 0;
		i = literals_walk(t, node, p, i, i + rest, n, ends);
		if (*ends != 0) {
			*alone = (uint32_t)(s.since - i);
			return (i);
		}
	}
	if (s.work + s.since > i)
		*alone = LITERALS_REST;
	return (i);
}

/*
 * Go on from where *search stands over p[0 .. n), up to the first byte at
 * which a literal ends: *ends says which, a bit each, and is 0 if none does.
 * Returns the bytes gone over.
 */
size_t
literals_run(const struct tw_literals *t, uint32_t *search, const uint8_t *p,
    size_t n, uint64_t *ends)
{
	uint32_t	node = *search & LITERALS_NODE;
	uint32_t	alone = *search >> LITERALS_ALONE;
	size_t		i, size = alone;

	*ends = 0;
	if (size > n || n < LITERALS_SHORT)
		size = n;
	i = literals_walk(t, &node, p, 0, size, n, ends);
	alone -= i < alone ? (uint32_t)i : alone;
	if (i < n && *ends == 0)
		i = literals_search(t, &node, &alone, p, i, n, ends);
	*search = node | alone << LITERALS_ALONE;
	return (i);
}

size_t
tw_match_feed(const struct tw_literals *t, struct tw_match_state *state,
    const uint8_t *data, size_t size, struct tw_match *matches, uint32_t room,
    uint32_t *found)
{
	size_t		 i = 0;
	uint64_t	 ends;
	uint32_t	 literal;

	*found = 0;
	state->full = 0;
	while (i < size) {
		if (room - *found < t->count) {
			state->full = 1;
			break;
		}
		i += literals_run(t, &state->node, data + i, size - i, &ends);
		for (; ends != 0; ends &= ends - 1) {
			literal = (uint32_t)__builtin_ctzll(ends);
			matches[*found].literal = literal;
			matches[*found].unused = 0;
			matches[*found].end = state->offset + i;
			matches[*found].start = matches[*found].end -
			    t->size[literal];
			++*found;
		}
	}
	state->offset += i;
	return (i);
}
