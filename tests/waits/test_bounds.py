"""Memory stays flat, whatever a pane writes while it is waited for: bytes are counted."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmux_wait import stream
from tmux_wait.echo import LedgerBook
from tmux_wait.patterns import PatternSet
from tmux_wait.waits.stream import StreamJudge

FEED = 256 * 1024  # bytes: as much as an ear tells at once
MOST = 16 * 1024 * 1024
"""Bytes that a wait may take: the text that it keeps is the most of it, in lines of no length."""

CHANCE = random.Random(256)
HOSTILE = {
    # A version of a long line for each two bytes, each with its surroundings: 100 MB in all.
    "redrawn": [b"x" * 60_000, b"\ry" * (FEED // 16)],
    "backspaces": [b"x" * 60_000, b"y\b" * (FEED // 16)],
    "endless line": [b"x" * FEED] * 64,
    "endless title": [b"\x1b]0;", *[b"y" * FEED] * 64],
    "escapes": [b"\x1b" * FEED] * 32,
    "empty lines": [b"\n" * (FEED // 4)],
    "random": [CHANCE.randbytes(FEED) for _ in range(4)],
}
PATTERNS = {
    "literal": lambda: PatternSet(["not there"], ["nor this"]),
    "regex": lambda: PatternSet(["not.*there$"], ["nor this"], regex=True),
    "lines": lambda: PatternSet([r"not\n+there"], regex=True),
    "any": lambda: PatternSet([], ["not there"]),
}


@pytest.fixture
def traced() -> Iterator[None]:
    """Count what Python allocates."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("width", [None, 80])
@pytest.mark.parametrize("patterns", PATTERNS)
@pytest.mark.parametrize("written", HOSTILE)
def test_a_wait_stays_small(written: str, patterns: str, width: int | None) -> None:
    before, _ = tracemalloc.get_traced_memory()
    judge = StreamJudge(PATTERNS[patterns](), LedgerBook().blank(), width=width)
    for data in HOSTILE[written]:
        judge.feed(data)
    _, most = tracemalloc.get_traced_memory()
    assert judge.heard == sum(map(len, HOSTILE[written]))
    assert most - before < MOST


@pytest.mark.usefixtures("traced")
def test_a_wait_stays_small_behind_a_hit_whose_line_goes_on() -> None:
    before, _ = tracemalloc.get_traced_memory()
    judge = StreamJudge(PatternSet(["ready"]), LedgerBook().blank(), width=None)
    hit = judge.feed(b"ready" + b"x" * 60_000)
    assert hit is not None
    assert not hit.whole
    line = judge.follow(b"\ry" * (FEED // 2), hit.version)
    _, most = tracemalloc.get_traced_memory()
    assert line == b"ready" + b"x" * 60_000
    assert most - before < MOST


def test_a_line_that_ends_in_a_later_part_of_the_feed_is_told_whole() -> None:
    judge = StreamJudge(PatternSet(["ready"]), LedgerBook().blank(), width=None)
    lines = b"".join(b"%d\n" % number for number in range(100_000))
    hit = judge.feed(lines + b"a ready" + b" and more\n" + lines)
    assert hit is not None
    assert hit.whole
    assert hit.lines == (b"a ready and more",)


SMALL = {"_HITS_ROOM": 1, "_VERSIONS_ROOM": 1, "_TEXT_ROOM": 0, "_LINE_LIMIT": 4096}
WISHES = {
    "literal": lambda: PatternSet(["b", "ab"], ["cb", "a b"]),
    "regex": lambda: PatternSet(["a+b", "b$"], ["b c?$"], regex=True),
    "any": lambda: PatternSet([], ["ab"]),
}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c", " ", "$ ", "\r", "\b", "\n", "\x1b[C", "\x1b[P"])),
    st.sampled_from([*WISHES]),
    st.sampled_from(["", "ab", "a b"]),
)
def test_the_parts_of_a_feed_are_judged_as_the_whole_is(
    written: list[str], wish: str, typed: str
) -> None:
    def judge() -> StreamJudge:
        ledger = LedgerBook().blank()
        if typed:
            ledger.submit(b"$ ", typed)
        return StreamJudge(WISHES[wish](), ledger, width=5)

    with mock.patch.multiple(stream, **SMALL):
        parted = judge()
    with mock.patch.object(stream, "_LINE_LIMIT", 4096):
        whole = judge()
    data = "".join(written).encode()
    assert parted.feed(data) == whole.feed(data)
    assert parted.text == whole.text
    assert parted.quiet() == whole.quiet()
    assert parted.finish() == whole.finish()
