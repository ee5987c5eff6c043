"""LineScanner: versions and hits by example, the limits from both sides, small arrays, callers."""

from __future__ import annotations

import array
import threading
from collections.abc import Callable
from unittest import mock

import pytest
from hypothesis import example, given, settings
from samples import literals, terminal_input

from tmux_wait import stream
from tmux_wait.stream import (
    ControlParser,
    LineHit,
    LineScanner,
    LiteralMatcher,
    Scanner,
    TextFilter,
    VersionEnd,
)

LIMIT = 65536
CONTEXT = 4096


def ends(scan: LineScanner) -> list[tuple[bytes, VersionEnd]]:
    return [(version.text, version.end) for version in scan.versions()]


def test_a_redrawn_line_is_told_in_each_of_its_versions() -> None:
    scan = LineScanner([b"50%", b"% done"])
    assert scan.feed(b"50% done\r") == [
        LineHit(0, 0, 0, 3, 3, False),
        LineHit(0, 1, 2, 8, 8, False),
    ]
    assert scan.feed(b"60") == []
    assert ends(scan) == [(b"50% done", VersionEnd.REDRAWN)]
    assert (scan.line, scan.write, scan.version) == (b"60% done", 2, 1)
    assert scan.feed(b"\r\n") == []
    assert ends(scan) == [(b"60% done", VersionEnd.LINE)]


def test_a_hit_over_cells_left_over_counts_when_its_version_completes() -> None:
    scan = LineScanner([b"ready"])
    scan.feed(b"steady\r")
    assert scan.feed(b" r") == []
    assert scan.line == b" ready"
    assert scan.feed(b"\n") == [LineHit(1, 0, 1, 6, 8, True)]


def test_a_quiet_moment_tells_a_hit_over_cells_left_over_once() -> None:
    scan = LineScanner([b"ready"])
    scan.feed(b"steady\r r")
    assert scan.quiet() == [LineHit(1, 0, 1, 6, 8, True)]
    assert scan.quiet() == []
    assert scan.feed(b"e") == []
    assert scan.quiet() == []
    assert scan.feed(b"ady\n") == []


def test_the_write_position_passes_over_cells_left_over() -> None:
    scan = LineScanner([b"Xbc", b"bcY", b"bc", b"XbcYef"])
    scan.feed(b"abcdef\rX")
    assert scan.feed(b"\x1b[2CY") == [
        LineHit(1, 0, 0, 3, 7, False),
        LineHit(1, 1, 1, 4, 8, False),
    ]
    assert scan.finish() == [LineHit(1, 3, 0, 6, 8, True)]


def test_a_redraw_of_the_same_text_is_a_version() -> None:
    scan = LineScanner([b"ab"])
    assert scan.feed(b"ab\rab\rab") == [
        LineHit(0, 0, 0, 2, 2, False),
        LineHit(1, 0, 0, 2, 4, False),
        LineHit(2, 0, 0, 2, 6, False),
    ]


def test_erasing_before_the_write_position_ends_the_version() -> None:
    scan = LineScanner()
    scan.feed(b"one\r\x1b[Ktwo\x1b[K")
    assert ends(scan) == [(b"one", VersionEnd.REDRAWN)]
    assert scan.line == b"two"


def test_literals_run_on_over_lines() -> None:
    scan = LineScanner([b"a\nb", b"a\n", b"\n"])
    assert scan.feed(b"xa\r\nb") == [
        LineHit(0, 1, 1, 3, 3, False),
        LineHit(0, 2, 2, 3, 3, False),
        LineHit(1, 0, -2, 1, 4, False),
    ]


def test_hits_inside_the_seed_are_not_told_but_those_that_end_after_it_are() -> None:
    scan = LineScanner([b"ready", b"dy", b"rea"])
    scan.seed(b"ready, rea", 10)
    assert scan.feed(b"dy") == [LineHit(0, 0, 7, 12, 2, False), LineHit(0, 1, 10, 12, 2, False)]
    assert scan.visible == 2


def test_a_seed_may_end_before_the_cursor_or_after_it() -> None:
    scan = LineScanner([b"a  b"])
    scan.seed(b"a", 3)
    assert scan.write == 1
    assert scan.feed(b"b") == [LineHit(0, 0, 0, 4, 1, False)]
    scan = LineScanner([b"abc"])
    scan.seed(b"xbc", 0)
    assert scan.feed(b"a") == []
    assert scan.version == 0
    assert scan.quiet() == [LineHit(0, 0, 0, 3, 1, True)]


