"""ControlParser: named lines, and the twin whatever the lines and the cuts."""

from __future__ import annotations

from unittest import mock

import pytest
from control_twin import control_twin
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import cut, cuts

from tmux_wait import stream
from tmux_wait.stream import (
    ControlParser,
    Event,
    Notification,
    Output,
    Reply,
    unescape_into,
)

CASES: dict[str, tuple[bytes, list[Event]]] = {
    "octal escapes are bytes": (
        b"%output %0 a\\033[1mb\\015\\012\n",
        [Output(0, b"a\x1b[1mb\r\n")],
    ),
    "a backslash alone is itself": (
        b"%output %1 \\ \\0 \\08\\01 \\\\033\\\n",
        [Output(1, b"\\ \\0 \\08\\01 \\\x1b\\")],
    ),
    "octal over 377 is no byte": (b"%output %1 \\400\\777\\377\n", [Output(1, b"\\400\\777\xff")]),
    "an escaped backslash": (b"%output %1 \\134033\n", [Output(1, b"\\033")]),
    "empty data": (b"%output %2 \n", [Output(2, b"")]),
    "data with spaces and bytes from 128 on": (
        b"%output %3  a  \xc3\xa9 \n",
        [Output(3, b" a  \xc3\xa9 ")],
    ),
    "the largest pane number": (b"%output %4294967295 x\n", [Output(4294967295, b"x")]),
    "a pane number too large": (
        b"%output %4294967296 x\n",
        [Notification("output", b"%4294967296 x")],
    ),
    "no pane number": (b"%output % x\n", [Notification("output", b"% x")]),
    "no data": (b"%output %1\n", [Notification("output", b"%1")]),
    "extended output": (b"%extended-output %5 1234 : da : ta\n", [Output(5, b"da : ta")]),
    "extended output with fields to come": (
        b"%extended-output %5 1 a:b c : d\n",
        [Output(5, b"d")],
    ),
    "extended output without fields": (b"%extended-output %5 : d\n", [Output(5, b"d")]),
    "extended output without a colon": (
        b"%extended-output %5 1 d\n",
        [Notification("extended-output", b"%5 1 d")],
    ),
    "a reply without a body": (b"%begin 1 2 1\n%end 1 2 1\n", [Reply(2, 1, True, b"")]),
    "a reply with lines": (
        b"%begin 1 2 0\na\n\n b\n%end 1 2 0\n",
        [Reply(2, 0, True, b"a\n\n b\n")],
    ),
    "an error": (b"%begin 1 2 1\nno\n%error 1 2 1\n", [Reply(2, 1, False, b"no\n")]),
    "a body line that looks like control": (
        b"%begin 1 2 1\n"
        b"%output %0 x\n%end 1 3 1\n%begin 1 2 1\n%end 1 2\n%error 9 2 1\n%end 1 2 1\n",
        [Reply(2, 1, True, b"%output %0 x\n%end 1 3 1\n%begin 1 2 1\n%end 1 2\n%error 9 2 1\n")],
    ),
    "a long body line": (
        b"%begin 1 2 1\n%end 1 2 1" + b"x" * 300 + b"\n%end 1 2 1\n",
        [Reply(2, 1, True, b"%end 1 2 1" + b"x" * 300 + b"\n")],
    ),
    "a begin that is none": (b"%begin 1 2\n%begin\n", [
        Notification("begin", b"1 2"), Notification("begin", b""),
    ]),
    "an end outside of a reply": (b"%end 1 2 1\n", [Notification("end", b"1 2 1")]),
    "notifications": (
        b"%exit\n%window-renamed @1 a b\n%session-changed $1 0\n",
        [
            Notification("exit", b""),
            Notification("window-renamed", b"@1 a b"),
            Notification("session-changed", b"$1 0"),
        ],
    ),
    "CR before LF": (
        b"%output %0 x\\015\r\n%begin 1 2 1\r\na\rb\r\n%end 1 2 1\r\n%exit\r\n",
        [Output(0, b"x\r"), Reply(2, 1, True, b"a\rb\n"), Notification("exit", b"")],
    ),
    "only one CR is the line's": (b"%output %0 x\r\r\n", [Output(0, b"x\r")]),
    "a CR within data": (b"%output %0 x\ry\n", [Output(0, b"x\ry")]),
    "the DCS of tmux -CC": (
        b"\x1bP1000p%begin 1 2 0\n%end 1 2 0\n\x1b\\",
        [Reply(2, 0, True, b"")],
    ),
    "lines without a percent sign": (b"hello world\n\n", [Notification("", b"hello world")]),
    "a name that is not ASCII": (b"%\xff a\n", [Notification("\ufffd", b"a")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_line_is_this_event_however_it_is_cut(name: str) -> None:
    data, events = CASES[name]
    assert ControlParser().feed(data) == events
    assert control_twin(data) == events, "the twin itself"
    one_by_one = ControlParser()
    assert [e for i in range(len(data)) for e in one_by_one.feed(data[i : i + 1])] == events
    for at in range(len(data)):
        halves = ControlParser()
        assert halves.feed(data[:at]) + halves.feed(data[at:]) == events


DATA = st.lists(
    st.one_of(
        st.sampled_from(
            [b"ab", b"\\033", b"\\015\\012", b"\\", b"\\0", b"\\07", b"\\134", b"\\777"]
        ),
        st.sampled_from([b"\r", b" ", b": ", b"\xc3\xa9", b"%end 1 2 1", b"x" * 100, b"\\x"]),
        st.binary(max_size=2).map(lambda b: b.replace(b"\n", b"")),
    ),
    max_size=6,
).map(b"".join)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """One control line, or something near it."""
    begin = draw(
        st.sampled_from(
            [b"%output %0 ", b"%output %12 ", b"%output %99999999999 ", b"%output ", b"%exit",
             b"%extended-output %3 10 : ", b"%extended-output %3 ", b"%begin 1 2 1", b"%end 1 2 1",
             b"%error 1 2 1", b"%begin 5 6 0", b"%end 5 6 0", b"", b"\x1bP1000p", b"text", b"% "]
        )
    )  # fmt: skip
    bare = draw(st.booleans())
    return begin + (b"" if bare else draw(DATA)) + draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))


def control_input() -> st.SearchStrategy[bytes]:
    """What a control client might write."""
    return st.lists(lines(), max_size=12).map(b"".join)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(control_input(), cuts(), st.booleans())
def test_any_lines_are_what_the_twin_says_however_they_are_cut(
    data: bytes, places: list[int], small: bool
) -> None:
    with mock.patch.object(stream, "_EVENTS_ROOM", 2 if small else 4096):
        parser = ControlParser()
    assert [e for piece in cut(data, places) for e in parser.feed(piece)] == control_twin(data)


MIB = 1 << 20


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        (MIB - 1, [MIB - 1]),
        (MIB, [MIB]),
        (MIB + 1, [MIB, 1]),
        (2 * MIB, [MIB, MIB]),
        (2 * MIB + 5, [MIB, MIB, 5]),
    ],
)
@pytest.mark.parametrize("tail", [b"", b"\\012", b"\\", b"\\01"])
def test_a_long_output_line_is_split_at_each_mib(size: int, sizes: list[int], tail: bytes) -> None:
    data = b"x" * (size - (1 if tail == b"\\012" else len(tail)))
    line = b"%output %7 " + data + tail + b"\n"
    for step in (len(line), 65_537):
        parser = ControlParser()
        events = [e for i in range(0, len(line), step) for e in parser.feed(line[i : i + step])]
        assert [len(e.data) for e in events if isinstance(e, Output)] == sizes
        assert len(events) == len(sizes)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_a_reply_over_16_mib_loses_its_end_and_says_so(over: int) -> None:
    limit = 16 * MIB
    line = b"y" * (MIB - 1) + b"\n"
    body = line * 15 + b"z" * (MIB - 1 + over) + b"\n"
    parser = ControlParser()
    assert parser.feed(b"%begin 1 2 1\n") == []
    assert parser.feed(body) == []
    (reply,) = parser.feed(b"%end 1 2 1\n")
    assert reply == Reply(2, 1, True, body[:limit], over > 0)
    assert parser.feed(b"%begin 1 3 1\nok\n%end 1 3 1\n") == [Reply(3, 1, True, b"ok\n")]


def test_a_notification_over_a_mib_loses_its_end() -> None:
    (event,) = ControlParser().feed(b"%note " + b"x" * (2 * MIB) + b"\n")
    assert event == Notification("note", b"x" * (MIB - len(b"%note ")))


PIECES = [b"a" * 70, b"b", b"\\", b"\\0", b"\\033", b"\\3", b"\\400", b"\\134", b"\xc3\xa9"]


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
def test_unescaping_alone_is_what_the_parser_does(level: str, data: bytes) -> None:
    room = bytearray(len(data))
    size = unescape_into(room, memoryview(data))
    assert ControlParser().feed(b"%output %0 " + data + b"\n") == [Output(0, bytes(room[:size]))]


def test_unescaping_needs_room() -> None:
    with pytest.raises(ValueError, match="no room for 3 bytes: out has 2"):
        unescape_into(bytearray(2), b"abc")
    with pytest.raises(BufferError):
        unescape_into(b"abc", b"abc")  # type: ignore[arg-type]
