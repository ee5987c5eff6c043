/*
 * scan.c - fuzz target: one pane's bytes, fed in every way, and its hits
 * against a naive search in what it says about its lines.
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Text beyond which the naive search is left out: it looks everywhere. */
#define NAIVE_MAX 16384

/* The records and hits of a log. */
static const struct tw_version *
scan_versions(const struct said *said, size_t *n)
{
	*n = said->versions.size / sizeof(struct tw_version);
	return ((const void *)said->versions.bytes);
}

static const struct tw_hit *
scan_hits(const struct said *said, size_t *n)
{
	*n = said->hits.size / sizeof(struct tw_hit);
	return ((const void *)said->hits.bytes);
}

/* Whether a hit that counted is really in the text of its version. */
static void
sound_hit(const struct input *in, const struct tw_hit *hit,
    const struct tw_version *v, const uint8_t *text)
{
	uint32_t	size = v->size;

	if (v->end == TW_END_LINE || v->end == TW_END_LEFT)
		size++;			/* the line feed */
	CHECK((uint32_t)hit->end <= v->length + 1);
	if (hit->start < (int32_t)v->start ||
	    (uint32_t)hit->end > v->start + size)
		return;			/* it is not all in the record */
	CHECK(input_matches(in, text + (hit->start - (int32_t)v->start),
	    hit->literal));
}

/* Hits come in the order of their versions, and are in their text. */
static void
sound(const struct input *in, const struct said *said)
{
	const struct tw_version	*v;
	const struct tw_hit	*hit;
	const uint8_t		*text = said->texts.bytes;
	size_t			 versions, hits, i, h = 0;

	v = scan_versions(said, &versions);
	hit = scan_hits(said, &hits);
	for (i = 0; i < versions; i++) {
		CHECK(i == 0 || v[i].version > v[i - 1].version);
		for (; h < hits && hit[h].version < v[i].version; h++)
			CHECK(!(in->options.keep & (TW_KEEP_HIT |
			    TW_KEEP_REDRAWN)));
		CHECK(!(in->options.keep & TW_KEEP_HIT) ||
		    (h < hits && hit[h].version == v[i].version));
		for (; h < hits && hit[h].version == v[i].version; h++) {
			/* What a quiet moment told may be gone since. */
			if (in->pause == 0 || !hit[h].complete)
				sound_hit(in, &hit[h], &v[i], text);
		}
		text += v[i].size + 1;
	}
	CHECK(h == hits || !(in->options.keep & (TW_KEEP_HIT |
	    TW_KEEP_REDRAWN)));
}

/* Blanks that the cursor passed over were never written. */
static int
is_blank(const struct input *in, uint32_t literal)
{
	const uint8_t	*p = input_literal(in, literal);
	uint32_t	 i;

	for (i = 0; i < in->lengths[literal]; i++) {
		if (p[i] != ' ')
			return (0);
	}
	return (1);
}

/* The text as it was written; 0: it was not written once from its start. */
static int
straight(const struct input *in, const struct said *said, struct log *text,
    struct log *bases)
{
	const struct tw_version	*v;
	const uint8_t		*p = said->texts.bytes;
	size_t			 n, i;
	uint64_t		 base;

	if (in->pause != 0 || in->seeded ||
	    !(in->options.keep & TW_KEEP_REDRAWN))
		return (0);
	v = scan_versions(said, &n);
	for (i = 0; i < n; i++) {
		if (v[i].end == TW_END_REDRAWN || v[i].end == TW_END_CUT ||
		    v[i].version != i)
			return (0);
		base = text->size;
		log_add(bases, &base, sizeof base);
		log_add(text, p, v[i].size + (v[i].end != TW_END_FINISHED));
		p += v[i].size + 1;
	}
	return (text->size <= NAIVE_MAX);
}

/* Nothing was left out: the hits are those of a naive search. */
static void
complete(const struct input *in, const struct said *said)
{
	const struct tw_hit	*hit;
	struct log		 text = { 0 }, bases = { 0 };
	uint64_t		 base;
	size_t			 hits, h = 0, end;
	uint32_t		 i;

	hit = scan_hits(said, &hits);
	if (!straight(in, said, &text, &bases))
		hits = text.size = 0;
	for (end = 1; end <= text.size; end++) {
		for (i = 0; i < in->count; i++) {
			if (end < in->lengths[i] || is_blank(in, i) ||
			    !input_matches(in, text.bytes + (end -
			    in->lengths[i]), i))
				continue;
			while (h < hits && is_blank(in, hit[h].literal))
				h++;
			CHECK(h < hits && hit[h].literal == i);
			memcpy(&base, bases.bytes + hit[h].version *
			    sizeof base, sizeof base);
			CHECK(base + (uint64_t)hit[h].end == end);
			h++;
		}
	}
	while (h < hits && is_blank(in, hit[h].literal))
		h++;
	CHECK(h == hits);
	log_free(&text);
	log_free(&bases);
}

/* The text of finished lines, from their records. */
static void
final_text(const struct said *said, struct log *text)
{
	const struct tw_version	*v;
	const uint8_t		*p = said->texts.bytes;
	size_t			 n, i;

	v = scan_versions(said, &n);
	for (i = 0; i < n; i++) {
		if (v[i].end != TW_END_REDRAWN)
			log_add(text, p + v[i].carried,
			    v[i].size + 1 - v[i].carried);
		p += v[i].size + 1;
	}
}

/* What is kept changes nothing in what is found, nor in the text. */
static void
keeps_agree(struct input *in, const struct said *said)
{
	static const uint32_t	keeps[] = {
		TW_KEEP_FINAL, TW_KEEP_HIT, TW_KEEP_PLAIN
	};
	struct plan		plan = plan_first();
	struct said		other[3] = { { { 0 }, { 0 }, { 0 }, { 0 } } };
	struct log		text = { 0 };
	size_t			i;

	for (i = 0; i < 3; i++) {
		in->options.keep = keeps[i];
		scan_say(in, &plan, &other[i]);
		sound(in, &other[i]);
		log_compare("scan: hits by what is kept", &plan, &said->hits,
		    &other[i].hits);
	}
	final_text(&other[0], &text);
	log_compare("scan: plain text", &plan, &text, &other[2].texts);
	log_free(&text);
	for (i = 0; i < 3; i++)
		said_free(&other[i]);
}

int
FUZZ_TARGET(scan)(const uint8_t *p, size_t n)
{
	struct input	in;
	struct plan	plan = plan_first();
	struct said	first = { { 0 }, { 0 }, { 0 }, { 0 } }, said;
	uint32_t	i = 0;

	if (!input_take(&in, p, n))
		return (0);
	scan_say(&in, &plan, &first);
	sound(&in, &first);
	complete(&in, &first);
	while (plan_next(&in, &plan, &i)) {
		memset(&said, 0, sizeof said);
		scan_say(&in, &plan, &said);
		said_compare("scan", &plan, &first, &said);
		said_free(&said);
	}
	keeps_agree(&in, &first);
	said_free(&first);
	input_free(&in);
	return (0);
}
