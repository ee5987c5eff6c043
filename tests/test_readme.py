"""The README's claims that a machine can check."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, TmuxServerFixture

from tmux_wait.cli import COMMANDS
from tmux_wait.cli.status import Status

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
TMUX_WAIT = Path(sys.executable).with_name("tmux-wait")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    """The text under a heading, up to the next heading."""
    return re.split(r"^#+ ", README.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(table: str) -> list[str]:
    """The first cell of each row of a section's table, without its head."""
    rows = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    return [row for row in rows if row not in ("---", "option", "status", "command")]


def python(code: str, **environment: str) -> str:
    """Run a program as a reader would, outside the checkout; return what it prints."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd="/",
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    ).stdout


def help_of(command: str) -> str:
    return subprocess.run(
        [TMUX_WAIT, command, "--help"], capture_output=True, text=True, check=True
    ).stdout


def test_every_make_target_that_is_named_exists() -> None:
    code = re.findall(r"^make .*$", README, re.MULTILINE) + re.findall(r"`(make [^`\n]*)`", README)
    named = {word for line in code for word in line.split()[1:] if "=" not in word}
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test", "test-matrix"} <= named
    assert named - rules == set()


def test_option_table_is_that_of_the_command() -> None:
    options = r"(?<![\w-])-(?:-[a-z-]+|[A-Z]\b)"
    listed = set(re.findall(options, " ".join(first_cells(section("Command line")))))
    offered = set(re.findall(options, help_of("for").split("examples:")[0])) - {"--help"}
    assert listed == offered


def test_every_command_that_is_shown_exists_and_knows_its_options() -> None:
    shown = re.findall(r"(?:\$|`|--) ?tmux-wait ([a-z]+)([^|`\n]*)", README)
    assert {command for command, _ in shown} == set(COMMANDS)
    for command, arguments in shown:
        for option in re.findall(r"(?<!\S)--?[a-zA-Z-]+", arguments):
            assert option in help_of(command), f"tmux-wait {command} {option}"


def test_exit_statuses_are_those_of_the_command() -> None:
    statuses = re.findall(r"\d+", " ".join(first_cells(section("Exit status"))))
    signals = {Status.SIGNAL + 2, Status.SIGNAL + 15}
    assert {int(status) for status in statuses} == {*Status} - {Status.SIGNAL} | signals


def test_waits_in_python_run_as_they_stand(tmux_server: TmuxServerFixture) -> None:
    assert tmux_server.pane("PS1='$ ' exec sh") == "%0"
    socket = tmux_server.tmux("display-message", "-p", "#{socket_path}")
    blocking, asynchronous, _ = blocks("python")
    path = f"{Path(tmux_server.binary).parent}:{os.environ['PATH']}"
    inside = {"TMUX": f"{socket},{tmux_server.pid},0", "PATH": path}
    assert python(blocking, **inside) == "3 passed\n"
    assert python(asynchronous, **inside) == "matched 0 ready\n"


def test_parser_in_python_prints_what_is_shown() -> None:
    example = blocks("python")[2]
    shown = README.split(example, 1)[1].split("```\n", 2)
    assert python(example) == shown[2].split("```", 1)[0]


def test_client_configurations_are_valid_and_start_the_server() -> None:
    for block in blocks("json"):
        (servers,) = json.loads(block).values()
        assert servers["tmux-wait"]["command"] == "tmux-wait"
        assert servers["tmux-wait"]["args"] == ["mcp"]
    assert len(blocks("json")) == 2


def test_toml_configuration_is_valid() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no TOML parser")
    (block,) = blocks("toml")
    server = tomllib.loads(block)["mcp_servers"]["tmux-wait"]
    assert (server["command"], server["args"]) == ("tmux-wait", ["mcp"])
