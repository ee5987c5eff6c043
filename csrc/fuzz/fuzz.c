/*
 * fuzz.c - what the fuzz targets share; see fuzz.h.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define COUNT(table) (sizeof (table) / sizeof *(table))

int	fuzz_thorough;

void
fuzz_fail(const char *format, ...)
{
	va_list	arguments;

	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	abort();
}

/* --- an input taken apart --- */

static const uint32_t input_widths[] = {
	0, 0, 80, 1, 2, 3, 4, 7, 10, 20, 132, TW_WIDTH_MAX
};
static const uint32_t input_limits[] = {
	1024, 0, 16, 17, 24, 64, 256, 4096
};
static const uint32_t input_contexts[] = {
	4096, 0, 1, 3, 8, 100, TW_CONTEXT_MAX
};
static const uint32_t input_keeps[] = {
	TW_KEEP_FINAL | TW_KEEP_REDRAWN, TW_KEEP_FINAL, TW_KEEP_HIT,
	TW_KEEP_PLAIN
};

/* How often each literal is repeated: long ones, and ones near a limit. */
static const uint32_t input_stretches[] = { 1, 1, 1, 1, 5, 32, 33, 700 };

/* Literals for input that has none. */
static const uint8_t input_default[] = { 'a', INPUT_NEXT, 'a', 'b' };

/* Add a literal, repeated. */
static void
input_literal_add(struct input *in, size_t *total, const uint8_t *p, size_t n,
    uint32_t times)
{
	uint32_t	i;

	if (n == 0 || n > TW_LITERAL_BYTES_MAX ||
	    in->count == TW_LITERALS_MAX)
		return;
	if (times > TW_LITERAL_BYTES_MAX / n)
		times = (uint32_t)(TW_LITERAL_BYTES_MAX / n);
	in->literals = realloc(in->literals, *total + n * times);
	CHECK(in->literals != NULL);
	for (i = 0; i < times; i++)
		memcpy(in->literals + *total + i * n, p, n);
	in->lengths[in->count++] = (uint32_t)n * times;
	*total += n * times;
}

/* Take the literals, which are p[0 .. n). */
static void
input_literals(struct input *in, const uint8_t *p, size_t n, uint32_t times)
{
	const uint8_t	*next;
	size_t		 size, total = 0;

	while (n != 0) {
		next = memchr(p, INPUT_NEXT, n);
		size = next == NULL ? n : (size_t)(next - p);
		input_literal_add(in, &total, p, size, times);
		p += size;
		n -= size;
		if (n != 0) {
			p++;
			n--;
		}
	}
}

/* Take an input apart; 0: there is nothing in it. */
int
input_take(struct input *in, const uint8_t *p, size_t n)
{
	const uint8_t	*end;

	memset(in, 0, sizeof *in);
	if (n < INPUT_OPTIONS)
		return (0);
	in->options.width = input_widths[p[0] % COUNT(input_widths)];
	in->options.limit = input_limits[p[1] % COUNT(input_limits)];
	in->options.context = input_contexts[p[2] % COUNT(input_contexts)];
	in->options.keep = input_keeps[p[3] % COUNT(input_keeps)];
	in->pause = p[4];
	in->fold = p[5] & 1;
	in->resizes = p[5] >> 1 & 1;
	in->only = p[5] >> 2 & 1;
	in->seeded = p[5] >> 3 & 1;
	in->options.replace = p[5] >> 4 & 1;
	in->random = p[6];
	end = memchr(p + INPUT_OPTIONS, INPUT_DATA, n - INPUT_OPTIONS);
	in->data = end == NULL ? p + INPUT_OPTIONS : end + 1;
	in->size = n - (size_t)(in->data - p);
	input_literals(in, p + INPUT_OPTIONS, end == NULL ? 0 :
	    (size_t)(end - p) - INPUT_OPTIONS,
	    input_stretches[p[7] % COUNT(input_stretches)]);
	if (in->count == 0)
		input_literals(in, input_default, sizeof input_default, 1);
	return (1);
}

void
input_free(struct input *in)
{
	free(in->literals);
}

