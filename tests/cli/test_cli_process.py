"""The command as a process: signals, broken outputs, an empty environment, what it imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import cli_command as cli
import pytest
from conftest import TmuxServerFixture, wait_until


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_after_the_teardown(
    tmux_server: TmuxServerFixture, number: signal.Signals
) -> None:
    pane = tmux_server.pane()
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    process.send_signal(number)
    ended = cli.end(process)
    cli.nothing_left(tmux_server, pane)
    assert (ended.status, ended.out) == (128 + number, "")
    assert "Traceback" not in ended.err


def test_repeated_signals_do_not_cut_the_teardown_short(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    ended = cli.end(process)
    cli.nothing_left(tmux_server, pane)
    # Two signals that wait for the same process arrive in either order.
    assert ended.status in (128 + signal.SIGINT, 128 + signal.SIGTERM)


def test_ignored_signal_stays_ignored(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = cli.start(tmux_server, "for", pane, "ready", preexec_fn=ignore)
    cli.listening(tmux_server, pane)
    process.send_signal(signal.SIGHUP)
    tmux_server.type(pane, "now ready")
    assert cli.end(process).status == 0


def test_killed_command_is_cleaned_up_by_the_next(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    process.kill()
    cli.end(process)
    ended = cli.run(tmux_server, "for", pane, "ready", "--seconds", "1", "--json")
    assert ended.status == 124
    assert json.loads(ended.out)["backend"] == "tap"
    cli.nothing_left(tmux_server, pane)


def test_killed_commands_pipe_goes_with_the_panes_next_output(
    tmux_server: TmuxServerFixture,
) -> None:
    pane = tmux_server.pane()
    process = cli.start(tmux_server, "for", pane, "ready")
    cli.listening(tmux_server, pane)
    process.kill()
    cli.end(process)
    tmux_server.type(pane, "output")
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0", "the pipe to go")
    wait_until(lambda: cli.strangers(tmux_server) == [], "its process to go")


def _present(server: TmuxServerFixture) -> str:
    pane = server.pane("sh", "-c", "echo server ready; exec sleep 100")
    server.shows(pane, "server ready")
    return pane


def test_reader_that_went_away_is_no_error(tmux_server: TmuxServerFixture) -> None:
    pane = _present(tmux_server)
    reading, writing = os.pipe()
    os.close(reading)
    process = cli.start(tmux_server, "for", pane, "ready", stdout=writing)
    os.close(writing)
    ended = cli.end(process)
    assert ended.status == 0
    assert ended.err.splitlines() == ['tmux-wait for: "ready" was already on the screen']


def test_reader_of_help_that_went_away_is_no_error(tmux_server: TmuxServerFixture) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = cli.start(tmux_server, "for", "--help", stdout=writing)
    os.close(writing)
    assert cli.end(process) == cli.Ended(0, "", "")


def test_listener_on_stderr_that_went_away_is_no_error(tmux_server: TmuxServerFixture) -> None:
    pane = _present(tmux_server)
    reading, writing = os.pipe()
    os.close(reading)
    process = cli.start(tmux_server, "for", pane, "ready", stderr=writing)
    os.close(writing)
    assert cli.end(process) == cli.Ended(0, "server ready\n", "")


def test_full_disk_is_an_error(tmux_server: TmuxServerFixture) -> None:
    pane = _present(tmux_server)
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device, not a path to work with
        ended = cli.end(cli.start(tmux_server, "for", pane, "ready", stdout=full))
    assert ended.status == 1
    assert "cannot write to stdout: " in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_change_nothing_else(
    tmux_server: TmuxServerFixture, closed: str
) -> None:
    pane = _present(tmux_server)
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *cli.argv(tmux_server, "for", pane)]
    done = subprocess.run(
        [*command, "ready"],
        cwd=cli.ROOT,
        env=cli.environment(tmux_server),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=cli.PATIENCE,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == (b"" if ">&- " in f"{closed} ".replace("2>&-", "") else b"server ready\n")
    assert b"Traceback" not in done.stderr


def test_empty_environment_understands_all_letters(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "stty -echo; read _; echo 'café prêt'; exec sleep 100")
    process = cli.start(tmux_server, "for", pane, "É prêt", env={})
    cli.listening(tmux_server, pane)
    tmux_server.tmux("send-keys", "-t", pane, "Enter")
    ended = cli.end(process)
    assert (ended.status, ended.out) == (0, "café prêt\n")


def test_empty_environment_types_all_letters(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("sh", "-c", "read x; echo got ${x}é; exec sleep 100")
    ended = cli.run(tmux_server, "for", pane, "got", "--send", "dé", env={})
    assert (ended.status, ended.out) == (0, "got déé\n")


HEAVY = {"asyncio", "mcp", "re2", "libtmux", "importlib.metadata"}


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--version"], {"importlib.metadata"}),
        (["for", "--help"], set()),
        (["mcp", "--help"], set()),
        (["for", "PANE", "ready"], set()),
        (["for", "PANE", "ready", "--fresh", "--seconds", "0.05"], set()),
        (["for", "PANE", "ready", "--regex"], {"re2"}),
    ],
    ids=" ".join,
)
def test_only_what_is_needed_is_imported(
    tmux_server: TmuxServerFixture, arguments: list[str], allowed: set[str]
) -> None:
    pane = _present(tmux_server)
    command, *rest = [pane if word == "PANE" else word for word in arguments]
    if command == "for":
        rest = ["-L", tmux_server.name, "--tmux", tmux_server.binary, *rest]
    program = (
        "import sys\n"
        "from tmux_wait.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('|'.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, command, *rest],
        cwd=cli.ROOT,
        env=cli.environment(tmux_server),
        capture_output=True,
        timeout=cli.PATIENCE,
        check=True,
    )
    imported = set(done.stderr.decode().splitlines()[-1].split("|"))
    assert imported & HEAVY <= allowed
