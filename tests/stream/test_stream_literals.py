"""LiteralMatcher against a naive search: its automaton, its prefilter on each level, its limits."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cut, cuts, random_cut

from tmux_wait import stream
from tmux_wait.stream import LineScanner, LiteralMatcher, Scanner

# Long literals of all bytes: with them the automaton has too many nodes for its dense form.
FILLERS = [Random(i).randbytes(4096) for i in range(5)]


def naive(literals: list[bytes], data: bytes, match_case: bool) -> list[tuple[int, int, int]]:
    """Look at every end for every literal."""
    if not match_case:
        literals, data = [literal.lower() for literal in literals], data.lower()
    return [
        (i, end - len(literal), end)
        for end in range(1, len(data) + 1)
        for i, literal in enumerate(literals)
        if data[:end].endswith(literal)
    ]


def simple(literals: list[bytes], data: bytes, match_case: bool) -> list[tuple[int, int, int]]:
    """Look for one literal after the other: as simple, and fast enough for long texts."""
    if not match_case:
        literals, data = [literal.lower() for literal in literals], data.lower()
    found = []
    for i, literal in enumerate(literals):
        at = data.find(literal)
        while at >= 0:
            found.append((i, at, at + len(literal)))
            at = data.find(literal, at + 1)
    return sorted(found, key=lambda match: (match[2], match[0]))


CASES: dict[str, tuple[list[bytes], bytes]] = {
    "a literal inside another": ([b"she", b"he", b"hers", b"his"], b"ushers she"),
    "the same literal twice": ([b"ab", b"ab"], b"abab"),
    "overlaps of itself": ([b"aa", b"aaa"], b"aaaaa"),
    "one byte": ([b"x"], b"axxa"),
    "all bytes": ([bytes([i]) for i in (0, 10, 127, 128, 255)], bytes(range(256))),
    "letters fold, others do not": ([b"A[z", b"a{Z"], b"a[Z a{z A[z"),
    "non-ASCII letters do not fold": (["É".encode()], "é É".encode()),
    "a failed beginning": ([b"aab"], b"aaab"),
    "failures over several links": ([b"abcabd", b"bca", b"cabc"], b"abcabcabd"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("match_case", [True, False])
@pytest.mark.parametrize("fillers", [[], FILLERS], ids=["dense", "sparse"])
def test_every_occurrence_is_found_by_end_then_index(
    name: str, match_case: bool, fillers: list[bytes]
) -> None:
    literals, data = CASES[name]
    expected = naive(literals, data, match_case)
    assert expected
    matcher = LiteralMatcher([*literals, *fillers], match_case=match_case)
    assert matcher.feed(data) == expected
    one_by_one = LiteralMatcher([*literals, *fillers], match_case=match_case)
    assert [m for i in range(len(data)) for m in one_by_one.feed(data[i : i + 1])] == expected


ALPHABET = st.sampled_from([b"a", b"b", b"A", b"c", b"\n", b"\xff"])
WORD = st.lists(ALPHABET, min_size=1, max_size=5).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(WORD, min_size=1, max_size=6),
    st.lists(ALPHABET, max_size=60).map(b"".join),
    st.booleans(),
    st.booleans(),
    cuts(),
)
def test_any_search_is_the_naive_one_however_it_is_cut(
    literals: list[bytes], data: bytes, match_case: bool, small: bool, places: list[int]
) -> None:
    with mock.patch.object(stream, "_HITS_ROOM", 1 if small else 1024):
        matcher = LiteralMatcher(literals, match_case=match_case)
    found = [match for piece in cut(data, places) for match in matcher.feed(piece)]
    assert found == naive(literals, data, match_case)


@settings(max_examples=20, deadline=None)
@given(st.lists(WORD, min_size=1, max_size=6), st.lists(ALPHABET, max_size=60).map(b"".join))
def test_many_long_literals_do_not_change_what_is_found(literals: list[bytes], data: bytes) -> None:
    matcher = LiteralMatcher([*literals, *FILLERS])
    assert matcher.feed(data) == naive(literals, data, False)


def test_long_literals_are_found_beside_each_other() -> None:
    data = b"".join(FILLERS)
    ends = [(i, 4096 * i, 4096 * (i + 1)) for i in range(len(FILLERS))]
    assert LiteralMatcher(FILLERS, match_case=True).feed(data) == ends


@pytest.mark.parametrize("build", [LiteralMatcher, Scanner, LineScanner])
def test_misuse_is_refused_when_built_and_names_the_literal(build: type[LiteralMatcher]) -> None:
    with pytest.raises(ValueError, match=r"literals\[1\] is empty"):
        build([b"a", b"", b"b"])
    with pytest.raises(ValueError, match=r"literals\[2\] has 4097 bytes: at most 4096"):
        build([b"a", b"b", b"x" * 4097])
    with pytest.raises(ValueError, match="65 literals: at most 64"):
        build([b"a"] * 65)
    with pytest.raises(TypeError):
        build(["text"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        build(b"bytes")  # type: ignore[arg-type]


@pytest.mark.parametrize("build", [LiteralMatcher, Scanner])
def test_nothing_to_look_for_is_misuse(build: type[LiteralMatcher]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        build([])


def test_a_literal_of_wider_items_is_all_its_bytes() -> None:
    wide = memoryview(b"abcd").cast("H")  # two items, four bytes
    assert LiteralMatcher([wide, b"ef"]).feed(b"ab ef abcd") == [(1, 3, 5), (0, 6, 10)]  # type: ignore[list-item]


@pytest.mark.parametrize("size", [4095, 4096])
@pytest.mark.parametrize("count", [63, 64])
def test_the_largest_literals_work(size: int, count: int) -> None:
    literals = [bytes([i]) * size for i in range(count)]
    matcher = LiteralMatcher(literals, match_case=True)
    assert matcher.feed(bytes([count - 1]) * (size - 1)) == []
    assert matcher.feed(bytes([count - 1])) == [(count - 1, 0, size)]


MEMORY = """
import random
from tmux_wait._core import ffi, lib

