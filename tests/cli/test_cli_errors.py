"""What a user did wrong is told in one line, with the status for it, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys

import cli_command as cli
import pytest
from conftest import HAS_CONTROL, TmuxServerFixture, wait_until

USAGE = {
    "no command": ([], "which command?"),
    "unknown command": (["four"], "there is no command 'four'"),
    "no pane": (["for"], "PANE is missing"),
    "empty pane": (["for", ""], "PANE is missing"),
    "negative seconds": (["for", "%0", "x", "--seconds", "-1"], "'-1' is neither a number"),
    "seconds not a number": (["for", "%0", "x", "--seconds", "nan"], "'nan' is neither"),
    "endless seconds": (["for", "%0", "x", "--seconds", "inf"], "'inf' is neither"),
    "seconds in words": (["for", "%0", "x", "--seconds", "soon"], "'soon' is neither"),
    "unknown option": (["for", "%0", "x", "--sooner"], "--sooner"),
    "abbreviated option": (["for", "%0", "x", "--sec", "1"], "--sec"),
    "no key": (["for", "%0", "--keys", " "], "it names no key"),
    "two sockets": (["for", "%0", "-L", "a", "-S", "b"], "not allowed with"),
    "unknown ear": (["for", "%0", "--backend", "ear"], "'ear'"),
    "not UTF-8": (["for", "%0", os.fsdecode(b"\xff")], "is not valid UTF-8"),
    "unknown contract": (["mcp", "--contract", "none"], "'none'"),
    "operand of mcp": (["mcp", "%0"], "'%0' is not an option"),
}


@pytest.mark.parametrize(("arguments", "words"), USAGE.values(), ids=USAGE)
def test_wrong_usage_is_one_line_and_status_2(arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "tmux_wait.cli", *arguments]
    done = subprocess.run(
        command, cwd=cli.ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    err = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in err
    assert err.startswith("tmux-wait")
    assert err.count("\n") == 1


PATTERNS = {
    "empty": ([""], "empty"),
    "too many": (["x"] * 33, "32"),
    "too long": (["x" * 4097], "4096"),
    "bad regular expression": (["--regex", "fine", "a("], "missing )"),
    "bad stop": (["--regex", "x", "--stop=fine", "--stop=b["], "missing ]"),
}


@pytest.mark.parametrize(("arguments", "words"), PATTERNS.values(), ids=PATTERNS)
def test_bad_pattern_is_one_line_and_status_2(
    tmux_server: TmuxServerFixture, arguments: list[str], words: str
) -> None:
    pane = tmux_server.pane()
    ended = cli.run(tmux_server, "for", pane, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert words in ended.err.replace(",", "")
    assert ended.err.count("\n") == 1
    cli.nothing_left(tmux_server, pane)


def test_most_patterns_of_most_bytes_are_fine(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    patterns = [f"{n:04}" * 1024 for n in range(32)]
    assert cli.run(tmux_server, "for", pane, *patterns[:3], "--seconds", "0").status == 124
    short = [pattern[:40] for pattern in patterns]
    assert cli.run(tmux_server, "for", pane, *short, "--seconds", "0").status == 124


def _one_error(ended: cli.Ended, words: str) -> None:
    assert (ended.status, ended.out) == (1, "")
    assert words in ended.err
    assert ended.err.count("\n") == 1


def test_unknown_pane_is_an_error(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    _one_error(cli.run(tmux_server, "for", "%999", "x"), "%999")
    _one_error(cli.run(tmux_server, "for", "no-such-session:", "x"), "no-such-session:")
    cli.nothing_left(tmux_server, pane)


def test_no_server_is_an_error(tmux_server: TmuxServerFixture) -> None:
    _one_error(cli.run(tmux_server, "for", "%0", "x"), "no tmux server")


def test_missing_tmux_is_an_error(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    _one_error(cli.run(tmux_server, "for", "%0", "x", "--tmux", "/no/such/tmux"), "/no/such/tmux")


def test_typing_into_a_dead_pane_is_an_error(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    dead = tmux_server.tmux("new-window", "-P", "-F", "#{pane_id}", "true")
    # Not its banner: a busy tmux 3.3a does not always draw one.
    wait_until(lambda: tmux_server.get(dead, "#{pane_dead}") == "1", "the pane to die")
    _one_error(cli.run(tmux_server, "for", dead, "x", "--send", "make"), "nothing was typed")
    cli.nothing_left(tmux_server, pane)


@pytest.mark.skipif(HAS_CONTROL, reason="here a control client may be used")
def test_a_control_client_on_an_old_server_is_an_error(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    ended = cli.run(tmux_server, "for", pane, "x", "--backend", "control")
    _one_error(ended, "needs a tmux server of version 3.7 or newer")
    cli.nothing_left(tmux_server, pane)
