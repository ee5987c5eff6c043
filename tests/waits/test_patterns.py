"""Pattern lists: limits, errors, and the order in which hits are judged."""

from __future__ import annotations

import subprocess
import sys
from string import ascii_letters

import pytest

from tmux_wait.errors import PatternError
from tmux_wait.patterns import (
    MAX_PATTERN_BYTES,
    MAX_PATTERNS,
    PatternSet,
    _folds_beyond_ascii,
)


def refusal(*args: object, **options: object) -> PatternError:
    with pytest.raises(PatternError) as refused:
        PatternSet(*args, **options)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
    return refused.value


def test_as_many_patterns_as_allowed_and_one_more() -> None:
    PatternSet(["x"] * (MAX_PATTERNS - 1))
    PatternSet(["x"] * MAX_PATTERNS, ["y"] * MAX_PATTERNS)
    error = refusal(["x"] * (MAX_PATTERNS + 1))
    assert (error.which, error.index) == ("patterns", None)
    assert "33" in str(error)
    assert "32" in str(error)


def test_as_many_bytes_as_allowed_and_one_more() -> None:
    PatternSet(["x" * (MAX_PATTERN_BYTES - 1)])
    PatternSet(["é" * (MAX_PATTERN_BYTES // 2)])
    error = refusal(["x"], ["ok", "x" * (MAX_PATTERN_BYTES + 1)])
    assert (error.which, error.index) == ("stop", 1)
    assert str(error).startswith("stop[1] is 4,097 bytes long")


@pytest.mark.parametrize("bad", ["", None, 5, b"bytes", "\ud800"])
def test_what_is_not_text_is_refused(bad: object) -> None:
    assert refusal([bad]).index == 0


def test_one_string_is_not_a_list() -> None:
    assert refusal("ready").index is None


def test_a_regular_expression_is_named_by_list_and_index() -> None:
    error = refusal(["ok", "a("], regex=True)
    assert str(error).startswith("patterns[1] ")
    assert "missing )" in str(error)


def test_hits_are_judged_by_end_then_stop_then_index() -> None:
    found = PatternSet(["bc", "abc", "zz"], ["c"]).search(b"xabc")
    assert [(hit.pattern.stop, hit.pattern.index) for hit in found] == [
        (True, 0), (False, 0), (False, 1),
    ]  # fmt: skip


def test_ascii_folds_and_the_rest_goes_to_re2() -> None:
    found = PatternSet(["READY", "straße É"])
    assert found.literals == [b"READY"]
    assert [pattern.index for pattern, _ in found.regexes] == [1]
    assert found.search("STRAßE é".encode())
    assert not PatternSet(["É"], match_case=True).search("é".encode())


def test_re2_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys; from tmux_wait.patterns import PatternSet; PatternSet(['ready'], ['漢字']);"
        "assert 're2' not in sys.modules; PatternSet(['a+'], regex=True);"
        "assert 're2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_literals_over_several_lines() -> None:
    found = PatternSet(["a\nb"])
    assert not found.search(b"a b")
    assert found.search_lines(b"xa\nby")


def test_what_the_c_core_folds_alone_is_all_that_re2_would_fold() -> None:
    import re2

    characters = [chr(n) for n in range(0x80, 0x110000) if not 0xD800 <= n < 0xE000]
    alone = [c for c in characters if not _folds_beyond_ascii(c, match_case=False)]
    others = "".join(set(characters) - set(alone)) + ascii_letters
    for begin in range(0, len(alone), 2000):
        codes = "".join(f"\\x{{{ord(c):x}}}" for c in alone[begin : begin + 2000])
        assert re2.search(f"(?i)[{codes}]", others) is None
