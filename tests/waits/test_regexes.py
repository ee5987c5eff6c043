"""Regular expressions on logical lines: settled matches, their earliest end, the limits."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from tmux_wait.patterns import LATE
from tmux_wait.regexes import Regex


def earliest_by_trying_all(pattern: str, line: bytes, after: int) -> int | None:
    """Return the earliest end of a settled match, tried byte by byte: the naive twin."""
    options = re2.Options()
    options.case_sensitive = False
    options.longest_match = True
    behind = re2.compile(f"({pattern})(?s:.)".encode(), options)
    for end in range(after + 1, len(line) + 1):
        if end < len(line) and line[end] & 0xC0 == 0x80:
            continue
        if all(
            any(
                max(after, found.start(1)) < found.end(1)
                for found in behind.finditer(line[:end] + follower)
            )
            for follower in (b"a", b" ")
        ):
            return end
    return None


UNFINISHED = [
    ("a plain word is settled at its last letter", r"ready", b"x ready now", 7),
    ("a greedy tail does not wait", r"port \d+", b"port 8080", 6),
    ("a dot-star tail does not wait", r"ready.*", b"ready", 5),
    ("an end anchor waits", r"ready$", b"ready", None),
    ("an absolute end waits", r"ready\z", b"ready", None),
    ("a word boundary at the end waits", r"ready\b", b"ready", None),
    ("a word boundary that is decided counts", r"ready\b", b"ready now", 6),
    ("a non-boundary at the end waits", r"read\B", b"read", None),
    ("a boundary in the middle counts", r"a\b b", b"a b", 3),
    ("an empty match does not count", r"x*", b"abc", None),
    ("a match that may be empty counts when it is not", r"x*", b"abxx", 3),
    ("a start anchor holds at the line's start only", r"^b", b"ab", None),
    ("an alternative that is shorter settles first", r"(abc|b)", b"abc", 2),
    ("letters beyond ASCII fold", r"é+", b"x \xc3\x89", 4),
    ("a dot takes a whole character", r"a.", "aé".encode(), 3),
    ("an open quotation is closed", r"\Qa(", b"xa(", 3),
    ("flags stay inside", r"(?i)READY", b"ready", 5),
]


@pytest.mark.parametrize(
    ("pattern", "line", "end"), [case[1:] for case in UNFINISHED], ids=[c[0] for c in UNFINISHED]
)
def test_match_on_an_unfinished_line(pattern: str, line: bytes, end: int | None) -> None:
    found = Regex(pattern, match_case=False).unfinished(line)
    assert found == end


FINISHED = [
    ("an end anchor", r"ready$", b"it is ready", LATE),
    ("a word boundary at the end", r"ready\b", b"ready", LATE),
    ("a settled match has its own end", r"ready", b"ready now", 5),
    ("an empty line", r"^$", b"", LATE),
    ("an empty match", r"x*", b"abc", LATE),
    ("no match", r"^x$", b"abc", None),
]


@pytest.mark.parametrize(
    ("pattern", "line", "end"), [case[1:] for case in FINISHED], ids=[case[0] for case in FINISHED]
)
def test_match_on_a_finished_line(pattern: str, line: bytes, end: int | None) -> None:
    found = Regex(pattern, match_case=False).finished(line)
    assert found == end


def test_empty_matches_are_for_finished_lines_only() -> None:
    assert Regex("x*", match_case=False).finished(b"abc", empty=False) is None


def test_a_match_before_the_cut_does_not_count_again() -> None:
    regex = Regex("ready", match_case=False)
    assert regex.unfinished(b"ready", after=5) is None
    assert regex.finished(b"ready> x", after=5) is None
    assert regex.unfinished(b"ready> ready", after=5) == 12
    assert regex.unfinished(b"ready", after=3) == 5


def test_only_the_neighbourhood_of_new_text_is_searched_again() -> None:
    line = b"ready" + b"." * 100_000
    assert Regex("ready", match_case=False).unfinished(line, since=90_000) is None


def test_case_counts_when_asked() -> None:
    assert Regex("ready", match_case=True).unfinished(b"READY") is None
    assert Regex("ready", match_case=False).unfinished(b"READY") == 5


def test_a_literal_is_taken_as_it_stands() -> None:
    regex = Regex("É.", match_case=False, literal=True)
    assert regex.unfinished("é.".encode()) == 3
    assert regex.unfinished("éx".encode()) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("a(", "missing )"), ("(?=a)", "(?="), (r"(a)\1", "\\1"), ("[b-a]", "b-a"), ("*", "*")],
)
def test_what_re2_does_not_know_is_refused_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match="RE2") as refused:
        Regex(pattern, match_case=False)
    assert reason in str(refused.value)


PIECES = [
    "a", "b", ".", r"\b", r"\B", "$", "^", r"\d", "a*", "b+?", "(a|ab)", "é", r"\s", "[^a]", "x?",
]  # fmt: skip


@given(
    pattern=st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join),
    line=st.text(alphabet="abxé 1", max_size=12),
    after=st.integers(0, 4),
)
def test_bisection_finds_what_trying_every_end_finds(pattern: str, line: str, after: int) -> None:
    text = line.encode()
    after = min(after, len(text))
    found = Regex(pattern, match_case=False).unfinished(text, after=after)
    assert found == earliest_by_trying_all(pattern, text, after)


def test_a_match_before_a_byte_that_is_no_character_is_settled() -> None:
    regex = Regex("ready", match_case=False)
    assert regex.unfinished(b"is ready\xff") == len("is ready")
    assert regex.unfinished(b"is ready\xc3") == len("is ready")