def most():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

count, size = lib.TW_LITERALS_MAX, lib.TW_LITERAL_BYTES_MAX
data = random.Random(1).randbytes(count * size)
sizes, status = ffi.new("uint32_t[]", [size] * count), ffi.new("uint32_t[2]")
before = most()
assert lib.tw_literals_new(data, sizes, count, 1, status, status + 1)
print(most() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_largest_literals_take_as_much_memory_as_the_header_says() -> None:
    said = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=60
    )
    assert 4 * 1024 < int(said.stdout) < 16 * 1024  # KiB; the first says that it was measured


# --- the prefilter ---


def some_literals(random: Random) -> list[bytes]:
    """Literals of the same few bytes, so that one is almost another."""
    alphabet = random.choice(
        (b"ab", b"abcAB", b"aB \n", b"\x00\x7f\x80\xffaA", b"etaoin shrdlu", bytes(range(256)))
    )
    sizes = random.choice(((1,), (1, 2), (2, 3, 5), (3, 4, 9, 20), (8, 12, 40), (1, 7, 300)))
    return [
        bytes(random.choices(alphabet, k=random.choice(sizes)))
        for _ in range(random.choice((1, 1, 2, 3, 8, 9, 20, 64)))
    ]


def text_of(random: Random, literals: list[bytes], size: int) -> bytes:
    """Text with beginnings, ends and middles of the literals in it, and with whole ones."""
    odds = random.choice((0, 0.02, 0.2, 0.9))
    rest = random.choice((b".", b"ab", b"etaoin shrdlu", bytes(range(256)), b"".join(literals)))
    parts = []
    while size > 0:
        literal = random.choice(literals)
        if random.random() >= odds:
            part = bytes(random.choices(rest, k=random.randint(1, 150)))
        elif random.random() < 0.3:
            part = literal
        else:
            part = literal[random.randrange(len(literal)) :]
            part = part[: random.randint(1, len(part))]
        parts.append(part.swapcase() if random.random() < 0.2 else part)
        size -= len(part)
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(20))
def test_each_level_finds_what_is_there(level: str, seed: int) -> None:
    random = Random(seed)
    for _ in range(10):
        literals = some_literals(random)
        data = text_of(random, literals, random.choice((30, 100, 500, 6000)))
        match_case = random.random() < 0.5
        matcher = LiteralMatcher(literals, match_case=match_case)
        found = [match for part in random_cut(random, data) for match in matcher.feed(part)]
        assert found == simple(literals, data, match_case)


