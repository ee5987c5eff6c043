"""What is typed arrives as it stands, after the cut, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import EARS, PATIENCE, SECOND_EAR, TmuxServerFixture, wait_until, with_each_ear
from ears import Main, hear, listen, on_both_drivers, reach, run_blocking, see

from tmux_wait.drive import Driver
from tmux_wait.errors import PaneBusyError, TmuxWaitError
from tmux_wait.observe.choose import look
from tmux_wait.observe.typing import MOST_TYPING_BYTES, Typing, quoted, typing_commands

pytestmark = pytest.mark.usefixtures("spotless")

# Reads bytes as they are typed, without echo, and copies them to a file.
READER = """
import os, sys, tty
tty.setraw(0)
os.write(1, b"reading")
with open(sys.argv[1], "wb", 0) as kept:
    while data := os.read(0, 4096):
        kept.write(data)
"""

LITERAL = {
    "plain": "echo hello",
    "a semicolon at the end": "a;",
    "a semicolon": ";",
    "an escaped semicolon": "a\\;",
    "an option": "-x",
    "two dashes": "--",
    "a format": "#{pid} #S #[fg=red] ##",
    "strftime": "%H %% %1",
    "a pane": "%1",
    "quotes": "'\"\\`$(id)'",
    "one quote": "'",
    "quotes around": "''a''",
    "wide": "é漢😀e\u0301",
    "home": "~ ~root",
    "braces": "{ } } {a;b}",
    "a backslash at the end": "a\\",
    "backslashes": "\\n\\t\\033 \\\\",
    "a variable": "$HOME ${HOME}",
    "a comment": "# not a comment",
    "a key's name": "Enter C-c Space",
    "only a key's name": "Enter",
    "a tab": "a\tb",
    "blanks": "  a  ",
    "control characters": "".join(map(chr, range(1, 32))).replace("\n", "") + "\x7f",
    "an escape sequence": "\x1b[A\x1b[200~x\x1b[201~",
    "a carriage return": "a\rb",
    "a condition": "%if 1",
    "the highest character": "\U0010ffff\x80\u2028",
}


def reader(server: TmuxServerFixture, kept: Path) -> str:
    """Start a pane that keeps what is typed into it."""
    script = kept.with_suffix(".py")
    script.write_text(READER)
    pane = server.pane(f"exec '{sys.executable}' '{script}' '{kept}'")
    server.shows(pane, "reading")
    return pane


def type_text(driver: Driver, server: TmuxServerFixture, pane: str, typing: Typing):  # type: ignore[no-untyped-def]
    """Type by one look."""
    until = driver.now() + PATIENCE
    return look(driver, reach(server), pane, typing=typing, until=until)


def test_every_text_arrives_as_it_stands(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    wanted = b""
    for name, text in LITERAL.items():
        typing = Typing(text, enter=False)
        run_blocking(lambda driver, typing=typing: type_text(driver, tmux_server, pane, typing))
        wanted += text.encode()
        size = len(wanted)
        wait_until(lambda size=size: kept.stat().st_size >= size, f"{name}: all bytes")
        assert kept.read_bytes() == wanted, name


@on_both_drivers
def test_line_feeds_and_enter_and_keys_are_typed_in_order(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    typing = Typing("a\n\nb\n", keys=("Tab", "x", "C-d", ";"), enter=True)
    run(lambda driver: type_text(driver, tmux_server, pane, typing))
    wait_until(lambda: len(kept.read_bytes()) >= 10)
    assert kept.read_bytes() == b"a\r\rb\r\tx\x04;\r"


def test_nothing_to_type_types_nothing(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    for typing in (Typing(None, enter=False), Typing("", enter=False), Typing("z", enter=False)):
        run_blocking(lambda driver, typing=typing: type_text(driver, tmux_server, pane, typing))
    wait_until(lambda: bool(kept.read_bytes()))
    assert kept.read_bytes() == b"z"


@pytest.mark.parametrize("above", [0, 1])
def test_the_longest_text_is_typed_and_a_longer_one_refused(
    tmux_server: TmuxServerFixture, tmp_path: Path, above: int
) -> None:
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    room = MOST_TYPING_BYTES - len(typing_commands(Typing("x", enter=False), pane)[0]) - 2
    text = "x" * (room + above)
    typing = Typing(text, enter=False)
    if above:
        with pytest.raises(TmuxWaitError, match=f"limit is {MOST_TYPING_BYTES}"):
            run_blocking(lambda driver: type_text(driver, tmux_server, pane, typing))
        return

    async def main(driver: Driver) -> None:
        await listen(driver, tmux_server, pane, typing=typing)

    run_blocking(main)
    wait_until(lambda: len(kept.read_bytes()) >= len(text))
    assert kept.read_bytes() == text.encode()


@pytest.mark.parametrize(
    "typing",
    [Typing("a\0b"), Typing("\ud800"), Typing(None, keys=("\0",)), Typing(None, keys=("a\nb",))],
    ids=["NUL", "surrogate", "NUL key", "line feed in a key"],
)
def test_what_cannot_be_typed_is_refused(typing: Typing) -> None:
    with pytest.raises(TmuxWaitError):
        typing_commands(typing, "%0")


def test_quoting_leaves_nothing_special() -> None:
    assert quoted("it's") == "'it'\\''s'"


@on_both_drivers
@with_each_ear
def test_the_echo_comes_in_the_stream_and_not_in_the_capture(
    run: Main, tmux_server: TmuxServerFixture, backend: str
) -> None:
    pane = tmux_server.pane("echo 'there already'; exec cat")
    tmux_server.shows(pane, "there already")

    async def main(driver: Driver) -> None:
        typing = Typing("typed text")
        ear = await listen(driver, tmux_server, pane, backend=backend, typing=typing)
        assert ear.entry.rows[:2] == ("there already", "")
        if backend != "poll":
            heard, _ = await hear(driver, ear, b"typed text\r\ntyped text\r\n")
            assert heard == b"typed text\r\ntyped text\r\n"
        else:
            seen, _ = await see(driver, ear, "typed text")
            assert "typed text" in seen

    run(main)


def _copy_mode(server: TmuxServerFixture, pane: str) -> None:
    server.tmux("copy-mode", "-t", pane)


def _input_off(server: TmuxServerFixture, pane: str) -> None:
    server.tmux("select-pane", "-d", "-t", pane)


def _dead(server: TmuxServerFixture, pane: str) -> None:
    server.tmux("set-option", "-g", "remain-on-exit", "on")
    server.tmux("respawn-pane", "-k", "-t", pane, "true")
    wait_until(lambda: server.get(pane, "#{pane_dead}") == "1")


REFUSED = {"dead": _dead, "mode": _copy_mode, "off": _input_off}


@on_both_drivers
@pytest.mark.parametrize("reason", REFUSED)
def test_typing_is_refused_before_anything_is_typed_or_opened(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path, reason: str
) -> None:
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    REFUSED[reason](tmux_server, pane)

    async def main(driver: Driver) -> None:
        for backend in ("auto", *EARS):
            with pytest.raises(PaneBusyError, match=reason) as told:
                await listen(driver, tmux_server, pane, backend=backend, typing=Typing("rm"))
            assert told.value.pane == pane
        with pytest.raises(PaneBusyError, match=reason):
            await type_text(driver, tmux_server, pane, Typing("rm"))

    run(main)
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"
    if reason == "mode":
        tmux_server.tmux("send-keys", "-X", "-t", pane, "cancel")
    if reason == "off":
        tmux_server.tmux("select-pane", "-e", "-t", pane)
    if reason != "dead":
        tmux_server.tmux("send-keys", "-t", pane, "-l", "z")
        wait_until(lambda: bool(kept.read_bytes()))
    assert kept.read_bytes() in (b"z", b"")


@on_both_drivers
def test_a_pane_in_a_mode_is_heard_all_the_same(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    tmux_server.tmux("copy-mode", "-t", pane)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        assert (ear.name, ear.entry.in_mode) == ("tap", True)
        tmux_server.tmux("send-keys", "-X", "-t", pane, "cancel")
        tmux_server.type(pane, "x")
        await hear(driver, ear, b"x\r\nx\r\n")

    run(main)


@on_both_drivers
def test_a_pane_with_a_pipe_is_typed_into_once(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path
) -> None:
    """The first dispatch finds the pipe and types nothing; the second types."""
    kept = tmp_path / "kept"
    pane = reader(tmux_server, kept)
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=Typing("once"))
        assert ear.name == SECOND_EAR
        with pytest.raises(TmuxWaitError, match="already has a pipe"):
            await listen(driver, tmux_server, pane, typing=Typing("never"), backend="tap")
        await type_text(driver, tmux_server, pane, Typing("last", enter=False))

    run(main)
    wait_until(lambda: b"last" in kept.read_bytes())
    assert kept.read_bytes() == b"once\rlast"