def test_a_seed_that_fills_its_row_is_about_to_wrap() -> None:
    scan = LineScanner(width=5)
    scan.seed(b"01234", 5)
    scan.feed(b"\rX")
    assert scan.line == b"X1234"


@pytest.mark.parametrize("cursor", [0, 1, 10, 100_000, 1 << 40])
def test_a_seed_takes_any_cursor(cursor: int) -> None:
    scan = LineScanner()
    scan.seed(b"ab\x1b[31m\n", cursor)
    assert scan.line == b"ab[31m"
    scan.feed(b"x")


def test_a_seed_is_refused_after_a_feed_and_before_the_line() -> None:
    scan = LineScanner()
    with pytest.raises(ValueError, match="before the line"):
        scan.seed(b"a", -1)
    scan.feed(b"")
    with pytest.raises(ValueError, match="before the first feed"):
        scan.seed(b"a", 0)


def test_a_new_width_keeps_the_cursor_on_its_cell() -> None:
    scan = LineScanner(width=10)
    scan.feed(b"0123456789abc")
    scan.resize(4)
    scan.feed(b"\rX")
    assert scan.line == b"0123456789abXbc"[:12] + b"X"
    scan.resize(None)
    scan.feed(b"\rY")
    assert scan.line == b"Y123456789abX"


def test_visible_counts_no_blanks_and_no_sequences() -> None:
    scan = LineScanner()
    scan.feed("\x1b]0;title\x07 \t\r\n\xa0\u3000\x1b[5Cé世e\u0301".encode())
    assert scan.visible == 3


def test_the_alternate_screen_is_remembered() -> None:
    scan = LineScanner()
    scan.feed(b"ab\x1b[?1049l")
    assert not scan.alternate
    scan.feed(b"ab\x1b[?1049hfull\x1b[?1049lZ")
    assert scan.alternate
    assert scan.line == b"  Z"


# --- limits ---


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_line_is_cut_only_beyond_the_limit(over: int) -> None:
    data = b"x" * (LIMIT + over)
    scan = LineScanner()
    scan.feed(data + b"\n")
    text = scan.text()
    if over <= 0:
        assert ends(scan) == [(data, VersionEnd.LINE)]
        assert text == data + b"\n"
        return
    first, second = scan.versions()
    assert (first.text, first.end, first.carried) == (data[:LIMIT], VersionEnd.CUT, 0)
    assert (second.text, second.end, second.carried) == (b"x" * 4097, VersionEnd.LINE, CONTEXT)
    assert text == data[:LIMIT] + b"\n" + b"x\n"
    assert TextFilter().feed(data + b"\n") == text


@pytest.mark.parametrize("before", [LIMIT - 5, LIMIT - 4, LIMIT - 1, LIMIT, LIMIT + 1])
def test_a_match_over_the_cut_is_found_once(before: int) -> None:
    data = b"x" * before + b"ready" + b"x" * LIMIT
    scan = LineScanner([b"ready"])
    hits = scan.feed(data) + scan.finish()
    assert [hit.offset for hit in hits] == [before + 5]
    (hit,) = hits
    assert hit.end - hit.start == 5
    assert hit.version == (before + 5 > LIMIT)