const uint8_t *
input_literal(const struct input *in, uint32_t literal)
{
	const uint8_t	*p = in->literals;
	uint32_t	 i;

	for (i = 0; i < literal; i++)
		p += in->lengths[i];
	return (p);
}

struct tw_literals *
input_build(const struct input *in)
{
	struct tw_literals	*literals;
	uint32_t		 status, index;

	literals = tw_literals_new(in->literals, in->lengths, in->count,
	    in->fold, &status, &index);
	CHECK(literals != NULL && status == TW_LITERALS_OK);
	return (literals);
}

static uint8_t
input_lower(uint8_t byte)
{
	return (byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
}

/* Whether a literal stands at p, which has that many bytes. */
int
input_matches(const struct input *in, const uint8_t *p, uint32_t literal)
{
	const uint8_t	*l = input_literal(in, literal);
	uint32_t	 i;

	for (i = 0; i < in->lengths[literal]; i++) {
		if (in->fold ? input_lower(p[i]) != input_lower(l[i]) :
		    p[i] != l[i])
			return (0);
	}
	return (1);
}

/* --- ways to feed it --- */

/* Sizes of pieces, and whether the arrays are tiny. */
static const struct {
	size_t	most;
	int	tiny;
} plan_shapes[] = {
	{ 0, 0 }, { 1, 1 }, { 7, 1 }, { 40, 0 }, { 300, 1 }, { 0, 1 }
};

/* xorshift64*: the same everywhere. */
static uint64_t
plan_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * UINT64_C(0x2545f4914f6cdd1d));
}

struct plan
plan_first(void)
{
	struct plan	plan = { TW_SIMD_SCALAR, 0, 0, 1 };

	CHECK(tw_simd_use(plan.level));
	return (plan);
}

/*
 * The plan number *n or one after it: each shape at each level that the
 * processor has.  When not thorough, one shape a level, which the input says.
 */
int
plan_next(const struct input *in, struct plan *plan, uint32_t *n)
{
	uint32_t	shapes = COUNT(plan_shapes), shape;

	for (; *n < shapes * TW_SIMD_LEVELS; ++*n) {
		shape = *n % shapes;
		plan->level = *n / shapes;
		if (!fuzz_thorough &&
		    shape != (in->random + plan->level) % shapes)
			continue;
		if (!tw_simd_use(plan->level))
			continue;
		plan->most = plan_shapes[shape].most;
		plan->tiny = plan_shapes[shape].tiny;
		plan->random = ((uint64_t)in->random << 32 | *n) + 1;
		++*n;
		return (1);
	}
	return (0);
}

void
pieces_begin(struct pieces *s, const struct plan *plan, const uint8_t *p,
    size_t n)
{
	s->plan = plan;
	s->at = p;
	s->left = n;
	s->random = plan->random;
	s->block = NULL;
	s->any = 0;
}

/* The next piece in s->block; 0: there was the last one. */
int
pieces_next(struct pieces *s, size_t *size)
{
	free(s->block);
	s->block = NULL;
	if (s->any && s->left == 0)
		return (0);
	s->any = 1;
	*size = s->left;
	if (s->plan->most != 0 && *size != 0) {
		*size = 1 + plan_random(&s->random) % s->plan->most;
		if (*size > s->left)
			*size = s->left;
	}
	/* Not a byte more than it needs: AddressSanitizer sees the next. */
	s->block = malloc(*size);
	CHECK(s->block != NULL || *size == 0);
	if (*size != 0)
		memcpy(s->block, s->at, *size);
	s->at += *size;
	s->left -= *size;
	return (1);
}

/* --- what came of it --- */

void
log_add(struct log *log, const void *p, size_t n)
{
	if (log->room - log->size < n) {
		log->room = 2 * log->room + n + 256;
		log->bytes = realloc(log->bytes, log->room);
		CHECK(log->bytes != NULL);
	}
	if (n != 0)
		memcpy(log->bytes + log->size, p, n);
	log->size += n;
}

void
log_free(struct log *log)
{
	free(log->bytes);
	memset(log, 0, sizeof *log);
}

