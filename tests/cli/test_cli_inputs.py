"""Programs and arguments that must be understood: noise, last words, colours, typing, targets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import cli_command as cli
import pytest
from conftest import TmuxServerFixture, wait_until

NOISE = "i=0; while [ $i -lt 20000 ]; do echo noise $i; i=$((i+1)); done"


def test_line_after_much_noise_is_found(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", f"read _; {NOISE}; echo server ready; exec sleep 100")
    process = cli.start(tmux_server, "for", pane, "server ready")
    cli.listening(tmux_server, pane)
    tmux_server.tmux("send-keys", "-t", pane, "Enter")
    assert cli.end(process).out == "server ready\n"


def test_last_words_of_a_closing_pane_count(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    program = f"read _; {NOISE.replace('20000', '500')}; echo FATAL: no port; exit 1"
    ends = []
    for _ in range(5):
        pane = tmux_server.tmux(
            "new-session", "-d", "-P", "-F", "#{pane_id}", "sh", "-c", program
        )  # fmt: skip
        process = cli.start(tmux_server, "for", pane, "server ready", "--stop", "FATAL")
        cli.listening(tmux_server, pane)
        tmux_server.tmux("send-keys", "-t", pane, "Enter")
        ended = cli.end(process)
        ends.append((ended.status, ended.out))
    # On a busy machine tmux itself may drop a pane before it has read all of its terminal.
    assert ends.count((3, "FATAL: no port\n")) >= 4, ends
    assert set(ends) <= {(3, "FATAL: no port\n"), (4, "")}


COLOURED = {
    "colour": r"rea\033[1;32mdy\033(B\033[m\n",
    "shift in": r"rea\017dy\n",
    "title ended by BEL": r"rea\033]0;title\007dy\n",
    "title ended by ST": r"rea\033]0;title\033\\dy\n",
}


@pytest.mark.parametrize("text", COLOURED.values(), ids=COLOURED)
def test_escape_sequences_between_letters_vanish(tmux_server: TmuxServerFixture, text: str) -> None:
    pane = tmux_server.pane("sh", "-c", f"stty -echo; read _; printf '{text}'; exec sleep 100")
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    tmux_server.tmux("send-keys", "-t", pane, "Enter")
    assert cli.end(process).out == "ready\n"


@pytest.mark.parametrize("shell", ["bash --norc --noprofile", "dash"])
def test_output_is_matched_and_not_the_typing_that_asks_for_it(
    tmux_server: TmuxServerFixture, shell: str
) -> None:
    pane = tmux_server.pane(f"PS1='shell> ' exec {shell}")
    tmux_server.shows(pane, "shell>")
    ended = cli.run(tmux_server, "for", pane, "MARK", "--send", "sleep 0.3; echo MARK")
    assert (ended.status, ended.out) == (0, "MARK\n")


def test_keys_are_pressed(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "read x; echo got $x; exec sleep 100")
    ended = cli.run(tmux_server, "for", pane, "got", "--keys", "h i", "--keys", "Enter")
    assert (ended.status, ended.out) == (0, "got hi\n")


def test_text_comes_before_keys_and_keys_before_enter(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "read x; echo got $x; exec sleep 100")
    ended = cli.run(tmux_server, "for", pane, "got", "--send", "abc", "--keys", "BSpace d")
    assert (ended.status, ended.out) == (0, "got abd\n")


@pytest.mark.parametrize("text", ["Enter", "-l; x", "--", "#{pane_id}", "a;", "~ $HOME 'q'"])
def test_text_is_typed_as_it_is(tmux_server: TmuxServerFixture, text: str) -> None:
    pane = tmux_server.pane("sh", "-c", 'IFS= read -r x; echo "got <$x>"; exec sleep 100')
    ended = cli.run(tmux_server, "for", pane, "got <", f"--send={text}")
    assert (ended.status, ended.out) == (0, f"got <{text}>\n")


def test_half_before_and_half_after_match(tmux_server: TmuxServerFixture) -> None:
    program = "stty -echo; printf 'server re'; read _; echo ady; exec sleep 100"
    pane = tmux_server.pane("sh", "-c", program)
    tmux_server.shows(pane, "server re")
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    tmux_server.tmux("send-keys", "-t", pane, "Enter")
    ended = cli.end(process)
    assert (ended.status, ended.out) == (0, "server ready\n")


def test_options_and_operands_come_in_any_order(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo server ready; exec sleep 100")
    tmux_server.shows(pane, "server ready")
    ended = cli.run(tmux_server, "for", "--regex", pane, "no", "--seconds", "5", "^server READY$")
    assert (ended.status, ended.out) == (0, "server ready\n")


def test_pattern_that_begins_with_a_dash(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo use --json here; exec sleep 100")
    tmux_server.shows(pane, "here")
    assert cli.run(tmux_server, "for", pane, "--", "--json").out == "use --json here\n"
    ended = cli.run(tmux_server, "for", "--fresh", "--seconds=0", "--", pane, "--json", "--")
    assert ended.status == 124


def test_case_counts_when_asked(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo Ready; exec sleep 100")
    tmux_server.shows(pane, "Ready")
    one_look = ("--seconds", "0", "--match-case")
    assert cli.run(tmux_server, "for", pane, "ready", *one_look).status == 124
    assert cli.run(tmux_server, "for", pane, "Ready", *one_look).status == 0


def test_any_tmux_target_names_a_pane(tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    tmux_server.tmux("new-session", "-d", "-s", "café", "echo there; exec sleep 100")
    wait_until(lambda: "there" in tmux_server.screen("café:"))
    assert cli.run(tmux_server, "for", "café:0.0", "there").out == "there\n"


def test_socket_by_path(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "echo there; exec sleep 100")
    tmux_server.shows(pane, "there")
    path = tmux_server.get(pane, "#{socket_path}")
    python, *module = cli.argv(tmux_server, "for")[:3]
    done = subprocess.run(
        [python, *module, "for", "-S", path, "--tmux", tmux_server.binary, pane, "there"],
        cwd=cli.ROOT,
        capture_output=True,
        timeout=cli.PATIENCE,
        check=True,
    )
    assert done.stdout == b"there\n"


def test_users_own_pipe_goes_on_logging(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    log = tmp_path / "log"
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, f"cat >> {log}")
    # Accepting what is pending: the wait may see its pane for the first time amid the typing.
    process = cli.start(tmux_server, "for", pane, "ready", "--accept-pending")
    tmux_server.type(pane, "during")
    wait_until(lambda: log.exists() and "during" in log.read_text(), "logging during the wait")
    tmux_server.type(pane, "now ready")
    assert cli.end(process).status == 0
    tmux_server.type(pane, "after")
    wait_until(lambda: "after" in log.read_text(), "logging after the wait")
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"