def test_a_match_that_begins_before_the_carried_bytes_is_found() -> None:
    scan = LineScanner([b"a" * 100 + b"b"], context=10)
    hits = scan.feed(b"x" * (LIMIT - 100) + b"a" * 100 + b"b")
    assert hits == [LineHit(1, 0, 11 - 101, 11, LIMIT + 1, False)]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_character_is_never_cut_in_two(size: int) -> None:
    char = {2: "é", 3: "ก", 4: "𝄞"}[size].encode()
    data = b"x" + char * (LIMIT // size + 1)
    text_filter = TextFilter()
    text = text_filter.feed(data) + text_filter.flush()
    assert text.replace(b"\n", b"") == data
    assert all(len(line) <= LIMIT and line.decode() for line in text.splitlines())


def test_blanks_beyond_the_limit_are_cut_too() -> None:
    scan = LineScanner()
    scan.feed(b"x" * (LIMIT - 10) + b"\x1b[30Cy\n")
    assert [(v.length, v.end) for v in scan.versions()] == [
        (LIMIT, VersionEnd.CUT),
        (CONTEXT + 21, VersionEnd.LINE),
    ]
    assert scan.text() == b"x" * (LIMIT - 10) + b" " * 10 + b"\n" + b" " * 20 + b"y\n"


def test_marks_beyond_the_limit_vanish() -> None:
    scan = LineScanner()
    scan.feed(b"x" * (LIMIT - 3) + "e\u0301\u0301".encode())
    assert scan.line == b"x" * (LIMIT - 3) + "e\u0301".encode()
    assert scan.version == 0


@pytest.mark.parametrize(("mark", "kept"), [("\u0301", 15), ("\u20d7", 10)])
def test_marks_that_a_cell_has_no_room_for_vanish(mark: str, kept: int) -> None:
    for marks in (kept - 1, kept, kept + 1, LIMIT):
        data = ("e" + mark * marks + "f").encode()
        shown = "e" + mark * min(marks, kept) + "f"
        scan = LineScanner()
        scan.feed(data)
        assert scan.line.decode() == shown
        assert TextFilter().feed(data + b"\n").decode() == shown + "\n"


def test_a_long_line_without_end_stays_small() -> None:
    scan = LineScanner([b"needle"])
    hits = []
    for _ in range(64):
        hits += scan.feed(b"x" * 99_990 + b"needle\b\b\b\b\rneedle")
        assert len(scan.line) <= LIMIT
    assert len(hits) >= 128


@pytest.mark.parametrize("size", [CONTEXT - 1, CONTEXT, CONTEXT + 1, 3 * CONTEXT])
def test_a_redrawn_version_shows_its_change_and_the_context(size: int) -> None:
    scan = LineScanner()
    scan.feed(b"a" * size + b"middle" + b"b" * size)
    scan.feed(b"\x1b[%dG" % (size + 1) + b"MIDDLE" + b"\x1b[%dGX" % (size + 1))
    first, second = scan.versions()
    assert first.start == 0
    assert first.text == b"a" * size + b"middle" + b"b" * size
    kept = min(size, CONTEXT)
    assert second.start == size - kept
    assert second.text == b"a" * kept + b"MIDDLE" + b"b" * kept
    assert (second.length, second.write) == (2 * size + 6, size + 6)


@pytest.mark.parametrize("width", [1, 10_000])
def test_widths_up_to_tmuxs_own_limit_work(width: int) -> None:
    assert TextFilter(width).feed(b"abc\n") == b"abc\n"


@pytest.mark.parametrize("width", [-1, 0, 10_001])
def test_other_widths_are_refused(width: int) -> None:
    for build in (TextFilter, lambda w: LineScanner(width=w), lambda w: LineScanner().resize(w)):
        with pytest.raises(ValueError, match="width is"):
            build(width)


@pytest.mark.parametrize("context", [-1, 16_385])
def test_other_contexts_are_refused(context: int) -> None:
    with pytest.raises(ValueError, match="context is"):
        LineScanner(context=context)
    LineScanner(context=16_384)


# --- resuming ---


def small(*args: object, limit: int = LIMIT, **options: object) -> LineScanner:
    """A scanner with the smallest arrays that C can work with."""
    rooms = {"_HITS_ROOM": 1, "_VERSIONS_ROOM": 1, "_TEXT_ROOM": 0, "_LINE_LIMIT": limit}
    with mock.patch.multiple(stream, **rooms):
        return LineScanner(*args, **options)  # type: ignore[arg-type]


def test_full_arrays_are_resumed_with_nothing_lost_or_doubled() -> None:
    data = b"aaaaaaaa\raaaa\x1b[2Ca\x1b[2K\naaa\ta\n" * 20
    scan, large = small([b"a", b"aa", b"a\na"]), LineScanner([b"a", b"aa", b"a\na"])
    assert scan.feed(data) == large.feed(data)
    assert len(scan._spilled) > 50
    assert not large._spilled
    assert scan.versions() == large.versions()
    assert scan.text() == large.text()


@settings(max_examples=150, deadline=None)
@given(terminal_input(), literals())
def test_any_input_is_the_same_through_small_arrays(data: bytes, wanted: tuple[bytes, ...]) -> None:
    for width, limit in ((None, LIMIT), (7, 32)):
        scan = small(wanted, width=width, limit=limit)
        with mock.patch.object(stream, "_LINE_LIMIT", limit):
            large = LineScanner(wanted, width=width)
        assert scan.feed(data) == large.feed(data)
        assert scan.versions() == large.versions()
        assert scan.quiet() == large.quiet()
        assert scan.finish() == large.finish()
        assert scan.text() == large.text()


@settings(max_examples=150, deadline=None)
@example(b"xb\ra\rq\n", (b"ab", b"b"))  # C stops between a hit and its version
@given(terminal_input(), literals())
def test_parts_are_the_feed_cut_where_no_version_is(data: bytes, wanted: tuple[bytes, ...]) -> None:
    scan = small(wanted, width=7, limit=32)
    with mock.patch.object(stream, "_LINE_LIMIT", 32):
        large = LineScanner(wanted, width=7)
    hits, versions = [], []
    for part in scan.parts(data):
        told = scan.versions()
        assert all(
            hit.version in {version.version for version in told} for hit in part if hit.complete
        )
        hits += part
        versions += told
    assert hits == large.feed(data)
    assert versions == large.versions()


def test_many_hits_over_cells_left_over_are_resumed() -> None:
    wanted = [b"a" * n for n in range(2, 60)]
    scan, large = small(wanted), LineScanner(wanted)
    for one in (scan, large):
        one.feed(b"a" * 200 + b"\r\x1b[50Ca")
    assert scan.quiet() == large.quiet() != []
    assert scan.feed(b"\n") == large.feed(b"\n")


def test_versions_can_be_left_out() -> None:
    scan = LineScanner([b"x"], redrawn=False)
    assert len(scan.feed(b"x\rx\rx\n")) == 3
    assert ends(scan) == [(b"x", VersionEnd.LINE)]
    assert scan.versions()[0].version == 2


# --- callers ---

FEEDERS: dict[str, Callable[[], object]] = {
    "ControlParser": ControlParser,
    "TextFilter": TextFilter,
    "LiteralMatcher": lambda: LiteralMatcher([b"a"]),
    "Scanner": lambda: Scanner([b"a"], source="raw"),
    "LineScanner": lambda: LineScanner([b"a"]),
}


@pytest.mark.parametrize("name", FEEDERS)
def test_any_bytes_like_object_is_fed_as_it_is(name: str) -> None:
    data = b"%output %1 aab\n"
    expected = FEEDERS[name]().feed(data)  # type: ignore[attr-defined]
    held = bytearray(data)
    for like in (memoryview(data), array.array("B", data), held):
        assert FEEDERS[name]().feed(like) == expected  # type: ignore[attr-defined]
    held += b"not locked any more"


@pytest.mark.parametrize("name", FEEDERS)
def test_what_is_not_bytes_is_refused_and_changes_nothing(name: str) -> None:
    feeder = FEEDERS[name]()
    for wrong in ("text", None, 5, memoryview(b"abcd")[::2]):
        with pytest.raises((TypeError, ValueError, BufferError)):
            feeder.feed(wrong)  # type: ignore[attr-defined]
    feeder.feed(b"")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FEEDERS)
def test_a_second_caller_is_refused_while_the_first_is_inside(name: str) -> None:
    feeder = FEEDERS[name]()
    refused: list[RuntimeError] = []

    def second() -> None:
        try:
            feeder.feed(b"a")  # type: ignore[attr-defined]
        except RuntimeError as error:
            refused.append(error)

    with feeder._turn:  # type: ignore[attr-defined]
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refused) == 1
    assert "another thread" in str(refused[0])
    feeder.feed(b"a")  # type: ignore[attr-defined]


def test_two_threads_in_one_object_do_not_crash_it() -> None:
    scan = LineScanner([b"a"])
    fed = []

    def feed() -> None:
        for _ in range(200):
            try:
                scan.feed(b"ab\r" * 500)
                fed.append(1500)
            except RuntimeError:
                pass

    threads = [threading.Thread(target=feed) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scan.version == sum(fed) // 3 - 1