/* Show some bytes of a log around a place. */
static void
log_show(const char *name, const struct log *log, size_t at)
{
	size_t	i = at > 48 ? (at - 48) / 8 * 8 : 0;
	size_t	end = at + 80 < log->size ? at + 80 : log->size;

	(void)fprintf(stderr, "%s, %zu bytes, from %zu:\n", name, log->size,
	    i);
	for (; i < end; i++)
		(void)fprintf(stderr, "%02x%s", log->bytes[i],
		    i % 8 == 7 ? "\n" : " ");
	(void)fputc('\n', stderr);
}

/* The second log must be as the first. */
void
log_compare(const char *what, const struct plan *plan, const struct log *a,
    const struct log *b)
{
	size_t	i = 0;

	if (a->size == b->size &&
	    (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0))
		return;
	while (i < a->size && i < b->size && a->bytes[i] == b->bytes[i])
		i++;
	log_show("expected", a, i);
	log_show("came", b, i);
	fuzz_fail("%s differ at byte %zu (level %u, pieces of %zu, tiny %d)",
	    what, i, plan->level, plan->most, plan->tiny);
}

void
said_free(struct said *said)
{
	log_free(&said->hits);
	log_free(&said->versions);
	log_free(&said->texts);
	log_free(&said->states);
}

void
said_compare(const char *target, const struct plan *plan, const struct said *a,
    const struct said *b)
{
	char	what[64];
	size_t	i;
	const struct {
		const char		*name;
		const struct log	*a;
		const struct log	*b;
	} logs[] = {
		{ "hits", &a->hits, &b->hits },
		{ "versions", &a->versions, &b->versions },
		{ "texts", &a->texts, &b->texts },
		{ "states", &a->states, &b->states }
	};

	for (i = 0; i < COUNT(logs); i++) {
		(void)snprintf(what, sizeof what, "%s: %s", target,
		    logs[i].name);
		log_compare(what, plan, logs[i].a, logs[i].b);
	}
}

/* The least room that the header allows, or enough for small inputs. */
void
out_new(struct tw_out *out, const struct input *in, int tiny)
{
	uint32_t	limit = in->options.limit;

	if (limit == 0)
		limit = TW_LINE_LIMIT;
	memset(out, 0, sizeof *out);
	out->hits_room = 4 * in->count + (tiny ? 0 : 512);
	out->versions_room = tiny ? 1 : 128;
	out->text_room = limit + 1 + (tiny ? 0 : 8192);
	out->hits = malloc(out->hits_room * sizeof *out->hits);
	out->versions = malloc(out->versions_room * sizeof *out->versions);
	out->text = malloc(out->text_room);
	CHECK(out->hits != NULL && out->versions != NULL && out->text != NULL);
}

void
out_free(struct tw_out *out)
{
	free(out->hits);
	free(out->versions);
	free(out->text);
}

/* Check what a call left in the arrays, and add it to what was said. */
void
out_take(const struct tw_out *out, const struct input *in, struct said *said)
{
	const struct tw_hit	*hit;
	struct tw_version	 v;
	uint32_t		 i, texts = 0;

	CHECK(out->hits_size <= out->hits_room);
	CHECK(out->versions_size <= out->versions_room);
	CHECK(out->text_size <= out->text_room);
	/* Full arrays are never empty: a caller would wait for ever. */
	CHECK(!out->full || out->hits_size + out->versions_size +
	    out->text_size != 0);
	for (i = 0; i < out->hits_size; i++) {
		hit = &out->hits[i];
		CHECK(hit->literal < in->count && hit->complete <= 1);
		CHECK(hit->end > 0 && hit->end - hit->start ==
		    (int64_t)in->lengths[hit->literal]);
		log_add(&said->hits, hit, sizeof *hit);
	}
	for (i = 0; i < out->versions_size; i++) {
		v = out->versions[i];
		CHECK(v.text == texts && v.size < out->text_size - v.text);
		CHECK(out->text[v.text + v.size] == '\n');
		CHECK((uint64_t)v.start + v.size <= v.length);
		CHECK(v.write <= v.length && v.carried <= v.length);
		texts += v.size + 1;
		v.text = 0;
		log_add(&said->versions, &v, sizeof v);
	}
	CHECK(texts == out->text_size || out->versions_size == 0);
	log_add(&said->texts, out->text, out->text_size);
}
