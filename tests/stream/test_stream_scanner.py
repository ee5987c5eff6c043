"""Scanner: panes kept apart, hits with their lines, the twin whatever the input and its cuts."""

from __future__ import annotations

from unittest import mock

import pytest
from control_twin import ScannerTwin, control_twin
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cut, cuts, literals, terminal_input

from tmux_wait import stream
from tmux_wait.stream import Hit, Output, Scanner


def output(pane: int, data: bytes) -> bytes:
    """Write data as tmux would in a control client's output line."""
    escaped = b"".join(
        b"\\%03o" % byte if byte < 32 or byte == 92 else bytes([byte]) for byte in data
    )
    return b"%%output %%%d %s\n" % (pane, escaped)


def build(limit: int, small: bool, *args: object, **options: object) -> Scanner:
    rooms = {"_HITS_ROOM": 1, "_VERSIONS_ROOM": 1, "_TEXT_ROOM": 0} if small else {}
    with mock.patch.multiple(stream, _LINE_LIMIT=limit, **rooms):
        return Scanner(*args, **options)  # type: ignore[arg-type]


WIDTHS = st.sampled_from([None, 3, 10])
LIMITS = st.sampled_from([16, 64, 65536])


@settings(max_examples=200, deadline=None)
@given(terminal_input(), literals(), WIDTHS, LIMITS, st.booleans(), cuts())
def test_raw_hits_are_those_of_the_twin_however_it_is_cut(
    data: bytes, wanted: tuple[bytes, ...], width: int | None, limit: int, small: bool,
    places: list[int],
) -> None:  # fmt: skip
    twin = ScannerTwin(wanted, width=width, limit=limit)
    twin.write(4, data)
    scanner = build(limit, small, wanted, source="raw", pane=4, width=width)
    hits = [hit for piece in cut(data, places) for hit in scanner.feed(piece)]
    assert hits == twin.found
    assert hits + scanner.finish() == twin.finish()


WRITES = st.lists(st.tuples(st.integers(0, 3), terminal_input(6)), max_size=12)


@settings(max_examples=200, deadline=None)
@given(WRITES, literals(), LIMITS, st.booleans(), st.sampled_from([None, 0, 2]), cuts())
def test_panes_in_control_output_are_kept_apart_however_it_is_cut(
    writes: list[tuple[int, bytes]], wanted: tuple[bytes, ...], limit: int, small: bool,
    only: int | None, places: list[int],
) -> None:  # fmt: skip
    data = b"%begin 1 2 1\n%output %0 ready\n%end 1 2 1\n"
    data += b"".join(output(pane, text) for pane, text in writes)
    twin = ScannerTwin(wanted, limit=limit)
    for event in control_twin(data):
        if isinstance(event, Output) and only in (None, event.pane):
            twin.write(event.pane, event.data)
    scanner = build(limit, small, wanted, pane=only)
    hits = [hit for piece in cut(data, places) for hit in scanner.feed(piece)]
    assert hits == twin.found
    rest = scanner.finish()
    assert sorted(hits + rest, key=repr) == sorted(twin.finish(), key=repr)
    assert not scanner._waiting


def test_a_hit_comes_with_its_line_once_that_is_complete() -> None:
    scanner = Scanner([b"err", b"or"], source="raw", pane=7)
    assert scanner.feed(b"an e\x1b[1mrr") == []
    assert scanner.feed(b"or at 5\r\nnext err") == [
        Hit(7, 0, 6, b"an error at 5"),
        Hit(7, 1, 8, b"an error at 5"),
    ]
    assert scanner.finish() == [Hit(7, 0, 22, b"next err")]
    assert scanner.finish() == []


def test_raw_hits_without_a_pane_say_none() -> None:
    assert Scanner([b"x"], source="raw").feed(b"x\n") == [Hit(None, 0, 1, b"x")]


def test_a_hit_in_a_redrawn_version_comes_with_that_version() -> None:
    scanner = Scanner([b"50%"], source="raw")
    assert scanner.feed(b"at 50%\rat 60%\r") == [Hit(None, 0, 6, b"at 50%")]


def test_a_character_split_over_two_output_lines_is_one() -> None:
    scanner = Scanner(["né".encode()])
    data = output(1, b"n\xc3") + output(2, b"\x1b[") + output(1, b"\xa9\n") + output(2, b"1mz\n")
    assert scanner.feed(data) == [Hit(1, 0, 3, "né".encode())]


PANES = 128  # as many as are remembered


@pytest.mark.parametrize("panes", [PANES - 1, PANES, PANES + 1])
def test_the_pane_not_heard_for_longest_is_dropped_beyond_128(panes: int) -> None:
    scanner = Scanner([b"ready"])
    twin = ScannerTwin((b"ready",), panes=PANES)
    hits: list[Hit] = []
    for half in (b"was ready, re", b"ady\n"):
        for pane in range(panes):
            hits += scanner.feed(output(pane, half))
            twin.write(pane, half)
    assert hits == twin.found
    # In turn, one pane too many means that each is dropped before its second half.
    assert hits.count(Hit(0, 0, 16, b"was ready, ready")) == (panes <= PANES)
    assert Hit(0, 0, 9, b"was ready, ready" if panes <= PANES else b"was ready, re") in hits


def test_a_pane_that_was_dropped_and_speaks_again_is_a_new_one() -> None:
    others = b"".join(output(pane, b"x") for pane in range(1, PANES + 1))
    scanner = Scanner([b"a"])
    hits = scanner.feed(output(0, b"a1") + others + output(0, b"a2") + others + output(0, b"a3"))
    assert hits == [Hit(0, 0, 1, b"a1"), Hit(0, 0, 1, b"a2")]
    assert scanner.finish() == [Hit(0, 0, 1, b"a3")]


def test_ever_new_panes_leave_nothing_behind() -> None:
    scanner = Scanner([b"a", b"aa"])
    hits = sum(
        len(scanner.feed(b"".join(output(n, b"aab") for n in range(start, start + 1000))))
        for start in range(0, 50_000, 1000)
    )
    assert hits == 3 * (50_000 - PANES)
    assert len(scanner._waiting) == PANES
    assert len(scanner.finish()) == 3 * PANES
    assert not scanner._waiting


def test_small_arrays_are_resumed_and_not_just_large_enough() -> None:
    data = b"".join(output(n % 5, b"aaaaaaaa ready\r" * 5 + b"\n") for n in range(50))
    small = build(64, True, [b"a", b"aa", b"ready"])
    calls = 0

    def feed(*args: object) -> int:
        nonlocal calls
        calls += 1
        return stream.lib.tw_panes_feed(*args)  # type: ignore[no-any-return]

    small._feed = feed
    assert small.feed(data) == build(64, False, [b"a", b"aa", b"ready"]).feed(data)
    assert calls > 200


@pytest.mark.parametrize(
    "options", [{"source": "tap"}, {"pane": -1}, {"pane": 1 << 32}, {"width": 0}]
)
def test_a_wrong_option_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Scanner([b"a"], **options)  # type: ignore[arg-type]
