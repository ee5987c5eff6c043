"""Waits that lose their ear and go on with the next one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from conftest import SECOND_EAR, TmuxServerFixture, control_only, wait_until, with_each_ear
from real_waits import Ears, Wait, during, wait

from tmux_wait import WaitOutcome

__all__ = ["wait"]  # the fixture


def echo(server: TmuxServerFixture) -> str:
    """A pane that says, behind "got", each line that it is given."""
    pane = server.pane("stty -echo; echo up; while read x; do echo got $x; done")
    server.shows(pane, "up")
    return pane


def test_a_stolen_pipe_does_not_end_the_wait(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    log = tmux_server.folder / "log"
    pane = echo(tmux_server)

    def steal(next_ear: Ears) -> None:
        tmux_server.type(pane, "before")
        tmux_server.shows(pane, "before")
        tmux_server.tmux("pipe-pane", "-t", pane, f"cat >> {log}")
        assert next_ear() == SECOND_EAR
        assert tmux_server.get(pane, "#{pane_pipe}") == "1"
        tmux_server.type(pane, "after all")

    result = during(lambda: wait(pane, ["got after all"], stop=["got nothing"]), steal)
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "got after all")
    assert (result.backend, result.complete) == (SECOND_EAR, False)
    assert "got before\n" in result.text
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"
    wait_until(lambda: b"got after all" in log.read_bytes(), "the user's log")


def test_what_came_between_the_ears_is_judged(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    """Written in the same step as the theft, so the tap cannot hear it."""
    pane = echo(tmux_server)
    steal = ["pipe-pane", "-t", pane, "cat >/dev/null"]
    say = ["send-keys", "-t", pane, "between", "Enter"]
    result = during(
        lambda: wait(pane, ["got between"]), lambda _: tmux_server.tmux(*steal, ";", *say)
    )
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "got between")
    assert not result.complete


def test_what_scrolled_off_between_the_ears_is_judged(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    pane = tmux_server.pane("stty -echo; echo up; while read x; do seq 1 $x; done", height=5)
    tmux_server.shows(pane, "up")
    steal = ["pipe-pane", "-t", pane, "cat >/dev/null"]
    say = ["send-keys", "-t", pane, "300", "Enter"]
    result = during(
        lambda: wait(pane, [r"^7$"], stop=[r"^200$"], regex=True),
        lambda _: tmux_server.tmux(*steal, ";", *say),
    )
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "7")


def test_what_was_there_at_the_cut_is_no_answer_after_a_theft(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    pane = echo(tmux_server)
    tmux_server.type(pane, "old")
    tmux_server.shows(pane, "got old")

    def steal(next_ear: Ears) -> None:
        tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
        next_ear()
        tmux_server.type(pane, "new")

    result = during(lambda: wait(pane, ["got old", "got new"], fresh=True), steal)
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "got new")


def test_a_toggle_works_at_its_second_press(tmux_server: TmuxServerFixture, wait: Wait) -> None:
    log = tmux_server.folder / "log"
    pane = echo(tmux_server)
    toggle = ["pipe-pane", "-o", "-t", pane, f"cat >> {log}"]

    def press_twice(next_ear: Ears) -> None:
        tmux_server.tmux(*toggle)
        assert next_ear() == SECOND_EAR
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        tmux_server.tmux(*toggle)
        assert tmux_server.get(pane, "#{pane_pipe}") == "1"
        tmux_server.type(pane, "after all")

    result = during(lambda: wait(pane, ["got after all"]), press_twice)
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, SECOND_EAR)
    wait_until(lambda: log.exists() and b"got after all" in log.read_bytes(), "the user's log")
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


def test_the_echo_of_what_was_sent_is_no_answer_after_a_theft(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    go = tmux_server.folder / "go"
    pane = tmux_server.pane("env", "PS1=ready$ ", "ENV=", "dash", "-i")
    tmux_server.shows(pane, "ready$")

    def steal(next_ear: Ears) -> None:
        tmux_server.shows(pane, "MARK")
        tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
        next_ear()
        go.touch()

    command = f"until [ -e {go} ]; do sleep .05; done; echo MARK"
    result = during(lambda: wait(pane, ["MARK"], send=command), steal)
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "MARK")


@control_only
def test_a_client_that_is_sent_away_does_not_end_the_wait(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    pane = echo(tmux_server)

    def send_away(next_ear: Ears) -> None:
        session = tmux_server.get(pane, "#{session_id}")
        tmux_server.tmux("detach-client", "-s", session)
        assert next_ear() == "poll", "it is not attached again"
        assert tmux_server.tmux("list-clients") == ""
        tmux_server.type(pane, "after all")

    result = during(lambda: wait(pane, ["got after all"], backend="control"), send_away)
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, "poll")
    assert not result.complete


@pytest.mark.skipif(SECOND_EAR != "control", reason="auto takes a control client from 3.8 on")
def test_a_control_client_follows_its_pane_to_another_session(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    pane = echo(tmux_server)
    tmux_server.tmux("split-window", "-d", "-t", pane, "exec cat")
    there, back = tmux_server.pane(), tmux_server.tmux(
        "new-window", "-d", "-t", tmux_server.get(pane, "#{session_id}:"), "-P", "-F",
        "#{pane_id}", "exec cat",
    )  # fmt: skip

    def move(next_ear: Ears) -> None:
        for where in (there, back):
            tmux_server.tmux("join-pane", "-d", "-s", pane, "-t", where)
            assert next_ear() == "control"
            wait_until(lambda: len(tmux_server.tmux("list-clients").splitlines()) == 1)
        tmux_server.type(pane, "after all")

    result = during(lambda: wait(pane, ["got after all"], backend="control"), move)
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, "control")
    assert not result.complete
    wait_until(lambda: tmux_server.tmux("list-clients") == "")


@with_each_ear
def test_a_pane_that_closes_while_its_wait_is_between_ears(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str
) -> None:
    tmux_server.pane()
    pane = echo(tmux_server)
    steal = {
        "tap": ["pipe-pane", "-t", pane, "cat >/dev/null", ";"],
        "control": ["detach-client", "-s", tmux_server.get(pane, "#{session_id}"), ";"],
        "poll": [],
    }[backend]
    result = during(
        lambda: wait(pane, ["x"], backend=backend),
        lambda _: tmux_server.tmux(*steal, "kill-pane", "-t", pane),
    )
    assert result.outcome is WaitOutcome.PANE_CLOSED


@with_each_ear
@pytest.mark.parametrize("another", [False, True], ids=["", "another comes"])
def test_a_server_that_ends_right_behind_a_theft(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str, another: bool
) -> None:
    pane = echo(tmux_server)

    def end(_: object) -> None:
        before = tmux_server.pid
        if backend == "tap":
            tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
        os.kill(before, signal.SIGKILL)
        if another:
            wait_until(lambda: tmux_server.run("list-clients").returncode != 0)
            assert tmux_server.pane("echo got x; exec cat") == pane

    result = during(lambda: wait(pane, ["got x"], backend=backend), end)
    assert result.outcome is WaitOutcome.PANE_CLOSED


@with_each_ear
@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="/proc tells that a server lives")
def test_a_pane_that_lives_and_cannot_be_reached_is_lost(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str
) -> None:
    """Somebody removes the server's socket, and then our ear."""
    pane = echo(tmux_server)
    remove = ["run-shell", f"rm {tmux_server.socket}"]
    end = {
        "tap": ["pipe-pane", "-t", pane],
        "control": ["detach-client", "-s", tmux_server.get(pane, "#{session_id}")],
        "poll": ["refresh-client"],
    }[backend]
    try:
        result = during(
            lambda: wait(pane, ["x"], backend=backend),
            lambda _: tmux_server.run(*remove, ";", *end),
        )
        assert (result.outcome, result.complete) == (WaitOutcome.STREAM_LOST, False)
    finally:
        os.kill(tmux_server.pid, signal.SIGUSR1)  # tmux makes its socket again
        wait_until(Path(tmux_server.socket).exists)


def test_a_theft_just_before_the_deadline_is_a_deadline(
    tmux_server: TmuxServerFixture, wait: Wait
) -> None:
    pane = echo(tmux_server)
    result = during(
        lambda: wait(pane, ["x"], seconds=0.5),
        lambda _: tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null"),
    )
    assert (result.outcome, result.complete) == (WaitOutcome.DEADLINE, False)
    assert result.elapsed < 3
