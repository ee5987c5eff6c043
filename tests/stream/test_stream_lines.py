"""LineScanner and TextFilter against the twin, whatever the input and its cuts."""

from __future__ import annotations

from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import (
    SOUP_LITERALS,
    cut,
    cuts,
    literals,
    pieces,
    random_cut,
    terminal_input,
    terminal_soup,
)
from terminal_twin import TerminalTwin

from tmux_wait import stream
from tmux_wait.stream import LineHit, LineScanner, TextFilter, Version

WIDTHS = st.sampled_from([None, None, 1, 2, 3, 7, 10, 80])
LIMITS = st.sampled_from([16, 24, 64, 65536])


def scanner(limit: int, *args: object, **options: object) -> LineScanner:
    with mock.patch.object(stream, "_LINE_LIMIT", limit):
        return LineScanner(*args, **options)  # type: ignore[arg-type]


def same_state(scan: LineScanner, twin: TerminalTwin) -> None:
    assert scan.line == twin.line()
    assert scan.version == twin.version
    assert scan.write == twin.write
    assert scan.visible == twin.visible
    assert scan.alternate == twin.alternate


@settings(max_examples=600, deadline=None)
@given(
    terminal_input(),
    literals(),
    WIDTHS,
    LIMITS,
    st.booleans(),
    st.sampled_from([0, 5, 4096]),
    cuts(),
)
def test_a_scan_is_what_the_twin_says_however_it_is_cut(
    data: bytes, wanted: tuple[bytes, ...], width: int | None, limit: int, case: bool, context: int,
    places: list[int],
) -> None:  # fmt: skip
    twin = TerminalTwin(wanted, match_case=case, width=width, context=context, limit=limit)
    scan = scanner(limit, wanted, match_case=case, width=width, context=context)
    hits: list[LineHit] = []
    versions: list[Version] = []
    text = b""
    for piece in cut(data, places):
        hits += scan.feed(piece)
        versions += scan.versions()
        text += scan.text()
    twin.feed(data)
    same_state(scan, twin)
    hits += scan.finish()
    versions += scan.versions()
    text += scan.text()
    twin.finish()
    assert versions == twin.versions
    assert hits == twin.hits
    assert text == b"".join(twin.lines)
    same_state(scan, twin)


@pytest.mark.parametrize("seed", range(8))
def test_much_more_input_agrees_with_the_twin(seed: int) -> None:
    for round_ in range(400):
        random = Random(f"{seed} {round_}")
        wanted = tuple(random.choices(SOUP_LITERALS, k=random.randint(1, 6)))
        width = random.choice((None, 1, 2, 3, 4, 5, 7, 10, 20))
        limit = random.choice((16, 17, 24, 32, 64, 65536))
        context = random.choice((0, 1, 3, 8, 4096))
        twin = TerminalTwin(wanted, width=width, context=context, limit=limit)
        scan = scanner(limit, wanted, width=width, context=context)
        hits: list[LineHit] = []
        versions: list[Version] = []
        if random.random() < 0.3:
            line = random.choice(("aab", "世a世", "ready, e\u0301")).encode()
            cursor = random.randrange(12)
            scan.seed(line, cursor)
            twin.seed(line, cursor)
        for _ in range(random.randint(1, 4)):
            data = terminal_soup(random)
            for piece in random_cut(random, data):
                hits += scan.feed(piece)
                versions += scan.versions()
            twin.feed(data)
            if random.random() < 0.5:
                hits += scan.quiet()
                twin.quiet()
            if random.random() < 0.2:
                width = random.choice((None, 2, 3, 8, 20))
                scan.resize(width)
                twin.resize(width)
            same_state(scan, twin)
        hits += scan.finish()
        versions += scan.versions()
        twin.finish()
        assert hits == twin.hits
        assert versions == twin.versions


STEPS = st.lists(
    st.one_of(pieces(), pieces(), pieces(), st.just("quiet"), st.sampled_from([None, 1, 5, 10])),
    max_size=40,
)


@settings(max_examples=400, deadline=None)
@given(
    STEPS,
    literals(),
    WIDTHS,
    LIMITS,
    st.one_of(st.none(), st.tuples(terminal_input(6), st.integers(0, 30))),
)
def test_seeds_quiet_moments_and_new_widths_agree_with_the_twin(
    steps: list[bytes | str | int | None], wanted: tuple[bytes, ...], width: int | None, limit: int,
    seed: tuple[bytes, int] | None,
) -> None:  # fmt: skip
    twin = TerminalTwin(wanted, width=width, limit=limit)
    scan = scanner(limit, wanted, width=width)
    hits: list[LineHit] = []
    versions: list[Version] = []
    if seed is not None:
        text = bytes(byte for byte in seed[0] if byte >= 32 and byte != 127)
        scan.seed(text, seed[1])
        twin.seed(text, seed[1])
        same_state(scan, twin)
    for step in steps:
        if isinstance(step, bytes):
            hits += scan.feed(step)
            versions += scan.versions()
            twin.feed(step)
        elif step == "quiet":
            hits += scan.quiet()
            twin.quiet()
            assert scan.quiet() == []
        else:
            scan.resize(step)  # type: ignore[arg-type]
            twin.resize(step)  # type: ignore[arg-type]
        assert hits == twin.hits
        same_state(scan, twin)
    assert versions == twin.versions


@settings(max_examples=300, deadline=None)
@given(terminal_input(), WIDTHS, LIMITS, cuts())
def test_the_filter_gives_the_lines_of_the_twin_however_it_is_cut(
    data: bytes, width: int | None, limit: int, places: list[int]
) -> None:
    twin = TerminalTwin(width=width, context=0, limit=limit)
    with mock.patch.object(stream, "_LINE_LIMIT", limit):
        text_filter = TextFilter(width)
    text = b"".join(text_filter.feed(piece) for piece in cut(data, places))
    twin.feed(data)
    assert text == b"".join(twin.lines)
    twin.finish()
    assert (
        text + text_filter.flush()
        == b"".join(twin.lines)[: -1 if twin.lines[text.count(b"\n") :] else None]
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_utf8_is_replaced_as_python_does(seed: int) -> None:
    random = Random(seed)
    letters = [
        b"a",
        b"\xc3",
        b"\xa9",
        b"\xe4",
        b"\xb8",
        b"\x96",
        b"\xf0",
        b"\x9f",
        b"\xff",
        b"\xed",
    ]
    data = b"".join(random.choices(letters, k=300))
    shown = data.decode(errors="replace").replace("\ufeff", "")
    controls = {chr(n): None for n in range(0x80, 0xA0)}
    scan = LineScanner(replace=True)
    for piece in random_cut(random, data):
        scan.feed(piece)
    scan.finish()
    text = scan.text().removesuffix(b"\n").decode()
    assert text == shown.translate(str.maketrans(controls))
