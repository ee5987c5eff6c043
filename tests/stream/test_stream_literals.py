"""LiteralMatcher against str.find-like search, both forms of the automaton, and its limits."""

from __future__ import annotations

import random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cut, cuts

from tmux_wait import stream
from tmux_wait.stream import LineScanner, LiteralMatcher, Scanner

# Long literals of all bytes: with them the automaton has too many nodes for its dense form.
FILLERS = [random.Random(i).randbytes(4096) for i in range(5)]


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


@pytest.mark.parametrize("size", [4095, 4096])
@pytest.mark.parametrize("count", [63, 64])
def test_the_largest_literals_work(size: int, count: int) -> None:
    literals = [bytes([i]) * size for i in range(count)]
    matcher = LiteralMatcher(literals, match_case=True)
    assert matcher.feed(bytes([count - 1]) * (size - 1)) == []
    assert matcher.feed(bytes([count - 1])) == [(count - 1, 0, size)]
