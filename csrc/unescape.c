/*
 * unescape.c - the octal escapes of a control client's output lines.
 *
 * Source: the tmux manual, "CONTROL MODE": a byte below 32 and a backslash
 * are three octal digits after a backslash.  A backslash without three octal
 * digits of at most 377 is itself.
 */


#include "core.h"
#include "simd.h"

/* Whether a byte goes on with what is held: up to \377. */
static int
unescape_goes_on(const struct unescape *u, uint8_t byte)
{
	return (u->held[0] == '\\' && byte >= '0' &&
	    byte <= (u->size == 1 ? '3' : '7'));
}

/* Give out a held byte as it is. */
static uint8_t
unescape_release(struct unescape *u)
{
	uint8_t	byte = u->held[0], i;

	u->size--;
	for (i = 0; i < u->size; i++)
		u->held[i] = u->held[i + 1];
	return (byte);
}

/* What is still held at the end of a line: at most 3 bytes. */
size_t
unescape_end(struct unescape *u, uint8_t *out)
{
	size_t	n = 0;

	while (u->size != 0)
		out[n++] = unescape_release(u);
	return (n);
}

/* A byte while some are held; returns the bytes given out, 0 or 1. */
static size_t
unescape_held(struct unescape *u, struct slice *in, uint8_t *out)
{
	if (!unescape_goes_on(u, *in->bytes)) {
		*out = unescape_release(u);
		return (1);
	}
	u->held[u->size++] = *in->bytes++;
	in->size--;
	if (u->size < 4)
		return (0);
	*out = (uint8_t)((u->held[1] - '0') << 6 | (u->held[2] - '0') << 3 |
	    (u->held[3] - '0'));
	u->size = 0;
	return (1);
}

/* Whether four bytes are a whole escape; its byte. */
SIMD_INLINE int
unescape_one(const uint8_t *p, uint8_t *byte)
{
	uint32_t	 a = p[1] ^ '0', b = p[2] ^ '0', c = p[3] ^ '0';

	if (p[0] != '\\' || a > 3 || (b | c) > 7)
		return (0);
	*byte = (uint8_t)(a << 6 | b << 3 | c);
	return (1);
}

/* What a loop stops at, a whole escape apart. */
SIMD_INLINE int
unescape_stops(uint8_t byte)
{
	return (byte == '\\' || byte < 0x20);
}

/*
 * Give out the input up to its end, a control (of which there is only the
 * line's end), a backslash that begins no whole escape, or want of room;
 * returns where the output ends.
 */
static uint8_t *
scalar_unescape(struct slice *in, uint8_t *to, const uint8_t *to_end)
{
	const uint8_t	*p = in->bytes, *end = p + in->size;

	while (p != end && to != to_end) {
		if (!unescape_stops(*p))
			*to++ = *p++;
		else if (end - p >= 4 && unescape_one(p, to)) {
			to++;
			p += 4;
		} else
			break;
	}
	in->bytes = p;
	in->size = (size_t)(end - p);
	return (to);
}

#ifdef SIMD_X86

#define V(name) sse2_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 1
#include "unescape.inc"
#undef V
#undef V_TARGET
#undef V_BYTES

#define V(name) avx2_ ## name
#define V_TARGET AVX2_TARGET
#define V_BYTES 32
#include "unescape.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP

#define V(name) avx2_ ## name
#define V_TARGET AVX2_TARGET
#include "unescape_blocks.inc"
#undef V
#undef V_TARGET

#define V(name) avx512_ ## name
#define V_TARGET AVX512_TARGET
#include "unescape_blocks.inc"
#undef V
#undef V_TARGET

#endif

#ifdef SIMD_ARM

#define V(name) neon_ ## name
#define V_TARGET
#define V_BYTES 16
#define V_STEP 4
#include "unescape.inc"
#undef V
#undef V_TARGET
#undef V_BYTES
#undef V_STEP

#endif

/* The loop of the level in use. */
unescape_loop *
unescape_loop_now(void)
{
	switch (tw_simd_level()) {
#ifdef SIMD_X86
	case TW_SIMD_SSE2:
		return (sse2_unescape);
	case TW_SIMD_AVX2:
		return (avx2_unescape_blocks);
	case TW_SIMD_AVX512:
		return (avx512_unescape_blocks);
#endif
#ifdef SIMD_ARM
	case TW_SIMD_NEON:
		return (neon_unescape);
#endif
	}
	return (scalar_unescape);
}

/*
 * Unescape as much of the input as has room, line ends too; returns the bytes
 * given out.
 */
size_t
unescape_feed(struct unescape *u, struct slice *in, uint8_t *out, size_t room)
{
	uint8_t	*to = out;

	while (in->size != 0 && to != out + room) {
		if (u->size == 0)
			to = u->loop(in, to, out + room);
		if (in->size == 0 || to == out + room)
			break;
		if (u->size != 0) {
			to += unescape_held(u, in, to);
			continue;
		}
		if (*in->bytes == '\\')
			u->held[u->size++] = *in->bytes;
		else
			*to++ = *in->bytes;
		in->bytes++;
		in->size--;
	}
	return ((size_t)(to - out));
}

size_t
tw_unescape(const uint8_t *data, size_t size, uint8_t *out)
{
	struct unescape	u = { .loop = unescape_loop_now() };
	struct slice	in = { data, size };
	size_t		n;

	n = unescape_feed(&u, &in, out, size);
	return (n + unescape_end(&u, out + n));
}
