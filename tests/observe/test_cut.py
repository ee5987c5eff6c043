"""Where a later look belongs in a stream: found by the text, to the byte, without a tmux."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tmux_wait.observe.cut import LONGEST_SEARCH, find_cut
from tmux_wait.observe.entry import Entry

HEIGHT = 6


def screen(*rows: str, cell: int | None = None, below: int = 0, **changes: object) -> Entry:
    """Return a screen whose last given row is the cursor's, with empty rows below it."""
    fields: dict[str, object] = {
        "pane": "%1", "server_pid": 1, "server_version": "3.5a", "pane_pid": 2, "width": 80,
        "height": HEIGHT, "history_size": 0, "dead": False, "dead_status": None, "in_mode": False,
        "alternate": False, "piped": False, "rows": tuple(r.rstrip() for r in rows) + ("",) * below,
        "cursor_row": len(rows) - 1, "cursor_cell": len(rows[-1]) if cell is None else cell,
    }  # fmt: skip
    return Entry(**{**fields, **changes})  # type: ignore[arg-type]


def written(text: bytes, start: Sequence[str] = ("",)) -> Entry:
    """Return what a terminal shows after plain lines (CR LF), too simple to be wrong."""
    rows = [*start[:-1], *(start[-1] + text.decode()).split("\n")]
    last = rows[-1]
    rows = [row.removesuffix("\r") for row in rows][-HEIGHT:]
    back = last.endswith("\r")
    return screen(*rows, cell=0 if back else None, below=HEIGHT - len(rows))


LINES = b"".join(b"line %d says %d\r\n" % (n, n * n) for n in range(300))


@pytest.mark.parametrize("known", [True, False], ids=["from the start", "from the middle"])
def test_every_place_in_lines_that_differ_is_found(known: bool) -> None:
    begin = 0 if known else 100
    start = screen("", below=HEIGHT - 1) if known else None
    for cut in range(begin + 200, begin + 420):
        stream = LINES[begin : begin + 1500]
        earliest = random.Random(cut).randrange(0, cut - begin + 1)
        assert find_cut(stream, earliest, start, written(LINES[:cut])) == cut - begin


def test_a_place_before_the_earliest_is_not_taken() -> None:
    assert find_cut(LINES, 500, screen("", below=5), written(LINES[:499])) is None
    assert find_cut(LINES, 499, screen("", below=5), written(LINES[:499])) == 499


def test_a_place_that_has_not_come_yet_is_not_guessed() -> None:
    assert find_cut(LINES[:800], 0, screen("", below=5), written(LINES[:801])) is None
    assert find_cut(LINES[:801], 0, screen("", below=5), written(LINES[:801])) == 801


def test_the_line_that_stood_there_at_the_start_is_continued() -> None:
    start = ("$ make", "", "50% do")
    shown = screen(*start, below=3)
    for cut in range(20):
        assert (
            find_cut(b"ne\r\n" + LINES, 0, shown, written((b"ne\r\n" + LINES)[:cut], start)) == cut
        )


@pytest.mark.parametrize(
    "colour", [b"\x1b[1;32m", b"\x1b]0;a title\x07", b"\x1b(B"], ids=["SGR", "title", "charset"]
)
def test_a_cut_inside_what_is_invisible_is_before_it(colour: bytes) -> None:
    """Whatever was read of the sequence, the screen is the same; so it comes whole."""
    stream = LINES[:400] + b"one " + colour + b"two\r\n" + LINES[400:]
    assert find_cut(stream, 0, screen("", below=5), written(LINES[:400] + b"one ")) == 404


def test_a_character_that_was_cut_comes_whole() -> None:
    stream = "ein\r\nzwei\r\ndrei\r\ngr\u00fcn\r\n".encode()
    assert find_cut(stream, 0, screen("", below=5), written(b"ein\r\nzwei\r\ndrei\r\ngr")) == 19


def test_wide_characters_take_two_cells() -> None:
    stream = "ein\r\nzwei\r\n\u6f22\u5b57 ok\r\n".encode()
    shown = screen("ein", "zwei", "\u6f22\u5b57", cell=4, below=3)
    assert find_cut(stream, 0, screen("", below=5), shown) == 11 + 6


def test_the_cursor_tells_apart_what_looks_alike() -> None:
    stream = LINES[:300] + b"50%\r"
    shown = written(LINES[:300] + b"50%")
    assert find_cut(stream, 0, screen("", below=5), shown) == 303
    back = screen(*shown.rows[:HEIGHT], cell=0)
    assert find_cut(stream, 0, screen("", below=5), back) == 304


def test_of_places_that_cannot_be_told_apart_the_first_is_taken() -> None:
    stream = b"y\r\n" * 1000
    assert find_cut(stream, 600, screen("", below=5), written(stream[:2400])) == 600


def test_a_wrapped_line_whose_head_is_out_of_sight_is_recognised() -> None:
    stream = b"x" * 500 + b"the end\r\n" + LINES
    cut = stream.index(b"line 2 ")
    shown = screen("xxthe end", "line 0 says 0", "line 1 says 1", "", below=2)
    assert find_cut(stream, 0, screen("", below=5), shown) == cut
    other = screen("yythe end", "line 0 says 0", "line 1 says 1", "", below=2)
    assert find_cut(stream, 0, screen("", below=5), other) is None


@pytest.mark.parametrize(
    "shown",
    [
        screen("a", "b", below=1, alternate=True),
        screen("a", "b", rows=("a", "b", "a status line")),
    ],
    ids=["alternate screen", "text below the cursor"],
)
def test_where_lines_do_not_say_what_a_screen_shows_nothing_is_said(shown: Entry) -> None:
    assert find_cut(b"a\r\nb", 0, screen("", below=5), shown) is None


def test_too_little_evidence_is_none() -> None:
    shown = written(b"a\r\nb\r\nc\r\nd\r\n$ ")
    assert find_cut(b"lost\r\nc\r\nd\r\n$ ", 0, None, shown) is None
    assert find_cut(b"lost\r\nb\r\nc\r\nd\r\n$ ", 0, None, shown) == 17


def test_lines_above_one_that_was_left_are_not_known() -> None:
    stream = b"a\r\nb\r\nc\r\nleft\x1b[H\x1b[Jd\r\n$ "
    assert find_cut(stream, 0, screen("", below=5), written(b"a\r\nb\r\nc\r\nd\r\n$ ")) is None


def test_no_more_than_so_much_of_one_line_is_searched() -> None:
    line = b"x" * LONGEST_SEARCH
    for size, found in ((LONGEST_SEARCH, LONGEST_SEARCH), (LONGEST_SEARCH + 1, None)):
        stream = (line + b"x")[:size]
        shown = screen("x" * size, below=5)
        assert find_cut(stream, 0, screen("", below=5), shown) == found


@pytest.mark.parametrize("stream", [b"", b"no line feed", b"\n"])
def test_a_stream_without_a_line_finds_nothing_from_the_middle(stream: bytes) -> None:
    assert find_cut(stream, 0, None, screen("a", "b", "c")) is None


def test_noise_finds_nothing_and_does_no_harm() -> None:
    chance = random.Random(3)
    for _ in range(200):
        noise = chance.randbytes(chance.randrange(400))
        assert find_cut(noise, 0, screen("", below=5), screen("never", "to be", "found")) is None
