"""Input for the property tests: bytes biased to what is hard, and ways to cut them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from hypothesis import strategies as st

WORDS = [b"a", b"b", b"ab", b"aab", b"ready", b"READY", b"x y", b"  ", b"0123456789", b" " * 7]
UTF8 = [
    c.encode()
    for c in ("é", "ü", "世", "界", "🙂", "e\u0301", "\u0301", "\u200d", "\ufe0f", "\xa0")
]
UTF8 += [
    c.encode()
    for c in ("❤\ufe0f", "👍", "👍🏻", "🏼", "👨\u200d", "\u3164", "\u1112", "\u1161\u11ab")
]
UTF8 += [c.encode() for c in ("\U0001f1e9", "\U0001f1e9\U0001f1ea")]
BROKEN = [
    b"\xff",
    b"\x9b",
    b"\xc3",
    b"\xe4\xb8",
    b"\xf0\x9f",
    b"\x80",
    b"\xc2\x85",
    b"\xed\xa0\x80",
    b"\xf0\x80\x80",
    b"\xe0\x80",
    b"\xf4\x90\x80",
]
CONTROLS = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\b",
    b"\b\b",
    b"\t",
    b"\x00",
    b"\x07",
    b"\x7f",
    b"\x0e",
    b"\x0f",
]
CONTROLS += [b"\x0b", b"\x0c", b"\x18", b"\x1a", b"\x1b"]
SEQUENCES = [
    b"\x1b[m", b"\x1b[1;31m", b"\x1b(B", b"\x1b[K", b"\x1b[1K", b"\x1b[2K", b"\x1b[J", b"\x1b[1J",
    b"\x1b[2J", b"\x1b[3J", b"\x1b7", b"\x1b8", b"\x1b[s", b"\x1b[u", b"\x1bM", b"\x1bD", b"\x1bE",
    b"\x1bc", b"\x1b#8", b"\x1b[4h", b"\x1b[4l", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?6h",
    b"\x1b[?3;7l", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25;1049h", b"\x1b[H", b"\x1b[2;3H",
    b"\x1b[r", b"\x1b[L", b"\x1b[3d", b"\x1b]0;title\x07", b"\x1b]0;ti\x1b\\", b"\x1bktitle\x1b\\",
    b"\x1bPqdata\x1b\\", b"\x1bP1;2|a\x1b\x1bb\x1b\\", b"\x1b_apc\x1b\\", b"\x1b^pm\x1b\\",
    b"\x1bXsos\x1b\\", b"\x1bP:a", b"\x1b]0;a\x18", b"\x1b[3\rC", b"\x1b[1:2C", b"\x1b[3?C",
    b"\x1b[ C", b"\x1b[>C", b"\x1b\\", b"\x1bH", b"\x1b[g", b"\x1b[3g", b"\x1b[Z",
]  # fmt: skip


@st.composite
def moves(draw: st.DrawFn) -> bytes:
    """A control sequence with a count."""
    count = draw(st.sampled_from(["", "0", "1", "2", "3", "5", "9", "17", "40", ";2", "2;3"]))
    return f"\x1b[{count}{draw(st.sampled_from('@ABCDEFGIKPXZ`abefH'))}".encode()


def pieces() -> st.SearchStrategy[bytes]:
    """One token of a terminal's input."""
    return st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from(WORDS),
        st.sampled_from(UTF8),
        st.sampled_from(CONTROLS),
        st.sampled_from(SEQUENCES),
        moves(),
        st.sampled_from(BROKEN),
        st.lists(st.integers(0, 127), min_size=1, max_size=3).map(bytes),
    )


def terminal_input(most: int = 40) -> st.SearchStrategy[bytes]:
    """What a pane might write."""
    return st.lists(pieces(), max_size=most).map(b"".join)


def terminal_soup(random: Random) -> bytes:
    """A few tokens over and over, so that they meet in all orders: text, and what edits it."""

    def move() -> bytes:
        return b"\x1b[%d%c" % (random.choice((1, 1, 2, 3, 7, 20)), random.choice(b"@ABCDGIKPXZb"))

    text = [random.choice((*WORDS, *UTF8[:7], *UTF8)) for _ in range(random.randint(1, 4))]
    back = [random.choice((b"\r", b"\b", b"\x1b[D", b"\x1b[2D", b"\x1b[3G")) for _ in range(2)]
    edits = [random.choice((move(), move(), *CONTROLS, *SEQUENCES)) for _ in range(4)]
    rare = [random.choice((*BROKEN, *SEQUENCES, b"\n"))]
    tokens = 3 * text + 2 * back + 2 * edits + rare
    return b"".join(random.choices(tokens, k=random.randint(5, 60)))


SOUP_LITERALS = (
    b"a b aa ab ba aab bab ready b0123 x\xc2\xa0 a\xcc\x81".split()
    + [b"  ", b" a", b"b ", b"a\nb", b"b\n", b"\na", b" \n", b"x y"]
    + [word.encode() for word in ("é", "世", "a世", "世b", "世 ", "世世", " 世", "é世", "界a")]
)


def random_cut(random: Random, data: bytes) -> Iterator[bytes]:
    """Cut ``data`` at random, mostly into few pieces."""
    return cut(data, [random.randrange(10_000) for _ in range(random.choice((0, 1, 1, 2, 3, 12)))])


def cut(data: bytes, places: list[int]) -> Iterator[bytes]:
    """Cut ``data`` at these places (taken modulo its length)."""
    at = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    for begin, end in pairwise(at):
        yield data[begin:end]


def cuts() -> st.SearchStrategy[list[int]]:
    """Places at which to cut."""
    return st.lists(st.integers(0, 10_000), max_size=8)


def literals() -> st.SearchStrategy[tuple[bytes, ...]]:
    """Literals that the words above are full of."""
    one = st.sampled_from(
        [b"a", b"b", b"ab", b"ba", b"aa", b"bab", b"ready", b"y\nr", b"b\n", b"\na", b"  ", b"aab",
         b"b0123", "é".encode(), "世".encode(), b"\xa9", b" a", b"A", b"x y", b"\n", b"abab"]
    )  # fmt: skip
    return st.lists(one, min_size=1, max_size=5).map(tuple)