@settings(max_examples=60, deadline=None)
@given(
    literals=st.lists(WORD, min_size=1, max_size=10),
    words=st.lists(WORD, max_size=20),
    gap=st.integers(0, 70),
    places=cuts(),
)
def test_words_far_from_each_other_are_found(
    literals: list[bytes], words: list[bytes], gap: int, places: list[int]
) -> None:
    matcher = LiteralMatcher(literals)
    data = (b"." * gap).join([b"", *words, b""])
    found = [match for piece in cut(data, places) for match in matcher.feed(piece)]
    assert found == simple(literals, data, False)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64, 65, 200, 4095])
def test_a_literal_is_found_at_each_place_of_a_vector(level: str, size: int) -> None:
    literal = bytes(Random(size).choices(b"abcdefgh", k=size))
    matcher = LiteralMatcher([literal, b"absent", literal + b"!"])
    at = 0
    for before in range(130):
        data = b"." * before + literal + b"." * (before * 7 % 130)
        found = [(0, at + before, at + before + size)]
        assert matcher.feed(data) == found
        at += len(data)


def test_a_literal_cut_in_two_is_found(level: str) -> None:
    literal = b"READY to accept more"
    data = b"." * 200 + literal + b"." * 200
    for place in range(190, 230):
        matcher = LiteralMatcher([literal.lower(), b"to", b"out of memory"])
        found = matcher.feed(data[:place]) + matcher.feed(data[place:])
        assert found == [(1, 206, 208), (0, 200, 220)]


DENSE: dict[str, tuple[list[bytes], bytes]] = {
    "every byte a literal": ([b"a", b"aa"], b"a" * 5000),
    "every byte the beginning of one": ([b"a" * 30 + b"b", b"a" * 11 + b"c"], b"a" * 9000),
    "all begin, few end": ([b"a" * 9 + b"b"], (b"a" * 40 + b"b") * 300),
    "windows that are no literals": ([b"qzqzqz1"], b"qzqzqz" * 2000 + b"qzqzqz1"),
    "dense, then sparse": ([b"ab", b"xyz"], b"ab" * 900 + b"." * 5000 + b"xyz" + b"ab" * 40),
    "a literal of 4,096 bytes, over and over": ([b"ab" * 2048], b"ab" * 4100),
}


@pytest.mark.parametrize("name", DENSE)
def test_text_on_which_the_prefilter_does_not_pay(level: str, name: str) -> None:
    literals, data = DENSE[name]
    expected = simple(literals, data, False)
    assert LiteralMatcher(literals).feed(data) == expected
    for seed in range(3):
        matcher = LiteralMatcher(literals)
        parts = random_cut(Random(seed), data)
        assert [match for part in parts for match in matcher.feed(part)] == expected


@pytest.fixture
def walled() -> Iterator[memoryview]:
    """A few pages of memory between two that must not be touched."""
    pages = 4 * mmap.PAGESIZE
    memory = mmap.mmap(-1, pages + 2 * mmap.PAGESIZE)
    view = (ctypes.c_char * len(memory)).from_buffer(memory)
    begin = ctypes.addressof(view)
    mprotect = ctypes.CDLL(None, use_errno=True).mprotect
    mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    walls = (begin, begin + mmap.PAGESIZE + pages)
    for wall in walls:
        assert mprotect(wall, mmap.PAGESIZE, 0) == 0, ctypes.get_errno()
    inside = (ctypes.c_char * pages).from_address(begin + mmap.PAGESIZE)
    yield memoryview(inside).cast("B")
    for wall in walls:
        assert mprotect(wall, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@pytest.mark.parametrize("seed", range(6))
def test_nothing_outside_of_the_data_is_read(level: str, seed: int, walled: memoryview) -> None:
    random = Random(seed)
    literals = some_literals(random)
    for _ in range(40):
        size = random.choice((0, 1, 7, 8, 9, 40, 70, 71, 72, 200, len(walled)))
        data = text_of(random, literals, size)[:size]
        for part in (walled[:size], walled[len(walled) - size :]):
            part[:] = data
            expected = simple(literals, data, True)
            assert LiteralMatcher(literals, match_case=True).feed(part) == expected


@pytest.mark.parametrize("data", [bytearray(b"an abc"), memoryview(b"an abc"), b"an abc"])
def test_any_bytes_like_object_is_searched_and_let_go(data: bytes) -> None:
    matcher = LiteralMatcher([b"abc"])
    assert matcher.feed(data) == [(0, 3, 6)]
    if isinstance(data, bytearray):
        data.clear()  # BufferError while C might look at it
