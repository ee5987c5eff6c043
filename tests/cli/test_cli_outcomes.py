"""Every way a wait can end, as a shell sees it: exit status, stdout and stderr."""

from __future__ import annotations

import json

import cli_command as cli
import pytest
from conftest import TmuxServerFixture

from tmux_wait.cli.outcome import status
from tmux_wait.results import WaitOutcome, WaitResult

# A program that says its last words when Enter is pressed.
ON_ENTER = "stty -echo; read _; echo noise; {}; exec sleep 100"


def _on_enter(server: TmuxServerFixture, then: str) -> str:
    return server.pane("sh", "-c", ON_ENTER.format(then))


def _run_and_press_enter(server: TmuxServerFixture, pane: str, *arguments: str) -> cli.Ended:
    process = cli.start(server, "for", pane, *arguments)
    cli.listening(server, pane)
    server.tmux("send-keys", "-t", pane, "Enter")
    return cli.end(process)


def test_match_prints_its_line_and_ends_with_0(tmux_server: TmuxServerFixture) -> None:
    pane = _on_enter(tmux_server, "echo server ready on 8080")
    ended = _run_and_press_enter(tmux_server, pane, "failed", "READY")
    assert (ended.status, ended.out) == (0, "server ready on 8080\n")
    assert ended.err.startswith('tmux-wait for: matched "READY" after ')
    assert ended.err.count("\n") == 1
    cli.nothing_left(tmux_server, pane)


def test_no_pattern_means_any_output(tmux_server: TmuxServerFixture) -> None:
    pane = _on_enter(tmux_server, "true")
    ended = _run_and_press_enter(tmux_server, pane)
    assert (ended.status, ended.out) == (0, "noise\n")
    assert "matched any output after " in ended.err


def test_stop_pattern_ends_with_3(tmux_server: TmuxServerFixture) -> None:
    pane = _on_enter(tmux_server, "echo FATAL: no port; echo ready")
    ended = _run_and_press_enter(tmux_server, pane, "ready", "--stop", "x", "--stop", "fatal")
    assert (ended.status, ended.out) == (3, "FATAL: no port\n")
    assert 'stopped by "fatal" after ' in ended.err


def test_pane_that_closes_ends_with_4(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()  # the server outlives the other one
    pane = tmux_server.tmux(
        "new-session", "-d", "-P", "-F", "#{pane_id}", "sh", "-c", "read _; echo bye"
    )
    ended = _run_and_press_enter(tmux_server, pane, "ready")
    assert (ended.status, ended.out) == (4, "")
    assert f"pane {pane} closed after " in ended.err
    assert "last: bye" in ended.err


def test_deadline_ends_with_124_and_says_what_there_was(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    ended = cli.run(tmux_server, "for", pane, "ready", "--seconds", "0.1")
    assert (ended.status, ended.out) == (124, "")
    assert f"nothing matched; pane {pane} wrote nothing\n" in ended.err
    assert f"-L {tmux_server.name} capture-pane -p -t {pane}` shows the pane" in ended.err
    assert "missed" not in ended.err
    cli.nothing_left(tmux_server, pane)


def test_deadline_of_an_ear_that_can_miss_says_so(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    ended = cli.run(tmux_server, "for", pane, "x", "--seconds", "0.1", "--backend", "poll")
    assert ended.status == 124
    assert "tmux-wait for: output may have been missed\n" in ended.err


def test_text_on_a_finished_row_ends_with_0(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo server ready; exec sleep 100")
    tmux_server.shows(pane, "server ready")
    ended = cli.run(tmux_server, "for", pane, "ready")
    assert (ended.status, ended.out) == (0, "server ready\n")
    assert '"ready" was already on the screen\n' in ended.err


def test_fresh_does_not_take_what_is_there(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo server ready; exec sleep 100")
    tmux_server.shows(pane, "server ready")
    ended = cli.run(tmux_server, "for", pane, "ready", "--fresh", "--seconds", "0.1")
    assert (ended.status, ended.out) == (124, "")


def test_text_on_the_cursors_line_is_pending(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "printf 'password: '; exec sleep 100")
    tmux_server.shows(pane, "password:")
    ended = cli.run(tmux_server, "for", pane, "password")
    assert (ended.status, ended.out) == (6, "")
    assert f'"password" stands on the unfinished line of pane {pane}' in ended.err
    assert "--accept-pending takes a prompt for an answer" in ended.err


def test_accepted_pending_ends_with_0(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "printf 'password: '; exec sleep 100")
    tmux_server.shows(pane, "password:")
    ended = cli.run(tmux_server, "for", pane, "password", "--accept-pending")
    assert ended.status == 0
    assert ended.out.startswith("password:")


def test_stop_text_on_the_screen_is_noted_and_ends_nothing(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo FATAL before; exec sleep 100")
    tmux_server.shows(pane, "FATAL before")
    ended = cli.run(tmux_server, "for", pane, "ready", "--stop", "fatal", "--seconds", "0.1")
    assert ended.status == 124
    assert "a stop pattern already stood on the screen: FATAL before\n" in ended.err


def test_json_is_one_object_with_every_field(tmux_server: TmuxServerFixture) -> None:
    pane = _on_enter(tmux_server, "echo 'é ready'")
    ended = _run_and_press_enter(tmux_server, pane, "ready", "--json")
    assert ended.out.count("\n") == 1
    found = json.loads(ended.out)
    assert list(found) == list(WaitResult.__dataclass_fields__)
    assert found["outcome"] == "matched"
    assert (found["pane"], found["matched_index"], found["matched_line"]) == (pane, 0, "é ready")
    assert found["text"].startswith("noise\n")
    assert "é ready" in ended.out
    assert ended.err.startswith('tmux-wait for: matched "ready" after ')


def test_one_look_ends_at_once(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    ended = cli.run(tmux_server, "for", pane, "ready", "--seconds", "0")
    assert (ended.status, ended.out) == (124, "")


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (WaitOutcome.MATCHED, 0),
        (WaitOutcome.PRESENT_AT_ENTRY, 0),
        (WaitOutcome.CANCELLED, 1),
        (WaitOutcome.STOPPED, 3),
        (WaitOutcome.PANE_CLOSED, 4),
        (WaitOutcome.STREAM_LOST, 5),
        (WaitOutcome.PENDING, 6),
        (WaitOutcome.DEADLINE, 124),
    ],
)
def test_each_outcome_has_its_status(outcome: WaitOutcome, expected: int) -> None:
    result = WaitResult(
        outcome=outcome,
        pane="%0",
        matched_index=None,
        matched_pattern=None,
        matched_line=None,
        matched_lines=(),
        text="",
        bytes=0,
        elapsed=0.0,
        backend="tap",
        complete=True,
        entry_match=None,
        entry_stop=None,
        saw_output=False,
        alternate_screen=False,
    )
    assert status(result) == expected
